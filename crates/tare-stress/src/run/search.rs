//! The search for the thread count: more threads, run after run, while it pays.

use std::time::{Duration, Instant};

use tare_engine::errors::Fatal;

use super::load::Operations;
use super::{schema, Session};
use crate::output::numbers::fixed;
use crate::output::results::{table, Outcome};
use crate::settings::command::{Length, Truncate};

/// Pause between two runs that write, so that compactions settle.
const PAUSE: Duration = Duration::from_secs(15);

impl Session<'_, '_> {
    /// Runs with `least` threads, then more and more up to `most`; with `auto` until the
    /// throughput grows no longer. Whether all runs succeeded.
    pub(super) fn search(&mut self, auto: bool, least: usize, most: usize) -> Result<bool, Fatal> {
        let length = self.settings.command.length;
        let target = match length {
            Length::Uncertainty { target, .. } => {
                self.printer.line(
                    "WARNING: uncertainty mode (err<) results in uneven workload between thread \
                     runs, so should be used for high level analysis only",
                )?;
                target
            }
            // Without err< the tool compares with -1, which never stops it.
            _ => -1.0,
        };
        let mut runs: Vec<(String, Outcome)> = Vec::new();
        let mut threads = least;
        loop {
            self.printer.line("")?;
            self.printer
                .line(&format!("Running with {threads} threadCount"))?;
            if self.settings.command.truncate == Truncate::Always {
                schema::truncate(self.settings, &mut self.cluster, &mut self.printer)?;
            }
            let Some(outcome) = self.once(threads, length, Operations::All, true)? else {
                return Ok(false);
            };
            let id = format!("{threads} threadCount");
            let before = runs.last().map(|(id, _)| id.clone());
            runs.push((id, outcome));
            let rates: Vec<f64> = runs.iter().map(|(_, run)| run.total.op_rate()).collect();
            if let Some(before) = before {
                let percent = fixed(100.0 * improvement(&rates, 1), 0);
                self.printer
                    .line(&format!("Improvement over {before}: {percent}%"))?;
            }
            threads = more(threads);
            if threads > most || (auto && !pays(&rates, target)) {
                break;
            }
            if self.settings.command.kind.writes() && !self.pause()? {
                return Ok(false);
            }
        }
        self.printer.lines(&table(&runs))?;
        Ok(true)
    }

    /// Pauses; false if it was stopped meanwhile.
    fn pause(&mut self) -> Result<bool, Fatal> {
        self.printer
            .line(&format!("Sleeping for {}s", PAUSE.as_secs()))?;
        let end = Instant::now() + PAUSE;
        while Instant::now() < end && !self.stop.is_asked() {
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(!self.stop.is_asked())
    }
}

/// The next thread count: twice as many up to 16, then half as many again.
fn more(threads: usize) -> usize {
    if threads < 16 {
        threads * 2
    } else {
        threads * 3 / 2
    }
}

/// Mean relative improvement over the last `count` runs.
fn improvement(rates: &[f64], count: usize) -> f64 {
    let steps = rates
        .windows(2)
        .rev()
        .take(count)
        .map(|pair| (pair[1] - pair[0]) / pair[0]);
    steps.sum::<f64>() / count as f64
}

/// Whether the throughput still grows: over the last 3 runs at all, over the last 5 by the target.
fn pays(rates: &[f64], target: f64) -> bool {
    let grows =
        |count: usize, least: f64| rates.len() < count + 1 || improvement(rates, count) >= least;
    grows(3, 0.0) && grows(5, target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_counts_grow_as_in_the_tool() {
        let counts: Vec<usize> = std::iter::successors(Some(4), |&n| Some(more(n)))
            .take(10)
            .collect();
        assert_eq!(counts, [4, 8, 16, 24, 36, 54, 81, 121, 181, 271]);
    }

    #[test]
    fn a_falling_throughput_ends_the_search() {
        assert!(pays(&[100.0, 90.0, 80.0], 0.02), "too few runs to tell");
        assert!(!pays(&[100.0, 90.0, 80.0, 70.0], 0.02));
        assert!(pays(&[100.0, 200.0, 300.0, 310.0], 0.02));
    }

    #[test]
    fn a_growth_below_the_target_ends_it_too() {
        let rates = [100.0, 101.0, 102.0, 103.0, 104.0, 105.0];
        assert!(!pays(&rates, 0.02));
        assert!(pays(&rates, -1.0));
    }
}
