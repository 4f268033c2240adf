//! Rows that are made before they are sent: values one after the other, each with its length.

use tare_draw::stress::Position;
use tare_draw::Rng;
use tare_engine::request::Request;

/// Values of rows of equal width.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    bytes: Vec<u8>,
    /// Where each row begins in `bytes`.
    starts: Vec<usize>,
}

impl Rows {
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.starts.clear();
    }

    pub fn len(&self) -> usize {
        self.starts.len()
    }

    pub fn row<'a>(&mut self, values: impl IntoIterator<Item = Option<&'a [u8]>>) {
        self.starts.push(self.bytes.len());
        for value in values {
            let length = value.map_or(-1, |value| value.len() as i32);
            self.bytes.extend_from_slice(&length.to_ne_bytes());
            self.bytes.extend_from_slice(value.unwrap_or_default());
        }
    }

    /// The values of a row.
    pub fn values(&self, row: usize) -> Values<'_> {
        let begin = self.starts.get(row).copied().unwrap_or(self.bytes.len());
        let end = self
            .starts
            .get(row + 1)
            .copied()
            .unwrap_or(self.bytes.len());
        Values(&self.bytes[begin..end])
    }

    /// Writes a row's values into a request.
    pub fn write(&self, row: usize, request: &mut Request) {
        for value in self.values(row) {
            match value {
                Some(value) => request.value(value),
                None => request.null(),
            };
        }
    }

    /// Makes the first row of arguments out of all: the partition key as it is, every other
    /// argument from a row drawn for it.
    pub fn mix(&mut self, arguments: &[Position], rng: &mut impl Rng) {
        let mut mixed = Rows::default();
        mixed.row(arguments.iter().enumerate().map(|(place, position)| {
            let row = match position {
                Position::Key(_) => 0,
                Position::Cell(_) => rng.next_below(self.len() as u64) as usize,
            };
            self.values(row).nth(place).flatten()
        }));
        *self = mixed;
    }
}

/// Goes through the values of a row.
#[derive(Debug, Clone)]
pub struct Values<'a>(&'a [u8]);

impl<'a> Iterator for Values<'a> {
    type Item = Option<&'a [u8]>;

    fn next(&mut self) -> Option<Option<&'a [u8]>> {
        let (length, rest) = self.0.split_first_chunk::<4>()?;
        match usize::try_from(i32::from_ne_bytes(*length)) {
            Ok(length) => {
                let (value, rest) = rest.split_at_checked(length)?;
                self.0 = rest;
                Some(Some(value))
            }
            Err(_) => {
                self.0 = rest;
                Some(None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_as_they_were() {
        let mut rows = Rows::default();
        for row in [[Some(&b"a"[..]), None], [Some(b""), Some(b"xyz")]] {
            rows.row(row);
        }
        assert_eq!(rows.len(), 2);
        assert_eq!(rows.values(0).collect::<Vec<_>>(), [Some(&b"a"[..]), None]);
        assert_eq!(
            rows.values(1).collect::<Vec<_>>(),
            [Some(&b""[..]), Some(b"xyz")]
        );
    }
}
