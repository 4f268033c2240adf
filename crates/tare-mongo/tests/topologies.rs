//! From a connection string to the members of a deployment, against scripted members.
mod scripted;

use std::net::{SocketAddr, TcpListener};

use bson::{doc, Document};
use scripted::{answer_all, listener, member, refusal, standalone};
use tare_mongo::{Error, Host, Role, Shape, Topology, Uri};

/// A member that answers `hello` with this and `ping` with yes.
fn run(listener: TcpListener, hello: Document) {
    answer_all(listener, move |asked| match asked.command() {
        "hello" => hello.clone(),
        _ => doc! { "ok": 1.0 },
    });
}

/// A replica set of so many members; the one at `primary` is primary.
fn set(count: usize, primary: Option<usize>) -> Vec<SocketAddr> {
    let (listeners, addresses): (Vec<_>, Vec<_>) = (0..count).map(|_| listener()).unzip();
    for (listener, me) in listeners.into_iter().zip(&addresses) {
        run(
            listener,
            member(*me, &addresses, primary.map(|at| addresses[at])),
        );
    }
    addresses
}

fn discover(text: &str) -> Result<Topology, Error> {
    Topology::discover(&Uri::parse(text).unwrap())
}

fn roles(topology: &Topology) -> Vec<Role> {
    topology.members.iter().map(|member| member.role).collect()
}

#[test]
fn one_member_leads_to_all_of_them() {
    let addresses = set(3, Some(2));
    let topology = discover(&format!("mongodb://{}/?replicaSet=rs0", addresses[0])).unwrap();
    assert_eq!(topology.shape, Shape::Set("rs0".into()));
    assert_eq!(
        roles(&topology),
        [Role::Secondary, Role::Secondary, Role::Primary]
    );
    assert_eq!(topology.writable(), Some(2));
    assert_eq!(topology.members[2].address, Some(addresses[2]));
    assert!(topology.sessions);
}

#[test]
fn members_are_reached_where_the_options_say_and_keep_their_names() {
    let names: Vec<SocketAddr> = (1..3).map(|n| ([192, 0, 2, n], 27017).into()).collect();
    let mut uri = Uri::parse("mongodb://192.0.2.1:27017/?replicaSet=rs0").unwrap();
    let (listeners, addresses): (Vec<_>, Vec<_>) = (0..2).map(|_| listener()).unzip();
    for ((listener, me), address) in listeners.into_iter().zip(&names).zip(&addresses) {
        run(listener, member(*me, &names, Some(names[1])));
        let [name, at] = [me, address].map(|it| Host::new(&it.ip().to_string(), it.port()));
        uri.options.reached.insert(name, at);
    }
    let topology = Topology::discover(&uri).unwrap();
    assert_eq!(roles(&topology), [Role::Secondary, Role::Primary]);
    assert_eq!(topology.members[1].host, Host::new("192.0.2.2", 27017));
    assert_eq!(topology.members[1].address, Some(addresses[1]));
    assert_eq!(topology.writable(), Some(1));
}

#[test]
fn a_single_host_without_a_sets_name_is_used_alone() {
    let addresses = set(2, Some(1));
    let topology = discover(&format!("mongodb://{}/", addresses[0])).unwrap();
    assert_eq!(topology.shape, Shape::Single);
    assert_eq!(topology.members.len(), 1);
    assert_eq!(topology.writable(), Some(0));
    assert!(topology.must_allow_secondaries());
}

#[test]
fn a_standalone_server_is_a_deployment_of_its_own() {
    let (listener, address) = listener();
    run(listener, standalone());
    let topology = discover(&format!("mongodb://{address}/")).unwrap();
    assert_eq!(
        (topology.shape, topology.members[0].role),
        (Shape::Single, Role::Standalone)
    );
}

#[test]
fn a_member_that_is_down_is_known_and_not_used() {
    let (listener, up) = listener();
    let down = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    run(listener, member(up, &[down, up], Some(up)));
    let topology = discover(&format!("mongodb://{down},{up}/")).unwrap();
    assert_eq!(roles(&topology), [Role::Unknown, Role::Primary]);
    assert_eq!(topology.writable(), Some(1));
    assert!(topology.members[0].unreachable.is_some());
}

#[test]
fn a_name_that_the_set_does_not_use_does_not_count_twice() {
    let addresses = set(1, Some(0));
    let port = addresses[0].port();
    let topology = discover(&format!("mongodb://localhost:{port}/?replicaSet=rs0")).unwrap();
    assert_eq!(topology.members.len(), 1);
    assert_eq!(
        topology.members[0].host.to_string(),
        addresses[0].to_string()
    );
}

#[test]
fn of_two_primaries_the_one_elected_later_counts() {
    let (listeners, addresses): (Vec<_>, Vec<_>) = (0..2).map(|_| listener()).unzip();
    for (number, (listener, me)) in listeners.into_iter().zip(&addresses).enumerate() {
        let mut hello = member(*me, &addresses, Some(*me));
        let election = bson::oid::ObjectId::from_bytes([number as u8; 12]);
        hello.insert("electionId", election);
        run(listener, hello);
    }
    let text = format!("mongodb://{},{}/", addresses[0], addresses[1]);
    let topology = discover(&text).unwrap();
    assert_eq!(roles(&topology), [Role::Unknown, Role::Primary]);
}

#[test]
fn without_a_primary_nothing_is_writable() {
    let addresses = set(2, None);
    let topology = discover(&format!("mongodb://{}/?replicaSet=rs0", addresses[0])).unwrap();
    assert_eq!(topology.writable(), None);
}

#[test]
fn another_set_than_the_one_named_is_refused() {
    let addresses = set(1, Some(0));
    let error = discover(&format!("mongodb://{}/?replicaSet=rs1", addresses[0])).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("of `rs0`, not of the replica set `rs1`"),
        "{error}"
    );
}

#[test]
fn routers_share_the_load_and_strangers_do_not() {
    let (listeners, addresses): (Vec<_>, Vec<_>) = (0..2).map(|_| listener()).unzip();
    for listener in listeners {
        let mut hello = standalone();
        hello.insert("msg", "isdbgrid");
        run(listener, hello);
    }
    let text = format!("mongodb://{},{}/", addresses[0], addresses[1]);
    let topology = discover(&text).unwrap();
    assert_eq!(topology.shape, Shape::Sharded);
    assert_eq!(topology.readable(&Default::default()).len(), 2);

    let (one, first) = listener();
    let (other, second) = listener();
    run(one, standalone());
    run(other, standalone());
    let error = discover(&format!("mongodb://{first},{second}/")).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("neither of one replica set nor routers"),
        "{error}"
    );
}

#[test]
fn nobody_there_is_an_error_that_says_so() {
    let down = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let error = discover(&format!("mongodb://{down}/")).unwrap_err();
    assert!(matches!(error, Error::NoMember { .. }), "{error}");
}

/// What stands in for MongoDB, according to this answer to `buildInfo`.
fn stand_in(build: Document) -> Option<String> {
    let (listener, address) = listener();
    answer_all(listener, move |asked| match asked.command() {
        "hello" => standalone(),
        "buildInfo" => build.clone(),
        _ => doc! { "ok": 1.0 },
    });
    let uri = Uri::parse(&format!("mongodb://{address}/")).unwrap();
    let topology = Topology::discover(&uri).unwrap();
    topology.stand_in(&uri.options).unwrap()
}

#[test]
fn what_stands_in_for_mongodb_is_known_by_its_own_words() {
    let ferretdb = doc! { "version": "7.0.42", "ferretdbVersion": "v1.24.0", "ok": 1.0 };
    let called = "FerretDB v1.24.0 (a functional stand-in and not MongoDB)";
    assert_eq!(stand_in(ferretdb).as_deref(), Some(called));
    let mongodb = doc! { "version": "7.0.14", "gitVersion": "ce59cfc6a3c5", "ok": 1.0 };
    assert_eq!(stand_in(mongodb), None);
    let unnamed = "a server without gitVersion (a functional stand-in and not MongoDB)";
    let java = doc! { "version": "5.0.0", "ok": 1.0 };
    assert_eq!(stand_in(java).as_deref(), Some(unnamed));
    assert_eq!(
        stand_in(refusal(13, "Unauthorized", "requires authentication")),
        None
    );
}
