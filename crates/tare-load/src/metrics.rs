//! Serves what a run has seen so far in the Prometheus text format (`--metrics`).

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tare_engine::errors::Fatal;
use tare_engine::observe::{Control, Observer, Ready};
use tare_engine::record::Interval;
use tare_engine::totals::RunState;

mod exposition;
mod serve;
mod tally;

use tally::Tally;

/// An observer that keeps a page up to date, and the thread that serves it.
pub struct Metrics {
    tally: Tally,
    page: Arc<Mutex<String>>,
    /// Where it is served; differs from what was asked for where that was port 0.
    pub address: SocketAddr,
}

impl Metrics {
    /// Listens on `address`; one that is not of this machine's loopback only with `anywhere`, as
    /// whoever can reach the port can read.
    pub fn serve(address: &str, anywhere: bool) -> Result<Metrics, Fatal> {
        let parsed: SocketAddr = address.parse().map_err(|_| {
            Fatal::spec("--metrics", "expected ADDRESS:PORT, such as 127.0.0.1:9640")
        })?;
        if !parsed.ip().is_loopback() && !anywhere {
            return Err(Fatal::spec(
                "--metrics",
                format!("{parsed} can be reached from other machines; if that is meant, add --metrics-anywhere"),
            ));
        }
        let tally = Tally::default();
        let page = Arc::new(Mutex::new(exposition::text(&tally)));
        let address = serve::start(parsed, Arc::clone(&page))
            .map_err(|why| Fatal::spec("--metrics", format!("{parsed}: {why}")))?;
        Ok(Metrics {
            tally,
            page,
            address,
        })
    }

    fn renew(&self) {
        let text = exposition::text(&self.tally);
        // Poisoned only by a panic while a page was copied, which leaves it whole.
        *self
            .page
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner()) = text;
    }
}

impl Observer for Metrics {
    fn ready(&mut self, ready: &Ready) -> Result<(), Fatal> {
        self.tally.begin(&ready.operations);
        self.renew();
        Ok(())
    }

    fn interval(&mut self, interval: &Interval, run: &RunState) -> Result<Control, Fatal> {
        self.tally.add(interval, &run.totals);
        self.renew();
        Ok(Control::GoOn)
    }

    fn finished(&mut self, run: &RunState) -> Result<(), Fatal> {
        self.tally.finish(&run.totals);
        self.renew();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
