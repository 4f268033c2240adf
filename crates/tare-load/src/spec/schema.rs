//! The JSON Schema of what is read, generated from the types that read it.

use schemars::generate::SchemaSettings;
use schemars::transform::{transform_subschemas, Transform};
use schemars::{json_schema, Schema, SchemaGenerator};
use serde_json::Value;
use tare_cql::Consistency;

use super::{Spec, MAX_WEIGHT};

const LEVELS: [Consistency; 9] = [
    Consistency::Any,
    Consistency::One,
    Consistency::Two,
    Consistency::Three,
    Consistency::Quorum,
    Consistency::All,
    Consistency::LocalOne,
    Consistency::LocalQuorum,
    Consistency::EachQuorum,
];

/// The schema of a specification as it is published, in JSON.
pub fn text() -> String {
    let settings = SchemaSettings::draft2020_12().with_transform(Plain);
    let mut schema = settings.into_generator().into_root_schema_for::<Spec>();
    schema.insert("title".into(), "Tare load specification".into());
    format!("{schema:#}\n", schema = schema.as_value())
}

/// Leaves out what only Rust knows, such as how many bits a number has, and line ends of comments.
#[derive(Debug, Clone)]
struct Plain;

impl Transform for Plain {
    fn transform(&mut self, schema: &mut Schema) {
        schema.remove("format");
        if let Some(Value::String(text)) = schema.get_mut("description") {
            *text = text.replace('\n', " ");
        }
        transform_subschemas(self, schema);
    }
}

/// A consistency level by its CQL name.
pub fn level(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": LEVELS.map(Consistency::name) })
}

/// That of the Paxos round of conditional statements.
pub fn serial_level(_: &mut SchemaGenerator) -> Schema {
    let [serial, local] = [Consistency::Serial, Consistency::LocalSerial].map(Consistency::name);
    json_schema!({ "enum": [serial, local, null], "default": null })
}

/// Weights by name: `inner` of schemars bounds the items of lists, not the values of maps.
pub fn weights(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": { "type": "number", "minimum": 0.0, "maximum": MAX_WEIGHT },
    })
}

/// What a bind marker can be bound to.
pub fn constant(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "number", "boolean", "null"] })
}

/// Pairs of a constant and its weight.
pub fn choices(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "minItems": 1,
        "items": {
            "type": "array",
            "prefixItems": [
                constant(generator),
                { "type": "number", "minimum": 0, "description": "weight" },
            ],
            "minItems": 2,
            "maxItems": 2,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::text;

    /// `tare-load schema > src/tare/load/specification.schema.json` makes them equal.
    #[test]
    fn the_published_schema_is_that_of_the_types() {
        let published = include_str!("../../../../src/tare/load/specification.schema.json");
        assert_eq!(published, text());
    }
}
