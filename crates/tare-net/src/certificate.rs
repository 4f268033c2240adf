//! A self-signed X.509 certificate (RFC 5280) of a new key on P-256, for a server that lives for
//! one measurement and needs no authority.
use ring::error::Unspecified;
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{EcdsaKeyPair, KeyPair, ECDSA_P256_SHA256_ASN1_SIGNING};

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OCTET_STRING: u8 = 0x04;
const OID: u8 = 0x06;
const UTF8_STRING: u8 = 0x0C;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
/// [0], [2] and [3], of which the second holds no parts.
const VERSION: u8 = 0xA0;
const DNS_NAME: u8 = 0x82;
const EXTENSIONS: u8 = 0xA3;

const ECDSA_WITH_SHA256: &[u8] = &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02];
const EC_PUBLIC_KEY: &[u8] = &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01];
const PRIME256V1: &[u8] = &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07];
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const SUBJECT_ALT_NAME: &[u8] = &[0x55, 0x1D, 0x11];
/// It is valid as long as the process that holds its key lives; 4.1.2.5: no known end.
const BEGINS: &[u8] = b"000101000000Z";
const ENDS: &[u8] = b"99991231235959Z";

pub struct SelfSigned {
    pub pkcs8: Vec<u8>,
    pub der: Vec<u8>,
}

/// A new key and its certificate for a DNS name.
pub fn self_signed(name: &str) -> Result<SelfSigned, Unspecified> {
    let random = SystemRandom::new();
    let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random)?;
    let key = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random)?;
    let mut serial = [0; 8];
    random.fill(&mut serial)?;
    serial[0] = serial[0] & 0x3F | 0x40; // positive, and as short as it can be
    let signed = to_be_signed(name, &serial, key.public_key().as_ref());
    let signature = key.sign(&random, &signed)?;
    let der = value(
        SEQUENCE,
        &[
            &signed,
            &algorithm_of_signatures(),
            &bits(signature.as_ref()),
        ],
    );
    Ok(SelfSigned {
        pkcs8: pkcs8.as_ref().to_vec(),
        der,
    })
}

fn to_be_signed(name: &str, serial: &[u8], public: &[u8]) -> Vec<u8> {
    let common_name = value(
        SEQUENCE,
        &[
            &value(OID, &[COMMON_NAME]),
            &value(UTF8_STRING, &[name.as_bytes()]),
        ],
    );
    let whole_name = value(SEQUENCE, &[&value(SET, &[&common_name])]);
    let validity = value(
        SEQUENCE,
        &[
            &value(UTC_TIME, &[BEGINS]),
            &value(GENERALIZED_TIME, &[ENDS]),
        ],
    );
    let curve = value(
        SEQUENCE,
        &[&value(OID, &[EC_PUBLIC_KEY]), &value(OID, &[PRIME256V1])],
    );
    let names = value(SEQUENCE, &[&value(DNS_NAME, &[name.as_bytes()])]);
    let extension = value(
        SEQUENCE,
        &[
            &value(OID, &[SUBJECT_ALT_NAME]),
            &value(OCTET_STRING, &[&names]),
        ],
    );
    value(
        SEQUENCE,
        &[
            &value(VERSION, &[&value(INTEGER, &[&[2]])]), // of version 3
            &value(INTEGER, &[serial]),
            &algorithm_of_signatures(),
            &whole_name, // of the issuer
            &validity,
            &whole_name,
            &value(SEQUENCE, &[&curve, &bits(public)]),
            &value(EXTENSIONS, &[&value(SEQUENCE, &[&extension])]),
        ],
    )
}

fn algorithm_of_signatures() -> Vec<u8> {
    value(SEQUENCE, &[&value(OID, &[ECDSA_WITH_SHA256])])
}

/// A string of whole bytes.
fn bits(bytes: &[u8]) -> Vec<u8> {
    value(BIT_STRING, &[&[0], bytes])
}

/// A value in DER (X.690): its tag, its length, its parts one after the other.
fn value(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let big = length.to_be_bytes();
    let first = big
        .iter()
        .position(|&byte| byte != 0)
        .unwrap_or(big.len() - 1);
    let mut made = vec![tag];
    if length < 0x80 {
        made.push(length as u8);
    } else {
        made.push(0x80 | (big.len() - first) as u8);
        made.extend(&big[first..]);
    }
    parts.iter().for_each(|part| made.extend(*part));
    made
}

#[cfg(test)]
mod tests {
    use super::value;

    #[test]
    fn lengths_are_as_short_as_they_can_be() {
        assert_eq!(value(4, &[&[7]]), [4, 1, 7]);
        assert_eq!(value(4, &[&[0; 0x80]])[..3], [4, 0x81, 0x80]);
        assert_eq!(value(4, &[&[0; 0x100], &[0; 2]])[..4], [4, 0x82, 1, 2]);
    }
}
