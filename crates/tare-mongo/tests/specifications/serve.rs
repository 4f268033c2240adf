//! The server of `server.rs` for drivers of other people, until this process has no more input.
use std::io;
use std::process::ExitCode;

use crate::server::{Server, NATURES};

/// Names the variable of the environment that says what is served; without it there are cases to run.
pub const ASKED: &str = "SCRIPTED_SERVER";
/// The wire version of MongoDB 7.0.
const WIRE: i32 = 21;

/// Serves what is named, and prints where: HOST:PORT.
pub fn serve(nature: &str) -> ExitCode {
    let Some((_, nature)) = NATURES.iter().find(|(name, _)| *name == nature) else {
        let names = NATURES.map(|(name, _)| name).join(", ");
        eprintln!("{ASKED}={nature}: it can be {names}");
        return ExitCode::from(2);
    };
    let server = Server::start(*nature, WIRE);
    println!("{}", server.address);
    // Its end is that of whoever started this, too, so that nothing is left.
    match io::copy(&mut io::stdin(), &mut io::sink()) {
        Ok(_) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
