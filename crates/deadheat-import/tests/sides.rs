//! Saved results, joined and analysed: nothing gets lost, and what must not
//! matter does not.

use std::path::Path;

use deadheat::parts::analysis::{Options, analyse};
use deadheat::parts::exit::Failure;
use deadheat::parts::report::{ComparisonOptions, to_comparison};
use deadheat_import::{
    ExitCodes, ResultBenchmark, ResultState, Results, Side, Terms, alone, join, read_results_from,
};
use deadheat_model::{
    Analysis, Better, Comparison, LeftOutReason, Metric, Run, Unit, Verdict, Warning,
};
use proptest::prelude::*;

fn terms(metric: Option<&str>) -> Terms {
    Terms {
        margin: 0.01,
        alpha: 0.05,
        metric: metric.map(str::to_owned),
        rules: Vec::new(),
    }
}

/// A benchmark with one metric and one process.
fn measured(name: &str, metric: Metric, values: &[f64]) -> ResultBenchmark {
    ResultBenchmark {
        name: name.to_owned(),
        metrics: vec![metric],
        processes: vec![0; values.len()],
        values: values.to_vec(),
        ..ResultBenchmark::default()
    }
}

fn timed(name: &str, values: &[f64]) -> ResultBenchmark {
    measured(name, Metric::Wall, values)
}

fn in_state(name: &str, state: ResultState) -> ResultBenchmark {
    ResultBenchmark {
        state,
        ..timed(name, &[])
    }
}

fn file(benchmarks: Vec<ResultBenchmark>) -> Results {
    let mut results = Results::new("a.json", "x 1");
    for benchmark in benchmarks {
        results.push(benchmark);
    }
    results
}

fn side(name: &str, files: Vec<Results>) -> Side {
    Side {
        name: name.to_owned(),
        files,
    }
}

/// Two sides of a file each.
fn two(old: Vec<ResultBenchmark>, new: Vec<ResultBenchmark>) -> [Side; 2] {
    [side("old", vec![file(old)]), side("new", vec![file(new)])]
}

fn analysed(sides: &[Side], metric: Option<&str>) -> Analysis {
    let run = join(sides, &terms(metric)).unwrap_or_else(|error| panic!("{error}"));
    let options = Options {
        without_figures: true,
        ..Options::default()
    };
    analyse(&run, options)
}

#[track_caller]
fn only(analysis: &Analysis) -> &Comparison {
    assert_eq!(analysis.comparisons.len(), 1, "{analysis:#?}");
    &analysis.comparisons[0]
}

/// Twenty values around one, which differ.
fn scattered(around: f64) -> Vec<f64> {
    (0..20u32)
        .map(|i| around * (1.0 + 1e-3 * f64::from(i * 7 % 20)))
        .collect()
}

fn left_out(analysis: &Analysis) -> Vec<(&str, &LeftOutReason)> {
    let left_out = analysis.left_out.iter();
    left_out
        .map(|one| (one.benchmark.as_str(), &one.reason))
        .collect()
}

fn unlike(analysis: &Analysis) -> &str {
    match &left_out(analysis)[..] {
        [(_, LeftOutReason::NotAlike(why))] => why,
        other => panic!("{other:?}"),
    }
}

/// A time, now and then none at all.
fn time() -> impl Strategy<Value = f64> {
    prop_oneof![9 => 1.0..1e9f64, 1 => Just(0.0), 1 => Just(5e-324), 1 => Just(1e300)]
}

fn state() -> impl Strategy<Value = ResultState> {
    prop_oneof![
        8 => Just(ResultState::Measured),
        1 => Just(ResultState::Summarised { statistic: "mean".to_owned() }),
        1 => Just(ResultState::Failed("broke".to_owned())),
        1 => Just(ResultState::Skipped("not here".to_owned())),
    ]
}

fn benchmark() -> impl Strategy<Value = ResultBenchmark> {
    let metrics =
        prop::sample::subsequence(vec![Metric::Wall, Metric::Cpu, Metric::PeakRss], 0..=3);
    let rows = prop::collection::vec((0u32..4, prop::array::uniform3(time())), 0..12);
    let threads = prop_oneof![3 => Just(None), 3 => Just(Some(1u32)), 1 => Just(Some(2))];
    (0usize..6, state(), metrics, rows, threads).prop_map(
        |(name, state, metrics, rows, threads)| {
            let rows = match state {
                ResultState::Measured => rows,
                ResultState::Summarised { .. } => rows.into_iter().take(1).collect(),
                ResultState::Failed(_) | ResultState::Skipped(_) => Vec::new(),
            };
            ResultBenchmark {
                name: format!("b{name}"),
                state,
                threads,
                processes: rows.iter().map(|row| row.0).collect(),
                values: rows
                    .iter()
                    .flat_map(|row| row.1[..metrics.len()].to_vec())
                    .collect(),
                metrics,
                ..ResultBenchmark::default()
            }
        },
    )
}

fn results() -> impl Strategy<Value = Results> {
    prop::collection::vec(benchmark(), 0..6).prop_map(file)
}

fn sides(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Side>> {
    let files = prop::collection::vec(results(), 1..3);
    prop::collection::vec(files, count).prop_map(|sides| {
        let named = sides.into_iter().enumerate();
        named
            .map(|(index, files)| side(&format!("side {index}"), files))
            .collect()
    })
}

/// Rows of one benchmark on two sides, in the same processes.
fn pair() -> impl Strategy<Value = (Vec<u32>, Vec<f64>, Vec<f64>)> {
    (2usize..24, 1u32..9).prop_flat_map(|(rows, processes)| {
        let values = || prop::collection::vec(1.0..1e9f64, rows);
        (
            Just((0..rows as u32).map(|row| row % processes).collect()),
            values(),
            values(),
        )
    })
}

fn of_pair(processes: &[u32], values: &[f64]) -> Vec<ResultBenchmark> {
    vec![ResultBenchmark {
        processes: processes.to_vec(),
        ..timed("a", values)
    }]
}

fn effect(analysis: &Analysis) -> Option<f64> {
    let estimate = only(analysis).estimate.as_ref();
    estimate.map(|estimate| estimate.effect.0)
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * a.abs().max(b.abs()).max(1.0)
}

fn interval(analysis: &Analysis) -> Option<(f64, f64)> {
    let interval = only(analysis).estimate.as_ref()?.interval?;
    Some((interval.low.0, interval.high.0))
}

/// Returns true if two answers are the same but for the last digits.
fn same(one: &Analysis, other: &Analysis, shift: f64) -> bool {
    let (first, second) = (interval(one), interval(other));
    let intervals = match (first, second) {
        (Some(a), Some(b)) => near(a.0 + shift, b.0) && near(a.1 + shift, b.1),
        (None, None) => true,
        _ => false,
    };
    intervals && near(effect(one).unwrap() + shift, effect(other).unwrap())
}

proptest! {
    #[test]
    fn every_benchmark_of_every_side_is_compared_failed_or_left_out(sides in sides(1..4)) {
        let Ok(run) = join(&sides, &terms(None)) else {
            return Err(TestCaseError::fail("such sides can be joined"));
        };
        let analysis = analyse(&run, Options { without_figures: true, ..Options::default() });
        let all = sides.iter().flat_map(|side| &side.files).flat_map(|file| &file.benchmarks);
        let names: std::collections::HashSet<&str> = all.map(|one| one.name.as_str()).collect();
        for name in &names {
            let compared = analysis.comparisons.iter().any(|one| one.benchmark == *name);
            let failed = analysis.failures.iter().filter(|one| one.benchmark == *name).count();
            // With three sides, what the third lacks is said beside the rest.
            let is_missing = |reason: &LeftOutReason| {
                matches!(reason, LeftOutReason::NotAlike(why) if why.ends_with("does not have it"))
            };
            let left_out = analysis.left_out.iter().filter(|one| one.benchmark == *name);
            let left_out = left_out.filter(|one| !is_missing(&one.reason)).count();
            // Of three sides one may have failed, and the others are compared.
            let others = usize::from(compared) + left_out;
            let of_three = sides.len() > 2 && failed > 0 && others <= 1;
            prop_assert!(of_three || others + failed == 1, "{}: {:#?}", name, analysis);
        }
        for told in analysis.comparisons.iter().map(|one| &one.benchmark)
            .chain(analysis.failures.iter().map(|one| &one.benchmark))
            .chain(analysis.left_out.iter().map(|one| &one.benchmark))
        {
            prop_assert!(names.contains(told.as_str()));
        }
        // What is measured on two sides that agree is compared.
        for one in &analysis.comparisons {
            prop_assert_eq!(one.candidate.is_some(), sides.len() > 1);
        }
    }

    #[test]
    fn the_other_way_round_every_effect_is_negated((processes, old, new) in pair()) {
        let [old, new] = two(of_pair(&processes, &old), of_pair(&processes, &new));
        let (there, back) = (analysed(&[old.clone(), new.clone()], None), analysed(&[new, old], None));
        prop_assert!(near(effect(&there).unwrap(), -effect(&back).unwrap()));
        match (interval(&there), interval(&back)) {
            (Some(there), Some(back)) => {
                prop_assert!(near(there.0, -back.1) && near(there.1, -back.0));
            }
            (there, back) => prop_assert_eq!(there, back),
        }
        let turned = match only(&there).verdict {
            Some(Verdict::Faster) => Some(Verdict::Slower),
            Some(Verdict::Slower) => Some(Verdict::Faster),
            other => other,
        };
        prop_assert_eq!(only(&back).verdict, turned);
    }

    #[test]
    fn the_unit_of_a_file_changes_nothing((_, old, new) in pair()) {
        let text = |values: &[f64], unit: &str, factor: f64| {
            let row = |value: &f64| {
                let time = value / factor;
                format!(r#"{{"name":"a","run_type":"iteration","real_time":{time},"cpu_time":{time},"time_unit":"{unit}"}}"#)
            };
            let rows: Vec<String> = values.iter().map(row).collect();
            let text = format!(r#"{{"context":{{}},"benchmarks":[{}]}}"#, rows.join(","));
            read_results_from(Path::new("a.json"), text.as_bytes()).unwrap()
        };
        let in_unit = |unit: &str, factor: f64| {
            let new = side("new", vec![text(&new, unit, factor)]);
            analysed(&[side("old", vec![text(&old, "ns", 1.0)]), new], None)
        };
        let nanoseconds = in_unit("ns", 1.0);
        for (unit, factor) in [("us", 1e3), ("ms", 1e6), ("s", 1e9)] {
            let other = in_unit(unit, factor);
            prop_assert!(same(&nanoseconds, &other, 0.0), "{}", unit);
            prop_assert_eq!(only(&nanoseconds).verdict, only(&other).verdict);
        }
    }

    #[test]
    fn the_order_of_rows_does_not_matter((processes, old, new) in pair(), turn in 1usize..24) {
        let turned = |values: &[f64]| -> Vec<ResultBenchmark> {
            let mut rows: Vec<(u32, f64)> =
                processes.iter().copied().zip(values.iter().copied()).collect();
            let places = turn % rows.len();
            rows.rotate_left(places);
            rows.reverse();
            let (processes, values): (Vec<u32>, Vec<f64>) = rows.into_iter().unzip();
            of_pair(&processes, &values)
        };
        let straight = analysed(&two(of_pair(&processes, &old), of_pair(&processes, &new)), None);
        let other = analysed(&two(turned(&old), turned(&new)), None);
        prop_assert!(same(&straight, &other, 0.0));
        prop_assert_eq!(only(&straight).verdict, only(&other).verdict);
    }

    #[test]
    fn a_candidate_scaled_shifts_by_the_logarithm((processes, old, new) in pair(), c in 0.01..100.0f64) {
        let scaled: Vec<f64> = new.iter().map(|value| c * value).collect();
        let with = |new: &[f64]| analysed(&two(of_pair(&processes, &old), of_pair(&processes, new)), None);
        // The sums of logarithms near 20 lose their last digits.
        let (plain, scaled) = (with(&new), with(&scaled));
        let shift = effect(&scaled).unwrap() - effect(&plain).unwrap();
        prop_assert!((shift - c.ln()).abs() < 1e-12, "{} {}", shift, c.ln());
    }
}

/// A side of six files, each a little slower than the one before.
fn six(name: &str, benchmarks: &[ResultBenchmark]) -> Side {
    let recorded = |number: u32| {
        let mut benchmarks = benchmarks.to_vec();
        let values = benchmarks.iter_mut().flat_map(|one| &mut one.values);
        values.for_each(|value| *value *= 1.0 + f64::from(number) * 1e-3);
        file(benchmarks)
    };
    side(name, (0..6).map(recorded).collect())
}

fn per_second(name: &str) -> Metric {
    Metric::foreign(name, Unit::PerSecond, Better::More)
}

#[test]
fn of_several_candidates_one_that_failed_does_not_cost_the_others() {
    let broken = in_state("a", ResultState::Failed("broke".to_owned()));
    let with_exits = |code: i64, value: f64| ResultBenchmark {
        exits: ExitCodes([Some(code)].into()),
        ..timed("a", &scattered(value))
    };
    for bad in [broken, with_exits(127, 1.0)] {
        let sides = [
            six("old", &[with_exits(0, 100.0)]),
            side("bad", vec![file(vec![bad])]),
            six("new", &[with_exits(0, 120.0)]),
        ];
        let analysis = analysed(&sides, None);
        let compared = only(&analysis);
        assert_eq!(compared.candidate.as_ref().unwrap().name, "new");
        assert_eq!(analysis.failures.len(), 1);
        assert!(
            analysis.failures[0].message.contains("'bad'"),
            "{analysis:#?}"
        );
    }
    let failed = [timed("a", &[1.0]), timed("a", &[2.0])];
    let baseline = in_state("a", ResultState::Failed("broke".to_owned()));
    let [new, newest] = failed.map(|one| side("new", vec![file(vec![one])]));
    let analysis = analysed(
        &[side("old", vec![file(vec![baseline])]), new, newest],
        None,
    );
    assert_eq!(
        (analysis.comparisons.len(), analysis.failures.len()),
        (0, 1)
    );
}

#[test]
fn five_percent_more_operations_per_second_are_faster() {
    let rate = || per_second("ops/s");
    let sides = [
        six("old", &[measured("a", rate(), &scattered(1e6))]),
        six("new", &[measured("a", rate(), &scattered(1.05e6))]),
    ];
    let analysis = analysed(&sides, None);
    assert_eq!(only(&analysis).verdict, Some(Verdict::Faster));
    assert!((effect(&analysis).unwrap() - 1.05f64.ln()).abs() < 1e-9);
    let sides = [sides[1].clone(), sides[0].clone()];
    assert_eq!(only(&analysed(&sides, None)).verdict, Some(Verdict::Slower));
}

#[test]
fn every_benchmark_is_judged_by_a_metric_of_its_own() {
    let both = |name: &str, metrics: [Metric; 2], values: [f64; 2]| {
        let rows = scattered(1.0);
        ResultBenchmark {
            name: name.to_owned(),
            metrics: metrics.to_vec(),
            processes: vec![0; rows.len()],
            values: rows
                .iter()
                .flat_map(|row| values.map(|value| row * value))
                .collect(),
            ..ResultBenchmark::default()
        }
    };
    let of = |time: f64, rate: f64| {
        vec![
            both("timed", [Metric::Wall, per_second("ops/s")], [time, rate]),
            both("rated", [per_second("ops/s"), Metric::Wall], [rate, time]),
        ]
    };
    // Less time and fewer operations: each row by its own.
    let sides = [six("old", &of(100.0, 100.0)), six("new", &of(90.0, 80.0))];
    let analysis = analysed(&sides, None);
    let told: Vec<_> = analysis
        .comparisons
        .iter()
        .map(|one| (one.terms.metric.name().to_owned(), one.verdict.unwrap()))
        .collect();
    assert_eq!(
        told,
        [
            ("wall".to_owned(), Verdict::Faster),
            ("ops/s".to_owned(), Verdict::Slower)
        ]
    );
    // The mean over both is one of cost: 0.9 of the time, 1/0.8 of the cost.
    let overall = analysis.overall[0].estimate.effect.0;
    assert!((overall - 0.5 * (0.9f64.ln() - 0.8f64.ln())).abs() < 1e-9);
    let asked = analysed(&sides, Some("wall"));
    let all_faster = |one: &Comparison| one.verdict == Some(Verdict::Faster);
    assert!(asked.comparisons.iter().all(all_faster));
    let error = join(&two(of(1.0, 1.0), of(1.0, 1.0)), &terms(Some("weight"))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "--metric weight: the files record only wall, ops/s\nhelp: name one of these, or leave --metric out"
    );
}

#[test]
fn a_metric_that_one_side_lacks_is_not_compared() {
    let sides = two(
        vec![timed("a", &[1.0, 2.0])],
        vec![measured("a", Metric::Cpu, &[1.0, 2.0])],
    );
    let analysis = analysed(&sides, None);
    assert_eq!(unlike(&analysis), "'old' measures wall; 'new' measures cpu");
    let asked = analysed(&sides, Some("cpu"));
    let why = unlike(&asked);
    assert!(why.starts_with("cpu is not recorded on all sides"), "{why}");
    // The same name in another unit is another metric.
    let counted = |unit: Unit| measured("a", Metric::foreign("m", unit, Better::Less), &[1.0]);
    let sides = two(vec![counted(Unit::Bytes)], vec![counted(Unit::Count)]);
    unlike(&analysed(&sides, None));
}

#[test]
fn the_same_name_on_other_threads_is_other_work() {
    let on = |threads: Option<u32>| ResultBenchmark {
        threads,
        ..timed("a", &scattered(1.0))
    };
    let analysis = analysed(&two(vec![on(Some(1))], vec![on(Some(4))]), None);
    assert_eq!(unlike(&analysis), "'old' ran it on 1 thread, 'new' on 4");
    only(&analysed(&two(vec![on(Some(4))], vec![on(None)]), None));
    // Of several files all count, not the first alone.
    let files = |threads: [u32; 2]| threads.map(|one| file(vec![on(Some(one))])).to_vec();
    let sides = [side("old", files([1, 1])), side("new", files([1, 4]))];
    assert_eq!(
        unlike(&analysed(&sides, None)),
        "'old' ran it on 1 thread, 'new' on 4"
    );
    let sides = [side("old", files([1, 4])), side("new", files([1, 1]))];
    let why = unlike(&analysed(&sides, None)).to_owned();
    assert_eq!(why, "'old' ran it on 1 thread, and on 4 in another file");
}

#[test]
fn what_failed_was_skipped_or_summed_up_is_told() {
    let summary = || ResultState::Summarised {
        statistic: "median".to_owned(),
    };
    let summed = |value: f64| ResultBenchmark {
        state: summary(),
        ..timed("summed", &[value])
    };
    let sides = two(
        vec![
            timed("broken", &scattered(1.0)),
            timed("skipped", &scattered(1.0)),
            summed(1.0),
            timed("gone", &[1.0]),
        ],
        vec![
            in_state("broken", ResultState::Failed("out of cheese".to_owned())),
            in_state("skipped", ResultState::Skipped("no such core".to_owned())),
            summed(1.1),
            timed("fresh", &[1.0]),
        ],
    );
    let analysis = analysed(&sides, None);
    assert_eq!(analysis.failures[0].benchmark, "broken");
    assert_eq!(analysis.failures[0].message, "in 'new': out of cheese");
    assert_eq!(
        left_out(&analysis),
        [
            (
                "skipped",
                &LeftOutReason::Skipped("no such core".to_owned())
            ),
            ("gone", &LeftOutReason::OnlyIn("old".to_owned())),
            ("fresh", &LeftOutReason::OnlyIn("new".to_owned())),
        ]
    );
    let comparison = only(&analysis);
    assert_eq!(
        (comparison.verdict, comparison.evidence.provisional),
        (None, false)
    );
    assert!((effect(&analysis).unwrap() - 1.1f64.ln()).abs() < 1e-12);
    let statistic = "median".to_owned();
    assert!(
        comparison
            .warnings
            .contains(&Warning::OnlySummaries { statistic })
    );
}

#[test]
fn with_two_candidates_every_interval_is_held_at_half_the_level() {
    let of = |name: &str, around: f64| {
        let rows = scattered(around);
        six(name, &[timed("a", &rows), timed("b", &rows)])
    };
    let analysis = analysed(&[of("x", 1.0), of("y", 1.05), of("z", 1.0)], None);
    assert_eq!(analysis.comparisons.len(), 4);
    for one in &analysis.comparisons {
        let interval = one.estimate.as_ref().unwrap().interval.unwrap();
        assert_eq!(interval.confidence, 0.975);
    }
    let candidates: Vec<&str> = analysis
        .overall
        .iter()
        .map(|one| one.candidate.as_str())
        .collect();
    assert_eq!(candidates, ["y", "z"]);
    for overall in &analysis.overall {
        assert_eq!(overall.benchmarks, 2);
        assert_eq!(overall.estimate.interval.unwrap().confidence, 0.975);
    }
    let alone = analysed(&[of("x", 1.0), of("y", 1.05)], None);
    let width = |analysis: &Analysis| {
        let interval = analysis.comparisons[0].estimate.as_ref().unwrap().interval;
        interval.map(|one| one.high.0 - one.low.0).unwrap()
    };
    assert!(width(&analysis) > width(&alone));
}

#[test]
fn what_the_third_side_lacks_is_compared_without_it() {
    let with = |name: &str, has: bool| {
        let mut benchmarks = vec![timed("a", &scattered(1.0))];
        benchmarks.extend(has.then(|| timed("b", &scattered(2.0))));
        side(name, vec![file(benchmarks)])
    };
    let analysis = analysed(&[with("x", true), with("y", false), with("z", true)], None);
    let compared: Vec<(&str, &str)> = analysis
        .comparisons
        .iter()
        .map(|one| {
            (
                one.benchmark.as_str(),
                one.candidate.as_ref().unwrap().name.as_str(),
            )
        })
        .collect();
    assert_eq!(compared, [("a", "y"), ("a", "z"), ("b", "z")]);
    assert_eq!(unlike(&analysis), "'y' does not have it");
}

#[test]
fn more_sides_than_fit_are_refused_by_name() {
    for count in [65, 256, 300] {
        let sides: Vec<Side> = (0..count)
            .map(|index| {
                side(
                    &format!("{index}"),
                    vec![file(vec![timed("sum", &[1.0, 2.0])])],
                )
            })
            .collect();
        let error = join(&sides, &terms(None)).unwrap_err();
        assert!(matches!(error, Failure::Usage(_)));
        let told = error.to_string();
        assert!(told.contains("'sum'") && told.contains("64"), "{told}");
        assert_eq!(join(&sides[..64], &terms(None)).unwrap().sides.len(), 64);
    }
}

#[test]
fn margins_and_levels_that_cannot_be_are_refused() {
    let sides = two(vec![timed("a", &[1.0])], vec![timed("a", &[1.0])]);
    for (margin, alpha, told) in [(0.0, 0.05, "--margin"), (0.01, 0.9, "--alpha")] {
        let terms = Terms {
            margin,
            alpha,
            metric: None,
            rules: Vec::new(),
        };
        let error = join(&sides, &terms).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn a_name_of_several_lines_does_not_break_the_table() {
    let name = "two\nlines\twith \u{1b}[31mcolour";
    let sides = two(
        vec![timed(name, &scattered(1.0)), timed("b", &scattered(1.0))],
        vec![timed(name, &scattered(1.1)), timed("b", &scattered(1.0))],
    );
    let options = ComparisonOptions {
        width: usize::MAX,
        ..ComparisonOptions::default()
    };
    let table = to_comparison(&analysed(&sides, None), &options);
    assert!(
        !table.contains('\u{1b}') && !table.contains('\t'),
        "{table}"
    );
    let rows: Vec<&str> = table.lines().filter(|line| line.contains("two")).collect();
    assert!(
        !rows.is_empty() && rows.iter().all(|row| row.contains("lines")),
        "{table}"
    );
}

#[test]
fn files_of_a_side_are_its_processes() {
    let files = |around: [f64; 6]| -> Vec<Results> {
        around
            .iter()
            .map(|around| {
                file(vec![
                    timed("a", &scattered(*around)),
                    timed("b", &scattered(*around)),
                ])
            })
            .collect()
    };
    let sides = [
        side("old", files([1.0, 1.01, 0.99, 1.002, 0.998, 1.005])),
        side("new", files([1.2, 1.21, 1.19, 1.202, 1.198, 1.205])),
    ];
    let run: Run = join(&sides, &terms(None)).unwrap();
    let replicates: Vec<u32> = run.benchmarks[0]
        .blocks()
        .iter()
        .map(|block| block.replicate)
        .collect();
    assert_eq!(replicates.len(), 240);
    assert_eq!(replicates.iter().max(), Some(&5));
    let analysis = analysed(&sides, None);
    let comparison = &analysis.comparisons[0];
    assert_eq!(comparison.verdict, Some(Verdict::Slower));
    assert_eq!(comparison.estimate.as_ref().unwrap().replicates, 12);
    assert_eq!(analysis.overall[0].estimate.replicates, 12);
    // One file against six cannot be judged: it is one observation.
    let lonely = [side("old", files([1.0; 6])[..1].to_vec()), sides[1].clone()];
    let analysis = analysed(&lonely, None);
    assert_eq!(analysis.comparisons[0].verdict, None);
    assert!(analysis.overall[0].estimate.interval.is_none());
}

#[test]
fn a_file_alone_is_measured_and_commands_of_hyperfine_are_compared() {
    let mut results = file(vec![
        timed("a", &scattered(1.0)),
        timed("b", &scattered(2.0)),
    ]);
    let run = alone(results.clone(), &terms(None)).unwrap();
    let analysis = analyse(&run, Options::default());
    assert_eq!(analysis.comparisons.len(), 2);
    assert!(
        analysis
            .comparisons
            .iter()
            .all(|one| one.candidate.is_none())
    );
    results.tool = "hyperfine".to_owned();
    let run = alone(results, &terms(None)).unwrap();
    let analysis = analyse(&run, Options::default());
    assert_eq!(only(&analysis).verdict, None, "one recording per side");
    assert!((effect(&analysis).unwrap() - 2f64.ln()).abs() < 1e-9);
    assert_eq!(only(&analysis).baseline.name, "a");
}
