//! What is printed of one operation: its latencies and its statuses, in YCSB's order.

use tare_draw::java::string_hash;
use tare_engine::errors::ErrorKind;
use tare_engine::record::OperationRecord;

use super::latencies::Latencies;
use crate::java::in_table_order;
use crate::operations::{Measured, Operations};
use crate::settings::{Measure, MeasuredFrom};

/// One measured operation under one name.
#[derive(Debug, Clone)]
pub struct Block {
    /// The name as printed: READ, READ-FAILED, Intended-READ.
    pub name: String,
    pub latencies: Latencies,
    /// Operations by status, in the order of YCSB's table.
    pub returns: Vec<(&'static str, u64)>,
}

/// Statuses with their descriptions, on which YCSB's table order depends.
const STATUSES: [(&str, &str); 4] = [
    ("OK", "The operation completed successfully."),
    ("ERROR", "The operation failed."),
    ("NOT_FOUND", "The requested record was not found."),
    (
        "UNEXPECTED_STATE",
        "The operation reported success, but the result was not as expected.",
    ),
];

/// The blocks of some records. `seen` holds the whole run so far: an operation that has not
/// happened yet has no block. `cleanups` are threads that have ended.
pub fn blocks(
    records: &[OperationRecord],
    seen: &[OperationRecord],
    operations: &Operations,
    measure: &Measure,
    cleanups: u64,
) -> Vec<Block> {
    let maker = Maker {
        records,
        seen,
        operations,
        measure,
    };
    let mut all = Vec::new();
    if measure.from != MeasuredFrom::Intended {
        all.extend(ordered(maker.sent(cleanups), ""));
    }
    if measure.from != MeasuredFrom::Sent {
        let prefix = match measure.from {
            MeasuredFrom::Both => "Intended-",
            _ => "",
        };
        all.extend(ordered(maker.intended(cleanups), prefix));
    }
    all
}

/// YCSB's table is ordered by the operation's name, whatever is printed before it.
fn ordered(blocks: Vec<Block>, prefix: &str) -> Vec<Block> {
    let mut blocks = in_table_order(blocks, |block| string_hash(&block.name));
    for block in &mut blocks {
        block.name.insert_str(0, prefix);
    }
    blocks
}

struct Maker<'a> {
    records: &'a [OperationRecord],
    seen: &'a [OperationRecord],
    operations: &'a Operations,
    measure: &'a Measure,
}

impl Maker<'_> {
    fn sent(&self, cleanups: u64) -> Vec<Block> {
        let mut blocks = Vec::new();
        for (position, operation) in self.happened() {
            let record = &self.records[position];
            let latencies = match operation.is_call() {
                true => Latencies::sent(record),
                // YCSB measures these whether they went well or not.
                false => Latencies::sent(record).and_failed(record),
            };
            blocks.push(block(
                operation.name(),
                latencies,
                self.returns(position, operation),
            ));
            if operation.is_call() && self.seen[position].failures() > 0 {
                blocks.extend(self.failed(position, operation));
            }
        }
        blocks.extend(cleanup(cleanups));
        blocks
    }

    fn intended(&self, cleanups: u64) -> Vec<Block> {
        let alone = self.measure.from == MeasuredFrom::Intended;
        let mut blocks = Vec::new();
        for (position, operation) in self.happened() {
            let record = &self.records[position];
            let returns = match alone {
                true => self.returns(position, operation),
                false => Vec::new(),
            };
            match operation {
                // Has no intended time; only its statuses are known here.
                Measured::Verify if alone => {
                    blocks.push(block(operation.name(), Latencies::none(), returns));
                }
                Measured::Verify => {}
                _ => blocks.push(block(
                    operation.name(),
                    Latencies::intended(record),
                    returns,
                )),
            }
            if operation.is_call() && self.seen[position].failures() > 0 {
                blocks.extend(self.failed_apart(operation, Latencies::intended));
            }
        }
        blocks.extend(cleanup(cleanups));
        blocks
    }

    fn happened(&self) -> impl Iterator<Item = (usize, Measured)> + '_ {
        let all = self.operations.measured().iter().copied().enumerate();
        all.filter(|(position, _)| {
            let seen = &self.seen[*position];
            seen.ok + seen.failures() > 0
        })
    }

    /// The failures of an operation, under READ-FAILED or under their statuses.
    fn failed(&self, position: usize, operation: Measured) -> Vec<Block> {
        let apart = self.failed_apart(operation, Latencies::sent);
        if !apart.is_empty() {
            return apart;
        }
        let latencies = Latencies::none().and_failed(&self.records[position]);
        vec![block(
            format!("{}-FAILED", operation.name()),
            latencies,
            Vec::new(),
        )]
    }

    fn failed_apart(
        &self,
        operation: Measured,
        latencies: impl Fn(&OperationRecord) -> Latencies,
    ) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut rest: Option<Latencies> = None;
        for (position, apart) in self.operations.apart() {
            if apart.of != operation || self.seen[position].ok == 0 {
                continue;
            }
            let latencies = latencies(&self.records[position]);
            if self.measure.tracked.has(apart.status) {
                let name = format!("{}-{}", operation.name(), apart.status);
                blocks.push(block(name, latencies, Vec::new()));
            } else {
                rest = Some(match rest {
                    Some(rest) => rest.plus(&latencies),
                    None => latencies,
                });
            }
        }
        let failed = format!("{}-FAILED", operation.name());
        blocks.extend(rest.map(|rest| block(failed, rest, Vec::new())));
        blocks
    }

    fn returns(&self, position: usize, operation: Measured) -> Vec<(&'static str, u64)> {
        let record = &self.seen[position];
        if operation == Measured::ReadModifyWrite {
            return Vec::new();
        }
        let mut counts = [record.ok, 0, 0, 0];
        for kind in ErrorKind::ALL {
            let name = self.operations.status(operation, kind);
            if let Some(place) = STATUSES.iter().position(|(known, _)| *known == name) {
                counts[place] += record.errors[kind as usize];
            }
        }
        let returns = STATUSES.iter().zip(counts).filter(|(_, count)| *count > 0);
        let returns = returns
            .map(|((name, about), count)| (*name, *about, count))
            .collect();
        let ordered = in_table_order(returns, |(name, about, _)| {
            let hash = string_hash(about).wrapping_add(31).wrapping_mul(31);
            hash.wrapping_add(string_hash(name))
        });
        ordered
            .into_iter()
            .map(|(name, _, count)| (name, count))
            .collect()
    }
}

fn block(
    name: impl Into<String>,
    latencies: Latencies,
    returns: Vec<(&'static str, u64)>,
) -> Block {
    Block {
        name: name.into(),
        latencies,
        returns,
    }
}

/// The threads' ends. Nothing of it takes time here: connections belong to no thread.
fn cleanup(threads: u64) -> Option<Block> {
    (threads > 0).then(|| block("CLEANUP", Latencies::zeros(threads), Vec::new()))
}
