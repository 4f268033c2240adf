//! CQL types: their names in statements, their codes on the wire, and a sample value of each.
//! native_protocol_v4.spec, section 4.2.5.2 (options) and section 6 (encoding of values).

/// Deepest nesting of collections that is understood.
const DEEPEST: usize = 8;

/// A CQL type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A type without parameters, by its code on the wire.
    Native(u16),
    List(Box<Kind>),
    Set(Box<Kind>),
    Map(Box<Kind>, Box<Kind>),
}

const NATIVE: [(&str, u16); 22] = [
    ("ascii", 0x01),
    ("bigint", 0x02),
    ("blob", 0x03),
    ("boolean", 0x04),
    ("counter", 0x05),
    ("decimal", 0x06),
    ("double", 0x07),
    ("float", 0x08),
    ("int", 0x09),
    ("timestamp", 0x0B),
    ("uuid", 0x0C),
    ("text", 0x0D),
    ("varchar", 0x0D),
    ("varint", 0x0E),
    ("timeuuid", 0x0F),
    ("inet", 0x10),
    ("date", 0x11),
    ("time", 0x12),
    ("smallint", 0x13),
    ("tinyint", 0x14),
    ("duration", 0x15),
    ("bytes", 0x03),
];

impl Kind {
    pub const BIGINT: Kind = Kind::Native(0x02);
    pub const BLOB: Kind = Kind::Native(0x03);
    pub const INT: Kind = Kind::Native(0x09);

    /// The type that a CQL text names, `frozen<>` looked through; None: not understood.
    pub fn parse(text: &str) -> Option<Kind> {
        Self::nested(&text.to_ascii_lowercase().replace(' ', ""), DEEPEST)
    }

    fn nested(text: &str, depth: usize) -> Option<Kind> {
        let depth = depth.checked_sub(1)?;
        let Some((outer, rest)) = text.split_once('<') else {
            let native = NATIVE.iter().find(|(name, _)| *name == text);
            return native.map(|&(_, code)| Kind::Native(code));
        };
        let inner = rest.strip_suffix('>')?;
        let one = || Self::nested(inner, depth).map(Box::new);
        match outer {
            "frozen" => Self::nested(inner, depth),
            "list" => one().map(Kind::List),
            "set" => one().map(Kind::Set),
            "map" => {
                let comma = outer_comma(inner)?;
                let key = Self::nested(&inner[..comma], depth)?;
                let value = Self::nested(&inner[comma + 1..], depth)?;
                Some(Kind::Map(Box::new(key), Box::new(value)))
            }
            _ => None,
        }
    }

    /// The type as CQL writes it.
    pub fn name(&self) -> String {
        match self {
            Kind::Native(code) => {
                let native = NATIVE.iter().find(|(_, known)| known == code);
                native.map_or("blob", |(name, _)| name).to_owned()
            }
            Kind::List(of) => format!("list<{}>", of.name()),
            Kind::Set(of) => format!("set<{}>", of.name()),
            Kind::Map(key, value) => format!("map<{}, {}>", key.name(), value.name()),
        }
    }

    /// Appends the `[option]` that tells a client this type.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Kind::Native(code) => out.extend(code.to_be_bytes()),
            Kind::List(of) => encode_outer(0x20, &[of], out),
            Kind::Map(key, value) => encode_outer(0x21, &[key, value], out),
            Kind::Set(of) => encode_outer(0x22, &[of], out),
        }
    }

    /// A valid value: text and blobs of `bytes` bytes, zeros elsewhere, collections empty (null).
    pub fn sample(&self, bytes: usize) -> Option<Vec<u8>> {
        let Kind::Native(code) = self else {
            return None;
        };
        Some(match code {
            0x01 | 0x03 | 0x0D => vec![b'v'; bytes],
            0x04 | 0x14 => vec![0],
            0x06 => vec![0; 5],
            0x08 | 0x09 => vec![0; 4],
            0x0C => vec![0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 0],
            0x0F => vec![0, 0, 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0, 0, 0, 0, 0],
            0x0E => vec![0],
            0x10 => vec![127, 0, 0, 1],
            0x11 => vec![0x80, 0, 0, 0],
            0x13 => vec![0; 2],
            0x15 => vec![0; 3],
            _ => vec![0; 8],
        })
    }
}

fn encode_outer(code: u16, inner: &[&Kind], out: &mut Vec<u8>) {
    out.extend(code.to_be_bytes());
    for kind in inner {
        kind.encode(out);
    }
}

/// The comma between a map's key and value: the first one outside of angle brackets.
fn outer_comma(text: &str) -> Option<usize> {
    let mut open = 0_i32;
    for (place, letter) in text.char_indices() {
        match letter {
            '<' => open += 1,
            '>' => open -= 1,
            ',' if open == 0 => return Some(place),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_understood_as_statements_write_them() {
        assert_eq!(Kind::parse("VARCHAR"), Some(Kind::Native(0x0D)));
        let map = Kind::parse("frozen<map<text, frozen<set<int>>>>");
        assert_eq!(
            map.map(|kind| kind.name()),
            Some("map<text, set<int>>".into())
        );
        assert_eq!(Kind::parse("sometype"), None);
        assert_eq!(Kind::parse("map<text>"), None);
    }

    #[test]
    fn deep_nesting_is_refused_not_followed() {
        let deep = format!("{}int{}", "list<".repeat(100_000), ">".repeat(100_000));
        assert_eq!(Kind::parse(&deep), None);
    }

    #[test]
    fn a_map_is_told_by_its_code_and_those_of_its_parts() {
        let mut out = Vec::new();
        Kind::parse("map<text, int>")
            .expect("known")
            .encode(&mut out);
        assert_eq!(out, [0, 0x21, 0, 0x0D, 0, 0x09]);
    }
}
