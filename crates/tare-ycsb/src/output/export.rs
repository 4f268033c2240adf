//! The forms of YCSB's summary: text, a JSON array, and JSON objects in a row.

use std::io::{self, Write};

use crate::java;
use crate::settings::Form;

/// A number of the summary: Java writes whole ones and others differently.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    Whole(i64),
    Real(f64),
}

/// Writes triples of metric, measurement and value.
pub struct Exporter<W: Write> {
    form: Form,
    out: W,
    first: bool,
}

impl<W: Write> Exporter<W> {
    pub fn new(form: Form, out: W) -> Exporter<W> {
        Exporter {
            form,
            out,
            first: true,
        }
    }

    pub fn whole(&mut self, metric: &str, measurement: &str, value: u64) -> io::Result<()> {
        self.write(metric, measurement, Number::Whole(value as i64))
    }

    pub fn real(&mut self, metric: &str, measurement: &str, value: f64) -> io::Result<()> {
        self.write(metric, measurement, Number::Real(value))
    }

    fn write(&mut self, metric: &str, measurement: &str, value: Number) -> io::Result<()> {
        let text = match value {
            Number::Whole(value) => value.to_string(),
            Number::Real(value) => java::double(value),
        };
        if self.form == Form::Text {
            return writeln!(self.out, "[{metric}], {measurement}, {text}");
        }
        let before = match (self.form, self.first) {
            (Form::JsonArray, true) => "[ ",
            (Form::JsonArray, false) => ", ",
            (_, true) => "",
            (_, false) => " ",
        };
        self.first = false;
        // What is no number in JSON is text, as Jackson writes it.
        let text = match value {
            Number::Real(value) if !value.is_finite() => format!("\"{text}\""),
            _ => text,
        };
        write!(
            self.out,
            "{before}{{\n  \"metric\" : \"{metric}\",\n  \"measurement\" : \"{measurement}\",\n  \
             \"value\" : {text}\n}}"
        )
    }

    /// Ends what is written, and gives the writer back.
    pub fn finish(mut self) -> io::Result<W> {
        match (self.form, self.first) {
            (Form::JsonArray, false) => write!(self.out, " ]")?,
            (Form::JsonArray, true) => write!(self.out, "[ ]")?,
            _ => {}
        }
        self.out.flush()?;
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(form: Form) -> String {
        let mut exporter = Exporter::new(form, Vec::new());
        exporter.whole("OVERALL", "RunTime(ms)", 20401).unwrap();
        exporter
            .real("OVERALL", "Throughput(ops/sec)", 980.34)
            .unwrap();
        if form == Form::JsonArray {
            exporter.real("X", "nan", f64::NAN).unwrap();
        }
        String::from_utf8(exporter.finish().unwrap()).unwrap()
    }

    #[test]
    fn text_is_a_line_for_each_number() {
        let expected = "[OVERALL], RunTime(ms), 20401\n[OVERALL], Throughput(ops/sec), 980.34\n";
        assert_eq!(written(Form::Text), expected);
    }

    /// What YCSB's JSONArrayMeasurementsExporter wrote for the same calls.
    #[test]
    fn an_array_is_written_as_jackson_writes_it() {
        let expected = concat!(
            "[ {\n  \"metric\" : \"OVERALL\",\n  \"measurement\" : \"RunTime(ms)\",\n",
            "  \"value\" : 20401\n}, {\n  \"metric\" : \"OVERALL\",\n",
            "  \"measurement\" : \"Throughput(ops/sec)\",\n  \"value\" : 980.34\n}, {\n",
            "  \"metric\" : \"X\",\n  \"measurement\" : \"nan\",\n  \"value\" : \"NaN\"\n} ]",
        );
        assert_eq!(written(Form::JsonArray), expected);
    }

    /// What YCSB's JSONMeasurementsExporter wrote, which is not one JSON value.
    #[test]
    fn plain_json_is_objects_in_a_row() {
        let expected = concat!(
            "{\n  \"metric\" : \"OVERALL\",\n  \"measurement\" : \"RunTime(ms)\",\n",
            "  \"value\" : 20401\n} {\n  \"metric\" : \"OVERALL\",\n",
            "  \"measurement\" : \"Throughput(ops/sec)\",\n  \"value\" : 980.34\n}",
        );
        assert_eq!(written(Form::Json), expected);
    }
}
