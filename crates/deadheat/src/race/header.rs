//! Makes the header of a run: the version of deadheat, the machine and the programs, in addition to
//! the plan.

#[cfg(feature = "commands")]
use {
    deadheat_engine::{boot, contents, files_of_hooks, find_executable, scripts_and_input},
    deadheat_model::{Hooks, Program, Workload},
    std::path::{Path, PathBuf},
};

use deadheat_engine::{machine, unix_seconds};
use deadheat_model::{Commit, Conditions, Environment, Metric, Origin, Plan, RunHeader};

use crate::settings::PlanUse;

pub(super) fn header(
    plan: Plan,
    environment: Environment,
    command: &[String],
    metrics: &[Metric],
    tick_ns: f64,
) -> RunHeader {
    RunHeader {
        command: command.to_vec(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: unix_seconds(),
        origin: Origin::Race,
        environment,
        metrics: metrics.to_vec(),
        tick_ns: Some(tick_ns),
        left_out: Vec::new(),
        plan,
    }
}

/// Adds to `here` the facts that a race of this plan records: the calibration of the machine and
/// the digests of the programs. If the sides are commits, adds the commits, and the id of the
/// machine, which the history of benchmarks needs. If the plan is a part of a race, or is saved for
/// other machines, adds the boot id, and the limits and disturbances of this machine.
#[cfg_attr(
    not(feature = "commands"),
    expect(unused_variables, reason = "nothing is raced in parts")
)]
pub(super) fn environment_of(
    here: Environment,
    plan: &Plan,
    commits: &[Commit],
    use_of_plan: PlanUse,
    conditions: &Conditions,
) -> Environment {
    #[cfg(feature = "reports")]
    let here = Environment {
        calibration: super::known_calibration::known(&here, plan),
        ..here
    };
    let here = if commits.is_empty() {
        here
    } else {
        Environment {
            machine: machine(&here).id,
            commits: commits.to_vec(),
            ..here
        }
    };
    #[cfg(feature = "commands")]
    let here = Environment {
        programs: contents_of_programs(plan),
        ..here
    };
    #[cfg(feature = "commands")]
    if plan.design.shard.is_some() || use_of_plan == PlanUse::Save {
        return Environment {
            boot: boot(),
            conditions: conditions.clone(),
            ..here
        };
    }
    here
}

/// Returns the programs of a plan, their scripts and their input files, each as its name and the
/// SHA-256 of its content on this machine. The digest is empty if the program does not exist yet
/// because a hook builds it.
#[cfg(feature = "commands")]
pub(super) fn contents_of_programs(plan: &Plan) -> Vec<(String, String)> {
    let mut programs: Vec<(String, String)> = Vec::new();
    let mut seen: Vec<StartedFiles> = Vec::new();
    for files in programs_of(plan) {
        if seen.contains(&files) {
            continue;
        }
        let name = |file: &Path| {
            let name = file.file_name().unwrap_or(file.as_os_str());
            name.to_string_lossy().into_owned()
        };
        let found = contents(&files.program, &files.read);
        let has_program = found.iter().any(|(file, _)| !files.read.contains(file));
        if !has_program && files.has_hooks {
            programs.push((name(&files.program), String::new()));
        }
        programs.extend(
            found
                .iter()
                .map(|(file, digest)| (name(file), digest.clone())),
        );
        seen.push(files);
    }
    programs
}

/// The program that a contender starts, and the files that the program reads.
#[cfg(feature = "commands")]
#[derive(PartialEq)]
pub(super) struct StartedFiles {
    pub(super) program: PathBuf,
    /// The scripts among the arguments of the contender, and its input file. If the contender has
    /// hooks, only the files of its hooks, because the hooks may write the other files.
    pub(super) read: Vec<PathBuf>,
    /// True if the contender has hooks. A hook may build the program, which is then missing before
    /// the race.
    has_hooks: bool,
}

/// Returns the executable of a server under load, and the files that its command names.
#[cfg(feature = "commands")]
fn files_of_server(program: &Program) -> Vec<PathBuf> {
    let words = program
        .server()
        .and_then(|server| shell_words::split(server).ok());
    let words = words.unwrap_or_default().into_iter().enumerate();
    let folder = program.directory.clone().unwrap_or_default();
    let paths = words.filter_map(|(place, word)| match place == 0 && !word.contains('/') {
        true => find_executable(&word),
        false => Some(folder.join(word)),
    });
    paths.filter(|path| path.is_file()).collect()
}

#[cfg(feature = "commands")]
pub(super) fn programs_of(plan: &Plan) -> impl Iterator<Item = StartedFiles> {
    fn started(program: &Program) -> StartedFiles {
        let arguments = program.arguments.iter().map(PathBuf::from);
        StartedFiles {
            program: program.executable.clone(),
            read: arguments.chain(files_of_server(program)).collect(),
            has_hooks: false,
        }
    }
    let contenders = plan.benchmarks.iter().flat_map(|one| &one.contenders);
    contenders.filter_map(|contender| match &contender.workload {
        Workload::Command(command) => {
            let has_hooks = command.hooks != Hooks::default();
            Some(StartedFiles {
                program: command.program()?,
                read: match has_hooks {
                    true => files_of_hooks(command),
                    false => scripts_and_input(command),
                },
                has_hooks,
            })
        }
        Workload::Worker(calls) => Some(started(&calls.program)),
        Workload::Harness(calls) => Some(started(&calls.program)),
        Workload::Function(_) | Workload::Recording => None,
    })
}
