//! Reads the golden files: tab-separated lines that the Java programs beside them printed.
#![allow(dead_code)] // Each test takes only what it needs.

/// The fields of each line of `text` whose first field is `name`, without that field.
pub fn lines<'a>(text: &'a str, name: &'a str) -> Vec<Vec<&'a str>> {
    let found: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .filter(|fields| fields[0] == name)
        .map(|fields| fields[1..].to_vec())
        .collect();
    assert!(!found.is_empty(), "no golden line {name}");
    found
}

/// A number of any type.
pub fn number<T: std::str::FromStr>(field: &str) -> T {
    match field.parse() {
        Ok(number) => number,
        Err(_) => panic!("{field:?} is no number"),
    }
}

/// A double from its bits in hexadecimal digits.
pub fn real(field: &str) -> f64 {
    f64::from_bits(u64::from_str_radix(field, 16).expect("hexadecimal digits"))
}

/// The two sides of `raw=value`.
pub fn pair(field: &str) -> (&str, &str) {
    field.split_once('=').expect("raw=value")
}

/// Octets as hexadecimal digits.
pub fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}
