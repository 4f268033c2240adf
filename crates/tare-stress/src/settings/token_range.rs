//! `-tokenrange`: how token range queries walk the ring.

use super::describe::Dump;
use super::forms::{text, COUNT};
use crate::grammar::number::count;
use crate::grammar::options::{select, Choice, Group};
use crate::grammar::Usage;

const MOST_SPLITS: i64 = 1_000_000;

const WRAP: Choice = Choice::flag("wrap", "begin again when all token ranges have been read");
const SPLIT: Choice = Choice::value(
    "split-factor=",
    COUNT,
    "split every token range by this factor",
)
.or("1");

pub const GROUPS: &[Group] = &[&[WRAP, SPLIT]];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRange {
    pub wrap: bool,
    pub split: i64,
}

impl TokenRange {
    pub fn read(parameters: Option<&[String]>) -> Result<TokenRange, Usage> {
        let given = select("-tokenrange", parameters.unwrap_or_default(), GROUPS)?;
        let split = text(&given, &SPLIT)
            .and_then(count)
            .filter(|&n| n <= MOST_SPLITS);
        Ok(TokenRange {
            wrap: given.flag(WRAP.name),
            split: split.ok_or_else(|| {
                Usage(format!(
                    "-tokenrange: split-factor= must be at most {MOST_SPLITS}"
                ))
            })?,
        })
    }

    pub fn dump(&self, out: &mut Dump) {
        out.say("Wrap", self.wrap);
        out.say("Split Factor", self.split);
    }
}
