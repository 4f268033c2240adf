//! The cells that a read must find, and whether it found them.

/// Appends a cell to what is expected.
pub fn expect(expected: &mut Vec<u8>, value: Option<&[u8]>) {
    let length = value.map_or(-1, |value| value.len() as i32);
    expected.extend_from_slice(&length.to_ne_bytes());
    expected.extend_from_slice(value.unwrap_or_default());
}

/// Whether the cells are the expected ones, and all of them.
pub fn matches<'a>(mut expected: &[u8], cells: impl Iterator<Item = Option<&'a [u8]>>) -> bool {
    for cell in cells {
        let Some((length, rest)) = expected.split_first_chunk::<4>() else {
            return false;
        };
        let value = match usize::try_from(i32::from_ne_bytes(*length)) {
            Ok(length) => rest.split_at_checked(length),
            Err(_) => None,
        };
        expected = value.map_or(rest, |(_, rest)| rest);
        if cell != value.map(|(value, _)| value) {
            return false;
        }
    }
    expected.is_empty()
}

/// Bytes as the tool shows a blob key.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(cells: &[Option<&[u8]>]) -> Vec<u8> {
        let mut expected = Vec::new();
        cells
            .iter()
            .for_each(|cell| super::expect(&mut expected, *cell));
        expected
    }

    #[test]
    fn a_row_matches_itself_alone() {
        let row: [Option<&[u8]>; 3] = [Some(b"ab"), None, Some(b"")];
        let expected = expected(&row);
        assert!(matches(&expected, row.into_iter()));
        assert!(
            !matches(&expected, row[..2].iter().copied()),
            "a cell too few"
        );
        assert!(
            !matches(&expected, row.into_iter().chain([None])),
            "a cell too many"
        );
        assert!(!matches(
            &expected,
            [Some(&b"ab"[..]), Some(b""), Some(b"")].into_iter()
        ));
        assert!(!matches(
            &expected,
            [Some(&b"aB"[..]), None, Some(b"")].into_iter()
        ));
    }
}
