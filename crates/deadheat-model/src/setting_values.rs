//! The values of settings, read from the text that was typed.

use std::time::Duration;

use crate::estimate::Verdict;
use crate::message::HELP;
use crate::metric::Metric;
use crate::quantities::{duration, fraction, share_meant, share_of};
use crate::shard::{ShardBy, ShardNumber};

/// The range of valid shares for a setting.
#[derive(Debug)]
pub struct ShareRange {
    /// The range in words.
    pub words: &'static str,
    /// The meaning of the share.
    meaning: &'static str,
    /// A typical share, as a percentage and as a number.
    example: [&'static str; 2],
    least: f64,
    most: f64,
    includes_most: bool,
    /// Users of other tools may give 1 minus this share.
    may_be_complement: bool,
}

impl ShareRange {
    /// The valid margins.
    pub const MARGIN: ShareRange = ShareRange {
        words: "above 0 and below 1 (100%)",
        meaning: "a share of the baseline's value",
        example: ["1%", "0.01"],
        least: 0.0,
        most: 1.0,
        includes_most: false,
        may_be_complement: false,
    };
    /// The valid probabilities of a wrong verdict.
    pub const ALPHA: ShareRange = ShareRange {
        words: "above 0 and at most 0.5 (50%)",
        meaning: "a probability",
        example: ["5%", "0.05"],
        least: 0.0,
        most: 0.5,
        includes_most: true,
        may_be_complement: true,
    };
    /// The valid quantiles. A quantile closer to 0 or 1 would take tens of thousands of iterations
    /// per replicate.
    pub const QUANTILE: ShareRange = ShareRange {
        words: "at least 0.001 (0.1%) and at most 0.999 (99.9%)",
        meaning: "a share of the iterations",
        example: ["99%", "0.99"],
        least: 0.001,
        most: 0.999,
        includes_most: true,
        may_be_complement: false,
    };

    /// Returns true if the range contains a share; false for NaN.
    pub fn holds(&self, share: f64) -> bool {
        let enough = share > 0.0 && share >= self.least;
        enough && (share < self.most || (self.includes_most && share == self.most))
    }

    /// Parses a share such as `1%` or `0.01` and checks that it is in the range.
    ///
    /// # Errors
    ///
    /// The problem, as words that follow the name of the setting.
    pub fn check_text(&self, text: &str) -> Result<f64, String> {
        let [percent, number] = self.example;
        let advice = format!("write {}, such as {percent} or {number}", self.meaning);
        let share = share_of(text, &advice)?;
        if text.contains('%') && !self.holds(share) {
            let advice = self.of_confidence(share);
            return Err(format!(
                "must be {}, not {}{advice}",
                self.words,
                text.trim()
            ));
        }
        self.check(share)
    }

    /// Returns how to write a share in `deadheat.toml`, where a text is in quotes: the share that
    /// the user probably meant by `text`, or an example.
    pub fn advice_in_file(&self, text: &str) -> String {
        let percent = text.trim().parse().ok().filter(|share: &f64| *share >= 1.0);
        let percent = percent.filter(|percent| self.holds(percent / 100.0));
        let percent = percent.map(|percent| format!("{percent}%"));
        match percent.or_else(|| share_meant(text)) {
            Some(meant) => format!("did you mean \"{meant}\"?"),
            None => {
                let [percent, number] = self.example;
                format!("write {}, such as \"{percent}\" or {number}", self.meaning)
            }
        }
    }

    /// Returns the share, or an error text that follows the name of the setting. If the number
    /// would be valid as a percentage, the error suggests to add the percent sign.
    pub fn check(&self, share: f64) -> Result<f64, String> {
        if self.holds(share) {
            return Ok(share);
        }
        let of_percent = share / 100.0;
        let advice = if share >= 1.0 && self.holds(of_percent) {
            format!("{HELP}did you mean {share}%?")
        } else if share >= 1.0 {
            self.of_confidence(of_percent)
        } else {
            self.of_confidence(share)
        };
        Err(format!("must be {}, not {share}{advice}", self.words))
    }

    /// Returns the advice for a share that is the confidence level in place of alpha; empty for
    /// any other share.
    fn of_confidence(&self, share: f64) -> String {
        if !self.may_be_complement || !self.holds(1.0 - share) {
            return String::new();
        }
        let confidence = (share * 1e4).round() / 1e2;
        let alpha = (1e4 - confidence * 1e2).round() / 1e2;
        format!("{HELP}for a confidence level of {confidence}%, write {alpha}%")
    }
}

/// The cores that the contenders run on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Pinning {
    /// The affinity that deadheat was started with. This is the default, because commands may be
    /// multi-threaded.
    #[default]
    Inherit,
    /// One core for the contenders, other cores for deadheat.
    Auto,
    /// The cores with these numbers.
    Cores(Vec<u32>),
}

/// A time limit; `None` for no limit.
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
    /// All conditions, in the order in which they are listed to users.
    pub const ALL: [Self; 3] = [Self::Slower, Self::Inconclusive, Self::NotEquivalent];

    /// Names of the conditions, in the order of `ALL`.
    pub const NAMES: [&'static str; 3] = ["slower", "inconclusive", "not-equivalent"];

    /// Returns the name of the condition, as it is written in options and files.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Returns the meaning of the condition, in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Slower => "A candidate is slower",
            Self::Inconclusive => "A race is too close to call, or the data allow no verdict",
            Self::NotEquivalent => "A candidate is not shown to be equivalent",
        }
    }

    /// Returns the condition with this name. The error lists all names.
    pub fn parse(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|rule| rule.name() == text);
        known.ok_or_else(|| format!("'{text}' is not one of {}", Self::NAMES.join(", ")))
    }

    /// Returns true if a comparison with this verdict fails the run; `None` means that the data
    /// allow no verdict.
    pub fn holds(self, verdict: Option<Verdict>) -> bool {
        match self {
            Self::Slower => verdict == Some(Verdict::Slower),
            Self::Inconclusive => matches!(verdict, None | Some(Verdict::Inconclusive)),
            Self::NotEquivalent => verdict != Some(Verdict::Equivalent),
        }
    }
}

/// The links of an executable that are raced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// Neutral links, a different one in every replicate, if neutral links can be made.
    #[default]
    Neutral,
    /// Neutral links that are drawn for each build separately, without matching.
    Independent,
    /// The user's own link.
    Own,
}

/// How the contenders of a block share the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrangement {
    /// Side by side if a pilot (a short trial before the race) finds it possible, otherwise in
    /// turns.
    #[default]
    Auto,
    /// The contenders run one after the other.
    Turns,
    /// The contenders run at the same time, on one core.
    SideBySide,
}

/// The treatment of the time a contender waited for a core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Waiting {
    /// The waiting time is subtracted from the wall time if it is more than a small part of the
    /// wall time. This applies only to contenders with one thread and one process, because such a
    /// contender cannot wait for itself.
    Auto,
    /// The waiting time is part of the wall time, as in all runs recorded before this setting
    /// existed.
    #[default]
    Keep,
}

/// The value type of a setting, which can be parsed from the typed text.
pub(crate) trait SettingValue: Sized {
    fn read(text: &str) -> Result<Self, String>;

    /// Parses a value and stores it in a setting. By default, the new value replaces any earlier
    /// value.
    fn add(to: &mut Option<Self>, text: &str) -> Result<(), String> {
        *to = Some(Self::read(text)?);
        Ok(())
    }
}

/// Parses a whole number, at least 0.
pub fn whole_number<N: TryFrom<u64> + Bounded>(text: &str) -> Result<N, String> {
    use std::num::IntErrorKind::PosOverflow;
    let digits = text.trim();
    let too_large = || format!("it is above {}, the maximum", N::LARGEST);
    match digits.parse::<u64>() {
        Ok(number) => N::try_from(number).map_err(|_| too_large()),
        Err(error) if *error.kind() == PosOverflow => Err(too_large()),
        Err(_) if digits.parse::<f64>().is_ok_and(|number| number < 0.0) => {
            Err("it is negative".to_owned())
        }
        Err(_) => Err("it is not a whole number in digits".to_owned()),
    }
}

/// Parses a whole number, at least 1.
pub fn positive_number<N: TryFrom<u64> + Bounded + Default + PartialEq>(
    text: &str,
) -> Result<N, String> {
    let number = whole_number(text)?;
    if number == N::default() {
        return Err("it must be at least 1".to_owned());
    }
    Ok(number)
}

/// A type of whole numbers with an upper limit.
pub trait Bounded {
    /// The largest number of the type.
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

/// Implements `SettingValue` for types, given the functions that parse them.
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
        other => Err(format!("'{other}' is not one of neutral, independent, own")),
    },
    Arrangement: |text| match text {
        "auto" => Ok(Arrangement::Auto),
        "turns" => Ok(Arrangement::Turns),
        "side-by-side" => Ok(Arrangement::SideBySide),
        other => Err(format!("'{other}' is not one of auto, turns, side-by-side")),
    },
    Waiting: |text| match text {
        "auto" => Ok(Waiting::Auto),
        "keep" => Ok(Waiting::Keep),
        other => Err(format!("'{other}' is not one of auto, keep")),
    },
    Pinning: Pinning::parse,
    ShardNumber: ShardNumber::parse,
    ShardBy: |text| match text {
        "host" => Ok(ShardBy::Host),
        "benchmark" => Ok(ShardBy::Benchmark),
        other => Err(format!("'{other}' is not one of host, benchmark")),
    },
}

impl Pinning {
    /// Parses `none`, `auto`, or a list of cores and ranges such as `2,4-6`.
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
