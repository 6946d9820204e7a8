//! The table of the article, with all tools side by side.

use crate::counted::Counted;
use crate::evidence::{Right, Texts, right};
use crate::plan::{Pair, ROWS, Subject, Tool};
use deadheat_validation::prelude::*;

/// The chance of a wrong verdict that a race takes.
const ALPHA: f64 = 0.05;

fn texts(tool: Tool) -> Texts {
    match tool {
        Tool::Deadheat => Texts::New,
        _ => Texts::Known,
    }
}

struct Line {
    tool: Tool,
    pair: Pair,
    /// `None` where the evidence is not there yet.
    right: Option<Right>,
    counted: Counted,
}

fn lines(kept: &Kept, condition: Condition) -> Vec<Line> {
    let line = |pair: Pair, tool: Tool| Line {
        tool,
        pair,
        right: right(kept, pair, texts(tool)),
        counted: Counted::of(kept, tool, Subject::Pair(pair), condition),
    };
    let all = ROWS.into_iter().flat_map(|pair| Tool::ALL.map(|tool| line(pair, tool)));
    all.filter(|line| line.counted.len() > 0).collect()
}

/// Changes in percent, with their signs: `−1.50 (−1.62 to −1.41)`.
pub fn changes(values: &[f64]) -> String {
    if values.is_empty() {
        return "–".to_owned();
    }
    let shown = |value: f64| {
        let digits = if value.abs() >= 100.0 { 0 } else { 2 };
        format!("{value:+.digits$}").replace('-', "−")
    };
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let middle = median(values.iter().copied());
    format!("{} ({} to {})", shown(middle), shown(least), shown(most))
}

pub fn count_of(count: usize, of: usize, planned: usize) -> String {
    match of < planned {
        true => format!("{count} of {of} so far (of {planned})"),
        false => format!("{count} of {of}"),
    }
}

pub fn section(kept: &Kept, condition: Condition, quick: bool) -> Section {
    let lines = lines(kept, condition);
    let head = match condition {
        Condition::Idle => "## The table, on an idle machine",
        Condition::Loaded => "## The table, with a busy loop for every core",
    };
    let mut text = format!("{head}\n\n");
    if lines.is_empty() {
        return Section { text: text + "Nothing was measured so far.\n\n", bars: Vec::new() };
    }
    text += "| row | tool | right is | called different | right | wrong | change, %: median (range) | seconds: median (range) |\n\
             | --- | --- | --- | --- | --- | --- | --- | --- |\n";
    for line in &lines {
        let planned = line.tool.repeats(condition, quick);
        let all = line.counted.len();
        let judged = |count: &dyn Fn(&Counted, Right) -> usize| match line.right {
            Some(right) => format!("{} of {all}", count(&line.counted, right)),
            None => "–".to_owned(),
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            line.pair.name(),
            line.tool.key(),
            line.right.map_or("not known yet", Right::words),
            count_of(line.counted.called(), all, planned),
            judged(&Counted::right),
            judged(&Counted::wrong),
            changes(&line.counted.changes),
            spread(&line.counted.seconds, 2),
        );
    }
    let mut problems: Vec<String> = lines
        .iter()
        .flat_map(|line| {
            let name = |problem: &String| {
                format!("{} on {}: {problem}", line.tool.key(), line.pair.name())
            };
            line.counted.problems.iter().map(name).collect::<Vec<_>>()
        })
        .collect();
    problems.dedup();
    if !problems.is_empty() {
        let _ = write!(text, "\nWithout an answer: {}.\n", problems.join("; "));
    }
    text.push('\n');
    Section { bars: bars(&lines, condition), text: text + &in_words(&lines) }
}

/// The results of each tool on the whole, in words.
fn in_words(lines: &[Line]) -> String {
    let mut text = String::new();
    for tool in Tool::ALL {
        let own = || lines.iter().filter(|line| line.tool == tool);
        let one_function = || own().filter(|line| line.right == Some(Right::NoCall));
        let two = || own().filter(|line| line.right.is_some_and(|right| right != Right::NoCall));
        let sum = |lines: &mut dyn Iterator<Item = &Line>,
                   count: &dyn Fn(&Counted, Right) -> usize| {
            lines
                .map(|line| (line.right, &line.counted))
                .filter_map(|(right, counted)| Some((count(counted, right?), counted.len())))
                .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
        };
        let (wrong, same) = sum(&mut one_function(), &Counted::wrong);
        let (found, different) = sum(&mut two(), &Counted::right);
        let (reversed, _) = sum(&mut two(), &Counted::wrong);
        if same + different > 0 {
            let _ = writeln!(
                text,
                "- {}: called one function different from itself {wrong} of {same} times. Called \
                 two functions different in the right direction {found} of {different} times, and \
                 in the wrong direction {reversed} of {different} times.",
                tool.key()
            );
        }
    }
    text + "\n"
}

fn bars(lines: &[Line], condition: Condition) -> Vec<Bar> {
    let own = || lines.iter().filter(|line| line.tool == Tool::Deadheat);
    let mut bars = Vec::new();
    let condition = condition.key();
    for line in own().filter(|line| line.right != Some(Right::NoCall)) {
        let Some(right) = line.right else {
            continue;
        };
        let (found, of) = (line.counted.right(right), line.counted.len());
        bars.push(Bar::told(
            format!("{}, {condition}: deadheat says {}", line.pair.name(), right.words()),
            "every time",
            format!("{found} of {of}"),
            found == of,
        ));
    }
    let same = || own().filter(|line| line.right == Some(Right::NoCall));
    let of: usize = same().map(|line| line.counted.len()).sum();
    let wrong: usize = same().map(|line| line.counted.wrong(Right::NoCall)).sum();
    let silent: usize = same().map(|line| line.counted.problems.len()).sum();
    if of > 0 {
        let allowed = binomial_bound(of as u64, ALPHA, 0.99);
        bars.push(Bar::told(
            format!("rows of one function, {condition}: deadheat says faster or slower"),
            format!("at most alpha = 5% (chance allows {allowed} of {of})"),
            match silent {
                0 => format!("{wrong} of {of}"),
                _ => format!("{wrong} of {of}, {silent} without an answer"),
            },
            wrong as u64 <= allowed && silent == 0,
        ));
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::kept_with;
    use serde_json::{Value, json};

    fn row(tool: Tool, pair: Pair, call: &str, change: f64) -> Value {
        json!({
            "tool": tool.key(), "row": pair.name(), "condition": "idle",
            "call": call, "change": change, "seconds": 0.1,
        })
    }

    #[test]
    fn every_tool_has_a_line_per_row_and_deadheat_its_bars() {
        let [same, less] = [ROWS[0], ROWS[3]];
        let kept = kept_with(
            "rows",
            &[
                row(Tool::Deadheat, same, "none", 0.01),
                row(Tool::Tango, same, "slower", 4.2),
                row(Tool::Deadheat, less, "faster", -1.5),
                row(Tool::Deadheat, less, "none", -1.4),
                row(Tool::Criterion, less, "slower", 3.0),
            ],
        );
        let section = section(&kept, Condition::Idle, false);
        let text = &section.text;
        assert!(
            text.contains(
                "| std / std | tango | neither | 1 of 1 so far (of 20) | 0 of 1 | 1 of 1 |"
            )
        );
        assert!(text.contains(
            "| std_5000 / std_4925 | deadheat | faster | 1 of 2 so far (of 20) | 1 of 2 | 0 of 2 | −1.40 (−1.50 to −1.40) |"
        ));
        assert!(text.contains(
            "- criterion: called one function different from itself 0 of 0 times. Called two \
             functions different in the right direction 0 of 1 times, and in the wrong direction 1 \
             of 1 times."
        ));
        let bars: Vec<String> = section.bars.iter().map(ToString::to_string).collect();
        assert_eq!(bars.len(), 2);
        assert!(
            bars[0].starts_with("MISSED: std_5000 / std_4925, idle: deadheat says faster: 1 of 2")
        );
        assert!(bars[1].starts_with("met: rows of one function, idle"));
    }

    #[test]
    fn rows_without_evidence_are_not_judged() {
        let kept = kept_with("unjudged", &[row(Tool::Deadheat, ROWS[4], "slower", 3.0)]);
        let section = section(&kept, Condition::Idle, false);
        assert!(section.bars.is_empty());
        assert!(section.text.contains("| not known yet |"));
        let nothing = super::section(&kept, Condition::Loaded, false);
        assert!(nothing.text.contains("Nothing was measured so far."));
    }

    #[test]
    fn changes_have_signs_and_large_ones_no_digits() {
        assert_eq!(changes(&[-1.5, 0.25, 2.0]), "+0.25 (−1.50 to +2.00)");
        assert_eq!(changes(&[1_524.4]), "+1524 (+1524 to +1524)");
        assert_eq!(changes(&[]), "–");
    }
}
