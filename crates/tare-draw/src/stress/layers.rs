//! The clustering columns of one partition, one layer each, with the values still to visit.

use std::collections::{HashSet, VecDeque};

use super::shape::{Contents, Shape};
use super::value::java_order;
use crate::Rng;

/// For each clustering column the values that remain under the present value of the one before.
#[derive(Debug, Clone, Default)]
pub(super) struct Layers {
    layers: Vec<VecDeque<Vec<u8>>>,
    /// What the first value of each layer gave on to the layer below.
    seeds: Vec<i64>,
}

impl Layers {
    pub(super) fn new(depth: usize) -> Self {
        Self {
            layers: vec![VecDeque::new(); depth],
            seeds: vec![0; depth],
        }
    }

    /// How many layers there are.
    pub(super) fn depth(&self) -> usize {
        self.layers.len()
    }

    pub(super) fn clear(&mut self) {
        self.layers.iter_mut().for_each(VecDeque::clear);
    }

    /// How many values remain in a layer.
    pub(super) fn remaining(&self, depth: usize) -> usize {
        self.layers[depth].len()
    }

    /// The present value of a layer.
    pub(super) fn present(&self, depth: usize) -> Option<&[u8]> {
        self.layers[depth].front().map(Vec::as_slice)
    }

    /// Leaves the present value of a layer.
    pub(super) fn leave(&mut self, depth: usize) {
        self.layers[depth].pop_front();
    }

    /// Puts something in front of a layer, to be left next.
    pub(super) fn step_back(&mut self, depth: usize) {
        self.layers[depth].push_front(Vec::new());
    }

    /// The seed of the values in the row that the layers now stand at.
    pub(super) fn row_seed(&self, shape: &Shape) -> i64 {
        let last = self.depth() - 1;
        self.folded(shape, last, self.seeds[last])
    }

    /// Fills a layer with the values that the seed of the layer above gives; `partition_seed` is above
    /// the first.
    ///
    /// As coded, the layer above counts with the first value that it was filled with, so that all its
    /// values have the same children.
    pub(super) fn fill(
        &mut self,
        shape: &mut Shape,
        depth: usize,
        partition_seed: i64,
        rng: &mut impl Rng,
    ) {
        let seed = match depth {
            0 => partition_seed,
            _ => self.seeds[depth - 1],
        };
        let column = &mut shape.clustering[depth];
        column.set_seed(seed);
        let count = column.cluster_count();
        let mut values: Vec<Vec<u8>> = (0..count)
            .map(|_| {
                let mut value = Vec::new();
                column.write(&mut value);
                value
            })
            .collect();
        if count != 1 {
            arrange(&mut values, shape, depth, rng);
        }
        self.layers[depth].extend(values);
        self.seeds[depth] = self.folded(shape, depth, seed);
    }

    fn folded(&self, shape: &Shape, depth: usize, seed: i64) -> i64 {
        match self.present(depth) {
            Some(value) => shape.clustering[depth].fold(value, seed),
            None => seed,
        }
    }
}

/// Leaves each value once, in the order that the partition's contents have.
fn arrange(values: &mut Vec<Vec<u8>>, shape: &Shape, depth: usize, rng: &mut impl Rng) {
    if shape.sorts(depth) {
        let kind = shape.clustering[depth].kind();
        values.sort_by(|a, b| java_order(kind, a, b).unwrap_or(std::cmp::Ordering::Equal));
        values.dedup();
        return;
    }
    let mut seen = HashSet::new();
    values.retain(|value| seen.insert(value.clone()));
    if shape.contents == Contents::Shuffled {
        for at in 0..values.len() {
            let other = at + rng.next_below((values.len() - at) as u64) as usize;
            values.swap(at, other);
        }
    }
}
