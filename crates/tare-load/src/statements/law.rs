//! Whole numbers by their distribution.

use std::sync::Arc;

use tare_draw::ycsb::{
    AcknowledgedCounter, Exponential, Hotspot, ScrambledZipfian, SkewedLatest, UniformLong, Zipf,
};
use tare_draw::{Rng, Xoshiro};

use super::specification::{Distribution, Number};

/// A distribution, ready to draw from.
#[derive(Debug, Clone)]
pub enum Law {
    /// One after the other over all workers, from the beginning again after `span` numbers.
    Sequence {
        counter: Arc<AcknowledgedCounter>,
        first: i64,
        span: Option<i64>,
    },
    Uniform(UniformLong),
    Zipf(Zipf, i64),
    Scrambled(ScrambledZipfian),
    Latest {
        law: Box<SkewedLatest>,
        first: i64,
        last: i64,
        /// The sequence whose acknowledged numbers are the newest.
        grown: Option<Arc<AcknowledgedCounter>>,
    },
    Hotspot(Hotspot),
    Exponential {
        law: Exponential,
        first: i64,
        last: i64,
    },
    /// Middle, deviation and the ends that it is kept within.
    Gaussian(f64, f64, i64, i64),
}

impl Law {
    /// The distribution that a specification asks for; the error says what is wrong with it.
    pub fn new(number: &Number, grown: Option<Arc<AcknowledgedCounter>>) -> Result<Law, String> {
        let first = number.first;
        if number.distribution == Distribution::Sequence {
            let span = number.last.map(|last| last - first + 1);
            if span.is_some_and(|span| span < 1) {
                return Err("the sequence ends before it begins".into());
            }
            let counter = Arc::new(AcknowledgedCounter::new(first));
            return Ok(Law::Sequence {
                counter,
                first,
                span,
            });
        }
        let last = number
            .last
            .ok_or("only a sequence can do without a last number")?;
        let items = last
            .checked_sub(first)
            .and_then(|span| span.checked_add(1))
            .filter(|&items| items > 0)
            .ok_or("the last number is less than the first, or too far from it")?;
        let wrong = |error: tare_draw::Error| error.to_string();
        Ok(match number.distribution {
            Distribution::Sequence | Distribution::Uniform => {
                Law::Uniform(UniformLong::new(first, last).map_err(wrong)?)
            }
            Distribution::Zipf => Law::Zipf(Zipf::new(items, number.theta).map_err(wrong)?, first),
            Distribution::ScrambledZipfian => {
                Law::Scrambled(ScrambledZipfian::new(first, last).map_err(wrong)?)
            }
            Distribution::Latest => Law::Latest {
                law: Box::new(SkewedLatest::new((items - 1).max(1)).map_err(wrong)?),
                first,
                last,
                grown,
            },
            Distribution::Hotspot => {
                let law = Hotspot::new(first, last, number.hot, number.hot_operations);
                Law::Hotspot(law.map_err(wrong)?)
            }
            Distribution::Exponential => {
                let law = Exponential::new(number.percentile, items as f64 * number.within);
                Law::Exponential {
                    law: law.map_err(wrong)?,
                    first,
                    last,
                }
            }
            Distribution::Gaussian => {
                if !(0.1..=100.0).contains(&number.sigmas) {
                    return Err("sigmas must be 0.1 to 100".into());
                }
                let half = (last - first) as f64 / 2.0;
                Law::Gaussian(first as f64 + half, half / number.sigmas, first, last)
            }
        })
    }

    /// The sequence's counter, for what grows with it.
    pub fn counter(&self) -> Option<&Arc<AcknowledgedCounter>> {
        match self {
            Law::Sequence { counter, .. } => Some(counter),
            _ => None,
        }
    }

    /// The next number. `row` is the row to be filled while populating.
    pub fn next(&mut self, rng: &mut Xoshiro, row: Option<u64>) -> i64 {
        match self {
            Law::Sequence {
                counter,
                first,
                span,
            } => {
                let number = match row {
                    Some(row) => first.saturating_add(row as i64),
                    None => counter.next(),
                };
                match span {
                    Some(span) => *first + (number - *first) % *span,
                    None => number,
                }
            }
            Law::Uniform(law) => law.next(rng),
            Law::Zipf(law, first) => *first + law.next(rng),
            Law::Scrambled(law) => law.next(rng),
            Law::Latest {
                law,
                first,
                last,
                grown,
            } => {
                let newest = grown.as_ref().map_or(*last, |counter| counter.last());
                *first + law.next(rng, (newest - *first).max(1)).max(0)
            }
            Law::Hotspot(law) => law.next(rng),
            Law::Exponential { law, first, last } => {
                // YCSB draws again what falls before the first record.
                loop {
                    let back = law.next(rng);
                    let number = *last as f64 - back;
                    if number >= *first as f64 {
                        return number as i64;
                    }
                }
            }
            Law::Gaussian(middle, deviation, first, last) => {
                // Drawn again outside of the ends: kept at them, the ends would be hot.
                loop {
                    let number = (*middle + rng.next_gaussian() * *deviation).round();
                    if (*first as f64..=*last as f64).contains(&number) {
                        return number as i64;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(json: &str) -> Result<Law, String> {
        Law::new(&serde_json::from_str(json).unwrap(), None)
    }

    #[test]
    fn every_distribution_stays_within_its_ends() {
        for name in [
            "sequence",
            "uniform",
            "zipf",
            "scrambled_zipfian",
            "hotspot",
            "exponential",
            "gaussian",
            "latest",
        ] {
            let json = format!(r#"{{"distribution": "{name}", "first": 10, "last": 29}}"#);
            let mut law = law(&json).unwrap();
            let mut rng = Xoshiro::new(1);
            for _ in 0..1000 {
                let number = law.next(&mut rng, None);
                assert!((10..=29).contains(&number), "{name}: {number}");
            }
        }
    }

    #[test]
    fn a_sequence_begins_again_after_its_last_number() {
        let mut law = law(r#"{"distribution": "sequence", "first": 5, "last": 7}"#).unwrap();
        let mut rng = Xoshiro::new(1);
        let numbers: Vec<i64> = (0..5).map(|_| law.next(&mut rng, None)).collect();
        assert_eq!(numbers, [5, 6, 7, 5, 6]);
        assert_eq!(law.next(&mut rng, Some(2)), 7);
    }

    #[test]
    fn the_latest_follow_what_was_acknowledged() {
        let counter = Arc::new(AcknowledgedCounter::new(100));
        let number =
            serde_json::from_str(r#"{"distribution": "latest", "first": 0, "last": 99}"#).unwrap();
        let mut law = Law::new(&number, Some(Arc::clone(&counter))).unwrap();
        let mut rng = Xoshiro::new(1);
        assert!((0..1000).all(|_| law.next(&mut rng, None) <= 99));
        for _ in 0..50 {
            counter.acknowledge(counter.next()).unwrap();
        }
        assert!((0..1000).any(|_| law.next(&mut rng, None) > 140));
    }

    #[test]
    fn an_empty_range_is_refused() {
        assert!(law(r#"{"distribution": "uniform", "first": 5, "last": 4}"#).is_err());
        assert!(law(r#"{"distribution": "uniform", "first": 5}"#).is_err());
        assert!(law(r#"{"distribution": "sequence", "first": 5, "last": 3}"#).is_err());
    }
}
