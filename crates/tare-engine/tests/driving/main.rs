//! The engine against a server whose behaviour is known: what it sends, counts and survives.

mod blocked;
mod documents;
mod failing;
mod pacing;
mod primaries;
mod proxies;
mod reads;
mod running;
mod slices;
mod stalls;
