//! The search for the highest level under a latency target: a climb until it is missed, then
//! halving of the bracket and repetition at its two sides.

use super::bootstrap::Random;
use super::bracket::{excess, locate, Found, Sample};
use super::journal::{Journal, Tried};
use super::outcome::{measured, Estimate, Outcome, Verdict};
use super::peak::fractions;
use super::{Meter, Observation, Stage, Wish};

/// Measurements at each side of the bracket before it is believed.
const LEAST: usize = 3;
/// Below this level nothing is tried.
const LOWEST: f64 = 1.0;

/// Finds the highest level at which the quantile is at most `limit` microseconds. Latency is
/// taken to rise with the level.
pub fn search<M: Meter>(
    wish: &Wish,
    limit: f64,
    journal: &mut Journal<M>,
) -> Result<Outcome, M::Error> {
    let mut random = Random::seeded(wish.seed);
    enclose(wish, limit, journal)?;
    let found = loop {
        let tried = journal.tried();
        let found = locate(wish, limit, &tried, &mut random);
        let next = match &found {
            Some(found) => next(wish, &tried, found),
            None => outward(wish, limit, &tried),
        };
        let Some(next) = next else {
            break found;
        };
        if journal.measure(Stage::Target, next, wish.step_s)?.is_none() {
            break found;
        }
    };
    Ok(outcome(wish, limit, journal, found))
}

/// Doubles the level until the target is missed twice running, or halves it until it is met.
fn enclose<M: Meter>(wish: &Wish, limit: f64, journal: &mut Journal<M>) -> Result<(), M::Error> {
    let mut level = wish.by.round(wish.first.min(wish.most));
    let mut met = false;
    loop {
        let Some(seen) = journal.measure(Stage::Climb, level, wish.step_s / 2.0)? else {
            return Ok(());
        };
        let misses = excess(wish, limit, &seen) > 0.0;
        met |= !misses;
        let next = match (misses, met) {
            (true, true) => return Ok(()),
            (true, false) => level / 2.0,
            (false, _) if level < wish.first => return Ok(()),
            (false, _) => level * 2.0,
        };
        let next = wish.by.round(next.min(wish.most));
        if next < LOWEST || next == level {
            return Ok(());
        }
        level = next;
    }
}

/// A level beyond all that were tried, if a side of the bracket is missing: the climb's result
/// there was chance.
fn outward(wish: &Wish, limit: f64, tried: &[Tried]) -> Option<f64> {
    let sample = Sample::of(wish, limit, tried);
    let (lowest, highest) = (*sample.levels.first()?, *sample.levels.last()?);
    let met = sample
        .fit(&sample.means())
        .first()
        .is_some_and(|&excess| excess <= 0.0);
    let level = if met {
        highest * 2f64.sqrt()
    } else {
        lowest / 2.0
    };
    let level = wish.by.round(level.min(wish.most));
    (level >= LOWEST && level != lowest && level != highest).then_some(level)
}

/// The level to measure next; none if the bracket is as narrow as wished and believed.
fn next(wish: &Wish, tried: &[Tried], found: &Found) -> Option<f64> {
    let (meets, misses) = (found.bracket.meets?, found.bracket.misses?);
    if let Some(middle) = wish.by.between(meets, misses, 1.0 + wish.within) {
        return Some(middle);
    }
    let within = |one: &&Tried| (found.low..=found.high).contains(&one.level);
    let fewest = |one: &&Tried| one.observations.len();
    let sides = tried
        .iter()
        .filter(|one| one.level == meets || one.level == misses);
    let thin = sides
        .min_by_key(fewest)
        .filter(|one| one.observations.len() < LEAST);
    if let Some(thin) = thin {
        return Some(thin.level);
    }
    if found.precision() <= wish.within {
        return None;
    }
    tried
        .iter()
        .filter(within)
        .min_by_key(fewest)
        .map(|one| one.level)
}

fn outcome<M: Meter>(
    wish: &Wish,
    limit: f64,
    journal: &Journal<M>,
    found: Option<Found>,
) -> Outcome {
    let tried = journal.tried();
    let mut reasons = reasons(wish, limit, &tried, found.as_ref());
    let client = found
        .as_ref()
        .map_or_else(Vec::new, |found| client_reasons(&tried, found));
    let level = found.as_ref().map(|found| Estimate {
        estimate: found.crossing,
        low: found.low,
        high: found.high,
    });
    let throughput = found.as_ref().and_then(|found| throughput(&tried, found));
    let verdict = Verdict::of(!client.is_empty(), &reasons);
    reasons.splice(0..0, client);
    Outcome {
        verdict,
        reasons,
        by: wish.by,
        within: wish.within,
        latency_limit_us: Some(limit),
        throughput,
        level,
        plateau: Vec::new(),
        fractions: fractions(wish, &tried, throughput, level),
        levels: measured(&tried),
        steps: journal.steps.len(),
        spent_s: journal.spent_s,
    }
}

/// Throughput at the crossing and at the ends of its interval, by straight lines between levels.
fn throughput(tried: &[Tried], found: &Found) -> Option<Estimate> {
    let at = |level: f64| {
        let high = tried
            .iter()
            .position(|one| one.level >= level)
            .unwrap_or(tried.len() - 1);
        let (low, high) = (&tried[high.saturating_sub(1)], &tried[high]);
        if low.level == high.level {
            return high.throughput();
        }
        let part = ((level - low.level) / (high.level - low.level)).clamp(0.0, 1.0);
        low.throughput() + part * (high.throughput() - low.throughput())
    };
    (!tried.is_empty()).then(|| Estimate {
        estimate: at(found.crossing),
        low: at(found.low),
        high: at(found.high),
    })
}

fn reasons(wish: &Wish, limit: f64, tried: &[Tried], found: Option<&Found>) -> Vec<String> {
    let percent = |share: f64| share * 100.0;
    let Some(found) = found else {
        let met = |one: &Tried| {
            one.observations
                .iter()
                .all(|s| excess(wish, limit, s) <= 0.0)
        };
        return vec![match (
            tried.first().is_some_and(met),
            tried.last().is_some_and(met),
        ) {
            (false, _) => "the target was missed at the lowest level tried".into(),
            (true, true) => "the target was still met at the highest level tried".into(),
            (true, false) => "the target was met and missed without an order".into(),
        }];
    };
    let (meets, misses) = (found.bracket.meets, found.bracket.misses);
    let sides = tried
        .iter()
        .filter(|one| Some(one.level) == meets || Some(one.level) == misses);
    if found.precision() > wish.within && next(wish, tried, found).is_some() {
        vec![format!(
            "the budget was spent at an interval of +-{:.1}%, not +-{:.1}%",
            percent(found.precision()),
            percent(wish.within)
        )]
    } else if sides.map(|one| one.observations.len()).min().unwrap_or(0) < LEAST {
        vec![format!(
            "the budget allowed fewer than {LEAST} measurements at the target"
        )]
    } else {
        Vec::new()
    }
}

/// Why the client may have made the lowest level miss the target; empty if it did not.
fn client_reasons(tried: &[Tried], found: &Found) -> Vec<String> {
    let misses = tried
        .iter()
        .filter(|one| Some(one.level) == found.bracket.misses);
    let seen: Vec<&Observation> = misses.flat_map(|one| &one.observations).collect();
    let flagged = || seen.iter().filter(|seen| !seen.client.is_empty());
    if 2 * flagged().count() < seen.len().max(1) {
        return Vec::new();
    }
    let mut reasons =
        vec!["the load client was the limit; give it more CPU or more clients".to_owned()];
    reasons.extend(
        flagged()
            .next_back()
            .map(|seen| seen.client.clone())
            .unwrap_or_default(),
    );
    reasons
}
