//! Tests of the parsers on text as kernels write it.

use proptest::prelude::*;

use super::*;

#[test]
fn the_machines_stat() {
    let text = "cpu  100 2 30 4000 5 6 7 8 9 10\n\
                cpu0 50 1 15 2000 2 3 3 4 0 0\n\
                intr 123456 0 9 0 0\n\
                ctxt 777\nbtime 1795260000\nprocesses 99\n\
                procs_running 3\nprocs_blocked 1\nsoftirq 5 0 1\n";
    let expected = Stat {
        cpu: [100, 2, 30, 4000, 5, 6, 7, 8],
        interrupts: 123_456,
        context_switches: 777,
        running: 3,
        blocked: 1,
    };
    assert_eq!(stat(text), expected);
}

#[test]
fn an_old_kernels_shorter_cpu_line_leaves_zeros() {
    assert_eq!(stat("cpu 1 2 3 4\n").cpu, [1, 2, 3, 4, 0, 0, 0, 0]);
}

#[test]
fn pairs_of_all_kinds_of_files() {
    let meminfo = "MemTotal:       24684092 kB\nHugePages_Total:       0\nOdd line\n";
    assert_eq!(pair(meminfo, "MemTotal"), Some(24_684_092));
    assert_eq!(pair(meminfo, "HugePages_Total"), Some(0));
    assert_eq!(pair(meminfo, "MemFree"), None);
    let io = "rchar: 5\nread_bytes: 4096\ncancelled_write_bytes: 0\n";
    assert_eq!(pair(io, "read_bytes"), Some(4096));
    assert_eq!(pair("usage_usec 17\n", "usage_usec"), Some(17));
}

#[test]
fn disks_count_in_sectors_of_512_bytes() {
    let text = " 254       0 vda 10 1 80 4 20 2 160 8 0 12 13 0 0 0 0 1 2\n\
                 254       1 vda1 9 1 72 4 20 2 160 8 0 12 13\n";
    let found: Vec<Disk> = disks(text).collect();
    assert_eq!(found.len(), 2);
    let expected = Disk {
        name: "vda",
        reads: 10,
        read_bytes: 80 * 512,
        writes: 20,
        write_bytes: 160 * 512,
        busy_ms: 12,
    };
    assert_eq!(found[0], expected);
}

#[test]
fn loopback_is_kept_apart_from_the_other_interfaces() {
    let text = "Inter-|   Receive                  |  Transmit\n \
        face |bytes    packets errs drop fifo frame compressed multicast|bytes packets\n    \
        lo:  1000      10    0    0    0     0          0         0     1000      10    0    0    0     0       0          0\n  \
        eth0:  5000      50    0    2    0     0          0         0     7000      70    0    1    0     0       0          0\n\
        docker0:1 1 0 0 0 0 0 0 2 2 0 0 0 0 0 0\n";
    let (loopback, others) = net(text);
    assert_eq!((loopback.rx_bytes, loopback.tx_packets), (1000, 10));
    let expected = Traffic {
        rx_bytes: 5001,
        rx_packets: 51,
        tx_bytes: 7002,
        tx_packets: 72,
        drops: 3,
    };
    assert_eq!(others, expected);
}

#[test]
fn pressure_totals_by_line() {
    let text = "some avg10=0.03 avg60=0.98 avg300=0.90 total=25227508\n\
                full avg10=0.00 avg60=0.00 avg300=0.00 total=17\n";
    assert_eq!(pressure(text, "some"), Some(25_227_508));
    assert_eq!(pressure(text, "full"), Some(17));
    assert_eq!(pressure("", "some"), None);
}

/// A `/proc/PID/stat` line of a process with this name and state.
fn line(comm: &str, state: char) -> String {
    format!(
        "42 ({comm}) {state} 7 42 42 0 -1 4194304 9 8 7 6 150 50 3 4 20 0 95 0 1234 \
         4294967296 227598 18446744073709551615 1 1 0"
    )
}

#[test]
fn a_process() {
    let text = line("java", 'S');
    let found = process(&text).unwrap();
    let expected = Process {
        comm: "java",
        parent: 7,
        user: 150,
        system: 50,
        threads: 95,
        rss: 227_598,
        zombie: false,
    };
    assert_eq!(found, expected);
    assert!(process(&line("java", 'Z')).unwrap().zombie);
}

#[test]
fn a_truncated_process_line_is_no_process() {
    assert_eq!(process("42 (java) S 7 42"), None);
    assert_eq!(process("42 java"), None);
    assert_eq!(process(""), None);
}

#[test]
fn context_switches_of_a_thread() {
    let text = "Name:\tjava\nMems_allowed_list:\t0\nvoluntary_ctxt_switches:\t5\n\
                nonvoluntary_ctxt_switches:\t6\n";
    assert_eq!(switches(text), Some((5, 6)));
    assert_eq!(switches("Name:\tjava\n"), None);
}

proptest! {
    #[test]
    fn any_process_name_is_kept(comm in "[ -~]{0,15}") {
        let text = line(&comm, 'R');
        let found = process(&text).unwrap();
        prop_assert_eq!((found.comm, found.parent), (comm.as_str(), 7));
    }

    #[test]
    fn no_text_makes_a_parser_fail(text in "\\PC{0,200}") {
        let text = text.replace(' ', "\n");
        stat(&text);
        net(&text);
        process(&text);
        pressure(&text, "some");
        prop_assert!(disks(&text).count() <= text.lines().count());
        prop_assert!(pairs(&text).count() <= text.lines().count());
    }
}

#[test]
fn packets_of_programs_are_neither_those_of_loopback_nor_those_that_are_forwarded() {
    let old =
        "Ip: Forwarding ForwDatagrams InDelivers OutRequests\nIp: 1 30 500 480\nIcmp: InMsgs\n";
    assert_eq!(own_packets(old, 10), Some(500 + 480 - 30 - 20));
    let new = "Ip: Forwarding ForwDatagrams InDelivers OutRequests OutTransmits\n\
               Ip: 1 30 500 480 99\n";
    assert_eq!(own_packets(new, 10), Some(500 + 480 - 20));
    assert_eq!(own_packets("Ip: InDelivers\nIp: 5\n", 0), None);
    assert_eq!(own_packets("", 0), None);
}
