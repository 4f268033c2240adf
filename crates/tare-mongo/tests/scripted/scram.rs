//! The server's side of SCRAM-SHA-256, over a scripted connection.
#![allow(dead_code)] // Each test file uses a part of it.

use bson::spec::BinarySubtype;
use bson::{doc, Binary, Document};
use tare_mongo::scram::Account;
use tare_mongo::Mechanism;

use crate::scripted::{refusal, Asked, Peer};

fn text(asked: &Asked) -> String {
    let payload = asked.body.get_binary_generic("payload").unwrap();
    String::from_utf8(payload.clone()).unwrap()
}

fn step(done: bool, payload: &str) -> Document {
    let payload = Binary {
        subtype: BinarySubtype::Generic,
        bytes: payload.as_bytes().to_vec(),
    };
    doc! { "conversationId": 5, "done": done, "payload": payload, "ok": 1.0 }
}

/// Lets a client in that knows the password; true if it did.
pub fn check(peer: &mut Peer, password: &str, extra_step: bool) -> bool {
    check_unless(peer, password, extra_step, || false)
}

/// The same, but for a server that says no more once it was given the proof.
pub fn check_unless(
    peer: &mut Peer,
    password: &str,
    extra_step: bool,
    silent: impl FnOnce() -> bool,
) -> bool {
    let asked = peer.ask().unwrap();
    assert_eq!(asked.command(), "saslStart");
    let first = text(&asked);
    // Whoever comes has this password.
    let user = first
        .strip_prefix("n,,n=")
        .unwrap()
        .split_once(',')
        .unwrap()
        .0;
    let account =
        Account::new(Mechanism::ScramSha256, user, password, b"0123456789abcdef").unwrap();
    let challenge = account.challenge(&first, "server").unwrap();
    peer.answer(&asked, &step(false, challenge.text()));

    let Some(asked) = peer.ask() else {
        return false;
    };
    assert_eq!(asked.body.get_i32("conversationId").unwrap(), 5);
    if silent() {
        return false;
    }
    let Ok(proof) = challenge.answer(&text(&asked)) else {
        peer.answer(
            &asked,
            &refusal(18, "AuthenticationFailed", "Authentication failed."),
        );
        return false;
    };
    peer.answer(&asked, &step(!extra_step, &proof));
    if extra_step {
        let asked = peer.ask().unwrap();
        assert_eq!(text(&asked), "");
        peer.answer(&asked, &step(true, ""));
    }
    true
}
