//! Tests of what a connection keeps for a node that does not read.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use super::*;

/// A frame of the native protocol v4: version, flags, stream, opcode, length (section 2).
const READY: [u8; 9] = [0x84, 0, 0, 0, 2, 0, 0, 0, 0];
const EXECUTE: u8 = 0x0A;

/// A node that answers STARTUP, and the connection on which it does.
fn node() -> (Routes, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answers = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut header = [0; 9];
        stream.read_exact(&mut header).unwrap();
        let length = u32::from_be_bytes([header[5], header[6], header[7], header[8]]);
        stream.read_exact(&mut vec![0; length as usize]).unwrap();
        let mut ready = READY;
        ready[2..4].copy_from_slice(&header[2..4]);
        stream.write_all(&ready).unwrap();
        stream
    });
    let routes = Routes::open(&[Some(address)], None, &Options::default(), 1).unwrap();
    (routes, answers.join().unwrap())
}

#[test]
fn a_node_that_does_not_read_is_kept_no_more_than_so_much_for() {
    let (mut routes, mut stream) = node();
    let body = vec![0; 1 << 20];
    let mut queued = 0;
    while let Choice::Route(route) = routes.choose(None) {
        assert!(routes.queue(route, EXECUTE, &body, queued).is_some());
        assert_eq!(routes.flush(), []);
        queued += 1;
        assert!(queued < 100, "it takes more and more");
    }
    assert_eq!(routes.choose(None), Choice::Full);
    let waiting = routes.routes[0].link.as_ref().unwrap().waiting();
    assert!((MOST_WAITING..=MOST_WAITING + body.len() + 9).contains(&waiting));

    // It reads again: the connection takes more as soon as less waits.
    let mut part = vec![0; 1 << 20];
    while routes.choose(None) == Choice::Full {
        stream.read_exact(&mut part).unwrap();
        routes.write(0).unwrap();
    }
    assert_eq!(routes.choose(None), Choice::Route(0));
}

#[test]
fn without_a_connection_there_is_nowhere_to_go() {
    let (mut routes, _stream) = node();
    assert!(routes.lend(0).is_some());
    assert_eq!(routes.choose(None), Choice::None);
}
