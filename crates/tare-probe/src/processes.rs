//! Which processes there are: a view of /proc that is refreshed once per sample, for the units
//! that are named by process ids (with descendants) or by process names.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::parse;
use crate::source::read_piece_once;

/// Longest process name that the kernel keeps.
const COMM_LENGTH: usize = 15;
/// Looks after which a process's name and parent are taken as settled: one that is seen between
/// fork and exec still has its parent's name.
const LOOKS: u8 = 3;

struct Known {
    comm: String,
    parent: u32,
    looks: u8,
}

/// All processes of the machine.
pub struct Processes {
    proc: PathBuf,
    known: HashMap<u32, Known>,
    buffer: Vec<u8>,
}

impl Processes {
    pub fn new(root: &Path) -> Processes {
        Processes {
            proc: root.join("proc"),
            known: HashMap::new(),
            buffer: Vec::new(),
        }
    }

    /// Looks which processes came and went; only those that are new are read.
    pub fn refresh(&mut self) {
        let Ok(entries) = fs::read_dir(&self.proc) else {
            return;
        };
        let present: HashSet<u32> = entries
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .collect();
        self.known.retain(|pid, _| present.contains(pid));
        for pid in present {
            let looks = self.known.get(&pid).map_or(0, |known| known.looks);
            if looks < LOOKS {
                self.look(pid, looks + 1);
            }
        }
    }

    fn look(&mut self, pid: u32, looks: u8) {
        let path = self.proc.join(pid.to_string()).join("stat");
        let text = read_piece_once(&path, &mut self.buffer);
        if let Some(process) = text.and_then(parse::process) {
            let known = Known {
                comm: process.comm.to_owned(),
                parent: process.parent,
                looks,
            };
            self.known.insert(pid, known);
        }
    }

    /// The processes `roots` and their descendants, of those that exist.
    pub fn trees(&self, roots: &[u32]) -> Vec<u32> {
        let mut members: HashMap<u32, bool> = HashMap::new();
        let mut found: Vec<u32> = self
            .known
            .keys()
            .copied()
            .filter(|&pid| self.descends(pid, roots, &mut members))
            .collect();
        found.sort_unstable();
        found
    }

    /// Whether the chain of parents leads to a root; `members` remembers what was found.
    fn descends(&self, pid: u32, roots: &[u32], members: &mut HashMap<u32, bool>) -> bool {
        let mut chain = Vec::new();
        let mut at = pid;
        let answer = loop {
            if roots.contains(&at) {
                break true;
            }
            if let Some(&known) = members.get(&at) {
                break known;
            }
            chain.push(at);
            match self.known.get(&at) {
                // A chain longer than the number of processes goes in circles.
                Some(known) if chain.len() <= self.known.len() => at = known.parent,
                _ => break false,
            }
        };
        members.extend(chain.into_iter().map(|pid| (pid, answer)));
        answer
    }

    /// The processes with one of the names.
    pub fn named(&self, names: &[String]) -> Vec<u32> {
        let cut = |name: &str| name.bytes().take(COMM_LENGTH).collect::<Vec<u8>>();
        let wanted: Vec<Vec<u8>> = names.iter().map(|name| cut(name)).collect();
        let mut found: Vec<u32> = self
            .known
            .iter()
            .filter(|(_, known)| wanted.contains(&cut(&known.comm)))
            .map(|(&pid, _)| pid)
            .collect();
        found.sort_unstable();
        found
    }
}
