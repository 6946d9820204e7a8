//! `deadheat calibrate`, which races this program against itself to measure the rate of wrong
//! verdicts on this machine, and saves the result.

use std::ffi::OsString;
use std::hint::black_box;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use deadheat::parts::answer::{line_to_stdout, to_stdout};
use deadheat::parts::calibration::{
    CALIBRATION_VARIABLE, CalibrationSpec, Effort, calibration_file, do_work,
};
use deadheat::parts::engine::{environment, machine};
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::format::{
    calibration_json, ensure_writable, read_calibration, write_calibration, write_text,
};
use deadheat::parts::model::{Calibration, CalibrationEnd, HELP};
use deadheat::parts::report::{
    CalibrationOptions, calibration_line, to_calibration_markdown, to_calibration_text,
};
use deadheat::parts::settings::{Front, RaceSettings, random_seed};
use deadheat::parts::terminal::{self, to_stderr};
use deadheat::parts::{StatusLine, repetition::this_program};
use deadheat_options::answer::{SettingsArgs, ShapeArgs};
use sha2::block_api::compress256;

pub const EXAMPLES: &str = "Examples:
  deadheat calibrate
  deadheat calibrate --quick
  deadheat calibrate --markdown=calibration.md
  deadheat calibrate --show";

/// The environment variable that reduces `--quick` to the least possible work, for tests. It is not
/// an option, because shells would offer that as a completion to users.
const LEAST_VARIABLE: &str = "DEADHEAT_CALIBRATE_LEAST";

/// Options of `deadheat calibrate`.
#[derive(Debug, Args)]
pub struct CalibrateArgs {
    /// Make fewer races: about 25 seconds instead of up to five minutes
    #[arg(long)]
    quick: bool,
    /// Print the saved calibration without racing
    #[arg(
        long,
        conflicts_with_all = ["quick", "budget", "alpha", "margin", "seed", "pin"]
    )]
    show: bool,

    /// How everything is raced and judged.
    #[command(flatten)]
    design: SettingsArgs<{ Front::Calibrate as usize }>,

    /// Save the calibration here; with --show, read it from here
    /// [default: ~/.local/state/deadheat/calibration.json]
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    save: Option<PathBuf>,
    /// Write the calibration as Markdown; - prints that instead of the answer
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "-",
        help_heading = "Files"
    )]
    markdown: Option<PathBuf>,

    #[command(flatten, next_help_heading = "Answer")]
    shape: ShapeArgs,
    /// Print no progress on standard error
    #[arg(short = 'q', long, help_heading = "Answer")]
    quiet: bool,
}

impl CalibrateArgs {
    /// Returns the calibration that the options ask for. This program itself is raced.
    fn spec(&self) -> Result<CalibrationSpec, Failure> {
        let least = std::env::var_os(LEAST_VARIABLE).is_some();
        let effort = match (self.quick, least) {
            (true, true) => Effort::LEAST,
            (true, false) => Effort::QUICK,
            (false, _) => Effort::FULL,
        };
        Ok(CalibrationSpec {
            program: this_program()?,
            role: ROLE,
            work: sha256,
            effort: Effort {
                budget: self.design.0.budget.unwrap_or(effort.budget),
                ..effort
            },
            quick: self.quick,
            settings: RaceSettings {
                seed: Some(self.design.0.seed.unwrap_or_else(random_seed)),
                ..self.design.0.clone()
            },
        })
    }

    /// Refuses to overwrite a file that is not a calibration: a slip such as `--save results.json`
    /// would destroy results.
    fn refuse_to_replace_foreign_files(&self) -> Result<(), Failure> {
        let is_foreign = |path: &&PathBuf| {
            path.is_file()
                && path.metadata().is_ok_and(|about| about.len() > 0)
                && read_calibration(path).is_err()
        };
        match self.save.as_ref().filter(is_foreign) {
            None => Ok(()),
            Some(path) => Err(Failure::Usage(format!(
                "--save: {} exists and is not a calibration{HELP}name another file, or remove this \
                 one",
                path.display()
            ))),
        }
    }

    fn page_takes_stdout(&self) -> bool {
        self.markdown
            .as_deref()
            .is_some_and(|path| path.as_os_str() == "-")
    }
}

pub fn calibrate(args: &CalibrateArgs) -> Result<Status, Failure> {
    if let Some(path) = args
        .markdown
        .as_deref()
        .filter(|_| !args.page_takes_stdout())
    {
        ensure_writable(path).map_err(|error| Failure::unwritable("--markdown", &error))?;
    }
    if args.show {
        return show(args);
    }
    args.refuse_to_replace_foreign_files()?;
    let spec = args.spec()?;
    let mut progress = StatusLine::new(args.quiet);
    let calibration = deadheat::parts::calibration::calibrate(&spec, &mut |standing| {
        progress.draw(|width| calibration_line(standing, width));
    })?;
    progress.finish();
    answer(args, &calibration, &[])?;
    let saved = save(args, &calibration);
    if !args.shape.json && !args.page_takes_stdout() {
        line_to_stdout(&format!("  {saved}"))?;
    }
    Ok(match calibration.ending {
        CalibrationEnd::Interrupted(signal) => Status::Interrupted(signal),
        CalibrationEnd::Finished | CalibrationEnd::Budget => Status::Done,
    })
}

fn show(args: &CalibrateArgs) -> Result<Status, Failure> {
    let Some(place) = args.save.clone().or_else(calibration_file) else {
        return Err(Failure::Data(format!(
            "no folder for the calibration was found\nhelp: name a file by --save or \
             {CALIBRATION_VARIABLE}"
        )));
    };
    let Some(saved) = read_calibration(&place).map_err(Failure::reading)? else {
        return Err(Failure::Data(format!(
            "{} does not exist\nhelp: run deadheat calibrate",
            place.display()
        )));
    };
    let here = machine(&environment());
    let outdated = saved.outdated(&here, env!("CARGO_PKG_VERSION"));
    answer(args, &saved, &outdated)?;
    if !args.shape.json && !args.page_takes_stdout() {
        line_to_stdout(&format!("  read from {}", place.display()))?;
    }
    Ok(Status::Done)
}

fn answer(
    args: &CalibrateArgs,
    calibration: &Calibration,
    outdated: &[&'static str],
) -> Result<(), Failure> {
    if let Some(path) = &args.markdown {
        let page = to_calibration_markdown(calibration);
        if args.page_takes_stdout() {
            return to_stdout(&page);
        } else {
            write_text(path, &page).map_err(|error| Failure::writing("--markdown", error))?;
        }
    }
    if args.shape.json {
        return to_stdout(&calibration_json(calibration));
    }
    to_stdout(&to_calibration_text(
        calibration,
        &CalibrationOptions {
            width: terminal::width(),
            color: args.shape.in_color(),
            unicode: terminal::speaks_unicode(),
            outdated,
        },
    ))
}

/// Saves the calibration for later races and returns a line about it. A failure to write is only a
/// warning, because the answer has been printed already.
fn save(args: &CalibrateArgs, calibration: &Calibration) -> String {
    let raced = calibration.kinds.iter().any(|one| one.false_calls.of > 0);
    if !raced {
        return "not saved: no race ran".to_owned();
    }
    let place = args.save.clone().or_else(calibration_file);
    let saved = place
        .as_deref()
        .map(|place| (place, write_calibration(place, calibration)));
    let problem = match saved {
        Some((place, Ok(()))) => return format!("saved in {}", place.display()),
        Some((_, Err(error))) => error.to_string(),
        None => "no folder for the calibration was found".to_owned(),
    };
    let text = format!(
        "the calibration was not saved, so no race will use it: {problem}\nhelp: name a file by \
         --save or {CALIBRATION_VARIABLE}"
    );
    to_stderr("warning", &text);
    "not saved".to_owned()
}

/// The first argument that turns this program into the calibration workload. It is not a
/// subcommand, because parsing a subcommand takes longer than many raced commands run.
pub const ROLE: &str = "calibration-work";

/// The initial state of SHA-256.
const BEGINNING: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// Compresses one block into the state of SHA-256 `rounds` times. Each round needs the result of
/// the round before, so the time is proportional to `rounds`. The block is the padding of an empty
/// message, so one round yields the digest of the empty message.
#[inline(never)]
pub fn sha256(rounds: u32) -> [u32; 8] {
    let mut block = [0; 64];
    block[0] = 0x80;
    // Hidden from the compiler, which could otherwise compute a repeated result only once.
    let mut state = black_box(BEGINNING);
    for _ in 0..rounds {
        compress256(&mut state, &[block]);
    }
    state
}

/// Runs the calibration workload if the first argument is [`ROLE`].
pub fn role(mut command_line: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let word = command_line.nth(1)?;
    (word == ROLE).then(|| do_work(&command_line.collect::<Vec<_>>(), sha256))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_takes_another_block_into_the_digest() {
        assert_eq!(sha256(0), BEGINNING);
        // The published digest of the empty message.
        let digest: Vec<String> = sha256(1).iter().map(|word| format!("{word:08x}")).collect();
        assert_eq!(
            digest.concat(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        let mut seen = std::collections::BTreeSet::new();
        assert!((0..100).all(|rounds| seen.insert(sha256(rounds))));
    }

    #[test]
    fn only_its_word_makes_the_program_a_contender() {
        let line = |words: &[&str]| {
            role(
                words
                    .iter()
                    .map(OsString::from)
                    .collect::<Vec<_>>()
                    .into_iter(),
            )
        };
        assert!(line(&["deadheat", "run", ROLE]).is_none());
        assert!(line(&["deadheat"]).is_none());
        assert!(line(&["deadheat", ROLE, "command", "0000000001"]).is_some());
    }
}
