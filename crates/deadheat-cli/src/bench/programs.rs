//! The programs that race: what they hold, asked of each of them once, and what is said where that
//! is nothing.

use std::fmt::Write as _;

use deadheat::parts::engine::Inspected;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::model::{Harness, LeftOut, Program};
use deadheat::parts::pairing::{Launched, Listed, Target, Worker};
use deadheat::parts::report::{Glyphs, escape, sentences};
use deadheat::parts::settings::{self, Front};
use deadheat::parts::terminal::{self, to_stderr};
use deadheat::parts::{RaceError, inspect_program};

use super::options::BenchOptions;

/// The programs of two builds, the old one first.
#[derive(Clone, Debug)]
pub struct Entrants {
    /// The programs of both builds.
    pub targets: Vec<Target<Program>>,
    /// The names of the builds.
    pub names: [String; 2],
}

/// The programs of a race by their kind, with what they hold.
pub enum Field {
    /// Workers.
    Workers(Vec<Worker>),
    /// Executables of harnesses, with the names of their benchmarks.
    Harness(Vec<Launched>),
}

/// Asks all programs what they hold. One alone must know; of several targets
/// those that hold no benchmarks of any kind are told and passed over, and so are executables of
/// harnesses beside workers.
pub fn inspect(targets: &[Target<Program>], options: &BenchOptions) -> Result<Field, Failure> {
    let mut workers: Vec<Worker> = Vec::new();
    let mut launched: Vec<Launched> = Vec::new();
    let mut failure = None;
    for target in targets {
        let mut worker = Worker::default();
        let mut of_harness = Launched::default();
        for (place, program) in target.sides.iter().enumerate() {
            let Some(program) = program.clone() else {
                continue;
            };
            match ask(&program, options) {
                Ok(Inspected::Worker(listing)) => {
                    worker.sides[place] = Some(Listed { program, listing });
                }
                Ok(Inspected::Harness(listing)) => {
                    of_harness.sides[place] = Some(Listed { program, listing });
                }
                Err(error @ RaceError::Interrupted { .. }) => return Err(error.into()),
                Err(error) if targets.len() == 1 => return Err(error.into()),
                Err(error) => {
                    if !options.quiet {
                        to_stderr("deadheat", &format!("{error}; it is left out"));
                    }
                    failure.get_or_insert(error);
                }
            }
        }
        worker.name.clone_from(&target.name);
        of_harness.name.clone_from(&target.name);
        if let (Some(worker), Some((of_harness, harness))) = (first(&worker), of(&of_harness)) {
            return Err(mixed(
                (worker, "a worker".to_owned()),
                (of_harness, called(harness)),
            ));
        }
        if let [Some(old), Some(new)] = &of_harness.sides
            && old.listing.harness != new.listing.harness
        {
            let [old, new] = [old, new].map(|one| (&one.program, called(one.listing.harness)));
            return Err(mixed(old, new));
        }
        if first(&worker).is_some() {
            workers.push(worker);
        } else if first(&of_harness).is_some() {
            launched.push(of_harness);
        }
    }
    let found = (
        workers.first().and_then(first),
        launched.first().and_then(first),
    );
    match (found, failure) {
        ((None, None), Some(error)) => Err(error.into()),
        ((Some(_), Some(_)), _) => {
            let passed_over = launched.iter().filter_map(of);
            for (program, harness) in passed_over.filter(|_| !options.quiet) {
                let file = program.executable.display();
                let said = format!(
                    "'{file}' is {}, and workers race beside it; it is left out, and races where \
                     it is asked for alone",
                    called(harness)
                );
                to_stderr("deadheat", &said);
            }
            Ok(Field::Workers(workers))
        }
        ((None, Some(_)), _) => Ok(Field::Harness(launched)),
        _ => Ok(Field::Workers(workers)),
    }
}

/// The program of the first side that was built.
fn first<L>(target: &Target<Listed<L>>) -> Option<&Program> {
    let mut sides = target.sides.iter().flatten();
    sides.next().map(|listed| &listed.program)
}

/// The same of executables of harnesses, with the harness.
fn of(target: &Launched) -> Option<(&Program, Harness)> {
    let mut sides = target.sides.iter().flatten();
    let listed = sides.next()?;
    Some((&listed.program, listed.listing.harness))
}

fn called(harness: Harness) -> String {
    format!("a {} executable", harness.name())
}

fn ask(program: &Program, options: &BenchOptions) -> Result<Inspected, RaceError> {
    let patience = options.rules.settings().timeout(Front::Bench);
    inspect_program(program, options.harness, options.nocapture, patience)
}

fn mixed((old, is): (&Program, String), (new, other): (&Program, String)) -> Failure {
    Failure::Usage(format!(
        "'{}' is {is} and '{}' {other}; only programs of one kind can be raced against each other",
        old.executable.display(),
        new.executable.display()
    ))
}

/// A line for each pair, and a sentence for what is left out.
pub fn listing<'a>(names: impl Iterator<Item = &'a str>, left_out: &[LeftOut]) -> String {
    let glyphs = Glyphs::new(terminal::speaks_unicode());
    let mut text = String::new();
    for name in names {
        let _ = writeln!(text, "{}: benchmark", escape(name, glyphs));
    }
    for sentence in sentences::left_out(left_out, glyphs) {
        let _ = writeln!(text, "{sentence}");
    }
    text
}

/// That the two builds have nothing in common, and what each has.
pub fn nothing_in_common(left_out: &[LeftOut], names: &[String; 2]) -> Failure {
    let [old, new] = names;
    let glyphs = Glyphs::new(terminal::speaks_unicode());
    let said = sentences::left_out(left_out, glyphs);
    Failure::Usage(if said.is_empty() {
        format!("neither '{old}' nor '{new}' holds a benchmark")
    } else {
        format!(
            "'{old}' and '{new}' have no benchmark in common that could be raced:\n  {}",
            said.join("\n  ")
        )
    })
}

/// Tells that no benchmark is asked for, and which there are. That is no error,
/// as it is none for a bench target.
pub fn nothing_selected<'a>(
    names: impl Iterator<Item = &'a str>,
    left_out: &'a [LeftOut],
) -> Status {
    to_stderr("deadheat", &no_name_fits(names, left_out));
    Status::Done
}

fn no_name_fits<'a>(names: impl Iterator<Item = &'a str>, left_out: &'a [LeftOut]) -> String {
    let glyphs = Glyphs::new(terminal::speaks_unicode());
    let names = names.chain(left_out.iter().map(|one| one.benchmark.as_str()));
    let names: Vec<String> = names.map(|name| escape(name, glyphs)).collect();
    settings::nothing_selected(&names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat::parts::model::LeftOutReason;

    fn only(benchmark: &str, side: &str) -> LeftOut {
        LeftOut {
            benchmark: benchmark.to_owned(),
            reason: LeftOutReason::OnlyIn(side.to_owned()),
        }
    }

    #[test]
    fn builds_without_anything_in_common_are_told_what_each_has() {
        let names = ["old", "new"].map(str::to_owned);
        let failure = nothing_in_common(&[only("a", "old"), only("b", "new")], &names);
        assert_eq!(failure.code(), 2);
        assert_eq!(
            failure.to_string(),
            "'old' and 'new' have no benchmark in common that could be raced:\n  \
             1 benchmark only in 'old': a.\n  1 benchmark only in 'new': b."
        );
        let empty = nothing_in_common(&[], &names).to_string();
        assert_eq!(empty, "neither 'old' nor 'new' holds a benchmark");
    }

    #[test]
    fn a_listing_has_a_line_per_pair_and_names_what_is_left_out() {
        let text = listing(["sum", "sort\u{1b}[2J"].into_iter(), &[only("a", "old")]);
        assert!(text.starts_with("sum: benchmark\nsort\\u{1b}[2J: benchmark\n"));
        assert!(text.ends_with("1 benchmark only in 'old': a.\n"), "{text}");
    }

    #[test]
    fn of_many_benchmarks_some_are_named_where_none_is_selected() {
        let all: Vec<String> = (0..12).map(|number| format!("b{number}")).collect();
        let left_out = [only("x", "old")];
        let text = no_name_fits(all.iter().map(String::as_str), &left_out);
        assert!(text.contains("there are b0, b1,"), "{text}");
        assert!(text.ends_with("b9 and 3 more (--list)"), "{text}");
    }
}
