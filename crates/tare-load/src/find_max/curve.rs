//! Throughput over the level, below the saturation point: which level gives a share of the top.

use super::journal::Tried;
use super::level::By;
use super::monotone::{crossing, rising};

/// The level at which the rising fit through nothing, the measured levels below `top_level` and
/// the top passes `throughput`, between neighbours on a straight line.
pub fn level_of(
    throughput: f64,
    tried: &[Tried],
    top_level: f64,
    top_throughput: f64,
    by: By,
) -> f64 {
    let below: Vec<&Tried> = tried.iter().filter(|one| one.level < top_level).collect();
    let mut levels: Vec<f64> = vec![0.0];
    levels.extend(below.iter().map(|one| one.level));
    levels.push(top_level);
    let mut values: Vec<f64> = vec![0.0];
    values.extend(below.iter().map(|one| one.throughput().min(top_throughput)));
    values.push(top_throughput);
    let weights: Vec<f64> = std::iter::once(1.0)
        .chain(below.iter().map(|one| one.observations.len() as f64))
        .chain(std::iter::once(1.0))
        .collect();
    let fit = rising(&values, &weights);
    match crossing(&fit, throughput) {
        (Some(low), Some(high)) => {
            let part = (throughput - fit[low]) / (fit[high] - fit[low]);
            by.round(levels[low] + part * (levels[high] - levels[low]))
        }
        _ => top_level,
    }
}

#[cfg(test)]
mod tests {
    use super::super::journal::by_level;
    use super::super::tests::seen;
    use super::*;

    #[test]
    fn two_thirds_of_the_top_lie_between_the_levels_around_them() {
        let tried = by_level(
            [(4.0, 400.0), (8.0, 800.0), (16.0, 990.0)]
                .map(|(l, x)| seen(l, x))
                .into_iter(),
        );
        assert_eq!(level_of(600.0, &tried, 16.0, 1000.0, By::Threads), 6.0);
        assert_eq!(level_of(100.0, &tried, 16.0, 1000.0, By::Threads), 1.0);
        assert_eq!(level_of(1000.0, &tried, 16.0, 1000.0, By::Threads), 16.0);
    }
}
