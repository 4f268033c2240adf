//! A replica set whose primary is killed, comes back, and is nowhere.

use std::net::TcpListener;
use std::sync::mpsc;
use std::thread;

use tare_engine::errors::ErrorKind;
use tare_engine::observe::Keeper;
use tare_engine::run::{run, Stop};
use tare_stub::{Protocol, Script, Service, Set, Stub};

use super::documents::{finds, hosts, order, totals, updates, Many};
use super::reads::within;

const SLOTS: usize = 4;
const EACH: u64 = 1500;
const ALL: u64 = SLOTS as u64 * EACH;

fn set() -> Vec<Stub> {
    Stub::start_set(3, &Script::default()).unwrap()
}

fn requests(stub: Stub) -> u64 {
    stub.stop().unwrap().requests
}

fn member(members: &[String], me: usize) -> Script {
    Script {
        protocol: Protocol::Mongodb,
        set: Some(Set {
            name: Set::NAME.to_owned(),
            members: members.to_vec(),
            me,
        }),
        ..Script::default()
    }
}

#[test]
fn writes_follow_when_the_primary_is_killed_and_when_it_comes_back() {
    // The rest of the load outlasts the primary's return.
    let slow = Script {
        service: Service::Constant(500_000.0),
        ..Script::default()
    };
    let mut set = Stub::start_set(3, &slow).unwrap();
    let members = hosts(&set);
    let order = order(&members, SLOTS, "");
    let first = set.remove(0);
    let (address, again) = (first.address(), member(&members, 0));
    let (signal, signalled) = mpsc::channel();
    let killed = thread::spawn(move || {
        signalled.recv().unwrap();
        let before = first.stop().unwrap();
        signalled.recv().unwrap();
        (before, Stub::start_at(address, again).unwrap())
    });
    let many = Many {
        signal: Some((vec![25, 500], signal)),
        ..updates(EACH)
    };
    let totals = totals(&order, many);
    let record = &totals.counts.operations[0];
    assert_eq!((record.ok, record.failures()), (ALL, 0));
    let (before, again) = killed.join().unwrap();
    let [again, second, third] = [again, set.remove(0), set.remove(0)].map(requests);
    // Unanswered requests were sent again. Requests that a member refuses because it is no primary
    // are not part of its load.
    let answered = before.answers + again + second;
    within(answered, ALL..=ALL + SLOTS as u64);
    assert!(again > 0 && second > 0, "{again} {second}");
    assert_eq!(third, 0);
    let retries = |kind: ErrorKind| record.retries[kind as usize];
    assert!(retries(ErrorKind::Connection) >= 1 && retries(ErrorKind::Unavailable) >= 1);
}

#[test]
fn reads_go_where_the_preference_says() {
    let primary = set();
    totals(&order(&hosts(&primary), 4, ""), finds(25));
    let served: Vec<u64> = primary.into_iter().map(requests).collect();
    assert_eq!(served, [100, 0, 0]);
    let secondaries = set();
    let order = order(&hosts(&secondaries), 4, "readPreference=secondary");
    totals(&order, finds(25));
    let served: Vec<u64> = secondaries.into_iter().map(requests).collect();
    assert_eq!((served[0], served[1] + served[2]), (0, 100));
}

#[test]
fn more_slots_than_connections_wait_for_one() {
    let set = set();
    let mut order = order(&hosts(&set), 32, "");
    order.links = Some(2);
    let totals = totals(&order, updates(10));
    let counts = &totals.counts;
    assert_eq!((counts.operations[0].ok, counts.failed), (320, 0));
    // They wait for answers, not for a node to read.
    assert_eq!(counts.blocked, 0);
}

#[test]
fn a_set_without_a_primary_is_told_with_the_time_that_was_waited() {
    // The first member takes connections, so that the second one believes in it, and answers nobody.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = TcpListener::bind("127.0.0.1:0").unwrap();
    let [first, second] = [&silent, &own].map(|one| one.local_addr().unwrap());
    drop(own);
    let members = [first, second].map(|one| one.to_string());
    let _second = Stub::start_at(second, member(&members, 1)).unwrap();
    let options = "serverSelectionTimeoutMS=300&connectTimeoutMS=50";
    let order = order(&members, 1, options);
    let fatal = run(&order, updates(1), &mut Keeper::default(), &Stop::default()).unwrap_err();
    assert_eq!(fatal.kind, "unreachable");
    assert!(
        fatal
            .to_string()
            .contains("no member for a primary, for 0.3 s"),
        "{fatal}"
    );
}
