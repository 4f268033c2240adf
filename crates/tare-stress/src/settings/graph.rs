//! `-graph`: refused, for Tare has figures of its own.

use super::describe::Dump;
use super::forms::ANY;
use crate::grammar::options::{select, Choice, Group};
use crate::grammar::Usage;

const FILE: Choice = Choice::value("file=", ANY, "refused");
const REVISION: Choice = Choice::value("revision=", ANY, "refused");
const TITLE: Choice = Choice::value("title=", ANY, "refused");
const OPERATION: Choice = Choice::value("op=", ANY, "refused");

pub const GROUPS: &[Group] = &[&[FILE.needed(), REVISION, TITLE, OPERATION]];

/// Refuses a graph; nothing said is fine.
pub fn refuse(parameters: Option<&[String]>) -> Result<(), Usage> {
    let Some(parameters) = parameters else {
        return Ok(());
    };
    select("-graph", parameters, GROUPS)?;
    Err(Usage::new(
        "-graph is not drawn here; write the run with -log file=run.txt hdrfile=run.hdr and make \
         figures with `tare import cassandra-stress run.txt` and `tare report`",
    ))
}

pub fn dump(operation: &str, out: &mut Dump) {
    out.say("File", "null");
    out.say("Revision", "unknown");
    out.say("Title", "null");
    out.say("Operation", operation);
}
