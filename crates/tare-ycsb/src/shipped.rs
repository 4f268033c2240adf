//! The core workloads A to F, inside the binary under their files' names.

use std::path::Path;

use crate::properties::Properties;

/// Shares of reads, updates, scans, inserts and read-modify-writes, and the request distribution.
struct Mix {
    letter: char,
    read: &'static str,
    update: &'static str,
    scan: &'static str,
    insert: &'static str,
    read_modify_write: &'static str,
    distribution: &'static str,
}

const fn mix(letter: char, shares: [&'static str; 5], distribution: &'static str) -> Mix {
    let [read, update, scan, insert, read_modify_write] = shares;
    Mix {
        letter,
        read,
        update,
        scan,
        insert,
        read_modify_write,
        distribution,
    }
}

/// Cooper et al., "Benchmarking cloud serving systems with YCSB", SoCC 2010, table 2; F came later.
const MIXES: [Mix; 6] = [
    mix('a', ["0.5", "0.5", "0", "0", "0"], "zipfian"),
    mix('b', ["0.95", "0.05", "0", "0", "0"], "zipfian"),
    mix('c', ["1", "0", "0", "0", "0"], "zipfian"),
    mix('d', ["0.95", "0", "0", "0.05", "0"], "latest"),
    mix('e', ["0", "0", "0.95", "0.05", "0"], "zipfian"),
    mix('f', ["0.5", "0", "0", "0", "0.5"], "zipfian"),
];

/// The workload that a path such as `workloads/workloada` names.
pub fn workload(path: &Path) -> Option<Properties> {
    let folder = path.parent().and_then(Path::file_name);
    if folder.is_some_and(|folder| folder != "workloads") {
        return None;
    }
    let letter = path.file_name()?.to_str()?.strip_prefix("workload")?;
    let mix = MIXES.iter().find(|mix| letter == mix.letter.to_string())?;
    Some(mix.properties())
}

impl Mix {
    fn properties(&self) -> Properties {
        let mut properties = Properties::default();
        let mut set = |name: &str, value: &str| properties.set(name, value);
        set("recordcount", "1000");
        set("operationcount", "1000");
        set("workload", "site.ycsb.workloads.CoreWorkload");
        set("readallfields", "true");
        set("readproportion", self.read);
        set("updateproportion", self.update);
        set("scanproportion", self.scan);
        set("insertproportion", self.insert);
        set("requestdistribution", self.distribution);
        if self.letter == 'f' {
            set("readmodifywriteproportion", self.read_modify_write);
        }
        if self.letter == 'e' {
            set("maxscanlength", "100");
            set("scanlengthdistribution", "uniform");
        }
        properties
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn property(path: &str, name: &str) -> Option<String> {
        workload(Path::new(path))?.get(name).map(str::to_owned)
    }

    #[test]
    fn six_workloads_are_shipped_under_their_files_names() {
        for letter in 'a'..='f' {
            let path = format!("workloads/workload{letter}");
            assert_eq!(property(&path, "recordcount").as_deref(), Some("1000"));
        }
        assert_eq!(
            property("workloadd", "requestdistribution").as_deref(),
            Some("latest")
        );
        let e = property("/opt/ycsb/workloads/workloade", "maxscanlength");
        assert_eq!(e.as_deref(), Some("100"));
        let f = property("workloads/workloadf", "readmodifywriteproportion");
        assert_eq!(f.as_deref(), Some("0.5"));
    }

    #[test]
    fn other_paths_are_files() {
        for path in [
            "workloads/workloadg",
            "mine/workloada",
            "workloads/workloada.txt",
            "",
            "/",
        ] {
            assert!(workload(Path::new(path)).is_none(), "{path}");
        }
    }

    #[test]
    fn shares_add_up_to_one() {
        for mix in &MIXES {
            let shares = [
                mix.read,
                mix.update,
                mix.scan,
                mix.insert,
                mix.read_modify_write,
            ];
            let sum: f64 = shares
                .iter()
                .map(|share| share.parse::<f64>().unwrap())
                .sum();
            assert!((sum - 1.0).abs() < 1e-12, "{}", mix.letter);
        }
    }
}
