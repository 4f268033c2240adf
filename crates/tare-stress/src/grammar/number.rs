//! Numbers with cassandra-stress' suffixes: K, M, B are 10^3, 10^6, 10^9.

/// Whether the text is digits with at most one suffix, as the tool's patterns want it.
pub fn is_count(text: &str) -> bool {
    let digits = text
        .strip_suffix(['k', 'K', 'm', 'M', 'b', 'B'])
        .unwrap_or(text);
    is_digits(digits)
}

pub fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The number; none if it is not one or does not fit into 63 bits.
pub fn count(text: &str) -> Option<i64> {
    if !is_count(text) {
        return None;
    }
    let factor = match text.as_bytes()[text.len() - 1].to_ascii_lowercase() {
        b'k' => 1_000,
        b'm' => 1_000_000,
        b'b' => 1_000_000_000,
        _ => return text.parse().ok(),
    };
    text[..text.len() - 1]
        .parse::<i64>()
        .ok()?
        .checked_mul(factor)
}

/// `a..b`; any number of dots from two on separates them, as in the tool.
pub fn range(text: &str) -> Option<(i64, i64)> {
    let (first, rest) = text.split_once("..")?;
    Some((count(first)?, count(rest.trim_start_matches('.'))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_multiply() {
        assert_eq!(count("40000000"), Some(40_000_000));
        assert_eq!(count("2K"), Some(2_000));
        assert_eq!(count("1m"), Some(1_000_000));
        assert_eq!(count("100B"), Some(100_000_000_000));
    }

    #[test]
    fn what_is_no_count_or_too_large_is_none() {
        for text in [
            "",
            "k",
            "-1",
            "1.5",
            "1kk",
            "1 k",
            "99999999999999999999",
            "9999999999b",
        ] {
            assert_eq!(count(text), None, "{text}");
        }
    }

    #[test]
    fn a_range_has_two_or_more_dots() {
        assert_eq!(range("1..40M"), Some((1, 40_000_000)));
        assert_eq!(range("1...3"), Some((1, 3)));
        assert_eq!(range("1.3"), None);
    }
}
