//! The command line of a bench target written for criterion: deadheat's options, and criterion's
//! options, which have no effect or are refused.

use std::collections::BTreeSet;
use std::ffi::OsString;

use deadheat::parts::answer::to_stdout;
use deadheat::parts::exit::Failure;
use deadheat::parts::harness::run_planned;
use deadheat::parts::terminal::to_stderr;

use crate::planned::{Listed, group_races, one_by_one};

/// Options of criterion that have no effect in deadheat, each with true if the option takes a
/// value.
const WITHOUT_MEANING: [(&str, bool); 14] = [
    ("--confidence-level", true),
    ("--discard-baseline", false),
    ("--measurement-time", true),
    ("--noise-threshold", true),
    ("--noplot", false),
    ("-n", false),
    ("--nresamples", true),
    ("--output-format", true),
    ("--plotting-backend", true),
    ("--quick", false),
    ("--sample-size", true),
    ("--significance-level", true),
    ("--warm-up-time", true),
    ("--profile-time", true),
];

/// Options of criterion that save times or compare with saved times; deadheat refuses them.
const OF_SAVED_TIMES: [&str; 6] = [
    "--save-baseline",
    "-s",
    "--baseline",
    "-b",
    "--baseline-lenient",
    "--load-baseline",
];

/// The end of the help text, which describes the options that only bench targets written for
/// criterion have.
const HELP: &str = "
For benchmarks written for criterion:
  --group-races         Race the functions of each group against each other, for each parameter that
                        they share; the first is the baseline
";

/// A parsed command line: the words that deadheat parses itself, and what criterion's options ask.
#[derive(Debug, Default, PartialEq)]
struct CommandLine {
    words: Vec<OsString>,
    group_races: bool,
    without_meaning: BTreeSet<&'static str>,
}

impl CommandLine {
    fn read(words: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut read = Self::default();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy();
            let (name, joined) = match text.split_once('=') {
                Some((name, _)) => (name, true),
                None => (&*text, false),
            };
            if name == "--group-races" && !joined {
                read.group_races = true;
            } else if let Some((name, valued)) =
                WITHOUT_MEANING.iter().find(|(known, _)| *known == name)
            {
                read.without_meaning.insert(name);
                if *valued && !joined && words.next().is_none() {
                    return Err(format!("{name} needs a value"));
                }
            } else if OF_SAVED_TIMES.contains(&name) {
                return Err(format!(
                    "{name}: deadheat races two builds and does not compare with saved times: use \
                     cargo deadheat BASE, or deadheat bench OLD NEW"
                ));
            } else {
                read.words.push(word);
            }
        }
        Ok(read)
    }

    /// Returns true if the user should see messages: for a race without `--quiet`.
    fn is_told(&self) -> bool {
        let has = |option: &str| self.words.iter().any(|word| word == option);
        has("--bench")
            && !["--test", "--list", "--quiet", "-q"]
                .iter()
                .any(|word| has(word))
    }
}

/// Runs these benchmarks as the command line asks, and returns the exit code. Names settings
/// without effect on standard error; `without_meaning` contains those from the source code.
pub(crate) fn run(listed: &[Listed], without_meaning: BTreeSet<&'static str>) -> u8 {
    let mut line = match CommandLine::read(std::env::args_os().skip(1)) {
        Ok(line) => line,
        Err(problem) => return Failure::Usage(problem).report(),
    };
    line.without_meaning.extend(without_meaning);
    if line.is_told() && !line.without_meaning.is_empty() {
        let names: Vec<&str> = line.without_meaning.iter().copied().collect();
        to_stderr(
            "deadheat",
            &format!("settings without effect on a race: {}", names.join(", ")),
        );
    }
    let planned = if line.group_races {
        match std::env::current_exe() {
            Ok(program) => group_races(listed, &program),
            Err(error) => {
                let problem = format!("cannot find the path of this program: {error}");
                return Failure::Internal(problem).report();
            }
        }
    } else {
        one_by_one(listed)
    };
    let helps = line
        .words
        .iter()
        .any(|word| word == "--help" || word == "-h");
    let code = run_planned(&planned, false, line.words.into_iter());
    match to_stdout(if helps { HELP } else { "" }) {
        Ok(()) => code,
        Err(failure) => failure.report(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<CommandLine, String> {
        CommandLine::read(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn options_of_criterion_are_taken_out_and_the_rest_is_deadheats() {
        let line = read("--bench --noplot --sample-size 10 sum --warm-up-time=1 --group-races -v");
        let line = line.unwrap();
        assert_eq!(line.words, ["--bench", "sum", "-v"]);
        assert!(line.group_races);
        let named: Vec<&str> = line.without_meaning.into_iter().collect();
        assert_eq!(named, ["--noplot", "--sample-size", "--warm-up-time"]);
        assert_eq!(
            read("--sample-size"),
            Err("--sample-size needs a value".to_owned())
        );
    }

    #[test]
    fn saved_times_are_refused_with_what_to_do_instead() {
        for line in ["--save-baseline main", "--bench --baseline=main", "-b main"] {
            let problem = read(line).unwrap_err();
            assert!(problem.contains("cargo deadheat BASE"), "{problem}");
        }
    }

    #[test]
    fn settings_without_a_meaning_are_told_where_somebody_reads_it() {
        for (line, told) in [
            ("--bench", true),
            ("", false),
            ("--bench --test", false),
            ("--bench --list", false),
            ("--bench -q", false),
        ] {
            assert_eq!(read(line).unwrap().is_told(), told, "{line}");
        }
    }
}
