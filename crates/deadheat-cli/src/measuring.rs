//! The commands that measure, or prepare to, which exist on Linux only. On other systems,
//! `measuring_elsewhere` refuses them.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::Subcommand;
use deadheat::parts::PlanUse;
use deadheat::parts::engine::Owner;
use deadheat::parts::exit::{Failure, code};

use crate::{
    bare_race, bench, calibrate, cargo_deadheat, clean, doctor, link, load, normalise, pack, plan,
    rev, run, usage_error,
};

#[derive(Debug, Subcommand)]
pub enum RaceCommand {
    /// Race whole commands; the first is the baseline
    #[command(after_help = run::EXAMPLES)]
    Run(Box<run::RunArgs>),
    /// Race two builds, benchmark by benchmark, or the contenders of one build
    #[command(after_help = bench::EXAMPLES)]
    Bench(Box<bench::BenchArgs>),
    /// Race two git revisions, or one and the working tree
    #[command(after_help = rev::EXAMPLES)]
    Rev(Box<rev::RevArgs>),
    /// Race two servers by alternating bursts of load
    #[command(after_help = load::EXAMPLES)]
    Load(Box<load::LoadArgs>),
    /// Find the commit that changed the time, by races
    #[command(after_help = deadheat_bisect::EXAMPLES)]
    Bisect(Box<deadheat_bisect::BisectArgs>),
}

#[derive(Debug, Subcommand)]
pub enum PlanCommand {
    /// Write the plan of a race to a file, to race it elsewhere or later
    #[command(after_help = plan::PLAN_EXAMPLES)]
    Plan(plan::PlanArgs),
    /// Pack a plan and its programs into one file, for other machines
    #[command(after_help = pack::PACK_EXAMPLES)]
    Pack(pack::PackArgs),
}

#[derive(Debug, Subcommand)]
pub enum MachineCommand {
    /// Show where the time went: what both sides execute, function by function
    #[command(after_help = deadheat_explain::EXAMPLES)]
    Explain(deadheat_explain::ExplainArgs),
    /// Find what disturbs measurements on this machine, by how much, and what helps
    #[command(after_help = doctor::EXAMPLES)]
    Doctor(doctor::DoctorArgs),
    /// Test how often verdicts are wrong on this machine
    #[command(after_help = calibrate::EXAMPLES)]
    Calibrate(Box<calibrate::CalibrateArgs>),
    /// Show the disk space that deadheat uses, and remove what it can make again
    #[command(after_help = clean::EXAMPLES)]
    Clean(clean::CleanArgs),
    /// Link a program, and record how, so that races can vary its code layout
    #[command(after_help = link::EXAMPLES)]
    Link(link::LinkArgs),
}

#[derive(Debug, Subcommand)]
pub enum HiddenCommand {
    /// Make neutral links of an executable (for other programs to call)
    #[command(hide = true)]
    Placements(link::PlacementsArgs),
    /// Serve one side of a race of servers (for deadheat itself to call)
    #[command(hide = true)]
    LoadWorker(Box<deadheat_load::WorkerArgs>),
}

/// Acts as a contender of a calibration if this process was started as one, and returns the exit
/// code.
pub fn contender() -> Option<ExitCode> {
    calibrate::role(std::env::args_os())
}

/// Starts to watch the owner of the race, a script that started this process, if there is one. If
/// the owner has ended when the value is dropped, the drop removes the owner's folder.
pub fn watched_owner() -> Option<Owner> {
    Owner::watched()
}

/// Acts as `cargo-deadheat`, the compiler or the linker driver if this process was started in place
/// of that program, and returns its exit code.
pub fn role() -> Option<ExitCode> {
    let mut args = std::env::args_os();
    let name = args.next().unwrap_or_default();
    let name = Path::new(&name);
    // In release archives, `deadheat` and `cargo-deadheat` are one executable with two names.
    if name
        .file_name()
        .is_some_and(|name| name == "cargo-deadheat")
    {
        return Some(cargo_deadheat::program());
    }
    // Cargo starts this executable under other names while it builds revisions.
    cargo_deadheat::role(name, &args.collect::<Vec<_>>()).or_else(|| {
        let args = link::LinkArgs::of(std::env::args_os())?;
        Some(link::link(&args).into())
    })
}

/// The command line of this process: as typed, and as it is parsed.
pub struct Words {
    typed: Vec<OsString>,
    /// True if the user left out `run`.
    is_short: bool,
    use_of_plan: PlanUse,
    /// The words to parse.
    pub parsed: Vec<OsString>,
}

impl Words {
    /// Inserts `run` if the user left it out, and removes `plan` in front of a race, which is then
    /// only planned. Never fails on Linux.
    pub fn of(typed: Vec<OsString>, command: &clap::Command) -> Result<Self, Failure> {
        let with_run = bare_race::with_run(typed.clone(), command);
        let is_short = with_run.len() > typed.len();
        let (words, use_of_plan) = plan::taken_out(with_run.into_iter());
        Ok(Self {
            typed,
            is_short,
            use_of_plan,
            parsed: bench::passed_on(normalise::normalise(words.into_iter())),
        })
    }
}

impl RaceCommand {
    pub fn run(self, words: &Words, command: &clap::Command) -> ExitCode {
        code(match self {
            Self::Run(mut args) => {
                if words.is_short
                    && let Some(word) = bare_race::bare_word(&words.typed, &args.commands)
                {
                    return usage_error::no_command(word, command).report().into();
                }
                args.use_of_plan = words.use_of_plan;
                run::run(*args)
            }
            Self::Bench(mut args) => {
                args.options.use_of_plan = words.use_of_plan;
                bench::bench(*args)
            }
            Self::Rev(mut args) => {
                args.race.options.use_of_plan = words.use_of_plan;
                rev::rev(*args)
            }
            Self::Load(mut args) => {
                args.options.use_of_plan = words.use_of_plan;
                load::load(*args)
            }
            Self::Bisect(args) => deadheat_bisect::bisect(*args),
        })
    }
}

impl PlanCommand {
    pub fn run(self) -> ExitCode {
        code(match self {
            Self::Plan(args) => plan::plan(&args),
            Self::Pack(args) => pack::pack(&args),
        })
    }
}

impl MachineCommand {
    pub fn run(self) -> ExitCode {
        code(match self {
            Self::Explain(args) => deadheat_explain::explain(&args),
            Self::Doctor(args) => doctor::doctor(&args),
            Self::Calibrate(args) => calibrate::calibrate(&args),
            Self::Clean(args) => clean::clean(&args),
            Self::Link(args) => return link::link(&args).into(),
        })
    }
}

impl HiddenCommand {
    pub fn run(self) -> ExitCode {
        code(match self {
            Self::Placements(args) => link::placements(&args),
            Self::LoadWorker(args) => deadheat_load::work(&args),
        })
    }
}
