//! One column: the values that a seed gives it.

use super::value::{fold, push_timeuuid, push_varint, server_order};
use super::{Distribution, FasterRandom, Kind, Release, Sampler};
use crate::Error;

/// No value is longer, and no collection has more elements.
const LARGEST: i64 = 64 << 20;
/// Fifty years of milliseconds: where timestamps lie when nothing else is asked for.
const FIFTY_YEARS_MS: i64 = 1_576_800_000_000;

/// What a profile says about a column; what it leaves out takes the tool's default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnSpec {
    /// Octets of a text or blob, elements of a collection; `uniform(4..8)`.
    pub size: Option<Distribution>,
    /// How many different values there are; `uniform(1..100B)`.
    pub population: Option<Distribution>,
    /// How many values a clustering column has in a partition; `fixed(1)`.
    pub cluster: Option<Distribution>,
}

/// A generator of one column's values, as the classes of the tool's `generate.values`.
#[derive(Debug, Clone)]
pub struct Column {
    name: String,
    kind: Kind,
    salt: i64,
    identity: Sampler,
    size: Sampler,
    cluster: Sampler,
    octets: FasterRandom,
    element: Option<Box<Column>>,
    release: Release,
}

impl Column {
    /// A column of this name and type. Its `salt` comes from [`super::salt`].
    ///
    /// # Errors
    /// When the size distribution can give a negative or an enormous size, or a cluster distribution a negative number.
    pub fn new(name: &str, kind: Kind, salt: i64, spec: &ColumnSpec) -> Result<Self, Error> {
        let element = match &kind {
            Kind::Set(element) | Kind::List(element) => {
                Some(Box::new(Self::new(name, (**element).clone(), salt, spec)?))
            }
            _ => None,
        };
        let size = spec
            .size
            .clone()
            .unwrap_or(Distribution::Uniform { min: 4, max: 8 });
        if kind.has_size() {
            check_range(name, "size", &size, 0, LARGEST)?;
        }
        let cluster = spec
            .cluster
            .clone()
            .unwrap_or(Distribution::Fixed { value: 1 });
        check_range(name, "cluster", &cluster, 0, i64::from(i32::MAX))?;
        let population = spec.population.clone().unwrap_or(Distribution::Uniform {
            min: 1,
            max: match kind {
                Kind::Timestamp | Kind::Timeuuid => FIFTY_YEARS_MS,
                _ => 100_000_000_000,
            },
        });
        Ok(Self {
            name: name.to_owned(),
            kind,
            salt,
            identity: Sampler::new(population),
            size: Sampler::new(size),
            cluster: Sampler::new(cluster),
            octets: FasterRandom::new(0),
            element,
            release: Release::default(),
        })
    }

    /// The column with the values of this release; without, those of 3.11.
    #[must_use]
    pub fn for_release(mut self, release: Release) -> Self {
        self.release = release;
        self.element = self
            .element
            .map(|element| Box::new(element.for_release(release)));
        self
    }

    /// The column's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The column's type.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The distribution of the number of values in a partition.
    pub fn cluster(&self) -> &Distribution {
        self.cluster.distribution()
    }

    /// Starts the values of `seed`.
    pub fn set_seed(&mut self, seed: i64) {
        self.identity.set_seed(seed ^ self.salt);
        self.cluster.set_seed(seed ^ !self.salt);
        if let Some(element) = &mut self.element {
            // The tool never seeds the size of a collection, so a distribution that is not fixed gives another
            // size each time. Seeded, the value of a seed can be told again.
            self.size.set_seed(seed ^ self.salt);
            element.set_seed(seed.wrapping_mul(31));
        }
    }

    /// How many values the column has in the partition or under the parent of this seed.
    pub fn cluster_count(&mut self) -> i64 {
        self.cluster.draw()
    }

    /// Appends the next value of the seed, as the native protocol writes it, to `value`.
    pub fn write(&mut self, value: &mut Vec<u8>) {
        match self.kind {
            Kind::Text => self.write_octets(value, |octet| (octet & 0x7f).wrapping_add(32) & 0x7f),
            Kind::Blob => self.write_octets(value, |octet| octet),
            Kind::HexBlob => self.write_hex(value),
            Kind::Set(_) => self.write_set(value),
            Kind::List(_) => self.write_list(value),
            Kind::Double => value.extend_from_slice(&self.identity.draw_f64().to_be_bytes()),
            Kind::Float => {
                value.extend_from_slice(&(self.identity.draw_f64() as f32).to_be_bytes());
            }
            _ => {
                let number = self.identity.draw();
                self.write_number(number, value);
            }
        }
    }

    /// The seed that `value`, one of this column's, passes on to the layers below.
    pub fn fold(&self, value: &[u8], seed: i64) -> i64 {
        fold(&self.kind, value, seed)
    }

    fn write_number(&self, number: i64, value: &mut Vec<u8>) {
        match self.kind {
            Kind::Boolean => value.push(u8::from(number % self.release.boolean_divisor() == 0)),
            Kind::Tinyint => value.push(number as u8),
            Kind::Smallint => value.extend_from_slice(&(number as i16).to_be_bytes()),
            Kind::Int | Kind::Inet => value.extend_from_slice(&(number as i32).to_be_bytes()),
            // Days from 1970 in Java, from -2^31 on the wire.
            Kind::Date => value.extend_from_slice(&(number as u32 ^ (1 << 31)).to_be_bytes()),
            Kind::Varint => push_varint(number, value),
            Kind::Decimal => {
                value.extend_from_slice(&[0; 4]);
                push_varint(number, value);
            }
            Kind::Uuid => {
                value.extend_from_slice(&number.to_be_bytes());
                value.extend_from_slice(&number.to_be_bytes());
            }
            Kind::Timeuuid => push_timeuuid(number, self.salt, value),
            _ => value.extend_from_slice(&number.to_be_bytes()),
        }
    }

    /// Octets of `FasterRandom`, lowest first, each changed by `map`.
    fn write_octets(&mut self, value: &mut Vec<u8>, map: impl Fn(u8) -> u8) {
        let seed = self.identity.draw();
        self.size.set_seed(seed);
        self.octets.set_seed(!seed);
        let size = self.drawn_size();
        let end = value.len() + size;
        // Whole words are written and the last one cut: copies of a known length are the fastest.
        value.reserve(size + 8);
        while value.len() < end {
            value.extend_from_slice(&self.octets.next_i64().to_le_bytes().map(&map));
        }
        value.truncate(end);
    }

    /// Sixteen nibbles of each number, lowest first; from ten on the letters begin at K.
    fn write_hex(&mut self, value: &mut Vec<u8>) {
        let seed = self.identity.draw();
        self.size.set_seed(seed);
        let size = self.drawn_size();
        let end = value.len() + size;
        value.reserve(size + 16);
        while value.len() < end {
            let number = self.identity.draw();
            let digits: [u8; 16] = std::array::from_fn(|at| {
                let digit = (number >> (4 * at)) as u8 & 0xf;
                digit + if digit < 10 { b'0' } else { b'A' }
            });
            value.extend_from_slice(&digits);
        }
        value.truncate(end);
    }

    fn drawn_size(&mut self) -> usize {
        usize::try_from(self.size.draw()).unwrap_or(0)
    }

    fn write_list(&mut self, value: &mut Vec<u8>) {
        let size = self.drawn_size();
        let Some(element) = &mut self.element else {
            return;
        };
        value.extend_from_slice(&(size as i32).to_be_bytes());
        for _ in 0..size {
            let start = value.len();
            value.extend_from_slice(&[0; 4]);
            element.write(value);
            let length = (value.len() - start - 4) as i32;
            value[start..start + 4].copy_from_slice(&length.to_be_bytes());
        }
    }

    /// The different values among as many draws as the size says, in the server's order.
    fn write_set(&mut self, value: &mut Vec<u8>) {
        let size = self.drawn_size();
        let Some(element) = &mut self.element else {
            return;
        };
        let mut elements: Vec<Vec<u8>> = (0..size)
            .map(|_| {
                let mut octets = Vec::new();
                element.write(&mut octets);
                octets
            })
            .collect();
        elements.sort_by(|a, b| server_order(&element.kind, a, b));
        elements.dedup();
        value.extend_from_slice(&(elements.len() as i32).to_be_bytes());
        for octets in &elements {
            value.extend_from_slice(&(octets.len() as i32).to_be_bytes());
            value.extend_from_slice(octets);
        }
    }
}

fn check_range(
    name: &str,
    what: &str,
    distribution: &Distribution,
    least: i64,
    greatest: i64,
) -> Result<(), Error> {
    // An inverted distribution gives its ends the other way round.
    let (low, high) = (
        distribution.min().min(distribution.max()),
        distribution.min().max(distribution.max()),
    );
    if low >= least && high <= greatest {
        return Ok(());
    }
    Err(Error::new(format!(
        "the {what} of column {name}, {distribution}, reaches from {low} to {high}: expected {least} to {greatest}"
    )))
}
