//! How a command's options become its length and its operations.

use super::choices::{
    ADD, CLUSTERING, DURATION, ERR, KEY_SIZE, LEAST, MOST, N, OPS, PROFILE, RATIO,
};
use super::{Detail, Kind, Length, Unit};
use crate::grammar::number::count;
use crate::grammar::options::{Choice, Given};
use crate::grammar::Usage;
use crate::profile::Profile;
use crate::settings::forms::{text, Draw};
use tare_engine::nearest::hint;

/// Longest key; the native protocol and the partition key both end at 64 KiB.
const LONGEST_KEY: u32 = 65_535;

pub fn length(given: &Given) -> Result<Length, Usage> {
    if let Some(n) = given.value(N.name) {
        let n = count(n).and_then(|n| u64::try_from(n).ok());
        return n
            .map(Length::Count)
            .ok_or_else(|| Usage::new("n= is too large"));
    }
    if let Some(duration) = given.value(DURATION.name) {
        let (amount, unit) = duration.split_at(duration.len() - 1);
        let unit = match unit.to_ascii_lowercase().as_str() {
            "s" => Unit::Seconds,
            "m" => Unit::Minutes,
            _ => Unit::Hours,
        };
        // Ten years, so that nanoseconds never overflow.
        let amount = amount
            .parse::<u64>()
            .ok()
            .filter(|&n| n <= 315_360_000 / unit.seconds());
        return match amount {
            Some(0) => Err(Usage::new("duration= must be above 0")),
            Some(amount) => Ok(Length::Duration(amount, unit)),
            None => Err(Usage(format!(
                "duration={duration} is longer than ten years"
            ))),
        };
    }
    let number = |choice: &Choice| text(given, choice).and_then(|text| text.parse().ok());
    let target = text(given, &ERR).and_then(|text| text.parse().ok());
    match (target, number(&LEAST), number(&MOST)) {
        (Some(target), Some(least), Some(most)) => Ok(Length::Uncertainty {
            target,
            least,
            most,
        }),
        _ => Err(Usage::new("n> or n< is too large")),
    }
}

pub fn detail(kind: Kind, given: &Given) -> Result<Detail, Usage> {
    let draw = |choice: &Choice| Draw::parse(text(given, choice).unwrap_or_default());
    if kind == Kind::User {
        let profile = Profile::load(given.value(PROFILE.name).unwrap_or_default())?;
        return Ok(Detail::Profile {
            ratios: profile_ratios(given.pairs(OPS.name), &profile)?,
            clustering: draw(&CLUSTERING)?,
            profile: Box::new(profile),
        });
    }
    let key_size = text(given, &KEY_SIZE).and_then(|text| text.parse().ok());
    Ok(Detail::Predefined {
        ratios: match kind {
            Kind::Mixed => mixed_ratios(given.pairs(RATIO.name))?,
            _ => vec![(kind, 1.0)],
        },
        clustering: (kind == Kind::Mixed)
            .then(|| draw(&CLUSTERING))
            .transpose()?,
        add: draw(&ADD)?,
        key_size: key_size
            .filter(|size| (1..=LONGEST_KEY).contains(size))
            .ok_or_else(|| Usage(format!("keysize= must be 1 to {LONGEST_KEY}")))?,
    })
}

/// The ratios in the order of the commands, as the tool keeps them; read=1,write=1 if none is said.
fn mixed_ratios(given: &[(String, String)]) -> Result<Vec<(Kind, f64)>, Usage> {
    if given.is_empty() {
        return Ok(vec![(Kind::Read, 1.0), (Kind::Write, 1.0)]);
    }
    let mut ratios = Vec::new();
    for kind in Kind::ALL {
        if let Some((name, value)) = given.iter().find(|(name, _)| kind.names()[0] == name) {
            ratios.push((kind, ratio(name, value)?));
        }
    }
    not_all_zero(ratios)
}

fn profile_ratios(
    given: &[(String, String)],
    profile: &Profile,
) -> Result<Vec<(String, f64)>, Usage> {
    let known = profile.operations();
    let mut ratios = Vec::new();
    for (name, value) in given {
        if name.contains('.') {
            return Err(Usage(format!(
                "ops: {name:.60}: several profiles in one run are not read; run them one by one"
            )));
        }
        let Some(known) = known.iter().find(|known| known.eq_ignore_ascii_case(name)) else {
            let hint = hint(name, known.iter().copied());
            return Err(Usage(format!(
                "No query defined with name {name:.60}{hint}"
            )));
        };
        ratios.push(((*known).to_owned(), ratio(name, value)?));
    }
    not_all_zero(ratios)
}

fn ratio(name: &str, value: &str) -> Result<f64, Usage> {
    let number = value
        .parse::<f64>()
        .ok()
        .filter(|n| n.is_finite() && *n >= 0.0);
    number.ok_or_else(|| {
        Usage(format!(
            "{name:.60}={value:.60} must be a number of at least 0"
        ))
    })
}

fn not_all_zero<T>(ratios: Vec<(T, f64)>) -> Result<Vec<(T, f64)>, Usage> {
    let kept: Vec<(T, f64)> = ratios
        .into_iter()
        .filter(|(_, ratio)| *ratio > 0.0)
        .collect();
    if kept.is_empty() {
        return Err(Usage::new(
            "Must specify at least one command with a non-zero ratio",
        ));
    }
    Ok(kept)
}
