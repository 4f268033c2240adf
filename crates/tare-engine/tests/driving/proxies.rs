//! A proxy between clients and a server that cuts connections amid answers.

use std::io::{self, Read};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;

use tare_engine::errors::ErrorKind;
use tare_stub::{Protocol, Script, Stub};

use super::documents::{finds, order, totals};
use super::reads::within;

const SLOTS: usize = 4;
const EACH: u64 = 500;
const ALL: u64 = SLOTS as u64 * EACH;
/// Bytes of answers that a connection lives for: some 80 documents, and a part of one.
const LIFE: u64 = 100_000;

fn cutting(server: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            pass(client, TcpStream::connect(server).unwrap());
        }
    });
    address
}

fn pass(client: TcpStream, server: TcpStream) {
    let [asks, asked, answers, answered] =
        [&client, &server, &server, &client].map(|one| one.try_clone().unwrap());
    thread::spawn(move || io::copy(&mut &asks, &mut &asked));
    thread::spawn(move || {
        let _ = io::copy(&mut (&answers).take(LIFE), &mut &answered);
        for one in [client, server] {
            let _ = one.shutdown(Shutdown::Both);
        }
    });
}

#[test]
fn what_a_proxy_cuts_off_is_asked_again_and_counted_once() {
    let stub = Stub::start(Script {
        protocol: Protocol::Mongodb,
        ..Script::default()
    })
    .unwrap();
    let proxy = cutting(stub.address()).to_string();
    let totals = totals(&order(&[proxy], SLOTS, ""), finds(EACH));
    let record = &totals.counts.operations[0];
    assert_eq!((record.ok, record.failures()), (ALL, 0));
    let cut = record.retries[ErrorKind::Connection as usize];
    assert!(cut >= 10, "{cut}");
    within(stub.stop().unwrap().requests, ALL..=ALL + cut);
}
