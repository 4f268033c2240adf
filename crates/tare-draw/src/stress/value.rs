//! Values in the form of the CQL native protocol: their order, and the numbers that they stand for.

use std::cmp::Ordering;

use super::Kind;

/// Milliseconds from the beginning of the Gregorian calendar, 1582-10-15, to 1970.
const GREGORIAN_TO_UNIX_MS: i64 = 12_219_292_800_000;

/// Appends the two's complement of `number` in as few octets as hold it, the highest first.
pub(super) fn push_varint(number: i64, value: &mut Vec<u8>) {
    let octets = number.to_be_bytes();
    let fill = if number < 0 { 0xff } else { 0 };
    let mut skip = 0;
    while skip < 7 && octets[skip] == fill && (octets[skip + 1] ^ fill) & 0x80 == 0 {
        skip += 1;
    }
    value.extend_from_slice(&octets[skip..]);
}

/// Appends the version 1 UUID of a time, in milliseconds since 1970, with these low 64 bits.
///
/// RFC 4122, section 4.2.2: 100 ns steps since 1582, their low part first.
pub(super) fn push_timeuuid(milliseconds: i64, low: i64, value: &mut Vec<u8>) {
    let steps = milliseconds
        .wrapping_add(GREGORIAN_TO_UNIX_MS)
        .wrapping_mul(10_000) as u64;
    let high = (steps << 32)
        | ((steps & 0xffff_0000_0000) >> 16)
        // The version joins the highest bits as they are: as coded, for times after the year 5236.
        | (steps >> 48)
        | 0x1000;
    value.extend_from_slice(&high.to_be_bytes());
    value.extend_from_slice(&low.to_be_bytes());
}

/// The seed that a value passes on to the layers below: 31 times the old one, plus the value.
///
/// Texts and blobs join octet by octet, numbers as a whole (Java's `longValue`), UUIDs by the xor of
/// their halves, all else by its serialised octets.
pub(super) fn fold(kind: &Kind, value: &[u8], seed: i64) -> i64 {
    let joined = |seed: i64, number: i64| seed.wrapping_mul(31).wrapping_add(number);
    match kind {
        Kind::Uuid | Kind::Timeuuid => {
            let (high, low) = halves(value);
            joined(seed, high ^ low)
        }
        Kind::Float | Kind::Double => joined(seed, real(value) as i64),
        _ => match whole(kind, value) {
            Some(number) => joined(seed, number),
            None => value
                .iter()
                .fold(seed, |seed, octet| joined(seed, i64::from(*octet as i8))),
        },
    }
}

/// The order of two values in Java, when `contents=sorted` sorts by it; none for types without one.
pub(super) fn java_order(kind: &Kind, a: &[u8], b: &[u8]) -> Option<Ordering> {
    Some(match kind {
        Kind::Inet | Kind::Set(_) | Kind::List(_) => return None,
        Kind::Text | Kind::Boolean => a.cmp(b),
        // Java's octets have a sign.
        Kind::Blob | Kind::HexBlob => {
            let signed = |octet: &u8| *octet as i8;
            a.iter().map(signed).cmp(b.iter().map(signed))
        }
        Kind::Float | Kind::Double => real(a).total_cmp(&real(b)),
        Kind::Uuid | Kind::Timeuuid => halves(a).cmp(&halves(b)),
        Kind::Timestamp => number(a).cmp(&number(b)),
        _ => whole(kind, a).cmp(&whole(kind, b)),
    })
}

/// Whether `contents=sorted` can sort values of this type.
pub(super) fn has_java_order(kind: &Kind) -> bool {
    !matches!(kind, Kind::Inet | Kind::Set(_) | Kind::List(_))
}

/// The order in which Cassandra keeps the values of a set.
pub(super) fn server_order(kind: &Kind, a: &[u8], b: &[u8]) -> Ordering {
    match kind {
        Kind::Text | Kind::Blob | Kind::HexBlob | Kind::Boolean | Kind::Inet => a.cmp(b),
        Kind::Date | Kind::Time | Kind::Set(_) | Kind::List(_) => a.cmp(b),
        Kind::Float | Kind::Double => real(a).total_cmp(&real(b)),
        Kind::Timestamp => number(a).cmp(&number(b)),
        Kind::Uuid | Kind::Timeuuid => uuid_order(a, b),
        _ => whole(kind, a).cmp(&whole(kind, b)),
    }
}

/// By version, then by time for version 1, then by the octets.
fn uuid_order(a: &[u8], b: &[u8]) -> Ordering {
    let key = |value: &[u8]| {
        let (high, low) = halves(value);
        let high = high as u64;
        let version = (high >> 12) & 0xf;
        let time = ((high & 0xfff) << 48) | ((high & 0xffff_0000) << 16) | (high >> 32);
        let first = if version == 1 { time } else { high };
        (version, first, low as u64)
    };
    key(a).cmp(&key(b))
}

/// The whole number that Java holds for the value; none when Java holds no number.
fn whole(kind: &Kind, value: &[u8]) -> Option<i64> {
    match kind {
        Kind::Bigint | Kind::Counter | Kind::Time => Some(number(value)),
        Kind::Int | Kind::Smallint | Kind::Tinyint | Kind::Varint => Some(number(value)),
        // Four octets of scale, 0, stand before the digits.
        Kind::Decimal => Some(number(value.get(4..).unwrap_or_default())),
        // On the wire the day 0 is 2^31; Java holds days from 1970.
        Kind::Date => Some(i64::from((number(value) as u32 ^ (1 << 31)) as i32)),
        _ => None,
    }
}

/// A signed number of any width up to 64 bits, the highest octet first.
fn number(value: &[u8]) -> i64 {
    let first = if value.first().is_some_and(|octet| octet & 0x80 != 0) {
        -1
    } else {
        0
    };
    value
        .iter()
        .fold(first, |sum: i64, octet| (sum << 8) | i64::from(*octet))
}

fn real(value: &[u8]) -> f64 {
    match value.len() {
        4 => f64::from(f32::from_bits(number(value) as u32)),
        _ => f64::from_bits(number(value) as u64),
    }
}

fn halves(value: &[u8]) -> (i64, i64) {
    let (high, low) = value.split_at(value.len().min(8));
    (number(high), number(low))
}
