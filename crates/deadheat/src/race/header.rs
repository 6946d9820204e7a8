//! The header of a run beside its plan: the tool, the machine and the programs.

#[cfg(feature = "commands")]
use {
    deadheat_engine::{boot, contents, scripts_and_input},
    deadheat_model::{Hooks, Program, Workload},
    std::path::{Path, PathBuf},
};

use deadheat_engine::{machine, unix_seconds};
use deadheat_model::{Commit, Conditions, Environment, Metric, Origin, Plan, RunHeader};

use super::session::PlanUse;

/// The header of a race that begins now, by this version of deadheat.
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

/// The facts of this machine with what a race of this plan tells beside: its calibration; the name of
/// the machine where the sides are commits, as a history of these tells machines apart; and, where
/// the plan is a part of a race or is written down for other machines, what tells a host apart, its
/// conditions, and what the programs hold.
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

/// The programs of a plan, their scripts and their inputs, each by its name and the SHA-256 of its
/// content on this machine; without a digest if a hook has yet to build the program.
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
        let found = contents(&files.program, &files.arguments);
        if found.is_empty() && files.has_hooks {
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

/// The files that a contender starts.
#[cfg(feature = "commands")]
#[derive(PartialEq)]
pub(super) struct StartedFiles {
    pub(super) program: PathBuf,
    /// The files among its arguments that decide what it does, and its input. Empty if it has hooks,
    /// because they may write these files.
    pub(super) arguments: Vec<PathBuf>,
    /// True if hooks run around its launches. They may build the program, which is then missing
    /// before the race.
    has_hooks: bool,
}

/// The files of every contender of a plan that starts a program.
#[cfg(feature = "commands")]
pub(super) fn programs_of(plan: &Plan) -> impl Iterator<Item = StartedFiles> {
    fn started(program: &Program) -> StartedFiles {
        StartedFiles {
            program: program.executable.clone(),
            arguments: program.arguments.iter().map(PathBuf::from).collect(),
            has_hooks: false,
        }
    }
    let contenders = plan.benchmarks.iter().flat_map(|one| &one.contenders);
    contenders.filter_map(|contender| match &contender.workload {
        Workload::Command(command) => {
            let has_hooks = command.hooks != Hooks::default();
            let arguments = (!has_hooks).then(|| scripts_and_input(command));
            Some(StartedFiles {
                program: command.program()?,
                arguments: arguments.unwrap_or_default(),
                has_hooks,
            })
        }
        Workload::Worker(calls) => Some(started(&calls.program)),
        Workload::Harness(calls) => Some(started(&calls.program)),
        Workload::Function(_) | Workload::Recording => None,
    })
}
