//! The binding `mongodb`: documents whose `_id` is the key and whose fields are binaries.

use std::time::Duration;

use tare_draw::java::string_hash;
use tare_draw::ycsb::{checked_value, FieldLength};
use tare_draw::Xoshiro;
use tare_engine::errors::ErrorKind;
use tare_engine::request::Request;
use tare_engine::wire::{self, MongoText};
use tare_engine::workload::Outcome;
use tare_mongo::document::{Document, Value};
use tare_mongo::{Field, Outcome as Told, ServerError};

use super::{Dialect, Purpose, Scanned, Writer};
use crate::fields::Fields;
use crate::java::{in_copied_set_order, in_table_order};
use crate::settings::{Action, BadProperty, Core, MongoBinding, Phase};
use crate::statements::Place;

/// Pause before a request is sent again that no member took or that lost its connection: an
/// election takes seconds.
const ASK_AGAIN: Duration = Duration::from_millis(100);

/// The commands of a run, and which one does what. What a run never does has none.
pub struct Mongo {
    texts: Vec<MongoText>,
    commands: Commands,
    /// The fields in the order in which a document has all of them.
    order: Vec<usize>,
    fields: Vec<Field>,
    batch: u64,
    retries: bool,
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
        if let Some(position) = self.texts.iter().position(|known| *known == text) {
            return position;
        }
        self.texts.push(text);
        self.texts.len() - 1
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
            patience: self.patience,
            expected: Vec::new(),
        }
    }
}

/// Writes commands.
pub struct MongoWriter {
    values: Fields,
    fields: Vec<Field>,
    commands: Commands,
    write_all: bool,
    read_all: bool,
    batch: u64,
    retries: bool,
    patience: Duration,
    expected: Vec<u8>,
}

/// The command for a field; the first one's where none takes part.
fn of(place: Option<Place>, field: usize) -> usize {
    place.map_or(0, |place| place.of(field))
}

impl MongoWriter {
    fn write(
        &self,
        field: usize,
        key: &[u8],
        rng: &mut Xoshiro,
        request: &mut Request<wire::Mongo>,
    ) {
        let write = |value: &mut Vec<u8>| self.values.write(field, key, rng, value);
        request.field_with(&self.fields[field], write);
    }

    fn document(&self, key: &[u8], rng: &mut Xoshiro, request: &mut Request<wire::Mongo>) {
        request.document(key);
        for &field in self.values.order() {
            self.write(field, key, rng, request);
        }
    }

    /// Whether a document holds what belongs to a record.
    fn holds(
        &mut self,
        core: &Core,
        record: i64,
        statement: usize,
        found: Document<'_>,
    ) -> Option<bool> {
        let FieldLength::Constant(length) = core.length else {
            return None;
        };
        let key = core.keys.key(record);
        for (position, name) in core.fields.iter().enumerate() {
            let asked = self.read_all || of(self.commands.read, position) == statement;
            if !asked {
                continue;
            }
            self.expected.clear();
            checked_value(&key, name, length as usize, &mut self.expected);
            match found.get(name).ok()? {
                Some(Value::Binary { bytes, .. }) if bytes == self.expected => {}
                _ => return Some(false),
            }
        }
        Some(true)
    }
}

impl Writer<wire::Mongo> for MongoWriter {
    fn batch(&self) -> u64 {
        self.batch
    }

    fn insert(&mut self, key: &[u8], rng: &mut Xoshiro, request: &mut Request<wire::Mongo>) {
        request.write(self.commands.insert);
        self.document(key, rng, request);
    }

    fn insert_another(
        &mut self,
        key: &[u8],
        rng: &mut Xoshiro,
        request: &mut Request<wire::Mongo>,
    ) {
        self.document(key, rng, request);
    }

    fn read(
        &mut self,
        key: &[u8],
        purpose: Purpose,
        rng: &mut Xoshiro,
        request: &mut Request<wire::Mongo>,
    ) -> usize {
        let place = match purpose {
            Purpose::Read => self.commands.read,
            Purpose::Modify => self.commands.read_to_modify,
        };
        let statement = of(place, self.values.choose(rng));
        request.find(statement, key);
        statement
    }

    fn update(&mut self, key: &[u8], rng: &mut Xoshiro, request: &mut Request<wire::Mongo>) {
        let field = self.values.choose(rng);
        request.write(self.commands.update);
        if self.write_all {
            self.document(key, rng, request);
        } else {
            request.document(key);
            self.write(field, key, rng, request);
        }
    }

    fn scan(
        &mut self,
        key: &[u8],
        rows: i32,
        rng: &mut Xoshiro,
        request: &mut Request<wire::Mongo>,
    ) -> usize {
        let statement = of(self.commands.scan, self.values.choose(rng));
        request.scan(statement, key, rows);
        statement
    }

    /// What did not fit into the first batch.
    fn more(
        &mut self,
        _scan: Scanned<'_>,
        told: &Told<'_>,
        request: &mut Request<wire::Mongo>,
    ) -> bool {
        let rest = told.cursor.map(|cursor| cursor.id).filter(|id| *id != 0);
        if let Some(cursor) = rest {
            request.get_more(self.commands.more, cursor);
        }
        rest.is_some()
    }

    fn is_empty(told: &Told<'_>) -> bool {
        told.cursor.is_none_or(|cursor| cursor.batch.is_empty())
    }

    fn nothing_scanned() -> Outcome {
        Err(ErrorKind::NotFound)
    }

    fn updated(told: Option<&Told<'_>>) -> Outcome {
        match told {
            Some(told) if told.count > 0 => Ok(()),
            _ => Err(ErrorKind::NotFound),
        }
    }

    fn check(&mut self, core: &Core, record: i64, statement: usize, told: &Told<'_>) -> Outcome {
        let first = told
            .cursor
            .and_then(|cursor| cursor.batch.documents().next());
        let holds = match first {
            Some(Ok(document)) => self.holds(core, record, statement, document),
            _ => None,
        };
        match holds {
            Some(true) => Ok(()),
            _ => Err(ErrorKind::WrongValue),
        }
    }

    /// As the driver's retryable reads and writes: once where a server says what may pass, and
    /// while no member serves it for as long as the driver would look for one.
    fn again(
        &self,
        kind: ErrorKind,
        server: Option<&ServerError>,
        retries: u32,
        waited: Duration,
    ) -> Option<Duration> {
        let may_pass = match server {
            Some(server) => server.is_retryable() && retries == 0,
            None => kind == ErrorKind::Connection && waited < self.patience,
        };
        (self.retries && may_pass).then_some(ASK_AGAIN)
    }
}

#[cfg(test)]
mod tests;
