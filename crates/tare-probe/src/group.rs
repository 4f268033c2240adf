//! A control group's counters: CPU time, throttling, memory, pressure, processes; versions 1 and 2.

use std::fs;
use std::path::{Path, PathBuf};

use crate::config::Groups;
use crate::parse::{self, pair};
use crate::source::{read_once, Source};

/// Cumulative CPU counters; seconds except for the periods.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cpu {
    pub total: f64,
    pub user: f64,
    pub system: f64,
    pub throttled_periods: u64,
    pub throttled: f64,
}

/// Memory at this moment, bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Memory {
    pub used: Option<u64>,
    pub rss: Option<u64>,
}

/// Total stall times in microseconds: CPU some, memory some and full, I/O some and full.
pub type Stalls = [Option<u64>; 5];

pub enum Group {
    V1 {
        usage: Source,
        modes: Source,
        throttling: Option<Source>,
        memory: Option<(Source, Source)>,
        directory: PathBuf,
    },
    V2 {
        cpu: Source,
        memory: (Source, Source),
        pressure: [Source; 3],
        directory: PathBuf,
    },
}

impl Group {
    /// None if the directories are of neither version; `Config` does not let that through.
    pub fn new(groups: &Groups) -> Option<Group> {
        if let Some(directory) = &groups.unified {
            let file = |name: &str| Source::new(directory.join(name));
            return Some(Group::V2 {
                cpu: file("cpu.stat"),
                memory: (file("memory.current"), file("memory.stat")),
                pressure: [
                    file("cpu.pressure"),
                    file("memory.pressure"),
                    file("io.pressure"),
                ],
                directory: directory.clone(),
            });
        }
        let cpuacct = groups.cpuacct.as_ref()?;
        let memory = |dir: &PathBuf| {
            (
                Source::new(dir.join("memory.usage_in_bytes")),
                Source::new(dir.join("memory.stat")),
            )
        };
        let throttling = |dir: &PathBuf| Source::new(dir.join("cpu.stat"));
        Some(Group::V1 {
            usage: Source::new(cpuacct.join("cpuacct.usage")),
            modes: Source::new(cpuacct.join("cpuacct.stat")),
            throttling: groups.cpu.as_ref().map(throttling),
            memory: groups.memory.as_ref().map(memory),
            directory: cpuacct.clone(),
        })
    }

    /// CPU counters; None if the group has gone.
    pub fn cpu(&mut self, ticks: f64, buffer: &mut Vec<u8>) -> Option<Cpu> {
        match self {
            Group::V1 {
                usage,
                modes,
                throttling,
                ..
            } => {
                let nanoseconds: u64 = usage.read(buffer)?.trim().parse().ok()?;
                let mut cpu = Cpu {
                    total: nanoseconds as f64 / 1e9,
                    ..Cpu::default()
                };
                if let Some(text) = modes.read(buffer) {
                    cpu.user = pair(text, "user").unwrap_or(0) as f64 / ticks;
                    cpu.system = pair(text, "system").unwrap_or(0) as f64 / ticks;
                }
                if let Some(text) = throttling.as_mut().and_then(|file| file.read(buffer)) {
                    cpu.throttled_periods = pair(text, "nr_throttled").unwrap_or(0);
                    cpu.throttled = pair(text, "throttled_time").unwrap_or(0) as f64 / 1e9;
                }
                Some(cpu)
            }
            Group::V2 { cpu, .. } => {
                let text = cpu.read(buffer)?;
                let seconds = |name| pair(text, name).unwrap_or(0) as f64 / 1e6;
                Some(Cpu {
                    total: seconds("usage_usec"),
                    user: seconds("user_usec"),
                    system: seconds("system_usec"),
                    throttled_periods: pair(text, "nr_throttled").unwrap_or(0),
                    throttled: seconds("throttled_usec"),
                })
            }
        }
    }

    /// Memory that the group is charged for, and the part of it that is anonymous.
    pub fn memory(&mut self, buffer: &mut Vec<u8>) -> Memory {
        let (files, rss) = match self {
            Group::V1 { memory, .. } => (memory.as_mut(), "total_rss"),
            Group::V2 { memory, .. } => (Some(memory), "anon"),
        };
        let Some((used, parts)) = files else {
            return Memory::default();
        };
        Memory {
            used: used.read(buffer).and_then(|text| text.trim().parse().ok()),
            rss: parts.read(buffer).and_then(|text| pair(text, rss)),
        }
    }

    /// Stall times, where the kernel counts them per group (version 2).
    pub fn stalls(&mut self, buffer: &mut Vec<u8>) -> Stalls {
        let Group::V2 { pressure, .. } = self else {
            return Stalls::default();
        };
        let [cpu, memory, io] = pressure;
        let mut total = |file: &mut Source, kind: &str| {
            let text = file.read(buffer);
            text.and_then(|text| parse::pressure(text, kind))
        };
        [
            total(cpu, "some"),
            total(memory, "some"),
            total(memory, "full"),
            total(io, "some"),
            total(io, "full"),
        ]
    }

    /// Processes of the group and of the groups below it.
    pub fn processes(&self, buffer: &mut Vec<u8>) -> Vec<u32> {
        let (Group::V1 { directory, .. } | Group::V2 { directory, .. }) = self;
        let mut pids = Vec::new();
        collect(directory, buffer, &mut pids);
        pids
    }
}

fn collect(directory: &Path, buffer: &mut Vec<u8>, pids: &mut Vec<u32>) {
    if let Some(text) = read_once(&directory.join("cgroup.procs"), buffer) {
        pids.extend(text.lines().filter_map(|line| line.parse::<u32>().ok()));
    }
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect(&entry.path(), buffer, pids);
        }
    }
}
