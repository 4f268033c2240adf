//! The names of all pieces, and what each is.

use std::io;
use std::path::Path;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::measure::Piece;
use crate::{machine, pages, reads, resolve, storage, system, threads};

#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Name {
    /// futex(FUTEX_WAKE) that nobody waits for.
    FutexWake,
    /// futex(FUTEX_WAIT) on a value that has changed already.
    FutexWait,
    /// epoll_pwait2 with one descriptor that is ready.
    EpollWait,
    /// read of 64 bytes from a stream socket.
    Read,
    /// write of 64 bytes to a stream socket.
    Write,
    /// sendmsg of three pieces, 64 bytes in all, to a stream socket.
    Sendmsg,
    /// One thread wakes another on its CPU by a futex and waits for it.
    Switch,
    /// First write to a page of 4 KiB.
    #[serde(rename = "fault_4k")]
    #[value(name = "fault_4k")]
    Fault4k,
    /// First writes to 2 MiB that MADV_HUGEPAGE was asked for.
    #[serde(rename = "fault_2m")]
    #[value(name = "fault_2m")]
    Fault2m,
    /// Start of a thread that does nothing, and waiting for its end.
    Thread,
    /// Append of 4 KiB and fdatasync.
    Append,
    /// 8 MiB written in pieces of 64 KiB to a new file, and fdatasync.
    Flush,
    /// Read of 4 KiB at a random place of a file that the page cache holds.
    ReadWarm,
    /// Reads of 64 KiB, one after the other, of a file that the page cache holds.
    ScanWarm,
    /// Read of 4 KiB at a random place of a file that the page cache has forgotten.
    ReadCold,
    /// Reads of 64 KiB, one after the other, of a file that the page cache has forgotten.
    ScanCold,
    /// Creation of an empty file.
    Create,
    /// A step of a chain of which each needs the one before: shift, exclusive or, multiplication.
    Dependent,
    /// The same step, of eight chains side by side.
    Independent,
    /// A load of which the address depends on the one before, in 32 MiB.
    MemoryLatency,
    /// Reading one MiB, of 64 in a row.
    MemoryRead,
    /// clock_gettime(CLOCK_MONOTONIC).
    Clock,
    /// A sleep of 200 microseconds: by how much it ends late.
    Timer,
    /// getaddrinfo of a name, as a database's client calls it.
    Resolve,
}

impl Name {
    /// Prepare it. An error says why it cannot be measured here.
    pub fn make(self, data: Option<&Path>, name: Option<&str>) -> io::Result<Box<dyn Piece>> {
        Ok(match self {
            Name::FutexWake => Box::new(system::FutexWake::default()),
            Name::FutexWait => Box::new(system::FutexWait::default()),
            Name::EpollWait => Box::new(system::EpollWait::new()?),
            Name::Read => Box::new(system::Read(system::Pair::new()?)),
            Name::Write => Box::new(system::Write(system::Pair::new()?)),
            Name::Sendmsg => Box::new(system::Sendmsg(system::Pair::new()?)),
            Name::Switch => Box::new(threads::Switch::new()?),
            Name::Thread => Box::new(threads::Start),
            Name::Fault4k => Box::new(pages::Fault::small()),
            Name::Fault2m => Box::new(pages::Fault::huge()?),
            Name::Append => Box::new(storage::Append::new(directory(data)?)?),
            Name::Flush => Box::new(storage::Flush::new(directory(data)?)),
            Name::ReadWarm => Box::new(reads::ReadWarm::new(directory(data)?)?),
            Name::ScanWarm => Box::new(reads::ScanWarm::new(directory(data)?)?),
            Name::ReadCold => Box::new(reads::ReadCold::new(directory(data)?)?),
            Name::ScanCold => Box::new(reads::ScanCold::new(directory(data)?)?),
            Name::Create => {
                storage::journaled(directory(data)?)?;
                Box::new(storage::Create::new(directory(data)?)?)
            }
            Name::Dependent => Box::new(machine::Chains::<1>::new()),
            Name::Independent => Box::new(machine::Chains::<8>::new()),
            Name::MemoryLatency => Box::new(machine::Latency::new()),
            Name::MemoryRead => Box::new(machine::Bandwidth::new()),
            Name::Clock => Box::new(machine::Clock),
            Name::Timer => Box::new(machine::Timer),
            Name::Resolve => Box::new(resolve::Resolve::new(name)?),
        })
    }
}

fn directory(data: Option<&Path>) -> io::Result<&Path> {
    let named = data.ok_or_else(|| io::Error::other("no --data names a directory for files"))?;
    storage::lasting(named)?;
    Ok(named)
}
