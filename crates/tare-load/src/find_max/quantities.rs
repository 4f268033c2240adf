//! Numbers with their units, as the options of the search are given.

/// A latency target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// 0 to 1.
    pub quantile: f64,
    pub limit_us: f64,
}

/// `p99<=10ms`: a quantile in percent, and a time.
pub fn target(text: &str) -> Result<Target, String> {
    let expected = || "expected a quantile and a time, such as p99<=10ms".to_owned();
    let (quantile, limit) = text
        .split_once("<=")
        .or_else(|| text.split_once('<'))
        .ok_or_else(expected)?;
    let percent: f64 = quantile
        .trim()
        .strip_prefix('p')
        .and_then(|number| number.parse().ok())
        .ok_or_else(expected)?;
    if !(percent > 0.0 && percent < 100.0) {
        return Err(format!("p{percent} is no quantile between p0 and p100"));
    }
    Ok(Target {
        quantile: percent / 100.0,
        limit_us: seconds(limit.trim())? * 1e6,
    })
}

/// A fraction above 0 and up to 1, also as a percentage.
pub fn fraction(text: &str) -> Result<f64, String> {
    share(text)
        .filter(|fraction| *fraction > 0.0 && *fraction <= 1.0)
        .ok_or_else(|| "expected a fraction above 0 and up to 1, such as 0.66 or 66%".to_owned())
}

/// A share of 0.1% to 50%, also as a fraction.
pub fn percent(text: &str) -> Result<f64, String> {
    share(text)
        .filter(|share| (0.001..=0.5).contains(share))
        .ok_or_else(|| "expected 0.1% to 50%".to_owned())
}

fn share(text: &str) -> Option<f64> {
    match text.strip_suffix('%') {
        Some(number) => number.parse::<f64>().ok().map(|percent| percent / 100.0),
        None => text.parse().ok(),
    }
}

/// Seconds: a number with us, ms, s, m or h.
pub fn seconds(text: &str) -> Result<f64, String> {
    let at = text
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let factor = match unit {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("expected a time with its unit, such as 500us, 10ms, 10s or 10m".into()),
    };
    let number: Option<f64> = number.parse().ok();
    number
        .map(|number| number * factor)
        .filter(|seconds| *seconds > 0.0 && *seconds <= 1e6)
        .ok_or_else(|| format!("{text:?} is no time above 0"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quantiles_times_and_shares_are_read_with_their_units() {
        let expected = Target {
            quantile: 0.999,
            limit_us: 500.0,
        };
        let read = target("p99.9<=500us").unwrap();
        assert!((read.quantile - expected.quantile).abs() < 1e-12);
        assert!((read.limit_us - expected.limit_us).abs() < 1e-9);
        assert_eq!(fraction("66%"), Ok(0.66));
        assert_eq!(seconds("1.5m"), Ok(90.0));
        assert_eq!((percent("2.5%"), percent("0.025")), (Ok(0.025), Ok(0.025)));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,20}") {
            let _ = (target(&text), fraction(&text), percent(&text), seconds(&text));
        }
    }
}
