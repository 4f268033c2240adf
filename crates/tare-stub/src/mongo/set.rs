//! A replica set in which the first living member is primary: which members live, and who is primary.
//!
//! A member keeps a connection to each of the others. A killed member closes its own, so the next
//! one is told at once. A paused member does not, and keeps its role.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::script::Set;

/// Pause between two tries to reach a missing member. A connection that lasts less leads nowhere.
const PAUSE: Duration = Duration::from_millis(50);
const CONNECT: Duration = Duration::from_millis(500);

/// What one member knows of its set.
#[derive(Debug)]
pub struct Members {
    pub set: Set,
    /// Place of the primary.
    pub primary: usize,
    /// Counts the changes that it saw.
    pub changes: i64,
    /// When it was elected itself, microseconds since 1970: what is elected later counts.
    pub elected: u64,
    shared: Arc<Shared>,
}

/// What the watching threads share.
#[derive(Debug)]
struct Shared {
    /// Of all members but itself.
    living: Vec<AtomicBool>,
    has_news: AtomicBool,
    over: AtomicBool,
    wake: UnixStream,
}

impl Members {
    /// Looks at those before it, and watches all others on threads of their own; `wake` is given a
    /// byte for each news.
    ///
    /// # Errors
    /// A thread cannot be had.
    pub fn watch(set: Set, wake: UnixStream) -> std::io::Result<Members> {
        let shared = Arc::new(Shared {
            living: set.members.iter().map(|_| AtomicBool::new(false)).collect(),
            has_news: AtomicBool::new(false),
            over: AtomicBool::new(false),
            wake,
        });
        let others = set.members.iter().enumerate();
        for (place, address) in others.filter(|(place, _)| *place != set.me) {
            let (shared, address) = (Arc::clone(&shared), address.clone());
            // Those behind it do not decide who is primary, and may start after it.
            let first = (place < set.me).then(|| reach(&address)).flatten();
            shared.living[place].store(first.is_some(), Ordering::Release);
            thread::Builder::new()
                .name("tare-stub set".into())
                .spawn(move || shared.follow(place, &address, first))?;
        }
        let mut members = Members {
            primary: usize::MAX,
            changes: 0,
            elected: 0,
            shared,
            set,
        };
        members.elect();
        Ok(members)
    }

    pub fn is_primary(&self) -> bool {
        self.primary == self.set.me
    }

    /// Whether a member is there, as far as this one saw.
    pub fn lives(&self, place: usize) -> bool {
        let living = self.shared.living.get(place);
        place == self.set.me || living.is_some_and(|it| it.load(Ordering::Acquire))
    }

    /// Whether another member is primary than before.
    pub fn has_news(&mut self) -> bool {
        self.shared.has_news.swap(false, Ordering::AcqRel) && self.elect()
    }

    fn elect(&mut self) -> bool {
        let living = |one: &AtomicBool| one.load(Ordering::Acquire);
        let first = self.shared.living[..self.set.me].iter().position(living);
        let primary = first.unwrap_or(self.set.me);
        if primary == self.primary {
            return false;
        }
        self.primary = primary;
        self.changes += 1;
        if self.is_primary() {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            self.elected = now.map_or(0, |time| time.as_micros() as u64);
        }
        true
    }
}

impl Drop for Members {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Release);
    }
}

impl Shared {
    /// Watches one member until the stub is over.
    fn follow(&self, place: usize, address: &str, mut connection: Option<TcpStream>) {
        while !self.over.load(Ordering::Acquire) {
            let since = Instant::now();
            if let Some(stream) = connection.take() {
                self.tell(place, true);
                self.await_end(stream);
            }
            // Its connections may have been closed while it lives on.
            connection = (since.elapsed() > PAUSE).then(|| reach(address)).flatten();
            if connection.is_none() {
                self.tell(place, false);
                thread::sleep(PAUSE);
                connection = reach(address);
            }
        }
    }

    fn await_end(&self, mut stream: TcpStream) {
        while !self.over.load(Ordering::Acquire) {
            match stream.read(&mut [0; 64]) {
                Ok(0) => return,
                Err(why) if !is_timeout(&why) => return,
                _ => {}
            }
        }
    }

    fn tell(&self, place: usize, lives: bool) {
        if self.living[place].swap(lives, Ordering::AcqRel) != lives {
            self.has_news.store(true, Ordering::Release);
            // A stub that has ended needs no news.
            let _ = (&self.wake).write_all(&[1]);
        }
    }
}

fn is_timeout(why: &std::io::Error) -> bool {
    use std::io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(why.kind(), WouldBlock | TimedOut | Interrupted)
}

/// A connection to a member.
fn reach(address: &str) -> Option<TcpStream> {
    let mut addresses = address.to_socket_addrs().ok()?;
    let stream = addresses.find_map(|one| TcpStream::connect_timeout(&one, CONNECT).ok())?;
    stream.set_read_timeout(Some(CONNECT)).ok()?;
    Some(stream)
}
