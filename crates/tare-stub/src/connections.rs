//! All connections of a stub, and the one epoll that tells of them.

use std::io::{Read, Result};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::event::Timespec;

use tare_net::Identity;

use crate::connection::Connection;
use crate::stream::Stream;

const LISTENER: u64 = u64::MAX;
const WAKE: u64 = u64::MAX - 1;
const MOST: usize = 4096;

/// An event of the epoll.
#[derive(Debug, Clone, Copy)]
pub enum Readiness {
    /// There is news, or the thread is to stop.
    Wake,
    /// Somebody connects.
    Arrival,
    /// The connection of this place can be used.
    Ready(usize, EventFlags),
}

impl Readiness {
    pub fn of(event: &Event) -> Readiness {
        match event.data.u64() {
            WAKE => Readiness::Wake,
            LISTENER => Readiness::Arrival,
            place => Readiness::Ready(place as usize, event.flags),
        }
    }
}

/// Connections by their place, which is used again after they have closed.
pub struct Connections<T> {
    poll: OwnedFd,
    listener: TcpListener,
    /// Of this server, where clients may come with TLS.
    identity: Option<Identity>,
    /// A byte tells of news, its end tells the thread to stop.
    wake: UnixStream,
    places: Vec<Option<Connection<T>>>,
    generations: u64,
    /// Places of the connections that have something to be written.
    dirty: Vec<usize>,
}

impl<T: Default> Connections<T> {
    /// Takes a bound listener; `wake` becomes readable when there is news, and ends when the thread
    /// is to stop.
    pub fn new(
        listener: TcpListener,
        wake: UnixStream,
        identity: Option<Identity>,
    ) -> Result<Connections<T>> {
        listener.set_nonblocking(true)?;
        wake.set_nonblocking(true)?;
        let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(
            &poll,
            &listener,
            EventData::new_u64(LISTENER),
            EventFlags::IN,
        )?;
        epoll::add(&poll, &wake, EventData::new_u64(WAKE), EventFlags::IN)?;
        Ok(Connections {
            poll,
            listener,
            identity,
            wake,
            places: Vec::new(),
            generations: 0,
            dirty: Vec::new(),
        })
    }

    /// Sleeps until something comes, or so long; what has come takes the place of `events`.
    pub fn wait(&self, timeout: Option<&Timespec>, events: &mut Vec<Event>) -> Result<()> {
        events.clear();
        match epoll::wait(&self.poll, spare_capacity(events), timeout) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(why) => Err(why.into()),
        }
    }

    /// Whether it was woken up to stop.
    pub fn is_to_stop(&mut self) -> bool {
        matches!(self.wake.read(&mut [0; 64]), Ok(0))
    }

    /// Accepts all waiting connections; returns how many.
    pub fn accept(&mut self) -> Result<u64> {
        let mut accepted = 0;
        while let Ok((stream, _)) = self.listener.accept() {
            let free = self.places.iter().position(Option::is_none);
            let place = free.unwrap_or(self.places.len());
            if place >= MOST {
                continue; // dropping it closes it
            }
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            epoll::add(
                &self.poll,
                &stream,
                EventData::new_u64(place as u64),
                EventFlags::IN,
            )?;
            self.generations += 1;
            let stream = Stream::new(stream, self.identity.as_ref());
            let connection = Some(Connection::new(stream, self.generations));
            match self.places.get_mut(place) {
                Some(empty) => *empty = connection,
                None => self.places.push(connection),
            }
            accepted += 1;
        }
        Ok(accepted)
    }

    pub fn get(&mut self, place: usize) -> Option<&mut Connection<T>> {
        self.places.get_mut(place)?.as_mut()
    }

    /// The connection has something to be written.
    pub fn mark(&mut self, place: usize) {
        if let Some(Some(connection)) = self.places.get_mut(place) {
            if !connection.dirty {
                connection.dirty = true;
                self.dirty.push(place);
            }
        }
    }

    /// The next connection that has something to be written.
    pub fn marked(&mut self) -> Option<usize> {
        self.dirty.pop()
    }

    /// Sets whether the epoll reports when the connection can be written, instead of when it can
    /// be read; false if that could not be changed.
    pub fn listen(&mut self, place: usize, blocked: bool) -> bool {
        let Some(Some(connection)) = self.places.get_mut(place) else {
            return true;
        };
        if connection.blocked == blocked {
            return true;
        }
        connection.blocked = blocked;
        let flags = if blocked {
            EventFlags::OUT
        } else {
            EventFlags::IN
        };
        let data = EventData::new_u64(place as u64);
        let socket = connection.stream.socket();
        socket.is_some_and(|socket| epoll::modify(&self.poll, socket, data, flags).is_ok())
    }

    /// Closing the socket takes it out of the epoll.
    pub fn close(&mut self, place: usize) {
        if let Some(connection) = self.places.get_mut(place) {
            *connection = None;
        }
    }

    pub fn close_all(&mut self) {
        self.places.iter_mut().for_each(|place| *place = None);
    }
}
