//! YCSB's core workload for the lab's own runs: its properties from the specification.

use tare_draw::Share;
use tare_engine::errors::Fatal;
use tare_engine::wire::{Deployment, Host};
use tare_ycsb::embedded::{self, CoreWorkload, MongoWorkload};

use crate::spec::{InsertOrder, Phase, Spec, Ycsb, YcsbDistribution};

/// Tries after the first one while the table is populated, as in cassandra-stress.
const RETRIES: u64 = 9;

/// The port of a MongoDB member whose name has none; the specification's have one.
const MONGODB: u16 = 27017;

/// The core workload that a specification asks for.
///
/// # Errors
/// What YCSB itself would refuse, by the name of its property.
pub fn workload(ycsb: &Ycsb, spec: &Spec, slots: usize) -> Result<CoreWorkload, Fatal> {
    let refused = |(property, why)| Fatal::spec(format!("workload: {property}"), why);
    let (share, before) = own(ycsb, spec);
    embedded::workload(&properties(ycsb, spec), slots, share, before).map_err(refused)
}

/// The same for the MongoDB deployment of this connection string, and that deployment.
///
/// # Errors
/// What YCSB itself would refuse, by the name of its property.
pub fn mongodb(
    url: &str,
    ycsb: &Ycsb,
    spec: &Spec,
    slots: usize,
) -> Result<(MongoWorkload, Deployment), Fatal> {
    let refused = |(property, why)| Fatal::spec(format!("workload: {property}"), why);
    let (share, before) = own(ycsb, spec);
    let (workload, mut deployment) =
        embedded::mongodb(url, &properties(ycsb, spec), slots, share, before).map_err(refused)?;
    deployment.database.clone_from(&spec.keyspace);
    deployment.stand_in = spec.stand_in;
    for (member, at) in &spec.reached {
        let host =
            |text: &str| Host::parse(text, MONGODB).map_err(|why| Fatal::spec("reached", why));
        let reached = &mut deployment.uri.options.reached;
        reached.insert(host(member)?, host(at)?);
    }
    Ok((workload, deployment))
}

/// This client's share of what is written, and how many numbers behind the records come before it:
/// none while the table is populated.
fn own(ycsb: &Ycsb, spec: &Spec) -> (Share, u64) {
    let before = match spec.phase {
        Phase::Run => ycsb.inserted_before,
        Phase::Populate => 0,
    };
    (spec.client.share, before)
}

fn properties(ycsb: &Ycsb, spec: &Spec) -> Vec<(&'static str, String)> {
    let run = spec.phase == Phase::Run;
    let table = spec.table.clone().unwrap_or_default();
    let [read, update, insert, scan, readmodifywrite] = shares([
        ycsb.read,
        ycsb.update,
        ycsb.insert,
        ycsb.scan,
        ycsb.readmodifywrite,
    ]);
    vec![
        ("dotransactions", run.to_string()),
        ("threadcount", spec.threads.to_string()),
        ("recordcount", spec.records.to_string()),
        // Sets the span of new keys that zipfian draws allow for, as in YCSB's own files.
        ("operationcount", spec.records.to_string()),
        ("table", table),
        ("cassandra.keyspace", spec.keyspace.clone()),
        (
            "cassandra.readconsistencylevel",
            spec.consistency.read.name().to_owned(),
        ),
        (
            "cassandra.writeconsistencylevel",
            spec.consistency.write.name().to_owned(),
        ),
        ("fieldcount", ycsb.fields.to_string()),
        ("fieldlength", ycsb.field_length.to_string()),
        ("readproportion", read.to_string()),
        ("updateproportion", update.to_string()),
        ("insertproportion", insert.to_string()),
        ("scanproportion", scan.to_string()),
        ("readmodifywriteproportion", readmodifywrite.to_string()),
        (
            "requestdistribution",
            distribution(ycsb.distribution).to_owned(),
        ),
        ("insertorder", insert_order(ycsb.insert_order).to_owned()),
        ("minscanlength", ycsb.shortest_scan.to_string()),
        ("maxscanlength", ycsb.longest_scan.to_string()),
        ("dataintegrity", spec.validate.to_string()),
        ("core_workload_insertion_retry_limit", RETRIES.to_string()),
        ("core_workload_insertion_retry_interval", "1".to_owned()),
        ("tare.seed", spec.stream().to_string()),
    ]
}

/// Weights as shares of 1, as YCSB reckons with them. What adds up to 1 stays as it was written.
fn shares<const N: usize>(weights: [f64; N]) -> [f64; N] {
    let sum: f64 = weights.iter().sum();
    match (sum - 1.0).abs() < 1e-9 {
        true => weights,
        false => weights.map(|weight| weight / sum),
    }
}

fn distribution(distribution: YcsbDistribution) -> &'static str {
    match distribution {
        YcsbDistribution::Zipfian => "zipfian",
        YcsbDistribution::Uniform => "uniform",
        YcsbDistribution::Latest => "latest",
        YcsbDistribution::Hotspot => "hotspot",
        YcsbDistribution::Exponential => "exponential",
        YcsbDistribution::Sequential => "sequential",
    }
}

fn insert_order(order: InsertOrder) -> &'static str {
    match order {
        InsertOrder::Hashed => "hashed",
        InsertOrder::Ordered => "ordered",
    }
}

#[cfg(test)]
mod tests {
    use tare_engine::workload::Workload;

    use super::*;
    use crate::spec::tests::spec;

    fn made(changes: &[(&str, &str)]) -> CoreWorkload {
        let spec = spec(changes);
        match &spec.workload {
            crate::spec::Workload::Ycsb(ycsb) => workload(ycsb, &spec, 8).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn operations_are_those_that_have_a_weight() {
        let scans = r#"{"kind": "ycsb", "read": 0, "update": 0, "insert": 0.05, "scan": 0.95}"#;
        assert_eq!(made(&[]).operations(), ["READ", "UPDATE"]);
        assert_eq!(
            made(&[("workload", scans)]).operations(),
            ["INSERT", "SCAN"]
        );
        assert_eq!(made(&[("phase", "\"populate\"")]).operations(), ["INSERT"]);
    }

    #[test]
    fn weights_in_the_same_proportion_are_the_same_workload() {
        let asked = |read: &str, insert: &str| {
            let workload =
                format!(r#"{{"kind": "ycsb", "read": {read}, "update": 0, "insert": {insert}}}"#);
            let spec = spec(&[("workload", &workload)]);
            match &spec.workload {
                crate::spec::Workload::Ycsb(ycsb) => properties(ycsb, &spec),
                other => panic!("{other:?}"),
            }
        };
        let shares = asked("0.95", "0.05");
        assert!(shares.contains(&("insertproportion", "0.05".to_owned())));
        assert_eq!(asked("95", "5"), shares);
        assert_eq!(asked("19", "1"), shares);
        // As a share it would ask for the sum over two million million keys, which takes hours.
        let large = r#"{"kind": "ycsb", "read": 0, "update": 0, "insert": 1e9}"#;
        assert_eq!(made(&[("workload", large)]).operations(), ["INSERT"]);
    }

    #[test]
    fn every_distribution_is_known_to_ycsb() {
        for name in [
            "zipfian",
            "uniform",
            "latest",
            "hotspot",
            "exponential",
            "sequential",
        ] {
            let workload =
                format!(r#"{{"kind": "ycsb", "read": 1, "update": 0, "distribution": "{name}"}}"#);
            assert_eq!(made(&[("workload", &workload)]).operations(), ["READ"]);
        }
    }

    #[test]
    fn consistency_is_the_specifications() {
        let levels = r#"{"read": "ONE", "write": "ALL"}"#;
        let statements = made(&[("consistency", levels)]).statements();
        let levels: Vec<&str> = statements.iter().map(|s| s.consistency.name()).collect();
        assert!(
            levels.contains(&"ONE") && levels.contains(&"ALL"),
            "{levels:?}"
        );
    }
    #[test]
    fn a_connection_string_says_where_and_the_keyspace_which_database() {
        let spec = spec(&[]);
        let crate::spec::Workload::Ycsb(ycsb) = &spec.workload else {
            panic!("{:?}", spec.workload);
        };
        let url = "mongodb://10.0.0.1,10.0.0.2/?w=majority";
        let (workload, deployment) = mongodb(url, ycsb, &spec, 8).unwrap();
        assert_eq!(workload.operations(), ["READ", "UPDATE"]);
        assert_eq!(deployment.uri.hosts.len(), 2);
        assert_eq!(deployment.database, spec.keyspace);
        assert!(deployment.uri.options.reached.is_empty());
        let fatal = mongodb("mongodb://ann:secret@h/?w=0", ycsb, &spec, 8);
        let fatal = fatal.err().unwrap().to_string();
        assert!(fatal.contains("mongodb.url"), "{fatal}");
        assert!(!fatal.contains("secret"), "{fatal}");
    }

    #[test]
    fn members_are_reached_where_the_specification_says() {
        let url = "mongodb://10.0.0.1,10.0.0.2/?replicaSet=rs0";
        let reached = r#"{"10.0.0.1:27017": "127.0.0.1:32768"}"#;
        let spec = spec(&[("mongodb", &format!("{url:?}")), ("reached", reached)]);
        let crate::spec::Workload::Ycsb(ycsb) = &spec.workload else {
            panic!("{:?}", spec.workload);
        };
        let (_, deployment) = mongodb(url, ycsb, &spec, 8).unwrap();
        let reached = &deployment.uri.options.reached;
        let at = |name: &str| reached.get(&Host::new(name, 27017)).cloned();
        assert_eq!(at("10.0.0.1"), Some(Host::new("127.0.0.1", 32768)));
        assert_eq!(at("10.0.0.2"), None);
    }
}
