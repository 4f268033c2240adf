//! MongoDB's wire protocol: what a standalone server or a member of a replica set answers.

mod answer;
mod asked;
mod documents;
mod hello;
#[cfg(test)]
mod hostile;
mod initiation;
mod login;
mod member;
mod set;

pub use member::Member;
