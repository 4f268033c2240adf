//! Whole numbers by their distribution.

use tare_draw::ycsb::{Exponential, Hotspot, ScrambledZipfian, SkewedLatest, UniformLong, Zipf};
use tare_draw::{Rng, Share, Xoshiro};

use super::sequence::Sequence;
use super::specification::{Distribution, Number};

/// A distribution, ready to draw from.
#[derive(Debug, Clone)]
pub enum NumberSampler {
    Sequence(Sequence),
    Uniform(UniformLong),
    Zipf(Zipf, i64),
    Scrambled(ScrambledZipfian),
    Latest {
        sampler: Box<SkewedLatest>,
        first: i64,
        last: i64,
        /// The sequence whose acknowledged numbers are the newest.
        grown: Option<Sequence>,
    },
    Hotspot(Hotspot),
    Exponential {
        sampler: Exponential,
        first: i64,
        last: i64,
    },
    /// Middle, deviation and the ends that it is kept within.
    Gaussian(f64, f64, i64, i64),
}

impl NumberSampler {
    /// The distribution that a specification asks for; the error says what is wrong with it.
    /// Of a sequence, the client draws its `share`.
    pub fn new(
        number: &Number,
        grown: Option<Sequence>,
        share: Share,
    ) -> Result<NumberSampler, String> {
        let first = number.first;
        if number.distribution == Distribution::Sequence {
            return Sequence::new(first, number.last, share).map(NumberSampler::Sequence);
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
                NumberSampler::Uniform(UniformLong::new(first, last).map_err(wrong)?)
            }
            Distribution::Zipf => {
                NumberSampler::Zipf(Zipf::new(items, number.theta).map_err(wrong)?, first)
            }
            Distribution::ScrambledZipfian => {
                NumberSampler::Scrambled(ScrambledZipfian::new(first, last).map_err(wrong)?)
            }
            Distribution::Latest => NumberSampler::Latest {
                sampler: Box::new(SkewedLatest::new((items - 1).max(1)).map_err(wrong)?),
                first,
                last,
                grown,
            },
            Distribution::Hotspot => {
                let sampler = Hotspot::new(first, last, number.hot, number.hot_operations);
                NumberSampler::Hotspot(sampler.map_err(wrong)?)
            }
            Distribution::Exponential => {
                let sampler = Exponential::new(number.percentile, items as f64 * number.within);
                NumberSampler::Exponential {
                    sampler: sampler.map_err(wrong)?,
                    first,
                    last,
                }
            }
            Distribution::Gaussian => {
                if !(0.1..=100.0).contains(&number.sigmas) {
                    return Err("sigmas must be 0.1 to 100".into());
                }
                let half = (last - first) as f64 / 2.0;
                NumberSampler::Gaussian(first as f64 + half, half / number.sigmas, first, last)
            }
        })
    }

    /// The sequence, for what grows with it.
    pub fn sequence(&self) -> Option<&Sequence> {
        match self {
            NumberSampler::Sequence(sequence) => Some(sequence),
            _ => None,
        }
    }

    /// The next number. `row` is the row to be filled while populating.
    pub fn next(&mut self, rng: &mut Xoshiro, row: Option<u64>) -> i64 {
        match self {
            NumberSampler::Sequence(sequence) => sequence.next(row),
            NumberSampler::Uniform(sampler) => sampler.next(rng),
            NumberSampler::Zipf(sampler, first) => *first + sampler.next(rng),
            NumberSampler::Scrambled(sampler) => sampler.next(rng),
            NumberSampler::Latest {
                sampler,
                first,
                last,
                grown,
            } => {
                let newest = grown.as_ref().map_or(*last, Sequence::newest);
                let number = *first + sampler.next(rng, (newest - *first).max(1)).max(0);
                // The sampler needs two numbers, and there may be one.
                let number = number.min(newest.max(*first));
                grown.as_ref().map_or(number, |grown| grown.own(number))
            }
            NumberSampler::Hotspot(sampler) => sampler.next(rng),
            NumberSampler::Exponential {
                sampler,
                first,
                last,
            } => {
                // YCSB draws again what falls before the first record. It cuts off what is counted
                // back, so that the last number is drawn, too.
                loop {
                    let back = sampler.next(rng);
                    let number = last.saturating_sub(back as i64);
                    if number >= *first {
                        return number;
                    }
                }
            }
            NumberSampler::Gaussian(middle, deviation, first, last) => {
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

    fn sampler(json: &str) -> Result<NumberSampler, String> {
        NumberSampler::new(&serde_json::from_str(json).unwrap(), None, Share::WHOLE)
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
            let mut sampler = sampler(&json).unwrap();
            let mut rng = Xoshiro::new(1);
            for _ in 0..1000 {
                let number = sampler.next(&mut rng, None);
                assert!((10..=29).contains(&number), "{name}: {number}");
            }
        }
    }

    #[test]
    fn the_last_number_is_the_commonest_of_an_exponential_distribution() {
        let json = r#"{"distribution": "exponential", "first": 10, "last": 29}"#;
        let mut sampler = sampler(json).unwrap();
        let mut rng = Xoshiro::new(1);
        let mut counts = [0; 20];
        for _ in 0..1000 {
            counts[(sampler.next(&mut rng, None) - 10) as usize] += 1;
        }
        let most = counts.iter().max();
        assert!(counts[19] > 0 && most == Some(&counts[19]), "{counts:?}");
    }

    #[test]
    fn the_latest_of_one_number_is_that_number() {
        let mut sampler = sampler(r#"{"distribution": "latest", "first": 5, "last": 5}"#).unwrap();
        let mut rng = Xoshiro::new(1);
        assert!((0..100).all(|_| sampler.next(&mut rng, None) == 5));
    }

    #[test]
    fn the_latest_follow_what_was_acknowledged() {
        let posts = Sequence::new(100, None, Share::new(1, 2).unwrap()).unwrap();
        let number =
            serde_json::from_str(r#"{"distribution": "latest", "first": 0, "last": 99}"#).unwrap();
        let mut sampler = NumberSampler::new(&number, Some(posts.clone()), Share::WHOLE).unwrap();
        let mut rng = Xoshiro::new(1);
        assert!((0..1000).all(|_| sampler.next(&mut rng, None) <= 99));
        for _ in 0..50 {
            assert!(posts.acknowledge(posts.next(None)));
        }
        let drawn: Vec<i64> = (0..1000).map(|_| sampler.next(&mut rng, None)).collect();
        assert!(drawn.iter().any(|&number| number > 180));
        // Of the newer ones only this client's own, which it knows to be there.
        assert!(drawn.iter().all(|n| *n < 100 || (n % 2 == 1 && *n <= 199)));
    }

    #[test]
    fn an_empty_range_is_refused() {
        assert!(sampler(r#"{"distribution": "uniform", "first": 5, "last": 4}"#).is_err());
        assert!(sampler(r#"{"distribution": "uniform", "first": 5}"#).is_err());
        assert!(sampler(r#"{"distribution": "sequence", "first": 5, "last": 3}"#).is_err());
    }
}
