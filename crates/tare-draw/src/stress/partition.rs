//! One partition: its key, and its rows one after the other.

use super::layers::Layers;
use super::{Seed, Shape};
use crate::Rng;

/// From this chance on a row is always visited, as coded: (double) 0.99999f.
pub(super) const CERTAIN: f64 = 0.999_99_f32 as f64;

/// How an operation visits a partition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Visit {
    /// Writes: each row with this chance (`insert: select`).
    Write {
        /// The chance of each row.
        chance: f64,
    },
    /// Reads: about so many rows.
    Read {
        /// The number of rows to aim at.
        rows: i64,
    },
}

/// What the end of a visit that wrote says about the partition; [`super::Seeds::wrote`] takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// It was the first visit.
    pub first: bool,
    /// Nothing is left to write.
    pub last: bool,
}

/// One row: the partition key and the cells, in the form of the native protocol.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    key: &'a [Vec<u8>],
    cells: &'a [Option<Vec<u8>>],
}

impl<'a> Row<'a> {
    /// The value at a position; none for a cell that this row leaves empty.
    pub fn get(&self, position: super::Position) -> Option<&'a [u8]> {
        match position {
            super::Position::Key(at) => self.key.get(at).map(Vec::as_slice),
            super::Position::Cell(at) => self.cells.get(at)?.as_deref(),
        }
    }
}

/// Makes partitions of seeds, one at a time: the tool's `PartitionIterator`.
#[derive(Debug, Clone)]
pub struct Partition {
    pub(super) shape: Shape,
    key: Vec<Vec<u8>>,
    seed: i64,
    pub(super) layers: Layers,
    cells: Vec<Option<Vec<u8>>>,
    visit: Visit,
    row_share: f64,
    /// Chance that a row is visited at all, and its corrections for each layer, as compounded so far.
    pub(super) chance: f64,
    pub(super) chances: Vec<f64>,
    pub(super) rolls: Vec<f64>,
    /// Which value of each layer is the present one, and the last one to visit.
    pub(super) present: Vec<i64>,
    pub(super) last: Vec<i64>,
    first_write: bool,
    more: bool,
    ending: Option<Ending>,
}

impl Partition {
    /// A maker of partitions of this shape.
    pub fn new(shape: Shape) -> Self {
        let depth = shape.clustering.len();
        Self {
            key: vec![Vec::new(); shape.key.len()],
            seed: 0,
            layers: Layers::new(depth),
            cells: vec![None; depth + shape.values.len()],
            visit: Visit::Read { rows: 1 },
            row_share: 1.0,
            chance: 0.0,
            chances: vec![1.0; depth],
            rolls: vec![1.0; depth],
            present: vec![0; depth],
            last: vec![0; depth],
            first_write: false,
            more: false,
            ending: None,
            shape,
        }
    }

    /// The table's columns.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The partition key of the present partition, one value a column.
    pub fn key(&self) -> &[Vec<u8>] {
        &self.key
    }

    /// What the visit's end says; after the last row of a write, or when there was none.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// Begins a visit to the partition of `seed`. In each row about `row_share` of the cells are filled.
    ///
    /// False when no row is left for it: then [`super::Seeds::wrote`] takes the [`Ending`] and the
    /// operation another seed.
    pub fn begin(&mut self, seed: &Seed, visit: Visit, row_share: f64, rng: &mut impl Rng) -> bool {
        self.set_seed(seed.number());
        self.visit = visit;
        self.row_share = row_share;
        self.ending = None;
        self.more = true;
        self.first_write = self.layers.depth() == 0;
        if self.layers.depth() == 0 {
            return true;
        }
        self.begin_layers(seed, rng);
        self.more
    }

    /// The next row of the visit.
    pub fn next_row(&mut self, rng: &mut impl Rng) -> Option<Row<'_>> {
        if !self.more {
            return None;
        }
        let depth = self.layers.depth();
        let row_seed = if depth == 0 {
            self.seed
        } else {
            for at in 0..depth {
                set_cell(&mut self.cells[at], self.layers.present(at));
            }
            self.layers.row_seed(&self.shape)
        };
        self.write_values(row_seed);
        let more = depth > 0 && self.advance(depth - 1, false, rng);
        self.set_more(more);
        Some(Row {
            key: &self.key,
            cells: &self.cells,
        })
    }

    fn set_seed(&mut self, number: i64) {
        self.seed = 0;
        for (column, value) in self.shape.key.iter_mut().zip(&mut self.key) {
            column.set_seed(number);
            value.clear();
            column.write(value);
            self.seed = column.fold(value, self.seed);
        }
    }

    /// The values of a row; the last columns stay empty when its share is under 1.
    fn write_values(&mut self, row_seed: i64) {
        let total = self.shape.values.len() as f64;
        let cells = &mut self.cells[self.shape.clustering.len()..];
        for (at, (column, cell)) in self.shape.values.iter_mut().zip(cells).enumerate() {
            if (at + 1) as f64 / total > self.row_share {
                *cell = None;
                continue;
            }
            let value = cell.get_or_insert_with(Vec::new);
            value.clear();
            column.set_seed(row_seed);
            column.write(value);
        }
    }

    /// Goes to the first row of the visit.
    fn begin_layers(&mut self, seed: &Seed, rng: &mut impl Rng) {
        let column = &mut self.shape.clustering[0];
        column.set_seed(self.seed);
        let expected = column
            .cluster_count()
            .saturating_mul(self.shape.descendants[0]);
        if self.chance < 1.0 {
            self.rolls.fill(1.0);
            self.chances.fill(1.0);
        }
        self.chance = match self.visit {
            Visit::Write { chance } => chance,
            // Rows over expected rows; no expected row at all asks for every one there is.
            Visit::Read { rows } => (rows as f64 / expected.max(1) as f64).clamp(0.0, 1.0),
        };
        self.layers.clear();
        self.fill(0, rng);
        if let Visit::Read { .. } = self.visit {
            self.last.fill(i64::MAX);
            let more = self.seek(0, rng);
            self.set_more(more);
            return;
        }
        let count = match seed.visits() {
            1 => self.shape.rows().1.saturating_add(1),
            visits => (expected / visits.max(1)).max(1),
        };
        loop {
            let position = seed.move_forward(count);
            self.first_write |= position == 0;
            self.last = self.decompose(position.saturating_add(count - 1));
            let more = self.seek(position, rng);
            self.set_more(more);
            if more || seed.visits() == 1 || self.ending.is_some_and(|ending| ending.last) {
                return;
            }
            // The range lies between rows: go on with the next one.
            self.ending = None;
            self.layers.clear();
            self.fill(0, rng);
        }
    }

    fn set_more(&mut self, more: bool) {
        self.more = more;
        if !more && matches!(self.visit, Visit::Write { .. }) {
            self.ending = Some(Ending {
                first: self.first_write,
                last: self.layers.depth() == 0 || self.layers.remaining(0) == 0,
            });
        }
    }

    pub(super) fn fill(&mut self, depth: usize, rng: &mut impl Rng) {
        self.layers.fill(&mut self.shape, depth, self.seed, rng);
    }
}

fn set_cell(cell: &mut Option<Vec<u8>>, value: Option<&[u8]>) {
    let octets = cell.get_or_insert_with(Vec::new);
    octets.clear();
    octets.extend_from_slice(value.unwrap_or_default());
}
