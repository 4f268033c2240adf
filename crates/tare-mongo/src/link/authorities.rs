//! The authorities that this machine trusts.
use std::path::PathBuf;

/// Where systems keep them (Debian, Red Hat, Alpine and others).
const USUAL: [&str; 3] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
];

/// Their PEM file, as OpenSSL would find it.
pub fn of_machine() -> Option<PathBuf> {
    let named = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let usual = USUAL.iter().map(PathBuf::from);
    named.into_iter().chain(usual).find(|path| path.is_file())
}
