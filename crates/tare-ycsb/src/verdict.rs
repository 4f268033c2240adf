//! Whether a run may count: what failed, and whether the client was the limit.
//!
//! It is told on stderr, so that stdout holds what YCSB prints and nothing else.

use tare_engine::errors::ErrorKind;
use tare_engine::totals::Totals;

use crate::operations::{Measured, Operations};
use crate::settings::{Phase, Settings};

/// A larger share of failures makes a result not valid.
const MOST_FAILURES: f64 = 0.01;

/// How a run ends.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Why the run has failed as a whole.
    failed: Vec<String>,
    /// Why its result is not valid.
    invalid: Vec<String>,
    /// The rate over `-target`, minus 1. A thread that waits for an answer sends late, whoever is
    /// to blame, so this reflects the server, too.
    rate_error: Option<f64>,
}

impl Verdict {
    /// `done` is the number of operations that count as done.
    pub fn of(settings: &Settings, operations: &Operations, totals: &Totals, done: u64) -> Verdict {
        let mut verdict = Verdict {
            failed: Vec::new(),
            invalid: Vec::new(),
            rate_error: settings
                .target
                .filter(|_| totals.seconds > 0.0)
                .map(|target| done as f64 / totals.seconds / target as f64 - 1.0),
        };
        for (position, &operation) in operations.measured().iter().enumerate() {
            let record = &totals.counts.operations[position];
            let name = operation.name();
            let (ok, failures) = (record.ok, record.failures());
            let share = failures as f64 / (ok + failures).max(1) as f64;
            if failures == 0 {
                continue;
            } else if ok == 0 {
                verdict
                    .failed
                    .push(format!("every {name} failed ({failures})"));
            } else if operation == Measured::Verify {
                verdict.failed.push(format!(
                    "{failures} rows are not what dataintegrity=true writes"
                ));
            } else if share > MOST_FAILURES {
                let percent = share * 100.0;
                verdict
                    .invalid
                    .push(format!("{failures} {name} failed ({percent:.1}%)"));
            }
        }
        let wanted = settings.operations().unwrap_or(0);
        if settings.phase == Phase::Load && settings.longest.is_none() && done < wanted {
            verdict
                .failed
                .push(format!("{done} of {wanted} records are loaded"));
        }
        if done == 0 {
            verdict.failed.push("nothing was done".to_owned());
        }
        verdict
    }

    /// What was measured on a stand-in is no result of the database.
    pub fn on_stand_in(&mut self, name: Option<&str>) {
        if let Some(name) = name {
            self.invalid.push(format!("{name} was measured"));
        }
    }

    /// 0 done, 1 failed, 3 done but not valid. (YCSB itself ends with 0 whatever happened.)
    pub fn status(&self) -> u8 {
        match (self.failed.is_empty(), self.invalid.is_empty()) {
            (false, _) => 1,
            (true, false) => 3,
            (true, true) => 0,
        }
    }

    /// Tells what is known of the client, and why the run does not count if it does not.
    pub fn print(&self, totals: &Totals) {
        for line in lines(totals, self.rate_error) {
            eprintln!("[CLIENT], {line}");
        }
        for why in &self.failed {
            eprintln!("[ERROR] failed: {why}");
        }
        for why in &self.invalid {
            eprintln!("[ERROR] not valid: {why}");
        }
    }
}

fn lines(totals: &Totals, rate_error: Option<f64>) -> Vec<String> {
    let facts = totals.facts();
    let reasons = totals.saturation();
    let mut lines = vec![
        format!(
            "Saturated, {}",
            if reasons.is_empty() { "no" } else { "yes" }
        ),
        format!("CpuPerOperation(us), {:.2}", totals.cpu_us_per_op()),
        format!("BusiestThreadCpu(%), {:.1}", facts.cpu_share * 100.0),
        format!("RunQueueDelay(%), {:.1}", facts.run_delay_share * 100.0),
        format!("Throttled(%), {:.1}", facts.throttled_share * 100.0),
    ];
    if let Some(late) = facts.send_lateness_p99_us {
        lines.push(format!("99thPercentileSendLateness(us), {late:.0}"));
    }
    if let Some(error) = rate_error {
        lines.push(format!("RateError(%), {:.3}", error * 100.0));
    }
    let failed = totals.counts.by_kind(|record| &record.errors);
    let retried = totals.counts.by_kind(|record| &record.retries);
    for (kind, (errors, retries)) in ErrorKind::ALL.iter().zip(failed.into_iter().zip(retried)) {
        if errors > 0 {
            lines.push(format!("Failed {}, {errors}", kind.name()));
        }
        if retries > 0 {
            lines.push(format!("Retried {}, {retries}", kind.name()));
        }
    }
    lines.extend(
        reasons
            .into_iter()
            .map(|reason| format!("Reason, {reason}")),
    );
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::tests::settings;

    /// The status and reasons for (ok, failed) of every operation.
    fn verdict(properties: &str, counts: &[(u64, u64)]) -> (u8, String) {
        let settings = settings(properties);
        let operations = Operations::new(&settings);
        let mut totals = Totals::new(operations.names().len(), false);
        for (record, (ok, failed)) in totals.counts.operations.iter_mut().zip(counts) {
            record.ok = *ok;
            record.errors[ErrorKind::Timeout as usize] = *failed;
        }
        let done = counts.iter().map(|(ok, _)| ok).sum();
        let verdict = Verdict::of(&settings, &operations, &totals, done);
        let reasons = [verdict.failed.clone(), verdict.invalid.clone()].concat();
        (verdict.status(), reasons.join("; "))
    }

    #[test]
    fn a_run_without_failures_is_good() {
        assert_eq!(verdict("", &[(90, 0), (10, 0)]), (0, String::new()));
        assert_eq!(verdict("", &[(90, 0), (1000, 10)]), (0, String::new()));
    }

    #[test]
    fn the_rate_is_compared_with_the_target() {
        let settings = settings("target=100");
        let operations = Operations::new(&settings);
        let mut totals = Totals::new(operations.names().len(), true);
        totals.seconds = 10.0;
        let verdict = Verdict::of(&settings, &operations, &totals, 900);
        let error = verdict.rate_error.unwrap();
        assert!((error + 0.1).abs() < 1e-9, "{error}");
        assert!(lines(&totals, verdict.rate_error).contains(&"RateError(%), -10.000".to_owned()));
    }

    #[test]
    fn many_failures_make_a_result_not_valid() {
        let told = "20 UPDATE failed (2.0%)".to_owned();
        assert_eq!(verdict("", &[(90, 0), (980, 20)]), (3, told));
    }

    #[test]
    fn an_operation_that_never_succeeded_has_failed() {
        let told = "every READ failed (90)".to_owned();
        assert_eq!(verdict("", &[(0, 90), (10, 0)]), (1, told));
        assert_eq!(verdict("", &[]), (1, "nothing was done".to_owned()));
    }

    #[test]
    fn a_load_must_be_complete_and_rows_must_be_right() {
        let load = "dotransactions=false recordcount=10";
        let told = "9 of 10 records are loaded".to_owned();
        assert_eq!(verdict(load, &[(9, 0)]), (1, told));
        let told = "1 rows are not what dataintegrity=true writes".to_owned();
        assert_eq!(
            verdict("dataintegrity=true", &[(9, 0), (1, 0), (999, 1)]),
            (1, told)
        );
    }
}
