use super::*;

/// Settings of properties written as `name=value name=value`; hosts and workload are given.
pub(crate) fn settings(properties: &str) -> Settings {
    Settings::read(&given(properties)).unwrap_or_else(|bad| panic!("{bad}"))
}

fn given(properties: &str) -> Properties {
    let mut given = Properties::default();
    given.set("workload", "site.ycsb.workloads.CoreWorkload");
    given.set("db", "cassandra-cql");
    given.set("hosts", "127.0.0.1");
    for pair in properties.split_whitespace() {
        let (name, value) = pair.split_once('=').unwrap();
        given.set(name, value);
    }
    given
}

fn refusal(properties: &str) -> String {
    Settings::read(&given(properties)).unwrap_err().to_string()
}
