//! The pace of a CPU: how long it takes for the same arithmetic, tick after tick.
//!
//! Another guest on the core's other hardware thread takes execution units away, and nothing in
//! this machine's own counters shows it. Independent integer operations feel that; a chain of
//! dependent ones hardly does, because it leaves most units idle anyway. All data is in registers,
//! so other programs on this CPU and its caches do not matter.

use std::fs::File;
use std::hint::black_box;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::wait::Ticker;

/// A microsecond or so.
const ROUNDS: u64 = 800;

/// Writes a row each tick until it is time to end: Unix time in seconds and the nanoseconds that
/// the arithmetic took, two little-endian doubles.
pub fn write(file: &Path, ticker: &mut Ticker) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(file)?);
    while ticker.tick() {
        let at = SystemTime::now().duration_since(UNIX_EPOCH);
        let begun = Instant::now();
        compute();
        let took = begun.elapsed().as_nanos() as f64;
        out.write_all(&at.map_or(0.0, |at| at.as_secs_f64()).to_le_bytes())?;
        out.write_all(&took.to_le_bytes())?;
    }
    out.flush()
}

fn compute() {
    let (mut a, mut b, mut c, mut d) = black_box((1_u64, 3_u64, 5_u64, 7_u64));
    for round in 0..ROUNDS {
        a ^= a << 1;
        b = b.wrapping_add(b >> 3);
        c ^= c << 5;
        d = d.wrapping_add(d ^ round);
        b ^= c;
        a = a.wrapping_add(d);
    }
    black_box((a, b, c, d));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_row_is_a_time_and_how_long_the_arithmetic_took() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("pace");
        let mut ticker = Ticker::new(Duration::from_millis(1), false).unwrap();
        let end = std::thread::spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            signal_hook::low_level::raise(signal_hook::consts::SIGTERM).unwrap();
        });
        write(&file, &mut ticker).unwrap();
        end.join().unwrap();
        let bytes = std::fs::read(&file).unwrap();
        let numbers: Vec<f64> = bytes
            .chunks_exact(8)
            .map(|one| f64::from_le_bytes(one.try_into().unwrap()))
            .collect();
        assert!(numbers.len() >= 2 && bytes.len().is_multiple_of(16));
        let (times, took): (Vec<f64>, Vec<f64>) =
            numbers.chunks(2).map(|row| (row[0], row[1])).unzip();
        assert!(times.is_sorted() && times[0] > 1e9);
        // a tenth of a nanosecond a round would be no computation at all
        assert!(took.iter().all(|&one| one > 0.1 * ROUNDS as f64));
    }
}
