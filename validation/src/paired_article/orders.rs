//! The experiment of the article on order: a known difference, measured with either function first.

use crate::counted::{Counted, call};
use crate::evidence::Right;
use crate::plan::{LESS, LESS_FIRST, Subject, Tool, keys};
use crate::rows::{changes, count_of};
use deadheat_validation::prelude::*;

pub fn section(kept: &Kept, quick: bool) -> Section {
    let mut text = "\
## Either function first\n\n\
The article measures two functions with a known difference in both orders. `std_4925` has 1.5% \
less to do than `std_5000`. So with `std_5000` first, the right answer is that the second function \
is faster. With `std_4925` first, the second function is slower by 1.52%. For deadheat and tango, \
the first function is the baseline, and the second is the candidate. criterion measures one \
function after the other, as in the article. In this table, criterion calls two functions \
different if the two intervals that it prints do not overlap. Every change is the change of the \
second function, relative to the first.\n\n\
| tool | condition | first | called different | right | wrong | change, %: median (range) |\n\
| --- | --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    let mut bars = Vec::new();
    for condition in Condition::ALL {
        for tool in Tool::ALL {
            for (first, right, counted) in both(kept, tool, condition) {
                let all = counted.len();
                if all == 0 {
                    continue;
                }
                let planned = tool.repeats(condition, quick);
                let _ = writeln!(
                    text,
                    "| {} | {} | `{first}` | {} | {} of {all} | {} of {all} | {} |",
                    tool.key(),
                    condition.key(),
                    count_of(counted.called(), all, planned),
                    counted.right(right),
                    counted.wrong(right),
                    changes(&counted.changes),
                );
                if tool == Tool::Deadheat {
                    let found = counted.right(right);
                    bars.push(Bar::told(
                        format!(
                            "{} with `{first}` first: deadheat says {}",
                            condition.key(),
                            right.words()
                        ),
                        "every time",
                        format!("{found} of {all}"),
                        found == all,
                    ));
                }
            }
        }
    }
    text.push('\n');
    text += &left_open(kept);
    for condition in Condition::ALL {
        text += &flipped(kept, condition);
    }
    Section { text, bars }
}

fn both(kept: &Kept, tool: Tool, condition: Condition) -> [(&'static str, Right, Counted); 2] {
    let of = |subject| Counted::of(kept, tool, subject, condition);
    let (first, other) = match tool {
        Tool::Criterion => {
            let one = of(Subject::BothOrders);
            let mut other = Counted { calls: Vec::new(), changes: Vec::new(), ..one.clone() };
            for row in answers(kept, Tool::Criterion, Subject::BothOrders, condition) {
                let found = &row["more"]["other"];
                other.calls.push(call(&found["call"]));
                other.changes.extend(found["change"].as_f64());
            }
            (one, other)
        }
        _ => (of(Subject::Pair(LESS)), of(Subject::Pair(LESS_FIRST))),
    };
    [(LESS.0, Right::Faster, first), (LESS.1, Right::Slower, other)]
}

fn answers(kept: &Kept, tool: Tool, subject: Subject, condition: Condition) -> Vec<&Value> {
    let keys = keys((tool, subject, condition));
    let rows = kept.rows().iter();
    rows.filter(|row| keys.iter().all(|(key, value)| row[*key] == **value)).collect()
}

/// Why deadheat did not find the difference every time: a bar asks that it does.
fn left_open(kept: &Kept) -> String {
    let mut intervals = Vec::new();
    for condition in Condition::ALL {
        for pair in [LESS, LESS_FIRST] {
            for row in answers(kept, Tool::Deadheat, Subject::Pair(pair), condition) {
                let interval = (row["interval"][0].as_f64(), row["interval"][1].as_f64());
                if let ("none", (Some(low), Some(high))) =
                    (row["call"].as_str().unwrap_or(""), interval)
                {
                    intervals.push(format!(
                        "{low:+.2} to {high:+.2}% after {} processes ({}, `{}` first)",
                        row["more"]["replicates"],
                        condition.key(),
                        pair.0
                    ));
                }
            }
        }
    }
    if intervals.is_empty() {
        return String::new();
    }
    format!(
        "deadheat did not decide every time: its interval was {}. By default, deadheat uses at \
         most 40 processes. Each block has a new text, and a new text changes the time of either \
         function by far more than 1.5%. The last section counts on how many texts the second \
         function is faster. So with the default of 40 processes, deadheat finds this difference \
         nearly every time, and with a larger `--max-replicates` more often. No design that draws \
         new texts finds the difference every time.\n\n",
        intervals.join(", ").replace('-', "−")
    )
}

/// Says how often the same function was told to have changed, because it came first the one time
/// and last the other.
fn flipped(kept: &Kept, condition: Condition) -> String {
    let experiments = answers(kept, Tool::Criterion, Subject::BothOrders, condition);
    let again: Vec<&Value> =
        experiments.iter().filter_map(|row| row["more"]["again"].as_array()).flatten().collect();
    if again.is_empty() {
        return String::new();
    }
    let told = |value: &&&Value| matches!(value["call"].as_str(), Some("faster" | "slower"));
    let count = again.iter().filter(told).count();
    let found: Vec<f64> = again.iter().filter_map(|value| value["change"].as_f64()).collect();
    format!(
        "criterion, {}: criterion measured both functions, and then both functions again in the \
         opposite order. Between the two measurements of a function, only the order had changed. \
         criterion reported improved or regressed performance {count} of {} times. The changes in \
         % were {}.\n\n",
        condition.key(),
        again.len(),
        changes(&found)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::kept_with;
    use serde_json::json;

    #[test]
    fn the_experiment_gives_a_line_for_either_order_and_counts_what_flipped() {
        let kept = kept_with(
            "orders",
            &[
                json!({
                    "tool": "criterion", "row": "both orders", "condition": "idle",
                    "call": "faster", "change": -21.0, "seconds": 33.0,
                    "more": {
                        "other": {"call": "faster", "change": -7.2},
                        "again": [
                            {"call": "slower", "change": 8.4}, {"call": "none", "change": 0.4},
                        ],
                    },
                }),
                json!({
                    "tool": "deadheat", "row": "std_4925 / std_5000", "condition": "idle",
                    "call": "slower", "change": 1.53, "seconds": 0.1,
                }),
                json!({
                    "tool": "deadheat", "row": "std_4925 / std_5000", "condition": "loaded",
                    "call": "none", "change": 1.1, "interval": [-0.25, 2.5], "more": {"replicates": 40},
                }),
            ],
        );
        let section = section(&kept, false);
        let text = &section.text;
        assert!(text.contains(
            "| criterion | idle | `std_5000` | 1 of 1 so far (of 5) | 1 of 1 | 0 of 1 | −21.00"
        ));
        assert!(text.contains(
            "| criterion | idle | `std_4925` | 1 of 1 so far (of 5) | 0 of 1 | 1 of 1 | −7.20"
        ));
        assert!(text.contains("improved or regressed performance 1 of 2 times"));
        assert!(text.contains(
            "its interval was −0.25 to +2.50% after 40 processes (loaded, `std_4925` first)."
        ));
        assert_eq!(section.bars.len(), 2);
        let bar = section.bars[0].to_string();
        assert!(bar.starts_with("met: idle with `std_4925` first: deadheat says slower: 1 of 1"));
    }
}
