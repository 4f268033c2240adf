//! The partitions that wait for another visit.

use std::collections::HashMap;

use super::{Sampler, Seed};
use crate::Rng;

/// Partitions under way, oldest first, picked by their number in that order.
///
/// The k-th one is found by a Fenwick tree over the places, so that a million of them cost a score of
/// steps (Fenwick, "A new data structure for cumulative frequency tables", 1994).
#[derive(Debug)]
pub(super) struct Sample {
    distribution: Sampler,
    offset: i64,
    most: usize,
    /// Keep a partition from its first visit on, not only after it.
    at_once: bool,
    /// Each partition that is being written, and its place when it waits.
    managed: HashMap<i64, Option<usize>>,
    places: Vec<Option<Seed>>,
    tree: Vec<u32>,
    waiting: usize,
}

impl Sample {
    pub(super) fn new(distribution: Sampler, offset: i64, most: i64, at_once: bool) -> Self {
        Self {
            distribution,
            offset,
            most: usize::try_from(most).unwrap_or(usize::MAX),
            at_once,
            managed: HashMap::new(),
            places: Vec::new(),
            tree: Vec::new(),
            waiting: 0,
        }
    }

    /// A partition for another visit; none when the number drawn is beyond those that wait.
    pub(super) fn pick(&mut self, rng: &mut impl Rng) -> Option<Seed> {
        let index = usize::try_from(self.distribution.draw_from(rng) - self.offset).ok()?;
        let place = self.find(index)?;
        self.places[place].clone()
    }

    /// Takes on a new partition; false when it is being written already, or when no more can wait.
    pub(super) fn manage(&mut self, seed: &Seed) -> bool {
        let full = self.at_once && self.waiting >= self.most;
        if full || self.managed.contains_key(&seed.number()) {
            return false;
        }
        self.managed.insert(seed.number(), None);
        if self.at_once {
            self.keep(seed);
        }
        true
    }

    /// Lets a managed partition wait for another visit.
    pub(super) fn keep(&mut self, seed: &Seed) {
        if self.managed.get(&seed.number()) != Some(&None) {
            return;
        }
        if self.places.len() >= 1024.max(2 * self.waiting) {
            self.compact();
        }
        let place = self.places.len();
        self.managed.insert(seed.number(), Some(place));
        self.places.push(Some(seed.clone()));
        self.waiting += 1;
        self.append();
    }

    /// Ends with a partition.
    pub(super) fn drop_seed(&mut self, seed: &Seed) {
        if let Some(Some(place)) = self.managed.remove(&seed.number()) {
            self.places[place] = None;
            self.waiting -= 1;
            let mut node = place + 1;
            while node <= self.tree.len() {
                self.tree[node - 1] -= 1;
                node += node & node.wrapping_neg();
            }
        }
    }

    /// The place of the waiting partition number `index`, from 0.
    fn find(&self, index: usize) -> Option<usize> {
        if index >= self.waiting {
            return None;
        }
        let mut rest = index as u32;
        let mut place = 0;
        let mut step = (self.tree.len() + 1).next_power_of_two();
        while step > 0 {
            let next = place + step;
            if next <= self.tree.len() && self.tree[next - 1] <= rest {
                rest -= self.tree[next - 1];
                place = next;
            }
            step /= 2;
        }
        Some(place)
    }

    /// Adds the node of the place that was appended last, with the sum that it covers.
    fn append(&mut self) {
        let node = self.places.len();
        let covered_from = node - (node & node.wrapping_neg());
        let mut sum = 1;
        let mut child = node - 1;
        while child > covered_from {
            sum += self.tree[child - 1];
            child -= child & child.wrapping_neg();
        }
        self.tree.push(sum);
    }

    /// Closes the gaps that ended partitions left.
    fn compact(&mut self) {
        let seeds: Vec<Seed> = self.places.drain(..).flatten().collect();
        self.tree.clear();
        for seed in seeds {
            let place = self.places.len();
            self.managed.insert(seed.number(), Some(place));
            self.places.push(Some(seed));
            self.append();
        }
    }
}
