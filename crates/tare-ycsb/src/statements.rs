//! The CQL statements of YCSB's `cassandra-cql` and `scylla` bindings, letter by letter.
//!
//! The order of columns is that of the Java sets in which the bindings keep the fields' names, so
//! that a server prepares and does the same work.

use tare_cql::Consistency;
use tare_draw::java::string_hash;
use tare_engine::workload::StatementText;

use crate::java::{in_copied_set_order, in_table_order};
use crate::settings::{Action, Core, CqlBinding, Phase};

/// The primary key's column.
const KEY: &str = "y_id";
/// Rows per page that the Java driver asks for.
const PAGE: i32 = 5000;

/// The place of a text among all, where it is put if it is not there.
pub fn place_of<T: PartialEq>(texts: &mut Vec<T>, text: T) -> usize {
    let known = texts.iter().position(|known| *known == text);
    known.unwrap_or_else(|| {
        texts.push(text);
        texts.len() - 1
    })
}

/// Where statements that exist once, or once for every field, stand among all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    One(usize),
    /// From here on, one for each field.
    PerField(usize),
}

impl Place {
    /// The statement, for one field where there is one for each.
    pub fn of(self, field: usize) -> usize {
        match self {
            Place::One(position) => position,
            Place::PerField(first) => first + field,
        }
    }
}

/// All statements of a run, and which one does what. What a run never does has no statement.
#[derive(Debug, Default)]
pub struct Statements {
    pub texts: Vec<StatementText>,
    /// The fields in the order in which a statement names all of them.
    pub order: Vec<usize>,
    pub insert: Option<usize>,
    pub read: Option<Place>,
    /// The read before an update, which does not name the fields where a plain read does.
    pub read_to_modify: Option<Place>,
    pub update: Option<Place>,
    pub scan: Option<Place>,
}

impl Statements {
    pub fn new(core: &Core, phase: Phase, binding: &CqlBinding) -> Statements {
        let (read, write) = (binding.read, binding.write);
        let names = in_table_order(core.fields.clone(), |name| string_hash(name));
        let mut all = Statements {
            order: names
                .iter()
                .filter_map(|name| position(core, name))
                .collect(),
            ..Statements::default()
        };
        if phase == Phase::Load {
            all.insert = Some(all.add(insert(core, &names), write));
            return all;
        }
        let modifies = core.has(Action::ReadModifyWrite);
        if core.has(Action::Insert) {
            all.insert = Some(all.add(insert(core, &names), write));
        }
        if core.has(Action::Read) {
            let named = core.read_all_by_name || core.integrity;
            all.read = Some(all.selects(core, named, read, " WHERE y_id=? LIMIT 1;"));
        }
        if modifies {
            all.read_to_modify = Some(all.selects(core, false, read, " WHERE y_id=? LIMIT 1;"));
        }
        if core.has(Action::Update) || modifies {
            all.update = Some(all.updates(core, &names, write));
        }
        if core.has(Action::Scan) {
            let place = all.selects(core, false, read, " WHERE token(y_id) >= token(?) LIMIT ?");
            all.scan = Some(place);
        }
        all
    }

    fn add(&mut self, cql: String, consistency: Consistency) -> usize {
        let mut text = StatementText::new(cql, consistency);
        if text.cql.starts_with("SELECT") {
            text.page_size = Some(PAGE);
        }
        place_of(&mut self.texts, text)
    }

    /// Reads of all columns, of all fields by name, or of one field each.
    fn selects(&mut self, core: &Core, named: bool, level: Consistency, rest: &str) -> Place {
        let table = quoted(&core.table);
        let select = |columns: &str| format!("SELECT {columns} FROM {table}{rest}");
        if !core.read_all {
            return self.per_field(core, level, |field| select(&quoted(field)));
        }
        let columns = match named {
            true => list(&in_copied_set_order(core.fields.clone()), ""),
            false => "*".to_owned(),
        };
        Place::One(self.add(select(&columns), level))
    }

    fn updates(&mut self, core: &Core, names: &[String], level: Consistency) -> Place {
        let table = quoted(&core.table);
        let update = |sets: &str| format!("UPDATE {table} SET {sets} WHERE {KEY}=?;");
        if core.write_all {
            return Place::One(self.add(update(&list(names, "=?")), level));
        }
        self.per_field(core, level, |field| update(&format!("{}=?", quoted(field))))
    }

    /// One statement for each field; they stand together, also where another use has them already.
    fn per_field(
        &mut self,
        core: &Core,
        level: Consistency,
        cql: impl Fn(&str) -> String,
    ) -> Place {
        let places = core.fields.iter().map(|field| self.add(cql(field), level));
        let places: Vec<usize> = places.collect();
        Place::PerField(places.first().copied().unwrap_or(0))
    }
}

fn position(core: &Core, name: &str) -> Option<usize> {
    core.fields.iter().position(|field| field == name)
}

fn insert(core: &Core, names: &[String]) -> String {
    let table = quoted(&core.table);
    let columns = list(names, "");
    let marks = vec!["?"; names.len() + 1].join(",");
    format!("INSERT INTO {table} ({KEY},{columns}) VALUES ({marks});")
}

fn list(names: &[String], after: &str) -> String {
    let names: Vec<String> = names
        .iter()
        .map(|name| format!("{}{after}", quoted(name)))
        .collect();
    names.join(",")
}

/// A name as the Java driver writes it: in quotes unless it is all letters, digits and underscores.
fn quoted(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if !name.is_empty() && name.chars().all(is_plain) {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('"', "\"\""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::tests::settings;
    use crate::settings::{Binding, Settings};

    fn statements(settings: &Settings) -> Statements {
        match &settings.binding {
            Binding::Cql(binding) => Statements::new(&settings.core, settings.phase, binding),
            Binding::Mongo(_) => panic!("not a binding for CQL"),
        }
    }

    fn texts(properties: &str) -> Vec<String> {
        let texts = statements(&settings(properties)).texts;
        texts.into_iter().map(|text| text.cql).collect()
    }

    #[test]
    fn a_load_inserts_rows_with_columns_in_javas_order() {
        let columns = "field1,field0,field7,field6,field9,field8,field3,field2,field5,field4";
        let expected =
            format!("INSERT INTO usertable (y_id,{columns}) VALUES (?,?,?,?,?,?,?,?,?,?,?);");
        assert_eq!(texts("dotransactions=false recordcount=9"), [expected]);
    }

    #[test]
    fn workload_a_reads_all_and_updates_one_field() {
        let texts = texts("readproportion=0.5 updateproportion=0.5");
        assert_eq!(texts.len(), 11);
        assert_eq!(texts[0], "SELECT * FROM usertable WHERE y_id=? LIMIT 1;");
        assert_eq!(texts[4], "UPDATE usertable SET field3=? WHERE y_id=?;");
    }

    #[test]
    fn fields_are_named_where_ycsb_names_them() {
        let by_name = texts("fieldcount=3 updateproportion=0 readallfieldsbyname=true");
        let expected = "SELECT field1,field0,field2 FROM usertable WHERE y_id=? LIMIT 1;";
        assert_eq!(by_name, [expected]);
        assert_eq!(
            texts("fieldcount=3 updateproportion=0 dataintegrity=true"),
            [expected]
        );
        let one = texts("fieldcount=2 updateproportion=0 readallfields=false table=My-T");
        assert_eq!(one[1], "SELECT field1 FROM \"My-T\" WHERE y_id=? LIMIT 1;");
    }

    #[test]
    fn a_scan_begins_at_the_keys_token() {
        let texts = texts("readproportion=0 updateproportion=0 scanproportion=1");
        assert_eq!(
            texts,
            ["SELECT * FROM usertable WHERE token(y_id) >= token(?) LIMIT ?"]
        );
    }

    #[test]
    fn a_read_modify_write_shares_the_reads_statement() {
        let settings = settings(
            "fieldcount=2 readproportion=0.5 updateproportion=0 readmodifywriteproportion=0.5 \
             writeallfields=true",
        );
        let all = statements(&settings);
        assert_eq!(all.read, all.read_to_modify);
        assert_eq!(
            all.texts[1].cql,
            "UPDATE usertable SET field1=?,field0=? WHERE y_id=?;"
        );
        assert_eq!(all.update, Some(Place::One(1)));
        assert_eq!((all.insert, all.scan), (None, None));
    }

    #[test]
    fn reads_and_writes_have_their_own_consistency() {
        let settings = settings("cassandra.readconsistencylevel=ONE");
        let all = statements(&settings);
        assert_eq!(all.texts[0].consistency, Consistency::One);
        assert_eq!(all.texts[1].consistency, Consistency::Quorum);
    }

    #[test]
    fn a_hostile_name_stays_within_its_quotes() {
        let texts = texts("table=t;DROP\"x updateproportion=0");
        assert_eq!(
            texts,
            ["SELECT * FROM \"t;DROP\"\"x\" WHERE y_id=? LIMIT 1;"]
        );
    }
}
