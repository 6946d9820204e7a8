//! The values of settings, read from the text that was typed.

use std::time::Duration;

use crate::estimate::Verdict;
use crate::message::HELP;
use crate::metric::Metric;
use crate::quantities::{duration, fraction};
use crate::shard::{ShardBy, ShardNumber};

/// The shares that make sense for a setting.
#[derive(Debug)]
pub struct ShareRange {
    /// The range in words.
    pub words: &'static str,
    least: f64,
    most: f64,
    includes_most: bool,
}

impl ShareRange {
    /// Margins.
    pub const MARGIN: ShareRange = ShareRange {
        words: "above 0 and below 1 (100%)",
        least: 0.0,
        most: 1.0,
        includes_most: false,
    };
    /// Accepted chances of a wrong verdict.
    pub const ALPHA: ShareRange = ShareRange {
        words: "above 0 and at most 0.5",
        least: 0.0,
        most: 0.5,
        includes_most: true,
    };
    /// Quantiles. Further out a replicate would take tens of thousands of iterations.
    pub const QUANTILE: ShareRange = ShareRange {
        words: "at least 0.001 (0.1%) and at most 0.999 (99.9%)",
        least: 0.001,
        most: 0.999,
        includes_most: true,
    };

    /// Returns whether the range holds a share; it holds no NaN.
    pub fn holds(&self, share: f64) -> bool {
        let enough = share > 0.0 && share >= self.least;
        enough && (share < self.most || (self.includes_most && share == self.most))
    }

    /// The share in a text such as `1%` or `0.01`.
    ///
    /// # Errors
    ///
    /// The problem, as words that follow the name of the setting.
    pub fn check_text(&self, text: &str) -> Result<f64, String> {
        let share = fraction(text)?;
        if text.contains('%') && !self.holds(share) {
            return Err(format!("must be {}, not {}", self.words, text.trim()));
        }
        self.check(share)
    }

    /// The share, or an error that follows the name of its setting. A number that makes sense as a
    /// percentage is taken for one that lacks its sign, in the advice.
    pub fn check(&self, share: f64) -> Result<f64, String> {
        if self.holds(share) {
            return Ok(share);
        }
        let advice = if share >= 1.0 && self.holds(share / 100.0) {
            format!("{HELP}did you mean {share}%?")
        } else {
            String::new()
        };
        Err(format!("must be {}, not {share}{advice}", self.words))
    }
}

/// Which cores the contenders run on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Pinning {
    /// The affinity deadheat was started with. Commands may be
    /// multi-threaded, so this is the default.
    #[default]
    Inherit,
    /// One core for the contenders, deadheat elsewhere.
    Auto,
    /// These cores.
    Cores(Vec<u32>),
}

/// The limit of a time, or that there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimit(pub Option<Duration>);

/// A condition that makes a run fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailOn {
    /// A candidate is slower.
    Slower,
    /// A race is too close to call, or the data allow no verdict.
    Inconclusive,
    /// A candidate is not shown to be equivalent.
    NotEquivalent,
}

impl FailOn {
    /// All conditions, in the order they are told.
    pub const ALL: [Self; 3] = [Self::Slower, Self::Inconclusive, Self::NotEquivalent];

    /// Their names, in the same order.
    pub const NAMES: [&'static str; 3] = ["slower", "inconclusive", "not-equivalent"];

    /// The condition as it is written.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Its meaning, in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Slower => "A candidate is slower",
            Self::Inconclusive => "A race is too close to call, or the data allow no verdict",
            Self::NotEquivalent => "A candidate is not shown to be equivalent",
        }
    }

    /// The condition of this name. The error lists those there are.
    pub fn parse(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|rule| rule.name() == text);
        known.ok_or_else(|| format!("'{text}' is not one of {}", Self::NAMES.join(", ")))
    }

    /// Returns true if a comparison with this verdict fails; `None` stands for data that allow no
    /// verdict.
    pub fn holds(self, verdict: Option<Verdict>) -> bool {
        match self {
            Self::Slower => verdict == Some(Verdict::Slower),
            Self::Inconclusive => matches!(verdict, None | Some(Verdict::Inconclusive)),
            Self::NotEquivalent => verdict != Some(Verdict::Equivalent),
        }
    }
}

/// Which links of an executable are raced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// Neutral ones, another one in every replicate, where there are any.
    #[default]
    Neutral,
    /// Neutral ones, which builds draw each for itself: nothing is matched.
    Independent,
    /// The one the user made.
    Own,
}

/// How the contenders of a block share the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrangement {
    /// Side by side where a pilot finds that this is possible, in turns otherwise.
    #[default]
    Auto,
    /// One after the other.
    Turns,
    /// At the same time, on one core.
    SideBySide,
}

/// The treatment of the time a contender waited for a core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Waiting {
    /// It is taken out of the wall time of contenders of one thread and one process, which cannot
    /// wait for themselves, when it is more than a small part of it.
    Auto,
    /// It counts, as in runs from before there was a choice.
    #[default]
    Keep,
}

/// A value of a setting, from the text that was typed.
pub(crate) trait SettingValue: Sized {
    fn read(text: &str) -> Result<Self, String>;

    /// Takes a value into a setting that may have one already.
    fn add(to: &mut Option<Self>, text: &str) -> Result<(), String> {
        *to = Some(Self::read(text)?);
        Ok(())
    }
}

/// Reads a whole number from 0 on.
pub fn whole_number<N: TryFrom<u64> + Bounded>(text: &str) -> Result<N, String> {
    use std::num::IntErrorKind::PosOverflow;
    let digits = text.trim();
    let too_large = || format!("it is above {}, the largest number here", N::LARGEST);
    match digits.parse::<u64>() {
        Ok(number) => N::try_from(number).map_err(|_| too_large()),
        Err(error) if *error.kind() == PosOverflow => Err(too_large()),
        Err(_) if digits.parse::<f64>().is_ok_and(|number| number < 0.0) => {
            Err("it is negative".to_owned())
        }
        Err(_) => Err("it is not a whole number".to_owned()),
    }
}

/// Reads a whole number from 1 on.
pub fn positive_number<N: TryFrom<u64> + Bounded + Default + PartialEq>(
    text: &str,
) -> Result<N, String> {
    let number = whole_number(text)?;
    if number == N::default() {
        return Err("it must be at least 1".to_owned());
    }
    Ok(number)
}

/// A type of whole numbers and the largest of them.
pub trait Bounded {
    /// The largest number.
    const LARGEST: u64;
}

impl Bounded for u32 {
    const LARGEST: u64 = u32::MAX as u64;
}

impl Bounded for usize {
    const LARGEST: u64 = usize::MAX as u64;
}

impl Bounded for u64 {
    const LARGEST: u64 = u64::MAX;
}

/// Makes a type a value of settings by the function that reads it.
macro_rules! read_by {
    ($($type:ty: $read:expr,)*) => {$(
        impl SettingValue for $type {
            fn read(text: &str) -> Result<Self, String> {
                $read(text)
            }
        }
    )*};
}

read_by! {
    bool: |text: &str| text.parse().map_err(|_| format!("'{text}' is neither true nor false")),
    f64: fraction,
    u32: whole_number,
    u64: whole_number,
    Duration: duration,
    TimeLimit: |text| match text {
        "none" => Ok(TimeLimit(None)),
        time => duration(time).map(|time| TimeLimit(Some(time))),
    },
    Metric: |text| Ok(Metric::from_name(text)),
    Placement: |text| match text {
        "neutral" => Ok(Placement::Neutral),
        "independent" => Ok(Placement::Independent),
        "own" => Ok(Placement::Own),
        other => Err(format!("'{other}' is none of neutral, independent, own")),
    },
    Arrangement: |text| match text {
        "auto" => Ok(Arrangement::Auto),
        "turns" => Ok(Arrangement::Turns),
        "side-by-side" => Ok(Arrangement::SideBySide),
        other => Err(format!("'{other}' is none of auto, turns, side-by-side")),
    },
    Waiting: |text| match text {
        "auto" => Ok(Waiting::Auto),
        "keep" => Ok(Waiting::Keep),
        other => Err(format!("'{other}' is none of auto, keep")),
    },
    Pinning: Pinning::parse,
    ShardNumber: ShardNumber::parse,
    ShardBy: |text| match text {
        "host" => Ok(ShardBy::Host),
        "benchmark" => Ok(ShardBy::Benchmark),
        other => Err(format!("'{other}' is none of host, benchmark")),
    },
}

impl Pinning {
    /// Reads `none`, `auto`, or cores and ranges of them: `2,4-6`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let list = match text {
            "none" => return Ok(Pinning::Inherit),
            "auto" => return Ok(Pinning::Auto),
            list => list,
        };
        let mut cores = Vec::new();
        for part in list.split(',') {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            match (from.trim().parse::<u32>(), to.trim().parse::<u32>()) {
                (Ok(from), Ok(to)) if from <= to && to < 4096 => cores.extend(from..=to),
                _ => {
                    return Err(format!(
                        "'{part}' is not a core\nhelp: write none, auto or a list of cores, such as 2,4-6"
                    ));
                }
            }
        }
        Ok(Pinning::Cores(cores))
    }
}

impl SettingValue for Vec<FailOn> {
    fn read(text: &str) -> Result<Self, String> {
        text.split(',')
            .map(|verdict| FailOn::parse(verdict.trim()))
            .collect()
    }

    fn add(to: &mut Option<Self>, text: &str) -> Result<(), String> {
        let verdicts = Self::read(text)?;
        to.get_or_insert_default().extend(verdicts);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_none_one_or_a_list_with_ranges() {
        let pin = |text| Pinning::read(text);
        assert_eq!(pin("none"), Ok(Pinning::Inherit));
        assert_eq!(pin("auto"), Ok(Pinning::Auto));
        assert_eq!(pin("0,2-4"), Ok(Pinning::Cores(vec![0, 2, 3, 4])));
        for bad in ["", "a", "4-2", "1,,2", "99999"] {
            assert!(pin(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_placement_is_neutral_or_own() {
        let placement = |text| Placement::read(text);
        assert_eq!(placement("neutral"), Ok(Placement::Neutral));
        assert_eq!(placement("independent"), Ok(Placement::Independent));
        assert_eq!(placement("own"), Ok(Placement::Own));
        assert!(placement("mine").unwrap_err().contains("'mine'"));
    }

    #[test]
    fn waiting_is_taken_out_or_kept() {
        assert_eq!(Waiting::read("auto"), Ok(Waiting::Auto));
        assert_eq!(Waiting::read("keep"), Ok(Waiting::Keep));
        assert!(Waiting::read("drop").unwrap_err().contains("'drop'"));
    }

    #[test]
    fn a_sample_may_take_a_minute_more_or_less_or_as_long_as_it_likes() {
        let timeout = |text| TimeLimit::read(text);
        assert_eq!(timeout("none"), Ok(TimeLimit(None)));
        let seconds = TimeLimit(Some(Duration::from_secs(5)));
        assert_eq!(timeout("5s"), Ok(seconds));
        assert!(timeout("soon").is_err());
    }

    #[test]
    fn shares_out_of_range_are_none() {
        for share in [0.0, 1.0, -0.1, f64::NAN, f64::INFINITY] {
            assert!(!ShareRange::MARGIN.holds(share), "{share}");
        }
        assert!(ShareRange::MARGIN.holds(0.999) && ShareRange::ALPHA.holds(0.5));
        assert!(!ShareRange::ALPHA.holds(0.51) && !ShareRange::ALPHA.holds(f64::NAN));
        for share in [0.001, 0.5, 0.999] {
            assert!(ShareRange::QUANTILE.holds(share), "{share}");
        }
        for share in [0.0, 0.0009, 0.9991, 1.0, f64::NAN] {
            assert!(!ShareRange::QUANTILE.holds(share), "{share}");
        }
    }

    #[test]
    fn a_missing_verdict_fails_everything_that_asks_for_certainty() {
        assert!(FailOn::Inconclusive.holds(None));
        assert!(FailOn::NotEquivalent.holds(None));
        assert!(!FailOn::Slower.holds(None));
        assert!(FailOn::NotEquivalent.holds(Some(Verdict::Faster)));
        assert!(!FailOn::Inconclusive.holds(Some(Verdict::Faster)));
    }

    #[test]
    fn every_condition_is_read_by_its_name() {
        for rule in FailOn::ALL {
            assert_eq!(FailOn::parse(rule.name()), Ok(rule));
        }
        assert_eq!(FailOn::ALL.map(FailOn::name), FailOn::NAMES);
        let error = FailOn::parse("faster").unwrap_err();
        assert_eq!(
            error,
            "'faster' is not one of slower, inconclusive, not-equivalent"
        );
    }
}
