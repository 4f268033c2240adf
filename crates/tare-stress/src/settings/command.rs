//! The command: which operations, how many or how long, at which consistency.

use tare_cql::Consistency;

use super::forms::{text, Draw, Form, COUNT, DIGITS, DRAW, SOME};
use crate::grammar::nearest::hint;
use crate::grammar::number::{count, is_digits};
use crate::grammar::options::{select, Choice, Group, Said};
use crate::grammar::words::{take, Section};
use crate::grammar::Usage;
use crate::output::numbers::{fixed, grouped_whole};
use crate::profile::Profile;

const ERROR_FORM: Form = (
    |text| text.strip_prefix("0.").is_some_and(is_digits),
    "a fraction such as 0.02",
);
const DURATION_FORM: Form = (
    |text| text.strip_suffix(['s', 'm', 'h', 'S', 'M', 'H']).is_some_and(is_digits),
    "a time such as 30s, 5m or 1h",
);
const TRUNCATE_FORM: Form = (
    |text| ["never", "once", "always"].iter().any(|known| known.eq_ignore_ascii_case(text)),
    "never, once or always",
);
const LEVEL_FORM: Form = (
    |text| Consistency::parse(text).is_some_and(|level| !is_serial(level)),
    "ONE, TWO, THREE, QUORUM, ALL, ANY, LOCAL_ONE, LOCAL_QUORUM or EACH_QUORUM",
);
const SERIAL_FORM: Form =
    (|text| Consistency::parse(text).is_some_and(is_serial), "SERIAL or LOCAL_SERIAL");

const N: Choice = Choice::value("n=", COUNT, "number of operations to perform");
const DURATION: Choice = Choice::value("duration=", DURATION_FORM, "time to run");
const ERR: Choice = Choice::value(
    "err<",
    ERROR_FORM,
    "run until the standard error of the mean is below this fraction",
)
.or("0.02");
const LEAST: Choice =
    Choice::value("n>", DIGITS, "run at least this many intervals before accepting").or("30");
const MOST: Choice = Choice::value("n<", DIGITS, "run at most this many intervals").or("200");
const NO_WARMUP: Choice = Choice::flag("no-warmup", "do not warm up");
const TRUNCATE: Choice =
    Choice::value("truncate=", TRUNCATE_FORM, "truncate the table: never, once or always")
        .or("never");
const LEVEL: Choice = Choice::value("cl=", LEVEL_FORM, "consistency level").or("LOCAL_ONE");
const SERIAL: Choice =
    Choice::value("serial-cl=", SERIAL_FORM, "consistency of conditional statements").or("SERIAL");
const ADD: Choice =
    Choice::value("add=", DRAW, "distribution of counter increments").or("fixed(1)");
const KEY_SIZE: Choice = Choice::value("keysize=", DIGITS, "key size in bytes").or("10");
const CLUSTERING: Choice =
    Choice::value("clustering=", DRAW, "distribution of runs of operations of the same kind")
        .or("GAUSSIAN(1..10)");
const RATIO: Choice = Choice::pairs(
    "ratio",
    &["read", "write", "counter_write", "counter_read"],
    false,
    "ratios of the operations; ratio(read=2,write=1) does 2 reads for each write",
);
const PROFILE: Choice = Choice::value("profile=", SOME, "path of a YAML profile");
const OPS: Choice =
    Choice::pairs("ops", &[], true, "ratios of the profile's queries, and of insert");

pub const BASIC: &[Group] = &[
    &[ERR, LEAST, MOST, NO_WARMUP, TRUNCATE, LEVEL, SERIAL, ADD, KEY_SIZE],
    &[N.needed(), NO_WARMUP, TRUNCATE, LEVEL, SERIAL, ADD, KEY_SIZE],
    &[DURATION.needed(), NO_WARMUP, TRUNCATE, LEVEL, SERIAL, ADD, KEY_SIZE],
];
pub const MIXED: &[Group] = &[
    &[ERR, LEAST, MOST, CLUSTERING, RATIO, NO_WARMUP, TRUNCATE, LEVEL, SERIAL, ADD, KEY_SIZE],
    &[N.needed(), CLUSTERING, RATIO, NO_WARMUP, TRUNCATE, LEVEL, SERIAL, ADD, KEY_SIZE],
    &[DURATION.needed(), CLUSTERING, RATIO, NO_WARMUP, TRUNCATE, LEVEL, SERIAL, ADD, KEY_SIZE],
];
pub const USER: &[Group] = &[
    &[PROFILE.needed(), OPS.needed(), ERR, LEAST, MOST, CLUSTERING, NO_WARMUP, TRUNCATE, LEVEL, SERIAL],
    &[PROFILE.needed(), OPS.needed(), DURATION.needed(), CLUSTERING, NO_WARMUP, TRUNCATE, LEVEL, SERIAL],
    &[PROFILE.needed(), OPS.needed(), N.needed(), CLUSTERING, NO_WARMUP, TRUNCATE, LEVEL, SERIAL],
];

/// Longest key; the native protocol and the partition key both end at 64 KiB.
const LONGEST_KEY: u32 = 65_535;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
    Mixed,
    CounterWrite,
    CounterRead,
    User,
}

impl Kind {
    pub const ALL: [Kind; 6] =
        [Kind::Read, Kind::Write, Kind::Mixed, Kind::CounterWrite, Kind::CounterRead, Kind::User];

    /// The command's names, as the tool takes them; the first is the one that is shown.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Kind::Read => &["read"],
            Kind::Write => &["write", "insert"],
            Kind::Mixed => &["mixed"],
            Kind::CounterWrite => &["counter_write", "counterwrite", "counter_add", "counteradd"],
            Kind::CounterRead => &["counter_read", "counterread", "counter_get", "counterget"],
            Kind::User => &["user"],
        }
    }

    /// The command as operations are called in the output.
    pub fn operation(self) -> String {
        self.names()[0].to_uppercase()
    }

    pub fn of(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.names().contains(&name))
    }

    /// Whether it changes data, so that the tool pauses between two thread counts.
    pub fn writes(self) -> bool {
        !matches!(self, Kind::Read | Kind::CounterRead)
    }

    pub fn groups(self) -> &'static [Group] {
        match self {
            Kind::Mixed => MIXED,
            Kind::User => USER,
            _ => BASIC,
        }
    }
}

/// When the run is over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Length {
    Count(u64),
    /// An amount of seconds, minutes or hours.
    Duration(u64, Unit),
    /// The standard error of the mean row rate is below `target`, or `most` intervals are over.
    Uncertainty {
        target: f64,
        least: u64,
        most: u64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Seconds,
    Minutes,
    Hours,
}

impl Unit {
    pub fn name(self) -> &'static str {
        match self {
            Unit::Seconds => "SECONDS",
            Unit::Minutes => "MINUTES",
            Unit::Hours => "HOURS",
        }
    }

    pub fn seconds(self) -> u64 {
        match self {
            Unit::Seconds => 1,
            Unit::Minutes => 60,
            Unit::Hours => 3600,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truncate {
    Never,
    Once,
    Always,
}

/// What the operations are.
#[derive(Debug, Clone)]
pub enum Detail {
    /// The predefined tables; `ratios` has one entry unless the command is mixed.
    Predefined {
        ratios: Vec<(Kind, f64)>,
        clustering: Option<Draw>,
        add: Draw,
        key_size: u32,
    },
    Profile {
        ratios: Vec<(String, f64)>,
        clustering: Draw,
        profile: Box<Profile>,
    },
}

#[derive(Debug, Clone)]
pub struct Command {
    pub kind: Kind,
    pub length: Length,
    pub no_warmup: bool,
    pub truncate: Truncate,
    pub consistency: Consistency,
    pub serial: Consistency,
    pub detail: Detail,
}

impl Command {
    /// Takes the command out of the sections.
    pub fn read(sections: &mut Vec<Section>) -> Result<Command, Usage> {
        let first = sections.first().map(|section| section.key.clone()).unwrap_or_default();
        let Some(kind) = sections.iter().find_map(|section| Kind::of(&section.key)) else {
            let names = Kind::ALL.iter().flat_map(|kind| kind.names()).copied();
            let hint = hint(&first, names.chain(["help", "print", "version"]));
            return Err(Usage(format!("No command specified: {first:.60} is none{hint}")));
        };
        let parameters = kind.names().iter().find_map(|name| take(sections, name));
        let said = select(kind.names()[0], &parameters.unwrap_or_default(), kind.groups())?;
        let level = |choice: &Choice, default| {
            text(&said, choice).and_then(Consistency::parse).unwrap_or(default)
        };
        Ok(Command {
            kind,
            length: length(&said)?,
            no_warmup: said.flag(NO_WARMUP.name),
            truncate: match said.value(TRUNCATE.name).map(str::to_lowercase).as_deref() {
                Some("once") => Truncate::Once,
                Some("always") => Truncate::Always,
                _ => Truncate::Never,
            },
            consistency: level(&LEVEL, Consistency::LocalOne),
            serial: level(&SERIAL, Consistency::Serial),
            detail: detail(kind, &said)?,
        })
    }

    /// Operations to do, if that is how the run ends.
    pub fn count(&self) -> Option<u64> {
        match self.length {
            Length::Count(count) => Some(count),
            _ => None,
        }
    }

    pub fn profile(&self) -> Option<&Profile> {
        match &self.detail {
            Detail::Profile { profile, .. } => Some(profile),
            Detail::Predefined { .. } => None,
        }
    }

    /// Whether it is a user command of nothing but `insert`.
    pub fn inserts_only(&self) -> bool {
        matches!(&self.detail, Detail::Profile { ratios, .. }
            if ratios.len() == 1 && ratios[0].0 == "insert")
    }

    pub fn dump(&self, out: &mut Vec<String>) {
        out.push(format!("  Type: {}", self.kind.names()[0]));
        out.push(match self.length {
            Length::Count(count) => format!("  Count: {}", grouped_whole(count)),
            _ => "  Count: -1".to_owned(),
        });
        if let Length::Duration(amount, unit) = self.length {
            out.push(format!("  Duration: {} {}", grouped_whole(amount), unit.name()));
        }
        out.push(format!("  No Warmup: {}", self.no_warmup));
        out.push(format!("  Consistency Level: {}", self.consistency.name()));
        match self.length {
            Length::Uncertainty { target, least, most } => {
                out.push(format!("  Target Uncertainty: {}", fixed(target, 3)));
                out.push(format!("  Minimum Uncertainty Measurements: {}", grouped_whole(least)));
                out.push(format!("  Maximum Uncertainty Measurements: {}", grouped_whole(most)));
            }
            _ => out.push("  Target Uncertainty: not applicable".to_owned()),
        }
        self.detail.dump(self.kind, out);
    }
}

impl Detail {
    fn dump(&self, kind: Kind, out: &mut Vec<String>) {
        let shown = |ratios: Vec<(String, f64)>| {
            let ratios: Vec<String> =
                ratios.into_iter().map(|(name, ratio)| format!("{name}={ratio:?}")).collect();
            format!("  Command Ratios: {{{}}}", ratios.join(", "))
        };
        match self {
            Detail::Predefined { ratios, clustering, add, key_size } => {
                out.push(format!("  Key Size (bytes): {key_size}"));
                out.push(format!("  Counter Increment Distibution: add={}", add.text));
                if let (Kind::Mixed, Some(clustering)) = (kind, clustering) {
                    let named = ratios.iter().map(|(kind, ratio)| (kind.operation(), *ratio));
                    out.push(shown(named.collect()));
                    let text = &clustering.text;
                    out.push(format!("  Command Clustering Distribution: clustering={text}"));
                }
            }
            Detail::Profile { ratios, clustering, profile } => {
                out.push(shown(ratios.clone()));
                let text = &clustering.text;
                out.push(format!("  Command Clustering Distribution: clustering={text}"));
                out.push(format!("  Profile File: {}", profile.path));
            }
        }
    }
}

fn is_serial(level: Consistency) -> bool {
    matches!(level, Consistency::Serial | Consistency::LocalSerial)
}

fn length(said: &Said) -> Result<Length, Usage> {
    if let Some(n) = said.value(N.name) {
        let n = count(n).and_then(|n| u64::try_from(n).ok());
        return n.map(Length::Count).ok_or_else(|| Usage::new("n= is too large"));
    }
    if let Some(duration) = said.value(DURATION.name) {
        let (amount, unit) = duration.split_at(duration.len() - 1);
        let unit = match unit.to_ascii_lowercase().as_str() {
            "s" => Unit::Seconds,
            "m" => Unit::Minutes,
            _ => Unit::Hours,
        };
        // Ten years, so that nanoseconds never overflow.
        let amount = amount.parse::<u64>().ok().filter(|&n| n <= 315_360_000 / unit.seconds());
        return match amount {
            Some(0) => Err(Usage::new("duration= must be above 0")),
            Some(amount) => Ok(Length::Duration(amount, unit)),
            None => Err(Usage(format!("duration={duration} is longer than ten years"))),
        };
    }
    let number = |choice: &Choice| text(said, choice).and_then(|text| text.parse().ok());
    let target = text(said, &ERR).and_then(|text| text.parse().ok());
    match (target, number(&LEAST), number(&MOST)) {
        (Some(target), Some(least), Some(most)) => Ok(Length::Uncertainty { target, least, most }),
        _ => Err(Usage::new("n> or n< is too large")),
    }
}

fn detail(kind: Kind, said: &Said) -> Result<Detail, Usage> {
    let draw = |choice: &Choice| Draw::parse(text(said, choice).unwrap_or_default());
    if kind == Kind::User {
        let profile = Profile::load(said.value(PROFILE.name).unwrap_or_default())?;
        return Ok(Detail::Profile {
            ratios: profile_ratios(said.pairs(OPS.name), &profile)?,
            clustering: draw(&CLUSTERING)?,
            profile: Box::new(profile),
        });
    }
    let key_size = text(said, &KEY_SIZE).and_then(|text| text.parse().ok());
    Ok(Detail::Predefined {
        ratios: match kind {
            Kind::Mixed => mixed_ratios(said.pairs(RATIO.name))?,
            _ => vec![(kind, 1.0)],
        },
        clustering: (kind == Kind::Mixed).then(|| draw(&CLUSTERING)).transpose()?,
        add: draw(&ADD)?,
        key_size: key_size
            .filter(|size| (1..=LONGEST_KEY).contains(size))
            .ok_or_else(|| Usage(format!("keysize= must be 1 to {LONGEST_KEY}")))?,
    })
}

/// The ratios in the order of the commands, as the tool keeps them; read=1,write=1 if none is said.
fn mixed_ratios(said: &[(String, String)]) -> Result<Vec<(Kind, f64)>, Usage> {
    if said.is_empty() {
        return Ok(vec![(Kind::Read, 1.0), (Kind::Write, 1.0)]);
    }
    let mut ratios = Vec::new();
    for kind in Kind::ALL {
        if let Some((name, value)) = said.iter().find(|(name, _)| kind.names()[0] == name) {
            ratios.push((kind, ratio(name, value)?));
        }
    }
    not_all_zero(ratios)
}

fn profile_ratios(
    said: &[(String, String)],
    profile: &Profile,
) -> Result<Vec<(String, f64)>, Usage> {
    let known = profile.operations();
    let mut ratios = Vec::new();
    for (name, value) in said {
        if name.contains('.') {
            return Err(Usage(format!(
                "ops: {name:.60}: several profiles in one run are not read; run them one by one"
            )));
        }
        let Some(known) = known.iter().find(|known| known.eq_ignore_ascii_case(name)) else {
            let hint = hint(name, known.iter().copied());
            return Err(Usage(format!("No query defined with name {name:.60}{hint}")));
        };
        ratios.push(((*known).to_owned(), ratio(name, value)?));
    }
    not_all_zero(ratios)
}

fn ratio(name: &str, value: &str) -> Result<f64, Usage> {
    let number = value.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
    number.ok_or_else(|| Usage(format!("{name:.60}={value:.60} must be a number of at least 0")))
}

fn not_all_zero<T>(ratios: Vec<(T, f64)>) -> Result<Vec<(T, f64)>, Usage> {
    let kept: Vec<(T, f64)> = ratios.into_iter().filter(|(_, ratio)| *ratio > 0.0).collect();
    if kept.is_empty() {
        return Err(Usage::new("Must specify at least one command with a non-zero ratio"));
    }
    Ok(kept)
}
