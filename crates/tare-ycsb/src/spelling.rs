//! The nearest known name to one that is not known.

/// More wrong letters than this are another word.
const MOST_WRONG: usize = 3;
/// Names that are longer are not looked at.
const LONGEST: usize = 64;

/// The known name with the fewest letters to change, if they are few.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    let near = known.into_iter().map(|name| (distance(word, name), name));
    let (wrong, name) = near.min_by_key(|(wrong, _)| *wrong)?;
    (wrong <= MOST_WRONG && wrong * 2 <= word.chars().count()).then_some(name)
}

/// `; did you mean X?`, or nothing.
pub fn hint<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map_or_else(String::new, |name| format!("; did you mean {name}?"))
}

/// Letters to insert, delete or replace (Levenshtein, Soviet Physics Doklady 10, 1966).
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_word() {
        let known = ["recordcount", "operationcount", "table"];
        assert_eq!(nearest("recordcont", known), Some("recordcount"));
        assert_eq!(nearest("operationCount", known), Some("operationcount"));
        assert_eq!(hint("tabel", known), "; did you mean table?");
    }

    #[test]
    fn another_word_finds_none() {
        assert_eq!(nearest("mongodb.url", ["recordcount", "table"]), None);
        assert_eq!(hint("x", ["p"]), "");
        assert_eq!(nearest(&"x".repeat(1000), ["p"]), None);
    }
}
