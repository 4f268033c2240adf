//! The known name that a mistyped one was probably meant to be, for the command lines.

/// Longer names are not compared: they are no typing slips.
const LONGEST: usize = 64;
/// So many wrong letters are forgiven in short names, and more in long ones.
const MOST_WRONG: usize = 3;

/// The candidate with the fewest letters to change, if they are few; case does not count.
pub fn nearest<'a>(
    unknown: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let unknown = unknown.to_lowercase();
    if unknown.len() > LONGEST {
        return None;
    }
    let near = candidates
        .into_iter()
        .map(|name| (edits(&unknown, &name.to_lowercase()), name));
    let (wrong, name) = near.min_by_key(|(wrong, _)| *wrong)?;
    let most = MOST_WRONG.max(1 + name.len().max(unknown.len()) / 3);
    (wrong <= most && wrong * 2 <= unknown.chars().count()).then_some(name)
}

/// `; did you mean NAME?`, or nothing.
pub fn hint<'a>(unknown: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(unknown, candidates) {
        Some(name) => format!("; did you mean {name}?"),
        None => String::new(),
    }
}

/// Letters to insert, delete or replace (Levenshtein, Soviet Physics Doklady 10, 1966).
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let changed = diagonal + usize::from(left != *right);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name() {
        let names = ["threads=", "throttle=", "fixed="];
        assert_eq!(nearest("thread=", names), Some("threads="));
        assert_eq!(nearest("FIXD=", names), Some("fixed="));
        assert_eq!(hint("thread=", names), "; did you mean threads=?");
    }

    #[test]
    fn what_is_far_from_all_has_no_neighbour() {
        assert_eq!(nearest("replication", ["n=", "cl="]), None);
        assert_eq!(nearest("mongodb.url", ["recordcount", "table"]), None);
        assert_eq!(hint("x", ["p"]), "");
        assert_eq!(nearest(&"x".repeat(1000), ["p"]), None);
    }
}
