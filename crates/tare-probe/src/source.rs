//! A pseudo-file that is read again and again: kept open, read from its beginning each time.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// One file of proc or of a control group. It may vanish, and come back.
#[derive(Debug)]
pub struct Source {
    path: PathBuf,
    file: Option<File>,
}

impl Source {
    pub fn new(path: impl Into<PathBuf>) -> Source {
        Source {
            path: path.into(),
            file: None,
        }
    }

    /// Reads all of it into `buffer`; None if it is not there or not text.
    pub fn read<'b>(&mut self, buffer: &'b mut Vec<u8>) -> Option<&'b str> {
        if self.file.is_none() {
            self.file = File::open(&self.path).ok();
        }
        let read = self.file.as_ref().map(|file| read_all(file, buffer));
        match read {
            Some(Ok(length)) => std::str::from_utf8(&buffer[..length]).ok(),
            _ => {
                // A removed group's or an ended process's file never works again.
                self.file = None;
                None
            }
        }
    }
}

/// Reads a file that is needed once; None if it is not there or not text.
pub fn read_once<'b>(path: &Path, buffer: &'b mut Vec<u8>) -> Option<&'b str> {
    Source::new(path).read(buffer)
}

/// The buffer only grows, so that it is not cleared for each read.
fn read_all(file: &File, buffer: &mut Vec<u8>) -> std::io::Result<usize> {
    if buffer.len() < 4096 {
        buffer.resize(4096, 0);
    }
    let mut length = 0;
    loop {
        if length == buffer.len() {
            buffer.resize(2 * length, 0);
        }
        match file.read_at(&mut buffer[length..], length as u64)? {
            0 => return Ok(length),
            more => length += more,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_present_content_each_time_however_long() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("stat");
        let mut source = Source::new(&path);
        let mut buffer = Vec::new();
        assert_eq!(source.read(&mut buffer), None);
        for text in ["short", &"long ".repeat(5000), "short again"] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(source.read(&mut buffer), Some(text));
        }
    }
}
