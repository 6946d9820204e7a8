use deadheat_report::{MarkdownOptions, to_markdown, to_markdown_with};

use crate::fixtures::*;

#[test]
fn a_race_as_markdown() {
    insta::assert_snapshot!(to_markdown(&race()));
}

#[test]
fn three_contenders_as_markdown() {
    insta::assert_snapshot!(to_markdown(&three_contenders()));
}

#[test]
fn a_suite_as_markdown() {
    insta::assert_snapshot!(to_markdown(&suite()));
}

#[test]
fn a_contender_alone_as_markdown() {
    insta::assert_snapshot!(to_markdown(&alone()));
}

#[test]
fn every_row_has_as_many_cells_as_the_head_whatever_the_names() {
    for name in ["a|b", "a\\|b", "`", "<img src=x>", "a\nb", "||||", ""] {
        let mut analysis = suite();
        for comparison in &mut analysis.comparisons {
            comparison.benchmark = name.to_owned();
            comparison.baseline.name = name.to_owned();
        }
        let text = to_markdown(&analysis);
        let cells = |line: &str| line.matches('|').count();
        let mut rows = text.lines().take_while(|line| line.starts_with('|'));
        let head = rows.next().map(cells);
        assert_eq!(head, Some(10));
        for row in rows {
            assert_eq!(Some(cells(row)), head, "{row}");
        }
        assert!(!text.contains("<img"), "{text}");
    }
}

#[test]
fn the_secondary_figures_as_markdown() {
    let figures = MarkdownOptions { figures: true };
    insta::assert_snapshot!(to_markdown_with(&three_contenders(), &figures));
}

#[test]
fn a_race_of_functions_as_markdown() {
    insta::assert_snapshot!(to_markdown(&functions()));
}

#[test]
fn benchmarks_that_failed_have_rows_in_markdown() {
    insta::assert_snapshot!(to_markdown(&with_failures()));
    let alone = to_markdown(&only_a_failure());
    assert!(alone.contains("failed |\n"), "{alone}");
    for text in [to_markdown(&with_failures()), alone] {
        let cells: Vec<usize> = text
            .lines()
            .take_while(|line| line.starts_with('|'))
            .map(|line| line.matches('|').count())
            .collect();
        assert!(cells.windows(2).all(|pair| pair[0] == pair[1]), "{text}");
    }
}

#[test]
fn a_race_on_neutral_links_as_markdown() {
    insta::assert_snapshot!(to_markdown(&placed()));
}

#[test]
fn what_was_left_out_is_named_in_markdown() {
    insta::assert_snapshot!(to_markdown(&builds()));
}

#[test]
fn a_skipped_benchmark_has_a_row_in_markdown() {
    insta::assert_snapshot!(to_markdown(&google()));
}

#[test]
fn controls_as_markdown() {
    insta::assert_snapshot!(to_markdown(&with_controls()));
}
