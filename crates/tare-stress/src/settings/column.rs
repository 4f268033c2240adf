//! `-col`: how many columns the predefined tables have, their names and sizes.

use super::describe::{describe, Dump};
use super::forms::{among, draw, text, Draw, Form, DIGITS, DRAW, SOME};
use crate::grammar::options::{select, Choice, Group};
use crate::grammar::Usage;

/// More columns than this in one statement help nobody.
const MOST_COLUMNS: i64 = 4096;

const COMPARATOR_FORM: Form = (
    |text| among(text, &["TimeUUIDType", "AsciiType", "UTF8Type"]),
    "TimeUUIDType, AsciiType or UTF8Type",
);

const COUNT: Choice =
    Choice::value("n=", DRAW, "cell count distribution, per operation").or("FIXED(5)");
const NAMES: Choice = Choice::value("names=", SOME, "column names");
const SLICE: Choice = Choice::flag("slice", "read with SELECT *");
const SUPER: Choice = Choice::value("super=", DIGITS, "super columns (refused unless 0)").or("0");
const COMPARATOR: Choice =
    Choice::value("comparator=", COMPARATOR_FORM, "column comparator to use").or("AsciiType");
const TIMESTAMP: Choice = Choice::value(
    "timestamp=",
    DIGITS,
    "all columns are written with this timestamp",
);
const SIZE: Choice = Choice::value("size=", DRAW, "cell size distribution").or("FIXED(34)");

pub const GROUPS: &[Group] = &[
    &[NAMES.needed(), SLICE, SUPER, COMPARATOR, TIMESTAMP, SIZE],
    &[COUNT, SLICE, SUPER, COMPARATOR, TIMESTAMP, SIZE],
];

#[derive(Debug, Clone)]
pub struct Columns {
    /// Sorted by their bytes, as the tool sorts them.
    pub names: Vec<String>,
    /// What the operations of the predefined tables write and read: all of `names`.
    pub slice: bool,
    pub timestamp: Option<i64>,
    pub size: Draw,
    comparator: String,
    /// As the settings dump says it.
    count: String,
}

impl Columns {
    pub fn read(parameters: Option<&[String]>) -> Result<Columns, Usage> {
        let given = select("-col", parameters.unwrap_or_default(), GROUPS)?;
        if text(&given, &SUPER) != Some("0") {
            return Err(Usage::new(
                "-col: super columns exist in Thrift alone; leave super= out or set it to 0",
            ));
        }
        let (mut names, count) = match given.value(NAMES.name) {
            Some(names) => named(names)?,
            None => counted(&given)?,
        };
        names.sort_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
        let comparator = text(&given, &COMPARATOR).unwrap_or("AsciiType").to_owned();
        if comparator.eq_ignore_ascii_case("TimeUUIDType") && given.value(NAMES.name).is_some() {
            return Err(Usage::new(
                "-col: names= of TimeUUIDType exist in Thrift alone; use AsciiType or UTF8Type",
            ));
        }
        let timestamp = given.value(TIMESTAMP.name).map(str::parse).transpose();
        Ok(Columns {
            names,
            slice: given.flag(SLICE.name),
            timestamp: timestamp
                .map_err(|_| Usage::new("-col: timestamp= is larger than 63 bits"))?,
            size: draw(&given, &SIZE)?.ok_or_else(|| Usage::new("-col: size= is missing"))?,
            comparator,
            count,
        })
    }

    pub fn dump(&self, out: &mut Dump) {
        out.say("Max Columns Per Key", self.names.len());
        out.say("Column Names", format!("[{}]", self.names.join(", ")));
        out.say("Comparator", &self.comparator);
        out.say_or_null("Timestamp", self.timestamp);
        out.say("Variable Column Count", "false");
        out.say("Slice", self.slice);
        out.say("Size Distribution", describe(&self.size.distribution));
        out.say("Count Distribution", &self.count);
    }
}

fn named(text: &str) -> Result<(Vec<String>, String), Usage> {
    let names: Vec<String> = text.split(',').map(str::to_owned).collect();
    if names.len() as i64 > MOST_COLUMNS || names.iter().any(|name| !is_name(name)) {
        return Err(Usage(format!(
            "-col: names={text} must be 1 to {MOST_COLUMNS} names of letters, digits and _"
        )));
    }
    let mut unique = names.clone();
    unique.sort();
    unique.dedup();
    if unique.len() != names.len() {
        return Err(Usage(format!("-col: names={text} has a name twice")));
    }
    let count = format!("Count:  fixed={}", names.len());
    Ok((names, count))
}

/// Names go into CQL texts between quotes; nothing that could end them is let in.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn counted(given: &crate::grammar::options::Given) -> Result<(Vec<String>, String), Usage> {
    let count = draw(given, &COUNT)?.ok_or_else(|| Usage::new("-col: n= is missing"))?;
    let (least, most) = (count.distribution.min(), count.distribution.max());
    if least < most {
        return Err(Usage(format!(
            "-col: n={}: variable column counts are not implemented for CQL; use n=FIXED({most})",
            count.text
        )));
    }
    if !(1..=MOST_COLUMNS).contains(&most) {
        return Err(Usage(format!(
            "-col: n={} must be 1 to {MOST_COLUMNS} columns",
            count.text
        )));
    }
    let names = (0..most).map(|i| format!("C{i}")).collect();
    Ok((names, describe(&count.distribution)))
}
