//! When time was taken from the stub: by the host of a virtual machine, or by other programs. Neither it
//! nor a client can help that.

use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const EVERY: Duration = Duration::from_millis(50);

/// What queued up meanwhile is served within this, seconds.
const AFTER: f64 = 0.2;

/// How long the stub's threads may wait for their CPU between two looks, nanoseconds.
const WAIT: u64 = 200_000;

/// Looks at the steal time of all CPUs, and at this process's waiting for one, until it is stopped.
pub struct Watch {
    stop: Sender<()>,
    looks: JoinHandle<Vec<f64>>,
}

/// Unix times at which time had been taken since `EVERY` before.
pub struct Stolen(Vec<f64>);

impl Watch {
    pub fn start() -> Watch {
        let (stop, stopped) = channel();
        let looks = std::thread::spawn(move || {
            let (mut found, mut before) = (Vec::new(), (ticks(), waited()));
            while stopped.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                let now = (ticks(), waited());
                if now.0 != before.0 || now.1.saturating_sub(before.1) > WAIT {
                    found.push(unix());
                }
                before = now;
            }
            found
        });
        Watch { stop, looks }
    }

    pub fn stop(self) -> Stolen {
        drop(self.stop);
        Stolen(self.looks.join().unwrap())
    }
}

impl Stolen {
    /// Whether what was measured between these Unix times can have suffered.
    pub fn touches(&self, begin: f64, end: f64) -> bool {
        let late = EVERY.as_secs_f64();
        self.0
            .iter()
            .any(|&at| at >= begin - AFTER && at - late <= end)
    }
}

/// Clock ticks stolen from all CPUs since the machine started: the eighth number of /proc/stat.
fn ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/stat").unwrap();
    stat.split_whitespace().nth(8).unwrap().parse().unwrap()
}

/// Nanoseconds for which the threads of this process were ready to run and had no CPU.
fn waited() -> u64 {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let of = |thread: std::io::Result<std::fs::DirEntry>| {
        // A thread may have ended since.
        let told = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        told.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    threads.filter_map(of).sum()
}

fn unix() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap().as_secs_f64()
}
