//! `-node`: the nodes to connect to.

use std::fs;

use super::describe::Dump;
use super::forms::{Form, SOME};
use crate::grammar::options::{select, Choice, Group};
use crate::grammar::Usage;

/// A file of more nodes than this is no file of nodes.
const LONGEST_FILE: u64 = 1 << 20;

const LIST_FORM: Form = (
    |text| {
        text.split(',')
            .all(|node| !node.is_empty() && !node.contains('='))
    },
    "a comma separated list of nodes",
);

const DATACENTER: Choice =
    Choice::value("datacenter=", SOME, "send to the nodes of this datacenter");
const WHITELIST: Choice = Choice::flag("whitelist", "limit communications to the given nodes");
const FILE: Choice = Choice::value("file=", SOME, "a file of nodes, one per line");
const LIST: Choice = Choice::value("", LIST_FORM, "comma separated list of nodes").or("localhost");

pub const GROUPS: &[Group] = &[&[DATACENTER, WHITELIST, FILE, LIST]];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nodes {
    pub nodes: Vec<String>,
    pub whitelist: bool,
    pub datacenter: Option<String>,
}

impl Nodes {
    pub fn read(parameters: Option<&[String]>) -> Result<Nodes, Usage> {
        let given = select("-node", parameters.unwrap_or_default(), GROUPS)?;
        let nodes = match given.value(FILE.name) {
            Some(path) => from_file(path)?,
            None => {
                let list = given.value(LIST.name).unwrap_or("localhost");
                list.split(',').map(str::to_owned).collect()
            }
        };
        Ok(Nodes {
            nodes,
            whitelist: given.flag(WHITELIST.name),
            datacenter: given.value(DATACENTER.name).map(str::to_owned),
        })
    }

    /// `host:port` of every node; a node's own port takes precedence.
    pub fn contact_points(&self, port: u16) -> Vec<String> {
        let point = |node: &String| match node.matches(':').count() {
            0 => format!("{node}:{port}"),
            1 => node.clone(),
            _ if node.starts_with('[') && node.contains("]:") => node.clone(),
            _ => format!("[{}]:{port}", node.trim_matches(['[', ']'])),
        };
        self.nodes.iter().map(point).collect()
    }

    pub fn dump(&self, out: &mut Dump) {
        out.say("Nodes", format!("[{}]", self.nodes.join(", ")));
        out.say("Is White List", self.whitelist);
        out.say_or_null("Datacenter", self.datacenter.as_ref());
    }
}

fn from_file(path: &str) -> Result<Vec<String>, Usage> {
    let failed = |why: String| Usage(format!("-node: file={path}: {why}"));
    let size = fs::metadata(path).map_err(|e| failed(e.to_string()))?.len();
    if size > LONGEST_FILE {
        return Err(failed(format!("{size} bytes are no list of nodes")));
    }
    let text = fs::read_to_string(path).map_err(|e| failed(e.to_string()))?;
    let nodes: Vec<String> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect();
    if nodes.is_empty() {
        return Err(failed("it names no node".to_owned()));
    }
    Ok(nodes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(words: &[&str]) -> Nodes {
        let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        Nodes::read(Some(&words)).unwrap()
    }

    #[test]
    fn nothing_said_is_localhost() {
        assert_eq!(nodes(&[]).contact_points(9042), ["localhost:9042"]);
    }

    #[test]
    fn ports_and_ipv6_addresses_are_told_apart() {
        assert_eq!(
            nodes(&["10.0.0.1,10.0.0.2:9043,::1,[::2]:9044"]).contact_points(9042),
            ["10.0.0.1:9042", "10.0.0.2:9043", "[::1]:9042", "[::2]:9044"]
        );
    }
}
