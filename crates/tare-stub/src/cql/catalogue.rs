//! The keyspaces and tables that the stub says it has; CREATE statements add to them.

use crate::cql::create::parse_table;
use crate::cql::kind::Kind;
use crate::cql::words::{words, Word};

/// Most keyspaces, and tables, that clients may create.
const MOST: usize = 1_000;

/// What a column is in its table's primary key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Part of the partition key, by its place in it.
    Partition(u16),
    /// Part of the clustering key, by its place in it.
    Clustering(u16),
    Regular,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub kind: Kind,
    pub role: Role,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    pub keyspace: String,
    pub name: String,
    pub columns: Vec<Column>,
    /// Length of its values, where it is not that of the script.
    pub value_bytes: Option<usize>,
}

impl Table {
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}

#[derive(Debug, Clone)]
pub struct Keyspace {
    pub name: String,
    /// The replication map: class, and replicas as the CREATE statement gave them.
    pub replication: Vec<(String, String)>,
}

/// Everything there is.
#[derive(Debug, Clone)]
pub struct Catalogue {
    pub keyspaces: Vec<Keyspace>,
    pub tables: Vec<Table>,
}

/// What a CREATE statement is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Created {
    Keyspace(String),
    Table(String, String),
}

/// YCSB's table (the README of its cassandra binding), by any name.
fn ycsb_table(name: &str) -> String {
    let fields: String = (0..10)
        .map(|field| format!(", field{field} varchar"))
        .collect();
    format!("CREATE TABLE {name} (y_id varchar PRIMARY KEY{fields})")
}

impl Default for Catalogue {
    /// YCSB's table and those of cassandra-stress.
    fn default() -> Self {
        let columns: String = (0..5)
            .map(|column| format!(", \"C{column}\" blob"))
            .collect();
        let counters: String = (0..5)
            .map(|column| format!(", \"C{column}\" counter"))
            .collect();
        let mut catalogue = Catalogue {
            keyspaces: Vec::new(),
            tables: Vec::new(),
        };
        for cql in [
            ycsb_table("ycsb.usertable"),
            format!("CREATE TABLE keyspace1.standard1 (key blob PRIMARY KEY{columns})"),
            format!("CREATE TABLE keyspace1.counter1 (key blob PRIMARY KEY{counters})"),
        ] {
            // These three are understood: a test says so.
            let _ = catalogue.create(&cql, None);
        }
        catalogue
    }
}

impl Catalogue {
    pub fn table(&self, keyspace: &str, name: &str) -> Option<&Table> {
        self.tables
            .iter()
            .find(|table| table.keyspace == keyspace && table.name == name)
    }

    pub fn has_keyspace(&self, name: &str) -> bool {
        self.keyspaces.iter().any(|keyspace| keyspace.name == name)
    }

    /// Adds a table like YCSB's, with values of a length of their own.
    ///
    /// # Errors
    /// What is wrong with its name.
    pub fn add_ycsb_table(&mut self, name: &str, value_bytes: usize) -> Result<(), String> {
        match self.create(&ycsb_table(name), None)? {
            Created::Table(keyspace, name) => {
                let made = |one: &&mut Table| one.keyspace == keyspace && one.name == name;
                if let Some(table) = self.tables.iter_mut().find(made) {
                    table.value_bytes = Some(value_bytes);
                }
                Ok(())
            }
            Created::Keyspace(_) => Err(format!("{name:?} is no table")),
        }
    }

    /// Obeys CREATE KEYSPACE and CREATE TABLE; what exists already stays as it is.
    ///
    /// # Errors
    /// What was not understood, for the client.
    pub fn create(&mut self, cql: &str, current: Option<&str>) -> Result<Created, String> {
        let words = words(cql);
        let rest: Vec<&Word> = words
            .iter()
            .skip(2)
            .filter(|word| {
                !["if", "not", "exists"]
                    .iter()
                    .any(|keyword| word.is(keyword))
            })
            .collect();
        if words.get(1).is_some_and(|word| word.is("keyspace")) {
            return self.create_keyspace(&rest);
        }
        let table = parse_table(&rest, current)?;
        let created = Created::Table(table.keyspace.clone(), table.name.clone());
        if self.table(&table.keyspace, &table.name).is_none() {
            if self.tables.len() >= MOST {
                return Err(format!("the stub keeps at most {MOST} tables"));
            }
            self.keep_keyspace(&table.keyspace, Vec::new())?;
            self.tables.push(table);
        }
        Ok(created)
    }

    fn create_keyspace(&mut self, rest: &[&Word]) -> Result<Created, String> {
        let Some(Word::Name(name)) = rest.first() else {
            return Err("CREATE KEYSPACE names no keyspace".into());
        };
        let texts: Vec<String> = rest
            .iter()
            .filter_map(|word| match word {
                Word::Text(text) => Some(text.clone()),
                Word::Number(number) => Some(number.clone()),
                _ => None,
            })
            .collect();
        let pairs = texts
            .chunks_exact(2)
            .map(|pair| (pair[0].clone(), pair[1].clone()))
            .collect();
        self.keep_keyspace(name, pairs)?;
        Ok(Created::Keyspace(name.clone()))
    }

    fn keep_keyspace(
        &mut self,
        name: &str,
        replication: Vec<(String, String)>,
    ) -> Result<(), String> {
        if self.has_keyspace(name) {
            return Ok(());
        }
        if self.keyspaces.len() >= MOST {
            return Err(format!("the stub keeps at most {MOST} keyspaces"));
        }
        let named = |(key, value): (String, String)| match key.as_str() {
            "class" if !value.contains('.') => {
                (key, format!("org.apache.cassandra.locator.{value}"))
            }
            _ => (key, value),
        };
        let mut replication: Vec<_> = replication.into_iter().map(named).collect();
        if replication.is_empty() {
            replication.push((
                "class".into(),
                "org.apache.cassandra.locator.SimpleStrategy".into(),
            ));
            replication.push(("replication_factor".into(), "1".into()));
        }
        self.keyspaces.push(Keyspace {
            name: name.to_owned(),
            replication,
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn created(cql: &str) -> Table {
        let mut catalogue = Catalogue::default();
        catalogue.create(cql, Some("ks")).expect(cql);
        catalogue.tables.pop().expect("a table")
    }

    #[test]
    fn the_tables_of_ycsb_and_cassandra_stress_are_there() {
        let catalogue = Catalogue::default();
        let columns = |keyspace, name| {
            catalogue
                .table(keyspace, name)
                .map(|table| table.columns.len())
        };
        assert_eq!(columns("ycsb", "usertable"), Some(11));
        assert_eq!(columns("keyspace1", "standard1"), Some(6));
        assert_eq!(columns("keyspace1", "counter1"), Some(6));
    }

    #[test]
    fn composite_keys_have_their_order() {
        let table = created(
            "CREATE TABLE IF NOT EXISTS t (a int, b text, c frozen<map<text, int>>, d blob, \
             PRIMARY KEY ((b, a), d)) WITH CLUSTERING ORDER BY (d DESC)",
        );
        let roles: Vec<Role> = table.columns.iter().map(|column| column.role).collect();
        let expected = [
            Role::Partition(1),
            Role::Partition(0),
            Role::Regular,
            Role::Clustering(0),
        ];
        assert_eq!(roles, expected);
        assert_eq!(table.keyspace, "ks");
    }

    #[test]
    fn replication_is_told_as_cassandra_tells_it() {
        let mut catalogue = Catalogue::default();
        let cql =
            "CREATE KEYSPACE b WITH REPLICATION = {'class': 'NetworkTopologyStrategy', 'dc1': 3}";
        assert_eq!(
            catalogue.create(cql, None),
            Ok(Created::Keyspace("b".into()))
        );
        let keyspace = catalogue.keyspaces.last().expect("made");
        assert_eq!(
            keyspace.replication[0].1,
            "org.apache.cassandra.locator.NetworkTopologyStrategy"
        );
        assert_eq!(keyspace.replication[1], ("dc1".into(), "3".into()));
    }

    #[test]
    fn what_is_not_understood_is_said() {
        let mut catalogue = Catalogue::default();
        let refused =
            |catalogue: &mut Catalogue, cql| catalogue.create(cql, Some("ks")).unwrap_err();
        assert!(
            refused(&mut catalogue, "CREATE TABLE t (a sometype PRIMARY KEY)").contains("sometype")
        );
        assert!(refused(&mut catalogue, "CREATE TABLE t (a int)").contains("primary key"));
        assert!(refused(&mut catalogue, "CREATE TABLE").contains("columns"));
    }
}
