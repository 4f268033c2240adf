//! Cassandra's hash: of partition keys (tokens), and of the names of cassandra-stress' columns (salts).

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

/// MurmurHash3 x64 128 of Austin Appleby with seed 0, in the variant that Cassandra has always used
/// (`MurmurHash.hash3_x64_128`): the bytes of the last, incomplete block are sign-extended, which
/// differs from the original beyond ASCII.
#[inline]
pub fn murmur3_x64_128(key: &[u8]) -> (u64, u64) {
    let (mut h1, mut h2) = (0_u64, 0_u64);
    let (words, _) = key.as_chunks::<8>();
    let (blocks, _) = words.as_chunks::<2>();
    for [low, high] in blocks {
        h1 ^= mix1(u64::from_le_bytes(*low));
        h1 = h1
            .rotate_left(27)
            .wrapping_add(h2)
            .wrapping_mul(5)
            .wrapping_add(0x52dc_e729);
        h2 ^= mix2(u64::from_le_bytes(*high));
        h2 = h2
            .rotate_left(31)
            .wrapping_add(h1)
            .wrapping_mul(5)
            .wrapping_add(0x3849_5ab5);
    }
    let (front, tail) = key.split_at(blocks.len() * 16);
    if tail.len() > 8 {
        h2 ^= mix2(signed(&tail[8..], key));
        h1 ^= mix1(signed(&tail[..8], &key[..front.len() + 8]));
    } else if !tail.is_empty() {
        h1 ^= mix1(signed(tail, key));
    }
    h1 ^= key.len() as u64;
    h2 ^= key.len() as u64;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    h1 = finish(h1);
    h2 = finish(h2);
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    (h1, h2)
}

/// Up to eight bytes, little-endian, each sign-extended before it is shifted: the variant. `tail`
/// is the end of `key`.
fn signed(tail: &[u8], key: &[u8]) -> u64 {
    const SIGNS: u64 = 0x8080_8080_8080_8080;
    if let Some(last) = key.last_chunk::<8>() {
        // The end of the key in one load; without a sign to extend that is all.
        let word = u64::from_le_bytes(*last) >> (64 - 8 * tail.len());
        if word & SIGNS == 0 {
            return word;
        }
    }
    tail.iter().enumerate().fold(0, |word, (at, &byte)| {
        word ^ ((i64::from(byte as i8) as u64) << (8 * at))
    })
}

fn mix1(word: u64) -> u64 {
    word.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

fn mix2(word: u64) -> u64 {
    word.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

fn finish(mut word: u64) -> u64 {
    word ^= word >> 33;
    word = word.wrapping_mul(0xff51_afd7_ed55_8ccd);
    word ^= word >> 33;
    word = word.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    word ^ word >> 33
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tail as the specification of the variant has it, byte by byte.
    #[test]
    fn every_length_of_tail_is_sign_extended_bytewise() {
        for length in 1..=16 {
            for signs in [0x00, 0x80, 0xFF] {
                let key: Vec<u8> = (0..length)
                    .map(|at| (at * 37) as u8 & 0x7F | signs)
                    .collect();
                let begin = if length > 8 { 8 } else { 0 };
                let mut wanted = 0_u64;
                for (at, byte) in key[begin..].iter().enumerate() {
                    wanted ^= (i64::from(*byte as i8) << (8 * at)) as u64;
                }
                assert_eq!(signed(&key[begin..], &key), wanted, "{key:?}");
            }
        }
    }
}
