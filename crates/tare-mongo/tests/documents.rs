//! BSON: the specification's own examples, and what the `bson` crate makes of what is written here.
use bson::raw::cstr;
use bson::spec::BinarySubtype;
use bson::{doc, Binary, Bson};
use proptest::prelude::*;
use tare_mongo::document::{self, kind, subtype, Document, Value, Writer};
use tare_mongo::Hello;

/// The first example of bsonspec.org.
const HELLO: &[u8] = b"\x16\x00\x00\x00\x02hello\x00\x06\x00\x00\x00world\x00\x00";
/// The second one.
const AWESOME: &[u8] = b"\x31\x00\x00\x00\x04BSON\x00\x26\x00\x00\x00\x02\x30\x00\x08\x00\x00\x00\
awesome\x00\x01\x31\x00\x33\x33\x33\x33\x33\x33\x14\x40\x10\x32\x00\xc2\x07\x00\x00\x00\x00";

#[test]
fn the_examples_of_the_specification_are_written_byte_for_byte() {
    let mut hello = Vec::new();
    Writer::write(&mut hello, |out| {
        out.text("hello", "world");
    });
    assert_eq!(hello, HELLO);
    let mut awesome = Vec::new();
    Writer::write(&mut awesome, |out| {
        out.array("BSON", |out| {
            out.text("0", "awesome").double("1", 5.05).int("2", 1986);
        });
    });
    assert_eq!(awesome, AWESOME);
}

#[test]
fn the_examples_of_the_specification_are_read() {
    let (hello, rest) = Document::take(HELLO).unwrap();
    assert!(rest.is_empty());
    assert_eq!(hello.get("hello").unwrap(), Some(Value::Text(b"world")));
    assert_eq!(hello.get("world").unwrap(), None);
    assert_eq!(hello.to_bytes(), HELLO);
    let (awesome, _) = Document::take(AWESOME).unwrap();
    let array = awesome.get("BSON").unwrap().unwrap().document().unwrap();
    let values: Vec<_> = array
        .elements()
        .map(|element| element.unwrap().value)
        .collect();
    let wanted = [
        Value::Text(b"awesome"),
        Value::Double(5.05),
        Value::Int(1986),
    ];
    assert_eq!(values, wanted);
}

#[test]
fn every_type_of_a_servers_answer_is_passed_over_or_read() {
    let bytes = doc! {
        "id": bson::oid::ObjectId::from_bytes([7; 12]),
        "date": bson::DateTime::from_millis(-5),
        "null": Bson::Null,
        "regex": bson::Regex { pattern: cstr!("a.*").into(), options: cstr!("i").into() },
        "code": Bson::JavaScriptCode("f()".into()),
        "scope": bson::JavaScriptCodeWithScope { code: "f()".into(), scope: doc! { "x": 1 } },
        "symbol": Bson::Symbol("s".into()),
        "time": bson::Timestamp { time: 9, increment: 3 },
        "decimal": bson::Decimal128::from_bytes([1; 16]),
        "undefined": Bson::Undefined,
        "least": Bson::MinKey,
        "most": Bson::MaxKey,
        "binary": Binary { subtype: BinarySubtype::Generic, bytes: vec![1, 2] },
        "truth": true,
        "last": 1_i64 << 40,
    }
    .to_vec()
    .unwrap();
    let (document, _) = Document::take(&bytes).unwrap();
    let get = |name| document.get(name).unwrap().unwrap();
    assert_eq!(get("id"), Value::ObjectId(&[7; 12]));
    assert_eq!(get("date"), Value::Date(-5));
    assert!(matches!(get("regex"), Value::Other { kind: 0x0B, .. }));
    assert!(matches!(get("scope"), Value::Other { kind: 0x0F, .. }));
    assert_eq!(
        get("time"),
        Value::Timestamp {
            seconds: 9,
            counter: 3
        }
    );
    assert_eq!(
        get("binary"),
        Value::Binary {
            subtype: subtype::GENERIC,
            bytes: &[1, 2]
        }
    );
    assert_eq!(get("last").number(), Some(1 << 40));
    assert_eq!(document.elements().count(), 15);
}

#[test]
fn lengths_that_lie_are_errors() {
    for (at, byte) in [(0, 0xFF), (0, 4), (0, 0), (12, 0xFF), (12, 5), (21, 1)] {
        let mut bytes = HELLO.to_vec();
        bytes[at] = byte;
        let read = Document::take(&bytes)
            .and_then(|(document, _)| document.elements().collect::<Result<Vec<_>, _>>().map(drop));
        assert!(read.is_err(), "byte {at} as {byte}");
    }
    assert!(Document::take(&HELLO[..21]).is_err());
    assert!(Document::take(&[]).is_err());
}

/// So many documents inside each other.
fn nested(depth: usize) -> Vec<u8> {
    let mut bytes = vec![5, 0, 0, 0, 0];
    for _ in 0..depth {
        let mut outer = Vec::new();
        let at = document::open(&mut outer);
        document::put_key(&mut outer, kind::DOCUMENT, "a").unwrap();
        outer.extend(&bytes);
        document::close(&mut outer, at);
        bytes = outer;
    }
    bytes
}

#[test]
fn documents_are_read_as_deep_as_mongodb_nests_them_and_no_deeper() {
    assert!(Document::whole(&nested(150)).is_ok());
    let deep = nested(10_000);
    let error = Document::whole(&deep).unwrap_err().to_string();
    assert!(error.contains("more than 200 documents"), "{error}");
    // A reader of the first element alone never goes down.
    assert_eq!(Document::take(&deep).unwrap().0.elements().count(), 1);
}

#[test]
fn what_stands_behind_or_ends_early_is_no_whole_document() {
    let whole = AWESOME.to_vec();
    assert!(Document::whole(&whole).is_ok());
    for end in 0..whole.len() {
        assert!(Document::whole(&whole[..end]).is_err(), "{end} bytes");
    }
    let behind = [&whole[..], &[0]].concat();
    assert!(Document::whole(&behind).is_err());
}

proptest! {
    #[test]
    fn what_is_written_is_what_another_reader_reads(
        text in "\\PC{0,20}", int: i32, long: i64, double in -1e300f64..1e300, truth: bool,
        bytes in proptest::collection::vec(any::<u8>(), 0..50),
    ) {
        let mut out = Vec::new();
        Writer::write(&mut out, |out| {
            out.text("text", &text).int("int", int).long("long", long).double("double", double);
            out.boolean("truth", truth).binary("binary", subtype::GENERIC, &bytes);
            out.document("inside", |out| {
                out.int("int", int);
            });
        });
        let read: bson::Document = bson::Document::from_reader(&out[..]).unwrap();
        let binary = Binary { subtype: BinarySubtype::Generic, bytes };
        let wanted = doc! {
            "text": text, "int": int, "long": long, "double": double, "truth": truth,
            "binary": binary, "inside": { "int": int },
        };
        prop_assert_eq!(read, wanted);
    }

    #[test]
    fn no_bytes_are_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok((document, _)) = Document::take(&bytes) {
            document.elements().for_each(drop);
            let _ = document.check();
            let _ = Hello::read(document);
        }
    }

    #[test]
    fn a_byte_that_changed_is_no_panic(at in 0..AWESOME.len(), byte: u8) {
        let mut bytes = AWESOME.to_vec();
        bytes[at] = byte;
        let _ = Document::whole(&bytes);
        if let Ok((document, _)) = Document::take(&bytes) {
            for element in document.elements().flatten() {
                if let Some(inside) = element.value.document() {
                    inside.elements().for_each(drop);
                }
            }
        }
    }
}
