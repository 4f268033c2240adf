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
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mean_and_deviation(draws: impl Iterator<Item = f64>) -> (f64, f64) {
        let draws: Vec<f64> = draws.collect();
        let n = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / n;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
        (mean, variance.sqrt())
    }

    #[test]
    fn the_stream_is_splitmix64() {
        // First outputs for the state 1234567, from the published reference code.
        let mut random = Random { state: 1_234_567 };
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn distributions_have_their_moments() {
        let mut random = Random::new(&[3]);
        let (mean, deviation) = mean_and_deviation((0..100_000).map(|_| random.normal()));
        assert!(mean.abs() < 0.02 && (deviation - 1.0).abs() < 0.02);
    }

    proptest! {
        #[test]
        fn draws_stay_below_their_limit(seed: u64, limit in 1u64..) {
            prop_assert!(Random::new(&[seed]).below(limit) < limit);
        }

        #[test]
        fn each_part_of_a_seed_matters(a: u64, b: u64) {
            prop_assume!(a != b);
            prop_assert_ne!(Random::new(&[a, b]).next(), Random::new(&[b, a]).next());
        }
    }
}
