//! The rule on series whose truth is known, and against the answers of the analysis.

use proptest::prelude::*;
use serde::Deserialize;

use super::*;

/// A series, and what `tare.analysis.steady` says of it (`tests/data/steady.py` writes them).
#[derive(Deserialize)]
struct Vector {
    name: String,
    series: Vec<f64>,
    cut: Option<usize>,
    steady: Option<bool>,
    changes: Vec<usize>,
}

#[test]
fn the_answers_are_those_of_the_analysis() {
    let vectors: Vec<Vector> =
        serde_json::from_str(include_str!("../../tests/data/steady.json")).unwrap();
    assert!(vectors.len() > 20);
    for vector in vectors {
        let truncation = mser5(&vector.series);
        assert_eq!(
            truncation.map(|found| found.intervals),
            vector.cut,
            "{}",
            vector.name
        );
        assert_eq!(
            truncation.map(|found| found.steady),
            vector.steady,
            "{}",
            vector.name
        );
        assert_eq!(
            change_points(&vector.series),
            vector.changes,
            "{}",
            vector.name
        );
    }
}

/// A level with noise of standard deviation 1 from a fixed seed: sums of 12 uniform draws.
fn series(length: usize, level: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut state = 1u64;
    let mut uniform = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut noise = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
    (0..length).map(|i| level(i) + noise()).collect()
}

#[test]
fn a_start_up_is_cut_and_the_rest_is_steady() {
    let found = judge(&series(200, |i| 100.0 * (i as f64 / 20.0).min(1.0))).unwrap();
    assert!(found.steady);
    assert!((15..=25).contains(&found.cut), "{found:?}");
}

#[test]
fn a_level_that_changes_late_is_never_steady() {
    let found = judge(&series(200, |i| if i < 150 { 100.0 } else { 50.0 })).unwrap();
    assert!(!found.steady);
    assert_eq!(found.changes, [150]);
}

#[test]
fn a_short_series_tells_nothing() {
    assert_eq!(judge(&[1.0; 54]), None);
    assert_eq!(judge(&[f64::NAN; 100]), None);
}

#[test]
fn a_constant_series_is_steady_from_the_start() {
    let expected = Steadiness {
        steady: true,
        cut: 0,
        changes: Vec::new(),
    };
    assert_eq!(judge(&[7.0; 100]), Some(expected));
}

proptest! {
    #[test]
    fn any_series_is_judged_without_a_panic_and_cut_within(
        series in proptest::collection::vec(proptest::num::f64::ANY, 0..200),
    ) {
        if let Some(found) = judge(&series) {
            prop_assert!(found.cut <= series.len());
            prop_assert!(found.changes.iter().all(|&change| change < series.len()));
        }
    }

    #[test]
    fn the_verdict_does_not_depend_on_the_unit(
        series in proptest::collection::vec(1.0f64..1000.0, 55..150),
    ) {
        let thousandfold: Vec<f64> = series.iter().map(|value| value * 1024.0).collect();
        prop_assert_eq!(judge(&series), judge(&thousandfold));
    }
}
