use deadheat_model::Analysis;
use deadheat_model::TextCells;
use deadheat_report::{
    ComparisonOptions, Detail, Glyphs, MarkdownOptions, Progress, Sort, TextOptions, progress_line,
    to_comparison, to_comparison_csv, to_comparison_markdown, to_json, to_markdown,
    to_markdown_with, to_paired, to_text,
};

use crate::fixtures::*;

fn renderings(analysis: &Analysis) -> Vec<String> {
    let figures = MarkdownOptions { figures: true };
    let mut all = vec![to_json(analysis), to_markdown_with(analysis, &figures)];
    let comparison = ComparisonOptions {
        all_metrics: true,
        figures: true,
        ..ComparisonOptions::default()
    };
    all.push(to_comparison(analysis, &comparison));
    all.push(to_comparison(analysis, &ComparisonOptions::default()));
    all.push(to_comparison_markdown(analysis, &comparison));
    all.push(to_comparison_csv(
        analysis,
        Sort::File,
        false,
        TextCells::Guarded,
    ));
    for unicode in [false, true] {
        for width in [20, 60, 80, 120] {
            all.push(to_paired(analysis, width, None, Glyphs::new(unicode)));
            all.push(to_text(
                analysis,
                &TextOptions {
                    width,
                    color: unicode,
                    unicode,
                    detail: Detail::Full,
                    figures: true,
                    plot: true,
                    whole_names: false,
                    recorded: &[],
                    legend: false,
                    time_unit: None,
                },
            ));
        }
    }
    all
}

#[test]
fn nothing_is_ever_called_by_a_word_the_house_forbids() {
    let forbidden = [
        "significan",
        "no difference",
        "not different",
        "nan",
        "inf ",
    ];
    for analysis in everything() {
        for text in renderings(&analysis) {
            // A forbidden phrase must not hide behind a line break.
            let flat: Vec<&str> = text.split_whitespace().collect();
            let flat = flat.join(" ").to_lowercase();
            for word in forbidden {
                assert!(!flat.contains(word), "{word} in:\n{text}");
            }
        }
    }
}

#[test]
fn ascii_output_is_ascii() {
    for analysis in everything() {
        let text = to_text(
            &analysis,
            &TextOptions {
                figures: true,
                ..TextOptions::default()
            },
        );
        assert!(text.is_ascii(), "{text}");
        assert!(to_paired(&analysis, 120, None, Glyphs::Ascii).is_ascii());
        let comparison = to_comparison(&analysis, &ComparisonOptions::default());
        assert!(comparison.is_ascii(), "{comparison}");
    }
    let progress = Progress {
        benchmark: "größer",
        candidate: Some("速い"),
        blocks: 1,
        blocks_at_most: 40,
        standing: None,
        seconds_left: Some(90.0),
    };
    assert!(progress_line(&progress, 80, Glyphs::Ascii).is_ascii());
}

#[test]
fn every_provisional_verdict_carries_that_word_in_text_and_markdown() {
    let mut weak = race();
    weak.comparisons[0].evidence.provisional = true;
    weak.comparisons[0].warnings.clear();
    let text = to_text(&weak, &TextOptions::default());
    assert!(text.contains("provisional: './new input' is slower"));
    assert!(to_markdown(&weak).contains("| slower (provisional) |"));
}

#[test]
fn the_scope_is_told_once_per_report_however_many_benchmarks_there_are() {
    let options = TextOptions {
        width: 1000,
        ..TextOptions::default()
    };
    let text = to_text(&suite(), &options);
    assert_eq!(text.matches("Link order alone").count(), 1, "{text}");
}
