//! Two threads that hand over to each other, and threads that start and end.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use rustix::io::Errno;
use rustix::thread::futex;

use crate::measure::{Done, Piece};

/// Hand-overs forth and back, of a batch.
const THERE_AND_BACK: usize = 200;
/// Threads of a batch.
const THREADS: usize = 16;

const MINE: u32 = 0;
const THEIRS: u32 = 1;
const END: u32 = 2;

/// One thread wakes the other and waits for it, and the other does the same. They run on one CPU,
/// so that each hand-over is a context switch, with a futex call to wake and one to wait.
pub struct Switch {
    whose: Arc<AtomicU32>,
    other: Option<JoinHandle<()>>,
}

impl Switch {
    pub fn new() -> io::Result<Switch> {
        let whose = Arc::new(AtomicU32::new(MINE));
        let theirs = Arc::clone(&whose);
        let other = thread::Builder::new().name("other".into()).spawn(move || {
            while wait_while(&theirs, MINE) == Ok(THEIRS) && give(&theirs, MINE) {}
        })?;
        Ok(Switch {
            whose,
            other: Some(other),
        })
    }
}

impl Piece for Switch {
    fn batch(&mut self) -> io::Result<Done> {
        for _ in 0..THERE_AND_BACK {
            give(&self.whose, THEIRS);
            wait_while(&self.whose, THEIRS)?;
        }
        Ok(Done::times(2 * THERE_AND_BACK))
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        give(&self.whose, END);
        if let Some(other) = self.other.take() {
            let _ = other.join();
        }
    }
}

fn give(whose: &AtomicU32, to: u32) -> bool {
    whose.store(to, Ordering::Release);
    futex::wake(whose, futex::Flags::PRIVATE, 1).is_ok()
}

/// Wait as long as it holds this value, and return the one that it holds then.
fn wait_while(whose: &AtomicU32, value: u32) -> Result<u32, Errno> {
    loop {
        let now = whose.load(Ordering::Acquire);
        if now != value {
            return Ok(now);
        }
        match futex::wait(whose, futex::Flags::PRIVATE, value, None) {
            Ok(()) | Err(Errno::AGAIN | Errno::INTR) => {}
            Err(why) => return Err(why),
        }
    }
}

/// A thread that does nothing, from its start until its end is seen.
pub struct Start;

impl Piece for Start {
    fn batch(&mut self) -> io::Result<Done> {
        for _ in 0..THREADS {
            let started = thread::Builder::new().spawn(|| {})?;
            started
                .join()
                .map_err(|_| io::Error::other("a thread that does nothing failed"))?;
        }
        Ok(Done::times(THREADS))
    }
}
