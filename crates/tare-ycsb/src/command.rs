//! YCSB's command line, as `bin/ycsb`, `ycsb.sh` and `site.ycsb.Client` take it.

use std::path::PathBuf;

use crate::properties::Properties;
use tare_engine::nearest::hint;

/// Options with a value, as they are written.
const VALUED: [&str; 8] = [
    "-P",
    "-p",
    "-threads",
    "-target",
    "-db",
    "-l",
    "-cp",
    "-jvm-args",
];
const FLAGS: [&str; 3] = ["-s", "-load", "-t"];

/// What a command line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    Help,
    Work(Invocation),
}

/// One command line, taken apart. Nothing has been read or checked yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Invocation {
    /// Property files in their order; later ones win.
    pub files: Vec<PathBuf>,
    /// Properties of the command line, which win over all files.
    pub given: Properties,
    /// What was accepted but has no meaning here.
    pub remarks: Vec<String>,
}

/// A command line that is not YCSB's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Misuse {
    #[error("no arguments: at least a command, a binding and a workload are needed")]
    Empty,
    #[error("{0} needs a value after it")]
    NoValue(&'static str),
    #[error("-p expects key=value, such as -p operationcount=99999, not {0:?}")]
    NoPair(String),
    #[error("{option} expects a whole number, not {value:?}")]
    NoNumber { option: &'static str, value: String },
    #[error("unknown option {0}{1}")]
    Unknown(String, String),
    #[error("unknown command {0:?}: expected load or run{1}")]
    Command(String, String),
    #[error("the shell is not offered: use cqlsh to look at single rows")]
    Shell,
    #[error("nothing is expected after the command and the binding, but {0:?} is there; options begin with -")]
    Surplus(String),
}

/// Takes a command line apart: the words after `ycsb`.
///
/// Options may stand in any order, before or after the command and the binding. What names the
/// phase and the binding becomes the properties `dotransactions` and `db`, as in YCSB itself.
pub fn parse(words: &[String]) -> Result<Command, Misuse> {
    let mut invocation = Invocation::default();
    let mut bare: Vec<&str> = Vec::new();
    let mut words = words.iter().map(String::as_str).peekable();
    if words.peek().is_none() {
        return Err(Misuse::Empty);
    }
    while let Some(word) = words.next() {
        if matches!(word, "-h" | "-help" | "--help") {
            return Ok(Command::Help);
        } else if let Some(option) = VALUED.iter().find(|&&known| known == word) {
            let value = words.next().ok_or(Misuse::NoValue(option))?;
            invocation.take(option, value)?;
        } else if let Some(value) = word.strip_prefix("-jvm-args=") {
            invocation.take("-jvm-args", value)?;
        } else if FLAGS.contains(&word) {
            invocation.flag(word);
        } else if word.starts_with('-') {
            let known = VALUED.into_iter().chain(FLAGS);
            return Err(Misuse::Unknown(word.to_owned(), hint(word, known)));
        } else {
            bare.push(word);
        }
    }
    invocation.phase_and_binding(&bare)?;
    Ok(Command::Work(invocation))
}

impl Invocation {
    fn take(&mut self, option: &'static str, value: &str) -> Result<(), Misuse> {
        match option {
            "-P" => self.files.push(PathBuf::from(value)),
            "-p" => {
                let pair = value.split_once('=');
                let (name, value) = pair.ok_or_else(|| Misuse::NoPair(value.to_owned()))?;
                self.given.set(name, value);
            }
            "-threads" => self.number(option, "threadcount", value)?,
            "-target" => self.number(option, "target", value)?,
            "-db" => self.given.set("db", value),
            "-l" => self.given.set("label", value),
            _ => self.remarks.push(format!(
                "{option} is accepted but has no meaning here: there is no Java virtual machine"
            )),
        }
        Ok(())
    }

    fn number(&mut self, option: &'static str, name: &str, value: &str) -> Result<(), Misuse> {
        let number: i64 = value.parse().map_err(|_| Misuse::NoNumber {
            option,
            value: value.to_owned(),
        })?;
        self.given.set(name, number.to_string());
        Ok(())
    }

    fn flag(&mut self, flag: &str) {
        match flag {
            "-s" => self.given.set("status", "true"),
            "-load" => self.given.set("dotransactions", "false"),
            _ => self.given.set("dotransactions", "true"),
        }
    }

    fn phase_and_binding(&mut self, bare: &[&str]) -> Result<(), Misuse> {
        let mut bare = bare.iter();
        match bare.next() {
            None => return Ok(()),
            Some(&"load") => self.flag("-load"),
            Some(&"run") => self.flag("-t"),
            Some(&"shell") => return Err(Misuse::Shell),
            Some(other) => {
                let hint = hint(other, ["load", "run"]);
                return Err(Misuse::Command((*other).to_owned(), hint));
            }
        }
        if let Some(binding) = bare.next() {
            self.given.set("db", *binding);
        }
        match bare.next() {
            None => Ok(()),
            Some(surplus) => Err(Misuse::Surplus((*surplus).to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    fn invocation(line: &str) -> Invocation {
        match parse(&words(line)).unwrap() {
            Command::Work(invocation) => invocation,
            Command::Help => panic!("help was not asked for"),
        }
    }

    fn refusal(line: &str) -> String {
        parse(&words(line)).unwrap_err().to_string()
    }

    #[test]
    fn the_forms_of_bin_ycsb_and_of_the_client_class_say_the_same() {
        let script = invocation("run cassandra-cql -P a -p hosts=h -s -threads 16 -target 0");
        let class = invocation("-t -db cassandra-cql -s -P a -threads 16 -p hosts=h -target 0");
        let mixed = invocation("-s -P a run -threads 16 cassandra-cql -p hosts=h -target 0");
        assert_eq!(script, class);
        assert_eq!(script, mixed);
        let given: Vec<_> = script
            .given
            .names()
            .map(|name| script.given.get(name))
            .collect();
        let expected = ["cassandra-cql", "true", "h", "true", "0", "16"];
        assert_eq!(given, expected.map(Some));
    }

    #[test]
    fn load_has_no_transactions() {
        assert_eq!(
            invocation("load scylla").given.get("dotransactions"),
            Some("false")
        );
        assert_eq!(
            invocation("-load").given.get("dotransactions"),
            Some("false")
        );
    }

    #[test]
    fn files_keep_their_order_and_values_their_equals_signs() {
        let asked = invocation("run basic -P a -P b -p x=1=2 -p x=3=4");
        assert_eq!(asked.files, [PathBuf::from("a"), PathBuf::from("b")]);
        assert_eq!(asked.given.get("x"), Some("3=4"));
    }

    #[test]
    fn what_is_for_java_is_accepted_and_said() {
        for line in [
            "run scylla -jvm-args -Xmx4g",
            "run scylla -jvm-args=-Xmx4g",
            "-cp x run scylla",
        ] {
            let asked = invocation(line);
            assert_eq!(asked.remarks.len(), 1, "{line}");
            assert_eq!(asked.given.get("db"), Some("scylla"), "{line}");
        }
    }

    #[test]
    fn what_is_not_ycsbs_is_refused_and_named() {
        let cases = [
            ("run scylla -thread 4", "unknown option -thread; did you mean -threads?"),
            ("runn scylla", "unknown command \"runn\": expected load or run; did you mean run?"),
            ("run scylla -threads", "-threads needs a value after it"),
            ("run scylla -threads x", "-threads expects a whole number, not \"x\""),
            ("run scylla -p x", "-p expects key=value, such as -p operationcount=99999, not \"x\""),
            ("run scylla x", "nothing is expected after the command and the binding, but \"x\" is there; options begin with -"),
            ("shell scylla", "the shell is not offered: use cqlsh to look at single rows"),
            ("", "no arguments: at least a command, a binding and a workload are needed"),
        ];
        for (line, message) in cases {
            assert_eq!(refusal(line), message);
        }
    }

    #[test]
    fn help_is_help_wherever_it_stands() {
        assert_eq!(parse(&words("run --help")), Ok(Command::Help));
    }

    proptest! {
        #[test]
        fn no_command_line_is_a_panic(words in proptest::collection::vec(
            "(-[a-zA-Z]{0,8}|load|run|shell|[a-z=0-9-]{0,12}|\\PC{0,6})", 0..12,
        )) {
            let _ = parse(&words);
        }
    }
}
