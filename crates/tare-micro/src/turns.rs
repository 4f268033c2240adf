//! When it is this process's turn: a file that appears, and sleeping until a Unix time.

use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::thread::{clock_nanosleep_absolute, ClockId, Timespec};
use serde::Deserialize;

use crate::pieces::Name;

const LOOK: Duration = Duration::from_millis(10);

/// What the file of the turns says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Told {
    pub turns: Vec<Turn>,
    /// When all processes' turns have passed, Unix seconds: until then none of them prints.
    pub ends: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// Unix seconds.
    pub at: f64,
    /// Milliseconds for each piece.
    pub ms: f64,
    pub pieces: Vec<Name>,
}

impl Turn {
    pub fn length(&self) -> Duration {
        Duration::try_from_secs_f64(self.ms / 1e3).unwrap_or_default()
    }
}

/// The turns, once the file is there. Its writer gives it its name only when it is complete.
pub fn awaited(file: &Path, wait: Duration) -> io::Result<Told> {
    let begun = Instant::now();
    loop {
        match fs::read_to_string(file) {
            Ok(text) => {
                return serde_json::from_str(&text)
                    .map_err(|why| io::Error::other(format!("{}: {why}", file.display())))
            }
            Err(why) if why.kind() != io::ErrorKind::NotFound => return Err(why),
            Err(_) if begun.elapsed() > wait => {
                let waited = format!("no turns in {} s: {}", wait.as_secs_f64(), file.display());
                return Err(io::Error::new(io::ErrorKind::TimedOut, waited));
            }
            Err(_) => thread::sleep(LOOK),
        }
    }
}

/// Unix seconds.
pub fn now() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64())
}

/// Sleep until so many Unix seconds; not at all if they have passed.
pub fn sleep_until(unix: f64) -> io::Result<()> {
    let until = Duration::try_from_secs_f64(unix).map_err(io::Error::other)?;
    let until = Timespec {
        tv_sec: until.as_secs() as i64,
        tv_nsec: i64::from(until.subsec_nanos()),
    };
    loop {
        match clock_nanosleep_absolute(ClockId::Realtime, &until) {
            Err(rustix::io::Errno::INTR) => {}
            other => return other.map_err(io::Error::from),
        }
    }
}
