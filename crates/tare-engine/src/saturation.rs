//! The verdict on the client itself: did it, not the server, limit the result?

use serde::Serialize;

/// Shares and thresholds beyond which the client's own state shows in its latencies.
const CPU_SHARE: f64 = 0.9;
const RUN_DELAY_SHARE: f64 = 0.1;
const THROTTLED_SHARE: f64 = 0.01;
const LATENESS_US: f64 = 1000.0;
const RATE_ERROR: f64 = -0.01;

/// What is known of the client over the measured part; shares are of wall-clock time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Facts {
    /// CPU time of the busiest worker thread.
    pub cpu_share: f64,
    /// Time that the most delayed worker thread was ready to run but had no CPU.
    pub run_delay_share: f64,
    /// Time that the client's control group was throttled.
    pub throttled_share: f64,
    /// Share of the machine's CPU time that its hypervisor took away. No reason by itself: the
    /// servers lose it, too.
    pub steal_share: f64,
    /// Scheduled sends that fell due while every slot was busy, out of all that fell due.
    pub held_share: f64,
    /// Scheduled sends that were never made because no slot became free, out of all that fell due.
    pub unserved_share: f64,
    /// Open loop: 99th percentile of actual minus intended send, microseconds.
    pub send_lateness_p99_us: Option<f64>,
    /// Open loop: sends made over sends due, minus 1.
    pub rate_error: Option<f64>,
}

/// Every reason to believe that the client was the limit, in words; empty if there is none.
pub fn reasons(facts: &Facts) -> Vec<String> {
    let mut reasons = starved(facts);
    reasons.extend(late(facts));
    reasons
}

fn percent(share: f64) -> f64 {
    share * 100.0
}

/// The client had too little CPU.
fn starved(facts: &Facts) -> Vec<String> {
    let mut reasons = Vec::new();
    // A throttled thread is ready to run, so its run-queue delay includes the throttling.
    let lost = facts.run_delay_share.max(facts.throttled_share) + facts.steal_share;
    let obtainable = (1.0 - lost).max(0.01);
    if facts.cpu_share > CPU_SHARE * obtainable {
        reasons.push(format!(
            "the busiest worker thread used {:.0}% of the CPU time that it could get",
            percent((facts.cpu_share / obtainable).min(1.0))
        ));
    }
    if facts.run_delay_share > RUN_DELAY_SHARE {
        reasons.push(format!(
            "a worker thread was ready to run but had no CPU for {:.0}% of the time",
            percent(facts.run_delay_share)
        ));
    }
    if facts.throttled_share > THROTTLED_SHARE {
        reasons.push(format!(
            "the client's control group was throttled for {:.1}% of the time",
            percent(facts.throttled_share)
        ));
    }
    reasons
}

/// The client did not send when it should have, although it had a free slot.
fn late(facts: &Facts) -> Vec<String> {
    let mut reasons = Vec::new();
    if let Some(late) = facts
        .send_lateness_p99_us
        .filter(|&late| late > LATENESS_US)
    {
        reasons.push(format!(
            "99th percentile of send lateness is {:.1} ms",
            late / 1000.0
        ));
    }
    // Sends without a free slot were not the client's to make.
    let error = facts.rate_error.map(|error| error + facts.unserved_share);
    if let Some(error) = error.filter(|&error| error < RATE_ERROR) {
        reasons.push(format!(
            "sent {:.1}% fewer operations than asked",
            percent(-error)
        ));
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Facts = Facts {
        cpu_share: 0.3,
        run_delay_share: 0.02,
        throttled_share: 0.0,
        steal_share: 0.0,
        held_share: 0.0,
        unserved_share: 0.0,
        send_lateness_p99_us: Some(90.0),
        rate_error: Some(-0.001),
    };

    #[test]
    fn a_client_with_time_to_spare_is_not_saturated() {
        assert_eq!(reasons(&IDLE), Vec::<String>::new());
    }

    #[test]
    fn each_limit_is_a_reason_of_its_own() {
        let cases = [
            (
                Facts {
                    cpu_share: 0.95,
                    ..IDLE
                },
                "busiest worker",
            ),
            (
                Facts {
                    run_delay_share: 0.2,
                    ..IDLE
                },
                "ready to run",
            ),
            (
                Facts {
                    throttled_share: 0.05,
                    ..IDLE
                },
                "throttled",
            ),
            (
                Facts {
                    send_lateness_p99_us: Some(1500.0),
                    ..IDLE
                },
                "lateness is 1.5 ms",
            ),
            (
                Facts {
                    rate_error: Some(-0.03),
                    ..IDLE
                },
                "3.0% fewer",
            ),
        ];
        for (facts, words) in cases {
            let found = reasons(&facts);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].contains(words), "{found:?}");
        }
    }

    #[test]
    fn a_starved_client_is_judged_by_what_it_could_get() {
        let starved = Facts {
            cpu_share: 0.48,
            run_delay_share: 0.5,
            ..IDLE
        };
        let found = reasons(&starved);
        assert!(
            found[0].contains("96% of the CPU time that it could get"),
            "{found:?}"
        );
    }

    #[test]
    fn sends_that_wait_for_a_slot_are_the_clusters_doing() {
        let overloaded = Facts {
            held_share: 0.4,
            unserved_share: 0.3,
            rate_error: Some(-0.3),
            ..IDLE
        };
        assert_eq!(reasons(&overloaded), Vec::<String>::new());
        let short = Facts {
            rate_error: Some(-0.35),
            ..overloaded
        };
        assert!(reasons(&short)[0].contains("sent 5.0% fewer"));
        let both = Facts {
            cpu_share: 0.95,
            ..overloaded
        };
        assert_eq!(reasons(&both).len(), 1);
    }
}
