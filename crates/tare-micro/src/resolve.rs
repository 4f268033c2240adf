//! Name resolution: what a database's client does before it connects.

use std::io;
use std::net::ToSocketAddrs;

use crate::measure::{Done, Piece};

/// Calls of a batch: one of them takes from some microseconds (a file) to a millisecond (a server).
const CALLS: usize = 8;
/// Of CQL; no port changes what is asked.
const PORT: u16 = 9042;

/// getaddrinfo for stream sockets of both families, through the C library and so through whatever
/// the machine or the container has for it: /etc/hosts, or a server of /etc/resolv.conf.
pub struct Resolve(String);

impl Resolve {
    /// Resolves it once: a name that is not known here is no operation.
    pub fn new(name: Option<&str>) -> io::Result<Resolve> {
        let name = name.ok_or_else(|| io::Error::other("no --name says what to resolve"))?;
        let one = Resolve(name.to_owned());
        one.call()?;
        Ok(one)
    }

    fn call(&self) -> io::Result<()> {
        let named = |why: io::Error| io::Error::new(why.kind(), format!("{}: {why}", self.0));
        match (self.0.as_str(), PORT)
            .to_socket_addrs()
            .map_err(named)?
            .next()
        {
            Some(_) => Ok(()),
            None => Err(io::Error::other(format!("{} has no address", self.0))),
        }
    }
}

impl Piece for Resolve {
    fn batch(&mut self) -> io::Result<Done> {
        for _ in 0..CALLS {
            self.call()?;
        }
        Ok(Done::times(CALLS))
    }
}
