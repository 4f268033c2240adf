//! A number or a constant as the bytes of a CQL type (native protocol v4, section 6).

use std::io::Write;

use serde_json::Value;
use tare_cql::ColumnType;
use tare_draw::ycsb::fnv64;

/// The day that CQL dates count from, in their own unsigned days (section 6.7 of the protocol).
const EPOCH_DAY: i64 = 1 << 31;

/// What becomes of a drawn number on its way to a column.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    divide: i64,
    modulo: Option<i64>,
    hashed: bool,
    /// Text before and after the number.
    around: (String, String),
    kind: ColumnType,
}

impl Form {
    /// `range` are the ends of what will be drawn, where there are any; numbers that do not fit
    /// the column are refused.
    pub fn new(
        divide: i64,
        modulo: Option<i64>,
        hashed: bool,
        format: Option<&str>,
        kind: &ColumnType,
        range: (i64, Option<i64>),
    ) -> Result<Form, String> {
        if divide < 1 || modulo.is_some_and(|modulo| modulo < 1) {
            return Err("divide and modulo must be at least 1".into());
        }
        let around = match format {
            None => (String::new(), String::new()),
            Some(format) if is_text(kind) => match format.split_once("%d") {
                Some((before, after)) => (before.to_owned(), after.to_owned()),
                None => return Err(format!("the format {format:?} has no %d")),
            },
            Some(_) => return Err(format!("a format makes text, and the column is {kind:?}")),
        };
        let form = Form {
            divide,
            modulo,
            hashed,
            around,
            kind: kind.clone(),
        };
        form.check(range)?;
        Ok(form)
    }

    fn check(&self, (first, last): (i64, Option<i64>)) -> Result<(), String> {
        let Some((least, most)) = limits(&self.kind) else {
            return match self.kind {
                ref kind if is_text(kind) => Ok(()),
                ColumnType::Blob | ColumnType::Uuid | ColumnType::Boolean => Ok(()),
                ColumnType::Float | ColumnType::Double | ColumnType::Varint => Ok(()),
                ref kind => Err(format!("no number can be made a {kind:?}")),
            };
        };
        if self.hashed {
            return Ok(());
        }
        let ends = match self.modulo {
            Some(modulo) => [first.min(0), modulo - 1],
            None => [first, last.unwrap_or(first)].map(|end| end.div_euclid(self.divide)),
        };
        match ends.iter().find(|end| !(least..=most).contains(end)) {
            Some(end) => Err(format!("{end} does not fit a {:?}", self.kind)),
            None => Ok(()),
        }
    }

    /// Appends the bytes of a number.
    pub fn write(&self, number: i64, out: &mut Vec<u8>) {
        let mut number = number.div_euclid(self.divide);
        if let Some(modulo) = self.modulo {
            number = number.rem_euclid(modulo);
        }
        if self.hashed {
            number = fnv64(number);
            if let Some((_, most)) = limits(&self.kind).filter(|&(_, most)| most < i64::MAX) {
                number %= most + 1;
            }
        }
        if is_text(&self.kind) {
            let (before, after) = &self.around;
            // Writing to a Vec cannot fail.
            let _ = write!(out, "{before}{number}{after}");
            return;
        }
        match self.kind {
            ColumnType::Tinyint => out.push(number as u8),
            ColumnType::Smallint => out.extend_from_slice(&(number as i16).to_be_bytes()),
            ColumnType::Int => out.extend_from_slice(&(number as i32).to_be_bytes()),
            ColumnType::Float => out.extend_from_slice(&(number as f32).to_be_bytes()),
            ColumnType::Double => out.extend_from_slice(&(number as f64).to_be_bytes()),
            ColumnType::Boolean => out.push((number & 1) as u8),
            ColumnType::Date => {
                let day = (number + EPOCH_DAY) as u32;
                out.extend_from_slice(&day.to_be_bytes());
            }
            ColumnType::Varint => write_varint(number, out),
            ColumnType::Uuid => out.extend_from_slice(&uuid(number)),
            _ => out.extend_from_slice(&number.to_be_bytes()),
        }
    }
}

pub fn is_text(kind: &ColumnType) -> bool {
    matches!(kind, ColumnType::Text | ColumnType::Ascii)
}

/// Least and greatest number of a type; none where every number fits or none does.
fn limits(kind: &ColumnType) -> Option<(i64, i64)> {
    Some(match kind {
        ColumnType::Tinyint => (i64::from(i8::MIN), i64::from(i8::MAX)),
        ColumnType::Smallint => (i64::from(i16::MIN), i64::from(i16::MAX)),
        ColumnType::Int => (i64::from(i32::MIN), i64::from(i32::MAX)),
        ColumnType::Date => (-EPOCH_DAY, EPOCH_DAY - 1),
        ColumnType::Time => (0, 86_399_999_999_999),
        ColumnType::Bigint | ColumnType::Counter | ColumnType::Timestamp => (i64::MIN, i64::MAX),
        _ => return None,
    })
}

/// The shortest two's complement form.
fn write_varint(number: i64, out: &mut Vec<u8>) {
    let bytes = number.to_be_bytes();
    let redundant = |i: usize| {
        let sign = bytes[i + 1] & 0x80 != 0;
        bytes[i] == if sign { 0xFF } else { 0 }
    };
    let skip = (0..7).take_while(|&i| redundant(i)).count();
    out.extend_from_slice(&bytes[skip..]);
}

/// A UUID of version 4's form (RFC 9562, section 5.4) from the hashes of a number.
fn uuid(number: i64) -> [u8; 16] {
    let high = fnv64(number) as u64;
    let low = fnv64(number ^ i64::MIN) as u64;
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&high.to_be_bytes());
    bytes[8..].copy_from_slice(&low.to_be_bytes());
    bytes[6] = bytes[6] & 0x0F | 0x40;
    bytes[8] = bytes[8] & 0x3F | 0x80;
    bytes
}

/// A constant as the bytes of a column; null is none.
pub fn constant(value: &Value, kind: &ColumnType) -> Result<Option<Vec<u8>>, String> {
    let wrong = || format!("{value} cannot be made a {kind:?}");
    let mut out = Vec::new();
    match value {
        Value::Null => return Ok(None),
        Value::Bool(truth) if *kind == ColumnType::Boolean => out.push(u8::from(*truth)),
        Value::Number(number) => match (number.as_i64(), number.as_f64(), kind) {
            (_, Some(real), ColumnType::Double) => out.extend_from_slice(&real.to_be_bytes()),
            (_, Some(real), ColumnType::Float) => {
                out.extend_from_slice(&(real as f32).to_be_bytes());
            }
            (Some(whole), _, kind) => {
                let form = Form::new(1, None, false, None, kind, (whole, Some(whole)))?;
                form.write(whole, &mut out);
            }
            _ => return Err(wrong()),
        },
        Value::String(text) if is_text(kind) => out.extend_from_slice(text.as_bytes()),
        Value::String(text) if *kind == ColumnType::Blob => {
            out = text
                .strip_prefix("0x")
                .and_then(hexadecimal)
                .ok_or_else(wrong)?;
        }
        Value::String(text) if matches!(kind, ColumnType::Uuid | ColumnType::Timeuuid) => {
            let digits = text.replace('-', "");
            out = hexadecimal(&digits)
                .filter(|id| id.len() == 16)
                .ok_or_else(wrong)?;
        }
        _ => return Err(wrong()),
    }
    Ok(Some(out))
}

fn hexadecimal(digits: &str) -> Option<Vec<u8>> {
    if !digits.is_ascii() || !digits.len().is_multiple_of(2) {
        return None;
    }
    let pairs = (0..digits.len()).step_by(2).map(|i| &digits[i..i + 2]);
    pairs
        .map(|pair| u8::from_str_radix(pair, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(number: i64, kind: ColumnType) -> Vec<u8> {
        let form = Form::new(1, None, false, None, &kind, (number, Some(number))).unwrap();
        let mut out = Vec::new();
        form.write(number, &mut out);
        out
    }

    #[test]
    fn numbers_become_the_bytes_of_their_type() {
        assert_eq!(written(-2, ColumnType::Tinyint), [0xFE]);
        assert_eq!(written(258, ColumnType::Int), [0, 0, 1, 2]);
        assert_eq!(written(1, ColumnType::Bigint), [0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(written(12, ColumnType::Text), b"12");
        assert_eq!(written(0, ColumnType::Date), [0x80, 0, 0, 0]);
        assert_eq!(written(1, ColumnType::Double), 1f64.to_be_bytes());
        assert_eq!(written(3, ColumnType::Boolean), [1]);
    }

    #[test]
    fn varints_are_as_short_as_they_can_be() {
        assert_eq!(written(0, ColumnType::Varint), [0]);
        assert_eq!(written(127, ColumnType::Varint), [0x7F]);
        assert_eq!(written(128, ColumnType::Varint), [0, 0x80]);
        assert_eq!(written(-1, ColumnType::Varint), [0xFF]);
        assert_eq!(written(-129, ColumnType::Varint), [0xFF, 0x7F]);
    }

    #[test]
    fn uuids_have_version_and_variant() {
        let bytes = written(7, ColumnType::Uuid);
        assert_eq!((bytes.len(), bytes[6] >> 4, bytes[8] >> 6), (16, 4, 2));
        assert_ne!(bytes, written(8, ColumnType::Uuid));
    }

    #[test]
    fn a_form_divides_then_cuts_then_hashes_then_writes_around() {
        let kind = ColumnType::Text;
        let form = Form::new(10, Some(3), false, Some("n%d."), &kind, (0, Some(99))).unwrap();
        let mut out = Vec::new();
        form.write(57, &mut out);
        assert_eq!(out, b"n2.");
        let hashed = Form::new(1, None, true, Some("user%d"), &kind, (0, Some(9))).unwrap();
        out.clear();
        hashed.write(0, &mut out);
        assert_eq!(out, b"user6284781860667377211");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let number = |kind, last| Form::new(1, None, false, None, &kind, (0, Some(last)));
        assert!(number(ColumnType::Tinyint, 127).is_ok());
        assert!(number(ColumnType::Tinyint, 128).is_err());
        assert!(number(ColumnType::Inet, 1).is_err());
        assert!(Form::new(1, None, false, Some("x"), &ColumnType::Text, (0, None)).is_err());
        assert!(Form::new(1, None, false, Some("%d"), &ColumnType::Int, (0, None)).is_err());
        assert!(Form::new(0, None, false, None, &ColumnType::Int, (0, None)).is_err());
    }

    #[test]
    fn a_quotient_is_checked_as_it_is_written() {
        let form = |first| Form::new(2, None, false, None, &ColumnType::Tinyint, (first, Some(0)));
        assert!(form(-257).is_err());
        let mut out = Vec::new();
        form(-256).unwrap().write(-256, &mut out);
        assert_eq!(out, [0x80]);
    }

    #[test]
    fn constants_are_read_by_their_column() {
        let bytes = |value, kind| constant(&value, &kind).unwrap();
        assert_eq!(bytes(json!(null), ColumnType::Int), None);
        assert_eq!(bytes(json!("a"), ColumnType::Text), Some(b"a".to_vec()));
        assert_eq!(
            bytes(json!("0x0aFF"), ColumnType::Blob),
            Some(vec![10, 255])
        );
        assert_eq!(bytes(json!(true), ColumnType::Boolean), Some(vec![1]));
        assert!(constant(&json!("a"), &ColumnType::Int).is_err());
        assert!(constant(&json!(300), &ColumnType::Tinyint).is_err());
        assert!(constant(&json!("0xé"), &ColumnType::Blob).is_err());
    }
}
