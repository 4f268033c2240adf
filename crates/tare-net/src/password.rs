//! The password of a connection.
use std::fmt;

/// A password, which is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(pub String);

impl fmt::Debug for Password {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::Password;

    #[test]
    fn a_password_is_never_printed() {
        let given = Some(("ann", Password("s3cret".into())));
        assert_eq!(format!("{given:?}"), r#"Some(("ann", (hidden)))"#);
    }
}
