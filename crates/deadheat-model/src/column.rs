//! The name of a metric as a column of a file.

use std::borrow::Cow;

use crate::metric::{Better, Metric, Unit};

/// Marks the column of a custom metric whose name alone would be mistaken for something else.
const CUSTOM: &str = "custom:";

/// Marks the column of a metric of which more is better, so that a file tells it to its reader.
const MORE: &str = "more:";

/// Columns of tidy CSV that are not metrics.
pub const FIXED_COLUMNS: [&str; 8] = [
    "benchmark",
    "replicate",
    "block",
    "slot",
    "contender",
    "role",
    "iterations",
    "flags",
];

/// The column of a metric: its name with `_` for `-` and the unit at the end, such as `wall_ns`,
/// `peak_rss_bytes` or `minor_faults`; a unit the name already ends in is not repeated, as in
/// `allocated_bytes`.
///
/// A custom metric keeps its own name, with `custom:` before it when that name is taken by another
/// column; so does a foreign one, which is read back as a custom one. One of which more is better has
/// `more:` before its name.
pub fn column_name(metric: &Metric) -> Cow<'_, str> {
    match metric {
        Metric::Custom(name) if is_taken(name) => format!("{CUSTOM}{name}").into(),
        Metric::Custom(name) => name.into(),
        Metric::Foreign(foreign) if foreign.better == Better::More => {
            format!("{MORE}{}", foreign.name).into()
        }
        Metric::Foreign(foreign) if is_taken(&foreign.name) => {
            format!("{CUSTOM}{}", foreign.name).into()
        }
        Metric::Foreign(foreign) => (&foreign.name).into(),
        built_in => built_in_column(built_in).into(),
    }
}

/// The metric of a column; the reverse of [`column_name`].
pub fn metric_of_column(column: &str) -> Metric {
    if let Some(name) = column.strip_prefix(CUSTOM) {
        return Metric::Custom(name.to_owned());
    }
    if let Some(name) = column.strip_prefix(MORE) {
        return Metric::named(name, Better::More);
    }
    Metric::BUILT_IN
        .into_iter()
        .find(|metric| built_in_column(metric) == column)
        .unwrap_or_else(|| Metric::Custom(column.to_owned()))
}

/// The way texts are written into a table that a spreadsheet may open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextCells {
    /// With an apostrophe before what a spreadsheet would run as a formula: a benchmark may be
    /// called `=HYPERLINK(…)` by whoever wrote it.
    #[default]
    Guarded,
    /// As they are.
    Exact,
}

impl TextCells {
    /// The cell of a text.
    pub fn cell(self, text: &str) -> Cow<'_, str> {
        if self == TextCells::Guarded && is_formula(text) {
            format!("'{text}").into()
        } else {
            text.into()
        }
    }
}

/// The text of a cell, guarded or not; the reverse of [`TextCells::cell`].
pub fn text_of_cell(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(text) if is_formula(text) => text,
        _ => cell,
    }
}

/// Returns `true` for a text that a spreadsheet may run, or that would be read back as one that was
/// guarded.
fn is_formula(text: &str) -> bool {
    let text = text.trim_start_matches('\'');
    text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n'])
}

fn built_in_column(metric: &Metric) -> String {
    let name = metric.name().replace('-', "_");
    let unit = match metric.unit() {
        Unit::Nanoseconds => "_ns",
        Unit::Bytes => "_bytes",
        Unit::Count | Unit::BytesPerSecond | Unit::PerSecond => "",
    };
    if name.ends_with(unit) {
        name
    } else {
        name + unit
    }
}

fn is_taken(name: &str) -> bool {
    name.is_empty()
        || name.starts_with(CUSTOM)
        || FIXED_COLUMNS.contains(&name)
        || metric_of_column(name) != Metric::Custom(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_column_of_a_built_in_metric_carries_its_unit() {
        let columns: Vec<_> = Metric::BUILT_IN.iter().map(column_name).collect();
        assert_eq!(
            columns.join(" "),
            "wall_ns cpu_ns user_ns system_ns peak_rss_bytes minor_faults major_faults \
             voluntary_switches involuntary_switches migrations run_delay_ns allocations \
             allocated_bytes cycles instructions branch_misses cache_misses"
        );
    }

    #[test]
    fn every_built_in_metric_is_found_again_by_its_column() {
        for metric in Metric::BUILT_IN {
            assert_eq!(metric_of_column(&column_name(&metric)), metric);
        }
    }

    #[test]
    fn a_custom_metric_named_like_another_column_is_still_told_apart() {
        for name in [
            "wall_ns", "cycles", "role", "", "custom:x", "allocs", "wall",
        ] {
            let metric = Metric::Custom(name.to_owned());
            let column = column_name(&metric).into_owned();
            assert_eq!(metric_of_column(&column), metric);
            assert!(!FIXED_COLUMNS.contains(&column.as_str()));
        }
    }

    #[test]
    fn the_column_of_what_is_better_the_more_there_is_says_so() {
        for name in ["requests/s", "rate_bytes", "wall", "more:x"] {
            let metric = Metric::named(name, Better::More);
            let column = column_name(&metric).into_owned();
            assert_eq!(column, format!("more:{name}"));
            assert_eq!(metric_of_column(&column), metric);
        }
        let unlucky = Metric::Custom("more:x".to_owned());
        assert_eq!(column_name(&unlucky), "custom:more:x");
        let described = [Metric::Wall, Metric::named("rps", Better::More)];
        assert_eq!(Metric::from_name("rps").as_in(&described), described[1]);
        assert_eq!(Metric::from_name("wall").as_in(&described), Metric::Wall);
    }

    #[test]
    fn what_a_spreadsheet_would_run_gets_an_apostrophe_unless_it_must_be_exact() {
        for (text, guarded) in [
            ("=1+1", "'=1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("-O3", "'-O3"),
            ("\t=1", "'\t=1"),
            ("'=1", "''=1"),
            ("'sort'", "'sort'"),
            ("sort -n", "sort -n"),
        ] {
            assert_eq!(TextCells::Guarded.cell(text), guarded);
            assert_eq!(TextCells::Exact.cell(text), text);
            assert_eq!(text_of_cell(guarded), text);
        }
    }

    proptest! {
        #[test]
        fn every_text_is_found_again_in_its_guarded_cell(text in "[-'=+@a\t]{0,6}|.*") {
            let cell = TextCells::Guarded.cell(&text);
            prop_assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']));
            prop_assert_eq!(text_of_cell(&cell), text.as_str());
        }

        #[test]
        fn every_custom_metric_is_found_again_by_its_column(name: String) {
            let metric = Metric::Custom(name);
            prop_assert_eq!(metric_of_column(&column_name(&metric)), metric);
        }
    }
}
