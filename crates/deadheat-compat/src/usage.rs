//! What is said about the command line.

const OPTIONS: &str = "[-h] [-a] [--no-color] [-d FILE] [--no-utest] [--alpha ALPHA]";

/// The one line that stands above a mistake.
pub(crate) fn main(program: &str) -> String {
    format!("usage: {program} {OPTIONS} {{benchmarks,filters,benchmarksfiltered}} ...")
}

/// The one line that stands above a mistake in a mode.
pub(crate) fn mode(program: &str, mode: &str) -> String {
    let arguments = match mode {
        "benchmarks" => "BASELINE CONTENDER",
        "filters" => "FILE BASELINE_FILTER CONTENDER_FILTER",
        _ => "BASELINE BASELINE_FILTER CONTENDER CONTENDER_FILTER",
    };
    format!("usage: {program} {mode} [-h] {arguments} [BENCHMARK_OPTIONS]...")
}

/// The help of the program.
pub(crate) fn main_help(program: &str) -> String {
    format!(
        "{}

Compares results of Google Benchmark as its compare.py does.

modes:
  benchmarks BASELINE CONTENDER
  filters FILE BASELINE_FILTER CONTENDER_FILTER
  benchmarksfiltered BASELINE BASELINE_FILTER CONTENDER CONTENDER_FILTER

A file is an executable, which is run, or JSON that one has written. Whatever
follows is passed on to executables.

options:
  -h, --help            show this
  -a, --display_aggregates_only
                        print aggregates and U tests only
  --no-color            print no colours
  -d FILE, --dump_to_json FILE
                        also write the comparison to this file as JSON
  --no-utest            make no U test
  --alpha ALPHA         p-values from here on are printed red (default: 0.0500)
",
        main(program)
    )
}

/// The help of a mode.
pub(crate) fn mode_help(program: &str, mode: &str) -> String {
    let what = match mode {
        "benchmarks" => "Compares all benchmarks that two files have in common.",
        "filters" => "Compares two families of benchmarks in one file.",
        _ => "Compares a family of benchmarks in one file with a family in another.",
    };
    format!(
        "{}

{what}

A file is an executable, which is run, or JSON that one has written; a filter is
a regular expression. Whatever follows is passed on to executables.

options:
  -h, --help  show this
",
        self::mode(program, mode)
    )
}
