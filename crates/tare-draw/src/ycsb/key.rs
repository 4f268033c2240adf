//! Keys: a record's number, hashed or in order, behind the word `user`.

use crate::java::absolute;

const OFFSET_BASIS: u64 = 0xCBF2_9CE4_8422_2325;
const PRIME: u64 = 1_099_511_628_211;

/// YCSB's `Utils.fnvhash64`: FNV-1a of the number's 8 octets, the least significant first, made
/// positive by Java's `Math.abs`.
pub fn fnv64(number: i64) -> i64 {
    let hash = number
        .to_le_bytes()
        .iter()
        .fold(OFFSET_BASIS, |hash, octet| {
            (hash ^ u64::from(*octet)).wrapping_mul(PRIME)
        });
    absolute(hash as i64)
}

/// The order in which records lie in the key space (`insertorder`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InsertOrder {
    /// The key holds the hash of the record's number: neighbours are scattered.
    Hashed,
    /// The key holds the record's number itself.
    Ordered,
}

/// Makes keys of record numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    order: InsertOrder,
    width: usize,
}

impl Keys {
    /// Keys in this order, their number filled with zeros up to `zero_padding` digits.
    pub fn new(order: InsertOrder, zero_padding: usize) -> Self {
        Self {
            order,
            width: zero_padding,
        }
    }

    /// Appends the key of record `number` to `key`.
    pub fn write(&self, number: i64, key: &mut Vec<u8>) {
        let number = match self.order {
            InsertOrder::Hashed => fnv64(number),
            InsertOrder::Ordered => number,
        };
        let mut digits = itoa::Buffer::new();
        let text = digits.format(number).as_bytes();
        key.extend_from_slice(b"user");
        // YCSB pads the text, so a minus sign stands behind the zeros.
        key.extend(std::iter::repeat_n(
            b'0',
            self.width.saturating_sub(text.len()),
        ));
        key.extend_from_slice(text);
    }

    /// The key of record `number`.
    pub fn key(&self, number: i64) -> String {
        let mut key = Vec::with_capacity(4 + self.width.max(20));
        self.write(number, &mut key);
        key.into_iter().map(char::from).collect()
    }
}
