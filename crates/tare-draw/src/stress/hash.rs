//! The salt of a column: a Murmur3 hash of its name.

use crate::murmur3_x64_128;

/// What stands before the name of a column of the predefined commands (`write`, `read`, ...).
pub const PREDEFINED: &str = "randomstr";
/// What stands before the name of a column of a user profile.
pub const PROFILE: &str = "seed for stress";

/// The salt of the column `name`: the first 64 bits of the hash of `prefix` and the name.
pub fn salt(prefix: &str, name: &str) -> i64 {
    murmur3_x64_128(format!("{prefix}{name}").as_bytes()).0 as i64
}
