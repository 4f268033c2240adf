//! The text of a connection string: percent signs, and the options between `&`.
use super::{bad, BadUri};

/// The options of a query, decoded, in their order.
pub(super) fn pairs(query: &str) -> Result<Vec<(String, String)>, BadUri> {
    let mut found = Vec::new();
    // `;` separates, too, in the oldest strings.
    for pair in query.split(['&', ';']).filter(|pair| !pair.is_empty()) {
        let (name, value) = pair
            .split_once('=')
            .ok_or_else(|| bad(pair, "expected option=value"))?;
        found.push((decoded(name, name)?, decoded(name, value)?));
    }
    Ok(found)
}

/// Percent signs resolved (RFC 3986).
pub(super) fn decoded(part: &str, text: &str) -> Result<String, BadUri> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        match (digit(rest.next()), digit(rest.next())) {
            (Some(high), Some(low)) => bytes.push((high * 16 + low) as u8),
            _ => {
                return Err(bad(
                    part,
                    "a % without two hexadecimal digits; write it as %25",
                ))
            }
        }
    }
    String::from_utf8(bytes).map_err(|_| bad(part, "it is not UTF-8"))
}
