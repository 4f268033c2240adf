//! The connection of one worker to the cluster: driver settings, prepared statements, sending.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::client::PoolSize;
use scylla::policies::load_balancing::DefaultPolicy;
use scylla::policies::retry::FallthroughRetryPolicy;
use scylla::response::query_result::QueryResult;
use scylla::statement::prepared::PreparedStatement;
use scylla::statement::Consistency;
use scylla::value::Row;

use crate::errors::{ErrorKind, Fatal};
use crate::spec::{Level, Spec};
use crate::workload::{Class, Request, Shape};

/// Longest wait for one connection; an unreachable cluster must be told within seconds.
const CONNECT: Duration = Duration::from_secs(3);
/// Longest wait for the cluster's metadata and all pools, and again for all statements.
const SETUP: Duration = Duration::from_secs(5);
/// Operations in flight that one connection carries well.
const IN_FLIGHT_PER_CONNECTION: usize = 64;
/// Operations per second that one connection carries well.
const RATE_PER_CONNECTION: f64 = 20_000.0;
const MOST_CONNECTIONS: usize = 8;

/// One session with everything prepared.
pub struct Connection {
    session: Session,
    statements: Vec<PreparedStatement>,
    validate: bool,
    /// Nodes with an open connection, and connections to all of them.
    pub nodes: usize,
    pub connections: usize,
}

impl From<Level> for Consistency {
    fn from(level: Level) -> Consistency {
        match level {
            Level::Any => Consistency::Any,
            Level::One => Consistency::One,
            Level::Two => Consistency::Two,
            Level::Three => Consistency::Three,
            Level::Quorum => Consistency::Quorum,
            Level::All => Consistency::All,
            Level::LocalQuorum => Consistency::LocalQuorum,
            Level::EachQuorum => Consistency::EachQuorum,
            Level::LocalOne => Consistency::LocalOne,
        }
    }
}

impl Connection {
    /// Connects one of `workers` workers to every node and prepares the shape's statements.
    pub async fn open(spec: &Spec, shape: &Shape, workers: usize) -> Result<Connection, Fatal> {
        let pool = pool_size(spec, workers);
        let targets = spec.targets.join(", ");
        let builder = builder(spec, pool);
        let session = tokio::time::timeout(SETUP, builder.build())
            .await
            .map_err(|_| Fatal::new("unreachable", &targets, "no answer within 5 s"))?
            .map_err(|e| Fatal::new("unreachable", &targets, e))?;
        let nodes = connected_nodes(&session)?;
        let preparing = prepare(&session, spec, shape);
        let statements = tokio::time::timeout(SETUP, preparing)
            .await
            .map_err(|_| Fatal::new("schema", &spec.table, "not prepared within 5 s"))??;
        Ok(Connection {
            session,
            statements,
            validate: spec.validate,
            nodes,
            connections: nodes * pool.get(),
        })
    }

    /// Sends one operation and waits for its answer.
    pub async fn execute(&self, shape: &Shape, request: &Request) -> Result<(), ErrorKind> {
        let statement = &self.statements[request.statement()];
        match self.session.execute_unpaged(statement, request).await {
            Err(error) => Err(ErrorKind::of(&error)),
            Ok(_) if request.class() == Class::Write => Ok(()),
            Ok(result) => self.check(shape, request, result),
        }
    }

    /// A read must find its row: a benchmark of empty reads would measure something else.
    /// The number of rows is in the frame's header, so that looking costs nothing.
    fn check(
        &self,
        shape: &Shape,
        request: &Request,
        result: QueryResult,
    ) -> Result<(), ErrorKind> {
        let rows = result.into_rows_result().map_err(|_| ErrorKind::Other)?;
        if rows.rows_num() == 0 {
            return Err(ErrorKind::NotFound);
        }
        if self.validate {
            let row = rows.first_row::<Row>().map_err(|_| ErrorKind::WrongValue)?;
            if !shape.holds(request, &row) {
                return Err(ErrorKind::WrongValue);
            }
        }
        Ok(())
    }
}

/// Connections per node of one worker's session.
fn pool_size(spec: &Spec, workers: usize) -> NonZeroUsize {
    let wanted = match spec.rate {
        Some(rate) => (rate / RATE_PER_CONNECTION).ceil() as usize,
        None => spec.threads.div_ceil(IN_FLIGHT_PER_CONNECTION),
    };
    let each = wanted.clamp(1, MOST_CONNECTIONS).div_ceil(workers);
    NonZeroUsize::new(each).unwrap_or(NonZeroUsize::MIN)
}

/// What the driver must do: token-aware routing, one attempt per operation, and no work of its
/// own during a measurement.
fn builder(spec: &Spec, pool: NonZeroUsize) -> SessionBuilder {
    let profile = ExecutionProfile::builder()
        .load_balancing_policy(DefaultPolicy::builder().token_aware(true).build())
        .retry_policy(Arc::new(FallthroughRetryPolicy::new()))
        .speculative_execution_policy(None)
        .request_timeout(Some(Duration::from_secs_f64(spec.timeout_s)))
        .build();
    SessionBuilder::new()
        .known_nodes(&spec.targets)
        .pool_size(PoolSize::PerHost(pool))
        .connection_timeout(CONNECT)
        .hostname_resolution_timeout(Some(CONNECT))
        .default_execution_profile_handle(profile.into_handle())
        .keyspaces_to_fetch([spec.keyspace.clone()])
        .fetch_full_schema_metadata(false)
        .cluster_metadata_refresh_interval(Duration::from_secs(24 * 3600))
        .driver_config_reporting(false)
}

fn connected_nodes(session: &Session) -> Result<usize, Fatal> {
    let state = session.get_cluster_state();
    let (up, down): (Vec<_>, Vec<_>) = state
        .get_nodes_info()
        .iter()
        .partition(|node| node.is_connected());
    if up.is_empty() {
        let reported: Vec<String> = down.iter().map(|node| node.address.to_string()).collect();
        let why = "the cluster answers, but reports addresses that cannot be reached from here";
        return Err(Fatal::new("unreachable", reported.join(", "), why));
    }
    Ok(up.len())
}

async fn prepare(
    session: &Session,
    spec: &Spec,
    shape: &Shape,
) -> Result<Vec<PreparedStatement>, Fatal> {
    let mut statements = Vec::new();
    for text in shape.statements() {
        let mut statement = session
            .prepare(text.cql.as_str())
            .await
            .map_err(|e| Fatal::new("schema", &text.cql, e))?;
        let level = match text.class {
            Class::Read => spec.consistency.read,
            Class::Write => spec.consistency.write,
        };
        statement.set_consistency(level.into());
        // The columns are known since the statement was prepared; need not come with each row.
        statement.set_use_cached_result_metadata(true);
        statements.push(statement);
    }
    Ok(statements)
}
