//! The highest throughput among levels that were measured several times, with its interval.

use super::bootstrap::{moments, t95, Random};
use super::journal::Tried;

/// Resamples; their spread is then known to 4%.
const RESAMPLES: usize = 300;

/// The top of the curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Top {
    /// Operations per second, and its 95% interval.
    pub throughput: f64,
    pub low: f64,
    pub high: f64,
    /// Levels that cannot be told from the best, lowest first.
    pub plateau: Vec<f64>,
    /// The level with the highest mean less its standard error.
    pub best: f64,
}

impl Top {
    /// Half width of the interval over the estimate.
    pub fn precision(&self) -> f64 {
        (self.high - self.low) / 2.0 / self.throughput
    }
}

/// The estimate is the mean of a plateau with so much of the tolerance: a peak without a real
/// plateau would be underestimated with all of it.
const NARROW: f64 = 0.4;

/// One level's throughputs.
type Sample = (f64, Vec<f64>);

/// The best level and its neighbours that cannot be told from it are one plateau, whose mean is
/// the top. The mean of the best alone would be too high, as it is the best by luck, too.
///
/// The interval: relative residuals are pooled over the levels and resampled; the resamples'
/// spread times Student's t is the half width, below the estimate and above the best level's own
/// mean.
/// `between` is the standard error that comes from whole rounds being fast or slow together; the
/// larger of the two counts. None without a level of two measurements.
pub fn top(tried: &[Tried], tolerance: f64, between: f64, random: &mut Random) -> Option<Top> {
    let sample = sample(tried);
    let residuals = residuals(&sample);
    if residuals.is_empty() {
        return None;
    }
    let (_, scatter) = moments(&residuals);
    let (first, last, _) = plateau(&sample, tolerance, scatter)?;
    let (_, _, throughput) = plateau(&sample, NARROW * tolerance, scatter)?;
    let resampled: Vec<f64> = (0..RESAMPLES)
        .filter_map(|_| {
            plateau(
                &resample(&sample, &residuals, random),
                NARROW * tolerance,
                scatter,
            )
        })
        .map(|(_, _, throughput)| throughput)
        .collect();
    let (_, spread) = moments(&resampled);
    let measurements: usize = sample.iter().map(|(_, values)| values.len()).sum();
    let error = spread.max(between * throughput);
    let half = t95((measurements - sample.len()) as f64) * error;
    let best = best(&sample, scatter)?;
    let summit = mean(&sample[best].1).max(throughput);
    Some(Top {
        throughput,
        low: throughput - half,
        high: summit + half,
        plateau: sample[first..=last]
            .iter()
            .map(|(level, _)| *level)
            .collect(),
        best: sample[best].0,
    })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The level with the highest mean less its standard error: a lucky single measurement is none.
/// `scatter` is the relative standard deviation of one measurement.
fn best(sample: &[Sample], scatter: f64) -> Option<usize> {
    let sure = |i: usize| {
        let values = &sample[i].1;
        mean(values) * (1.0 - scatter / (values.len() as f64).sqrt())
    };
    (0..sample.len()).max_by(|&a, &b| sure(a).total_cmp(&sure(b)))
}

/// First and last position of the plateau, and the mean of its measurements. A level belongs to it
/// if it is less than `tolerance` and one standard error of the difference below the best.
fn plateau(sample: &[Sample], tolerance: f64, scatter: f64) -> Option<(usize, usize, f64)> {
    let best = best(sample, scatter)?;
    let (top, times) = (mean(&sample[best].1), sample[best].1.len() as f64);
    let holds = |&i: &usize| {
        let values = &sample[i].1;
        let error = scatter * (1.0 / times + 1.0 / values.len() as f64).sqrt();
        mean(values) >= top * (1.0 - tolerance - error)
    };
    let first = (0..=best).rev().take_while(holds).last()?;
    let last = (best..sample.len()).take_while(holds).last()?;
    let (mut sum, mut count) = (0.0, 0.0);
    for value in sample[first..=last].iter().flat_map(|(_, values)| values) {
        (sum, count) = (sum + value, count + 1.0);
    }
    Some((first, last, sum / count))
}

/// Positions of the plateau's lowest level, the best level and the plateau's highest level, as
/// far as is known: single measurements count as exact until there are several.
pub fn shape(tried: &[Tried], tolerance: f64) -> Option<(usize, usize, usize)> {
    let sample = sample(tried);
    let residuals = residuals(&sample);
    let scatter = if residuals.is_empty() {
        0.0
    } else {
        moments(&residuals).1
    };
    let (first, last, _) = plateau(&sample, tolerance, scatter)?;
    Some((first, best(&sample, scatter)?, last))
}

fn sample(tried: &[Tried]) -> Vec<Sample> {
    tried
        .iter()
        .map(|one| (one.level, one.throughputs()))
        .collect()
}

/// Relative residuals of all levels with several measurements, widened for the mean that was
/// taken off each level.
fn residuals(sample: &[Sample]) -> Vec<f64> {
    let several = sample
        .iter()
        .filter(|(_, values)| values.len() > 1 && mean(values) > 0.0);
    let of = |(_, values): &Sample| {
        let (mean, n) = (mean(values), values.len() as f64);
        let widen = (n / (n - 1.0)).sqrt();
        values
            .iter()
            .map(move |value| (value / mean - 1.0) * widen)
            .collect::<Vec<f64>>()
    };
    several.flat_map(of).collect()
}

fn resample(sample: &[Sample], residuals: &[f64], random: &mut Random) -> Vec<Sample> {
    let again = |(level, values): &Sample| {
        let mean = mean(values);
        let draw = |_: &f64| mean * (1.0 + residuals[random.below(residuals.len())]);
        (*level, values.iter().map(draw).collect())
    };
    sample.iter().map(again).collect()
}

#[cfg(test)]
mod tests {
    use super::super::journal::by_level;
    use super::super::tests::seen;
    use super::*;

    fn found(sample: &[(f64, f64)]) -> Option<Top> {
        let observations = sample
            .iter()
            .map(|&(level, throughput)| seen(level, throughput));
        top(&by_level(observations), 0.025, 0.0, &mut Random::seeded(1))
    }

    #[test]
    fn levels_that_cannot_be_told_apart_are_one_plateau() {
        let sample = [
            (4.0, 700.0),
            (4.0, 702.0),
            (8.0, 995.0),
            (8.0, 1003.0),
            (16.0, 1004.0),
            (16.0, 998.0),
            (32.0, 930.0),
            (32.0, 932.0),
        ];
        let top = found(&sample).unwrap();
        assert_eq!(top.plateau, [8.0, 16.0]);
        assert!((top.throughput - 1000.0).abs() < 5.0, "{top:?}");
        assert!(top.low < 1000.0 && top.high > 1000.0, "{top:?}");
        assert!(top.precision() < 0.02, "{top:?}");
    }

    #[test]
    fn noisier_measurements_make_a_wider_interval() {
        let sample = |noise: f64| {
            let at = |level: f64| {
                [
                    (level, 1000.0 - noise),
                    (level, 1000.0),
                    (level, 1000.0 + noise),
                ]
            };
            found(&[at(8.0), at(16.0)].concat()).unwrap().precision()
        };
        assert!(sample(50.0) > 3.0 * sample(10.0));
    }

    #[test]
    fn single_measurements_have_no_interval() {
        assert_eq!(found(&[(4.0, 100.0), (8.0, 120.0)]), None);
        assert_eq!(found(&[]), None);
    }

    #[test]
    fn a_server_that_answers_nothing_has_no_top() {
        assert_eq!(found(&[(4.0, 0.0), (4.0, 0.0)]), None);
    }
}
