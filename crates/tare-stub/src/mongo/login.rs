//! Who is let in: the conversation of SCRAM on one connection (MongoDB authentication specification).

use tare_mongo::document::{subtype, Document, Value, Writer};
use tare_mongo::scram::{Account, Challenge};
use tare_mongo::{session_id, Error, Mechanism};

const CONVERSATION: i32 = 1;

/// The one user, by each mechanism; none where anybody is let in.
#[derive(Debug, Default)]
pub struct Accounts(Vec<Account>);

/// How far a connection has come.
#[derive(Debug, Default)]
pub struct Login {
    /// Who has proven a password.
    is_in: bool,
    challenge: Option<Challenge>,
    /// It leaves the last, empty exchange out (`skipEmptyExchange`).
    skips_empty: bool,
}

/// What a connection is answered.
pub struct Step {
    payload: String,
    is_done: bool,
}

impl Accounts {
    /// # Errors
    /// A password that SCRAM cannot take.
    pub fn new(user: Option<&(String, String)>) -> Result<Accounts, String> {
        let Some((user, password)) = user else {
            return Ok(Accounts::default());
        };
        let account = |mechanism| Account::new(mechanism, user, password, b"tare-stub's salt");
        let both = [Mechanism::ScramSha1, Mechanism::ScramSha256].map(account);
        both.into_iter().collect::<Result<_, _>>().map(Accounts)
    }

    /// Whether a connection may do more than ask who is there.
    pub fn admits(&self, login: &Login) -> bool {
        login.is_in || self.0.is_empty()
    }

    /// Writes which mechanisms a user has, asked for as DATABASE.USER.
    pub fn put_mechanisms(&self, wanted: &str, out: &mut Writer<'_>) {
        let user = wanted.split_once('.').map_or(wanted, |(_, user)| user);
        let known = self.0.iter().filter(|account| account.user() == user);
        out.array("saslSupportedMechs", |out| {
            for (place, account) in known.enumerate() {
                out.text(&place.to_string(), account.mechanism().name());
            }
        });
    }

    /// `saslStart`; None: it is not let in.
    ///
    /// # Errors
    /// What is no BSON.
    pub fn start(&self, login: &mut Login, body: Document<'_>) -> Result<Option<Step>, Error> {
        let mechanism = body.get("mechanism")?.and_then(|value| value.text());
        let payload = payload(body)?;
        let named = |account: &&Account| Some(account.mechanism().name()) == mechanism.as_deref();
        let challenge = self.0.iter().find(named).and_then(|account| {
            let own: String = session_id()
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            account.challenge(&payload, &own).ok()
        });
        let options = body.get("options")?.and_then(|value| value.document());
        let skips = match options {
            Some(options) => options.get("skipEmptyExchange")?,
            None => None,
        };
        *login = Login {
            is_in: false,
            challenge,
            skips_empty: skips.is_some_and(|value| value.truth()),
        };
        Ok(login.challenge.as_ref().map(|challenge| Step {
            payload: challenge.text().to_owned(),
            is_done: false,
        }))
    }
}

impl Login {
    /// `saslContinue`; None: it is not let in.
    ///
    /// # Errors
    /// What is no BSON.
    pub fn go_on(&mut self, body: Document<'_>) -> Result<Option<Step>, Error> {
        let payload = payload(body)?;
        let step = |payload, is_done| Some(Step { payload, is_done });
        Ok(match self.challenge.take() {
            None if self.is_in && payload.is_empty() => step(String::new(), true),
            None => None,
            Some(challenge) => match challenge.answer(&payload) {
                Ok(proof) => {
                    self.is_in = true;
                    step(proof, self.skips_empty)
                }
                Err(_) => None,
            },
        })
    }
}

impl Step {
    pub fn put(&self, out: &mut Writer<'_>) {
        out.int("conversationId", CONVERSATION);
        out.boolean("done", self.is_done);
        out.binary("payload", subtype::GENERIC, self.payload.as_bytes());
    }
}

fn payload(body: Document<'_>) -> Result<String, Error> {
    Ok(match body.get("payload")? {
        Some(Value::Binary { bytes, .. }) => String::from_utf8_lossy(bytes).into_owned(),
        _ => String::new(),
    })
}
