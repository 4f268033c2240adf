//! The journal of a search: every measurement made, what is left of the budget.

use super::{Meter, Observation, Stage, Step, Wish};

/// Measurements at one level, in the order in which they were made.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    pub level: f64,
    pub observations: Vec<Observation>,
}

impl Tried {
    pub fn throughputs(&self) -> Vec<f64> {
        self.observations.iter().map(|one| one.throughput).collect()
    }

    pub fn throughput(&self) -> f64 {
        mean(self.observations.iter().map(|one| one.throughput))
    }

    pub fn failed_share(&self) -> f64 {
        mean(self.observations.iter().map(|one| one.failed_share))
    }
}

/// The mean; 0 of nothing.
pub fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    if count > 0.0 {
        sum / count
    } else {
        0.0
    }
}

/// Asks the meter, remembers what it said, and tells it.
pub struct Journal<'a, M: Meter> {
    meter: &'a mut M,
    told: &'a mut dyn FnMut(&Step),
    budget_s: f64,
    pub spent_s: f64,
    pub steps: Vec<Step>,
}

impl<'a, M: Meter> Journal<'a, M> {
    pub fn new(wish: &Wish, meter: &'a mut M, told: &'a mut dyn FnMut(&Step)) -> Self {
        Journal {
            meter,
            told,
            budget_s: wish.budget_s,
            spent_s: 0.0,
            steps: Vec::new(),
        }
    }

    /// Whether a measurement of so many seconds still fits the budget.
    pub fn affords(&self, seconds: f64) -> bool {
        self.spent_s + seconds <= self.budget_s
    }

    /// Measures, or returns none if the budget is spent.
    pub fn measure(
        &mut self,
        stage: Stage,
        level: f64,
        seconds: f64,
    ) -> Result<Option<Observation>, M::Error> {
        if !self.affords(seconds) {
            return Ok(None);
        }
        let observation = self.meter.measure(level, seconds)?;
        self.spent_s += observation.seconds;
        let step = Step {
            number: self.steps.len() + 1,
            stage,
            spent_s: self.spent_s,
            observation: observation.clone(),
        };
        (self.told)(&step);
        self.steps.push(step);
        Ok(Some(observation))
    }

    /// Everything measured, by level, lowest first.
    pub fn tried(&self) -> Vec<Tried> {
        by_level(self.steps.iter().map(|step| step.observation.clone()))
    }
}

/// Sorts measurements by their level, lowest first.
pub fn by_level(observations: impl Iterator<Item = Observation>) -> Vec<Tried> {
    let mut tried: Vec<Tried> = Vec::new();
    for observation in observations {
        match tried.iter_mut().find(|one| one.level == observation.level) {
            Some(one) => one.observations.push(observation),
            None => tried.push(Tried {
                level: observation.level,
                observations: vec![observation],
            }),
        }
    }
    tried.sort_by(|a, b| a.level.total_cmp(&b.level));
    tried
}
