//! The values of a row's fields, written straight into a request.

use tare_draw::ycsb::{checked_value, random_printable, FieldLength};
use tare_draw::{Rng, Xoshiro};

use crate::settings::Core;

/// Makes values: random ones, or such as can be checked.
pub struct Fields {
    names: Vec<String>,
    /// Positions of all names, in the order in which statements name them.
    order: Vec<usize>,
    length: FieldLength,
    integrity: bool,
}

impl Fields {
    pub fn new(core: &Core, order: &[usize]) -> Fields {
        Fields {
            names: core.fields.clone(),
            order: order.to_vec(),
            length: core.length.clone(),
            integrity: core.integrity,
        }
    }

    /// A field, uniformly.
    pub fn choose(&self, rng: &mut Xoshiro) -> usize {
        rng.next_below(self.names.len() as u64) as usize
    }

    /// Positions of all fields, in the order in which they are written.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Appends a value for one field of the record of this key.
    pub fn write(&self, field: usize, key: &[u8], rng: &mut Xoshiro, value: &mut Vec<u8>) {
        let length = self.length.next(rng);
        if self.integrity {
            // Keys are the word user and digits.
            let key = std::str::from_utf8(key).unwrap_or("");
            checked_value(key, &self.names[field], length, value);
        } else {
            random_printable(rng, length, value);
        }
    }
}
