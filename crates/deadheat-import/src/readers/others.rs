//! Recognises files of other tools that are not supported, by their typical content, to tell the
//! user which file to give instead.

use deadheat_model::HELP;

use super::json::contains;

struct Unread {
    /// Texts that every file of this kind contains.
    signs: &'static [&'static str],
    kind: &'static str,
    /// Advice that names the file to give to deadheat instead.
    instead: &'static str,
}

const ONE_TIME: &str =
    "one execution cannot be compared: deadheat run OLD NEW races the two commands";
const TIDY: &str = "write its samples as tidy CSV (benchmark,contender,replicate,wall_ns)";
const CRITERION: &str = "give the folder target/criterion";
const GOOGLE: &str = "record with --benchmark_out=FILE --benchmark_out_format=json";
const HYPERFINE: &str = "record with --export-json FILE";
const JMH: &str = "record with -rf json -rff FILE";
const DOTNET: &str = "record with --exporters fulljson, and give the file *-report-full.json";
const PYTEST: &str = "record with --benchmark-json=FILE";
const VITEST: &str = "record with vitest bench --outputJson FILE, in Vitest 5 with vitest bench \
                      --reporter=json --outputFile FILE";
const MITATA: &str = "print JSON with run({ format: 'json' }) of mitata 1.0 or later";

const fn unread(
    signs: &'static [&'static str],
    kind: &'static str,
    instead: &'static str,
) -> Unread {
    Unread {
        signs,
        kind,
        instead,
    }
}

/// Maximum number of times that [`json`] searches a text.
pub(super) const MOST_SEARCHES: usize = 32;

/// Kinds of JSON, the most specific texts first.
const JSON: [Unread; 13] = [
    unread(
        &["\"BenchmarkTools\""],
        "the JSON of Julia's BenchmarkTools",
        TIDY,
    ),
    unread(
        &["\"BenchmarkGroup\""],
        "the JSON of Julia's BenchmarkTools",
        TIDY,
    ),
    unread(&["\"catch2-version\""], "the JSON of Catch2", TIDY),
    unread(
        &["\"benchmark-complete\""],
        "the messages of cargo-criterion",
        CRITERION,
    ),
    unread(
        &["\"callgrind_summary\""],
        "the summary of iai-callgrind",
        TIDY,
    ),
    unread(
        &["\"benches\"", "\"runtime\""],
        "the JSON of deno bench",
        TIDY,
    ),
    unread(
        &["\"warmup\"", "\"baseline\"", "\"async\""],
        "the JSON of mitata before 1.0",
        MITATA,
    ),
    unread(
        &["\"testResults\"", "\"rme\""],
        "the JSON of Vitest before 1.6",
        VITEST,
    ),
    unread(
        &["\"assertionResults\""],
        "a report of tests without benchmarks",
        VITEST,
    ),
    unread(&["\"hz\"", "\"rme\""], "the JSON of Benchmark.js", TIDY),
    unread(
        &["\"name\"", "\"unit\"", "\"value\""],
        "a list for trackers, with one value per benchmark",
        "give the file that it was made from",
    ),
    unread(
        &["\"latency\"", "\"value\""],
        "the JSON of Bencher, with one value per benchmark",
        "give the file that it was made from",
    ),
    unread(
        &["\"result_columns\""],
        "a list of asv",
        "give a file of results/MACHINE/",
    ),
];

/// Kinds of text other than JSON, and of binary files.
const TEXT: [Unread; 37] = [
    unread(
        &["torch.utils.benchmark"],
        "a pickle of torch.utils.benchmark",
        "load it in Python, and write `measurement.times` as tidy CSV \
         (benchmark,contender,replicate,wall_ns), or race the functions: deadheat.race(…, \
         device='cuda')",
    ),
    unread(
        &["Iterations", "Time", "CPU", "\nBenchmark "],
        "the console output of Google Benchmark",
        GOOGLE,
    ),
    unread(
        &["Benchmark ", " Time ", " CPU ", " Iterations"],
        "the console output of Google Benchmark",
        GOOGLE,
    ),
    unread(
        &["name,iterations,real_time,cpu_time"],
        "the CSV of Google Benchmark",
        GOOGLE,
    ),
    unread(
        &["command,mean,stddev,median,user"],
        "the CSV of hyperfine",
        HYPERFINE,
    ),
    unread(&["| Command ", "Mean ["], "a table of hyperfine", HYPERFINE),
    unread(
        &["Time (mean ", "Range (min "],
        "the console output of hyperfine",
        HYPERFINE,
    ),
    unread(
        &["Time (abs "],
        "the console output of hyperfine",
        HYPERFINE,
    ),
    unread(
        &["\"Benchmark\",\"Mode\",\"Threads\""],
        "the CSV of JMH",
        JMH,
    ),
    unread(
        &["Benchmark", "Mode", "Score", "Units"],
        "the text of JMH",
        JMH,
    ),
    unread(&["# JMH version"], "the text of JMH", JMH),
    unread(&["// * Summary *"], "the log of BenchmarkDotNet", DOTNET),
    unread(&["BenchmarkDotNet v"], "a text of BenchmarkDotNet", DOTNET),
    unread(
        &["Method", "Job", "Mean"],
        "a table of BenchmarkDotNet",
        DOTNET,
    ),
    unread(
        &["Method", "Mean", "Error", "StdDev"],
        "a table of BenchmarkDotNet",
        DOTNET,
    ),
    unread(
        &["Name (time in "],
        "the console output of pytest-benchmark",
        PYTEST,
    ),
    unread(
        &["fullname", "stddev", "rounds"],
        "the CSV of pytest-benchmark",
        PYTEST,
    ),
    unread(
        &["Mean +- std dev: "],
        "the text of pyperf",
        "record with -o FILE",
    ),
    unread(&["time:   ["], "the console output of criterion", CRITERION),
    unread(
        &["ns/iter (+/- "],
        "the console output of libtest",
        CRITERION,
    ),
    unread(&["Timer precision: "], "the console output of divan", TIDY),
    unread(
        &["fastest", "slowest", "median"],
        "the console output of divan",
        TIDY,
    ),
    unread(
        &["benchmark name", "samples", "iterations"],
        "the console output of Catch2",
        TIDY,
    ),
    unread(&["<Catch"], "the XML of Catch2", TIDY),
    unread(&["<BenchmarkResults"], "the XML of Catch2", TIDY),
    unread(
        &["ns/op", "err%"],
        "the console output of nanobench",
        "write the JSON of its template json()",
    ),
    unread(
        &["sec/op", "vs base"],
        "the output of benchstat",
        "give the files that it was made from",
    ),
    unread(
        &["BenchmarkTools.Trial"],
        "the console output of Julia's BenchmarkTools",
        TIDY,
    ),
    unread(
        &["ops/sec", "runs sampled", "min..max="],
        "the console output of bench-node",
        "print JSON with the reporter jsonReport",
    ),
    unread(
        &["(index)", "Task "],
        "the console output of tinybench",
        "save JSON.stringify(bench.table()), or the results of the tasks",
    ),
    unread(
        &["ops/sec", "runs sampled"],
        "the console output of Benchmark.js",
        TIDY,
    ),
    unread(
        &["hz", "rme", "p99", "samples"],
        "the console output of Vitest",
        VITEST,
    ),
    unread(
        &["Performance counter stats for"],
        "the console output of perf stat",
        "it has averages, but no samples: deadheat run OLD NEW races the two commands",
    ),
    unread(
        &["real\t", "\nuser\t", "\nsys\t"],
        "the output of time",
        ONE_TIME,
    ),
    unread(
        &["user ", "system ", "elapsed ", "%CPU"],
        "the output of time",
        ONE_TIME,
    ),
    unread(
        &["time/iter (avg)"],
        "the console output of deno bench",
        TIDY,
    ),
    unread(
        &["avg (min ", "p75"],
        "the console output of mitata",
        MITATA,
    ),
];

/// Returns the description of an unsupported kind of JSON, to follow the name of the file.
pub(super) fn json(text: &[u8]) -> Option<String> {
    of(&JSON, text)
}

/// Returns the description of an unsupported kind of text, to follow the name of the file.
pub(super) fn text(text: &[u8]) -> Option<String> {
    let beginning = text
        .get(..15.min(text.len()))
        .unwrap_or_default()
        .to_ascii_lowercase();
    if beginning.starts_with(b"<!doctype html") || beginning.starts_with(b"<html") {
        return Some(
            "is a web page, not a file of results\nhelp: download the raw file, not the page that \
             shows it"
                .to_owned(),
        );
    }
    if beginning.starts_with(b"sep=") {
        return Some(
            "begins with a line that sets the separator, for Excel\nhelp: begin it with the names \
             of the columns, separated by commas, as in tidy CSV"
                .to_owned(),
        );
    }
    of(&TEXT, text)
}

fn of(kinds: &[Unread], text: &[u8]) -> Option<String> {
    let all = |unread: &&Unread| {
        unread
            .signs
            .iter()
            .all(|sign| contains(text, sign.as_bytes()))
    };
    let Unread { kind, instead, .. } = kinds.iter().find(all)?;
    Some(format!(
        "is {kind}, which deadheat does not read{HELP}{instead}"
    ))
}
