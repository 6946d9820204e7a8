//! Adapter for divan: `--exact` selects one benchmark, and divan reports results only as a printed
//! table. A launch is one repetition: the median of its samples.
//!
//! The median is rounded twice: to four digits in the table, and to the clock's resolution in each
//! sample. Few long samples keep the second rounding small. A clock with 20 ns steps moves the
//! median by 1 % if a sample has 8 iterations of 250 ns, divan's default, and by 0.02 % if a sample
//! lasts 0.1 ms.

use deadheat_model::{Harness, RepetitionLength};

use super::adapter::{
    ArgumentError, HarnessAdapter, LaunchOutput, LaunchRequest, Question, Repetition,
    RequestedRepetitions, ResultsBy, refuse, tersely_listed, value_of,
};
use crate::command_failure::HarnessError;

pub(super) struct Divan;

/// The samples per launch, if there are at least as many iterations.
const SAMPLES: u64 = 21;
const COLUMN: char = '│';

/// Options that change what a launch measures or reports.
const REFUSED: [&str; 4] = ["--list", "--test", "--exact", "--skip"];

const LENGTHS: [&str; 4] = [
    "--min-time",
    "--max-time",
    "--sample-count",
    "--sample-size",
];

impl HarnessAdapter for Divan {
    fn marks(&self) -> &'static [&'static str] {
        &["--sample-count", "--sample-size", "--max-time"]
    }

    /// Uses the format for cargo-nextest, because divan's default list omits the arguments of
    /// benchmarks.
    fn listing(&self) -> Question {
        Question {
            variables: &[("NEXTEST", "1")],
            ..Question::by(&["--list", "--format", "terse"])
        }
    }

    fn listed(&self, printed: &str) -> Vec<String> {
        let names = tersely_listed(printed).into_iter();
        names.map(str::to_owned).collect()
    }

    fn requested_repetitions(
        &self,
        arguments: &[String],
    ) -> Result<RequestedRepetitions, ArgumentError> {
        refuse(arguments, &REFUSED)?;
        let is_given = |option: &&str| value_of(arguments, option).is_some();
        Ok(RequestedRepetitions {
            // The user's length replaces the one from the calibration run.
            length: LENGTHS
                .iter()
                .any(is_given)
                .then_some(RepetitionLength::Own),
            repetitions: None,
        })
    }

    fn results(&self) -> ResultsBy {
        ResultsBy::StandardOutput
    }

    fn arguments(&self, ask: &LaunchRequest<'_>) -> Vec<String> {
        let mut arguments: Vec<String> = Vec::new();
        let mut add = |option: &str, value: String| {
            // divan rejects duplicate options.
            if !ask.is_given(option) {
                arguments.push(format!("{option}={value}"));
            }
        };
        add("--color", "never".to_owned());
        match ask.length {
            RepetitionLength::Iterations(count) => {
                let samples = count.clamp(1, SAMPLES);
                add("--sample-count", samples.to_string());
                add("--sample-size", (count / samples).to_string());
            }
            // `--skip-ext-time` excludes the time that divan takes to calibrate its clock.
            RepetitionLength::Seconds(seconds) => {
                add("--min-time", seconds.to_string());
                add("--max-time", seconds.to_string());
                add("--skip-ext-time", "true".to_owned());
            }
            RepetitionLength::Own => {}
        }
        if !ask.is_given("--bench") {
            arguments.push("--bench".to_owned());
        }
        arguments.extend(["--exact", "--", ask.benchmark].map(str::to_owned));
        arguments
    }

    fn repetitions(
        &self,
        ask: &LaunchRequest<'_>,
        yielded: &LaunchOutput,
    ) -> Result<Vec<Repetition>, HarnessError> {
        let text = &yielded.text;
        if text.trim().is_empty() {
            return Err(HarnessError::Missing(Harness::Divan));
        }
        let rows: Vec<Row<'_>> = text.lines().filter_map(Row::read).collect();
        match &rows[..] {
            [] => Err(HarnessError::garbled(Harness::Divan, text)),
            [row] => Ok(vec![row.repetition()?]),
            // divan prints one row per number of threads.
            several => Err(HarnessError::Several(
                several
                    .iter()
                    .map(|row| format!("{} {}", ask.benchmark, row.name))
                    .collect(),
            )),
        }
    }

    /// Allows one repetition per launch, because divan's table has one row for all samples.
    fn repetitions_of_a_launch(&self) -> (u32, u32) {
        (1, 1)
    }

    fn usual_repetitions(&self) -> Option<u32> {
        Some(1)
    }

    fn repetition_seconds(&self) -> f64 {
        0.005
    }

    fn counts_iterations(&self) -> Option<bool> {
        Some(true)
    }
}

/// A row of the table that contains times.
#[derive(Debug, PartialEq)]
struct Row<'a> {
    /// The name, without the characters that draw the tree.
    name: &'a str,
    median: &'a str,
    iterations: u64,
}

impl<'a> Row<'a> {
    /// Parses a row from its end, because names may contain any character. Returns `None` for rows
    /// without samples: the header, modules, and throughput rows below a time.
    fn read(line: &'a str) -> Option<Self> {
        let mut columns = line.rsplit(COLUMN).map(str::trim);
        let iterations = columns.next()?.parse().ok()?;
        columns.next()?.parse::<u64>().ok()?;
        let (_mean, median, _slowest) = (columns.next()?, columns.next()?, columns.next()?);
        let tree = |sign: char| sign.is_whitespace() || "│├╰─".contains(sign);
        let name = line.trim_start_matches(tree);
        // Names and the times after them are padded with blanks.
        let name = name.split("  ").next().unwrap_or(name);
        Some(Self {
            name,
            median,
            iterations,
        })
    }

    fn repetition(&self) -> Result<Repetition, HarnessError> {
        let number = || HarnessError::Number {
            field: "median",
            repetition: 0,
            found: self.median.to_owned(),
        };
        let nanoseconds = nanoseconds(self.median).ok_or_else(number)?;
        let iterations = self.iterations as f64;
        Repetition::timed(0, iterations, nanoseconds * iterations)
    }
}

fn nanoseconds(text: &str) -> Option<f64> {
    let (number, unit) = text.split_once(' ')?;
    let unit = match unit {
        "ps" => 1e-3,
        "ns" => 1.0,
        "µs" | "μs" | "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" => 60e9,
        "h" => 3600e9,
        "d" => 86_400e9,
        _ => return None,
    };
    let number: f64 = number.parse().ok()?;
    number.is_finite().then_some(number * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(benchmark: &str, table: &str) -> Result<Vec<Repetition>, HarnessError> {
        let ask = LaunchRequest {
            own: &[],
            benchmark,
            length: RepetitionLength::Own,
            repetitions: 1,
        };
        let yielded = LaunchOutput {
            text: table.to_owned(),
            ..LaunchOutput::default()
        };
        Divan.repetitions(&ask, &yielded)
    }

    #[test]
    fn the_median_of_the_table_is_the_one_repetition() {
        let table = "\
d             fastest       │ slowest       │ median        │ mean          │ samples │ iters
╰─ inner                    │               │               │               │         │
   ╰─ words                 │               │               │               │         │
      ╰─ c│d  1.077 µs      │ 1.481 µs      │ 1.179 µs      │ 1.279 µs      │ 100     │ 3200
              38.96 GB/s    │ 37.03 GB/s    │ 37.97 GB/s    │ 37.97 GB/s    │         │

";
        let rows = read("d::inner::words::c│d", table).unwrap();
        let [row] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!((row.iterations, row.cpu_ns), (3200, None));
        assert!((row.wall_ns - 1179.0).abs() < 1e-9, "{row:?}");
    }

    #[test]
    fn several_numbers_of_threads_are_several_benchmarks() {
        let table = "\
d       fastest       │ slowest       │ median        │ mean          │ samples │ iters
╰─ thr                │               │               │               │         │
   ├─ t=1  252.6 ns   │ 257.6 ns      │ 255.2 ns      │ 255.7 ns      │ 100     │ 800
   ╰─ t=2  255.1 ns   │ 275.2 ns      │ 257.6 ns      │ 260.7 ns      │ 100     │ 800
";
        let names = ["d::thr t=1", "d::thr t=2"].map(str::to_owned).to_vec();
        assert_eq!(read("d::thr", table), Err(HarnessError::Several(names)));
    }

    #[test]
    fn what_is_no_table_and_no_time_is_told_apart() {
        assert_eq!(read("a", "\n"), Err(HarnessError::Missing(Harness::Divan)));
        assert_eq!(
            read("a", "hello"),
            Err(HarnessError::garbled(Harness::Divan, "hello"))
        );
        let odd = "╰─ a  1 x │ 2 x │ 3 x │ 4 x │ 5 │ 6";
        assert!(matches!(
            read("a", odd),
            Err(HarnessError::Number {
                field: "median",
                ..
            })
        ));
        for (text, expected) in [("0.078 ns", 0.078), ("999 ms", 999e6), ("1.5 s", 1.5e9)] {
            assert_eq!(nanoseconds(text), Some(expected));
        }
    }

    #[test]
    fn iterations_are_shared_out_to_a_few_long_samples() {
        let words = |count| {
            let ask = LaunchRequest {
                own: &[],
                benchmark: "d::a b",
                length: RepetitionLength::Iterations(count),
                repetitions: 1,
            };
            Divan.arguments(&ask).join(" ")
        };
        let rest = "--bench --exact -- d::a b";
        let many = format!("--color=never --sample-count=21 --sample-size=100 {rest}");
        assert_eq!(words(2105), many);
        let one = format!("--color=never --sample-count=1 --sample-size=1 {rest}");
        assert_eq!(words(1), one);
    }
}
