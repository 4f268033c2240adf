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
    assert_eq!(
        one("# c\n ! d\n\n \t\na=1 # not one\r\n"),
        pair("a", "1 # not one")
    );
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
