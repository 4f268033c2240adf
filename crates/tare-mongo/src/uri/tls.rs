//! The TLS options of a connection string: which may not stand together, and what they come to.
use std::path::PathBuf;

use tare_net::TlsOptions;

use super::settings::truth;
use super::{bad, refused, BadUri, Uri};

/// Contradictory pairs of options, whatever their values (URI options specification): the first
/// of a row with any other of the row.
const APART: [(&str, &[&str]); 3] = [
    (
        "tlsinsecure",
        &[
            "tlsallowinvalidcertificates",
            "tlsallowinvalidhostnames",
            "tlsdisableocspendpointcheck",
            "tlsdisablecertificaterevocationcheck",
        ],
    ),
    (
        "tlsallowinvalidcertificates",
        &[
            "tlsdisableocspendpointcheck",
            "tlsdisablecertificaterevocationcheck",
        ],
    ),
    (
        "tlsdisableocspendpointcheck",
        &["tlsdisablecertificaterevocationcheck"],
    ),
];

/// The TLS options as they come.
#[derive(Default)]
pub(super) struct Tls {
    on: Option<bool>,
    authorities: Option<PathBuf>,
    key: Option<PathBuf>,
    careless: bool,
    /// Names in lower case of those that were given.
    given: Vec<String>,
    /// The options that turn a check off, as they were given.
    relaxed: Vec<(String, String)>,
    /// Whether a certificate may carry any name.
    any_name: bool,
}

impl Tls {
    /// False for an option that is not of TLS.
    pub fn take(&mut self, uri: &mut Uri, name: &str, value: &str) -> Result<bool, BadUri> {
        let known = name.to_ascii_lowercase();
        match known.as_str() {
            "tls" | "ssl" => {
                if let Some(on) = uri.valid(name, truth(value)) {
                    if self.on.is_some_and(|before| before != on) {
                        return Err(bad(name, "tls and ssl are one option, and contradict here"));
                    }
                    self.on = Some(on);
                }
            }
            "tlscafile" => self.authorities = Some(PathBuf::from(value)),
            "tlscertificatekeyfile" => self.key = Some(PathBuf::from(value)),
            "tlscertificatekeyfilepassword" => {
                let why = "keys that need a password are not read; name a file with the plain key";
                return Err(refused(name, why));
            }
            "tlsinsecure" | "tlsallowinvalidcertificates" => {
                if let Some(careless) = uri.valid(name, truth(value)) {
                    self.careless |= careless;
                    self.relaxed.push((name.to_owned(), value.to_owned()));
                }
            }
            "tlsallowinvalidhostnames" => {
                self.any_name = uri.valid(name, truth(value)) == Some(true);
            }
            // Certificates are not looked up anywhere, revoked or not.
            "tlsdisableocspendpointcheck" | "tlsdisablecertificaterevocationcheck" => {
                if uri.valid(name, truth(value)).is_some() {
                    uri.idle.push((name.to_owned(), value.to_owned()));
                }
            }
            _ => return Ok(false),
        }
        self.given.push(known);
        for (one, others) in APART {
            let has = |wanted: &str| self.given.iter().any(|given| given == wanted);
            if let Some(other) = others.iter().find(|other| has(one) && has(other)) {
                let why = format!("{one} and {other} cannot be given together");
                return Err(bad(name, why));
            }
        }
        Ok(true)
    }

    /// The resulting options; none without TLS. Without a file of authorities the machine's count.
    ///
    /// # Errors
    /// A certificate may carry any name, which is not offered.
    pub fn options(self, uri: &mut Uri) -> Result<Option<TlsOptions>, BadUri> {
        if self.any_name {
            let why = "the name is checked with the certificate; for a test cluster, \
                       tlsInsecure=true checks neither";
            return Err(refused("tlsAllowInvalidHostnames", why));
        }
        let asked = self.authorities.is_some() || self.key.is_some();
        if !self.on.unwrap_or(asked) {
            uri.idle.extend(self.relaxed);
            return Ok(None);
        }
        Ok(Some(TlsOptions {
            authorities: self.authorities,
            // One file holds both, as the other drivers have it.
            certificate: self.key.clone().zip(self.key),
            server_name: None,
            verify: !self.careless,
        }))
    }
}
