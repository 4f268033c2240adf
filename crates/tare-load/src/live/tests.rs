//! Tests of what is drawn, and of where.

use tare_engine::timeline::{Slot, Timeline};

use super::*;
use crate::run::{order, Limits};
use crate::spec::tests::spec;

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
    let words = |wide| {
        let row = row("READ", &record, 0.5, wide);
        assert_eq!(row.len(), head(wide).len());
        row.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        words(true),
        ["READ", "1000", "3", "0", "2.50", "2.50", "2.50"]
    );
    assert_eq!(words(false), ["READ", "1000", "3", "2.50", "2.50"]);
}

const SMALL: Screen = Screen {
    columns: 40,
    rows: 10,
};

#[test]
fn a_second_drawing_goes_back_over_the_first() {
    let mut live = Live::new(Vec::new(), || SMALL);
    live.draw(&["one".into(), "two".into()], SMALL);
    live.draw(&["three".into()], SMALL);
    let text = String::from_utf8(live.out).unwrap();
    assert_eq!(text, "\r\x1b[Jone\ntwo\n\x1b[2A\r\x1b[Jthree\n");
}

#[test]
fn lines_that_a_narrower_window_broke_are_gone_over_too() {
    let mut live = Live::new(Vec::new(), || SMALL);
    live.draw(&["x".repeat(79), "y".into()], SMALL);
    live.draw(&["three".into()], SMALL);
    let text = String::from_utf8(live.out).unwrap();
    assert!(text.ends_with("\x1b[3A\r\x1b[Jthree\n"), "{text:?}");
}

fn slot() -> Slot {
    Slot {
        index: 0,
        part: Part::Measure,
        begin: 0,
        closes: 1_000_000_000,
        end: 1_000_000_000,
    }
}

#[test]
fn nothing_is_longer_or_higher_than_the_screen() {
    let names = ["READ", "UPDATE", "READ-MODIFY-WRITE", "SCAN", "INSERT"];
    let interval = Interval::new(slot(), names.len(), true);
    let run = RunState {
        clock: tare_engine::clock::Clock::starting(None, None),
        timeline: Timeline::new(&order(&spec(&[]), &Limits::default(), ())),
        stopped: false,
        totals: Totals::new(5, true),
    };
    let mut live = Live::new(Vec::new(), || SMALL);
    live.operations = names.map(str::to_owned).to_vec();
    live.rates = vec![123_456.0; WIDTH];
    for (columns, rows) in [(200, 50), (79, 24), (78, 24), (40, 10), (20, 6), (3, 2)] {
        let screen = Screen { columns, rows };
        let lines = live.lines(&interval, &run, screen);
        assert!(lines.len() < rows, "{columns} x {rows}: {lines:#?}");
        let longest = lines.iter().map(|line| line.chars().count()).max();
        assert!(
            longest.unwrap() <= columns,
            "{columns} x {rows}: {lines:#?}"
        );
    }
}

#[test]
fn a_client_that_is_busy_is_shown_so() {
    let mut interval = Interval::new(slot(), 0, false);
    let cpu = tare_engine::clock::CpuUse {
        thread: 970_000_000,
        ..Default::default()
    };
    interval.cpu.push((0, cpu));
    let mut totals = Totals::new(0, false);
    totals.add(&interval);
    let lines = client(&interval, &totals);
    assert_eq!(lines[0], "client: busiest worker 97% CPU");
    assert!(lines[1].starts_with("SATURATED: the busiest"), "{lines:?}");
}
