//! How long this process's own control group was throttled, for cgroup versions 1 and 2.

use std::fs;
use std::path::{Path, PathBuf};

/// The file with the throttling counters of this process's CPU control group, if it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Throttling {
    cpu_stat: PathBuf,
}

impl Throttling {
    /// Looks up the own group below `root`, which is `/` outside of tests.
    pub fn find(root: &Path) -> Option<Throttling> {
        let groups = fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
        let mounts = fs::read_to_string(root.join("proc/self/mountinfo")).ok()?;
        candidates(&groups, &mounts)
            .into_iter()
            .map(|path| root.join(path.strip_prefix("/").unwrap_or(&path)))
            .find(|path| path.is_file())
            .map(|cpu_stat| Throttling { cpu_stat })
    }

    /// Throttled time so far, nanoseconds; 0 if the file has gone.
    pub fn nanoseconds(&self) -> u64 {
        fs::read_to_string(&self.cpu_stat).map_or(0, |text| throttled(&text))
    }
}

/// Paths of the process's `cpu.stat`, version 1 first, from `proc/self/cgroup` and
/// `proc/self/mountinfo`.
fn candidates(groups: &str, mounts: &str) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for unified in [false, true] {
        for line in groups.lines() {
            let mut parts = line.splitn(3, ':');
            let (Some(_), Some(controllers), Some(group)) =
                (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            let wanted = if unified {
                controllers.is_empty()
            } else {
                controllers.split(',').any(|name| name == "cpu")
            };
            if wanted {
                paths.extend(mounts.lines().filter_map(|m| stat_path(m, group, unified)));
            }
        }
    }
    paths
}

/// `cpu.stat` of `group` if this line of mountinfo mounts the right hierarchy. In a container
/// the mount's root may itself be the group.
fn stat_path(mount: &str, group: &str, unified: bool) -> Option<PathBuf> {
    let (left, right) = mount.split_once(" - ")?;
    let fields: Vec<&str> = left.split(' ').collect();
    let (mount_root, mount_point) = (*fields.get(3)?, *fields.get(4)?);
    let mut tail = right.split(' ');
    let kind = tail.next()?;
    let options = tail.nth(1)?;
    let fits = if unified {
        kind == "cgroup2"
    } else {
        kind == "cgroup" && options.split(',').any(|option| option == "cpu")
    };
    let below = Path::new(group)
        .strip_prefix(mount_root)
        .unwrap_or(Path::new(""));
    fits.then(|| Path::new(mount_point).join(below).join("cpu.stat"))
}

/// Version 1 counts nanoseconds (`throttled_time`), version 2 microseconds.
fn throttled(cpu_stat: &str) -> u64 {
    cpu_stat
        .lines()
        .filter_map(|line| line.split_once(' '))
        .find_map(|(name, value)| match name {
            "throttled_time" => value.trim().parse().ok(),
            "throttled_usec" => value.trim().parse::<u64>().ok().map(|us| us * 1000),
            _ => None,
        })
        .unwrap_or(0)
}

/// CPUs that this process may use at most: its affinity mask.
pub fn available_cpus() -> usize {
    rustix::thread::sched_getaffinity(None).map_or(1, |set| set.count().max(1) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                          33 31 0:30 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n\
                          41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

    #[test]
    fn version_1_is_preferred_where_it_has_the_cpu_controller() {
        let groups = "2:cpuacct:/x\n1:cpu:/tare/c1\n0::/\n";
        let expected = [
            "/sys/fs/cgroup/cpu/tare/c1/cpu.stat",
            "/sys/fs/cgroup/unified/cpu.stat",
        ];
        assert_eq!(candidates(groups, HYBRID), expected.map(PathBuf::from));
    }

    #[test]
    fn in_a_container_the_mount_may_already_be_the_group() {
        let mounts = "9 8 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw,nsdelegate\n";
        let expected = vec![PathBuf::from("/sys/fs/cgroup/cpu.stat")];
        assert_eq!(candidates("0::/docker/abc\n", mounts), expected);
        assert_eq!(candidates("0::/\n", mounts), expected);
    }

    #[test]
    fn both_units_of_throttled_time_become_nanoseconds() {
        let v1 = "nr_periods 10\nnr_throttled 3\nthrottled_time 1234567\n";
        let v2 = "usage_usec 9\nnr_periods 10\nnr_throttled 3\nthrottled_usec 1234\n";
        assert_eq!(throttled(v1), 1_234_567);
        assert_eq!(throttled(v2), 1_234_000);
        assert_eq!(throttled("usage_usec 9\n"), 0);
    }
}
