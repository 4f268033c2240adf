//! A share between 0 and 1, drawn from a distribution: `fixed(1)/1`, `uniform(1..10)/10`.

use std::fmt;

use super::parse::parse_count;
use super::{Distribution, Sampler};
use crate::{Error, Rng};

/// A distribution of numbers divided by a constant, brought into \[0, 1\].
#[derive(Debug, Clone, PartialEq)]
pub struct Ratio {
    sampler: Sampler,
    divisor: i64,
}

impl Ratio {
    /// Reads `LAW/DIVISOR`, the divisor a whole number with or without K, M or B.
    ///
    /// # Errors
    /// When the text has another form; the message says what was expected.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let expected = || {
            Error::new(format!(
                "{text:?} is not a ratio: expected a distribution and a divisor, as fixed(1)/1 or uniform(1..10)/10"
            ))
        };
        let (distribution, divisor) = text.trim().rsplit_once('/').ok_or_else(expected)?;
        let unsigned = divisor.starts_with(|first: char| first.is_ascii_digit());
        let divisor = parse_count(divisor).ok().filter(|_| unsigned);
        Ok(Self {
            sampler: Sampler::new(Distribution::parse(distribution)?),
            divisor: divisor.ok_or_else(expected)?,
        })
    }

    /// The next share.
    pub fn next(&mut self, rng: &mut impl Rng) -> f64 {
        let share = self.sampler.draw_f64_from(rng) / self.divisor as f64;
        // As coded: max(0, min(1, x)). 0/0 is NaN there and means 0 here.
        if share.is_nan() {
            0.0
        } else {
            share.clamp(0.0, 1.0)
        }
    }

    /// The least share.
    pub fn min(&self) -> f64 {
        (self.sampler.distribution().min() as f64 / self.divisor as f64).min(1.0)
    }

    /// The greatest share.
    pub fn max(&self) -> f64 {
        (self.sampler.distribution().max() as f64 / self.divisor as f64).min(1.0)
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}/{}",
            self.sampler.distribution(),
            self.divisor
        )
    }
}
