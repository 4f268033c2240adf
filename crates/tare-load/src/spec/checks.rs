//! Which values of a specification make sense.

use tare_engine::errors::Fatal;
use tare_engine::order::Rate;

use super::workload::MOST_INSERTED;
use super::{
    Phase, Spec, Workload, HIGHEST_RATE, MAX_RECORDS, MAX_SECONDS, MAX_THREADS, MAX_WEIGHT,
};

impl Spec {
    /// Refuses what could not run; the error names the field.
    pub(super) fn check(&self) -> Result<(), Fatal> {
        let refuse = |field: &str, why: String| Err(Fatal::spec(field, why));
        if self.targets.is_empty() {
            return refuse("targets", "needs at least one address:port".into());
        }
        for target in &self.targets {
            if !is_target(target) {
                return refuse("targets", format!("{target:?} is not address:port"));
            }
        }
        self.check_mongodb()?;
        if !is_identifier(&self.keyspace) {
            let why = format!("{:?} is not a CQL identifier", self.keyspace);
            return refuse("keyspace", why);
        }
        if self.records == 0 || self.records > MAX_RECORDS {
            return refuse("records", format!("must be 1 to {MAX_RECORDS}"));
        }
        let clients = self.client.share.of();
        if self.records < u64::from(clients) {
            let why = format!("{clients} clients cannot share {} records", self.records);
            return refuse("client", why);
        }
        if self.threads == 0 || self.threads > MAX_THREADS {
            return refuse("threads", format!("must be 1 to {MAX_THREADS}"));
        }
        self.check_rate()?;
        self.check_times()?;
        self.check_slices()?;
        self.check_workload()
    }

    /// The connection string itself is read where the workload is made.
    fn check_mongodb(&self) -> Result<(), Fatal> {
        let hosts = self.reached.iter().flat_map(|(member, at)| [member, at]);
        if let Some(host) = hosts.clone().find(|host| !is_target(host)) {
            return Err(Fatal::spec(
                "reached",
                format!("{host:?} is not address:port"),
            ));
        }
        if self.mongodb.is_none() && !self.reached.is_empty() {
            return Err(Fatal::spec("reached", "is of MongoDB"));
        }
        match (&self.mongodb, &self.workload) {
            (Some(_), _) if self.tls.is_some() => Err(Fatal::spec(
                "tls",
                "is of CQL; MongoDB has it in its connection string",
            )),
            (None, _) | (Some(_), Workload::Ycsb(_)) => Ok(()),
            (Some(_), _) => Err(Fatal::spec(
                "mongodb",
                "MongoDB knows the workloads of YCSB only",
            )),
        }
    }

    fn check_rate(&self) -> Result<(), Fatal> {
        let sane = |rate: f64| (0.0..=HIGHEST_RATE).contains(&rate);
        if self.rate.is_some_and(|rate| !(sane(rate) && rate > 0.0)) {
            return Err(Fatal::spec(
                "rate",
                "must be above 0 and at most 10 million",
            ));
        }
        if self.schedule.is_empty() {
            return Ok(());
        }
        if self.rate.is_some() {
            return Err(Fatal::spec(
                "rate",
                "must be null where there is a schedule",
            ));
        }
        let corners = self
            .schedule
            .iter()
            .map(|corner| tare_engine::order::Corner {
                at: corner.at_s,
                rate: corner.rate,
            });
        if !self.schedule.iter().all(|corner| sane(corner.rate)) {
            return Err(Fatal::spec("schedule", "rates must be 0 to 10 million"));
        }
        match Rate::through(corners.collect()) {
            Some(_) => Ok(()),
            None => Err(Fatal::spec(
                "schedule",
                "times must not fall, and the last rate must be above 0",
            )),
        }
    }

    fn check_times(&self) -> Result<(), Fatal> {
        for (field, seconds, least) in [
            ("warmup_s", self.warmup_s, 0.0),
            ("measure_s", self.measure_s, 0.001),
            ("interval_s", self.interval_s, 0.01),
            ("timeout_s", self.timeout_s, 0.001),
        ] {
            if !(seconds >= least && seconds <= MAX_SECONDS) {
                return Err(Fatal::spec(
                    field,
                    format!("must be {least} to 1e7 seconds"),
                ));
            }
        }
        if self.start_at.is_some_and(|at| !(0.0..=1e11).contains(&at)) {
            return Err(Fatal::spec("start_at", "must be seconds of Unix time"));
        }
        Ok(())
    }

    fn check_workload(&self) -> Result<(), Fatal> {
        let table = self.table.as_deref().unwrap_or_default();
        let has_table = !matches!(self.workload, Workload::Statements(_));
        if has_table && !is_identifier(table) {
            let why = format!("{table:?} is not a CQL identifier");
            return Err(Fatal::spec("table", why));
        }
        let weights = self.workload.weights();
        for (name, weight) in &weights {
            if !(0.0..=MAX_WEIGHT).contains(weight) {
                return Err(Fatal::spec(format!("workload.{name}"), "must be 0 to 1e9"));
            }
        }
        if weights.iter().all(|(_, weight)| *weight == 0.0) {
            let place = format!("workload.{}", weights.first().map_or("operations", |w| w.0));
            return Err(Fatal::spec(place, "no operation has a weight"));
        }
        for (field, value, most) in self.workload.sizes() {
            if value == 0 || value > most {
                let why = format!("must be 1 to {most}");
                return Err(Fatal::spec(format!("workload.{field}"), why));
            }
        }
        if let Workload::Ycsb(ycsb) = &self.workload {
            if ycsb.inserted_before > MOST_INSERTED {
                let why = format!("must be at most {MOST_INSERTED}");
                return Err(Fatal::spec("workload.inserted_before", why));
            }
        }
        self.check_statements()
    }

    fn check_statements(&self) -> Result<(), Fatal> {
        let Workload::Statements(statements) = &self.workload else {
            return match self.mixes.is_empty() {
                true => Ok(()),
                false => Err(Fatal::spec(
                    "mixes",
                    "only workloads of statements have mixes",
                )),
            };
        };
        if self.phase == Phase::Populate && statements.populate.is_none() {
            return Err(Fatal::spec(
                "workload.populate",
                "there is nothing to populate with",
            ));
        }
        for mix in &self.mixes {
            let known = |name: &&String| {
                statements
                    .operations
                    .iter()
                    .any(|operation| operation.name == **name)
            };
            if let Some(unknown) = mix.weights.keys().find(|name| !known(name)) {
                let why = format!("there is no operation {unknown:?}");
                return Err(Fatal::spec("mixes.weights", why));
            }
            let sane = mix
                .weights
                .values()
                .all(|weight| (0.0..=MAX_WEIGHT).contains(weight));
            let any = mix.weights.values().any(|&weight| weight > 0.0);
            if !sane || !any || !mix.at_s.is_finite() {
                let why = "weights must be 0 to 1e9, and one of them above 0";
                return Err(Fatal::spec("mixes.weights", why));
            }
        }
        Ok(())
    }
}

fn is_target(target: &str) -> bool {
    target.rsplit_once(':').is_some_and(|(host, port)| {
        !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0)
    })
}

/// Names go into CQL text, so only plain identifiers may pass.
fn is_identifier(name: &str) -> bool {
    name.len() <= 48
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
