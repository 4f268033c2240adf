//! The relative standard error of the mean row rate, by which `err<` ends a run.

/// Sums over the intervals so far. The tool takes intervals for independent, and divides by n, not
/// by n - 1.
#[derive(Debug, Clone, Copy, Default)]
pub struct Uncertainty {
    measurements: u64,
    sum: f64,
    squares: f64,
}

impl Uncertainty {
    pub fn update(&mut self, value: f64) {
        self.measurements += 1;
        self.sum += value;
        self.squares += value * value;
    }

    /// Standard error of the mean over the mean.
    pub fn relative(&self) -> f64 {
        let n = self.measurements as f64;
        let mean = self.sum / n;
        (self.squares / n - mean * mean).sqrt() / n.sqrt() / mean
    }

    /// Whether the run may end: below the target after enough intervals, or too many of them.
    pub fn is_enough(&self, target: f64, least: u64, most: u64) -> bool {
        self.measurements >= most || (self.relative() < target && self.measurements >= least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Uncertainty {
        let mut uncertainty = Uncertainty::default();
        values.iter().for_each(|value| uncertainty.update(*value));
        uncertainty
    }

    #[test]
    fn one_interval_has_no_error_and_two_have_one() {
        assert!((of(&[1.0, 3.0]).relative() - 0.5 / 2f64.sqrt()).abs() < 1e-12);
        assert_eq!(of(&[7.0]).relative(), 0.0);
    }

    #[test]
    fn a_steady_rate_ends_the_run_at_the_least_number_of_intervals() {
        assert!(!of(&[100.0; 29]).is_enough(0.02, 30, 200));
        assert!(of(&[100.0; 30]).is_enough(0.02, 30, 200));
    }

    #[test]
    fn an_unsteady_rate_ends_the_run_at_the_most() {
        let values: Vec<f64> = (0..200).map(|i| f64::from(i % 2) * 1000.0).collect();
        assert!(!of(&values[..199]).is_enough(0.02, 30, 200));
        assert!(of(&values).is_enough(0.02, 30, 200));
    }
}
