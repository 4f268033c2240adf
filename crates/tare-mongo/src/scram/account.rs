//! The server's side of SCRAM: what it keeps of a password, and the proof that it asks a client for.
use std::num::NonZeroU32;

use base64::engine::general_purpose::STANDARD;
use base64::Engine;

use super::{
    covered, escaped, hashed, part, salted, secret, sign, CLIENT_KEY, SERVER_KEY, UNBOUND,
};
use crate::options::Mechanism;

/// Rounds that a password is hashed, as a mongod has them (`scramIterationCount` of SCRAM-SHA-1,
/// and the fewest that RFC 7677 allows: a test server need not keep a client busy).
const ROUNDS: NonZeroU32 = match NonZeroU32::new(4096) {
    Some(rounds) => rounds,
    None => NonZeroU32::MIN,
};

/// What a server keeps of one user's password.
#[derive(Debug, Clone)]
pub struct Account {
    mechanism: Mechanism,
    user: String,
    salt: Vec<u8>,
    stored: Vec<u8>,
    server: Vec<u8>,
}

/// What a client has been asked, until it answers.
#[derive(Debug, Clone)]
pub struct Challenge {
    account: Account,
    first_bare: String,
    nonce: String,
    text: String,
}

impl Account {
    /// # Errors
    /// A password that the mechanism cannot take.
    pub fn new(
        mechanism: Mechanism,
        user: &str,
        password: &str,
        salt: &[u8],
    ) -> Result<Account, String> {
        let salted = salted(mechanism, &secret(mechanism, user, password)?, ROUNDS, salt);
        let client = sign(mechanism, &salted, CLIENT_KEY);
        Ok(Account {
            mechanism,
            user: user.to_owned(),
            salt: salt.to_owned(),
            stored: hashed(mechanism, client.as_ref()).as_ref().to_owned(),
            server: sign(mechanism, &salted, SERVER_KEY).as_ref().to_owned(),
        })
    }

    pub fn mechanism(&self) -> Mechanism {
        self.mechanism
    }

    pub fn user(&self) -> &str {
        &self.user
    }

    /// What is asked in answer to a client's first message; `own` is the server's part of the nonce.
    ///
    /// # Errors
    /// Another user, or what is no first message.
    pub fn challenge(&self, first: &str, own: &str) -> Result<Challenge, String> {
        let bare = first.strip_prefix("n,,").ok_or("it binds a channel")?;
        if part(bare, "n=") != Some(escaped(&self.user).as_str()) {
            return Err("there is no such user".into());
        }
        let theirs = part(bare, "r=").ok_or("it sent no nonce")?;
        let nonce = format!("{theirs}{own}");
        let salt = STANDARD.encode(&self.salt);
        Ok(Challenge {
            account: self.clone(),
            first_bare: bare.to_owned(),
            text: format!("r={nonce},s={salt},i={ROUNDS}"),
            nonce,
        })
    }
}

impl Challenge {
    /// The server's first message.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The server's last message, by which it proves in turn that it knows the password.
    ///
    /// # Errors
    /// The client did not prove it.
    pub fn answer(&self, last: &str) -> Result<String, String> {
        let account = &self.account;
        let (bare, proof) = last.rsplit_once(",p=").ok_or("it proved nothing")?;
        if bare != format!("c={UNBOUND},r={}", self.nonce) {
            return Err("it answered somebody else's nonce".into());
        }
        let message = format!("{},{},{bare}", self.first_bare, self.text);
        let signature = sign(account.mechanism, &account.stored, message.as_bytes());
        let proof = STANDARD
            .decode(proof)
            .map_err(|_| "its proof is no base64")?;
        let key = covered(&proof, signature.as_ref());
        let known = hashed(account.mechanism, &key);
        if proof.len() != signature.as_ref().len() || known.as_ref() != account.stored {
            return Err("the password is wrong".into());
        }
        let own = sign(account.mechanism, &account.server, message.as_bytes());
        Ok(format!("v={}", STANDARD.encode(own)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The user and salt of RFC 7677, section 3.
    fn pencil() -> Challenge {
        let salt = STANDARD.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
        let account = Account::new(Mechanism::ScramSha256, "user", "pencil", &salt).unwrap();
        account
            .challenge(
                "n,,n=user,r=rOprNGfwEbeRWgbNEkqO",
                "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0",
            )
            .unwrap()
    }

    const NONCE: &str = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";

    #[test]
    fn the_conversation_of_rfc_7677_is_reproduced() {
        let challenge = pencil();
        assert_eq!(
            challenge.text(),
            format!("r={NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096")
        );
        let last = format!("c=biws,r={NONCE},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
        assert_eq!(
            challenge.answer(&last).as_deref(),
            Ok("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")
        );
    }

    #[test]
    fn who_does_not_know_the_password_is_not_let_in() {
        let proofs = [
            format!("c=biws,r={NONCE},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVE="),
            format!("c=biws,r={NONCE},p="),
            format!("c=biws,r={NONCE},p=!"),
            "c=biws,r=other,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=".to_owned(),
            String::new(),
        ];
        for proof in proofs {
            assert!(pencil().answer(&proof).is_err(), "{proof}");
        }
        let account = Account::new(Mechanism::ScramSha1, "ann", "secret", b"salt").unwrap();
        for first in ["n,,n=bob,r=abc", "p=tls,,n=ann,r=abc", "n,,n=ann", ""] {
            assert!(account.challenge(first, "own").is_err(), "{first}");
        }
    }
}
