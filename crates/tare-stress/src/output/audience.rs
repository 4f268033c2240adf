//! Several observers of one run: the report first, then those that were brought along.

use tare_engine::errors::Fatal;
use tare_engine::observe::{Control, Observer, Ready};
use tare_engine::record::Interval;
use tare_engine::totals::{Outlook, Totals};

use super::report::Report;

/// Tells all of them everything; the report's word and theirs can stop the run.
pub struct Audience<'a, 'b, 'c> {
    pub report: &'a mut Report<'b>,
    pub others: &'a mut [&'c mut dyn Observer],
}

impl Observer for Audience<'_, '_, '_> {
    fn ready(&mut self, ready: &Ready) -> Result<(), Fatal> {
        self.report.ready(ready)?;
        self.others
            .iter_mut()
            .try_for_each(|other| other.ready(ready))
    }

    fn measuring(&mut self, unix: f64) -> Result<(), Fatal> {
        self.report.measuring(unix)?;
        self.others
            .iter_mut()
            .try_for_each(|other| other.measuring(unix))
    }

    fn interval(
        &mut self,
        interval: &Interval,
        outlook: &Outlook,
        totals: &Totals,
    ) -> Result<Control, Fatal> {
        let mut control = self.report.interval(interval, outlook, totals)?;
        for other in self.others.iter_mut() {
            if other.interval(interval, outlook, totals)? == Control::Stop {
                control = Control::Stop;
            }
        }
        Ok(control)
    }

    fn finished(&mut self, totals: &Totals, outlook: &Outlook) -> Result<(), Fatal> {
        self.report.finished(totals, outlook)?;
        self.others
            .iter_mut()
            .try_for_each(|other| other.finished(totals, outlook))
    }
}
