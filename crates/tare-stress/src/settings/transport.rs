//! `-transport`: TLS. Authorities and keys are PEM files; Java key stores are refused with the
//! command that converts them.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use tare_cql::TlsOptions;

use super::describe::Dump;
use super::forms::{text, ANY, SOME};
use crate::grammar::options::{select, Choice, Group};
use crate::grammar::Usage;

const FACTORY: Choice = Choice::value("factory=", ANY, "read and without use (Thrift)")
    .or("org.apache.cassandra.thrift.TFramedTransportFactory");
const TRUST: Choice = Choice::value(
    "truststore=",
    SOME,
    "PEM file of the authorities that are trusted",
);
const TRUST_PASSWORD: Choice = Choice::value(
    "truststore-password=",
    ANY,
    "read and without use: PEM files have none",
);
const KEYS: Choice = Choice::value(
    "keystore=",
    SOME,
    "PEM file of the client's certificates and private key",
);
const KEYS_PASSWORD: Choice = Choice::value(
    "keystore-password=",
    ANY,
    "read and without use: PEM files have none",
);
const PROTOCOL: Choice = Choice::value("ssl-protocol=", ANY, "read and without use").or("TLS");
const ALGORITHM: Choice = Choice::value("ssl-alg=", ANY, "read and without use").or("SunX509");
const STORE_TYPE: Choice = Choice::value("store-type=", ANY, "read and without use").or("JKS");
const CIPHERS: Choice = Choice::value("ssl-ciphers=", ANY, "read and without use: TLS 1.2 and 1.3")
    .or("TLS_RSA_WITH_AES_128_CBC_SHA,TLS_RSA_WITH_AES_256_CBC_SHA");

pub const GROUPS: &[Group] = &[&[
    FACTORY,
    TRUST,
    TRUST_PASSWORD,
    KEYS,
    KEYS_PASSWORD,
    PROTOCOL,
    ALGORITHM,
    STORE_TYPE,
    CIPHERS,
]];

#[derive(Debug, Clone)]
pub struct Transport {
    pub tls: Option<TlsOptions>,
    /// The options in the words of the settings dump; passwords are never among them.
    shown: String,
}

impl Transport {
    pub fn read(parameters: Option<&[String]>) -> Result<Transport, Usage> {
        let given = select("-transport", parameters.unwrap_or_default(), GROUPS)?;
        let shown = GROUPS[0].iter().map(|choice| {
            let hidden = choice.name.ends_with("password=") && given.value(choice.name).is_some();
            let value = if hidden {
                "*suppressed*"
            } else {
                text(&given, choice).unwrap_or("null")
            };
            format!("{}{value}; ", choice.name)
        });
        let shown: String = shown.collect();
        let keys = given.value(KEYS.name).map(PathBuf::from);
        let tls = match given.value(TRUST.name).map(PathBuf::from) {
            Some(trust) => Some(tls(trust, keys)?),
            None if keys.is_some() => {
                return Err(Usage::new("-transport: keystore= needs truststore=, too"));
            }
            None => None,
        };
        Ok(Transport { tls, shown })
    }

    pub fn dump(&self, out: &mut Dump) {
        out.0.push(format!("  {}", self.shown));
    }
}

fn tls(trust: PathBuf, keys: Option<PathBuf>) -> Result<TlsOptions, Usage> {
    must_be_pem(
        "truststore=",
        &trust,
        "openssl pkcs12 -in trust.p12 -nokeys -out trust.pem",
    )?;
    if let Some(keys) = &keys {
        must_be_pem(
            "keystore=",
            keys,
            "openssl pkcs12 -in keys.p12 -nodes -out keys.pem",
        )?;
    }
    Ok(TlsOptions {
        authorities: Some(trust),
        certificate: keys.map(|keys| (keys.clone(), keys)),
        ..TlsOptions::default()
    })
}

/// Refuses what is not PEM, with the commands that make it PEM.
fn must_be_pem(option: &str, path: &Path, command: &str) -> Result<(), Usage> {
    let shown = path.display();
    let failed = |why: String| Usage(format!("-transport: {option}{shown}: {why}"));
    let mut begin = Vec::new();
    let file = File::open(path).map_err(|e| failed(e.to_string()))?;
    file.take(1 << 16)
        .read_to_end(&mut begin)
        .map_err(|e| failed(e.to_string()))?;
    if String::from_utf8_lossy(&begin).contains("-----BEGIN ") {
        return Ok(());
    }
    Err(failed(format!(
        "not a PEM file; convert a Java key store with `keytool -importkeystore -srckeystore \
         {shown} -destkeystore store.p12 -deststoretype PKCS12` and `{command}`"
    )))
}
