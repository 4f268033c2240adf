//! The words of a CQL statement: names, literals, bind markers and signs.

/// One word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// An identifier or keyword; unquoted ones in lower case, as CQL folds them.
    Name(String),
    /// A string literal, quotes undone.
    Text(String),
    /// A number, a hexadecimal blob or a UUID, as written.
    Number(String),
    /// `?` or `:name`.
    Marker(Option<String>),
    /// A sign: `(`, `)`, `,`, `=`, `<`, `>`, `+`, `-`, `*`, `.`, and so on.
    Sign(char),
}

impl Word {
    /// Whether it is this keyword (given in lower case).
    pub fn is(&self, keyword: &str) -> bool {
        matches!(self, Word::Name(name) if name == keyword)
    }

    /// Whether it is this sign.
    pub fn sign(&self, wanted: char) -> bool {
        *self == Word::Sign(wanted)
    }
}

/// Splits a statement; what is no CQL comes out as signs.
pub fn words(cql: &str) -> Vec<Word> {
    let letters: Vec<char> = cql.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&letter) = letters.get(at) {
        if letter.is_whitespace() || letter == ';' {
            at += 1;
        } else if letter == '\'' || letter == '"' {
            let (text, end) = quoted(&letters, at);
            found.push(if letter == '"' {
                Word::Name(text)
            } else {
                Word::Text(text)
            });
            at = end;
        } else if letter == '?' {
            found.push(Word::Marker(None));
            at += 1;
        } else if letter == ':' && letters.get(at + 1).is_some_and(|next| in_name(*next)) {
            let (name, end) = run(&letters, at + 1);
            found.push(Word::Marker(Some(name.to_lowercase())));
            at = end;
        } else if letter.is_ascii_digit() {
            let (number, end) = number(&letters, at);
            found.push(Word::Number(number));
            at = end;
        } else if in_name(letter) {
            let (name, end) = run(&letters, at);
            found.push(Word::Name(name.to_lowercase()));
            at = end;
        } else {
            found.push(Word::Sign(letter));
            at += 1;
        }
    }
    found
}

fn in_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn run(letters: &[char], at: usize) -> (String, usize) {
    let text: String = letters[at..]
        .iter()
        .take_while(|letter| in_name(**letter))
        .collect();
    let end = at + text.chars().count();
    (text, end)
}

fn number(letters: &[char], at: usize) -> (String, usize) {
    let part = |letter: &&char| in_name(**letter) || matches!(**letter, '.' | '-');
    let text: String = letters[at..].iter().take_while(part).collect();
    let end = at + text.chars().count();
    (text, end)
}

/// The text between quotes and the place after them; a doubled quote stands for one.
fn quoted(letters: &[char], begin: usize) -> (String, usize) {
    let quote = letters[begin];
    let mut text = String::new();
    let mut at = begin + 1;
    while let Some(&letter) = letters.get(at) {
        at += 1;
        if letter != quote {
            text.push(letter);
        } else if letters.get(at) == Some(&quote) {
            text.push(quote);
            at += 1;
        } else {
            break;
        }
    }
    (text, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_names_keep_their_case_and_others_lose_it() {
        let name = |text: &str| Word::Name(text.into());
        assert_eq!(words("Key \"C0\""), [name("key"), name("C0")]);
    }

    #[test]
    fn doubled_quotes_stand_for_one() {
        assert_eq!(words("'it''s'"), [Word::Text("it's".into())]);
    }

    #[test]
    fn markers_may_have_names() {
        assert_eq!(
            words("? :Id"),
            [Word::Marker(None), Word::Marker(Some("id".into()))]
        );
    }

    #[test]
    fn an_unclosed_quote_ends_with_the_text() {
        assert_eq!(words("'open"), [Word::Text("open".into())]);
    }
}
