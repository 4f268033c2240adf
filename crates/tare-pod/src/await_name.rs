//! Waits until a name is known: a pod's own name is known a moment after the pod has an address.
//!
//! A cluster has several name servers. Each learns of a pod at its own time, and keeps for some
//! seconds that a name was not there. So one answer is not enough: the next client asks another.

use std::io;
use std::net::ToSocketAddrs;
use std::thread;
use std::time::{Duration, Instant};

/// Pause before the first query; a query now would only make the name servers keep that no such
/// name exists.
const FIRST: Duration = Duration::from_millis(1500);
const AGAIN: Duration = Duration::from_millis(100);
/// How long all queries must have been answered, if none was answered with no.
const STEADY: Duration = Duration::from_secs(1);
/// The same if one was: longer than CoreDNS keeps a no of its plugin `kubernetes`, 5 s by default
/// (https://coredns.io/plugins/kubernetes/, ttl).
const FORGOTTEN: Duration = Duration::from_secs(6);

/// Time, as the wait needs it.
trait Clock {
    /// Since the wait began.
    fn passed(&self) -> Duration;
    fn pause(&mut self, length: Duration);
}

impl Clock for Instant {
    fn passed(&self) -> Duration {
        self.elapsed()
    }

    fn pause(&mut self, length: Duration) {
        thread::sleep(length);
    }
}

/// Returns once the name has an address wherever it is asked for.
pub fn await_name(name: &str, within: Duration) -> io::Result<()> {
    let ask = || match (name, 0).to_socket_addrs() {
        Ok(mut all) => all.next().map(|_| ()).ok_or("it has no address".into()),
        Err(error) => Err(error.to_string()),
    };
    settled(ask, within, &mut Instant::now()).map_err(|why| {
        let seconds = within.as_secs_f64();
        io::Error::other(format!("{name} is not known after {seconds} s: {why}"))
    })
}

/// Asks until the answer has been yes for long enough; the last no where that takes too long.
fn settled(
    mut ask: impl FnMut() -> Result<(), String>,
    within: Duration,
    clock: &mut impl Clock,
) -> Result<(), String> {
    let mut needed = STEADY;
    let mut since = None;
    let mut last = "not by all of the name servers".to_owned();
    clock.pause(FIRST.min(within));
    loop {
        match ask() {
            Ok(()) => {
                let since = *since.get_or_insert(clock.passed());
                if clock.passed() - since >= needed {
                    return Ok(());
                }
            }
            Err(why) => {
                (since, needed, last) = (None, FORGOTTEN, why);
            }
        }
        if clock.passed() + AGAIN >= within {
            return Err(last);
        }
        clock.pause(AGAIN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    struct ScriptedClock(Duration);

    impl Clock for ScriptedClock {
        fn passed(&self) -> Duration {
            self.0
        }

        fn pause(&mut self, length: Duration) {
            self.0 += length;
        }
    }

    /// When the wait ended, and how, where the n-th question is answered so.
    fn ended(known: impl Fn(usize) -> bool) -> (Duration, Result<(), String>) {
        let mut clock = ScriptedClock(Duration::ZERO);
        let mut asked = 0;
        let ask = || {
            asked += 1;
            known(asked).then_some(()).ok_or("no such name".to_owned())
        };
        let end = settled(ask, MINUTE, &mut clock);
        (clock.0, end)
    }

    #[test]
    fn a_name_that_is_known_from_the_first_question_on_is_asked_for_a_second_long() {
        assert_eq!(ended(|_| true), (FIRST + STEADY, Ok(())));
    }

    #[test]
    fn one_no_has_to_be_forgotten_by_who_said_it() {
        let (at, end) = ended(|asked| asked != 3);
        assert_eq!(end, Ok(()));
        assert_eq!(at, FIRST + AGAIN * 3 + FORGOTTEN);
    }

    #[test]
    fn a_name_server_that_never_learns_of_it_is_waited_for_in_vain() {
        let (at, end) = ended(|asked| asked % 3 != 0);
        assert_eq!(end, Err("no such name".into()));
        assert!(at <= MINUTE);
    }

    #[test]
    fn a_name_that_never_is_ends_with_itself_and_the_reason() {
        let told = await_name("no.such.name.invalid", Duration::ZERO).unwrap_err();
        assert!(told.to_string().contains("no.such.name.invalid"));
    }
}
