//! The token of a partition key: Cassandra's Murmur3Partitioner.

use tare_draw::murmur3_x64_128;

/// The token of a serialised partition key.
///
/// The first half of Cassandra's MurmurHash3. `i64::MIN` is no token; it becomes `i64::MAX`
/// (`Murmur3Partitioner.normalize`). An empty key has the minimum token.
pub fn token(key: &[u8]) -> i64 {
    if key.is_empty() {
        return i64::MIN;
    }
    match murmur3_x64_128(key).0 as i64 {
        i64::MIN => i64::MAX,
        hash => hash,
    }
}

/// Append one component of a composite partition key to `out`: its length in two bytes, its bytes,
/// and a zero (Cassandra's `CompositeType`). False if longer than 65,535 bytes.
pub(crate) fn push_component(out: &mut Vec<u8>, component: &[u8]) -> bool {
    let Ok(length) = u16::try_from(component.len()) else {
        return false;
    };
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(component);
    out.push(0);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors with which the drivers of the Cassandra project check their own.
    #[test]
    fn tokens_are_those_of_the_partitioner() {
        assert_eq!(token(b"123"), -7_468_325_962_851_647_638);
        assert_eq!(
            token(&b"\x00\xff\x10\xfa\x99".repeat(10)),
            5_837_342_703_291_459_765
        );
        assert_eq!(token(&[0xFE; 8]), -8_927_430_733_708_461_935);
        assert_eq!(token(&[0x10; 8]), 1_446_172_840_243_228_796);
        assert_eq!(token(b"9223372036854775807"), 7_162_290_910_810_015_547);
        assert_eq!(token(b""), i64::MIN);
    }

    #[test]
    fn a_composite_key_has_a_length_and_a_zero_around_each_component() {
        let mut key = Vec::new();
        assert!([&b"ab"[..], b"", b"c"]
            .iter()
            .all(|one| push_component(&mut key, one)));
        assert_eq!(key, b"\x00\x02ab\x00\x00\x00\x00\x00\x01c\x00");
        assert!(!push_component(&mut key, &[0; 65_536]));
    }
}
