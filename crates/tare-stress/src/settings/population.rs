//! `-pop`: which partitions are visited, and in which order their rows are.

use tare_draw::stress::Contents;

use super::command::{Command, Kind};
use super::describe::{describe, Dump};
use super::forms::{among, draw, Draw, Form, DRAW, RANGE};
use crate::grammar::number::range;
use crate::grammar::options::{select, Choice, Group};
use crate::grammar::Usage;

const CONTENTS_FORM: Form = (
    |text| among(text, &["sorted", "shuffled"]),
    "sorted or shuffled",
);

const SEQ: Choice = Choice::value("seq=", RANGE, "generate all seeds in sequence");
const LOOKBACK: Choice = Choice::value(
    "read-lookback=",
    DRAW,
    "select read seeds from the recently visited write seeds",
);
const NO_WRAP: Choice = Choice::flag(
    "no-wrap",
    "end the test once all seeds in the range have been visited",
);
const CONTENTS: Choice = Choice::value(
    "contents=",
    CONTENTS_FORM,
    "order within a partition; consistent but arbitrary if not said",
);
const DIST: Choice = Choice::value("dist=", DRAW, "seeds are selected from this distribution");

pub const GROUPS: &[Group] = &[
    &[SEQ.needed(), NO_WRAP, LOOKBACK, CONTENTS],
    &[DIST, CONTENTS],
];

/// Where seeds come from.
#[derive(Debug, Clone)]
pub enum Seeds {
    Sequence {
        first: i64,
        last: i64,
        wrap: bool,
        lookback: Option<Draw>,
    },
    Distribution(Draw),
}

#[derive(Debug, Clone)]
pub struct Population {
    pub seeds: Seeds,
    pub order: Contents,
}

impl Population {
    pub fn read(parameters: Option<&[String]>, command: &Command) -> Result<Population, Usage> {
        let limit = command
            .count()
            .filter(|&n| n > 0)
            .map_or(1_000_000, |n| n as i64);
        let gaussian = || Draw::parse(&format!("gaussian(1..{limit})"));
        let Some(parameters) = parameters else {
            let sequential =
                matches!(command.kind, Kind::Write | Kind::CounterWrite) || command.inserts_only();
            let seeds = if sequential {
                sequence(1, limit, true, None)?
            } else {
                Seeds::Distribution(gaussian()?)
            };
            return Ok(Population {
                seeds,
                order: Contents::Arbitrary,
            });
        };
        let given = select("-pop", parameters, GROUPS)?;
        let seeds = match given.value(SEQ.name).and_then(range) {
            Some((first, last)) => sequence(
                first,
                last,
                !given.flag(NO_WRAP.name),
                draw(&given, &LOOKBACK)?,
            )?,
            None => Seeds::Distribution(match draw(&given, &DIST)? {
                Some(draw) => draw,
                None => gaussian()?,
            }),
        };
        let order = match given
            .value(CONTENTS.name)
            .map(str::to_ascii_lowercase)
            .as_deref()
        {
            Some("sorted") => Contents::Sorted,
            Some(_) => Contents::Shuffled,
            None => Contents::Arbitrary,
        };
        Ok(Population { seeds, order })
    }

    pub fn dump(&self, out: &mut Dump) {
        let wraps = match &self.seeds {
            Seeds::Distribution(draw) => {
                out.say("Distribution", describe(&draw.distribution));
                false
            }
            Seeds::Sequence {
                first,
                last,
                wrap,
                lookback,
            } => {
                out.say("Sequence", format!("{first}..{last}"));
                if let Some(draw) = lookback {
                    out.say("Read Look Back", describe(&draw.distribution));
                }
                *wrap
            }
        };
        let order = match self.order {
            Contents::Arbitrary => "ARBITRARY",
            Contents::Shuffled => "SHUFFLED",
            Contents::Sorted => "SORTED",
        };
        out.say("Order", order);
        out.say("Wrap", wraps);
    }
}

fn sequence(first: i64, last: i64, wrap: bool, lookback: Option<Draw>) -> Result<Seeds, Usage> {
    if first > last {
        return Err(Usage(format!(
            "-pop: seq={first}..{last} ends before it begins"
        )));
    }
    Ok(Seeds::Sequence {
        first,
        last,
        wrap,
        lookback,
    })
}
