//! Runs programs under callgrind, which counts every instruction.

use deadheat::parts::engine::{
    Interrupts, LaunchFolder, NumberedFile, Valgrind, callgrind_dumps, valgrind_logs,
};

use crate::run_error::{ProfileError, Under};
use crate::run_program::Program;

/// Functions that copy the process. callgrind writes and resets its counts before each of them,
/// because the copy would otherwise include the earlier counts.
const FORKS: [&str; 4] = ["fork", "_Fork", "__libc_fork", "vfork"];

/// Phrases in Valgrind's log about an instruction that it does not know.
const UNKNOWN: [&str; 2] = ["unhandled instruction bytes:", "Unrecognised instruction"];

/// Returns the options that make callgrind count the whole program.
pub(crate) fn everything() -> Vec<String> {
    let dumps = FORKS.iter().map(|name| format!("--dump-before={name}"));
    dumps.collect()
}

/// Returns the options that make callgrind count only the function of a Google Benchmark benchmark.
pub(crate) fn below_benchmark(benchmark: &str) -> Vec<String> {
    let functions = functions_of(benchmark).into_iter();
    let toggles = functions.map(|name| format!("--toggle-collect={name}"));
    toggles.collect()
}

/// Runs a program once, and returns the counts of all its processes as callgrind wrote them.
pub(crate) fn count(
    valgrind: &Valgrind,
    program: Program,
    collect: Vec<String>,
    interrupts: &Interrupts,
) -> Result<Vec<NumberedFile>, ProfileError> {
    let folder = LaunchFolder::new().map_err(ProfileError::Folder)?;
    let arguments = valgrind.arguments(&folder, collect);
    let ended = program.run_under(valgrind.program(), arguments, &[], interrupts)?;
    if ended.captured.ending.is_some()
        && let Some(unknown) = unknown_instruction(valgrind, &ended.name, &folder)
    {
        return Err(unknown);
    }
    ended.check(Under::Valgrind)?;
    callgrind_dumps(&folder).map_err(ProfileError::Folder)
}

/// Returns the error about an unknown instruction if Valgrind's logs in the folder contain it.
pub(crate) fn unknown_instruction(
    valgrind: &Valgrind,
    program: &str,
    folder: &LaunchFolder,
) -> Option<ProfileError> {
    let logs = valgrind_logs(folder).ok()?;
    let mut lines = logs.iter().flat_map(|log| log.text.lines());
    let line = lines.find(|line| UNKNOWN.iter().any(|words| line.contains(words)))?;
    let bytes = line.split_once(UNKNOWN[0]).map(|(_, bytes)| bytes.trim());
    Some(ProfileError::UnknownInstruction {
        program: program.to_owned(),
        bytes: bytes.map(str::to_owned),
        valgrind: valgrind.version().to_owned(),
    })
}

/// Returns patterns for the possible names of a Google Benchmark benchmark's function: a plain
/// function, one in a namespace, a template, or a method of a fixture.
fn functions_of(benchmark: &str) -> Vec<String> {
    let mut parts = benchmark.split('/');
    let name = parts.next().unwrap_or_default();
    let family = name.split('<').next().unwrap_or_default();
    let mut functions = vec![
        format!("{family}(benchmark::State&*"),
        format!("*::{family}(benchmark::State&*"),
        format!("* {family}<*>(benchmark::State&*"),
    ];
    functions.extend(
        parts.next().map(|method| {
            format!("*{family}_{method}_Benchmark::BenchmarkCase(benchmark::State&*")
        }),
    );
    functions
}

#[cfg(test)]
mod tests {
    use super::functions_of;

    #[test]
    fn a_benchmark_of_google_benchmark_may_be_a_function_a_template_or_a_method() {
        assert_eq!(
            functions_of("BM_sum<int>/64"),
            [
                "BM_sum(benchmark::State&*",
                "*::BM_sum(benchmark::State&*",
                "* BM_sum<*>(benchmark::State&*",
                "*BM_sum_64_Benchmark::BenchmarkCase(benchmark::State&*",
            ]
        );
    }
}
