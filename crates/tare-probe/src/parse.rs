//! Parsers of the kernel's text files. Each takes the file's text, never fails on unknown content,
//! and leaves out what is missing.

/// Pairs of a name and a number, one a line: `meminfo`, `cpu.stat`, `memory.stat`, `io`, `status`.
pub fn pairs(text: &str) -> impl Iterator<Item = (&str, u64)> {
    text.lines().filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let name = words.next()?.trim_end_matches(':');
        Some((name, words.next()?.parse().ok()?))
    })
}

/// The number beside one name.
pub fn pair(text: &str, name: &str) -> Option<u64> {
    pairs(text)
        .find(|(found, _)| *found == name)
        .map(|(_, n)| n)
}

/// The machine's `/proc/stat`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stat {
    /// Clock ticks: user, nice, system, idle, iowait, irq, softirq, steal.
    pub cpu: [u64; 8],
    pub interrupts: u64,
    pub context_switches: u64,
    pub running: u64,
    pub blocked: u64,
}

pub fn stat(text: &str) -> Stat {
    let mut stat = Stat::default();
    for line in text.lines() {
        // The first number is enough: the line of interrupts has one per source.
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        let mut numbers = rest
            .split_ascii_whitespace()
            .map(|n| n.parse().unwrap_or(0));
        match name {
            "cpu" => stat.cpu.iter_mut().zip(numbers).for_each(|(to, n)| *to = n),
            "intr" => stat.interrupts = numbers.next().unwrap_or(0),
            "ctxt" => stat.context_switches = numbers.next().unwrap_or(0),
            "procs_running" => stat.running = numbers.next().unwrap_or(0),
            "procs_blocked" => stat.blocked = numbers.next().unwrap_or(0),
            _ => {}
        }
    }
    stat
}

/// One device of `/proc/diskstats`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disk<'a> {
    pub name: &'a str,
    pub reads: u64,
    pub read_bytes: u64,
    pub writes: u64,
    pub write_bytes: u64,
    pub busy_ms: u64,
}

/// Sectors of diskstats are 512 bytes whatever the device's are.
const SECTOR: u64 = 512;

pub fn disks(text: &str) -> impl Iterator<Item = Disk<'_>> {
    text.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let number = |i: usize| fields.get(i)?.parse::<u64>().ok();
        Some(Disk {
            name: fields.get(2)?,
            reads: number(3)?,
            read_bytes: number(5)? * SECTOR,
            writes: number(7)?,
            write_bytes: number(9)? * SECTOR,
            busy_ms: number(12)?,
        })
    })
}

/// Traffic of one or several interfaces of `/proc/net/dev`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    pub rx_bytes: u64,
    pub rx_packets: u64,
    pub tx_bytes: u64,
    pub tx_packets: u64,
    /// Dropped in either direction.
    pub drops: u64,
}

/// The loopback interface, and the sum of all others.
pub fn net(text: &str) -> (Traffic, Traffic) {
    let (mut loopback, mut others) = (Traffic::default(), Traffic::default());
    for line in text.lines() {
        let Some((name, rest)) = line.split_once(':') else {
            continue;
        };
        let mut fields = [0u64; 16];
        let numbers = rest
            .split_ascii_whitespace()
            .map(|n| n.parse().unwrap_or(0));
        fields.iter_mut().zip(numbers).for_each(|(to, n)| *to = n);
        let sum = if name.trim() == "lo" {
            &mut loopback
        } else {
            &mut others
        };
        sum.rx_bytes += fields[0];
        sum.rx_packets += fields[1];
        sum.tx_bytes += fields[8];
        sum.tx_packets += fields[9];
        sum.drops += fields[3] + fields[11];
    }
    (loopback, others)
}

/// Packets that the programs of a network namespace sent and received over other devices than its
/// loopback, by `/proc/net/snmp` (RFC 4293). Packets that it forwards or that its bridges pass on
/// are not counted. Before Linux 6.7, which has OutTransmits too, OutRequests also counts what is
/// forwarded.
///
/// `loopback`: packets over its loopback device; each was sent and received.
pub fn own_packets(snmp: &str, loopback: u64) -> Option<u64> {
    let mut lines = snmp.lines().filter_map(|line| line.strip_prefix("Ip: "));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let count = |wanted: &str| -> Option<u64> {
        let place = names
            .split_ascii_whitespace()
            .position(|name| name == wanted)?;
        numbers.split_ascii_whitespace().nth(place)?.parse().ok()
    };
    let forwarded = match count("OutTransmits") {
        Some(_) => 0,
        None => count("ForwDatagrams")?,
    };
    (count("OutRequests")? + count("InDelivers")?).checked_sub(forwarded + 2 * loopback)
}

/// Total stall time in microseconds of one line (`some` or `full`) of a pressure file.
pub fn pressure(text: &str, kind: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with(kind))?;
    let word = line.split(' ').find_map(|word| word.strip_prefix("total="));
    word?.parse().ok()
}

/// One process's `/proc/PID/stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process<'a> {
    pub comm: &'a str,
    pub parent: u32,
    /// Clock ticks.
    pub user: u64,
    pub system: u64,
    pub threads: u64,
    /// Pages.
    pub rss: u64,
    /// A zombie's resources are gone.
    pub zombie: bool,
}

pub fn process(text: &str) -> Option<Process<'_>> {
    // The name may hold anything, parentheses too: it ends at the last one.
    let open = text.find('(')?;
    let close = text.rfind(')')?;
    let comm = text.get(open + 1..close)?;
    let fields: Vec<&str> = text.get(close + 1..)?.split_ascii_whitespace().collect();
    let number = |i: usize| fields.get(i)?.parse::<u64>().ok();
    Some(Process {
        comm,
        zombie: matches!(*fields.first()?, "Z" | "X"),
        parent: number(1)? as u32,
        user: number(11)?,
        system: number(12)?,
        threads: number(17)?,
        rss: number(21)?,
    })
}

/// Voluntary and involuntary context switches, the last two lines of a thread's `status`. They
/// are looked for from the end, as there are hundreds of threads and 60 lines in each file.
pub fn switches(text: &str) -> Option<(u64, u64)> {
    let tail = &text[text.rfind("\nvoluntary_ctxt_switches:")?..];
    Some((
        pair(tail, "voluntary_ctxt_switches")?,
        pair(tail, "nonvoluntary_ctxt_switches")?,
    ))
}

#[cfg(test)]
mod tests;
