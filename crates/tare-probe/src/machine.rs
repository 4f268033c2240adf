//! The machine as a whole: CPU by mode, memory, disks, network, pressure.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::metrics::{growth, Metrics};
use crate::parse::{self, Stat, Traffic};
use crate::source::Source;

/// Devices that stand on others, whose traffic would count twice, or that are memory.
const NOT_DISKS: [&str; 6] = ["loop", "ram", "zram", "dm-", "md", "sr"];

const CPU_MODES: [&str; 8] = [
    "cpu_user",
    "cpu_nice",
    "cpu_system",
    "cpu_idle",
    "cpu_iowait",
    "cpu_irq",
    "cpu_softirq",
    "cpu_steal",
];

/// Pressure file, line within it, and metric.
const PRESSURE: [(&str, &str, &str); 5] = [
    ("cpu", "some", "psi_cpu_some"),
    ("memory", "some", "psi_memory_some"),
    ("memory", "full", "psi_memory_full"),
    ("io", "some", "psi_io_some"),
    ("io", "full", "psi_io_full"),
];

/// Cumulative counters at one moment.
#[derive(Debug, Clone, Default)]
struct Counters {
    stat: Stat,
    disks: HashMap<String, [u64; 5]>,
    loopback: Traffic,
    others: Traffic,
    pressure: [Option<u64>; PRESSURE.len()],
}

pub struct Machine {
    stat: Source,
    memory: Source,
    load: Source,
    disks: Source,
    net: Source,
    pressure: [Source; 3],
    /// Directory of whole block devices.
    block: PathBuf,
    whole: HashMap<String, bool>,
    ticks: f64,
    before: Counters,
    buffer: Vec<u8>,
}

impl Machine {
    /// `root` is `/` outside of tests; `ticks` is clock ticks per second.
    pub fn new(root: &Path, ticks: f64) -> Machine {
        let proc = root.join("proc");
        let pressure = |name| Source::new(proc.join("pressure").join(name));
        let mut machine = Machine {
            stat: Source::new(proc.join("stat")),
            memory: Source::new(proc.join("meminfo")),
            load: Source::new(proc.join("loadavg")),
            disks: Source::new(proc.join("diskstats")),
            net: Source::new(proc.join("net/dev")),
            pressure: [pressure("cpu"), pressure("memory"), pressure("io")],
            block: root.join("sys/block"),
            whole: HashMap::new(),
            ticks,
            before: Counters::default(),
            buffer: Vec::new(),
        };
        machine.before = machine.counters();
        machine
    }

    /// What happened in the `dt` seconds since the last sample.
    pub fn sample(&mut self, dt: f64) -> Metrics {
        let now = self.counters();
        let mut metrics = Metrics::default();
        self.cpu(&now, dt, &mut metrics);
        self.memory(&mut metrics);
        self.disk_rates(&now, dt, &mut metrics);
        self.net_rates(&now, dt, &mut metrics);
        for (i, (_, _, name)) in PRESSURE.iter().enumerate() {
            let pair = now.pressure[i].zip(self.before.pressure[i]);
            metrics.put_some(name, pair.map(|(n, b)| growth(n, b) / 1e6 / dt));
        }
        self.before = now;
        metrics
    }

    fn counters(&mut self) -> Counters {
        let mut counters = Counters::default();
        if let Some(text) = self.stat.read(&mut self.buffer) {
            counters.stat = parse::stat(text);
        }
        if let Some(text) = self.disks.read(&mut self.buffer) {
            for disk in parse::disks(text) {
                if !self.whole.contains_key(disk.name) {
                    let known = is_disk(&self.block, disk.name);
                    self.whole.insert(disk.name.to_owned(), known);
                }
                if self.whole[disk.name] {
                    let values = [
                        disk.reads,
                        disk.read_bytes,
                        disk.writes,
                        disk.write_bytes,
                        disk.busy_ms,
                    ];
                    counters.disks.insert(disk.name.to_owned(), values);
                }
            }
        }
        if let Some(text) = self.net.read(&mut self.buffer) {
            (counters.loopback, counters.others) = parse::net(text);
        }
        for (i, (file, line, _)) in PRESSURE.iter().enumerate() {
            let source = match *file {
                "cpu" => &mut self.pressure[0],
                "memory" => &mut self.pressure[1],
                _ => &mut self.pressure[2],
            };
            let text = source.read(&mut self.buffer);
            counters.pressure[i] = text.and_then(|text| parse::pressure(text, line));
        }
        counters
    }

    fn cpu(&self, now: &Counters, dt: f64, metrics: &mut Metrics) {
        let (stat, before) = (&now.stat, &self.before.stat);
        for (i, name) in CPU_MODES.iter().enumerate() {
            let grown = growth(stat.cpu[i], before.cpu[i]);
            metrics.put(name, grown / self.ticks / dt);
        }
        let switches = growth(stat.context_switches, before.context_switches);
        metrics.put("ctxt_per_s", switches / dt);
        let interrupts = growth(stat.interrupts, before.interrupts);
        metrics.put("intr_per_s", interrupts / dt);
        metrics.put("procs_running", stat.running as f64);
        metrics.put("procs_blocked", stat.blocked as f64);
    }

    fn memory(&mut self, metrics: &mut Metrics) {
        if let Some(text) = self.load.read(&mut self.buffer) {
            let load = text.split(' ').next().and_then(|word| word.parse().ok());
            metrics.put_some("load1", load);
        }
        let Some(text) = self.memory.read(&mut self.buffer) else {
            return;
        };
        let (mut swap_total, mut swap_free) = (0, 0);
        for (name, kib) in parse::pairs(text) {
            let bytes = (kib * 1024) as f64;
            match name {
                "MemTotal" => metrics.put("mem_total_bytes", bytes),
                "MemAvailable" => metrics.put("mem_available_bytes", bytes),
                "Cached" => metrics.put("mem_cached_bytes", bytes),
                "Dirty" => metrics.put("mem_dirty_bytes", bytes),
                "SwapTotal" => swap_total = kib,
                "SwapFree" => swap_free = kib,
                _ => {}
            }
        }
        metrics.put("swap_used_bytes", growth(swap_total, swap_free) * 1024.0);
    }

    /// Sums over whole disks; `disk_busy` is the busiest one's share of the time.
    fn disk_rates(&self, now: &Counters, dt: f64, metrics: &mut Metrics) {
        let mut sums = [0.0; 4];
        let mut busy = 0.0f64;
        for (name, disk) in &now.disks {
            // A disk that was plugged in since has no rates yet.
            let Some(before) = self.before.disks.get(name) else {
                continue;
            };
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum += growth(disk[i], before[i]);
            }
            busy = busy.max(growth(disk[4], before[4]) / 1000.0);
        }
        metrics.put("disk_read_bytes_per_s", sums[1] / dt);
        metrics.put("disk_write_bytes_per_s", sums[3] / dt);
        metrics.put("disk_reads_per_s", sums[0] / dt);
        metrics.put("disk_writes_per_s", sums[2] / dt);
        metrics.put("disk_busy", (busy / dt).min(1.0));
    }

    fn net_rates(&self, now: &Counters, dt: f64, metrics: &mut Metrics) {
        let (net, before) = (&now.others, &self.before.others);
        let mut rate = |name, now, before| metrics.put(name, growth(now, before) / dt);
        rate("net_rx_bytes_per_s", net.rx_bytes, before.rx_bytes);
        rate("net_tx_bytes_per_s", net.tx_bytes, before.tx_bytes);
        rate("net_rx_packets_per_s", net.rx_packets, before.rx_packets);
        rate("net_tx_packets_per_s", net.tx_packets, before.tx_packets);
        rate("net_drops_per_s", net.drops, before.drops);
        let (lo, before) = (&now.loopback, &self.before.loopback);
        rate("lo_rx_bytes_per_s", lo.rx_bytes, before.rx_bytes);
        rate("lo_tx_bytes_per_s", lo.tx_bytes, before.tx_bytes);
    }
}

/// Partitions have no directory of their own directly below `/sys/block`.
fn is_disk(block: &Path, name: &str) -> bool {
    !NOT_DISKS.iter().any(|prefix| name.starts_with(prefix)) && block.join(name).exists()
}
