//! The options of the commands, and the groups that they may be said in.

use tare_cql::Consistency;

use crate::grammar::number::is_digits;
use crate::grammar::options::{Choice, Group};
use crate::settings::forms::{among, Form, COUNT, DIGITS, DRAW, SOME};

const ERROR_FORM: Form = (
    |text| text.strip_prefix("0.").is_some_and(is_digits),
    "a fraction such as 0.02",
);
const DURATION_FORM: Form = (
    |text| {
        text.strip_suffix(['s', 'm', 'h', 'S', 'M', 'H'])
            .is_some_and(is_digits)
    },
    "a time such as 30s, 5m or 1h",
);
const TRUNCATE_FORM: Form = (
    |text| among(text, &["never", "once", "always"]),
    "never, once or always",
);
const LEVEL_FORM: Form = (
    |text| Consistency::parse(text).is_some_and(|level| !is_serial(level)),
    "ONE, TWO, THREE, QUORUM, ALL, ANY, LOCAL_ONE, LOCAL_QUORUM or EACH_QUORUM",
);
const SERIAL_FORM: Form = (
    |text| Consistency::parse(text).is_some_and(is_serial),
    "SERIAL or LOCAL_SERIAL",
);

pub const N: Choice = Choice::value("n=", COUNT, "number of operations to perform");
pub const DURATION: Choice = Choice::value("duration=", DURATION_FORM, "time to run");
pub const ERR: Choice = Choice::value(
    "err<",
    ERROR_FORM,
    "run until the standard error of the mean is below this fraction",
)
.or("0.02");
pub const LEAST: Choice = Choice::value(
    "n>",
    DIGITS,
    "run at least this many intervals before accepting",
)
.or("30");
pub const MOST: Choice = Choice::value("n<", DIGITS, "run at most this many intervals").or("200");
pub const NO_WARMUP: Choice = Choice::flag("no-warmup", "do not warm up");
pub const TRUNCATE: Choice = Choice::value(
    "truncate=",
    TRUNCATE_FORM,
    "truncate the table: never, once or always",
)
.or("never");
pub const LEVEL: Choice = Choice::value("cl=", LEVEL_FORM, "consistency level").or("LOCAL_ONE");
pub const SERIAL: Choice = Choice::value(
    "serial-cl=",
    SERIAL_FORM,
    "consistency of conditional statements",
)
.or("SERIAL");
pub const ADD: Choice =
    Choice::value("add=", DRAW, "distribution of counter increments").or("fixed(1)");
pub const KEY_SIZE: Choice = Choice::value("keysize=", DIGITS, "key size in bytes").or("10");
pub const CLUSTERING: Choice = Choice::value(
    "clustering=",
    DRAW,
    "distribution of runs of operations of the same kind",
)
.or("GAUSSIAN(1..10)");
pub const RATIO: Choice = Choice::pairs(
    "ratio",
    &["read", "write", "counter_write", "counter_read"],
    false,
    "ratios of the operations; ratio(read=2,write=1) does 2 reads for each write",
);
pub const PROFILE: Choice = Choice::value("profile=", SOME, "path of a YAML profile");
pub const OPS: Choice = Choice::pairs(
    "ops",
    &[],
    true,
    "ratios of the profile's queries, and of insert",
);

/// A group: what it begins with, what every command takes, and what it ends with.
macro_rules! group {
    ($($first:expr),*; $($last:expr),*) => {
        &[$($first,)* NO_WARMUP, TRUNCATE, LEVEL, SERIAL, $($last),*]
    };
}

pub const BASIC: &[Group] = &[
    group![ERR, LEAST, MOST; ADD, KEY_SIZE],
    group![N.needed(); ADD, KEY_SIZE],
    group![DURATION.needed(); ADD, KEY_SIZE],
];
pub const MIXED: &[Group] = &[
    group![ERR, LEAST, MOST, CLUSTERING, RATIO; ADD, KEY_SIZE],
    group![N.needed(), CLUSTERING, RATIO; ADD, KEY_SIZE],
    group![DURATION.needed(), CLUSTERING, RATIO; ADD, KEY_SIZE],
];
pub const USER: &[Group] = &[
    group![PROFILE.needed(), OPS.needed(), ERR, LEAST, MOST, CLUSTERING;],
    group![PROFILE.needed(), OPS.needed(), DURATION.needed(), CLUSTERING;],
    group![PROFILE.needed(), OPS.needed(), N.needed(), CLUSTERING;],
];

fn is_serial(level: Consistency) -> bool {
    matches!(level, Consistency::Serial | Consistency::LocalSerial)
}
