//! Results as the specifications draw them.
use tare_cql::frame::opcode;
use tare_cql::{ColumnType, Reply, ReplyKind, Rows, ServerErrorKind};

fn kind(body: &[u8]) -> ReplyKind<'_> {
    Reply {
        opcode: opcode::RESULT,
        flags: 0,
        body,
    }
    .kind()
    .unwrap()
}

fn rows(body: &[u8]) -> Rows<'_> {
    let ReplyKind::Rows(rows) = kind(body) else {
        panic!("not rows")
    };
    rows
}

#[test]
fn the_kinds_of_results_are_told_apart() {
    assert!(matches!(kind(&[0, 0, 0, 1]), ReplyKind::Void));
    assert!(matches!(
        kind(b"\x00\x00\x00\x03\x00\x01k"),
        ReplyKind::SetKeyspace
    ));
    assert!(matches!(
        kind(b"\x00\x00\x00\x04rest"),
        ReplyKind::Prepared(b"rest")
    ));
    assert!(matches!(kind(&[0, 0, 0, 5]), ReplyKind::SchemaChange));
    assert!(Reply {
        opcode: opcode::RESULT,
        flags: 0,
        body: &[0, 0, 0, 9]
    }
    .kind()
    .is_err());
    let ready = Reply {
        opcode: opcode::READY,
        flags: 0,
        body: &[],
    };
    assert!(matches!(ready.kind(), Ok(ReplyKind::Other(opcode::READY))));
}

#[test]
fn rows_without_metadata_have_a_count_and_cells() {
    // Section 4.2.5.2: flags 4 (no metadata), two columns, two rows.
    let body = b"\x00\x00\x00\x02\x00\x00\x00\x04\x00\x00\x00\x02\x00\x00\x00\x02\
        \x00\x00\x00\x01a\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x02bc";
    let rows = rows(body);
    assert_eq!(
        (rows.len(), rows.width(), rows.paging_state()),
        (2, 2, None)
    );
    assert_eq!(rows.columns().unwrap(), None);
    let cells: Vec<Vec<_>> = rows
        .iter()
        .map(|row| row.unwrap().cells().collect())
        .collect();
    assert_eq!(
        cells,
        [[Some(&b"a"[..]), None], [Some(&b""[..]), Some(b"bc")]]
    );
}

#[test]
fn rows_with_pages_and_a_new_metadata_id_have_their_columns_behind_them() {
    // Flags 1 (one table), 2 (more pages) and 8 (v5: metadata changed).
    let body = b"\x00\x00\x00\x02\x00\x00\x00\x0b\x00\x00\x00\x01\x00\x00\x00\x05STATE\x00\x02ID\
        \x00\x02ks\x00\x01t\x00\x01c\x00\x09\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00\x07";
    let rows = rows(body);
    assert_eq!(rows.paging_state(), Some(&b"STATE"[..]));
    let columns = rows.columns().unwrap().unwrap();
    assert_eq!(
        (columns[0].name.as_str(), &columns[0].kind),
        ("c", &ColumnType::Int)
    );
    let row = rows.iter().next().unwrap().unwrap();
    assert_eq!(row.cells().next(), Some(Some(&[0, 0, 0, 7][..])));
}

#[test]
fn a_row_count_beyond_what_came_is_an_error_and_no_loop() {
    for columns in [0_u8, 1] {
        let body = [
            &[
                0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, columns, 0x7F, 0xFF, 0xFF, 0xFF,
            ][..],
            &[0; 40],
        ]
        .concat();
        assert!(Reply {
            opcode: opcode::RESULT,
            flags: 0,
            body: &body
        }
        .kind()
        .is_err());
    }
}

#[test]
fn the_rows_end_at_the_first_that_is_damaged() {
    let body = b"\x00\x00\x00\x02\x00\x00\x00\x04\x00\x00\x00\x01\x00\x00\x00\x02\
        \x00\x00\x00\x01a\x00\x00\x00\x09b";
    let found: Vec<bool> = rows(body).iter().map(|row| row.is_ok()).collect();
    assert_eq!(found, [true, false]);
}

#[test]
fn an_error_has_its_code_before_it_is_decoded() {
    let body = b"\x00\x00\x10\x01\x00\x04busy";
    let reply = Reply {
        opcode: opcode::ERROR,
        flags: 0,
        body,
    };
    let Ok(ReplyKind::Error(error)) = reply.kind() else {
        panic!("not an error")
    };
    assert_eq!(
        (error.code, error.kind()),
        (0x1001, ServerErrorKind::Overloaded)
    );
    assert_eq!(
        error.decode().unwrap().to_string(),
        "busy (code 0x1001, overloaded)"
    );
}
