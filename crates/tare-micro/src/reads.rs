//! Files as a storage engine reads them: from the page cache and from the disk, at random places and
//! in a row.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{fadvise, Advice};

use crate::measure::{Done, Piece};
use crate::random::Random;
use crate::storage::{BLOCK, TABLE, WRITE};

/// Blocks of a batch, from the page cache and from the disk.
const WARM: usize = 500;
const COLD: usize = 16;
/// A table in pieces of the size that a flush writes. A batch reads all of them from the page
/// cache; from the disk so few that a slow one has read them long before the turn is over.
const PIECES: usize = TABLE / WRITE;
const COLD_PIECES: usize = PIECES / 4;

/// For those that read from the page cache, and for those that do not.
const HELD: &str = "read";
const FORGOTTEN: &str = "read-cold";

/// A table that is written back before others are measured. A table that a full disk cut off is
/// written anew.
fn table(directory: &Path, name: &str) -> io::Result<File> {
    let file = directory.join(name);
    if !fs::metadata(&file).is_ok_and(|it| it.len() == TABLE as u64) {
        fs::write(&file, vec![1; TABLE])?;
    }
    let table = File::open(&file)?;
    table.sync_all()?;
    Ok(table)
}

fn in_a_row(table: &File, pieces: Range<usize>, buffer: &mut [u8]) -> io::Result<Done> {
    let count = pieces.len();
    for piece in pieces {
        table.read_exact_at(buffer, (piece * WRITE) as u64)?;
    }
    Ok(Done::times(count))
}

/// Blocks at random places of a table that the page cache holds.
pub struct ReadWarm {
    table: File,
    random: Random,
}

impl ReadWarm {
    pub fn new(directory: &Path) -> io::Result<ReadWarm> {
        Ok(ReadWarm {
            table: table(directory, HELD)?,
            random: Random::new(),
        })
    }
}

impl Piece for ReadWarm {
    fn batch(&mut self) -> io::Result<Done> {
        let mut block = [0; BLOCK];
        for _ in 0..WARM {
            let place = self.random.below(TABLE / BLOCK) * BLOCK;
            self.table.read_exact_at(&mut block, place as u64)?;
        }
        Ok(Done::times(WARM))
    }
}

/// A table in a row that the page cache holds.
pub struct ScanWarm {
    table: File,
    buffer: Vec<u8>,
}

impl ScanWarm {
    pub fn new(directory: &Path) -> io::Result<ScanWarm> {
        Ok(ScanWarm {
            table: table(directory, HELD)?,
            buffer: vec![0; WRITE],
        })
    }
}

impl Piece for ScanWarm {
    fn batch(&mut self) -> io::Result<Done> {
        in_a_row(&self.table, 0..PIECES, &mut self.buffer)
    }
}

/// A table that the page cache has forgotten before each batch. The kernel's count of what this
/// process had read from storage shows whether it had.
struct Forgotten {
    table: File,
    /// Of a turn: bytes from storage before it, bytes asked for since.
    before: u64,
    asked: u64,
}

impl Forgotten {
    fn new(directory: &Path, advice: Advice) -> io::Result<Forgotten> {
        let table = table(directory, FORGOTTEN)?;
        fadvise(&table, 0, None, advice)?;
        read_bytes()?; // a kernel that does not count says so here
        Ok(Forgotten {
            table,
            before: 0,
            asked: 0,
        })
    }

    fn begin(&mut self) -> io::Result<()> {
        self.asked = 0;
        self.before = read_bytes()?;
        Ok(())
    }

    fn forget(&self) -> io::Result<()> {
        Ok(fadvise(&self.table, 0, None, Advice::DontNeed)?)
    }

    fn finish(&mut self) -> io::Result<()> {
        let came = read_bytes()? - self.before;
        if came < self.asked * 9 / 10 {
            return Err(io::Error::other(format!(
                "the page cache kept what it was asked to forget: {came} of {} bytes were read \
                 from storage",
                self.asked
            )));
        }
        Ok(())
    }
}

/// Blocks at random places, from the disk.
pub struct ReadCold {
    table: Forgotten,
    random: Random,
}

impl ReadCold {
    pub fn new(directory: &Path) -> io::Result<ReadCold> {
        Ok(ReadCold {
            table: Forgotten::new(directory, Advice::Random)?,
            random: Random::new(),
        })
    }
}

impl Piece for ReadCold {
    fn begin(&mut self) -> io::Result<()> {
        self.table.begin()
    }

    fn prepare(&mut self) -> io::Result<()> {
        self.table.forget()
    }

    fn batch(&mut self) -> io::Result<Done> {
        let mut block = [0; BLOCK];
        let apart = TABLE / COLD; // each in a part of the table of its own: none is read twice
        for part in 0..COLD {
            let place = part * apart + self.random.below(apart / BLOCK) * BLOCK;
            self.table.table.read_exact_at(&mut block, place as u64)?;
        }
        self.table.asked += (COLD * BLOCK) as u64;
        Ok(Done::times(COLD))
    }

    fn finish(&mut self) -> io::Result<()> {
        self.table.finish()
    }
}

/// A quarter of a table in a row, from the disk, with the kernel's reading ahead.
pub struct ScanCold {
    table: Forgotten,
    next: usize,
    buffer: Vec<u8>,
}

impl ScanCold {
    pub fn new(directory: &Path) -> io::Result<ScanCold> {
        Ok(ScanCold {
            table: Forgotten::new(directory, Advice::Normal)?,
            next: 0,
            buffer: vec![0; WRITE],
        })
    }
}

impl Piece for ScanCold {
    fn begin(&mut self) -> io::Result<()> {
        self.table.begin()
    }

    fn prepare(&mut self) -> io::Result<()> {
        self.table.forget()
    }

    fn batch(&mut self) -> io::Result<Done> {
        let pieces = self.next..self.next + COLD_PIECES;
        self.next = pieces.end % PIECES;
        self.table.asked += (COLD_PIECES * WRITE) as u64;
        in_a_row(&self.table.table, pieces, &mut self.buffer)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.table.finish()
    }
}

/// Bytes that this process had read from storage so far: /proc/self/io, proc(5).
fn read_bytes() -> io::Result<u64> {
    let told = fs::read_to_string("/proc/self/io")?;
    told.lines()
        .find_map(|line| line.strip_prefix("read_bytes: "))
        .and_then(|number| number.parse().ok())
        .ok_or_else(|| io::Error::other("/proc/self/io does not tell bytes from storage"))
}
