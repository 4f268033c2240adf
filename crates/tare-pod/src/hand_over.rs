//! Prints the files that a client left, so that they can be read as its pod's log: a JSON line with
//! name and size, then the file.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

#[derive(Serialize)]
struct Header<'a> {
    file: &'a str,
    bytes: u64,
}

/// Prints the plain files of a directory, in the order of their names. They are text: names that
/// are none are left out, as are links and directories.
pub fn hand_over(directory: &Path, skip: &[String], out: &mut impl Write) -> io::Result<()> {
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if let (true, Ok(name)) = (
            entry.file_type()?.is_file(),
            entry.file_name().into_string(),
        ) {
            if !skip.contains(&name) {
                names.push(name);
            }
        }
    }
    names.sort();
    for name in names {
        let mut file = fs::File::open(directory.join(&name))?;
        let header = Header {
            file: &name,
            bytes: file.metadata()?.len(),
        };
        writeln!(out, "{}", serde_json::to_string(&header)?)?;
        io::copy(&mut file, out)?;
        writeln!(out)?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_in_order_each_after_its_name_and_size() {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("b.hlog", "two\nlines\n"),
            ("a.log", ""),
            ("load.json", "{}"),
        ] {
            fs::write(directory.path().join(name), text).unwrap();
        }
        fs::create_dir(directory.path().join("below")).unwrap();
        let mut out = Vec::new();
        hand_over(directory.path(), &["load.json".to_owned()], &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "{\"file\":\"a.log\",\"bytes\":0}\n\n{\"file\":\"b.hlog\",\"bytes\":10}\ntwo\nlines\n\n"
        );
    }
}
