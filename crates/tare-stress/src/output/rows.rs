//! The header and the rows at every interval.

use super::numbers::fixed;
use super::timing::Timing;

const COLUMNS: [(&str, usize); 18] = [
    ("total ops", 10),
    ("op/s", 8),
    ("pk/s", 8),
    ("row/s", 8),
    ("mean", 8),
    ("med", 8),
    (".95", 8),
    (".99", 8),
    (".999", 8),
    ("max", 8),
    ("time", 7),
    ("stderr", 9),
    ("errors", 7),
    ("gc: #", 7),
    ("max ms", 8),
    ("sum ms", 8),
    ("sdv ms", 8),
    ("mb", 8),
];
const TYPE_WIDTH: usize = 10;

pub fn header() -> String {
    line("type", COLUMNS.map(|(name, _)| name.to_owned()))
}

/// One row: latencies and rates of `interval`, operations and time of `total`. What the tool takes
/// from JMX is 0 here.
pub fn row(kind: &str, interval: &Timing, total: &Timing, uncertainty: f64) -> String {
    let cells = [
        total.operations().to_string(),
        fixed(interval.op_rate(), 0),
        fixed(interval.partition_rate(), 0),
        fixed(interval.row_rate(), 0),
        fixed(interval.mean_ms(), 1),
        fixed(interval.quantile_ms(0.5), 1),
        fixed(interval.quantile_ms(0.95), 1),
        fixed(interval.quantile_ms(0.99), 1),
        fixed(interval.quantile_ms(0.999), 1),
        fixed(interval.max_ms(), 1),
        fixed(total.run_ms() as f64 / 1000.0, 1),
        fixed(uncertainty, 5),
        interval.errors.to_string(),
        "0".to_owned(),
        "0".to_owned(),
        "0".to_owned(),
        "0".to_owned(),
        "0".to_owned(),
    ];
    line(&format!("{kind},"), cells)
}

fn line(kind: &str, cells: [String; COLUMNS.len()]) -> String {
    let cells = cells
        .iter()
        .zip(COLUMNS)
        .map(|(cell, (_, width))| format!("{cell:>width$}"));
    format!("{kind:<TYPE_WIDTH$}{}", cells.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both as the real tool (3.11.2) printed them.
    #[test]
    fn the_header_and_a_row_are_the_tools() {
        assert_eq!(
            header(),
            "type       total ops,    op/s,    pk/s,   row/s,    mean,     med,     .95,     .99,\
             \u{20}   .999,     max,   time,   stderr, errors,  gc: #,  max ms,  sum ms,  sdv ms,\
             \u{20}     mb"
        );
        let mut timing = Timing::new(false);
        (timing.begin, timing.end) = (0, 1_000_000_000);
        (timing.partitions, timing.rows) = (2, 2);
        timing.service.record(81_000_000).unwrap();
        timing.service.record(81_000_000).unwrap();
        assert_eq!(
            row("total", &timing, &timing, 0.0),
            "total,             2,       2,       2,       2,    81.0,    81.0,    81.0,    81.0,\
             \u{20}   81.0,    81.0,    1.0,  0.00000,      0,      0,       0,       0,       0,\
             \u{20}      0"
        );
    }
}
