//! What a search found, for people.

use std::fmt::Write;

use super::outcome::{Estimate, Measured, Outcome, Verdict};

/// A few lines of answer and one line per level measured.
pub fn text(outcome: &Outcome) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", headline(outcome));
    for reason in &outcome.reasons {
        let _ = writeln!(text, "  {reason}");
    }
    for one in &outcome.fractions {
        let _ = writeln!(
            text,
            "{:.0}% of it: {} operations/s, at {} {}",
            one.fraction * 100.0,
            interval(&one.throughput),
            number(one.level),
            outcome.by.unit()
        );
    }
    let _ = writeln!(
        text,
        "{} measurements in {:.0} s\n",
        outcome.steps, outcome.spent_s
    );
    let _ = writeln!(
        text,
        "{:>12} {:>6} {:>14} {:>27} {:>9} {:>13}  notes",
        outcome.by.unit(),
        "times",
        "operations/s",
        "lowest to highest",
        "failed",
        "quantile (ms)"
    );
    for level in &outcome.levels {
        let _ = writeln!(text, "{}", line(level, &outcome.plateau));
    }
    text
}

fn headline(outcome: &Outcome) -> String {
    let (Some(throughput), Some(level)) = (&outcome.throughput, &outcome.level) else {
        return "Undecided: nothing was found".into();
    };
    let what = match outcome.latency_limit_us {
        None => "Highest throughput".to_owned(),
        Some(limit) => format!(
            "Highest load with the quantile at most {} ms",
            limit / 1000.0
        ),
    };
    let word = match outcome.verdict {
        Verdict::Found => "",
        Verdict::Undecided => "Undecided. ",
        Verdict::ClientLimit => "The client was the limit; the cluster can do at least: ",
    };
    format!(
        "{word}{what}: {} operations/s, from {} {} on (between {} and {})",
        interval(throughput),
        number(level.estimate),
        outcome.by.unit(),
        number(level.low),
        number(level.high)
    )
}

fn interval(estimate: &Estimate) -> String {
    format!(
        "{} [{} to {}]",
        number(estimate.estimate),
        number(estimate.low),
        number(estimate.high)
    )
}

/// At least three digits, none of them made up.
fn number(value: f64) -> String {
    if value.abs() >= 100.0 || value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}

fn line(level: &Measured, plateau: &[f64]) -> String {
    let mut notes = Vec::new();
    if plateau.contains(&level.level) {
        notes.push("top".to_owned());
    }
    if level.client_limited > 0 {
        notes.push(format!("client limited {} times", level.client_limited));
    }
    if level.never_steady > 0 {
        notes.push(format!("never steady {} times", level.never_steady));
    }
    format!(
        "{:>12} {:>6} {:>14.0} {:>27} {:>8.2}% {:>13}  {}",
        number(level.level),
        level.measurements,
        level.throughput,
        format!("{:.0} to {:.0}", level.lowest, level.highest),
        level.failed_share * 100.0,
        level
            .latency_us
            .map_or("-".into(), |us| format!("{:.2}", us / 1000.0)),
        notes.join(", ")
    )
    .trim_end()
    .to_owned()
}
