//! Adapter for criterion: `--exact` selects one benchmark, and the raw samples are read from the
//! folder in `CRITERION_HOME`.

use std::path::{Path, PathBuf};

use deadheat_model::{Harness, Json, RepetitionLength};

use super::adapter::{
    ArgumentError, HarnessAdapter, LaunchOutput, LaunchRequest, Question, Repetition,
    RequestedRepetitions, ResultsBy, escaped, number_of, refuse, tersely_listed, value_of,
};
use crate::command_failure::HarnessError;

/// The adapter for executables of criterion 0.5 or later.
pub(super) struct Criterion;

/// The minimum number of samples that criterion allows.
const FEWEST_SAMPLES: u32 = 10;
/// The seconds of warm-up, during which criterion determines the number of iterations.
const WARM_UP_SECONDS: &str = "0.003";
/// The resamples for criterion's statistics, which deadheat ignores. A launch takes 10 ms with 10
/// resamples and 86 ms with criterion's default of 100,000.
const RESAMPLES: &str = "10";
/// The maximum length of a name in criterion's list; longer names are cut and end with `...`.
const LISTED_LETTERS: usize = 100;
const CUT: &str = "...";

/// The answer of criterion 0.5 to `--help`.
const REJECTED: &str = "error: unexpected argument found";
/// Arguments that list the benchmarks. libtest and divan reject `--save-baseline`, so a program that
/// lists benchmarks in spite of it uses criterion.
const LIST_FOR_CRITERION: [&str; 6] = [
    "--bench",
    "--list",
    "--format",
    "terse",
    "--save-baseline",
    "deadheat",
];

/// Options that change what a launch measures or reports.
const REFUSED: [&str; 10] = [
    "--list",
    "--test",
    "--exact",
    "--profile-time",
    "--quick",
    "--save-baseline",
    "--discard-baseline",
    "--baseline",
    "--baseline-lenient",
    "--load-baseline",
];

impl HarnessAdapter for Criterion {
    fn marks(&self) -> &'static [&'static str] {
        &["--nresamples", "--save-baseline", "--measurement-time"]
    }

    /// Criterion 0.5 has no `--help`. It rejects the option without naming it, because it builds its
    /// command line without the error messages of clap.
    fn question_after(&self, answer: &str) -> Option<&'static [&'static str]> {
        answer
            .lines()
            .any(|line| line == REJECTED)
            .then_some(&LIST_FOR_CRITERION)
    }

    fn recognises_list(&self, printed: &str) -> bool {
        !tersely_listed(printed).is_empty()
    }

    fn listing(&self) -> Question {
        Question::by(&["--list", "--format", "terse"])
    }

    /// Returns a duplicate name twice, which excludes it from races: criterion appends a number to
    /// a duplicate name in its list, but a launch of that name runs all duplicates.
    fn listed(&self, printed: &str) -> Vec<String> {
        let names = tersely_listed(printed);
        let given = |name: &&str| {
            let number = name.rsplit_once(" #").filter(|(stem, number)| {
                number.parse::<u32>().is_ok_and(|number| number > 1) && names.contains(stem)
            });
            number.map_or(*name, |(stem, _)| stem).to_owned()
        };
        names.iter().map(given).collect()
    }

    fn requested_repetitions(
        &self,
        arguments: &[String],
    ) -> Result<RequestedRepetitions, ArgumentError> {
        refuse(arguments, &REFUSED)?;
        let problem = format!("criterion takes {FEWEST_SAMPLES} samples or more");
        let samples = number_of(arguments, "--sample-size", FEWEST_SAMPLES, &problem)?;
        let timed = value_of(arguments, "--measurement-time");
        Ok(RequestedRepetitions {
            length: timed.map(|_| RepetitionLength::Own),
            repetitions: samples,
        })
    }

    fn results(&self) -> ResultsBy {
        ResultsBy::Folder(&["benchmark.json", "sample.json"])
    }

    /// Skips options that the user gave, because criterion rejects duplicates.
    fn arguments(&self, ask: &LaunchRequest<'_>) -> Vec<String> {
        let mut arguments = Vec::new();
        let mut add = |option: &str, value: Option<String>| {
            if !ask.is_given(option) {
                arguments.push(option.to_owned());
                arguments.extend(value);
            }
        };
        add("--bench", None);
        add("--noplot", None);
        add("--nresamples", Some(RESAMPLES.to_owned()));
        add("--warm-up-time", Some(WARM_UP_SECONDS.to_owned()));
        add("--sample-size", Some(ask.repetitions.to_string()));
        if let RepetitionLength::Seconds(seconds) = ask.length {
            let all = seconds * f64::from(ask.repetitions);
            add("--measurement-time", Some(format!("{all}")));
        }
        match beginning(ask.benchmark) {
            None => arguments.extend([
                "--exact".to_owned(),
                "--".to_owned(),
                ask.benchmark.to_owned(),
            ]),
            Some(beginning) => {
                let pattern = format!("^{}", escaped(beginning));
                arguments.extend(["--".to_owned(), pattern]);
            }
        }
        arguments
    }

    fn environment(&self, folder: &str) -> Vec<(&'static str, Option<String>)> {
        vec![
            ("CRITERION_HOME", Some(folder.to_owned())),
            // These make criterion report to cargo-criterion or print debug output.
            ("CARGO_CRITERION_PORT", None),
            ("CRITERION_DEBUG", None),
        ]
    }

    fn repetitions(
        &self,
        ask: &LaunchRequest<'_>,
        yielded: &LaunchOutput,
    ) -> Result<Vec<Repetition>, HarnessError> {
        let mut found: Vec<(String, &Path)> = Vec::new();
        for (path, content) in &yielded.files {
            let folder = path.parent().unwrap_or(Path::new(""));
            // Criterion keeps a copy of `new` in `base`.
            if !path.ends_with("new/benchmark.json") {
                continue;
            }
            let identity = Json::parse(content);
            let identity = identity.as_ref().and_then(Json::as_object);
            let name = identity.and_then(|identity| identity.get("full_id")?.as_text());
            let name = name.ok_or_else(|| HarnessError::garbled(Harness::Criterion, content))?;
            found.push((name.to_owned(), folder));
        }
        let (name, folder) = match &found[..] {
            [] => return Err(HarnessError::Missing(Harness::Criterion)),
            [(name, folder)] => (name, folder),
            several => {
                let names = several.iter().map(|(name, _)| name.clone());
                return Err(HarnessError::Several(names.collect()));
            }
        };
        let is_asked_for = match beginning(ask.benchmark) {
            None => name == ask.benchmark,
            Some(beginning) => name.starts_with(beginning),
        };
        if !is_asked_for {
            return Err(HarnessError::Missing(Harness::Criterion));
        }
        let file: PathBuf = folder.join("sample.json");
        match yielded.file(&file) {
            None => Err(HarnessError::NoReport {
                harness: Harness::Criterion,
                stderr_tail: yielded.stderr_tail.clone(),
            }),
            Some(text) => samples(text),
        }
    }

    /// Requires at least ten repetitions, because criterion panics with fewer samples.
    fn repetitions_of_a_launch(&self) -> (u32, u32) {
        (FEWEST_SAMPLES, u32::MAX)
    }

    fn usual_repetitions(&self) -> Option<u32> {
        Some(FEWEST_SAMPLES)
    }

    fn counts_iterations(&self) -> Option<bool> {
        Some(false)
    }
}

/// Returns the beginning of a name that criterion shortened in its list; `None` if the name is
/// complete.
fn beginning(name: &str) -> Option<&str> {
    let beginning = name.strip_suffix(CUT)?;
    (beginning.chars().count() >= LISTED_LETTERS - CUT.len()).then_some(beginning)
}

/// Parses the samples of a launch: iterations and the nanoseconds they took.
fn samples(text: &str) -> Result<Vec<Repetition>, HarnessError> {
    let garbled = || HarnessError::garbled(Harness::Criterion, text);
    let read = Json::parse(text);
    let read = read
        .as_ref()
        .and_then(Json::as_object)
        .ok_or_else(garbled)?;
    let numbers = |field| -> Option<Vec<f64>> {
        let list = read.get(field)?.as_list()?;
        list.iter().map(Json::as_number).collect()
    };
    let (iterations, times) = numbers("iters").zip(numbers("times")).ok_or_else(garbled)?;
    if iterations.len() != times.len() || times.is_empty() {
        return Err(garbled());
    }
    let rows = iterations.into_iter().zip(times).enumerate();
    let rows = rows.map(|(index, (iterations, time))| Repetition::timed(index, iterations, time));
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(arguments: &[&str]) -> Vec<String> {
        arguments.iter().map(|a| (*a).to_owned()).collect()
    }

    fn words(benchmark: &str, arguments: &[&str]) -> String {
        let arguments = own(arguments);
        let ask = LaunchRequest {
            own: &arguments,
            benchmark,
            length: RepetitionLength::Seconds(0.001),
            repetitions: 10,
        };
        Criterion.arguments(&ask).join(" ")
    }

    #[test]
    fn a_launch_is_short_and_runs_one_benchmark() {
        assert_eq!(
            words("odd name/(8) \"x\"", &[]),
            "--bench --noplot --nresamples 10 --warm-up-time 0.003 --sample-size 10 \
             --measurement-time 0.01 --exact -- odd name/(8) \"x\""
        );
        let given = words("a", &["--warm-up-time=1", "--sample-size", "20", "--bench"]);
        assert_eq!(
            given,
            "--noplot --nresamples 10 --measurement-time 0.01 --exact -- a"
        );
    }

    #[test]
    fn a_name_that_was_cut_short_is_asked_for_by_its_beginning() {
        let whole = "x/".repeat(60);
        let listed = format!("{}...", &whole[..97]);
        let words = words(&listed, &[]);
        assert!(!words.contains("--exact"), "{words}");
        assert!(words.ends_with(&format!("-- ^{}", whole[..97].replace('/', r"\/"))));
        assert_eq!(beginning("short..."), None);
    }

    #[test]
    fn names_that_were_used_twice_are_listed_twice() {
        let printed =
            "plain: benchmark\ntwice: benchmark\ntwice #2: benchmark\nissue #7: benchmark\n";
        assert_eq!(
            Criterion.listed(printed),
            ["plain", "twice", "twice", "issue #7"]
        );
        assert_eq!(Criterion.listed(""), [""; 0]);
    }

    #[test]
    fn what_is_no_measurement_is_refused_and_samples_are_counted() {
        for argument in [
            "--save-baseline=x",
            "--baseline",
            "--quick",
            "--test",
            "--sample-size=9",
        ] {
            let problem = Criterion
                .requested_repetitions(&own(&[argument, "x"]))
                .unwrap_err();
            assert!(argument.starts_with(&problem.flag), "{problem}");
        }
        let requested =
            Criterion.requested_repetitions(&own(&["--sample-size", "30", "--measurement-time=1"]));
        let expected = RequestedRepetitions {
            length: Some(RepetitionLength::Own),
            repetitions: Some(30),
        };
        assert_eq!(requested, Ok(expected));
    }

    fn yielded(files: &[(&str, &str)]) -> Result<Vec<Repetition>, HarnessError> {
        let files = files
            .iter()
            .map(|(path, text)| (path.into(), (*text).to_owned()));
        let yielded = LaunchOutput {
            files: files.collect(),
            ..LaunchOutput::default()
        };
        let ask = LaunchRequest {
            own: &[],
            benchmark: "a/b",
            length: RepetitionLength::Own,
            repetitions: 10,
        };
        Criterion.repetitions(&ask, &yielded)
    }

    const IDENTITY: &str = r#"{"group_id":"a","function_id":"b","full_id":"a/b"}"#;

    #[test]
    fn raw_samples_are_the_repetitions() {
        let sample = r#"{"sampling_mode":"Linear","iters":[10.0,20.0],"times":[150.0,320.0]}"#;
        let read = yielded(&[
            ("a/b/base/benchmark.json", IDENTITY),
            ("a/b/base/sample.json", "{}"),
            ("a/b/new/benchmark.json", IDENTITY),
            ("a/b/new/sample.json", sample),
        ]);
        let read = read.unwrap();
        let rows = read
            .iter()
            .map(|row| (row.iterations, row.wall_ns, row.cpu_ns));
        assert_eq!(
            rows.collect::<Vec<_>>(),
            [(10, 15.0, None), (20, 16.0, None)]
        );
    }

    #[test]
    fn what_is_missing_several_or_of_another_format_is_told_apart() {
        let missing = HarnessError::Missing(Harness::Criterion);
        assert_eq!(yielded(&[]), Err(missing.clone()));
        let other = r#"{"full_id":"a/c"}"#;
        assert_eq!(yielded(&[("a/c/new/benchmark.json", other)]), Err(missing));
        let both = [
            ("a/b/new/benchmark.json", IDENTITY),
            ("a/c/new/benchmark.json", other),
        ];
        assert!(matches!(yielded(&both), Err(HarnessError::Several(names)) if names.len() == 2));
        let without = yielded(&[("a/b/new/benchmark.json", IDENTITY)]);
        assert!(matches!(without, Err(HarnessError::NoReport { .. })));
        for sample in [
            "",
            "[[1.0],[2.0]]",
            r#"{"iters":[],"times":[]}"#,
            r#"{"iters":[1],"times":["x"]}"#,
        ] {
            let read = yielded(&[
                ("a/b/new/benchmark.json", IDENTITY),
                ("a/b/new/sample.json", sample),
            ]);
            assert!(
                matches!(read, Err(HarnessError::Garbled { .. })),
                "{sample}"
            );
        }
        let zero = r#"{"iters":[0],"times":[5]}"#;
        let read = yielded(&[
            ("a/b/new/benchmark.json", IDENTITY),
            ("a/b/new/sample.json", zero),
        ]);
        assert!(matches!(
            read,
            Err(HarnessError::Number {
                field: "iterations",
                ..
            })
        ));
    }
}
