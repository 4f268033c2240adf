//! Reads or updates documents of YCSB's with MongoDB's official Rust driver, in a closed loop, and
//! prints how many and how long each took.
//!
//! It is the cheapest use of the driver that there is: one thread, answers that are not taken apart
//! (`RawDocumentBuf`), one task for each operation in flight and as many connections.
//!
//! `copy` is for tests of what other clients write: it takes every document apart, drops the
//! collection, writes them anew and prints how many.
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use mongodb::bson::spec::BinarySubtype;
use mongodb::bson::{doc, Binary, Document, RawDocumentBuf};
use mongodb::options::ClientOptions;
use mongodb::{Client, Collection};
use tokio::task::LocalSet;

const USAGE: &str = "mongo-wire-driver URL read|update IN_FLIGHT SECONDS, or URL copy";
const RECORDS: u64 = 1000;
const VALUE_BYTES: usize = 100;
/// Longest latency that is told from longer ones, nanoseconds.
const HOUR: u64 = 3_600_000_000_000;
/// Share of the time that is not counted: connections are made, caches fill.
const WARM_UP: u32 = 4;

type Failure = Box<dyn std::error::Error>;

enum Work {
    Copy,
    Repeat(Repeated),
}

struct Repeated {
    is_update: bool,
    in_flight: u32,
    length: Duration,
}

struct Counted {
    latencies: Histogram<u64>,
    from: Instant,
    errors: u64,
}

fn main() -> ExitCode {
    let Some((url, work)) = arguments() else {
        eprintln!("usage: {USAGE}");
        return ExitCode::from(2);
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let done = runtime
        .map_err(Failure::from)
        .and_then(|runtime| LocalSet::new().block_on(&runtime, run(&url, &work)));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("mongo-wire-driver: {why}");
            ExitCode::FAILURE
        }
    }
}

fn arguments() -> Option<(String, Work)> {
    let mut words = std::env::args().skip(1);
    let url = words.next()?;
    let is_update = match words.next()?.as_str() {
        "copy" => return Some((url, Work::Copy)),
        "read" => false,
        "update" => true,
        _ => return None,
    };
    let in_flight = words.next()?.parse().ok()?;
    let length = Duration::from_secs(words.next()?.parse().ok()?);
    let repeated = Repeated {
        is_update,
        in_flight,
        length,
    };
    Some((url, Work::Repeat(repeated)))
}

async fn run(url: &str, work: &Work) -> Result<(), Failure> {
    let options = ClientOptions::parse(url).await?;
    match work {
        Work::Copy => copy(options).await,
        Work::Repeat(repeated) => drive(options, repeated).await,
    }
}

async fn copy(options: ClientOptions) -> Result<(), Failure> {
    let client = Client::with_options(options)?;
    let collection = client.database("ycsb").collection::<Document>("usertable");
    let mut documents = Vec::new();
    let mut found = collection.find(doc! {}).await?;
    while found.advance().await? {
        documents.push(found.deserialize_current()?);
    }
    collection.drop().await?;
    let written = collection.insert_many(documents).await?;
    println!("{}", written.inserted_ids.len());
    Ok(())
}

async fn drive(mut options: ClientOptions, arguments: &Repeated) -> Result<(), Failure> {
    options.min_pool_size = Some(arguments.in_flight);
    options.max_pool_size = Some(arguments.in_flight);
    let client = Client::with_options(options)?;
    let collection = client.database("ycsb").collection("usertable");
    let began = Instant::now();
    let counted = Rc::new(RefCell::new(Counted {
        latencies: Histogram::new_with_bounds(1, HOUR, 3)?,
        from: began + arguments.length / WARM_UP,
        errors: 0,
    }));
    let end = began + arguments.length;
    let tasks: Vec<_> = (0..u64::from(arguments.in_flight))
        .map(|seed| {
            let (collection, counted) = (collection.clone(), Rc::clone(&counted));
            let is_update = arguments.is_update;
            tokio::task::spawn_local(async move {
                repeat(&collection, is_update, seed, end, &counted).await;
            })
        })
        .collect();
    for task in tasks {
        task.await?;
    }
    let counted = counted.borrow();
    let quantile = |share| counted.latencies.value_at_quantile(share) as f64 / 1e3;
    println!(
        "{{\"operations\": {}, \"errors\": {}, \"p50_us\": {}, \"p99_us\": {}}}",
        counted.latencies.len(),
        counted.errors,
        quantile(0.5),
        quantile(0.99),
    );
    Ok(())
}

async fn repeat(
    collection: &Collection<RawDocumentBuf>,
    is_update: bool,
    seed: u64,
    end: Instant,
    counted: &RefCell<Counted>,
) {
    let mut state = seed;
    loop {
        let key = format!("user{}", draw(&mut state) % RECORDS);
        let sent = Instant::now();
        let ok = match is_update {
            true => update(collection, &key, draw(&mut state)).await,
            false => read(collection, &key).await,
        };
        let answered = Instant::now();
        let mut counted = counted.borrow_mut();
        if !ok {
            counted.errors += 1;
        } else if sent >= counted.from {
            let took = answered.duration_since(sent).as_nanos();
            counted
                .latencies
                .saturating_record(u64::try_from(took).unwrap_or(u64::MAX));
        }
        if answered >= end {
            return;
        }
    }
}

async fn read(collection: &Collection<RawDocumentBuf>, key: &str) -> bool {
    matches!(collection.find_one(doc! { "_id": key }).await, Ok(Some(_)))
}

/// One field of ten, as YCSB's core workload does unless it is told to write all.
async fn update(collection: &Collection<RawDocumentBuf>, key: &str, drawn: u64) -> bool {
    let field = format!("field{}", drawn % 10);
    let value = Binary {
        subtype: BinarySubtype::Generic,
        bytes: vec![b'v'; VALUE_BYTES],
    };
    let change = doc! { "$set": { field: value } };
    let done = collection.update_one(doc! { "_id": key }, change).await;
    done.is_ok_and(|done| done.matched_count == 1)
}

/// splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
