//! The table: reversals, anomalies, verdicts, time and error.

use crate::Setting;
use crate::errors::{Verdicts, one_sided, told_apart};
use crate::offences::Offences;
use crate::rows::{Row, Spread, Tool};
use crate::tables::{DASH, Found, head, line};
use deadheat_validation::prelude::*;

const ALPHA: f64 = 0.05;
const TIME: f64 = 0.1;

pub fn section(setting: &Setting) -> Section {
    let mut text = "## Functions that do the same in every call\n\n\
        In this section, each function does the same work in every call. The *right* verdict is \
        slower. In the rows of 0%, the right verdict is a dead heat, which a test of differences \
        cannot report. *Wrong* is any other verdict. *Neither* means that the tool did not decide: \
        for bench_diff, the difference was not significant; for deadheat, it was too close to \
        call. The number in brackets after bench_diff's right verdicts is the count by the \
        one-sided test of bench_diff. The one-sided test knows in advance which function is \
        slower; bench_diff's own table uses this test. Times in seconds are given as median \
        (range). The error of an estimate is its ratio divided by the true ratio, minus 1. The \
        last three columns have the root mean square of these errors, in percent.\n\n"
        .to_owned();
    text += &head(&[
        "work",
        "more",
        "",
        "tool",
        "repeats",
        "reversals (median, mean)",
        "anomalies (median, mean)",
        "reversals, anomalies of the reported difference",
        "right",
        "wrong",
        "neither",
        "seconds",
        "error of medians",
        "of means",
        "of the reported difference",
    ]);
    let mut bars = Vec::new();
    let mut by_means = (0, 0);
    for row in setting.rows.iter().filter(|row| row.spread == Spread::None) {
        for tool in row.tools() {
            let found = Found::of(setting, row, *tool);
            if found.count() > 0 {
                text += &line(&cells(row, *tool, &found));
            }
        }
        let bench_diff = Found::of(setting, row, Tool::BenchDiff);
        for tool in row.tools().iter().filter(|tool| tool.is_deadheat()) {
            let deadheat = Found::of(setting, row, *tool);
            if row.percent > 0.0 {
                by_means.0 += Offences::anomalies(&deadheat.comparisons, row.known()).means;
                by_means.1 += deadheat.count();
            }
            bars.extend(bars_of(row, *tool, &deadheat, &bench_diff));
        }
    }
    text += "\n";
    text += AT_20_MS_BEFORE;
    if by_means.0 > 0 {
        text += &format!(
            "In {} of {} races of different functions, the means in deadheat's JSON are anomalous. \
             These means cover all samples of a race (some hundreds), including samples during \
             which another program had the core. A single sample of this kind moves a mean by \
             whole percents. No verdict uses means: the estimate compares neighbouring samples and \
             limits the weight of each.\n\n\
             Means over only the blocks that gave the verdict are not better. We checked this in \
             25 races at 100 µs and 1%, which the raw data do not contain. The means over only \
             these blocks were anomalous in 19 of the 25 races, and the means over all samples in \
             18. The 25 races have 18,484 samples, of which 548 were longer than the median by \
             more than half. For 47 of the 548 long samples, the kernel had recorded a context \
             switch. For 425 of the 548, more than nine tenths of the time was CPU time. Most \
             likely the host had taken the core, and nothing inside the guest can tell such \
             samples from slow code.\n\n",
            by_means.0, by_means.1
        );
    }
    Section { text, bars }
}

const AT_20_MS_BEFORE: &str = "An earlier version of deadheat was worse at 20 ms. On idle cores, \
    the earlier version took 0.32, 0.23, 0.17 and 0.11 of bench_diff's time at 0, 1, 2 and 5%, and \
    had 18 anomalies in 100 races of 1%. On loaded cores, the earlier version gave the right \
    verdict in 4 of 30 races of 1%, with 7 reversals and 18 anomalies. Three changes to deadheat \
    improved these results. deadheat now excludes scheduling delay. Blocks come in pairs that \
    share one coin toss. Functions whose first call is not slower than the second need no \
    warm-up.\n\n";

fn weather(row: &Row) -> &'static str {
    if row.loaded { "loaded" } else { "idle" }
}

fn cells(row: &Row, tool: Tool, found: &Found) -> Vec<String> {
    let all = &found.comparisons;
    let known = row.known();
    let dash = || DASH.to_owned();
    let offences = (known > 0.0).then(|| {
        let (reversals, anomalies) = (Offences::reversals(all), Offences::anomalies(all, known));
        let says_more = all.iter().any(|one| one.estimate.is_some());
        let said = says_more.then(|| format!("{}, {}", reversals.said, anomalies.said));
        [reversals.shown(), anomalies.shown(), said.unwrap_or_else(dash)]
    });
    let verdicts = Verdicts::count(all, known).map(|verdicts| {
        let right = match tool {
            Tool::BenchDiff if known > 0.0 => format!("{} ({})", verdicts.right, one_sided(all)),
            Tool::BenchDiff => dash(),
            _ => verdicts.right.to_string(),
        };
        [right, verdicts.wrong.to_string(), verdicts.none.to_string()]
    });
    let mut cells = vec![
        row.base.key().to_owned(),
        format!("{}%", row.percent),
        weather(row).to_owned(),
        tool.key().to_owned(),
        found.repeats(),
    ];
    cells.extend(offences.unwrap_or_else(|| [dash(), dash(), dash()]));
    cells.extend(verdicts.unwrap_or_else(|| [dash(), dash(), dash()]));
    cells.push(found.seconds());
    cells.extend(found.errors(known));
    cells
}

fn bars_of(row: &Row, tool: Tool, deadheat: &Found, bench_diff: &Found) -> Vec<Bar> {
    let mut bars = Vec::new();
    let known = row.known();
    let who = tool.key();
    let what = format!("{}, {}% more, {}", row.base.key(), row.percent, weather(row));
    let all = &deadheat.comparisons;
    if all.is_empty() {
        return bars;
    }
    let of = deadheat.so_far();
    if known > 0.0 {
        let (reversals, anomalies) = (Offences::reversals(all), Offences::anomalies(all, known));
        bars.push(Bar::told(
            format!("{what}: reversals and anomalies of the difference that {who} reports, and of its typical times"),
            "0 and 0",
            format!("{} and {} of {of}", reversals.said, anomalies.said),
            reversals.said + anomalies.said == 0,
        ));
    } else {
        let allowed = binomial_bound(deadheat.count() as u64, ALPHA, 0.99);
        let apart = told_apart(all);
        bars.push(Bar::told(
            format!("{what}: called different by {who}"),
            format!("at most alpha = 5% (chance allows {allowed})"),
            format!("{apart} of {of}"),
            apart as u64 <= allowed,
        ));
    }
    if let (Some(ours), Some(theirs)) = (deadheat.mean_wall(), bench_diff.mean_wall()) {
        bars.push(Bar::told(
            format!("{what}: mean time of {who} relative to bench_diff's"),
            format!("at most {TIME}"),
            format!("{} ({} s over {theirs:.2} s)", up(ours / theirs, 3), up(ours, 3)),
            ours / theirs <= TIME,
        ));
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::{Comparison, Said};
    use crate::observation::Observation;
    use crate::offences::tests::comparison;
    use crate::rows::all;

    fn setting(found: &[(usize, Tool, f64, Comparison)]) -> Setting {
        let rows = all(true);
        let observations = found
            .iter()
            .enumerate()
            .map(|(repeat, (row, tool, wall, found))| Observation {
                row: rows[*row].name(),
                tool: tool.key().to_owned(),
                repeat,
                seed: 1,
                wall: *wall,
                found: *found,
            })
            .collect();
        Setting { rows, observations, calibration: String::new() }
    }

    fn said(said: Said, mean: f64, estimate: f64) -> Comparison {
        Comparison { said: Some(said), p: Some(0.08), ..comparison(101.0, mean, Some(estimate)) }
    }

    #[test]
    fn the_table_has_a_line_for_each_tool_that_was_asked_and_a_dash_for_what_it_cannot() {
        let section = section(&setting(&[
            (1, Tool::Traditional, 0.4, comparison(99.0, 101.0, None)),
            (1, Tool::BenchDiff, 3.5, said(Said::Nothing, 101.0, 0.012)),
            (1, Tool::Deadheat, 0.2, said(Said::Slower, 99.0, 0.01)),
        ]));
        let lines: Vec<&str> = section.text.lines().filter(|line| line.contains("µs |")).collect();
        assert_eq!(lines.len(), 3, "{}", section.text);
        assert_eq!(
            lines[0],
            "| 100 µs | 1% | idle | traditional | 1 of 2 so far | 1 (1, 0) | 1 (1, 0) | – | – | – | – \
             | 0.400 (0.400 to 0.400) | 1.98 | 0.00 | – |"
        );
        assert!(lines[1].contains("| 0 (0, 0) | 0 (0, 0) | 0, 0 | 0 (1) | 0 | 1 | 3.500"));
        assert!(lines[2].contains("| 1 (0, 1) | 1 (0, 1) | 0, 0 | 1 | 0 | 0 | 0.200"));
        // The same error, of deadheat: rounded up.
        assert!(lines[2].contains("| 1.99 |"), "{}", lines[2]);
        assert!(section.text.contains("In 1 of 1 races of different functions"));
        let bars: Vec<String> = section.bars.iter().map(ToString::to_string).collect();
        assert_eq!(bars.len(), 2);
        assert!(bars[0].starts_with("met: 100 µs, 1% more, idle: reversals and anomalies"));
        assert!(bars[0].contains("0 and 0 of 1 so far"), "{}", bars[0]);
        assert!(bars[1].starts_with("met") && bars[1].contains("0.058 (0.200 s over 3.50 s)"));
    }

    #[test]
    fn where_both_do_the_same_nothing_can_be_reversed() {
        let even = said(Said::Equal, 100.0, 0.0);
        let section = section(&setting(&[
            (0, Tool::BenchDiff, 3.0, said(Said::Nothing, 100.0, 0.0)),
            (0, Tool::Deadheat, 0.5, even),
            (0, Tool::Deadheat, 0.5, said(Said::Faster, 100.0, -0.1)),
        ]));
        assert!(section.text.contains("| deadheat | 2 | – | – | – | 1 | 1 | 0 |"));
        assert!(section.text.contains("| bench_diff | 1 of 2 so far | – | – | – | – | 0 | 1 |"));
        let bars: Vec<String> = section.bars.iter().map(ToString::to_string).collect();
        assert!(bars[0].contains("called different by deadheat: 1 of 2"), "{bars:?}");
        assert!(bars[1].starts_with("MISSED"), "0.5 s is more than a tenth of 3 s");
    }

    #[test]
    fn a_row_without_observations_promises_nothing() {
        let section = section(&setting(&[]));
        assert!(section.bars.is_empty());
        assert!(!section.text.contains("µs |") && !section.text.contains("are anomalous"));
    }
}
