//! STARTUP and authentication, blocking (v4 sections 4.1.1, 4.1.2, 4.2.2, 4.2.3).
use std::time::Instant;

use tare_net::{remaining, Error as NetError};

use crate::error::{Error, ServerErrorKind};
use crate::frame::opcode;
use crate::link::Link;
use crate::options::{Compression, Credentials, Options};
use crate::wire::{put_bytes, put_short, put_string, Reader};

const DRIVER: &str = "tare";

/// Bring a fresh connection to the point where it takes requests.
pub(crate) fn shake(link: &mut Link, options: &Options, deadline: Instant) -> Result<(), Error> {
    let address = link.address();
    let startup = startup(options)?;
    let answer = link
        .call((opcode::STARTUP, &startup), "STARTUP", remaining(deadline))
        .map_err(|error| explained(error, link, options))?;
    // From the answer to STARTUP on, v5 speaks in segments and v4 may compress.
    link.codec.agreed();
    match answer.opcode {
        opcode::READY => Ok(()),
        opcode::AUTHENTICATE => {
            let authenticator = Reader::new(&answer.body).string()?.to_owned();
            let Some(credentials) = &options.credentials else {
                let why = format!("it asks for a user and a password ({authenticator})");
                return Err(NetError::Authentication { address, why }.into());
            };
            authenticate(link, credentials, deadline)
        }
        other => Err(Error::Protocol(format!(
            "{address} answered STARTUP with opcode {other}"
        ))),
    }
}

fn startup(options: &Options) -> Result<Vec<u8>, Error> {
    let mut pairs = vec![
        ("CQL_VERSION", "3.0.0"),
        ("DRIVER_NAME", DRIVER),
        ("DRIVER_VERSION", env!("CARGO_PKG_VERSION")),
    ];
    if options.compression == Compression::Lz4 {
        pairs.push(("COMPRESSION", "lz4"));
    }
    let mut body = Vec::new();
    put_short(&mut body, pairs.len() as u16);
    for (key, value) in pairs {
        put_string(&mut body, key)?;
        put_string(&mut body, value)?;
    }
    Ok(body)
}

/// A server that does not know the version or the compression answers with a protocol error.
fn explained(error: Error, link: &Link, options: &Options) -> Error {
    match error {
        Error::Server(answer) if answer.code == 0x000A => NetError::Unsupported {
            address: link.address(),
            what: format!(
                "protocol v{} with compression {:?}: {}",
                options.protocol.number(),
                options.compression,
                answer.message
            ),
        }
        .into(),
        Error::Net(error) if options.tls.is_none() => error.on_first("STARTUP").into(),
        other => other,
    }
}

/// SASL PLAIN (RFC 4616): an empty authorisation identity, the user, the password.
fn authenticate(
    link: &mut Link,
    credentials: &Credentials,
    deadline: Instant,
) -> Result<(), Error> {
    let token = format!("\0{}\0{}", credentials.user, credentials.password.0);
    let mut body = Vec::new();
    put_bytes(&mut body, token.as_bytes())?;
    let address = link.address();
    let response = (opcode::AUTH_RESPONSE, &body[..]);
    match link.call(response, "the credentials", remaining(deadline)) {
        Ok(answer) if answer.opcode == opcode::AUTH_SUCCESS => Ok(()),
        Ok(answer) => {
            let why = format!("it wants more than a password (opcode {})", answer.opcode);
            Err(NetError::Authentication { address, why }.into())
        }
        Err(Error::Server(answer)) if answer.kind() == ServerErrorKind::Authentication => {
            let why = answer.message;
            Err(NetError::Authentication { address, why }.into())
        }
        Err(other) => Err(other),
    }
}
