//! YCSB's keys, request distributions and field values, as its code (core 0.17) draws them.
//!
//! Record numbers are 64 bits wide everywhere: YCSB itself casts some to 32 bits.

mod chooser;
mod counter;
mod discrete;
mod exponential;
mod field_length;
mod histogram;
mod hotspot;
mod key;
mod latest;
mod scrambled;
mod uniform;
mod value;
mod zipf;
mod zipfian;

pub use chooser::Chooser;
pub use counter::{AcknowledgedCounter, Counter, Sequential};
pub use discrete::Discrete;
pub use exponential::Exponential;
pub use field_length::FieldLength;
pub use histogram::Histogram;
pub use hotspot::Hotspot;
pub use key::{fnv64, InsertOrder, Keys};
pub use latest::SkewedLatest;
pub use scrambled::ScrambledZipfian;
pub use uniform::UniformLong;
pub use value::{checked_value, printable_six, random_printable};
pub use zipf::Zipf;
pub use zipfian::{zeta, Zipfian, ZIPFIAN_CONSTANT};
