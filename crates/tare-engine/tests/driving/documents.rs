//! What the tests drive over MongoDB's protocol: operations of one kind, and an order for some stubs.

use std::sync::mpsc::Sender;
use std::time::Duration;

use tare_engine::observe::Keeper;
use tare_engine::order::{Order, Pace};
use tare_engine::record::Notes;
use tare_engine::request::Request;
use tare_engine::run::{run, Stop};
use tare_engine::totals::Totals;
use tare_engine::wire::{Deployment, Mongo, MongoText};
use tare_engine::workload::{Answer, Begin, Follow, Seat, Source, Workload};
use tare_mongo::Uri;
use tare_stub::Stub;

/// Operations of one kind.
pub struct Many {
    /// Of each slot.
    pub each: u64,
    pub text: MongoText,
    /// Told once for each of these numbers, when a slot begins its operation of that number.
    pub signal: Option<(Vec<u64>, Sender<()>)>,
}

pub struct ManySource {
    left: Vec<u64>,
    writes: bool,
    /// Operations that the slot has left when it is told.
    signal: Option<(Vec<u64>, Sender<()>)>,
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
            signal: self.signal.as_ref().map(|(numbers, signal)| {
                let left = numbers.iter().map(|number| self.each - number);
                (left.collect(), signal.clone())
            }),
        }
    }
}

impl Source<Mongo> for ManySource {
    fn begin(&mut self, slot: usize, request: &mut Request<Mongo>) -> Begin {
        if self.left[slot] == 0 {
            return Begin::Finished;
        }
        self.left[slot] -= 1;
        if let Some((numbers, signal)) = &mut self.signal {
            let known = numbers.len();
            numbers.retain(|left| *left != self.left[slot]);
            if numbers.len() < known {
                signal.send(()).unwrap();
            }
        }
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

/// So many operations in each of these slots, on a deployment that is found by these hosts.
pub fn order(hosts: &[String], slots: usize, options: &str) -> Order<Deployment> {
    let hosts = hosts.join(",");
    let uri = Uri::parse(&format!("mongodb://{hosts}/ycsb?{options}")).unwrap();
    let cluster = Deployment {
        uri,
        database: "ycsb".to_owned(),
        stand_in: true,
    };
    Order {
        interval: Duration::from_millis(100),
        workers: Some(1),
        seed: 1,
        ..Order::new(cluster, Pace::Closed { slots })
    }
}

pub fn hosts(stubs: &[Stub]) -> Vec<String> {
    stubs.iter().map(|one| one.address().to_string()).collect()
}

pub fn totals(order: &Order<Deployment>, many: Many) -> Totals {
    let mut keeper = Keeper::default();
    run(order, many, &mut keeper, &Stop::default()).unwrap();
    keeper.0.unwrap()
}

pub fn updates(each: u64) -> Many {
    Many {
        each,
        text: MongoText::Update {
            table: "usertable".to_owned(),
        },
        signal: None,
    }
}

pub fn finds(each: u64) -> Many {
    Many {
        each,
        text: MongoText::Find {
            table: "usertable".to_owned(),
            fields: None,
        },
        signal: None,
    }
}
