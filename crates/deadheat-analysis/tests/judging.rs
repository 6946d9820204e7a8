//! The answer to every kind of data that is out of the ordinary, on runs made by hand.

use std::cell::Cell;
use std::rc::Rc;

use deadheat_analysis::{
    Options, PlannedRule, UntilRule, analyse, fixed_look, measured_effects, planned_looks,
};
use deadheat_model::{
    Analysis, BlockRecord, Comparison, CutShortKept, Decision, EndReason, Ending, Flags, Metric,
    Origin, Run, RunHeader, Sample, StoppingRule, Until, Verdict, Warning, Workload,
};
use deadheat_stats::dist::t_critical;
use deadheat_testing::runs::{self, benchmark, design, ended, header, sample};
use proptest::prelude::*;

/// A run in the making.
struct Maker {
    run: Run,
}

impl Maker {
    fn new(origin: Origin, contenders: usize, benchmarks: usize, metrics: &[Metric]) -> Self {
        let names = || (0..contenders).map(|index| format!("c{index}"));
        let recorded = || runs::contenders(names(), &Workload::Recording);
        let benchmark = |index: usize| benchmark(format!("b{index}"), recorded());
        let design = design(planned_looks(0, 40, 0.05).unwrap());
        Self {
            run: Run::new(RunHeader {
                origin,
                metrics: metrics.to_vec(),
                ..header(design, 3, (0..benchmarks).map(benchmark).collect())
            }),
        }
    }

    fn race() -> Self {
        Self::new(Origin::Race, 2, 1, &[Metric::Wall])
    }

    fn recording() -> Self {
        Self::new(Origin::PairedRecording, 2, 1, &[Metric::Wall])
    }

    /// Adds a block: who ran, flags, and the values of every metric.
    fn block(&mut self, benchmark: usize, replicate: u32, slots: &[(u8, Flags, &[f64])]) {
        let index = self.run.benchmarks[benchmark]
            .blocks()
            .iter()
            .filter(|span| span.replicate == replicate)
            .count() as u32;
        let record = BlockRecord {
            benchmark,
            replicate,
            index,
            primed: false,
            elapsed_ns: 1,
            samples: slots
                .iter()
                .map(|(contender, flags, _)| Sample {
                    flags: *flags,
                    ..sample(*contender)
                })
                .collect(),
            values: slots
                .iter()
                .flat_map(|(_, _, values)| values.to_vec())
                .collect(),
        };
        self.run.benchmarks[benchmark].push(&record).unwrap();
    }

    /// Adds an ABBA block with these two times.
    fn pair(&mut self, replicate: u32, baseline: f64, candidate: f64) {
        let (a, b) = ([baseline], [candidate]);
        let none = Flags::NONE;
        self.block(
            0,
            replicate,
            &[(0, none, &a), (1, none, &b), (1, none, &b), (0, none, &a)],
        );
    }

    /// Adds single-block replicates with a ratio that wobbles around `ratio`.
    fn replicates(mut self, count: u32, ratio: f64, wobble: f64) -> Self {
        let first = self.run.benchmarks[0].blocks().len() as u32;
        for replicate in first..first + count {
            let noise = f64::from(replicate * 7 % 11) / 5.0 - 1.0;
            let level = 1e6 * (1.0 + f64::from(replicate % 3) * 0.1);
            self.pair(replicate, level, level * ratio * (wobble * noise).exp());
        }
        self
    }

    fn ended(mut self, reason: EndReason) -> Self {
        self.run.end = Some(ended(reason));
        self
    }

    fn analysis(&self) -> Analysis {
        analyse(&self.run, Options::default())
    }

    fn first(&self) -> Comparison {
        self.analysis().comparisons[0].clone()
    }
}

fn codes(comparison: &Comparison) -> Vec<&'static str> {
    comparison.warnings.iter().map(Warning::code).collect()
}

#[test]
fn a_clear_race_is_called_at_the_look_where_it_ended() {
    let row = Maker::race()
        .replicates(6, 1.1, 0.002)
        .ended(EndReason::Finished)
        .first();
    assert_eq!(row.verdict, Some(Verdict::Slower));
    let estimate = row.estimate.unwrap();
    assert!((estimate.effect.change() - 0.1).abs() < 0.005);
    assert_eq!(estimate.replicates, 6);
    assert!((estimate.interval.unwrap().confidence - (1.0 - 0.00290)).abs() < 1e-12);
    assert!(codes(&row).contains(&"early-stop"));
}

#[test]
fn a_race_cut_by_its_budget_concludes_at_its_last_completed_look() {
    let ten = Maker::race()
        .replicates(10, 1.001, 0.03)
        .ended(EndReason::Budget)
        .first();
    let estimate = ten.estimate.unwrap();
    assert_eq!(estimate.replicates, 8, "looks stand at 6, 8, 11 …");
    assert!((estimate.interval.unwrap().confidence - (1.0 - 0.00226)).abs() < 1e-12);
    assert_eq!(ten.verdict, Some(Verdict::Inconclusive));
    assert!(codes(&ten).contains(&"budget-spent"));
}

#[test]
fn a_race_cut_before_its_first_look_gets_an_interval_and_no_verdict() {
    let row = Maker::race()
        .replicates(4, 1.1, 0.002)
        .ended(EndReason::Budget)
        .first();
    assert_eq!(row.verdict, None);
    assert!(row.estimate.unwrap().interval.is_some());
    assert!(codes(&row).contains(&"few-replicates"));
}

#[test]
fn an_interrupted_race_is_judged_by_the_interval_that_holds_at_any_time() {
    // Seven replicates: the plan looks at six, which would have ended it.
    let row = Maker::race()
        .replicates(7, 1.05, 0.002)
        .ended(EndReason::Interrupted(2))
        .first();
    assert!(codes(&row).contains(&"judged-anytime"));
    let estimate = row.estimate.unwrap();
    assert_eq!(estimate.replicates, 7);
    assert!((estimate.interval.unwrap().confidence - 0.95).abs() < 1e-12);
    assert_eq!(row.verdict, Some(Verdict::Slower));
}

#[test]
fn a_benchmark_that_had_ended_by_its_plan_keeps_its_verdict_when_the_run_is_interrupted() {
    let row = Maker::race()
        .replicates(6, 1.05, 0.002)
        .ended(EndReason::Interrupted(2))
        .first();
    assert!(!codes(&row).contains(&"judged-anytime"));
    assert_eq!(row.verdict, Some(Verdict::Slower));
}

#[test]
fn a_run_that_stops_without_an_end_was_cut() {
    let analysis = Maker::race().replicates(7, 1.0, 0.01).analysis();
    assert_eq!(analysis.ending, Ending::Cut);
    assert!(codes(&analysis.comparisons[0]).contains(&"judged-anytime"));
}

#[test]
fn an_inconclusive_race_says_what_it_could_have_found_and_how_much_more_it_takes() {
    let row = Maker::race()
        .replicates(40, 1.0, 0.06)
        .ended(EndReason::Finished)
        .first();
    assert_eq!(row.verdict, Some(Verdict::Inconclusive));
    let interval = row.estimate.unwrap().interval.unwrap();
    let half = (interval.high.0 - interval.low.0) / 2.0;
    assert!(row.evidence.minimum_detectable_effect.unwrap().0 > half);
    assert!(row.aspects.settling.unwrap().replicates > 0);
}

#[test]
fn a_recording_is_judged_once_at_alpha_over_all_its_replicates() {
    let maker = Maker::recording().replicates(9, 1.05, 0.002);
    let row = maker.first();
    assert_eq!(row.verdict, Some(Verdict::Slower));
    let estimate = row.estimate.unwrap();
    assert_eq!((estimate.replicates, estimate.blocks), (9, 9));
    assert!((estimate.interval.unwrap().confidence - 0.95).abs() < 1e-12);
    assert_eq!(row.suite.p_adjusted, estimate.p_value);
    assert_eq!(maker.analysis().seed, None);
}

#[test]
fn looks_can_be_replayed_over_a_recording() {
    let maker = Maker::recording().replicates(22, 1.1, 0.002);
    let options = Options {
        replay_looks: true,
        ..Options::default()
    };
    let replayed = analyse(&maker.run, options);
    let estimate = replayed.comparisons[0].estimate.unwrap();
    assert_eq!(estimate.replicates, 6, "decided at the first look");
    assert!((estimate.interval.unwrap().confidence - (1.0 - 0.00711)).abs() < 1e-12);
}

#[test]
fn one_replicate_of_many_blocks_gets_a_provisional_verdict() {
    let mut maker = Maker::recording();
    for index in 0..30 {
        let wobble = 1.0 + f64::from(index % 5) * 0.0001;
        maker.pair(0, 1e6, 1.1e6 * wobble);
    }
    let row = maker.first();
    assert_eq!(row.verdict, Some(Verdict::Slower));
    assert!(row.evidence.provisional);
    assert!(codes(&row).contains(&"provisional"));
    let interval = row.estimate.unwrap().interval.unwrap();
    assert!(
        interval.high.0 - interval.low.0 > 2.0 * 1.9 * 0.005,
        "layout allowance"
    );
}

#[test]
fn two_to_five_replicates_get_an_interval_and_no_verdict() {
    for count in 2..=5 {
        let row = Maker::recording().replicates(count, 1.5, 0.01).first();
        assert_eq!(row.verdict, None, "{count}");
        assert!(row.estimate.unwrap().interval.is_some(), "{count}");
    }
}

#[test]
fn fewer_than_six_blocks_get_an_estimate_only() {
    let row = Maker::recording().replicates(1, 1.5, 0.0).first();
    assert_eq!(row.verdict, None);
    assert!(row.estimate.unwrap().interval.is_none());
    assert!(codes(&row).contains(&"few-replicates"));
}

#[test]
fn a_few_zeros_count_as_half_a_tick_and_many_refuse_the_ratio() {
    let mut few = Maker::recording().replicates(60, 1.0, 0.01);
    few.pair(60, 1e6, 0.0);
    let row = few.first();
    assert!(codes(&row).contains(&"zero-times"));
    assert!(row.estimate.is_some());
    let mut many = Maker::recording().replicates(10, 1.0, 0.01);
    many.pair(10, 1e6, 0.0);
    let row = many.first();
    assert!(codes(&row).contains(&"too-many-zeros"));
    assert_eq!((row.estimate, row.verdict), (None, None));
}

#[test]
fn a_look_judged_again_later_says_what_it_said_then() {
    // At the first look 1 value in 24 is zero, too many for a ratio; at the
    // last 1 in 160 is not. The first look must not come to life afterwards.
    let mut maker = Maker::race();
    let (none, base, other) = (Flags::NONE, [1e6], [1.2e6]);
    maker.block(
        0,
        0,
        &[
            (0, none, &[0.0]),
            (1, none, &other),
            (1, none, &other),
            (0, none, &base),
        ],
    );
    let mut rule = PlannedRule::new(&maker.run.header);
    for replicate in 1..40 {
        let level = 1e6 + f64::from(replicate % 5) * 1e3;
        maker.pair(replicate, level, level * 1.2);
        if rule.decide(0, &maker.run.benchmarks[0]) == Decision::Stop {
            break;
        }
    }
    let row = maker.ended(EndReason::Finished).first();
    assert_eq!(row.verdict, Some(Verdict::Slower));
    assert_eq!(row.estimate.unwrap().replicates, 31, "{:?}", codes(&row));
    assert!(!codes(&row).contains(&"budget-spent"));
}

#[test]
fn a_coarse_clock_ties_and_identical_differences_are_told() {
    let mut coarse = Maker::recording();
    coarse.run.header.tick_ns = Some(1e5);
    let row = coarse.replicates(8, 1.2, 0.01).first();
    assert!(codes(&row).contains(&"coarse-clock"));
    let mut ties = Maker::recording().replicates(8, 1.2, 0.01);
    ties.pair(8, 1e6, 1e6);
    assert!(codes(&ties.first()).contains(&"ties"));
    let same = Maker::recording().replicates(8, 1.0, 0.0).first();
    assert!(
        codes(&same).contains(&"timer-limited"),
        "{:?}",
        codes(&same)
    );
}

fn flagged_run(flags_of: impl Fn(u32) -> [Flags; 4]) -> Comparison {
    let mut maker = Maker::recording();
    for replicate in 0..40 {
        let flags = flags_of(replicate);
        let slow = if flags.iter().any(|f| f.any()) {
            2.0
        } else {
            1.0
        };
        let base = [1e6 * (1.0 + f64::from(replicate % 4) * 0.001)];
        let other = [1e6 * slow * (1.0 + f64::from(replicate % 3) * 0.001)];
        maker.block(
            0,
            replicate,
            &[
                (0, flags[0], &base),
                (1, flags[1], &other),
                (1, flags[2], &other),
                (0, flags[3], &base),
            ],
        );
    }
    maker.first()
}

#[test]
fn disturbed_blocks_are_dropped_whole_and_the_change_with_them_is_known() {
    let (none, hit) = (Flags::NONE, Flags::PREEMPTED);
    let row = flagged_run(|replicate| match replicate {
        3 => [none, hit, none, none],
        9 => [hit, none, none, none],
        _ => [none; 4],
    });
    assert_eq!(row.aspects.dropped_blocks(), 2);
    assert_eq!(row.estimate.unwrap().blocks, 38);
    let all = row
        .aspects
        .dropped
        .and_then(|one| one.effect_with_them)
        .unwrap();
    assert_ne!(all, row.estimate.unwrap().effect);
    // The answer is the same either way, so there is nothing to doubt.
    assert!(!codes(&row).contains(&"blocks-dropped"));
}

#[test]
fn dropped_blocks_are_a_doubt_where_the_answer_would_be_another_one_with_them() {
    let mut maker = Maker::recording();
    for replicate in 0..40 {
        let is_hit = replicate % 7 == 3;
        let hit = |slot: u32| match is_hit && (replicate / 7) % 2 == slot {
            true => Flags::PREEMPTED,
            false => Flags::NONE,
        };
        let change = 0.0085 + (f64::from(replicate * 7 % 11) - 5.0) * 0.0008;
        let slow = if is_hit { 0.05 } else { 0.0 };
        let other = [1e6 * (1.0 + change + slow)];
        maker.block(
            0,
            replicate,
            &[
                (0, hit(0), &[1e6]),
                (1, hit(1), &other),
                (1, Flags::NONE, &other),
                (0, Flags::NONE, &[1e6]),
            ],
        );
    }
    let row = maker.first();
    assert_eq!(row.aspects.dropped_blocks(), 6);
    assert_eq!(row.verdict, Some(Verdict::Equivalent));
    let told = row.warnings.iter().find_map(|warning| match warning {
        Warning::BlocksDropped {
            count,
            verdict_with_all,
            ..
        } => Some((*count, *verdict_with_all)),
        _ => None,
    });
    assert_eq!(told, Some((6, Some(Verdict::Slower))));
}

#[test]
fn an_open_race_is_as_open_on_either_side_of_the_margin() {
    let mut maker = Maker::recording();
    for replicate in 0..40 {
        let is_hit = replicate % 7 == 3;
        let hit = |slot: u32| match is_hit && (replicate / 7) % 2 == slot {
            true => Flags::PREEMPTED,
            false => Flags::NONE,
        };
        let change = 0.007 + (f64::from(replicate * 7 % 11) - 5.0) * 0.02;
        let slow = if is_hit { 0.05 } else { 0.0 };
        let other = [1e6 * (1.0 + change + slow)];
        maker.block(
            0,
            replicate,
            &[
                (0, hit(0), &[1e6]),
                (1, hit(1), &other),
                (1, Flags::NONE, &other),
                (0, Flags::NONE, &[1e6]),
            ],
        );
    }
    let row = maker.first();
    let [without, with] = [
        row.estimate.as_ref().unwrap().effect,
        row.aspects
            .dropped
            .and_then(|one| one.effect_with_them)
            .unwrap(),
    ]
    .map(|effect| effect.change());
    assert!(without < 0.01 && with > 0.01, "{without} {with}");
    assert_eq!(row.verdict, Some(Verdict::Inconclusive));
    assert!(!codes(&row).contains(&"blocks-dropped"));
}

#[test]
fn blocks_disturbed_on_one_side_only_are_kept() {
    let (none, hit) = (Flags::NONE, Flags::MIGRATED);
    let row = flagged_run(|replicate| match replicate % 6 {
        0 => [none, hit, hit, none],
        _ => [none; 4],
    });
    assert_eq!(row.aspects.dropped_blocks(), 0);
    assert!(
        codes(&row).contains(&"disturbed-unevenly"),
        "{:?}",
        codes(&row)
    );
}

#[test]
fn too_many_disturbed_blocks_are_kept() {
    let (none, hit) = (Flags::NONE, Flags::PREEMPTED);
    let row = flagged_run(|replicate| match replicate % 4 {
        0 => [hit, none, none, none],
        1 => [none, hit, none, none],
        _ => [none; 4],
    });
    assert_eq!(row.aspects.dropped_blocks(), 0);
    assert!(
        codes(&row).contains(&"disturbed-too-often"),
        "{:?}",
        codes(&row)
    );
}

#[test]
fn blocks_of_an_unsteady_gpu_are_left_out_and_told() {
    let (none, hit) = (Flags::NONE, Flags::GPU_CLOCK);
    let told = |row: &Comparison| {
        row.warnings.iter().find_map(|warning| match warning {
            Warning::GpuClock {
                count,
                of,
                blocks,
                kept,
            } => Some((*count, *of, *blocks, *kept)),
            _ => None,
        })
    };
    let row = flagged_run(|replicate| match replicate {
        3 => [none, hit, none, none],
        9 => [hit, hit, none, none],
        _ => [none; 4],
    });
    assert_eq!(row.aspects.dropped_blocks(), 2);
    assert_eq!(told(&row), Some((3, 160, 2, None)));
    let often = flagged_run(|replicate| match replicate % 2 {
        0 => [hit, hit, none, none],
        _ => [none; 4],
    });
    let too_many = CutShortKept::TooMany { share: 0.5 };
    assert_eq!(told(&often), Some((40, 160, 0, Some(too_many))));
    let one_sided = flagged_run(|replicate| match replicate % 6 {
        0 => [none, hit, hit, none],
        _ => [none; 4],
    });
    let (count, _, blocks, kept) = told(&one_sided).unwrap();
    assert_eq!((count, blocks), (14, 0));
    assert!(matches!(kept, Some(CutShortKept::OneSided { .. })));
    let steady = flagged_run(|_| [none; 4]);
    assert_eq!(told(&steady), None);
}

#[test]
fn a_slower_tail_is_a_headline_of_its_own() {
    let mut maker = Maker::recording();
    let none = Flags::NONE;
    for replicate in 0..40 {
        let base = [1e6 + f64::from(replicate % 7)];
        let slow = if replicate % 4 == 0 { 8e6 } else { 1e6 };
        let fast = [1e6 + f64::from(replicate % 5)];
        maker.block(
            0,
            replicate,
            &[
                (0, none, &base),
                (1, none, &[slow]),
                (1, none, &fast),
                (0, none, &base),
            ],
        );
    }
    let row = maker.first();
    assert!(codes(&row).contains(&"tail-differs"), "{:?}", codes(&row));
}

#[test]
fn a_candidate_that_takes_four_times_as_long_has_no_tail_of_its_own() {
    let mut maker = Maker::recording();
    let none = Flags::NONE;
    for replicate in 0..40 {
        let base = [1e6 + f64::from(replicate % 7)];
        let other = [4e6 + 4.0 * f64::from(replicate % 5)];
        maker.block(
            0,
            replicate,
            &[
                (0, none, &base),
                (1, none, &other),
                (1, none, &other),
                (0, none, &base),
            ],
        );
    }
    let row = maker.first();
    assert!(!codes(&row).contains(&"tail-differs"), "{:?}", codes(&row));
}

#[test]
fn wall_time_and_cpu_time_that_tell_different_stories_are_reported() {
    let mut maker = Maker::new(Origin::PairedRecording, 2, 1, &[Metric::Wall, Metric::Cpu]);
    let none = Flags::NONE;
    for replicate in 0..20 {
        let wobble = 1.0 + f64::from(replicate % 3) * 0.001;
        let base = [1e7 * wobble, 5e6 * wobble];
        let other = [2e7, 5e6];
        maker.block(
            0,
            replicate,
            &[
                (0, none, &base),
                (1, none, &other),
                (1, none, &other),
                (0, none, &base),
            ],
        );
    }
    let row = maker.first();
    assert!(
        codes(&row).contains(&"clocks-disagree"),
        "{:?}",
        codes(&row)
    );
    assert_eq!(row.metrics.len(), 2);
}

#[test]
fn several_candidates_share_the_level_and_pay_by_holm() {
    let mut maker = Maker::new(Origin::PairedRecording, 3, 1, &[Metric::Wall]);
    let none = Flags::NONE;
    for replicate in 0..12 {
        let wobble = f64::from(replicate * 5 % 7) * 1e3;
        maker.block(
            0,
            replicate,
            &[
                (2, none, &[1.3e6 + wobble]),
                (0, none, &[1e6 + wobble / 2.0]),
                (1, none, &[1.01e6 - wobble]),
            ],
        );
    }
    let analysis = maker.analysis();
    assert_eq!(analysis.comparisons.len(), 2);
    let p: Vec<f64> = analysis
        .comparisons
        .iter()
        .map(|row| row.estimate.unwrap().p_value.unwrap())
        .collect();
    let adjusted: Vec<f64> = analysis
        .comparisons
        .iter()
        .map(|row| row.suite.p_adjusted.unwrap())
        .collect();
    assert!(p[1] < p[0]);
    assert!((adjusted[1] - 2.0 * p[1]).abs() < 1e-15);
    assert!((adjusted[0] - p[0].max(2.0 * p[1])).abs() < 1e-15);
    for row in &analysis.comparisons {
        let confidence = row.estimate.unwrap().interval.unwrap().confidence;
        assert!((confidence - 0.975).abs() < 1e-12);
    }
}

#[test]
fn a_suite_of_benchmarks_pays_by_benjamini_and_hochberg() {
    let mut maker = Maker::new(Origin::PairedRecording, 2, 3, &[Metric::Wall]);
    for benchmark in 0..3 {
        for replicate in 0..8 {
            let base = [1e6 + f64::from(replicate * 3 % 7) * 1e3];
            let other = [1e6 * (1.0 + benchmark as f64 * 0.004) + f64::from(replicate % 4) * 1e3];
            let none = Flags::NONE;
            maker.block(
                benchmark,
                replicate,
                &[
                    (0, none, &base),
                    (1, none, &other),
                    (1, none, &other),
                    (0, none, &base),
                ],
            );
        }
    }
    let analysis = maker.analysis();
    let mut p: Vec<f64> = analysis
        .comparisons
        .iter()
        .map(|row| row.estimate.unwrap().p_value.unwrap())
        .collect();
    let smallest = analysis
        .comparisons
        .iter()
        .map(|row| row.suite.p_adjusted.unwrap());
    let smallest = smallest.fold(f64::INFINITY, f64::min);
    p.sort_by(f64::total_cmp);
    let expected = (3.0 * p[0]).min(1.5 * p[1]).min(p[2]);
    assert!((smallest - expected).abs() < 1e-15);
}

#[test]
fn a_contender_alone_is_summarised_and_not_judged() {
    let mut maker = Maker::new(Origin::Race, 1, 1, &[Metric::Wall]);
    for replicate in 0..10 {
        maker.block(
            0,
            replicate,
            &[(0, Flags::NONE, &[f64::from(replicate) + 1e7])],
        );
    }
    let row = maker.ended(EndReason::Finished).first();
    assert_eq!(
        (row.candidate, row.verdict, row.estimate),
        (None, None, None)
    );
    assert_eq!(row.baseline.samples, 10);
    assert_eq!(row.baseline.min, 1e7);
}

#[test]
fn a_fixed_number_of_runs_is_judged_once_at_alpha() {
    let mut maker = Maker::race();
    maker.run.header.plan.design.looks = fixed_look(30, 0.05).unwrap();
    let row = maker
        .replicates(30, 1.03, 0.002)
        .ended(EndReason::Finished)
        .first();
    let interval = row.estimate.unwrap().interval.unwrap();
    assert!((interval.confidence - 0.95).abs() < 1e-12);
    assert!(!codes(&row).contains(&"early-stop"));
}

proptest! {
    #[test]
    fn no_finite_input_makes_a_number_that_is_not_one(
        times in prop::collection::vec(
            (prop_oneof![Just(0.0), Just(1.0), 1e-300..1e300f64, 1e5..1e7f64],
             prop_oneof![Just(0.0), Just(1.0), 1e-300..1e300f64, 1e5..1e7f64]),
            1..30,
        ),
        recording in any::<bool>(),
    ) {
        let mut maker = if recording { Maker::recording() } else { Maker::race() };
        for (replicate, (base, other)) in times.iter().enumerate() {
            maker.pair(replicate as u32, *base, *other);
        }
        let row = maker.first();
        if let Some(estimate) = row.estimate {
            prop_assert!(estimate.effect.0.is_finite());
            if let Some(interval) = estimate.interval {
                prop_assert!(interval.low.0.is_finite() && interval.high.0.is_finite());
                prop_assert!(interval.low <= estimate.effect && estimate.effect <= interval.high);
            }
            if let Some(p) = estimate.p_value {
                prop_assert!((0.0..=1.0).contains(&p));
            }
        }
        for p in [row.suite.p_adjusted, row.evidence.p_sign_flip].into_iter().flatten() {
            prop_assert!((0.0..=1.0).contains(&p));
        }
        for side in row.candidate.iter().chain([&row.baseline]) {
            let figures = [side.median, side.mean, side.min, side.max, side.std_dev.unwrap_or(0.0)];
            prop_assert!(figures.iter().all(|figure| figure.is_finite()), "{side:?}");
        }
        if let Some(mde) = row.evidence.minimum_detectable_effect {
            prop_assert!(mde.0.is_finite());
        }
    }

    #[test]
    fn swapping_the_roles_flips_the_sign_of_the_effect_exactly(
        times in prop::collection::vec((1e3..1e9f64, 1e3..1e9f64), 6..40),
    ) {
        let make = |swap: bool| {
            let mut maker = Maker::recording();
            for (replicate, (a, b)) in times.iter().enumerate() {
                let (first, second) = if swap { (1, 0) } else { (0, 1) };
                let none = Flags::NONE;
                maker.block(0, replicate as u32, &[
                    (first, none, &[*a]), (second, none, &[*b]),
                    (second, none, &[b * 1.01]), (first, none, &[a * 0.99]),
                ]);
            }
            maker.first().estimate.unwrap()
        };
        let (one, other) = (make(false), make(true));
        prop_assert_eq!(one.effect.0, -other.effect.0);
        let (i, j) = (one.interval.unwrap(), other.interval.unwrap());
        prop_assert_eq!((i.low.0, i.high.0), (-j.high.0, -j.low.0));
    }
}

#[test]
fn a_measured_effect_has_the_error_of_the_interval_that_is_shown() {
    let mut run = Maker::race().replicates(11, 1.03, 0.004).run;
    run.header.plan.design.looks = fixed_look(11, 0.05).unwrap();
    let [found] = measured_effects(&run)[..] else {
        panic!("one candidate of one benchmark");
    };
    assert_eq!(
        (found.benchmark, found.candidate, found.replicates),
        (0, 0, 11)
    );
    assert!((found.effect.change() - 0.03).abs() < 0.004, "{found:?}");
    assert_eq!(found.df, 10.0);
    let analysis = analyse(&run, Options::default());
    let shown = analysis.comparisons[0].estimate.unwrap().interval.unwrap();
    let half = found.se * t_critical(0.05, found.df);
    assert!((half - (shown.high.0 - shown.low.0) / 2.0).abs() < 1e-12);
    let alone = Maker::race().replicates(1, 1.03, 0.004).run;
    assert_eq!(measured_effects(&alone), []);
}

#[test]
fn a_race_until_enough_is_known_stops_at_the_look_at_which_it_is_and_not_at_its_verdict() {
    let stops = |enough: fn(f64) -> bool, ratio: f64| {
        let header = Maker::race().run.header;
        let asked = Rc::new(Cell::new(0));
        let count = asked.clone();
        let until = Until::new(move |name, effect| {
            assert_eq!(name, "b0");
            count.set(count.get() + 1);
            enough(effect.se)
        });
        let mut rule = UntilRule::new(&header, until);
        let last = (1..=40).find(|count| {
            let run = Maker::race().replicates(*count, ratio, 0.004).run;
            rule.decide(0, &run.benchmarks[0]) == Decision::Stop
        });
        (last.unwrap(), asked.get())
    };
    // A change of 30 % is called at the first look of the plan, and raced on here.
    assert_eq!(stops(|_| false, 1.3), (40, 6), "six looks before the last");
    assert_eq!(stops(|_| true, 1.0), (6, 1));
    let (at, _) = stops(|se| se < 0.001, 1.3);
    assert!((8..40).contains(&at), "{at}");
}
