//! A node that stops reading: how much the client keeps for it, and what becomes of that.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use tare_engine::errors::{ErrorKind, Fatal};
use tare_engine::observe::{Control, Observer};
use tare_engine::order::Arrivals;
use tare_engine::record::Interval;
use tare_engine::run::{run, Stop};
use tare_engine::totals::{RunState, Totals};
use tare_stub::{Script, Stub};

use super::reads::{closed, counted, open, order, seen, within, Reads};

/// Octets of a key: a thousand of them are three times what may wait on a connection.
const LONG: usize = 50_000;
/// What a load sends (native protocol v4, section 2.4); it is the fifth octet of a frame.
const EXECUTE: u8 = 0x0A;

/// Lets no load pass to a stub until it is opened.
#[derive(Default)]
struct Gate(Mutex<bool>, Condvar);

impl Gate {
    fn open(&self) {
        *self.0.lock().unwrap() = true;
        self.1.notify_all();
    }

    fn pass(&self) {
        let open = self.0.lock().unwrap();
        drop(self.1.wait_while(open, |open| !*open).unwrap());
    }
}

/// A way to the stub on which requests can be held up; its address.
fn way(stub: SocketAddr, gate: &Arc<Gate>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let gate = Arc::clone(gate);
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (client, node) = (client.unwrap(), TcpStream::connect(stub).unwrap());
            let back = (node.try_clone().unwrap(), client.try_clone().unwrap());
            std::thread::spawn(move || copy(back.0, back.1, None));
            let gate = Some(Arc::clone(&gate));
            std::thread::spawn(move || copy(client, node, gate));
        }
    });
    address
}

fn copy(mut from: TcpStream, mut to: TcpStream, gate: Option<Arc<Gate>>) {
    let mut bytes = [0; 4096];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        // All before a load is asked and answered one by one, so that its frames begin a reading.
        if let Some(gate) = gate.as_ref().filter(|_| bytes[4] == EXECUTE) {
            gate.pass();
        }
        if to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

/// Opens the gate once requests wait in the client, and no more come to wait.
struct Opener {
    gate: Arc<Gate>,
    opens: bool,
    waiting: bool,
    totals: Option<Totals>,
}

impl Observer for Opener {
    fn interval(&mut self, seen: &Interval, _: &RunState) -> Result<Control, Fatal> {
        if self.opens && self.waiting && seen.counts.blocked == 0 {
            self.gate.open();
        }
        self.waiting |= seen.counts.blocked > 0;
        Ok(Control::GoOn)
    }

    fn finished(&mut self, run: &RunState) -> Result<(), Fatal> {
        self.totals = Some(run.totals.clone());
        Ok(())
    }
}

/// A thousand long reads at once.
fn held_up(opens: bool, timeout: Duration, measure: Option<f64>) -> Totals {
    let stub = Stub::start(Script::default()).unwrap();
    let gate = Arc::new(Gate::default());
    let mut order = order(&stub, closed(1000), measure);
    order.cluster.contact_points = vec![way(stub.address(), &gate).to_string()];
    order.cluster.options.contact_points_only = true;
    order.timeout = timeout;
    (order.workers, order.links) = (Some(1), Some(1));
    let mut opener = Opener {
        gate: Arc::clone(&gate),
        opens,
        waiting: false,
        totals: None,
    };
    let reads = Reads {
        long: LONG,
        ..counted(1000)
    };
    run(&order, reads, &mut opener, &Stop::default()).unwrap();
    gate.open();
    opener.totals.unwrap()
}

#[test]
fn requests_wait_in_the_client_until_the_node_reads_again_and_none_is_lost() {
    let totals = held_up(true, Duration::from_secs(60), None);
    assert_eq!((totals.counts.answered, totals.counts.failed), (1000, 0));
    // 16 MiB and what the kernel holds are well under two thirds of the load.
    within(totals.counts.blocked, 300..1000);
}

#[test]
fn what_one_node_does_not_read_neither_moves_to_another_nor_holds_it_up() {
    let gate = Arc::new(Gate::default());
    let held = Stub::start(Script::default()).unwrap();
    let node = Stub::start(Script {
        peers: vec![way(held.address(), &gate)],
        ..Script::default()
    })
    .unwrap();
    let mut order = order(&node, open(1000.0, Arrivals::Fixed), Some(1.5));
    order.timeout = Duration::from_secs(1);
    (order.workers, order.links) = (Some(1), Some(1));
    let reads = Reads {
        long: LONG,
        ..Reads::default()
    };
    let (seen, totals) = seen(&order, reads);
    gate.open();
    assert_eq!(seen.ready.unwrap().nodes, 2);
    // Each node owns half of the tokens; of 1500 keys the standard deviation is 19. What the
    // client keeps for a node is less than two thirds of its half.
    let record = &totals.counts.operations[0];
    within(record.ok, 650..850);
    let waited = record.errors[ErrorKind::Timeout as usize];
    within(waited, 600..850);
    assert!(totals.counts.blocked > 100, "{}", totals.counts.blocked);
}

#[test]
fn a_request_that_waits_in_the_client_times_out_like_any_other() {
    let totals = held_up(false, Duration::from_millis(300), None);
    assert_eq!(totals.counts.answered, 0);
    let record = &totals.counts.operations[0];
    assert_eq!(record.errors[ErrorKind::Timeout as usize], 1000);
    let failed = record.failed.as_ref().unwrap();
    // The histogram holds three digits.
    assert!(failed.min() >= 299_000_000, "{}", failed.min());
}
