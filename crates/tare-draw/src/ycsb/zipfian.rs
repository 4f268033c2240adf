//! YCSB's zipfian numbers: small ones are popular.

use crate::{Error, Rng};

/// The skew that YCSB uses everywhere.
pub const ZIPFIAN_CONSTANT: f64 = 0.99;

/// Up to this many terms [`zeta`] adds one by one, as YCSB does.
const EXACT_TERMS: i64 = 100_000_000;

/// YCSB's `ZipfianGenerator`, as coded.
///
/// Gray et al., "Quickly Generating Billion-Record Synthetic Databases", SIGMOD 1994, with its
/// approximation: only the ranks 0 and 1 have exactly their Zipf probability.
#[derive(Debug, Clone, PartialEq)]
pub struct Zipfian {
    low: i64,
    items: i64,
    theta: f64,
    alpha: f64,
    zeta_two: f64,
    zeta_items: f64,
    counted: i64,
    eta: f64,
    second: f64,
}

impl Zipfian {
    /// Numbers from `low` to `high`, `low` the most popular, with skew `theta` in (0, 1).
    ///
    /// Adds up high - low + 1 powers: one second for some 10^8 items. Make one and clone it.
    ///
    /// # Errors
    /// When the range is empty or too wide, or `theta` is not in (0, 1).
    pub fn new(low: i64, high: i64, theta: f64) -> Result<Self, Error> {
        let items = count(low, high)?;
        check_theta(theta)?;
        Self::with_zeta(low, high, theta, zeta(0, items, theta, 0.0))
    }

    /// As [`Zipfian::new`], with zeta(high - low + 1, theta) known beforehand.
    ///
    /// # Errors
    /// As [`Zipfian::new`].
    pub fn with_zeta(low: i64, high: i64, theta: f64, zeta_items: f64) -> Result<Self, Error> {
        let items = count(low, high)?;
        check_theta(theta)?;
        let mut zipfian = Self {
            low,
            items,
            theta,
            alpha: 1.0 / (1.0 - theta),
            zeta_two: zeta(0, 2, theta, 0.0),
            zeta_items,
            counted: items,
            eta: 0.0,
            second: 1.0 + 0.5f64.powf(theta),
        };
        zipfian.eta = zipfian.eta_now();
        Ok(zipfian)
    }

    /// The next number.
    #[inline]
    pub fn next(&self, rng: &mut impl Rng) -> i64 {
        self.value_at(rng.next_f64())
    }

    /// The number for the uniform number `u` in [0, 1).
    #[inline]
    pub fn value_at(&self, u: f64) -> i64 {
        self.value_among(u, self.items)
    }

    /// Lets the range hold `items` numbers from now on, when that is more than so far.
    ///
    /// As YCSB: zeta is extended by the new terms, but eta keeps the number of items that the
    /// generator was made with; and fewer items never shrink zeta.
    pub fn grow(&mut self, items: i64) {
        if items > self.counted {
            self.zeta_items = zeta(self.counted, items, self.theta, self.zeta_items);
            self.counted = items;
            self.eta = self.eta_now();
        }
    }

    /// The number for `u` when the range holds `items` numbers; [`Zipfian::grow`] comes first.
    #[inline]
    pub fn value_among(&self, u: f64, items: i64) -> i64 {
        let uz = u * self.zeta_items;
        if uz < 1.0 {
            return self.low;
        }
        if uz < self.second {
            return self.low + 1;
        }
        let part = (self.eta * u - self.eta + 1.0).powf(self.alpha);
        self.low.wrapping_add((items as f64 * part) as i64)
    }

    /// zeta of the items counted so far.
    pub fn zeta_items(&self) -> f64 {
        self.zeta_items
    }

    /// The factor eta of the approximation.
    pub fn eta(&self) -> f64 {
        self.eta
    }

    fn eta_now(&self) -> f64 {
        (1.0 - (2.0 / self.items as f64).powf(1.0 - self.theta))
            / (1.0 - self.zeta_two / self.zeta_items)
    }
}

/// `sum` plus the terms 1 / i^theta for i = from + 1 ..= to, added one by one as YCSB does.
///
/// Beyond 10^8 terms the rest comes from the Euler-Maclaurin formula, whose error there is far below
/// the rounding of the sum; YCSB would add for minutes.
pub fn zeta(from: i64, to: i64, theta: f64, sum: f64) -> f64 {
    let exact_to = to.min(from.saturating_add(EXACT_TERMS));
    let mut sum = sum;
    for i in from..exact_to {
        sum += 1.0 / ((i + 1) as f64).powf(theta);
    }
    if exact_to < to {
        sum += euler_maclaurin(exact_to as f64, to as f64, theta);
    }
    sum
}

/// The sum of i^-theta over from < i <= to.
///
/// Integral + (f(to) - f(from)) / 2 + (f'(to) - f'(from)) / 12; the next term is under from^-3.
fn euler_maclaurin(from: f64, to: f64, theta: f64) -> f64 {
    let power = |x: f64| x.powf(-theta);
    let slope = |x: f64| -theta * x.powf(-theta - 1.0);
    let integral = (to.powf(1.0 - theta) - from.powf(1.0 - theta)) / (1.0 - theta);
    integral + (power(to) - power(from)) / 2.0 + (slope(to) - slope(from)) / 12.0
}

fn count(low: i64, high: i64) -> Result<i64, Error> {
    high.checked_sub(low)
        .and_then(|span| span.checked_add(1))
        .filter(|items| *items > 0)
        .ok_or_else(|| {
            Error::new(format!(
                "a zipfian range {low}..{high} is empty or too wide: expected low <= high"
            ))
        })
}

fn check_theta(theta: f64) -> Result<(), Error> {
    if theta > 0.0 && theta < 1.0 {
        return Ok(());
    }
    Err(Error::new(format!(
        "the zipfian constant is {theta}: expected a number above 0 and below 1, as 0.99"
    )))
}
