//! What the event loop needs of a protocol: where a request ends, its answer, whether it is load.

use crate::script::Fault;

/// A server's side of a protocol.
pub trait Speech: Send + 'static {
    /// What a connection has agreed on so far.
    type Talk: Default + Send;
    type Load<'a>: Load
    where
        Self: 'a;
    /// Bytes of a request at most.
    const LONGEST: usize;

    /// Length of the request at the front of `bytes`, once it is known; more than
    /// [`Speech::LONGEST`] where no request can follow.
    fn length(bytes: &[u8]) -> Option<usize>;

    /// Answers a whole request into `out`, or gives it back as part of the load. A request that
    /// waits for news is put off if it `may_wait`, and is asked again when it may not.
    fn ask<'a>(
        &'a mut self,
        talk: &'a mut Self::Talk,
        request: &'a [u8],
        may_wait: bool,
        out: &mut Vec<u8>,
    ) -> Outcome<Self::Load<'a>>;

    /// Whether there is news since it was last asked, for requests that wait for it.
    fn has_news(&mut self) -> bool {
        false
    }
}

/// What became of a request.
pub enum Outcome<L> {
    /// It was answered, or wants no answer.
    Answered,
    /// It was answered, and nothing more can be understood on this connection.
    Over,
    /// It is to be asked again when there is news, or after so many nanoseconds.
    Later(u64),
    /// It belongs to the load: the script decides.
    Load(L),
}

/// A request of the load.
pub trait Load {
    /// Appends its whole answer.
    fn put(&self, out: &mut Vec<u8>, fault: Option<Fault>);
}
