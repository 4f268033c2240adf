//! Tests of the options inside a section.

use super::*;
use crate::grammar::number::is_digits;

const NUMBER: (fn(&str) -> bool, &str) = (is_digits, "a number");
const FIXED: Group = &[
    Choice::value("threads=", NUMBER, "").needed(),
    Choice::value("throttle=", NUMBER, ""),
];
const AUTO: Group = &[
    Choice::flag("auto", ""),
    Choice::value("threads>=", NUMBER, ""),
    Choice::pairs("ratio", &["read", "write"], false, ""),
];

fn read(parameters: &[&str]) -> Result<Given, Usage> {
    let parameters: Vec<String> = parameters.iter().map(|p| (*p).to_owned()).collect();
    select("-rate", &parameters, &[FIXED, AUTO])
}

#[test]
fn the_group_that_takes_all_is_meant() {
    assert_eq!(read(&["threads=5"]).unwrap().group, 0);
    let auto = read(&["AUTO", "threads>=8"]).unwrap();
    assert_eq!((auto.group, auto.value("threads>=")), (1, Some("8")));
    assert!(auto.flag("auto"));
}

#[test]
fn options_of_two_groups_cannot_stand_together() {
    assert!(read(&["threads=5", "auto"])
        .unwrap_err()
        .0
        .contains("cannot stand together"));
}

#[test]
fn a_missing_option_is_said() {
    assert!(read(&["throttle=5"]).unwrap_err().0.contains("threads=?"));
}

#[test]
fn an_unknown_option_names_the_nearest() {
    let error = read(&["thread=5"]).unwrap_err().0;
    assert_eq!(
        error,
        "Invalid parameter thread=5 of -rate; did you mean threads=?"
    );
}

#[test]
fn an_option_may_be_said_once() {
    let error = read(&["threads=5", "Threads=6"]).unwrap_err().0;
    assert!(error.contains("threads= of -rate has been specified more than once"));
}

#[test]
fn a_bad_value_says_what_is_expected() {
    let error = read(&["threads=x"]).unwrap_err().0;
    assert_eq!(
        error,
        "Invalid value x of threads= in -rate; must be a number"
    );
}

#[test]
fn pairs_keep_their_order() {
    let given = read(&["ratio(write=1,READ=3)"]).unwrap();
    let pairs: Vec<(&str, &str)> = given
        .pairs("ratio")
        .iter()
        .map(|(k, v)| (k.as_str(), v.as_str()))
        .collect();
    assert_eq!(pairs, [("write", "1"), ("read", "3")]);
}

#[test]
fn pairs_refuse_unknown_double_and_empty_keys() {
    assert!(read(&["ratio(reed=1)"])
        .unwrap_err()
        .0
        .contains("did you mean read?"));
    assert!(read(&["ratio(read=1,read=2)"])
        .unwrap_err()
        .0
        .contains("set twice"));
    assert!(read(&["ratio(read=1,,write=1)"])
        .unwrap_err()
        .0
        .contains("key=value"));
}
