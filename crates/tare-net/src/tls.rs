//! TLS by rustls: what is trusted, and a session over a non-blocking socket, of either side.
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::Resumption;
use rustls::crypto::{self, WebPkiSupportedAlgorithms};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, Connection, DigitallySignedStruct, RootCertStore,
    SignatureScheme,
};

use crate::error::Error;

/// How a TLS connection is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsOptions {
    /// PEM file of the authorities that are trusted. Without one (and with `verify`), opening a
    /// connection fails: the system's store is not read.
    pub authorities: Option<PathBuf>,
    /// PEM files of this client's certificate chain and its key, where the server demands them.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// The name that the server's certificate must carry; default: the address's IP.
    pub server_name: Option<String>,
    /// Check the server's certificate. Only a test cluster should ever need `false`.
    pub verify: bool,
}

impl Default for TlsOptions {
    fn default() -> Self {
        TlsOptions {
            authorities: None,
            certificate: None,
            server_name: None,
            verify: true,
        }
    }
}

/// A TLS session over its socket.
#[derive(Debug)]
pub struct TlsStream {
    session: Connection,
    socket: TcpStream,
}

impl TlsStream {
    /// A session over a connected socket; it has not shaken hands yet.
    pub fn new(session: impl Into<Connection>, socket: TcpStream) -> TlsStream {
        let session = session.into();
        TlsStream { session, socket }
    }

    pub fn socket(&self) -> &TcpStream {
        &self.socket
    }

    pub fn is_handshaking(&self) -> bool {
        self.session.is_handshaking()
    }

    /// Move handshake bytes as far as the socket lets; true while it must become readable,
    /// false while it must become writable.
    pub fn advance(&mut self) -> io::Result<bool> {
        loop {
            if self.session.wants_write() {
                match self.session.write_tls(&mut self.socket) {
                    Ok(_) => continue,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                    Err(error) => return Err(error),
                }
            }
            if !self.session.is_handshaking() {
                return Ok(true);
            }
            match self.session.read_tls(&mut self.socket) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => self.process()?,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
                Err(error) => return Err(error),
            }
        }
    }

    fn process(&mut self) -> io::Result<()> {
        match self.session.process_new_packets() {
            Ok(_) => Ok(()),
            Err(error) => {
                // Tell the peer why, as far as the socket takes it.
                let _ = self.session.write_tls(&mut self.socket);
                Err(io::Error::new(io::ErrorKind::InvalidData, error))
            }
        }
    }

    /// Plaintext into `into`, after at most one read call that brings some.
    pub fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.session.reader().read(into) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done,
            }
            if self.session.read_tls(&mut self.socket)? == 0 {
                return Ok(0);
            }
            self.process()?;
        }
    }

    /// Plaintext that is there already, without any read call; 0 when there is none.
    pub fn rest(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.session.reader().read(into) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            done => done,
        }
    }

    /// Take plaintext to send; how much was taken.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.session.writer().write(bytes)?;
        if taken == 0 && !self.push()? {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(taken)
    }

    /// Whether encrypted bytes wait to be sent.
    pub fn holds(&self) -> bool {
        self.session.wants_write()
    }

    /// Send what is encrypted; true when all is sent.
    pub fn push(&mut self) -> io::Result<bool> {
        while self.session.wants_write() {
            match self.session.write_tls(&mut self.socket) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
}

/// A session with the node at `address`, before there is a connection: it finds what is wrong
/// with the options.
pub(crate) fn session(
    address: SocketAddr,
    options: &TlsOptions,
) -> Result<ClientConnection, Error> {
    let name = match &options.server_name {
        Some(name) => ServerName::try_from(name.clone())
            .map_err(|error| Error::Tls(format!("the server name `{name}`: {error}")))?,
        None => ServerName::IpAddress(address.ip().into()),
    };
    ClientConnection::new(shared_config(options)?, name)
        .map_err(|error| Error::Tls(error.to_string()))
}

/// The configuration of the last connection: others with the same options need not read their
/// files again.
static LAST: Mutex<Option<(TlsOptions, Arc<ClientConfig>)>> = Mutex::new(None);

fn shared_config(options: &TlsOptions) -> Result<Arc<ClientConfig>, Error> {
    let options = &TlsOptions {
        server_name: None, // of each connection
        ..options.clone()
    };
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, config)) = last.as_ref().filter(|(known, _)| known == options) {
        return Ok(Arc::clone(config));
    }
    let mut made = config(options)?;
    made.resumption = Resumption::disabled(); // every connection costs the same
    let made = Arc::new(made);
    *last = Some((options.clone(), Arc::clone(&made)));
    Ok(made)
}

fn config(options: &TlsOptions) -> Result<ClientConfig, Error> {
    let provider = crypto::ring::default_provider();
    let known = provider.signature_verification_algorithms;
    let builder = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Tls(error.to_string()))?;
    let builder = if options.verify {
        builder.with_root_certificates(authorities(options)?)
    } else {
        builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Unverified(known)))
    };
    match &options.certificate {
        None => Ok(builder.with_no_client_auth()),
        Some((chain, key)) => {
            let private = PrivateKeyDer::from_pem_file(key).map_err(|why| unreadable(key, &why))?;
            builder
                .with_client_auth_cert(certificates(chain)?, private)
                .map_err(|why| unreadable(key, &why))
        }
    }
}

fn authorities(options: &TlsOptions) -> Result<RootCertStore, Error> {
    let Some(path) = &options.authorities else {
        return Err(Error::Tls(
            "no authorities are named; give the PEM file of the cluster's certificate authority"
                .into(),
        ));
    };
    let mut store = RootCertStore::empty();
    for certificate in certificates(path)? {
        store
            .add(certificate)
            .map_err(|why| unreadable(path, &why))?;
    }
    Ok(store)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let found: Vec<_> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|why| unreadable(path, &why))?;
    if found.is_empty() {
        return Err(unreadable(path, &"it holds no certificate in PEM form"));
    }
    Ok(found)
}

fn unreadable(path: &Path, why: &dyn std::fmt::Display) -> Error {
    Error::Tls(format!("{}: {why}", path.display()))
}

/// Takes any certificate, as the options demand; signatures of the handshake are still checked.
#[derive(Debug)]
struct Unverified(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        crypto::verify_tls12_signature(message, certificate, signature, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        crypto::verify_tls13_signature(message, certificate, signature, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}
