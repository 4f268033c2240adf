//! `-log`: what is printed, how often, and into which files.

use std::path::PathBuf;
use std::time::Duration;

use super::describe::Dump;
use super::forms::{text, Form, SOME};
use crate::grammar::number::is_digits;
use crate::grammar::options::{select, Choice, Group};
use crate::grammar::Usage;

const INTERVAL_FORM: Form = (
    |text| is_digits(text.trim_end_matches("ms").trim_end_matches('s')),
    "a time such as 1s or 500ms",
);
const LEVEL_FORM: Form = (
    |text| Level::of(text).is_some(),
    "minimal, normal or verbose",
);

const LEVEL: Choice = Choice::value(
    "level=",
    LEVEL_FORM,
    "logging level (minimal, normal or verbose)",
)
.or("normal");
const NO_SUMMARY: Choice = Choice::flag(
    "no-summary",
    "disable printing of aggregate statistics at the end of a test",
);
const NO_SETTINGS: Choice = Choice::flag(
    "no-settings",
    "disable printing of settings values at start of test",
);
const FILE: Choice = Choice::value("file=", SOME, "log to a file, too");
const HDR_FILE: Choice = Choice::value("hdrfile=", SOME, "log interval histograms to a file");
const INTERVAL: Choice = Choice::value(
    "interval=",
    INTERVAL_FORM,
    "log progress every so many seconds or milliseconds",
)
.or("1s");

pub const GROUPS: &[Group] = &[&[LEVEL, NO_SUMMARY, FILE, HDR_FILE, INTERVAL, NO_SETTINGS]];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Minimal,
    Normal,
    Verbose,
}

impl Level {
    fn of(text: &str) -> Option<Level> {
        match text.to_ascii_lowercase().as_str() {
            "minimal" => Some(Level::Minimal),
            "normal" => Some(Level::Normal),
            "verbose" => Some(Level::Verbose),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Level::Minimal => "MINIMAL",
            Level::Normal => "NORMAL",
            Level::Verbose => "VERBOSE",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    pub level: Level,
    pub no_summary: bool,
    pub no_settings: bool,
    pub file: Option<PathBuf>,
    pub hdr_file: Option<PathBuf>,
    pub interval: Duration,
}

impl Log {
    pub fn read(parameters: Option<&[String]>) -> Result<Log, Usage> {
        let given = select("-log", parameters.unwrap_or_default(), GROUPS)?;
        Ok(Log {
            level: text(&given, &LEVEL)
                .and_then(Level::of)
                .unwrap_or(Level::Normal),
            no_summary: given.flag(NO_SUMMARY.name),
            no_settings: given.flag(NO_SETTINGS.name),
            file: given.value(FILE.name).map(PathBuf::from),
            hdr_file: given.value(HDR_FILE.name).map(PathBuf::from),
            interval: interval(text(&given, &INTERVAL).unwrap_or("1s"))?,
        })
    }

    pub fn dump(&self, out: &mut Dump) {
        let file = self.file.as_ref().map(|file| file.display());
        out.say("No Summary", self.no_summary);
        out.say("No Settings", self.no_settings);
        out.say_or_null("File", file);
        out.say("Interval Millis", self.interval.as_millis());
        out.say("Level", self.level.name());
    }
}

fn interval(text: &str) -> Result<Duration, Usage> {
    let (digits, factor) = match text.strip_suffix("ms") {
        Some(digits) => (digits, 1),
        None => (text.trim_end_matches('s'), 1000),
    };
    let ms = digits
        .parse::<u64>()
        .ok()
        .and_then(|n| n.checked_mul(factor));
    match ms {
        Some(0) => Err(Usage::new("Log interval must be greater than zero")),
        Some(ms) if ms <= 86_400_000 => Ok(Duration::from_millis(ms)),
        _ => Err(Usage(format!("-log: interval={text} is longer than a day"))),
    }
}
