//! The source of randomness: a trait, and a fast generator that repeats itself from its seed.

/// A stream of uniform random bits.
///
/// Bounds are taken as the generators need them, so that [`crate::java::Random`] can answer them in
/// Java's way and [`Xoshiro`] in the fastest one.
pub trait Rng {
    /// 64 random bits.
    fn next_u64(&mut self) -> u64;

    /// A uniform number in [0, 1), a multiple of 2^-53.
    fn next_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A uniform whole number in [0, bound), without bias; 0 when `bound` is 0.
    ///
    /// Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS 29(1), 2019.
    fn next_below(&mut self, bound: u64) -> u64 {
        let mut product = u128::from(self.next_u64()) * u128::from(bound);
        if (product as u64) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u64) < threshold {
                product = u128::from(self.next_u64()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// A standard normal number.
    ///
    /// Marsaglia and Bray's polar method; the second number of the pair is thrown away.
    fn next_gaussian(&mut self) -> f64 {
        loop {
            let x = 2.0 * self.next_f64() - 1.0;
            let y = 2.0 * self.next_f64() - 1.0;
            let square = x * x + y * y;
            if square < 1.0 && square != 0.0 {
                return x * (-2.0 * square.ln() / square).sqrt();
            }
        }
    }
}

/// xoshiro256++: 256 bits of state, period 2^256 - 1, under a nanosecond a number.
///
/// Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators", ACM TOMS 47(4), 2021. The
/// state is filled by SplitMix64, as its authors advise. Not for secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Xoshiro {
    state: [u64; 4],
}

impl Xoshiro {
    /// The stream of `seed`.
    pub fn new(seed: u64) -> Self {
        let mut mix = seed;
        Self {
            state: std::array::from_fn(|_| split_mix(&mut mix)),
        }
    }

    /// One of many independent streams of one seed: one for each worker, slot or purpose.
    pub fn stream(seed: u64, stream: u64) -> Self {
        let mut mix = seed;
        let first = split_mix(&mut mix);
        let mut mix = stream ^ 0x6a09_e667_f3bc_c909;
        Self::new(first ^ split_mix(&mut mix))
    }
}

impl Rng for Xoshiro {
    #[inline]
    fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let result = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }
}

/// The next number of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
