//! Words of other tools for options and commands that deadheat calls by another name.

use clap::{Arg, Command};

/// The names of an option in other tools, and the option of deadheat that replaces it.
struct Synonym {
    /// The names, without dashes.
    names: &'static [&'static str],
    /// The option of deadheat, without dashes. The advice is given only for commands with this
    /// option.
    ours: &'static str,
    advice: &'static str,
}

const fn synonym(
    names: &'static [&'static str],
    ours: &'static str,
    advice: &'static str,
) -> Synonym {
    Synonym {
        names,
        ours,
        advice,
    }
}

/// Options of other tools, each with the option of deadheat that replaces it. If several entries
/// fit a command, the first one counts.
const OPTIONS: [Synonym; 32] = [
    synonym(
        &[
            "confidence",
            "confidence-level",
            "ci",
            "confidence-interval",
        ],
        "alpha",
        "--alpha P, which is one minus the confidence: --alpha 5% for 95%",
    ),
    synonym(
        &[
            "significance",
            "significance-level",
            "p-value",
            "pvalue",
            "utest-alpha",
        ],
        "alpha",
        "--alpha P",
    ),
    synonym(
        &[
            "threshold",
            "noise-threshold",
            "tolerance",
            "min-change",
            "delta",
            "noise",
        ],
        "margin",
        "--margin CHANGE",
    ),
    synonym(
        &[
            "measurement-time",
            "time",
            "duration",
            "max-time",
            "time-limit",
            "timeout-total",
        ],
        "budget",
        "--budget TIME limits the time of the race",
    ),
    synonym(&["warm-up-time", "warm-up", "warmups"], "warmup", "-w N"),
    synonym(
        &[
            "repeat",
            "repetitions",
            "iterations",
            "count",
            "rounds",
            "samples",
            "sample-size",
            "n",
        ],
        "runs",
        "-r N fixes the launches of each command",
    ),
    synonym(
        &[
            "repeat",
            "repetitions",
            "iterations",
            "count",
            "rounds",
            "runs",
            "samples",
            "sample-size",
        ],
        "max-replicates",
        "--max-replicates N limits the replicates; deadheat chooses the iterations",
    ),
    synonym(
        &["runs", "repetitions", "samples"],
        "quick",
        "--quick makes fewer races, --budget TIME limits their time",
    ),
    synonym(
        &[
            "cpu",
            "cpus",
            "core",
            "cores",
            "affinity",
            "cpu-affinity",
            "taskset",
        ],
        "pin",
        "--pin CORES",
    ),
    synonym(&["unit", "units"], "time-unit", "--time-unit UNIT"),
    synonym(
        &[
            "pattern",
            "regex",
            "benchmark-filter",
            "benchmarks",
            "benchmark",
            "only",
        ],
        "filter",
        "--filter REGEX",
    ),
    synonym(
        &[
            "filter",
            "pattern",
            "regex",
            "bench-filter",
            "benchmark",
            "benchmarks",
            "only",
        ],
        "exact",
        "write the filter after the sides, as in the example of --help",
    ),
    synonym(
        &["filter", "pattern", "regex", "benchmark", "only", "skip"],
        "looks",
        "the answer contains every benchmark of the file; --format csv | grep NAME selects rows",
    ),
    synonym(
        &["exclude", "ignore", "without", "deny"],
        "skip",
        "--skip FILTER",
    ),
    synonym(
        &["good", "bad", "from", "to", "old", "new", "start", "end"],
        "max-races",
        "name both commits as a range: deadheat bisect GOOD..BAD",
    ),
    synonym(
        &["output", "out", "o", "output-file", "result", "results"],
        "save",
        "--save FILE keeps the run, --export-json FILE and --export-csv FILE its results",
    ),
    synonym(
        &["output", "out", "o", "output-file"],
        "export-json",
        "--export-json FILE, --export-csv FILE or --html FILE",
    ),
    synonym(
        &["output", "out", "o", "output-file"],
        "html",
        "--html FILE, or --json for standard output",
    ),
    synonym(
        &["csv"],
        "export-csv",
        "--format csv prints a table, --export-csv FILE every sample",
    ),
    synonym(
        &["text", "txt", "table"],
        "format",
        "--format text, which is the default",
    ),
    synonym(
        &["no-color", "no-colour", "colour", "nocolor"],
        "color",
        "--color never",
    ),
    synonym(&["silent", "no-progress"], "quiet", "-q"),
    synonym(
        &["debug", "detail", "details", "full", "all", "long"],
        "verbose",
        "-v shows every metric and note",
    ),
    synonym(
        &["graph", "chart", "histogram", "draw"],
        "plot",
        "--plot draws in the terminal, --html FILE on a page",
    ),
    synonym(
        &["picture", "image", "pictures"],
        "svg",
        "--svg DIR or --png DIR",
    ),
    synonym(
        &[
            "fail",
            "fail-if",
            "check",
            "gate",
            "error-on",
            "max-regression",
            "fail-threshold",
            "fail-on-regression",
        ],
        "fail-on",
        "--fail-on slower, with --margin CHANGE for the change that you accept",
    ),
    synonym(
        &[
            "baseline",
            "candidate",
            "old",
            "new",
            "base",
            "target",
            "contender",
        ],
        "against",
        "name the files, the baseline first: deadheat compare OLD NEW",
    ),
    synonym(
        &[
            "base",
            "head",
            "baseline",
            "candidate",
            "good",
            "bad",
            "from",
            "to",
            "old",
            "new",
        ],
        "cand-build",
        "name both revisions as a range: deadheat rev BASE..HEAD",
    ),
    synonym(
        &["baseline", "reference", "base"],
        "seed",
        "the first side is the baseline: name it first",
    ),
    synonym(
        &["settings", "rules", "config-file"],
        "config",
        "--config FILE",
    ),
    synonym(
        &["metrics", "measure", "event"],
        "metric",
        "--metric METRIC",
    ),
    synonym(
        &["since-commit", "commits", "revisions", "revs"],
        "range",
        "name a range of commits, such as v1.0..HEAD",
    ),
];

/// Returns the advice about another tool's option `word`, if `command` has the option that replaces
/// it.
pub fn option(command: &Command, word: &str) -> Option<&'static str> {
    let name = word.trim_start_matches('-').split('=').next()?;
    let has = |long: &str| {
        let mut shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
        shown.any(|arg| arg.get_long() == Some(long))
    };
    let fits = |one: &&Synonym| one.names.contains(&name) && has(one.ours);
    word.starts_with('-').then_some(())?;
    OPTIONS.iter().find(fits).map(|one| one.advice)
}

/// Words that are not commands of deadheat, each with the command line to use instead.
const COMMANDS: [(&[&str], &str); 17] = [
    (
        &["diff", "cmp", "benchstat", "vs", "versus"],
        "deadheat compare OLD NEW",
    ),
    (&["version"], "deadheat --version"),
    (
        &["list", "ls"],
        "deadheat bench --list ./PROGRAM (lists benchmarks) or deadheat history show (prints a history)",
    ),
    (&["benchmark", "benchmarks"], "deadheat bench OLD NEW"),
    (
        &["race", "time", "measure", "record", "exec", "hyperfine"],
        "deadheat run 'COMMAND A' 'COMMAND B'",
    ),
    (
        &[
            "show", "view", "print", "open", "stats", "summary", "results",
        ],
        "deadheat analyze FILE",
    ),
    (
        &["plot", "graph", "html", "page", "export"],
        "deadheat report FILE --html PAGE",
    ),
    (
        &["check", "gate"],
        "deadheat history check for a history, --fail-on slower for a race",
    ),
    (
        &["add", "push", "accept", "extend"],
        "deadheat history COMMAND, such as deadheat history add RUNS",
    ),
    (
        &["profile", "perf", "callgrind", "flamegraph"],
        "deadheat explain -- 'COMMAND A' 'COMMAND B'",
    ),
    (
        &["commit", "revision", "git", "branch", "diff-rev"],
        "deadheat rev BASE",
    ),
    (
        &["main", "master", "head", "trunk", "develop"],
        "deadheat rev BASE races the working tree against a branch",
    ),
    (
        &["fleet", "shard", "distribute"],
        "deadheat plan, then deadheat run --plan FILE --shard 1/4 on every machine, and deadheat merge",
    ),
    (
        &["config", "settings", "init"],
        "there is nothing to set up; deadheat reads settings from deadheat.toml (docs/gates.md)",
    ),
    (
        &["system", "machine", "info", "env", "status", "diagnose"],
        "deadheat doctor",
    ),
    (&["join", "combine", "collect"], "deadheat merge PART…"),
    (
        &["manual", "docs", "usage"],
        "deadheat COMMAND --help, or deadheat man",
    ),
];

/// Words after `deadheat history` that are not its commands, each with the command line to use
/// instead.
const COMMANDS_OF_HISTORY: [(&[&str], &str); 3] = [
    (
        &["list", "ls", "log", "steps", "status", "print", "view"],
        "deadheat history show",
    ),
    (
        &["plot", "graph", "html", "report"],
        "deadheat history page",
    ),
    (&["import", "save", "record"], "deadheat history add RUNS"),
];

/// Returns the command line to use for a word that is not a command of `program`, which is
/// `deadheat` or one of its commands with subcommands.
pub fn command(program: &str, word: &str) -> Option<&'static str> {
    let commands = match program {
        "deadheat" => &COMMANDS[..],
        "deadheat history" => &COMMANDS_OF_HISTORY[..],
        _ => return None,
    };
    let word = word.to_lowercase();
    let found = commands.iter().find(|(words, _)| words.contains(&&*word));
    found.map(|(_, instead)| *instead)
}

/// Returns the visible long options of a command, with their dashes.
pub fn shown_options(command: &Command) -> impl Iterator<Item = String> {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    shown
        .filter_map(Arg::get_long)
        .map(|long| format!("--{long}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_command(program: &Command) -> Vec<Command> {
        let below = program.get_subcommands();
        below
            .flat_map(|one| std::iter::once(one.clone()).chain(every_command(one)))
            .collect()
    }

    #[test]
    fn every_synonym_leads_some_command_to_an_option_that_it_has() {
        let all = every_command(&crate::program::command());
        for one in &OPTIONS {
            for name in one.names {
                let word = format!("--{name}");
                let used = all
                    .iter()
                    .any(|command| option(command, &word) == Some(one.advice));
                assert!(used, "{word} for --{}", one.ours);
            }
        }
    }

    #[test]
    fn a_word_for_a_command_is_not_a_command() {
        let program = crate::program::command();
        for word in COMMANDS.iter().flat_map(|(words, _)| *words) {
            assert!(program.find_subcommand(word).is_none(), "{word}");
        }
        let history = program.find_subcommand("history").unwrap();
        for word in COMMANDS_OF_HISTORY.iter().flat_map(|(words, _)| *words) {
            assert!(history.find_subcommand(word).is_none(), "{word}");
        }
        let diff = command("deadheat", "Diff");
        assert_eq!(diff, Some("deadheat compare OLD NEW"));
        assert_eq!(command("deadheat", "nosuch"), None);
        assert_eq!(command("deadheat rev", "list"), None);
    }
}
