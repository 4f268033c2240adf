//! Whether a series of intervals settles: MSER-5, and the change points of its level as a
//! cross-check. The same rule, with the same answers, as the analysis applies to recorded trials.

use serde::Serialize;

/// Intervals that are averaged before anything is judged.
const BATCH: usize = 5;
/// Batches that are always kept: over fewer, the standard error is small by accident (White and
/// Spratt, The effectiveness of MSER, 2000).
const LEAST_LEFT: usize = 5;
/// With fewer intervals a cut in the second half is impossible, and the rule says nothing.
pub const LEAST_INTERVALS: usize = BATCH * (2 * LEAST_LEFT + 1);
/// Times ln(n) and the noise variance: what a change point must save in squares.
const PENALTY: f64 = 6.0;
/// Batches between change points.
const LEAST_BATCHES: usize = 3;
const MAD_TO_SD: f64 = 0.6745;

/// What the rule says of a series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Steadiness {
    /// Whether the series settled: the cut is in the first half, and so is the last change.
    pub steady: bool,
    /// Intervals to drop from the start (MSER-5).
    pub cut: usize,
    /// Intervals before each change of the level.
    pub changes: Vec<usize>,
}

/// The verdict over one value per interval; none with fewer than 55: too short to tell.
pub fn judge(series: &[f64]) -> Option<Steadiness> {
    let truncation = mser5(series)?;
    let changes = change_points(series);
    let last = changes.last().copied().unwrap_or(0);
    Some(Steadiness {
        steady: truncation.steady && 2 * last <= series.len(),
        cut: truncation.intervals,
        changes,
    })
}

/// How much of a series the rule would cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truncation {
    /// Intervals to drop from the start.
    pub intervals: usize,
    /// The cut is in the first half, so that the rest can be believed.
    pub steady: bool,
}

/// Truncation by the Marginal Standard Error Rule over means of 5 (White, Cobb and Spratt, A
/// comparison of five steady-state truncation heuristics for simulation, WSC 2000).
///
/// Drops the d batches that minimise s^2 / (n - d), the squared standard error of the mean of the
/// rest. A minimum in the second half means that the series did not settle.
pub fn mser5(series: &[f64]) -> Option<Truncation> {
    let (batches, _) = batches(series)?;
    let n = batches.len();
    let score = |cut: usize| variance(&batches[cut..]) / (n - cut) as f64;
    let first = (0, score(0));
    // The first of equal scores: no more is cut than must be.
    let (cut, _) = (1..=n - LEAST_LEFT)
        .map(|cut| (cut, score(cut)))
        .fold(first, |best, one| if one.1 < best.1 { one } else { best });
    Some(Truncation {
        intervals: cut * BATCH,
        steady: 2 * cut <= n,
    })
}

/// Where the level of a series changes: least squares over means of 5, with a penalty for each
/// change (Killick, Fearnhead and Eckley, Journal of the American Statistical Association 107,
/// 2012). The noise is taken from the differences of neighbours, which changes of level hardly
/// touch. Returns the intervals before each change; none for a short or a constant series.
pub fn change_points(series: &[f64]) -> Vec<usize> {
    let Some((mut batches, skipped)) = batches(series) else {
        return Vec::new();
    };
    let steps = batches.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    let noise = median(steps.collect()) / MAD_TO_SD / std::f64::consts::SQRT_2;
    if noise <= 0.0 {
        return Vec::new();
    }
    batches.iter_mut().for_each(|batch| *batch /= noise);
    let penalty = PENALTY * (batches.len() as f64).ln();
    let ends = segment_ends(&batches, penalty);
    ends.iter().map(|end| skipped + BATCH * end).collect()
}

/// Means of 5, and the intervals left out at the start, where they would be cut first; none for
/// a series that is too short or holds what is no number.
fn batches(series: &[f64]) -> Option<(Vec<f64>, usize)> {
    if series.len() < LEAST_INTERVALS || series.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let skipped = series.len() % BATCH;
    let means = series[skipped..].chunks_exact(BATCH).map(mean).collect();
    Some((means, skipped))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    values
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>()
        / values.len() as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 {
        values[half]
    } else {
        (values[half - 1] + values[half]) / 2.0
    }
}

/// The segments' ends, but the last, that minimise squares within segments plus a penalty each.
///
/// Optimal partitioning (Jackson et al., IEEE Signal Processing Letters 12, 2005): exact, and
/// quick for the few hundred means of a series. A segment has at least `LEAST_BATCHES` values.
fn segment_ends(values: &[f64], penalty: f64) -> Vec<usize> {
    let n = values.len();
    let centre = mean(values); // so that no digits are lost in the squares
    let (mut sums, mut squares) = (vec![0.0; n + 1], vec![0.0; n + 1]);
    for (i, value) in values.iter().map(|value| value - centre).enumerate() {
        sums[i + 1] = sums[i] + value;
        squares[i + 1] = squares[i] + value * value;
    }
    let within = |start: usize, end: usize| {
        let sum: f64 = sums[end] - sums[start];
        squares[end] - squares[start] - sum * sum / (end - start) as f64
    };
    let mut best = vec![f64::INFINITY; n + 1]; // least cost of the values before each end
    best[0] = -penalty;
    let mut before = vec![0; n + 1];
    for end in LEAST_BATCHES..=n {
        for start in 0..=end - LEAST_BATCHES {
            let cost = best[start] + within(start, end) + penalty;
            if cost < best[end] {
                (best[end], before[end]) = (cost, start);
            }
        }
    }
    let mut ends: Vec<usize> = std::iter::successors(Some(before[n]), |&end| Some(before[end]))
        .take_while(|&end| end > 0)
        .collect();
    ends.reverse();
    ends
}

#[cfg(test)]
mod tests;
