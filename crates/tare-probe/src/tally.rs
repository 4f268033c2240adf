//! Counters of a changing set of processes. They only grow: a process that ends takes nothing
//! away, and one that starts adds what it has done since.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::parse::{self, pair};
use crate::source::{read_piece_once, Source};

/// Samples between two counts of context switches. They must be read thread by thread, which
/// costs more than everything else together, so they are counted every tenth sample.
const SWITCHES_EVERY: u32 = 10;

/// What one process or a set of them has done so far, and what it holds now.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Counts {
    /// CPU seconds.
    pub user: f64,
    pub system: f64,
    /// Bytes that really went to or came from a disk.
    pub read_bytes: u64,
    pub write_bytes: u64,
}

/// What a set of processes holds at this moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Holds {
    pub processes: u64,
    pub threads: u64,
    pub rss_bytes: u64,
}

/// Context switches per second over the last span in which they were counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SwitchRates {
    pub voluntary: f64,
    pub involuntary: f64,
}

struct Member {
    directory: PathBuf,
    stat: Source,
    io: Source,
    last: Counts,
}

/// A set of processes with its running totals.
pub struct Tally {
    proc: PathBuf,
    ticks: f64,
    page: u64,
    members: HashMap<u32, Member>,
    pub total: Counts,
    pub holds: Holds,
    pub switch_rates: Option<SwitchRates>,
    threads: HashMap<u32, (u64, u64)>,
    switches: (u64, u64),
    since: f64,
    turn: u32,
    round: u32,
}

impl Tally {
    /// `ticks` per second, `page` size in bytes. Units with different `turn` count context
    /// switches in different samples, so that no sample has all of that work.
    pub fn new(root: &Path, ticks: f64, page: u64, turn: u32) -> Tally {
        Tally {
            proc: root.join("proc"),
            ticks,
            page,
            members: HashMap::new(),
            total: Counts::default(),
            holds: Holds::default(),
            switch_rates: None,
            threads: HashMap::new(),
            switches: (0, 0),
            since: 0.0,
            turn: turn % SWITCHES_EVERY,
            round: 0,
        }
    }

    /// Reads the processes `pids`, `dt` seconds after the last time.
    pub fn update(&mut self, pids: &[u32], dt: f64, buffer: &mut Vec<u8>) {
        self.members.retain(|pid, _| pids.contains(pid));
        self.holds = Holds::default();
        for &pid in pids {
            let directory = self.proc.join(pid.to_string());
            let member = self.members.entry(pid).or_insert_with(|| Member {
                stat: Source::new(directory.join("stat")),
                io: Source::new(directory.join("io")),
                directory,
                last: Counts::default(),
            });
            let Some(now) = count(member, self.ticks, self.page, &mut self.holds, buffer) else {
                self.members.remove(&pid);
                continue;
            };
            self.total.user += (now.user - member.last.user).max(0.0);
            self.total.system += (now.system - member.last.system).max(0.0);
            self.total.read_bytes += now.read_bytes.saturating_sub(member.last.read_bytes);
            self.total.write_bytes += now.write_bytes.saturating_sub(member.last.write_bytes);
            member.last = now;
        }
        self.since += dt;
        if self.round == 0 || self.round % SWITCHES_EVERY == self.turn {
            self.count_switches(buffer);
        }
        self.round += 1;
    }

    fn count_switches(&mut self, buffer: &mut Vec<u8>) {
        let before = self.switches;
        let mut threads = HashMap::new();
        for member in self.members.values() {
            for (thread, now) in thread_switches(&member.directory, buffer) {
                let last = self.threads.get(&thread).copied().unwrap_or_default();
                self.switches.0 += now.0.saturating_sub(last.0);
                self.switches.1 += now.1.saturating_sub(last.1);
                threads.insert(thread, now);
            }
        }
        self.threads = threads;
        // The first count holds the whole lives of the threads, not a span.
        if self.round > 0 && self.since > 0.0 {
            let rate = |now: u64, before: u64| (now - before) as f64 / self.since;
            self.switch_rates = Some(SwitchRates {
                voluntary: rate(self.switches.0, before.0),
                involuntary: rate(self.switches.1, before.1),
            });
        }
        self.since = 0.0;
    }
}

/// None if the process has ended.
fn count(
    member: &mut Member,
    ticks: f64,
    page: u64,
    holds: &mut Holds,
    buffer: &mut Vec<u8>,
) -> Option<Counts> {
    let process = parse::process(member.stat.read_piece(buffer)?)?;
    if process.zombie {
        return None;
    }
    holds.processes += 1;
    holds.threads += process.threads;
    holds.rss_bytes += process.rss * page;
    let mut counts = Counts {
        user: process.user as f64 / ticks,
        system: process.system as f64 / ticks,
        ..member.last
    };
    // Another user's process does not show its traffic.
    if let Some(text) = member.io.read_piece(buffer) {
        counts.read_bytes = pair(text, "read_bytes").unwrap_or(0);
        counts.write_bytes = pair(text, "write_bytes").unwrap_or(0);
    }
    Some(counts)
}

/// Voluntary and involuntary switches of each thread of a process.
fn thread_switches(process: &Path, buffer: &mut Vec<u8>) -> Vec<(u32, (u64, u64))> {
    let Ok(entries) = fs::read_dir(process.join("task")) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let Some(thread) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        let Some(text) = read_piece_once(&entry.path().join("status"), buffer) else {
            continue;
        };
        found.extend(parse::switches(text).map(|switches| (thread, switches)));
    }
    found
}
