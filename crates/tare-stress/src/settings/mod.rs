//! Everything that a command line says, with the defaults of what it does not say.

pub mod column;
pub mod command;
mod describe;
pub mod errors;
pub mod forms;
pub mod graph;
pub mod insert;
pub mod log;
pub mod mode;
pub mod node;
pub mod population;
pub mod port;
pub mod rate;
pub mod schema;
pub mod token_range;
pub mod transport;

use crate::grammar::options::Group;
use crate::grammar::words::{take, Section};
use crate::grammar::Usage;
use tare_engine::nearest::hint;

use column::Columns;
use command::{Command, Detail};
use describe::Dump;
use errors::Errors;
use insert::Insert;
use log::Log;
use mode::Mode;
use node::Nodes;
use population::Population;
use port::Port;
use rate::Rate;
use schema::Schema;
use token_range::TokenRange;
use transport::Transport;

/// The options, what each is for, and the groups that it may be said in.
pub const OPTIONS: &[(&str, &str, &[Group])] = &[
    (
        "-pop",
        "Population distribution and intra-partition visit order",
        population::GROUPS,
    ),
    (
        "-insert",
        "Batching and splitting of partition updates",
        insert::GROUPS,
    ),
    (
        "-col",
        "Column details such as size and count distribution, names",
        column::GROUPS,
    ),
    (
        "-rate",
        "Thread count, rate limit or automatic mode (default is auto)",
        rate::GROUPS,
    ),
    (
        "-mode",
        "Protocol version, compression, credentials",
        mode::GROUPS,
    ),
    (
        "-errors",
        "How to handle errors when encountered during stress",
        errors::GROUPS,
    ),
    (
        "-schema",
        "Replication settings, compression, compaction, etc.",
        schema::GROUPS,
    ),
    ("-node", "Nodes to connect to", node::GROUPS),
    (
        "-log",
        "Where to log progress to, and the interval at which to do it",
        log::GROUPS,
    ),
    ("-transport", "TLS", transport::GROUPS),
    (
        "-port",
        "The port to connect to cassandra nodes on",
        port::GROUPS,
    ),
    ("-graph", "Refused: graph recorded metrics", graph::GROUPS),
    ("-tokenrange", "Token range settings", token_range::GROUPS),
];

#[derive(Debug, Clone)]
pub struct Settings {
    pub command: Command,
    pub rate: Rate,
    pub population: Population,
    pub insert: Insert,
    pub columns: Columns,
    pub errors: Errors,
    pub log: Log,
    pub mode: Mode,
    pub nodes: Nodes,
    pub schema: Schema,
    pub transport: Transport,
    pub port: Port,
    pub token_range: TokenRange,
}

impl Settings {
    /// Reads all sections of a command line.
    pub fn read(mut sections: Vec<Section>) -> Result<Settings, Usage> {
        let sections = &mut sections;
        refuse(sections)?;
        let command = Command::read(sections)?;
        let mut given = |name: &str| take(sections, name);
        let profile = command.profile().map(|profile| profile.keyspace.clone());
        graph::refuse(given("-graph").as_deref())?;
        let settings = Settings {
            rate: Rate::read(given("-rate").as_deref(), &command)?,
            population: Population::read(given("-pop").as_deref(), &command)?,
            insert: Insert::read(given("-insert").as_deref())?,
            columns: Columns::read(given("-col").as_deref())?,
            errors: Errors::read(given("-errors").as_deref())?,
            log: Log::read(given("-log").as_deref())?,
            mode: Mode::read(given("-mode").as_deref())?,
            nodes: Nodes::read(given("-node").as_deref())?,
            schema: Schema::read(given("-schema").as_deref(), profile.as_deref())?,
            transport: Transport::read(given("-transport").as_deref())?,
            port: Port::read(given("-port").as_deref())?,
            token_range: TokenRange::read(given("-tokenrange").as_deref())?,
            command,
        };
        match sections.first() {
            None => Ok(settings),
            Some(section) => Err(unknown(section)),
        }
    }

    /// The settings in the words of the tool, line by line.
    pub fn dump(&self) -> Vec<String> {
        let title = "******************** Stress Settings ********************";
        let mut out = Dump(vec![title.to_owned()]);
        let mut part = |title: &str, dump: &dyn Fn(&mut Dump)| {
            out.title(title);
            dump(&mut out);
        };
        part("Command", &|out| self.command.dump(out));
        part("Rate", &|out| self.rate.dump(out));
        part("Population", &|out| self.population.dump(out));
        part("Insert", &|out| self.insert.dump(out));
        if matches!(self.command.detail, Detail::Predefined { .. }) {
            part("Columns", &|out| self.columns.dump(out));
        }
        part("Errors", &|out| self.errors.dump(out));
        part("Log", &|out| self.log.dump(out));
        part("Mode", &|out| self.mode.dump(out));
        part("Node", &|out| self.nodes.dump(out));
        part("Schema", &|out| self.schema.dump(out));
        part("Transport", &|out| self.transport.dump(out));
        part("Port", &|out| self.port.dump(out));
        part("Send To Daemon", &|out| out.0.push("  *not set*".into()));
        part("Graph", &|out| {
            graph::dump(&self.command.kind.operation(), out)
        });
        part("TokenRange", &|out| self.token_range.dump(out));
        out.0.push(String::new());
        out.0
    }
}

/// Refuses options that no longer exist.
fn refuse(sections: &[Section]) -> Result<(), Usage> {
    let given = |name: &str| sections.iter().any(|section| section.key == name);
    if given("-sendto") || given("-send-to") {
        return Err(Usage::new(
            "-sendto: there is no stress daemon; start the load on the client machine itself",
        ));
    }
    if given("legacy") {
        return Err(Usage::new(
            "legacy: the options of Cassandra 1.x are not read; see help",
        ));
    }
    Ok(())
}

fn unknown(section: &Section) -> Usage {
    let names = OPTIONS.iter().map(|(name, ..)| *name);
    let hint = hint(&section.key, names);
    Usage(format!("Unknown option {:.60}{hint}", section.key))
}

#[cfg(test)]
mod tests;
