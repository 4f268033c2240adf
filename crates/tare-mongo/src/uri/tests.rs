//! Connection strings: what is taken over, and what is refused with its reason.

use proptest::prelude::*;

use super::*;
use crate::options::WriteAck;

fn uri(text: &str) -> Uri {
    Uri::parse(text).unwrap()
}

fn refusal(text: &str) -> String {
    Uri::parse(text).unwrap_err().to_string()
}

#[test]
fn ycsbs_default_is_one_host_and_one_acknowledgement() {
    let uri = uri("mongodb://localhost:27017/ycsb?w=1");
    assert_eq!(uri.hosts, [Host::new("localhost", 27017)]);
    assert_eq!(uri.database.as_deref(), Some("ycsb"));
    assert_eq!(uri.write.acknowledged, Some(WriteAck::Members(1)));
    assert!(uri.direct);
    assert_eq!((uri.pool, uri.retry_writes), (100, true));
}

#[test]
fn a_set_is_looked_for_where_several_hosts_or_its_name_are_given() {
    assert!(!uri("mongodb://a,b:27018/x").direct);
    assert!(!uri("mongodb://a/?replicaSet=rs0").direct);
    assert!(!uri("mongodb://a/?directConnection=false").direct);
    let several = uri("mongodb://a,[::1]:27018/").hosts;
    assert_eq!(several, [Host::new("a", 27017), Host::new("::1", 27018)]);
}

#[test]
fn what_says_how_reads_and_writes_are_done_is_taken_over() {
    let uri = uri(
        "mongodb://h/d?w=majority&journal=true&wtimeoutMS=500&readPreference=secondaryPreferred\
         &localThresholdMS=3&readConcernLevel=majority&retryWrites=false&maxPoolSize=7",
    );
    let write = WriteConcern {
        acknowledged: Some(WriteAck::Majority),
        journal: Some(true),
        timeout: Some(Duration::from_millis(500)),
    };
    assert_eq!(uri.write, write);
    assert_eq!(uri.read.mode, ReadMode::SecondaryPreferred);
    assert_eq!(uri.read.threshold, Duration::from_millis(3));
    assert_eq!(uri.read_concern.as_deref(), Some("majority"));
    assert_eq!((uri.pool, uri.retry_writes), (7, false));
}

#[test]
fn a_user_belongs_to_the_database_unless_said_otherwise() {
    let of = |text: &str| uri(text).options.credentials.unwrap();
    let ann = of("mongodb://ann:p%40ss%25@h/shop");
    assert_eq!(
        (ann.user.as_str(), ann.password.0.as_str()),
        ("ann", "p@ss%")
    );
    assert_eq!(ann.source, "shop");
    assert_eq!(of("mongodb://ann:x@h").source, "admin");
    let other = of("mongodb://ann:x@h/shop?authSource=people&authMechanism=SCRAM-SHA-1");
    assert_eq!(other.source, "people");
    assert_eq!(other.mechanism, Some(Mechanism::ScramSha1));
}

#[test]
fn tls_trusts_the_named_authorities_or_the_machines() {
    let machines = uri("mongodb://h/?tls=true").options.tls.unwrap();
    assert_eq!((machines.authorities, machines.verify), (None, true));
    let trusted = uri("mongodb://h/?tlsCAFile=/ca.pem&tlsCertificateKeyFile=/me.pem");
    let tls = trusted.options.tls.unwrap();
    assert!(tls.verify);
    assert_eq!(tls.certificate, Some(("/me.pem".into(), "/me.pem".into())));
    assert!(
        !uri("mongodb://h/?tls=true&tlsInsecure=true")
            .options
            .tls
            .unwrap()
            .verify
    );
}

#[test]
fn what_is_not_offered_is_refused_and_named() {
    let cases = [
        ("http://h", "the scheme: expected mongodb://host:port/database?options"),
        ("mongodb://h/?w=0", "w: writes that nobody acknowledges have nothing to time; use w=1"),
        ("mongodb://h/?compressors=zlib", "compressors: compression is not offered; leave it out"),
        ("mongodb://h/?authSource=", "authSource: it names no database; leave it out"),
        ("mongodb://h/?maxStalenessSeconds=90", "maxStalenessSeconds: the primary is one member, and never stale; name another readPreference"),
        ("mongodb://a,b/?directConnection=true", "directConnection: true needs exactly one host"),
        ("mongodb://h/?x", "x: expected option=value"),
        ("mongodb://h:99999/", "the hosts: `h:99999`: the port is no number from 1 to 65535"),
    ];
    for (text, message) in cases {
        assert_eq!(refusal(text), message);
    }
    let srv = refusal("mongodb+srv://h/");
    assert!(srv.starts_with("the scheme: names in DNS"), "{srv}");
}

#[test]
fn what_a_driver_would_take_is_told_from_what_is_wrong() {
    for (text, refused) in [
        ("mongodb://h/?w=0", true),
        ("mongodb://h/?w=0&journal=true", false),
        ("mongodb://%2Ftmp%2Fx.sock", true),
        ("mongodb:///tmp/x.sock", false),
        ("mongodb://h/?proxyHost=p", true),
        ("mongodb://h/?proxyPort=1080", false),
        ("mongodb://a:b@h/?authMechanism=PLAIN", true),
        ("mongodb://h/?srvAllowedHostsSuffix=.h", false),
    ] {
        assert_eq!(Uri::parse(text).unwrap_err().refused, refused, "{text}");
    }
}

#[test]
fn a_value_that_is_none_of_its_options_is_left_out_and_said() {
    let uri = uri("mongodb://h/?socketTimeoutMS=-2&retryWrites=maybe&readPreference=closest");
    assert_eq!((uri.socket_timeout, uri.retry_writes), (None, true));
    let wanted = [
        "option socketTimeoutMS is left out: expected milliseconds, not \"-2\"",
        "option retryWrites is left out: expected true or false, not \"maybe\"",
        "option readPreference is left out: expected primary, primaryPreferred, secondary, secondaryPreferred or nearest",
    ];
    assert_eq!(uri.remarks, wanted);
}

#[test]
fn tags_and_staleness_are_taken_over() {
    let uri = uri(
        "mongodb://h/?readPreference=nearest&maxStalenessSeconds=120&readPreferenceTags=dc:ny,rack:1\
         &readPreferenceTags=",
    );
    let tag = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        uri.read.tags,
        [vec![tag("dc", "ny"), tag("rack", "1")], Vec::new()]
    );
    assert_eq!(uri.read.staleness, Some(Duration::from_secs(120)));
}

#[test]
fn what_has_no_meaning_here_is_said() {
    let remarks = uri("mongodb://h/?waitQueueMultiple=9").remarks;
    assert_eq!(
        remarks,
        ["option waitQueueMultiple of the connection string has no meaning here"]
    );
}

proptest! {
    #[test]
    fn no_string_is_a_panic(text in "mongodb://[a-z@:%,/?&=\\[\\]0-9]{0,40}|\\PC{0,40}") {
        let _ = Uri::parse(&text);
    }
}
