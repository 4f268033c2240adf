//! A token range under way, page by page.

use tare_cql::Rows;
use tare_engine::request::Request;

#[derive(Debug, Clone)]
pub struct Walk {
    from: i64,
    to: i64,
    page: Option<Vec<u8>>,
    /// Token of the last row: the next one with it is of the same partition.
    last: Option<Vec<u8>>,
}

impl Walk {
    /// Over a range from (not included) and to (included) these tokens.
    pub fn new((from, to): (i64, i64)) -> Walk {
        Walk {
            from,
            to,
            page: None,
            last: None,
        }
    }

    /// Writes the values of the next page's request, which has been begun.
    pub fn write(&self, request: &mut Request) {
        request.value(&self.from.to_be_bytes());
        request.value(&self.to.to_be_bytes());
        if let Some(page) = &self.page {
            request.paging_state(page);
        }
    }

    /// Reads a page: partitions that begin on it, and whether it was the last one.
    pub fn read(&mut self, rows: &Rows<'_>) -> (u64, bool) {
        let mut partitions = 0;
        for row in rows.iter().flatten() {
            let token = row.cells().next().flatten();
            if token != self.last.as_deref() {
                partitions += 1;
                self.last = token.map(<[u8]>::to_vec);
            }
        }
        self.page = rows.paging_state().map(<[u8]>::to_vec);
        (partitions, self.page.is_none())
    }
}
