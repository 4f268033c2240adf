//! Nanoseconds a draw, for every generator: `cargo bench -p tare-draw`.

use std::hint::black_box;
use std::time::Instant;

use tare_draw::stress::{
    salt, Column, ColumnSpec, Contents, Distribution, Kind, Partition, Population, Seeds, Shape,
    Visit, PREDEFINED,
};
use tare_draw::ycsb::{
    checked_value, random_printable, AcknowledgedCounter, Discrete, Exponential, Hotspot,
    InsertOrder, Keys, ScrambledZipfian, SkewedLatest, UniformLong, Zipf, Zipfian,
};
use tare_draw::{Error, Rng, Xoshiro};

/// A batch is shorter than a time slice, so that the best one ran undisturbed.
const DRAWS: u32 = 20_000;
const BATCHES: u32 = 200;

fn measure<T>(name: &str, mut draw: impl FnMut(&mut Xoshiro) -> T) {
    let mut rng = Xoshiro::new(1);
    let mut best = f64::INFINITY;
    for _ in 0..BATCHES {
        let start = Instant::now();
        for _ in 0..DRAWS {
            black_box(draw(&mut rng));
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{name:32} {:8.1} ns", best * 1e9 / f64::from(DRAWS));
}

fn main() -> Result<(), Error> {
    measure("xoshiro256++", |rng| rng.next_u64());
    records()?;
    fields();
    stress()
}

fn records() -> Result<(), Error> {
    let uniform = UniformLong::new(0, 999_999)?;
    measure("uniform", |rng| uniform.next(rng));
    let zipfian = Zipfian::new(0, 999_999, 0.99)?;
    measure("zipfian", |rng| zipfian.next(rng));
    let scrambled = ScrambledZipfian::new(0, 999_999)?;
    measure("scrambled zipfian", |rng| scrambled.next(rng));
    let zipf = Zipf::new(1_000_000, 0.99)?;
    measure("true Zipf", |rng| zipf.next(rng));
    let mut latest = SkewedLatest::new(999_999)?;
    measure("latest", |rng| latest.next(rng, 999_999));
    let hotspot = Hotspot::new(0, 999_999, 0.2, 0.8)?;
    measure("hotspot", |rng| hotspot.next(rng));
    let exponential = Exponential::new(95.0, 857_142.0)?;
    measure("exponential", |rng| exponential.next(rng));
    let choice = Discrete::new(vec![(0.5, 0u8), (0.5, 1)])?;
    measure("choice of two", |rng| *choice.next(rng));
    let counter = AcknowledgedCounter::new(0);
    measure("acknowledged counter", |_| {
        let number = counter.next();
        counter.acknowledge(number)
    });
    Ok(())
}

fn fields() {
    let mut octets = Vec::with_capacity(256);
    let keys = Keys::new(InsertOrder::Hashed, 1);
    measure("hashed key", |rng| {
        octets.clear();
        keys.write(rng.next_u64() as i64, &mut octets);
        octets.len()
    });
    measure("100 printable octets", |rng| {
        octets.clear();
        random_printable(rng, 100, &mut octets);
        octets.len()
    });
    measure("100 octets to be checked", |_| {
        octets.clear();
        checked_value("user6284781860667377211", "field0", 100, &mut octets);
        octets.len()
    });
}

fn stress() -> Result<(), Error> {
    let seeds = Seeds::new(
        Population::Distribution(Distribution::parse("gaussian(1..1M)")?),
        Distribution::parse("fixed(1)")?,
        Distribution::parse("uniform(1..1M)")?,
    )?;
    measure("seed of a gaussian population", |rng| seeds.next_write(rng));
    let column = |name: &str, kind: Kind, size: &str| {
        let spec = ColumnSpec {
            size: Some(Distribution::parse(size)?),
            ..ColumnSpec::default()
        };
        Column::new(name, kind, salt(PREDEFINED, name), &spec)
    };
    let mut values = Vec::new();
    for at in 0..5 {
        values.push(column(&format!("C{at}"), Kind::Blob, "fixed(34)")?);
    }
    let key = vec![column("key", Kind::HexBlob, "fixed(10)")?];
    let shape = Shape::new(key, vec![], values, Contents::Arbitrary);
    let mut partition = Partition::new(shape);
    measure("row of standard1, key and values", |rng| {
        let seed = seeds.next_write(rng)?;
        partition.begin(&seed, Visit::Write { chance: 1.0 }, 1.0, rng);
        partition.next_row(rng).map(|row| {
            row.get(tare_draw::stress::Position::Cell(4))
                .map(<[u8]>::len)
        })
    });
    Ok(())
}
