//! How much CPU time a hypervisor took away from this machine.

/// CPU time of all CPUs, in clock ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// Time that the machine was ready to run but its hypervisor ran something else.
    pub steal: u64,
    pub all: u64,
}

impl CpuTime {
    /// Since the machine was started; all 0 where the kernel does not tell.
    pub fn now() -> CpuTime {
        std::fs::read_to_string("/proc/stat").map_or(CpuTime::default(), |text| parse(&text))
    }

    pub fn since(&self, earlier: &CpuTime) -> CpuTime {
        CpuTime {
            steal: self.steal.saturating_sub(earlier.steal),
            all: self.all.saturating_sub(earlier.all),
        }
    }
}

/// The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal; what
/// follows is counted in user and nice already (proc_stat(5)).
fn parse(stat: &str) -> CpuTime {
    let first = stat
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("cpu "));
    let fields = first.unwrap_or_default().split_ascii_whitespace().take(8);
    let ticks: Vec<u64> = fields.map(|field| field.parse().unwrap_or(0)).collect();
    CpuTime {
        steal: ticks.get(7).copied().unwrap_or(0),
        all: ticks.iter().fold(0, |sum, &one| sum.saturating_add(one)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_is_the_eighth_field_and_guests_are_not_counted_twice() {
        let stat = "cpu  100 5 50 800 20 1 4 20 70 3\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        assert_eq!(
            parse(stat),
            CpuTime {
                steal: 20,
                all: 1000
            }
        );
    }

    #[test]
    fn what_is_no_proc_stat_tells_nothing() {
        assert_eq!(parse(""), CpuTime::default());
        assert_eq!(parse("cpu  1 x\n"), CpuTime { steal: 0, all: 1 });
    }
}
