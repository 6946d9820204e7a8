//! What an answer says of all rows of a table together: what was raced, which changes hold for the
//! whole suite, and whom a note is about.

use deadheat_model::{
    Analysis, Comparison, Evidence, InSuite, Metric, Processes, Scope, Terms, Verdict, Warning,
};
use deadheat_report::{
    CommentOptions, ComparisonOptions, Detail, Glyphs, TextOptions, to_comment, to_comparison,
    to_junit, to_markdown, to_page, to_paired, to_text,
};

use crate::fixtures::{analysis, comparison, header, placed_suite, suite};
use crate::saved;

const FULL: TextOptions = TextOptions {
    width: 1000,
    color: false,
    unicode: true,
    detail: Detail::Full,
    figures: false,
    plot: false,
    whole_names: false,
    recorded: &[],
    legend: false,
    time_unit: None,
};

const BRIEF: TextOptions<'static> = TextOptions {
    detail: Detail::Brief,
    ..FULL
};

/// Every medium that shows a table of rows, with the words of its markup left out.
fn media(analysis: &Analysis) -> Vec<String> {
    let all = vec![
        to_text(analysis, &BRIEF),
        to_text(analysis, &FULL),
        to_markdown(analysis),
        to_comment(analysis, None, &CommentOptions::default()),
        to_page(analysis, &header()),
        to_junit(analysis),
    ];
    all.into_iter().map(|text| text.replace('\\', "")).collect()
}

/// Rows of one benchmark each, of which each was raced on these links.
fn on(links: &[Scope]) -> Analysis {
    let numbered = links.iter().enumerate();
    let row = |(number, scope): (usize, &Scope)| Comparison {
        benchmark: format!("b{number}"),
        evidence: Evidence {
            scope: *scope,
            ..comparison(None, 0.05, 0.01).evidence
        },
        warnings: match scope {
            Scope::Source => vec![],
            Scope::Binary => vec![Warning::PlacementFixed { reason: None }],
        },
        ..comparison(Some(Verdict::Slower), 0.05, 0.01)
    };
    Analysis {
        processes: Processes::ProgramWorkers,
        ..analysis(numbered.map(row).collect())
    }
}

#[test]
fn every_medium_says_once_what_the_rows_were_raced_on() {
    let neutral =
        "raced on neutral links, a new one in every replicate, so the verdicts are about the";
    let own = "raced the builds as linked, not on neutral links, so the verdicts are about these \
               builds.";
    let mixed = "1 row raced on neutral links, 2 as linked.";
    let (source, binary) = (Scope::Source, Scope::Binary);
    for (links, line) in [
        ([source, source, source], neutral),
        ([binary, binary, binary], own),
        ([binary, source, binary], mixed),
    ] {
        for text in media(&on(&links)) {
            assert_eq!(
                text.matches("raced on neutral").count()
                    + text.matches("raced the builds as").count(),
                1
            );
            assert!(text.contains(line), "{text}");
        }
    }
}

#[test]
fn builds_that_nobody_could_place_are_never_said_to_be_placed() {
    for text in media(&on(&[Scope::Binary; 3])) {
        for claim in [
            "anew for every replicate",
            "new one in every replicate",
            "deadheat rev",
        ] {
            assert!(!text.contains(claim), "{claim}: {text}");
        }
    }
}

#[test]
fn a_recording_and_code_that_no_linker_places_have_no_such_line() {
    let mut interpreted = on(&[Scope::Binary; 2]);
    for one in &mut interpreted.comparisons {
        one.warnings.clear();
    }
    for analysis in [interpreted, crate::fixtures::recording()] {
        for text in media(&analysis) {
            assert!(!text.contains("raced "), "{text}");
        }
    }
}

/// So many rows that changed by themselves, the first of which hold together.
fn called(rows: usize, held: usize, alpha: f64) -> Analysis {
    let row = |number: usize| Comparison {
        benchmark: format!("b{number}"),
        terms: Terms {
            alpha,
            ..comparison(None, 0.05, 0.01).terms
        },
        suite: InSuite {
            holds: number < held,
            ..InSuite::default()
        },
        ..comparison(Some(Verdict::Slower), 0.05, 0.01)
    };
    analysis((0..rows).map(row).collect())
}

#[test]
fn the_tally_says_how_many_calls_chance_explains_at_the_error_rate() {
    for (rows, held, alpha, told) in [
        (
            27,
            2,
            0.05,
            "about 1 of 27 would change; 2 of the 27 changes hold after",
        ),
        (
            27,
            1,
            0.1,
            "about 3 of 27 would change; 1 of the 27 changes holds after",
        ),
        (
            27,
            0,
            0.001,
            "fewer than 1 of 27 would change; none of the 27 changes holds after",
        ),
    ] {
        let told = format!("(by chance alone, {told} correction for all 27)");
        for text in media(&called(rows, held, alpha)) {
            assert!(text.contains(&told), "{told}: {text}");
            assert!(!text.contains("may be chance"), "{text}");
        }
    }
    for text in media(&called(27, 27, 0.05)) {
        assert!(
            !text.contains("chance alone") && !text.contains('†'),
            "{text}"
        );
    }
}

#[test]
fn candidates_of_one_benchmark_share_its_error_rate() {
    let mut several = called(40, 0, 0.05);
    for (number, one) in several.comparisons.iter_mut().enumerate() {
        one.benchmark = format!("b{}", number / 2);
        one.candidate.as_mut().unwrap().name = format!("c{}", number % 2);
    }
    let text = to_text(&several, &BRIEF);
    assert!(
        text.contains("by chance alone, about 1 of 40 would change;"),
        "{text}"
    );
}

#[test]
fn rows_that_do_not_hold_for_the_suite_are_marked_and_the_mark_is_explained() {
    let analysis = called(3, 1, 0.05);
    let legend = "† holds alone, but not after correction for all 3 comparisons";
    let texts = [
        to_text(&analysis, &BRIEF),
        to_text(&analysis, &FULL),
        to_markdown(&analysis),
        to_comment(&analysis, None, &CommentOptions::default()),
        to_paired(&analysis, 1000, None, Glyphs::Unicode),
    ];
    for text in &texts {
        assert_eq!(text.matches("slower†").count(), 2, "{text}");
        assert_eq!(text.matches(legend).count(), 1, "{text}");
    }
    let page = to_page(&analysis, &header());
    assert!(page.contains("slower†") && page.contains(legend));
    let mut saved = saved::two_files();
    saved.comparisons[1].suite.holds = false;
    let options = ComparisonOptions::default();
    let text = to_comparison(&saved, &options);
    assert!(text.contains("> slower^\n"), "{text}");
    assert!(
        text.contains("\n  ^ holds alone, but not after correction for all 4 comparisons\n"),
        "{text}"
    );
}

#[test]
fn a_note_about_one_benchmark_of_many_names_it() {
    let apart = |at: &[(usize, f64)]| {
        let mut all = on(&[Scope::Source; 19]);
        for (number, apart) in at {
            let warning = Warning::OwnLinkApart { apart: *apart };
            all.comparisons[*number].warnings.push(warning);
        }
        all
    };
    let one = to_text(&apart(&[(7, -0.287)]), &BRIEF);
    let told = "note: 'b7': With your own link, the change is 28.7 percentage points lower than on \
                neutral links.";
    assert!(one.contains(told), "{one}");
    let two = to_text(&apart(&[(7, -0.287), (9, 0.1)]), &BRIEF);
    assert!(
        two.contains(told) && two.contains("The same applies to 'b9'"),
        "{two}"
    );
    let same = to_text(&apart(&[(7, 0.1), (9, 0.1)]), &BRIEF);
    let told =
        "note: 'b7' and 'b9': With your own link, the change is 10.0 percentage points higher";
    assert!(same.contains(told), "{same}");
    // In full, what two of them share stands at the end.
    for text in [
        to_text(&apart(&[(7, 0.1), (9, 0.1)]), &FULL),
        to_junit(&apart(&[(7, 0.1), (9, 0.1)])).replace("&apos;", "'"),
    ] {
        assert!(text.contains("'b7' and 'b9': With your own link"), "{text}");
    }
}

#[test]
fn a_note_that_holds_for_all_names_none_even_where_it_matters_for_some_only() {
    let mut all = suite();
    for one in &mut all.comparisons {
        one.warnings = vec![Warning::PlacementFixed { reason: None }];
    }
    let text = to_text(&all, &BRIEF);
    assert!(text.contains("note: Link order alone"), "{text}");
    let fell_back = to_text(&placed_suite(), &BRIEF);
    assert!(
        fell_back.contains("note: 'c': Not every replicate"),
        "{fell_back}"
    );
}

#[test]
fn the_mean_of_rates_says_that_it_is_one_of_times() {
    let mut rates = saved::throughputs();
    rates.ending = suite().ending;
    let text = to_text(&rates, &BRIEF);
    assert!(
        text.contains("geometric mean change in time +1.07%"),
        "{text}"
    );
    assert!(text.contains("+10.0%") && !text.contains("−9.1%"), "{text}");
    let mut mixed = saved::throughputs();
    mixed.comparisons[0].terms.metric = Metric::PeakRss;
    let text = to_comparison(&mixed, &ComparisonOptions::default());
    assert!(text.contains("change in cost"), "{text}");
}
