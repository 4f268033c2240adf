//! A responder for one page over HTTP/1.1: one thread, one request at a time, then it hangs up.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Longest request that is read, bytes.
const LONGEST: usize = 8192;
/// Longest time that one client may take for its request, and for reading the answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Serves `page` until the process ends; returns where.
pub fn start(address: SocketAddr, page: Arc<Mutex<String>>) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(address)?;
    let address = listener.local_addr()?;
    std::thread::Builder::new()
        .name("metrics".into())
        .spawn(move || {
            for stream in listener.incoming() {
                match stream {
                    // A client that goes away early harms nobody.
                    Ok(stream) => drop(answer(stream, &page)),
                    // Out of file descriptors, perhaps; must not become a busy loop.
                    Err(_) => std::thread::sleep(Duration::from_millis(100)),
                }
            }
        })?;
    Ok(address)
}

fn answer(mut stream: TcpStream, page: &Mutex<String>) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = request(&mut stream)?;
    let text = page
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
        .clone();
    stream.write_all(response(&request, &text).as_bytes())
}

/// The head of a request: all up to the first empty line, or as much as is allowed.
fn request(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut part = [0; 1024];
    while head.len() < LONGEST && !head.windows(4).any(|four| four == b"\r\n\r\n") {
        match stream.read(&mut part)? {
            0 => break,
            read => head.extend_from_slice(&part[..read]),
        }
    }
    Ok(head)
}

/// The whole answer to a request's head.
fn response(request: &[u8], page: &str) -> String {
    let line = String::from_utf8_lossy(request);
    let mut words = line.lines().next().unwrap_or_default().split(' ');
    let (method, target) = (words.next(), words.next());
    let path = target.map(|target| target.split('?').next().unwrap_or_default());
    let (status, body) = match (method, path) {
        (Some("GET" | "HEAD"), Some("/metrics")) => ("200 OK", page),
        (Some("GET" | "HEAD"), Some(_)) => ("404 Not Found", "Look at /metrics\n"),
        _ => (
            "400 Bad Request",
            "GET /metrics is all that is known here\n",
        ),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    match method {
        Some("HEAD") => head,
        _ => head + body,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_at_metrics_and_nowhere_else() {
        let get = |head: &str| response(head.as_bytes(), "tare_x 1\n");
        assert!(get("GET /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 OK\r\n"));
        assert!(get("GET /metrics?x=1 HTTP/1.1\r\n\r\n").ends_with("\r\n\r\ntare_x 1\n"));
        assert!(get("HEAD /metrics HTTP/1.1\r\n\r\n").ends_with("close\r\n\r\n"));
        assert!(get("GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
        assert!(get("POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 400"));
        assert!(get("\u{0}\u{1}").starts_with("HTTP/1.1 400"));
    }

    #[test]
    fn a_request_without_an_end_is_read_only_so_far() {
        assert!(request(&mut io::repeat(b'x')).unwrap().len() <= LONGEST + 1024);
        assert_eq!(
            request(&mut &b"GET / HTTP/1.1"[..]).unwrap(),
            b"GET / HTTP/1.1"
        );
    }

    #[test]
    fn it_is_served_over_tcp() {
        let page = Arc::new(Mutex::new("tare_x 1\n".to_owned()));
        let address = start("127.0.0.1:0".parse().unwrap(), page).unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        stream
            .write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert!(text.ends_with("\r\n\r\ntare_x 1\n"), "{text}");
    }
}
