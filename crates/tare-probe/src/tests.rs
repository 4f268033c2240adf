//! Samples of a machine made of plain files: what changes between two looks must come out.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::config::Config;
use crate::machine::Machine;
use crate::metrics::Metrics;
use crate::processes::Processes;
use crate::unit::{Unit, UnitSample};

const TICKS: f64 = 100.0;
const PAGE: u64 = 4096;

/// A directory that stands for `/`.
struct Root(TempDir);

impl Root {
    fn new() -> Root {
        Root(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A process with one thread: CPU ticks, bytes written, voluntary context switches.
    fn process(&self, pid: u32, parent: u32, comm: &str, ticks: u64, written: u64, switches: u64) {
        let stat =
            format!("{pid} ({comm}) S {parent} 1 1 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0 3 0 5 0 10 0");
        let status = format!(
            "Name: x\nvoluntary_ctxt_switches: {switches}\nnonvoluntary_ctxt_switches: 1\n"
        );
        self.write(&format!("proc/{pid}/stat"), &stat);
        let io = format!("read_bytes: 0\nwrite_bytes: {written}\n");
        self.write(&format!("proc/{pid}/io"), &io);
        self.write(&format!("proc/{pid}/task/{pid}/status"), &status);
    }

    fn unit(&self, json: &str) -> Watched<'_> {
        let json = json.replace("ROOT", self.path().to_str().unwrap());
        let config = format!(r#"{{"interval_s": 1, "units": [{json}]}}"#);
        let config = Config::read(config.as_bytes()).unwrap();
        Watched {
            unit: Unit::new(&config.units[0], self.path(), TICKS, PAGE, 0),
            processes: Processes::new(self.path()),
            root: self,
        }
    }
}

struct Watched<'r> {
    unit: Unit,
    processes: Processes,
    root: &'r Root,
}

impl Watched<'_> {
    fn look(&mut self, dt: f64) -> UnitSample {
        assert!(self.root.path().exists());
        self.processes.refresh();
        self.unit.sample(dt, &self.processes, &mut Vec::new())
    }

    fn metrics(&mut self, dt: f64) -> Metrics {
        match self.look(dt) {
            UnitSample::Here(metrics) => metrics,
            UnitSample::Gone { .. } => panic!("the unit has gone"),
        }
    }

    fn has_gone(&mut self) -> bool {
        matches!(self.look(1.0), UnitSample::Gone { gone: true })
    }
}

fn assert_metrics(metrics: &Metrics, expected: &[(&str, f64)]) {
    for (name, value) in expected {
        let found = metrics.get(name).unwrap_or(f64::NAN);
        assert!((found - value).abs() < 1e-9, "{name}: {found}, not {value}");
    }
}

#[test]
fn a_version_1_group_tells_cpu_memory_and_throttling() {
    let root = Root::new();
    let group = |usage: u64, user: u64, throttled: u64| {
        root.write("cpuacct/n1/cpuacct.usage", &format!("{usage}\n"));
        root.write(
            "cpuacct/n1/cpuacct.stat",
            &format!("user {user}\nsystem 50\n"),
        );
        let stat = format!("nr_periods 9\nnr_throttled 4\nthrottled_time {throttled}\n");
        root.write("cpu/n1/cpu.stat", &stat);
        root.write("memory/n1/memory.usage_in_bytes", "1000000\n");
        root.write(
            "memory/n1/memory.stat",
            "cache 5\nrss 6\ntotal_rss 700000\n",
        );
        root.write("cpuacct/n1/cgroup.procs", "");
    };
    group(1_000_000_000, 100, 0);
    let mut watched = root.unit(
        r#"{"name": "n1", "cgroups": {"cpuacct": "ROOT/cpuacct/n1", "memory": "ROOT/memory/n1",
            "cpu": "ROOT/cpu/n1", "blkio": "ROOT/blkio/n1"}}"#,
    );
    watched.look(1.0);
    group(4_000_000_000, 300, 250_000_000);
    let expected = [
        ("cpu", 1.5),
        ("cpu_user", 1.0),
        ("cpu_system", 0.0),
        ("cpu_total_s", 4.0),
        ("throttled_periods", 0.0),
        ("throttled_s", 0.25),
        ("memory_bytes", 1_000_000.0),
        ("memory_rss_bytes", 700_000.0),
    ];
    assert_metrics(&watched.metrics(2.0), &expected);
}

#[test]
fn a_version_2_group_tells_the_same_and_its_pressure() {
    let root = Root::new();
    let group = |usage: u64, throttled: u64, stalled: u64| {
        let stat = format!(
            "usage_usec {usage}\nuser_usec 5\nsystem_usec 6\nnr_periods 1\n\
             nr_throttled {throttled}\nthrottled_usec 250000\n"
        );
        root.write("unified/n1/cpu.stat", &stat);
        root.write("unified/n1/memory.current", "2000000\n");
        root.write("unified/n1/memory.stat", "anon 900000\nfile 5\n");
        let pressure = format!("some avg10=0.00 total={stalled}\nfull avg10=0.00 total=0\n");
        root.write("unified/n1/cpu.pressure", &pressure);
        root.write("unified/n1/cgroup.procs", "11\n");
    };
    group(1_000_000, 2, 0);
    root.process(11, 1, "java", 0, 0, 0);
    root.process(12, 1, "java", 0, 0, 0);
    root.write("unified/n1/below/cgroup.procs", "12\n");
    let mut watched = root.unit(r#"{"name": "n1", "cgroups": {"unified": "ROOT/unified/n1"}}"#);
    watched.look(1.0);
    group(3_000_000, 5, 500_000);
    root.process(11, 1, "java", 0, 8192, 0);
    let metrics = watched.metrics(1.0);
    let expected = [
        ("cpu", 2.0),
        ("throttled_periods", 3.0),
        ("memory_bytes", 2_000_000.0),
        ("memory_rss_bytes", 900_000.0),
        ("psi_cpu_some", 0.5),
        ("write_bytes_per_s", 8192.0),
        ("procs", 2.0),
        ("threads", 6.0),
    ];
    assert_metrics(&metrics, &expected);
    assert_eq!(metrics.get("psi_io_some"), None);
}

#[test]
fn a_unit_of_process_ids_includes_descendants_and_nothing_else() {
    let root = Root::new();
    root.process(20, 1, "sh", 0, 0, 0);
    root.process(21, 20, "java", 100, 0, 0);
    root.process(22, 21, "nodetool", 0, 0, 0);
    root.process(30, 1, "other", 0, 0, 0);
    let mut watched = root.unit(r#"{"name": "n1", "pids": [20]}"#);
    watched.look(1.0);
    root.process(22, 21, "nodetool", 50, 0, 0);
    root.process(30, 1, "other", 5000, 0, 0);
    let expected = [
        ("cpu", 0.25),
        ("cpu_total_s", 1.5),
        ("procs", 3.0),
        ("memory_bytes", 3.0 * 10.0 * 4096.0),
        ("memory_rss_bytes", 3.0 * 10.0 * 4096.0),
    ];
    assert_metrics(&watched.metrics(2.0), &expected);
}

#[test]
fn cpu_time_of_a_descendant_that_ended_is_not_taken_back() {
    let root = Root::new();
    root.process(20, 1, "sh", 0, 0, 0);
    root.process(21, 20, "java", 100, 0, 0);
    let mut watched = root.unit(r#"{"name": "n1", "pids": [20]}"#);
    watched.look(1.0);
    fs::remove_dir_all(root.path().join("proc/21")).unwrap();
    let expected = [("cpu", 0.0), ("cpu_total_s", 1.0), ("procs", 1.0)];
    assert_metrics(&watched.metrics(1.0), &expected);
}

#[test]
fn processes_by_name_may_come_and_go() {
    let root = Root::new();
    root.process(40, 1, "dockerd", 0, 0, 0);
    let mut watched = root.unit(r#"{"name": "engine", "comm": ["dockerd", "docker-proxy"]}"#);
    watched.look(1.0);
    root.process(41, 40, "docker-proxy", 30, 0, 0);
    root.process(42, 40, "runc", 500, 0, 0);
    assert_metrics(&watched.metrics(1.0), &[("cpu", 0.3), ("procs", 2.0)]);
    fs::remove_dir_all(root.path().join("proc/40")).unwrap();
    fs::remove_dir_all(root.path().join("proc/41")).unwrap();
    assert_metrics(&watched.metrics(1.0), &[("cpu", 0.0), ("procs", 0.0)]);
}

#[test]
fn a_process_that_has_just_executed_gets_its_new_name() {
    let root = Root::new();
    root.process(40, 1, "dockerd", 0, 0, 0);
    root.process(41, 40, "dockerd", 0, 0, 0);
    let mut watched = root.unit(r#"{"name": "engine", "comm": ["dockerd"]}"#);
    assert_metrics(&watched.metrics(1.0), &[("procs", 2.0)]);
    root.process(41, 40, "runc", 0, 0, 0);
    assert_metrics(&watched.metrics(1.0), &[("procs", 1.0)]);
}

#[test]
fn context_switches_are_rates_over_the_samples_between_two_counts() {
    let root = Root::new();
    root.process(20, 1, "java", 0, 0, 1000);
    let mut watched = root.unit(r#"{"name": "n1", "pids": [20]}"#);
    assert_eq!(watched.metrics(1.0).get("ctxt_voluntary_per_s"), None);
    root.process(20, 1, "java", 0, 0, 1500);
    for _ in 0..9 {
        assert_eq!(watched.metrics(1.0).get("ctxt_voluntary_per_s"), None);
    }
    let expected = [
        ("ctxt_voluntary_per_s", 50.0),
        ("ctxt_involuntary_per_s", 0.0),
    ];
    assert_metrics(&watched.metrics(1.0), &expected);
}

#[test]
fn a_unit_that_vanishes_has_gone_and_may_come_back() {
    let root = Root::new();
    let group = |usage: &str| root.write("cpuacct/n1/cpuacct.usage", usage);
    let mut watched = root.unit(r#"{"name": "n1", "cgroups": {"cpuacct": "ROOT/cpuacct/n1"}}"#);
    assert!(watched.has_gone());
    group("5000000000");
    // There are no rates before the second look.
    assert_metrics(&watched.metrics(1.0), &[("cpu", 0.0), ("cpu_total_s", 5.0)]);
    group("6000000000");
    assert_metrics(&watched.metrics(1.0), &[("cpu", 1.0)]);
    group("");
    assert!(watched.has_gone());
}

#[test]
fn process_ids_that_do_not_exist_have_gone() {
    let root = Root::new();
    root.process(20, 1, "java", 0, 0, 0);
    assert!(root.unit(r#"{"name": "n1", "pids": [99]}"#).has_gone());
}

#[test]
fn the_machine_tells_what_changed_and_what_is() {
    let root = Root::new();
    let state =
        |scale: u64| {
            let stat =
                format!(
            "cpu {} 0 0 0 0 0 {} {}\nintr {} 1 2\nctxt {}\nprocs_running 2\nprocs_blocked 0\n",
            100 * scale, 10 * scale, 20 * scale, 500 * scale, 700 * scale
        );
            root.write("proc/stat", &stat);
            let sectors = 16 * scale;
            let disks = format!(
                "254 0 vda {scale} 0 {sectors} 0 {scale} 0 {sectors} 0 0 {} 0\n\
             254 1 vda1 {scale} 0 {sectors} 0 {scale} 0 {sectors} 0 0 0 0\n\
             7 0 loop0 {scale} 0 {sectors} 0 0 0 0 0 0 0 0\n",
                250 * scale
            );
            root.write("proc/diskstats", &disks);
            let net = format!(
                "lo: {scale} 1 0 0 0 0 0 0 {scale} 1 0 0 0 0 0 0\n\
             eth0: {} 1 0 {scale} 0 0 0 0 5 1 0 0 0 0 0 0\n",
                10 * scale
            );
            root.write("proc/net/dev", &net);
            let pressure = format!("some avg10=0.00 total={}\n", 200_000 * scale);
            root.write("proc/pressure/cpu", &pressure);
        };
    root.write(
        "proc/meminfo",
        "MemTotal: 8 kB\nMemAvailable: 4 kB\nSwapTotal: 3 kB\nSwapFree: 1 kB\n",
    );
    root.write("proc/loadavg", "1.25 0.5 0.1 1/100 4242\n");
    root.write("sys/block/vda/dev", "254:0\n");
    root.write("sys/block/loop0/dev", "7:0\n");
    state(1);
    let mut machine = Machine::new(root.path(), TICKS);
    state(2);
    let metrics = machine.sample(1.0);
    let expected = [
        ("cpu_user", 1.0),
        ("cpu_softirq", 0.1),
        ("cpu_steal", 0.2),
        ("ctxt_per_s", 700.0),
        ("intr_per_s", 500.0),
        ("procs_running", 2.0),
        ("load1", 1.25),
        ("mem_total_bytes", 8192.0),
        ("swap_used_bytes", 2048.0),
        ("disk_reads_per_s", 1.0),
        ("disk_write_bytes_per_s", 16.0 * 512.0),
        ("disk_busy", 0.25),
        ("net_rx_bytes_per_s", 10.0),
        ("net_drops_per_s", 1.0),
        ("lo_rx_bytes_per_s", 1.0),
        ("psi_cpu_some", 0.2),
    ];
    assert_metrics(&metrics, &expected);
    // This kernel counts no memory pressure.
    assert_eq!(metrics.get("psi_memory_some"), None);
}
