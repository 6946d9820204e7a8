//! A launch of an executable of Google Benchmark under a profiler, for one benchmark.

use std::process::Stdio;
use std::time::Duration;

use deadheat_model::{ExitPolicy, HarnessCalls};

use super::perf::Perf;
use crate::contender::{VARIABLES, filter, startable};
use crate::interrupt::Interrupts;
use crate::valgrind::{Collect, Counted, Dump, ProfileError, Valgrind};

/// The length of a launch of Google Benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchLength {
    /// So many iterations, which releases from 1.8 on understand.
    Iterations(u64),
    /// As few as there can be: one, unless the benchmark itself says how many.
    Shortest,
}

/// The words of a launch.
struct Launch {
    program: String,
    arguments: Vec<String>,
}

impl Launch {
    fn of(calls: &HarnessCalls, iterations: LaunchLength) -> Self {
        let length = match iterations {
            LaunchLength::Iterations(count) => format!("{count}x"),
            LaunchLength::Shortest => "0.000000001".to_owned(),
        };
        let mut arguments = calls.program.arguments.clone();
        arguments.extend([
            format!("--benchmark_filter={}", filter(&calls.benchmark)),
            "--benchmark_repetitions=1".to_owned(),
            format!("--benchmark_min_time={length}"),
        ]);
        let program = startable(&calls.program.executable);
        Self {
            program: program.to_string_lossy().into_owned(),
            arguments,
        }
    }

    fn counted<'a>(&'a self, calls: &'a HarnessCalls, patience: Option<Duration>) -> Counted<'a> {
        Counted {
            program: &self.program,
            arguments: &self.arguments,
            directory: calls.program.directory.as_deref(),
            hidden: &VARIABLES,
            stdin: Stdio::null(),
            patience,
            policy: &ExitPolicy::ZeroOnly,
        }
    }
}

impl Perf {
    /// Launches an executable of Google Benchmark for one benchmark and so many iterations, and
    /// returns the instructions, or the nanoseconds on processors, of the launch.
    pub fn measure_launch(
        &self,
        calls: &HarnessCalls,
        iterations: u64,
        patience: Option<Duration>,
        interrupts: &Interrupts,
    ) -> Result<u64, ProfileError> {
        let launch = Launch::of(calls, LaunchLength::Iterations(iterations));
        self.measure(launch.counted(calls, patience), interrupts)
    }

    /// Launches it once more, and returns the samples of the launch, one in each period.
    pub fn sample_launch(
        &self,
        calls: &HarnessCalls,
        iterations: u64,
        period: u64,
        patience: Option<Duration>,
        interrupts: &Interrupts,
    ) -> Result<Dump, ProfileError> {
        let launch = Launch::of(calls, LaunchLength::Iterations(iterations));
        self.sample(launch.counted(calls, patience), period, interrupts)
    }
}

impl Valgrind {
    /// Launches an executable of Google Benchmark for one benchmark and so many iterations. Only what
    /// runs below the benchmark's function is counted if `below` it.
    pub fn count_launch(
        &self,
        calls: &HarnessCalls,
        iterations: LaunchLength,
        below: bool,
        patience: Option<Duration>,
        interrupts: &Interrupts,
    ) -> Result<Vec<Dump>, ProfileError> {
        let launch = Launch::of(calls, iterations);
        let counted = launch.counted(calls, patience);
        let functions = functions_of(&calls.benchmark);
        let collect = if below {
            Collect::Below(&functions)
        } else {
            Collect::Everything
        };
        self.count(counted, collect, interrupts)
    }
}

/// The names of the function that a benchmark of Google Benchmark may be: a plain one, one in a
/// namespace, a template, or a method of a fixture.
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
