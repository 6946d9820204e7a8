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

Every tool raced the same work at its default settings. Tools, cases and conditions take turns, in \
a new random order in every round, so that changes of the machine affect all of them alike. On a \
loaded machine, a busy loop runs on every core during the race. There are three cases:\n\n\
- *With itself*: both sides are the same, so every verdict *faster* or *slower* is wrong. \
For functions, both sides are `mixing` of `examples/src/busy_work.rs`, about 25 µs of work in \
registers, at the same address. Every program calls both sides through a pointer, and from \
the same place in the code if the tool allows it. For commands, both sides \
start the same executable, which does about 20 ms of the same work.\n\
- *Two copies*: the sides are two copies of the same code, so every verdict of *faster* or \
*slower* is wrong about the source, even if the link makes one of the two copies faster. For \
functions, the sides are a branching sum (about 25 µs over 1,024 random words) and a copy of it at \
another address in the same program. We checked with objdump that both have the same instructions. \
Compilers and linkers may merge equal code, so each program checks at its start that the two \
addresses differ. Each program is linked in eight orders (lld, `--shuffle-sections`), as if by \
eight users. For commands, one side starts an executable and the other a copy of its file.\n\
- *+1%*: the candidate is the function or command of the first case with exactly 1% more steps, so \
*slower* is right. The time of a command includes the start of the program, so the true change of \
a command is some hundredths of a percentage point below 1%.\n\n\
The columns of the tables are:\n\n\
- *Called different* and *called slower*: how often the tool's own answer says so, with \
Clopper–Pearson bounds at 95%. criterion, tango and zenbench's confirmation ask for a change of \
more than 1% by default, so they find a change of exactly 1% in half of the races at best. If a \
tool also reports its test without the threshold of 1%, the tool has a second row.\n\
- *Error of the estimate*: the root of the mean squared difference between the measured change and \
the true change.\n\
- *Seconds to an answer*: the median time of the races for +1%, from the start of the tool to its \
answer, without compilation.\n\
- *Seconds per right answer*: the total time of the races for +1%, divided by the number of races \
that called the candidate slower. A user who has to repeat a race pays for both races.\n\n\
The targets compare deadheat with other tools that *may be honest*. A tool may be honest if the \
lower bound of its measured share of false calls is at most 10% (twice alpha). This rule gives \
other tools the benefit of the doubt: a tool with 5 false calls in 20 races may be honest, a tool \
with 6 false calls may not.\n\n";

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
         - **deadheat**: functions are a benchmark with a baseline and a candidate. `cargo bench` \
         runs all replicates on one link, so its verdict is about that binary. `cargo deadheat` \
         runs every replicate on a neutral link, so its verdict is about the source; its time \
         includes making the links. Commands race by `deadheat run 'one' 'two'`. Alpha is 5%, and \
         the margin is 1%.\n\
         - **tango** {}: two benchmarks of one program, `compare --strip-baseline \
         --strip-candidate`. The two benchmarks run in two processes that take turns for 100 ms, \
         tango's default. tango calls the sides different if it prints an asterisk, which takes a \
         change of at least 2.6 standard errors and more than 1%.\n\
         - **bench_diff** {}: `bench_diff(LatencyUnit::Nano, f1, f2, 2000)`, with its warm-up of \
         three seconds. bench_diff calls the sides different if Welch's test of the logarithms has \
         p < 0.05. Its estimate is the ratio of medians.\n\
         - **zenbench** {}: two benchmarks of one group. The row *zenbench* is the default: \
         zenbench runs in one process, and the flag in zenbench's JSON counts as its call. \
         zenbench sets the flag if the interval excludes zero and exceeds the resolution of the \
         clock. The row *confirm* uses `--mode=confirm`: zenbench runs in five processes, and its \
         printed result counts as its call. zenbench prints a regression or an improvement if the \
         whole interval lies beyond the margin of 1%. zenbench refuses to race on a machine with \
         more than 5% of other load; the refused races count as races without an answer. In the \
         row *confirm, interval alone*, an interval that excludes zero counts as a call, whatever \
         the size of the difference.\n\
         - **criterion** {}: `--save-baseline before` for the first side, then `--baseline before` \
         for the second side under the same name. In the row *criterion*, the printed result \
         counts as its call: regressed or improved, if the whole interval lies beyond criterion's \
         noise threshold of 1%. In the row *p < 0.05 alone*, criterion's p-value counts as its \
         call. The estimate is criterion's estimate for the mean.\n\
         - **divan** {}: two benchmarks of one program. divan does not compare the benchmarks; the \
         estimate is the ratio of the two medians that divan prints with three or four digits.\n\
         - **hyperfine** {}: `hyperfine --export-json times.json 'one' 'two'`. hyperfine has no \
         test of its own. A script in its repository applies Welch's test to the exported times, \
         with p < 0.05. This page does the same; the seconds do not include the time of this test. \
         The estimate is the ratio of the mean times of the two sides.\n\
         - **pyperf** {}: `pyperf command` for each side, then `pyperf compare_to`. pyperf calls \
         the sides different if `compare_to` prints slower or faster. `compare_to` hides the row \
         if its t test finds no difference. The estimate is the ratio of the mean times of the two \
         sides.\n",
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
