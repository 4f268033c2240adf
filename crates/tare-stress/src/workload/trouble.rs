//! Failures: told while they are few, counted always, and the end of the run unless ignored.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::settings::log::Level;

/// Failures that are told one by one.
const TOLD: u64 = 20;

#[derive(Debug)]
pub struct Trouble {
    ignore: bool,
    level: Level,
    over: AtomicBool,
    told: AtomicU64,
    /// Why the run ended, as the tool says it.
    last: Mutex<Option<String>>,
}

impl Trouble {
    pub fn new(ignore: bool, level: Level) -> Trouble {
        Trouble {
            ignore,
            level,
            over: AtomicBool::new(false),
            told: AtomicU64::new(0),
            last: Mutex::new(None),
        }
    }

    /// Whether an operation has failed that must not.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Why the run is over; none if it is not.
    pub fn why(&self) -> Option<String> {
        self.last
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// A request failed and is tried again.
    pub fn retried(&self, why: impl FnOnce() -> String) {
        if self.level > Level::Minimal {
            self.tell(why);
        }
    }

    /// An operation failed after so many tries.
    pub fn failed(&self, tries: u32, key: impl FnOnce() -> String, why: impl FnOnce() -> String) {
        let message = || format!("Operation x{tries} on key(s) [{}]: {}", key(), why());
        if self.ignore {
            if self.level > Level::Minimal {
                self.tell(message);
            }
        } else if !self.over.swap(true, Ordering::Relaxed) {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            *last = Some(message());
        }
    }

    fn tell(&self, message: impl FnOnce() -> String) {
        match self.told.fetch_add(1, Ordering::Relaxed) {
            told if told < TOLD => eprintln!("{}", message()),
            TOLD => eprintln!("Further failures are counted, not told."),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fail(trouble: &Trouble) {
        trouble.failed(
            10,
            || "3050".to_owned(),
            || "Error executing: (timeout)".to_owned(),
        );
    }

    #[test]
    fn a_failure_ends_the_run_and_says_why() {
        let trouble = Trouble::new(false, Level::Minimal);
        assert!(!trouble.is_over());
        fail(&trouble);
        assert!(trouble.is_over());
        let why = "Operation x10 on key(s) [3050]: Error executing: (timeout)";
        assert_eq!(trouble.why().as_deref(), Some(why));
    }

    #[test]
    fn an_ignored_failure_does_not() {
        let trouble = Trouble::new(true, Level::Minimal);
        fail(&trouble);
        assert!(!trouble.is_over());
        assert_eq!(trouble.why(), None);
    }
}
