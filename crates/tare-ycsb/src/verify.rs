//! Rows compared with what `dataintegrity=true` has written into them.

use tare_cql::{Rows, Statement};
use tare_draw::ycsb::{checked_value, FieldLength};
use tare_engine::errors::ErrorKind;
use tare_engine::workload::Outcome;

use crate::settings::Core;

/// Knows which cell of a statement's rows belongs to which field.
pub struct Verifier {
    /// Per statement and column of its result: the field, or none for the key.
    fields: Vec<Vec<Option<usize>>>,
    expected: Vec<u8>,
}

impl Verifier {
    pub fn new(core: &Core, statements: &[Statement]) -> Verifier {
        let field = |name: &str| {
            core.fields
                .iter()
                .position(|f| f.eq_ignore_ascii_case(name))
        };
        let of = |statement: &Statement| {
            statement
                .result
                .iter()
                .map(|column| field(&column.name))
                .collect()
        };
        Verifier {
            fields: match core.integrity {
                true => statements.iter().map(of).collect(),
                false => Vec::new(),
            },
            expected: Vec::new(),
        }
    }

    /// Checks the first row of a read of record `number`.
    ///
    /// # Errors
    /// `WrongValue` when a field is missing or is not what was written.
    pub fn check(
        &mut self,
        core: &Core,
        number: i64,
        statement: usize,
        rows: &Rows<'_>,
    ) -> Outcome {
        let fields = self.fields.get(statement).map_or(&[][..], Vec::as_slice);
        let (Some(Ok(row)), FieldLength::Constant(length)) = (rows.iter().next(), &core.length)
        else {
            return Err(ErrorKind::WrongValue);
        };
        let key = core.keys.key(number);
        let mut cells = row.cells();
        for field in fields {
            let cell = cells.next().ok_or(ErrorKind::WrongValue)?;
            let Some(field) = field else { continue };
            self.expected.clear();
            checked_value(
                &key,
                &core.fields[*field],
                *length as usize,
                &mut self.expected,
            );
            if cell != Some(self.expected.as_slice()) {
                return Err(ErrorKind::WrongValue);
            }
        }
        Ok(())
    }
}
