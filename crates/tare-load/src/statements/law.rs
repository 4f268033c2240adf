//! Whole numbers by their distribution.

use tare_draw::ycsb::{Exponential, Hotspot, ScrambledZipfian, SkewedLatest, UniformLong, Zipf};
use tare_draw::{Rng, Share, Xoshiro};

use super::sequence::Sequence;
use super::specification::{Distribution, Number};

/// A distribution, ready to draw from.
#[derive(Debug, Clone)]
pub enum Law {
    Sequence(Sequence),
    Uniform(UniformLong),
    Zipf(Zipf, i64),
    Scrambled(ScrambledZipfian),
    Latest {
        law: Box<SkewedLatest>,
        first: i64,
        last: i64,
        /// The sequence whose acknowledged numbers are the newest.
        grown: Option<Sequence>,
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
    /// Of a sequence, the client draws its `share`.
    pub fn new(number: &Number, grown: Option<Sequence>, share: Share) -> Result<Law, String> {
        let first = number.first;
        if number.distribution == Distribution::Sequence {
            return Sequence::new(first, number.last, share).map(Law::Sequence);
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

    /// The sequence, for what grows with it.
    pub fn sequence(&self) -> Option<&Sequence> {
        match self {
            Law::Sequence(sequence) => Some(sequence),
            _ => None,
        }
    }

    /// The next number. `row` is the row to be filled while populating.
    pub fn next(&mut self, rng: &mut Xoshiro, row: Option<u64>) -> i64 {
        match self {
            Law::Sequence(sequence) => sequence.next(row),
            Law::Uniform(law) => law.next(rng),
            Law::Zipf(law, first) => *first + law.next(rng),
            Law::Scrambled(law) => law.next(rng),
            Law::Latest {
                law,
                first,
                last,
                grown,
            } => {
                let newest = grown.as_ref().map_or(*last, Sequence::newest);
                let number = *first + law.next(rng, (newest - *first).max(1)).max(0);
                grown.as_ref().map_or(number, |grown| grown.own(number))
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
        Law::new(&serde_json::from_str(json).unwrap(), None, Share::WHOLE)
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
    fn the_latest_follow_what_was_acknowledged() {
        let posts = Sequence::new(100, None, Share::new(1, 2).unwrap()).unwrap();
        let number =
            serde_json::from_str(r#"{"distribution": "latest", "first": 0, "last": 99}"#).unwrap();
        let mut law = Law::new(&number, Some(posts.clone()), Share::WHOLE).unwrap();
        let mut rng = Xoshiro::new(1);
        assert!((0..1000).all(|_| law.next(&mut rng, None) <= 99));
        for _ in 0..50 {
            assert!(posts.acknowledge(posts.next(None)));
        }
        let drawn: Vec<i64> = (0..1000).map(|_| law.next(&mut rng, None)).collect();
        assert!(drawn.iter().any(|&number| number > 180));
        // Of the newer ones only this client's own, which it knows to be there.
        assert!(drawn.iter().all(|n| *n < 100 || (n % 2 == 1 && *n <= 199)));
    }

    #[test]
    fn an_empty_range_is_refused() {
        assert!(law(r#"{"distribution": "uniform", "first": 5, "last": 4}"#).is_err());
        assert!(law(r#"{"distribution": "uniform", "first": 5}"#).is_err());
        assert!(law(r#"{"distribution": "sequence", "first": 5, "last": 3}"#).is_err());
    }
}
