//! tare-floor: what the cheapest client costs. It sends EXECUTE frames that were encoded before
//! and reads only the headers of the answers; a closed loop in one thread.
//!
//! A load generator can at best come near its CPU time per operation: what the kernel takes to move
//! the bytes, and next to nothing else. It checks nothing but the opcode, and measures no latency.
#![deny(unsafe_code)]

mod lane;
mod wire;

use std::io::{Error, Result};
use std::net::TcpStream;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use rustix::event::epoll;

use lane::Lane;

const TABLE: &str = "tare_floor.rows";

/// How a thread waits for answers.
#[derive(Clone, Copy, ValueEnum)]
enum Wait {
    /// Blocking reads, one connection after the other.
    Read,
    /// epoll_wait, then one read of each connection that is ready.
    Epoll,
}

/// The cheapest CQL client: single-row reads (or writes) in a closed loop, one thread.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// HOST:PORT of the server.
    address: String,
    /// Write all rows of tare_floor.rows first.
    #[arg(long)]
    fill: bool,
    /// Measure writes instead of reads.
    #[arg(long)]
    write: bool,
    /// Rows in the table.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..))]
    rows: u32,
    /// Length of a row's one value, bytes.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    value_bytes: u32,
    /// Connections.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    connections: u16,
    /// Requests in flight, over all connections.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=32768))]
    in_flight: u16,
    /// Length of the measurement, seconds.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    #[arg(long, value_enum, default_value = "read")]
    wait: Wait,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("tare-floor: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let mut control = wire::connect(&arguments.address)?;
    create(&mut control)?;
    let value = vec![b'v'; arguments.value_bytes as usize];
    let insert = format!("INSERT INTO {TABLE} (key, value) VALUES (?, ?)");
    let insert = wire::prepare(&mut control, &insert)?;
    let insert = Frames::new(&insert, arguments.rows, Some(&value));
    if arguments.fill {
        let mut lanes = [Lane::new(wire::connect(&arguments.address)?, 64)];
        drive(
            &mut lanes,
            &insert,
            Wait::Read,
            Until::Answers(arguments.rows as usize + 64),
        )?;
    }
    let select = wire::prepare(
        &mut control,
        &format!("SELECT * FROM {TABLE} WHERE key = ?"),
    )?;
    let frames = if arguments.write {
        insert
    } else {
        Frames::new(&select, arguments.rows, None)
    };

    let mut lanes = Vec::new();
    for position in 0..arguments.connections {
        let more = u16::from(position < arguments.in_flight % arguments.connections);
        let in_flight = arguments.in_flight / arguments.connections + more;
        lanes.push(Lane::new(
            wire::connect(&arguments.address)?,
            usize::from(in_flight),
        ));
    }
    let (began, before) = (Instant::now(), cpu()?);
    let end = began + Duration::from_secs(arguments.seconds);
    let done = drive(&mut lanes, &frames, arguments.wait, Until::Time(end))?;
    let elapsed = began.elapsed();
    report(done, elapsed, cpu()?.saturating_sub(before));
    Ok(())
}

fn create(control: &mut TcpStream) -> Result<()> {
    wire::query(
        control,
        "CREATE KEYSPACE IF NOT EXISTS tare_floor WITH replication = \
         {'class': 'SimpleStrategy', 'replication_factor': 1}",
    )?;
    wire::query(
        control,
        &format!("CREATE TABLE IF NOT EXISTS {TABLE} (key blob PRIMARY KEY, value blob)"),
    )
}

/// Requests of the same length, one behind the other.
struct Frames {
    bytes: Vec<u8>,
    each: usize,
}

impl Frames {
    /// One request per row, to read it or to write this value, in a shuffled order: a walk through them is a walk over random keys
    /// of the server, and over memory in order for the client.
    fn new(id: &[u8], rows: u32, written: Option<&[u8]>) -> Self {
        let mut order: Vec<u32> = (0..rows).collect();
        shuffle(&mut order);
        let (mut bytes, mut each) = (Vec::new(), 0);
        for row in order {
            let key = format!("{row:010}");
            let mut values = vec![key.as_bytes()];
            values.extend(written);
            let frame = wire::execute(id, &values);
            each = frame.len();
            bytes.extend(frame);
        }
        Self { bytes, each }
    }

    /// The requests, over and over.
    fn walk(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.chunks_exact(self.each).cycle()
    }
}

/// Fisher-Yates, over Marsaglia's xorshift64 (Journal of Statistical Software 8 (14), 2003).
fn shuffle(order: &mut [u32]) {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64; // any seed but 0; the walk is the same every time
    for place in (1..order.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        order.swap(place, (state % (place as u64 + 1)) as usize);
    }
}

enum Until {
    Answers(usize),
    Time(Instant),
}

impl Until {
    fn reached(&self, answers: usize) -> bool {
        match self {
            Self::Answers(wanted) => answers >= *wanted,
            Self::Time(end) => Instant::now() >= *end,
        }
    }
}

/// Keeps every lane full until the end; gives the number of answers.
fn drive(lanes: &mut [Lane], frames: &Frames, wait: Wait, until: Until) -> Result<usize> {
    let mut next = frames.walk();
    let mut answers = 0;
    for lane in &mut *lanes {
        lane.fill(&mut next)?;
    }
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    for (position, lane) in lanes.iter().enumerate() {
        let position = epoll::EventData::new_u64(position as u64);
        epoll::add(&poll, lane.stream(), position, epoll::EventFlags::IN)?;
    }
    let mut events = [epoll::Event {
        flags: epoll::EventFlags::empty(),
        data: epoll::EventData::new_u64(0),
    }; 64];
    while !until.reached(answers) {
        match wait {
            Wait::Read => {
                for lane in &mut *lanes {
                    answers += lane.turn(&mut next)?;
                }
            }
            Wait::Epoll => {
                let ready = epoll::wait(&poll, &mut events, None)?;
                for event in &events[..ready] {
                    answers += lanes[event.data.u64() as usize].turn(&mut next)?;
                }
            }
        }
    }
    Ok(answers)
}

/// User and system time of the one thread: proc(5), the first number of schedstat, nanoseconds.
/// (The clock for it makes rustix look for the vDSO, which valgrind hides.)
fn cpu() -> Result<Duration> {
    let text = std::fs::read_to_string("/proc/self/schedstat")?;
    let time = text
        .split_whitespace()
        .next()
        .and_then(|number| number.parse().ok());
    time.map(Duration::from_nanos)
        .ok_or_else(|| Error::other("/proc/self/schedstat holds no time"))
}

fn report(operations: usize, time: Duration, cpu: Duration) {
    let (seconds, count) = (time.as_secs_f64(), operations as f64);
    println!(
        "{{\"operations\": {operations}, \"seconds\": {seconds:.3}, \"per_second\": {:.0}, \"cpu_us_per_operation\": {:.3}}}",
        count / seconds,
        cpu.as_secs_f64() * 1e6 / count,
    );
}
