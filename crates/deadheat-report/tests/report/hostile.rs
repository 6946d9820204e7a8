use deadheat_model::{Analysis, Warning};
use deadheat_report::{
    Detail, Glyphs, Progress, TextOptions, labels, progress_line, to_json, to_markdown, to_paired,
    to_text,
};
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

use crate::fixtures::*;

/// Any text, with more of what hurts terminals than chance would bring.
pub fn names() -> impl Strategy<Value = String> {
    let nasty = prop_oneof![
        any::<char>(),
        Just('\u{1b}'),
        Just('\n'),
        Just('\t'),
        Just('\u{202e}'),
        Just('\u{301}'),
        Just('|'),
        Just('`'),
        Just(' '),
        Just('速'),
        Just('x'),
    ];
    proptest::collection::vec(nasty, 0..120).prop_map(|characters| characters.into_iter().collect())
}

pub fn named(baseline: &str, candidate: &str, benchmark: &str) -> [Analysis; 4] {
    [race(), suite(), three_contenders(), with_failures()].map(|mut analysis| {
        for failure in &mut analysis.failures {
            failure.benchmark = benchmark.to_owned();
            failure.message = candidate.to_owned();
        }
        for comparison in &mut analysis.comparisons {
            comparison.benchmark = benchmark.to_owned();
            comparison.baseline.name = baseline.to_owned();
            if let Some(side) = &mut comparison.candidate {
                side.name = candidate.to_owned();
            }
            comparison.warnings.push(Warning::OptimisedAway {
                contender: baseline.to_owned(),
                ns: 0.1,
            });
            comparison.warnings.push(Warning::ClockFallback {
                reason: candidate.to_owned(),
            });
            comparison.warnings.push(Warning::NoCounters {
                reason: benchmark.to_owned(),
            });
            comparison.warnings.push(Warning::NoCounters {
                reason: candidate.to_owned(),
            });
        }
        analysis
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_name_reaches_the_terminal_as_a_command_or_leaves_the_width(
        baseline in names(),
        candidate in names(),
        benchmark in names(),
        width in 80usize..160,
        unicode: bool,
    ) {
        let options = TextOptions { width, color: false, unicode, detail: Detail::Full, figures: true, plot: true, whole_names: false, recorded: &[], legend: false, time_unit: None };
        for analysis in named(&baseline, &candidate, &benchmark) {
            let text = to_text(&analysis, &options) + &to_paired(&analysis, width, None, Glyphs::new(unicode));
            for line in text.split('\n') {
                prop_assert!(!line.contains(char::is_control), "{:?}", line);
                prop_assert!(!line.contains(['\u{202e}', '\u{200b}', '\u{2028}']), "{:?}", line);
                prop_assert!(line.width() <= width, "{} columns of {}: {:?}", line.width(), width, line);
            }
        }
    }

    #[test]
    fn no_name_breaks_json_or_markdown(
        baseline in names(),
        candidate in names(),
        benchmark in names(),
    ) {
        for analysis in named(&baseline, &candidate, &benchmark) {
            let value: serde_json::Value = serde_json::from_str(&to_json(&analysis)).unwrap();
            prop_assert_eq!(value["benchmarks"][0]["baseline"]["name"].as_str(), Some(baseline.as_str()));
            let markdown = to_markdown(&analysis);
            let bad = |c: char| c.is_control() && c != '\n';
            prop_assert!(!markdown.contains(bad), "{:?}", markdown);
        }
    }

    #[test]
    fn a_progress_line_is_one_line(benchmark in names(), candidate in names(), width in 40usize..120) {
        let progress = Progress {
            benchmark: &benchmark,
            candidate: Some(&candidate),
            blocks: 12,
            blocks_at_most: 40,
            standing: None,
            seconds_left: Some(3.0),
        };
        let line = progress_line(&progress, width, Glyphs::Unicode);
        prop_assert!(!line.contains(char::is_control), "{:?}", line);
        prop_assert!(line.width() <= width, "{:?}", line);
    }

    #[test]
    fn labels_always_tell_their_names_apart(names in proptest::collection::vec(names(), 1..6), width in 12usize..40) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let labels = labels(&names, width, Glyphs::Unicode);
        for (index, label) in labels.iter().enumerate() {
            prop_assert!(label.width() <= width, "{:?}", label);
            prop_assert!(!labels[..index].contains(label), "{:?}", labels);
        }
    }
}
