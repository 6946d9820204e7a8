//! Races of programs, from the listing of their benchmarks to the answer. The programs are workers
//! or executables of harnesses.

use std::fmt::Write as _;
use std::path::PathBuf;

use deadheat::parts::answer::to_stdout;
use deadheat::parts::engine::{HarnessListing, Inspected};
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::families::{Families, families, families_between};
use deadheat::parts::model::{HELP, Harness, LeftOut, Program, without_help};
use deadheat::parts::pairing::{self, Launched, Listed, Pairing, Target, Worker, pair_names};
use deadheat::parts::report::{Glyphs, escape, sentences};
use deadheat::parts::settings::{self, Front, Ignored, Selection};
use deadheat::parts::terminal::{self, to_stderr};
use deadheat::parts::{
    BenchmarkRace, Entries, LiveProgress, PlanUse, RaceError, RaceOutcome, harness_benchmark,
    inspect_program, race_benchmarks,
};

use crate::bench_options::BenchOptions;
use crate::pyperf;
use crate::races::{race_and_tell, tell_of_one};
use crate::saved_plan::tell_of_plan;

/// The programs of two builds, the older build first.
#[derive(Clone, Debug)]
pub struct BuildPrograms {
    /// The targets, each with its programs from both builds.
    pub targets: Vec<Target<Program>>,
    /// The names of the builds.
    pub names: [String; 2],
}

/// The outcome of a race whose answer was printed.
pub struct AnsweredRace {
    /// The exit status of the answer.
    pub status: Status,
    /// The recorded run files; empty if the benchmarks were only listed or planned, or if a part
    /// was resumed.
    pub files: Vec<PathBuf>,
}

impl AnsweredRace {
    fn without_files(status: Status) -> Self {
        let files = Vec::new();
        Self { status, files }
    }
}

/// The programs of a race, by their kind, with their benchmarks.
pub enum Field {
    /// Programs that serve their functions as workers.
    Workers(Vec<Worker>),
    /// Executables of harnesses, with the names of their benchmarks.
    Harness(Vec<Launched>),
}

struct Inspection {
    field: Field,
    /// The targets whose candidate program failed to list its benchmarks, although the baseline's
    /// program listed them. The code under test may have crashed, so the race must not
    /// succeed.
    failed: Vec<FailedTarget>,
}

/// A target of which the candidate's program failed to list its benchmarks.
pub struct FailedTarget {
    /// The name of the target.
    pub name: String,
    /// The error message.
    pub message: String,
}

/// Lists the benchmarks of all programs. A single target must have benchmarks. Of several targets,
/// those without benchmarks are reported and skipped, and so are executables of harnesses if other
/// targets are workers.
fn inspect(targets: &[Target<Program>], options: &BenchOptions) -> Result<Inspection, Failure> {
    let mut workers: Vec<Worker> = Vec::new();
    let mut launched: Vec<Launched> = Vec::new();
    let mut failure = None;
    let mut failed = Vec::new();
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
                    let is_listed = first(&worker).is_some() || first(&of_harness).is_some();
                    let has_failed = place == 1 && is_listed;
                    let message = without_help(&error.to_string()).to_owned();
                    if has_failed || !options.quiet {
                        to_stderr("deadheat", &format!("skipped: {message}"));
                    }
                    if has_failed {
                        failed.push(FailedTarget {
                            name: target.name.clone().unwrap_or_default(),
                            message,
                        });
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
    let field = match (found, failure) {
        ((None, None), Some(error)) => return Err(error.into()),
        ((Some(_), Some(_)), _) => {
            let mut passed_over = launched.iter().filter_map(of);
            if !options.rules.gate().fail_on.is_empty()
                && let Some((program, harness)) = passed_over.next()
            {
                return Err(Failure::Usage(format!(
                    "the gate cannot judge '{}', because it is {} and other targets are workers{HELP}\
                     run deadheat once for each kind of target, and name the targets",
                    program.executable.display(),
                    called(harness)
                )));
            }
            for (program, harness) in passed_over.filter(|_| !options.quiet) {
                let file = program.executable.display();
                let said = format!(
                    "'{file}' is skipped, because it is {} and other targets are workers; to race \
                     it alone, name it",
                    called(harness)
                );
                to_stderr("deadheat", &said);
            }
            Field::Workers(workers)
        }
        ((None, Some(_)), _) => Field::Harness(launched),
        _ => Field::Workers(workers),
    };
    Ok(Inspection { field, failed })
}

/// Lists the benchmarks like [`inspect`], but turns pyperf scripts into workers if possible.
fn inspect_for_race(
    targets: &[Target<Program>],
    options: &BenchOptions,
) -> Result<Inspection, Failure> {
    let mut inspection = inspect(targets, options)?;
    if let Field::Harness(launched) = &inspection.field
        && let Some(workers) = pyperf::as_workers(launched, options)?
    {
        inspection.field = Field::Workers(workers);
    }
    Ok(inspection)
}

/// Returns the program of the first side that has one.
fn first<L>(target: &Target<Listed<L>>) -> Option<&Program> {
    let mut sides = target.sides.iter().flatten();
    sides.next().map(|listed| &listed.program)
}

/// Returns the executable of the first side that has one, with its harness.
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
        "'{}' is {is} and '{}' {other}; only programs of the same kind can race each other",
        old.executable.display(),
        new.executable.display()
    ))
}

/// Returns the listing for `--list`: a line for each of `names`, and sentences about the benchmarks
/// that are left out.
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

/// Returns the error that two builds have no benchmark in common, with the benchmarks of each.
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

/// Returns the error that the filters select no benchmark, with the names of existing benchmarks.
pub fn nothing_selected<'a>(
    names: impl Iterator<Item = &'a str>,
    left_out: &'a [LeftOut],
    filters: &[String],
) -> Failure {
    let glyphs = Glyphs::new(terminal::speaks_unicode());
    let names = names.chain(left_out.iter().map(|one| one.benchmark.as_str()));
    let names: Vec<String> = names.map(|name| escape(name, glyphs)).collect();
    Failure::NothingSelected(settings::nothing_selected(&names, filters))
}

/// Races two builds, and prints the answer.
pub fn race(entrants: &BuildPrograms, options: &BenchOptions) -> Result<AnsweredRace, Failure> {
    options.exports.check(None)?;
    let sides = &entrants.names;
    let Inspection { field, failed } = inspect_for_race(&entrants.targets, options)?;
    if matches!(field, Field::Harness(_)) {
        refuse_sample_time(options)?;
    }
    let pair = |selection: &Selection| pair_builds(&field, sides, selection);
    let mut answered = race_selected(pair, Some(sides), options)?;
    if !failed.is_empty() {
        answered.status = answered.status.max(Status::ContenderFailed);
    }
    Ok(answered)
}

/// Races the selected benchmarks of two builds without printing an answer. Also returns the targets
/// that failed before the race.
pub fn race_silently(
    entrants: &BuildPrograms,
    options: &BenchOptions,
) -> Result<(RaceOutcome, Vec<FailedTarget>), Failure> {
    let Inspection { field, failed } = inspect_for_race(&entrants.targets, options)?;
    if matches!(field, Field::Harness(_)) {
        refuse_sample_time(options)?;
    }
    let sides = &entrants.names;
    let pair = |selection: &Selection| pair_builds(&field, sides, selection);
    let pairing = selected(pair, Some(sides), options)?;
    let outcome = race_entries(&options.race(), entries(pairing, options), options)?;
    Ok((outcome, failed))
}

fn pair_builds(field: &Field, sides: &[String; 2], selection: &Selection) -> Pairing {
    match field {
        Field::Workers(targets) => pairing::pair(targets, sides, selection),
        Field::Harness(targets) => pair_names(targets, sides, selection),
    }
}

/// Races the contenders of one program against each other. If the program is an executable of a
/// harness, which has no contenders, races two families of its benchmarks, or measures each
/// benchmark on its own.
pub fn race_alone(program: Program, options: &BenchOptions) -> Result<AnsweredRace, Failure> {
    options.exports.check(None)?;
    let target = Target {
        name: None,
        sides: [Some(program), None],
    };
    match inspect(&[target], options)?.field {
        Field::Workers(targets) => {
            let pair = |selection: &Selection| pairing::race_alone(&targets, selection);
            race_selected(pair, None, options)
        }
        Field::Harness(targets) => {
            let mut sides = targets
                .iter()
                .flat_map(|target| target.sides.iter().flatten());
            match sides.next() {
                Some(listed) => harness_alone(listed, options),
                None => Err(Failure::Internal("no program was inspected".to_owned())),
            }
        }
    }
}

/// Races a family of benchmarks of one program against a family of another program. Each filter
/// selects the family of its side.
pub fn race_families(
    entrants: &BuildPrograms,
    filters: &[String; 2],
    options: &BenchOptions,
) -> Result<AnsweredRace, Failure> {
    options.exports.check(None)?;
    let Field::Harness(targets) = inspect(&entrants.targets, options)?.field else {
        return Err(Failure::Usage(
            "filters choose families only in executables of harnesses; workers have contenders \
             instead"
                .to_owned(),
        ));
    };
    refuse_sample_time(options)?;
    let Some([Some(old), Some(new)]) = targets.first().map(|target| &target.sides) else {
        return Err(Failure::Internal("a side was not inspected".to_owned()));
    };
    let [baseline, candidate] = filters;
    let found = families_between(
        [&old.listing.names, &new.listing.names],
        baseline,
        candidate,
    )?;
    let names = &entrants.names;
    let sides = [(&names[0], old), (&names[1], new)];
    race_found(found, filters, sides, options)
}

/// Races the pairs of benchmarks that the options select. `pair` returns the pairs of a selection.
fn race_selected(
    pair: impl Fn(&Selection) -> Pairing,
    sides: Option<&[String; 2]>,
    options: &BenchOptions,
) -> Result<AnsweredRace, Failure> {
    race_pairing(selected(pair, sides, options)?, options)
}

/// Returns the pairs of benchmarks that the options select. `pair` returns the pairs of a
/// selection. Fails if none are selected.
fn selected(
    pair: impl Fn(&Selection) -> Pairing,
    sides: Option<&[String; 2]>,
    options: &BenchOptions,
) -> Result<Pairing, Failure> {
    let all = pair(&Selection {
        ignored: Ignored::In,
        ..Selection::default()
    });
    if all.benchmarks.is_empty() {
        return Err(match sides {
            Some(sides) => nothing_in_common(&all.left_out, sides),
            None => Failure::Usage("the program has no benchmarks".to_owned()),
        });
    }
    let pairing = pair(&options.selection());
    if pairing.benchmarks.is_empty() {
        let names = all.benchmarks.iter().map(|one| one.name.as_str());
        return Err(nothing_selected(
            names,
            &all.left_out,
            &options.selection().filters,
        ));
    }
    Ok(pairing)
}

/// Races the paired benchmarks and prints the answer, or only lists them.
fn race_pairing(pairing: Pairing, options: &BenchOptions) -> Result<AnsweredRace, Failure> {
    if options.list {
        let names = pairing.benchmarks.iter().map(|one| one.name.as_str());
        to_stdout(&listing(names, &pairing.left_out))?;
        return Ok(AnsweredRace::without_files(Status::Done));
    }
    let entries = entries(pairing, options);
    let first = options.race();
    let (save, quiet) = (options.save.as_deref(), options.quiet);
    let answered = (&options.answer, &options.exports);
    if options.use_of_plan == PlanUse::Save {
        let planned = race_entries(&first, entries, options)?;
        return tell_of_plan(&planned.run.header.plan, &planned.path)
            .map(AnsweredRace::without_files);
    }
    if let Some(outcome) = options.begun_part(&first)? {
        let told = tell_of_one(outcome, &options.answer, &options.exports);
        return told.map(AnsweredRace::without_files);
    }
    let mut files = Vec::new();
    let status = race_and_tell(&first.settings, save, quiet, answered, |second| {
        let (race, entries) = match second {
            None => (first.clone(), entries.clone()),
            Some(second) => second.of_benchmarks(&first, entries.clone()),
        };
        let outcome = race_entries(&race, entries, options)?;
        files.push(outcome.path.clone());
        Ok(outcome)
    })?;
    Ok(AnsweredRace { status, files })
}

fn entries(mut pairing: Pairing, options: &BenchOptions) -> Entries {
    options.changed_suite.note_in(&mut pairing.benchmarks);
    Entries {
        benchmarks: pairing.benchmarks,
        metrics: pairing.metrics,
        left_out: pairing.left_out,
        rules: options.rules.some(),
    }
}

fn race_entries(
    race: &BenchmarkRace,
    entries: Entries,
    options: &BenchOptions,
) -> Result<RaceOutcome, Failure> {
    let mut progress = LiveProgress::new(&entries.benchmarks, options.quiet);
    let outcome = race_benchmarks(race, entries, &mut progress)
        .map_err(|error| error.into_failure(&options.rules))?;
    progress.finish();
    Ok(outcome)
}

/// Races two families of one program if the user gave two filters. Otherwise, measures each
/// selected benchmark on its own.
fn harness_alone(
    listed: &Listed<HarnessListing>,
    options: &BenchOptions,
) -> Result<AnsweredRace, Failure> {
    let Listed { program, listing } = listed;
    let names = &listing.names;
    refuse_sample_time(options)?;
    let mut selection = options.selection();
    if let ([baseline, candidate], false) = (&options.filters[..], selection.exact) {
        selection.filters.clear();
        let mut held = names.clone();
        held.retain(|name| selection.names(name));
        let found = families(&held, baseline, candidate)?;
        let sides = [(baseline, listed), (candidate, listed)];
        let filters = [baseline, candidate].map(Clone::clone);
        return race_found(found, &filters, sides, options);
    }
    let file = program.executable.file_name().unwrap_or_default();
    let file = file.to_string_lossy();
    let selected = names.iter().filter(|name| selection.names(name));
    let benchmarks = selected.map(|name| {
        let side = (&*file, program, listing.known_as(name));
        harness_benchmark(name, listing.harness, [side])
    });
    let pairing = Pairing {
        benchmarks: benchmarks.collect(),
        ..Pairing::default()
    };
    if pairing.benchmarks.is_empty() {
        return Err(nothing_selected(
            names.iter().map(String::as_str),
            &[],
            &selection.filters,
        ));
    }
    race_pairing(pairing, options)
}

/// Races the two families that the filters selected. `sides` has the name and program of each side.
fn race_found(
    found: Families,
    filters: &[String; 2],
    sides: [(&String, &Listed<HarnessListing>); 2],
    options: &BenchOptions,
) -> Result<AnsweredRace, Failure> {
    if found.pairs.is_empty() {
        return Err(nothing_in_common(&found.left_out, filters));
    }
    let harness = sides[0].1.listing.harness;
    let benchmark = |(shown, in_sides): &(String, [String; 2])| {
        let sides = sides.iter().zip(in_sides);
        let sides = sides.map(|((name, listed), known)| {
            let known = listed.listing.known_as(known);
            (name.as_str(), &listed.program, known)
        });
        harness_benchmark(shown, harness, sides)
    };
    let pairing = Pairing {
        benchmarks: found.pairs.iter().map(benchmark).collect(),
        left_out: found.left_out,
        metrics: Vec::new(),
    };
    race_pairing(pairing, options)
}

fn refuse_sample_time(options: &BenchOptions) -> Result<(), Failure> {
    if options.design.0.sample_time.is_none() || options.list {
        return Ok(());
    }
    Err(Failure::Usage(
        "--sample-time: for executables of a harness, an option of the harness sets the duration \
         of samples, such as --benchmark_min_time (docs/suites.md)"
            .to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use deadheat::parts::model::LeftOutReason;

    use super::*;

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
        let failure = nothing_selected(all.iter().map(String::as_str), &left_out, &[]);
        assert_eq!(failure.code(), 6);
        let text = failure.to_string();
        assert!(text.contains("there are b0, b1,"), "{text}");
        assert!(text.ends_with("b9 and 3 more (--list)"), "{text}");
    }
}
