//! The core workload for a front end of its own, which has its own command line and output.

use std::sync::Arc;

use crate::properties::Properties;
use crate::settings::Settings;
pub use crate::workload::CoreWorkload;

/// What cannot be used of the properties, as (property, why).
pub type Refused = (String, String);

/// The core workload of these properties (`recordcount`, `readproportion`, `dotransactions`, ...),
/// without end where it runs. Parts of a READ-MODIFY-WRITE are not recorded on their own, so that
/// all that is recorded adds up to what was done. Everything about the cluster but the keyspace and
/// the consistency levels is the front end's.
///
/// # Errors
/// A property that cannot be used.
pub fn workload(properties: &[(&str, String)], threads: usize) -> Result<CoreWorkload, Refused> {
    let mut all = Properties::default();
    all.set("workload", "site.ycsb.workloads.CoreWorkload");
    all.set("db", "cassandra-cql");
    all.set("hosts", "localhost");
    for (name, value) in properties {
        all.set(*name, value.as_str());
    }
    let settings = Settings::read(&all).map_err(|bad| (bad.name, bad.why))?;
    Ok(CoreWorkload::new(Arc::new(endless(settings, threads))))
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
    use tare_engine::workload::Workload;

    use super::*;

    fn names(properties: &[(&str, &str)]) -> Vec<String> {
        let all: Vec<(&str, String)> = properties
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()))
            .collect();
        workload(&all, 4)
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
    }

    #[test]
    fn a_load_inserts() {
        let load = [("recordcount", "1000"), ("dotransactions", "false")];
        assert_eq!(names(&load), ["INSERT"]);
    }

    #[test]
    fn a_bad_property_is_named() {
        let bad = [("recordcount", "many".to_owned())];
        assert_eq!(workload(&bad, 4).err().unwrap().0, "recordcount");
    }
}
