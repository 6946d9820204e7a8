//! The header of a run beside its plan: the tool, the machine and the programs.

#[cfg(feature = "commands")]
use {
    deadheat_engine::{boot, contents},
    deadheat_model::{Program, Workload},
    std::path::PathBuf,
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
    if plan.design.shard.is_some() || use_of_plan == PlanUse::Save {
        return Environment {
            boot: boot(),
            conditions: conditions.clone(),
            programs: contents_of_programs(plan),
            ..here
        };
    }
    here
}

/// The programs of a plan, each by its name and the SHA-256 of what it holds here.
#[cfg(feature = "commands")]
pub(super) fn contents_of_programs(plan: &Plan) -> Vec<(String, String)> {
    let mut programs: Vec<(String, String)> = Vec::new();
    let mut seen: Vec<(PathBuf, &[String])> = Vec::new();
    for files in programs_of(plan) {
        if seen.contains(&files) {
            continue;
        }
        let (program, arguments) = &files;
        for (file, digest) in contents(program, arguments) {
            let name = file.file_name().unwrap_or(file.as_os_str());
            programs.push((name.to_string_lossy().into_owned(), digest));
        }
        seen.push(files);
    }
    programs
}

/// The program of every contender of a plan that starts one, with those of its arguments that may
/// name files of the program.
#[cfg(feature = "commands")]
pub(super) fn programs_of(plan: &Plan) -> impl Iterator<Item = (PathBuf, &[String])> {
    fn started(program: &Program) -> (PathBuf, &[String]) {
        (program.executable.clone(), &program.arguments)
    }
    let contenders = plan.benchmarks.iter().flat_map(|one| &one.contenders);
    contenders.filter_map(|contender| match &contender.workload {
        // What a command is given may be what it writes.
        Workload::Command(command) => Some((command.program()?, &[][..])),
        Workload::Worker(calls) => Some(started(&calls.program)),
        Workload::Harness(calls) => Some(started(&calls.program)),
        Workload::Function(_) | Workload::Recording => None,
    })
}
