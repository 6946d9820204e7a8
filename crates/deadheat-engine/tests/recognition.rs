//! Tests how the harness of a program is recognised: only output that no other program prints
//! identifies it.
#![cfg(feature = "commands")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use deadheat_engine::{HarnessListing, Inspected, Interrupts, WorkerProgram, inspect};
use deadheat_model::Harness;
use deadheat_testing::needs;

/// Returns the kind of the program that deadheat detects, or the error message.
fn inspected(executable: &Path, arguments: &[&str]) -> Result<Inspected, String> {
    let program = WorkerProgram {
        executable: executable.to_owned(),
        arguments: arguments.iter().map(Into::into).collect(),
        directory: None,
        shown: false,
    };
    let interrupts = Interrupts::install().unwrap();
    let patience = Some(Duration::from_secs(60));
    inspect(&program, None, patience, &interrupts).map_err(|error| error.to_string())
}

/// Returns the benchmarks of an executable, which must be recognised as Google Benchmark.
#[track_caller]
fn google_benchmarks(executable: &Path, arguments: &[&str]) -> Vec<String> {
    match inspected(executable, arguments) {
        Ok(Inspected::Harness(HarnessListing {
            harness: Harness::GoogleBenchmark,
            names,
            known_as,
        })) => {
            assert_eq!(names, known_as);
            names
        }
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn compiled(compiler: &str, source: &Path, executable: &Path, words: &[&str]) {
    let status = Command::new(compiler)
        .args([Path::new("-o"), executable, source])
        .args(words)
        .status();
    assert!(status.unwrap().success());
}

/// Shell scripts that use no harness, each with a part of the expected error message.
const SCRIPTS: [(&str, &str); 10] = [
    ("echo 'parse: 12 ms'", "it prints 'parse: 12 ms'"),
    ("echo parse; echo render", "it prints 'parse | render'"),
    (
        r#"printf '%s\n' "$@""#,
        "it prints '--benchmark_list_tests=true'",
    ),
    (
        r#"echo "usage: bench [--fast]; $1 is unknown""#,
        "it prints 'usage: bench [--fast]; --benchmark_list_tests=true is unknown'",
    ),
    // The words of Google Benchmark, but not with the filter that deadheat requested.
    (
        "echo sum; echo 'Failed to match any benchmarks against regex: .' >&2",
        "standard error ends: Failed to match any benchmarks against regex: .",
    ),
    (
        r#"echo "no match: $*" >&2"#,
        "its standard error ends: no match: --benchmark_list_tests=true",
    ),
    (
        r#"echo "error: unexpected argument '$1' found"; exit 2"#,
        "exit code 2",
    ),
    (
        r#"echo "error: unexpected argument '$*' found" >&2; exit 2"#,
        "such as libtest",
    ),
    // A program that accepts some of the options of criterion and divan.
    (
        r#"case $1 in --help) echo "$0 --sample-size N --measurement-time N --max-time N --list";;
            *) echo "error: unexpected argument '$1' found" >&2; exit 1;; esac"#,
        "such as libtest",
    ),
    // A program that uses argparse but not pyperf.
    (
        r#"case $1 in --help) echo "usage: bench.py [-h] [--loops N] [--worker]";;
            *) echo "bench.py: error: unrecognized arguments: $1" >&2; exit 2;; esac"#,
        "=true; deadheat asked for its benchmarks with the argument --benchmark_list_tests=true\nhelp: ",
    ),
];

#[test]
fn programs_that_print_their_own_words_are_of_no_harness() {
    let folder = tempfile::tempdir().unwrap();
    for (index, (script, told)) in SCRIPTS.into_iter().enumerate() {
        let file = folder.path().join(format!("{index}.sh"));
        fs::write(&file, script).unwrap();
        let file = file.to_str().unwrap();
        let message = inspected(Path::new("/bin/sh"), &[file]).unwrap_err();
        assert!(message.contains(told), "{script}: {message}");
        assert!(message.contains("docs/suites.md"), "{script}: {message}");
    }
}

/// A program that answers like criterion 0.5.1, whose command line has no `--help` and no error
/// messages of clap.
const CRITERION_0_5: &str = r#"
case " $* " in
    *" --benchmark_list_tests"* | *" --help "* | *" --loops"*)
        echo 'error: unexpected argument found' >&2
        exit 2 ;;
    *" --list --format terse "*) printf 'add: benchmark\nmul: benchmark\n' ;;
esac"#;

#[test]
fn recognises_criterion_0_5_which_has_no_help() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bench.sh");
    fs::write(&file, CRITERION_0_5).unwrap();
    match inspected(Path::new("/bin/sh"), &[file.to_str().unwrap()]) {
        Ok(Inspected::Harness(listing)) => {
            assert_eq!(listing.harness, Harness::Criterion);
            assert_eq!(listing.names, ["add", "mul"]);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_program_that_rejects_the_options_of_criterion_is_of_no_harness() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bench.sh");
    let script = r#"case " $* " in *" --save-baseline "*) ;; *" --list "*) echo 'a: benchmark' ;; esac
        echo 'error: unexpected argument found' >&2
        exit 2"#;
    fs::write(&file, script).unwrap();
    let message = inspected(Path::new("/bin/sh"), &[file.to_str().unwrap()]).unwrap_err();
    assert!(message.contains("docs/suites.md"), "{message}");
}

#[test]
fn a_main_in_c_that_times_by_hand_is_of_no_harness_and_its_words_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let (source, executable) = (folder.path().join("main.c"), folder.path().join("main"));
    fs::write(
        &source,
        r#"#include <stdio.h>
int main(int count, char **words)
{
    for (int i = 1; i < count; i++)
        printf("ignored: %s\n", words[i]);
    printf("parse: 12 ms\nrender: 7 ms\n");
}
"#,
    )
    .unwrap();
    compiled("cc", &source, &executable, &[]);
    let message = inspected(&executable, &[]).unwrap_err();
    for told in [
        "it prints 'ignored: --benchmark_list_tests=true | parse: 12 ms | render: 7 ms'",
        "help: deadheat run OLD NEW races whole executions",
    ] {
        assert!(message.contains(told), "{message}");
    }
}

/// Benchmarks with user-defined counters, with the library's `main` or one that prints a greeting,
/// rejects unknown options, and exits with code 1 if no benchmark ran.
const BENCHMARKS: &str = r#"#include <benchmark/benchmark.h>
#include <cstdio>
static void sum(benchmark::State &state)
{
    for (auto _ : state)
        benchmark::DoNotOptimize(state.range(0));
    state.counters["things"] = 3;
}
BENCHMARK(sum)->Arg(8)->Arg(64);
BENCHMARK(sum)->Name("odd name: 12 ms")->Arg(1);
#ifdef OWN_MAIN
int main(int count, char **words)
{
    std::printf("benchmarks of the parser\n\n");
    benchmark::Initialize(&count, words);
    if (benchmark::ReportUnrecognizedArguments(count, words))
        return 1;
    return benchmark::RunSpecifiedBenchmarks() == 0;
}
#else
BENCHMARK_MAIN();
#endif
"#;

#[test]
fn executables_of_google_benchmark_are_known_by_their_answer_whatever_their_main() {
    needs!("benchmark/benchmark.h", "g++");
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("benchmarks.cpp");
    fs::write(&source, BENCHMARKS).unwrap();
    let all = ["sum/8", "sum/64", "odd name: 12 ms/1"];
    for main in ["-ULIBRARY_MAIN", "-DOWN_MAIN"] {
        let executable: PathBuf = folder.path().join(main);
        let words = [main, "-lbenchmark", "-lpthread"];
        compiled("c++", &source, &executable, &words);
        assert_eq!(google_benchmarks(&executable, &[]), all, "{main}");
        // A filter of the user selects names but does not prevent the recognition.
        let chosen = google_benchmarks(&executable, &["--benchmark_filter=sum/64"]);
        assert_eq!(chosen, ["sum/64"], "{main}");
        let refused = inspected(&executable, &["--no-such-flag"]).unwrap_err();
        assert!(
            refused.contains("unrecognized command-line flag"),
            "{refused}"
        );
    }
}

#[test]
fn the_parts_of_a_go_benchmark_are_found_although_its_first_run_broke_off() {
    let folder = tempfile::tempdir().unwrap();
    let ran = folder.path().join("ran");
    let script = format!(
        "case \"$*\" in\n\
         *benchmark_list_tests*) printf '  -test.run\\n  -test.timeout\\n  -test.v\\n' >&2; exit 2;;\n\
         *--help*) printf '  -test.run\\n  -test.timeout\\n  -test.v\\n' >&2; exit 2;;\n\
         *test.list*) printf 'BenchmarkA\\nBenchmarkB\\nok\\n'; exit 0;;\n\
         *'(BenchmarkA)'*) printf 'BenchmarkA\\nBenchmarkA/x\\nBenchmarkA/y\\n'; exit 0;;\n\
         *'(BenchmarkB)'*) printf 'BenchmarkB\\n'; exit 0;;\n\
         esac\n\
         touch {0}; printf 'BenchmarkA\\nBenchmarkA/x\\n'; kill -9 $$\n",
        ran.display()
    );
    let file = folder.path().join("x.sh");
    fs::write(&file, script).unwrap();
    match inspected(Path::new("/bin/sh"), &[file.to_str().unwrap()]) {
        Ok(Inspected::Harness(listing)) => {
            assert_eq!(listing.harness, Harness::Go);
            let expected = ["BenchmarkA/x", "BenchmarkA/y", "BenchmarkB"];
            assert_eq!(listing.names, expected);
        }
        other => panic!("{other:?}"),
    }
    assert!(ran.exists());
}
