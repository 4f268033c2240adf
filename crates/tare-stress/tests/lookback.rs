//! Which rows are read where reads follow the writes, seen on the wire.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use tare_engine::run::Stop;
use tare_stress::output::printer::Printer;
use tare_stress::{read, run};
use tare_stub::{Script, Stub};

/// Native protocol v4, section 2: octets of a frame's header, where its opcode is, and what a load
/// sends.
const HEADER: usize = 9;
const OPCODE: usize = 4;
const EXECUTE: u8 = 0x0A;

/// The different requests of each prepared statement, by its id.
type Requests = Arc<Mutex<BTreeMap<Vec<u8>, BTreeSet<Vec<u8>>>>>;

/// A way to the stub on which requests are noted; its address.
fn way(stub: SocketAddr, requests: &Requests) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let requests = Arc::clone(requests);
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (mut client, node) = (client.unwrap(), TcpStream::connect(stub).unwrap());
            let (mut answers, mut back) = (node.try_clone().unwrap(), client.try_clone().unwrap());
            std::thread::spawn(move || {
                let _ = io::copy(&mut answers, &mut back);
                let _ = back.shutdown(Shutdown::Both);
            });
            let requests = Arc::clone(&requests);
            std::thread::spawn(move || note(&mut client, node, &requests));
        }
    });
    address
}

fn note(client: &mut TcpStream, mut node: TcpStream, requests: &Requests) {
    let mut header = [0; HEADER];
    while client.read_exact(&mut header).is_ok() {
        let length = u32::from_be_bytes([header[5], header[6], header[7], header[8]]);
        let mut body = vec![0; length as usize];
        client.read_exact(&mut body).unwrap();
        if header[OPCODE] == EXECUTE {
            let id = usize::from(u16::from_be_bytes([body[0], body[1]]));
            let mut requests = requests.lock().unwrap();
            let of = requests.entry(body[2..2 + id].to_vec()).or_default();
            of.insert(body.clone());
        }
        node.write_all(&[&header[..], &body].concat()).unwrap();
    }
    let _ = node.shutdown(Shutdown::Write);
}

#[test]
fn counter_reads_follow_the_counter_writes() {
    let stub = Stub::start(Script::default()).unwrap();
    let requests = Requests::default();
    let node = way(stub.address(), &requests);
    let line = format!(
        "mixed ratio(counter_write=1,counter_read=1) clustering=fixed(1) n=200 no-warmup \
         -pop seq=1..1000 read-lookback=fixed(1) -rate threads=1 -node {node}"
    );
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let settings = read(&words).unwrap().unwrap();
    let printer = Printer::to(Box::new(io::sink()));
    assert!(run::run(&settings, printer, Stop::default(), &mut []).unwrap());
    let requests = requests.lock().unwrap();
    let different: Vec<usize> = requests.values().map(BTreeSet::len).collect();
    // Some hundred writes of as many counters, and reads of nearly as many; not of one alone.
    assert_eq!(different.len(), 2);
    assert!(different.iter().all(|&rows| rows > 30), "{different:?}");
}
