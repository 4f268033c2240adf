//! The text of a distribution: reading and writing it.

use std::fmt;

use super::quantile::{exponential, weibull};
use super::Distribution;
use crate::Error;

/// No bound lies further from 0, so that neither a range nor its end overflows.
const FARTHEST: i64 = 1 << 61;
/// More parts than this make a table larger than any workload needs.
const MOST_PARTS: usize = 100_000;

impl Distribution {
    /// Reads a distribution as cassandra-stress does: a name in any case, its parameters in brackets, a
    /// leading `~` to invert it; K, M and B are 10^3, 10^6 and 10^9.
    ///
    /// FIXED(v), UNIFORM(a..b), SEQ(a..b), GAUSSIAN(a..b\[,stdvrng\]), GAUSSIAN(a..b,mean,stdev),
    /// EXP(a..b), EXTREME(a..b,shape), QEXTREME(a..b,shape,quantas); aliases GAUSS, NORMAL, NORM, EXTR,
    /// QEXTR, WEIBULL (which the tool documents but refuses).
    ///
    /// # Errors
    /// When the text is none of these, or its distribution cannot be drawn from; the message says what was
    /// expected.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let trimmed = text.trim();
        let (inverted, body) = match trimmed.strip_prefix('~') {
            Some(body) => (true, body),
            None => (false, trimmed),
        };
        let (name, parameters) = body
            .strip_suffix(')')
            .and_then(|body| body.split_once('('))
            .ok_or_else(|| {
                Error::new(format!(
                    "{text:?} is not a distribution: expected a name and its parameters in brackets, as uniform(1..10) or fixed(5)"
                ))
            })?;
        let parameters: Vec<&str> = parameters
            .split(',')
            .filter(|parameter| !parameter.is_empty())
            .collect();
        let distribution = distribution(&name.to_ascii_lowercase(), &parameters)
            .map_err(|expected| Error::new(format!("the distribution {text:?}: {expected}")))?;
        Ok(if inverted {
            distribution.turned()
        } else {
            distribution
        })
    }
}

/// The distribution of a name and its parameters; the error says what was expected.
fn distribution(name: &str, parameters: &[&str]) -> Result<Distribution, String> {
    match name {
        "fixed" => match parameters {
            [value] => Ok(Distribution::Fixed {
                value: bound(value)?,
            }),
            _ => Err("expected one value, as fixed(5)".into()),
        },
        "uniform" => match parameters {
            [range] => ranged(range, |min, max| Ok(Distribution::Uniform { min, max })),
            _ => Err("expected one range, as uniform(1..10)".into()),
        },
        "seq" => match parameters {
            [range] => match bounds(range)? {
                (min, max) if min < max => Ok(Distribution::Sequence { min, max }),
                _ => Err("expected a first value below the last one, as seq(1..10)".into()),
            },
            _ => Err("expected one range, as seq(1..10)".into()),
        },
        "gaussian" | "gauss" | "normal" | "norm" => gaussian(parameters),
        "exp" => match parameters {
            [range] => ranged(range, exponential_distribution),
            _ => Err("expected one range, as exp(1..10)".into()),
        },
        "extreme" | "extr" | "weibull" => match parameters {
            [range, shape] => extreme(range, shape),
            _ => Err("expected a range and a shape, as extreme(1..10,2)".into()),
        },
        "qextreme" | "qextr" => match parameters {
            [range, shape, parts] => match parts.trim().parse::<usize>() {
                Ok(parts) if (1..=MOST_PARTS).contains(&parts) => {
                    Ok(match extreme(range, shape)? {
                        fixed @ Distribution::Fixed { .. } => fixed,
                        distribution => distribution.quantized(parts),
                    })
                }
                _ => Err(format!("expected a number of quantas from 1 to {MOST_PARTS}")),
            },
            _ => Err("expected a range, a shape and quantas, as qextreme(1..10,2,3)".into()),
        },
        _ => Err(format!(
            "there is no distribution {name:?}: expected fixed, uniform, seq, gaussian, exp, extreme or qextreme"
        )),
    }
}

fn gaussian(parameters: &[&str]) -> Result<Distribution, String> {
    let [range, rest @ ..] = parameters else {
        return Err("expected a range, as gaussian(1..10)".into());
    };
    let rest = rest
        .iter()
        .map(|text| real(text))
        .collect::<Result<Vec<_>, _>>()?;
    ranged(range, |min, max| {
        let (mean, deviation) = match rest[..] {
            [] => middle(min, max, 3.0),
            [deviations_to_edge] => middle(min, max, deviations_to_edge),
            [mean, deviation] => (mean, deviation),
            _ => return Err("expected at most a range, a mean and a deviation".into()),
        };
        if deviation > 0.0 && deviation.is_finite() {
            Ok(Distribution::Gaussian {
                min,
                max,
                mean,
                deviation,
            })
        } else {
            Err("expected a standard deviation above 0".into())
        }
    })
}

fn middle(min: i64, max: i64, deviations_to_edge: f64) -> (f64, f64) {
    let mean = (min + max) as f64 / 2.0;
    (mean, (max - min) as f64 / 2.0 / deviations_to_edge)
}

fn exponential_distribution(min: i64, max: i64) -> Result<Distribution, String> {
    let mean = scale(min, max, |probability| exponential(1.0, probability));
    if mean > 0.0 && mean.is_finite() {
        Ok(Distribution::Exponential { min, max, mean })
    } else {
        Err("expected a range of three values or more, as exp(1..10)".into())
    }
}

fn extreme(range: &str, shape: &str) -> Result<Distribution, String> {
    let shape = real(shape)?;
    if shape <= 0.0 {
        return Err("expected a shape above 0, as extreme(1..10,2)".into());
    }
    ranged(range, |min, max| {
        let scale = scale(min, max, |probability| weibull(shape, 1.0, probability));
        Ok(Distribution::Extreme {
            min,
            max,
            shape,
            scale,
        })
    })
}

/// The scale that leaves sqrt(1 / width) of the distribution beyond the range, as the tool chooses it.
fn scale(min: i64, max: i64, quantile: impl Fn(f64) -> f64) -> f64 {
    let width = (max - min) as f64;
    width / quantile(1.0 - (1.0 / width).sqrt())
}

/// The distribution of a range; of one value only it is fixed.
fn ranged(
    range: &str,
    distribution: impl FnOnce(i64, i64) -> Result<Distribution, String>,
) -> Result<Distribution, String> {
    match bounds(range)? {
        (min, max) if min == max => Ok(Distribution::Fixed { value: min }),
        (min, max) if min < max => distribution(min, max),
        (min, max) => Err(format!(
            "the range {min}..{max} is backwards: expected {max}..{min}"
        )),
    }
}

/// Reads `a..b`; more than two dots are as good.
fn bounds(text: &str) -> Result<(i64, i64), String> {
    let expected = || format!("{text:?} is not a range: expected two whole numbers, as 1..10");
    let (min, max) = text.split_once("..").ok_or_else(expected)?;
    Ok((bound(min)?, bound(max.trim_start_matches('.'))?))
}

fn bound(text: &str) -> Result<i64, String> {
    let value = parse_count(text).map_err(|error| error.to_string())?;
    if (-FARTHEST..=FARTHEST).contains(&value) {
        Ok(value)
    } else {
        Err(format!("{value} is too far from 0: expected at most 2^61"))
    }
}

fn real(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(format!("{text:?} is not a number")),
    }
}

/// Reads a whole number with or without K, M or B in either case: 10^3, 10^6, 10^9.
///
/// # Errors
/// When it is none, or does not fit 64 bits.
pub fn parse_count(text: &str) -> Result<i64, Error> {
    let trimmed = text.trim();
    let (digits, factor) = match trimmed.bytes().last().map(|last| last.to_ascii_lowercase()) {
        Some(b'k') => (&trimmed[..trimmed.len() - 1], 1_000),
        Some(b'm') => (&trimmed[..trimmed.len() - 1], 1_000_000),
        Some(b'b') => (&trimmed[..trimmed.len() - 1], 1_000_000_000),
        _ => (trimmed, 1),
    };
    digits
        .parse::<i64>()
        .ok()
        .and_then(|number| number.checked_mul(factor))
        .ok_or_else(|| {
            Error::new(format!(
                "{text:?} is not a whole number of 64 bits: expected digits with or without K, M or B, as 10K"
            ))
        })
}

impl fmt::Display for Distribution {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed { value } => write!(formatter, "fixed({value})"),
            Self::Uniform { min, max } => write!(formatter, "uniform({min}..{max})"),
            Self::Sequence { min, max } => write!(formatter, "seq({min}..{max})"),
            Self::Gaussian {
                min,
                max,
                mean,
                deviation,
            } => write!(formatter, "gaussian({min}..{max},{mean},{deviation})"),
            Self::Exponential { min, max, .. } => write!(formatter, "exp({min}..{max})"),
            Self::Extreme {
                min, max, shape, ..
            } => write!(formatter, "extreme({min}..{max},{shape})"),
            Self::Quantized {
                distribution,
                bounds,
            } => match distribution.as_ref() {
                Self::Extreme {
                    min, max, shape, ..
                } => write!(
                    formatter,
                    "qextreme({min}..{max},{shape},{})",
                    bounds.len() - 1
                ),
                distribution => write!(formatter, "{distribution}"),
            },
            Self::Inverted { distribution, .. } => write!(formatter, "~{distribution}"),
        }
    }
}
