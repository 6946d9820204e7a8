//! What is said when there is nothing to race, and what `--list` prints.

use std::fmt::Write as _;

use deadheat::exit::{Failure, Status};
use deadheat::model::LeftOut;
use deadheat::report::{Glyphs, escape, sentences};
use deadheat::terminal::{self, to_stderr};

/// Names shown when nothing matches.
const NAMES_SHOWN: usize = 10;

/// A line for each pair, and a sentence for what is left out.
pub fn listing<'a>(names: impl Iterator<Item = &'a str>, left_out: &[LeftOut]) -> String {
    let glyphs = Glyphs::new(terminal::speaks_unicode());
    let mut text = String::new();
    for name in names {
        let _ = writeln!(text, "{}: benchmark", escape(name, glyphs));
    }
    for sentence in sentences::left_out(left_out, glyphs) {
        let _ = writeln!(text, "{sentence}");
    }
    text
}

/// That the two builds have nothing in common, and what each has.
pub fn nothing_in_common(left_out: &[LeftOut], names: &[String; 2]) -> Failure {
    let [old, new] = names;
    let glyphs = Glyphs::new(terminal::speaks_unicode());
    let said = sentences::left_out(left_out, glyphs);
    Failure::Usage(match said.is_empty() {
        true => format!("neither '{old}' nor '{new}' holds a benchmark"),
        false => format!(
            "'{old}' and '{new}' have no benchmark in common that could be raced:\n  {}",
            said.join("\n  ")
        ),
    })
}

/// Tells that no benchmark is asked for, and which there are. That is no error,
/// as it is none for a bench target.
pub fn nothing_selected<'a>(
    names: impl Iterator<Item = &'a str>,
    left_out: &'a [LeftOut],
) -> Status {
    to_stderr("deadheat", &no_name_fits(names, left_out));
    Status::Done
}

fn no_name_fits<'a>(names: impl Iterator<Item = &'a str>, left_out: &'a [LeftOut]) -> String {
    let glyphs = Glyphs::new(terminal::speaks_unicode());
    let names = names.chain(left_out.iter().map(|one| one.benchmark.as_str()));
    let names: Vec<String> = names.map(|name| escape(name, glyphs)).collect();
    let (shown, more) = names.split_at(names.len().min(NAMES_SHOWN));
    let mut text = format!("no benchmark is selected; there are {}", shown.join(", "));
    if !more.is_empty() {
        let _ = write!(text, " and {} more (--list)", more.len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat::model::LeftOutReason;

    fn only(benchmark: &str, side: &str) -> LeftOut {
        LeftOut {
            benchmark: benchmark.to_owned(),
            reason: LeftOutReason::OnlyIn(side.to_owned()),
        }
    }

    #[test]
    fn builds_without_anything_in_common_are_told_what_each_has() {
        let names = ["old", "new"].map(str::to_owned);
        let failure = nothing_in_common(&[only("a", "old"), only("b", "new")], &names);
        assert_eq!(failure.code(), 2);
        assert_eq!(
            failure.to_string(),
            "'old' and 'new' have no benchmark in common that could be raced:\n  \
             1 benchmark only in 'old': a.\n  1 benchmark only in 'new': b."
        );
        let empty = nothing_in_common(&[], &names).to_string();
        assert_eq!(empty, "neither 'old' nor 'new' holds a benchmark");
    }

    #[test]
    fn a_listing_has_a_line_per_pair_and_names_what_is_left_out() {
        let text = listing(["sum", "sort\u{1b}[2J"].into_iter(), &[only("a", "old")]);
        assert!(text.starts_with("sum: benchmark\nsort\\u{1b}[2J: benchmark\n"));
        assert!(text.ends_with("1 benchmark only in 'old': a.\n"), "{text}");
    }

    #[test]
    fn of_many_benchmarks_some_are_named_where_none_is_selected() {
        let all: Vec<String> = (0..12).map(|number| format!("b{number}")).collect();
        let left_out = [only("x", "old")];
        let text = no_name_fits(all.iter().map(String::as_str), &left_out);
        assert!(text.contains("there are b0, b1,"), "{text}");
        assert!(text.ends_with("b9 and 3 more (--list)"), "{text}");
    }
}
