//! The script's parts as texts: what the command line takes. Errors say what was expected.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::script::{Fault, Protocol, Servers, Set, Stall};
use crate::service::Service;

const UNITS: [(&str, f64); 5] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("m", 60e9),
];
/// Longest time that a script may name, seconds.
const LONGEST: f64 = 86_400.0;

/// `500us`, `1.5ms`, `10s`, `0`: nanoseconds.
pub fn nanoseconds(text: &str) -> Result<f64, String> {
    let wrong = || format!("{text:?} is no time; write a number and a unit: 500us, 1.5ms, 10s");
    let digits = text
        .find(|letter: char| letter.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let number: f64 = text[..digits].trim().parse().map_err(|_| wrong())?;
    let unit = match text[digits..].trim() {
        "" if number == 0.0 => 1.0,
        unit => {
            UNITS
                .iter()
                .find(|(name, _)| *name == unit)
                .ok_or_else(wrong)?
                .1
        }
    };
    let time = number * unit;
    if (0.0..=LONGEST * 1e9).contains(&time) {
        Ok(time)
    } else {
        Err(format!("{text:?} is not between 0 and {LONGEST} s"))
    }
}

/// The same as a duration.
pub fn duration(text: &str) -> Result<Duration, String> {
    nanoseconds(text).map(|time| Duration::from_nanos(time as u64))
}

/// `1%` or `0.01`: a share between 0 and 1.
pub fn share(text: &str) -> Result<f64, String> {
    let (number, of) = text
        .strip_suffix('%')
        .map_or((text, 1.0), |number| (number, 100.0));
    let share = number.trim().parse::<f64>().ok().map(|number| number / of);
    let share = share.filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| format!("{text:?} is no share; write 1% or 0.01"))
}

/// `constant:500us`, `exponential:500us`, `uniform:100us,1ms`, `lognormal:500us,0.5` (mean, sigma),
/// `file:PATH` (one time a line).
pub fn service(text: &str) -> Result<Service, String> {
    let (form, rest) = text.split_once(':').unwrap_or((text, ""));
    let pair = || {
        rest.split_once(',')
            .ok_or_else(|| format!("{form} takes two values: {form}:A,B"))
    };
    match form {
        "constant" => nanoseconds(rest).map(Service::Constant),
        "exponential" => nanoseconds(rest).map(|mean| Service::Exponential { mean }),
        "uniform" => {
            let (low, high) = pair()?;
            let (low, high) = (nanoseconds(low)?, nanoseconds(high)?);
            if low > high {
                return Err(format!("{text:?}: the first time is the shorter one"));
            }
            Ok(Service::Uniform { low, high })
        }
        "lognormal" => {
            let (mean, sigma) = pair()?;
            let sigma: f64 = sigma.trim().parse().map_err(|_| format!("{sigma:?} is no number"))?;
            let mean = nanoseconds(mean)?;
            if mean <= 0.0 || !(0.0..=5.0).contains(&sigma) {
                return Err(format!("{text:?}: the mean is above 0, sigma between 0 and 5"));
            }
            Ok(Service::Lognormal { mean, sigma })
        }
        "file" => listed(Path::new(rest)),
        _ => Err(format!("{text:?} is no service time; write constant:, exponential:, uniform:, lognormal: or file:")),
    }
}

fn listed(path: &Path) -> Result<Service, String> {
    let shown = path.display();
    let text =
        std::fs::read_to_string(path).map_err(|why| format!("cannot read {shown}: {why}"))?;
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    let times: Result<Vec<f64>, String> = lines
        .map(|(number, line)| {
            nanoseconds(line.trim()).map_err(|why| format!("{shown}, line {}: {why}", number + 1))
        })
        .collect();
    match times? {
        times if times.is_empty() => Err(format!("{shown} holds no times")),
        times => Ok(Service::Listed(Arc::from(times))),
    }
}

/// `1`, `4`, `inf`.
pub fn servers(text: &str) -> Result<Servers, String> {
    if text == "inf" {
        return Ok(Servers::Unlimited);
    }
    let count = text
        .parse()
        .ok()
        .filter(|count| (1..=1_000_000).contains(count));
    count
        .map(Servers::Count)
        .ok_or_else(|| format!("{text:?} is no number of servers; write 1, 2, ... or inf"))
}

/// `at=10s,for=2s`.
pub fn stall(text: &str) -> Result<Stall, String> {
    let wrong = || format!("{text:?} is no stall; write at=10s,for=2s");
    let (at, length) = text.split_once(',').ok_or_else(wrong)?;
    Ok(Stall {
        at: duration(at.strip_prefix("at=").ok_or_else(wrong)?)?,
        length: duration(length.strip_prefix("for=").ok_or_else(wrong)?)?,
    })
}

/// `ycsb.large=900`: a table and the length of its values, bytes.
pub fn table(text: &str) -> Result<(String, usize), String> {
    let wrong =
        || format!("{text:?} is no table; write KEYSPACE.TABLE=BYTES, of 1,000,000 at most");
    let (name, bytes) = text.split_once('=').ok_or_else(wrong)?;
    let bytes: usize = bytes.trim().parse().map_err(|_| wrong())?;
    if !name.contains('.') || bytes > 1_000_000 {
        return Err(wrong());
    }
    Ok((name.trim().to_owned(), bytes))
}

/// `unavailable:1%,timeout:0.5%`.
pub fn errors(text: &str) -> Result<Vec<(Fault, f64)>, String> {
    let mut found = Vec::new();
    for part in text.split(',') {
        let (name, number) = part
            .split_once(':')
            .ok_or_else(|| format!("{part:?}: write KIND:SHARE"))?;
        let fault = Fault::ALL.iter().find(|(known, _)| *known == name.trim());
        let names = Fault::ALL.map(|(known, _)| known).join(", ");
        let (_, fault) =
            fault.ok_or_else(|| format!("{name:?} is no kind of error; there are {names}"))?;
        found.push((*fault, share(number.trim())?));
    }
    if found.iter().map(|(_, share)| share).sum::<f64>() > 1.0 {
        return Err(format!("{text:?}: the shares are more than the whole"));
    }
    Ok(found)
}

/// A positive number of operations a second.
pub fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (1e-3..=1e9).contains(rate));
    rate.ok_or_else(|| format!("{text:?} is no rate; write operations per second: 20000"))
}

/// `HOST:PORT` with a numeric host.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse()
        .map_err(|_| format!("{text:?} is no address; write 127.0.0.1:9042"))
}

/// `cql`, `mongodb`.
pub fn protocol(text: &str) -> Result<Protocol, String> {
    match text {
        "cql" => Ok(Protocol::Cql),
        "mongodb" => Ok(Protocol::Mongodb),
        _ => Err(format!("{text:?} is no protocol; write cql or mongodb")),
    }
}

/// `10.0.0.1:27017,10.0.0.2:27017,10.0.0.3:27017`, or with the set's name and `=` before it, and
/// which of them it is.
pub fn set(text: &str, me: &str) -> Result<Set, String> {
    let (name, hosts) = text.split_once('=').unwrap_or((Set::NAME, text));
    let members: Vec<String> = hosts
        .split(',')
        .map(|host| host.trim().to_owned())
        .collect();
    let port = |host: &String| host.rsplit_once(':').map(|(_, port)| port.parse::<u16>());
    if let Some(wrong) = members
        .iter()
        .find(|host| !matches!(port(host), Some(Ok(_))))
    {
        return Err(format!(
            "{wrong:?} is no member; write HOST:PORT,HOST:PORT,..."
        ));
    }
    match members.iter().position(|host| host == me) {
        Some(me) => Ok(Set {
            name: name.to_owned(),
            members,
            me,
        }),
        None => Err(format!(
            "it is none of them as {me}; name the one that it is with --me HOST:PORT"
        )),
    }
}

/// `NAME:PASSWORD`.
pub fn user(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((name, password)) if !name.is_empty() => Ok((name.to_owned(), password.to_owned())),
        _ => Err("a user is written NAME:PASSWORD".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(nanoseconds("500us"), Ok(500_000.0));
        assert_eq!(nanoseconds("1.5 ms"), Ok(1_500_000.0));
        assert_eq!(nanoseconds("0"), Ok(0.0));
        for wrong in ["5", "us", "-1s", "1e99s", "2 days", "nan"] {
            assert!(nanoseconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn service_times_have_their_forms() {
        assert_eq!(service("constant:1us"), Ok(Service::Constant(1e3)));
        assert_eq!(
            service("uniform:1us,2us"),
            Ok(Service::Uniform {
                low: 1e3,
                high: 2e3
            })
        );
        for wrong in [
            "",
            "constant",
            "uniform:2us,1us",
            "lognormal:0,1",
            "pareto:1us",
            "file:/nonexistent",
        ] {
            assert!(service(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn stalls_errors_and_servers_are_read() {
        let stalled = Stall {
            at: Duration::from_secs(10),
            length: Duration::from_secs(2),
        };
        assert_eq!(stall("at=10s,for=2s"), Ok(stalled));
        let expected = vec![(Fault::Unavailable, 0.01), (Fault::Lost, 0.005)];
        assert_eq!(errors("unavailable:1%, lost:0.005"), Ok(expected));
        assert!(errors("unavailable:60%,lost:60%").is_err());
        assert_eq!(servers("inf"), Ok(Servers::Unlimited));
        assert_eq!(table("ycsb.large=900"), Ok(("ycsb.large".to_owned(), 900)));
        for wrong in ["large=900", "ycsb.large", "ycsb.large=many", "a.b=1000001"] {
            assert!(table(wrong).is_err(), "{wrong}");
        }
        assert!(servers("0").is_err());
    }

    #[test]
    fn a_set_names_its_members_and_which_one_it_is() {
        let found = set("rs1=a:1,b:2", "b:2").expect("a set");
        assert_eq!((found.name.as_str(), found.me), ("rs1", 1));
        assert_eq!(
            set("a:1", "a:1").map(|found| found.name),
            Ok("rs0".to_owned())
        );
        for (wrong, me) in [
            ("a:1,b:2", "c:3"),
            ("a,b:2", "b:2"),
            ("", ""),
            ("a:x", "a:x"),
        ] {
            assert!(set(wrong, me).is_err(), "{wrong}");
        }
        assert_eq!(user("ann:x:y"), Ok(("ann".to_owned(), "x:y".to_owned())));
        assert!(user("ann").is_err() && protocol("redis").is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_a_part_panic(text: String) {
            // The results are of no interest: that there are some is.
            let _ = (service(&text), stall(&text), errors(&text), servers(&text), rate(&text), address(&text));
            let _ = (set(&text, &text), user(&text), protocol(&text));
        }
    }
}
