//! YCSB's generators beyond what YCSB itself can show: wide numbers, bounds, many threads.

use std::collections::HashSet;
use std::sync::Arc;

use proptest::prelude::*;
use tare_draw::ycsb::{
    checked_value, random_printable, zeta, AcknowledgedCounter, Chooser, Counter, Discrete,
    Exponential, Hotspot, InsertOrder, Keys, ScrambledZipfian, Sequential, SkewedLatest,
    UniformLong, Zipf, Zipfian,
};
use tare_draw::{Rng, Xoshiro};

#[test]
fn the_fast_generator_gives_its_published_numbers() {
    // SplitMix64 of seed 0 fills the state with its published first numbers; xoshiro256++ from there.
    let mut rng = Xoshiro::new(0);
    let numbers = [rng.next_u64(), rng.next_u64(), rng.next_u64()];
    assert_eq!(
        numbers,
        [
            0x5317_5d61_490b_23df,
            0x61da_6f3d_c380_d507,
            0x5c0f_df91_ec9a_7bfc
        ]
    );
}

#[test]
fn streams_of_one_seed_differ_and_repeat_themselves() {
    let first = |stream| Xoshiro::stream(42, stream).next_u64();
    let all: HashSet<u64> = (0..1000).map(first).collect();
    assert_eq!(all.len(), 1000);
    assert_eq!(Xoshiro::stream(42, 7), Xoshiro::stream(42, 7));
    assert_ne!(Xoshiro::stream(42, 7), Xoshiro::stream(43, 7));
}

#[test]
fn a_key_appends_to_what_is_there() {
    let mut key = b"x:".to_vec();
    Keys::new(InsertOrder::Ordered, 6).write(42, &mut key);
    assert_eq!(key, b"x:user000042");
}

#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "adds up 10^8 powers, too slow unoptimised: cargo test --profile checked -p tare-draw"
)]
fn zeta_beyond_a_hundred_million_terms_meets_the_published_sum() {
    let sum = zeta(0, 10_000_000_000, 0.99, 0.0);
    assert!((sum / 26.469_028_201_783_02 - 1.0).abs() < 1e-10, "{sum}");
}

#[test]
fn growing_adds_the_terms_that_one_sum_would_have() {
    let mut grown = Zipfian::new(0, 999, 0.99).expect("a range");
    grown.grow(1500);
    grown.grow(1200);
    let whole = Zipfian::new(0, 1499, 0.99).expect("a range");
    assert_eq!(grown.zeta_items().to_bits(), whole.zeta_items().to_bits());
    assert!(grown.eta() != whole.eta(), "eta keeps the old count");
}

#[test]
fn a_true_zipf_distribution_is_steeper_than_the_scrambled_one() {
    let mut rng = Xoshiro::new(1);
    let distribution = Zipf::new(1000, 0.99).expect("a distribution");
    let hottest = (0..100_000)
        .filter(|_| distribution.next(&mut rng) == 0)
        .count();
    // 1 / zeta(1000, 0.99) is 12.9%; the scrambled zipfian gives its hottest record 3.8%.
    assert!((12_500..13_400).contains(&hottest), "{hottest}");
}

#[test]
fn acknowledgements_of_many_threads_reach_the_last_number() {
    let counter = AcknowledgedCounter::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20_000 {
                    let number = counter.next();
                    counter.acknowledge(number).expect("a free slot");
                }
            });
        }
    });
    // Threads that found the limit being moved leave it to the next acknowledgement.
    let last = counter.next();
    counter.acknowledge(last).expect("a free slot");
    assert_eq!(counter.last(), 80_000);
}

#[test]
fn counters_say_what_they_gave_last() {
    let counter = Counter::new(10);
    assert_eq!(
        [counter.last(), counter.next(), counter.last()],
        [9, 10, 10]
    );
}

#[test]
fn a_shared_sequence_goes_on_for_every_clone() {
    let sequence = Arc::new(Sequential::new(0, 9).expect("a range"));
    let mut one = Chooser::Sequential(sequence);
    let mut other = one.clone();
    let mut rng = Xoshiro::new(1);
    let found = [
        one.next(&mut rng, 9),
        other.next(&mut rng, 9),
        one.next(&mut rng, 9),
    ];
    assert_eq!(found, [0, 1, 2]);
}

#[test]
fn parameters_that_no_generator_can_have_are_refused() {
    assert!(UniformLong::new(2, 1).is_err());
    assert!(UniformLong::new(i64::MIN, i64::MAX).is_err());
    assert!(Zipfian::new(0, -1, 0.99).is_err());
    assert!(Zipfian::new(0, 10, 1.0).is_err());
    assert!(ScrambledZipfian::new(5, 4).is_err());
    assert!(SkewedLatest::new(0).is_err());
    assert!(Hotspot::new(0, 10, 1.5, 0.5).is_err());
    assert!(Hotspot::new(0, 10, 0.5, f64::NAN).is_err());
    assert!(Exponential::new(100.0, 1.0).is_err());
    assert!(Sequential::new(1, 0).is_err());
    assert!(Zipf::new(0, 1.0).is_err());
    assert!(Discrete::<u8>::new(vec![]).is_err());
    assert!(Discrete::new(vec![(0.0, 1)]).is_err());
    assert!(Discrete::new(vec![(-1.0, 1), (2.0, 2)]).is_err());
}

#[test]
fn a_checked_value_counts_characters_beyond_ascii_as_java_does() {
    let mut value = Vec::new();
    checked_value("k\u{e9}", "\u{1f600}", 5, &mut value);
    // Two characters, a colon, and a pair of units, which the cut keeps whole.
    assert_eq!(value, "k\u{e9}:\u{1f600}".as_bytes());
    value.clear();
    checked_value("k\u{e9}", "\u{1f600}", 4, &mut value);
    assert_eq!(value, "k\u{e9}:?".as_bytes());
}

proptest! {
    #[test]
    fn no_generator_leaves_its_range(
        low in -1_000_000_000_000i64..1_000_000_000_000,
        width in 0i64..5_000_000_000,
        share in 0.0f64..=1.0,
        seed: u64,
    ) {
        let mut rng = Xoshiro::new(seed);
        let high = low + width;
        let range = low..=high;
        let uniform = UniformLong::new(low, high).expect("a range");
        let scrambled = ScrambledZipfian::new(low, high).expect("a range");
        let hotspot = Hotspot::new(low, high, share, share).expect("a range");
        prop_assert!(range.contains(&uniform.value_of(i64::MIN)));
        for _ in 0..50 {
            prop_assert!(range.contains(&uniform.next(&mut rng)));
            prop_assert!(range.contains(&scrambled.next(&mut rng)));
            prop_assert!(range.contains(&hotspot.next(&mut rng)));
        }
    }

    #[test]
    fn zipf_ranks_stay_below_their_number(items in 1i64..2_000_000_000_000, exponent in 0.01f64..20.0, seed: u64) {
        let distribution = Zipf::new(items, exponent).expect("a distribution");
        let mut rng = Xoshiro::new(seed);
        for _ in 0..50 {
            prop_assert!((0..items).contains(&distribution.next(&mut rng)));
        }
    }

    #[test]
    fn values_have_the_length_that_is_asked_for(length in 0usize..600, seed: u64) {
        let mut value = b"before".to_vec();
        random_printable(&mut Xoshiro::new(seed), length, &mut value);
        prop_assert_eq!(value.len(), 6 + length);
        prop_assert!(value[6..].iter().all(|octet| (32..128).contains(octet)));
        value.clear();
        checked_value("user1", "field0", length, &mut value);
        prop_assert_eq!(value.len(), length);
    }
}
