//! The block of results at the end of a run, and the table of all runs of a thread count search.

use super::numbers::{fixed, grouped, grouped_whole};
use super::rows::{header, row};
use super::timing::Timing;

/// What a run came to: every operation by name, in the order of names, and all together.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub operations: Vec<(String, Timing)>,
    pub total: Timing,
    /// Relative standard error of the mean row rate.
    pub uncertainty: f64,
}

impl Outcome {
    /// The lines of the block, with the blank lines around it.
    pub fn block(&self) -> Vec<String> {
        let total = &self.total;
        let mut lines = vec![String::new(), String::new(), "Results:".to_owned()];
        let mut rate = |title: &str, unit: &str, of: fn(&Timing) -> f64| {
            let parts = self.parts(|timing| format!("{} {unit}", grouped(of(timing), 0)));
            let value = grouped(of(total), 0);
            lines.push(format!("{title:<26}: {value:>8} {unit:<5} {parts}"));
        };
        rate("Op rate", "op/s", Timing::op_rate);
        rate("Partition rate", "pk/s", Timing::partition_rate);
        rate("Row rate", "row/s", Timing::row_rate);
        let mut latency = |title: &str, of: &dyn Fn(&Timing) -> f64| {
            let parts = self.parts(|timing| format!("{} ms", grouped(of(timing), 1)));
            lines.push(format!(
                "{title:<26}: {:>6} ms {parts}",
                fixed(of(total), 1)
            ));
        };
        latency("Latency mean", &Timing::mean_ms);
        latency("Latency median", &|timing| timing.quantile_ms(0.5));
        latency("Latency 95th percentile", &|timing| {
            timing.quantile_ms(0.95)
        });
        latency("Latency 99th percentile", &|timing| {
            timing.quantile_ms(0.99)
        });
        latency("Latency 99.9th percentile", &|timing| {
            timing.quantile_ms(0.999)
        });
        latency("Latency max", &Timing::max_ms);
        let mut count = |title: &str, of: fn(&Timing) -> u64| {
            let parts = self.parts(|timing| grouped_whole(of(timing)));
            lines.push(format!(
                "{title:<26}: {:>10} {parts}",
                grouped_whole(of(total))
            ));
        };
        count("Total partitions", |timing| timing.partitions);
        count("Total errors", |timing| timing.errors);
        lines.extend(
            [
                "Total GC count            : 0",
                "Total GC memory           : 0.000 KiB",
                "Total GC time             :    0.0 seconds",
                "Avg GC time               :    NaN ms",
                "StdDev GC time            :    0.0 ms",
            ]
            .map(str::to_owned),
        );
        let seconds = total.run_ms() / 1000;
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
        lines.push(format!(
            "Total operation time      : {hours:02}:{minutes:02}:{:02}",
            seconds % 60
        ));
        lines.push(String::new());
        lines
    }

    /// `[READ: 1.2 ms, WRITE: 0.9 ms]`.
    fn parts(&self, of: impl Fn(&Timing) -> String) -> String {
        let parts: Vec<String> = self
            .operations
            .iter()
            .map(|(name, timing)| format!("{name}: {}", of(timing)))
            .collect();
        format!("[{}]", parts.join(", "))
    }
}

/// The table of all runs, each named by its thread count.
pub fn table(runs: &[(String, Outcome)]) -> Vec<String> {
    let width = runs.iter().map(|(id, _)| id.len()).max().unwrap_or(0);
    let mut lines = vec![format!("{:>width$}, {}", "id", header())];
    for (id, outcome) in runs {
        let named = outcome
            .operations
            .iter()
            .map(|(name, timing)| (name.as_str(), timing));
        for (name, timing) in named.chain([("total", &outcome.total)]) {
            let cells = row(name, timing, timing, outcome.uncertainty);
            lines.push(format!("{id:>width$}, {cells}"));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(latency_ms: u64, count: u64) -> Timing {
        let mut timing = Timing::new(false);
        (timing.begin, timing.end) = (0, 15_080_000_000);
        (timing.partitions, timing.rows) = (count, count);
        timing
            .service
            .record_n(latency_ms * 1_000_000, count)
            .unwrap();
        timing
    }

    fn outcome() -> Outcome {
        let (read, write) = (timing(60, 6_555), timing(1_500, 2_133));
        let mut total = read.clone();
        total.add(&write);
        Outcome {
            operations: vec![("READ".to_owned(), read), ("WRITE".to_owned(), write)],
            total,
            uncertainty: 0.01,
        }
    }

    #[test]
    fn the_block_is_the_tools() {
        let block = outcome().block();
        assert_eq!(block[2], "Results:");
        assert_eq!(
            block[3],
            "Op rate                   :      576 op/s  [READ: 435 op/s, WRITE: 141 op/s]"
        );
        assert_eq!(
            block[5],
            "Row rate                  :      576 row/s [READ: 435 row/s, WRITE: 141 row/s]"
        );
        assert_eq!(
            block[11],
            "Latency max               : 1500.5 ms [READ: 60.0 ms, WRITE: 1,500.5 ms]"
        );
        assert_eq!(
            block[12],
            "Total partitions          :      8,688 [READ: 6,555, WRITE: 2,133]"
        );
        assert_eq!(
            block[13],
            "Total errors              :          0 [READ: 0, WRITE: 0]"
        );
        assert_eq!(block[19], "Total operation time      : 00:00:15");
    }

    #[test]
    fn the_table_names_every_run() {
        let table = table(&[("4 threadCount".to_owned(), outcome())]);
        assert!(table[0].starts_with("           id, type       total ops,"));
        assert!(table[1].starts_with("4 threadCount, READ,           6555,     435,"));
        assert_eq!(table.len(), 4);
    }
}
