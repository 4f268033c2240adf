//! The search for the highest throughput: a climb, then repeated rounds around the best level.

use super::bootstrap::{moments, Random};
use super::climb::{climb, End};
use super::curve::level_of;
use super::journal::{by_level, mean, Journal, Tried};
use super::level::By;
use super::outcome::{measured, Estimate, Fraction, Outcome, Verdict};
use super::top::{shape, top, Top};
use super::{Meter, Observation, Stage, Wish};

/// Rounds before an interval is believed.
const LEAST_ROUNDS: usize = 4;
/// Neighbouring levels further apart than this have one tried between them.
const RESOLUTION: f64 = 1.2;
/// Share of the wished precision at which the search stops. An interval that is looked at after
/// every round is met too early by luck; the rest makes up for that.
const STOP: f64 = 0.75;

/// What the rounds know so far.
struct Rounds {
    /// The rounds that count, oldest first.
    rounds: Vec<Vec<Observation>>,
    random: Random,
    /// Rounds that were dropped because the cluster was not yet at its later speed.
    dropped: usize,
}

impl Rounds {
    fn tried(&self) -> Vec<Tried> {
        by_level(self.rounds.iter().flatten().cloned())
    }

    /// Mean of every round's throughputs over the means of their levels, minus 1.
    fn effects(&self) -> Vec<f64> {
        let tried = self.tried();
        let relative = |seen: &Observation| {
            let level = tried.iter().find(|one| one.level == seen.level)?;
            (level.observations.len() > 1 && level.throughput() > 0.0)
                .then(|| seen.throughput / level.throughput() - 1.0)
        };
        let effect = |round: &Vec<Observation>| mean(round.iter().filter_map(relative));
        self.rounds.iter().map(effect).collect()
    }

    /// Standard error of the mean that whole rounds cause by being fast or slow together.
    fn between(&self) -> f64 {
        let effects = self.effects();
        match effects.len() {
            0 | 1 => 0.0,
            n => moments(&effects).1 / (n as f64).sqrt(),
        }
    }

    /// How much faster the last round was than the first, where that is more than half of the
    /// precision and more than the other rounds' scatter explains.
    fn drift(&self, within: f64) -> Option<f64> {
        let effects = self.effects();
        let (first, last) = (effects.first()?, effects.last()?);
        let steps: Vec<f64> = effects.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let moved = last - first;
        let one_way = steps.iter().all(|step| step.signum() == moved.signum());
        (effects.len() >= LEAST_ROUNDS && moved.abs() > within && one_way).then_some(moved)
    }

    fn top(&mut self, wish: &Wish) -> Option<Top> {
        let between = self.between();
        let usable = usable(wish, self.tried());
        top(&usable, wish.within / 2.0, between, &mut self.random)
    }
}

fn usable(wish: &Wish, mut tried: Vec<Tried>) -> Vec<Tried> {
    tried.retain(|one| one.failed_share() <= wish.failures && one.throughput() > 0.0);
    tried
}

/// Finds the highest throughput and the lowest level that reaches it.
pub fn search<M: Meter>(wish: &Wish, journal: &mut Journal<M>) -> Result<Outcome, M::Error> {
    let end = climb(wish, journal)?;
    let random = Random::seeded(wish.seed);
    let mut rounds = Rounds {
        rounds: Vec::new(),
        random,
        dropped: 0,
    };
    let mut found = None;
    loop {
        let (mut levels, resolved) = focus(wish, &usable(wish, journal.tried()));
        let precise = found
            .as_ref()
            .is_some_and(|top: &Top| top.precision() <= STOP * wish.within);
        let enough = rounds.rounds.len() >= LEAST_ROUNDS && rounds.drift(wish.within).is_none();
        let cost = wish.step_s * levels.len() as f64;
        if levels.is_empty() || (enough && precise && resolved) || !journal.affords(cost) {
            break;
        }
        rounds.random.shuffle(&mut levels);
        let mut round = Vec::new();
        for level in levels {
            round.extend(journal.measure(Stage::Round, level, wish.step_s)?);
        }
        rounds.rounds.push(round);
        if rounds.drift(wish.within).is_some() && journal.affords(cost) {
            rounds.rounds.remove(0);
            rounds.dropped += 1;
        }
        found = rounds.top(wish);
    }
    Ok(outcome(wish, journal, &rounds, found, end))
}

/// The levels of the next round, and whether the place of the maximum is resolved: the plateau's
/// lowest level, the one below it, the best and its neighbours, and what lies between them where
/// they are far apart.
fn focus(wish: &Wish, tried: &[Tried]) -> (Vec<f64>, bool) {
    let Some((lowest, best, highest)) = shape(tried, wish.within / 2.0) else {
        return (Vec::new(), true);
    };
    let level = |i: usize| tried[i].level;
    let around = [
        lowest.checked_sub(1),
        Some(lowest),
        best.checked_sub(1),
        Some(best),
    ];
    let mut levels: Vec<f64> = around.into_iter().flatten().map(level).collect();
    levels.extend(tried.get(best + 1).map(|one| one.level));
    let below = lowest.checked_sub(1).map(level);
    let gap = |low: f64, high: f64| wish.by.between(low, high, RESOLUTION);
    let mut between: Vec<f64> = Vec::new();
    between.extend(below.and_then(|below| gap(below, level(lowest))));
    // A peak without a plateau may lie on either side of its highest level.
    let above = tried.get(best + 1).filter(|_| lowest == highest);
    between.extend(above.and_then(|above| gap(level(best), above.level)));
    let resolved = between.is_empty();
    levels.extend(between);
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    (levels, resolved)
}

fn outcome<M: Meter>(
    wish: &Wish,
    journal: &Journal<M>,
    rounds: &Rounds,
    top: Option<Top>,
    end: End,
) -> Outcome {
    let tried = journal.tried();
    let reasons = reasons(wish, rounds, top.as_ref(), end);
    let client = top
        .as_ref()
        .is_some_and(|top| client_limited(&rounds.tried(), top));
    let throughput = top.as_ref().map(|top| Estimate {
        estimate: top.throughput,
        low: top.low,
        high: top.high,
    });
    let level = top
        .as_ref()
        .map(|top| place(&usable(wish, tried.clone()), top));
    Outcome {
        verdict: Verdict::of(client, &reasons),
        reasons: if client {
            client_reasons(&rounds.tried(), reasons)
        } else {
            reasons
        },
        by: wish.by,
        within: wish.within,
        latency_limit_us: None,
        throughput,
        level,
        plateau: top.map_or_else(Vec::new, |top| top.plateau),
        fractions: fractions(wish, &tried, throughput, level),
        levels: measured(&tried),
        steps: journal.steps.len(),
        spent_s: journal.spent_s,
    }
}

/// The lowest level of the plateau; it lies above the measured level below.
fn place(tried: &[Tried], top: &Top) -> Estimate {
    let lowest = top.plateau[0];
    let below = tried.iter().rev().find(|one| one.level < lowest);
    Estimate {
        estimate: lowest,
        low: below.map_or(lowest, |one| one.level),
        high: top.best.max(lowest),
    }
}

pub(super) fn fractions(
    wish: &Wish,
    tried: &[Tried],
    throughput: Option<Estimate>,
    level: Option<Estimate>,
) -> Vec<Fraction> {
    let (Some(throughput), Some(level)) = (throughput, level) else {
        return Vec::new();
    };
    let fraction = |&fraction: &f64| Fraction {
        fraction,
        level: match wish.by {
            By::Rate => wish.by.round(throughput.estimate * fraction),
            By::Threads => level_of(
                throughput.estimate * fraction,
                tried,
                level.estimate,
                throughput.estimate,
                wish.by,
            ),
        },
        throughput: throughput.times(fraction),
    };
    wish.fractions.iter().map(fraction).collect()
}

fn reasons(wish: &Wish, rounds: &Rounds, top: Option<&Top>, end: End) -> Vec<String> {
    let mut reasons = Vec::new();
    let percent = |share: f64| share * 100.0;
    match end {
        End::Limit => reasons.push(format!(
            "the throughput still rose at the highest level allowed, {} {}",
            wish.most,
            wish.by.unit()
        )),
        End::Budget => {
            reasons.push("the budget was spent before the throughput stopped rising".into())
        }
        End::Top => {}
    }
    match top {
        None => reasons.push("no level was measured often enough, or none without failures".into()),
        Some(top) if top.precision() > wish.within => reasons.push(format!(
            "the budget was spent at an interval of +-{:.1}%, not +-{:.1}%",
            percent(top.precision()),
            percent(wish.within)
        )),
        Some(_) if rounds.rounds.len() < LEAST_ROUNDS => {
            reasons.push(format!(
                "the budget allowed fewer than {LEAST_ROUNDS} rounds"
            ));
        }
        Some(_) => {}
    }
    if let Some(drift) = rounds.drift(wish.within) {
        reasons.push(format!(
            "the cluster changed its speed by {:+.1}% during the search; warm it up longer",
            percent(drift)
        ));
    }
    reasons
}

/// Whether the client was the limit in at least half of the plateau's measurements.
fn client_limited(tried: &[Tried], top: &Top) -> bool {
    let on_top = tried.iter().filter(|one| top.plateau.contains(&one.level));
    let flags: Vec<bool> = on_top
        .flat_map(|one| one.observations.iter().map(|seen| !seen.client.is_empty()))
        .collect();
    2 * flags.iter().filter(|&&flag| flag).count() >= flags.len().max(1)
}

fn client_reasons(tried: &[Tried], others: Vec<String>) -> Vec<String> {
    let mut reasons =
        vec!["the load client was the limit; give it more CPU or more clients".into()];
    let last = tried
        .iter()
        .flat_map(|one| &one.observations)
        .rfind(|seen| !seen.client.is_empty());
    reasons.extend(last.map(|seen| seen.client.clone()).unwrap_or_default());
    reasons.extend(others);
    reasons
}
