//! Files as a storage engine writes them: a log that is appended to and synced, a table that is
//! flushed, files that are created.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor, stat, statfs};

use crate::measure::{Done, Piece};

pub const BLOCK: usize = 4 << 10;
const LOG: u64 = 16 << 20;
pub const TABLE: usize = 8 << 20;
pub const WRITE: usize = 64 << 10;
const FILES: usize = 50;
/// statfs(2): file systems that a container or a directory for data can be on.
const KINDS: [(i64, &str); 9] = [
    (0xEF53, "ext4"),
    (0x5846_5342, "xfs"),
    (0x9123_683E, "btrfs"),
    (0x794C_7630, "overlay"),
    (0x0102_1994, "tmpfs"),
    (0x8584_58F6, "ramfs"),
    (0x2FC1_2FC1, "zfs"),
    (0x6969, "nfs"),
    (0x6573_5546, "fuse"),
];
const IN_MEMORY: [&str; 2] = ["tmpfs", "ramfs"];

/// What a directory is on.
pub struct Volume {
    pub kind: String,
    pub device: String,
}

pub fn volume(directory: &Path) -> io::Result<Volume> {
    let magic = statfs(directory)?.f_type as i64;
    let device = stat(directory)?.st_dev;
    let known = KINDS.iter().find(|(number, _)| *number == magic);
    Ok(Volume {
        kind: known.map_or_else(|| format!("{magic:#x}"), |(_, name)| (*name).into()),
        device: format!("{}:{}", major(device), minor(device)),
    })
}

/// An error where nothing that is written stays: there is nothing to sync.
pub fn lasting(directory: &Path) -> io::Result<()> {
    let kind = volume(directory)?.kind;
    if IN_MEMORY.contains(&kind.as_str()) {
        let why = format!("{} is a {kind}, which is in memory", directory.display());
        return Err(io::Error::other(why));
    }
    Ok(())
}

/// An error where file creation has no cost of its own: ext4 without a journal passes over the
/// inodes of files deleted in the last minutes, one by one (recently_deleted of fs/ext4/ialloc.c);
/// 2,000 of them tripled the cost.
pub fn journaled(directory: &Path) -> io::Result<()> {
    let volume = volume(directory)?;
    if volume.kind != "ext4" || has_journal(Path::new("/sys"), &volume.device).unwrap_or(true) {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "{} is an ext4 without a journal, where it costs more for each file that was deleted in \
         the last minutes",
        directory.display()
    )))
}

/// Whether the ext4 of this device has a journal, its own or on another device: its sysfs names the
/// journal's thread, or `<none>` (journal_task_show of fs/ext4/sysfs.c). None: it cannot be told.
pub fn has_journal(sys: &Path, device: &str) -> Option<bool> {
    let block = fs::read_link(sys.join("dev/block").join(device)).ok()?;
    let own = sys.join("fs/ext4").join(block.file_name()?);
    let thread = fs::read_to_string(own.join("journal_task")).ok()?;
    Some(thread.trim().parse::<u32>().is_ok())
}

/// Write out what a turn has left in the journal: it would be part of others' next sync.
fn settle(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(why) if why.kind() != io::ErrorKind::NotFound => Err(why),
        _ => Ok(()),
    }
}

pub struct Append {
    directory: PathBuf,
    log: File,
    length: u64,
}

impl Append {
    pub fn new(directory: &Path) -> io::Result<Append> {
        let file = directory.join("appended");
        let log = OpenOptions::new().create(true).append(true).open(file)?;
        log.sync_data()?; // a file system that cannot says so here
        Ok(Append {
            directory: directory.into(),
            log,
            length: 0,
        })
    }

    fn empty(&mut self) -> io::Result<()> {
        self.log.set_len(0)?;
        self.length = 0;
        self.log.sync_all()
    }
}

impl Piece for Append {
    fn prepare(&mut self) -> io::Result<()> {
        if self.length >= LOG {
            self.empty()?;
        }
        Ok(())
    }

    fn batch(&mut self) -> io::Result<Done> {
        self.log.write_all(&[1; BLOCK])?;
        self.log.sync_data()?;
        self.length += BLOCK as u64;
        Ok(Done::times(1))
    }

    fn finish(&mut self) -> io::Result<()> {
        self.empty()?;
        settle(&self.directory)
    }
}

pub struct Flush {
    directory: PathBuf,
    buffer: Vec<u8>,
}

impl Flush {
    pub fn new(directory: &Path) -> Flush {
        Flush {
            directory: directory.into(),
            buffer: vec![1; WRITE],
        }
    }

    fn table(&self) -> PathBuf {
        self.directory.join("flushed")
    }
}

impl Piece for Flush {
    fn prepare(&mut self) -> io::Result<()> {
        remove(&self.table())
    }

    fn batch(&mut self) -> io::Result<Done> {
        let mut table = File::create_new(self.table())?;
        for _ in 0..TABLE / WRITE {
            table.write_all(&self.buffer)?;
        }
        table.sync_data()?;
        Ok(Done::times(1))
    }

    fn finish(&mut self) -> io::Result<()> {
        remove(&self.table())?;
        settle(&self.directory)
    }
}

pub struct Create {
    directory: PathBuf,
    created: Vec<PathBuf>,
    next: usize,
}

impl Create {
    pub fn new(directory: &Path) -> io::Result<Create> {
        let own = directory.join("created");
        fs::create_dir(&own)?;
        Ok(Create {
            directory: own,
            created: Vec::new(),
            next: 0,
        })
    }

    fn remove_all(&mut self) -> io::Result<()> {
        self.created.drain(..).try_for_each(|file| remove(&file))
    }
}

impl Piece for Create {
    fn prepare(&mut self) -> io::Result<()> {
        self.remove_all()?;
        self.created = (self.next..self.next + FILES)
            .map(|number| self.directory.join(format!("table-{number}")))
            .collect();
        self.next += FILES;
        Ok(())
    }

    fn batch(&mut self) -> io::Result<Done> {
        for file in &self.created {
            File::create_new(file)?;
        }
        Ok(Done::times(self.created.len()))
    }

    fn finish(&mut self) -> io::Result<()> {
        self.remove_all()?;
        settle(&self.directory)
    }
}
