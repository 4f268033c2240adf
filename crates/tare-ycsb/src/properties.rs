//! Property files as `java.util.Properties.load` reads them, and the set of properties of a run.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::iter::Peekable;
use std::path::Path;

/// A larger file is no property file.
const LARGEST_FILE: u64 = 1 << 20;
/// More entries than any workload has.
const MOST_ENTRIES: usize = 10_000;

/// Why a property file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("larger than {LARGEST_FILE} bytes, which no property file is")]
    TooLarge,
    #[error("more than {MOST_ENTRIES} properties")]
    TooMany,
    #[error("line {line}: \\u must be followed by four hexadecimal digits")]
    Escape { line: usize },
}

/// Names and values; a later value replaces an earlier one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Properties(BTreeMap<String, String>);

impl Properties {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.insert(name.into(), value.into());
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Takes over all properties of `other`, which win.
    pub fn overlay(&mut self, other: Properties) {
        self.0.extend(other.0);
    }

    /// Reads a file of at most 1 MiB.
    pub fn read(path: &Path) -> Result<Properties, Unreadable> {
        let mut bytes = Vec::new();
        File::open(path)?
            .take(LARGEST_FILE + 1)
            .read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LARGEST_FILE {
            return Err(Unreadable::TooLarge);
        }
        Properties::parse(&bytes)
    }

    /// Reads the text of a property file: ISO 8859-1 with `\uXXXX` escapes.
    ///
    /// The rules are those of the documentation of `java.util.Properties.load(Reader)`.
    pub fn parse(bytes: &[u8]) -> Result<Properties, Unreadable> {
        let mut properties = Properties::default();
        for logical in logical_lines(bytes) {
            let (name, value) = entry(&logical)?;
            properties.set(name, value);
            if properties.0.len() > MOST_ENTRIES {
                return Err(Unreadable::TooMany);
            }
        }
        Ok(properties)
    }
}

/// A logical line: natural lines joined where a backslash continued them, leading white space gone.
struct Logical {
    text: Vec<u8>,
    /// 1-based number of its first natural line.
    line: usize,
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\x0c')
}

fn is_break(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

fn logical_lines(bytes: &[u8]) -> Vec<Logical> {
    let mut lines = Vec::new();
    let mut open: Option<Logical> = None;
    for (number, natural) in natural_lines(bytes).enumerate() {
        let blanks = natural.iter().take_while(|&&byte| is_blank(byte)).count();
        let text = &natural[blanks..];
        let is_comment = matches!(text.first(), None | Some(b'#' | b'!'));
        if open.is_none() && is_comment {
            continue;
        }
        let logical = open.get_or_insert(Logical {
            text: Vec::new(),
            line: number + 1,
        });
        let slashes = text.iter().rev().take_while(|&&byte| byte == b'\\').count();
        let continued = slashes % 2 == 1;
        logical
            .text
            .extend_from_slice(&text[..text.len() - usize::from(continued)]);
        if !continued {
            lines.extend(open.take());
        }
    }
    lines.extend(open);
    lines.retain(|logical| !logical.text.is_empty());
    lines
}

/// Lines that end with a line feed, a carriage return, or both.
fn natural_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let bytes = rest?;
        let Some(end) = bytes.iter().position(|&byte| is_break(byte)) else {
            rest = None;
            return (!bytes.is_empty()).then_some(bytes);
        };
        let width = if bytes[end..].starts_with(b"\r\n") {
            2
        } else {
            1
        };
        rest = Some(&bytes[end + width..]);
        Some(&bytes[..end])
    })
}

/// Splits a logical line at its first unescaped `=`, `:` or white space.
fn entry(logical: &Logical) -> Result<(String, String), Unreadable> {
    let text = &logical.text;
    let mut end = 0;
    while end < text.len() && !is_blank(text[end]) && !matches!(text[end], b'=' | b':') {
        end += if text[end] == b'\\' { 2 } else { 1 };
    }
    let end = end.min(text.len());
    let mut begin = end;
    let mut separated = false;
    while begin < text.len() {
        match text[begin] {
            byte if is_blank(byte) => {}
            b'=' | b':' if !separated => separated = true,
            _ => break,
        }
        begin += 1;
    }
    let unescape = |part| unescape(part).ok_or(Unreadable::Escape { line: logical.line });
    Ok((unescape(&text[..end])?, unescape(&text[begin..])?))
}

fn unescape(bytes: &[u8]) -> Option<String> {
    let mut units: Vec<u16> = Vec::with_capacity(bytes.len());
    let mut bytes = bytes.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            units.push(u16::from(byte));
            continue;
        }
        match bytes.next() {
            None => break,
            Some(b'u') => units.push(unit(&mut bytes)?),
            Some(b't') => units.push(u16::from(b'\t')),
            Some(b'n') => units.push(u16::from(b'\n')),
            Some(b'r') => units.push(u16::from(b'\r')),
            Some(b'f') => units.push(0x0c),
            Some(other) => units.push(u16::from(other)),
        }
    }
    Some(String::from_utf16_lossy(&units))
}

/// The UTF-16 unit of four hexadecimal digits.
fn unit(bytes: &mut Peekable<impl Iterator<Item = u8>>) -> Option<u16> {
    let mut unit = 0;
    for _ in 0..4 {
        let digit = char::from(bytes.next()?).to_digit(16)?;
        unit = unit << 4 | digit as u16;
    }
    Some(unit)
}

#[cfg(test)]
mod tests;
