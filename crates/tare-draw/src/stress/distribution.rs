//! The distributions of numbers: FIXED, UNIFORM, SEQ, GAUSSIAN, EXP, EXTREME, QEXTREME and their inversion.

use super::quantile::{exponential, normal, weibull};
use crate::Rng;

/// A distribution of whole numbers, as cassandra-stress writes it: `uniform(1..10)`, `~exp(1..1M)`.
///
/// Made by [`Distribution::parse`]; written again by `Display`. A sequence counts, so it is drawn from
/// through a [`super::Sampler`].
#[derive(Debug, Clone, PartialEq)]
pub enum Distribution {
    /// Always `value`.
    Fixed {
        /// The value.
        value: i64,
    },
    /// All from `min` to `max` alike.
    Uniform {
        /// The least value.
        min: i64,
        /// The greatest value.
        max: i64,
    },
    /// From `min` to `max`, one after the other, then again from `min`.
    Sequence {
        /// The first value.
        min: i64,
        /// The last value.
        max: i64,
    },
    /// A normal number, rounded towards 0; beyond `min` and `max` it is `min` or `max`.
    Gaussian {
        /// The least value.
        min: i64,
        /// The greatest value.
        max: i64,
        /// The mean of the normal distribution.
        mean: f64,
        /// Its standard deviation.
        deviation: f64,
    },
    /// `min` plus an exponential number, rounded down, at most `max`.
    Exponential {
        /// The least value.
        min: i64,
        /// The greatest value.
        max: i64,
        /// The mean of the exponential distribution.
        mean: f64,
    },
    /// `min` plus a Weibull number, rounded down, at most `max`.
    Extreme {
        /// The least value.
        min: i64,
        /// The greatest value.
        max: i64,
        /// The shape of the Weibull distribution.
        shape: f64,
        /// Its scale.
        scale: f64,
    },
    /// A Weibull number says in which part of the range; within the part all values are alike.
    Quantized {
        /// The distribution of the parts, an `Extreme`.
        distribution: Box<Distribution>,
        /// Where the parts begin, and the end of the last one.
        bounds: Vec<i64>,
    },
    /// max - (x - min) for the values x of the distribution inside.
    Inverted {
        /// The distribution inside.
        distribution: Box<Distribution>,
        /// Its least value.
        min: i64,
        /// Its greatest value.
        max: i64,
    },
}

impl Distribution {
    /// The distribution turned around, so that the rarest value becomes the commonest; the inside of a distribution that
    /// is turned already.
    pub fn inverted(self) -> Self {
        match self {
            Self::Inverted { distribution, .. } => *distribution,
            distribution => distribution.turned(),
        }
    }

    /// As [`Distribution::inverted`], but twice turned stays twice turned, as `~` is.
    pub(super) fn turned(self) -> Self {
        Self::Inverted {
            min: self.min(),
            max: self.max(),
            distribution: Box::new(self),
        }
    }

    /// A distribution whose parts lie at the quantiles i / `parts` of this one.
    pub(super) fn quantized(self, parts: usize) -> Self {
        let mut bounds = vec![self.min()];
        for part in 1..parts {
            bounds.push(self.inverse_cumulative(part as f64 / parts as f64));
        }
        bounds.push(self.max().saturating_add(1));
        Self::Quantized {
            distribution: Box::new(self),
            bounds,
        }
    }

    /// The next value. `counter` is where a sequence stands; others leave it alone.
    pub(super) fn draw(&self, rng: &mut impl Rng, counter: &mut i64) -> i64 {
        match self {
            Self::Fixed { value } => *value,
            Self::Sequence { min, max } => next_in_sequence(*min, *max, counter),
            Self::Quantized {
                distribution,
                bounds,
            } => {
                // For the first bound itself the tool fails; here it belongs to the first part.
                let part = part_of(bounds, distribution.draw(rng, counter)).unwrap_or(0);
                let (from, to) = (bounds[part], bounds[part + 1]);
                from + (rng.next_f64() * (to - from) as f64) as i64
            }
            Self::Inverted {
                distribution,
                min,
                max,
            } => max - (distribution.draw(rng, counter) - min),
            _ => self.bounded(self.draw_real(rng)),
        }
    }

    /// The next value, before it is made whole.
    pub(super) fn draw_f64(&self, rng: &mut impl Rng, counter: &mut i64) -> f64 {
        match self {
            Self::Fixed { value } => *value as f64,
            Self::Sequence { .. } | Self::Quantized { .. } => self.draw(rng, counter) as f64,
            Self::Inverted {
                distribution,
                min,
                max,
            } => *max as f64 - (distribution.draw_f64(rng, counter) - *min as f64),
            Self::Uniform { min, max } | Self::Gaussian { min, max, .. } => {
                self.draw_real(rng).clamp(*min as f64, *max as f64)
            }
            Self::Exponential { min, max, .. } | Self::Extreme { min, max, .. } => {
                *min as f64 + self.draw_real(rng).clamp(0.0, (max - min) as f64)
            }
        }
    }

    /// The least value x with P(X <= x) >= `probability`, as the tool computes it.
    pub fn inverse_cumulative(&self, probability: f64) -> i64 {
        match self {
            Self::Fixed { value } => *value,
            Self::Sequence { min, max } => (*min as f64 + (max - min) as f64 * probability) as i64,
            Self::Uniform { min, max } => {
                let (low, high) = (*min as f64, (max + 1) as f64);
                self.bounded(probability * (high - low) + low)
            }
            Self::Gaussian {
                mean, deviation, ..
            } => self.bounded(normal(*mean, *deviation, probability)),
            Self::Exponential { mean, .. } => self.bounded(exponential(*mean, probability)),
            Self::Extreme { shape, scale, .. } => {
                self.bounded(weibull(*shape, *scale, probability))
            }
            Self::Quantized {
                distribution,
                bounds,
            } => {
                let Some(part) = part_of(bounds, distribution.inverse_cumulative(probability))
                else {
                    return bounds[0];
                };
                let parts = (bounds.len() - 1) as f64;
                let within = (probability - part as f64 / parts) * parts;
                bounds[part] + (within * (bounds[part + 1] - bounds[part]) as f64) as i64
            }
            Self::Inverted {
                distribution,
                min,
                max,
            } => max - (distribution.inverse_cumulative(probability) - min),
        }
    }

    /// The least value. For an inverted distribution this is the greatest, as in the tool.
    pub fn min(&self) -> i64 {
        self.inverse_cumulative(0.0)
    }

    /// The greatest value. For an inverted distribution this is the least, as in the tool.
    pub fn max(&self) -> i64 {
        self.inverse_cumulative(1.0)
    }

    /// The tool's mean: over the quantiles 0, 0.02, ... 1, counted in 32-bit floats.
    pub fn average(&self) -> i64 {
        let (mut sum, mut count) = (0.0, 0u32);
        let mut probability = 0f32;
        while f64::from(probability) <= 1.0 {
            sum += self.inverse_cumulative(f64::from(probability)) as f64;
            count += 1;
            probability = (f64::from(probability) + 0.02) as f32;
        }
        (sum / f64::from(count)) as i64
    }

    /// A number of the real distribution inside.
    fn draw_real(&self, rng: &mut impl Rng) -> f64 {
        match self {
            Self::Uniform { min, max } => {
                let u = rng.next_f64();
                u * (max + 1) as f64 + (1.0 - u) * *min as f64
            }
            Self::Gaussian {
                mean, deviation, ..
            } => deviation * rng.next_gaussian() + mean,
            Self::Exponential { mean, .. } => exponential_draw(*mean, rng),
            Self::Extreme { shape, scale, .. } => weibull(*shape, *scale, rng.next_f64()),
            _ => f64::NAN,
        }
    }

    /// A real number made whole and brought into the range.
    fn bounded(&self, real: f64) -> i64 {
        let whole = real as i64;
        match self {
            Self::Exponential { min, max, .. } | Self::Extreme { min, max, .. } => {
                min + whole.clamp(0, max - min)
            }
            Self::Uniform { min, max } | Self::Gaussian { min, max, .. } => whole.clamp(*min, *max),
            _ => whole,
        }
    }
}

fn next_in_sequence(min: i64, max: i64, counter: &mut i64) -> i64 {
    let at = *counter;
    *counter = at.wrapping_add(1);
    // The remainder keeps the sign of a negative seed, as in Java.
    min.wrapping_add(at % (max - min + 1))
}

/// Which part holds `value`; none when it is the very first bound.
///
/// A value on a part's first bound belongs to the part before it, as coded.
fn part_of(bounds: &[i64], value: i64) -> Option<usize> {
    // Java's binary search step for step: it decides which of several equal bounds is found.
    let (mut low, mut high) = (0, bounds.len());
    while low < high {
        let middle = (low + high - 1) / 2;
        match bounds[middle].cmp(&value) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
            std::cmp::Ordering::Equal => return middle.checked_sub(1),
        }
    }
    low.checked_sub(1).map(|part| part.min(bounds.len() - 2))
}

/// ln 2^1/1! + ... + ln 2^i/i!, up to the first sum that is 1 in double precision.
const SERIES: [f64; 16] = [
    std::f64::consts::LN_2,
    0.933_373_687_519_046,
    0.988_877_796_141_026_6,
    0.998_495_925_290_839_1,
    0.999_829_281_106_138_9,
    0.999_983_316_410_072_7,
    0.999_998_569_143_876_8,
    0.999_999_890_692_556_3,
    0.999_999_992_473_415_9,
    0.999_999_999_528_328,
    0.999_999_999_972_881_4,
    0.999_999_999_998_559_8,
    0.999_999_999_999_929,
    0.999_999_999_999_996_8,
    0.999_999_999_999_999_9,
    1.0,
];

/// An exponential number by algorithm SA.
///
/// Ahrens and Dieter, "Computer methods for sampling from the exponential and normal distributions",
/// CACM 15(10), 1972: what commons-math draws by.
fn exponential_draw(mean: f64, rng: &mut impl Rng) -> f64 {
    let mut sum = 0.0;
    let mut u = rng.next_f64();
    if u == 0.0 {
        // The doubling below would never end.
        u = f64::EPSILON;
    }
    while u < 0.5 {
        sum += SERIES[0];
        u *= 2.0;
    }
    u += u - 1.0;
    if u <= SERIES[0] {
        return mean * (sum + u);
    }
    let mut least = rng.next_f64();
    let mut at = 0;
    loop {
        at += 1;
        least = least.min(rng.next_f64());
        if u <= SERIES[at] {
            return mean * (sum + least * SERIES[0]);
        }
    }
}
