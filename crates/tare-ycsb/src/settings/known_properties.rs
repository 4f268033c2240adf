//! Which properties there are. YCSB ignores what it does not know; here it is said once.

use super::read::{BadProperty, Reader};
use super::Binding;
use crate::properties::Properties;
use tare_engine::nearest::hint;

/// Properties of the client, the core workload and the measurements.
const CORE: [&str; 58] = [
    "core_workload_insertion_retry_interval",
    "core_workload_insertion_retry_limit",
    "dataintegrity",
    "db",
    "dotransactions",
    "exponential.frac",
    "exponential.percentile",
    "exporter",
    "exportfile",
    "fieldcount",
    "fieldlength",
    "fieldlengthdistribution",
    "fieldlengthhistogram",
    "fieldnameprefix",
    "hdrhistogram.fileoutput",
    "hdrhistogram.output.path",
    "hdrhistogram.percentiles",
    "histogram.buckets",
    "hotspotdatafraction",
    "hotspotopnfraction",
    "insertcount",
    "insertorder",
    "insertproportion",
    "insertstart",
    "label",
    "latencytrackederrors",
    "maxexecutiontime",
    "maxscanlength",
    "measurement.histogram.verbose",
    "measurement.interval",
    "measurement.trackjvm",
    "measurementtype",
    "minfieldlength",
    "minscanlength",
    "operationcount",
    "readallfields",
    "readallfieldsbyname",
    "readmodifywriteproportion",
    "readproportion",
    "recordcount",
    "reportlatencyforeacherror",
    "requestdistribution",
    "scanlengthdistribution",
    "scanproportion",
    "status",
    "status.interval",
    "table",
    "target",
    "threadcount",
    "timeseries.granularity",
    "updateproportion",
    "workload",
    "writeallfields",
    "zeropadding",
    // Known to YCSB, and accepted with a word or in silence.
    "batchsize",
    "debug",
    "measurement.raw.no_summary",
    "measurement.raw.output_file",
];

/// Tare's own.
const OWN: [&str; 11] = [
    "tare.compression",
    "tare.contact_points_only",
    "tare.protocol",
    "tare.seed",
    "tare.stand_in",
    "tare.tls.authorities",
    "tare.tls.certificate",
    "tare.tls.key",
    "tare.tls.server_name",
    "tare.tls.verify",
    "tare.workers",
];

/// Accepted, and without effect: the name, and why.
const WITHOUT_EFFECT: [(&str, &str); 3] = [
    ("batchsize", "the bindings for CQL insert rows one by one"),
    (
        "spin.sleep",
        "the engine waits with the precision that it has",
    ),
    ("basicdb.verbose", "the binding basic is not offered"),
];

/// Says which properties are not known or have no effect; refuses those that claim to be Tare's.
pub fn check(
    reader: &Reader<'_>,
    properties: &Properties,
    asked: &Binding,
) -> Result<(), BadProperty> {
    let binding = asked.names();
    // Only the bindings for CQL insert rows one by one whatever is asked for.
    let without_effect = match asked {
        Binding::Cql(_) => &WITHOUT_EFFECT[..],
        Binding::Mongo(_) => &WITHOUT_EFFECT[1..],
    };
    let mut unknown = Vec::new();
    for name in properties.names() {
        if let Some((_, why)) = without_effect.iter().find(|(known, _)| *known == name) {
            reader.remark(format!("property {name} has no effect: {why}"));
        } else if CORE.contains(&name) || OWN.contains(&name) || binding.iter().any(|b| b == name) {
            continue;
        } else if name.starts_with("tare.") {
            let why = format!("there is no such property{}", hint(name, OWN));
            return Err(BadProperty::new(
                name,
                properties.get(name).unwrap_or(""),
                why,
            ));
        } else if !name.starts_with("htrace.") {
            let known = CORE.into_iter().chain(binding.iter().map(String::as_str));
            unknown.push(format!("{name}{}", hint(name, known)));
        }
    }
    if !unknown.is_empty() {
        reader.remark(format!(
            "unknown properties have no effect: {}",
            unknown.join(", ")
        ));
    }
    Ok(())
}
