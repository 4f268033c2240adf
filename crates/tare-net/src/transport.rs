//! The bytes below a protocol: a non-blocking TCP socket, bare or under TLS.
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{poll, PollFd, PollFlags, Timespec};

use rustix::net::sockopt::set_tcp_user_timeout;

use crate::error::Error;
use crate::tls::{session, TlsOptions, TlsStream};

/// A connected socket. After [`Transport::open`] nothing blocks.
#[derive(Debug)]
pub enum Transport {
    Plain(TcpStream),
    Tls(Box<TlsStream>),
}

impl Transport {
    /// Connect, and shake hands where TLS is asked for; blocks until `deadline` at the longest.
    ///
    /// # Errors
    /// What stands in the way, with the address.
    pub fn open(
        address: SocketAddr,
        tls: Option<&TlsOptions>,
        deadline: Instant,
    ) -> Result<Transport, Error> {
        let patience = remaining(deadline);
        let unreachable = |error: io::Error| Error::Unreachable {
            address,
            why: error.to_string(),
        };
        let session = tls.map(|tls| session(address, tls)).transpose()?;
        let left = patience.max(Duration::from_millis(1));
        let socket = TcpStream::connect_timeout(&address, left).map_err(unreachable)?;
        socket.set_nodelay(true).map_err(unreachable)?;
        socket.set_nonblocking(true).map_err(unreachable)?;
        set_tcp_user_timeout(&socket, UNACKNOWLEDGED).map_err(|error| unreachable(error.into()))?;
        let Some(session) = session else {
            return Ok(Transport::Plain(socket));
        };
        let mut stream = Box::new(TlsStream::new(session, socket));
        let failed = |error: io::Error| Error::Tls(format!("{address}: {error}"));
        while stream.is_handshaking() {
            let readable = stream.advance().map_err(failed)?;
            let socket = stream.socket().as_fd();
            if stream.is_handshaking() && !wait(socket, !readable, deadline).map_err(failed)? {
                let seconds = patience.as_secs_f64();
                return Err(Error::TimedOut {
                    address,
                    what: "the TLS handshake",
                    seconds,
                });
            }
        }
        stream.push().map_err(failed)?;
        Ok(Transport::Tls(stream))
    }

    /// The socket, to wait on.
    pub fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Transport::Plain(socket) => socket.as_fd(),
            Transport::Tls(stream) => stream.socket().as_fd(),
        }
    }

    /// Bytes that came, after at most one read call that brings some; 0 at the end.
    ///
    /// # Errors
    /// `WouldBlock` while there are none, and whatever breaks a connection.
    #[inline]
    pub fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Transport::Plain(socket) => socket.read(into),
            Transport::Tls(stream) => stream.read(into),
        }
    }

    /// What TLS has decrypted already and `read` had no room for; nothing on a bare socket.
    ///
    /// # Errors
    /// Whatever breaks a connection.
    #[inline]
    pub fn rest(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Transport::Plain(_) => Ok(0),
            Transport::Tls(stream) => stream.rest(into),
        }
    }

    /// How many of the bytes were taken over.
    ///
    /// # Errors
    /// `WouldBlock` while none are, and whatever breaks a connection.
    #[inline]
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Transport::Plain(socket) => socket.write(bytes),
            Transport::Tls(stream) => stream.write(bytes),
        }
    }

    /// Whether the socket is bare: bytes that `write` took have gone.
    #[inline]
    pub fn is_plain(&self) -> bool {
        matches!(self, Transport::Plain(_))
    }

    /// Whether TLS holds something back.
    pub fn holds(&self) -> bool {
        match self {
            Transport::Plain(_) => false,
            Transport::Tls(stream) => stream.holds(),
        }
    }

    /// Send what TLS holds back; true when nothing is.
    ///
    /// # Errors
    /// Whatever breaks a connection.
    #[inline]
    pub fn push(&mut self) -> io::Result<bool> {
        match self {
            Transport::Plain(_) => Ok(true),
            Transport::Tls(stream) => stream.push(),
        }
    }
}

/// Milliseconds after which unacknowledged bytes break the connection (RFC 5482): a node that
/// lost its power says nothing, and TCP alone would wait for many minutes. A paused process still
/// acknowledges.
const UNACKNOWLEDGED: u32 = 10_000;

/// All addresses of a name, or why there is none. It may have one that nobody listens on, such as
/// `::1`.
///
/// # Errors
/// In words, for an error that says whose name it is.
pub fn addresses(name: impl ToSocketAddrs) -> Result<Vec<SocketAddr>, String> {
    let found: Vec<SocketAddr> = name
        .to_socket_addrs()
        .map_err(|error| error.to_string())?
        .collect();
    if found.is_empty() {
        return Err("the name has no address".to_owned());
    }
    Ok(found)
}

/// Time until `deadline`, zero when it has passed.
pub fn remaining(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

/// Block until the socket is readable (or writable, too, with `writable`); false at the deadline.
///
/// # Errors
/// The kernel cannot wait on it.
pub fn wait(fd: BorrowedFd<'_>, writable: bool, deadline: Instant) -> io::Result<bool> {
    let flags = if writable {
        PollFlags::IN | PollFlags::OUT
    } else {
        PollFlags::IN
    };
    loop {
        let left = remaining(deadline);
        if left.is_zero() {
            return Ok(false);
        }
        let timeout = Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(left.subsec_nanos()),
        };
        match poll(&mut [PollFd::from_borrowed_fd(fd, flags)], Some(&timeout)) {
            Ok(0) => return Ok(false),
            Ok(_) => return Ok(true),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
