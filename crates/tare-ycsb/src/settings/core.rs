//! The properties of YCSB's CoreWorkload.

use std::path::Path;

use tare_draw::ycsb::{
    Chooser, Discrete, FieldLength, Histogram, InsertOrder, Keys, UniformLong, Zipfian,
    ZIPFIAN_CONSTANT,
};
use tare_draw::Share;

use super::choosers::{chooser, scan_length, ScanLength};
use super::read::{BadProperty, Reader};
use super::Phase;

/// The largest number of a record, operation or length that is taken.
const LARGEST: u64 = 1 << 62;
/// `recordcount` where none is given, as coded: Java's Integer.MAX_VALUE.
const UNSET_RECORDS: u64 = i32::MAX as u64;
/// A value of a field is at most this long, octets.
const LONGEST_FIELD: u64 = 1 << 24;
/// A table with more fields is no key-value table (a statement has at most 65,535 bind markers).
const MOST_FIELDS: u64 = 10_000;
/// A histogram file of field lengths is at most this large, octets.
const LARGEST_HISTOGRAM: u64 = 1 << 24;

/// What one transaction does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Read,
    Update,
    Insert,
    Scan,
    ReadModifyWrite,
}

/// A CoreWorkload, ready to draw from.
#[derive(Debug)]
pub struct Core {
    pub table: String,
    pub fields: Vec<String>,
    pub length: FieldLength,
    pub records: u64,
    pub insert_start: u64,
    pub insert_count: u64,
    /// Operations in all; none is without end.
    pub operations: Option<u64>,
    pub keys: Keys,
    pub mix: Vec<(f64, Action)>,
    /// None in the load phase, which chooses no keys.
    pub chooser: Option<Chooser>,
    pub scan: ScanLength,
    pub read_all: bool,
    pub read_all_by_name: bool,
    pub write_all: bool,
    pub integrity: bool,
    /// Tries after the first one, and seconds between them on average.
    pub insert_retries: u64,
    pub insert_retry_seconds: u64,
    /// This client's part of the records that are loaded, inserted and asked for in sequence.
    pub share: Share,
    /// Numbers behind `records` that a run leaves to others on the same table, which insert there.
    pub inserted_before: i64,
}

impl Core {
    pub fn read(reader: &Reader<'_>, phase: Phase) -> Result<Core, BadProperty> {
        check_class(reader)?;
        let fields = reader.whole_in("fieldcount", 10, 1..=MOST_FIELDS)?;
        let prefix = reader.text_or("fieldnameprefix", "field");
        let records = match reader.whole_in("recordcount", 0, 0..=LARGEST)? {
            0 => UNSET_RECORDS,
            records => records,
        };
        let insert_start = reader.whole_in("insertstart", 0, 0..=LARGEST)?;
        let rest = records.saturating_sub(insert_start);
        let insert_count = reader.whole_in("insertcount", rest, 0..=LARGEST)?;
        if records < insert_start + insert_count {
            return Err(BadProperty::new(
                "recordcount",
                records,
                format!(
                    "must be at least insertstart + insertcount ({insert_start} + {insert_count})"
                ),
            ));
        }
        let operations = reader.whole_in("operationcount", 0, 0..=LARGEST)?;
        let scan_most = reader.whole_in("maxscanlength", 1000, 1..=i32::MAX as u64)?;
        let core = Core {
            table: reader.text_or("table", "usertable").to_owned(),
            fields: (0..fields).map(|i| format!("{prefix}{i}")).collect(),
            length: field_length(reader)?,
            records,
            insert_start,
            insert_count,
            operations: (operations > 0).then_some(operations),
            keys: Keys::new(insert_order(reader), zero_padding(reader)?),
            mix: mix(reader)?,
            chooser: match phase {
                Phase::Load => None,
                Phase::Run => Some(chooser(
                    reader,
                    records,
                    insert_start,
                    insert_count,
                    operations,
                )?),
            },
            scan: scan_length(reader, scan_most)?,
            read_all: reader.truth_or("readallfields", true),
            read_all_by_name: reader.truth_or("readallfieldsbyname", false),
            write_all: reader.truth_or("writeallfields", false),
            integrity: reader.truth_or("dataintegrity", false),
            insert_retries: reader.whole_in(
                "core_workload_insertion_retry_limit",
                0,
                0..=LARGEST,
            )?,
            insert_retry_seconds: reader.whole_in(
                "core_workload_insertion_retry_interval",
                3,
                0..=86_400,
            )?,
            share: Share::WHOLE,
            inserted_before: 0,
        };
        if core.integrity && !matches!(core.length, FieldLength::Constant(_)) {
            let given = reader.text_or("fieldlengthdistribution", "constant");
            let why = "dataintegrity=true needs fields of constant length";
            return Err(BadProperty::new("fieldlengthdistribution", given, why));
        }
        Ok(core)
    }

    /// Becomes one client's part of it, in the load phase also of what is to be loaded.
    ///
    /// # Errors
    /// When there are more clients than records to share.
    pub fn share(&mut self, share: Share) -> Result<(), tare_draw::Error> {
        self.share = share;
        match self.chooser.take() {
            Some(chooser) => self.chooser = Some(chooser.shared(share)?),
            None => self.insert_count = share.count(self.insert_count),
        }
        Ok(())
    }

    pub fn has(&self, action: Action) -> bool {
        self.mix.iter().any(|(_, other)| *other == action)
    }

    pub fn discrete(&self) -> Result<Discrete<Action>, tare_draw::Error> {
        Discrete::new(self.mix.clone())
    }
}

fn check_class(reader: &Reader<'_>) -> Result<(), BadProperty> {
    let Some(class) = reader.text("workload") else {
        let why = "missing: name a workload file with -P, such as -P workloads/workloada";
        return Err(BadProperty::new("workload", "", why));
    };
    let known = [
        "site.ycsb.workloads.CoreWorkload",
        "com.yahoo.ycsb.workloads.CoreWorkload",
    ];
    if known.contains(&class.trim()) {
        return Ok(());
    }
    let why = format!("only {} is offered", known[0]);
    Err(BadProperty::new("workload", class, why))
}

fn insert_order(reader: &Reader<'_>) -> InsertOrder {
    match reader.text_or("insertorder", "hashed") {
        "hashed" => InsertOrder::Hashed,
        "ordered" => InsertOrder::Ordered,
        other => {
            reader.remark(format!(
                "property insertorder={other} counts as ordered, as in YCSB: only hashed is hashed"
            ));
            InsertOrder::Ordered
        }
    }
}

fn zero_padding(reader: &Reader<'_>) -> Result<usize, BadProperty> {
    Ok(reader.whole_in("zeropadding", 1, 0..=1000)? as usize)
}

fn mix(reader: &Reader<'_>) -> Result<Vec<(f64, Action)>, BadProperty> {
    let shares = [
        ("readproportion", 0.95, Action::Read),
        ("updateproportion", 0.05, Action::Update),
        ("insertproportion", 0.0, Action::Insert),
        ("scanproportion", 0.0, Action::Scan),
        ("readmodifywriteproportion", 0.0, Action::ReadModifyWrite),
    ];
    let mut mix = Vec::new();
    for (name, default, action) in shares {
        let share = reader.number_or(name, default)?;
        if share > 0.0 {
            mix.push((share, action));
        }
    }
    if mix.is_empty() {
        let why = "no operation has a share above 0";
        return Err(BadProperty::new("readproportion", 0, why));
    }
    Ok(mix)
}

fn field_length(reader: &Reader<'_>) -> Result<FieldLength, BadProperty> {
    let name = "fieldlengthdistribution";
    let longest = reader.whole_in("fieldlength", 100, 0..=LONGEST_FIELD)? as i64;
    let shortest = reader.whole_in("minfieldlength", 1, 0..=LONGEST_FIELD)? as i64;
    let kind = reader.text_or(name, "constant");
    let bad = |why: tare_draw::Error| BadProperty::new(name, kind, why);
    Ok(match kind {
        "constant" => FieldLength::Constant(longest),
        "uniform" => FieldLength::Uniform(UniformLong::new(shortest, longest).map_err(bad)?),
        "zipfian" => {
            let zipfian = Zipfian::new(shortest, longest, ZIPFIAN_CONSTANT);
            FieldLength::Zipfian(zipfian.map_err(bad)?)
        }
        "histogram" => FieldLength::Histogram(histogram(reader)?),
        other => {
            let why = "expected constant, uniform, zipfian or histogram";
            return Err(BadProperty::new(name, other, why));
        }
    })
}

fn histogram(reader: &Reader<'_>) -> Result<Histogram, BadProperty> {
    let name = "fieldlengthhistogram";
    let path = reader.text_or(name, "hist.txt");
    let text = limited(Path::new(path)).map_err(|why| BadProperty::new(name, path, why))?;
    Histogram::parse(&text).map_err(|why| BadProperty::new(name, path, why))
}

fn limited(path: &Path) -> std::io::Result<String> {
    use std::io::Read;
    let mut text = String::new();
    let file = std::fs::File::open(path)?;
    file.take(LARGEST_HISTOGRAM).read_to_string(&mut text)?;
    Ok(text)
}
