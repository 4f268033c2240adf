//! The true Zipf distribution, which YCSB's own generators only approach.

use crate::{Error, Rng};

/// Zipf's distribution over 0..items: rank k (from 0) has a probability proportional to (k + 1)^-exponent.
///
/// Exact, without a table, by rejection-inversion: Hörmann and Derflinger, "Rejection-inversion to
/// generate variates from monotone discrete distributions", ACM TOMACS 6(3), 1996. Needs 1.1 uniform
/// numbers a draw or fewer.
#[derive(Debug, Clone, PartialEq)]
pub struct Zipf {
    items: f64,
    exponent: f64,
    /// H(1.5) - 1 and H(items + 0.5): the ends of the area that is drawn from.
    area_first: f64,
    area_last: f64,
    /// Up to this distance from its whole number a draw needs no test.
    sure: f64,
}

impl Zipf {
    /// Zipf's distribution over `items` ranks.
    ///
    /// # Errors
    /// When `items` is under 1, or `exponent` is not a number above 0.
    pub fn new(items: i64, exponent: f64) -> Result<Self, Error> {
        if items < 1 || !(exponent > 0.0 && exponent.is_finite()) {
            return Err(Error::new(format!(
                "a Zipf distribution over {items} ranks with exponent {exponent}: expected at least one rank and an exponent above 0"
            )));
        }
        let mut zipf = Self {
            items: items as f64,
            exponent,
            area_first: 0.0,
            area_last: 0.0,
            sure: 0.0,
        };
        zipf.area_first = zipf.area(1.5) - 1.0;
        zipf.area_last = zipf.area(zipf.items + 0.5);
        zipf.sure = 2.0 - zipf.area_inverse(zipf.area(2.5) - zipf.density(2.0));
        Ok(zipf)
    }

    /// The next rank, from 0.
    pub fn next(&self, rng: &mut impl Rng) -> i64 {
        loop {
            let u = self.area_last + rng.next_f64() * (self.area_first - self.area_last);
            let x = self.area_inverse(u);
            let rank = (x + 0.5).floor().clamp(1.0, self.items);
            if rank - x <= self.sure || u >= self.area(rank + 0.5) - self.density(rank) {
                return rank as i64 - 1;
            }
        }
    }

    /// h(x) = x^-exponent.
    fn density(&self, x: f64) -> f64 {
        (-self.exponent * x.ln()).exp()
    }

    /// H(x), the integral of h from 1 to x, written so that an exponent near 1 does no harm.
    fn area(&self, x: f64) -> f64 {
        let log = x.ln();
        relative_expm1((1.0 - self.exponent) * log) * log
    }

    fn area_inverse(&self, area: f64) -> f64 {
        // Rounding can take the argument of the logarithm just under its least value.
        let t = (area * (1.0 - self.exponent)).max(-1.0);
        (relative_ln1p(t) * area).exp()
    }
}

/// (e^x - 1) / x, and its limit at 0.
fn relative_expm1(x: f64) -> f64 {
    if x.abs() > 1e-8 {
        x.exp_m1() / x
    } else {
        1.0 + x / 2.0
    }
}

/// ln(1 + x) / x, and its limit at 0.
fn relative_ln1p(x: f64) -> f64 {
    if x.abs() > 1e-8 {
        x.ln_1p() / x
    } else {
        1.0 - x / 2.0
    }
}
