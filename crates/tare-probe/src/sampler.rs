//! One sample of everything: the machine, the units, and the probe itself.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use rustix::time::{clock_gettime, ClockId};
use serde::Serialize;

use crate::config::Config;
use crate::machine::Machine;
use crate::metrics::Metrics;
use crate::processes::Processes;
use crate::unit::{Unit, UnitSample};

/// One line of output.
#[derive(Debug, Serialize)]
pub struct Sample<'a> {
    event: &'static str,
    /// Unix time of the end of the interval.
    unix: f64,
    /// Length of the interval, seconds.
    dt: f64,
    machine: Metrics,
    units: BTreeMap<&'a str, UnitSample>,
    probe: Own,
}

#[derive(Debug, Serialize)]
struct Own {
    /// CPU seconds of the probe so far.
    cpu_s: f64,
}

pub struct Sampler {
    machine: Machine,
    units: Vec<Unit>,
    processes: Processes,
    last: Instant,
    buffer: Vec<u8>,
}

impl Sampler {
    /// Takes the first look; rates need a second one. `root` is `/` outside of tests.
    pub fn new(config: &Config, root: &Path) -> Sampler {
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        let page = rustix::param::page_size() as u64;
        let unit = |(turn, config)| Unit::new(config, root, ticks, page, turn);
        let mut sampler = Sampler {
            machine: Machine::new(root, ticks),
            units: (0..).zip(&config.units).map(unit).collect(),
            processes: Processes::new(root),
            last: Instant::now(),
            buffer: Vec::new(),
        };
        sampler.units(1.0);
        sampler
    }

    /// Everything since the last sample, which ended `dt` seconds ago.
    pub fn sample(&mut self) -> Sample<'_> {
        let now = Instant::now();
        let dt = (now - self.last).as_secs_f64().max(1e-6);
        self.last = now;
        let unix = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0.0, |elapsed| elapsed.as_secs_f64());
        let machine = self.machine.sample(dt);
        let samples = self.units(dt);
        let names = self.units.iter().map(|unit| unit.name.as_str());
        Sample {
            event: "sample",
            unix,
            dt,
            machine,
            units: names.zip(samples).collect(),
            probe: Own {
                cpu_s: own_cpu_seconds(),
            },
        }
    }

    fn units(&mut self, dt: f64) -> Vec<UnitSample> {
        if self.units.iter().any(Unit::needs_processes) {
            self.processes.refresh();
        }
        let (processes, buffer) = (&self.processes, &mut self.buffer);
        let units = self.units.iter_mut();
        units
            .map(|unit| unit.sample(dt, processes, buffer))
            .collect()
    }
}

fn own_cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
