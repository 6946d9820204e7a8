//! Two functions whose difference is known by construction, for whichever
//! tool wants to compare them.

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::str::FromStr;

use deadheat_examples::busy_work::{sha256, with_percent};
use deadheat_examples::random::SplitMix64;

/// The variable of the environment that tells a program its duo: processes
/// that it starts are told as well.
pub const VARIABLE: &str = "DEADHEAT_VALIDATION_DUO";

/// A function, and one that does some percent more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Duo {
    /// Rounds of SHA-256 of a call of the quicker one; of half its calls more
    /// and of half its calls less, if they vary.
    pub rounds: u32,
    /// The work that the other one does more, in percent.
    pub percent: f64,
    /// The standard deviation of the logarithm of the effort: 0 for functions
    /// that do the same in every call.
    pub sigma: f64,
    pub effort: Effort,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// The function itself: it draws anew in every call, and nobody can know.
    Drawn,
    /// The input, which both functions are given.
    OfInput,
}

impl Duo {
    pub fn from_environment() -> Self {
        let words = std::env::var(VARIABLE).unwrap_or_default();
        words.parse().unwrap_or_else(|problem| panic!("{VARIABLE}={words:?}: {problem}"))
    }

    pub fn quicker(&self) -> Work {
        Work::new(self.rounds, self.sigma)
    }

    /// The one that does some percent more, or as much at 0%.
    pub fn slower(&self) -> Work {
        Work::new(with_percent(self.rounds, self.percent), self.sigma)
    }
}

impl fmt::Display for Duo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let effort = match self.effort {
            Effort::Drawn => "drawn",
            Effort::OfInput => "of-input",
        };
        let Self { rounds, percent, sigma, .. } = self;
        write!(f, "{rounds} {percent} {sigma} {effort}")
    }
}

impl FromStr for Duo {
    type Err = String;

    fn from_str(words: &str) -> Result<Self, String> {
        let parts: Vec<&str> = words.split(' ').collect();
        let [rounds, percent, sigma, effort] = parts[..] else {
            return Err("not rounds, percent, sigma and who decides the effort".into());
        };
        let number = |word: &str| word.parse().map_err(|_| format!("{word} is no number"));
        Ok(Self {
            rounds: rounds.parse().map_err(|_| format!("{rounds} is not a number of rounds"))?,
            percent: number(percent)?,
            sigma: number(sigma)?,
            effort: match effort {
                "drawn" => Effort::Drawn,
                "of-input" => Effort::OfInput,
                other => return Err(format!("{other} decides no effort")),
            },
        })
    }
}

/// One of the two functions. Both are of this type, so that they share their
/// code and differ in their rounds alone.
#[derive(Clone, Debug)]
pub struct Work {
    rounds: u32,
    factors: Option<LogNormal>,
}

impl Work {
    fn new(rounds: u32, sigma: f64) -> Self {
        let factors = (sigma > 0.0).then(|| LogNormal {
            sigma,
            // From the system: processes that draw the same efforts would
            // not be independent of each other.
            random: SplitMix64::new(RandomState::new().hash_one(0)),
        });
        Self { rounds, factors }
    }

    pub fn call(&mut self) -> [u8; 32] {
        let rounds = match &mut self.factors {
            None => self.rounds,
            Some(factors) => scaled(self.rounds, factors.draw()),
        };
        sha256(rounds)
    }

    /// One call whose effort was drawn before.
    pub fn call_with(&self, factor: f64) -> [u8; 32] {
        sha256(scaled(self.rounds, factor))
    }
}

fn scaled(rounds: u32, factor: f64) -> u32 {
    (f64::from(rounds) * factor).round() as u32
}

/// A log-normal distribution around 1.
#[derive(Clone, Debug)]
pub struct LogNormal {
    sigma: f64,
    random: SplitMix64,
}

impl LogNormal {
    pub fn new(sigma: f64, seed: u64) -> Self {
        Self { sigma, random: SplitMix64::new(seed) }
    }

    pub fn draw(&mut self) -> f64 {
        const UNIT: f64 = 1.0 / (1_u64 << 53) as f64;
        // From above 0 to 1: its logarithm is taken.
        let radius = ((self.random.bits() >> 11) + 1) as f64 * UNIT;
        let angle = (self.random.bits() >> 11) as f64 * UNIT * std::f64::consts::TAU;
        ((-2.0 * radius.ln()).sqrt() * angle.cos() * self.sigma).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn duo(percent: f64, sigma: f64, effort: Effort) -> Duo {
        Duo { rounds: 200, percent, sigma, effort }
    }

    #[test]
    fn a_duo_survives_the_environment() {
        for duo in [
            duo(0.0, 0.0, Effort::Drawn),
            duo(1.0, 1.2f64.ln() / 2.0, Effort::Drawn),
            duo(10.0, 2.4f64.ln() / 2.0, Effort::OfInput),
        ] {
            assert_eq!(duo.to_string().parse(), Ok(duo));
        }
        assert!("200 1 0.1".parse::<Duo>().is_err());
        assert!("200 1 x drawn".parse::<Duo>().is_err());
        assert!("200 1 0.1 often".parse::<Duo>().is_err());
    }

    #[test]
    fn the_difference_is_exact_and_the_same_work_gives_the_same_hash() {
        let duo = duo(10.0, 0.0, Effort::Drawn);
        assert_eq!(duo.quicker().call(), sha256(200));
        assert_eq!(duo.slower().call(), sha256(220));
        assert_eq!(duo.slower().call_with(0.5), sha256(110));
    }

    #[test]
    fn two_functions_that_draw_their_effort_do_not_draw_the_same() {
        let duo = duo(0.0, 0.4, Effort::Drawn);
        let (mut one, mut other) = (duo.quicker(), duo.slower());
        let differ = (0..20).filter(|_| one.call() != other.call()).count();
        assert!(differ > 10, "{differ} of 20");
    }

    #[test]
    fn draws_have_the_median_and_the_spread_they_should_have() {
        let sigma = 2.4f64.ln() / 2.0;
        let mut factors = LogNormal::new(sigma, 1);
        let logs: Vec<f64> = (0..40_000).map(|_| factors.draw().ln()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let square = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>();
        let deviation = (square / logs.len() as f64).sqrt();
        assert!(mean.abs() < 0.01, "{mean}");
        assert!((deviation / sigma - 1.0).abs() < 0.02, "{deviation}");
        let above = logs.iter().filter(|log| **log > 0.0).count();
        assert!((19_400..20_600).contains(&above), "{above}");
    }
}
