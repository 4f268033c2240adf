//! Numbers that look random and are the same in every process: xorshift64 of Marsaglia, 2003.

pub struct Random(u64);

impl Random {
    pub fn new() -> Random {
        Random(0x9E37_79B9_7F4A_7C15)
    }

    /// Below `limit`; even enough for limits far below 2^64.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}
