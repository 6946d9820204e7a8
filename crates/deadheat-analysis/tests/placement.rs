//! Where the code lay: what a verdict may speak of, the user's own link beside
//! neutral ones, and what the blocks vary by.

use deadheat_analysis::{Options, analyse, fixed_look};
use deadheat_model::{
    Analysis, Benchmark, BenchmarkFailure, BlockRecord, Comparison, Design, EndReason,
    FunctionCalls, NeutralLink, NeutralLinks, Placed, Placing, RefusedLink, Rerun, RerunKind, Run,
    RunHeader, Scope, Warning, Workload,
};
use deadheat_testing::runs::{self, benchmark, contenders, design, ended, header, sample};
use proptest::prelude::*;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const FUNCTION: Workload = Workload::Function(FunctionCalls {
    iterations: 1,
    threads: 1,
});

fn command() -> Workload {
    Workload::Command(Box::new(runs::command(&["c"])))
}

/// Standard deviations of the effect of a block, as log-ratios.
#[derive(Clone, Copy)]
struct Noise {
    block: f64,
    process: f64,
    placement: f64,
}

const QUIET: Noise = Noise {
    block: 0.004,
    process: 0.002,
    placement: 0.014,
};

/// The settings of a simulated race: so many replicates of so many blocks on neutral links, and
/// beside them so many on the user's own link, whose placement adds something.
struct Race {
    workload: Workload,
    candidates: usize,
    blocks: u32,
    neutral: u32,
    own: u32,
    noise: Noise,
    own_placement: f64,
    seed: u64,
}

impl Race {
    fn of_functions() -> Self {
        Race {
            workload: FUNCTION,
            candidates: 1,
            blocks: 25,
            neutral: 20,
            own: 6,
            noise: QUIET,
            own_placement: 0.0,
            seed: 1,
        }
    }

    fn of_commands() -> Self {
        Race {
            workload: command(),
            blocks: 1,
            neutral: 40,
            own: 11,
            ..Race::of_functions()
        }
    }

    /// The run. Nothing of it is placed yet.
    fn run(&self) -> Run {
        let names = || (0..=self.candidates).map(|index| format!("c{index}"));
        let benchmark = |own_link| Benchmark {
            rerun: own_link,
            ..benchmark("b", contenders(names(), &self.workload))
        };
        let mut benchmarks = vec![benchmark(None)];
        if self.own > 0 {
            benchmarks.push(benchmark(Some(Rerun {
                kind: RerunKind::OwnLink,
                of: 0,
                replicates: self.own,
            })));
        }
        let design = Design {
            blocks_per_replicate: self.blocks,
            ..design(fixed_look(self.neutral.max(1), 0.05).unwrap())
        };
        let mut run = Run::new(RunHeader {
            tick_ns: Some(1e-3),
            ..header(design, 3, benchmarks)
        });
        run.end = Some(ended(EndReason::Finished));
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        for replicate in 0..self.neutral {
            let shift = self.noise.process.hypot(self.noise.placement) * normal(&mut rng);
            self.add(&mut run, (0, replicate), shift, &mut rng);
        }
        for replicate in 0..self.own {
            let shift = self.own_placement + self.noise.process * normal(&mut rng);
            self.add(&mut run, (1, replicate), shift, &mut rng);
        }
        run
    }

    /// Adds a replicate whose candidates are all shifted alike.
    fn add(
        &self,
        run: &mut Run,
        (benchmark, replicate): (usize, u32),
        shift: f64,
        rng: &mut Xoshiro256PlusPlus,
    ) {
        let order: Vec<u8> = match self.candidates {
            1 => vec![0, 1, 1, 0],
            more => (0..=more as u8).collect(),
        };
        for index in 0..self.blocks {
            let effect = (shift + self.noise.block * normal(rng)).clamp(-600.0, 600.0);
            let value = |contender: &u8| 1e6 * if *contender == 0 { 1.0 } else { effect.exp() };
            let sample = |contender: &u8| sample(*contender);
            let record = BlockRecord {
                benchmark,
                replicate,
                index,
                samples: order.iter().map(sample).collect(),
                values: order.iter().map(value).collect(),
                ..BlockRecord::default()
            };
            run.benchmarks[benchmark].push(&record).unwrap();
        }
    }

    /// The run with a neutral link for every replicate.
    fn placed(&self) -> Run {
        let mut run = self.run();
        let places = 0..self.neutral;
        run.placed = places
            .map(|replicate| placed(replicate, self.candidates))
            .collect();
        run.observed = runs::seen_as_started(self.candidates + 1);
        run
    }
}

/// A number of the standard normal distribution, by Box and Muller.
fn normal(rng: &mut Xoshiro256PlusPlus) -> f64 {
    let mut unit = || ((rng.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
    let (radius, turn) = (unit(), unit());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * turn).cos()
}

fn placed(replicate: u32, candidates: usize) -> Placed {
    let link = Placing::Neutral(NeutralLink {
        seed: replicate + 1,
        hash: format!("{replicate:016x}"),
        matched: false,
    });
    Placed {
        benchmark: 0,
        replicate,
        contenders: vec![link; candidates + 1],
        refused: vec![],
        fallen_back: None,
    }
}

fn analysis(run: &Run) -> Analysis {
    analyse(run, Options::default())
}

fn first(run: &Run) -> Comparison {
    analysis(run).comparisons[0].clone()
}

fn why_fixed(comparison: &Comparison) -> Option<Option<String>> {
    let mut warnings = comparison.warnings.iter();
    warnings.find_map(|warning| match warning {
        Warning::PlacementFixed { reason } => Some(reason.clone()),
        _ => None,
    })
}

fn links(executable: &str, made_by: Result<&str, &str>, unsectioned: &[&str]) -> NeutralLinks {
    NeutralLinks {
        executable: executable.to_owned(),
        made_by: made_by.map(str::to_owned).map_err(str::to_owned),
        unsectioned: unsectioned.iter().map(|&name| name.to_owned()).collect(),
        matched: None,
        random_addresses: false,
    }
}

#[test]
fn a_verdict_speaks_of_the_source_when_every_replicate_judged_was_placed_anew() {
    let race = Race::of_functions();
    let source = first(&race.placed());
    assert_eq!(
        (source.evidence.scope, why_fixed(&source)),
        (Scope::Source, None)
    );
    let binary = first(&race.run());
    assert_eq!(
        (binary.evidence.scope, why_fixed(&binary)),
        (Scope::Binary, Some(None))
    );
    assert_eq!(source.estimate, binary.estimate);
    assert_eq!(source.verdict, binary.verdict);
}

#[test]
fn one_replicate_in_its_own_place_is_enough_to_speak_of_binaries() {
    let race = Race::of_functions();
    for replicate in [0, 11, 19] {
        let mut run = race.placed();
        run.placed[replicate].contenders[1] = Placing::Own;
        assert_eq!(first(&run).evidence.scope, Scope::Binary, "{replicate}");
        run.placed.remove(replicate);
        assert_eq!(first(&run).evidence.scope, Scope::Binary, "{replicate}");
    }
    // What was not judged may lie anywhere.
    let mut run = race.placed();
    let own = Placed {
        contenders: vec![Placing::Own; 2],
        ..placed(20, 1)
    };
    run.placed.push(own);
    assert_eq!(first(&run).evidence.scope, Scope::Source);
}

#[test]
fn a_replicate_placed_anew_after_an_interruption_must_be_drawn_both_times() {
    let race = Race::of_functions();
    let mut run = race.placed();
    run.placed.push(placed(7, 1));
    assert_eq!(first(&run).evidence.scope, Scope::Source);
    run.placed.push(Placed {
        contenders: vec![Placing::Own; 2],
        ..placed(7, 1)
    });
    assert_eq!(first(&run).evidence.scope, Scope::Binary);
}

#[test]
fn each_candidate_has_a_scope_of_its_own() {
    let race = Race {
        candidates: 2,
        ..Race::of_functions()
    };
    let mut run = race.placed();
    for placed in &mut run.placed {
        placed.contenders[2] = Placing::Own;
    }
    let scopes: Vec<Scope> = analysis(&run)
        .comparisons
        .iter()
        .map(|c| c.evidence.scope)
        .collect();
    assert_eq!(scopes, [Scope::Source, Scope::Binary]);
}

#[test]
fn a_fixed_placement_says_why_when_somebody_asked_for_another() {
    let race = Race::of_commands();
    let mut run = race.run();
    run.header.environment.neutral_links = vec![
        links("./old", Err("it was not linked by deadheat"), &[]),
        links("./mid", Ok("LLD 14.0.6"), &[]),
        links("./new", Err("there is no ld.lld"), &[]),
    ];
    assert_eq!(
        why_fixed(&first(&run)).unwrap().unwrap(),
        "./old: it was not linked by deadheat; ./new: there is no ld.lld"
    );
    // What happened in the race tells more.
    run.placed = race.placed().placed;
    run.placed[4].contenders = vec![Placing::Own; 2];
    run.placed[4].fallen_back = Some("three links in a row crashed".to_owned());
    run.placed[5].fallen_back = Some("again".to_owned());
    assert_eq!(
        why_fixed(&first(&run)).unwrap().unwrap(),
        "three links in a row crashed"
    );
}

#[test]
fn links_that_were_refused_and_objects_in_one_section_are_told() {
    let race = Race::of_functions();
    let mut run = race.placed();
    let refused = |seed, reason: &str| RefusedLink {
        seed,
        reason: reason.to_owned(),
    };
    run.placed[3].refused = vec![refused(40, "it crashed"), refused(9, "no space")];
    run.placed[8].refused = vec![refused(9, "no space"), refused(2, "it crashed")];
    run.header.environment.neutral_links = vec![
        links("a", Ok("LLD"), &["k.o", "m.o"]),
        links("b", Ok("LLD"), &["k.o"]),
    ];
    let warnings = first(&run).warnings;
    assert!(warnings.contains(&Warning::LinksRefused {
        seeds: vec![40, 9, 2],
        reason: "it crashed".to_owned(),
    }));
    assert!(warnings.contains(&Warning::Unsectioned {
        objects: vec!["k.o".to_owned(), "m.o".to_owned()],
    }));
    run.placed.clear();
    let warnings = first(&run).warnings;
    let codes: Vec<_> = warnings.iter().map(Warning::code).collect();
    assert!(!codes.contains(&"unsectioned"), "{codes:?}");
    assert!(!codes.contains(&"links-refused"), "{codes:?}");
}

#[test]
fn builds_are_matched_when_every_replicate_judged_was_and_else_it_is_told_why_not() {
    let race = Race::of_functions();
    let why = |run: &Run| {
        let comparison = first(run);
        let mut warnings = comparison.warnings.into_iter();
        let unmatched = warnings.find_map(|warning| match warning {
            Warning::BuildsUnmatched { reason } => Some(reason),
            _ => None,
        });
        (
            comparison.evidence.scope,
            comparison.aspects.matched,
            unmatched,
        )
    };
    let mut run = race.placed();
    assert_eq!(why(&run), (Scope::Source, false, None), "nobody asked");
    let facts = |matched| NeutralLinks {
        matched: Some(matched),
        random_addresses: false,
        ..links("a", Ok("LLD"), &[])
    };
    let no = Err("mold takes no order".to_owned());
    run.header.environment.neutral_links = vec![facts(no)];
    let reason = Some(Some("mold takes no order".to_owned()));
    assert_eq!(why(&run), (Scope::Source, false, reason));

    run.header.environment.neutral_links = vec![facts(Ok(()))];
    for placing in run.placed.iter_mut().flat_map(|one| &mut one.contenders) {
        if let Placing::Neutral(link) = placing {
            link.matched = true;
        }
    }
    assert_eq!(why(&run), (Scope::Source, true, None));
    // One was given up in the middle of the race.
    let Placing::Neutral(link) = &mut run.placed[3].contenders[1] else {
        panic!("placed by a neutral link");
    };
    link.matched = false;
    run.placed[3].refused = vec![RefusedLink {
        seed: 8,
        reason: "too far".to_owned(),
    }];
    let reason = Some(Some("too far".to_owned()));
    assert_eq!(why(&run), (Scope::Source, false, reason));
}

#[test]
fn the_own_link_has_no_row_and_pays_for_nobody() {
    let race = Race::of_functions();
    let alone = Race {
        own: 0,
        ..Race::of_functions()
    };
    let (with, without) = (analysis(&race.placed()), analysis(&alone.placed()));
    assert_eq!(with.comparisons.len(), 1);
    let (with, without) = (&with.comparisons[0], &without.comparisons[0]);
    assert_eq!(with.suite.p_adjusted, without.suite.p_adjusted);
    assert_eq!(with.estimate, without.estimate);
    assert!(with.aspects.own_link.is_some() && without.aspects.own_link.is_none());
}

#[test]
fn the_own_link_is_estimated_once_over_all_its_complete_replicates() {
    let race = Race {
        own_placement: -0.13,
        ..Race::of_functions()
    };
    let mut run = race.placed();
    // Half a replicate more, cut by the budget.
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(9);
    let half = Race {
        blocks: 12,
        ..Race::of_functions()
    };
    half.add(&mut run, (1, 6), 0.5, &mut rng);
    let own = first(&run).aspects.own_link.unwrap();
    assert_eq!((own.replicates, own.blocks), (6, 150));
    let interval = own.interval.unwrap();
    assert_eq!(interval.confidence, 0.95);
    assert!(interval.low.0 < -0.13 && -0.13 < interval.high.0, "{own:?}");
    assert!(interval.high.0 - interval.low.0 < 0.02, "{own:?}");

    let two = Race {
        candidates: 2,
        ..Race::of_functions()
    };
    for comparison in analysis(&two.placed()).comparisons {
        let interval = comparison.aspects.own_link.unwrap().interval.unwrap();
        assert_eq!(interval.confidence, 0.975);
    }
}

#[test]
fn an_own_link_that_failed_or_hardly_ran_is_not_estimated() {
    let hardly = |own| Race {
        own,
        ..Race::of_functions()
    };
    assert!(first(&hardly(2).placed()).aspects.own_link.is_some());
    for run in [hardly(1).placed(), hardly(0).placed()] {
        let one = first(&run);
        assert_eq!(one.aspects.own_link, None);
        let spreads = one.aspects.spreads.unwrap();
        assert_eq!((spreads.placement, spreads.process), (None, None));
        assert!((spreads.block / QUIET.block - 1.0).abs() < 0.2);
    }
    let mut run = Race::of_functions().placed();
    run.failures.push(BenchmarkFailure {
        benchmark: 1,
        message: "it crashed".to_owned(),
    });
    let found = analysis(&run);
    assert_eq!(found.comparisons.len(), 1);
    assert_eq!(found.comparisons[0].aspects.own_link, None);
    assert_eq!(found.failures[0].benchmark, "b (own link)");
}

#[test]
fn an_own_link_far_from_the_neutral_ones_is_told_with_what_it_adds() {
    let apart = |own_placement| {
        let race = Race {
            own_placement,
            ..Race::of_functions()
        };
        let warnings = first(&race.placed()).warnings;
        warnings.into_iter().find_map(|warning| match warning {
            Warning::OwnLinkApart { apart } => Some(apart),
            _ => None,
        })
    };
    let far = apart(-0.13).unwrap();
    assert!((-0.14..-0.10).contains(&far), "{far}");
    assert!(apart(0.13).unwrap() > 0.12);
    assert_eq!(apart(0.012), None, "within what is known");
    // Nothing is apart from neutral links where there are none.
    let race = Race {
        own_placement: -0.13,
        ..Race::of_functions()
    };
    let binary = first(&race.run());
    let codes: Vec<_> = binary.warnings.iter().map(Warning::code).collect();
    assert!(!codes.contains(&"own-link-apart"), "{codes:?}");
}

/// The middle of a figure over many seeds.
fn median_of(race: impl Fn(u64) -> Run, pick: impl Fn(&Comparison) -> Option<f64>) -> Option<f64> {
    let mut found: Vec<f64> = (0..31)
        .filter_map(|seed| pick(&first(&race(seed))))
        .collect();
    found.sort_by(f64::total_cmp);
    found.get(found.len() / 2).copied()
}

/// Returns true if a spread is what its share of a clamped normal distribution makes of it: .88 of
/// it when it is nearly all the spread there is.
fn about(found: Option<f64>, truth: f64) -> bool {
    found.is_some_and(|found| (0.75..1.15).contains(&(found / truth)))
}

#[test]
fn functions_tell_placement_process_and_block_apart() {
    let race = |seed| Race {
        seed,
        noise: Noise {
            process: 0.006,
            ..QUIET
        },
        ..Race::of_functions()
    };
    let spread = |pick: fn(&deadheat_model::Spreads) -> Option<f64>| {
        let pick = |c: &Comparison| c.aspects.spreads.as_ref().and_then(pick);
        median_of(|seed| race(seed).placed(), pick)
    };
    let (placement, process) = (spread(|s| s.placement), spread(|s| s.process));
    assert!(about(placement, 0.014), "{placement:?}");
    assert!(about(process, 0.006), "{process:?}");
    assert!(about(spread(|s| Some(s.block)), 0.004));
}

#[test]
fn functions_on_one_link_know_process_and_block_and_no_placement() {
    let race = |seed| Race {
        seed,
        own: 0,
        noise: Noise {
            placement: 0.0,
            process: 0.006,
            ..QUIET
        },
        ..Race::of_functions()
    };
    let process = median_of(
        |seed| race(seed).run(),
        |c| c.aspects.spreads.unwrap().process,
    );
    assert!(about(process, 0.006), "{process:?}");
    assert_eq!(
        first(&race(1).run()).aspects.spreads.unwrap().placement,
        None
    );
}

#[test]
fn single_launches_show_a_placement_only_where_it_exceeds_what_they_scatter_by() {
    let race = |placement| {
        move |seed| {
            let noise = Noise {
                block: 0.004,
                process: 0.0,
                placement,
            };
            Race {
                seed,
                noise,
                ..Race::of_commands()
            }
            .placed()
        }
    };
    let placement = |c: &Comparison| c.aspects.spreads.unwrap().placement;
    let shown = median_of(race(0.02), placement);
    assert!(about(shown, 0.02), "{shown:?}");
    let told = |placement_sd| {
        let runs = (0..60).map(race(placement_sd));
        runs.filter(|run| placement(&first(run)).is_some()).count()
    };
    assert!(told(0.02) >= 57);
    // At most 5 % are promised: 3 of 60, and 7 once in a thousand times.
    assert!(told(0.0) <= 7);
    let one = first(&race(0.02)(1)).aspects.spreads.unwrap();
    assert_eq!(one.process, None, "every launch is a process");
    assert!((one.block / 0.004 - 1.0).abs() < 0.5, "{one:?}");
}

#[test]
fn a_race_that_fell_back_has_no_spread_of_placements() {
    let race = Race::of_functions();
    let mut run = race.placed();
    for placed in &mut run.placed[10..] {
        placed.contenders = vec![Placing::Own; 2];
    }
    let spreads = first(&run).aspects.spreads.unwrap();
    assert_eq!(spreads.placement, None);
    assert!(spreads.process.unwrap() < 0.006, "that of the own link");
    run.benchmarks.truncate(1);
    run.header.plan.benchmarks.truncate(1);
    assert_eq!(first(&run).aspects.spreads.unwrap().process, None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_spread_and_no_own_link_is_ever_anything_but_a_number(
        seed in any::<u64>(),
        (neutral, own, blocks) in (0u32..8, 0u32..5, 1u32..4),
        block in prop_oneof![Just(0.0), 1e-9..1.0f64, Just(300.0)],
        placement in prop_oneof![Just(0.0), 0.001..0.3f64],
        (candidates, functions) in (1usize..4, any::<bool>()),
        own_from in 0usize..9,
    ) {
        let race = Race {
            workload: if functions { FUNCTION } else { command() },
            noise: Noise { block, process: placement, placement },
            candidates, blocks, neutral, own, seed,
            own_placement: placement,
        };
        let mut run = race.placed();
        for placed in run.placed.iter_mut().skip(own_from) {
            placed.contenders[0] = Placing::Own;
        }
        for comparison in analysis(&run).comparisons {
            let text = format!("{:?} {:?}", comparison.aspects.spreads, comparison.aspects.own_link);
            prop_assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
            if let Some(spreads) = comparison.aspects.spreads {
                let all = [spreads.placement, spreads.process, Some(spreads.block)];
                prop_assert!(all.into_iter().flatten().all(|sd| sd >= 0.0));
                prop_assert!(spreads.placement.is_none() || comparison.evidence.scope == Scope::Source);
            }
            prop_assert_eq!(comparison.aspects.own_link.is_some_and(|own| own.replicates < 2), false);
        }
    }
}

#[test]
fn where_a_linker_put_the_code_is_no_doubt_about_programs_in_python() {
    let warned = |words: &[&str]| {
        let workload = Workload::Command(Box::new(runs::command(words)));
        let race = Race {
            workload,
            ..Race::of_commands()
        };
        why_fixed(&first(&race.run())).is_some()
    };
    assert!(warned(&["./old", "input"]));
    assert!(!warned(&["/venv/bin/python3.12", "old.py"]));
    assert!(!warned(&["./bench_mine.py"]));
}
