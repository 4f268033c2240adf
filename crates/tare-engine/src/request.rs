//! A request in the making: what a source writes into, one per slot, its memory used again.

use std::rc::Rc;

use tare_cql::{BatchKind, Consistency, Parameters, Protocol, Template};

/// One request. A source begins it with `execute` or `batch` and then appends values in the
/// order of the statement's bind markers.
pub struct Request {
    inner: tare_cql::Request,
    templates: Rc<[Template]>,
    protocol: Protocol,
    now: u64,
    finished: bool,
}

impl Request {
    pub(crate) fn new(templates: Rc<[Template]>, protocol: Protocol) -> Request {
        Request {
            inner: tare_cql::Request::new(),
            templates,
            protocol,
            now: 0,
            finished: false,
        }
    }

    /// Begins an EXECUTE of the statement at this position of `Workload::statements`.
    pub fn execute(&mut self, statement: usize) -> &mut Self {
        self.finished = false;
        self.inner.execute(&self.templates[statement]);
        self
    }

    /// Begins a BATCH; follow with `statement` and its values, once for each part.
    pub fn batch(&mut self, kind: BatchKind, consistency: Consistency) -> &mut Self {
        self.finished = false;
        let parameters = Parameters::at(consistency);
        self.inner.batch(kind, &parameters, self.protocol);
        self
    }

    /// The next statement of a batch.
    pub fn statement(&mut self, statement: usize) -> &mut Self {
        self.inner.statement(&self.templates[statement]);
        self
    }

    pub fn value(&mut self, bytes: &[u8]) -> &mut Self {
        self.inner.value(bytes);
        self
    }

    /// Writes a value in place; what `write` appends is the value.
    pub fn value_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> &mut Self {
        self.inner.value_with(write);
        self
    }

    pub fn null(&mut self) -> &mut Self {
        self.inner.null();
        self
    }

    pub fn unset(&mut self) -> &mut Self {
        self.inner.unset();
        self
    }

    /// Asks for the page after the one that ended with this state.
    pub fn paging_state(&mut self, state: &[u8]) -> &mut Self {
        self.inner.paging_state(state);
        self
    }

    /// When the operation that begins falls due, nanoseconds of the run.
    pub fn now(&self) -> u64 {
        self.now
    }

    pub(crate) fn begin(&mut self, now: u64) {
        self.now = now;
    }

    /// Completes what has been written, once however often it is sent; false if it is no request.
    pub(crate) fn complete(&mut self) -> bool {
        if !self.finished {
            // What a source wrote is its own code's; what is no request fails where it is sent.
            self.finished = self.inner.finish().is_ok();
        }
        self.finished
    }

    pub(crate) fn inner(&mut self) -> &mut tare_cql::Request {
        &mut self.inner
    }
}
