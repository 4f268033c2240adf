//! Which operation a thread does next: runs of one kind, by ratios.

use tare_draw::stress::{Distribution, Sampler};
use tare_draw::Rng;

/// Draws operations by their ratios, in runs whose length is drawn, too.
#[derive(Debug, Clone)]
pub struct Chooser {
    /// Sums of the ratios up to and with each operation; the last is 1.
    cumulative: Vec<f64>,
    clustering: Sampler,
}

/// Where one thread stands in its run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Run {
    operation: usize,
    left: i64,
}

impl Chooser {
    pub fn new(ratios: impl IntoIterator<Item = f64>, clustering: Option<Distribution>) -> Chooser {
        let ratios: Vec<f64> = ratios.into_iter().collect();
        let total: f64 = ratios.iter().sum();
        let mut sum = 0.0;
        let cumulative = ratios.iter().map(|ratio| {
            sum += ratio / total;
            sum
        });
        Chooser {
            cumulative: cumulative.collect(),
            clustering: Sampler::new(clustering.unwrap_or(Distribution::Fixed { value: 1 })),
        }
    }

    /// The next operation of a thread.
    pub fn next(&mut self, run: &mut Run, rng: &mut impl Rng) -> usize {
        if self.cumulative.len() == 1 {
            return 0;
        }
        if run.left <= 0 {
            // A run has an operation at least; the tool would draw on until one has.
            run.left = self.clustering.draw_from(rng).max(1);
            let u = rng.next_f64();
            let found = self.cumulative.iter().position(|sum| u < *sum);
            run.operation = found.unwrap_or(self.cumulative.len() - 1);
        }
        run.left -= 1;
        run.operation
    }
}

#[cfg(test)]
mod tests {
    use tare_draw::Xoshiro;

    use super::*;

    /// Shares of the second operation over 100 000 draws; the binomial standard deviation is
    /// 0.0014, times 2.5 for runs of 5.5 on average.
    #[test]
    fn ratios_hold_with_and_without_runs() {
        for clustering in [None, Some(Distribution::parse("gaussian(1..10)").unwrap())] {
            let mut chooser = Chooser::new([3.0, 1.0], clustering);
            let (mut run, mut rng) = (Run::default(), Xoshiro::new(7));
            let n = 100_000;
            let second = (0..n)
                .filter(|_| chooser.next(&mut run, &mut rng) == 1)
                .count();
            assert!(
                (second as f64 / f64::from(n) - 0.25).abs() < 0.014,
                "{second}"
            );
        }
    }

    #[test]
    fn a_run_has_its_length() {
        let mut chooser = Chooser::new([1.0, 1.0], Some(Distribution::Fixed { value: 4 }));
        let (mut run, mut rng) = (Run::default(), Xoshiro::new(7));
        let drawn: Vec<usize> = (0..400).map(|_| chooser.next(&mut run, &mut rng)).collect();
        assert!(drawn
            .chunks(4)
            .all(|run| run.iter().all(|operation| *operation == run[0])));
    }
}
