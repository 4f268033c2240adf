//! Reads that must not overtake the first write: a thread's write goes before them.

use tare_draw::stress::Seeds;

/// One thread's reads that gave way to a write, as there was nothing yet for them to follow.
#[derive(Debug, Clone, Default)]
pub struct Turns {
    put_off: Vec<usize>,
}

impl Turns {
    /// The operation whose turn it is, where `drawn` was drawn. `reads` says whether that one reads
    /// what was written before, and `write` is the operation that writes it.
    ///
    /// Where reads follow the writes, a read that has nothing to follow yet changes places with the
    /// thread's next write, so that the ratios hold. The read cannot wait instead: all threads may
    /// have drawn reads.
    pub fn next(
        &mut self,
        drawn: usize,
        reads: bool,
        write: Option<usize>,
        seeds: &Seeds,
    ) -> usize {
        let Some(write) = write.filter(|_| seeds.looks_back()) else {
            return drawn;
        };
        match seeds.is_begun() {
            false if reads => {
                self.put_off.push(drawn);
                write
            }
            true if drawn == write => self.put_off.pop().unwrap_or(write),
            _ => drawn,
        }
    }
}

#[cfg(test)]
mod tests {
    use tare_draw::stress::{Distribution, Population};
    use tare_draw::Xoshiro;

    use super::*;

    const READ: usize = 0;
    const WRITE: usize = 1;

    fn seeds(lookback: Option<&str>) -> Seeds {
        let distribution = |text: &str| Distribution::parse(text).unwrap();
        let population = Population::Sequence {
            first: 1,
            last: 100,
            wrap: true,
            lookback: lookback.map(distribution),
        };
        Seeds::new(
            population,
            distribution("fixed(1)"),
            distribution("uniform(1..1M)"),
        )
        .unwrap()
    }

    fn next(turns: &mut Turns, drawn: usize, seeds: &Seeds) -> usize {
        turns.next(drawn, drawn == READ, Some(WRITE), seeds)
    }

    #[test]
    fn no_read_comes_before_the_first_write_is_answered_and_none_is_lost() {
        let (seeds, mut turns) = (seeds(Some("fixed(1)")), Turns::default());
        let first = seeds.next_write(&mut Xoshiro::new(1)).unwrap();
        // Its write is under way: whatever is drawn, it writes.
        let before = [READ, WRITE, READ].map(|drawn| next(&mut turns, drawn, &seeds));
        assert_eq!(before, [WRITE; 3]);
        seeds.answered(&first);
        // The two reads come in the places of two writes.
        let after = [READ, WRITE, WRITE, WRITE].map(|drawn| next(&mut turns, drawn, &seeds));
        assert_eq!(after, [READ, READ, READ, WRITE]);
    }

    #[test]
    fn every_thread_waits_for_the_first_write_of_any() {
        let seeds = seeds(Some("fixed(1)"));
        let mut threads = vec![Turns::default(); 8];
        let first = seeds.next_write(&mut Xoshiro::new(1)).unwrap();
        let second = seeds.next_write(&mut Xoshiro::new(1)).unwrap();
        // The second write is no help: the sequence has a gap before it.
        seeds.answered(&second);
        assert!(threads
            .iter_mut()
            .all(|turns| next(turns, READ, &seeds) == WRITE));
        seeds.answered(&first);
        assert!(threads
            .iter_mut()
            .all(|turns| next(turns, READ, &seeds) == READ));
    }

    #[test]
    fn what_follows_no_write_is_done_as_it_is_drawn() {
        let (without, with) = (seeds(None), seeds(Some("fixed(1)")));
        assert_eq!(next(&mut Turns::default(), READ, &without), READ);
        // A load that writes nothing, and an operation that reads whole token ranges.
        assert_eq!(Turns::default().next(READ, true, None, &with), READ);
        assert_eq!(Turns::default().next(2, false, Some(WRITE), &with), 2);
    }
}
