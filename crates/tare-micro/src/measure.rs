//! How a piece is measured: in batches, between two readings of the clocks, for a bounded time.

use std::io;
use std::time::{Duration, Instant};

use rustix::time::{clock_gettime, ClockId};
use serde::Serialize;

/// The first part of a turn is not counted: caches hold what others have left.
const WARM: u32 = 8;

/// Something that can be done again and again.
pub trait Piece {
    /// Before the first batch of a turn; not timed.
    fn begin(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Before each batch; not timed.
    fn prepare(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Do it some times; timed, so that reading the clocks must be little beside it.
    fn batch(&mut self) -> io::Result<Done>;

    /// After the last batch of a turn; not timed. An error: what was measured is not what it
    /// should have been.
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What one batch did.
pub struct Done {
    /// Operations.
    pub n: u64,
    /// Nanoseconds that count as theirs, where these are not the time that passed.
    pub wall_ns: Option<f64>,
}

impl Done {
    pub fn times(n: usize) -> Done {
        Done {
            n: n as u64,
            wall_ns: None,
        }
    }
}

/// What a turn came to.
#[derive(Debug, Serialize)]
pub struct Measured {
    /// Operations.
    pub n: u64,
    /// CPU time of the process for one of them, nanoseconds.
    pub cpu_ns: f64,
    /// Time that passed for one of them, nanoseconds; of the timer by how much it was late.
    pub wall_ns: f64,
    /// `cpu_ns` and `wall_ns` of the median batch.
    pub cpu_median_ns: f64,
    pub wall_median_ns: f64,
}

/// Measure a piece for so long; at least one batch to warm up, and one that counts.
pub fn measure(piece: &mut dyn Piece, length: Duration) -> io::Result<Measured> {
    let begun = Instant::now();
    piece.begin()?;
    loop {
        piece.prepare()?;
        piece.batch()?;
        if begun.elapsed() >= length / WARM {
            break;
        }
    }
    let (mut n, mut cpu, mut wall) = (0, 0.0, 0.0);
    let (mut cpus, mut walls) = (Vec::new(), Vec::new());
    loop {
        piece.prepare()?;
        let (before, start) = (cpu_ns(), Instant::now());
        let done = piece.batch()?;
        let took = start.elapsed().as_nanos() as f64;
        let used = (cpu_ns() - before) as f64;
        let took = done.wall_ns.unwrap_or(took);
        n += done.n;
        cpu += used;
        wall += took;
        cpus.push(used / done.n as f64);
        walls.push(took / done.n as f64);
        if begun.elapsed() >= length {
            break;
        }
    }
    piece.finish()?;
    Ok(Measured {
        n,
        cpu_ns: cpu / n as f64,
        wall_ns: wall / n as f64,
        cpu_median_ns: median(&mut cpus),
        wall_median_ns: median(&mut walls),
    })
}

/// CPU time of all threads of this process, nanoseconds.
fn cpu_ns() -> i64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
