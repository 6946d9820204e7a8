//! The plan as it is written into a run file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use deadheat_model::{
    Benchmark, BenchmarkOverrides, CommandLine, Contender, Design, ExitPolicy, FunctionCalls,
    GoogleBenchmarkCalls, Input, Json, Looks, Metric, Object, Output, OwnLink, Pinning, Plan,
    Program, RepetitionLength, Throughput, WorkerCalls, Workload,
};

use deadheat_model::column_name;

/// Everything of a plan but its seed, which stands beside it. `Err` gives back
/// a path that cannot be written on this system.
pub(super) fn plan(plan: &Plan) -> Result<Object, PathBuf> {
    let benchmarks: Result<Vec<Json>, PathBuf> = plan.benchmarks.iter().map(benchmark).collect();
    Ok(Object::new()
        .with("design", design(&plan.design))
        .with("benchmarks", benchmarks?))
}

fn design(design: &Design) -> Object {
    let pinning = match &design.pinning {
        Pinning::Inherit => "inherit".into(),
        Pinning::Auto => "auto".into(),
        Pinning::Cores(cores) => Json::tagged("cores", cores.iter().copied().collect::<Json>()),
    };
    Object::new()
        .with("margin", design.margin)
        .with("alpha", design.alpha)
        .with("looks", looks(&design.looks))
        .with("blocks_per_replicate", design.blocks_per_replicate)
        .with("warmup", design.warmup)
        .with("budget_ns", design.budget.map(nanoseconds))
        .with("judged", column_name(&design.judged).into_owned())
        .with("pinning", pinning)
}

fn looks(looks: &Looks) -> Object {
    Object::new()
        .with("at", looks.at.iter().copied().collect::<Json>())
        .with("levels", numbers(&looks.levels))
        .with("weights", numbers(&looks.weights))
}

fn benchmark(benchmark: &Benchmark) -> Result<Json, PathBuf> {
    // Pairs, not an object: their order is the order declared.
    let pair = |(name, value): &(String, String)| Json::from_iter([name, value]);
    let contenders: Result<Vec<Json>, PathBuf> =
        benchmark.contenders.iter().map(contender).collect();
    let throughput = benchmark.throughput.map(|throughput| match throughput {
        Throughput::Bytes(bytes) => Json::tagged("bytes", bytes),
        Throughput::Items(items) => Json::tagged("items", items),
    });
    let said = Object::new()
        .with("name", &benchmark.name)
        .with(
            "parameters",
            benchmark.parameters.iter().map(pair).collect::<Json>(),
        )
        .with("contenders", contenders?)
        // Absent where the last contender is no second copy of the baseline.
        .with_some("control", benchmark.control.then_some(true))
        // Absent where the number of the design holds.
        .with_some("blocks_per_replicate", benchmark.blocks_per_replicate)
        .with_some("throughput", throughput)
        // Absent but for a benchmark raced once more as the user linked it.
        .with_some("own_link", benchmark.own_link.map(own_link))
        // Absent where the columns of the run are all there are.
        .with_some("counters", counters(&benchmark.counters))
        // Absent where all is as the design has it.
        .with_some("rules", benchmark_overrides(&benchmark.overrides));
    Ok(said.into())
}

fn counters(counters: &[Metric]) -> Option<Json> {
    let columns = counters
        .iter()
        .map(|metric| column_name(metric).into_owned());
    (!counters.is_empty()).then(|| columns.collect())
}

fn benchmark_overrides(rules: &BenchmarkOverrides) -> Option<Object> {
    let level = rules.level.as_ref();
    let judged = rules.judged.as_ref();
    let said = Object::new()
        .with_some("margin", rules.margin)
        .with_some("alpha", level.map(|level| level.alpha))
        .with_some("looks", level.map(|level| looks(&level.looks)))
        .with_some(
            "judged",
            judged.map(|judged| column_name(judged).into_owned()),
        )
        .with_some("budget_ns", rules.budget.map(nanoseconds));
    (!rules.is_empty()).then_some(said)
}

fn own_link(own_link: OwnLink) -> Object {
    Object::new()
        // Its place in the plan, counted from 0.
        .with("of", own_link.of)
        .with("replicates", own_link.replicates)
}

/// What is launched or called; a recording has neither.
fn contender(contender: &Contender) -> Result<Json, PathBuf> {
    let named = Object::new().with("name", &contender.name);
    let said = match &contender.workload {
        Workload::Command(line) => named.with("command", command(line)?),
        Workload::Function(calls) => named.with("function", function(calls)),
        Workload::Worker(calls) => named.with("worker", worker(calls)?),
        Workload::GoogleBenchmark(calls) => {
            named.with("google_benchmark", google_benchmark(calls)?)
        }
        Workload::Recording => named,
    };
    Ok(said.into())
}

fn function(calls: &FunctionCalls) -> Object {
    Object::new()
        .with("iterations", calls.iterations)
        .with("threads", calls.threads)
}

fn program(program: &Program) -> Result<Object, PathBuf> {
    Ok(Object::new()
        .with("executable", path(&program.executable)?)
        .with("arguments", texts(&program.arguments)))
}

fn worker(worker: &WorkerCalls) -> Result<Object, PathBuf> {
    Ok(Object::new()
        .with("program", program(&worker.program)?)
        .with("process", worker.process)
        .with("benchmark", &worker.benchmark)
        .with("contender", &worker.contender)
        .with("iterations", worker.calls.iterations)
        .with("threads", worker.calls.threads))
}

fn google_benchmark(calls: &GoogleBenchmarkCalls) -> Result<Object, PathBuf> {
    let length = match calls.length {
        RepetitionLength::Iterations(iterations) => Json::tagged("iterations", iterations),
        RepetitionLength::Seconds(seconds) => Json::tagged("seconds", seconds),
        RepetitionLength::Own => "own".into(),
    };
    Ok(Object::new()
        .with("program", program(&calls.program)?)
        .with("benchmark", &calls.benchmark)
        .with("length", length)
        .with("repetitions", calls.repetitions)
        .with("threads", calls.threads))
}

fn command(command: &CommandLine) -> Result<Object, PathBuf> {
    let input = match &command.input {
        Input::Null => "null".into(),
        Input::File(file) => Json::tagged("file", path(file)?),
    };
    let output = match &command.output {
        Output::Null => "null".into(),
        Output::Pipe => "pipe".into(),
        Output::Inherit => "inherit".into(),
        Output::File(file) => Json::tagged("file", path(file)?),
        Output::Compared => "compared".into(),
    };
    let exit_policy = match &command.exit_policy {
        ExitPolicy::ZeroOnly => "zero-only".into(),
        ExitPolicy::Any => "any".into(),
        ExitPolicy::Also(codes) => Json::tagged("also", codes.iter().copied().collect::<Json>()),
    };
    let hook = |words: &Option<Vec<String>>| words.as_deref().map(texts);
    let hooks = Object::new()
        .with("setup", hook(&command.hooks.setup))
        .with("prepare", hook(&command.hooks.prepare))
        .with("conclude", hook(&command.hooks.conclude))
        .with("cleanup", hook(&command.hooks.cleanup));
    Ok(Object::new()
        .with("text", &command.text)
        .with("words", texts(&command.words))
        .with("input", input)
        .with("output", output)
        .with("timeout_ns", command.timeout.map(nanoseconds))
        .with("exit_policy", exit_policy)
        .with("hooks", hooks))
}

fn texts(texts: &[String]) -> Json {
    texts.iter().collect()
}

fn numbers(numbers: &[f64]) -> Json {
    numbers.iter().copied().collect()
}

/// Text where the path is Unicode, else its bytes in hexadecimal. `Err` gives
/// the path back when this system has no bytes to write.
pub(super) fn path(path: &Path) -> Result<Json, PathBuf> {
    if let Some(text) = path.to_str() {
        return Ok(text.into());
    }
    #[cfg(unix)]
    {
        use std::fmt::Write as _;
        use std::os::unix::ffi::OsStrExt;
        let mut hex = String::new();
        for byte in path.as_os_str().as_bytes() {
            write!(hex, "{byte:02x}").expect("a String takes every write");
        }
        Ok(Json::tagged("hex", hex))
    }
    #[cfg(not(unix))]
    Err(path.to_owned())
}

/// Nanoseconds; what exceeds 584 years is written as 584 years.
fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_very_long_duration_is_cut_and_not_wrapped() {
        assert_eq!(nanoseconds(Duration::MAX), u64::MAX);
        assert_eq!(nanoseconds(Duration::from_secs(2)), 2_000_000_000);
    }
}
