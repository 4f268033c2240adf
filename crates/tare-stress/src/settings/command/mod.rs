//! The command: which operations, how many or how long, at which consistency.

mod choices;
mod read;

use tare_cql::Consistency;

use crate::grammar::options::{select, Choice, Group};
use crate::grammar::words::{take, Section};
use crate::grammar::Usage;
use crate::output::numbers::{fixed, grouped_whole};
use crate::profile::Profile;
use crate::settings::describe::Dump;
use crate::settings::forms::{text, Draw};
use choices::{BASIC, LEVEL, MIXED, NO_WARMUP, SERIAL, TRUNCATE, USER};
use read::{detail, length};
use tare_engine::nearest::hint;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
    Mixed,
    CounterWrite,
    CounterRead,
    User,
}

impl Kind {
    pub const ALL: [Kind; 6] = [
        Kind::Read,
        Kind::Write,
        Kind::Mixed,
        Kind::CounterWrite,
        Kind::CounterRead,
        Kind::User,
    ];

    /// The command's names, as the tool takes them; the first is the one that is shown.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Kind::Read => &["read"],
            Kind::Write => &["write", "insert"],
            Kind::Mixed => &["mixed"],
            Kind::CounterWrite => &["counter_write", "counterwrite", "counter_add", "counteradd"],
            Kind::CounterRead => &["counter_read", "counterread", "counter_get", "counterget"],
            Kind::User => &["user"],
        }
    }

    /// The command as operations are called in the output.
    pub fn operation(self) -> String {
        self.names()[0].to_uppercase()
    }

    pub fn of(name: &str) -> Option<Kind> {
        Kind::ALL
            .into_iter()
            .find(|kind| kind.names().contains(&name))
    }

    /// Whether it changes data, so that the tool pauses between two thread counts.
    pub fn writes(self) -> bool {
        !matches!(self, Kind::Read | Kind::CounterRead)
    }

    pub fn groups(self) -> &'static [Group] {
        match self {
            Kind::Mixed => MIXED,
            Kind::User => USER,
            _ => BASIC,
        }
    }
}

/// When the run is over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Length {
    Count(u64),
    /// An amount of seconds, minutes or hours.
    Duration(u64, Unit),
    /// The standard error of the mean row rate is below `target`, or `most` intervals are over.
    Uncertainty {
        target: f64,
        least: u64,
        most: u64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Seconds,
    Minutes,
    Hours,
}

impl Unit {
    pub fn name(self) -> &'static str {
        match self {
            Unit::Seconds => "SECONDS",
            Unit::Minutes => "MINUTES",
            Unit::Hours => "HOURS",
        }
    }

    pub fn seconds(self) -> u64 {
        match self {
            Unit::Seconds => 1,
            Unit::Minutes => 60,
            Unit::Hours => 3600,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truncate {
    Never,
    Once,
    Always,
}

/// What the operations are.
#[derive(Debug, Clone)]
pub enum Detail {
    /// The predefined tables; `ratios` has one entry unless the command is mixed.
    Predefined {
        ratios: Vec<(Kind, f64)>,
        clustering: Option<Draw>,
        add: Draw,
        key_size: u32,
    },
    Profile {
        ratios: Vec<(String, f64)>,
        clustering: Draw,
        profile: Box<Profile>,
    },
}

#[derive(Debug, Clone)]
pub struct Command {
    pub kind: Kind,
    pub length: Length,
    pub no_warmup: bool,
    pub truncate: Truncate,
    pub consistency: Consistency,
    pub serial: Consistency,
    pub detail: Detail,
}

impl Command {
    /// Takes the command out of the sections.
    pub fn read(sections: &mut Vec<Section>) -> Result<Command, Usage> {
        let first = sections
            .first()
            .map(|section| section.key.clone())
            .unwrap_or_default();
        let Some(kind) = sections.iter().find_map(|section| Kind::of(&section.key)) else {
            let names = Kind::ALL.iter().flat_map(|kind| kind.names()).copied();
            let hint = hint(&first, names.chain(["help", "print", "version"]));
            return Err(Usage(format!(
                "No command specified: {first:.60} is none{hint}"
            )));
        };
        let parameters = kind.names().iter().find_map(|name| take(sections, name));
        let given = select(
            kind.names()[0],
            &parameters.unwrap_or_default(),
            kind.groups(),
        )?;
        let level = |choice: &Choice, default| {
            text(&given, choice)
                .and_then(Consistency::parse)
                .unwrap_or(default)
        };
        Ok(Command {
            kind,
            length: length(&given)?,
            no_warmup: given.flag(NO_WARMUP.name),
            truncate: match given.value(TRUNCATE.name).map(str::to_lowercase).as_deref() {
                Some("once") => Truncate::Once,
                Some("always") => Truncate::Always,
                _ => Truncate::Never,
            },
            consistency: level(&LEVEL, Consistency::LocalOne),
            serial: level(&SERIAL, Consistency::Serial),
            detail: detail(kind, &given)?,
        })
    }

    /// Operations to do, if that is how the run ends.
    pub fn count(&self) -> Option<u64> {
        match self.length {
            Length::Count(count) => Some(count),
            _ => None,
        }
    }

    pub fn profile(&self) -> Option<&Profile> {
        match &self.detail {
            Detail::Profile { profile, .. } => Some(profile),
            Detail::Predefined { .. } => None,
        }
    }

    /// Whether it is a user command of nothing but `insert`.
    pub fn inserts_only(&self) -> bool {
        matches!(&self.detail, Detail::Profile { ratios, .. }
            if ratios.len() == 1 && ratios[0].0 == "insert")
    }

    pub fn dump(&self, out: &mut Dump) {
        out.say("Type", self.kind.names()[0]);
        match self.length {
            Length::Count(count) => out.say("Count", grouped_whole(count)),
            _ => out.say("Count", -1),
        }
        if let Length::Duration(amount, unit) = self.length {
            out.say(
                "Duration",
                format!("{} {}", grouped_whole(amount), unit.name()),
            );
        }
        out.say("No Warmup", self.no_warmup);
        out.say("Consistency Level", self.consistency.name());
        match self.length {
            Length::Uncertainty {
                target,
                least,
                most,
            } => {
                out.say("Target Uncertainty", fixed(target, 3));
                out.say("Minimum Uncertainty Measurements", grouped_whole(least));
                out.say("Maximum Uncertainty Measurements", grouped_whole(most));
            }
            _ => out.say("Target Uncertainty", "not applicable"),
        }
        self.detail.dump(self.kind, out);
    }
}

impl Detail {
    fn dump(&self, kind: Kind, out: &mut Dump) {
        let mix = |out: &mut Dump, ratios: Vec<(String, f64)>, clustering: &Draw| {
            let ratios: Vec<String> = ratios
                .into_iter()
                .map(|(name, ratio)| format!("{name}={ratio:?}"))
                .collect();
            out.say("Command Ratios", format!("{{{}}}", ratios.join(", ")));
            let text = &clustering.text;
            out.say(
                "Command Clustering Distribution",
                format!("clustering={text}"),
            );
        };
        match self {
            Detail::Predefined {
                ratios,
                clustering,
                add,
                key_size,
            } => {
                out.say("Key Size (bytes)", key_size);
                out.say("Counter Increment Distibution", format!("add={}", add.text));
                if let (Kind::Mixed, Some(clustering)) = (kind, clustering) {
                    let named = ratios
                        .iter()
                        .map(|(kind, ratio)| (kind.operation(), *ratio));
                    mix(out, named.collect(), clustering);
                }
            }
            Detail::Profile {
                ratios,
                clustering,
                profile,
            } => {
                mix(out, ratios.clone(), clustering);
                out.say("Profile File", &profile.path);
            }
        }
    }
}
