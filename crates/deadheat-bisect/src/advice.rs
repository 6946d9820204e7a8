//! Commands to run after a search, made from the command line of the search.

use std::path::Path;

use deadheat::parts::model::{Benchmark, Harness, Workload};

use crate::command::place_of_range;
use crate::log::{BisectAnswer, BisectEvent, BisectLog};

/// Returns commands that show more of the answer, or that continue a search without an answer, each
/// after a description of what it does. `can_explain` returns true for a run file that `deadheat
/// explain` accepts.
pub(crate) fn commands(
    log: &BisectLog,
    file: &Path,
    can_explain: impl Fn(&Path) -> bool,
) -> Vec<(String, String)> {
    let Some(end) = log.end() else {
        return Vec::new();
    };
    let mut commands = Vec::new();
    let mut add = |does: &str, command: String| commands.push((does.to_owned(), command));
    match &end.answer {
        BisectAnswer::Commits(share) => {
            let (before, last) = (share.first - 1, share.last);
            let short = |commit| log.request.short(commit);
            add(
                "shows what the commit changes",
                format!("git show {}", short(last)),
            );
            let range = match share.last - share.first {
                0 => format!("{}~1..{}", short(last), short(last)),
                _ => format!("{}..{}", short(before), short(last)),
            };
            if let Some(rev) = as_rev(&log.request.command, &range) {
                let rev = shell_words::join(rev);
                add("races this commit alone, with every detail", rev);
            }
            let raced = log.events.iter().rev().find_map(|event| match event {
                BisectEvent::Raced(raced) if (raced.from, raced.to) == (before, last) => {
                    Some(&*raced.file)
                }
                _ => None,
            });
            if let Some(run) = raced.filter(|run| can_explain(run)) {
                let run = run.to_string_lossy();
                add(
                    "shows where the time goes",
                    format!("deadheat explain {}", shell_words::quote(&run)),
                );
            }
        }
        BisectAnswer::NoStep(_) => {
            let smaller = format!("{}%", log.request.margin.change() * 50.0);
            add(
                "searches for a step of half the size",
                with_option(&log.request.command, "--margin", &smaller),
            );
        }
        BisectAnswer::NoSingleStep(several) => {
            let (from, to) = (
                log.request.short(several.from),
                log.request.short(several.to),
            );
            if let Some(rev) = as_rev(&log.request.command, &format!("{from}..{to}")) {
                add(
                    "races the two commits that differ most",
                    shell_words::join(rev),
                );
            }
        }
        BisectAnswer::Open(_) => add(
            "continues the search",
            format!(
                "deadheat bisect --resume {}",
                shell_words::quote(&file.to_string_lossy())
            ),
        ),
    }
    commands
}

/// Returns true if `deadheat explain` can count the work of a benchmark: commands, compiled workers
/// and executables of Google Benchmark.
pub(crate) fn is_countable(benchmark: &Benchmark) -> bool {
    let mut contenders = benchmark.contenders.iter();
    contenders.all(|contender| match &contender.workload {
        Workload::Command(_) => true,
        Workload::Worker(calls) => calls.program.server().is_none() && !benchmark.is_interpreted(),
        Workload::Harness(calls) => calls.harness == Harness::GoogleBenchmark,
        Workload::Function(_) | Workload::Recording => false,
    })
}

/// Turns the command line of a search into a race of the two commits in `range`, without the
/// options that only `deadheat bisect` has. `None` if the command line is incomplete.
pub(crate) fn as_rev(words: &[String], range: &str) -> Option<Vec<String>> {
    const OWN: [&str; 4] = ["--first-parent", "--all-parents", "--resume", "--log"];
    const OWN_WITH_VALUE: [&str; 5] =
        ["--prior", "--max-races", "--budget", "--html", "--markdown"];
    let place = place_of_range(words)?;
    let mut kept = vec!["deadheat".to_owned(), "rev".to_owned(), range.to_owned()];
    let words = words.iter().enumerate().skip(2);
    let mut words = words.filter_map(|(at, word)| (at != place).then_some(word));
    while let Some(word) = words.next() {
        let (name, value) = word
            .split_once('=')
            .map_or((&**word, None), |(n, v)| (n, Some(v)));
        match name {
            "--json" | "-q" | "--quiet" => {}
            own if OWN.contains(&own) => {}
            own if OWN_WITH_VALUE.contains(&own) => {
                if value.is_none() {
                    words.next();
                }
            }
            "--bench" => {
                let name = value.map(str::to_owned).or_else(|| words.next().cloned());
                kept.extend([name?, "--exact".to_owned()]);
            }
            "--" => {
                kept.push(word.clone());
                kept.extend(words.by_ref().cloned());
            }
            _ => kept.push(word.clone()),
        }
    }
    Some(kept)
}

pub(crate) fn with_range(words: &[String], range: &str) -> String {
    let place = place_of_range(words);
    let other = words.iter().enumerate().map(|(at, word)| match place {
        Some(place) if place == at => range,
        _ => word,
    });
    shell_words::join(other)
}

pub(crate) fn with_option(words: &[String], option: &str, value: &str) -> String {
    let end = words.iter().position(|word| word == "--");
    let (ours, others) = words.split_at(end.unwrap_or(words.len()));
    let mut kept: Vec<String> = Vec::new();
    let mut ours = ours.iter();
    while let Some(word) = ours.next() {
        if word == option {
            ours.next();
        } else if word.split_once('=').is_none_or(|(name, _)| name != option) {
            kept.push(word.clone());
        }
    }
    kept.extend([option.to_owned(), value.to_owned()]);
    shell_words::join(kept.iter().chain(others))
}

#[cfg(test)]
mod tests {
    use deadheat::parts::model::{Contender, HarnessCalls, WorkerCalls};

    use super::*;

    #[test]
    fn a_race_of_two_commits_keeps_what_is_built_and_raced() {
        let of = |line: &str| {
            let words: Vec<String> = shell_words::split(line).unwrap();
            as_rev(&words, "a~1..a").map(shell_words::join)
        };
        assert_eq!(
            of("deadheat bisect v1..HEAD --build 'make all' --exe b --budget 5min --bench=sort")
                .as_deref(),
            Some("deadheat rev 'a~1..a' --build 'make all' --exe b sort --exact")
        );
        assert_eq!(
            of("deadheat bisect --prior diff v1.. parse --json -- -p x").as_deref(),
            Some("deadheat rev 'a~1..a' parse -- -p x")
        );
        assert_eq!(
            of("deadheat bisect v1.. --run './x ../y'").as_deref(),
            Some("deadheat rev 'a~1..a' --run './x ../y'")
        );
        assert_eq!(
            of("deadheat bisect --build 'make -C .. x' --exe x v1..v2").as_deref(),
            Some("deadheat rev 'a~1..a' --build 'make -C .. x' --exe x")
        );
    }

    #[test]
    fn a_range_is_replaced_where_it_stands() {
        let words: Vec<String> = shell_words::split("deadheat bisect v1..v2 --run ./x").unwrap();
        assert_eq!(with_range(&words, "a..b"), "deadheat bisect a..b --run ./x");
        let line = "deadheat bisect --build 'make -C .. x' --exe x v1..v2";
        let words: Vec<String> = shell_words::split(line).unwrap();
        assert_eq!(
            with_range(&words, "a..b"),
            "deadheat bisect --build 'make -C .. x' --exe x a..b"
        );
    }

    #[test]
    fn explain_is_suggested_only_for_programs_whose_work_it_counts() {
        let of = |workload: Workload| {
            is_countable(&Benchmark {
                contenders: vec![Contender {
                    name: "v1".to_owned(),
                    workload,
                }],
                ..Benchmark::default()
            })
        };
        let worker = |path: &str| {
            let mut calls = WorkerCalls::default();
            calls.program.executable = path.into();
            of(Workload::Worker(Box::new(calls)))
        };
        let harness = |harness| {
            let calls = HarnessCalls {
                harness,
                ..HarnessCalls::default()
            };
            of(Workload::Harness(Box::new(calls)))
        };
        assert!(worker("build/bench") && !worker("suite.py"));
        assert!(harness(Harness::GoogleBenchmark));
        assert!(!harness(Harness::Criterion) && !harness(Harness::Go));
        assert!(!of(Workload::Recording));
    }

    #[test]
    fn an_option_gets_another_value_before_the_words_of_others() {
        let of = |line: &str| {
            let words: Vec<String> = shell_words::split(line).unwrap();
            with_option(&words, "--margin", "0.5%")
        };
        assert_eq!(of("a b"), "a b --margin '0.5%'");
        assert_eq!(of("a --margin 1% b"), "a b --margin '0.5%'");
        assert_eq!(
            of("a --margin=1% -- --margin 1%"),
            "a --margin '0.5%' -- --margin '1%'"
        );
    }
}
