//! A pseudo-file that is read again and again: kept open, read from its beginning each time.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Holds every file of one process.
const LEAST_BUFFER: usize = 16 * 1024;

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
        self.read_with(read_all, buffer)
    }

    /// The same for a file that the kernel hands out in one piece, as all files of a process are:
    /// a second read would make it format the file once more.
    pub fn read_piece<'b>(&mut self, buffer: &'b mut Vec<u8>) -> Option<&'b str> {
        self.read_with(read_piece, buffer)
    }

    fn read_with<'b>(
        &mut self,
        reader: fn(&File, &mut Vec<u8>) -> io::Result<usize>,
        buffer: &'b mut Vec<u8>,
    ) -> Option<&'b str> {
        if self.file.is_none() {
            self.file = File::open(&self.path).ok();
        }
        let read = self.file.as_ref().map(|file| reader(file, buffer));
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

/// Reads a piece that is needed once; None if it is not there or not text.
pub fn read_piece_once<'b>(path: &Path, buffer: &'b mut Vec<u8>) -> Option<&'b str> {
    Source::new(path).read_piece(buffer)
}

/// Reads a file that is needed once; None if it is not there or not text.
pub fn read_once<'b>(path: &Path, buffer: &'b mut Vec<u8>) -> Option<&'b str> {
    Source::new(path).read(buffer)
}

/// The buffer only grows, so it is not cleared for each read.
fn read_all(file: &File, buffer: &mut Vec<u8>) -> io::Result<usize> {
    buffer.resize(buffer.len().max(LEAST_BUFFER), 0);
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

fn read_piece(file: &File, buffer: &mut Vec<u8>) -> io::Result<usize> {
    buffer.resize(buffer.len().max(LEAST_BUFFER), 0);
    let length = file.read_at(buffer, 0)?;
    if length < buffer.len() {
        return Ok(length);
    }
    read_all(file, buffer)
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
        for text in ["short", &"long ".repeat(50_000), "short again"] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(source.read(&mut buffer), Some(text));
            assert_eq!(source.read_piece(&mut buffer), Some(text));
            assert_eq!(read_piece_once(&path, &mut Vec::new()), Some(text));
        }
    }
}
