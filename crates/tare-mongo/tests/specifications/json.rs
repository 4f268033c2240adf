//! Extended JSON, as the specifications' files write values: to BSON, and from what the client read.
use base64::engine::general_purpose::STANDARD;
use base64::Engine;
use bson::{oid::ObjectId, Binary, Bson, DateTime};
use serde_json::{json, Map, Value};
use tare_mongo::document::{self, Document};

/// A value of a file as BSON.
pub fn bson(value: &Value) -> Bson {
    match value {
        Value::Null => Bson::Null,
        Value::Bool(truth) => Bson::Boolean(*truth),
        Value::String(text) => Bson::String(text.clone()),
        Value::Array(items) => Bson::Array(items.iter().map(bson).collect()),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => match i32::try_from(whole) {
                Ok(small) => Bson::Int32(small),
                Err(_) => Bson::Int64(whole),
            },
            (None, double) => Bson::Double(double.unwrap_or(f64::NAN)),
        },
        Value::Object(fields) => special(fields).unwrap_or_else(|| {
            let pairs = fields
                .iter()
                .map(|(name, value)| (name.clone(), bson(value)));
            Bson::Document(pairs.collect())
        }),
    }
}

/// A value that is written as an object.
fn special(fields: &Map<String, Value>) -> Option<Bson> {
    let (name, value) = fields.iter().next().filter(|_| fields.len() == 1)?;
    match name.as_str() {
        "$oid" => Some(Bson::ObjectId(ObjectId::parse_str(value.as_str()?).ok()?)),
        "$numberLong" => value.as_str()?.parse().ok().map(Bson::Int64),
        "$numberInt" => value.as_str()?.parse().ok().map(Bson::Int32),
        "$code" => Some(Bson::JavaScriptCode(value.as_str()?.to_owned())),
        "$date" => Some(Bson::DateTime(
            DateTime::parse_rfc3339_str(value.as_str()?).ok()?,
        )),
        "$binary" => {
            let subtype = u8::from_str_radix(value["subType"].as_str()?, 16).ok()?;
            let bytes = STANDARD.decode(value["base64"].as_str()?).ok()?;
            let subtype = subtype.into();
            Some(Bson::Binary(Binary { subtype, bytes }))
        }
        _ => None,
    }
}

/// A document of a file.
pub fn bson_document(value: &Value) -> bson::Document {
    match bson(value) {
        Bson::Document(document) => document,
        _ => bson::Document::new(),
    }
}

/// A document that this client reads, in canonical extended JSON. A value of a type that it does not
/// look into is an object with that type's key alone.
pub fn canonical(document: Document<'_>) -> Result<Value, String> {
    let mut fields = Map::new();
    for element in document.elements() {
        let element = element.map_err(|error| error.to_string())?;
        let name = String::from_utf8_lossy(element.name).into_owned();
        fields.insert(name, value(element.value)?);
    }
    Ok(Value::Object(fields))
}

fn value(given: document::Value<'_>) -> Result<Value, String> {
    use document::Value as Read;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(match given {
        Read::Double(number) => json!({ "$numberDouble": double(number) }),
        Read::Text(bytes) => json!(text(bytes)),
        Read::Document(document) => canonical(document)?,
        Read::Array(array) => {
            let items = array.elements().map(|element| {
                let element = element.map_err(|error| error.to_string())?;
                value(element.value)
            });
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        Read::Binary { subtype, bytes } => {
            // The old kind holds its length once more.
            let bytes = if subtype == 2 {
                bytes.get(4..).unwrap_or(bytes)
            } else {
                bytes
            };
            let encoded = STANDARD.encode(bytes);
            json!({ "$binary": { "base64": encoded, "subType": format!("{subtype:02x}") } })
        }
        Read::ObjectId(id) => json!({ "$oid": hexadecimal(id) }),
        Read::Boolean(truth) => json!(truth),
        Read::Date(time) => json!({ "$date": { "$numberLong": time.to_string() } }),
        Read::Null => Value::Null,
        Read::Int(number) => json!({ "$numberInt": number.to_string() }),
        Read::Timestamp { seconds, counter } => {
            json!({ "$timestamp": { "t": seconds, "i": counter } })
        }
        Read::Long(number) => json!({ "$numberLong": number.to_string() }),
        Read::Other { kind, .. } => json!({ RARE: kind }),
    })
}

fn double(number: f64) -> String {
    match number {
        number if number.is_nan() => "NaN".to_owned(),
        number if number.is_infinite() => if number > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }
        .to_owned(),
        number => format!("{number:?}"),
    }
}

pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn bytes(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2);
    digits
        .filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

/// The key of a value that was not looked into.
const RARE: &str = "$rare";
/// Types that the client does not look into, and the first key of their extended JSON.
const KEYS: [(u64, &str); 9] = [
    (0x06, "$undefined"),
    (0x0B, "$regularExpression"),
    (0x0C, "$dbPointer"),
    (0x0D, "$code"),
    (0x0E, "$symbol"),
    (0x0F, "$code"),
    (0x13, "$numberDecimal"),
    (0x7F, "$maxKey"),
    (0xFF, "$minKey"),
];

/// Whether what the client read is what the file says.
pub fn same(read: &Value, wanted: &Value) -> bool {
    if let Some(kind) = read.get(RARE).and_then(Value::as_u64) {
        let key = KEYS.iter().find(|(known, _)| *known == kind);
        return key.is_some_and(|(_, key)| wanted.get(*key).is_some());
    }
    match (read, wanted) {
        (Value::Array(read), Value::Array(wanted)) => {
            let pairs = read.iter().zip(wanted);
            read.len() == wanted.len() && pairs.clone().all(|(read, wanted)| same(read, wanted))
        }
        (Value::Object(read), Value::Object(wanted)) => {
            if let (Some(read), Some(wanted)) = (number(read), number(wanted)) {
                return read == wanted;
            }
            let has = |(name, read): (&String, &Value)| {
                wanted.get(name).is_some_and(|wanted| same(read, wanted))
            };
            read.len() == wanted.len() && read.iter().all(has)
        }
        _ => read == wanted,
    }
}

/// The bits of a double that is written as an object: one number has several texts.
fn number(fields: &Map<String, Value>) -> Option<u64> {
    let text = fields.get("$numberDouble").filter(|_| fields.len() == 1)?;
    let number: f64 = text.as_str()?.parse().ok()?;
    Some(if number.is_nan() {
        f64::NAN.to_bits()
    } else {
        number.to_bits()
    })
}

/// BSON as the files write it where a type does not matter.
pub fn relaxed(value: &Bson) -> Value {
    match value {
        Bson::Int32(number) => json!(number),
        Bson::Int64(number) => json!(number),
        Bson::Double(number) => json!(number),
        Bson::String(text) => json!(text),
        Bson::Boolean(truth) => json!(truth),
        Bson::Array(items) => Value::Array(items.iter().map(relaxed).collect()),
        Bson::Document(fields) => {
            let pairs = fields
                .iter()
                .map(|(name, value)| (name.clone(), relaxed(value)));
            Value::Object(pairs.collect())
        }
        Bson::Null => Value::Null,
        Bson::ObjectId(id) => json!({ "$oid": id.to_hex() }),
        Bson::JavaScriptCode(code) => json!({ "$code": code }),
        other => json!(other.to_string()),
    }
}
