//! Lines to standard output, and to the file of `-log file=`.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use tare_engine::errors::Fatal;

/// Where lines go.
pub struct Printer {
    out: Box<dyn Write>,
    file: Option<File>,
    place: String,
}

impl Printer {
    /// Standard output, and a file if one is named; the file begins anew.
    pub fn open(file: Option<&Path>) -> Result<Printer, Fatal> {
        let place = file.map_or("standard output".to_owned(), |path| {
            path.display().to_string()
        });
        let file = file
            .map(File::create)
            .transpose()
            .map_err(|e| Fatal::file(&place, e))?;
        Ok(Printer {
            out: Box::new(io::stdout()),
            file,
            place,
        })
    }

    /// Lines to something else than standard output.
    pub fn to(out: Box<dyn Write>) -> Printer {
        Printer {
            out,
            file: None,
            place: "output".to_owned(),
        }
    }

    /// Prints a line at once, so that whoever reads along sees it.
    pub fn line(&mut self, text: &str) -> Result<(), Fatal> {
        let mut write = || {
            writeln!(self.out, "{text}")?;
            self.out.flush()?;
            match &mut self.file {
                Some(file) => writeln!(file, "{text}"),
                None => Ok(()),
            }
        };
        write().map_err(|e| Fatal::file(&self.place, e))
    }

    pub fn lines(&mut self, lines: &[String]) -> Result<(), Fatal> {
        lines.iter().try_for_each(|line| self.line(line))
    }
}
