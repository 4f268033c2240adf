//! System calls as a database's threads make them.

use std::io::{self, IoSlice};
use std::sync::atomic::AtomicU32;

use rustix::event::{epoll, eventfd, EventfdFlags};
use rustix::fd::OwnedFd;
use rustix::io::{read, write, Errno};
use rustix::net::{
    sendmsg, socketpair, AddressFamily, SendAncillaryBuffer, SendFlags, SocketFlags, SocketType,
};
use rustix::thread::futex;
use rustix::time::Timespec;

use crate::measure::{Done, Piece};

/// Calls of a batch.
const CALLS: usize = 1000;
/// Bytes of a message: a short answer.
const MESSAGE: usize = 64;
/// So many messages fit into a socket's buffer of the usual size, with what the kernel adds.
const MESSAGES: usize = 128;

#[derive(Default)]
pub struct FutexWake(AtomicU32);

impl Piece for FutexWake {
    fn batch(&mut self) -> io::Result<Done> {
        for _ in 0..CALLS {
            futex::wake(&self.0, futex::Flags::PRIVATE, 1)?;
        }
        Ok(Done::times(CALLS))
    }
}

#[derive(Default)]
pub struct FutexWait(AtomicU32);

impl Piece for FutexWait {
    fn batch(&mut self) -> io::Result<Done> {
        for _ in 0..CALLS {
            match futex::wait(&self.0, futex::Flags::PRIVATE, 1, None) {
                Err(Errno::AGAIN) => {}
                other => return Err(unexpected("futex", other)),
            }
        }
        Ok(Done::times(CALLS))
    }
}

fn unexpected<T>(call: &str, got: rustix::io::Result<T>) -> io::Error {
    match got {
        Ok(_) => io::Error::other(format!("{call} did what it should not")),
        Err(why) => io::Error::other(format!("{call}: {why}")),
    }
}

pub struct EpollWait {
    epoll: OwnedFd,
    _ready: OwnedFd,
}

impl EpollWait {
    pub fn new() -> io::Result<EpollWait> {
        let ready = eventfd(1, EventfdFlags::CLOEXEC)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let data = epoll::EventData::new_u64(0);
        epoll::add(&epoll, &ready, data, epoll::EventFlags::IN)?;
        Ok(EpollWait {
            epoll,
            _ready: ready,
        })
    }
}

impl Piece for EpollWait {
    fn batch(&mut self) -> io::Result<Done> {
        let empty = epoll::Event {
            flags: epoll::EventFlags::empty(),
            data: epoll::EventData::new_u64(0),
        };
        let mut events = [empty; 8];
        let second = Timespec {
            tv_sec: 1,
            tv_nsec: 0,
        };
        for _ in 0..CALLS {
            let ready = epoll::wait(&self.epoll, &mut events, Some(&second))?;
            if ready != 1 {
                return Err(io::Error::other(format!("epoll_wait gave {ready} events")));
            }
        }
        Ok(Done::times(CALLS))
    }
}

/// Two connected sockets of this process.
pub struct Pair {
    near: OwnedFd,
    far: OwnedFd,
    buffer: Vec<u8>,
}

impl Pair {
    pub fn new() -> io::Result<Pair> {
        let (near, far) = socketpair(
            AddressFamily::UNIX,
            SocketType::STREAM,
            SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
            None,
        )?;
        let buffer = vec![0; MESSAGE * MESSAGES];
        Ok(Pair { near, far, buffer })
    }

    fn fill(&mut self) -> io::Result<()> {
        for _ in 0..MESSAGES {
            whole(write(&self.near, &[1; MESSAGE])?)?;
        }
        Ok(())
    }

    fn drain(&mut self) -> io::Result<()> {
        loop {
            match read(&self.far, &mut self.buffer[..]) {
                Ok(_) => {}
                Err(Errno::AGAIN) => return Ok(()),
                Err(why) => return Err(why.into()),
            }
        }
    }
}

fn whole(bytes: usize) -> io::Result<()> {
    if bytes == MESSAGE {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "a socket took or gave {bytes} bytes of {MESSAGE}"
    )))
}

pub struct Read(pub Pair);

impl Piece for Read {
    fn prepare(&mut self) -> io::Result<()> {
        self.0.drain()?;
        self.0.fill()
    }

    fn batch(&mut self) -> io::Result<Done> {
        let mut message = [0; MESSAGE];
        for _ in 0..MESSAGES {
            whole(read(&self.0.far, &mut message)?)?;
        }
        Ok(Done::times(MESSAGES))
    }
}

pub struct Write(pub Pair);

impl Piece for Write {
    fn prepare(&mut self) -> io::Result<()> {
        self.0.drain()
    }

    fn batch(&mut self) -> io::Result<Done> {
        self.0.fill()?;
        Ok(Done::times(MESSAGES))
    }
}

pub struct Sendmsg(pub Pair);

impl Piece for Sendmsg {
    fn prepare(&mut self) -> io::Result<()> {
        self.0.drain()
    }

    fn batch(&mut self) -> io::Result<Done> {
        // a frame's header, the metadata of its rows, the rows
        let (header, metadata, rows) = ([1; 9], [2; 15], [3; 40]);
        let parts = [
            IoSlice::new(&header),
            IoSlice::new(&metadata),
            IoSlice::new(&rows),
        ];
        for _ in 0..MESSAGES {
            let mut nothing = SendAncillaryBuffer::default();
            whole(sendmsg(
                &self.0.near,
                &parts,
                &mut nothing,
                SendFlags::NOSIGNAL,
            )?)?;
        }
        Ok(Done::times(MESSAGES))
    }
}
