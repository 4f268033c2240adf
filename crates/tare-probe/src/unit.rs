//! One unit: its control group's and its processes' counters, turned into rates.

use std::path::Path;

use serde::Serialize;

use crate::config::UnitConfig;
use crate::group::{Cpu, Group, Stalls};
use crate::metrics::{growth, Metrics};
use crate::processes::Processes;
use crate::tally::{Counts, Tally};

const STALLS: [&str; 5] = [
    "psi_cpu_some",
    "psi_memory_some",
    "psi_memory_full",
    "psi_io_some",
    "psi_io_full",
];

/// One unit's part of a sample.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum UnitSample {
    Gone { gone: bool },
    Here(Metrics),
}

pub struct Unit {
    pub name: String,
    group: Option<Group>,
    pids: Vec<u32>,
    comm: Vec<String>,
    tally: Tally,
    cpu: Option<Cpu>,
    stalls: Stalls,
    counts: Counts,
    ticks: f64,
}

impl Unit {
    /// `turn` is the unit's position among all units.
    pub fn new(config: &UnitConfig, root: &Path, ticks: f64, page: u64, turn: u32) -> Unit {
        Unit {
            name: config.name.clone(),
            group: config.cgroups.as_ref().and_then(Group::new),
            pids: config.pids.clone(),
            comm: config.comm.clone(),
            tally: Tally::new(root, ticks, page, turn),
            cpu: None,
            stalls: Stalls::default(),
            counts: Counts::default(),
            ticks,
        }
    }

    /// Whether the view of all processes must be fresh for this unit.
    pub fn needs_processes(&self) -> bool {
        self.group.is_none()
    }

    /// What happened in the `dt` seconds since the last sample; the first one only looks.
    pub fn sample(&mut self, dt: f64, processes: &Processes, buffer: &mut Vec<u8>) -> UnitSample {
        let pids = self.members(processes, buffer);
        self.tally.update(&pids, dt, buffer);
        let cpu = match &mut self.group {
            Some(group) => group.cpu(self.ticks, buffer),
            None => self.processes_cpu(),
        };
        let Some(cpu) = cpu else {
            self.cpu = None;
            return UnitSample::Gone { gone: true };
        };
        let mut metrics = Metrics::default();
        self.put_cpu(&cpu, dt, &mut metrics);
        self.put_memory(&mut metrics, buffer);
        self.put_processes(dt, &mut metrics);
        self.put_stalls(dt, &mut metrics, buffer);
        self.cpu = Some(cpu);
        UnitSample::Here(metrics)
    }

    fn members(&self, processes: &Processes, buffer: &mut Vec<u8>) -> Vec<u32> {
        match &self.group {
            Some(group) => group.processes(buffer),
            None => {
                let mut pids = processes.trees(&self.pids);
                pids.extend(processes.named(&self.comm));
                pids.sort_unstable();
                pids.dedup();
                pids
            }
        }
    }

    /// A unit of process ids has gone when none is left; one of names may just have none yet.
    fn processes_cpu(&self) -> Option<Cpu> {
        let total = &self.tally.total;
        let here = self.tally.holds.processes > 0 || !self.comm.is_empty();
        here.then(|| Cpu {
            total: total.user + total.system,
            user: total.user,
            system: total.system,
            ..Cpu::default()
        })
    }

    fn put_cpu(&self, cpu: &Cpu, dt: f64, metrics: &mut Metrics) {
        // A unit that has just come (back) has no rates yet.
        let before = self.cpu.unwrap_or(*cpu);
        let cores = |now: f64, before: f64| (now - before).max(0.0) / dt;
        metrics.put("cpu", cores(cpu.total, before.total));
        metrics.put("cpu_user", cores(cpu.user, before.user));
        metrics.put("cpu_system", cores(cpu.system, before.system));
        let periods = growth(cpu.throttled_periods, before.throttled_periods);
        metrics.put("throttled_periods", periods);
        metrics.put("throttled_s", (cpu.throttled - before.throttled).max(0.0));
        metrics.put("cpu_total_s", cpu.total);
    }

    fn put_memory(&mut self, metrics: &mut Metrics, buffer: &mut Vec<u8>) {
        let memory = self.group.as_mut().map(|group| group.memory(buffer));
        let memory = memory.unwrap_or_default();
        let rss = self.tally.holds.rss_bytes;
        metrics.put("memory_bytes", memory.used.unwrap_or(rss) as f64);
        metrics.put("memory_rss_bytes", memory.rss.unwrap_or(rss) as f64);
    }

    fn put_processes(&mut self, dt: f64, metrics: &mut Metrics) {
        let (now, before) = (self.tally.total, self.counts);
        let read = growth(now.read_bytes, before.read_bytes);
        let written = growth(now.write_bytes, before.write_bytes);
        metrics.put("read_bytes_per_s", read / dt);
        metrics.put("write_bytes_per_s", written / dt);
        metrics.put("threads", self.tally.holds.threads as f64);
        metrics.put("procs", self.tally.holds.processes as f64);
        let rates = self.tally.switch_rates;
        metrics.put_some("ctxt_voluntary_per_s", rates.map(|r| r.voluntary));
        metrics.put_some("ctxt_involuntary_per_s", rates.map(|r| r.involuntary));
        self.counts = now;
    }

    fn put_stalls(&mut self, dt: f64, metrics: &mut Metrics, buffer: &mut Vec<u8>) {
        let Some(group) = &mut self.group else { return };
        let now = group.stalls(buffer);
        for (i, name) in STALLS.iter().enumerate() {
            let pair = now[i].zip(self.stalls[i]);
            metrics.put_some(name, pair.map(|(n, b)| growth(n, b) / 1e6 / dt));
        }
        self.stalls = now;
    }
}
