//! `deadheat bench`, which races two builds: its options, and how its words name programs.

mod python;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use deadheat::parts::engine::is_executable;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::model::{HELP, Program};
use deadheat::parts::pairing::{Target, side_names};
use deadheat::parts::settings::{is_program, program};
use deadheat_options::bench_options::BenchOptions;
use deadheat_options::build_race::{BuildPrograms, race, race_alone};
use deadheat_options::races::tell_of_one;

use self::python::{is_of_python, of_python, refuse_pythons};
use crate::environments::compare_environments;

pub const EXAMPLES: &str = "Examples:
  deadheat bench ./old ./new
  deadheat bench ./old ./new sort --margin 2% --fail-on slower
  deadheat bench ./native 'python3 worker.py'
  deadheat bench bench_mine.py --python old/bin/python --python new/bin/python
  deadheat bench ./old ./new --benchmark_min_time=0.1s
  deadheat bench ./suite                                # races its contenders
  deadheat bench ./google_benchmarks 'BM_Std' 'BM_Own'  # families in one program
  deadheat bench --resume .deadheat/runs/20261121-120000-0000002a.jsonl";

/// Options of `deadheat bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// The baseline: a program with benchmarks; with arguments, quote them together
    #[arg(value_name = "OLD", required_unless_present = "resume")]
    old: Option<String>,
    /// The candidate program, and filters: parts of the names of benchmarks
    #[arg(value_name = "NEW or FILTER")]
    words: Vec<String>,
    /// Arguments of both programs
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<String>,
    /// The Python that starts a .py file; given twice, the baseline's and the candidate's
    #[arg(long, value_name = "PYTHON")]
    python: Vec<String>,
    /// Name of a side (once per program)
    #[arg(short = 'n', long = "name", value_name = "NAME")]
    names: Vec<String>,
    /// Continue a recorded race; its intervals become anytime-valid, which makes them wider
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    resume: Option<PathBuf>,
    /// With --resume: start the programs of a file that another user or machine wrote
    #[arg(long, requires = "resume", help_heading = "Files")]
    trust: bool,
    /// The options of the race and of the answer.
    #[command(flatten)]
    pub options: BenchOptions,
}

/// Races two programs, or the contenders of one program against each other.
pub fn bench(args: BenchArgs) -> Result<Status, Failure> {
    let mut options = args.options;
    let mut words = args.words;
    let new = match words.first() {
        Some(first) if is_program(first) || is_of_python(first) => Some(words.remove(0)),
        _ => None,
    };
    let pythons = args.python;
    options.filters = words;
    options.read_rules()?;
    if let Some(path) = args.resume {
        options.exports.check(Some(&path))?;
        // The recorded run may hold only some benchmarks, so a missing one is not reported as
        // removed.
        options.answer.gate.whole = false;
        let outcome = options.resume(&path, args.trust)?;
        return tell_of_one(outcome, &options.answer, &options.exports);
    }
    let old_text = args.old.unwrap_or_default();
    let started = |side: usize, text: &str| -> Result<Program, Failure> {
        let mut program = match (pythons.get(side).or(pythons.first()), is_of_python(text)) {
            (Some(python), true) => of_python(Some(python), text)?,
            (None, true) if !is_executable(Path::new(text)) => of_python(None, text)?,
            _ => program(text)?,
        };
        program.arguments.extend(args.arguments.iter().cloned());
        Ok(program)
    };
    refuse_pythons(&pythons, [&old_text, new.as_deref().unwrap_or(&old_text)])?;
    let old = started(0, &old_text)?;
    // One Python file and two interpreters: the race compares the environments.
    let environments = match (&pythons[..], &new) {
        ([old, new], None) => Some([old.as_str(), new.as_str()]),
        _ => None,
    };
    let Some(new_text) = new.or(environments.map(|_| old_text.clone())) else {
        if let [name, ..] = &args.names[..] {
            return Err(Failure::Usage(format!(
                "--name {name}: one program races its own contenders under their own names{HELP}leave \
                 --name out, or name a second program"
            )));
        }
        return race_alone(old, &options).map(|done| done.status);
    };
    let names = names_of_sides(&args.names, environments.unwrap_or([&old_text, &new_text]))?;
    let new = started(1, &new_text)?;
    compare_environments([&old, &new], &mut options.surroundings)?;
    let target = Target {
        name: None,
        sides: [Some(old), Some(new)],
    };
    let entrants = BuildPrograms {
        targets: vec![target],
        names,
    };
    race(&entrants, &options).map(|done| done.status)
}

/// Returns the names of two sides: those that the user gave, or else names made of `texts`.
pub fn names_of_sides(given: &[String], texts: [&str; 2]) -> Result<[String; 2], Failure> {
    match given {
        [] => Ok(side_names(texts)),
        [old, new] if old != new => Ok([old.clone(), new.clone()]),
        [old, _] => Err(Failure::Usage(format!(
            "--name {old}: the two sides need names that differ"
        ))),
        names => Err(Failure::Usage(format!(
            "--name was given {} for 2 programs\nhelp: give it twice",
            match names.len() {
                1 => "once".to_owned(),
                count => format!("{count} times"),
            }
        ))),
    }
}

/// Moves options of Google Benchmark (`--benchmark_…`) to the arguments of the raced programs,
/// after `--`. The user may write them among the options of `deadheat bench`.
pub fn passed_on(args: Vec<OsString>) -> Vec<OsString> {
    if args
        .get(1)
        .is_none_or(|command| command != "bench" && command != "compare")
    {
        return args;
    }
    let end = args.iter().position(|arg| arg == "--");
    let (ours, theirs) = args.split_at(end.unwrap_or(args.len()));
    let of_google = |arg: &&OsString| arg.as_encoded_bytes().starts_with(b"--benchmark_");
    let (moved, mut kept): (Vec<&OsString>, Vec<&OsString>) = ours.iter().partition(of_google);
    let separator = OsString::from("--");
    if !moved.is_empty() || end.is_some() {
        kept.push(&separator);
    }
    kept.into_iter()
        .chain(moved)
        .chain(theirs.iter().skip(1))
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(line: &str) -> String {
        let words = line.split(' ').map(OsString::from).collect();
        let words = passed_on(words).into_iter();
        let words: Vec<String> = words.map(|word| word.into_string().unwrap()).collect();
        words.join(" ")
    }

    #[test]
    fn options_of_google_benchmark_go_to_the_programs_wherever_they_stand() {
        for (line, expected) in [
            ("deadheat bench a b x", "deadheat bench a b x"),
            (
                "deadheat bench a --benchmark_x=1 b",
                "deadheat bench a b -- --benchmark_x=1",
            ),
            (
                "deadheat bench --benchmark_x=1 a -- --b --benchmark_y",
                "deadheat bench a -- --benchmark_x=1 --b --benchmark_y",
            ),
            ("deadheat bench a -- b", "deadheat bench a -- b"),
            (
                "deadheat run --benchmark_x=1",
                "deadheat run --benchmark_x=1",
            ),
        ] {
            assert_eq!(moved(line), expected);
        }
    }
}
