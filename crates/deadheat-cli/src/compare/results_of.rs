//! Results of a program that stands beside a file: it is run once, as
//! compare.py does.

use deadheat::engine::{Ended, run_beside_the_answer};
use deadheat::exit::Failure;
use deadheat::format::{TemporaryFile, read_results};
use deadheat::model::{Program, Results};
use deadheat::terminal::to_stderr;

/// Runs a Google Benchmark executable and reads what it measured. What it
/// prints goes to standard error: standard output is for the answer.
pub fn program(
    named: &str,
    program: &Program,
    filter: Option<&str>,
    quiet: bool,
) -> Result<Results, Failure> {
    let file = TemporaryFile::create_in(std::env::temp_dir())
        .map_err(|error| Failure::Internal(error.to_string()))?;
    let mut arguments = program.arguments.clone();
    arguments.extend(filter.map(|filter| format!("--benchmark_filter={filter}")));
    arguments.push(format!("--benchmark_out={}", file.path().display()));
    arguments.push("--benchmark_out_format=json".to_owned());
    if !quiet {
        to_stderr("RUNNING", &format!("{named} {}", arguments.join(" ")));
    }
    let failed = |what: String| Failure::Contender(format!("'{named}' {what}"));
    let arguments: Vec<_> = arguments.into_iter().map(Into::into).collect();
    let ended = run_beside_the_answer(program.executable.as_os_str(), &arguments)
        .map_err(|error| failed(format!("cannot be started: {error}")))?;
    match ended {
        Ended::Exited(0) => {}
        Ended::Exited(code) => return Err(failed(format!("exited with code {code}"))),
        Ended::Killed(signal) => return Err(failed(format!("was killed by signal {signal}"))),
    }
    let mut results = read_results(file.path()).map_err(|error| {
        failed(format!(
            "left no results ({error}); only Google Benchmark executables can stand beside a file"
        ))
    })?;
    named.clone_into(&mut results.source);
    Ok(results)
}
