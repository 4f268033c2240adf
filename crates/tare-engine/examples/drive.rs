//! Drives so many reads over so many slots against a CQL server, for counting instructions.
use std::time::Duration;
use tare_cql::{Consistency, Statement};
use tare_engine::errors::Fatal;
use tare_engine::observe::{Control, Observer};
use tare_engine::order::{Cluster, Order, Pace};
use tare_engine::record::{Interval, Notes};
use tare_engine::request::Request;
use tare_engine::run::{run, Stop};
use tare_engine::totals::{Outlook, Totals};
use tare_engine::workload::*;

struct Reads(u64);
struct Slots(Vec<u64>);
impl Workload for Reads {
    type Source = Slots;
    fn statements(&self) -> Vec<StatementText> {
        vec![StatementText::new(
            "SELECT * FROM keyspace1.standard1 WHERE key = ?",
            Consistency::One,
        )]
    }
    fn operations(&self) -> Vec<String> {
        vec!["READ".into()]
    }
    fn source(&self, seat: Seat, _: &[Statement]) -> Slots {
        Slots(vec![self.0; seat.slots.len()])
    }
}
impl Source for Slots {
    fn begin(&mut self, slot: usize, request: &mut Request) -> Begin {
        if self.0[slot] == 0 {
            return Begin::Finished;
        }
        self.0[slot] -= 1;
        request.execute(0).value(b"0123456789");
        Begin::Send { operation: 0 }
    }
    fn answer(
        &mut self,
        _: usize,
        answer: &Answer<'_>,
        _: &mut Request,
        _: &mut Notes<'_>,
    ) -> Follow {
        Follow::Done(match answer {
            Answer::Failed { kind, .. } => Err(*kind),
            _ => Ok(()),
        })
    }
}
struct Quiet;
impl Observer for Quiet {
    fn interval(&mut self, _: &Interval, _: &Outlook, _: &Totals) -> Result<Control, Fatal> {
        Ok(Control::GoOn)
    }
    fn finished(&mut self, totals: &Totals, _: &Outlook) -> Result<(), Fatal> {
        println!("{} {}", totals.answered, totals.failed);
        Ok(())
    }
}
fn main() {
    let words: Vec<String> = std::env::args().collect();
    let order = Order {
        client: "c1".into(),
        cluster: Cluster {
            contact_points: words[1].split(',').map(Into::into).collect(),
            options: Default::default(),
        },
        keyspace: None,
        pace: Pace::Closed {
            slots: words[3].parse().unwrap(),
        },
        warmup: Duration::ZERO,
        measure: None,
        interval: Duration::from_secs(1),
        start_at: None,
        timeout: Duration::from_secs(60),
        workers: Some(1),
        links: Some(1),
        seed: 1,
    };
    run(
        &order,
        Reads(words[2].parse().unwrap()),
        &mut Quiet,
        &Stop::default(),
    )
    .unwrap();
}
