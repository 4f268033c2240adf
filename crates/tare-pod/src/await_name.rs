//! Waits until a name is known. A pod's own name is, a moment after the pod has an address.

use std::io;
use std::net::ToSocketAddrs;
use std::thread;
use std::time::{Duration, Instant};

const AGAIN: Duration = Duration::from_millis(200);

/// Returns once the name has an address.
pub fn await_name(name: &str, within: Duration) -> io::Result<()> {
    let until = Instant::now() + within;
    loop {
        let found = (name, 0).to_socket_addrs().map(|mut all| all.next());
        match found {
            Ok(Some(_)) => return Ok(()),
            Ok(None) | Err(_) if Instant::now() + AGAIN < until => thread::sleep(AGAIN),
            Ok(None) => return Err(unknown(name, within, "it has no address")),
            Err(error) => return Err(unknown(name, within, &error.to_string())),
        }
    }
}

fn unknown(name: &str, within: Duration, why: &str) -> io::Error {
    let seconds = within.as_secs_f64();
    io::Error::other(format!("{name} is not known after {seconds} s: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_known_is_not_waited_for() {
        await_name("127.0.0.1", Duration::ZERO).unwrap();
    }

    #[test]
    fn one_that_never_is_ends_with_its_name_and_the_reason() {
        let told = await_name("no.such.name.invalid", Duration::from_millis(1)).unwrap_err();
        assert!(told.to_string().contains("no.such.name.invalid"));
    }
}
