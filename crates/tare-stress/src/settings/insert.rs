//! `-insert`: how writes are cut into visits and batches.

use tare_cql::BatchKind;

use super::describe::{describe, describe_share, Dump};
use super::forms::{draw, share, Draw, Form, Share, DRAW, RATIO};
use crate::grammar::options::{select, Choice, Group};
use crate::grammar::Usage;

const BATCH_FORM: Form = (
    |text| batch_kind(text).is_some(),
    "unlogged, logged or counter",
);

const REVISIT: Choice = Choice::value(
    "revisit=",
    DRAW,
    "the distribution with which partial writes are revisited",
)
.or("uniform(1..1M)");
const VISITS: Choice = Choice::value(
    "visits=",
    DRAW,
    "the number of inserts that a partition is split into; more than one puts it in the revisit set",
)
.or("fixed(1)");
const PARTITIONS: Choice = Choice::value(
    "partitions=",
    DRAW,
    "the number of partitions in a single batch",
);
const BATCH_TYPE: Choice = Choice::value("batchtype=", BATCH_FORM, "the type of batch statement");
const SELECT: Choice = Choice::value(
    "select-ratio=",
    RATIO,
    "the uniform probability of visiting any row of the partition",
);
const POPULATION: Choice = Choice::value(
    "row-population-ratio=",
    RATIO,
    "the share of a row's columns to populate",
)
.or("fixed(1)/1");

pub const GROUPS: &[Group] = &[&[REVISIT, VISITS, PARTITIONS, BATCH_TYPE, SELECT, POPULATION]];

#[derive(Debug, Clone)]
pub struct Insert {
    pub visits: Draw,
    pub revisit: Draw,
    pub partitions: Option<Draw>,
    pub select: Option<Share>,
    pub row_population: Share,
    pub batch: Option<BatchKind>,
}

/// The kind of a batch by its name, in any case.
pub fn batch_kind(text: &str) -> Option<BatchKind> {
    match text.to_ascii_lowercase().as_str() {
        "logged" => Some(BatchKind::Logged),
        "unlogged" => Some(BatchKind::Unlogged),
        "counter" => Some(BatchKind::Counter),
        _ => None,
    }
}

impl Insert {
    pub fn read(parameters: Option<&[String]>) -> Result<Insert, Usage> {
        let given = select("-insert", parameters.unwrap_or_default(), GROUPS)?;
        let missing = || Usage::new("-insert: a default is missing");
        Ok(Insert {
            visits: draw(&given, &VISITS)?.ok_or_else(missing)?,
            revisit: draw(&given, &REVISIT)?.ok_or_else(missing)?,
            partitions: draw(&given, &PARTITIONS)?,
            select: share(&given, &SELECT)?,
            row_population: share(&given, &POPULATION)?.ok_or_else(missing)?,
            batch: given.value(BATCH_TYPE.name).and_then(batch_kind),
        })
    }

    pub fn dump(&self, out: &mut Dump) {
        out.say("Revisits", describe(&self.revisit.distribution));
        out.say("Visits", describe(&self.visits.distribution));
        if let Some(partitions) = &self.partitions {
            out.say("Batchsize", describe(&partitions.distribution));
        }
        if let Some(select) = &self.select {
            out.say("Select Ratio", describe_share(select));
        }
        out.say("Row Population Ratio", describe_share(&self.row_population));
        match self.batch {
            None => out.say("Batch Type", "not batching"),
            Some(kind) => out.say("Batch Type", format!("{kind:?}").to_uppercase()),
        }
    }
}
