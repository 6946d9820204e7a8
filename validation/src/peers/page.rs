//! The page: two tables for each condition, and what was promised of them.

use deadheat_validation::bars::table;
use deadheat_validation::prelude::*;

use crate::questions;
use crate::race::{Case, ORDERS};
use crate::tools::{ALPHA, Tool};
use crate::view::View;

pub struct Page<'a> {
    pub rows: &'a [Value],
    pub wanted: usize,
    pub facts: &'a str,
    pub quick: bool,
}

impl Page<'_> {
    pub fn text(&self) -> String {
        let mut page = "# Every tool on the same work\n\n".to_owned();
        let _ = writeln!(page, "Written by `just validate-peers`. {}\n", self.facts);
        if self.quick {
            page += "**A quick trial: counts are too small to mean anything.**\n\n";
        } else if self.rows.len() < self.wanted {
            let _ = writeln!(
                page,
                "**{} of the {} planned races are done; every table says how many it has.**\n",
                self.rows.len(),
                self.wanted
            );
        }
        let bars = self.bars();
        if !bars.is_empty() {
            page += &table(&bars);
        }
        page += questions::HOW_TO_READ;
        for condition in Condition::ALL {
            let _ = writeln!(page, "## Functions, {}\n", in_words(condition));
            page += &self.cells(&View::OF_FUNCTIONS, condition);
        }
        for condition in Condition::ALL {
            let _ = writeln!(page, "## Commands, {}\n", in_words(condition));
            page += &self.cells(&View::OF_COMMANDS, condition);
        }
        page += &self.by_order();
        page += &questions::how_each_was_asked(self.rows);
        page
    }

    fn tally(&self, view: View, condition: Condition, case: Case) -> Tally {
        view.tally(self.rows, condition, case)
    }

    fn cells(&self, views: &[View], condition: Condition) -> String {
        let mut text = "| tool | with itself: called different | two copies: called different | +1%: called slower | \
                        error of the estimate, points: itself / copies / +1% | seconds to an answer | seconds per right answer |\n\
                        | --- | --- | --- | --- | --- | --- | --- |\n"
            .to_owned();
        for view in views {
            let [same, copies, more] = Case::ALL.map(|case| self.tally(*view, condition, case));
            let errors = [&same, &copies, &more].map(|tally| {
                tally.rmse().map_or_else(|| "—".to_owned(), |error| format!("{error:.2}"))
            });
            let seconds = |seconds: Option<f64>| {
                seconds.map_or_else(
                    || "—".to_owned(),
                    |seconds| fairly(seconds, 2, view.tool.is_ours()),
                )
            };
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} | {} |",
                view.name,
                self.false_calls(view.tool, &same),
                self.false_calls(view.tool, &copies),
                self.right_calls(view.tool, &more),
                errors.join(" / "),
                seconds(more.median_seconds()),
                seconds(more.seconds_per_right_answer()),
            );
        }
        text + "\n"
    }

    /// The section on what each tool measured between the copies, link order by link order.
    fn by_order(&self) -> String {
        let mut text = format!(
            "## Two copies, link order by link order\n\n\
             Two identical functions raced against each other in eight link orders. The table has \
             the change that each tool measured between them, in percent. Each number is the \
             median of the tool's idle races in one link order; each order has equally many races. \
             `cargo deadheat` links the program again, in random orders. All other tools measure \
             the program in the given link order.\n\n\
             | tool |{}\n| --- |{}\n",
            (1..=ORDERS).map(|order| format!(" {order} |")).collect::<String>(),
            " --- |".repeat(ORDERS),
        );
        let mut shown: Vec<Tool> = Vec::new();
        for view in View::OF_FUNCTIONS {
            if shown.contains(&view.tool) {
                continue;
            }
            shown.push(view.tool);
            let _ = write!(text, "| {} |", view.name);
            for order in 1..=ORDERS {
                let fits = |row: &&Value| {
                    row["tool"] == view.tool.key()
                        && row["condition"] == Condition::Idle.key()
                        && row["order"] == order
                };
                let rows = self.rows.iter().filter(fits);
                let mut changes: Vec<f64> =
                    rows.filter_map(|row| row["percent"].as_f64()).collect();
                changes.sort_by(f64::total_cmp);
                let _ = match changes.get(changes.len() / 2) {
                    Some(change) => write!(text, " {change:+.2} |"),
                    None => write!(text, " — |"),
                };
            }
            text += "\n";
        }
        text + "\n"
    }

    fn bars(&self) -> Vec<Bar> {
        let mut bars = Vec::new();
        for condition in Condition::ALL {
            let [plain, neutral] = [View::OF_FUNCTIONS[0], View::OF_FUNCTIONS[1]];
            let commands = View::OF_COMMANDS[0];
            for (view, case) in [
                (plain, Case::Same),
                (neutral, Case::Same),
                (neutral, Case::Copies),
                (commands, Case::Same),
                (commands, Case::Copies),
            ] {
                bars.extend(own_errors(view, condition, case, &self.tally(view, condition, case)));
            }
            let functions = &View::OF_FUNCTIONS[2..];
            let itself = &[Case::Same][..];
            let both = &[Case::Same, Case::Copies][..];
            bars.extend(self.nobody_faster(plain, functions, condition, itself));
            bars.extend(self.nobody_faster(neutral, functions, condition, both));
            bars.extend(self.nobody_faster(commands, &View::OF_COMMANDS[1..], condition, itself));
        }
        bars
    }

    fn false_calls(&self, tool: Tool, tally: &Tally) -> String {
        if let Some(dash) = self.dash(tool, tally) {
            return dash;
        }
        tally.false_calls()
    }

    fn right_calls(&self, tool: Tool, tally: &Tally) -> String {
        if let Some(dash) = self.dash(tool, tally) {
            return dash;
        }
        tally.right_calls()
    }

    fn dash(&self, tool: Tool, tally: &Tally) -> Option<String> {
        let ran = self.rows.iter().any(|row| row["tool"] == tool.key());
        let why = match (tool, ran) {
            (Tool::Divan, _) => "— (no comparison)",
            _ if tally.races > 0 => return None,
            (Tool::Hyperfine, false) => "— (no race; needs hyperfine in the PATH)",
            (Tool::Pyperf, false) => "— (no race; needs Python with venv and pip)",
            _ => "— (no race so far)",
        };
        Some(why.to_owned())
    }

    /// The bar that no peer which may be honest in these cases is faster to a right answer than
    /// this.
    fn nobody_faster(
        &self,
        own: View,
        peers: &[View],
        condition: Condition,
        cases: &[Case],
    ) -> Option<Bar> {
        let seconds = |view: View| {
            let more = self.tally(view, condition, Case::More);
            more.seconds_per_right_answer()
        };
        let mut found = Vec::new();
        let mut faster = Vec::new();
        let own_seconds = seconds(own);
        for peer in peers {
            let tallies = cases.iter().map(|case| self.tally(*peer, condition, *case));
            let tallies: Vec<Tally> = tallies.collect();
            let honest =
                tallies.iter().all(|tally| tally.races > tally.unanswered && tally.may_be_honest());
            let Some(its) = seconds(*peer).filter(|_| honest) else {
                continue;
            };
            let wrong: u64 = tallies.iter().map(Tally::told_apart).sum();
            let races: u64 = tallies.iter().map(|tally| tally.races).sum();
            let shown = format!("{} {its:.2} s ({wrong} of {races} false)", peer.name);
            if own_seconds.is_none_or(|own| its < own) {
                faster.push(shown.clone());
            }
            found.push(shown);
        }
        if self.tally(own, condition, Case::More).races == 0 {
            return None;
        }
        // Where deadheat finds nothing, nothing is kept.
        let answers = own_seconds.is_some();
        let own_seconds = own_seconds.map_or("never".to_owned(), |own| format!("{} s", up(own, 2)));
        let peers = match (&faster[..], &found[..]) {
            ([], []) => "no other tool that may be honest gave a right answer".to_owned(),
            ([], found) => found.join(", "),
            (faster, _) => format!("faster: {}", faster.join(", ")),
        };
        let of = if cases.len() > 1 {
            "functions and their copies"
        } else if own.tool.is_of_commands() {
            "commands"
        } else {
            "functions"
        };
        Some(Bar::told(
            format!("{}, {}: seconds per right answer at +1%", of, condition.key()),
            "at most that of any tool whose rate of false calls may be at most 10%",
            format!("{} {own_seconds}; {peers}", own.name),
            faster.is_empty() && answers,
        ))
    }
}

fn own_errors(view: View, condition: Condition, case: Case, tally: &Tally) -> Option<Bar> {
    if tally.races == 0 {
        return None;
    }
    let allowed = binomial_bound(tally.races, ALPHA, 0.99);
    let what = match case {
        Case::Copies => "two copies",
        _ => "with itself",
    };
    Some(Bar::told(
        format!("{}, {what}, {}: called different", view.name, condition.key()),
        format!("at most 5% (chance allows {allowed} of {})", tally.races),
        format!("{} of {}", tally.told_apart(), tally.races),
        tally.told_apart() <= allowed,
    ))
}

fn in_words(condition: Condition) -> &'static str {
    match condition {
        Condition::Idle => "on an idle machine",
        Condition::Loaded => "with a busy loop for every core",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(tool: &str, case: &str, called: &str, seconds: f64) -> Value {
        json!({"tool": tool, "condition": "idle", "case": case, "called": called, "order": 0,
            "percent": 1.5, "seconds": seconds})
    }

    fn rows(peer_is_wrong: usize, peer_seconds: f64) -> Vec<Value> {
        let mut rows = Vec::new();
        for repeat in 0..20 {
            rows.push(row("deadheat", "same", "neither", 0.2));
            rows.push(row("deadheat", "more", "slower", 0.2));
            let called = if repeat < peer_is_wrong { "faster" } else { "neither" };
            rows.push(row("tango", "same", called, peer_seconds));
            rows.push(row("tango", "more", "slower", peer_seconds));
        }
        rows.push(json!({"tool": "tango", "condition": "idle", "case": "copies", "order": 3,
            "called": "slower", "percent": 12.25, "seconds": 0.2}));
        rows.push(row("divan", "same", "nothing", 0.1));
        rows
    }

    fn text(rows: &[Value]) -> String {
        let page = Page { rows, wanted: rows.len() + 1, facts: "Machine: m.", quick: false };
        page.text()
    }

    #[test]
    fn the_page_counts_and_says_what_is_missing() {
        let rows = rows(2, 1.0);
        let text = text(&rows);
        assert!(text.contains(&format!(
            "**{} of the {} planned races are done; every table says how many it has.**",
            rows.len(),
            rows.len() + 1
        )));
        assert!(text.contains("| deadheat, `cargo bench` | 0 of 20: 0% (0 to 17%) | — (no race so far) | 20 of 20: 100% (83 to 100%) |"), "{text}");
        assert!(text.contains("| tango | 2 of 20: 10% (1 to 32%) | 1 of 1: 100%"), "{text}");
        assert!(text.contains("| divan | — (no comparison) |"));
        assert!(text.contains("needs hyperfine in the PATH"));
        assert!(text.contains("| tango | — | — | +12.25 |"), "{text}");
    }

    #[test]
    fn a_faster_peer_misses_the_bar_unless_its_counts_forbid_honesty() {
        let bar = |rows: &[Value]| {
            let page = Page { rows, wanted: 0, facts: "", quick: false };
            let [plain, peers] = [View::OF_FUNCTIONS[0], View::OF_FUNCTIONS[2]];
            let bar = page.nobody_faster(plain, &[peers], Condition::Idle, &[Case::Same]);
            bar.unwrap().to_string()
        };
        assert!(bar(&rows(2, 1.0)).starts_with("met"));
        assert!(
            bar(&rows(2, 0.1)).contains("MISSED")
                && bar(&rows(2, 0.1)).contains("faster: tango 0.10 s (2 of 20 false)")
        );
        assert!(bar(&rows(12, 0.1)).starts_with("met"));
        let nothing_found = [row("deadheat", "more", "neither", 0.2)];
        assert!(bar(&nothing_found).starts_with("MISSED"));
    }
}
