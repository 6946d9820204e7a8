//! Benchmarks that were not raced, in words: counted, named, and why.

use deadheat_model::{LeftOut, LeftOutReason};

use crate::enumeration::{some_of, texts};
use crate::glyphs::Glyphs;
use crate::names::{escape, shown};
use crate::units::counted;

/// So many names stand in a sentence; all of them are in the JSON.
const NAMED: usize = 50;
/// Columns that one name may take.
const NAME: usize = 100;
/// Columns that a reason in the words of others may take.
const REASON: usize = 400;

/// A sentence for each reason, with the benchmarks it holds for; in the order
/// in which the reasons first come up.
pub fn left_out(left_out: &[LeftOut], glyphs: Glyphs) -> Vec<String> {
    let mut groups: Vec<(&LeftOutReason, Vec<String>)> = Vec::new();
    for one in left_out {
        let name = shown(&one.benchmark, NAME, glyphs);
        match groups.iter_mut().find(|(reason, _)| **reason == one.reason) {
            Some((_, names)) => names.push(name),
            None => groups.push((&one.reason, vec![name])),
        }
    }
    texts(&groups, &|(reason, names)| sentence(reason, names, glyphs))
}

fn sentence(reason: &LeftOutReason, names: &[String], glyphs: Glyphs) -> String {
    let quoted = |text: &str| {
        let text = shown(text, REASON, glyphs);
        text.trim_end_matches('.').to_owned()
    };
    let count = counted(names.len() as u64, "benchmark", "benchmarks");
    let verb = if names.len() == 1 { "was" } else { "were" };
    let list = some_of(names, NAMED);
    match reason {
        LeftOutReason::OnlyIn(side) => format!("{count} only in '{}': {list}.", quoted(side)),
        LeftOutReason::Skipped(message) => {
            format!("{count} {verb} skipped ({}): {list}.", quoted(message))
        }
        LeftOutReason::NotAlike(why) => {
            let verb = if names.len() == 1 { "is" } else { "are" };
            format!(
                "{count} {verb} not alike on both sides ({}): {list}.",
                quoted(why)
            )
        }
    }
}

/// The words in place of the verdict of a benchmark in a table, where it has a row:
/// what only one side has is named below the table instead.
pub(crate) fn cell(reason: &LeftOutReason) -> Option<&'static str> {
    match reason {
        LeftOutReason::OnlyIn(_) => None,
        LeftOutReason::Skipped(_) => Some("skipped"),
        LeftOutReason::NotAlike(_) => Some("not alike"),
    }
}

/// Those that have a row, each with its name fit to be shown and its cell.
pub(crate) fn rows(left_out: &[LeftOut], glyphs: Glyphs) -> Vec<(String, &'static str)> {
    let row = |one: &LeftOut| Some((escape(&one.benchmark, glyphs), cell(&one.reason)?));
    left_out.iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(benchmark: &str, reason: LeftOutReason) -> LeftOut {
        LeftOut {
            benchmark: benchmark.to_owned(),
            reason,
        }
    }

    #[test]
    fn those_with_the_same_reason_are_counted_and_named_together() {
        let only = |name: &str| one(name, LeftOutReason::OnlyIn("new".to_owned()));
        let skipped = LeftOutReason::Skipped("no GPU\u{1b}[2J.".to_owned());
        let unlike = LeftOutReason::NotAlike("one has 2 threads".to_owned());
        let all = [only("a"), one("c", skipped), one("d", unlike), only("b")];
        assert_eq!(
            left_out(&all, Glyphs::Ascii),
            [
                "2 benchmarks only in 'new': a, b.",
                "1 benchmark was skipped (no GPU\\u{1b}[2J): c.",
                "1 benchmark is not alike on both sides (one has 2 threads): d.",
            ]
        );
        assert_eq!(
            rows(&all, Glyphs::Ascii),
            [("c".to_owned(), "skipped"), ("d".to_owned(), "not alike")]
        );
    }

    #[test]
    fn of_very_many_the_first_are_named_and_all_are_counted() {
        let only = |number| one(&format!("n{number}"), LeftOutReason::OnlyIn("o".to_owned()));
        let all: Vec<LeftOut> = (0..NAMED + 3).map(only).collect();
        let text = left_out(&all, Glyphs::Ascii).swap_remove(0);
        assert!(
            text.starts_with("53 benchmarks only in 'o': n0, "),
            "{text}"
        );
        assert!(text.ends_with("n49 and 3 more."), "{text}");
    }
}
