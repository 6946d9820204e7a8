//! Pictures made of characters.

use deadheat_model::{Analysis, Distribution, LogRatio, Verdict};
use deadheat_report::{Detail, TextOptions, to_text};
use unicode_width::UnicodeWidthStr;

use crate::fixtures::*;
use crate::sketched::{drawn, plots};

fn options(width: usize, unicode: bool) -> TextOptions<'static> {
    TextOptions {
        width,
        color: false,
        unicode,
        detail: Detail::Brief,
        figures: false,
        plot: true,
        whole_names: false,
        recorded: &[],
        legend: false,
        time_unit: None,
    }
}

#[test]
fn a_race_drawn_in_forty_columns() {
    insta::assert_snapshot!(to_text(&drawn(36), &options(40, true)));
}

#[test]
fn a_race_drawn_in_eighty_columns() {
    insta::assert_snapshot!(to_text(&drawn(36), &options(80, true)));
}

#[test]
fn a_race_drawn_in_a_hundred_and_twenty_columns() {
    insta::assert_snapshot!(to_text(&drawn(36), &options(120, true)));
}

#[test]
fn a_race_drawn_in_ascii() {
    for width in [40, 80, 120] {
        let text = to_text(&drawn(36), &options(width, false));
        assert!(text.is_ascii());
        insta::assert_snapshot!(format!("a_race_drawn_in_ascii_{width}"), text);
    }
}

#[test]
fn the_candidate_is_drawn_in_the_colour_of_its_verdict() {
    let coloured = TextOptions {
        color: true,
        ..options(60, true)
    };
    let text = to_text(&drawn(36), &coloured);
    assert!(
        text.lines()
            .filter(|line| line.contains("\u{1b}[32m"))
            .count()
            > 5
    );
    let codes = ["\u{1b}[32m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[0m"];
    let bare = codes.iter().fold(text, |text, code| text.replace(code, ""));
    assert_eq!(bare, to_text(&drawn(36), &options(60, true)));
}

#[test]
fn pictures_are_shown_only_when_asked_for() {
    let without = TextOptions {
        plot: false,
        whole_names: false,
        ..options(80, true)
    };
    let text = to_text(&drawn(36), &without);
    assert!(!text.contains("order of time") && !text.contains("Samples by"));
}

#[test]
fn a_contender_alone_has_one_histogram_and_no_series() {
    let mut one = alone();
    let mut found = plots(12);
    (found.differences, found.candidate) = (None, None);
    one.comparisons[0].plots = Some(Box::new(found));
    let text = to_text(&one, &options(60, true));
    assert!(text.contains("Samples by wall time. 3 lie beyond the right edge."));
    assert!(!text.contains("order of time") && !text.contains("below"));
}

#[test]
fn few_points_are_drawn_in_few_lines() {
    let lines = |points: usize| {
        let mut one = drawn(12);
        let plots = one.comparisons[0].plots.as_mut().unwrap();
        let series = plots.differences.as_mut().unwrap();
        series.points.truncate(points);
        series.blocks = points as u32;
        let text = to_text(&one, &options(60, true));
        let (above, _) = text.split_once("Change of every block").unwrap();
        let (_, picture) = above.rsplit_once("\n\n").unwrap();
        picture.lines().count()
    };
    // The last line is the axis.
    assert!(lines(6) <= 6 && lines(1) <= 6, "{} {}", lines(6), lines(1));
    assert!(lines(12) <= 12, "{}", lines(12));
    assert!(lines(60) > lines(6));
}

#[test]
fn three_contenders_are_each_drawn_against_the_first() {
    let mut three = three_contenders();
    for one in &mut three.comparisons {
        one.plots = Some(Box::new(plots(12)));
    }
    let text = to_text(&three, &options(60, true));
    assert_eq!(
        text.matches("in order of time").count(),
        three.comparisons.len()
    );
}

/// Lines of at most `width` columns; escape sequences have none.
fn fits(text: &str, width: usize) {
    for line in text.lines() {
        let mut bare = String::new();
        let mut rest = line;
        while let Some((before, after)) = rest.split_once('\u{1b}') {
            bare += before;
            rest = after.split_once('m').map_or("", |(_, behind)| behind);
        }
        bare += rest;
        assert!(bare.width() <= width, "{} in {width}: {bare}", bare.width());
        assert_eq!(bare.trim_end(), bare);
    }
}

#[test]
fn pictures_fit_every_width_whatever_is_drawn() {
    let mut all: Vec<Analysis> = [1, 2, 7, 36, 79, 80].map(drawn).to_vec();
    let mut with = |change: &dyn Fn(&mut deadheat_model::Plots)| {
        let mut one = drawn(20);
        change(one.comparisons[0].plots.as_mut().unwrap());
        all.push(one);
    };
    with(&|plots| plots.baseline = Distribution::default());
    with(&|plots| plots.edges = vec![0.0, 5e-324]);
    with(&|plots| plots.edges = vec![1e300, f64::MAX]);
    with(&|plots| plots.edges.clear());
    with(&|plots| plots.differences.as_mut().unwrap().points.clear());
    with(&|plots| plots.differences.as_mut().unwrap().points.truncate(1));
    with(&|plots| {
        for point in &mut plots.differences.as_mut().unwrap().points {
            point.effect = LogRatio(0.0);
        }
    });
    with(&|plots| {
        let points = &mut plots.differences.as_mut().unwrap().points;
        (points[3].effect, points[4].effect) = (LogRatio(1e300), LogRatio(-700.0));
        points[179].position = u32::MAX;
    });
    for analysis in &all {
        for unicode in [true, false] {
            for width in [40, 41, 57, 80, 113, 200] {
                fits(&to_text(analysis, &options(width, unicode)), width);
            }
            for width in [0, 1, 12, 39, 4_000] {
                assert!(!to_text(analysis, &options(width, unicode)).is_empty());
            }
        }
    }
}

#[test]
fn the_summary_of_a_suite_has_a_forest_where_there_is_room() {
    for width in [40, 80, 100, 120] {
        for unicode in [true, false] {
            let text = to_text(&suite(), &options(width, unicode));
            assert_eq!(text.is_ascii(), !unicode);
            // Each benchmark has a caption of its own.
            let captions = text.matches("to one scale").count();
            assert_eq!(
                captions == 6,
                [80, 120].contains(&width),
                "{width}: {captions}"
            );
            let table = text
                .split("\n\n")
                .find(|part| part.contains("[+33") && part.contains("slower"));
            let signs = if unicode { "unicode" } else { "ascii" };
            let name = format!("the_forest_in_{signs}_{width}");
            insta::assert_snapshot!(name, table.unwrap());
        }
    }
}

#[test]
fn a_forest_is_coloured_by_verdict_and_fits() {
    let coloured = TextOptions {
        color: true,
        ..options(120, true)
    };
    let text = to_text(&suite(), &coloured);
    for color in [31, 32, 33, 36] {
        let painted = |line: &str| {
            let color = format!("\u{1b}[{color}m");
            line.contains("size=") && line.starts_with(&color)
        };
        assert!(text.lines().any(painted), "{color}: {text}");
    }
    for width in (79..=200).step_by(6) {
        fits(
            &to_text(&suite(), &TextOptions { width, ..coloured }),
            width,
        );
    }
}

#[test]
fn what_a_forest_cannot_hold_points_beyond_its_edge() {
    let row = |change: f64, half_width: f64| {
        let mut one = comparison(Some(Verdict::Slower), change, half_width);
        one.benchmark = format!("at {change}");
        one.warnings = vec![];
        one
    };
    let rows = vec![
        row(0.01, 0.002),
        row(0.02, 0.003),
        row(-0.03, 0.002),
        row(0.015, 0.01),
        row(0.012, 0.01),
        row(20.0, 0.5),
        row(-0.9, 0.05),
        row(0.4, 0.39),
    ];
    let text = to_text(&analysis(rows), &options(110, true));
    insta::assert_snapshot!(
        text.split("\n\n")
            .find(|part| part.contains("benchmark "))
            .unwrap()
    );
}
