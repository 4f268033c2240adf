//! One connection against a scripted server: the handshake, streams, and what breaks.
mod scripted;

use std::net::TcpListener;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{poll, PollFd, PollFlags};
use scripted::{error, serve, ways, VOID};
use tare_cql::frame::{flag, opcode};
use tare_cql::{
    connect, Credentials, Error, Flush, Link, Options, Password, Protocol, Received, ReplyKind,
    TlsOptions,
};
use tare_net::Error as NetError;

fn await_input(link: &Link) {
    let mut waiting = [PollFd::from_borrowed_fd(link.as_fd(), PollFlags::IN)];
    poll(&mut waiting, None).unwrap();
}

/// Wait, read once, and return the answers' tags and bodies.
fn receive(link: &mut Link) -> Result<Vec<(u32, Vec<u8>)>, Error> {
    await_input(link);
    assert!(matches!(link.read().unwrap(), Received::Bytes(_)));
    let mut found = Vec::new();
    link.replies(|tag, reply| found.push((tag, reply.body.to_vec())))?;
    Ok(found)
}

#[test]
fn answers_find_their_requests_in_any_order() {
    for options in ways() {
        let (address, served) = serve(&options, |mut peer| {
            let startup = peer.ready();
            let asked: Vec<_> = (0..3).map(|_| peer.ask().unwrap()).collect();
            for asked in asked.iter().rev() {
                peer.answer(asked.stream, opcode::RESULT, &asked.body);
            }
            startup
        });
        let mut link = connect(address, &options).unwrap();
        for tag in 10..13_u32 {
            link.queue((opcode::EXECUTE, &tag.to_be_bytes()), tag)
                .unwrap();
        }
        assert_eq!((link.in_flight(), link.free()), (3, 32_765));
        assert_eq!(link.flush().unwrap(), Flush::Done);
        let mut found = Vec::new();
        while found.len() < 3 {
            found.extend(receive(&mut link).unwrap());
        }
        let wanted: Vec<_> = (10..13_u32)
            .rev()
            .map(|tag| (tag, tag.to_be_bytes().to_vec()))
            .collect();
        assert_eq!(found, wanted);
        assert_eq!((link.in_flight(), link.free()), (0, 32_768));
        let startup = served.join().unwrap();
        let text = String::from_utf8_lossy(&startup);
        assert!(text.contains("CQL_VERSION\0\u{5}3.0.0"));
        let lz4 = options.compression == tare_cql::Compression::Lz4;
        assert_eq!(text.contains("COMPRESSION\0\u{3}lz4"), lz4);
    }
}

fn with_password() -> Options {
    let credentials = Credentials {
        user: "ann".into(),
        password: Password("pw".into()),
    };
    Options {
        credentials: Some(credentials),
        ..Options::default()
    }
}

#[test]
fn a_password_is_sent_when_it_is_asked_for() {
    for protocol in [Protocol::V4, Protocol::V5] {
        let options = Options {
            protocol,
            ..with_password()
        };
        let (address, served) = serve(&options, |mut peer| {
            peer.startup(opcode::AUTHENTICATE, b"\x00\x02PA");
            let asked = peer.ask().unwrap();
            peer.answer(asked.stream, opcode::AUTH_SUCCESS, &[0xFF; 4]);
            asked
        });
        connect(address, &options).unwrap();
        let asked = served.join().unwrap();
        assert_eq!(asked.opcode, opcode::AUTH_RESPONSE);
        assert_eq!(asked.body, b"\x00\x00\x00\x07\x00ann\x00pw");
    }
}

#[test]
fn refused_and_missing_credentials_are_told_apart_from_other_errors() {
    let options = with_password();
    let (address, _served) = serve(&options, |mut peer| {
        peer.startup(opcode::AUTHENTICATE, b"\x00\x02PA");
        let asked = peer.ask().unwrap();
        peer.answer(
            asked.stream,
            opcode::ERROR,
            &error(0x0100, "Bad credentials"),
        );
        peer.ask()
    });
    let refused = connect(address, &options);
    assert!(
        matches!(&refused, Err(Error::Net(NetError::Authentication { why, .. })) if why == "Bad credentials")
    );

    let options = Options::default();
    let (address, _served) = serve(&options, |mut peer| {
        peer.startup(opcode::AUTHENTICATE, b"\x00\x02PA")
    });
    assert!(matches!(
        connect(address, &options),
        Err(Error::Net(NetError::Authentication { .. }))
    ));
}

#[test]
fn a_server_of_another_version_is_unsupported() {
    let options = Options {
        protocol: Protocol::V5,
        ..Options::default()
    };
    let (address, _served) = serve(&options, |mut peer| {
        let asked = peer.ask().unwrap();
        let body = error(0x000A, "Invalid or unsupported protocol version (5)");
        peer.answer_v4(asked.stream, opcode::ERROR, 0, &body);
        peer.ask()
    });
    let refused = connect(address, &options).unwrap_err();
    assert!(
        matches!(&refused, Error::Net(NetError::Unsupported { .. })),
        "{refused}"
    );
    assert!(refused.to_string().contains("protocol v5"), "{refused}");
}

#[test]
fn a_node_that_is_silent_or_not_there_is_an_error_with_its_address() {
    let connect_timeout = Duration::from_millis(50);
    let options = Options {
        connect_timeout,
        ..Options::default()
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let silent = connect(address, &options).unwrap_err();
    assert!(
        matches!(
            silent,
            Error::Net(NetError::TimedOut {
                what: "STARTUP",
                ..
            })
        ),
        "{silent}"
    );
    drop(listener);
    let gone = connect(address, &options).unwrap_err();
    assert!(
        matches!(gone, Error::Net(NetError::Unreachable { .. })),
        "{gone}"
    );
    assert!(gone.to_string().contains(&address.to_string()));
}

#[test]
fn a_closed_connection_leaves_its_requests_outstanding() {
    let options = Options::default();
    let (address, served) = serve(&options, |mut peer| {
        peer.ready();
        peer.ask().unwrap();
    });
    let mut link = connect(address, &options).unwrap();
    link.queue((opcode::EXECUTE, b""), 7).unwrap();
    let late = link.queue((opcode::EXECUTE, b""), 8).unwrap();
    link.abandon(late);
    link.flush().unwrap();
    served.join().unwrap();
    await_input(&link);
    // The peer may have reset instead: it had not read everything.
    assert!(matches!(link.read(), Ok(Received::Closed) | Err(_)));
    assert_eq!(link.outstanding().collect::<Vec<_>>(), [7]);
}

#[test]
fn an_answer_that_nobody_asked_for_is_an_error_and_an_event_is_dropped() {
    let options = Options::default();
    let (address, _served) = serve(&options, |mut peer| {
        peer.ready();
        let asked = peer.ask().unwrap();
        peer.answer(-1, opcode::EVENT, b"event");
        peer.answer(asked.stream, opcode::RESULT, &VOID);
        peer.ask().unwrap();
        peer.answer(99, opcode::RESULT, &VOID);
        peer.ask()
    });
    let mut link = connect(address, &options).unwrap();
    link.queue((opcode::EXECUTE, b""), 1).unwrap();
    link.flush().unwrap();
    let mut found = Vec::new();
    while found.is_empty() {
        found = receive(&mut link).unwrap();
    }
    assert_eq!(found, [(1, VOID.to_vec())]);
    link.queue((opcode::EXECUTE, b""), 2).unwrap();
    link.flush().unwrap();
    assert!(matches!(receive(&mut link), Err(Error::Protocol(_))));
}

#[test]
fn warnings_before_the_message_are_passed_over() {
    let options = Options::default();
    let (address, _served) = serve(&options, |mut peer| {
        peer.ready();
        let stream = peer.ask().unwrap().stream;
        // Section 2.2: a tracing id, then warnings, then a custom payload, then the message.
        let body = [
            &[9; 16][..],
            b"\x00\x01\x00\x04slow",
            b"\x00\x01\x00\x01k\xff\xff\xff\xff",
            &VOID,
        ]
        .concat();
        let flags = flag::TRACING | flag::WARNING | flag::CUSTOM_PAYLOAD;
        peer.answer_v4(stream, opcode::RESULT, flags, &body);
        peer.ask()
    });
    let mut link = connect(address, &options).unwrap();
    link.queue((opcode::EXECUTE, b""), 1).unwrap();
    link.flush().unwrap();
    await_input(&link);
    link.read().unwrap();
    let mut void = false;
    link.replies(|_, reply| void = matches!(reply.kind(), Ok(ReplyKind::Void)))
        .unwrap();
    assert!(void);
}

#[test]
fn a_full_socket_blocks_the_flush_and_nothing_is_lost() {
    const MANY: u32 = 200;
    let options = Options::default();
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let (address, served) = serve(&options, move |mut peer| {
        peer.ready();
        wait.recv().unwrap();
        (0..MANY)
            .map(|_| peer.ask().unwrap().body.len())
            .sum::<usize>()
    });
    let mut link = connect(address, &options).unwrap();
    for tag in 0..MANY {
        link.queue((opcode::EXECUTE, &vec![1; 100_000]), tag)
            .unwrap();
    }
    assert_eq!(link.flush().unwrap(), Flush::Blocked);
    assert!(link.has_output());
    go.send(()).unwrap();
    while link.flush().unwrap() == Flush::Blocked {
        poll(
            &mut [PollFd::from_borrowed_fd(link.as_fd(), PollFlags::OUT)],
            None,
        )
        .unwrap();
    }
    assert!(!link.has_output());
    assert_eq!(served.join().unwrap(), MANY as usize * 100_000);
}

#[test]
fn there_are_32768_streams_and_no_more() {
    let options = Options::default();
    let (address, _served) = serve(&options, |mut peer| peer.ready());
    let mut link = connect(address, &options).unwrap();
    assert!((0..32_768).all(|tag| link.queue((opcode::OPTIONS, b""), tag).is_some()));
    assert!(link.queue((opcode::OPTIONS, b""), 0).is_none());
    assert_eq!(link.free(), 0);
}

#[test]
fn tls_options_that_cannot_be_used_are_refused_before_anything_is_connected() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let refused = |tls: TlsOptions| {
        let options = Options {
            tls: Some(tls),
            ..Options::default()
        };
        let error = connect(listener.local_addr().unwrap(), &options).unwrap_err();
        assert!(matches!(error, Error::Net(NetError::Tls(_))), "{error}");
        error.to_string()
    };
    let nothing = TlsOptions::default();
    assert!(refused(nothing).contains("no authorities"));
    let missing = TlsOptions {
        authorities: Some("/nowhere/ca.pem".into()),
        ..Default::default()
    };
    assert!(refused(missing).contains("/nowhere/ca.pem"));
    let name = Some("not a name".to_owned());
    assert!(refused(TlsOptions {
        server_name: name,
        ..Default::default()
    })
    .contains("not a name"));
    assert_eq!(
        listener.accept().unwrap_err().kind(),
        std::io::ErrorKind::WouldBlock
    );
}
