//! `-errors`: how often an operation is tried, and what its failure does.

use super::describe::Dump;
use super::forms::{whole, DIGITS};
use crate::grammar::options::{select, Choice, Group};
use crate::grammar::Usage;

const RETRIES: Choice = Choice::value(
    "retries=",
    DIGITS,
    "number of tries to perform for each operation before failing",
)
.or("9");
const IGNORE: Choice = Choice::flag("ignore", "do not fail on errors");
const FAIL_FAST: Choice = Choice::flag("fail-fast", "end at the first failure (as without it)");
const SKIP: Choice = Choice::flag("skip-read-validation", "do not compare what is read");

pub const GROUPS: &[Group] = &[&[RETRIES, IGNORE, FAIL_FAST, SKIP]];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Errors {
    pub ignore: bool,
    /// Tries of one operation, the first one included.
    pub tries: u32,
    pub skip_read_validation: bool,
}

impl Errors {
    pub fn read(parameters: Option<&[String]>) -> Result<Errors, Usage> {
        let given = select("-errors", parameters.unwrap_or_default(), GROUPS)?;
        let (ignore, fail_fast) = (given.flag(IGNORE.name), given.flag(FAIL_FAST.name));
        if ignore && fail_fast {
            return Err(Usage::new(
                "-errors: ignore and fail-fast contradict each other",
            ));
        }
        Ok(Errors {
            ignore,
            tries: whole::<u32>(&given, &RETRIES)?.saturating_add(1),
            skip_read_validation: given.flag(SKIP.name),
        })
    }

    pub fn dump(&self, out: &mut Dump) {
        out.say("Ignore", self.ignore);
        out.say("Tries", self.tries);
    }
}
