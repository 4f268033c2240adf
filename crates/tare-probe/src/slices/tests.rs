//! Real files in a directory stand for the kernel's; a group is frozen where its file says so.

use super::*;

use serde_json::Value;
use tempfile::TempDir;

/// A machine with two groups, each of which has used as much CPU time as its file says.
fn machine() -> TempDir {
    let made = tempfile::tempdir().unwrap();
    let root = made.path();
    fs::create_dir_all(root.join("proc/self")).unwrap();
    fs::write(root.join("proc/stat"), "cpu  100 0 50 800 5 1 4 3 0 0\n").unwrap();
    fs::write(root.join("proc/self/schedstat"), "5000000 0 1\n").unwrap();
    for group in ["a", "b"] {
        fs::create_dir_all(root.join(group)).unwrap();
        fs::write(root.join(group).join("cpuacct.usage"), "1500000000\n").unwrap();
        fs::write(root.join(group).join("freezer.state"), "THAWED\n").unwrap();
    }
    made
}

fn state(root: &Path, group: &str) -> String {
    fs::read_to_string(root.join(group).join("freezer.state")).unwrap()
}

fn part(root: &Path, group: &str) -> Part {
    Part {
        freeze: vec![root.join(group)],
        units: BTreeMap::from([(group.to_owned(), vec![root.join(group)])]),
        networks: vec![],
    }
}

/// A network namespace whose programs have sent and received so many packets, beside loopback's.
fn network(root: &Path, name: &str, sent: u64, received: u64) -> PathBuf {
    let directory = root.join(name);
    fs::create_dir_all(&directory).unwrap();
    let dev = "Inter-| Receive\n face |bytes\n    lo: 99 7 0 0 0 0 0 0 99 7 0 0 0 0 0 0\n";
    fs::write(directory.join("dev"), dev).unwrap();
    let (out, delivered) = (sent + 7, received + 7);
    let snmp = format!("Ip: InDelivers OutRequests OutTransmits\nIp: {delivered} {out} 1\n");
    fs::write(directory.join("snmp"), snmp).unwrap();
    directory
}

fn slicing(root: &Path, slots: &[Option<usize>]) -> Slicing {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs_f64();
    Slicing {
        freeze_at: now,
        lead_s: 0.001,
        read_lead_s: 0.0,
        read_s: 0.01,
        window_s: 0.01,
        ticks: 100.0,
        slots: slots
            .iter()
            .enumerate()
            .map(|(number, part)| Slot {
                at: now + 0.02 + 0.02 * number as f64,
                part: *part,
                last: true,
            })
            .collect(),
        parts: vec![part(root, "a"), part(root, "b")],
    }
}

fn drive(slicing: &Slicing, root: &Path) -> Vec<Value> {
    let mut out = Vec::new();
    let mut ticker = Ticker::new(Duration::from_secs(1), false).unwrap();
    Driver::new(slicing, root)
        .drive(&mut ticker, &mut out)
        .unwrap();
    String::from_utf8(out)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The states of both groups, each once, from when both are first frozen until the slices end.
fn states_during(order: &Slicing, root: &Path) -> Vec<(String, String)> {
    std::thread::scope(|scope| {
        let driver = scope.spawn(move || drive(order, root));
        let mut seen = Vec::new();
        while !driver.is_finished() {
            let (a, b) = (state(root, "a"), state(root, "b"));
            // Both held at one time: `a` was the same before and after `b`. A file is empty for a
            // moment while it is written.
            if state(root, "a") == a && !a.is_empty() && !b.is_empty() {
                seen.push((a, b));
            }
        }
        driver.join().unwrap();
        seen.dedup();
        seen.into_iter()
            .skip_while(|(a, b)| thawed(a) || thawed(b))
            .collect()
    })
}

fn thawed(state: &str) -> bool {
    state.starts_with("THAWED")
}

#[test]
fn every_slice_is_told_with_what_its_own_units_used() {
    let made = machine();
    let told = drive(
        &slicing(made.path(), &[Some(0), None, Some(1)]),
        made.path(),
    );
    let slots: Vec<_> = told
        .iter()
        .map(|one| one["slot"].as_u64().unwrap())
        .collect();
    assert_eq!(slots, [0, 1, 2]);
    assert!(told[0]["units"].get("a").is_some() && told[0]["units"].get("b").is_none());
    assert_eq!(told[1]["units"], serde_json::json!({}));
    // On a busy machine a slice may begin late: by less than LATE, or it is reported as late.
    let least = 0.01 - LATE.as_secs_f64();
    assert!(told
        .iter()
        .all(|one| one["late"] == true || one["seconds"].as_f64().unwrap() >= least));
}

#[test]
fn everything_is_thawed_at_the_end() {
    let made = machine();
    drive(&slicing(made.path(), &[Some(0)]), made.path());
    assert_eq!(
        (state(made.path(), "a"), state(made.path(), "b")),
        ("THAWED".into(), "THAWED".into())
    );
}

#[test]
fn everything_is_thawed_when_the_probe_is_ended_amid_slices() {
    let made = machine();
    let order = slicing(made.path(), &[Some(0), Some(1)]);
    let driver = Driver::new(&order, made.path());
    freeze(&order.parts[0], true).unwrap();
    assert_eq!(state(made.path(), "a"), "FROZEN");
    drop(driver);
    assert_eq!(state(made.path(), "a"), "THAWED");
}

#[test]
fn a_freezer_that_is_stuck_is_thawed_and_asked_again() {
    let made = tempfile::tempdir().unwrap();
    let (asked, kernel) = (
        made.path().join("freezer.state"),
        made.path().join("kernel"),
    );
    let made_fifo = std::process::Command::new("mkfifo").arg(&asked).status();
    assert!(made_fifo.unwrap().success());
    fs::write(&kernel, "FREEZING\n").unwrap();
    let state = kernel.clone();
    let mut fifo = fs::File::options()
        .read(true)
        .write(true)
        .open(&asked)
        .unwrap();
    let freezer = std::thread::spawn(move || {
        let (mut seen, mut piece) = (String::new(), [0; 64]);
        while !seen.contains("THAWEDFROZEN") {
            let read = io::Read::read(&mut fifo, &mut piece).unwrap();
            seen += std::str::from_utf8(&piece[..read]).unwrap();
        }
        fs::write(&state, "FROZEN\n").unwrap();
        (seen, fifo)
    });
    let switch = Switch {
        group: made.path(),
        file: asked,
        value: "FROZEN",
        state: kernel,
        sign: "FROZEN".to_owned(),
    };
    switch.turn().unwrap().wait().unwrap();
    let (seen, _open) = freezer.join().unwrap();
    assert!(seen.starts_with("FROZENTHAWEDFROZEN"), "{seen}");
}

#[test]
fn a_group_that_is_gone_keeps_no_other_frozen() {
    let made = machine();
    let mut order = slicing(made.path(), &[]);
    order.parts[0].freeze.push(made.path().join("b"));
    order.parts.truncate(1);
    let driver = Driver::new(&order, made.path());
    freeze(&order.parts[0], true).unwrap();
    assert_eq!(state(made.path(), "b"), "FROZEN");
    fs::remove_dir_all(made.path().join("a")).unwrap();
    let why = freeze(&order.parts[0], false).unwrap_err().to_string();
    assert!(why.contains("a/freezer.state"), "{why}");
    assert_eq!(state(made.path(), "b"), "THAWED");
    fs::write(made.path().join("b/freezer.state"), "FROZEN").unwrap();
    drop(driver);
    assert_eq!(state(made.path(), "b"), "THAWED");
}

#[test]
fn a_unit_that_is_gone_is_told_and_the_others_go_on() {
    let made = machine();
    let order = slicing(made.path(), &[Some(0), Some(1), Some(0)]);
    fs::remove_file(made.path().join("a/cpuacct.usage")).unwrap();
    let told = drive(&order, made.path());
    let events: Vec<_> = told
        .iter()
        .map(|one| one["event"].as_str().unwrap())
        .collect();
    assert_eq!(events, ["fault", "slice"]);
    assert_eq!(told[0]["part"], 0);
    assert!(told[0]["why"].as_str().unwrap().contains("a/cpu.stat"));
}

#[test]
fn what_was_used_is_the_difference_of_two_readings_of_either_version() {
    let made = machine();
    let order = slicing(made.path(), &[]);
    let mut driver = Driver::new(&order, made.path());
    let before = driver.read(Some(&order.parts[0])).unwrap();
    assert!((before.units["a"] - 1.5).abs() < 1e-9);
    assert!((before.own - 0.005).abs() < 1e-12);
    assert!(
        (before.machine - 1.55).abs() < 1e-9,
        "without a root group, by the modes"
    );
    fs::write(made.path().join("a/cpuacct.usage"), "1750000000\n").unwrap();
    fs::create_dir_all(made.path().join("sys/fs/cgroup")).unwrap();
    fs::write(
        made.path().join("sys/fs/cgroup/cpu.stat"),
        "usage_usec 9000000\nuser_usec 4000000\nsystem_usec 2000000\n",
    )
    .unwrap();
    let after = driver.read(Some(&order.parts[0])).unwrap();
    assert!((after.since(&before).units["a"] - 0.25).abs() < 1e-9);
    assert!(
        (after.machine - 6.0).abs() < 1e-9,
        "without the steal that the root group of version 2 counts"
    );
}

#[test]
fn packets_of_a_part_s_networks_are_told_and_nothing_of_one_that_does_not_tell() {
    let made = machine();
    let mut order = slicing(made.path(), &[]);
    let net = network(made.path(), "net", 100, 90);
    order.parts[0].networks.push(net.clone());
    let mut driver = Driver::new(&order, made.path());
    let before = driver.read(Some(&order.parts[0])).unwrap();
    assert_eq!(before.packets, Some(190.0));
    network(made.path(), "net", 130, 121);
    let after = driver.read(Some(&order.parts[0])).unwrap();
    assert_eq!(after.since(&before).packets, Some(61.0));
    assert_eq!(driver.read(Some(&order.parts[1])).unwrap().packets, None);
    fs::remove_file(net.join("snmp")).unwrap();
    let told = serde_json::to_value(driver.read(Some(&order.parts[0])).unwrap()).unwrap();
    assert!(told.get("packets").is_none());
}

#[test]
fn a_kernel_thread_that_ends_within_a_slice_takes_nothing_back() {
    let made = machine();
    let proc = made.path().join("proc");
    fs::create_dir_all(proc.join("2/task/2")).unwrap();
    fs::write(proc.join("2/comm"), "kthreadd\n").unwrap();
    fs::write(proc.join("2/task/2/children"), "7 ").unwrap();
    fs::create_dir_all(proc.join("7")).unwrap();
    fs::write(proc.join("7/schedstat"), "12000000000 0 1\n").unwrap();
    let order = slicing(made.path(), &[]);
    let mut driver = Driver::new(&order, made.path());
    let before = driver.read(None).unwrap();
    assert!((before.kernel - 12.0).abs() < 1e-9);
    fs::remove_dir_all(proc.join("7")).unwrap();
    let after = driver.read(None).unwrap();
    assert!(after.since(&before).kernel.abs() < 1e-9);
}

#[test]
fn a_server_runs_on_within_its_turn() {
    let made = machine();
    let mut order = slicing(made.path(), &[Some(0), Some(0), Some(1)]);
    order.slots[0].last = false;
    // Long enough to be seen. Nothing is frozen between the first two: no lead.
    (order.window_s, order.lead_s) = (0.1, 0.002);
    order.slots[1].at = order.slots[0].at + order.window_s;
    order.slots[2].at = order.slots[1].at + 1.5 * order.window_s;
    assert_eq!(order.fault(), "");
    let during = states_during(&order, made.path());
    let until_b_s_turn = during.iter().take_while(|(_, b)| !thawed(b));
    assert_eq!(until_b_s_turn.filter(|(a, _)| thawed(a)).count(), 1);
}

#[test]
fn a_server_stands_still_after_its_turn_when_the_last_part_of_it_has_failed() {
    let made = machine();
    let mut order = slicing(
        made.path(),
        &[Some(0), Some(1), Some(2), Some(0), Some(1), Some(2)],
    );
    let gone = BTreeMap::from([("gone".to_owned(), vec![made.path().join("gone")])]);
    order.parts[1] = Part {
        units: gone,
        ..part(made.path(), "a")
    };
    order.parts.push(part(made.path(), "b"));
    (order.window_s, order.lead_s) = (0.1, 0.002);
    let first = order.slots[0].at;
    for (number, slot) in order.slots.iter_mut().enumerate() {
        slot.at = first + 0.13 * number as f64;
        slot.last = number % 3 != 0;
    }
    assert_eq!(order.fault(), "");
    let during = states_during(&order, made.path());
    let b_alone = during.iter().filter(|(a, b)| !thawed(a) && thawed(b));
    assert_eq!(b_alone.count(), 2, "{during:?}");
}

#[test]
fn within_a_turn_a_slice_is_prepared_shortly_before_its_load() {
    let made = machine();
    let mut order = slicing(made.path(), &[Some(0), Some(0), Some(1)]);
    order.slots[0].last = false;
    (order.window_s, order.lead_s, order.read_lead_s) = (0.1, 0.05, 0.001);
    order.slots[1].at = order.slots[0].at + 0.13;
    order.slots[2].at = order.slots[1].at + 0.16;
    assert_eq!(order.fault(), "");
    let leads = [0, 1, 2].map(|number| order.slots[number].at - order.prepared_at(number));
    for (lead, expected) in leads.into_iter().zip([0.05, 0.001, 0.05]) {
        assert!((lead - expected).abs() < 1e-6, "{leads:?}");
    }
    // The slice before has not ended when it would be read.
    order.read_lead_s = 0.04;
    assert!(order.fault().contains("overlap"));
}

#[test]
fn cpu_time_is_read_when_the_load_ends_and_the_drain_is_waited_for() {
    let made = machine();
    let mut order = slicing(made.path(), &[Some(0)]);
    order.window_s = 0.2;
    let begun = Instant::now();
    let told = drive(&order, made.path());
    assert!(begun.elapsed() >= Duration::from_millis(200));
    let seconds = told[0]["seconds"].as_f64().unwrap();
    assert!(told[0]["late"] == true || seconds < 0.1, "{seconds} s");
}

#[test]
fn a_schedule_that_cannot_be_kept_is_refused() {
    let made = machine();
    let mut order = slicing(made.path(), &[Some(0), Some(7)]);
    assert!(order.fault().contains("part"));
    order.slots[1] = Slot {
        at: order.slots[0].at + 0.001,
        part: Some(1),
        last: true,
    };
    assert!(order.fault().contains("overlap"));
    order.slots.truncate(1);
    order.read_s = 2.0 * order.window_s;
    assert!(order.fault().contains("read_s within window_s"));
}
