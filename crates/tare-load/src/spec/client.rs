//! Which of a load's clients a specification is for.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use tare_draw::Share;

/// One client: its name, and its part of what several clients take in turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// Unit name: c1, c2, ...
    pub name: String,
    pub share: Share,
}

/// `{"index": 0, "of": 2}`: one of several clients that send one load together.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OneOf {
    /// Left out, it is c1 for index 0, and so on.
    name: Option<String>,
    /// Which client: 0 to `of` - 1.
    index: u32,
    /// How many clients; at most `records`. Sequences, rows in turn, inserted and populated rows are
    /// shared out between them.
    #[schemars(range(min = 1, max = 10_000))]
    of: u32,
}

/// What is read, where [`Client`] is what it becomes.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[allow(dead_code)] // its schema alone is of use
enum Read {
    Name(String),
    OneOf(OneOf),
}

impl JsonSchema for Client {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Client".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Read::json_schema(generator)
    }
}

/// By hand, as serde's own untagged enums lose the reason.
impl<'de> Deserialize<'de> for Client {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(name) => Ok(Client {
                name,
                share: Share::WHOLE,
            }),
            object @ Value::Object(_) => one_of(inner(object)?),
            other => Err(D::Error::custom(format!(
                "expected a name, or an object such as {{\"index\": 0, \"of\": 2}}, and not {other}"
            ))),
        }
    }
}

fn inner<T: DeserializeOwned, E: Error>(object: Value) -> Result<T, E> {
    serde_json::from_value(object).map_err(E::custom)
}

fn one_of<E: Error>(client: OneOf) -> Result<Client, E> {
    Ok(Client {
        share: Share::new(client.index, client.of).map_err(E::custom)?,
        name: client
            .name
            .unwrap_or_else(|| format!("c{}", u64::from(client.index) + 1)),
    })
}

impl Client {
    /// The seed of this client's draws: no two clients of a run draw the same.
    pub fn stream(&self, seed: u64) -> u64 {
        let named = self
            .name
            .bytes()
            .fold(seed, |sum, byte| mixed(sum, u64::from(byte)));
        match self.share {
            Share::WHOLE => named,
            // Names may be equal where one file was copied.
            share => mixed(named, u64::from(share.index()) + 256),
        }
    }
}

fn mixed(sum: u64, part: u64) -> u64 {
    sum.wrapping_mul(257).wrapping_add(part)
}
