//! The live view of a run: a few lines on the terminal, drawn again at every interval.

use std::io::{self, IsTerminal, Write};

use tare_engine::errors::Fatal;
use tare_engine::observe::{Control, Observer, Ready};
use tare_engine::record::{Interval, OperationRecord};
use tare_engine::timeline::Part;
use tare_engine::totals::{per, Outlook, Totals};

/// Intervals that the sparkline shows.
const WIDTH: usize = 60;
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws on standard error; quiet where that is no terminal.
pub struct Live<W: Write> {
    out: W,
    operations: Vec<String>,
    /// Throughput of the last intervals.
    rates: Vec<f64>,
    /// Lines drawn last time.
    drawn: usize,
}

impl Live<io::Stderr> {
    /// None where standard error is no terminal: what is drawn there would only be noise.
    pub fn on_terminal() -> Option<Live<io::Stderr>> {
        let out = io::stderr();
        out.is_terminal().then(|| Live::new(out))
    }
}

impl<W: Write> Live<W> {
    pub fn new(out: W) -> Live<W> {
        Live {
            out,
            operations: Vec::new(),
            rates: Vec::new(),
            drawn: 0,
        }
    }

    /// Goes back over what was drawn, and draws anew: `CSI n A` goes up, `CSI J` erases below
    /// (ECMA-48, 8.3.22 and 8.3.39).
    fn draw(&mut self, lines: &[String]) {
        let mut text = String::new();
        if self.drawn > 0 {
            text.push_str(&format!("\x1b[{}A", self.drawn));
        }
        text.push_str("\r\x1b[J");
        for line in lines {
            text.push_str(line);
            text.push('\n');
        }
        self.drawn = lines.len();
        // A terminal that has gone is no reason to end a run.
        let _ = self
            .out
            .write_all(text.as_bytes())
            .and_then(|()| self.out.flush());
    }

    fn lines(&self, interval: &Interval, outlook: &Outlook, totals: &Totals) -> Vec<String> {
        let mut lines = vec![
            heading(interval, outlook),
            format!(
                "{} {:>10.0} operations/s",
                sparkline(&self.rates),
                last(&self.rates)
            ),
            format!(
                "{:<20} {:>10} {:>8} {:>8} {:>9} {:>9} {:>9}",
                "", "ok/s", "failed", "again", "p50 ms", "p99 ms", "max ms"
            ),
        ];
        for (name, record) in self.operations.iter().zip(&interval.operations) {
            lines.push(row(name, record, interval.seconds()));
        }
        lines.push(client(interval, totals));
        lines
    }
}

impl<W: Write> Observer for Live<W> {
    fn ready(&mut self, ready: &Ready) -> Result<(), Fatal> {
        self.operations = ready.operations.clone();
        Ok(())
    }

    fn interval(
        &mut self,
        interval: &Interval,
        outlook: &Outlook,
        totals: &Totals,
    ) -> Result<Control, Fatal> {
        self.rates
            .push(per(interval.answered as f64, interval.seconds()));
        let old = self.rates.len().saturating_sub(WIDTH);
        self.rates.drain(..old);
        let lines = self.lines(interval, outlook, totals);
        self.draw(&lines);
        Ok(Control::GoOn)
    }

    fn finished(&mut self, _totals: &Totals, _outlook: &Outlook) -> Result<(), Fatal> {
        Ok(())
    }
}

fn heading(interval: &Interval, outlook: &Outlook) -> String {
    let timeline = &outlook.timeline;
    let (word, begin, end) = match interval.slot.part {
        Part::Warmup => ("warming up", 0, timeline.measure),
        Part::Measure => ("measuring", timeline.measure, timeline.end),
    };
    let seconds = |ns: u64| ns as f64 / 1e9;
    let at = seconds(interval.end.saturating_sub(begin));
    match end {
        // The sources, not the clock, end the run.
        u64::MAX => format!("{word}, {at:.0} s"),
        end => format!(
            "{word}, {at:.0} of {:.0} s",
            seconds(end.saturating_sub(begin))
        ),
    }
}

fn last(rates: &[f64]) -> f64 {
    rates.last().copied().unwrap_or(0.0)
}

/// One bar per interval, from 0 to the highest.
fn sparkline(rates: &[f64]) -> String {
    let highest = rates.iter().copied().fold(0.0, f64::max);
    let bar = |&rate: &f64| {
        let part = per(rate, highest) * (BARS.len() - 1) as f64;
        BARS[(part.round() as usize).min(BARS.len() - 1)]
    };
    rates.iter().map(bar).collect()
}

fn row(name: &str, record: &OperationRecord, seconds: f64) -> String {
    let response = record.response();
    let ms = |ns: u64| ns as f64 / 1e6;
    let again: u64 = record.retries.iter().sum();
    let shown: String = name.chars().take(20).collect();
    format!(
        "{shown:<20} {:>10.0} {:>8} {again:>8} {:>9.2} {:>9.2} {:>9.2}",
        per(record.ok as f64, seconds),
        record.failures(),
        ms(response.value_at_quantile(0.5)),
        ms(response.value_at_quantile(0.99)),
        ms(response.max()),
    )
}

/// The client's own state in this interval; the verdict is on the measured part so far.
fn client(interval: &Interval, totals: &Totals) -> String {
    let wall = interval.seconds() * 1e9;
    let busiest = interval
        .cpu
        .iter()
        .map(|(_, cpu)| cpu.thread)
        .max()
        .unwrap_or(0);
    let mut line = format!(
        "client: busiest worker {:.0}% CPU",
        100.0 * per(busiest as f64, wall)
    );
    if let Some(lateness) = &interval.lateness {
        let late = lateness.value_at_quantile(0.99) as f64 / 1000.0;
        line.push_str(&format!(", p99 of send lateness {late:.0} us"));
    }
    let reasons = totals.saturation();
    if totals.seconds > 0.0 && !reasons.is_empty() {
        line.push_str(&format!("; SATURATED: {}", reasons[0]));
    }
    line
}

#[cfg(test)]
mod tests {
    use tare_engine::timeline::Slot;

    use super::*;

    #[test]
    fn the_sparkline_goes_from_nothing_to_the_highest() {
        assert_eq!(sparkline(&[0.0, 50.0, 100.0]), "▁▅█");
        assert_eq!(sparkline(&[]), "");
        assert_eq!(sparkline(&[0.0]), "▁");
    }

    #[test]
    fn a_row_shows_rate_failures_and_milliseconds() {
        let mut record = OperationRecord::new(false);
        record.ok = 500;
        record.errors[0] = 3;
        record.service.record(2_500_000).unwrap();
        let row = row("READ", &record, 0.5);
        let words: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(words, ["READ", "1000", "3", "0", "2.50", "2.50", "2.50"]);
    }

    #[test]
    fn a_second_drawing_goes_back_over_the_first() {
        let mut live = Live::new(Vec::new());
        live.draw(&["one".into(), "two".into()]);
        live.draw(&["three".into()]);
        let text = String::from_utf8(live.out).unwrap();
        assert_eq!(text, "\r\x1b[Jone\ntwo\n\x1b[2A\r\x1b[Jthree\n");
    }

    #[test]
    fn a_client_that_is_busy_is_shown_so() {
        let slot = Slot {
            index: 0,
            part: Part::Measure,
            begin: 0,
            end: 1_000_000_000,
        };
        let mut interval = Interval::new(slot, 0, false);
        let cpu = tare_engine::clock::CpuUse {
            thread: 970_000_000,
            ..Default::default()
        };
        interval.cpu.push((0, cpu));
        let mut totals = Totals::new(0, false);
        totals.add(&interval);
        let line = client(&interval, &totals);
        assert!(
            line.starts_with("client: busiest worker 97% CPU; SATURATED: the busiest"),
            "{line}"
        );
    }
}
