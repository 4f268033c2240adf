//! Clients with TLS and without, on one port.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tare_net::{wait, TlsOptions, Transport};
use tare_stub::{Script, Stub};

use crate::client::{execute, query, Client, EXECUTE, OPTIONS, PREPARE, QUERY, RESULT, SUPPORTED};

const PATIENCE: Duration = Duration::from_secs(5);

/// A client that blocks, over TLS; it takes any certificate.
struct Hidden(Transport);

impl Hidden {
    fn connect(address: SocketAddr) -> Hidden {
        let options = TlsOptions {
            verify: false,
            ..TlsOptions::default()
        };
        let until = Instant::now() + PATIENCE;
        Hidden(Transport::open(address, Some(&options), until).expect("a connection"))
    }

    fn wait(&self) {
        let until = Instant::now() + PATIENCE;
        assert!(wait(self.0.fd(), self.0.holds(), until).expect("a socket"));
    }

    /// Its opcode and its body.
    fn ask(&mut self, opcode: u8, body: &[u8]) -> (u8, Vec<u8>) {
        let length = (body.len() as u32).to_be_bytes();
        let request = [&[4, 0, 0, 7, opcode], &length[..], body].concat();
        let mut sent = 0;
        while sent < request.len() || !self.0.push().expect("sent") {
            match self.0.write(&request[sent..]) {
                Ok(taken) => sent += taken,
                Err(why) => assert_eq!(why.kind(), ErrorKind::WouldBlock),
            }
            if self.0.holds() && !self.0.push().expect("sent") {
                self.wait();
            }
        }
        let mut answer = Vec::new();
        let mut portion = vec![0; 1 << 16];
        loop {
            let header = answer
                .get(5..9)
                .map(|length| length.try_into().expect("four"));
            let length = header.map(|length| 9 + u32::from_be_bytes(length) as usize);
            if length.is_some_and(|length| answer.len() >= length) {
                return (answer[4], answer.split_off(9));
            }
            match self.0.read(&mut portion) {
                Ok(read) => {
                    assert_ne!(read, 0, "it has hung up");
                    answer.extend(&portion[..read]);
                }
                Err(why) if why.kind() == ErrorKind::WouldBlock => self.wait(),
                Err(why) => panic!("{why}"),
            }
        }
    }
}

fn stub(value_bytes: usize) -> Stub {
    Stub::start(Script {
        tls: true,
        value_bytes,
        ..Script::default()
    })
    .expect("a stub")
}

#[test]
fn the_first_byte_tells_who_comes_with_tls() {
    let stub = stub(3);
    let mut hidden = Hidden::connect(stub.address());
    let mut bare = Client::connect(stub.address());
    let (opcode, body) = hidden.ask(OPTIONS, b"");
    assert_eq!(opcode, SUPPORTED);
    assert_eq!(bare.ask(OPTIONS, b""), (7, SUPPORTED, body));
    let again = Hidden::connect(stub.address()).ask(OPTIONS, b"");
    assert_eq!(again.0, SUPPORTED);
    assert_eq!(stub.stop().expect("a report").connections, 3);
}

#[test]
fn requests_and_answers_of_many_records_are_whole() {
    let stub = stub(300_000);
    let mut hidden = Hidden::connect(stub.address());
    let cql = "SELECT field0 FROM ycsb.usertable WHERE y_id = ?";
    let text = [&(cql.len() as u32).to_be_bytes(), cql.as_bytes()].concat();
    let (opcode, prepared) = hidden.ask(PREPARE, &text);
    assert_eq!(opcode, RESULT);
    let id = &prepared[6..22];
    for length in [1, 500_000] {
        let key = vec![b'k'; length];
        let (opcode, body) = hidden.ask(EXECUTE, &execute(id, &[&key[..]]));
        assert_eq!(opcode, RESULT);
        assert!(body.len() > 300_000, "{}", body.len());
        assert!(body.ends_with(b"vvv"));
    }
    let local = query("SELECT * FROM system.local WHERE key='local'");
    assert_eq!(hidden.ask(QUERY, &local).0, RESULT);
}

#[test]
fn who_has_no_tls_is_not_asked_for_it() {
    let stub = Stub::start(Script::default()).expect("a stub");
    let until = Instant::now() + Duration::from_secs(1);
    let tls = TlsOptions {
        verify: false,
        ..TlsOptions::default()
    };
    assert!(Transport::open(stub.address(), Some(&tls), until).is_err());
}
