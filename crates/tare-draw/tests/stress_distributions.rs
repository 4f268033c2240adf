//! cassandra-stress' distributions against its own classes: the same seeds give the same numbers.

mod lines;

use lines::{lines, number, real};
use tare_draw::java::Random;
use tare_draw::murmur3_x64_128;
use tare_draw::stress::{salt, Distribution, FasterRandom, Ratio, Sampler, PREDEFINED};

const GOLDEN: &str = include_str!("golden/stress-distributions.txt");

fn distribution(text: &str) -> Distribution {
    Distribution::parse(text).expect(text)
}

fn quantiles(distribution: &Distribution) -> String {
    [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999999]
        .map(|probability| distribution.inverse_cumulative(probability).to_string())
        .join(",")
}

#[test]
fn distributions_have_the_ends_the_means_and_the_quantiles_of_the_tool() {
    for fields in lines(GOLDEN, "distribution") {
        let distribution = distribution(fields[0]);
        let ours = [
            distribution.min(),
            distribution.max(),
            distribution.average(),
        ];
        let theirs = [fields[1], fields[2], fields[3]].map(number::<i64>);
        assert_eq!(ours, theirs, "{}", fields[0]);
        assert_eq!(quantiles(&distribution), fields[4], "{}", fields[0]);
    }
}

#[test]
fn seeded_distributions_draw_the_numbers_of_the_tool() {
    for fields in lines(GOLDEN, "draws") {
        let mut sampler = Sampler::new(distribution(fields[0]));
        sampler.set_seed(number(fields[1]));
        for field in &fields[2..] {
            assert_eq!(sampler.draw(), number::<i64>(field), "{:?}", &fields[..2]);
        }
    }
}

#[test]
fn seeded_distributions_draw_the_real_numbers_of_the_tool() {
    for fields in lines(GOLDEN, "reals") {
        let mut sampler = Sampler::new(distribution(fields[0]));
        sampler.set_seed(number(fields[1]));
        for field in &fields[2..] {
            let (ours, theirs) = (sampler.draw_f64(), real(field));
            // Weibull numbers rest on a power, which two libraries may round apart in the last bit.
            let close =
                fields[0].to_lowercase().contains("extr") && (ours / theirs - 1.0).abs() < 1e-15;
            assert!(
                ours.to_bits() == theirs.to_bits() || close,
                "{:?}: {ours} is not {theirs}",
                &fields[..2]
            );
        }
    }
}

#[test]
fn quantized_distributions_have_the_parts_of_the_tool() {
    for fields in lines(GOLDEN, "parts") {
        let distribution = distribution(fields[0]);
        let Distribution::Quantized { bounds, .. } = &distribution else {
            panic!("{} is not quantized", fields[0]);
        };
        let ours: Vec<String> = bounds.iter().map(i64::to_string).collect();
        assert_eq!(ours.join(","), fields[1]);
        assert_eq!(quantiles(&distribution), fields[2], "{}", fields[0]);
    }
}

#[test]
fn ratios_are_those_of_the_tool() {
    for fields in lines(GOLDEN, "ratio") {
        let mut ratio = Ratio::parse(fields[0]).expect(fields[0]);
        assert_eq!(
            [ratio.min(), ratio.max()],
            [real(fields[2]), real(fields[3])]
        );
        let mut random = Random::new(number(fields[1]));
        for field in &fields[4..] {
            assert_eq!(ratio.next(&mut random), real(field), "{}", fields[0]);
        }
    }
}

#[test]
fn faster_random_gives_the_numbers_of_the_tool_across_its_reseeding() {
    for fields in lines(GOLDEN, "faster") {
        let mut random = FasterRandom::new(number(fields[0]));
        for field in &fields[1..] {
            assert_eq!(
                random.next_i64(),
                number::<i64>(field),
                "seed {}",
                fields[0]
            );
        }
    }
}

#[test]
fn names_hash_as_in_cassandra_beyond_ascii_too() {
    for fields in lines(GOLDEN, "murmur") {
        let (first, second) = murmur3_x64_128(fields[0].as_bytes());
        let theirs = [fields[1], fields[2]].map(number::<i64>);
        assert_eq!([first as i64, second as i64], theirs, "{:?}", fields[0]);
    }
    assert_eq!(salt(PREDEFINED, "C0"), 5_919_258_029_671_157_411);
}
