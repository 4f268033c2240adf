//! bson-corpus: every valid document is walked, every broken one is refused.
use bson::Document as Owned;
use serde_json::Value;
use tare_mongo::document::Document;

use crate::json::{bytes, canonical, same};
use crate::{cases, Tally, Verdict};

pub fn file(place: &str, file: &Value, tally: &mut Tally) {
    for (name, case) in cases(place, &file["valid"]) {
        tally.case(&name, || valid(case));
    }
    for (name, case) in cases(place, &file["decodeErrors"]) {
        tally.case(&name, || broken(case));
    }
    let texts = file["parseErrors"].as_array().map_or(0, Vec::len);
    if texts > 0 {
        let what = "parseErrors are of Extended JSON and decimals as text, which it never reads";
        tally.aside(what, texts);
    }
}

fn valid(case: &Value) -> Verdict {
    let wanted: Value = match case["canonical_extjson"].as_str().map(serde_json::from_str) {
        Some(Ok(wanted)) => wanted,
        _ => return Verdict::Failed("it has no canonical_extjson".into()),
    };
    for form in ["canonical_bson", "degenerate_bson"] {
        let Some(text) = case[form].as_str() else {
            continue;
        };
        let bytes = bytes(text);
        let document = match Document::whole(&bytes) {
            Ok(document) => document,
            Err(error) => return Verdict::Failed(format!("{form}: {error}")),
        };
        if document.to_bytes() != bytes {
            return Verdict::Failed(format!("{form}: it is written otherwise than it was read"));
        }
        match canonical(document) {
            Ok(read) if same(&read, &wanted) => {}
            Ok(read) => return Verdict::Failed(format!("{form}: read as {read}, not {wanted}")),
            Err(error) => return Verdict::Failed(format!("{form}: {error}")),
        }
    }
    // MongoDB's own library, as a check of the runner itself.
    match Owned::from_reader(&bytes(case["canonical_bson"].as_str().unwrap_or_default())[..]) {
        Ok(_) => Verdict::Passed,
        Err(error) => Verdict::Failed(format!("the bson library refuses it: {error}")),
    }
}

fn broken(case: &Value) -> Verdict {
    let bytes = bytes(case["bson"].as_str().unwrap_or_default());
    match Document::whole(&bytes) {
        Ok(_) => Verdict::Failed("it was taken".into()),
        Err(_) => Verdict::Passed,
    }
}
