//! Merged logs against the sums of their parts, and files that are not what they seem.

use hdrhistogram::serialization::{Serializer, V2Serializer};
use proptest::prelude::*;

use super::*;

fn histogram(values: &[u64]) -> Histogram<u64> {
    let mut histogram = Histogram::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
    values
        .iter()
        .for_each(|&value| histogram.record(value).unwrap());
    histogram
}

fn entry(tag: &str, start: f64, length: f64, values: &[u64]) -> Entry {
    Entry {
        tag: Some(tag.to_owned()),
        start,
        length,
        histogram: histogram(values),
    }
}

fn log(entries: Vec<Entry>) -> (String, Log) {
    (
        "c.hlog".to_owned(),
        Log {
            unit: None,
            entries,
        },
    )
}

/// What a reader sees of the merged log.
fn written(logs: &[(String, Log)]) -> Log {
    let text = write(&merge(logs).unwrap(), Some("nanoseconds")).unwrap();
    Log::parse(text.as_slice(), "merged").unwrap()
}

fn line(encoded: &str) -> String {
    format!("Tag=READ-rt,0.0,1.0,5.0,{encoded}\n")
}

fn damage(text: &str) -> String {
    Log::parse(text.as_bytes(), "c1.hlog")
        .unwrap_err()
        .to_string()
}

#[test]
fn intervals_of_the_same_time_are_added_bucket_by_bucket() {
    let one = log(vec![
        entry("READ-rt", 1000.0, 1.0, &[5_000, 7_000_000]),
        entry("READ-rt", 1001.0, 1.0, &[9_000]),
    ]);
    let two = log(vec![
        entry("READ-rt", 1000.004, 1.0, &[5_000]),
        entry("READ-rt", 1001.004, 1.0, &[11_000]),
    ]);
    let merged = written(&[one, two]);
    assert_eq!(merged.entries.len(), 2);
    assert_eq!(
        merged.entries[0].histogram,
        histogram(&[5_000, 5_000, 7_000_000])
    );
    assert_eq!(merged.entries[1].histogram, histogram(&[9_000, 11_000]));
    assert!((merged.entries[0].start - 1000.0).abs() < 1e-6);
    assert!((merged.entries[0].length - 1.004).abs() < 1e-6);
    assert_eq!(merged.unit.as_deref(), Some("nanoseconds"));
}

#[test]
fn tags_and_clients_that_start_later_are_kept() {
    let one = log(vec![entry("READ-st", 10.0, 1.0, &[1_000])]);
    let two = log(vec![entry("WRITE-st", 12.0, 1.0, &[2_000])]);
    let merged = written(&[one, two]);
    let seen: Vec<(Option<&str>, f64)> = merged
        .entries
        .iter()
        .map(|one| (one.tag.as_deref(), one.start))
        .collect();
    assert_eq!(seen, [(Some("READ-st"), 10.0), (Some("WRITE-st"), 12.0)]);
}

#[test]
fn finer_intervals_join_the_coarser_ones() {
    let coarse = log((0..3)
        .map(|i| entry("R", f64::from(i), 1.0, &[1_000]))
        .collect());
    let fine = log((0..30)
        .map(|i| entry("R", f64::from(i) / 10.0, 0.1, &[2_000]))
        .collect());
    let merged = written(&[coarse, fine]);
    let counts: Vec<u64> = merged
        .entries
        .iter()
        .map(|one| one.histogram.len())
        .collect();
    assert_eq!(counts, [11, 11, 11]);
}

#[test]
fn histograms_of_other_precision_are_refused() {
    let mut other = entry("R", 0.0, 1.0, &[]);
    other.histogram = Histogram::new_with_bounds(1, 1_000_000, 2).unwrap();
    let refused = merge(&[log(vec![entry("R", 0.0, 1.0, &[5])]), log(vec![other])]).unwrap_err();
    assert!(refused.to_string().contains("other precision"), "{refused}");
}

#[test]
fn logs_in_other_units_are_refused() {
    let mut logs = [log(Vec::new()), log(Vec::new()), log(Vec::new())];
    logs[0].1.unit = Some("nanoseconds".into());
    assert_eq!(unit(&logs).unwrap().as_deref(), Some("nanoseconds"));
    logs[2].1.unit = Some("microseconds".into());
    assert!(unit(&logs)
        .unwrap_err()
        .to_string()
        .contains("are in microseconds"));
}

#[test]
fn a_narrower_histogram_joins_a_wider_one_in_any_order() {
    let mut narrow = entry("R", 0.0, 1.0, &[]);
    narrow.histogram = Histogram::new_with_bounds(1, 1_000_000, 3).unwrap();
    narrow.histogram.record(777_000).unwrap();
    let wide = log(vec![entry("R", 0.0, 1.0, &[3_000_000_000])]);
    let narrow = log(vec![narrow]);
    let expected = histogram(&[777_000, 3_000_000_000]);
    assert_eq!(
        written(&[wide.clone(), narrow.clone()]).entries[0].histogram,
        expected
    );
    assert_eq!(written(&[narrow, wide]).entries[0].histogram, expected);
}

#[test]
fn starts_count_from_the_base_time_or_from_the_start_time() {
    let mut encoded = Vec::new();
    V2Serializer::new()
        .serialize(&histogram(&[1]), &mut encoded)
        .unwrap();
    use base64::Engine;
    let encoded = base64::engine::general_purpose::STANDARD.encode(encoded);
    let line = format!("2.5,1.0,0.0,{encoded}\n");
    for (header, start) in [
        (
            "#[BaseTime: 100.0 (seconds since epoch)]\n#[StartTime: 7.0 ...]\n",
            102.5,
        ),
        (
            "#[StartTime: 1795253781.000 (seconds since epoch), Sat]\n",
            1_795_253_783.5,
        ),
        ("", 2.5),
    ] {
        let log = Log::parse(format!("{header}{line}").as_bytes(), "x").unwrap();
        assert_eq!(
            (log.entries[0].start, log.entries[0].tag.as_deref()),
            (start, None)
        );
    }
}

#[test]
fn damage_is_named_by_file_and_line() {
    assert!(damage("#x\nTag=READ,1\n").contains("c1.hlog, line 2: not start, length"));
    assert!(damage(&line("%%%")).contains("no base64"));
    assert!(damage(&line("AAAA")).contains("no histogram of version 2"));
    assert!(damage("Tag=R,nan,1.0,1.0,HIST\n").contains("\"nan\" is not a time"));
    assert!(damage(&"x".repeat(3 << 20)).contains("longer than"));
}

#[test]
fn a_histogram_that_claims_more_than_it_holds_is_refused() {
    use base64::Engine;
    let mut plain = Vec::new();
    V2Serializer::new()
        .serialize(&histogram(&[1, 2, 3]), &mut plain)
        .unwrap();
    let encode = |bytes: &[u8]| base64::engine::general_purpose::STANDARD.encode(bytes);
    let mut long = plain.clone();
    long[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
    assert!(damage(&line(&encode(&long))).contains("its length is wrong"));
    let mut precise = plain.clone();
    precise[12..16].copy_from_slice(&5u32.to_be_bytes());
    assert!(damage(&line(&encode(&precise))).contains("more digits"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn nothing_is_lost_or_added(
        parts in proptest::collection::vec(
            proptest::collection::vec(
                (0usize..3, 0u32..20, proptest::collection::vec(1u64..10_000_000_000, 0..20)),
                1..15,
            ),
            1..5,
        ),
    ) {
        let tags = ["READ-st", "READ-rt", "UPDATE-rt"];
        let mut sums: BTreeMap<&str, Histogram<u64>> = BTreeMap::new();
        let logs: Vec<(String, Log)> = parts.iter().map(|part| {
            log(part.iter().map(|(tag, at, values)| {
                let sum = sums.entry(tags[*tag]).or_insert_with(|| histogram(&[]));
                sum.add(histogram(values)).unwrap();
                entry(tags[*tag], f64::from(*at), 1.0, values)
            }).collect())
        }).collect();
        let mut seen: BTreeMap<&str, Histogram<u64>> = BTreeMap::new();
        let merged = written(&logs);
        for one in &merged.entries {
            let tag = tags.iter().find(|tag| Some(**tag) == one.tag.as_deref()).unwrap();
            seen.entry(tag).or_insert_with(|| histogram(&[])).add(&one.histogram).unwrap();
        }
        prop_assert_eq!(sums, seen);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = Log::parse(bytes.as_slice(), "x");
    }

    #[test]
    fn no_histogram_makes_it_panic(
        at in 0usize..60, byte in any::<u8>(), cut in 0usize..60,
    ) {
        use base64::Engine;
        let mut plain = Vec::new();
        V2Serializer::new().serialize(&histogram(&[1, 2_000, 3_000_000]), &mut plain).unwrap();
        if let Some(one) = plain.get_mut(at) {
            *one = byte;
        }
        plain.truncate(plain.len().saturating_sub(cut / 4));
        let encoded = base64::engine::general_purpose::STANDARD.encode(&plain);
        let _ = Log::parse(line(&encoded).as_bytes(), "x");
    }
}
