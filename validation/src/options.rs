//! The options on the command lines of all programs of this workspace.

use std::path::PathBuf;
use std::time::Duration;

/// The options of a table that takes hours, and of one of which a part may be asked for.
pub const LONG: [&str; 6] = ["quick", "fresh", "page", "minutes", "only", "races"];
const PARTS: [&str; 3] = ["quick", "only", "races"];

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted {
    /// Try everything in small numbers, and leave nothing.
    pub quick: bool,
    /// Forget what was measured before.
    pub fresh: bool,
    /// Measure nothing, only write the page from what is kept.
    pub page: bool,
    /// Stop measuring after this much time; `None` goes on to the end.
    pub time: Option<Duration>,
    /// Only the rows, or questions, whose names hold all of these words.
    pub only: Vec<String>,
    /// Races of a row, instead of its own number.
    pub races: Option<usize>,
    /// Search real repositories, too.
    pub real: bool,
    /// A checkout to be compared with.
    pub old: Option<PathBuf>,
}

impl Wanted {
    /// From words, of which only the `allowed` options are understood.
    pub fn read(mut words: impl Iterator<Item = String>, allowed: &[&str]) -> Result<Self, String> {
        let mut wanted = Self::default();
        while let Some(word) = words.next() {
            let name = word.strip_prefix("--").filter(|name| allowed.contains(name));
            let mut value = || words.next().ok_or(format!("{word} lacks its value"));
            match name {
                Some("quick") => wanted.quick = true,
                Some("fresh") => wanted.fresh = true,
                Some("page") => wanted.page = true,
                Some("real") => wanted.real = true,
                Some("old") => wanted.old = Some(value()?.into()),
                Some("only") => {
                    wanted.only = value()?.split_whitespace().map(str::to_owned).collect();
                }
                Some("minutes") => {
                    let minutes = value()?.parse().ok().filter(|n| (0.0..1e6).contains(n));
                    let minutes: f64 = minutes.ok_or("--minutes takes a number of minutes")?;
                    wanted.time = Some(Duration::from_secs_f64(minutes * 60.0));
                }
                Some("races") => {
                    let races = value()?.parse().ok().filter(|n| (1..=1_000_000).contains(n));
                    wanted.races = Some(races.ok_or("--races takes a number of races")?);
                }
                _ => {
                    let all = allowed.join(", --");
                    return Err(format!("unknown option {word}; there are: --{all}"));
                }
            }
        }
        Ok(wanted)
    }

    /// From the command line, with only these options; ends the process if it has another one.
    pub fn of_options(allowed: &[&str]) -> Self {
        Self::read(std::env::args().skip(1), allowed).unwrap_or_else(|problem| {
            eprintln!("{problem}");
            std::process::exit(2);
        })
    }

    /// The options of a table that is measured as a whole.
    pub fn from_command_line() -> Self {
        Self::of_options(&LONG[..4])
    }

    /// The options of a table of which a part may be asked for.
    pub fn parts_from_command_line() -> Self {
        Self::of_options(&LONG)
    }

    /// The options of a page of which questions may be asked for.
    pub fn questions_from_command_line() -> Self {
        Self::of_options(&PARTS)
    }

    pub fn fits(&self, name: &str) -> bool {
        self.only.iter().all(|word| name.contains(word))
    }

    /// Observations of a row that would have so many.
    pub fn of(&self, full: usize) -> usize {
        self.races.map_or(full, |races| races.min(full))
    }

    /// The number of races asked for, else the full one or that of a quick trial.
    pub fn races(&self, full: usize, quick: usize) -> usize {
        self.races.unwrap_or(self.count(full, quick))
    }

    pub fn count(&self, full: usize, quick: usize) -> usize {
        if self.quick { quick } else { full }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str], allowed: &[&str]) -> Result<Wanted, String> {
        Wanted::read(words.iter().map(|word| (*word).to_owned()), allowed)
    }

    #[test]
    fn a_part_and_a_number_may_be_asked_for() {
        let asked = read(&["--only", "20 ms", "--races", "7"], &PARTS).unwrap();
        assert!(asked.fits("20 ms, idle") && !asked.fits("100 ms"));
        assert_eq!((asked.races(30, 3), asked.of(3), asked.quick), (7, 3, false));
        let quick = read(&["--quick"], &PARTS).unwrap();
        assert_eq!((quick.races(30, 3), read(&[], &PARTS).unwrap().races(30, 3)), (3, 30));
        for wrong in [&["--races", "0"][..], &["--races"], &["--only"], &["--all"], &["--page"]] {
            assert!(read(wrong, &PARTS).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn minutes_are_numbers_and_unknown_options_are_named() {
        let wanted = read(&["--minutes", "1.5", "--page"], &LONG).unwrap();
        assert_eq!(wanted.time, Some(Duration::from_secs(90)));
        assert!(read(&["--minutes", "-1"], &LONG).is_err());
        assert!(read(&["--minutes", "x"], &LONG).unwrap_err().contains("a number of minutes"));
        assert!(read(&["--fresher"], &LONG).unwrap_err().contains("unknown option --fresher"));
    }
}
