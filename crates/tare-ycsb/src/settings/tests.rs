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

fn cql(settings: &Settings) -> &CqlBinding {
    match &settings.binding {
        Binding::Cql(binding) => binding,
        Binding::Mongo(_) => panic!("not a binding for CQL"),
    }
}

fn refusal(properties: &str) -> String {
    Settings::read(&given(properties)).unwrap_err().to_string()
}

fn remarks(properties: &str) -> String {
    settings(properties).remarks.join("\n")
}

#[test]
fn defaults_are_those_of_ycsbs_code() {
    let settings = settings("");
    let core = &settings.core;
    assert_eq!(
        (settings.phase, settings.threads, settings.target),
        (Phase::Run, 1, None)
    );
    assert_eq!((settings.longest, &settings.status), (None, &None));
    assert_eq!((core.table.as_str(), core.fields.len()), ("usertable", 10));
    assert_eq!(
        (core.fields[0].as_str(), core.fields[9].as_str()),
        ("field0", "field9")
    );
    assert_eq!((core.records, core.operations), (2_147_483_647, None));
    assert_eq!((core.insert_start, core.insert_count), (0, 2_147_483_647));
    assert_eq!(core.mix, [(0.95, Action::Read), (0.05, Action::Update)]);
    assert_eq!((core.read_all, core.read_all_by_name), (true, false));
    assert_eq!((core.write_all, core.integrity), (false, false));
    assert_eq!((core.insert_retries, core.insert_retry_seconds), (0, 3));
    assert_eq!(settings.measure.percentiles, [50.0, 95.0, 99.0]);
    assert_eq!(settings.measure.kind, MeasureKind::Hdr);
    let binding = cql(&settings);
    assert_eq!(binding.read, tare_cql::Consistency::Quorum);
    assert_eq!(binding.write, tare_cql::Consistency::Quorum);
    assert_eq!(binding.keyspace, "ycsb");
    assert_eq!(binding.timeout, Duration::from_secs(12));
    assert_eq!(binding.cluster.contact_points, ["127.0.0.1:9042"]);
    assert_eq!(settings.remarks, Vec::<String>::new());
}

#[test]
fn more_records_than_fit_into_31_bits_are_taken() {
    let settings =
        settings("recordcount=5000000000 operationcount=6000000000 insertstart=4000000000");
    assert_eq!(settings.core.records, 5_000_000_000);
    assert_eq!(settings.core.insert_count, 1_000_000_000);
    assert_eq!(settings.operations(), Some(6_000_000_000));
}

#[test]
fn operations_are_shared_out_as_ycsb_does() {
    let settings = settings("operationcount=10 threadcount=4");
    let shares: Vec<_> = (0..4)
        .map(|thread| settings.operations_of(thread))
        .collect();
    assert_eq!(shares, [Some(3), Some(3), Some(2), Some(2)]);
}

#[test]
fn a_load_inserts_its_part_of_the_records() {
    let load = settings("dotransactions=false recordcount=100 insertstart=20 insertcount=30");
    assert_eq!((load.phase, load.operations()), (Phase::Load, Some(30)));
    let rest = settings("dotransactions=false recordcount=100 insertstart=20");
    assert_eq!(rest.operations(), Some(80));
}

#[test]
fn there_are_no_more_threads_than_operations() {
    let settings = settings("operationcount=3 threadcount=16");
    assert_eq!(settings.threads, 3);
    assert!(settings.remarks[0].contains("more threads than operations"));
}

#[test]
fn hosts_take_the_port_unless_they_bring_their_own() {
    let settings = settings("hosts=a,b:9999,::1 port=9043");
    let points = &cql(&settings).cluster.contact_points;
    assert_eq!(points, &["a:9043", "b:9999", "[::1]:9043"]);
}

#[test]
fn the_bindings_own_properties_are_read() {
    let settings = settings(
        "cassandra.keyspace=k cassandra.username=ann cassandra.password=secret \
         cassandra.readconsistencylevel=ONE cassandra.writeconsistencylevel=local_quorum \
         cassandra.coreconnections=2 cassandra.maxconnections=4 \
         cassandra.readtimeoutmillis=500 cassandra.connecttimeoutmillis=700",
    );
    let binding = cql(&settings);
    assert_eq!((binding.keyspace.as_str(), binding.links), ("k", Some(4)));
    assert_eq!(binding.read, tare_cql::Consistency::One);
    assert_eq!(binding.write, tare_cql::Consistency::LocalQuorum);
    assert_eq!(binding.timeout, Duration::from_millis(500));
    assert_eq!(
        binding.cluster.options.connect_timeout,
        Duration::from_millis(700)
    );
    let credentials = binding.cluster.options.credentials.clone().unwrap();
    assert_eq!(
        (credentials.user.as_str(), credentials.password.0.as_str()),
        ("ann", "secret")
    );
}

#[test]
fn scylla_has_names_of_its_own() {
    let scylla = settings("db=scylla scylla.hosts=h scylla.port=1 scylla.keyspace=k");
    assert_eq!(cql(&scylla).cluster.contact_points, ["h:1"]);
    assert_eq!(cql(&scylla).keyspace, "k");
    assert!(scylla.remarks[0].contains("unknown properties have no effect: hosts"));
}

#[test]
fn what_cannot_be_used_is_refused_by_name() {
    let cases = [
        ("workload=x.Y", "property workload=x.Y: only site.ycsb.workloads.CoreWorkload is offered"),
        (
            "db=redis",
            "property db=redis: this binding is not offered; cassandra-cql, scylla and mongodb are",
        ),
        ("hosts=", "property hosts=: missing: name the nodes, such as -p hosts=10.0.0.1,10.0.0.2"),
        ("recordcount=many", "property recordcount=\"many\": expected a whole number of at least 0"),
        ("threadcount=0", "property threadcount=0: expected a whole number from 1 to 1000000"),
        (
            "recordcount=10 insertcount=11",
            "property recordcount=10: must be at least insertstart + insertcount (0 + 11)",
        ),
        (
            "requestdistribution=gauss",
            "property requestdistribution=gauss: expected uniform, zipfian, latest, hotspot, \
             exponential or sequential, or Tare's own zipf",
        ),
        (
            "dataintegrity=true fieldlengthdistribution=uniform",
            "property fieldlengthdistribution=uniform: dataintegrity=true needs fields of constant \
             length",
        ),
        ("readproportion=0 updateproportion=0", "property readproportion=0: no operation has a share above 0"),
        (
            "dotransactions=false",
            "property recordcount=0: say how many records to load, such as -p recordcount=1000000",
        ),
        (
            "cassandra.tracing=true",
            "property cassandra.tracing=true: tracing every request would measure the tracing; \
             trace single statements in cqlsh",
        ),
        ("tare.sed=1", "property tare.sed=1: there is no such property; did you mean tare.seed?"),
        (
            "cassandra.readconsistencylevel=MOST",
            "property cassandra.readconsistencylevel=MOST: expected a consistency level such as \
             ONE, QUORUM, LOCAL_QUORUM or ALL",
        ),
    ];
    for (properties, message) in cases {
        assert_eq!(refusal(properties), message);
    }
    assert!(refusal("measurementtype=raw").contains("single latencies are not kept"));
    assert!(refusal("exporter=x").contains("JSONArrayMeasurementsExporter"));
    assert!(refusal("cassandra.useSSL=true").contains("tare.tls.authorities"));
    assert!(
        refusal("fieldlengthdistribution=histogram fieldlengthhistogram=/nowhere")
            .contains("/nowhere")
    );
}

#[test]
fn what_has_no_effect_is_said_once() {
    assert_eq!(
        remarks("recordcont=1 mongodb.url=x"),
        "unknown properties have no effect: mongodb.url, recordcont; did you mean recordcount?"
    );
    assert_eq!(
        remarks("batchsize=10"),
        "property batchsize has no effect: the bindings for CQL insert rows one by one"
    );
    assert_eq!(
        remarks("readallfields=yes"),
        "property readallfields=yes counts as false, as in YCSB: only true is true"
    );
    assert_eq!(
        remarks("hdrhistogram.percentiles=x"),
        "property hdrhistogram.percentiles=x cannot be read; 50,95,99 is used, as YCSB does"
    );
}

#[test]
fn statuses_with_latencies_of_their_own_are_named() {
    let none = settings("").measure.tracked;
    assert!(!none.has("ERROR"));
    let one = settings("latencytrackederrors=NOT_FOUND,X").measure.tracked;
    assert!(one.has("NOT_FOUND") && !one.has("ERROR"));
    assert!(settings("reportlatencyforeacherror=true")
        .measure
        .tracked
        .has("ERROR"));
}

mod hostile {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_value_of_a_property_is_a_panic(
            name in proptest::sample::select(vec![
                "recordcount", "operationcount", "insertstart", "insertcount", "fieldcount",
                "fieldlength", "minfieldlength", "zeropadding", "maxscanlength", "minscanlength",
                "requestdistribution", "readproportion", "hotspotdatafraction", "threadcount",
                "exponential.percentile", "exponential.frac", "hosts", "port", "target",
                "maxexecutiontime", "hdrhistogram.percentiles", "histogram.buckets", "tare.seed",
            ]),
            value in "(-?[0-9]{1,22}|-?[0-9.]{1,6}|[a-z,:.]{0,8}|NaN|inf|\\PC{0,4})",
            kind in proptest::sample::select(vec!["uniform", "hotspot", "exponential", "zipfian"]),
        ) {
            let mut properties = given("");
            properties.set("requestdistribution", kind);
            properties.set(name, value);
            let _ = Settings::read(&properties);
        }
    }
}
