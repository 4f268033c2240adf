//! Least squares under an order: the rising fit of noisy values, and where it crosses a height.

/// The rising sequence nearest to the values, weighted squares (pool adjacent violators: Barlow,
/// Bartholomew, Bremner and Brunk, Statistical Inference under Order Restrictions, 1972).
pub fn rising(values: &[f64], weights: &[f64]) -> Vec<f64> {
    // (mean, weight, how many values) of each pool
    let mut pools: Vec<(f64, f64, usize)> = Vec::new();
    for (&value, &weight) in values.iter().zip(weights) {
        let mut pool = (value, weight, 1);
        while let Some(&(mean, before, count)) = pools.last().filter(|last| last.0 > pool.0) {
            let sum = before + pool.1;
            pool = ((mean * before + pool.0 * pool.1) / sum, sum, count + pool.2);
            pools.pop();
        }
        pools.push(pool);
    }
    let repeated = pools
        .iter()
        .map(|&(mean, _, count)| std::iter::repeat_n(mean, count));
    repeated.flatten().collect()
}

/// The neighbours between which a rising sequence passes `height`: the last position at or below
/// it and the first above it.
pub fn crossing(rising: &[f64], height: f64) -> (Option<usize>, Option<usize>) {
    let above = rising.iter().position(|&value| value > height);
    match above {
        None => (rising.len().checked_sub(1), None),
        Some(0) => (None, Some(0)),
        Some(above) => (Some(above - 1), Some(above)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn violators_are_pooled_by_weight() {
        let fit = rising(&[1.0, 4.0, 1.0, 5.0], &[1.0, 1.0, 2.0, 1.0]);
        assert_eq!(fit, [1.0, 2.0, 2.0, 5.0]);
    }

    #[test]
    fn a_crossing_has_a_side_below_and_a_side_above() {
        assert_eq!(crossing(&[1.0, 2.0, 3.0], 2.0), (Some(1), Some(2)));
        assert_eq!(crossing(&[1.0, 2.0], 5.0), (Some(1), None));
        assert_eq!(crossing(&[1.0, 2.0], 0.0), (None, Some(0)));
        assert_eq!(crossing(&[], 0.0), (None, None));
    }

    proptest! {
        #[test]
        fn the_fit_rises_and_keeps_the_weighted_sum(
            pairs in proptest::collection::vec((-10.0f64..10.0, 0.5f64..3.0), 1..30),
        ) {
            let (values, weights): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let fit = rising(&values, &weights);
            prop_assert_eq!(fit.len(), values.len());
            prop_assert!(fit.windows(2).all(|pair| pair[0] <= pair[1]));
            let sum = |of: &[f64]| of.iter().zip(&weights).map(|(v, w)| v * w).sum::<f64>();
            prop_assert!((sum(&fit) - sum(&values)).abs() < 1e-6);
        }
    }
}
