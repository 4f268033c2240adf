//! The properties of the binding `mongodb`: where the deployment is, how documents are written.

use std::time::Duration;

use tare_engine::wire::Deployment;
use tare_mongo::Uri;

use super::read::{BadProperty, Reader};

/// Names under which the binding is asked for; the asynchronous one means the same documents and
/// commands.
const SYNCHRONOUS: [&str; 3] = [
    "mongodb",
    "site.ycsb.db.MongoDbClient",
    "com.yahoo.ycsb.db.MongoDbClient",
];
const ASYNCHRONOUS: [&str; 3] = [
    "mongodb-async",
    "site.ycsb.db.AsyncMongoDbClient",
    "com.yahoo.ycsb.db.AsyncMongoDbClient",
];
/// The properties that it knows.
pub const NAMES: [&str; 6] = [
    "mongodb.url",
    "mongodb.upsert",
    "mongodb.maxconnections",
    "mongodb.threadsAllowedToBlockForConnectionMultiplier",
    "mongodb.writeConcern",
    "mongodb.readPreference",
];
const URL: &str = "mongodb.url";
/// Tare's own: lets a program answer that is not MongoDB.
pub const STAND_IN: &str = "tare.stand_in";
const DEFAULT_URL: &str = "mongodb://localhost:27017/ycsb?w=1";
/// The database where the URL names none.
const DATABASE: &str = "ycsb";
/// Time after which a request without an answer has failed. The Java driver would wait for ever,
/// and so would the run.
const ANSWER: Duration = Duration::from_secs(60);
/// Documents that one command may insert (`maxWriteBatchSize`).
const LARGEST_BATCH: u64 = 100_000;

/// What the binding needs to know.
#[derive(Debug, Clone)]
pub struct MongoBinding {
    pub deployment: Deployment,
    /// Records that one command of a load inserts.
    pub batch: u64,
    /// Inserts are replacements that insert where there is nothing.
    pub upsert: bool,
    pub timeout: Duration,
    /// Connections to every member.
    pub links: usize,
}

/// The Java class that YCSB would load, if this is the name of the binding.
pub fn class(name: &str) -> Option<&'static str> {
    if SYNCHRONOUS.contains(&name) {
        Some(SYNCHRONOUS[1])
    } else if ASYNCHRONOUS.contains(&name) {
        Some(ASYNCHRONOUS[1])
    } else {
        None
    }
}

impl MongoBinding {
    pub fn read(reader: &Reader<'_>, threads: u64) -> Result<MongoBinding, BadProperty> {
        let given = reader.text(URL);
        let url = updated(given.unwrap_or(DEFAULT_URL), reader);
        let uri = Uri::parse(&url).map_err(|why| BadProperty::new(URL, veiled(&url), why))?;
        for remark in &uri.remarks {
            reader.remark(format!("{URL}: {remark}"));
        }
        let named = uri.database.clone().filter(|name| name != "admin");
        let upsert = reader.truth_or("mongodb.upsert", false);
        let batch = reader.whole_in("batchsize", 1, 1..=LARGEST_BATCH)?;
        if batch > 1 && reader.whole_or("target", 0)? > 0 {
            let why = "a rate of inserts that are sent in batches cannot be kept; use one of both";
            return Err(BadProperty::new("batchsize", batch, why));
        }
        Ok(MongoBinding {
            batch,
            upsert,
            timeout: uri.socket_timeout.unwrap_or(ANSWER),
            links: uri.pool.min(usize::try_from(threads).unwrap_or(usize::MAX)),
            deployment: Deployment {
                database: named.unwrap_or_else(|| DATABASE.to_owned()),
                stand_in: reader.truth_or(STAND_IN, false),
                uri,
            },
        })
    }
}

/// The URL with what older properties say, where it does not say it itself.
fn updated(url: &str, reader: &Reader<'_>) -> String {
    let mut url = url.to_owned();
    if let Some(most) = reader.text("mongodb.maxconnections") {
        add(&mut url, "maxPoolSize", most);
    }
    if let Some(most) = reader.text(NAMES[3]) {
        add(&mut url, "waitQueueMultiple", most);
    }
    if let Some(concern) = reader.text("mongodb.writeConcern") {
        match concern.to_ascii_lowercase().as_str() {
            "errors_ignored" | "unacknowledged" => add(&mut url, "w", "0"),
            "acknowledged" => add(&mut url, "w", "1"),
            "journaled" => add(&mut url, "journal", "true"),
            "replica_acknowledged" => add(&mut url, "w", "2"),
            "majority" => add(&mut url, "w", "majority"),
            other => reader.remark(format!(
                "property mongodb.writeConcern={other} has no effect, as in YCSB: it is not one of \
                 unacknowledged, acknowledged, journaled, replica_acknowledged, majority"
            )),
        }
    }
    if let Some(preference) = reader.text("mongodb.readPreference") {
        match preference.to_ascii_lowercase().as_str() {
            "primary" => add(&mut url, "readPreference", "primary"),
            "primary_preferred" => add(&mut url, "readPreference", "primaryPreferred"),
            "secondary" => add(&mut url, "readPreference", "secondary"),
            "secondary_preferred" => add(&mut url, "readPreference", "secondaryPreferred"),
            "nearest" => add(&mut url, "readPreference", "nearest"),
            other => reader.remark(format!(
                "property mongodb.readPreference={other} has no effect, as in YCSB: it is not one \
                 of primary, primary_preferred, secondary, secondary_preferred, nearest"
            )),
        }
    }
    url
}

/// Adds an option that the URL does not have yet. A URL without a path gets one.
fn add(url: &mut String, name: &str, value: &str) {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let has = |pair: &str| pair.split('=').next() == Some(name);
    if query.split(['&', ';']).any(has) {
        return;
    }
    url.push(if url.contains('?') { '&' } else { '?' });
    url.push_str(name);
    url.push('=');
    url.push_str(value);
}

/// The URL without its password.
pub fn veiled(url: &str) -> String {
    let secret = url
        .split_once("://")
        .and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?)));
    match secret {
        Some((scheme, (secret, behind))) => {
            let user = secret.split(':').next().unwrap_or("");
            format!("{scheme}://{user}:***@{behind}")
        }
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use tare_mongo::{ReadMode, WriteAck};

    use super::super::tests::settings;
    use super::*;
    use crate::settings::{Binding, Settings};

    fn binding(properties: &str) -> MongoBinding {
        let settings: Settings = settings(&format!("db=mongodb {properties}"));
        match settings.binding {
            Binding::Mongo(binding) => *binding,
            Binding::Cql(_) => panic!("not the binding that was asked for"),
        }
    }

    #[test]
    fn defaults_are_those_of_ycsbs_code() {
        let binding = binding("");
        let uri = &binding.deployment.uri;
        assert_eq!(uri.hosts[0].to_string(), "localhost:27017");
        assert_eq!(binding.deployment.database, "ycsb");
        assert_eq!(uri.write.acknowledged, Some(WriteAck::Members(1)));
        assert_eq!(
            (binding.batch, binding.upsert, binding.links),
            (1, false, 1)
        );
    }

    #[test]
    fn the_url_names_the_database_unless_it_is_admin() {
        let of = |url: &str| binding(&format!("mongodb.url={url}")).deployment.database;
        assert_eq!(of("mongodb://h/shop"), "shop");
        assert_eq!(of("mongodb://h/admin"), "ycsb");
        assert_eq!(of("mongodb://h"), "ycsb");
    }

    #[test]
    fn older_properties_say_what_the_url_does_not() {
        let older = "mongodb.writeConcern=majority mongodb.readPreference=secondary_preferred \
                     mongodb.maxconnections=7 threadcount=50 operationcount=1000";
        let uri = binding(older).deployment.uri;
        // The default URL has a write concern of its own.
        assert_eq!(uri.write.acknowledged, Some(WriteAck::Members(1)));
        assert_eq!(uri.read.mode, ReadMode::SecondaryPreferred);
        assert_eq!(binding(older).links, 7);
        let bare = format!("{older} mongodb.url=mongodb://h/");
        let uri = binding(&bare).deployment.uri;
        assert_eq!(uri.write.acknowledged, Some(WriteAck::Majority));
        let journaled = binding("mongodb.url=mongodb://h/ mongodb.writeConcern=journaled");
        assert_eq!(journaled.deployment.uri.write.journal, Some(true));
    }

    #[test]
    fn there_is_a_connection_for_every_thread_up_to_the_pools_size() {
        let threads = "operationcount=1000 threadcount";
        assert_eq!(binding(&format!("{threads}=30")).links, 30);
        assert_eq!(binding(&format!("{threads}=300")).links, 100);
    }

    #[test]
    fn passwords_are_never_shown() {
        for (url, shown) in [
            ("mongodb://ann:secret@h/x?w=1", "mongodb://ann:***@h/x?w=1"),
            ("mongodb://ann:sec/ret@h/x", "mongodb://ann:***@h/x"),
            ("mongodb://h/x", "mongodb://h/x"),
        ] {
            assert_eq!(veiled(url), shown);
        }
    }
}
