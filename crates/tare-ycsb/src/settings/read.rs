//! Properties as typed values; a value that cannot be used is refused with its name.

use std::cell::RefCell;
use std::fmt::Display;
use std::str::FromStr;

use crate::properties::Properties;

/// A property whose value cannot be used, or that is missing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("property {name}={value}: {why}")]
pub struct BadProperty {
    pub name: String,
    pub value: String,
    pub why: String,
}

impl BadProperty {
    pub fn new(name: &str, value: impl Display, why: impl Display) -> BadProperty {
        BadProperty {
            name: name.to_owned(),
            value: value.to_string(),
            why: why.to_string(),
        }
    }
}

/// Reads properties, and gathers what is worth saying of them.
pub struct Reader<'a> {
    properties: &'a Properties,
    remarks: RefCell<Vec<String>>,
}

impl<'a> Reader<'a> {
    pub fn new(properties: &'a Properties) -> Reader<'a> {
        Reader {
            properties,
            remarks: RefCell::default(),
        }
    }

    pub fn remark(&self, remark: impl Into<String>) {
        self.remarks.borrow_mut().push(remark.into());
    }

    pub fn into_remarks(self) -> Vec<String> {
        self.remarks.into_inner()
    }

    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.properties.get(name)
    }

    pub fn text_or<'b>(&self, name: &str, default: &'b str) -> &'b str
    where
        'a: 'b,
    {
        self.properties.get(name).unwrap_or(default)
    }

    /// A whole number of at least 0, blanks around it allowed.
    pub fn whole(&self, name: &str) -> Result<Option<u64>, BadProperty> {
        self.parsed(name, "a whole number of at least 0")
    }

    pub fn whole_or(&self, name: &str, default: u64) -> Result<u64, BadProperty> {
        Ok(self.whole(name)?.unwrap_or(default))
    }

    /// A whole number between bounds, both included.
    pub fn whole_in(
        &self,
        name: &str,
        default: u64,
        bounds: std::ops::RangeInclusive<u64>,
    ) -> Result<u64, BadProperty> {
        let number = self.whole_or(name, default)?;
        if bounds.contains(&number) {
            return Ok(number);
        }
        let (low, high) = (bounds.start(), bounds.end());
        let why = format!("expected a whole number from {low} to {high}");
        Err(BadProperty::new(name, number, why))
    }

    /// A finite number.
    pub fn number_or(&self, name: &str, default: f64) -> Result<f64, BadProperty> {
        let number: Option<f64> = self.parsed(name, "a number")?;
        let number = number.unwrap_or(default);
        if number.is_finite() {
            return Ok(number);
        }
        Err(BadProperty::new(name, number, "expected a finite number"))
    }

    /// As `Boolean.parseBoolean`: whatever is not `true` in any case is false.
    pub fn truth_or(&self, name: &str, default: bool) -> bool {
        let Some(value) = self.text(name) else {
            return default;
        };
        if !["true", "false"]
            .iter()
            .any(|known| value.eq_ignore_ascii_case(known))
        {
            self.remark(format!(
                "property {name}={value} counts as false, as in YCSB: only true is true"
            ));
        }
        value.eq_ignore_ascii_case("true")
    }

    fn parsed<T: FromStr>(&self, name: &str, expected: &str) -> Result<Option<T>, BadProperty> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let parsed = text.trim().parse();
        let parsed = parsed.map_err(|_| {
            BadProperty::new(name, format!("{text:?}"), format!("expected {expected}"))
        })?;
        Ok(Some(parsed))
    }
}
