//! Functions whose calls vary, as in bench_diff's suite of its own: errors of
//! the first and of the second kind.

use crate::Setting;
use crate::comparison::Said;
use crate::errors::{one_sided, said, told_apart};
use crate::rows::{Row, Spread, Tool};
use crate::tables::{DASH, Found, head, line};
use deadheat_validation::prelude::*;

const ALPHA: f64 = 0.05;

pub fn section(setting: &Setting) -> Section {
    let mut text = "## Functions that vary\n\n\
        In this section, every call of f1 and of f2 draws a new number of rounds from a log-normal \
        distribution around the calibrated number. The standard deviation of the logarithm is ln \
        1.2/2 = 0.091 (*low* spread) or ln 2.4/2 = 0.438 (*high* spread). No tool knows the number \
        of rounds that a call drew.\n\n\
        An error of the first kind calls two equal functions different. An error of the second \
        kind does not notice that f1 does more work than f2. The number in brackets after \
        bench_diff's errors of the second kind counts the errors of bench_diff's one-sided test, \
        which bench_diff's own suite uses.\n\n\
        bench_diff ends after 2,000 calls of each function at 100 µs, and after 200 calls at 20 \
        ms. deadheat continues until it reaches a verdict, for at most 40 processes, so deadheat \
        takes longer in rows with more spread. In rows with *effort of the input*, the number of \
        rounds is drawn once per block for both functions, as if the work depended on a real \
        input. The two functions of a pair then share this number.\n\n"
        .to_owned();
    text += &head(&[
        "work",
        "spread",
        "more",
        "tool",
        "repeats",
        "first kind",
        "second kind",
        "f1 called faster, or a dead heat",
        "seconds",
        "error of medians",
        "of means",
        "of the reported difference",
    ]);
    let mut bars = Vec::new();
    for row in setting.rows.iter().filter(|row| row.spread != Spread::None) {
        for tool in row.tools() {
            let found = Found::of(setting, row, *tool);
            if found.count() == 0 {
                continue;
            }
            text += &line(&cells(row, *tool, &found));
            bars.extend(bar(row, *tool, &found));
        }
    }
    text += "\n";
    Section { text, bars }
}

fn cells(row: &Row, tool: Tool, found: &Found) -> Vec<String> {
    let all = &found.comparisons;
    let differ = row.percent > 0.0;
    let dash = || DASH.to_owned();
    let missed = found.count() - said(all, &[Said::Slower]);
    let second = match tool {
        Tool::BenchDiff => format!("{missed} ({})", found.count() - one_sided(all)),
        _ => missed.to_string(),
    };
    let (first, second, wrong) = match differ {
        true => {
            let wrong = said(all, &[Said::Faster, Said::Equal]);
            (dash(), second, wrong.to_string())
        }
        false => (told_apart(all).to_string(), dash(), dash()),
    };
    let mut cells = vec![
        row.base.key().to_owned(),
        row.spread.key().to_owned(),
        format!("{}%", row.percent),
        tool.key().to_owned(),
        found.repeats(),
        first,
        second,
        wrong,
        found.seconds(),
    ];
    cells.extend(found.errors(row.known()));
    cells
}

fn bar(row: &Row, tool: Tool, found: &Found) -> Option<Bar> {
    if row.percent > 0.0 || !tool.is_deadheat() {
        return None;
    }
    let allowed = binomial_bound(found.count() as u64, ALPHA, 0.99);
    let apart = told_apart(&found.comparisons);
    Some(Bar::told(
        format!(
            "{}, {} spread, 0% more: called different by {}",
            row.base.key(),
            row.spread.key(),
            tool.key()
        ),
        format!("at most alpha = 5% (chance allows {allowed})"),
        format!("{apart} of {}", found.so_far()),
        apart as u64 <= allowed,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::Comparison;
    use crate::observation::Observation;
    use crate::offences::tests::comparison;
    use crate::rows::all;

    fn setting(percent: f64, found: &[(Tool, Said)]) -> Setting {
        let wanted = |row: &Row| row.spread == Spread::Low && row.percent == percent;
        let row = all(false).into_iter().find(wanted).unwrap();
        let observations = found
            .iter()
            .enumerate()
            .map(|(repeat, (tool, said))| Observation {
                row: row.name(),
                tool: tool.key().to_owned(),
                repeat,
                seed: 1,
                wall: 1.0,
                found: Comparison {
                    said: Some(*said),
                    p: Some(0.07),
                    ..comparison(101.0, 101.0, Some(0.01))
                },
            })
            .collect();
        Setting { rows: vec![row], observations, calibration: String::new() }
    }

    #[test]
    fn what_is_not_found_is_an_error_of_the_second_kind() {
        let section = section(&setting(
            1.0,
            &[
                (Tool::BenchDiff, Said::Nothing),
                (Tool::BenchDiff, Said::Slower),
                (Tool::Deadheat, Said::Slower),
                (Tool::Deadheat, Said::Equal),
                (Tool::Deadheat, Said::Nothing),
            ],
        ));
        let text = &section.text;
        assert!(text.contains("| bench_diff | 2 of 30 so far | – | 1 (0) | 0 |"), "{text}");
        assert!(text.contains("| deadheat | 3 of 30 so far | – | 2 | 1 |"), "{text}");
        assert!(section.bars.is_empty());
    }

    #[test]
    fn whoever_is_told_apart_from_the_same_is_an_error_of_the_first_kind() {
        let apart = [(Tool::Deadheat, Said::Faster), (Tool::Deadheat, Said::Equal)];
        let section = section(&setting(0.0, &apart));
        assert!(section.text.contains("| deadheat | 2 of 30 so far | 1 | – | – |"));
        let [bar] = &section.bars[..] else {
            panic!("one bar");
        };
        let bar = bar.to_string();
        assert!(bar.contains("called different by deadheat: 1 of 2 so far"), "{bar}");
    }
}
