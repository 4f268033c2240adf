//! The size of a terminal, and lines that fit it.

use rustix::termios::tcgetwinsize;

/// Columns and rows, each at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    pub columns: usize,
    pub rows: usize,
}

/// Where a terminal does not know how large it is.
const USUAL: Screen = Screen {
    columns: 80,
    rows: 24,
};

/// The size of the terminal that standard error is; windows are resized, so it is asked each time.
pub fn of_stderr() -> Screen {
    match tcgetwinsize(rustix::stdio::stderr()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => Screen {
            columns: size.ws_col.into(),
            rows: size.ws_row.into(),
        },
        _ => USUAL,
    }
}

impl Screen {
    /// Rows that a line of so many characters takes.
    pub fn rows_of(self, length: usize) -> usize {
        length.div_ceil(self.columns).max(1)
    }

    /// A text on several lines, broken between words.
    pub fn wrapped(self, text: &str) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split_whitespace() {
            let length = |line: &str| line.chars().count();
            match lines.last_mut() {
                Some(line) if length(line) + 1 + length(word) <= self.columns => {
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push(word.to_owned()),
            }
        }
        lines
    }

    /// All lines, cut to the width. The last row is the cursor's; where the rest is too little,
    /// rows in the middle are left out and counted, then what is above and below them.
    pub fn fitted(
        self,
        above: Vec<String>,
        mut middle: Vec<String>,
        below: Vec<String>,
    ) -> Vec<String> {
        let most = self.rows.saturating_sub(1).max(1);
        let room = most.saturating_sub(above.len() + below.len());
        if middle.len() > room {
            let shown = room.saturating_sub(1);
            let more = format!("... {} more", middle.len() - shown);
            middle.truncate(shown);
            middle.push(more);
        }
        let mut lines = above;
        lines.append(&mut middle);
        lines.extend(below);
        lines.truncate(most);
        let cut = |line: String| line.chars().take(self.columns).collect();
        lines.into_iter().map(cut).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCREEN: Screen = Screen {
        columns: 10,
        rows: 6,
    };

    fn lines(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn a_line_that_is_too_long_takes_more_rows() {
        assert_eq!(
            [0, 1, 10, 11, 25].map(|n| SCREEN.rows_of(n)),
            [1, 1, 1, 2, 3]
        );
    }

    #[test]
    fn a_text_is_broken_between_words() {
        assert_eq!(SCREEN.wrapped("one two three"), ["one two", "three"]);
        assert_eq!(SCREEN.wrapped("unbelievably so"), ["unbelievably", "so"]);
    }

    #[test]
    fn what_fits_is_shown_and_cut_to_the_width() {
        let shown = SCREEN.fitted(
            lines(&["head"]),
            lines(&["a", "b"]),
            lines(&["0123456789ab"]),
        );
        assert_eq!(shown, ["head", "a", "b", "0123456789"]);
    }

    #[test]
    fn rows_that_do_not_fit_are_counted() {
        let rows = lines(&["a", "b", "c", "d", "e"]);
        let shown = SCREEN.fitted(lines(&["head"]), rows, lines(&["foot"]));
        assert_eq!(shown, ["head", "a", "b", "... 3 more", "foot"]);
    }
}
