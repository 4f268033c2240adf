//! The server's side of SCRAM-SHA-256 (RFC 5802, section 3).
#![allow(dead_code)] // Each test file uses a part of it.

use std::num::NonZeroU32;

use base64::engine::general_purpose::STANDARD;
use base64::Engine;
use bson::spec::BinarySubtype;
use bson::{doc, Binary, Document};
use ring::{digest, hmac, pbkdf2};

use crate::scripted::{refusal, Asked, Peer};

const SALT: &[u8] = b"0123456789abcdef";
const ROUNDS: u32 = 4096;

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

fn sign(key: &[u8], message: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), message)
        .as_ref()
        .to_vec()
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
    let bare = first.strip_prefix("n,,").unwrap();
    let nonce = format!("{}server", bare.split_once(",r=").unwrap().1);
    let challenge = format!("r={nonce},s={},i={ROUNDS}", STANDARD.encode(SALT));
    peer.answer(&asked, &step(false, &challenge));

    let Some(asked) = peer.ask() else {
        return false;
    };
    assert_eq!(asked.body.get_i32("conversationId").unwrap(), 5);
    if silent() {
        return false;
    }
    let last = text(&asked);
    let (unproven, proof) = last.rsplit_once(",p=").unwrap();
    let message = format!("{bare},{challenge},{unproven}");
    let mut salted = [0; 32];
    let rounds = NonZeroU32::new(ROUNDS).unwrap();
    pbkdf2::derive(
        pbkdf2::PBKDF2_HMAC_SHA256,
        rounds,
        SALT,
        password.as_bytes(),
        &mut salted,
    );
    let key = sign(&salted, b"Client Key");
    let stored = digest::digest(&digest::SHA256, &key);
    let signature = sign(stored.as_ref(), message.as_bytes());
    let wanted: Vec<u8> = key.iter().zip(&signature).map(|(a, b)| a ^ b).collect();
    if STANDARD.decode(proof).unwrap() != wanted {
        peer.answer(
            &asked,
            &refusal(18, "AuthenticationFailed", "Authentication failed."),
        );
        return false;
    }
    let own = sign(&sign(&salted, b"Server Key"), message.as_bytes());
    peer.answer(
        &asked,
        &step(!extra_step, &format!("v={}", STANDARD.encode(own))),
    );
    if extra_step {
        let asked = peer.ask().unwrap();
        assert_eq!(text(&asked), "");
        peer.answer(&asked, &step(true, ""));
    }
    true
}
