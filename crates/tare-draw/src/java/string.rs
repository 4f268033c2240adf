//! Java's `String.hashCode` and `Math.abs`.

/// `String.hashCode`: the sum of s\[i\] * 31^(n-1-i) over the UTF-16 units, in 32 bits that wrap.
pub fn string_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0, extend_hash)
}

/// `String.hashCode` of a text with one more UTF-16 unit.
pub(crate) fn extend_hash(hash: i32, unit: u16) -> i32 {
    hash.wrapping_mul(31).wrapping_add(i32::from(unit))
}

/// `Math.abs`: as everywhere, but `Long.MIN_VALUE` has no positive twin and stays negative.
pub fn absolute(value: i64) -> i64 {
    value.wrapping_abs()
}
