//! The meaning of the numbers, and what each tool was asked, in plain words.

use serde_json::Value;

use crate::tools::Tool;

const PINNED: [(&str, &str); 5] = [
    ("criterion", "0.8.2"),
    ("divan", "0.1.21"),
    ("tango-bench", "0.9.0"),
    ("bench_diff", "1.1.0"),
    ("zenbench", "0.1.11"),
];

pub const HOW_TO_READ: &str = "\
## The races

Every tool raced the same work at its default settings. The time of a race is from the start of the tool to its answer, without compilation. Tools, \
cases and conditions take turns, in a new random order in every round, so that changes of the \
machine affect all of them alike. On a loaded machine, a busy loop runs on every core during the \
race.

- *With itself*: functions race `mixing` of `examples/src/busy_work.rs`, about 25 µs in registers, against \
the same function at the same address; commands race a program that does about 20 ms of it \
against the same \
file. Both sides are called through a pointer, from the same code if the tool allows it. Both sides \
do the same work, so every verdict *faster* or *slower* is wrong.
- *Two copies*: in races of functions, a branching sum (about 25 µs over 1,024 random words) races \
against a copy of this function in the same program. The \
copy has the same instructions, checked with objdump, at another address. When a program starts, \
it checks that the two copies have different addresses, because compilers and linkers merge equal \
code. Each program is linked in eight orders (lld, `--shuffle-sections`), as if by eight users. \
Commands race an executable against a copy of its file. Every verdict of *faster* or *slower* is wrong about the source, even if the link makes one of the two copies faster.
- *+1%*: the function or command of the first case against itself doing exactly 1% more steps. The time of \
a command includes the start of the program, so the true change of a command is some hundredths of a \
percentage point below 1%.
- *Called different* and *called slower* use the tool's own answer, with Clopper–Pearson bounds at 95%. criterion, tango and zenbench's confirmation ask for a change of more than 1% by default, so they find a change of exactly 1% in half of the races at best. If a tool also reports its test without the threshold of 1%, the tool has a second row.
- *Error of the estimate*: the root of the mean squared difference between the measured change and the true one.
- *Seconds to an answer*: the median over the races for +1%. *Seconds per right answer*: the total time of the races, divided by the number of races that called the candidate slower; a user who has to repeat a race pays for both races.
- *May be honest*: the true share of false calls of the tool may be at most 10% (twice alpha), \
because the lower bound of the measured share is at most 10%. \
This rule gives other tools the benefit of the doubt: a \
tool with 5 false calls in 20 races may still be honest, a tool with 6 false calls may not.

";

pub fn how_each_was_asked(rows: &[Value]) -> String {
    let pinned = |name: &str| {
        let found = PINNED.iter().find(|(one, _)| *one == name);
        found.map_or("", |(_, version)| version)
    };
    let installed = |tool: Tool| {
        let mut versions: Vec<&str> = Vec::new();
        for row in rows.iter().filter(|row| row["tool"] == tool.key()) {
            let version = row["version"].as_str();
            versions.extend(version.filter(|version| !versions.contains(version)));
        }
        if versions.is_empty() { "not installed".to_owned() } else { versions.join(" and ") }
    };
    format!(
        "## How each tool was run\n\n\
         - **deadheat**, functions: a benchmark with a baseline and a candidate. `cargo bench` runs all replicates on one link; its verdict is about that binary. `cargo \
         deadheat` runs every replicate on a neutral link; its time includes making the links, \
         and its verdict is about the \
         source. Commands: `deadheat run 'one' 'two'`. Alpha is 5%, the \
         margin 1%.\n\
         - **tango** {}: two benchmarks of one program, `compare --strip-baseline --strip-candidate`, in \
         two processes that take turns for 100 ms, its default. tango's asterisk counts as \
         its call: 2.6 standard errors and more than 1%.\n\
         - **bench_diff** {}: `bench_diff(LatencyUnit::Nano, f1, f2, 2000)`, with its warm-up of three seconds. Its \
         call is Welch's test of the logarithms, p < 0.05; its estimate is the ratio of medians.\n\
         - **zenbench** {}: two benchmarks of one group. By default, zenbench runs in one \
         process. In this mode, the flag in zenbench's JSON counts as its call; zenbench sets \
         the flag if the interval excludes zero and exceeds the resolution of the clock. \
         With `--mode=confirm`, zenbench runs in five processes, and its \
         printed result counts as its call: for a regression or an improvement, the whole interval \
         lies beyond the margin of 1%. \
         zenbench refuses to race on a machine with more than 5% of other load; the refused races \
         count as races without an answer. \
         In the last row of the table, zenbench reports a difference if its interval excludes \
         zero, whatever the size of the difference.\n\
         - **criterion** {}: `--save-baseline before` for the first side, then `--baseline \
         before` for the second under the same name. criterion's printed result counts as its call: for \
         regressed or improved, the whole interval lies beyond its noise threshold of 1%. The \
         last row uses criterion's p-value alone. As criterion's estimate, this page uses the \
         estimate for the mean.\n\
         - **divan** {}: two benchmarks of one program. divan does not compare the benchmarks; the \
         estimate is the ratio of the two medians that divan prints with three or four digits.\n\
         - **hyperfine** {}: `hyperfine --export-json times.json 'one' 'two'`. hyperfine has no test of its own. A \
         script in its repository applies Welch's test to the exported times, p < 0.05. This page \
         applies Welch's test to hyperfine's times, too; the seconds do not include the time of this \
         test. \
         The estimate is the ratio of the mean times of the two sides.\n\
         - **pyperf** {}: `pyperf command` for each, then `pyperf compare_to`, which prints \
         slower or faster, or hides the row if its t test finds no \
         difference. The estimate is the ratio of the mean times of the two sides.\n",
        pinned("tango-bench"),
        pinned("bench_diff"),
        pinned("zenbench"),
        pinned("criterion"),
        pinned("divan"),
        installed(Tool::Hyperfine),
        installed(Tool::Pyperf),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_versions_told_are_those_that_are_built() {
        let manifest = include_str!("../../peers/Cargo.toml");
        for (name, version) in PINNED {
            let line = format!("{name} = \"={version}\"");
            assert!(manifest.contains(&line), "{line}");
        }
    }

    #[test]
    fn versions_of_what_is_installed_come_from_the_races() {
        let rows = [
            json!({"tool": "hyperfine", "version": "1.15.0"}),
            json!({"tool": "hyperfine", "version": "2.0.0"}),
            json!({"tool": "hyperfine", "version": "1.15.0"}),
        ];
        let text = how_each_was_asked(&rows);
        assert!(text.contains("**hyperfine** 1.15.0 and 2.0.0:"));
        assert!(text.contains("**pyperf** not installed:"));
    }
}
