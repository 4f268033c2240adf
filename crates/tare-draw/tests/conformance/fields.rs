//! The generators of field lengths and values.

use tare_draw::ycsb::{random_printable, FieldLength, Histogram, UniformLong};
use tare_draw::Xoshiro;

use crate::chi_square::assert_follows;

#[test]
fn uniform_lengths() {
    let lengths = FieldLength::Uniform(UniformLong::new(1, 100).expect("a range"));
    let mut rng = Xoshiro::new(101);
    assert_follows(&[0.01; 100], || lengths.next(&mut rng) - 1);
}

#[test]
fn lengths_of_a_histogram() {
    // Of 20 numbers, 0..=5 give 10; 6 gives 20; 7..=9 give 30; all others the last bucket's 3 * 10.
    let histogram = Histogram::new(vec![5, 1, 3, 11], 10).expect("a histogram");
    let lengths = FieldLength::Histogram(histogram);
    let mut rng = Xoshiro::new(102);
    let distribution = [0.0, 6.0 / 20.0, 1.0 / 20.0, 13.0 / 20.0];
    assert_follows(&distribution, || lengths.next(&mut rng) / 10);
}

/// The octets that six places can have: 32 plus the bits of a mask.
#[test]
fn printable_octets() {
    for (place, mask) in [0x1f, 0x3f, 0x5f, 0x1f, 0x3f, 0x5f].into_iter().enumerate() {
        let mut distribution = vec![0.0; 256];
        let values: Vec<usize> = (0..128).filter(|value| value & !mask == 0).collect();
        for value in &values {
            distribution[32 + value] = 1.0 / values.len() as f64;
        }
        let mut rng = Xoshiro::new(110 + place as u64);
        let mut value = Vec::new();
        assert_follows(&distribution, || {
            value.clear();
            random_printable(&mut rng, 6, &mut value);
            usize::from(value[place])
        });
    }
}
