//! What the client refuses that a driver offers: each kind by its name in docs/mongodb.md, and by
//! what the refusal must say.
use std::path::Path;

use tare_mongo::BadUri;

use crate::Verdict;

/// Kind, the part of the string, and what the reason says.
const KINDS: [(&str, &str, &str); 9] = [
    (
        "`mongodb+srv`",
        "the scheme",
        "are not looked up; name the hosts",
    ),
    ("Unix sockets", "the hosts", "Unix sockets are not offered"),
    ("`w=0`", "w", "have nothing to time; use w=1"),
    ("`compressors`", "compressors", "compression is not offered"),
    (
        "`loadBalanced=true`",
        "loadBalanced",
        "of this kind are not offered",
    ),
    (
        "`authMechanism` other than SCRAM",
        "authMechanism",
        "is not offered; expected SCRAM",
    ),
    ("`proxyHost`", "proxyHost", "proxy are not offered"),
    (
        "`tlsCertificateKeyFilePassword`",
        "tlsCertificateKeyFilePassword",
        "keys that need a password are not read",
    ),
    (
        "`tlsAllowInvalidHostnames=true`",
        "tlsAllowInvalidHostnames",
        "the name is checked with the certificate",
    ),
];

/// The verdict on a case that the client refused.
pub fn verdict(error: &BadUri) -> Verdict {
    let fits = |(_, part, why): &&(&str, &str, &str)| {
        error.refused && error.part.eq_ignore_ascii_case(part) && error.why.contains(why)
    };
    match KINDS.iter().find(fits) {
        Some((kind, ..)) => Verdict::Refused(kind),
        None => Verdict::Failed(format!("refused without a known reason: {error}")),
    }
}

/// Kinds of refusals without a line in the table of docs/mongodb.md.
pub fn undocumented(kinds: impl Iterator<Item = &'static str>) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/mongodb.md");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    kinds
        .filter(|kind| {
            !text
                .lines()
                .any(|line| line.starts_with(&format!("| {kind} |")))
        })
        .map(|kind| format!("docs/mongodb.md: no line for the refusal of {kind}"))
        .collect()
}
