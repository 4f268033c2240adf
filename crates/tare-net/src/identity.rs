//! A server's side of TLS: an identity that is made at the start and never leaves the memory.
use std::net::TcpStream;
use std::sync::Arc;

use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::server::NoServerSessionStorage;
use rustls::{ServerConfig, ServerConnection};

use crate::certificate::{self, SelfSigned};
use crate::error::Error;
use crate::tls::TlsStream;

/// A new key and the certificate that it signed for itself.
#[derive(Debug, Clone)]
pub struct Identity(Arc<ServerConfig>);

impl Identity {
    /// Makes one with this DNS name. No session can be resumed with it: each connection shakes
    /// hands in full.
    ///
    /// # Errors
    /// This machine has no random numbers, or rustls refuses what was made.
    pub fn new(name: &str) -> Result<Identity, Error> {
        let made = certificate::self_signed(name)
            .map_err(|why| Error::Tls(format!("a certificate: {why}")))?;
        Identity::of(made)
    }

    fn of(made: SelfSigned) -> Result<Identity, Error> {
        let failed = |why: rustls::Error| Error::Tls(format!("a certificate: {why}"));
        let key = PrivatePkcs8KeyDer::from(made.pkcs8);
        let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(failed)?
            .with_no_client_auth()
            .with_single_cert(vec![CertificateDer::from(made.der)], key.into())
            .map_err(failed)?;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(Identity(Arc::new(config)))
    }

    /// A session over a socket that was accepted; it has not shaken hands yet.
    ///
    /// # Errors
    /// rustls refuses its own configuration.
    pub fn accept(&self, socket: TcpStream) -> Result<TlsStream, Error> {
        let session = ServerConnection::new(Arc::clone(&self.0))
            .map_err(|error| Error::Tls(error.to_string()))?;
        Ok(TlsStream::new(session, socket))
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;
    use std::sync::Arc;

    use rustls::crypto::ring::default_provider;
    use rustls::pki_types::{CertificateDer, ServerName};
    use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConnection};

    use super::Identity;
    use crate::certificate;

    /// Shakes hands with a client that trusts the certificate and expects this name.
    fn shaken(expected: &'static str) -> Result<(), Box<dyn Error>> {
        let made = certificate::self_signed("tare-stub").map_err(|why| why.to_string())?;
        let mut trusted = RootCertStore::empty();
        trusted.add(CertificateDer::from(made.der.clone()))?;
        let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(trusted)
            .with_no_client_auth();
        let name = ServerName::try_from(expected)?;
        let mut client = ClientConnection::new(Arc::new(config), name)?;
        let mut server = ServerConnection::new(Identity::of(made)?.0)?;
        while client.is_handshaking() || server.is_handshaking() {
            let mut sent = Vec::new();
            client.write_tls(&mut sent)?;
            server.read_tls(&mut &sent[..])?;
            server.process_new_packets()?;
            let mut answered = Vec::new();
            server.write_tls(&mut answered)?;
            client.read_tls(&mut &answered[..])?;
            client.process_new_packets()?;
        }
        Ok(())
    }

    #[test]
    fn who_trusts_the_certificate_shakes_hands_by_its_name_alone() {
        shaken("tare-stub").expect("it is trusted");
        let why = shaken("somebody-else").expect_err("another name");
        assert!(why.to_string().contains("not valid for name"), "{why}");
    }
}
