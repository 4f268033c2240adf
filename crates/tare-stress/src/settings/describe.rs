//! The tool's settings dump: its lines, and distributions in its words.

use std::fmt::Display;

use tare_draw::stress::Distribution;

use super::forms::Share;
use crate::output::numbers::fixed;

/// The lines of the dump.
pub struct Dump(pub Vec<String>);

impl Dump {
    pub fn title(&mut self, title: &str) {
        self.0.push(format!("{title}:"));
    }

    pub fn say(&mut self, name: &str, value: impl Display) {
        self.0.push(format!("  {name}: {value}"));
    }

    /// What was not said is `null`.
    pub fn say_or_null(&mut self, name: &str, value: Option<impl Display>) {
        match value {
            Some(value) => self.say(name, value),
            None => self.say(name, "null"),
        }
    }
}

/// As the tool says it, such as `Uniform:  min=1,max=50000`.
pub fn describe(distribution: &Distribution) -> String {
    match distribution {
        Distribution::Fixed { value } => format!("Fixed:  key={value}"),
        Distribution::Uniform { min, max } => format!("Uniform:  min={min},max={max}"),
        Distribution::Sequence { min, max } => format!("Sequence:  start={min},end={max}"),
        Distribution::Gaussian {
            min,
            max,
            mean,
            deviation,
        } => format!(
            "Gaussian:  min={min},max={max},mean={},stdev={}",
            fixed(*mean, 6),
            fixed(*deviation, 6)
        ),
        Distribution::Exponential { min, max, mean } => {
            format!("Exponential:  min={min},max={max},mean={}", fixed(*mean, 6))
        }
        Distribution::Extreme {
            min,
            max,
            shape,
            scale,
        } => format!(
            "Extreme:  min={min},max={max},shape={}, scale={}",
            fixed(*shape, 6),
            fixed(*scale, 6)
        ),
        Distribution::Quantized { distribution, .. } => describe(distribution),
        Distribution::Inverted { distribution, .. } => {
            format!("Inverse: {}", describe(distribution))
        }
    }
}

/// As the tool says it, such as `Ratio: divisor=1.000000;delegate=Fixed:  key=1`.
pub fn describe_share(share: &Share) -> String {
    let divisor = fixed(share.divisor as f64, 6);
    format!(
        "Ratio: divisor={divisor};delegate={}",
        describe(&share.distribution)
    )
}
