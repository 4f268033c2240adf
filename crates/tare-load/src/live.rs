//! The live view of a run: a few lines on the terminal, drawn again at every interval.

mod screen;

use std::io::{self, IsTerminal, Write};

use tare_engine::errors::Fatal;
use tare_engine::observe::{Control, Observer, Ready};
use tare_engine::record::{Interval, OperationRecord};
use tare_engine::timeline::Part;
use tare_engine::totals::{per, RunState, Totals};

use screen::Screen;

/// Intervals that the sparkline shows at most, and columns that stand behind it.
const WIDTH: usize = 60;
const BEHIND: usize = 25;
/// Columns of a row that shows everything.
const WIDE: usize = 79;
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws on standard error; quiet where that is no terminal.
pub struct Live<W: Write> {
    out: W,
    operations: Vec<String>,
    /// Throughput of the last intervals.
    rates: Vec<f64>,
    /// How large the terminal is now.
    screen: fn() -> Screen,
    /// Lengths of the lines drawn last time.
    drawn: Vec<usize>,
}

impl Live<io::Stderr> {
    /// None where standard error is no terminal: what is drawn there would only be noise.
    pub fn on_terminal() -> Option<Live<io::Stderr>> {
        let out = io::stderr();
        out.is_terminal().then(|| Live::new(out, screen::of_stderr))
    }
}

impl<W: Write> Live<W> {
    fn new(out: W, screen: fn() -> Screen) -> Live<W> {
        Live {
            out,
            operations: Vec::new(),
            rates: Vec::new(),
            screen,
            drawn: Vec::new(),
        }
    }

    /// Goes back over what was drawn, and draws anew: `CSI n A` goes up, `CSI J` erases below
    /// (ECMA-48, 8.3.22 and 8.3.39).
    fn draw(&mut self, lines: &[String], screen: Screen) {
        let mut text = String::new();
        let up: usize = self
            .drawn
            .iter()
            .map(|&length| screen.rows_of(length))
            .sum();
        if up > 0 {
            text.push_str(&format!("\x1b[{}A", up.min(screen.rows)));
        }
        text.push_str("\r\x1b[J");
        for line in lines {
            text.push_str(line);
            text.push('\n');
        }
        self.drawn = lines.iter().map(|line| line.chars().count()).collect();
        // A terminal that has gone is no reason to end a run.
        let _ = self
            .out
            .write_all(text.as_bytes())
            .and_then(|()| self.out.flush());
    }

    fn lines(&self, interval: &Interval, run: &RunState, screen: Screen) -> Vec<String> {
        let wide = screen.columns >= WIDE;
        let bars = screen.columns.saturating_sub(BEHIND).min(self.rates.len());
        let above = vec![
            heading(interval, run),
            format!(
                "{} {:>10.0} operations/s",
                sparkline(&self.rates[self.rates.len() - bars..]),
                last(&self.rates)
            ),
            head(wide),
        ];
        let operations = self.operations.iter().zip(&interval.counts.operations);
        let rows = operations.map(|(name, record)| row(name, record, interval.seconds(), wide));
        let below = client(interval, &run.totals)
            .iter()
            .flat_map(|line| screen.wrapped(line))
            .collect();
        screen.fitted(above, rows.collect(), below)
    }
}

impl<W: Write> Observer for Live<W> {
    fn ready(&mut self, ready: &Ready) -> Result<(), Fatal> {
        self.operations = ready.operations.clone();
        Ok(())
    }

    fn interval(&mut self, interval: &Interval, run: &RunState) -> Result<Control, Fatal> {
        self.rates.push(interval.throughput());
        let old = self.rates.len().saturating_sub(WIDTH);
        self.rates.drain(..old);
        let screen = (self.screen)();
        let lines = self.lines(interval, run, screen);
        self.draw(&lines, screen);
        Ok(Control::GoOn)
    }
}

fn heading(interval: &Interval, run: &RunState) -> String {
    let timeline = &run.timeline;
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

/// What stands over the rows.
fn head(wide: bool) -> String {
    match wide {
        true => format!(
            "{:<20} {:>10} {:>8} {:>8} {:>9} {:>9} {:>9}",
            "", "ok/s", "failed", "again", "p50 ms", "p99 ms", "max ms"
        ),
        false => format!(
            "{:<10} {:>8} {:>6} {:>7} {:>7}",
            "", "ok/s", "failed", "p50 ms", "p99 ms"
        ),
    }
}

fn row(name: &str, record: &OperationRecord, seconds: f64, wide: bool) -> String {
    let response = record.response();
    let ms = |ns: u64| ns as f64 / 1e6;
    let (rate, failed) = (per(record.ok as f64, seconds), record.failures());
    let (p50, p99) = (
        ms(response.value_at_quantile(0.5)),
        ms(response.value_at_quantile(0.99)),
    );
    let shown = |most| name.chars().take(most).collect::<String>();
    match wide {
        true => format!(
            "{:<20} {rate:>10.0} {failed:>8} {:>8} {p50:>9.2} {p99:>9.2} {:>9.2}",
            shown(20),
            record.retries.iter().sum::<u64>(),
            ms(response.max()),
        ),
        false => format!(
            "{:<10} {rate:>8.0} {failed:>6} {p50:>7.2} {p99:>7.2}",
            shown(10)
        ),
    }
}

/// The client's own state in this interval; the verdict is on the measured part so far.
fn client(interval: &Interval, totals: &Totals) -> Vec<String> {
    let wall = interval.seconds() * 1e9;
    let threads = interval.cpu.iter().map(|(_, cpu)| cpu.thread);
    let busiest = threads.max().unwrap_or(0);
    let mut line = format!(
        "client: busiest worker {:.0}% CPU",
        100.0 * per(busiest as f64, wall)
    );
    if let Some(lateness) = &interval.counts.lateness {
        let late = lateness.value_at_quantile(0.99) as f64 / 1000.0;
        line.push_str(&format!(", p99 of send lateness {late:.0} us"));
    }
    let mut lines = vec![line];
    if totals.seconds > 0.0 {
        let reasons = totals.saturation();
        lines.extend(reasons.first().map(|reason| format!("SATURATED: {reason}")));
    }
    lines
}

#[cfg(test)]
mod tests;
