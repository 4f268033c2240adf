//! Service times: constant, drawn from a distribution, or listed.

use std::f64::consts::TAU;
use std::sync::Arc;

/// How long requests take, in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub enum Service {
    Constant(f64),
    Exponential {
        mean: f64,
    },
    Uniform {
        low: f64,
        high: f64,
    },
    /// The logarithm is normal with standard deviation `sigma`; `mean` is that of the time itself.
    Lognormal {
        mean: f64,
        sigma: f64,
    },
    /// One after the other, then from the beginning again; not empty.
    Listed(Arc<[f64]>),
}

/// Draws service times; the same seed gives the same ones.
#[derive(Debug, Clone)]
pub struct Draws {
    service: Service,
    state: u64,
    drawn: usize,
}

impl Draws {
    pub fn new(service: Service, seed: u64) -> Draws {
        Draws {
            service,
            state: seed,
            drawn: 0,
        }
    }

    /// The next service time, nanoseconds, at least 0.
    pub fn next(&mut self) -> f64 {
        self.drawn = self.drawn.wrapping_add(1);
        match self.service {
            Service::Constant(time) => time,
            // Inverse transform: -ln(1 - U) has mean 1.
            Service::Exponential { mean } => -(-self.unit()).ln_1p() * mean,
            Service::Uniform { low, high } => low + (high - low) * self.unit(),
            Service::Lognormal { mean, sigma } => {
                (mean.ln() - sigma * sigma / 2.0 + sigma * self.normal()).exp()
            }
            Service::Listed(ref times) => times[(self.drawn - 1) % times.len()],
        }
    }

    /// Uniform in [0, 1), from the upper 53 bits of SplitMix64 (Steele, Lea, Flood: Fast splittable
    /// pseudorandom number generators, OOPSLA 2014).
    fn unit(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ z >> 31) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Standard normal, by Box and Muller (Annals of Mathematical Statistics 29 (2), 1958).
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (-self.unit()).ln_1p()).sqrt();
        radius * (TAU * self.unit()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 200_000;

    fn sorted(service: Service) -> Vec<f64> {
        let mut draws = Draws::new(service, 7);
        let mut times: Vec<f64> = (0..DRAWS).map(|_| draws.next()).collect();
        times.sort_by(f64::total_cmp);
        times
    }

    fn close(found: f64, expected: f64) {
        assert!(
            (found / expected - 1.0).abs() < 0.02,
            "{found} instead of {expected}"
        );
    }

    #[test]
    fn exponential_times_have_their_quantiles() {
        let times = sorted(Service::Exponential { mean: 500.0 });
        close(times[DRAWS / 2], 500.0 * 2.0_f64.ln());
        close(times[DRAWS * 99 / 100], 500.0 * 100.0_f64.ln());
    }

    #[test]
    fn lognormal_times_have_their_mean_and_median() {
        let times = sorted(Service::Lognormal {
            mean: 500.0,
            sigma: 0.5,
        });
        close(times.iter().sum::<f64>() / DRAWS as f64, 500.0);
        close(times[DRAWS / 2], 500.0 * (-0.125_f64).exp());
    }

    #[test]
    fn uniform_times_stay_between_their_ends() {
        let times = sorted(Service::Uniform {
            low: 100.0,
            high: 300.0,
        });
        assert!(times[0] >= 100.0 && times[DRAWS - 1] < 300.0);
        close(times[DRAWS / 2], 200.0);
    }

    #[test]
    fn listed_times_come_in_turn() {
        let mut draws = Draws::new(Service::Listed([1.0, 2.0].into()), 7);
        assert_eq!([draws.next(), draws.next(), draws.next()], [1.0, 2.0, 1.0]);
    }
}
