//! `tare-load find-max`: its options, its JSON lines, its text.

use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;
use tare_engine::errors::Fatal;
use tare_engine::run::Stop;

use super::level::By;
use super::meter::EngineMeter;
use super::outcome::{Outcome, Verdict};
use super::quantities::{fraction, percent, seconds, target, Target};
use super::{search, table, Step, Wish};
use crate::progress::line;
use crate::spec::{Phase, Spec};

/// Exit status of a search that ended without the answer that was wished.
const NOT_VALID: u8 = 3;

/// Find the load at which the cluster saturates, or the highest one under a latency target.
///
/// JSON lines on standard output tell every step and the result; a table for people goes to
/// standard error. The tables must exist and hold their rows. Exit status: 0 found, 1 failed,
/// 2 wrong usage, 3 undecided, or the client was the limit.
#[derive(clap::Args)]
pub struct Options {
    /// File with the load specification in JSON, as `run` takes it; "-" reads standard input. Its
    /// threads, rate and times are the search's own business
    #[arg(long, default_value = "-")]
    pub spec: PathBuf,
    /// What is turned up: threads (closed loop) or rate (open loop) [default: threads; rate with
    /// a latency target]
    #[arg(long, value_parser = by)]
    by: Option<By>,
    /// Search the highest load with this quantile of response time: p99<=10ms
    #[arg(long, value_parser = target)]
    latency: Option<Target>,
    /// A fraction of the maximum that is wanted, too; may be given more than once
    #[arg(long, default_values_t = [0.66], value_parser = fraction)]
    fraction: Vec<f64>,
    /// Half width of the 95% interval at which the search is done
    #[arg(long, default_value = "5%", value_parser = percent)]
    within: f64,
    /// Longest time that the search may take
    #[arg(long, default_value = "10m", value_parser = seconds)]
    budget: f64,
    /// Length of one measurement, its first fifth being left out
    #[arg(long, default_value = "10s", value_parser = seconds)]
    step: f64,
    /// Where the search begins [default: 4 threads, 1000 operations/s]
    #[arg(long)]
    from: Option<f64>,
    /// Highest level that may be tried [default: 4096 threads, 1000000 operations/s]
    #[arg(long)]
    most: Option<f64>,
    /// Share of failed operations up to which a level counts
    #[arg(long, default_value = "1%", value_parser = percent)]
    failures: f64,
    /// Seed of the order of the measurements
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Worker threads [default: by the CPUs available]
    #[arg(long)]
    workers: Option<usize>,
    /// No table on standard error
    #[arg(long)]
    quiet: bool,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Event<'a> {
    Step(&'a Step),
    Result {
        quantile: Option<f64>,
        #[serde(flatten)]
        outcome: &'a Outcome,
    },
}

/// Searches and tells; `spec` has been read from where the options say.
pub fn run(options: &Options, spec: Spec) -> Result<ExitCode, Fatal> {
    let wish = wish(options)?;
    if spec.phase != Phase::Run {
        return Err(Fatal::spec("phase", "find-max searches with phase \"run\""));
    }
    let mut meter = EngineMeter {
        spec: Spec {
            schedule: Vec::new(),
            start_at: None,
            hlog: None,
            ..spec
        },
        by: wish.by,
        quantile: options.latency.map(|target| target.quantile),
        workers: options.workers,
        stop: Stop::on_signals()?,
    };
    let mut lost = None;
    let mut told = |step: &Step| lost = line(&Event::Step(step)).err();
    let outcome = search(&wish, &mut meter, &mut told)?;
    if let Some(lost) = lost {
        return Err(lost);
    }
    line(&Event::Result {
        quantile: options.latency.map(|target| target.quantile),
        outcome: &outcome,
    })?;
    if !options.quiet {
        eprint!("{}", table::text(&outcome));
    }
    Ok(match outcome.verdict {
        Verdict::Found => ExitCode::SUCCESS,
        Verdict::Undecided | Verdict::ClientLimit => ExitCode::from(NOT_VALID),
    })
}

fn wish(options: &Options) -> Result<Wish, Fatal> {
    let by = options.by.unwrap_or(match options.latency {
        Some(_) => By::Rate,
        None => By::Threads,
    });
    let (first, most, highest) = match by {
        By::Threads => (4.0, 4096.0, 100_000.0),
        By::Rate => (1000.0, 1e6, 10e6),
    };
    let (first, most) = (options.from.unwrap_or(first), options.most.unwrap_or(most));
    if !(1.0..=highest).contains(&most) || !(1.0..=most).contains(&first) {
        let why = format!(
            "--from must be 1 to --most, and --most at most {highest} {}",
            by.unit()
        );
        return Err(Fatal::spec("--from", why));
    }
    if options.step < 0.2 || options.step > options.budget {
        return Err(Fatal::spec(
            "--step",
            "must be at least 200ms and at most the budget",
        ));
    }
    Ok(Wish {
        by,
        first,
        most,
        within: options.within,
        budget_s: options.budget,
        step_s: options.step,
        failures: options.failures,
        latency_us: options.latency.map(|target| target.limit_us),
        fractions: options.fraction.clone(),
        seed: options.seed,
    })
}

fn by(text: &str) -> Result<By, String> {
    match text {
        "threads" => Ok(By::Threads),
        "rate" => Ok(By::Rate),
        _ => Err("expected threads or rate".into()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    fn wished(args: &[&str]) -> Result<Wish, String> {
        let args = std::iter::once("find-max").chain(args.iter().copied());
        let line = Line::try_parse_from(args).map_err(|e| e.to_string())?;
        wish(&line.options).map_err(|e| e.to_string())
    }

    #[test]
    fn the_maximum_is_searched_by_threads_and_a_latency_target_by_rate() {
        let maximum = wished(&[]).unwrap();
        assert_eq!(
            (maximum.by, maximum.first, maximum.latency_us),
            (By::Threads, 4.0, None)
        );
        assert_eq!((maximum.within, maximum.budget_s), (0.05, 600.0));
        assert_eq!(maximum.fractions, [0.66]);
        let target = wished(&["--latency", "p99<=10ms"]).unwrap();
        assert_eq!((target.by, target.latency_us), (By::Rate, Some(10_000.0)));
    }

    #[test]
    fn nonsense_is_refused_with_what_is_expected() {
        for (args, words) in [
            (["--latency", "p100<=1ms"], "no quantile"),
            (["--latency", "10ms"], "such as p99<=10ms"),
            (["--budget", "10"], "with its unit"),
            (["--within", "0"], "0.1% to 50%"),
            (["--fraction", "1.5"], "above 0 and up to 1"),
            (["--from", "5000"], "--from must be"),
            (["--step", "11m"], "at most the budget"),
            (["--by", "clients"], "threads or rate"),
        ] {
            let refused = wished(&args).unwrap_err();
            assert!(refused.contains(words), "{refused}");
        }
    }
}
