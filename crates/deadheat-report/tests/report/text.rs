use deadheat_model::{
    Analysis, Comparison, EndReason, Ending, Metric, Processes, Verdict, Warning,
};
use deadheat_report::sentences::{self, Source};
use deadheat_report::{Detail, Glyphs, TextOptions, TimeUnit, to_text, warnings};

use crate::fixtures::*;

const UNICODE: TextOptions<'static> = TextOptions {
    width: 80,
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
    ..UNICODE
};

#[test]
fn a_race_of_two_commands_in_unicode() {
    insta::assert_snapshot!(to_text(&race(), &UNICODE));
}

#[test]
fn a_race_over_hosts_says_of_which_hosts_it_speaks_and_in_full_each_by_itself() {
    insta::assert_snapshot!(to_text(&over_hosts(), &UNICODE));
    let brief = to_text(&over_two_hosts(), &BRIEF);
    assert!(
        brief.contains("this verdict is about these 2 hosts only."),
        "{brief}"
    );
}

#[test]
fn a_host_that_is_left_out_by_its_control_is_named_with_the_reason() {
    insta::assert_snapshot!(to_text(&over_controlled_hosts(false), &UNICODE));
    let many = to_text(&over_controlled_hosts(true), &BRIEF);
    let words = many.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "this verdict is about all hosts that resemble these 6",
        "on 3 of 6 hosts the control differs from the baseline; these are too many to \
         leave out, so all are kept: part 3, +2.10% [",
    ] {
        assert!(words.contains(part), "{part}: {many}");
    }
}

#[test]
fn a_race_of_two_commands_in_ascii() {
    let text = to_text(&race(), &TextOptions::default());
    assert!(text.is_ascii());
    insta::assert_snapshot!(text);
}

#[test]
fn a_race_of_two_commands_in_colour() {
    let options = TextOptions {
        color: true,
        ..BRIEF
    };
    insta::assert_snapshot!(to_text(&race(), &options).replace('\u{1b}', "ESC"));
}

#[test]
fn a_race_of_two_commands_in_a_narrow_terminal() {
    let options = TextOptions {
        width: 60,
        ..UNICODE
    };
    insta::assert_snapshot!(to_text(&race(), &options));
}

#[test]
fn a_race_of_two_commands_in_a_wide_terminal() {
    let options = TextOptions {
        width: 120,
        ..UNICODE
    };
    insta::assert_snapshot!(to_text(&race(), &options));
}

#[test]
fn a_quantile_is_named_wherever_its_verdict_is_told() {
    for (found, sentence) in [
        (Some(Verdict::Slower), "is slower: +3.20% time in"),
        (Some(Verdict::Equivalent), "(+3.20% time in"),
        (Some(Verdict::Inconclusive), "', +3.20% time in"),
        (None, "', +3.20% time in"),
    ] {
        let text = to_text(&of_a_quantile(found, 0.032), &BRIEF);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let sentence = format!("{sentence} the 99% quantile");
        assert!(text.contains(&sentence), "{text}");
        // The quantile takes the place of what is typical in the table.
        assert!(text.contains(" 99% quantile min samples"), "{text}");
        let open = found == Some(Verdict::Inconclusive);
        assert_eq!(text.contains("about 7 more replicates"), open, "{text}");
    }
    let mut cpu = of_a_quantile(Some(Verdict::Slower), 0.032);
    cpu.comparisons[0].terms.metric = Metric::Cpu;
    let text = to_text(&cpu, &BRIEF);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("is slower: +3.20% CPU time in the 99% quantile"),
        "{text}"
    );
    let mut suite = suite();
    suite.comparisons[0].terms.quantile = Some(0.999);
    let text = to_text(&suite, &BRIEF);
    assert!(text.contains("sort (size=10) at 99.9%"), "{text}");
}

/// The first lines of a verdict's text.
fn verdict_of(verdict: Option<Verdict>, change: f64, half_width: f64) -> String {
    let mut one = comparison(verdict, change, half_width);
    one.warnings = vec![];
    sentence_of(analysis(vec![one]))
}

fn sentence_of(analysis: Analysis) -> String {
    let text = to_text(&analysis, &BRIEF);
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    paragraph.trim_end().to_owned()
}

#[test]
fn the_four_verdicts_and_the_missing_one() {
    let told = [
        verdict_of(Some(Verdict::Faster), -0.0213, 0.0041),
        verdict_of(Some(Verdict::Slower), 1.352, 0.22),
        verdict_of(Some(Verdict::Equivalent), 0.0012, 0.0031),
        verdict_of(Some(Verdict::Equivalent), -0.0033, 0.0011),
        verdict_of(Some(Verdict::Inconclusive), 0.0172, 0.0215),
        verdict_of(None, 0.0172, 0.0215),
    ];
    insta::assert_snapshot!(told.join("\n\n"));
}

#[test]
fn an_open_race_tells_how_many_replicates_would_settle_it() {
    let mut open = comparison(Some(Verdict::Inconclusive), 0.0172, 0.0215);
    open.aspects.settling = crate::fixtures::settled_by(14);
    insta::assert_snapshot!(sentence_of(analysis(vec![open.clone()])));
    // The option excludes `--max-replicates`, so a command line with both would be refused.
    if let Some(settling) = &mut open.aspects.settling {
        settling.in_place_of = Some("-r");
    }
    let told = sentence_of(analysis(vec![open])).replace("\n  ", " ");
    assert!(
        told.ends_with(": --max-replicates 40 in place of -r"),
        "{told}"
    );
}

#[test]
fn a_provisional_verdict_says_so_in_its_sentence() {
    let mut weak = comparison(Some(Verdict::Faster), -0.0213, 0.0041);
    weak.evidence.provisional = true;
    insta::assert_snapshot!(sentence_of(analysis(vec![weak])));
}

#[test]
fn other_metrics_are_not_called_faster_or_slower_when_they_are_no_times() {
    let told = [
        Metric::Cpu,
        Metric::PeakRss,
        Metric::Custom("allocs".to_owned()),
    ]
    .map(|judged| {
        let mut one = comparison(Some(Verdict::Faster), -0.0213, 0.0041);
        one.terms.metric = judged;
        let mut even = comparison(Some(Verdict::Equivalent), -0.0033, 0.0011);
        even.terms.metric = one.terms.metric.clone();
        sentence_of(analysis(vec![one])) + "\n" + &sentence_of(analysis(vec![even]))
    });
    insta::assert_snapshot!(told.join("\n\n"));
}

#[test]
fn a_change_that_cannot_be_computed_has_a_reason() {
    let mut zeros = comparison(None, 0.0, 0.01);
    zeros.estimate = None;
    zeros.warnings = vec![Warning::TooManyZeros { share: 0.12 }];
    insta::assert_snapshot!(sentence_of(analysis(vec![zeros])));
}

#[test]
fn a_contender_alone_is_shown_and_nothing_is_judged() {
    insta::assert_snapshot!(to_text(&alone(), &UNICODE));
}

#[test]
fn three_contenders_are_judged_against_the_first() {
    insta::assert_snapshot!(to_text(&three_contenders(), &UNICODE));
}

#[test]
fn a_suite_ends_with_a_summary() {
    insta::assert_snapshot!(to_text(&suite(), &BRIEF));
}

#[test]
fn a_recording_tells_its_samples_and_neither_launches_nor_seed() {
    insta::assert_snapshot!(to_text(&recording(), &BRIEF));
}

#[test]
fn a_command_raced_against_itself_has_two_names() {
    let mut itself = comparison(Some(Verdict::Equivalent), 0.0002, 0.0031);
    itself.candidate = Some(itself.baseline.clone());
    itself.warnings = vec![];
    insta::assert_snapshot!(to_text(&analysis(vec![itself]), &BRIEF));
}

#[test]
fn every_warning_says_what_was_seen_and_what_to_do() {
    let mut doubtful = comparison(Some(Verdict::Slower), 0.1012, 0.0025);
    doubtful.warnings = every_warning();
    insta::assert_snapshot!(to_text(&analysis(vec![doubtful]), &BRIEF));
}

#[test]
fn advice_names_cpu_time_only_if_the_race_recorded_it() {
    let advised = |of: Option<&Comparison>| {
        let warnings = every_warning().into_iter();
        // It compares CPU time with wall time, so both were recorded.
        let others = warnings.filter(|one| one.code() != "clocks-disagree");
        let texts = others.map(|one| warnings::sentence(&one, of, Source::Commands, Glyphs::Ascii));
        texts.filter(|text| text.contains("--metric cpu")).count()
    };
    let mut comparison = race().comparisons.swap_remove(0);
    assert_eq!(advised(Some(&comparison)), 4);
    assert_eq!(advised(None), 0);
    comparison.metrics.retain(|row| row.metric != Metric::Cpu);
    assert_eq!(advised(Some(&comparison)), 0);
}

#[test]
fn advice_for_a_recording_does_not_ask_for_more_launches() {
    for warning in every_warning() {
        let told = warnings::sentence(&warning, None, Source::Recording, Glyphs::Ascii);
        let own = ["few-replicates", "provisional", "bimodal"];
        if own.contains(&warning.code()) {
            assert!(!told.contains("--max-replicates"), "{told}");
        }
    }
}

#[test]
fn a_warm_up_that_was_not_over_is_told_in_words_for_what_was_raced() {
    let warning = Warning::StillWarming { change: 0.31 };
    let told = |source| warnings::sentence(&warning, None, source, Glyphs::Ascii);
    let interpreter = told(Source::Programs);
    assert!(interpreter.contains("by +31"), "{interpreter}");
    assert!(interpreter.contains("(--blocks)"), "{interpreter}");
    assert!(!interpreter.contains("JMH"), "{interpreter}");
    assert!(told(Source::Harness).contains("JMH"));
}

#[test]
fn every_ending_that_matters_has_a_sentence() {
    let told: Vec<String> = every_ending()
        .iter()
        .map(
            |ending| match sentences::ending(ending, Source::Commands, Glyphs::Unicode) {
                Some(sentence) => sentence,
                None => format!("(nothing for {ending:?})"),
            },
        )
        .collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn an_interrupted_race_ends_with_a_warning() {
    let ending = every_ending().swap_remove(2);
    insta::assert_snapshot!(to_text(&Analysis { ending, ..race() }, &BRIEF));
}

#[test]
fn a_spent_budget_is_told_once() {
    let mut spent = race();
    spent.ending = every_ending().swap_remove(1);
    let budget_lines = |analysis: &Analysis| {
        let text = to_text(analysis, &BRIEF);
        text.matches("time budget").count()
    };
    assert_eq!(budget_lines(&spent), 1);
    spent.comparisons[0].warnings = vec![Warning::BudgetSpent {
        replicates: 12,
        planned: 40,
    }];
    assert_eq!(budget_lines(&spent), 1);
}

#[test]
fn hostile_names_are_shown_as_harmless_text() {
    let mut hostile = race();
    let one = &mut hostile.comparisons[0];
    one.baseline.name = "evil\n\t\u{1b}[31mred\u{202e}".to_owned();
    if let Some(candidate) = &mut one.candidate {
        candidate.name = format!("./速い --long={}", "x".repeat(500));
    }
    insta::assert_snapshot!(to_text(&hostile, &BRIEF));
}

#[test]
fn no_width_is_too_small_or_too_large_for_an_answer() {
    for width in (0..30).chain([65_535, usize::MAX]) {
        for analysis in everything() {
            let options = TextOptions { width, ..UNICODE };
            assert!(!to_text(&analysis, &options).is_empty());
        }
    }
}

#[test]
fn the_secondary_figures_are_shown_when_asked_for() {
    let options = TextOptions {
        figures: true,
        width: 100,
        ..BRIEF
    };
    insta::assert_snapshot!(to_text(&race(), &options));
}

#[test]
fn the_secondary_figures_of_a_contender_alone_are_its_distribution() {
    let options = TextOptions {
        figures: true,
        ..BRIEF
    };
    insta::assert_snapshot!(to_text(&alone(), &options));
}

#[test]
fn figures_that_do_not_exist_are_a_sign_for_nothing_or_no_row() {
    let mut bare = race();
    let figures = bare.comparisons[0].figures.as_mut().unwrap();
    figures.baseline = deadheat_model::SideFigures::default();
    figures.between = Some(deadheat_model::BetweenFigures::default());
    figures.stability = None;
    let options = TextOptions {
        figures: true,
        ..BRIEF
    };
    let text = to_text(&bare, &options);
    assert!(!text.contains("Welch") && text.contains("percentile 99"));
    bare.comparisons[0].figures = None;
    assert!(!to_text(&bare, &options).contains("Secondary"));
}

#[test]
fn a_race_of_functions_shows_its_rates_and_counts_processes() {
    insta::assert_snapshot!(to_text(&functions(), &UNICODE));
}

#[test]
fn benchmarks_that_failed_are_seen_where_their_answer_would_stand() {
    insta::assert_snapshot!(to_text(&with_failures(), &BRIEF));
}

#[test]
fn a_benchmark_that_failed_alone_is_the_whole_answer() {
    assert_eq!(
        to_text(&only_a_failure(), &BRIEF),
        "! benchmark 'parse (size=10)' failed: replicate 3: 'new' panicked: out\n  \
         of\\ncheese.\n"
    );
}

#[test]
fn a_function_alone_asks_for_a_candidate_and_not_for_a_command() {
    let one = Analysis {
        processes: Processes::Workers,
        ..alone()
    };
    let text = to_text(&one, &BRIEF);
    assert!(
        text.contains("was measured alone; add a candidate to race"),
        "{text}"
    );
}

#[test]
fn what_two_builds_do_not_share_is_counted_and_named() {
    insta::assert_snapshot!(to_text(&builds(), &BRIEF));
}

#[test]
fn a_skipped_benchmark_has_a_row_and_counters_stand_among_the_metrics() {
    insta::assert_snapshot!(to_text(&google(), &UNICODE));
}

#[test]
fn builds_with_nothing_in_common_are_told_what_each_has() {
    let text = to_text(&nothing_in_common(), &BRIEF);
    assert!(text.starts_with("nothing was measured.\n"), "{text}");
    assert!(
        text.contains("2 benchmarks only in 'new/sums': hash, hash/10."),
        "{text}"
    );
}

#[test]
fn advice_for_functions_names_no_flag_of_commands() {
    let of_commands = [
        "exit-codes-differ",
        "short-command",
        "unpaired",
        "few-observations",
        "single-blocks",
    ];
    let warnings = every_warning();
    let called = warnings.iter().filter(|w| !of_commands.contains(&w.code()));
    let endings = every_ending();
    let called: Vec<&Warning> = called.collect();
    let sources = [Source::Functions, Source::Programs, Source::Harness];
    let told = sources.into_iter().flat_map(|source| {
        let doubts = called.iter();
        let doubts =
            doubts.map(move |warning| warnings::sentence(warning, None, source, Glyphs::Ascii));
        doubts.chain(endings.iter().filter_map(move |ending| {
            let failed = matches!(ending, Ending::Recorded(EndReason::Failed(_)));
            sentences::ending(ending, source, Glyphs::Ascii).filter(|_| !failed)
        }))
    });
    for told in told {
        let told = told.replace("deadheat bench --resume FILE", "");
        for word in ["-S", "-w", "-r", "launch", "command", "--resume"] {
            let words = told.split([' ', '.', ',', ';', ')', '(']);
            let mut starts = words.filter(|w| w.starts_with(word));
            let flag = word.starts_with('-') && !word.starts_with("--");
            let found = match flag {
                true => starts.any(|w| w == word),
                false => starts.next().is_some(),
            };
            assert!(!found, "{word} in: {told}");
        }
    }
}

#[test]
fn a_metric_without_a_change_says_where_zeros_are_the_cause() {
    let mut race = race();
    let metrics = &mut race.comparisons[0].metrics;
    for metric in &mut metrics[1..3] {
        metric.estimate = None;
        metric.baseline.typical = None;
    }
    metrics[1].baseline.min = 0.0;
    let text = to_text(
        &race,
        &TextOptions {
            detail: Detail::Full,
            ..TextOptions::default()
        },
    );
    let end = |name: &str| {
        let line = text
            .lines()
            .find(|line| line.trim_start().starts_with(name));
        line.unwrap().trim_end().to_owned()
    };
    assert!(end("cpu").ends_with("zeros"), "{text}");
    assert!(!end("peak-rss").ends_with("zeros"), "{text}");
}

#[test]
fn only_a_clock_that_was_replaced_is_no_doubt_about_the_code() {
    let information = |code| {
        let warnings = every_warning();
        let warning = warnings.iter().find(|warning| warning.code() == code);
        warnings::is_information(warning.unwrap())
    };
    assert!(information("clock-fallback"));
    assert!(!information("debug-build") && !information("optimised-away"));
}

#[test]
fn a_function_of_which_nothing_is_left_is_named_once() {
    let away = |contender: &str| Warning::OptimisedAway {
        contender: contender.to_owned(),
        ns: 0.1,
    };
    let mut three = three_contenders();
    three.comparisons[0].warnings = vec![away("./new input")];
    three.comparisons[1].warnings = vec![];
    let text = to_text(&three, &BRIEF);
    assert!(
        text.contains("warning: A call of './new input' takes"),
        "{text}"
    );
}

#[test]
fn what_functions_are_measured_by_has_words() {
    for (metric, words) in [
        (Metric::Migrations, "migrations"),
        (Metric::Allocations, "allocations"),
        (Metric::AllocatedBytes, "allocated bytes"),
    ] {
        assert_eq!(sentences::metric(&metric, Glyphs::Ascii), words);
    }
}

#[test]
fn a_race_on_neutral_links_speaks_of_the_source_and_shows_the_own_link_beside() {
    insta::assert_snapshot!(to_text(&placed(), &BRIEF));
}

#[test]
fn what_placement_does_is_told_as_far_as_it_is_known() {
    insta::assert_snapshot!(to_text(&placed_suite(), &BRIEF));
}

#[test]
fn the_parts_of_the_scatter_are_among_the_figures() {
    let options = TextOptions {
        figures: true,
        ..BRIEF
    };
    let text = to_text(&placed(), &options);
    for row in [
        "sd of placement alone                                   1.4%",
        "sd of the process alone                                0.31%",
        "sd of the block alone                                  0.72%",
    ] {
        let words: Vec<&str> = row.split_whitespace().collect();
        let found = text.lines().any(|line| {
            let cells: Vec<&str> = line.split_whitespace().collect();
            cells.starts_with(&words)
        });
        assert!(found, "{row} in {text}");
    }
    assert!(!to_text(&race(), &options).contains("placement alone"));
}

#[test]
fn a_verdict_about_binaries_says_nothing_of_the_source_in_its_sentences() {
    for analysis in [race(), functions(), suite()] {
        for comparison in &analysis.comparisons {
            assert_eq!(
                deadheat_report::aspects::about_the_placement(comparison, Glyphs::Ascii),
                None
            );
            assert!(!sentences::verdict_cell(comparison, Glyphs::Unicode).contains("source"));
        }
    }
}

#[test]
fn a_control_is_told_below_the_verdicts_once_and_makes_them_provisional_when_it_separates() {
    insta::assert_snapshot!(to_text(&with_controls(), &BRIEF));
}

#[test]
fn placement_is_noted_only_where_it_could_have_made_the_change() {
    let is_noted = |verdict, change: f64, cpu: f64| {
        let mut one = comparison(Some(verdict), change, 0.002);
        for row in one
            .metrics
            .iter_mut()
            .filter(|row| row.metric == Metric::Cpu)
        {
            row.baseline.median = one.baseline.median * cpu;
            let candidate = row.candidate.as_mut().unwrap();
            candidate.median = one.candidate.as_ref().unwrap().median * cpu;
        }
        to_text(&analysis(vec![one]), &BRIEF).contains("Link order alone")
    };
    assert!(is_noted(Verdict::Slower, 0.3, 1.0));
    assert!(is_noted(Verdict::Equivalent, 0.001, 1.0));
    // Beyond what placement was ever seen to make.
    assert!(!is_noted(Verdict::Slower, 0.93, 1.0));
    // Most of the time is spent waiting, which has no place.
    assert!(!is_noted(Verdict::Slower, 0.3, 0.06));
    assert!(is_noted(Verdict::Slower, 0.02, 0.06));
    // There is no verdict to be read.
    assert!(!is_noted(Verdict::Inconclusive, 0.01, 1.0));
}

#[test]
fn a_terse_answer_is_a_line_per_candidate_however_narrow() {
    for (analysis, candidates) in [(race(), 1), (three_contenders(), 2), (over_hosts(), 1)] {
        let mut analysis = analysis;
        analysis
            .comparisons
            .iter_mut()
            .for_each(|one| one.warnings.clear());
        let terse = TextOptions {
            detail: Detail::Terse,
            width: 40,
            recorded: &["recorded in x.jsonl".to_owned()],
            ..UNICODE
        };
        let text = to_text(&analysis, &terse);
        assert_eq!(text.lines().count(), candidates, "{text}");
        assert!(text.lines().all(|line| line.contains("95% CI")), "{text}");
    }
    let terse = TextOptions {
        detail: Detail::Terse,
        width: 20,
        ..UNICODE
    };
    let suite = to_text(&suite(), &terse);
    let row = "✘ slower             +35.2%  [+33.0%, +37.4%]";
    assert!(suite.lines().any(|line| line.starts_with(row)), "{suite}");
}

#[test]
fn a_path_is_never_broken_and_ends_the_figures() {
    let path = ".deadheat/runs/20261121-120000-0000002a.jsonl";
    let recorded = [format!("recorded in {path}")];
    for (width, detail) in [(44, Detail::Brief), (20, Detail::Full), (80, Detail::Brief)] {
        let options = TextOptions {
            width,
            detail,
            recorded: &recorded,
            ..UNICODE
        };
        let text = to_text(&race(), &options);
        assert!(text.contains(path), "{text}");
        let offers_more = text.split_whitespace().any(|word| word == "(-v");
        assert_eq!(offers_more, detail == Detail::Brief, "{text}");
    }
}

#[test]
fn terms_are_explained_to_new_readers_and_in_full() {
    let legend = "typical: robust averages whose ratio is the measured change";
    let told = |options: TextOptions<'_>, analysis: &Analysis| {
        let text = to_text(analysis, &options);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let first = TextOptions {
        legend: true,
        ..BRIEF
    };
    assert!(!told(BRIEF, &race()).contains(legend));
    assert!(told(first, &race()).contains(legend));
    assert!(told(UNICODE, &race()).contains(legend));
    let suite = told(first, &suite());
    for term in [
        "dead heat is 'equivalent' in JSON",
        "too close to call is 'inconclusive' in JSON",
    ] {
        assert!(suite.contains(term), "{suite}");
        assert!(!told(first, &race()).contains(term));
    }
}

#[test]
fn times_of_tables_have_the_unit_that_was_asked_for() {
    for analysis in [race(), suite(), three_contenders()] {
        let options = TextOptions {
            time_unit: Some(TimeUnit::Milliseconds),
            ..UNICODE
        };
        let text = to_text(&analysis, &options);
        assert!(text.contains("0.6859 ms"), "{text}");
        assert!(!text.contains("685.9"), "{text}");
        // Memory and counts are no times.
        assert!(text.contains("MiB"), "{text}");
    }
}

#[test]
fn a_factor_leads_beyond_a_quarter() {
    for (verdict, change, sentence) in [
        (
            Verdict::Faster,
            -0.541,
            "is 2.18× as fast (−54.10% time, 95% CI −54.",
        ),
        (
            Verdict::Slower,
            0.352,
            "is slower: 1.35× the time (+35.20%, 95% CI +35.",
        ),
        (
            Verdict::Slower,
            15.04,
            "is slower: 16.0× the time (95% CI 16.0",
        ),
        (
            Verdict::Slower,
            0.241,
            "is slower: +24.10% time (95% CI +23.",
        ),
        (
            Verdict::Faster,
            -0.249,
            "is faster: −24.90% time (95% CI −2",
        ),
    ] {
        let text = verdict_of(Some(verdict), change, 0.0011);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(sentence), "{sentence}: {text}");
    }
}

#[test]
fn a_control_that_found_nothing_is_a_noise_floor() {
    let text = to_text(&with_a_quiet_control(), &BRIEF);
    let floor = "  baseline against itself: \u{2212}0.03% (95% CI";
    assert!(text.contains(floor), "{text}");
    assert!(!text.contains("provisional"), "{text}");
}
