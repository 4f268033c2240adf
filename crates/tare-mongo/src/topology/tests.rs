//! Tests of who may serve what, after the server selection specification.
use super::*;
use crate::options::ReadMode;

fn member(name: &str, role: Role, milliseconds: u64) -> Member {
    Member {
        host: Host::new(name, 27017),
        address: (role != Role::Unknown).then(|| ([127, 0, 0, 1], 27017).into()),
        role,
        round_trip: Duration::from_millis(milliseconds),
        tags: Vec::new(),
        last_write: 0,
        seen: 0,
        unreachable: None,
    }
}

fn set(members: Vec<Member>) -> Topology {
    Topology {
        shape: Shape::Set("rs0".into()),
        members,
        sessions: true,
        heartbeat: Duration::from_secs(10),
    }
}

fn readable(topology: &Topology, mode: ReadMode) -> Vec<usize> {
    topology.readable(&ReadPreference {
        mode,
        ..ReadPreference::default()
    })
}

fn three() -> Topology {
    set(vec![
        member("a", Role::Secondary, 1),
        member("b", Role::Primary, 2),
        member("c", Role::Secondary, 40),
        member("d", Role::Arbiter, 1),
        member("e", Role::Unknown, 0),
    ])
}

#[test]
fn writes_go_to_the_primary_alone() {
    assert_eq!(three().writable(), Some(1));
    assert_eq!(set(vec![member("a", Role::Secondary, 1)]).writable(), None);
}

#[test]
fn reads_go_where_the_preference_says_and_not_far() {
    let three = three();
    assert_eq!(readable(&three, ReadMode::Primary), [1]);
    assert_eq!(readable(&three, ReadMode::PrimaryPreferred), [1]);
    // The third member is farther than the first by more than 15 ms.
    assert_eq!(readable(&three, ReadMode::Secondary), [0]);
    assert_eq!(readable(&three, ReadMode::SecondaryPreferred), [0]);
    assert_eq!(readable(&three, ReadMode::Nearest), [1, 0]);
    let patient = ReadPreference {
        mode: ReadMode::Secondary,
        threshold: Duration::from_millis(50),
        ..ReadPreference::default()
    };
    assert_eq!(three.readable(&patient), [0, 2]);
}

#[test]
fn a_preference_falls_back_where_it_may() {
    let without_primary = set(vec![member("a", Role::Secondary, 1)]);
    assert_eq!(readable(&without_primary, ReadMode::Primary), [0; 0]);
    assert_eq!(readable(&without_primary, ReadMode::PrimaryPreferred), [0]);
    let alone = set(vec![member("a", Role::Primary, 1)]);
    assert_eq!(readable(&alone, ReadMode::Secondary), [0; 0]);
    assert_eq!(readable(&alone, ReadMode::SecondaryPreferred), [0]);
}

#[test]
fn a_single_server_takes_everything_whatever_it_is() {
    let single = Topology {
        shape: Shape::Single,
        members: vec![member("a", Role::Secondary, 1)],
        sessions: true,
        heartbeat: Duration::from_secs(10),
    };
    assert_eq!(single.writable(), Some(0));
    assert_eq!(readable(&single, ReadMode::Primary), [0]);
    assert!(single.must_allow_secondaries());
    assert!(!three().must_allow_secondaries());
}
