//! `java.util.Random`, `String.hashCode` and `Math.abs` against a Java virtual machine.

mod lines;

use lines::{lines, number, real};
use tare_draw::java::{absolute, string_hash, Random};

const GOLDEN: &str = include_str!("golden/java.txt");

/// Each number of a line of the golden file, as `next` draws it from the line's seed.
fn check<T: PartialEq + std::fmt::Debug>(
    name: &str,
    read: fn(&str) -> T,
    next: fn(&mut Random) -> T,
) {
    for fields in lines(GOLDEN, name) {
        let mut random = Random::new(number(fields[0]));
        for (at, field) in fields[1..].iter().enumerate() {
            assert_eq!(
                next(&mut random),
                read(field),
                "{name} {at} of seed {}",
                fields[0]
            );
        }
    }
}

#[test]
fn random_draws_whole_numbers_as_java_does() {
    check("long", number, Random::next_i64);
}

#[test]
fn random_draws_real_numbers_as_java_does() {
    check("double", real, Random::next_double);
    check("gaussian", real, Random::next_gaussian);
}

#[test]
fn a_million_gaussians_have_the_bits_of_javas() {
    for fields in lines(GOLDEN, "gaussians") {
        let mut random = Random::new(number(fields[0]));
        let joined = (0..1_000_000).fold(0i64, |joined, _| {
            joined
                .wrapping_mul(31)
                .wrapping_add(random.next_gaussian().to_bits() as i64)
        });
        assert_eq!(joined, number(fields[1]));
    }
}

#[test]
fn a_seed_set_again_starts_again_and_forgets_the_second_gaussian() {
    let mut random = Random::new(5);
    random.next_gaussian();
    random.set_seed(9);
    assert_eq!(random, Random::new(9));
}

#[test]
fn texts_and_absolute_values_are_as_in_java() {
    for fields in lines(GOLDEN, "hash") {
        assert_eq!(string_hash(fields[0]), number(fields[1]), "{:?}", fields[0]);
    }
    for fields in lines(GOLDEN, "abs") {
        assert_eq!(absolute(number(fields[0])), number(fields[1]));
    }
}
