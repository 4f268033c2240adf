//! `-rate`: threads, throttle and fixed rate, or the search for the thread count.

use super::command::{Command, Kind};
use super::describe::Dump;
use super::forms::{whole, Form, DIGITS};
use crate::grammar::number::is_digits;
use crate::grammar::options::{select, Choice, Group};
use crate::grammar::Usage;

/// Words that the tool's papers print where a number belongs.
const PLACEHOLDER: &str = "op/s";
const MOST_THREADS: usize = 100_000;

const PER_SECOND: Form = (
    |text| text == PLACEHOLDER || text.strip_suffix("/s").is_some_and(is_digits),
    "a rate such as 1000/s",
);

const THREADS: Choice = Choice::value("threads=", DIGITS, "run this many clients concurrently");
const THROTTLE: Choice = Choice::value(
    "throttle=",
    PER_SECOND,
    "operations per second over all threads at most, without a schedule (service time)",
);
const LIMIT: Choice = Choice::value("limit=", PER_SECOND, "the old name of throttle");
const FIXED: Choice = Choice::value(
    "fixed=",
    PER_SECOND,
    "operations per second over all threads by a fixed schedule (response time)",
);
const AUTO: Choice = Choice::flag("auto", "stop increasing threads once throughput saturates");
const LEAST: Choice = Choice::value(
    "threads>=",
    DIGITS,
    "run at least this many clients concurrently",
)
.or("4");
const MOST: Choice = Choice::value(
    "threads<=",
    DIGITS,
    "run at most this many clients concurrently",
)
.or("1000");

pub const GROUPS: &[Group] = &[
    &[THREADS.needed(), THROTTLE, LIMIT, FIXED],
    &[LEAST, MOST, AUTO],
];

/// How many threads, and at which rate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Threads {
    Count(usize),
    /// From `least` on, growing to `most`; with `auto` until it brings nothing more.
    Search {
        auto: bool,
        least: usize,
        most: usize,
    },
}

/// A rate over all threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    None,
    /// Service time is reported.
    Throttle(u64),
    /// Response time is reported.
    Fixed(u64),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rate {
    pub threads: Threads,
    pub limit: Limit,
    /// What was read differently from how it is written.
    pub note: Option<&'static str>,
}

impl Rate {
    pub fn read(parameters: Option<&[String]>, command: &Command) -> Result<Rate, Usage> {
        match parameters {
            Some(parameters) => given(parameters),
            None => Ok(Rate {
                threads: match (command.kind, command.count()) {
                    (Kind::Write | Kind::CounterWrite, Some(1..)) => Threads::Count(200),
                    _ => Threads::Search {
                        auto: true,
                        least: 4,
                        most: 1000,
                    },
                },
                limit: Limit::None,
                note: None,
            }),
        }
    }

    /// Operations per second, if there is a limit.
    pub fn per_second(&self) -> Option<u64> {
        match self.limit {
            Limit::None => None,
            Limit::Throttle(rate) | Limit::Fixed(rate) => Some(rate),
        }
    }

    pub fn is_fixed(&self) -> bool {
        matches!(self.limit, Limit::Fixed(_))
    }

    pub fn dump(&self, out: &mut Dump) {
        match self.threads {
            Threads::Count(count) => {
                out.say("Auto", "false");
                out.say("Thread Count", count);
                out.say("OpsPer Sec", self.per_second().unwrap_or(0));
            }
            Threads::Search {
                auto: true,
                least,
                most,
            } => {
                out.say("Auto", "true");
                out.say("Min Threads", least);
                out.say("Max Threads", most);
            }
            Threads::Search { auto: false, .. } => {
                out.say("Auto", "false");
                out.say("Thread Count", "-1");
                out.say("OpsPer Sec", "0");
            }
        }
    }
}

fn given(parameters: &[String]) -> Result<Rate, Usage> {
    let given = select("-rate", parameters, GROUPS)?;
    if given.group == 1 {
        let (least, most) = (
            threads(whole(&given, &LEAST)?)?,
            threads(whole(&given, &MOST)?)?,
        );
        return Ok(Rate {
            threads: Threads::Search {
                auto: given.flag("auto"),
                least,
                most,
            },
            limit: Limit::None,
            note: None,
        });
    }
    let of = |choice: &Choice| given.value(choice.name).map(per_second).transpose();
    let (throttle, limit, fixed) = (of(&THROTTLE)?, of(&LIMIT)?, of(&FIXED)?);
    let limit = match (throttle.or(limit).unwrap_or(0), fixed.unwrap_or(0)) {
        (0, 0) => Limit::None,
        (rate, 0) if throttle.is_none() || given.value(LIMIT.name).is_none() => {
            Limit::Throttle(rate)
        }
        (0, rate) => Limit::Fixed(rate),
        _ => {
            return Err(Usage::new(
                "can't have both fixed and throttle set, choose one.",
            ))
        }
    };
    let placeholder = [THROTTLE, LIMIT, FIXED]
        .iter()
        .any(|c| given.value(c.name) == Some(PLACEHOLDER));
    Ok(Rate {
        threads: Threads::Count(threads(whole(&given, &THREADS)?)?),
        limit,
        note: placeholder.then_some(
            "-rate: op/s stands where a number belongs (such as limit=10000/s), so that no rate \
             is set",
        ),
    })
}

fn threads(count: usize) -> Result<usize, Usage> {
    match count {
        1..=MOST_THREADS => Ok(count),
        _ => Err(Usage(format!(
            "-rate: {count} threads; must be 1 to {MOST_THREADS}"
        ))),
    }
}

fn per_second(text: &str) -> Result<u64, Usage> {
    if text == PLACEHOLDER {
        return Ok(0);
    }
    let rate: Option<u64> = text.trim_end_matches("/s").parse().ok();
    rate.filter(|&rate| rate <= 1_000_000_000)
        .ok_or_else(|| Usage(format!("-rate: {text} is more than 1000000000/s")))
}
