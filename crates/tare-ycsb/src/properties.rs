//! Property files as `java.util.Properties.load` reads them, and the set of properties of a run.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::iter::Peekable;
use std::path::Path;

/// A larger file is no property file.
const LARGEST_FILE: u64 = 1 << 20;
/// More entries than any workload has.
const MOST_ENTRIES: usize = 10_000;

/// Why a property file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("larger than {LARGEST_FILE} bytes, which no property file is")]
    TooLarge,
    #[error("more than {MOST_ENTRIES} properties")]
    TooMany,
    #[error("line {line}: \\u must be followed by four hexadecimal digits")]
    Escape { line: usize },
}

/// Names and values; a later value replaces an earlier one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Properties(BTreeMap<String, String>);

impl Properties {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.insert(name.into(), value.into());
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Takes over all properties of `other`, which win.
    pub fn overlay(&mut self, other: Properties) {
        self.0.extend(other.0);
    }

    /// Reads a file of at most 1 MiB.
    pub fn read(path: &Path) -> Result<Properties, Unreadable> {
        let mut bytes = Vec::new();
        File::open(path)?.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LARGEST_FILE {
            return Err(Unreadable::TooLarge);
        }
        Properties::parse(&bytes)
    }

    /// Reads the text of a property file: ISO 8859-1 with `\uXXXX` escapes.
    ///
    /// The rules are those of the documentation of `java.util.Properties.load(Reader)`.
    pub fn parse(bytes: &[u8]) -> Result<Properties, Unreadable> {
        let mut properties = Properties::default();
        for logical in logical_lines(bytes) {
            let (name, value) = entry(&logical)?;
            properties.set(name, value);
            if properties.0.len() > MOST_ENTRIES {
                return Err(Unreadable::TooMany);
            }
        }
        Ok(properties)
    }
}

/// A logical line: natural lines joined where a backslash continued them, leading white space gone.
struct Logical {
    text: Vec<u8>,
    /// 1-based number of its first natural line.
    line: usize,
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\x0c')
}

fn is_break(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

fn logical_lines(bytes: &[u8]) -> Vec<Logical> {
    let mut lines = Vec::new();
    let mut open: Option<Logical> = None;
    for (number, natural) in natural_lines(bytes).enumerate() {
        let blanks = natural.iter().take_while(|&&byte| is_blank(byte)).count();
        let text = &natural[blanks..];
        let is_comment = matches!(text.first(), None | Some(b'#' | b'!'));
        if open.is_none() && is_comment {
            continue;
        }
        let logical = open.get_or_insert(Logical {
            text: Vec::new(),
            line: number + 1,
        });
        let slashes = text.iter().rev().take_while(|&&byte| byte == b'\\').count();
        let continued = slashes % 2 == 1;
        logical.text.extend_from_slice(&text[..text.len() - usize::from(continued)]);
        if !continued {
            lines.extend(open.take());
        }
    }
    lines.extend(open);
    lines.retain(|logical| !logical.text.is_empty());
    lines
}

/// Lines that end with a line feed, a carriage return, or both.
fn natural_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let bytes = rest?;
        let Some(end) = bytes.iter().position(|&byte| is_break(byte)) else {
            rest = None;
            return (!bytes.is_empty()).then_some(bytes);
        };
        let width = if bytes[end..].starts_with(b"\r\n") { 2 } else { 1 };
        rest = Some(&bytes[end + width..]);
        Some(&bytes[..end])
    })
}

/// Splits a logical line at its first unescaped `=`, `:` or white space.
fn entry(logical: &Logical) -> Result<(String, String), Unreadable> {
    let text = &logical.text;
    let mut end = 0;
    while end < text.len() && !is_blank(text[end]) && !matches!(text[end], b'=' | b':') {
        end += if text[end] == b'\\' { 2 } else { 1 };
    }
    let end = end.min(text.len());
    let mut begin = end;
    let mut separated = false;
    while begin < text.len() {
        match text[begin] {
            byte if is_blank(byte) => {}
            b'=' | b':' if !separated => separated = true,
            _ => break,
        }
        begin += 1;
    }
    let unescape = |part| unescape(part).ok_or(Unreadable::Escape { line: logical.line });
    Ok((unescape(&text[..end])?, unescape(&text[begin..])?))
}

fn unescape(bytes: &[u8]) -> Option<String> {
    let mut units: Vec<u16> = Vec::with_capacity(bytes.len());
    let mut bytes = bytes.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            units.push(u16::from(byte));
            continue;
        }
        match bytes.next() {
            None => break,
            Some(b'u') => units.push(unit(&mut bytes)?),
            Some(b't') => units.push(u16::from(b'\t')),
            Some(b'n') => units.push(u16::from(b'\n')),
            Some(b'r') => units.push(u16::from(b'\r')),
            Some(b'f') => units.push(0x0c),
            Some(other) => units.push(u16::from(other)),
        }
    }
    Some(String::from_utf16_lossy(&units))
}

/// The UTF-16 unit of four hexadecimal digits.
fn unit(bytes: &mut Peekable<impl Iterator<Item = u8>>) -> Option<u16> {
    let mut unit = 0;
    for _ in 0..4 {
        let digit = char::from(bytes.next()?).to_digit(16)?;
        unit = unit << 4 | digit as u16;
    }
    Some(unit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(text: &str) -> Vec<(String, String)> {
        let properties = Properties::parse(text.as_bytes()).unwrap();
        properties.0.into_iter().collect()
    }

    fn one(text: &str) -> (String, String) {
        let mut all = parsed(text);
        assert_eq!(all.len(), 1, "{text:?}: {all:?}");
        all.remove(0)
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn name_and_value_are_parted_by_equals_colon_or_blanks() {
        for text in ["a=1", "a:1", "a 1", "a\t1", "  a = 1", "a  :  1", "a \t= 1"] {
            assert_eq!(one(text), pair("a", "1"), "{text:?}");
        }
        assert_eq!(one("a==1"), pair("a", "=1"));
        assert_eq!(one("a : = 1"), pair("a", "= 1"));
        assert_eq!(one("alone"), pair("alone", ""));
        assert_eq!(one("=1"), pair("", "1"));
    }

    #[test]
    fn white_space_after_the_value_belongs_to_it() {
        assert_eq!(one("a=1 \t"), pair("a", "1 \t"));
    }

    #[test]
    fn comments_and_blank_lines_are_passed_over() {
        assert_eq!(one("# c\n ! d\n\n \t\na=1 # not one\r\n"), pair("a", "1 # not one"));
    }

    #[test]
    fn a_comment_is_not_continued() {
        assert_eq!(one("# c \\\na=1"), pair("a", "1"));
    }

    #[test]
    fn an_odd_number_of_backslashes_continues_a_line() {
        assert_eq!(one("hosts=a,\\\n   b,\\\r\n\tc"), pair("hosts", "a,b,c"));
        assert_eq!(parsed("a=1\\\\\nb=2").len(), 2);
        assert_eq!(one("a=1\\\n# 2"), pair("a", "1# 2"));
        assert_eq!(parsed("a=1\\\n\nb=2"), [pair("a", "1"), pair("b", "2")]);
        assert_eq!(one("a=1\\"), pair("a", "1"));
    }

    #[test]
    fn every_line_end_counts() {
        let all = [pair("a", "1"), pair("b", "2"), pair("c", "3")];
        assert_eq!(parsed("a=1\rb=2\nc=3\r\n"), all);
    }

    #[test]
    fn escapes_stand_for_what_they_do_in_java() {
        assert_eq!(one("a\\=b\\:c\\ d=1"), pair("a=b:c d", "1"));
        assert_eq!(one("a=\\t\\n\\r\\f\\q\\\\"), pair("a", "\t\n\r\x0cq\\"));
        assert_eq!(one("a=\\u00e9\\uD83D\\uDE00"), pair("a", "é😀"));
    }

    #[test]
    fn the_file_is_latin_1() {
        let properties = Properties::parse(b"a=\xe9").unwrap();
        assert_eq!(properties.get("a"), Some("é"));
    }

    #[test]
    fn a_damaged_escape_is_refused_with_its_line() {
        let error = Properties::parse(b"a=1\n\nb=\\u00g0").unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 3: \\u must be followed by four hexadecimal digits"
        );
    }

    #[test]
    fn a_later_line_wins() {
        assert_eq!(one("a=1\na=2"), pair("a", "2"));
    }

    #[test]
    fn a_file_of_no_end_is_refused() {
        let many: String = (0..=MOST_ENTRIES).map(|i| format!("k{i}=1\n")).collect();
        let refused = Properties::parse(many.as_bytes());
        assert!(matches!(refused, Err(Unreadable::TooMany)));
        let endless = Properties::read(Path::new("/dev/zero"));
        assert!(matches!(endless, Err(Unreadable::TooLarge)));
    }

    proptest! {
        #[test]
        fn no_file_is_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = Properties::parse(&bytes);
        }

        #[test]
        fn no_line_of_marks_is_a_panic(text in "[\\\\=:u0-9a# \t\r\n]{0,60}") {
            let _ = Properties::parse(text.as_bytes());
        }
    }
}
