//! The examples of races on clusters, each on a cluster of this one machine that is really started.
//! No test installs one: `.ci/run` does, and `just fleet` says how.

mod common;

use std::path::Path;
use std::process::Command;

use common::{Finished, said};
use deadheat_testing::skip;

/// Returns whether a command ends well.
fn works(program: &str, args: &[&str]) -> bool {
    let done = Command::new(program).args(args).output();
    done.is_ok_and(|done| done.status.success())
}

/// Has an example try itself out with the program of the tests.
fn tried(example: &str) -> Finished {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let script = repository
        .join("examples/fleet")
        .join(example)
        .join("try.sh");
    let program = Path::new(env!("CARGO_BIN_EXE_deadheat"));
    let done = Command::new(script).arg(program.parent().unwrap()).output();
    Finished::from(done.unwrap())
}

#[test]
fn a_slurm_array_whose_task_is_killed_and_requeued_is_merged_whole() {
    if !works("slurmctld", &["-V"]) {
        skip!("Slurm (slurm-wlm) is not here");
        return;
    }
    if !works("sh", &["-c", "[ \"$(id -u)\" -eq 0 ]"]) {
        skip!("Slurm is started by root alone");
        return;
    }
    let done = tried("slurm");
    done.succeeds();
    assert!(said(&done).contains("merged: 80 blocks"), "{done:?}");
}

#[test]
fn a_ray_cluster_whose_worker_is_killed_races_all_parts() {
    let python = std::env::var("RAY_PYTHON").unwrap_or_default();
    if !works(&python, &["-c", "import ray"]) {
        skip!("RAY_PYTHON names no Python that has Ray");
        return;
    }
    let done = tried("ray");
    done.succeeds();
    assert!(said(&done).contains("merged: 160 blocks"), "{done:?}");
}
