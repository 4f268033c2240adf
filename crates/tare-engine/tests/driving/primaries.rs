//! A replica set whose primary changes under load: writes find the new one by themselves.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tare_engine::errors::ErrorKind;
use tare_engine::observe::Keeper;
use tare_engine::order::{Order, Pace};
use tare_engine::record::Notes;
use tare_engine::request::Request;
use tare_engine::run::{run, Stop};
use tare_engine::totals::Totals;
use tare_engine::wire::{Deployment, Mongo, MongoText};
use tare_engine::workload::{Answer, Begin, Follow, Seat, Source, Workload};
use tare_mongo::document::Writer;
use tare_mongo::message::{self, Decoder, Message};
use tare_mongo::Uri;

/// Two members, of which one is primary; a read or a write is counted where it is served.
struct Set {
    primary: AtomicUsize,
    /// After so many writes on the first member the other one is elected.
    changes_at: u64,
    writes: [AtomicU64; 2],
    reads: [AtomicU64; 2],
    addresses: [SocketAddr; 2],
}

impl Set {
    fn start(changes_at: u64) -> Arc<Set> {
        let listeners = [0, 1].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
        let set = Arc::new(Set {
            primary: AtomicUsize::new(0),
            changes_at,
            writes: Default::default(),
            reads: Default::default(),
            addresses: [0, 1].map(|at: usize| listeners[at].local_addr().unwrap()),
        });
        for (member, listener) in listeners.into_iter().enumerate() {
            let set = Arc::clone(&set);
            thread::spawn(move || {
                for socket in listener.incoming().map_while(Result::ok) {
                    let set = Arc::clone(&set);
                    thread::spawn(move || set.talk(member, socket));
                }
            });
        }
        set
    }

    fn talk(&self, member: usize, mut socket: TcpStream) {
        let mut decoder = Decoder::new();
        while let Ok(count @ 1..) = socket.read(decoder.space()) {
            decoder.came(count);
            let mut answers = Vec::new();
            let answer = |message: &Message<'_>| {
                let at = message::begin(&mut answers, 1, message.request_id, 0);
                self.answer(member, message, &mut answers);
                message::end(&mut answers, at);
                Ok(())
            };
            decoder.messages(answer).unwrap();
            if socket.write_all(&answers).is_err() {
                return;
            }
        }
    }

    fn answer(&self, member: usize, message: &Message<'_>, out: &mut Vec<u8>) {
        let first = message.body.elements().next().unwrap().unwrap();
        let is_primary = self.primary.load(Ordering::SeqCst) == member;
        let names = self.addresses.map(|address| address.to_string());
        Writer::write(out, |out| match first.name {
            b"hello" => {
                out.boolean("isWritablePrimary", is_primary);
                out.boolean("secondary", !is_primary);
                out.text("setName", "rs0").text("me", &names[member]);
                out.array("hosts", |out| {
                    out.text("0", &names[0]).text("1", &names[1]);
                });
                out.int("logicalSessionTimeoutMinutes", 30);
                out.int("maxWireVersion", 21).double("ok", 1.0);
            }
            b"update" if !is_primary => {
                out.double("ok", 0.0)
                    .int("code", 10107)
                    .text("errmsg", "not primary");
            }
            b"update" => {
                let before = self.writes[member].fetch_add(1, Ordering::SeqCst);
                if member == 0 && before + 1 == self.changes_at {
                    self.primary.store(1 - member, Ordering::SeqCst);
                }
                out.int("n", 1).double("ok", 1.0);
            }
            b"find" => {
                self.reads[member].fetch_add(1, Ordering::SeqCst);
                out.document("cursor", |out| {
                    out.array("firstBatch", |_| {}).long("id", 0);
                });
                out.double("ok", 1.0);
            }
            _ => {
                out.double("ok", 1.0);
            }
        });
    }

    fn writes(&self) -> [u64; 2] {
        [0, 1].map(|at: usize| self.writes[at].load(Ordering::SeqCst))
    }

    fn reads(&self) -> [u64; 2] {
        [0, 1].map(|at: usize| self.reads[at].load(Ordering::SeqCst))
    }

    fn order(&self, slots: usize, options: &str) -> Order<Deployment> {
        let [one, other] = self.addresses;
        let uri = Uri::parse(&format!("mongodb://{one},{other}/ycsb?{options}")).unwrap();
        Order {
            client: "c1".to_owned(),
            cluster: Deployment {
                uri,
                database: "ycsb".to_owned(),
                stand_in: false,
            },
            keyspace: None,
            pace: Pace::Closed { slots },
            warmup: Duration::ZERO,
            measure: None,
            interval: Duration::from_millis(100),
            start_at: None,
            timeout: Duration::from_secs(5),
            workers: Some(1),
            links: None,
            slices: None,
            connections_per_slice: None,
            seed: 1,
        }
    }
}

/// So many operations of one kind per slot.
struct Many {
    each: u64,
    text: MongoText,
}

struct ManySource {
    left: Vec<u64>,
    writes: bool,
}

impl Workload<Mongo> for Many {
    type Source = ManySource;

    fn statements(&self) -> Vec<MongoText> {
        vec![self.text.clone()]
    }

    fn operations(&self) -> Vec<String> {
        vec!["OPERATION".to_owned()]
    }

    fn source(&self, seat: Seat, _statements: &[()]) -> ManySource {
        ManySource {
            left: vec![self.each; seat.slots.len()],
            writes: matches!(self.text, MongoText::Update { .. }),
        }
    }
}

impl Source<Mongo> for ManySource {
    fn begin(&mut self, slot: usize, request: &mut Request<Mongo>) -> Begin {
        if self.left[slot] == 0 {
            return Begin::Finished;
        }
        self.left[slot] -= 1;
        if self.writes {
            request.write(0);
            request.document(b"user1");
        } else {
            request.find(0, b"user1");
        }
        Begin::Send { operation: 0 }
    }

    fn answer(
        &mut self,
        _slot: usize,
        answer: &Answer<'_, Mongo>,
        _request: &mut Request<Mongo>,
        notes: &mut Notes<'_>,
    ) -> Follow {
        match answer {
            Answer::Failed { kind, .. } if notes.retries < 50 => Follow::Retry {
                kind: *kind,
                after: Duration::from_millis(20),
            },
            Answer::Failed { kind, .. } => Follow::Done(Err(*kind)),
            _ => Follow::Done(Ok(())),
        }
    }
}

fn totals(order: &Order<Deployment>, each: u64, text: MongoText) -> Totals {
    let mut keeper = Keeper::default();
    run(order, Many { each, text }, &mut keeper, &Stop::default()).unwrap();
    keeper.0.unwrap()
}

fn updates() -> MongoText {
    MongoText::Update {
        table: "usertable".to_owned(),
    }
}

fn finds() -> MongoText {
    MongoText::Find {
        table: "usertable".to_owned(),
        fields: None,
    }
}

#[test]
fn writes_follow_the_primary_when_another_member_is_elected() {
    let set = Set::start(100);
    let totals = totals(&set.order(4, ""), 75, updates());
    let record = &totals.operations[0];
    assert_eq!((record.ok, record.failures()), (300, 0));
    let [before, after] = set.writes();
    assert_eq!(before + after, 300);
    // Those in flight when the other one was elected had to be sent again.
    assert!((100..=103).contains(&before), "{before}");
    assert!(record.retries[ErrorKind::Unavailable as usize] >= 1);
}

#[test]
fn reads_go_where_the_preference_says() {
    let set = Set::start(u64::MAX);
    totals(&set.order(4, ""), 25, finds());
    assert_eq!(set.reads(), [100, 0]);
    totals(&set.order(4, "readPreference=secondary"), 25, finds());
    assert_eq!(set.reads(), [100, 100]);
}

#[test]
fn more_slots_than_connections_wait_for_one() {
    let set = Set::start(u64::MAX);
    let mut order = set.order(32, "");
    order.links = Some(2);
    let totals = totals(&order, 10, updates());
    assert_eq!((totals.operations[0].ok, totals.failed), (320, 0));
}

#[test]
fn a_set_without_a_primary_is_told_with_the_time_that_was_waited() {
    let set = Set::start(u64::MAX);
    set.primary.store(9, Ordering::SeqCst);
    let order = set.order(1, "serverSelectionTimeoutMS=300");
    let many = Many {
        each: 1,
        text: updates(),
    };
    let fatal = run(&order, many, &mut Keeper::default(), &Stop::default()).unwrap_err();
    assert_eq!(fatal.kind, "unreachable");
    assert!(
        fatal
            .to_string()
            .contains("no member for a primary, for 0.3 s"),
        "{fatal}"
    );
}
