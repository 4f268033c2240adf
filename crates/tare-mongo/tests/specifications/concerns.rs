//! read-write-concern/document: what is sent to a server of a read or write concern.
use serde_json::{json, Value};
use tare_mongo::message;
use tare_mongo::{BadUri, Collection, Request, Template, WriteAck, WriteConcern};

use crate::json::canonical;
use crate::{cases, refusals, Tally, Verdict};

pub fn file(place: &str, file: &Value, tally: &mut Tally) {
    for (name, case) in cases(place, &file["tests"]) {
        tally.case(&name, || match case.get("writeConcern") {
            Some(given) => write(case, given),
            None => read(case),
        });
    }
}

/// What becomes of a write concern as the specifications' files write it.
pub fn write_concern(given: &Value) -> Result<WriteConcern, BadUri> {
    let acknowledged = match &given["w"] {
        Value::Null => None,
        Value::String(name) => Some(WriteAck::parse(name)),
        number => Some(WriteAck::parse(&number.to_string())),
    };
    WriteConcern::of(
        acknowledged,
        given["journal"].as_bool(),
        given["wtimeoutMS"].as_i64(),
    )
}

fn write(case: &Value, given: &Value) -> Verdict {
    let valid = case["valid"].as_bool() != Some(false);
    let concern = match write_concern(given) {
        Err(error) if error.refused => return refusals::verdict(&error),
        Err(_) if !valid => return Verdict::Passed,
        Err(error) => return Verdict::Failed(format!("refused: {error}")),
        Ok(_) if !valid => return Verdict::Failed("it was taken".into()),
        Ok(concern) => concern,
    };
    if json!(concern.is_default()) != case["isServerDefault"] {
        return Verdict::Failed("whether it is the server's default".into());
    }
    if case["isAcknowledged"] != json!(true) {
        return Verdict::Failed("a write that nobody acknowledges was not refused".into());
    }
    let collection = Collection {
        write_concern: concern,
        ..Collection::new("d", "c")
    };
    let mut request = Request::new([0; 16]);
    match Template::insert(&collection, true) {
        Ok(template) => request.write(&template),
        Err(error) => return Verdict::Failed(error.to_string()),
    }
    request.document(b"x");
    sent(&mut request, "writeConcern", &case["writeConcernDocument"])
}

fn read(case: &Value) -> Verdict {
    let level = case["readConcern"]["level"].as_str().map(str::to_owned);
    if json!(level.is_none()) != case["isServerDefault"] {
        return Verdict::Failed("whether it is the server's default".into());
    }
    let collection = Collection {
        read_concern: level,
        ..Collection::new("d", "c")
    };
    let mut request = Request::new([0; 16]);
    match Template::find(&collection, None) {
        Ok(template) => request.find(&template, b"x"),
        Err(error) => return Verdict::Failed(error.to_string()),
    }
    sent(&mut request, "readConcern", &case["readConcernDocument"])
}

/// Whether a command carries this document, which stands for none where it is empty.
fn sent(request: &mut Request, name: &str, wanted: &Value) -> Verdict {
    if let Err(error) = request.finish() {
        return Verdict::Failed(error.to_string());
    }
    let message = message::decode(request.message());
    let Ok(Some((message, _))) = message else {
        return Verdict::Failed("no message".into());
    };
    let mut found = match canonical(message.body) {
        Ok(body) => body.get(name).cloned().unwrap_or(json!({})),
        Err(error) => return Verdict::Failed(error),
    };
    for value in found
        .as_object_mut()
        .into_iter()
        .flat_map(|it| it.values_mut())
    {
        let number = value.get("$numberInt").or(value.get("$numberLong"));
        if let Some(number) = number.and_then(Value::as_str) {
            *value = serde_json::from_str(number).unwrap_or_default();
        }
    }
    match found == *wanted {
        true => Verdict::Passed,
        false => Verdict::Failed(format!("{name} is {found}, not {wanted}")),
    }
}
