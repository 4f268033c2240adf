//! Tells several observers what the engine tells one.

use tare_engine::errors::Fatal;
use tare_engine::observe::{Control, Observer, Ready};
use tare_engine::record::Interval;
use tare_engine::totals::{Outlook, Totals};

use crate::printer::Printer;

/// The printer first, then the others.
pub struct Audience<'a, 'b> {
    pub printer: &'a mut Printer,
    pub others: &'a mut [&'b mut dyn Observer],
}

impl Observer for Audience<'_, '_> {
    fn ready(&mut self, ready: &Ready) -> Result<(), Fatal> {
        self.printer.ready(ready)?;
        self.others
            .iter_mut()
            .try_for_each(|other| other.ready(ready))
    }

    fn measuring(&mut self, unix: f64) -> Result<(), Fatal> {
        self.printer.measuring(unix)?;
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
        let mut control = self.printer.interval(interval, outlook, totals)?;
        for other in self.others.iter_mut() {
            if other.interval(interval, outlook, totals)? == Control::Stop {
                control = Control::Stop;
            }
        }
        Ok(control)
    }

    fn finished(&mut self, totals: &Totals, outlook: &Outlook) -> Result<(), Fatal> {
        self.printer.finished(totals, outlook)?;
        self.others
            .iter_mut()
            .try_for_each(|other| other.finished(totals, outlook))
    }
}
