//! Page faults: memory of the process's own that is written to for the first time.
//!
//! Mapped here and not by the allocator, which keeps what it has.
#![allow(
    unsafe_code,
    reason = "to map memory and to write to it page by page is what is measured; a Region is \
              mapped from new to drop, and touch stays within its length"
)]

use std::fs;
use std::io;
use std::ptr;

use rustix::mm::{madvise, mmap_anonymous, munmap, Advice, MapFlags, ProtFlags};

use crate::measure::{Done, Piece};

const SMALL: usize = 4 << 10;
const HUGE: usize = 2 << 20;
const SMALL_PAGES: usize = 1024;
const HUGE_PAGES: usize = 4;
/// Faults for a page, from which it was not one page.
const MOST: f64 = 4.0;

/// Anonymous memory, readable and writable.
struct Region {
    at: *mut u8,
    length: usize,
}

impl Region {
    fn new(length: usize, advice: Advice) -> io::Result<Region> {
        // SAFETY: a new mapping at an address that the kernel chooses touches nothing that exists.
        let at = unsafe {
            mmap_anonymous(
                ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )?
        };
        let region = Region {
            at: at.cast(),
            length,
        };
        // SAFETY: the advice is about the size of pages, on the mapping just made.
        match unsafe { madvise(at, length, advice) } {
            // A kernel without huge pages knows neither advice: its pages are small.
            Err(rustix::io::Errno::INVAL) if matches!(advice, Advice::LinuxNoHugepage) => {}
            other => other?,
        }
        Ok(region)
    }

    /// Write to every page of 4 KiB of so many bytes from a place on, as far as they are in it.
    fn touch(&mut self, from: usize, length: usize) {
        for place in (from..self.length.min(from + length)).step_by(SMALL) {
            // SAFETY: place is below the length of the mapping, which this alone has.
            unsafe { ptr::write_volatile(self.at.add(place), 1) };
        }
    }

    /// Where the first page of `size` begins.
    fn aligned(&self, size: usize) -> usize {
        self.at.align_offset(size)
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping of new, to which nothing else points.
        let _ = unsafe { munmap(self.at.cast(), self.length) };
    }
}

/// Pages of one size, each written to for the first time.
pub struct Fault {
    size: usize,
    pages: usize,
    region: Option<Region>,
    /// Of a turn: faults of this process before it, pages since.
    before: u64,
    touched: u64,
}

impl Fault {
    pub fn small() -> Fault {
        Fault::of(SMALL, SMALL_PAGES)
    }

    /// An error where asking for huge pages gives none.
    pub fn huge() -> io::Result<Fault> {
        let mut made = Fault::of(HUGE, HUGE_PAGES);
        made.begin()?;
        made.prepare()?;
        made.batch()?;
        made.finish()?;
        Ok(made)
    }

    fn of(size: usize, pages: usize) -> Fault {
        Fault {
            size,
            pages,
            region: None,
            before: 0,
            touched: 0,
        }
    }
}

impl Piece for Fault {
    fn begin(&mut self) -> io::Result<()> {
        self.touched = 0;
        self.before = faults()?;
        Ok(())
    }

    fn prepare(&mut self) -> io::Result<()> {
        self.region = None; // unmapped before the next one is mapped: its pages are used again
        let advice = if self.size == HUGE {
            Advice::LinuxHugepage
        } else {
            Advice::LinuxNoHugepage
        };
        self.region = Some(Region::new(self.size * (self.pages + 1), advice)?);
        Ok(())
    }

    fn batch(&mut self) -> io::Result<Done> {
        if let Some(region) = &mut self.region {
            region.touch(region.aligned(self.size), self.size * self.pages);
        }
        self.touched += self.pages as u64;
        Ok(Done::times(self.pages))
    }

    /// Every page must have been a fault, and no page many: without huge pages, 2 MiB are 512
    /// faults. Reading the number itself causes a few.
    fn finish(&mut self) -> io::Result<()> {
        self.region = None;
        let each = (faults()? - self.before) as f64 / self.touched as f64;
        if (0.9..MOST).contains(&each) {
            return Ok(());
        }
        let asked = if self.size == HUGE {
            "MADV_HUGEPAGE"
        } else {
            "MADV_NOHUGEPAGE"
        };
        Err(io::Error::other(format!(
            "{each:.1} page faults for {} KiB after {asked}{}",
            self.size >> 10,
            setting()
        )))
    }
}

/// What the kernel is set to, for the reader of an error.
fn setting() -> String {
    let file = "/sys/kernel/mm/transparent_hugepage/enabled";
    fs::read_to_string(file)
        .map(|text| format!(" ({file}: {})", text.trim()))
        .unwrap_or_default()
}

/// Minor page faults of this process so far: field 10 of /proc/self/stat, proc(5).
pub fn faults() -> io::Result<u64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    stat.rsplit(')')
        .next()
        .and_then(|rest| rest.split_whitespace().nth(7))
        .and_then(|field| field.parse().ok())
        .ok_or_else(|| io::Error::other("/proc/self/stat does not tell page faults"))
}
