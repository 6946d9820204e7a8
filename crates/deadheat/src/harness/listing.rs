//! `--list`, as libtest and cargo-nextest read it.

use std::fmt::Write as _;

use crate::settings::Selection;
use crate::suite::Registered;

/// One line per benchmark, and for people how many there are.
pub(super) fn listing(benchmarks: &[Registered], selection: &Selection, terse: bool) -> String {
    let mut text = String::new();
    let mut count = 0;
    let listed = |b: &&Registered| selection.names(&b.name) && selection.lists(b.ignored);
    for benchmark in benchmarks.iter().filter(listed) {
        count += 1;
        let _ = writeln!(text, "{}: benchmark", benchmark.name);
    }
    if !terse {
        let noun = if count == 1 {
            "benchmark"
        } else {
            "benchmarks"
        };
        let _ = writeln!(text, "\n0 tests, {count} {noun}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Suite;
    use crate::settings::Ignored;

    #[test]
    fn a_listing_has_a_line_per_benchmark_and_counts_them_for_people() {
        let mut suite = Suite::new();
        suite.benchmark("a").baseline("one", || 1);
        suite.benchmark("b").ignored().baseline("one", || 1);
        let all = Selection::default();
        let list = |selection, terse| listing(suite.registered(), selection, terse);
        assert_eq!(list(&all, true), "a: benchmark\nb: benchmark\n");
        assert!(list(&all, false).ends_with("\n\n0 tests, 2 benchmarks\n"));
        let ignored = Selection {
            ignored: Ignored::Only,
            ..Selection::default()
        };
        assert_eq!(list(&ignored, true), "b: benchmark\n");
    }
}
