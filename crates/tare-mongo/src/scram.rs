//! SCRAM (RFC 5802, RFC 7677) as MongoDB speaks it: what the client says, without any connection.
mod account;

use std::borrow::Cow;
use std::num::NonZeroU32;

use base64::engine::general_purpose::STANDARD;
use base64::Engine;
use md5::{Digest, Md5};
use ring::rand::{SecureRandom, SystemRandom};
use ring::{digest, hmac, pbkdf2};

use crate::options::{Credentials, Mechanism};

pub use account::{Account, Challenge};

/// Fewer rounds than this give the password away (RFC 7677, section 4); a server with more wants
/// to keep the client busy.
const ROUNDS: std::ops::RangeInclusive<u32> = 4096..=10_000_000;

/// No channel is bound: base64 of `n,,`.
const UNBOUND: &str = "biws";

/// One proof of a password.
#[derive(Debug)]
pub struct Exchange {
    mechanism: Mechanism,
    nonce: String,
    first_bare: String,
    /// What the password is hashed from.
    secret: String,
    /// What the server must prove in turn.
    expected: Option<Expected>,
}

#[derive(Debug)]
struct Expected {
    key: hmac::Key,
    message: String,
}

impl Exchange {
    /// An exchange with a nonce from the system.
    pub fn new(mechanism: Mechanism, credentials: &Credentials) -> Result<Exchange, String> {
        let mut bytes = [0; 24];
        SystemRandom::new()
            .fill(&mut bytes)
            .map_err(|_| "the system has no random numbers".to_owned())?;
        Exchange::with_nonce(mechanism, credentials, STANDARD.encode(bytes))
    }

    fn with_nonce(
        mechanism: Mechanism,
        credentials: &Credentials,
        nonce: String,
    ) -> Result<Exchange, String> {
        let user = escaped(&credentials.user);
        Ok(Exchange {
            mechanism,
            first_bare: format!("n={user},r={nonce}"),
            nonce,
            secret: secret(mechanism, &credentials.user, &credentials.password.0)?,
            expected: None,
        })
    }

    /// The client's first message.
    pub fn first(&self) -> String {
        format!("n,,{}", self.first_bare)
    }

    /// The client's answer to the server's first message.
    pub fn answer(&mut self, server: &str) -> Result<String, String> {
        let said = |key: &str| part(server, key);
        let nonce = said("r=").ok_or("it sent no nonce")?;
        if !nonce.starts_with(&self.nonce) || nonce.len() == self.nonce.len() {
            return Err("it answered somebody else's nonce".into());
        }
        let salt = said("s=").and_then(|salt| STANDARD.decode(salt).ok());
        let salt = salt.ok_or("it sent no salt")?;
        let rounds = said("i=").and_then(|rounds| rounds.parse().ok());
        let rounds = rounds
            .filter(|rounds| ROUNDS.contains(rounds))
            .and_then(NonZeroU32::new)
            .ok_or("it asks for a number of rounds that is not sane")?;
        let bare = format!("c={UNBOUND},r={nonce}");
        let message = format!("{},{server},{bare}", self.first_bare);
        let salted = salted(self.mechanism, &self.secret, rounds, &salt);
        let proof = self.proof(&salted, &message);
        let key = sign(self.mechanism, &salted, SERVER_KEY);
        self.expected = Some(Expected {
            key: hmac::Key::new(algorithm(self.mechanism), key.as_ref()),
            message,
        });
        Ok(format!("{bare},p={}", STANDARD.encode(proof)))
    }

    /// Whether the server knows the password, too.
    pub fn verify(&self, server: &str) -> Result<(), String> {
        let value = |key: &str| part(server, key);
        if let Some(error) = value("e=") {
            return Err(error.to_owned());
        }
        let signature = value("v=").and_then(|given| STANDARD.decode(given).ok());
        match (signature, &self.expected) {
            (Some(signature), Some(Expected { key, message })) => {
                hmac::verify(key, message.as_bytes(), &signature)
                    .map_err(|_| "it does not know the password itself".to_owned())
            }
            _ => Err("it proved nothing in turn".into()),
        }
    }

    /// The client's key, covered by its signature.
    fn proof(&self, salted: &[u8], message: &str) -> Vec<u8> {
        let key = sign(self.mechanism, salted, CLIENT_KEY);
        let stored = hashed(self.mechanism, key.as_ref());
        let signature = sign(self.mechanism, stored.as_ref(), message.as_bytes());
        covered(key.as_ref(), signature.as_ref())
    }
}

const CLIENT_KEY: &[u8] = b"Client Key";
const SERVER_KEY: &[u8] = b"Server Key";

fn algorithm(mechanism: Mechanism) -> hmac::Algorithm {
    match mechanism {
        Mechanism::ScramSha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
        Mechanism::ScramSha256 => hmac::HMAC_SHA256,
    }
}

fn sign(mechanism: Mechanism, key: &[u8], message: &[u8]) -> hmac::Tag {
    hmac::sign(&hmac::Key::new(algorithm(mechanism), key), message)
}

fn hashed(mechanism: Mechanism, key: &[u8]) -> digest::Digest {
    let hash = match mechanism {
        Mechanism::ScramSha1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
        Mechanism::ScramSha256 => &digest::SHA256,
    };
    digest::digest(hash, key)
}

/// One covered by the other, or uncovered again.
fn covered(key: &[u8], signature: &[u8]) -> Vec<u8> {
    let pairs = key.iter().zip(signature);
    pairs.map(|(key, signature)| key ^ signature).collect()
}

fn salted(mechanism: Mechanism, secret: &str, rounds: NonZeroU32, salt: &[u8]) -> Vec<u8> {
    let (algorithm, size) = match mechanism {
        Mechanism::ScramSha1 => (pbkdf2::PBKDF2_HMAC_SHA1, digest::SHA1_OUTPUT_LEN),
        Mechanism::ScramSha256 => (pbkdf2::PBKDF2_HMAC_SHA256, digest::SHA256_OUTPUT_LEN),
    };
    let mut salted = vec![0; size];
    pbkdf2::derive(algorithm, rounds, salt, secret.as_bytes(), &mut salted);
    salted
}

/// The value of a message's part, such as `r=`.
fn part<'a>(message: &'a str, key: &str) -> Option<&'a str> {
    message.split(',').find_map(|part| part.strip_prefix(key))
}

/// The user's name as a message carries it.
fn escaped(user: &str) -> String {
    user.replace('=', "=3D").replace(',', "=2C")
}

/// SCRAM-SHA-1 hashes MongoDB's older digest of user and password, SCRAM-SHA-256 the password
/// itself as SASLprep has it.
fn secret(mechanism: Mechanism, user: &str, password: &str) -> Result<String, String> {
    match mechanism {
        Mechanism::ScramSha1 => {
            let text = format!("{user}:mongo:{password}");
            let digest = Md5::digest(text.as_bytes());
            Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
        }
        Mechanism::ScramSha256 => stringprep::saslprep(password)
            .map(Cow::into_owned)
            .map_err(|_| "the password holds characters that SCRAM-SHA-256 forbids".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use tare_net::Password;

    use super::*;

    fn pencil(mechanism: Mechanism, nonce: &str) -> Exchange {
        let credentials = Credentials {
            user: "user".into(),
            password: Password("pencil".into()),
            source: "admin".into(),
            mechanism: None,
        };
        Exchange::with_nonce(mechanism, &credentials, nonce.into()).unwrap()
    }

    #[test]
    fn the_conversation_of_rfc_7677_is_reproduced() {
        let mut exchange = pencil(Mechanism::ScramSha256, "rOprNGfwEbeRWgbNEkqO");
        assert_eq!(exchange.first(), "n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
        let answer = exchange.answer(
            "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
        );
        let wanted = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                      p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
        assert_eq!(answer.as_deref(), Ok(wanted));
        let verdict = exchange.verify("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
        assert_eq!(verdict, Ok(()));
    }

    #[test]
    fn the_sha_1_conversation_of_the_driver_specification_is_reproduced() {
        let mut exchange = pencil(Mechanism::ScramSha1, "fyko+d2lbbFgONRv9qkxdawL");
        let answer = exchange.answer(
            "r=fyko+d2lbbFgONRv9qkxdawLHo+Vgk7qvUOKUwuWLIWg4l/9SraGMHEE,\
             s=rQ9ZY3MntBeuP3E1TDVC4w==,i=10000",
        );
        let wanted = "c=biws,r=fyko+d2lbbFgONRv9qkxdawLHo+Vgk7qvUOKUwuWLIWg4l/9SraGMHEE,\
                      p=MC2T8BvbmWRckDw8oWl5IVghwCY=";
        assert_eq!(answer.as_deref(), Ok(wanted));
        assert_eq!(exchange.verify("v=UMWeI25JD1yNYZRMpZ4VHvhZ9e0="), Ok(()));
    }

    #[test]
    fn a_server_that_does_not_know_the_password_is_found_out() {
        let mut exchange = pencil(Mechanism::ScramSha256, "abc");
        assert!(exchange.verify("v=AAAA").is_err());
        exchange.answer("r=abcdef,s=AAAAAAAA,i=4096").unwrap();
        assert_eq!(
            exchange.verify("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="),
            Err("it does not know the password itself".into())
        );
        assert_eq!(exchange.verify("e=other-error"), Err("other-error".into()));
    }

    #[test]
    fn what_a_server_must_not_ask_for_is_refused() {
        for server in [
            "r=abc,s=AAAA,i=4096",
            "r=xyzabc,s=AAAA,i=4096",
            "r=abcdef,s=AAAA,i=1",
            "r=abcdef,s=AAAA,i=4294967295",
            "r=abcdef,i=4096",
            "",
        ] {
            let answer = pencil(Mechanism::ScramSha256, "abc").answer(server);
            assert!(answer.is_err(), "{server}");
        }
    }

    #[test]
    fn names_are_escaped() {
        let credentials = Credentials {
            user: "a=b,c".into(),
            password: Password("x".into()),
            source: "admin".into(),
            mechanism: None,
        };
        let exchange =
            Exchange::with_nonce(Mechanism::ScramSha256, &credentials, "n".into()).unwrap();
        assert_eq!(exchange.first(), "n,,n=a=3Db=2Cc,r=n");
    }
}
