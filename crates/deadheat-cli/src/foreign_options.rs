//! Options of other benchmark tools that deadheat lacks, and what to use in their place.

/// A tool, its options, and the commands of deadheat that take the place of the tool.
struct Tool {
    name: &'static str,
    commands: &'static [&'static str],
    /// Options, each with what to use in its place.
    options: &'static [(&'static str, &'static str)],
}

const TOOLS: [Tool; 7] = [
    Tool {
        name: "hyperfine",
        commands: &["run", "plan"],
        options: &[
            (
                "--style",
                "--color never prints without colours, -q hides the progress",
            ),
            (
                "--sort",
                "commands keep their order, because the first is the baseline",
            ),
            ("-u", "--time-unit UNIT"),
            (
                "--export-asciidoc",
                "--export-markdown FILE writes a table, --export-csv FILE every sample",
            ),
            (
                "--export-orgmode",
                "--export-markdown FILE writes a table, --export-csv FILE every sample",
            ),
            (
                "--reference-name",
                "the first command is the baseline: name the reference first, and name it by -n",
            ),
            (
                "--min-benchmarking-time",
                "-m N sets the fewest launches, --budget TIME the most time",
            ),
            ("--debug-mode", "-v shows every metric and note"),
        ],
    },
    Tool {
        name: "Google Benchmark",
        commands: &["run", "rev", "bisect", "analyze"],
        options: &[
            (
                "--benchmark_filter",
                "write the filter after the programs: deadheat bench ./old ./new FILTER",
            ),
            (
                "--benchmark_repetitions",
                "--max-replicates N limits the replicates of a race",
            ),
            (
                "--benchmark_min_time",
                "deadheat bench passes it on to the programs",
            ),
            ("--benchmark_format", "--json prints JSON, --format csv CSV"),
            ("--benchmark_out", "--export-google-benchmark FILE"),
        ],
    },
    Tool {
        name: "criterion",
        commands: &["run", "bench", "rev", "bisect"],
        options: &[(
            "--save-baseline",
            "a race measures both sides at once, so no baseline is saved: deadheat rev BASE",
        )],
    },
    Tool {
        name: "cargo bench",
        commands: &["bench", "run"],
        options: &[
            (
                "--bench",
                "deadheat bench races two programs: deadheat bench ./old ./new FILTER; cargo deadheat \
                 BASE --bench NAME races a bench target",
            ),
            ("--benches", "cargo deadheat BASE races all bench targets"),
        ],
    },
    Tool {
        name: "benchstat",
        commands: &["compare", "analyze"],
        options: &[
            ("-alpha", "--alpha P"),
            (
                "-col",
                "deadheat compare filters FILE KEY=A KEY=B compares two values of a key; for two files: \
                 deadheat compare old.txt new.txt",
            ),
            ("-row", "each benchmark is a row"),
            (
                "-delta-test",
                "leave it out: deadheat has one test, whose errors --alpha limits",
            ),
            ("-format", "--format text, csv, json or markdown"),
        ],
    },
    Tool {
        name: "go test",
        commands: &["run", "bench", "rev", "bisect"],
        options: &[
            (
                "-bench",
                "a test binary is a program with benchmarks: go test -c, then deadheat bench ./old.test ./new.test FILTER",
            ),
            (
                "-benchtime",
                "deadheat bench chooses the iterations of a test binary by itself",
            ),
            (
                "-benchmem",
                "deadheat bench reads B/op and allocs/op if the benchmark reports them",
            ),
            (
                "-count",
                "deadheat chooses the number of launches; --max-replicates N limits it",
            ),
            ("-cpu", "set GOMAXPROCS for the program that is raced"),
            (
                "-run",
                "the tests do not run; FILTER chooses benchmarks: deadheat bench ./old.test ./new.test FILTER",
            ),
            (
                "-tags",
                "set GOFLAGS=-tags=NAMES in the environment of deadheat rev --go",
            ),
            (
                "-race",
                "set GOFLAGS=-race in the environment of deadheat rev --go",
            ),
            (
                "-short",
                "write it after --: deadheat bench ./old.test ./new.test -- -test.short",
            ),
            ("-cpuprofile", "deadheat explain shows where the time goes"),
            (
                "-memprofile",
                "deadheat bench reads B/op and allocs/op if the benchmark reports them",
            ),
        ],
    },
    Tool {
        name: "pytest-benchmark",
        commands: &["bench", "rev", "compare"],
        options: &[
            (
                "--benchmark-compare",
                "deadheat compare OLD.json NEW.json compares saved results",
            ),
            (
                "--benchmark-compare-fail",
                "--fail-on slower with --margin CHANGE",
            ),
            ("--benchmark-save", "--save FILE"),
            ("--benchmark-min-rounds", "--max-replicates N"),
            ("--benchmark-json", "--json, or --export-json FILE"),
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
        let known = tool.options.iter().find(|(name, _)| *name == option);
        if let Some((name, instead)) = known {
            return Some(format!("for {name} of {}: {instead}", tool.name));
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
                for (option, _) in tool.options {
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
}
