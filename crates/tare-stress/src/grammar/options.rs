//! The options inside a section: which there are, which values they take, which group is meant.

use std::collections::BTreeMap;

use super::Usage;
use tare_engine::nearest::hint;

/// What stands behind an option's name.
#[derive(Debug, Clone, Copy)]
pub enum Takes {
    /// Nothing: the name alone.
    Flag,
    /// A text that `fits`; `says` tells what is expected.
    Value {
        fits: fn(&str) -> bool,
        says: &'static str,
    },
    /// `name(key=value,...)`: these keys, and any others where `open`.
    Pairs {
        keys: &'static [&'static str],
        open: bool,
    },
}

/// One option of a group.
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    /// With its sign: `n=`, `err<`, `no-warmup`, `replication`.
    pub name: &'static str,
    pub takes: Takes,
    pub default: Option<&'static str>,
    pub required: bool,
    /// One line for the help.
    pub about: &'static str,
}

impl Choice {
    pub const fn flag(name: &'static str, about: &'static str) -> Choice {
        Choice {
            name,
            takes: Takes::Flag,
            default: None,
            required: false,
            about,
        }
    }

    pub const fn value(
        name: &'static str,
        (fits, says): (fn(&str) -> bool, &'static str),
        about: &'static str,
    ) -> Choice {
        Choice {
            name,
            takes: Takes::Value { fits, says },
            default: None,
            required: false,
            about,
        }
    }

    pub const fn pairs(
        name: &'static str,
        keys: &'static [&'static str],
        open: bool,
        about: &'static str,
    ) -> Choice {
        Choice {
            name,
            takes: Takes::Pairs { keys, open },
            default: None,
            required: false,
            about,
        }
    }

    pub const fn or(self, default: &'static str) -> Choice {
        Choice {
            default: Some(default),
            ..self
        }
    }

    pub const fn needed(self) -> Choice {
        Choice {
            required: true,
            ..self
        }
    }
}

/// Options that may stand together. A section may have several groups, one of which is meant.
pub type Group = &'static [Choice];

/// What was said, by the option's name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Given {
    /// Position of the group that took every parameter.
    pub group: usize,
    values: BTreeMap<&'static str, String>,
    pairs: BTreeMap<&'static str, Vec<(String, String)>>,
}

impl Given {
    /// The value that was said; none if only its default holds.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    pub fn flag(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// `key=value` pairs in the order in which they were said.
    pub fn pairs(&self, name: &str) -> &[(String, String)] {
        self.pairs.get(name).map_or(&[], Vec::as_slice)
    }

    fn is_given(&self, name: &str) -> bool {
        self.values.contains_key(name) || self.pairs.contains_key(name)
    }
}

/// Reads a section's parameters. A parameter is offered to all groups; the first group that took
/// all of them and misses nothing is the one that is meant.
pub fn select(section: &str, parameters: &[String], groups: &[Group]) -> Result<Given, Usage> {
    let mut given = vec![Given::default(); groups.len()];
    let mut taken = vec![0; groups.len()];
    for parameter in parameters {
        let mut known = false;
        for (group, (given, taken)) in groups.iter().zip(given.iter_mut().zip(&mut taken)) {
            if accept(section, parameter, group, given)? {
                known = true;
                *taken += 1;
            }
        }
        if !known {
            return Err(unknown(section, parameter, groups));
        }
    }
    for (place, (group, given)) in groups.iter().zip(given).enumerate() {
        let complete = group.iter().all(|c| !c.required || given.is_given(c.name));
        if complete && taken[place] == parameters.len() {
            return Ok(Given {
                group: place,
                ..given
            });
        }
    }
    Err(Usage(format!(
        "Invalid {section} options: {} cannot stand together or something is missing; it is one \
         of: {}",
        parameters.join(" "),
        groups
            .iter()
            .map(|group| shape(group))
            .collect::<Vec<_>>()
            .join(" OR ")
    )))
}

fn unknown(section: &str, parameter: &str, groups: &[Group]) -> Usage {
    let names: Vec<&str> = groups
        .iter()
        .flat_map(|g| g.iter().map(|c| c.name))
        .collect();
    let end = parameter
        .find(['=', '<', '>'])
        .map_or(parameter.len(), |at| at + 1);
    let hint = hint(
        parameter.get(..end).unwrap_or(parameter),
        names.into_iter().filter(|name| !name.is_empty()),
    );
    Usage(format!("Invalid parameter {parameter} of {section}{hint}"))
}

/// Whether the group has an option for the parameter.
fn accept(section: &str, parameter: &str, group: Group, given: &mut Given) -> Result<bool, Usage> {
    for choice in group {
        let Some(value) = strip(parameter, choice) else {
            continue;
        };
        if given.is_given(choice.name) {
            return Err(Usage(format!(
                "Suboption {} of {section} has been specified more than once",
                choice.name
            )));
        }
        match choice.takes {
            Takes::Flag if !value.is_empty() => continue,
            Takes::Value { fits, says } if !fits(value) => {
                return Err(Usage(format!(
                    "Invalid value {value} of {} in {section}; must be {says}",
                    choice.name
                )));
            }
            Takes::Pairs { keys, open } => {
                let pairs = pairs(section, choice.name, value, keys, open)?;
                given.pairs.insert(choice.name, pairs);
            }
            _ => {
                given.values.insert(choice.name, value.to_owned());
            }
        }
        return Ok(true);
    }
    Ok(false)
}

/// The text behind the option's name, which is compared without regard to case; for pairs, the
/// text inside the parentheses.
fn strip<'a>(parameter: &'a str, choice: &Choice) -> Option<&'a str> {
    let head = parameter.get(..choice.name.len())?;
    if !head.eq_ignore_ascii_case(choice.name) {
        return None;
    }
    let rest = &parameter[choice.name.len()..];
    match choice.takes {
        Takes::Pairs { .. } => rest.strip_prefix('(')?.strip_suffix(')'),
        _ => Some(rest),
    }
}

fn pairs(
    section: &str,
    name: &str,
    text: &str,
    keys: &[&str],
    open: bool,
) -> Result<Vec<(String, String)>, Usage> {
    let mut found: Vec<(String, String)> = Vec::new();
    let text = text.strip_suffix(',').unwrap_or(text);
    for part in text.split(',').filter(|_| !text.is_empty()) {
        let (key, value) = part
            .split_once('=')
            .filter(|(key, value)| !key.is_empty() && !value.is_empty() && !value.contains('='))
            .ok_or_else(|| {
                Usage(format!(
                    "Invalid {name} specification of {section}: {part}; must be key=value"
                ))
            })?;
        let known = keys.iter().find(|known| known.eq_ignore_ascii_case(key));
        let key = match known {
            Some(known) => (*known).to_owned(),
            None if open => key.to_owned(),
            None => {
                let hint = hint(key, keys.iter().copied());
                return Err(Usage(format!(
                    "Invalid {name} specification of {section}: unknown {key}{hint}"
                )));
            }
        };
        if found.iter().any(|(other, _)| *other == key) {
            return Err(Usage(format!("{key} set twice in {name} of {section}")));
        }
        found.push((key, value.to_owned()));
    }
    Ok(found)
}

/// The group in one line, as the tool's help shows it.
pub fn shape(group: Group) -> String {
    let shown = group.iter().map(|choice| {
        let value = match choice.takes {
            Takes::Pairs { .. } => "(?)",
            _ if choice.name.ends_with(['=', '<', '>']) => "?",
            Takes::Value { .. } => "?",
            Takes::Flag => "",
        };
        let (left, right) = if choice.required {
            ("", "")
        } else {
            ("[", "]")
        };
        format!("{left}{}{value}{right}", choice.name)
    });
    shown.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
