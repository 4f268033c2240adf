//! When the host of a virtual machine took time from it: no client and no stub can help that.

use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const EVERY: Duration = Duration::from_millis(50);

/// What queued up meanwhile is served within this, seconds.
const AFTER: f64 = 0.2;

/// Looks at the steal time of all CPUs until it is stopped.
pub struct Watch {
    stop: Sender<()>,
    looks: JoinHandle<Vec<f64>>,
}

/// Unix times at which time had been stolen since `EVERY` before.
pub struct Stolen(Vec<f64>);

impl Watch {
    pub fn start() -> Watch {
        let (stop, stopped) = channel();
        let looks = std::thread::spawn(move || {
            let (mut found, mut before) = (Vec::new(), ticks());
            while stopped.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                let now = ticks();
                if now != before {
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

fn unix() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap().as_secs_f64()
}
