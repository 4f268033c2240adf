//! The core workload for a front end of its own, which has its own command line and output.

use std::sync::Arc;

use tare_draw::Share;
use tare_engine::wire::Deployment;

use crate::dialect::Mongo;
use crate::properties::Properties;
use crate::settings::{Binding, Settings};
pub use crate::workload::CoreWorkload;

/// The core workload on MongoDB.
pub type MongoWorkload = CoreWorkload<Mongo>;

/// What cannot be used of the properties, as (property, why).
pub type Refused = (String, String);

/// The core workload of these properties (`recordcount`, `readproportion`, `dotransactions`, ...),
/// without end where it runs. Parts of a READ-MODIFY-WRITE and VERIFY are not recorded on their own,
/// so that all that is recorded adds up to what was done: a wrong row is a failure of its read.
/// The front end decides everything about the cluster but the keyspace and the consistency levels.
/// This client has its `share` of what several clients load, insert and ask for in sequence. What
/// it inserts in a run comes after `inserted_before` numbers behind the records.
///
/// # Errors
/// A property that cannot be used, or more clients than records.
pub fn workload(
    properties: &[(&str, String)],
    threads: usize,
    share: Share,
    inserted_before: u64,
) -> Result<CoreWorkload, Refused> {
    let place = [("db", "cassandra-cql"), ("hosts", "localhost")];
    let settings = settings(&place, properties, threads, share, inserted_before)?;
    match settings.binding.clone() {
        Binding::Cql(binding) => Ok(CoreWorkload::cql(Arc::new(settings), &binding)),
        Binding::Mongo(_) => Err(other_binding()),
    }
}

/// The same for the MongoDB deployment behind a connection string, and that deployment.
///
/// # Errors
/// A property or a connection string that cannot be used, or more clients than records.
pub fn mongodb(
    url: &str,
    properties: &[(&str, String)],
    threads: usize,
    share: Share,
    inserted_before: u64,
) -> Result<(MongoWorkload, Deployment), Refused> {
    let place = [("db", "mongodb"), ("mongodb.url", url)];
    let settings = settings(&place, properties, threads, share, inserted_before)?;
    match settings.binding.clone() {
        Binding::Mongo(binding) => {
            let workload = CoreWorkload::mongo(Arc::new(settings), &binding);
            let workload = workload.map_err(|bad| (bad.name, bad.why))?;
            Ok((workload, binding.deployment))
        }
        Binding::Cql(_) => Err(other_binding()),
    }
}

fn other_binding() -> Refused {
    (
        "db".to_owned(),
        "another binding has been asked for".to_owned(),
    )
}

fn settings(
    place: &[(&str, &str)],
    properties: &[(&str, String)],
    threads: usize,
    share: Share,
    inserted_before: u64,
) -> Result<Settings, Refused> {
    let mut all = Properties::default();
    all.set("workload", "site.ycsb.workloads.CoreWorkload");
    for (name, value) in place {
        all.set(*name, *value);
    }
    for (name, value) in properties {
        all.set(*name, value.as_str());
    }
    let mut settings = Settings::read(&all).map_err(|bad| (bad.name, bad.why))?;
    let shared = settings.core.share(share);
    shared.map_err(|why| ("recordcount".to_owned(), why.to_string()))?;
    settings.core.inserted_before = i64::try_from(inserted_before)
        .map_err(|_| ("inserted_before".to_owned(), "too many".to_owned()))?;
    Ok(endless(settings, threads))
}

/// A run that is ended by time and not by a count.
fn endless(mut settings: Settings, threads: usize) -> Settings {
    settings.core.operations = None;
    settings.threads = threads;
    settings.parts = false;
    settings
}

#[cfg(test)]
mod tests {
    use tare_draw::ycsb::{Chooser, Sequential};
    use tare_draw::Xoshiro;
    use tare_engine::workload::Workload;

    use super::*;

    fn names(properties: &[(&str, &str)]) -> Vec<String> {
        let all: Vec<(&str, String)> = properties
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()))
            .collect();
        workload(&all, 4, Share::WHOLE, 0)
            .map(|workload| workload.operations())
            .unwrap()
    }

    #[test]
    fn what_is_recorded_adds_up() {
        let modify = [
            ("recordcount", "1000"),
            ("readproportion", "0.5"),
            ("updateproportion", "0"),
            ("readmodifywriteproportion", "0.5"),
        ];
        assert_eq!(names(&modify), ["READ", "READ-MODIFY-WRITE"]);
        let checked = [
            ("recordcount", "1000"),
            ("readproportion", "1"),
            ("updateproportion", "0"),
            ("dataintegrity", "true"),
        ];
        assert_eq!(names(&checked), ["READ"]);
    }

    #[test]
    fn a_load_inserts() {
        let load = [("recordcount", "1000"), ("dotransactions", "false")];
        assert_eq!(names(&load), ["INSERT"]);
    }

    #[test]
    fn several_clients_write_different_records_and_read_the_same_ones() {
        let properties = |run: bool| {
            let run = run.to_string();
            [("recordcount", "1000".to_owned()), ("dotransactions", run)]
        };
        let taken = |run, first: i64, count: i64| {
            let mut all: Vec<i64> = (0..3)
                .map(|index| Share::new(index, 3).unwrap())
                .map(|share| workload(&properties(run), 4, share, 0).unwrap())
                .flat_map(|one| (0..count).map(move |n| one.shared().record(first + n)))
                .collect();
            all.sort_unstable();
            all
        };
        assert_eq!(taken(false, 0, 100), (0..300).collect::<Vec<_>>());
        assert_eq!(taken(true, 1000, 100), (1000..1300).collect::<Vec<_>>());
        assert_eq!(taken(true, 7, 1), [7, 7, 7]);
    }

    #[test]
    fn a_later_run_inserts_behind_an_earlier_one_and_reads_the_same_records() {
        let run = [("recordcount", "1000".to_owned())];
        let share = Share::new(1, 2).unwrap();
        let later = workload(&run, 4, share, 1 << 32).unwrap();
        let record = |number| later.shared().record(number);
        assert_eq!([record(0), record(999)], [0, 999]);
        let first = 1000 + (1 << 32) + 1;
        assert_eq!([record(1000), record(1001)], [first, first + 2]);
    }

    #[test]
    fn a_sequence_of_reads_is_shared_by_the_clients() {
        let sequence = Chooser::Sequential(Sequential::new(0, 9).unwrap().into());
        let mut rng = Xoshiro::new(1);
        let mut share = |index| {
            let mut chooser = sequence
                .clone()
                .shared(Share::new(index, 3).unwrap())
                .unwrap();
            (0..5).map(|_| chooser.next(&mut rng, 9)).collect()
        };
        let (first, last): (Vec<i64>, Vec<i64>) = (share(0), share(2));
        assert_eq!(first, [0, 3, 6, 9, 0]);
        assert_eq!(last, [2, 5, 8, 2, 5]);
    }

    #[test]
    fn more_clients_than_records_to_read_in_sequence_are_refused() {
        let two = [
            ("recordcount", "2".to_owned()),
            ("requestdistribution", "sequential".to_owned()),
        ];
        let refused = workload(&two, 4, Share::new(0, 3).unwrap(), 0)
            .err()
            .unwrap();
        assert!(refused.1.contains("shared by 3 clients"), "{refused:?}");
    }

    #[test]
    fn a_bad_property_is_named() {
        let bad = [("recordcount", "many".to_owned())];
        assert_eq!(
            workload(&bad, 4, Share::WHOLE, 0).err().unwrap().0,
            "recordcount"
        );
    }
}
