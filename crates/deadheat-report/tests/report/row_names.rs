//! What rows are called: by their benchmark, with the candidate where that is not plain, and no two
//! alike; and which means stand below them.

use deadheat_model::{Analysis, Overall, Population, Verdict};
use deadheat_report::{
    CommentOptions, ComparisonOptions, Detail, TextOptions, to_comment, to_comparison, to_junit,
    to_page, to_pictures, to_text,
};

use crate::fixtures::{analysis, comparison, estimate, header};
use crate::saved;

/// Two functions of a suite with two lengths, called by the first one.
fn two_functions() -> Analysis {
    let rows = ["10", "1000"].map(|length| {
        let mut row = comparison(Some(Verdict::Slower), 0.12, 0.01);
        row.benchmark = format!("by_if/{length}");
        row.details.parameters = vec![("length".to_owned(), length.to_owned())];
        row.baseline.name = "by_if".to_owned();
        row.candidate.as_mut().unwrap().name = "by_get".to_owned();
        row
    });
    Analysis {
        of_builds: false,
        ..analysis(rows.to_vec())
    }
}

fn text(analysis: &Analysis) -> String {
    to_text(
        analysis,
        &TextOptions {
            whole_names: true,
            ..TextOptions::default()
        },
    )
}

/// The picture of the whole suite.
fn forest(analysis: &Analysis) -> String {
    to_pictures(analysis).next().unwrap().svg
}

#[test]
fn rows_of_two_functions_name_the_one_that_the_verdict_is_about() {
    let suite = two_functions();
    let text = text(&suite);
    for length in ["10", "1000"] {
        let row = format!("by_if/{length} (length={length}): by_get");
        assert!(text.contains(&row), "{text}");
        assert!(to_junit(&suite).contains(&format!("name=\"{row}\"")));
    }
    let comment = to_comment(&suite, None, &CommentOptions::default());
    assert!(
        comment.contains("| `by_if/10 (length=10)` | `by_get` | ✘ slower"),
        "{comment}"
    );
    let page = to_page(&suite, &header());
    assert_eq!(page.matches("<td class=\"who\">").count(), 2);
    let forest = forest(&suite);
    assert!(forest.contains("by_get"), "{forest}");
}

#[test]
fn rows_of_two_builds_do_not_repeat_their_names() {
    let builds = Analysis {
        of_builds: true,
        ..two_functions()
    };
    assert!(!text(&builds).contains("by_get"));
    assert!(to_junit(&builds).contains("name=\"by_if/10 (length=10)\""));
    assert!(!to_page(&builds, &header()).contains("<td class=\"who\">"));
}

#[test]
fn rows_of_one_function_and_others_name_all_candidates() {
    let mut suite = two_functions();
    suite.comparisons[1].candidate.as_mut().unwrap().name = "by_match".to_owned();
    let text = text(&suite);
    assert!(text.contains("(length=10): by_get"), "{text}");
    assert!(text.contains("(length=1000): by_match"), "{text}");
}

#[test]
fn a_name_in_brackets_tells_all_parameters() {
    let mut suite = two_functions();
    suite.comparisons[0].benchmark = "t.py::test_sum[10-list]".to_owned();
    let text = text(&suite);
    assert!(text.contains("t.py::test_sum[10-list]: by_get"), "{text}");
    assert!(text.contains("by_if/1000 (length=1000)"), "{text}");
}

#[test]
fn long_titles_of_a_page_are_cut_together() {
    let ends = ["one", "two", "three"];
    let titles = ends.map(|end| format!("{}/{end}/{}", "a".repeat(400), "b".repeat(400)));
    let rows = titles.map(|title| {
        let mut row = comparison(Some(Verdict::Slower), 0.12, 0.01);
        row.benchmark = title;
        row
    });
    let page = to_page(&analysis(rows.to_vec()), &header());
    for end in ends {
        // In the overview, and above its details.
        for place in ["<th scope=\"row\" class=\"name\"", "<h3 id="] {
            let named = page
                .split(place)
                .skip(1)
                .filter_map(|rest| rest.split("</").next());
            let count = named.filter(|name| name.contains(end)).count();
            assert_eq!(count, 1, "{end} {place}");
        }
    }
}

#[test]
fn a_mean_has_its_interval_from_ten_benchmarks_on_and_in_full_only() {
    let of = |benchmarks, population| {
        let mut suite = two_functions();
        suite.overall = vec![Overall {
            candidate: "by_get".to_owned(),
            benchmarks,
            estimate: estimate(-0.59, 0.04),
            population,
        }];
        suite
    };
    let full = TextOptions {
        detail: Detail::Full,
        ..TextOptions::default()
    };
    let mean_of = |text: &str| {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (_, mean) = words.split_once("geometric mean ").expect("a mean");
        let (_, behind) = mean.split_once(" benchmarks").expect("their number");
        behind.trim_start().chars().next()
    };
    for population in [Population::LikeThese, Population::These] {
        for (benchmarks, has_interval) in [(2, false), (9, false), (10, true), (200, true)] {
            let suite = of(benchmarks, population);
            assert_eq!(mean_of(&text(&suite)), Some('.'), "{benchmarks}");
            let behind = if has_interval { '(' } else { '.' };
            let in_full = to_text(&suite, &full);
            assert_eq!(mean_of(&in_full), Some(behind), "{benchmarks}");
            assert!(to_page(&suite, &header()).contains("<tfoot>"));
            assert!(forest(&suite).contains("geometric mean"));
        }
    }
    let saved = saved::two_files();
    assert!(to_comparison(&saved, &ComparisonOptions::default()).contains("geometric mean"));
}
