//! The values of fields: random printable octets, or text that can be checked.

use crate::java::{extend_hash, string_hash};
use crate::Rng;

/// The six octets that YCSB's `RandomByteIterator` makes of one random int.
///
/// The shifts keep the sign, and the masks 0x5F leave gaps: as coded.
pub fn printable_six(random: i32) -> [u8; 6] {
    let octet = |shift: u32, mask: i32| (((random >> shift) & mask) + 32) as u8;
    [
        octet(0, 0x1f),
        octet(5, 0x3f),
        octet(10, 0x5f),
        octet(15, 0x1f),
        octet(20, 0x3f),
        octet(25, 0x5f),
    ]
}

/// Appends `length` random printable octets to `value`.
pub fn random_printable(rng: &mut impl Rng, length: usize, value: &mut Vec<u8>) {
    value.reserve(length + 12);
    let end = value.len() + length;
    while value.len() < end {
        let random = rng.next_u64();
        value.extend_from_slice(&printable_six(random as i32));
        value.extend_from_slice(&printable_six((random >> 32) as i32));
    }
    value.truncate(end);
}

/// Appends the value that `dataintegrity=true` gives to a field, `length` characters long.
///
/// It is `key:field`, then again and again a colon and Java's `String.hashCode` of all that stands
/// so far, the colon included; cut at `length`.
pub fn checked_value(key: &str, field: &str, length: usize, value: &mut Vec<u8>) {
    if !(key.is_ascii() && field.is_ascii()) {
        return checked_value_wide(key, field, length, value);
    }
    let start = value.len();
    let end = start + length;
    value.extend_from_slice(key.as_bytes());
    value.push(b':');
    value.extend_from_slice(field.as_bytes());
    let mut hash = 0;
    let mut hashed = start;
    while value.len() < end {
        value.push(b':');
        hash = value[hashed..]
            .iter()
            .fold(hash, |hash, octet| extend_hash(hash, u16::from(*octet)));
        hashed = value.len();
        push_decimal(hash, value);
    }
    value.truncate(end);
}

/// The same with characters beyond ASCII, which Java counts in UTF-16 units.
fn checked_value_wide(key: &str, field: &str, length: usize, value: &mut Vec<u8>) {
    let mut text = format!("{key}:{field}");
    let mut units = text.encode_utf16().count();
    while units < length {
        text.push(':');
        let hash = string_hash(&text).to_string();
        units += 1 + hash.len();
        text.push_str(&hash);
    }
    let cut: Vec<u16> = text.encode_utf16().take(length).collect();
    // Half a pair at the cut is sent as a question mark by Java.
    for character in char::decode_utf16(cut) {
        let mut octets = [0; 4];
        value.extend_from_slice(character.unwrap_or('?').encode_utf8(&mut octets).as_bytes());
    }
}

fn push_decimal(number: i32, value: &mut Vec<u8>) {
    let mut digits = [0u8; 10];
    let mut at = digits.len();
    let mut rest = number.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        value.push(b'-');
    }
    value.extend_from_slice(&digits[at..]);
}
