//! The binding `mongodb`: documents whose `_id` is the key and whose fields are binaries.

mod writer;

use std::time::Duration;

use tare_draw::java::string_hash;
use tare_engine::wire::{self, MongoText};
use tare_mongo::Field;

use super::Dialect;
use crate::fields::Fields;
use crate::java::{in_copied_set_order, in_table_order};
use crate::settings::{Action, BadProperty, Core, MongoBinding, Phase};
use crate::statements::{place_of, Place};

pub use writer::MongoWriter;

/// The commands of a run, and which one does what. What a run never does has none.
pub struct Mongo {
    texts: Vec<MongoText>,
    commands: Commands,
    /// The fields in the order in which a document has all of them.
    order: Vec<usize>,
    fields: Vec<Field>,
    batch: u64,
    retries: bool,
    retries_reads: bool,
    patience: Duration,
}

#[derive(Debug, Clone, Default)]
struct Commands {
    insert: usize,
    read: Option<Place>,
    read_to_modify: Option<Place>,
    update: usize,
    scan: Option<Place>,
    more: usize,
}

impl Mongo {
    /// # Errors
    /// A field's name that BSON cannot carry.
    pub fn new(core: &Core, phase: Phase, binding: &MongoBinding) -> Result<Mongo, BadProperty> {
        let encoded = core.fields.iter().map(|name| Field::new(name));
        let fields = encoded
            .collect::<Result<_, _>>()
            .map_err(|why| BadProperty::new("fieldnameprefix", "", why))?;
        let names = in_table_order(core.fields.clone(), |name| string_hash(name));
        let position = |name: &String| core.fields.iter().position(|field| field == name);
        let mut all = Mongo {
            texts: Vec::new(),
            commands: Commands::default(),
            order: names.iter().filter_map(position).collect(),
            fields,
            batch: match phase {
                Phase::Load => binding.batch,
                Phase::Run => 1,
            },
            retries: binding.deployment.uri.retry_writes,
            retries_reads: binding.deployment.uri.retry_reads,
            patience: binding.deployment.uri.selection_timeout,
        };
        all.add_commands(core, phase, binding);
        Ok(all)
    }

    fn add_commands(&mut self, core: &Core, phase: Phase, binding: &MongoBinding) {
        let table = &core.table;
        if phase == Phase::Load || core.has(Action::Insert) {
            self.commands.insert = self.add(match binding.upsert {
                true => MongoText::Replace {
                    table: table.clone(),
                },
                // YCSB inserts one document in order, and several in any.
                false => MongoText::Insert {
                    table: table.clone(),
                    ordered: self.batch == 1,
                },
            });
        }
        if phase == Phase::Load {
            return;
        }
        let modifies = core.has(Action::ReadModifyWrite);
        let find = |fields| MongoText::Find {
            table: table.clone(),
            fields,
        };
        if core.has(Action::Read) {
            let named = core.read_all_by_name || core.integrity;
            self.commands.read = Some(self.reads(core, named, find));
        }
        if modifies {
            self.commands.read_to_modify = Some(self.reads(core, false, find));
        }
        if modifies || core.has(Action::Update) {
            self.commands.update = self.add(MongoText::Update {
                table: table.clone(),
            });
        }
        if core.has(Action::Scan) {
            let scan = |fields| MongoText::Scan {
                table: table.clone(),
                fields,
            };
            self.commands.scan = Some(self.reads(core, false, scan));
            self.commands.more = self.add(MongoText::GetMore {
                table: table.clone(),
            });
        }
    }

    fn add(&mut self, text: MongoText) -> usize {
        place_of(&mut self.texts, text)
    }

    /// Commands without a projection, with one of all fields, or with one of each field.
    fn reads(
        &mut self,
        core: &Core,
        named: bool,
        command: impl Fn(Option<Vec<String>>) -> MongoText,
    ) -> Place {
        if core.read_all {
            let fields = named.then(|| in_copied_set_order(core.fields.clone()));
            return Place::One(self.add(command(fields)));
        }
        let each = core.fields.iter().map(|field| Some(vec![field.clone()]));
        let places: Vec<usize> = each.map(|field| self.add(command(field))).collect();
        Place::PerField(places.first().copied().unwrap_or(0))
    }
}

impl Dialect for Mongo {
    type Wire = wire::Mongo;
    type Writer = MongoWriter;

    fn texts(&self) -> Vec<MongoText> {
        self.texts.clone()
    }

    fn writer(&self, core: &Core, _statements: &[()]) -> MongoWriter {
        MongoWriter {
            values: Fields::new(core, &self.order),
            fields: self.fields.clone(),
            commands: self.commands.clone(),
            write_all: core.write_all,
            read_all: core.read_all,
            batch: self.batch,
            retries: self.retries,
            retries_reads: self.retries_reads,
            patience: self.patience,
            expected: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests;
