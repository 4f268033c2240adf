//! What answers in MongoDB's stead: programs that speak its protocol and are not it.
use crate::document::{Document, Value, Writer};
use crate::error::Error;
use crate::link::{call, connect};
use crate::options::Options;
use crate::reply::Reply;

use super::Member;

/// What it is called with, everywhere.
const NATURE: &str = "a functional stand-in and not MongoDB";

/// What is called so that has no name of its own.
const UNNAMED: &str = "a server without gitVersion";

/// Characters of a version at most.
const LONGEST: usize = 40;

/// The name and version of the program that answers, if its `buildInfo` shows that it is not
/// MongoDB. FerretDB's has fields that MongoDB's lacks (`ferretdbVersion` in 1.x, `ferretdb` in
/// 2.x), and so has that of Tare's own stub (`tareStub`). Every mongod names the commit that it
/// was built from (`gitVersion`); mongo-java-server does not.
pub(super) fn stand_in(members: &[Member], options: &Options) -> Result<Option<String>, Error> {
    for member in members {
        let Some(address) = member.address else {
            continue;
        };
        let mut link = connect(address, &member.host.name, options)?;
        return match call(&mut link, &question(), "buildInfo", options.connect_timeout) {
            Ok(answer) => named(Reply::of(&answer)?.body),
            // A server that does not say what it is.
            Err(Error::Server(_)) => Ok(None),
            Err(error) => Err(error),
        };
    }
    Ok(None)
}

fn question() -> Vec<u8> {
    let mut command = Vec::new();
    Writer::write(&mut command, |out| {
        out.int("buildInfo", 1).text("$db", "admin");
    });
    command
}

fn named(build: Document<'_>) -> Result<Option<String>, Error> {
    let second = match build.get("ferretdb")? {
        Some(Value::Document(own)) => Some(own.get("version")?),
        _ => None,
    };
    let found = [
        ("FerretDB", build.get("ferretdbVersion")?.map(Some)),
        ("FerretDB", second),
        ("tare-stub", build.get("tareStub")?.map(Some)),
    ];
    let found = found
        .into_iter()
        .find_map(|(name, told)| Some((name, told?)));
    let Some((name, version)) = found else {
        let named = build.get("gitVersion")?.is_some();
        return Ok((!named).then(|| format!("{UNNAMED} ({NATURE})")));
    };
    let version = version.and_then(|value| value.text()).unwrap_or_default();
    let version: String = version
        .chars()
        .filter(|&c| plain(c))
        .take(LONGEST)
        .collect();
    let name = format!("{name} {version}");
    Ok(Some(format!("{} ({NATURE})", name.trim_end())))
}

/// What a version is made of; it is printed, and another machine has sent it.
fn plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || ".-+_".contains(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(write: impl FnOnce(&mut Writer<'_>)) -> Option<String> {
        let mut bytes = Vec::new();
        Writer::write(&mut bytes, write);
        named(Document::take(&bytes).unwrap().0).unwrap()
    }

    #[test]
    fn a_build_that_says_that_it_is_another_program_is_called_by_its_name() {
        let first = name(|out| {
            out.text("version", "7.0.42")
                .text("ferretdbVersion", "v1.24.0");
        });
        assert_eq!(
            first.as_deref(),
            Some("FerretDB v1.24.0 (a functional stand-in and not MongoDB)")
        );
        let second = name(|out| {
            out.text("version", "7.0.77").document("ferretdb", |out| {
                out.text("version", "v2.5.0\x1b\n\"");
            });
        });
        assert!(second.unwrap().starts_with("FerretDB v2.5.0 ("));
        let stub = name(|out| {
            out.text("version", "7.0.0").text("tareStub", "0.1.0");
        });
        assert!(stub.unwrap().starts_with("tare-stub 0.1.0 ("));
        let mongodb = name(|out| {
            out.text("version", "7.0.14")
                .text("gitVersion", "ce59cfc6a3c5e5c067dca0d30697edd68d4f5188");
        });
        assert_eq!(mongodb, None);
        let java = name(|out| {
            out.text("version", "5.0.0")
                .int("maxBsonObjectSize", 16 << 20);
        });
        assert!(java.unwrap().starts_with("a server without gitVersion ("));
    }
}
