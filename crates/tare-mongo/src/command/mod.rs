//! Commands, written into one reused buffer from templates that were encoded once.
mod request;
mod template;

pub use request::{session_id, Request};
pub use template::{Collection, Field, Kind, Template};
