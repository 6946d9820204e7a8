use deadheat_model::TextCells;
use deadheat_model::{
    Analysis, Comparison, LeftOutReason, Metric, MetricComparison, Side, Verdict, Warning,
};
use deadheat_report::sentences::{Called, Source};
use deadheat_report::verdict_sentence;
use deadheat_report::{
    ComparisonOptions, Glyphs, Sort, escape, shorten, to_comparison, to_comparison_csv,
    to_comparison_markdown,
};
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

use crate::fixtures;
use crate::hostile::names;
use crate::saved::*;

/// Options that suit a terminal.
const WIDE: ComparisonOptions = ComparisonOptions {
    width: 110,
    color: false,
    unicode: true,
    sort: Sort::File,
    only_changed: false,
    all_metrics: false,
    figures: false,
    plot: false,
    time_unit: None,
};

const EVERY_SORT: [Sort; 4] = [Sort::File, Sort::Name, Sort::Change, Sort::Verdict];

/// The rows of the first table, without its head.
fn rows_of(text: &str) -> Vec<&str> {
    let lines = text
        .lines()
        .skip_while(|line| !line.starts_with("  benchmark"));
    // A forest has a caption below all rows.
    let over = |line: &&str| line.is_empty() || line.starts_with("  Intervals to one scale, ");
    lines.skip(1).take_while(|line| !over(line)).collect()
}

/// The first words of these rows.
fn names_of(text: &str) -> Vec<&str> {
    let first = |line: &&str| !line.starts_with("   ");
    let rows = rows_of(text).into_iter().filter(first);
    rows.filter_map(|line| line.split_whitespace().next())
        .collect()
}

#[test]
fn two_files_against_each_other() {
    insta::assert_snapshot!(to_comparison(&two_files(), &WIDE));
}

#[test]
fn two_files_in_a_terminal_of_eighty_columns() {
    let narrow = ComparisonOptions { width: 80, ..WIDE };
    insta::assert_snapshot!(to_comparison(&two_files(), &narrow));
}

#[test]
fn two_files_in_ascii_and_without_a_limit() {
    let text = to_comparison(&two_files(), &ComparisonOptions::default());
    assert!(text.is_ascii());
    insta::assert_snapshot!(text);
}

#[test]
fn two_files_in_colour() {
    let options = ComparisonOptions {
        color: true,
        ..WIDE
    };
    let text = to_comparison(&with_the_unanswered(), &options);
    insta::assert_snapshot!(text.replace('\u{1b}', "ESC"));
}

#[test]
fn colours_take_no_room() {
    for analysis in everything() {
        let painted = to_comparison(
            &analysis,
            &ComparisonOptions {
                color: true,
                ..WIDE
            },
        );
        let mut bare = String::new();
        for (index, piece) in painted.split('\u{1b}').enumerate() {
            let (_, rest) = piece.split_at(match index {
                0 => 0,
                _ => piece.find('m').unwrap() + 1,
            });
            bare.push_str(rest);
        }
        assert_eq!(bare, to_comparison(&analysis, &WIDE));
    }
}

#[test]
fn what_has_no_answer_has_a_row_and_is_counted() {
    let text = to_comparison(&with_the_unanswered(), &ComparisonOptions::default());
    let tally = "1 faster, 1 slower, 1 dead heat, 1 too close to call, 1 without a verdict, 3 failed, \
                 2 only in 'new', 1 only in 'old', 1 skipped, 1 unmatched.";
    assert!(text.contains(&format!("\n\n{tally}\n")), "{text}");
    insta::assert_snapshot!(to_comparison(&with_the_unanswered(), &WIDE));
}

#[test]
fn three_sides_have_a_row_for_each_candidate() {
    insta::assert_snapshot!(to_comparison(&three_sides(), &WIDE));
}

#[test]
fn other_metrics_are_shown_where_they_moved() {
    insta::assert_snapshot!(to_comparison(&many_metrics(), &WIDE));
}

#[test]
fn all_metrics_are_shown_when_asked_for() {
    let options = ComparisonOptions {
        all_metrics: true,
        ..WIDE
    };
    insta::assert_snapshot!(to_comparison(&many_metrics(), &options));
}

#[test]
fn of_a_throughput_more_is_faster_and_its_change_is_one_of_time() {
    let options = ComparisonOptions {
        color: true,
        ..WIDE
    };
    let text = to_comparison(&throughputs(), &options).replace('\u{1b}', "ESC");
    let row = |name: &str| {
        rows_of(&text)
            .into_iter()
            .find(|row| row.contains(name))
            .unwrap()
    };
    assert!(row("copy").contains("ESC[32m−7.5%"), "{text}");
    assert!(row("scan").contains("ESC[31m+10.0%"), "{text}");
    let head = text.lines().find(|line| line.contains("  benchmark"));
    assert!(head.unwrap().contains("change in time"), "{text}");
    assert!(!text.contains("of costs"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn changes_and_mean_of_one_column_have_one_sign_convention() {
    let mut slower = throughputs();
    for one in &mut slower.comparisons {
        one.estimate = Some(estimate(-0.14, 0.001));
        one.verdict = Some(Verdict::Slower);
    }
    slower.overall = vec![overall("new", 3, 1.0 / 0.86 - 1.0)];
    for text in [
        to_comparison(&slower, &ComparisonOptions::default()),
        to_comparison_markdown(&slower, &WIDE),
    ] {
        assert_eq!(text.matches("+16.2").count(), 4, "{text}");
        assert!(!text.contains("14.0"), "{text}");
        assert!(text.contains("change in time"), "{text}");
    }
}

#[test]
fn a_p_value_stands_beside_the_change_that_it_called_and_nowhere_else() {
    let p_of = |text: &str, name: &str| {
        let found = rows_of(text).into_iter().find(|row| row.contains(name));
        let cells: Vec<String> = found.unwrap().split("  ").map(str::to_owned).collect();
        let cells: Vec<String> = cells.into_iter().filter(|one| !one.is_empty()).collect();
        cells[cells.len() - 2].trim().to_owned()
    };
    let text = to_comparison(&two_files(), &WIDE);
    assert_eq!(p_of(&text, "BM_Sort/64"), "0.00016");
    for other in ["BM_Sort/1024", "BM_Lock", "BM_Hash/10", "geometric"] {
        assert_eq!(p_of(&text, other), "–", "{text}");
    }
    // Paid for the suite, it may exceed the level of the row that it stands beside.
    let mut many = two_files();
    many.comparisons[1].suite.p_adjusted = Some(0.37);
    assert_eq!(to_comparison(&many, &WIDE), text);
    for one in &mut many.comparisons {
        one.verdict = Some(Verdict::Equivalent);
    }
    let even = to_comparison(&many, &WIDE);
    assert!(!even.contains("  p  "), "{even}");
}

#[test]
fn metrics_that_moved_are_counted_with_and_without_a_verdict() {
    let bytes = |values: [[f64; 2]; 2], change: f64, half_width: Option<f64>, verdict| {
        let ranged = |name: &str, [min, max]: [f64; 2]| Side {
            min,
            max,
            ..side(name, min)
        };
        let mut estimate = estimate(change, half_width.unwrap_or(1.0));
        if half_width.is_none() {
            estimate.interval = None;
        }
        MetricComparison {
            metric: Metric::AllocatedBytes,
            baseline: ranged("old", values[0]),
            candidate: Some(ranged("new", values[1])),
            estimate: Some(estimate),
            verdict,
        }
    };
    let halved = [[4096.0, 4101.0], [2048.0, 2051.0]];
    let rows = [
        bytes(halved, -0.5, Some(0.01), Some(Verdict::Faster)),
        bytes(halved, -0.5, Some(0.01), None),
        bytes(halved, -0.5, None, None),
        bytes([[4096.0; 2], [2048.0; 2]], -0.5, None, None),
        bytes(halved, -0.2, Some(0.5), None),
        bytes([[4096.0, 4101.0], [4096.0, 4103.0]], 0.0001, None, None),
        bytes([[4096.0, 4101.0], [4102.0, 4103.0]], 0.0003, None, None),
        bytes([[4096.0, 4101.0], [3000.0, 5000.0]], -0.1, None, None),
    ];
    let with = |(number, row): (usize, MetricComparison)| {
        let mut one = one(&format!("b{number}"), 40.0, 0.0, Some(Verdict::Equivalent));
        one.metrics.push(row);
        one
    };
    let all = analysis(rows.into_iter().enumerate().map(with).collect());
    let text = to_comparison(&all, &WIDE);
    assert!(
        text.contains("\nallocated bytes: 4 of 8 changed\n"),
        "{text}"
    );
    let (_, table) = text
        .split_once("allocated bytes: 4 of 8 changed\n")
        .unwrap();
    assert_eq!(names_of(table), ["b0", "b1", "b2", "b3"], "{text}");
}

#[test]
fn sentences_on_a_throughput_tell_the_change_in_time() {
    let told = |change: f64, verdict| {
        let mut one = throughputs().comparisons.swap_remove(0);
        one.verdict = Some(verdict);
        one.estimate = Some(estimate(change, 0.001));
        one.evidence.excludes_zero = true;
        let called = Called {
            baseline: "old",
            candidate: Some("new"),
            baseline_is_shown: false,
        };
        verdict_sentence::verdict(&one, called, Source::Recording, Glyphs::Ascii).to_string()
    };
    let above = told(0.08, Verdict::Faster);
    assert!(
        above.contains("'new' is faster than 'old': -7.407% time by bytes_per_second ("),
        "{above}"
    );
    let below = told(-0.08, Verdict::Slower);
    assert!(
        below.contains("'new' is slower than 'old': +8.70% time by bytes_per_second ("),
        "{below}"
    );
    let risen = told(0.004, Verdict::Equivalent);
    assert!(
        risen.ends_with("); 'new' is faster, by less than the margin"),
        "{risen}"
    );
    let doubled = told(1.0, Verdict::Faster);
    assert!(
        doubled.contains("'new' is 2.00x as fast as 'old' in bytes_per_second (-50"),
        "{doubled}"
    );
}

#[test]
fn one_process_a_side_has_no_verdict_and_says_what_would_give_one() {
    insta::assert_snapshot!(to_comparison(&one_process_a_side(), &WIDE));
}

#[test]
fn data_that_cannot_answer_say_so_with_every_reason() {
    insta::assert_snapshot!(to_comparison(&cannot_answer(), &WIDE));
}

#[test]
fn one_file_alone_shows_what_it_holds() {
    let options = ComparisonOptions {
        all_metrics: true,
        ..WIDE
    };
    insta::assert_snapshot!(to_comparison(&alone(), &options));
}

#[test]
fn nothing_at_all_is_said_in_words() {
    let mut nothing = analysis(vec![]);
    assert!(to_comparison(&nothing, &WIDE).contains("nothing was compared."));
    nothing.left_out = vec![left_out("a", LeftOutReason::OnlyIn("new".to_owned()))];
    let text = to_comparison(&nothing, &WIDE);
    assert_eq!(names_of(&text), ["a"], "{text}");
    assert!(text.contains("\n1 only in 'new'.\n"), "{text}");
}

#[test]
fn only_what_changed_is_shown_when_asked_for_and_the_rest_is_counted() {
    let options = ComparisonOptions {
        only_changed: true,
        ..WIDE
    };
    let text = to_comparison(&with_the_unanswered(), &options);
    assert_eq!(
        names_of(&text),
        [
            "BM_Sort/8",
            "BM_Sort/64",
            "BM_Open",
            "BM_Read",
            "BM_Crash",
            "BM_Added/1",
            "BM_Gone",
            "BM_Gpu",
            "BM_Size",
            "BM_Added/2",
            "geometric"
        ]
    );
    assert!(
        text.contains("Only changed rows are shown; 3 unchanged rows are hidden"),
        "{text}"
    );
}

#[test]
fn every_order_is_the_one_asked_for() {
    let order = |sort| {
        let text = to_comparison(&with_the_unanswered(), &ComparisonOptions { sort, ..WIDE });
        names_of(&text).join(" ").replace("BM_", "")
    };
    let unanswered = "Open Read Crash Added/1 Gone Gpu Size Added/2 geometric";
    assert_eq!(
        order(Sort::File),
        format!("Sort/8 Sort/64 Sort/1024 Lock Hash/10 {unanswered}")
    );
    assert_eq!(
        order(Sort::Name),
        "Added/1 Added/2 Crash Gone Gpu Hash/10 Lock Open Read Size Sort/8 Sort/64 Sort/1024 \
         geometric"
    );
    assert_eq!(
        order(Sort::Change),
        format!("Sort/64 Hash/10 Sort/1024 Lock Sort/8 {unanswered}")
    );
    assert_eq!(
        order(Sort::Verdict),
        "Sort/64 Sort/8 Sort/1024 Lock Hash/10 Open Read Crash Gpu Size Added/1 Gone Added/2 \
         geometric"
    );
    let worst = ComparisonOptions {
        sort: Sort::Change,
        ..WIDE
    };
    assert_eq!(
        names_of(&to_comparison(&throughputs(), &worst)),
        ["scan", "seek", "copy", "geometric"]
    );
    assert_eq!(
        names_of(&to_comparison(&three_sides(), &worst))[..2],
        ["BM_B", "BM_A"]
    );
}

#[test]
fn label_and_threads_are_told_unless_the_name_does() {
    let titled = |name: &str, label: Option<&str>, threads| {
        let mut one = one(name, 40.0, 0.0, Some(Verdict::Equivalent));
        one.details.label = label.map(str::to_owned);
        one.details.threads = threads;
        one.details.parameters = vec![("size".to_owned(), "8".to_owned())];
        let text = to_comparison(&analysis(vec![one]), &ComparisonOptions::default());
        let row = rows_of(&text)[0].trim_start();
        row.split("  ").next().unwrap().to_owned()
    };
    assert_eq!(
        titled("a", Some("spin"), Some(4)),
        "a (size=8, spin, 4 threads)"
    );
    assert_eq!(
        titled("a/threads:4/spin", Some("spin"), Some(4)),
        "a/threads:4/spin (size=8)"
    );
    assert_eq!(
        titled("Sort/n=3-2", None, Some(2)),
        "Sort/n=3-2 (size=8)",
        "the number of Go is how many may run, and stands there"
    );
    assert_eq!(titled("a", Some(""), Some(1)), "a (size=8)");
}

#[test]
fn the_metric_judged_is_named_where_benchmarks_differ_in_it() {
    let mut mixed = two_files();
    mixed.comparisons[1].terms.metric = Metric::PeakRss;
    let text = to_comparison(&mixed, &ComparisonOptions::default());
    assert!(rows_of(&text)[1].ends_with("peak memory"), "{text}");
    assert!(rows_of(&text)[0].ends_with("wall time"), "{text}");
    for one in &mut mixed.comparisons {
        one.terms.metric = Metric::Cpu;
    }
    assert!(to_comparison(&mixed, &WIDE).contains("\n  benchmark: CPU time "));
}

#[test]
fn where_some_verdicts_are_provisional_only_those_say_so() {
    let mut mixed = two_files();
    mixed.comparisons[0].evidence.provisional = false;
    let text = to_comparison(&mixed, &ComparisonOptions::default());
    assert!(rows_of(&text)[0].ends_with("< faster"), "{text}");
    assert!(
        rows_of(&text)[1].ends_with("> slower (provisional)"),
        "{text}"
    );
}

#[test]
fn data_without_a_doubt_can_answer() {
    let mut sound = two_files();
    sound.comparisons.truncate(2);
    for one in &mut sound.comparisons {
        one.evidence.provisional = false;
        one.warnings.clear();
    }
    let text = to_comparison(&sound, &WIDE);
    assert!(
        text.ends_with("\n\nAll rows have a verdict; the files show no reason for doubt.\n"),
        "{text}"
    );
}

#[test]
fn a_doubt_that_all_share_is_said_once_and_others_name_whom_they_concern() {
    let text = to_comparison(&large(200), &ComparisonOptions::default());
    assert_eq!(text.matches("The samples do not record").count(), 1);
    let tails: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("The tail"))
        .collect();
    let [tail] = tails.as_slice() else {
        panic!("{tails:#?}")
    };
    assert!(
        tail.starts_with("warning: In BM_Family0/0: The tail differs"),
        "{tail}"
    );
    assert!(tail.contains(" BM_Family3/3, "), "{tail}");
    assert!(
        tail.ends_with(" and 56 more: the same warning, with other numbers."),
        "{tail}"
    );
}

#[test]
fn many_benchmarks_that_fail_alike_are_told_together() {
    let mut many = two_files();
    let all = (0..15).map(|number| failed(&format!("f{number}"), "no\nnetwork."));
    many.failures = all.collect();
    let text = to_comparison(&many, &ComparisonOptions::default());
    assert!(
        text.contains("\n! 15 benchmarks failed: f0, f1, f2, f3, f4, f5, f6, f7, f8, f9 and 5 more: no\\nnetwork.\n"),
        "{text}"
    );
    let apart = (0..30).map(|number| failed("f", &format!("fault {number}")));
    many.failures = apart.collect();
    let text = to_comparison(&many, &ComparisonOptions::default());
    assert!(text.contains("\n! 10 benchmarks more failed;"), "{text}");
}

#[test]
fn the_secondary_figures_follow_when_asked_for() {
    let mut figured = two_files();
    figured.comparisons.truncate(1);
    figured.comparisons[0].figures = Some(Box::new(fixtures::figures(-0.0513, 0.01)));
    let options = ComparisonOptions {
        figures: true,
        ..WIDE
    };
    let text = to_comparison(&figured, &options);
    assert!(
        text.contains("\nBM_Sort/8. Secondary figures, which never"),
        "{text}"
    );
    assert!(text.contains("Hodges-Lehmann"), "{text}");
    let markdown = to_comparison_markdown(&figured, &options);
    assert!(
        markdown.contains("`BM_Sort/8`: Secondary figures"),
        "{markdown}"
    );
    assert!(!to_comparison(&figured, &WIDE).contains("Secondary"));
}

#[test]
fn a_comparison_as_markdown() {
    insta::assert_snapshot!(to_comparison_markdown(&with_the_unanswered(), &WIDE));
}

#[test]
fn three_sides_as_markdown() {
    insta::assert_snapshot!(to_comparison_markdown(&three_sides(), &WIDE));
}

#[test]
fn of_many_rows_markdown_folds_those_that_did_not_change() {
    let text = to_comparison_markdown(&large(60), &WIDE);
    let (open, folded) = text.split_once("<details>").unwrap();
    let (folded, _) = folded.split_once("</details>").unwrap();
    assert_eq!(open.matches("`BM_").count(), 6);
    assert!(open.contains("| **geometric mean** |"), "{open}");
    assert_eq!(folded.matches("`BM_").count(), 54);
    assert!(!folded.contains("geometric mean"));
    assert!(!to_comparison_markdown(&large(50), &WIDE).contains("<details>"));
}

#[test]
fn markdown_rows_have_as_many_cells_as_their_head_whatever_the_names() {
    for name in [
        "a|b",
        "a\\|b",
        "`",
        "<script>alert(1)</script>",
        "a\nb",
        "||||",
        "",
    ] {
        for mut analysis in everything() {
            rename(&mut analysis, name);
            let options = ComparisonOptions {
                all_metrics: true,
                ..WIDE
            };
            let text = to_comparison_markdown(&analysis, &options);
            let cells = |line: &str| line.matches('|').count();
            let mut head = None;
            for line in text.lines() {
                match line.starts_with('|') {
                    true => assert_eq!(*head.get_or_insert(cells(line)), cells(line), "{line}"),
                    false => head = None,
                }
            }
            assert!(!text.contains("<script"), "{text}");
        }
    }
}

/// Gives this name to everything that has one.
fn rename(analysis: &mut Analysis, name: &str) {
    for one in &mut analysis.comparisons {
        one.benchmark = name.to_owned();
        one.details.label = Some(name.to_owned());
        one.baseline.name = name.to_owned();
        if let Some(side) = &mut one.candidate {
            side.name = format!("{name}!");
        }
    }
    for side in &mut analysis.sides {
        side.name = name.to_owned();
        for file in &mut side.files {
            file.source = name.to_owned();
            file.tool = name.to_owned();
            file.facts.host = Some(name.to_owned());
        }
    }
    for failure in &mut analysis.failures {
        failure.benchmark = name.to_owned();
        failure.message = name.to_owned();
    }
    for one in &mut analysis.left_out {
        one.benchmark = name.to_owned();
        one.reason = match &one.reason {
            LeftOutReason::OnlyIn(_) => LeftOutReason::OnlyIn(name.to_owned()),
            LeftOutReason::Skipped(_) => LeftOutReason::Skipped(name.to_owned()),
            LeftOutReason::NotAlike(_) => LeftOutReason::NotAlike(name.to_owned()),
        };
    }
}

#[test]
fn odd_names_are_shown_as_harmless_text() {
    let mut odd = with_the_unanswered();
    let long = "x".repeat(300);
    let strange = ["a\nb", "a|b", "<script>", &long, "速い/größer"];
    for (one, name) in odd.comparisons.iter_mut().zip(strange) {
        one.benchmark = name.to_owned();
    }
    insta::assert_snapshot!(to_comparison(&odd, &WIDE));
    let whole = to_comparison(
        &odd,
        &ComparisonOptions {
            width: usize::MAX,
            ..WIDE
        },
    );
    assert!(whole.contains(&long), "without a limit nothing is cut");
}

#[test]
fn a_comparison_as_csv() {
    let mut odd = with_the_unanswered();
    odd.comparisons[0].benchmark = "a,\"b\"\nc".to_owned();
    insta::assert_snapshot!(to_comparison_csv(
        &odd,
        Sort::File,
        false,
        TextCells::Guarded
    ));
}

#[test]
fn no_cell_of_csv_is_a_formula_unless_it_must_be_exact() {
    let mut hostile = with_the_unanswered();
    let formula = "=HYPERLINK(0)".to_owned();
    let one = &mut hostile.comparisons[0];
    one.benchmark = formula.clone();
    one.details.label = Some(formula.clone());
    one.details.parameters = vec![("@x".to_owned(), "1".to_owned())];
    one.baseline.name = formula.clone();
    hostile.failures[0].message = formula;
    let csv = |cells| to_comparison_csv(&hostile, Sort::File, false, cells);
    let guarded = csv(TextCells::Guarded);
    assert!(!guarded.contains(",=") && !guarded.contains("\n=") && !guarded.contains(",@"));
    assert!(guarded.matches("'=HYPERLINK(0)").count() >= 4, "{guarded}");
    let exact = csv(TextCells::Exact);
    assert_eq!(exact, guarded.replace("'=", "=").replace("'@", "@"));
}

#[test]
fn csv_has_a_row_per_candidate_and_metric_and_as_many_cells_in_each() {
    for analysis in everything() {
        for sort in EVERY_SORT {
            let text = to_comparison_csv(&analysis, sort, false, TextCells::Guarded);
            let rows = |one: &Comparison| {
                let others = one
                    .metrics
                    .iter()
                    .filter(|row| row.metric != one.terms.metric);
                1 + others.count()
            };
            let compared: usize = analysis.comparisons.iter().map(rows).sum();
            let unanswered = analysis.failures.len() + analysis.left_out.len();
            assert_eq!(text.lines().count(), 1 + compared + unanswered);
            for line in text.lines().filter(|line| !line.contains('"')) {
                assert_eq!(line.matches(',').count(), 31, "{line}");
            }
        }
    }
    let changed = to_comparison_csv(&with_the_unanswered(), Sort::Name, true, TextCells::Guarded);
    assert!(
        !changed.contains("BM_Lock") && changed.contains("BM_Gpu"),
        "{changed}"
    );
    assert!(
        changed
            .lines()
            .nth(1)
            .is_some_and(|line| line.starts_with("BM_Added/1,"))
    );
}

#[test]
fn no_width_is_too_small_or_too_large_for_a_comparison() {
    for width in (0..60).chain([65_535, 65_536, usize::MAX]) {
        for analysis in everything() {
            let options = ComparisonOptions {
                width,
                all_metrics: true,
                ..WIDE
            };
            assert!(!to_comparison(&analysis, &options).is_empty());
        }
    }
}

#[test]
fn any_analysis_can_be_shown_as_a_comparison() {
    for analysis in fixtures::everything() {
        for sort in EVERY_SORT {
            let options = ComparisonOptions {
                sort,
                figures: true,
                ..WIDE
            };
            assert!(!to_comparison(&analysis, &options).is_empty());
            assert!(!to_comparison_markdown(&analysis, &options).is_empty());
            assert!(!to_comparison_csv(&analysis, sort, true, TextCells::Guarded).is_empty());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_benchmark_has_a_row_whatever_its_name(
        benchmarks in proptest::collection::vec((names(), 0..4usize), 1..12),
        sides in (names(), names()),
        width in 81usize..180,
        unicode: bool,
        sort in prop_oneof![Just(Sort::File), Just(Sort::Name), Just(Sort::Change), Just(Sort::Verdict)],
    ) {
        let mut all = analysis(vec![]);
        for (name, kind) in &benchmarks {
            match kind {
                0 => all.failures.push(failed(name, name)),
                1 => all.left_out.push(left_out(name, LeftOutReason::OnlyIn(sides.1.clone()))),
                _ => {
                    let mut one = one(name, 40.0, 0.04, Some(Verdict::Slower));
                    one.baseline.name = sides.0.clone();
                    one.candidate.as_mut().unwrap().name = sides.1.clone();
                    one.warnings.push(Warning::NoCounters { reason: name.clone() });
                    all.comparisons.push(one);
                }
            }
        }
        all.sides[0].name = sides.0;
        all.sides[1].name = sides.1;
        let glyphs = Glyphs::new(unicode);
        for width in [80, width, usize::MAX] {
            let options = ComparisonOptions { width, unicode, sort, ..WIDE };
            let text = to_comparison(&all, &options);
            let rows = rows_of(&text);
            for line in text.split('\n') {
                prop_assert!(!line.contains(char::is_control), "{:?}", line);
                prop_assert!(!line.contains(['\u{202e}', '\u{200b}', '\u{2028}']), "{:?}", line);
                prop_assert!(line.width() <= width, "{} columns of {}: {:?}", line.width(), width, line);
            }
            // In less than that names stand on lines of their own.
            if width < 120 {
                continue;
            }
            prop_assert_eq!(rows.len(), benchmarks.len(), "{}", text);
            for (name, _) in &benchmarks {
                // The least that is left of any name, its first characters.
                let whole = escape(name, glyphs);
                let short = shorten(&whole, 12, glyphs);
                // Where there is room nothing stands for what was cut.
                let common = short.chars().zip(whole.chars()).take_while(|(a, b)| a == b);
                let start: String = common.map(|(kept, _)| kept).take(4).collect();
                let found = rows.iter().any(|row| row[2..].starts_with(start.trim_end()));
                prop_assert!(found || name.is_empty(), "{:?} in {}", start, text);
            }
        }
        let markdown = to_comparison_markdown(&all, &WIDE);
        prop_assert!(!markdown.contains(|c: char| c.is_control() && c != '\n'), "{:?}", markdown);
    }
}

#[test]
fn a_wide_terminal_shows_a_forest_beside_the_table() {
    let options = ComparisonOptions { width: 140, ..WIDE };
    let text = to_comparison(&two_files(), &options);
    let table = text.split("\n\n").find(|part| part.contains("95% CI  "));
    insta::assert_snapshot!(table.unwrap());
    let coloured = ComparisonOptions {
        color: true,
        ..options
    };
    let painted = to_comparison(&two_files(), &coloured);
    assert!(painted.contains("\u{1b}[32m├"), "{painted}");
    // A file has no right edge, and no column that follows it.
    let file = ComparisonOptions {
        width: usize::MAX,
        ..WIDE
    };
    assert!(!to_comparison(&two_files(), &file).contains("one scale"));
}

#[test]
fn saved_results_are_drawn_when_asked_for() {
    let mut files = two_files();
    for one in &mut files.comparisons {
        let mut found = crate::sketched::plots(12);
        found.differences = None;
        one.plots = Some(Box::new(found));
    }
    let options = ComparisonOptions { plot: true, ..WIDE };
    let text = to_comparison(&files, &options);
    let drawn = text
        .matches("Samples by wall time: the baseline above")
        .count();
    assert_eq!(drawn, files.comparisons.len());
    assert!(!to_comparison(&files, &WIDE).contains("Samples by"));
}
