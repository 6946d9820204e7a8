//! The steps that all races share: the command that repeats a race, resumption, and the answer with
//! its files.

use std::path::Path;

use deadheat::parts::engine::LinkProgram;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::format::read_header;
use deadheat::parts::model::{Conditions, Run, RunHeader};
use deadheat::parts::repetition::{Options, repeating, words_of_this_process};
use deadheat::parts::report::units::size_on_disk;
use deadheat::parts::settings::{Placement, RaceSettings};
use deadheat::parts::terminal::to_stderr;
use deadheat::parts::{
    LiveProgress, RaceError, RaceOutcome, Raced, Resumable, ResumeOptions, SecondRace, analysis,
    finish_part, refuse_old_confirmation, resume_race,
};
use deadheat_build::bytes_below;
use deadheat_doctor::Root;

use crate::answer::{AnswerArgs, ExportArgs};

/// Races, and prints the answer. If the settings ask for confirmation, benchmarks that broke a rule
/// are raced a second time before the answer. `race` gets `None` for the first race.
pub fn race_and_tell(
    settings: &RaceSettings,
    save: Option<&Path>,
    quiet: bool,
    (answer, exports): (&AnswerArgs, &ExportArgs),
    race: impl FnMut(Option<&SecondRace>) -> Result<RaceOutcome, Failure>,
) -> Result<Status, Failure> {
    // A part of a race has no verdict to confirm.
    let is_asked = settings.confirm() && settings.part().is_none();
    if is_asked {
        refuse_old_confirmation(save)?;
    }
    if let Some(hint) = answer.hint.as_ref().filter(|_| !quiet) {
        to_stderr("hint", hint);
    }
    let options = |run: &Run| analysis_options(run, answer, exports);
    let raced = Raced::confirmed(is_asked, &answer.gate, quiet, options, race)?;
    tell(raced, answer, exports)
}

/// Returns the measurement conditions on this host if the race is a part of a distributed race;
/// otherwise returns empty conditions.
pub fn conditions_of_part(settings: &RaceSettings) -> Conditions {
    match settings.part() {
        Some(_) => deadheat_doctor::conditions(&Root::real()),
        None => Conditions::default(),
    }
}

/// Prints the answer about a race without a second, confirming race.
pub fn tell_of_one(
    outcome: RaceOutcome,
    answer: &AnswerArgs,
    exports: &ExportArgs,
) -> Result<Status, Failure> {
    let options = analysis_options(&outcome.run, answer, exports);
    let raced = Raced::once(outcome, options, &answer.gate);
    tell(raced, answer, exports)
}

fn analysis_options(run: &Run, answer: &AnswerArgs, exports: &ExportArgs) -> analysis::Options {
    let benchmarks = run.header.plan.benchmarks.len();
    let options = answer.answer().analysis_options();
    exports.reports().analysis_options(options, benchmarks)
}

fn tell(raced: Raced, answer: &AnswerArgs, exports: &ExportArgs) -> Result<Status, Failure> {
    let answer = answer.answer();
    let (first, analysis) = (&raced.first, &raced.analysis);
    let written = exports.write(&first.run, analysis, &answer)?;
    let below = [room(&first.path), written].concat();
    let files = raced.files();
    let reports = exports.reports();
    reports.print_beside(&answer, analysis, &files, &below)?;
    let status = answer.settle(analysis);
    raced.ended(status)
}

/// Continues a part of a race to the end of its plan. `header` is the header of its run file.
pub fn go_on_with_part(
    save: Option<&Path>,
    header: &RunHeader,
    options: ResumeOptions,
    quiet: bool,
) -> Result<RaceOutcome, Failure> {
    let path = save.unwrap_or(Path::new(""));
    let more = header.plan.max_replicates();
    let mut progress = LiveProgress::new(&header.plan.benchmarks, quiet);
    let outcome = finish_part(path, &ResumeOptions { more, ..options }, &mut progress)?;
    progress.finish();
    Ok(outcome)
}

/// Returns a line about the disk space that deadheat uses, if that is large and deadheat chose the
/// place of the run file.
fn room(run: &Path) -> Vec<String> {
    let ours = run.ancestors().nth(2);
    let ours = ours.filter(|folder| folder.ends_with(".deadheat"));
    let said = ours.and_then(|folder| holds(folder, bytes_below(folder)));
    said.into_iter().collect()
}

/// Returns a sentence about the size of a folder, or `None` if the size is below 1 GB.
fn holds(folder: &Path, bytes: u64) -> Option<String> {
    const WORTH_A_WORD: u64 = 1_000_000_000;
    let folder = folder.display();
    let said = || {
        format!(
            "{folder} holds {}; deadheat clean frees space",
            size_on_disk(bytes)
        )
    };
    (bytes >= WORTH_A_WORD).then(said)
}

/// Continues a recorded race by at most `more` replicates; by default, by as many as its plan had.
/// Fails if the race is not of one of the `kinds`.
pub fn resume(
    path: &Path,
    kinds: &[Resumable],
    more: Option<u32>,
    options: ResumeOptions,
    quiet: bool,
) -> Result<RaceOutcome, Failure> {
    let header = read_header(path).map_err(Failure::reading)?;
    let kind = Resumable::of(path, &header)?;
    if !kinds.contains(&kind) {
        let path = path.to_owned();
        let reason = match kind {
            Resumable::Commands => {
                "holds a race of commands: continue it with deadheat run --resume"
            }
            Resumable::Workers | Resumable::Harness => {
                "holds a race of programs with benchmarks: continue it with deadheat bench --resume"
            }
        };
        let reason = reason.to_owned();
        return Err(RaceError::NotResumable { path, reason }.into());
    }
    let more = more.unwrap_or(header.plan.max_replicates());
    if more == 0 {
        let text = "--max-replicates must be at least 1\nhelp: leave it out to add as many as were planned";
        return Err(Failure::Usage(text.to_owned()));
    }
    let mut progress = LiveProgress::new(&header.plan.benchmarks, quiet);
    let options = ResumeOptions { more, ..options };
    let outcome = resume_race(path, &options, &mut progress)?;
    progress.finish();
    Ok(outcome)
}

/// Returns this program as the maker of neutral links. Returns `None` if the user wants no such
/// links, or if the path of this program is unknown, for example because it was replaced meanwhile;
/// all programs then run as they were linked.
pub fn placements(placement: Option<Placement>) -> Option<LinkProgram> {
    LinkProgram::by(placement.unwrap_or_default(), std::env::current_exe().ok())
}

/// Returns the command that repeats the race of this process, with the seed that it drew.
pub fn again(seed: u64) -> Vec<String> {
    let (words, options) = as_typed(words_of_this_process());
    repeating(&words, options, seed)
}

/// Returns the command line of this process. Unlike [`again`], this function adds no seed, because
/// a saved plan already contains the seed.
pub fn typed() -> Vec<String> {
    as_typed(words_of_this_process()).0
}

/// Shortens the program to its name, and restores `cargo deadheat` from the form in which cargo
/// passes it on. Also returns the place for the options of the race: before or after `--`.
fn as_typed(mut words: Vec<String>) -> (Vec<String>, Options) {
    let Some(first) = words.first_mut() else {
        return (words, Options::BeforeDashes);
    };
    let name = Path::new(first).file_name().and_then(|name| name.to_str());
    if let Some(name) = name {
        *first = name.to_owned();
    }
    if first != "cargo-deadheat" {
        return (words, Options::BeforeDashes);
    }
    words.remove(0);
    if words.first().is_some_and(|word| word == "deadheat") {
        words.remove(0);
    }
    let cargo = ["cargo", "deadheat"].map(str::to_owned);
    ([cargo.to_vec(), words].concat(), Options::BehindDashes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_folder_that_has_grown_large_is_worth_a_word() {
        let said = |bytes| holds(Path::new(".deadheat"), bytes);
        assert_eq!(said(999_999_999), None);
        let large = ".deadheat holds 1.4 GB; deadheat clean frees space";
        assert_eq!(said(1_400_000_000).as_deref(), Some(large));
        assert_eq!(room(Path::new("elsewhere/run.jsonl")), [""; 0]);
    }

    #[test]
    fn programs_are_called_as_they_were_typed() {
        for (line, expected, options) in [
            (
                "/usr/bin/deadheat run -- a",
                "deadheat run -- a",
                Options::BeforeDashes,
            ),
            (
                "/x/cargo-deadheat deadheat main",
                "cargo deadheat main",
                Options::BehindDashes,
            ),
            (
                "cargo-deadheat main",
                "cargo deadheat main",
                Options::BehindDashes,
            ),
        ] {
            let words = line.split(' ').map(str::to_owned).collect();
            let (words, found) = as_typed(words);
            assert_eq!((words.join(" ").as_str(), found), (expected, options));
        }
        assert_eq!(as_typed(Vec::new()).0, [""; 0]);
    }
}
