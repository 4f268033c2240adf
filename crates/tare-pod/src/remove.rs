//! Removes what Tare left in a directory of a node: the entries whose names begin as asked.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

/// Removes every entry of the directory whose name begins with `prefix`, with all that is in it.
/// Links are removed, never followed.
pub fn remove(directory: &Path, prefix: &str) -> io::Result<()> {
    if prefix.is_empty() {
        let why = "an empty prefix would remove everything";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if !begins(&entry.file_name(), prefix) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn begins(name: &OsStr, prefix: &str) -> bool {
    name.as_encoded_bytes().starts_with(prefix.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_as_asked_goes_and_everything_else_stays() {
        let base = tempfile::tempdir().unwrap();
        let kept = base.path().join("tare-other.c.data");
        fs::create_dir_all(base.path().join("tare-mine.c.data/c-0/commitlog")).unwrap();
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("rows"), "x").unwrap();
        std::os::unix::fs::symlink(&kept, base.path().join("tare-mine.link")).unwrap();
        remove(base.path(), "tare-mine.").unwrap();
        let left: Vec<_> = fs::read_dir(base.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["tare-other.c.data"]);
        assert!(kept.join("rows").exists(), "a link was followed");
    }

    #[test]
    fn nothing_is_removed_without_a_beginning() {
        let base = tempfile::tempdir().unwrap();
        fs::write(base.path().join("kept"), "x").unwrap();
        assert!(remove(base.path(), "").is_err());
        assert!(base.path().join("kept").exists());
    }
}
