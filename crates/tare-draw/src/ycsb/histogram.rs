//! Lengths drawn from a histogram file.

use crate::{Error, Rng};

/// YCSB's `HistogramGenerator`: bucket i, of weight w(i), gives the length (i + 1) * block size.
///
/// As coded, the last bucket gives its own number times the block size, and a draw that lands
/// exactly on a bucket's end still belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram {
    block_size: i64,
    buckets: Vec<i64>,
    area: i64,
}

impl Histogram {
    /// From YCSB's file: `BlockSize<TAB>n`, then a line `bucket<TAB>weight` for each bucket from 0.
    ///
    /// # Errors
    /// When a line is not of that form; the message names it.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut lines = text.lines().enumerate();
        let block_size = match lines.next().and_then(|(_, line)| line.split_once('\t')) {
            Some(("BlockSize", size)) => whole(size, 1)?,
            _ => {
                return Err(Error::new(
                    "line 1 of the histogram: expected BlockSize, a tab and a whole number",
                ))
            }
        };
        let mut buckets = Vec::new();
        for (number, line) in lines {
            let mut parts = line.split('\t');
            let (Some(bucket), Some(weight)) = (parts.next(), parts.next()) else {
                return Err(Error::new(format!(
                    "line {} of the histogram: expected a bucket, a tab and its weight, found {line:?}",
                    number + 1
                )));
            };
            let bucket = whole(bucket, number + 1)?;
            let weight = whole(weight, number + 1)?;
            match usize::try_from(bucket) {
                Ok(at) if at <= buckets.len() => buckets.insert(at, weight),
                _ => {
                    return Err(Error::new(format!(
                        "line {} of the histogram: bucket {bucket} comes before bucket {}",
                        number + 1,
                        buckets.len()
                    )))
                }
            }
        }
        Self::new(buckets, block_size)
    }

    /// From the weights of the buckets and the block size.
    ///
    /// # Errors
    /// When a weight is negative, or their sum is not between 1 and 2^31 - 1, or the block size is
    /// negative.
    pub fn new(buckets: Vec<i64>, block_size: i64) -> Result<Self, Error> {
        let area: i128 = buckets.iter().map(|weight| i128::from(*weight)).sum();
        let area = i64::try_from(area)
            .ok()
            .filter(|area| (1..=i64::from(i32::MAX)).contains(area));
        match area {
            Some(area) if block_size >= 0 && buckets.iter().all(|weight| *weight >= 0) => {
                Ok(Self {
                    block_size,
                    buckets,
                    area,
                })
            }
            _ => Err(Error::new(
                "a histogram needs a block size and weights from 0 up, with a sum from 1 to 2147483647",
            )),
        }
    }

    /// The next length.
    pub fn next(&self, rng: &mut impl Rng) -> i64 {
        self.value_of(rng.next_below(self.area as u64) as i64)
    }

    /// The sum of the weights: draws are uniform below it.
    pub fn area(&self) -> i64 {
        self.area
    }

    /// The length for a whole number in [0, area).
    pub fn value_of(&self, number: i64) -> i64 {
        let last = self.buckets.len() - 1;
        let mut rest = number;
        for (bucket, weight) in self.buckets[..last].iter().enumerate() {
            rest -= weight;
            if rest <= 0 {
                return (bucket as i64 + 1) * self.block_size;
            }
        }
        last as i64 * self.block_size
    }
}

fn whole(text: &str, line: usize) -> Result<i64, Error> {
    // 32 bits as in YCSB; so no product can overflow.
    text.parse::<i32>().map(i64::from).map_err(|_| {
        Error::new(format!(
            "line {line} of the histogram: {text:?} is not a whole number of 32 bits"
        ))
    })
}
