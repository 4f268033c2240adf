//! Keys of rows from their numbers: YCSB's hashed insert order, and the stress shape's own.

use std::io::Write;

const FNV_OFFSET_BASIS: u64 = 0xCBF2_9CE4_8422_2325;
const FNV_PRIME: u64 = 1_099_511_628_211;

/// Length of a stress key in bytes.
pub const STRESS_KEY_LENGTH: usize = 10;

/// YCSB's `Utils.hash`: FNV-1a 64 over the 8 octets of the number, least significant first,
/// then Java's `Math.abs`.
pub fn fnv64(number: u64) -> u64 {
    let hash = number
        .to_le_bytes()
        .iter()
        .fold(FNV_OFFSET_BASIS, |hash, &octet| {
            (hash ^ u64::from(octet)).wrapping_mul(FNV_PRIME)
        });
    (hash as i64).unsigned_abs()
}

/// Writes YCSB's key of a record (`insertorder=hashed`, `zeropadding=1`) at the end of `key`.
pub fn ycsb_key(record: u64, key: &mut Vec<u8>) {
    // Writing to a Vec cannot fail.
    let _ = write!(key, "user{}", fnv64(record));
}

/// The stress shape's key of a row: 10 bytes in the alphabet of cassandra-stress
/// (0-9, K-P for the hexadecimal digits), the digits of `(row * 0x9E3779B97F) mod 2^40`
/// xor-folded by 21 bits. Both steps are bijections of 40-bit numbers, so that rows below
/// 2^40 have keys of their own, and neighbours look unlike. It is not the Java tool's key.
pub fn stress_key(row: u64) -> [u8; STRESS_KEY_LENGTH] {
    const MASK: u64 = (1 << 40) - 1;
    let product = row.wrapping_mul(0x9E_3779_B97F) & MASK;
    let number = product ^ (product >> 21);
    let mut key = [0; STRESS_KEY_LENGTH];
    for (place, byte) in key.iter_mut().enumerate() {
        let digit = (number >> (4 * place) & 0xF) as u8;
        *byte = if digit < 10 {
            b'0' + digit
        } else {
            b'A' + digit
        };
    }
    key
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hashes_are_those_of_ycsb() {
        let golden = [
            6_284_781_860_667_377_211,
            8_517_097_267_634_966_620,
            1_820_151_046_732_198_393,
            4_052_466_453_699_787_802,
            3_232_700_585_171_816_769,
        ];
        for (record, expected) in golden.into_iter().enumerate() {
            assert_eq!(fnv64(record as u64), expected);
        }
    }

    #[test]
    fn a_key_is_appended() {
        let mut key = b"> ".to_vec();
        ycsb_key(0, &mut key);
        assert_eq!(key, b"> user6284781860667377211");
    }

    #[test]
    fn stress_keys_are_frozen() {
        // Rows written by one version must be found by the next.
        assert_eq!(&stress_key(0), b"0000000000");
        assert_eq!(&stress_key(1), b"4M84N773O9");
        assert_eq!(&stress_key(1_000_000), b"535P5LO1NP");
    }

    proptest! {
        #[test]
        fn stress_keys_differ_where_rows_do(a in 0u64..1 << 40, b in 0u64..1 << 40) {
            prop_assert_eq!(a == b, stress_key(a) == stress_key(b));
        }

        #[test]
        fn stress_keys_use_the_alphabet_of_the_tool(row in 0u64..1 << 40) {
            for byte in stress_key(row) {
                prop_assert!(byte.is_ascii_digit() || (b'K'..=b'P').contains(&byte));
            }
        }
    }
}
