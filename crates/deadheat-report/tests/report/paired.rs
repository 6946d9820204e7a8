use deadheat_model::{Analysis, Comparison, Metric, Verdict};
use deadheat_report::{Glyphs, TimeUnit, to_paired};

use crate::fixtures::*;

const WIDE: usize = 160;

fn paired(analysis: &Analysis) -> String {
    to_paired(analysis, WIDE, None, Glyphs::Unicode)
}

/// Functions of nanoseconds, each judged differently.
fn functions() -> Analysis {
    let function = |benchmark: &str, ns: f64, verdict, change, half_width| {
        let mut one = comparison(verdict, change, half_width);
        one.benchmark = benchmark.to_owned();
        one.baseline = side("std", ns, 4_000);
        one.candidate = Some(side("std_count", ns * (1.0 + change), 4_000));
        one
    };
    let missing = Comparison {
        estimate: None,
        ..function("utf8/0", 0.0, None, 0.0, 0.01)
    };
    analysis(vec![
        function("utf8/1", 0.3125, Some(Verdict::Equivalent), 0.0012, 0.0031),
        function("utf8/500", 59.4, Some(Verdict::Slower), 0.0231, 0.0012),
        function("utf8/5000", 1417.0, Some(Verdict::Faster), -0.352, 0.0004),
        function(
            "utf8/50k",
            15_117.0,
            Some(Verdict::Inconclusive),
            0.0172,
            0.0215,
        ),
        missing,
    ])
}

#[test]
fn functions_side_by_side() {
    insta::assert_snapshot!(paired(&functions()));
}

#[test]
fn pairs_have_the_unit_that_suits_the_smallest_or_that_was_asked_for() {
    let head = |analysis: &Analysis, unit| {
        let text = to_paired(analysis, WIDE, unit, Glyphs::Ascii);
        text.lines()
            .next()
            .unwrap()
            .split("  ")
            .find(|part| !part.is_empty())
            .unwrap()
            .to_owned()
    };
    assert_eq!(head(&functions(), None), "wall time, ns");
    assert_eq!(head(&race(), None), "wall time, us");
    assert_eq!(head(&race(), Some(TimeUnit::Seconds)), "wall time, s");
}

#[test]
fn functions_side_by_side_in_ascii() {
    let text = to_paired(&functions(), WIDE, None, Glyphs::Ascii);
    assert!(text.is_ascii());
    insta::assert_snapshot!(text);
}

#[test]
fn functions_side_by_side_in_a_narrow_terminal() {
    insta::assert_snapshot!(to_paired(&functions(), 100, None, Glyphs::Unicode));
}

#[test]
fn a_benchmark_named_after_its_sides_is_named_once() {
    let pair = |names: [&str; 2]| {
        let mut one = comparison(Some(Verdict::Equivalent), 0.0012, 0.0031);
        one.benchmark = names.join(" / ");
        one.baseline = side(names[0], 506.0, 132);
        one.candidate = Some(side(names[1], 506.6, 132));
        one
    };
    let pairs = [["std", "std"], ["std", "std_count"]].map(pair);
    insta::assert_snapshot!(paired(&analysis(pairs.to_vec())));
}

#[test]
fn three_contenders_side_by_side() {
    insta::assert_snapshot!(paired(&three_contenders()));
}

#[test]
fn a_command_against_itself_side_by_side() {
    let mut itself = comparison(Some(Verdict::Equivalent), 0.0002, 0.0031);
    itself.candidate = Some(itself.baseline.clone());
    insta::assert_snapshot!(paired(&analysis(vec![itself])));
}

#[test]
fn a_provisional_verdict_on_memory_side_by_side() {
    let mut memory = recording();
    let one = &mut memory.comparisons[0];
    one.terms.metric = Metric::PeakRss;
    one.baseline = side("./old input", 2_150_400.0, 44);
    one.candidate = Some(side("./new input", 2_104_640.0, 44));
    if let Some(estimate) = &mut one.estimate {
        estimate.interval = None;
    }
    insta::assert_snapshot!(paired(&memory));
}

#[test]
fn nothing_is_side_by_side_with_nothing() {
    for none in [alone(), analysis(vec![])] {
        assert_eq!(paired(&none), "nothing was compared.\n");
    }
}

#[test]
fn no_width_is_too_small_or_too_large_for_pairs() {
    for width in (0..30).chain([65_535, usize::MAX]) {
        for analysis in everything() {
            assert!(!to_paired(&analysis, width, None, Glyphs::Unicode).is_empty());
        }
    }
}

#[test]
fn a_verdict_about_the_source_says_so_side_by_side() {
    let found = paired(&placed_suite());
    let of = |row: usize| found.lines().nth(row).unwrap_or_default();
    assert!(of(1).contains("dead heat (source) +0.02%"), "{found}");
    assert!(of(3).contains("dead heat +0.02%"), "{found}");
}
