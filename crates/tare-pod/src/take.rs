//! Takes the files of a data directory from a client and tells what the directory then holds. It
//! ends well only after the client has said that this is right: the pod's database starts after it,
//! or in its place.
//!
//! A line tells what was left in the directory. Then come lines that name a directory, or a file
//! whose content follows, and one that says that these were all. A dot answers each mebibyte of
//! content. At last each file's SHA-256 is told as sha256sum does, and an empty line ends that.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};

use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};

/// So many bytes of content are answered by a dot.
const ANSWERED: u64 = 1 << 20;
const PIECE: usize = 64 * 1024;
const RIGHT: &str = "right\n";

#[derive(Serialize)]
struct Listening {
    port: u16,
}

#[derive(Serialize)]
struct Found<'a> {
    /// the first of what is no directory; the directory must hold none
    left: Option<&'a str>,
}

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Entry {
    Directory {
        directory: PathBuf,
    },
    File {
        file: PathBuf,
        bytes: u64,
    },
    /// in words, for whoever reads along
    End {
        #[serde(rename = "end")]
        _end: bool,
    },
}

/// Listens on the loopback, prints at which port, and fills the directory by the first connection.
pub fn take(directory: &Path, out: &mut impl Write) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    writeln!(out, "{}", serde_json::to_string(&Listening { port })?)?;
    out.flush()?;
    let (stream, _) = listener.accept()?;
    let sink: TcpStream = stream.try_clone()?;
    fill(directory, &mut BufReader::new(stream), &mut { sink })
}

fn fill(directory: &Path, from: &mut impl BufRead, to: &mut impl Write) -> io::Result<()> {
    let left = others(directory)?.into_iter().next();
    let left = left.map(|(name, _)| name);
    let found = Found {
        left: left.as_deref(),
    };
    writeln!(to, "{}", serde_json::to_string(&found)?)?;
    if let Some(name) = left {
        return Err(wrong(format!("{name} is there already")));
    }
    let mut answered = Answered(0);
    loop {
        let mut line = String::new();
        from.read_line(&mut line)?;
        match serde_json::from_str(&line)? {
            Entry::Directory { directory: name } => {
                fs::create_dir_all(directory.join(below(&name)?))?;
            }
            Entry::File { file, bytes } => {
                let mut made = fs::File::create_new(directory.join(below(&file)?))?;
                answered.copy(&mut from.take(bytes), &mut made, to)?;
            }
            Entry::End { .. } => break,
        }
    }
    writeln!(to)?;
    for (name, digest) in others(directory)? {
        writeln!(to, "{digest}  {name}")?;
    }
    writeln!(to)?;
    let mut said = String::new();
    from.read_line(&mut said)?;
    if said == RIGHT {
        Ok(())
    } else {
        Err(wrong("nobody said that the files are right".to_owned()))
    }
}

/// Bytes of content so far.
struct Answered(u64);

impl Answered {
    fn copy(
        &mut self,
        from: &mut impl Read,
        into: &mut impl Write,
        to: &mut impl Write,
    ) -> io::Result<()> {
        let mut piece = vec![0; PIECE];
        loop {
            let length = from.read(&mut piece)?;
            if length == 0 {
                return Ok(());
            }
            into.write_all(&piece[..length])?;
            let before = self.0 / ANSWERED;
            self.0 += length as u64;
            for _ in before..self.0 / ANSWERED {
                to.write_all(b".")?;
            }
        }
    }
}

/// A path that leads nowhere else.
fn below(name: &Path) -> io::Result<&Path> {
    let plain = name
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if plain && name.file_name().is_some() {
        Ok(name)
    } else {
        Err(wrong(format!("{} is no plain path", name.display())))
    }
}

fn wrong(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// All entries below a directory that are no directories, by path, with the SHA-256 of each file.
fn others(directory: &Path) -> io::Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next)? {
            let entry = entry?;
            let (kind, path) = (entry.file_type()?, entry.path());
            if kind.is_dir() {
                open.push(path);
                continue;
            }
            let told = if kind.is_file() {
                digest(&path)?
            } else {
                "a link or a device".to_owned()
            };
            let name = path.strip_prefix(directory).map_err(io::Error::other)?;
            found.push((name.to_string_lossy().into_owned(), told));
        }
    }
    found.sort();
    Ok(found)
}

fn digest(path: &Path) -> io::Result<String> {
    let mut file = fs::File::open(path)?;
    let mut context = Context::new(&SHA256);
    let mut piece = vec![0; PIECE];
    loop {
        let length = file.read(&mut piece)?;
        if length == 0 {
            break;
        }
        context.update(&piece[..length]);
    }
    let made = context.finish();
    Ok(made
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: &str = "{\"directory\":\"data/empty\"}\n{\"file\":\"data/rows\",\"bytes\":3}\nabc";
    const END: &str = "{\"end\":true}\n";
    /// of "abc": FIPS 180-2, appendix B.1
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn filled(directory: &Path, said: &str) -> (String, io::Result<()>) {
        let mut told = Vec::new();
        let end = fill(directory, &mut said.as_bytes(), &mut told);
        (String::from_utf8(told).unwrap(), end)
    }

    #[test]
    fn what_it_was_given_is_there_and_is_told_and_must_be_said_to_be_right() {
        let at = tempfile::tempdir().unwrap();
        let (told, end) = filled(at.path(), &format!("{FILES}{END}{RIGHT}"));
        end.unwrap();
        assert_eq!(told, format!("{{\"left\":null}}\n\n{ABC}  data/rows\n\n"));
        assert_eq!(fs::read(at.path().join("data/rows")).unwrap(), b"abc");
        assert!(at.path().join("data/empty").is_dir());
    }

    #[test]
    fn files_that_nobody_calls_right_are_a_failure() {
        for said in ["", "wrong\n"] {
            let at = tempfile::tempdir().unwrap();
            let (_, end) = filled(at.path(), &format!("{FILES}{END}{said}"));
            assert!(end.unwrap_err().to_string().contains("nobody said"));
        }
    }

    #[test]
    fn a_connection_that_ends_early_is_a_failure() {
        for said in ["", FILES, "{\"file\":\"rows\",\"bytes\":3}\na"] {
            let at = tempfile::tempdir().unwrap();
            assert!(filled(at.path(), said).1.is_err(), "{said}");
        }
    }

    #[test]
    fn what_another_life_left_is_told_and_nothing_is_written() {
        let at = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/nowhere", at.path().join("data")).unwrap();
        let (told, end) = filled(at.path(), &format!("{FILES}{END}{RIGHT}"));
        assert_eq!(told, "{\"left\":\"data\"}\n");
        assert!(end.is_err());
    }

    #[test]
    fn a_path_that_leads_elsewhere_is_refused() {
        let base = tempfile::tempdir().unwrap();
        let at = base.path().join("data");
        fs::create_dir(&at).unwrap();
        for name in ["../out", "/out", "", ".", "a/../../out"] {
            let said = format!("{{\"file\":\"{name}\",\"bytes\":0}}\n{END}{RIGHT}");
            let told = filled(&at, &said).1.unwrap_err().to_string();
            assert!(told.contains("no plain path"), "{name}: {told}");
        }
        assert!(!base.path().join("out").exists());
    }

    #[test]
    fn each_mebibyte_is_answered_wherever_files_end() {
        let at = tempfile::tempdir().unwrap();
        let half = "x".repeat(1 << 19);
        let file = |name: &str| format!("{{\"file\":\"{name}\",\"bytes\":524288}}\n{half}");
        let said = ["a", "b", "c", "d", "e"].map(file).concat();
        let (told, end) = filled(at.path(), &format!("{said}{END}{RIGHT}"));
        end.unwrap();
        assert_eq!(told.lines().nth(1), Some(".."));
    }
}
