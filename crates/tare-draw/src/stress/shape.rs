//! The columns of a table: its partition key, its clustering columns, its values.

use super::value::has_java_order;
use super::{Column, Release};

/// The order of the rows within a partition (`-pop contents=`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Contents {
    /// As drawn, always the same.
    #[default]
    Arbitrary,
    /// Sorted by each clustering column.
    Sorted,
    /// Shuffled anew each time.
    Shuffled,
}

/// Where a column stands in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// This column of the partition key.
    Key(usize),
    /// This cell: the clustering columns first, then the values.
    Cell(usize),
}

/// The columns of a table, in the order of the schema.
#[derive(Debug, Clone)]
pub struct Shape {
    pub(super) key: Vec<Column>,
    pub(super) clustering: Vec<Column>,
    pub(super) values: Vec<Column>,
    pub(super) contents: Contents,
    /// How many values a clustering column has on the average, at least 1.
    pub(super) averages: Vec<i64>,
    /// How many rows lie under one value of a clustering column on the average, at least 1.
    pub(super) descendants: Vec<i64>,
}

impl Shape {
    /// A table of these columns.
    pub fn new(
        key: Vec<Column>,
        clustering: Vec<Column>,
        values: Vec<Column>,
        contents: Contents,
    ) -> Self {
        let averages: Vec<i64> = clustering
            .iter()
            .map(|column| column.cluster().average().max(1))
            .collect();
        let mut descendants = vec![1i64; averages.len()];
        for at in (1..averages.len()).rev() {
            descendants[at - 1] = descendants[at].saturating_mul(averages[at]);
        }
        Self {
            key,
            clustering,
            values,
            contents,
            averages,
            descendants,
        }
    }

    /// The table with the values of this release; without, those of 3.11.
    #[must_use]
    pub fn for_release(mut self, release: Release) -> Self {
        for columns in [&mut self.key, &mut self.clustering, &mut self.values] {
            *columns = std::mem::take(columns)
                .into_iter()
                .map(|column| column.for_release(release))
                .collect();
        }
        self
    }

    /// Where the column `name` stands, if the table has it.
    pub fn position(&self, name: &str) -> Option<Position> {
        let key = self.key.iter().position(|column| column.name() == name);
        let cells = || self.clustering.iter().chain(&self.values);
        key.map(Position::Key).or_else(|| {
            cells()
                .position(|column| column.name() == name)
                .map(Position::Cell)
        })
    }

    /// The least and the greatest number of rows in a partition.
    pub fn rows(&self) -> (i64, i64) {
        let product = |end: fn(&super::Distribution) -> i64| {
            self.clustering.iter().fold(1i64, |rows, column| {
                rows.saturating_mul(end(column.cluster()))
            })
        };
        (
            product(|distribution| distribution.min()),
            product(|distribution| distribution.max()),
        )
    }

    /// Whether the values of the clustering column at `depth` come sorted.
    pub(super) fn sorts(&self, depth: usize) -> bool {
        self.contents == Contents::Sorted && has_java_order(self.clustering[depth].kind())
    }
}
