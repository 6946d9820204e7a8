//! Options of other benchmark tools that deadheat lacks, and what to use in their place.

/// A tool, its options, and the commands of deadheat that take the place of the tool.
struct Tool {
    name: &'static str,
    commands: &'static [&'static str],
    /// Options that have the same replacement, and that replacement.
    options: &'static [(&'static [&'static str], &'static str)],
}

const TOOLS: [Tool; 11] = [
    Tool {
        name: "hyperfine",
        commands: &["run"],
        options: &[
            (
                &["--style"],
                "--color never prints without colours, -q hides the progress",
            ),
            (
                &["--sort"],
                "commands keep their order, because the first is the baseline",
            ),
            (&["-u"], "--time-unit UNIT"),
            (
                &["--export-asciidoc", "--export-orgmode"],
                "--export-markdown FILE writes a table, --export-csv FILE every sample",
            ),
            (
                &["--reference-name"],
                "the first command is the baseline: name the reference first, and name it by -n",
            ),
            (
                &["--min-benchmarking-time"],
                "-m N sets the fewest launches, --budget TIME the most time",
            ),
            (&["--debug-mode"], "-v shows every metric and note"),
        ],
    },
    Tool {
        name: "Google Benchmark",
        commands: &["run", "rev", "bisect"],
        options: &[
            (
                &["--benchmark_filter"],
                "write the filter after the programs: deadheat bench ./old ./new FILTER",
            ),
            (
                &["--benchmark_repetitions"],
                "--max-replicates N limits the replicates of a race",
            ),
            (
                &["--benchmark_min_time", "--benchmark_min_warmup_time"],
                "deadheat bench passes it on to the programs",
            ),
            (
                &["--benchmark_format", "--benchmark_out_format"],
                "--json prints JSON, --format csv CSV",
            ),
            (&["--benchmark_out"], "--export-google-benchmark FILE"),
            (
                &[
                    "--benchmark_report_aggregates_only",
                    "--benchmark_display_aggregates_only",
                ],
                "leave it out: the answer has one line for each benchmark",
            ),
            (
                &["--benchmark_enable_random_interleaving"],
                "leave it out: deadheat races both programs in random blocks",
            ),
            (&["--benchmark_color"], "--color never"),
            (&["--benchmark_counters_tabular"], "-v shows counters"),
            (&["--benchmark_time_unit"], "--time-unit UNIT"),
            (
                &["--benchmark_list_tests"],
                "deadheat bench ./old ./new --list",
            ),
            (
                &["--benchmark_perf_counters"],
                "-v shows the hardware counters that the machine has",
            ),
            (
                &["--benchmark_context"],
                "-n names the commands, --save FILE records the machine",
            ),
            (
                &["--benchmark_dry_run"],
                "deadheat bench ./old ./new --list shows what would race",
            ),
        ],
    },
    Tool {
        name: "compare.py",
        commands: &["compare"],
        options: &[
            (
                &["-a"],
                "leave it out: the answer has one line for each benchmark",
            ),
            (
                &["--utest"],
                "leave it out: every answer has a confidence interval; --compat prints the test \
                 of compare.py",
            ),
        ],
    },
    Tool {
        name: "criterion",
        commands: &["run", "bench", "rev", "bisect"],
        options: &[
            (
                &["--save-baseline", "--load-baseline", "--discard-baseline"],
                "a race measures both sides at once, so no baseline is saved: deadheat rev BASE",
            ),
            (
                &["--nresamples"],
                "leave it out: the interval needs no resampling",
            ),
            (
                &["--plotting-backend"],
                "--plot draws in the terminal, --html FILE on a page",
            ),
            (
                &["--profile-time"],
                "deadheat explain -- OLD NEW shows where the time goes",
            ),
            (&["--output-format"], "--format text, csv, json or markdown"),
        ],
    },
    Tool {
        name: "criterion",
        commands: &["bench", "rev", "bisect"],
        options: &[(
            &["--warm-up-time"],
            "leave it out: deadheat warms up each process by itself",
        )],
    },
    Tool {
        name: "cargo bench",
        commands: &["bench", "run"],
        options: &[
            (
                &["--bench"],
                "deadheat bench races two programs: deadheat bench ./old ./new FILTER; cargo \
                 deadheat BASE --bench NAME races a bench target",
            ),
            (
                &["--benches"],
                "cargo deadheat BASE races all bench targets",
            ),
        ],
    },
    Tool {
        name: "benchstat",
        commands: &["compare", "analyze"],
        options: &[
            (&["-alpha"], "--alpha P"),
            (
                &["-col"],
                "deadheat compare filters FILE KEY=A KEY=B compares two values of a key; for \
                 two files: deadheat compare old.txt new.txt",
            ),
            (&["-row", "-table", "-split"], "each benchmark is a row"),
            (
                &["-ignore"],
                "leave it out: rows are paired by the names of benchmarks",
            ),
            (
                &["-delta-test"],
                "leave it out: deadheat has one test, that of its confidence interval, whose \
                 errors --alpha limits",
            ),
            (&["-sort"], "rows keep the order of the benchmarks"),
            (
                &["-geomean"],
                "leave it out: the last line of the answer is the geometric mean",
            ),
            (&["-norange"], "leave it out: every change has its interval"),
            (&["-format"], "--format text, csv, json or markdown"),
        ],
    },
    Tool {
        name: "go test",
        commands: &["run", "bench", "rev", "bisect"],
        options: &[
            (
                &["-bench"],
                "a test binary is a program with benchmarks: go test -c, then deadheat bench \
                 ./old.test ./new.test FILTER",
            ),
            (
                &["-benchtime"],
                "deadheat bench chooses the iterations of a test binary by itself",
            ),
            (
                &["-benchmem", "-memprofile"],
                "deadheat bench reads B/op and allocs/op if the benchmark reports them",
            ),
            (
                &["-count"],
                "deadheat chooses the number of launches; --max-replicates N limits it",
            ),
            (&["-cpu"], "set GOMAXPROCS for the program that is raced"),
            (
                &["-run"],
                "the tests do not run; FILTER chooses benchmarks: deadheat bench ./old.test \
                 ./new.test FILTER",
            ),
            (
                &["-tags"],
                "set GOFLAGS=-tags=NAMES in the environment of deadheat rev --go",
            ),
            (
                &["-race"],
                "set GOFLAGS=-race in the environment of deadheat rev --go",
            ),
            (
                &["-gcflags", "-ldflags"],
                "set GOFLAGS in the environment of deadheat rev --go",
            ),
            (
                &["-short", "-failfast", "-parallel", "-shuffle"],
                "write it after --, as in deadheat bench ./old.test ./new.test -- -test.short",
            ),
            (
                &["-cpuprofile", "-blockprofile", "-trace"],
                "deadheat explain -- OLD NEW shows where the time goes",
            ),
            (&["-list"], "deadheat bench ./old.test ./new.test --list"),
        ],
    },
    Tool {
        name: "JMH",
        commands: &["bench", "run"],
        options: &[
            (
                &["-f", "-i", "-wi", "-w"],
                "leave it out: deadheat bench old.jar new.jar chooses forks, iterations and \
                 warm-up; --max-replicates N limits the forks",
            ),
            (
                &["-bm"],
                "leave it out: deadheat bench measures the time of a call in each mode",
            ),
            (&["-tu"], "--time-unit UNIT"),
            (
                &["-rf", "-rff"],
                "--export-json FILE, or --format text, csv, json or markdown",
            ),
            (
                &["-prof"],
                "deadheat explain -- OLD NEW shows where the time goes",
            ),
            (&["-to"], "--timeout TIME"),
        ],
    },
    Tool {
        name: "pyperf",
        commands: &["bench", "rev"],
        options: &[
            (
                &["--rigorous", "--fast"],
                "--max-replicates N limits the replicates, --budget TIME the time",
            ),
            (
                &[
                    "--processes",
                    "--values",
                    "--warmups",
                    "--loops",
                    "--min-time",
                ],
                "leave it out: deadheat chooses processes, values and loops; --max-replicates N \
                 limits the processes",
            ),
            (
                &["--track-memory", "--tracemalloc"],
                "-v shows the peak memory",
            ),
            (
                &["--inherit-environ", "--copy-env"],
                "leave it out: programs get the whole environment",
            ),
        ],
    },
    Tool {
        name: "pytest-benchmark",
        commands: &["bench", "rev", "compare"],
        options: &[
            (
                &["--benchmark-compare"],
                "deadheat compare OLD.json NEW.json compares saved results",
            ),
            (
                &["--benchmark-compare-fail"],
                "--fail-on slower with --margin CHANGE",
            ),
            (
                &[
                    "--benchmark-save",
                    "--benchmark-autosave",
                    "--benchmark-save-data",
                    "--benchmark-storage",
                    "--storage",
                ],
                "--save FILE",
            ),
            (&["--benchmark-min-rounds"], "--max-replicates N"),
            (
                &["--benchmark-min-time", "--benchmark-max-time"],
                "--budget TIME limits the race; deadheat chooses the time of a sample",
            ),
            (
                &["--benchmark-warmup", "--benchmark-warmup-iterations"],
                "leave it out: deadheat warms up each process by itself",
            ),
            (
                &[
                    "--benchmark-calibration-precision",
                    "--benchmark-timer",
                    "--benchmark-disable-gc",
                ],
                "leave it out: deadheat chooses the clock and the calls per sample, and leaves \
                 the collector as the benchmark sets it",
            ),
            (
                &[
                    "--benchmark-only",
                    "--benchmark-skip",
                    "--benchmark-enable",
                    "--benchmark-disable",
                ],
                "leave it out: only benchmarks race",
            ),
            (
                &["--benchmark-columns", "--columns"],
                "leave it out: -v shows more figures and metrics",
            ),
            (
                &["--benchmark-group-by", "--group-by", "--benchmark-sort"],
                "leave it out: each benchmark is a row, paired by name with its other side",
            ),
            (
                &["--benchmark-name"],
                "leave it out: rows have the names of the tests",
            ),
            (
                &["--benchmark-histogram"],
                "--plot draws in the terminal, --html FILE on a page",
            ),
            (
                &["--benchmark-csv"],
                "--export-csv FILE writes every sample",
            ),
            (
                &["--benchmark-cprofile"],
                "deadheat explain -- OLD NEW shows where the time goes",
            ),
            (&["--benchmark-verbose"], "-v"),
            (&["--benchmark-quiet"], "-q"),
            (&["--benchmark-time-unit"], "--time-unit UNIT"),
            (&["--benchmark-json"], "--json, or --export-json FILE"),
        ],
    },
];

/// Returns the advice for an option that `command` lacks and another tool has.
pub fn advice(command: &str, option: &str) -> Option<String> {
    let option = option
        .split('=')
        .next()
        .filter(|option| option.starts_with('-'))?;
    let tools = TOOLS.iter().filter(|tool| tool.commands.contains(&command));
    for tool in tools {
        let mut options = tool.options.iter();
        if let Some((_, instead)) = options.find(|(names, _)| names.contains(&option)) {
            return Some(format!("for {option} of {}: {instead}", tool.name));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_of_the_tool_that_a_command_replaces_is_known() {
        let of_run = advice("run", "--style=basic").unwrap();
        assert!(of_run.starts_with("for --style of hyperfine: "), "{of_run}");
        assert!(
            advice("run", "-benchtime")
                .unwrap()
                .starts_with("for -benchtime of go test: ")
        );
        assert_eq!(advice("doctor", "--style"), None);
        assert_eq!(advice("run", "--nothing"), None);
    }

    #[test]
    fn no_option_is_listed_that_the_command_has() {
        let program = crate::program::command();
        for tool in TOOLS {
            for command in tool.commands {
                let Some(command) = program.find_subcommand(command) else {
                    panic!("there is no command {command}");
                };
                let longs = command.get_arguments().filter_map(|arg| arg.get_long());
                let longs: Vec<String> = longs.map(|long| format!("--{long}")).collect();
                for option in tool.options.iter().flat_map(|(names, _)| *names) {
                    let is_ours = longs.iter().any(|long| long == option);
                    assert!(!is_ours, "{}: {option}", command.get_name());
                    // A Go option with one dash differs in meaning from an option of that name with
                    // two.
                    if option.starts_with("--") {
                        let synonym = crate::synonyms::option(command, option);
                        assert_eq!(synonym, None, "{option} is in two lists");
                    }
                }
            }
        }
    }

    #[test]
    fn each_command_has_the_options_that_its_advice_names() {
        let program = crate::program::command();
        let mut lacking = Vec::new();
        for tool in TOOLS {
            for name in tool.commands {
                let command = program.find_subcommand(name).unwrap();
                let longs: Vec<_> = command
                    .get_arguments()
                    .filter_map(|arg| arg.get_long())
                    .collect();
                // Advice to use another command may name options of that command.
                let of_command = tool
                    .options
                    .iter()
                    .filter(|(_, advice)| !advice.contains("deadheat "));
                for (_, advice) in of_command {
                    let words = advice.split([' ', ',', ';', ':']);
                    let options = words.filter_map(|word| word.strip_prefix("--"));
                    let lacks = options.filter(|option| !longs.contains(option));
                    lacking
                        .extend(lacks.map(|option| format!("{name} lacks --{option}: {advice}")));
                }
            }
        }
        assert_eq!(lacking, [""; 0]);
    }
}
