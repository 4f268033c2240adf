//! help, print and version: what is answered without a cluster.

use tare_draw::stress::Distribution;

use crate::grammar::options::{shape, Group};
use crate::grammar::words::Section;
use crate::grammar::Usage;
use crate::output::numbers::fixed;
use crate::settings::command::Kind;
use crate::settings::OPTIONS;

const COMMANDS: [(&str, &str); 9] = [
    (
        "read",
        "Multiple concurrent reads - the cluster must first be populated by a write test",
    ),
    ("write", "Multiple concurrent writes against the cluster"),
    (
        "mixed",
        "Interleaving of any basic commands, with configurable ratio and distribution",
    ),
    ("counter_write", "Multiple concurrent updates of counters."),
    ("counter_read", "Multiple concurrent reads of counters."),
    (
        "user",
        "Interleaving of user provided queries, with configurable ratio and distribution",
    ),
    ("help", "Print help for a command or option"),
    ("print", "Inspect the output of a distribution definition"),
    ("version", "Print the version"),
];

/// The answer to a command line that needs no cluster; none if it needs one.
pub fn answer(sections: &[Section]) -> Result<Option<Vec<String>>, Usage> {
    let find = |names: &[&str]| sections.iter().find(|s| names.contains(&s.key.as_str()));
    if let Some(section) = find(&["help", "-?", "-h", "-help", "--help"]) {
        let other = sections
            .iter()
            .find(|s| s.key != section.key)
            .map(|s| s.key.clone());
        return help(section.parameters.first().cloned().or(other).as_deref()).map(Some);
    }
    if let Some(section) = find(&["print"]) {
        return print(&section.parameters).map(Some);
    }
    let version = format!(
        "Version: Tare {}, in place of 3.11",
        env!("CARGO_PKG_VERSION")
    );
    Ok(find(&["version", "-version", "--version"]).map(|_| vec![version]))
}

fn help(about: Option<&str>) -> Result<Vec<String>, Usage> {
    let Some(about) = about else {
        return Ok(overview());
    };
    let about = about.to_lowercase();
    if let Some(kind) = Kind::of(&about) {
        return Ok(usage(&about, kind.groups()));
    }
    let dashed = format!("-{}", about.trim_start_matches('-'));
    if let Some((name, _, groups)) = OPTIONS.iter().find(|(name, ..)| *name == dashed) {
        return Ok(usage(name, groups));
    }
    match about.as_str() {
        "help" => Ok(overview()),
        "print" => Ok(vec!["Usage: print dist=DIST(?)".to_owned()]),
        _ => Err(Usage(format!(
            "Invalid command or option provided to command help: {about:.60}"
        ))),
    }
}

fn overview() -> Vec<String> {
    let mut lines = vec![
        "Usage:      tare load stress <command> [options]".to_owned(),
        "Help usage: tare load stress help <command>".to_owned(),
        String::new(),
        "---Commands---".to_owned(),
    ];
    lines.extend(COMMANDS.map(|(name, about)| format!("{name:<20} : {about}")));
    lines.extend([String::new(), "---Options---".to_owned()]);
    lines.extend(
        OPTIONS
            .iter()
            .map(|(name, about, _)| format!("{name:<21} : {about}")),
    );
    lines
}

fn usage(name: &str, groups: &[Group]) -> Vec<String> {
    let mut lines = vec![String::new()];
    for (place, group) in groups.iter().enumerate() {
        if place > 0 {
            lines.push(" OR ".to_owned());
        }
        lines.push(format!("Usage: {name} {}", shape(group)));
    }
    lines.push(String::new());
    let mut told: Vec<&str> = Vec::new();
    for choice in groups.iter().copied().flatten() {
        if told.contains(&choice.name) {
            continue;
        }
        told.push(choice.name);
        let default = choice
            .default
            .map(|d| format!(" (default={d})"))
            .unwrap_or_default();
        let long = format!("{}{default}", choice.name);
        lines.push(format!("  {long:<40} {}", choice.about));
    }
    lines
}

/// Quantiles of a distribution.
fn print(parameters: &[String]) -> Result<Vec<String>, Usage> {
    let [parameter] = parameters else {
        return Err(Usage::new(
            "print takes one distribution: print dist=GAUSSIAN(1..100)",
        ));
    };
    let text = parameter
        .split_once('=')
        .filter(|(name, _)| name.eq_ignore_ascii_case("dist"));
    let Some((_, text)) = text else {
        return Err(Usage(format!(
            "Invalid parameter {parameter:.60} of print; say dist=..."
        )));
    };
    let distribution = Distribution::parse(text).map_err(|e| Usage(e.to_string()))?;
    let mut lines = vec!["% of samples    Range       % of total".to_owned()];
    let most = distribution.inverse_cumulative(1.0) as f64 / 100.0;
    for share in [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0] {
        let value = distribution.inverse_cumulative(share);
        let (samples, total) = (fixed(share * 100.0, 1), fixed(value as f64 / most, 1));
        lines.push(format!("{samples:<16}{value:<12}{total:>12}"));
    }
    Ok(lines)
}
