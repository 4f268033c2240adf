//! The nearest valid name to one that is unknown.

/// Names that are longer are not compared: they are no slips of a finger.
const LONGEST: usize = 64;

/// The candidate with the fewest edits, if they are few enough for a slip.
pub fn nearest<'a>(
    unknown: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let unknown = unknown.to_lowercase();
    if unknown.len() > LONGEST {
        return None;
    }
    candidates
        .into_iter()
        .map(|candidate| (edits(&unknown, &candidate.to_lowercase()), candidate))
        .filter(|(edits, candidate)| *edits <= 1 + candidate.len().max(unknown.len()) / 3)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// `; did you mean NAME?`, or nothing.
pub fn hint<'a>(unknown: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(unknown, candidates) {
        Some(name) => format!("; did you mean {name}?"),
        None => String::new(),
    }
}

/// Levenshtein distance.
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
    }

    #[test]
    fn what_is_far_from_all_has_no_neighbour() {
        assert_eq!(nearest("replication", ["n=", "cl="]), None);
    }
}
