//! Each piece does what it says, by what the kernel counts or what is known of it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use tempfile::TempDir;

use crate::measure::{measure, Done, Measured, Piece};
use crate::pieces::Name;
use crate::{pages, pin, storage, turns};

/// Held by the test that measures: the CPU time read is that of all threads of this process.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

const SHORT: Duration = Duration::from_millis(20);

/// A directory whose files last; the storage pieces refuse one in memory.
fn data() -> TempDir {
    TempDir::new_in(env!("CARGO_MANIFEST_DIR")).expect("the checkout can be written")
}

fn measured(name: Name) -> Measured {
    let data = data();
    let mut piece = name
        .make(Some(data.path()), Some("localhost"))
        .expect("it is prepared");
    taken(name, piece.as_mut())
}

fn taken(name: Name, piece: &mut dyn Piece) -> Measured {
    measure(piece, SHORT).unwrap_or_else(|why| panic!("{name:?}: {why}"))
}

#[test]
fn every_piece_is_measured_with_plausible_times() {
    let _alone = alone();
    pin(None).expect("a CPU");
    for &name in Name::value_variants() {
        let data = data();
        let mut piece = match name.make(Some(data.path()), Some("localhost")) {
            Err(why) if name == Name::Fault2m => {
                assert!(why.to_string().contains("MADV_HUGEPAGE"), "{why}");
                continue; // a kernel without huge pages
            }
            Err(why) if name == Name::Create => {
                assert!(why.to_string().contains("without a journal"), "{why}");
                continue;
            }
            made => made.expect("it is prepared"),
        };
        let found = taken(name, piece.as_mut());
        let (low, high) = match name {
            Name::Dependent | Name::Independent => (0.05, 20.0),
            Name::MemoryLatency => (1.0, 2e3),
            Name::Clock => (5.0, 5e3),
            Name::Append | Name::Flush | Name::MemoryRead | Name::Create => (1e3, 1e9),
            Name::ReadCold | Name::ScanCold | Name::ScanWarm => (1e3, 1e9),
            Name::Fault2m | Name::Thread | Name::Timer => (1e3, 1e7),
            Name::Resolve => (1e3, 1e7),
            _ => (20.0, 1e5),
        };
        assert!(found.n > 0, "{name:?}: {found:?}");
        assert!(
            found.wall_ns > low && found.wall_ns < high,
            "{name:?}: {found:?}"
        );
        assert!(found.cpu_ns > 0.0, "{name:?}: {found:?}");
        if name != Name::Timer {
            // one CPU: its time cannot be more than what passed, but for the clocks' own reading
            assert!(
                found.cpu_median_ns < found.wall_median_ns * 1.2,
                "{name:?}: {found:?}"
            );
        }
    }
}

#[test]
fn a_name_is_the_same_on_the_command_line_and_in_the_turns() {
    for &name in Name::value_variants() {
        let shown = name.to_possible_value().expect("none is hidden");
        let told = serde_json::to_value(name).expect("a text");
        assert_eq!(shown.get_name(), told);
        assert_eq!(serde_json::from_value::<Name>(told).expect("known"), name);
    }
}

/// Takes a known time, some of which it sleeps.
struct Known {
    busy: Duration,
    idle: Duration,
    prepared: usize,
}

impl Piece for Known {
    fn prepare(&mut self) -> std::io::Result<()> {
        self.prepared += 1;
        std::thread::sleep(Duration::from_millis(1)); // not timed
        Ok(())
    }

    fn batch(&mut self) -> std::io::Result<Done> {
        let begun = Instant::now();
        while begun.elapsed() < self.busy {}
        std::thread::sleep(self.idle);
        Ok(Done::times(10))
    }
}

#[test]
fn a_known_time_is_found_and_preparing_is_not_part_of_it() {
    let _alone = alone();
    let mut known = Known {
        busy: Duration::from_micros(500),
        idle: Duration::from_micros(500),
        prepared: 0,
    };
    let found = measure(&mut known, Duration::from_millis(100)).expect("it is done");
    assert!((4e4..8e4).contains(&found.cpu_median_ns), "{found:?}");
    assert!((9e4..2e5).contains(&found.wall_median_ns), "{found:?}");
    assert!(
        known.prepared as u64 > found.n / 10,
        "what warms up is not counted"
    );
}

#[test]
fn a_turn_lasts_as_long_as_it_is_told() {
    let _alone = alone();
    pin(None).expect("a CPU");
    for name in [Name::FutexWake, Name::Thread, Name::ReadCold, Name::Timer] {
        let data = data();
        let mut piece = name
            .make(Some(data.path()), Some("localhost"))
            .expect("made");
        let begun = Instant::now();
        measure(piece.as_mut(), SHORT).expect("measured");
        let took = begun.elapsed();
        assert!(took >= SHORT && took < SHORT * 10, "{name:?}: {took:?}");
    }
}

#[test]
fn each_small_page_is_one_fault() {
    let _alone = alone();
    let before = pages::faults().expect("proc");
    let mut piece = Name::Fault4k.make(None, None).expect("made");
    piece.prepare().expect("mapped");
    let done = piece.batch().expect("touched");
    let faults = pages::faults().expect("proc") - before;
    assert!(faults >= done.n, "{faults} faults of {} pages", done.n);
}

#[test]
fn independent_steps_are_faster_than_dependent_ones() {
    let _alone = alone();
    let (chain, side) = (measured(Name::Dependent), measured(Name::Independent));
    assert!(
        side.wall_median_ns < chain.wall_median_ns * 0.7,
        "{chain:?} {side:?}"
    );
}

#[test]
fn a_table_that_was_cut_off_is_written_anew() {
    let data = data();
    std::fs::write(data.path().join("read"), [1; 4096]).expect("written");
    let mut scan = Name::ScanWarm
        .make(Some(data.path()), None)
        .expect("it is prepared");
    assert!(scan.batch().is_ok());
}

#[track_caller]
fn takes_twice(long: Name, short: Name) {
    let (long, short) = (measured(long), measured(short));
    assert!(
        long.wall_median_ns > 2.0 * short.wall_median_ns,
        "{long:?} {short:?}"
    );
}

#[test]
fn what_comes_from_the_disk_takes_longer_than_what_the_page_cache_holds() {
    let _alone = alone();
    takes_twice(Name::ReadCold, Name::ReadWarm);
}

#[test]
fn a_hand_over_costs_more_than_a_call_to_wake_nobody() {
    let _alone = alone();
    pin(None).expect("a CPU");
    takes_twice(Name::Switch, Name::FutexWake);
}

#[test]
fn nothing_stays_of_the_files_that_were_written_in_a_turn() {
    let _alone = alone();
    let data = data();
    let create = storage::Create::new(data.path()).expect("made");
    let mut pieces: Vec<Box<dyn Piece>> = vec![Box::new(create)];
    for name in [Name::Append, Name::Flush] {
        pieces.push(name.make(Some(data.path()), None).expect("made"));
    }
    for mut piece in pieces {
        measure(piece.as_mut(), SHORT).expect("measured");
    }
    let left: u64 = walk(data.path());
    assert_eq!(left, 0, "bytes");
    assert_eq!(
        std::fs::read_dir(data.path().join("created"))
            .expect("there")
            .count(),
        0
    );
}

fn walk(directory: &std::path::Path) -> u64 {
    std::fs::read_dir(directory)
        .expect("readable")
        .map(|entry| entry.expect("readable").metadata().expect("readable"))
        .filter(std::fs::Metadata::is_file)
        .map(|file| file.len())
        .sum()
}

#[test]
fn storage_in_memory_or_nowhere_is_refused() {
    let memory = std::path::Path::new("/dev/shm");
    if storage::volume(memory).is_ok_and(|one| one.kind == "tmpfs") {
        let why = Name::Append
            .make(Some(memory), None)
            .err()
            .expect("refused");
        assert!(why.to_string().contains("in memory"), "{why}");
    }
    let why = Name::Append.make(None, None).err().expect("refused");
    assert!(why.to_string().contains("--data"), "{why}");
}

#[test]
fn turns_that_never_come_are_an_error() {
    let file = data().path().join("turns.json");
    let why = turns::awaited(&file, SHORT).err().expect("an error");
    assert!(why.to_string().contains("turns.json"), "{why}");
}

#[test]
fn a_name_that_is_not_known_is_told_and_not_measured() {
    // Too long for a label, so that no server is asked for it.
    let nobody = "n".repeat(64);
    let why = Name::Resolve.make(None, Some(&nobody));
    let why = why.err().expect("refused").to_string();
    assert!(why.starts_with(&nobody), "{why}");
    let why = Name::Resolve.make(None, None).err().expect("refused");
    assert!(why.to_string().contains("--name"), "{why}");
}

/// The journal of an ext4 can be on another device, where nothing bears this one's name.
#[test]
fn a_journal_counts_wherever_it_is() {
    let sys = data();
    let own = sys.path().join("fs/ext4/vda");
    std::fs::create_dir_all(&own).expect("a directory");
    std::fs::create_dir_all(sys.path().join("dev/block")).expect("a directory");
    std::os::unix::fs::symlink(
        "../../devices/block/vda",
        sys.path().join("dev/block/254:0"),
    )
    .expect("a link");
    let told = |thread: &str| {
        std::fs::write(own.join("journal_task"), thread).expect("a file");
        storage::has_journal(sys.path(), "254:0")
    };
    assert_eq!(told("417\n"), Some(true));
    assert_eq!(told("<none>\n"), Some(false));
    assert_eq!(storage::has_journal(sys.path(), "7:1"), None);
}
