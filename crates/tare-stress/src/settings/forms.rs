//! The forms of values that several options share, and how they become numbers and draws.

use tare_draw::stress::{Distribution, Ratio};

use crate::grammar::number::{count, is_count, is_digits, range};
use crate::grammar::options::{Choice, Given};
use crate::grammar::Usage;

/// A test of a value, and what it expects.
pub type Form = (fn(&str) -> bool, &'static str);

pub const ANY: Form = (|_| true, "a text");
pub const SOME: Form = (|text| !text.is_empty(), "a text that is not empty");
pub const DIGITS: Form = (is_digits, "a whole number");
pub const COUNT: Form = (
    is_count,
    "a whole number, with suffix K, M or B where wished",
);
pub const RANGE: Form = (|text| range(text).is_some(), "a range such as 1..1M");
pub const DRAW: Form = (
    |text| Distribution::parse(text).is_ok(),
    "a distribution such as FIXED(1), UNIFORM(1..10), GAUSSIAN(1..10), EXP(1..10), \
     EXTREME(1..10,2), QEXTREME(1..10,2,5) or SEQ(1..10)",
);
pub const RATIO: Form = (
    |text| Ratio::parse(text).is_ok(),
    "a distribution over a divisor, such as FIXED(1)/1 or UNIFORM(1..10)/10",
);

/// A distribution and the text that it came from.
#[derive(Debug, Clone)]
pub struct Draw {
    pub text: String,
    pub distribution: Distribution,
}

impl Draw {
    pub fn parse(text: &str) -> Result<Draw, Usage> {
        Ok(Draw {
            text: text.to_owned(),
            distribution: Distribution::parse(text).map_err(|e| Usage(e.to_string()))?,
        })
    }
}

/// A distribution over a divisor, and the text that it came from.
#[derive(Debug, Clone)]
pub struct Share {
    pub ratio: Ratio,
    pub distribution: Distribution,
    pub divisor: i64,
}

impl Share {
    pub fn parse(text: &str) -> Result<Share, Usage> {
        let ratio = Ratio::parse(text).map_err(|e| Usage(e.to_string()))?;
        let (distribution, divisor) = text.rsplit_once('/').unwrap_or((text, "1"));
        Ok(Share {
            ratio,
            distribution: Distribution::parse(distribution).map_err(|e| Usage(e.to_string()))?,
            divisor: count(divisor.trim()).unwrap_or(1),
        })
    }
}

/// Whether the text is one of these words, in any case.
pub fn among(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// The value of an option, or its default.
pub fn text<'a>(given: &'a Given, choice: &'a Choice) -> Option<&'a str> {
    given.value(choice.name).or(choice.default)
}

/// A number that its form has already checked, except for its size.
pub fn whole<T: std::str::FromStr>(given: &Given, choice: &Choice) -> Result<T, Usage> {
    let value = text(given, choice).unwrap_or_default();
    value.parse().map_err(|_| {
        Usage(format!(
            "Invalid value {value} of {}; the number is too large",
            choice.name
        ))
    })
}

pub fn draw(given: &Given, choice: &Choice) -> Result<Option<Draw>, Usage> {
    text(given, choice).map(Draw::parse).transpose()
}

pub fn share(given: &Given, choice: &Choice) -> Result<Option<Share>, Usage> {
    text(given, choice).map(Share::parse).transpose()
}
