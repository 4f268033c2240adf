//! Numbers as Java's `String.format` writes them.

/// `%.Nf`: Java rounds half up on the shortest decimal that reads back as the number, where Rust
/// rounds the exact binary value: 0.15 is 0.2 here and 0.1 there (java.util.Formatter, "Float and
/// Double").
pub fn fixed(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let shortest = format!("{}", value.abs());
    let (whole, fraction) = shortest.split_once('.').unwrap_or((&shortest, ""));
    let kept = fraction.get(..digits).unwrap_or(fraction);
    let mut decimals: Vec<u8> = whole.bytes().chain(kept.bytes()).collect();
    decimals.resize(whole.len() + digits, b'0');
    let up = fraction
        .as_bytes()
        .get(digits)
        .is_some_and(|digit| *digit >= b'5');
    if up && carry(&mut decimals) {
        decimals.insert(0, b'1');
    }
    let mut text: String = decimals.into_iter().map(char::from).collect();
    if digits > 0 {
        text.insert(text.len() - digits, '.');
    }
    if value.is_sign_negative() {
        text.insert(0, '-');
    }
    text
}

/// Adds one in the last place; whether it runs over the first.
fn carry(decimals: &mut [u8]) -> bool {
    for digit in decimals.iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            return false;
        }
        *digit = b'0';
    }
    true
}

/// `%,.Nf`: with a comma at every thousand.
pub fn grouped(value: f64, digits: usize) -> String {
    group(&fixed(value, digits))
}

/// `%,d`.
pub fn grouped_whole(value: u64) -> String {
    group(&value.to_string())
}

fn group(text: &str) -> String {
    let (sign, rest) = text
        .strip_prefix('-')
        .map_or(("", text), |rest| ("-", rest));
    let (whole, fraction) = rest.find('.').map_or((rest, ""), |at| rest.split_at(at));
    if !whole.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.to_owned();
    }
    let mut out = String::from(sign);
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out + fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values printed by Java 17's `String.format`.
    #[test]
    fn rounds_half_up_on_the_shortest_decimal_as_java_does() {
        let cases = [
            (0.15, 1, "0.2"),
            (0.25, 1, "0.3"),
            (0.05, 1, "0.1"),
            (2.5, 0, "3"),
            (0.5, 0, "1"),
            (9.99, 1, "10.0"),
            (-0.12345, 5, "-0.12345"),
            (-1.358465, 5, "-1.35847"),
            (1.0, 6, "1.000000"),
            (1e9, 0, "1000000000"),
            (f64::NAN, 1, "NaN"),
            (f64::INFINITY, 1, "Infinity"),
        ];
        for (value, digits, expected) in cases {
            assert_eq!(fixed(value, digits), expected, "{value}");
        }
    }

    #[test]
    fn thousands_have_commas() {
        assert_eq!(grouped(1234567.89, 1), "1,234,567.9");
        assert_eq!(grouped(999.4, 0), "999");
        assert_eq!(grouped(-1000.0, 0), "-1,000");
        assert_eq!(grouped(f64::NAN, 0), "NaN");
        assert_eq!(grouped_whole(8_688), "8,688");
    }
}
