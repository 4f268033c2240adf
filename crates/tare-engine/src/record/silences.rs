//! Times without an answer within one interval.

/// Silences between two answers of one interval are kept from this length on, nanoseconds.
pub const KEPT: u64 = 100_000_000;

/// When nothing was answered, in order: until the first answer, between two answers that are at
/// least `KEPT` apart, and after the last one, which has no end here.
#[derive(Debug, Clone)]
pub struct Silences(Vec<(u64, u64)>);

impl Silences {
    /// Nothing is answered yet in an interval that begins then.
    pub fn since(begin: u64) -> Silences {
        let mut made = Silences(Vec::with_capacity(8));
        made.renew(begin);
        made
    }

    /// Resets it for a new interval, keeping its memory.
    pub fn renew(&mut self, begin: u64) {
        self.0.clear();
        self.0.push((begin, u64::MAX));
    }

    /// An answer came at `time`.
    pub fn answered(&mut self, time: u64) {
        let first = self.0.len() == 1;
        let Some(last) = self.0.last_mut() else {
            return;
        };
        if first || time.saturating_sub(last.0) >= KEPT {
            last.1 = time.max(last.0);
            let from = last.1;
            self.0.push((from, u64::MAX));
        } else {
            last.0 = last.0.max(time);
        }
    }

    /// Keeps only the times in which another worker had no answer in this interval, either.
    pub fn meet(&mut self, other: &Silences) {
        let (mut mine, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut both = Vec::with_capacity(8);
        while let (Some(one), Some(another)) = (mine.peek(), theirs.peek()) {
            let (from, to) = (one.0.max(another.0), one.1.min(another.1));
            // The first is the one until the first answer, however short it is.
            if both.is_empty() || to.saturating_sub(from) >= KEPT {
                both.push((from, to));
            }
            if one.1 <= another.1 {
                mine.next();
            } else {
                theirs.next();
            }
        }
        self.0 = both;
    }

    /// Start and end of each, in an interval that ends then.
    pub fn until(&self, end: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.iter().map(move |&(from, to)| (from, to.min(end)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: u64 = 1_000_000;
    const BEGIN: u64 = 5_000 * MS;
    const END: u64 = 6_000 * MS;

    fn of(answers: &[u64]) -> Silences {
        let mut made = Silences::since(BEGIN);
        answers.iter().for_each(|&time| made.answered(time));
        made
    }

    fn kept(silences: &Silences) -> Vec<(u64, u64)> {
        silences.until(END).collect()
    }

    #[test]
    fn what_lies_between_two_answers_is_kept_if_it_is_long() {
        let answers = [5_010, 5_060, 5_400, 5_499].map(|time| time * MS);
        let expected = [(5_000, 5_010), (5_060, 5_400), (5_499, 6_000)];
        assert_eq!(kept(&of(&answers)), expected.map(|(a, b)| (a * MS, b * MS)));
        assert_eq!(kept(&of(&[])), [(BEGIN, END)]);
    }

    #[test]
    fn memory_that_is_used_again_is_empty() {
        let mut silences = of(&[BEGIN + MS, END - MS]);
        silences.renew(BEGIN);
        assert_eq!(kept(&silences), [(BEGIN, END)]);
    }

    proptest! {
        /// As if one worker had had the answers of all.
        #[test]
        fn workers_together_are_silent_where_each_one_is(
            workers in proptest::collection::vec(
                proptest::collection::btree_set(BEGIN..END, 0..12), 1..5,
            ),
        ) {
            let each = workers.iter().map(|answers| of(&Vec::from_iter(answers.iter().copied())));
            let together = each.reduce(|mut sum, one| {
                sum.meet(&one);
                sum
            });
            let all = workers.iter().flatten().copied();
            let all = Vec::from_iter(std::collections::BTreeSet::from_iter(all));
            prop_assert_eq!(kept(&together.unwrap()), kept(&of(&all)));
        }
    }
}
