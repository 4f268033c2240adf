//! The probe's configuration: how often to sample and which units to watch, or slices to drive.

use std::path::PathBuf;

use serde::Deserialize;
use thiserror::Error;

use crate::slices::Slicing;

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Seconds between samples.
    pub interval_s: f64,
    #[serde(default)]
    pub units: Vec<UnitConfig>,
    /// Slices to drive; then nothing is sampled.
    #[serde(default)]
    pub slices: Option<Slicing>,
    /// Where to write the pace of the CPU that the probe runs on; then nothing else is done.
    #[serde(default)]
    pub pace: Option<PathBuf>,
}

/// One unit; its CPU time and memory come from the control group where one is given, else from
/// its processes. Disk traffic always comes from its processes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitConfig {
    pub name: String,
    #[serde(default)]
    pub cgroups: Option<Groups>,
    /// Process ids; their descendants are included.
    #[serde(default)]
    pub pids: Vec<u32>,
    /// Names of processes (as in /proc/PID/comm, of which the kernel keeps 15 characters).
    #[serde(default)]
    pub comm: Vec<String>,
}

/// Directories of a control group: one per controller (version 1) or a unified one (version 2).
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Groups {
    pub cpuacct: Option<PathBuf>,
    pub memory: Option<PathBuf>,
    pub cpu: Option<PathBuf>,
    /// Accepted, as it names the group's processes like the others do.
    pub blkio: Option<PathBuf>,
    pub unified: Option<PathBuf>,
}

/// Why a configuration was refused.
#[derive(Debug, Error)]
#[error("{field}: {why}")]
pub struct BadConfig {
    pub field: String,
    pub why: String,
}

impl Config {
    /// Reads one JSON value; whatever follows it stays unread.
    pub fn read(input: impl std::io::Read) -> Result<Config, BadConfig> {
        let mut json = serde_json::Deserializer::from_reader(input);
        let config: Config =
            serde_path_to_error::deserialize(&mut json).map_err(|e| BadConfig {
                field: e.path().to_string(),
                why: e.inner().to_string(),
            })?;
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<(), BadConfig> {
        let refuse = |field: String, why: &str| {
            Err(BadConfig {
                field,
                why: why.to_owned(),
            })
        };
        let (least, why) = match self.pace {
            Some(_) => (0.0001, "must be 0.0001 to 3600 seconds"),
            None => (0.01, "must be 0.01 to 3600 seconds"),
        };
        if !(least..=3600.0).contains(&self.interval_s) {
            return refuse("interval_s".into(), why);
        }
        match self.slices.as_ref().map_or("", Slicing::fault) {
            "" => {}
            why => return refuse("slices".into(), why),
        }
        for (i, unit) in self.units.iter().enumerate() {
            if self.units[..i].iter().any(|other| other.name == unit.name) {
                return refuse(format!("units[{i}].name"), "is there twice");
            }
            if unit.cgroups.is_none() && unit.pids.is_empty() && unit.comm.is_empty() {
                return refuse(format!("units[{i}]"), "needs cgroups, pids or comm");
            }
            if let Some(groups) = &unit.cgroups {
                if groups.unified.is_none() && groups.cpuacct.is_none() {
                    let why = "needs cpuacct (version 1) or unified (version 2)";
                    return refuse(format!("units[{i}].cgroups"), why);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(json: &str) -> String {
        Config::read(json.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn all_ways_to_name_a_unit_are_accepted() {
        let json = r#"{"interval_s": 1.0, "units": [
            {"name": "n1", "cgroups": {"cpuacct": "/sys/fs/cgroup/cpuacct/x", "memory": "/m"}},
            {"name": "n2", "cgroups": {"unified": "/sys/fs/cgroup/x"}},
            {"name": "c1", "pids": [12]},
            {"name": "engine", "comm": ["dockerd", "containerd"]}]} trailing"#;
        let config = Config::read(json.as_bytes()).unwrap();
        assert_eq!(config.units.len(), 4);
        assert_eq!(config.units[2].pids, [12]);
    }

    #[test]
    fn a_refusal_names_the_field() {
        let unit = |body: &str| format!(r#"{{"interval_s": 1, "units": [{{"name": "a"{body}}}]}}"#);
        assert!(refusal(r#"{"interval_s": 0}"#).starts_with("interval_s: "));
        assert!(refusal(r#"{"interval_s": 0.001}"#).starts_with("interval_s: "));
        assert!(refusal(r#"{"interval_s": 1, "unit": []}"#).contains("unknown field `unit`"));
        assert!(refusal(&unit("")).starts_with("units[0]: "));
        assert!(refusal(&unit(r#", "pids": ["x"]"#)).starts_with("units[0].pids[0]: "));
        assert!(refusal(&unit(r#", "cgroups": {"memory": "/m"}"#)).contains("units[0].cgroups"));
    }
}
