//! tare-probe: tells once per interval what the machine and the watched units did.
#![forbid(unsafe_code)]

mod config;
mod group;
mod machine;
mod metrics;
mod pace;
mod parse;
mod processes;
mod sampler;
mod slices;
mod source;
mod tally;
#[cfg(test)]
mod tests;
mod unit;
mod wait;

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use config::{BadConfig, Config};
use sampler::Sampler;
use slices::Driver;
use wait::Ticker;

/// Sample the machine and units, drive them through slices, or time a CPU, until SIGTERM, SIGINT, or the end of standard input.
/// Exit status: 0 ended as asked, 1 failed, 2 bad configuration.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    /// File with the configuration in JSON; "-" reads standard input, whose end then ends the
    /// probe.
    #[arg(long, default_value = "-")]
    config: PathBuf,
}

fn main() -> ExitCode {
    let path = Arguments::parse().config;
    let config = match read(&path) {
        Ok(config) => config,
        Err(bad) => {
            eprintln!("tare-probe: {bad}");
            return ExitCode::from(2);
        }
    };
    match run(&config, is_stdin(&path)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tare-probe: {error}");
            ExitCode::FAILURE
        }
    }
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn read(path: &Path) -> Result<Config, BadConfig> {
    if is_stdin(path) {
        return Config::read(io::stdin().lock());
    }
    let file = File::open(path).map_err(|e| BadConfig {
        field: path.display().to_string(),
        why: e.to_string(),
    })?;
    Config::read(io::BufReader::new(file))
}

fn run(config: &Config, watch_stdin: bool) -> io::Result<()> {
    let mut ticker = Ticker::new(Duration::from_secs_f64(config.interval_s), watch_stdin)?;
    if let Some(file) = &config.pace {
        return pace::write(file, &mut ticker);
    }
    if let Some(slicing) = &config.slices {
        return Driver::new(slicing, Path::new("/")).drive(&mut ticker, &mut io::stdout().lock());
    }
    let mut sampler = Sampler::new(config, Path::new("/"));
    let mut line = Vec::new();
    while ticker.tick() {
        line.clear();
        serde_json::to_writer(&mut line, &sampler.sample())?;
        line.push(b'\n');
        let mut out = io::stdout().lock();
        out.write_all(&line)?;
        out.flush()?;
    }
    Ok(())
}
