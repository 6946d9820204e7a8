//! The page: what was asked, and a table for each case.

use crate::case::Case;
use crate::tally::Tally;
use crate::tool::Tool;
use crate::{REPEATS, Setting};
use deadheat_validation::prelude::*;

pub fn how(setting: &Setting) -> Section {
    let words = |tool: Tool| tool.arguments(Case::Itself, false).join(" ");
    let mut text = format!(
        "## How each tool was run\n\n\
         The executables use Google Benchmark {}, unchanged, and are compiled by `g++ -O2 \
         -ffunction-sections`. The first executable does everyday work \
         (`validation/builds/google.cpp`), and races against a build of the same bytes. The second \
         executable runs chains of steps (`validation/builds/exact.cpp`), and races against a \
         build that does exactly 1 or 5% more steps and also differs in one byte. The tools take \
         turns in an order drawn from a seed. In each turn, a tool compares all benchmarks \
         once.\n\n\
         | tool | command | a row counts as different when |\n\
         | --- | --- | --- |\n\
         | {} | `compare.py benchmarks OLD NEW {}` | its p-value of the time is below 5%, its default |\n\
         | {} | the same and `{}` | as above |\n\
         | {} | `deadheat bench OLD NEW`, at its defaults: alpha 5%, margin 1% | it is called faster or slower |\n\
         | {} | the same, on executables made by `deadheat link -- g++` | as above |\n\n",
        google_benchmark(),
        Tool::Compare.name(),
        words(Tool::Compare),
        Tool::Interleaved.name(),
        "--benchmark_enable_random_interleaving=true",
        Tool::Bench.name(),
        Tool::Neutral.name(),
    );
    text += "The U test of `compare.py` needs nine repetitions or more, and the manual of random \
        interleaving recommends nine of 0.1 s. Both rows of `compare.py` use nine repetitions of \
        0.1 s. Interleaving changes the order of the benchmarks within one executable; all of OLD \
        still runs before all of NEW. The estimate of `compare.py` is the change of the medians, \
        which it prints with the p-value. `compare.py` has no interval and cannot call two builds \
        equal, so a row that is not different stays undecided.\n\n";
    for tool in Tool::ALL {
        let versions = versions(&setting.kept, tool);
        if !versions.is_empty() {
            let _ = writeln!(text, "- {}: {}", tool.name(), versions.join("; "));
        }
    }
    text += "\n";
    Section { text, bars: Vec::new() }
}

pub fn table(setting: &Setting, case: Case) -> Section {
    let truth = case.percent();
    let mut section = Section { text: head(case), bars: Vec::new() };
    for tool in Tool::ALL {
        let wanted = [("case", case.key()), ("tool", tool.key())];
        let observations: Vec<&Value> = setting.kept.matching(&wanted).collect();
        let tally = Tally::of(observations.iter().copied(), truth);
        let line = match tally.rows {
            0 => unmeasured(setting, tool),
            _ => line(tool, &tally, truth, observations.len()),
        };
        let _ = writeln!(section.text, "{line}");
        if tool.is_ours() && tally.rows > 0 {
            let peer = [("case", case.key()), ("tool", Tool::Compare.key())];
            let peer = Tally::of(setting.kept.matching(&peer), truth);
            section.bars.extend(bars(tool, case, &tally, &peer));
        }
    }
    section.text += "\n";
    section
}

fn head(case: Case) -> String {
    let intervals = "intervals with the truth";
    let (title, said, different, dead_heat) = match case {
        Case::Itself => (
            "Two builds of the same bytes".to_owned(),
            "The two builds are identical, so every reported difference is wrong.".to_owned(),
            "called different, which is wrong | 95% bounds | largest such change, %",
            "dead heat, which is right",
        ),
        _ => (
            format!("A build that does exactly {}% more", case.percent()),
            "Every row of the candidate is slower by exactly the percentage in the heading, so the \
            verdicts *faster* and *dead heat* are wrong."
                .to_owned(),
            "called slower, which is right | 95% bounds | called faster, which is wrong",
            "dead heat, which is wrong",
        ),
    };
    format!(
        "## {title}\n\n\
         {said} Bounds are Clopper–Pearson. *Median error* is the distance between estimate and \
         truth, in percentage points. *Intervals with the truth* counts the intervals that contain \
         the true change. *Seconds for all rows* is the time of one comparison of all benchmarks, \
         as median (range).\n\n\
         | tool | verdict about | repeats | rows | {different} | {dead_heat} | undecided | median error | {intervals} | seconds for all rows |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
    )
}

fn line(tool: Tool, tally: &Tally, truth: f64, repeats: usize) -> String {
    let so_far = match repeats >= REPEATS {
        true => repeats.to_string(),
        false => format!("{repeats} of {REPEATS} so far"),
    };
    let (counted, beside) = match truth {
        0.0 => {
            let by_up_to = match tally.different() {
                0 => "-".to_owned(),
                _ => format!("{:.2}", tally.largest_wrong),
            };
            (tally.different(), by_up_to)
        }
        _ => (tally.slower, tally.faster.to_string()),
    };
    let (low, high) = share_bounds(counted as u64, tally.rows as u64, 0.95);
    let dead_heats = match tool.is_ours() {
        true => tally.dead_heats.to_string(),
        false => "-".to_owned(),
    };
    let intervals = match tally.intervals {
        (0, _) => "-".to_owned(),
        (all, holding) => format!("{holding} of {all}"),
    };
    let seconds = fair_spread(&tally.seconds, 1, tool.is_ours());
    format!(
        "| {} | {} | {so_far} | {} | {counted} ({:.2}%) | {:.2} to {:.2}% | {beside} | {dead_heats} | {} | {:.2} | {intervals} | {seconds} |",
        tool.name(),
        tally.scope.as_deref().unwrap_or("-"),
        tally.rows,
        100.0 * counted as f64 / tally.rows as f64,
        low * 100.0,
        high * 100.0,
        tally.open(),
        median(tally.errors.iter().copied()),
    )
}

fn unmeasured(setting: &Setting, tool: Tool) -> String {
    let reason = match (&setting.lacks, tool.is_ours()) {
        (Some(reason), false) => reason,
        _ => "not measured yet",
    };
    format!("| {} | {reason} | 0 |{}", tool.name(), " - |".repeat(9))
}

fn versions(kept: &Kept, tool: Tool) -> Vec<&str> {
    let mut all = Vec::new();
    for row in kept.rows().iter().filter(|row| row["tool"] == tool.key()) {
        if let Some(version) = row["version"].as_str().filter(|one| !all.contains(one)) {
            all.push(version);
        }
    }
    all
}

fn bars(tool: Tool, case: Case, tally: &Tally, peer: &Tally) -> Vec<Bar> {
    let wrong = match case {
        Case::Itself => "two builds of the same bytes called faster or slower".to_owned(),
        _ => format!("{} called faster or a dead heat", case.name()),
    };
    let (right, count, least) = match case {
        Case::Itself => {
            ("two builds of the same bytes called a dead heat".to_owned(), tally.dead_heats, 0.6)
        }
        _ => (format!("{} called slower", case.name()), tally.slower, 0.95),
    };
    let name = tool.name();
    let mut bars = vec![
        Bar::false_verdicts(format!("{name}: {wrong}"), tally.wrong(case.percent()), tally.rows),
        Bar::share(format!("{name}: {right}"), count, tally.rows, least),
    ];
    if !peer.seconds.is_empty() {
        let typical = |tally: &Tally| median(tally.seconds.iter().copied());
        bars.push(Bar::at_most(
            format!("{name}: {}, time relative to `compare.py`'s", case.name()),
            typical(tally) / typical(peer),
            1.0,
            2,
            "times as long",
        ));
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_validation::kept::Sittings;
    use serde_json::json;

    /// A page of two comparisons by deadheat, of three rows each.
    fn setting(folder: &str) -> (Setting, std::path::PathBuf) {
        let root = std::env::temp_dir().join(format!("deadheat-{folder}-{}", std::process::id()));
        let wanted = Wanted::default();
        let mut kept = Kept::open(&root, "compare_py", &wanted, Sittings::AnyMachine);
        let row = |verdict: &str, change: f64| json!({"name": "a", "change": change, "low": -0.5, "high": 0.5, "verdict": verdict});
        for repeat in [1, 2] {
            kept.add(json!({
                "case": "itself", "tool": "deadheat bench", "repeat": repeat, "scope": "binary",
                "seconds": 40.0, "version": "deadheat 1",
                "rows": [row("equivalent", 0.1), row("slower", 0.7), row("inconclusive", -0.2)],
            }));
        }
        let lacks = Some("it does not run here".to_owned());
        (Setting { kept, lacks }, root)
    }

    #[test]
    fn a_table_says_how_far_it_is_and_why_a_tool_is_missing() {
        let (setting, root) = setting("section");
        let section = table(&setting, Case::Itself);
        let ours = "| `deadheat bench` | binary | 2 of 10 so far | 6 | 2 (33.33%) | 4.33 to 77.72% | 0.70 | 2 | 2 | 0.20 | 6 of 6 | 40.0 (40.0 to 40.0) |\n";
        assert!(section.text.contains(ours), "{}", section.text);
        let columns = ours.matches('|').count();
        let lines = section.text.lines().filter(|line| line.starts_with('|'));
        assert!(lines.clone().all(|line| line.matches('|').count() == columns));
        assert!(section.text.contains("| `compare.py` | it does not run here | 0 | - |"));
        assert!(section.text.contains("neutral links | not measured yet | 0 | - |"));
        let bars: Vec<String> = section.bars.iter().map(Bar::to_string).collect();
        assert_eq!(bars.len(), 2, "only of what was measured");
        assert!(bars[0].starts_with("met: `deadheat bench`: two builds of the same bytes"));
        assert_eq!(
            bars[1],
            "MISSED: `deadheat bench`: two builds of the same bytes called a dead heat: 2 of 6 (at least 60%)"
        );
        assert_eq!(versions(&setting.kept, Tool::Bench), ["deadheat 1"]);
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_time_is_a_bar_only_beside_that_of_the_peer() {
        let (mut setting, root) = setting("section-beside");
        setting.kept.add(json!({
            "case": "itself", "tool": "compare.py", "repeat": 1, "seconds": 30.0, "version": "1",
            "rows": [{"name": "a", "change": 2.0, "p": 0.01}],
        }));
        let section = table(&setting, Case::Itself);
        let bars: Vec<String> = section.bars.iter().map(Bar::to_string).collect();
        assert_eq!(
            bars[2],
            "MISSED: `deadheat bench`: itself, time relative to `compare.py`'s: 1.34 times as long (at most 1 times as long)"
        );
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_case_without_observations_is_dashes_and_no_bars() {
        let (setting, root) = setting("section-empty");
        let section = table(&setting, Case::OnePercent);
        assert_eq!(section.text.matches("| 0 | - | - | - | - | - | - | - | - | - |").count(), 4);
        assert!(section.bars.is_empty());
        std::fs::remove_dir_all(root).unwrap();
    }
}
