//! The slices of a specification: when this client drives its cluster, and others do not.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use tare_engine::errors::Fatal;
use tare_engine::slices::Slices;

use super::{Phase, Spec};

/// Longest run of slices, seconds.
const LONGEST: f64 = 1e6;

/// Slices of one length; they take the place of `warmup_s`, `measure_s` and `interval_s`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Slicing {
    /// Seconds in which operations are begun.
    #[schemars(range(max = LONGEST), extend("exclusiveMinimum" = 0, "unit" = "s"))]
    pub length_s: f64,
    /// Seconds after that for the last replies.
    #[schemars(range(min = 0.0, max = LONGEST), extend("unit" = "s"))]
    pub drain_s: f64,
    /// Slices at the start that are left out of the result.
    pub warmup: u64,
    /// When each begins, seconds from `start_at`; the first is 0.
    #[schemars(length(min = 1), inner(range(min = 0.0, max = LONGEST)), extend("unit" = "s"))]
    pub begins_s: Vec<f64>,
}

impl Slicing {
    /// The engine's slices; none where they overlap or nothing would be measured.
    pub fn slices(&self) -> Option<Slices> {
        let seconds = |time: f64| {
            let sane = (0.0..=LONGEST).contains(&time);
            sane.then(|| Duration::from_secs_f64(time))
        };
        let begins: Option<Vec<Duration>> = self.begins_s.iter().map(|&at| seconds(at)).collect();
        let (length, drain) = (seconds(self.length_s)?, seconds(self.drain_s)?);
        Slices::new(length, drain, self.warmup, &begins?)
    }
}

impl Spec {
    pub(super) fn check_slices(&self) -> Result<(), Fatal> {
        self.check_connections()?;
        let Some(slicing) = &self.slices else {
            return Ok(());
        };
        if self.phase == Phase::Populate || !self.schedule.is_empty() || !self.mixes.is_empty() {
            let why = "a table is filled, and a load changes over time, in one piece";
            return Err(Fatal::spec("slices", why));
        }
        if slicing.slices().is_none() {
            let why = "the first must begin at 0, each after the drain of the one before, and one \
                       at least must be left to be measured";
            return Err(Fatal::spec("slices", why));
        }
        Ok(())
    }

    /// Opening a connection blocks its thread, so that one operation is under way at a time.
    fn check_connections(&self) -> Result<(), Fatal> {
        let Some(most) = self.connections_per_slice else {
            return Ok(());
        };
        let alone = self.threads == 1 && self.rate.is_none() && self.mongodb.is_none();
        if most == 0 || !alone || self.slices.is_none() {
            let why = "must be 1 or more, with slices, one thread, no rate and CQL";
            return Err(Fatal::spec("connections_per_slice", why));
        }
        Ok(())
    }
}
