//! `hello` and authentication, blocking (MongoDB handshake and authentication specifications).
use std::time::Instant;

use tare_net::{remaining, Error as NetError};

use crate::document::{subtype, Document, Value, Writer};
use crate::error::{Error, ServerErrorKind};
use crate::hello::Hello;
use crate::link::{call, Link};
use crate::options::{Credentials, Mechanism, Options};
use crate::reply::Reply;
use crate::scram::Exchange;
use crate::topology::speaks;

/// The code of a command that is not known.
const COMMAND_NOT_FOUND: i32 = 59;
/// Steps that an authentication may take.
const MOST_STEPS: usize = 8;

/// Bring a fresh connection to the point where it takes requests.
pub(crate) fn shake(link: &mut Link, options: &Options, deadline: Instant) -> Result<Hello, Error> {
    let hello = introduce(link, options, deadline)?;
    let address = link.address();
    speaks(&hello).map_err(|what| NetError::Unsupported { address, what })?;
    if let Some(credentials) = &options.credentials {
        authenticate(link, credentials, &hello.mechanisms, deadline)?;
    }
    Ok(hello)
}

/// `hello`, or `isMaster` where that is too new.
fn introduce(link: &mut Link, options: &Options, deadline: Instant) -> Result<Hello, Error> {
    match greet(link, "hello", options, deadline) {
        Err(Error::Server(error)) if error.code == COMMAND_NOT_FOUND => {
            greet(link, "isMaster", options, deadline)
        }
        Err(Error::Net(error)) if options.tls.is_none() => Err(error.on_first("hello").into()),
        other => other,
    }
}

fn greet(
    link: &mut Link,
    word: &str,
    options: &Options,
    deadline: Instant,
) -> Result<Hello, Error> {
    let mut command = Vec::new();
    Writer::write(&mut command, |out| {
        out.int(word, 1).boolean("helloOk", true);
        out.document("client", |out| {
            out.document("application", |out| {
                out.text("name", &options.application);
            });
            out.document("driver", |out| {
                out.text("name", "tare")
                    .text("version", env!("CARGO_PKG_VERSION"));
            });
            out.document("os", |out| {
                out.text("type", std::env::consts::OS);
            });
        });
        if let Some(credentials) = &options.credentials {
            let user = format!("{}.{}", credentials.source, credentials.user);
            out.text("saslSupportedMechs", &user);
        }
        out.text("$db", "admin");
    });
    let answer = call(link, &command, "hello", remaining(deadline))?;
    Hello::read(Reply::of(&answer)?.body)
}

fn authenticate(
    link: &mut Link,
    credentials: &Credentials,
    offered: &[String],
    deadline: Instant,
) -> Result<(), Error> {
    let address = link.address();
    let refused = |why: String| Error::from(NetError::Authentication { address, why });
    let mechanism = credentials.mechanism.unwrap_or_else(|| best(offered));
    let mut exchange = Exchange::new(mechanism, credentials).map_err(refused)?;
    let say = |link: &mut Link, command: Vec<u8>| -> Result<Step, Error> {
        match call(link, &command, "the credentials", remaining(deadline)) {
            Ok(answer) => Step::read(Reply::of(&answer)?.body),
            Err(Error::Server(error)) if error.kind() == ServerErrorKind::Authentication => {
                Err(refused(error.message))
            }
            Err(other) => Err(other),
        }
    };
    let mut step = say(link, start(mechanism, &exchange.first(), credentials))?;
    let answer = exchange.answer(&step.payload).map_err(refused)?;
    step = say(link, next(&step, &answer, credentials))?;
    exchange.verify(&step.payload).map_err(refused)?;
    // Servers that do not know `skipEmptyExchange` want one more.
    for _ in 0..MOST_STEPS {
        if step.done {
            return Ok(());
        }
        step = say(link, next(&step, "", credentials))?;
    }
    Err(refused("it never says that it is done".into()))
}

/// The stronger mechanism on offer; servers before 4.0 offer none and know the weaker one.
fn best(offered: &[String]) -> Mechanism {
    let strong = Mechanism::ScramSha256;
    if offered.iter().any(|name| name == strong.name()) {
        strong
    } else {
        Mechanism::ScramSha1
    }
}

fn start(mechanism: Mechanism, payload: &str, credentials: &Credentials) -> Vec<u8> {
    let mut command = Vec::new();
    Writer::write(&mut command, |out| {
        out.int("saslStart", 1).text("mechanism", mechanism.name());
        out.binary("payload", subtype::GENERIC, payload.as_bytes());
        out.document("options", |out| {
            out.boolean("skipEmptyExchange", true);
        });
        out.text("$db", &credentials.source);
    });
    command
}

fn next(step: &Step, payload: &str, credentials: &Credentials) -> Vec<u8> {
    let mut command = Vec::new();
    Writer::write(&mut command, |out| {
        out.int("saslContinue", 1);
        out.int("conversationId", step.conversation);
        out.binary("payload", subtype::GENERIC, payload.as_bytes());
        out.text("$db", &credentials.source);
    });
    command
}

/// An answer in the conversation.
struct Step {
    conversation: i32,
    done: bool,
    payload: String,
}

impl Step {
    fn read(body: Document<'_>) -> Result<Step, Error> {
        let mut step = Step {
            conversation: 0,
            done: false,
            payload: String::new(),
        };
        for element in body.elements() {
            let element = element?;
            match (element.name, element.value) {
                (b"conversationId", value) => {
                    step.conversation = value.number().unwrap_or(0) as i32;
                }
                (b"done", value) => step.done = value.truth(),
                (b"payload", Value::Binary { bytes, .. }) => {
                    step.payload = String::from_utf8_lossy(bytes).into_owned();
                }
                _ => {}
            }
        }
        Ok(step)
    }
}
