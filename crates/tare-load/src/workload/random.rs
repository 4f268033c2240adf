//! A small seeded random source, the same on every build, so that a seed means something.

/// SplitMix64 (Steele, Lea, Flood 2014): one 64-bit state, passes BigCrush, a few ns a draw.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

/// The finaliser of SplitMix64: a bijection of 64-bit numbers that scatters them.
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Random {
    /// A stream of its own for each combination of `parts`.
    pub fn new(parts: &[u64]) -> Random {
        let state = parts.iter().fold(0x9E37_79B9_7F4A_7C15, |seed, &part| {
            mix(seed ^ mix(part.wrapping_add(0x9E37_79B9_7F4A_7C15)))
        });
        Random { state }
    }

    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.state)
    }

    /// Uniform in [0, 1) with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in [0, n); the bias of the multiply-shift method is below n / 2^64.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// Standard normal (Box and Muller 1958, the cosine branch).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Exponential with mean 1: the gaps of a Poisson process of rate 1.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }
}
