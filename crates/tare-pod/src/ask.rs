//! Connects to pods that answer, from where it runs, and tells what came of it.

use std::io::{self, BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::answer::Answer;

const AGAIN: Duration = Duration::from_millis(100);
const LONGEST_LINE: u64 = 16 * 1024;

/// What came of asking one target.
#[derive(Debug, Serialize)]
pub struct Reply {
    /// HOST:PORT as it was asked for
    pub target: String,
    /// what its name resolves to here
    pub addresses: Vec<SocketAddr>,
    /// this end of the connection
    pub from: Option<SocketAddr>,
    /// the other end as it was dialled
    pub to: Option<SocketAddr>,
    /// what the pod told; null where none answered
    pub answer: Option<Answer>,
    /// why none answered
    pub why: String,
}

/// Asks all targets at once; as many are told as were asked, in their order.
pub fn ask_all(targets: &[String], within: Duration) -> Vec<Reply> {
    thread::scope(|scope| {
        let asked: Vec<_> = targets
            .iter()
            .map(|target| scope.spawn(move || ask(target, within)))
            .collect();
        asked
            .into_iter()
            .map(|one| one.join().expect("asking does not panic"))
            .collect()
    })
}

/// Asks one target again and again until it answers or the time is up.
fn ask(target: &str, within: Duration) -> Reply {
    let until = Instant::now() + within;
    let mut reply = Reply {
        target: target.to_owned(),
        addresses: Vec::new(),
        from: None,
        to: None,
        answer: None,
        why: String::new(),
    };
    loop {
        match once(target, until, &mut reply) {
            Ok(answer) => {
                reply.answer = Some(answer);
                reply.why.clear();
                return reply;
            }
            Err(error) => reply.why = error.to_string(),
        }
        if Instant::now() + AGAIN >= until {
            return reply;
        }
        thread::sleep(AGAIN);
    }
}

fn once(target: &str, until: Instant, reply: &mut Reply) -> io::Result<Answer> {
    reply.addresses = target.to_socket_addrs()?.collect();
    let Some(address) = reply.addresses.first().copied() else {
        return Err(io::Error::other("the name has no address"));
    };
    let stream = TcpStream::connect_timeout(&address, left(until))?;
    stream.set_read_timeout(Some(left(until)))?;
    reply.from = Some(stream.local_addr()?);
    reply.to = Some(address);
    let mut line = String::new();
    BufReader::new(stream.take(LONGEST_LINE)).read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}

/// What is left of the time; never zero, which would mean: without end.
fn left(until: Instant) -> Duration {
    until
        .saturating_duration_since(Instant::now())
        .max(Duration::from_millis(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::TcpListener;

    #[test]
    fn who_answers_is_told_with_both_ends() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let pod = thread::spawn(move || {
            let (mut stream, peer) = listener.accept().unwrap();
            let line =
                format!(r#"{{"name":"c-0","peer":"{peer}","local":"{address}","mtu":{{}}}}"#);
            stream.write_all(line.as_bytes()).unwrap();
        });
        let reply = ask(&address.to_string(), Duration::from_secs(5));
        pod.join().unwrap();
        let answer = reply.answer.expect(&reply.why);
        assert_eq!(answer.name, "c-0");
        assert_eq!(Some(answer.peer), reply.from);
        assert_eq!(reply.to, Some(address));
    }

    #[test]
    fn a_closed_port_is_told_with_the_reason_and_in_time() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let reply = ask(&address.to_string(), Duration::from_millis(300));
        assert!(reply.answer.is_none());
        assert!(reply.why.contains("refused"), "{}", reply.why);
    }

    #[test]
    fn something_else_that_listens_is_no_pod_that_answers() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let other = thread::spawn(move || {
            for stream in listener.incoming().take(1).flatten() {
                let mut stream = stream;
                stream.write_all(b"HTTP/1.1 400 Bad Request\r\n").unwrap();
            }
        });
        let reply = ask(&address.to_string(), Duration::from_millis(50));
        other.join().unwrap();
        assert!(reply.answer.is_none());
        assert!(!reply.why.is_empty());
    }
}
