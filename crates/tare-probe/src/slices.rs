//! Drives this machine's units through a schedule of slices: thaws them for their own slices,
//! freezes them between, and reads CPU time before and at the end of their load. However the probe
//! ends, they are thawed.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::parse;
use crate::wait::Ticker;

/// A slice is late if its server is thawed so long after its load began, or read so long after its
/// load ended, or frozen so long after it should have been: `AFTER` after its end. As LATE_S and
/// AFTER_S of Tare's own slices.
const LATE: Duration = Duration::from_millis(5);
const AFTER: Duration = Duration::from_millis(7);
/// Longest wait for the kernel to stop a group, or to let it go on.
const FREEZE: Duration = Duration::from_secs(5);
/// A freezer of version 1 that is slower is thawed and asked again, as by Tare itself
/// (`tare/machines/cgroups.py`).
const AGAIN: Duration = Duration::from_millis(50);
/// PF_KTHREAD of include/linux/sched.h.
const KERNEL_THREAD: u64 = 0x0020_0000;
const BEGINNER: &str = "kthreadd";
/// Slices after which the kernel's threads are looked for again.
const LOOK_AGAIN: usize = 16;
const POLL: Duration = Duration::from_micros(300);
/// Fields of the first line of /proc/stat, proc(5).
const MODES: [(&str, usize); 6] = [
    ("user", 1),
    ("nice", 2),
    ("system", 3),
    ("irq", 6),
    ("softirq", 7),
    ("steal", 8),
];

/// What is to be driven.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slicing {
    /// Unix time at which everything is frozen, before the first slice.
    pub freeze_at: f64,
    /// Seconds from the thaw before a turn to the load.
    pub lead_s: f64,
    /// Seconds from the reading before a slice to its load: work between two slices of a turn
    /// belongs to neither.
    pub read_lead_s: f64,
    /// Seconds from the begin of a slice's load until CPU time is read: where the load ends, or the
    /// drain.
    pub read_s: f64,
    /// Seconds from the begin of a slice's load to the end of its drain.
    pub window_s: f64,
    /// The kernel's ticks per second.
    pub ticks: f64,
    pub slots: Vec<Slot>,
    pub parts: Vec<Part>,
}

/// One slice.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slot {
    /// Unix time at which its load begins.
    pub at: f64,
    /// Which part is driven; none: nothing is.
    pub part: Option<usize>,
    /// It ends its server's turn; the server is then frozen.
    pub last: bool,
}

/// What one trial has on this machine.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Control groups that are frozen between its slices.
    pub freeze: Vec<PathBuf>,
    /// Unit to the control groups that count its CPU time.
    pub units: BTreeMap<String, Vec<PathBuf>>,
    /// Directories as /proc/PID/net, each of a network namespace whose programs' packets are counted.
    #[serde(default)]
    pub networks: Vec<PathBuf>,
}

/// CPU seconds used so far, or within a slice.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
struct Reading {
    machine: f64,
    own: f64,
    kernel: f64,
    modes: BTreeMap<&'static str, f64>,
    units: BTreeMap<String, f64>,
    /// None: no namespace, or the kernel does not report it.
    #[serde(skip_serializing_if = "Option::is_none")]
    packets: Option<f64>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Event {
    Slice {
        slot: usize,
        seconds: f64,
        late: bool,
        #[serde(flatten)]
        used: Reading,
    },
    Fault {
        part: usize,
        why: String,
    },
}

impl Slicing {
    /// Why it cannot be driven; empty: it can.
    pub fn fault(&self) -> &'static str {
        let ordered = (1..self.slots.len())
            .all(|next| self.slots[next - 1].at + self.window_s <= self.prepared_at(next));
        let known = |slot: &Slot| slot.part.is_none_or(|part| part < self.parts.len());
        if !ordered
            || self
                .slots
                .first()
                .is_some_and(|one| one.at < self.freeze_at)
        {
            "slices overlap, or begin before everything is frozen"
        } else if !self.slots.iter().all(known) {
            "a slice is of a part that is not there"
        } else if !(self.lead_s >= 0.0
            && self.read_lead_s >= 0.0
            && self.read_s > 0.0
            && self.window_s >= self.read_s
            && self.ticks > 0.0)
        {
            "lead_s, read_lead_s, read_s and ticks must be positive, and read_s within window_s"
        } else {
            ""
        }
    }

    /// Unix time from which a slice is prepared: the thaw before a turn, else the reading.
    fn prepared_at(&self, number: usize) -> f64 {
        let within = number
            .checked_sub(1)
            .is_some_and(|before| !self.slots[before].last);
        let lead_s = if within {
            self.read_lead_s
        } else {
            self.lead_s
        };
        self.slots[number].at - lead_s
    }
}

/// Goes through the schedule; `root` is where /proc and /sys are found.
pub struct Driver<'a> {
    slicing: &'a Slicing,
    root: &'a Path,
    /// The time since `origin` is the Unix time less `origin_unix`: a clock that is set meanwhile
    /// moves nothing.
    origin: Instant,
    origin_unix: f64,
    failed: Vec<bool>,
    /// Directories of the kernel's threads, and CPU seconds as they were read last.
    kernel: Vec<(PathBuf, f64)>,
}

impl Drop for Driver<'_> {
    fn drop(&mut self) {
        let _ = thaw(self.slicing.parts.iter().flat_map(|part| &part.freeze));
    }
}

impl<'a> Driver<'a> {
    pub fn new(slicing: &'a Slicing, root: &'a Path) -> Driver<'a> {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH);
        Driver {
            slicing,
            root,
            origin: Instant::now(),
            origin_unix: unix.map_or(0.0, |since| since.as_secs_f64()),
            failed: vec![false; slicing.parts.len()],
            kernel: kernel_threads(root),
        }
    }

    /// Drive every slice, or end when the ticker says so.
    pub fn drive(mut self, ticker: &mut Ticker, out: &mut dyn Write) -> io::Result<()> {
        if !ticker.until(self.instant(self.slicing.freeze_at)) {
            return Ok(());
        }
        for (number, part) in self.slicing.parts.iter().enumerate() {
            if let Err(error) = freeze(part, true) {
                self.fail(number, &error, out)?;
            }
        }
        for number in 0..self.slicing.slots.len() {
            if number % LOOK_AGAIN == LOOK_AGAIN - 1 {
                self.kernel = kernel_threads(self.root);
            }
            if !self.slice(number, ticker, out)? {
                break;
            }
        }
        Ok(())
    }

    /// One slice; false when it is time to end.
    fn slice(
        &mut self,
        number: usize,
        ticker: &mut Ticker,
        out: &mut dyn Write,
    ) -> io::Result<bool> {
        let slicing = self.slicing;
        let slot = &slicing.slots[number];
        let load = self.instant(slot.at);
        let reads = load + Duration::from_secs_f64(slicing.read_s);
        let ends = load + Duration::from_secs_f64(slicing.window_s);
        if let Some(failed) = slot.part.filter(|&part| self.failed[part]) {
            let goes_on = ticker.until(if slot.last { ends } else { load });
            self.end_turn(slot, failed);
            return Ok(goes_on);
        }
        if !ticker.until(self.instant(slicing.prepared_at(number))) {
            return Ok(false);
        }
        let part = slot.part.map(|one| &slicing.parts[one]);
        let driven = (|| {
            part.map_or(Ok(()), |one| freeze(one, false))?;
            ticker.until(self.instant(slot.at - slicing.read_lead_s));
            let (before, since) = (self.read(part)?, Instant::now());
            let late = since > load + LATE;
            let goes_on = ticker.until(reads);
            let (after, now) = (self.read(part)?, Instant::now());
            let goes_on = goes_on && ticker.until(ends);
            part.filter(|_| slot.last)
                .map_or(Ok(()), |one| freeze(one, true))?;
            let event = Event::Slice {
                slot: number,
                seconds: (now - since).as_secs_f64(),
                late: late || now > reads + LATE || Instant::now() > ends + AFTER + LATE,
                used: after.since(&before),
            };
            Ok((goes_on, event))
        })();
        match (driven, slot.part) {
            (Ok((goes_on, event)), _) => {
                tell(&event, out)?;
                Ok(goes_on)
            }
            (Err(error), Some(part)) => {
                self.end_turn(slot, part);
                self.fail(part, &error, out)?;
                Ok(true)
            }
            (Err(error), None) => Err(error),
        }
    }

    /// Other parts go on, on the same servers: these are still frozen after their turn.
    fn end_turn(&self, slot: &Slot, failed: usize) {
        if slot.last {
            let _ = freeze(&self.slicing.parts[failed], true);
        }
    }

    fn fail(&mut self, part: usize, error: &io::Error, out: &mut dyn Write) -> io::Result<()> {
        self.failed[part] = true;
        let why = error.to_string();
        tell(&Event::Fault { part, why }, out)
    }

    fn instant(&self, unix: f64) -> Instant {
        self.origin + Duration::from_secs_f64((unix - self.origin_unix).max(0.0))
    }

    fn read(&mut self, part: Option<&Part>) -> io::Result<Reading> {
        let stat = fs::read_to_string(self.root.join("proc/stat"))?;
        let fields: Vec<&str> = stat
            .lines()
            .next()
            .unwrap_or("")
            .split_whitespace()
            .collect();
        let count = |place: usize| fields.get(place).and_then(|text| text.parse::<f64>().ok());
        let modes: BTreeMap<_, _> = MODES
            .iter()
            .map(|&(mode, place)| (mode, count(place).unwrap_or(0.0) / self.slicing.ticks))
            .collect();
        let by_modes = || modes.values().sum::<f64>() - modes.get("steal").unwrap_or(&0.0);
        let machine = used_by_all(self.root).unwrap_or_else(by_modes);
        let mut units = BTreeMap::new();
        for (name, groups) in part.map(|one| &one.units).into_iter().flatten() {
            let each: io::Result<Vec<f64>> = groups.iter().map(|group| used(group)).collect();
            units.insert(name.clone(), each?.iter().sum());
        }
        let own = on_cpu(&self.root.join("proc/self")).unwrap_or(0.0);
        for (thread, used) in &mut self.kernel {
            *used = on_cpu(thread).unwrap_or(*used);
        }
        let kernel = self.kernel.iter().map(|(_, used)| used).sum();
        Ok(Reading {
            machine,
            own,
            kernel,
            modes,
            units,
            packets: part.and_then(|one| packets(&one.networks)),
        })
    }
}

impl Reading {
    fn since(&self, earlier: &Reading) -> Reading {
        let less = |now: f64, before: Option<&f64>| now - before.unwrap_or(&0.0);
        Reading {
            machine: self.machine - earlier.machine,
            own: self.own - earlier.own,
            kernel: self.kernel - earlier.kernel,
            modes: self
                .modes
                .iter()
                .map(|(k, v)| (*k, less(*v, earlier.modes.get(k))))
                .collect(),
            units: self
                .units
                .iter()
                .map(|(k, v)| (k.clone(), less(*v, earlier.units.get(k))))
                .collect(),
            packets: self
                .packets
                .zip(earlier.packets)
                .map(|(now, before)| now - before),
        }
    }
}

/// Packets of the programs of these network namespaces; none without a namespace, or if one does
/// not report them.
fn packets(networks: &[PathBuf]) -> Option<f64> {
    let counts = networks.iter().map(|network| {
        let text = |name: &str| fs::read_to_string(network.join(name)).ok();
        let (loopback, _) = parse::net(&text("dev")?);
        parse::own_packets(&text("snmp")?, loopback.tx_packets).map(|count| count as f64)
    });
    (!networks.is_empty()).then(|| counts.sum()).flatten()
}

fn tell(event: &Event, out: &mut dyn Write) -> io::Result<()> {
    let mut line = serde_json::to_vec(event)?;
    line.push(b'\n');
    out.write_all(&line)?;
    out.flush()
}

/// CPU seconds of a control group of either version.
fn used(group: &Path) -> io::Result<f64> {
    let bad = |_| io::Error::new(io::ErrorKind::InvalidData, group.display().to_string());
    if let Ok(text) = fs::read_to_string(group.join("cpuacct.usage")) {
        return text.trim().parse::<f64>().map(|ns| ns / 1e9).map_err(bad);
    }
    let file = group.join("cpu.stat");
    let text = fs::read_to_string(&file)
        .map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", file.display())))?;
    seconds(&text, "usage_usec ")
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, file.display().to_string()))
}

/// CPU seconds of the machine by its root control group, where it has one. Version 1 counts
/// nanoseconds. Version 2 counts ticks, and on many kernels its usage_usec holds steal, too
/// (root_cgroup_cputime of kernel/cgroup/rstat.c), so that user and system time are taken.
fn used_by_all(root: &Path) -> Option<f64> {
    let groups = root.join("sys/fs/cgroup");
    if let Ok(used) = used(&groups.join("cpuacct")) {
        return Some(used);
    }
    let stat = fs::read_to_string(groups.join("cpu.stat")).ok()?;
    Some(seconds(&stat, "user_usec ")? + seconds(&stat, "system_usec ")?)
}

/// What one line of a cpu.stat counts.
fn seconds(stat: &str, name: &str) -> Option<f64> {
    let usec = stat.lines().find_map(|line| line.strip_prefix(name))?;
    Some(usec.trim().parse::<f64>().ok()? / 1e6)
}

/// Where the kernel shows its own threads, proc(5): as children of the thread that starts them, in
/// one file, or else by the flags of every process. Nothing has been read of them yet.
fn kernel_threads(root: &Path) -> Vec<(PathBuf, f64)> {
    let unread = |thread: PathBuf| (thread, 0.0);
    let beginner = root.join("proc/2");
    if fs::read_to_string(beginner.join("comm")).is_ok_and(|name| name.trim() == BEGINNER) {
        if let Ok(children) = fs::read_to_string(beginner.join("task/2/children")) {
            let own = children
                .split_whitespace()
                .map(|pid| root.join("proc").join(pid));
            return std::iter::once(beginner).chain(own).map(unread).collect();
        }
    }
    let Ok(found) = fs::read_dir(root.join("proc")) else {
        return Vec::new();
    };
    let flags = |directory: &Path| -> Option<u64> {
        let stat = fs::read_to_string(directory.join("stat")).ok()?;
        let (_, rest) = stat.rsplit_once(')')?;
        rest.split_whitespace().nth(6)?.parse().ok()
    };
    found
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| name.as_encoded_bytes()[0].is_ascii_digit())
        })
        .filter(|path| flags(path).is_some_and(|flags| flags & KERNEL_THREAD != 0))
        .map(unread)
        .collect()
}

/// CPU seconds of a program of one thread, which the kernel counts in nanoseconds; none once it has
/// ended.
fn on_cpu(process: &Path) -> Option<f64> {
    let text = fs::read_to_string(process.join("schedstat")).ok()?;
    let ns: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(ns / 1e9)
}

/// Stops or continues the part's groups, and returns when the kernel has done so.
fn freeze(part: &Part, frozen: bool) -> io::Result<()> {
    if !frozen {
        return thaw(&part.freeze);
    }
    let mut all = part.freeze.iter().map(|group| Switch::new(group, true));
    all.try_for_each(|one| one.turn()?.wait())
}

/// Continues the groups, and returns when the kernel has done so. A group that fails, or that the
/// kernel is slow to continue, keeps no other frozen.
fn thaw<'a>(groups: impl IntoIterator<Item = &'a PathBuf>) -> io::Result<()> {
    let turned: Vec<io::Result<Switch<'_>>> = groups
        .into_iter()
        .map(|group| Switch::new(group, false).turn())
        .collect();
    let waited = turned.into_iter().map(|one| one?.wait());
    waited.fold(Ok(()), Result::and)
}

/// Stops or continues one group.
struct Switch<'a> {
    group: &'a Path,
    file: PathBuf,
    value: &'static str,
    /// The file in which the kernel confirms this, and its content then.
    state: PathBuf,
    sign: String,
}

impl<'a> Switch<'a> {
    fn new(group: &'a Path, frozen: bool) -> Switch<'a> {
        let (file, value, state, sign) = if group.join("cgroup.freeze").exists() {
            let value = if frozen { "1" } else { "0" };
            let sign = format!("frozen {value}");
            (
                group.join("cgroup.freeze"),
                value,
                group.join("cgroup.events"),
                sign,
            )
        } else {
            let value = if frozen { "FROZEN" } else { "THAWED" };
            let file = group.join("freezer.state");
            (file.clone(), value, file, value.to_owned())
        };
        Switch {
            group,
            file,
            value,
            state,
            sign,
        }
    }

    fn turn(self) -> io::Result<Switch<'a>> {
        fs::write(&self.file, self.value).map_err(|e| self.named(&e))?;
        Ok(self)
    }

    fn wait(&self) -> io::Result<()> {
        let (begun, mut again) = (Instant::now(), AGAIN);
        let state = || fs::read_to_string(&self.state).map_err(|e| self.named(&e));
        while !state()?.contains(&self.sign) {
            let waited = begun.elapsed();
            if waited > FREEZE {
                let (group, value) = (self.group.display(), self.value);
                let why = format!("{group} did not become {value} within 5 s");
                return Err(io::Error::new(io::ErrorKind::TimedOut, why));
            }
            if self.value == "FROZEN" && waited > again {
                again *= 2;
                for value in ["THAWED", "FROZEN"] {
                    fs::write(&self.file, value).map_err(|e| self.named(&e))?;
                }
            }
            std::thread::sleep(POLL);
        }
        Ok(())
    }

    fn named(&self, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{}: {error}", self.file.display()))
    }
}

#[cfg(test)]
mod tests;
