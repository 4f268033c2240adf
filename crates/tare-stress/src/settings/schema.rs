//! `-schema`: keyspace, replication, compaction and compression of the predefined tables.

use super::describe::Dump;
use super::forms::{text, Form, ANY};
use crate::grammar::options::{select, Choice, Given, Group};
use crate::grammar::Usage;

const SIMPLE: &str = "org.apache.cassandra.locator.SimpleStrategy";
const LOCATOR: &str = "org.apache.cassandra.locator.";
const STRATEGIES: [&str; 4] = [
    "SimpleStrategy",
    "NetworkTopologyStrategy",
    "LocalStrategy",
    "EverywhereStrategy",
];

const KEYSPACE_FORM: Form = (
    |text| {
        let bare = text.trim_matches('"');
        (1..=48).contains(&bare.len())
            && bare.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    },
    "1 to 48 letters, digits and _",
);

const REPLICATION: Choice = Choice::pairs(
    "replication",
    &["strategy", "factor"],
    true,
    "replication strategy, and its parameters such as datacenter1=3",
);
const KEYSPACE: Choice =
    Choice::value("keyspace=", KEYSPACE_FORM, "the keyspace name to use").or("keyspace1");
const COMPACTION: Choice = Choice::pairs(
    "compaction",
    &["strategy"],
    true,
    "compaction strategy and its parameters",
);
const COMPRESSION: Choice = Choice::value(
    "compression=",
    ANY,
    "compression of the tables; none if not said",
);

pub const GROUPS: &[Group] = &[&[REPLICATION, KEYSPACE, COMPACTION, COMPRESSION]];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    pub keyspace: String,
    pub replication: String,
    pub replication_options: Vec<(String, String)>,
    pub compression: Option<String>,
    pub compaction: Option<String>,
    pub compaction_options: Vec<(String, String)>,
}

impl Schema {
    /// `profile` is the keyspace of a user profile, which has its schema itself.
    pub fn read(parameters: Option<&[String]>, profile: Option<&str>) -> Result<Schema, Usage> {
        if profile.is_some() && parameters.is_some() {
            return Err(Usage::new(
                "-schema can only be provided with predefined operations insert, read, etc.; the \
                 'user' command requires a schema yaml instead",
            ));
        }
        let given = select("-schema", parameters.unwrap_or_default(), GROUPS)?;
        let keyspace = profile.unwrap_or(text(&given, &KEYSPACE).unwrap_or_default());
        for (key, value) in given
            .pairs(REPLICATION.name)
            .iter()
            .chain(given.pairs(COMPACTION.name))
        {
            plain("-schema", key)?;
            plain("-schema", value)?;
        }
        let compression = given.value(COMPRESSION.name).map(str::to_owned);
        compression
            .iter()
            .try_for_each(|name| plain("-schema", name))?;
        let (replication, replication_options) = replication(&given)?;
        let (compaction, compaction_options) = strategy(&given, &COMPACTION);
        Ok(Schema {
            keyspace: keyspace.trim_matches('"').to_owned(),
            replication,
            replication_options,
            compression,
            compaction,
            compaction_options,
        })
    }

    pub fn dump(&self, out: &mut Dump) {
        let map = |pairs: &[(String, String)]| {
            let pairs: Vec<String> = pairs.iter().map(|(k, v)| format!("{k}={v}")).collect();
            format!("{{{}}}", pairs.join(", "))
        };
        out.say("Keyspace", &self.keyspace);
        out.say("Replication Strategy", &self.replication);
        out.say(
            "Replication Strategy Options",
            map(&self.replication_options),
        );
        out.say_or_null("Table Compression", self.compression.as_ref());
        out.say_or_null("Table Compaction Strategy", self.compaction.as_ref());
        out.say(
            "Table Compaction Strategy Options",
            map(&self.compaction_options),
        );
    }
}

/// Refuses what could end a CQL string.
fn plain(section: &str, text: &str) -> Result<(), Usage> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._-+:/ ".contains(c);
    if text.len() <= 200 && text.chars().all(allowed) {
        return Ok(());
    }
    Err(Usage(format!(
        "{section}: {text:.60} has signs that no name or number has"
    )))
}

/// The strategy among the pairs, and the other pairs.
fn strategy(given: &Given, choice: &Choice) -> (Option<String>, Vec<(String, String)>) {
    let pairs = given.pairs(choice.name);
    let strategy = pairs
        .iter()
        .find(|(key, _)| key == "strategy")
        .map(|(_, v)| v.clone());
    let others = pairs
        .iter()
        .filter(|(key, _)| key != "strategy")
        .cloned()
        .collect();
    (strategy, others)
}

fn replication(given: &Given) -> Result<(String, Vec<(String, String)>), Usage> {
    let (strategy, mut options) = strategy(given, &REPLICATION);
    let strategy = strategy.unwrap_or_else(|| SIMPLE.to_owned());
    let bare = strategy.strip_prefix(LOCATOR).unwrap_or(&strategy);
    if !STRATEGIES.contains(&bare) {
        let hint = tare_engine::nearest::hint(bare, STRATEGIES);
        return Err(Usage(format!(
            "Invalid replication strategy: {strategy}{hint}"
        )));
    }
    let strategy = format!("{LOCATOR}{bare}");
    let factor = options
        .iter()
        .position(|(key, _)| key == "factor")
        .map(|at| options.remove(at).1);
    if factor
        .as_ref()
        .is_some_and(|factor| !crate::grammar::number::is_digits(factor))
    {
        return Err(Usage::new(
            "-schema: replication(factor=) must be a whole number",
        ));
    }
    let named = options.iter().any(|(key, _)| key == "replication_factor");
    if !named && (strategy == SIMPLE || factor.is_some()) {
        let factor = factor.unwrap_or_else(|| "1".to_owned());
        options.push(("replication_factor".to_owned(), factor));
    }
    Ok((strategy, options))
}
