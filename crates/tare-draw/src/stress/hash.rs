//! The salt of a column: a Murmur3 hash of its name.

/// What stands before the name of a column of the predefined commands (`write`, `read`, ...).
pub const PREDEFINED: &str = "randomstr";
/// What stands before the name of a column of a user profile.
pub const PROFILE: &str = "seed for stress";

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

/// The salt of the column `name`: the first 64 bits of the hash of `prefix` and the name.
pub fn salt(prefix: &str, name: &str) -> i64 {
    murmur3_x64_128(format!("{prefix}{name}").as_bytes(), 0).0 as i64
}

/// MurmurHash3 x64 128 of Austin Appleby, as Cassandra computes it: the octets of the last, incomplete
/// block are extended with their sign, which differs from the original beyond ASCII.
pub fn murmur3_x64_128(data: &[u8], seed: u64) -> (u64, u64) {
    let (mut h1, mut h2) = (seed, seed);
    let (blocks, tail) = data.as_chunks::<16>();
    for block in blocks {
        let number = u128::from_le_bytes(*block);
        h1 ^= mix_first(number as u64);
        h1 = h1.rotate_left(27).wrapping_add(h2);
        h1 = h1.wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 ^= mix_second((number >> 64) as u64);
        h2 = h2.rotate_left(31).wrapping_add(h1);
        h2 = h2.wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    let (first, second) = tail.split_at(tail.len().min(8));
    h2 ^= mix_second(signed_octets(second));
    h1 ^= mix_first(signed_octets(first));
    let length = data.len() as u64;
    h1 ^= length;
    h2 ^= length;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    h1 = finish(h1);
    h2 = finish(h2);
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    (h1, h2)
}

/// The octets, the first one lowest, each extended with its sign before it is xored in.
fn signed_octets(octets: &[u8]) -> u64 {
    octets.iter().enumerate().fold(0, |sum, (at, octet)| {
        sum ^ ((i64::from(*octet as i8) as u64) << (8 * at))
    })
}

fn mix_first(k: u64) -> u64 {
    k.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

fn mix_second(k: u64) -> u64 {
    k.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

fn finish(mut k: u64) -> u64 {
    k = (k ^ (k >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    k = (k ^ (k >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    k ^ (k >> 33)
}
