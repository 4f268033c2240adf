//! Answers connections: who this is, and which addresses the connection has at this end. Where they
//! differ from those at the other end, something between translated them.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What a pod tells each client.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// the pod's name
    pub name: String,
    /// where the connection seems to come from
    pub peer: SocketAddr,
    /// where it arrived
    pub local: SocketAddr,
    /// network device to the largest packet that it sends, bytes
    pub mtu: BTreeMap<String, u32>,
}

/// Serves on all ports until the process is ended: on all addresses, or where a database of this
/// machine would listen that is given this name.
pub fn serve(name: &str, at: Option<&str>, ports: &[u16]) -> io::Result<()> {
    let address = at.map_or(Ok(Ipv4Addr::UNSPECIFIED), address_of)?;
    let listeners = ports
        .iter()
        .map(|port| {
            TcpListener::bind((address, *port)).map_err(|error| {
                let at = at.unwrap_or("all addresses");
                io::Error::new(error.kind(), format!("{at}, {address}:{port}: {error}"))
            })
        })
        .collect::<io::Result<Vec<_>>>()?;
    thread::scope(|scope| {
        for listener in &listeners {
            scope.spawn(move || {
                for stream in listener.incoming().flatten() {
                    // a client that connects and goes away is no reason to stop
                    let _ = answer(name, stream);
                }
            });
        }
    });
    Ok(())
}

/// What a name is here. A name that leads to the loopback, as a machine's own often does in its
/// /etc/hosts, is refused: nobody else would get there. An address is taken at its word.
fn address_of(name: &str) -> io::Result<Ipv4Addr> {
    let found = (name, 0).to_socket_addrs()?.find_map(|one| match one {
        SocketAddr::V4(four) => Some(*four.ip()),
        SocketAddr::V6(_) => None,
    });
    let address = found
        .ok_or_else(|| io::Error::other(format!("{name} has no IPv4 address on this machine")))?;
    if address.is_loopback() && name.parse::<Ipv4Addr>().is_err() {
        return Err(io::Error::other(format!(
            "{name} is {address} on this machine, where no other one gets to"
        )));
    }
    Ok(address)
}

fn answer(name: &str, mut stream: TcpStream) -> io::Result<()> {
    stream.set_write_timeout(Some(Duration::from_secs(2)))?;
    let told = Answer {
        name: name.to_owned(),
        peer: stream.peer_addr()?,
        local: stream.local_addr()?,
        mtu: mtu(Path::new("/sys/class/net")),
    };
    let mut line = serde_json::to_vec(&told)?;
    line.push(b'\n');
    stream.write_all(&line)
}

/// Largest packets of all network devices but the loopback.
fn mtu(devices: &Path) -> BTreeMap<String, u32> {
    let Ok(found) = std::fs::read_dir(devices) else {
        return BTreeMap::new();
    };
    found
        .flatten()
        .filter_map(|device| {
            let name = device.file_name().into_string().ok()?;
            let text = std::fs::read_to_string(device.path().join("mtu")).ok()?;
            (name != "lo").then_some((name, text.trim().parse().ok()?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn the_caller_is_told_both_addresses_of_its_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let target = listener.local_addr().unwrap();
        let mut caller = TcpStream::connect(target).unwrap();
        answer("c-0", listener.accept().unwrap().0).unwrap();
        let mut text = String::new();
        caller.read_to_string(&mut text).unwrap();
        let told: Answer = serde_json::from_str(&text).unwrap();
        assert_eq!(told.name, "c-0");
        assert_eq!(told.peer, caller.local_addr().unwrap());
        assert_eq!(told.local, target);
    }

    #[test]
    fn a_name_of_the_loopback_is_refused_and_an_address_is_not() {
        assert_eq!(address_of("127.0.0.1").unwrap(), Ipv4Addr::LOCALHOST);
        assert_eq!(
            address_of("192.0.2.7").unwrap(),
            Ipv4Addr::new(192, 0, 2, 7)
        );
        let refused = address_of("localhost").unwrap_err().to_string();
        assert!(refused.starts_with("localhost is 127."), "{refused}");
    }

    #[test]
    fn an_address_of_another_machine_is_said_with_its_port() {
        let refused = serve("c-0", Some("192.0.2.7"), &[9042]).unwrap_err();
        assert!(refused.to_string().contains("192.0.2.7:9042"), "{refused}");
    }

    #[test]
    fn devices_are_listed_with_their_largest_packet_and_without_the_loopback() {
        let devices = tempfile::tempdir().unwrap();
        for (name, size) in [("eth0", "1450\n"), ("lo", "65536\n")] {
            let device = devices.path().join(name);
            std::fs::create_dir(&device).unwrap();
            std::fs::write(device.join("mtu"), size).unwrap();
        }
        let found = mtu(devices.path());
        assert_eq!(found, BTreeMap::from([("eth0".to_owned(), 1450)]));
    }
}
