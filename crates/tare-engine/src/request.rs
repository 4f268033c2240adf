//! A request in the making: what a source writes into, one per slot, its memory used again.

use std::rc::Rc;

use tare_cql::{BatchKind, Consistency, Parameters};

use crate::wire::{Cql, Wire};

/// One request of a protocol.
pub struct Request<W: Wire = Cql> {
    draft: W::Draft,
    templates: Rc<[W::Template]>,
    now: u64,
    finished: bool,
}

impl<W: Wire> Request<W> {
    pub(crate) fn new(templates: Rc<[W::Template]>, cluster: &W::Cluster) -> Request<W> {
        Request {
            draft: W::draft(cluster),
            templates,
            now: 0,
            finished: false,
        }
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
            self.finished = W::finish(&mut self.draft);
        }
        self.finished
    }

    /// What is written from now on is another request.
    pub(crate) fn anew(&mut self) -> (&mut W::Draft, &[W::Template]) {
        self.finished = false;
        (&mut self.draft, &self.templates)
    }

    pub(crate) fn draft(&mut self) -> &mut W::Draft {
        &mut self.draft
    }
}

/// A source begins a request with `execute` or `batch` and then appends values in the order of the
/// statement's bind markers.
impl Request {
    /// Begins an EXECUTE of the statement at this position of `Workload::statements`.
    pub fn execute(&mut self, statement: usize) -> &mut Self {
        let (draft, templates) = self.anew();
        draft.request.execute(&templates[statement]);
        self
    }

    /// Begins a BATCH; follow with `statement` and its values, once for each part.
    pub fn batch(&mut self, kind: BatchKind, consistency: Consistency) -> &mut Self {
        let (draft, _) = self.anew();
        let parameters = Parameters::at(consistency);
        draft.request.batch(kind, &parameters, draft.protocol);
        self
    }

    /// The next statement of a batch.
    pub fn statement(&mut self, statement: usize) -> &mut Self {
        self.draft.request.statement(&self.templates[statement]);
        self
    }

    pub fn value(&mut self, bytes: &[u8]) -> &mut Self {
        self.draft.request.value(bytes);
        self
    }

    /// Writes a value in place; what `write` appends is the value.
    pub fn value_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> &mut Self {
        self.draft.request.value_with(write);
        self
    }

    pub fn null(&mut self) -> &mut Self {
        self.draft.request.null();
        self
    }

    pub fn unset(&mut self) -> &mut Self {
        self.draft.request.unset();
        self
    }

    /// Asks for the page after the one that ended with this state.
    pub fn paging_state(&mut self, state: &[u8]) -> &mut Self {
        self.draft.request.paging_state(state);
        self
    }
}
