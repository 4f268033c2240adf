//! YCSB's generators against YCSB's own classes: the same random numbers give the same values.

mod lines;

use lines::{hex, lines, number, pair, real};
use tare_draw::ycsb::{
    checked_value, fnv64, printable_six, AcknowledgedCounter, Discrete, Exponential, Histogram,
    Hotspot, InsertOrder, Keys, ScrambledZipfian, Sequential, SkewedLatest, UniformLong, Zipfian,
};

const GOLDEN: &str = include_str!("golden/ycsb.txt");

/// Checks the pairs `raw=value` of a line behind its `skip` parameters.
fn check(fields: &[&str], skip: usize, mut value: impl FnMut(&str, &str) -> bool) {
    let pairs = &fields[skip..];
    assert!(pairs.len() >= 10, "{fields:?}");
    for field in pairs {
        let (raw, expected) = pair(field);
        assert!(value(raw, expected), "{:?}: {field}", &fields[..skip]);
    }
}

#[test]
fn numbers_hash_as_in_ycsb() {
    for fields in lines(GOLDEN, "fnv") {
        assert_eq!(fnv64(number(fields[0])), number(fields[1]));
    }
}

#[test]
fn keys_are_those_of_ycsb_beyond_32_bits_too() {
    for fields in lines(GOLDEN, "key") {
        let order = match fields[0] {
            "hashed" => InsertOrder::Hashed,
            _ => InsertOrder::Ordered,
        };
        let keys = Keys::new(order, number(fields[1]));
        check(&fields, 2, |raw, expected| {
            keys.key(number(raw)) == expected
        });
    }
}

#[test]
fn uniform_numbers_are_those_of_ycsb() {
    for fields in lines(GOLDEN, "uniform") {
        // One draw in 2^64 apart, ours never falls under the range.
        let distribution = UniformLong::new(number(fields[0]), number(fields[1])).expect("a range");
        check(&fields, 2, |raw, expected| {
            distribution.value_of(number(raw)) == number::<i64>(expected)
        });
    }
}

#[test]
fn zipfian_numbers_are_those_of_ycsb() {
    for fields in lines(GOLDEN, "zipfian") {
        let distribution =
            Zipfian::new(number(fields[0]), number(fields[1]), number(fields[2])).expect("a range");
        check(&fields, 3, |raw, expected| {
            distribution.value_at(real(raw)) == number::<i64>(expected)
        });
    }
}

#[test]
fn the_published_numbers_of_a_thousand_items_come_out() {
    let distribution = Zipfian::new(0, 999, 0.99).expect("a range");
    assert!((distribution.zeta_items() - 7.728953).abs() < 1e-6);
    assert!((distribution.eta() - 0.0748061).abs() < 1e-7);
    let ranks = [0.3, 0.5, 0.9, 0.99].map(|u| distribution.value_at(u));
    assert_eq!(ranks, [4, 22, 471, 927]);
}

#[test]
fn scrambled_numbers_are_those_of_ycsb() {
    for fields in lines(GOLDEN, "scrambled") {
        let distribution =
            ScrambledZipfian::new(number(fields[0]), number(fields[1])).expect("a range");
        check(&fields, 2, |raw, expected| {
            distribution.value_at(real(raw)) == number::<i64>(expected)
        });
    }
}

#[test]
fn the_hottest_records_are_those_of_ycsb() {
    // YCSB's own range has one number more than there are records. 0.01 is rank 0, 0.05 rank 1.
    for (records, hottest) in [(1000, [144, 610]), (1_000_000, [801_320, 216_074])] {
        let distribution = ScrambledZipfian::new(0, records).expect("a range");
        assert_eq!([0.01, 0.05].map(|u| distribution.value_at(u)), hottest);
    }
}

#[test]
fn latest_follows_the_growing_records_as_in_ycsb() {
    for fields in lines(GOLDEN, "latest") {
        let mut distribution = SkewedLatest::new(number(fields[0])).expect("a record");
        check(&fields, 1, |raw, expected| {
            let (last, expected) = expected.split_once(':').expect("last:value");
            distribution.value_at(real(raw), number(last)) == number::<i64>(expected)
        });
    }
}

#[test]
fn hotspot_numbers_are_those_of_ycsb() {
    for fields in lines(GOLDEN, "hotspot") {
        let distribution = Hotspot::new(
            number(fields[0]),
            number(fields[1]),
            number(fields[2]),
            number(fields[3]),
        )
        .expect("a range");
        check(&fields, 4, |raw, expected| {
            let (u, random) = raw.split_once(':').expect("u:random");
            distribution.value_of(real(u), number(random)) == number::<i64>(expected)
        });
    }
}

#[test]
fn exponential_numbers_are_those_of_ycsb() {
    for fields in lines(GOLDEN, "exponential") {
        let distribution =
            Exponential::new(number(fields[0]), number(fields[1])).expect("a distribution");
        check(&fields, 2, |raw, expected| {
            // YCSB uses the whole part; the logarithms of two libraries may differ in the last bit.
            let (ours, theirs) = (distribution.value_at(real(raw)), real(expected));
            ours as i64 == theirs as i64 && (ours / theirs - 1.0).abs() < 1e-15
        });
    }
}

#[test]
fn acknowledged_numbers_come_when_all_before_them_are() {
    for fields in lines(GOLDEN, "acknowledged") {
        let counter = AcknowledgedCounter::new(number(fields[0]));
        check(&fields, 1, |raw, expected| {
            counter.acknowledge(number(raw)).expect("a free slot");
            counter.last() == number::<i64>(expected)
        });
    }
}

#[test]
fn a_number_acknowledged_a_whole_window_too_early_is_refused() {
    let counter = AcknowledgedCounter::new(0);
    counter.acknowledge(1).expect("a free slot");
    let refused = counter.acknowledge(1 + (1 << 20));
    assert!(refused.is_err_and(|error| error.to_string().contains("unacknowledged")));
}

#[test]
fn a_sequence_begins_again_after_its_end() {
    for fields in lines(GOLDEN, "sequential") {
        let sequence = Sequential::new(number(fields[0]), number(fields[1])).expect("a range");
        for field in &fields[2..] {
            assert_eq!(sequence.next(), number::<i64>(field));
        }
    }
}

#[test]
fn choices_are_those_of_ycsb() {
    for fields in lines(GOLDEN, "discrete") {
        let weights = fields[0].split(',').map(number).zip(0i64..).collect();
        let choice = Discrete::new(weights).expect("weights");
        check(&fields, 1, |raw, expected| {
            *choice.value_at(real(raw)) == number::<i64>(expected)
        });
    }
}

#[test]
fn lengths_of_a_histogram_are_those_of_ycsb() {
    for fields in lines(GOLDEN, "histogram") {
        let file = fields[0]
            .split(',')
            .enumerate()
            .fold("BlockSize\t10".to_owned(), |file, (at, weight)| {
                format!("{file}\n{at}\t{weight}")
            });
        let distribution = Histogram::parse(&file).expect("a histogram");
        check(&fields, 1, |raw, expected| {
            distribution.value_of(number(raw)) == number::<i64>(expected)
        });
    }
}

#[test]
fn printable_octets_are_those_of_ycsb() {
    for fields in lines(GOLDEN, "printable") {
        let octets: Vec<u8> = fields[0]
            .split(',')
            .flat_map(|random| printable_six(number(random)))
            .collect();
        assert_eq!(hex(&octets[..17]), fields[1]);
    }
}

#[test]
fn values_that_can_be_checked_are_those_of_ycsb() {
    for fields in lines(GOLDEN, "checked") {
        let mut value = Vec::new();
        checked_value(fields[0], fields[1], number(fields[2]), &mut value);
        assert_eq!(String::from_utf8(value).expect("text"), fields[3]);
    }
}
