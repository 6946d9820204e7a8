//! Analyses made by hand, plausible enough to read their reports.

use deadheat_model::{
    AcrossHosts, Analysis, Aspects, BenchmarkDetails, BetweenFigures, BlockDiagnostics,
    CalibrationNote, Change, ClockCause, Comparison, Conditions, Control, CutShortKept, Design,
    Disturbance, DroppedBlocks, EndReason, Ending, Environment, Estimate, Evidence, Excuse,
    FailedBenchmark, Family, Figures, FirstHalf, Fit, GateHit, HostKind, HostRow, InSuite,
    Interval, LeftOut, LeftOutReason, Limits, LogRatio, Metric, MetricComparison, Observation,
    OppositePeaks, PairSigns, Pinning, ProcessDifference, Processes, RaceKind, RacedSideBySide,
    RankSums, RunHeader, Scope, Settling, Share, Side, SideFigures, SignedRanks, Spread, Spreads,
    StabilityFigures, TTested, Terms, Tested, Throughput, TurnsReason, Verdict, WaitingShare,
    Warning,
};
use deadheat_testing::runs::{self, design, one_look};

pub fn side(name: &str, median: f64, samples: usize) -> Side {
    Side {
        name: name.to_owned(),
        typical: Some(median),
        median,
        mean: median * 1.006,
        min: median * 0.981,
        max: median * 1.32,
        std_dev: Some(median * 0.021),
        samples,
    }
}

pub fn estimate(change: f64, half_width: f64) -> Estimate {
    Estimate {
        effect: LogRatio::from_change(change),
        interval: Some(Interval {
            low: LogRatio::from_change(change - half_width),
            high: LogRatio::from_change(change + half_width * 1.02),
            confidence: 0.9884,
        }),
        p_value: Some(0.00012),
        replicates: 22,
        blocks: 22,
    }
}

/// One metric of both contenders, the candidate by `change` away.
pub fn metric(metric: Metric, baseline: f64, change: f64, half_width: f64) -> MetricComparison {
    MetricComparison {
        metric,
        baseline: side("./old input", baseline, 44),
        candidate: Some(side("./new input", baseline * (1.0 + change), 44)),
        estimate: (baseline > 0.0).then(|| estimate(change, half_width)),
        verdict: None,
    }
}

fn side_figures(median: f64) -> SideFigures {
    let percentiles = |factor: f64| {
        let at = |percent: u32| median * factor * (0.97 + 0.0006 * f64::from(percent));
        (1..100).map(at).collect()
    };
    let fit = |family, location, scale, log_likelihood| Fit {
        family,
        location,
        scale,
        log_likelihood,
    };
    SideFigures {
        percentiles: percentiles(1.0),
        log_skewness: Some(1.234),
        log_excess_kurtosis: Some(-0.567),
        shapiro_wilk: Some(Tested {
            statistic: 0.8912,
            p: 0.00041,
        }),
        fits: vec![
            fit(Family::LogNormal, median.ln(), 0.021, -412.3),
            fit(Family::Gumbel, median * 0.99, median * 0.018, -412.9),
            fit(Family::Normal, median, median * 0.021, -419.4),
        ],
        mean_over_min: Some(0.0248),
        min_sigmas: Some(1.31),
        max_sigmas: Some(14.2),
        first_half: Some(FirstHalf {
            median: median * 1.004,
            percentiles: percentiles(1.004),
            against_second: Some(Tested {
                statistic: 0.1818,
                p: 0.84,
            }),
        }),
    }
}

/// Figures that go with a change.
pub fn figures(change: f64, half_width: f64) -> Figures {
    let effect = LogRatio::from_change(change);
    let ranged = Change {
        effect,
        interval: estimate(change, half_width).interval,
    };
    let tested = TTested {
        change: ranged,
        t: change / half_width * 2.0,
        df: 85.4,
        p: 0.00021,
    };
    let between = BetweenFigures {
        min: Some(effect),
        median: Some(effect),
        mean: Some(LogRatio(effect.0 * 1.1)),
        shift: Some(ranged),
        pairs: Some(PairSigns {
            less: 3,
            equal: 1,
            greater: 40,
            p: 1.2e-9,
        }),
        welch: Some(tested),
        student: Some(tested),
        student_paired: Some(tested),
        z_paired: Some(Tested {
            statistic: -2.31,
            p: 0.021,
        }),
        signed_rank: Some(SignedRanks {
            less: 12.5,
            greater: 240.5,
            p: 0.00031,
        }),
        mann_whitney: Some(RankSums {
            u_baseline: 120.5,
            u_candidate: 1815.5,
            p: 3.1e-13,
        }),
        rank_sum_p: Some(2.9e-13),
        kolmogorov_smirnov: Some(Tested {
            statistic: 0.8636,
            p: 0.0,
        }),
        wasserstein: Some(0.1023),
        opposite_peaks: Some(OppositePeaks {
            below: 1,
            above: 6,
            p: Some(0.125),
        }),
    };
    Figures {
        baseline: side_figures(685_900.0),
        candidate: Some(side_figures(685_900.0 * (1.0 + change))),
        between: Some(between),
        stability: Some(StabilityFigures {
            first_half: Some(effect),
            second_half: Some(LogRatio(effect.0 * 0.9)),
            spread: Some(Spread {
                within: 0.0123,
                between: 0.0031,
            }),
        }),
    }
}

/// './new input' against './old input' with this verdict.
pub fn comparison(verdict: Option<Verdict>, change: f64, half_width: f64) -> Comparison {
    let wall = metric(Metric::Wall, 685_900.0, change, half_width);
    Comparison {
        benchmark: "old against new".to_owned(),
        details: BenchmarkDetails::default(),
        terms: Terms {
            metric: Metric::Wall,
            quantile: None,
            margin: 0.01,
            alpha: 0.05,
        },
        baseline: wall.baseline.clone(),
        candidate: wall.candidate.clone(),
        verdict,
        estimate: wall.estimate,
        evidence: Evidence {
            excludes_zero: change.abs() > half_width * 1.02,
            p_looks: Some(0.0003),
            p_sign_flip: Some(0.0002),
            minimum_detectable_effect: Some(LogRatio::from_change(half_width * 1.3)),
            ..Evidence::default()
        },
        aspects: Aspects {
            processes: runs::seen_as_started(2)
                .into_iter()
                .map(|observed| observed.process)
                .collect(),
            order_effects: Some(BlockDiagnostics {
                drift: 0.0011,
                carry_over: -0.0002,
                second_position: 0.0004,
            }),
            ..Aspects::default()
        },
        suite: InSuite {
            p_adjusted: Some(0.0003),
            ..InSuite::default()
        },
        plots: None,
        figures: Some(Box::new(figures(change, half_width))),
        metrics: vec![
            wall,
            metric(Metric::Cpu, 612_300.0, change * 0.98, half_width * 0.6),
            metric(Metric::PeakRss, 2_150_400.0, 0.0, 0.0),
            metric(Metric::MinorFaults, 97.0, 0.0103, 0.012),
            metric(Metric::MajorFaults, 0.0, 0.0, 0.0),
            metric(Metric::InvoluntarySwitches, 0.5, 1.0, 0.9),
            metric(Metric::Instructions, 1_234_567.0, 0.0921, 0.00004),
        ],
        warnings: vec![Warning::PlacementFixed { reason: None }],
    }
}

pub fn analysis(comparisons: Vec<Comparison>) -> Analysis {
    Analysis {
        of_builds: true,
        tool_version: "0.1.0".to_owned(),
        seed: Some(7),
        comparisons,
        launches: 93,
        elapsed_seconds: 1.94,
        ending: Ending::Recorded(EndReason::Finished),
        ..Analysis::default()
    }
}

pub fn race() -> Analysis {
    let mut slower = comparison(Some(Verdict::Slower), 0.1012, 0.0025);
    slower.warnings = vec![
        Warning::EarlyStop {
            replicates: 22,
            planned: 40,
        },
        Warning::BlocksDropped {
            count: 4,
            change_with_all: 0.0071,
            verdict_with_all: Some(Verdict::Inconclusive),
        },
        Warning::PlacementFixed { reason: None },
    ];
    slower.aspects.dropped = Some(DroppedBlocks {
        blocks: 4,
        effect_with_them: Some(LogRatio::from_change(0.0071)),
    });
    analysis(vec![slower])
}

pub fn alone() -> Analysis {
    let mut alone = comparison(None, 0.0, 0.01);
    alone.candidate = None;
    alone.aspects.processes = Vec::new();
    alone.estimate = None;
    alone.evidence.excludes_zero = false;
    alone.suite.p_adjusted = None;
    alone.evidence.p_sign_flip = None;
    alone.evidence.minimum_detectable_effect = None;
    alone.aspects.order_effects = None;
    if let Some(figures) = &mut alone.figures {
        figures.candidate = None;
        figures.between = None;
        figures.stability = None;
    }
    alone.warnings = vec![];
    for row in &mut alone.metrics {
        row.candidate = None;
        row.estimate = None;
    }
    analysis(vec![alone])
}

pub fn three_contenders() -> Analysis {
    let faster = comparison(Some(Verdict::Faster), -0.0213, 0.0041);
    let mut even = comparison(Some(Verdict::Equivalent), 0.0012, 0.0031);
    if let Some(candidate) = &mut even.candidate {
        candidate.name = "./newest input".to_owned();
    }
    even.warnings.push(Warning::Bimodal);
    analysis(vec![faster, even])
}

/// An open race that this number of replicates would settle.
pub fn settled_by(replicates: usize) -> Option<Settling> {
    Some(Settling {
        replicates,
        seconds: None,
        in_place_of: None,
    })
}

pub fn suite() -> Analysis {
    let sized = |name: &str, size: &str, verdict, change, half_width| Comparison {
        benchmark: name.to_owned(),
        details: BenchmarkDetails {
            parameters: vec![("size".to_owned(), size.to_owned())],
            ..BenchmarkDetails::default()
        },
        ..comparison(verdict, change, half_width)
    };
    let mut open = sized("sort", "1000", Some(Verdict::Inconclusive), 0.0172, 0.0215);
    open.aspects.settling = settled_by(14);
    open.warnings.push(Warning::TailDiffers {
        baseline: 0.001,
        candidate: 0.0312,
        mean_change: 0.0423,
    });
    let mut few = sized("parse/utf8", "10", None, 0.0012, 0.021);
    few.warnings = vec![Warning::FewReplicates { have: 3, need: 6 }];
    if let Some(estimate) = &mut few.estimate {
        estimate.replicates = 3;
        estimate.blocks = 3;
    }
    analysis(vec![
        sized("sort", "10", Some(Verdict::Faster), -0.0213, 0.0041),
        open,
        sized("parse", "10", Some(Verdict::Slower), 0.352, 0.022),
        sized(
            "parse size=1000",
            "1000",
            Some(Verdict::Equivalent),
            0.0012,
            0.0031,
        ),
        few,
    ])
}

pub fn recording() -> Analysis {
    let mut recorded = comparison(Some(Verdict::Faster), -0.0213, 0.0041);
    recorded.evidence.provisional = true;
    recorded.warnings = vec![Warning::Unpaired {
        each: Observation::Process,
    }];
    if let Some(estimate) = &mut recorded.estimate {
        estimate.blocks = 0;
    }
    if let Some(figures) = &mut recorded.figures {
        figures.stability = None;
        figures.between = Some(BetweenFigures::default());
    }
    Analysis {
        seed: None,
        launches: 0,
        elapsed_seconds: 0.0,
        ending: Ending::Recording,
        ..analysis(vec![recorded])
    }
}

/// A race on neutral links, beside them the user's own, which lies elsewhere.
pub fn placed() -> Analysis {
    let mut own = estimate(-0.1304, 0.003);
    own.replicates = 6;
    own.blocks = 150;
    if let Some(interval) = &mut own.interval {
        interval.confidence = 0.95;
    }
    let mut one = comparison(Some(Verdict::Equivalent), 0.0002, 0.0011);
    one.evidence.scope = Scope::Source;
    one.aspects.own_link = Some(own);
    one.aspects.spreads = Some(Spreads {
        placement: Some(0.0139),
        process: Some(0.0031),
        block: 0.0072,
    });
    one.warnings = vec![Warning::OwnLinkApart { apart: -0.1306 }];
    Analysis {
        processes: Processes::Workers,
        ..analysis(vec![one])
    }
}

/// What the hosts of these parts said of themselves: most of them nothing.
fn conditions(part: u32) -> Conditions {
    let disturbance = |name: &str, found: &str| Disturbance {
        name: name.to_owned(),
        found: found.to_owned(),
    };
    match part {
        2 => Conditions {
            limits: Limits {
                cores: Some(1.5),
                memory: Some(2 << 30),
            },
            disturbances: vec![
                disturbance("steal", "4% of the time since the start"),
                disturbance("load", "<b>2.4</b> tasks a core\u{202e}"),
            ],
        },
        4 | 5 => Conditions {
            disturbances: (1..=40)
                .map(|n| disturbance("aslr", &format!("{n}")))
                .collect(),
            ..Conditions::default()
        },
        _ => Conditions::default(),
    }
}

/// A race merged of the parts of six hosts of two kinds that disagree, and a part is missing.
pub fn over_hosts() -> Analysis {
    let host = |part: u32, cpu: &str, change: f64| HostRow {
        parts: vec![part],
        cpu: Some(cpu.to_owned()),
        conditions: conditions(part),
        estimate: Estimate {
            replicates: 10,
            ..estimate(change, 0.004)
        },
        control: None,
        left_out: false,
    };
    let kind = |cpu: &str, change: f64| HostKind {
        cpu: cpu.to_owned(),
        hosts: 3,
        effect: LogRatio::from_change(change),
        interval: estimate(change, 0.005).interval,
    };
    let mut one = comparison(Some(Verdict::Inconclusive), 0.01, 0.021);
    one.aspects.hosts = Some(AcrossHosts {
        like_these: true,
        next_host: estimate(0.01, 0.055).interval,
        q: Some(212.0),
        i_squared: Some(0.976),
        p_differ: Some(1e-9),
        host_sd: Some(LogRatio::from_change(0.022)),
        hosts_to_settle: Some(19),
        kinds: vec![kind("AMD EPYC <7763>", 0.03), kind("Intel Xeon", -0.01)],
        hosts: [0.03, 0.031, 0.029, -0.01, -0.011, -0.009]
            .into_iter()
            .zip(1..)
            .map(|(change, part)| {
                let amd = part <= 3;
                host(
                    part,
                    if amd { "AMD EPYC <7763>" } else { "Intel Xeon" },
                    change,
                )
            })
            .collect(),
        missing: vec![7],
    });
    one.warnings = Vec::new();
    analysis(vec![one])
}

/// The same of two hosts, which speak for themselves.
pub fn over_two_hosts() -> Analysis {
    let mut two = over_hosts();
    if let Some(across) = &mut two.comparisons[0].aspects.hosts {
        across.like_these = false;
        across.next_host = None;
        across.host_sd = None;
        across.p_differ = None;
        across.hosts_to_settle = None;
        across.kinds.clear();
        across.missing.clear();
        across.hosts.truncate(2);
    }
    two
}

/// The same of six hosts with controls, of which one is told apart and left out; with `many`, three
/// are told apart and none is left out.
pub fn over_controlled_hosts(many: bool) -> Analysis {
    let mut six = over_hosts();
    if let Some(across) = &mut six.comparisons[0].aspects.hosts {
        across.kinds.clear();
        for host in &mut across.hosts {
            let separated = host.parts == [3] || (many && host.parts[0] > 4);
            host.control = Some(Control {
                estimate: estimate(if separated { 0.021 } else { 0.001 }, 0.006),
                separated,
            });
            host.left_out = separated && !many;
        }
        if !many {
            across.hosts[5].control = None;
        }
    }
    six
}

/// A race on a machine whose cores were taken, with waiting taken out.
pub fn without_waiting() -> Analysis {
    let mut kept = estimate(0.019, 0.11);
    if let Some(interval) = &mut kept.interval {
        interval.confidence = 0.95;
    }
    let mut one = comparison(Some(Verdict::Slower), 0.0098, 0.0021);
    one.aspects.waiting = Some(WaitingShare {
        baseline: 0.412,
        candidate: Some(0.409),
        taken_out: true,
        kept: Some(kept),
        verdict_kept: Some(Verdict::Inconclusive),
    });
    Analysis {
        processes: Processes::Workers,
        ..analysis(vec![one])
    }
}

/// A race side by side, with what it read in turns.
pub fn side_by_side() -> Analysis {
    let mut in_turns = estimate(0.021, 0.034);
    in_turns.replicates = 4;
    let mut one = comparison(Some(Verdict::Slower), 0.0172, 0.0031);
    one.terms.metric = Metric::Cpu;
    one.aspects.side_by_side = Some(RacedSideBySide {
        in_turns: Some(in_turns),
        alone: 0.173,
    });
    for row in &mut one.metrics {
        if row.metric == Metric::Wall {
            row.baseline = side("./old input", 152_300_000.0, 8);
            row.candidate = Some(side("./new input", 154_900_000.0, 8));
            row.estimate = None;
        }
    }
    let mut opened = one.clone();
    opened.verdict = Some(Verdict::Inconclusive);
    opened.benchmark = "apart".to_owned();
    opened.warnings = vec![Warning::TurnsApart { apart: 0.0821 }];
    let in_turns = |(place, reason)| {
        let mut turns = comparison(Some(Verdict::Inconclusive), 0.0172, 0.031);
        turns.benchmark = format!("turns {place}");
        turns.aspects.turns_because = Some(reason);
        turns
    };
    let turns = TurnsReason::ALL.into_iter().enumerate().map(in_turns);
    analysis([one, opened].into_iter().chain(turns).collect())
}

/// A race of functions for their 99% quantile.
pub fn of_a_quantile(verdict: Option<Verdict>, change: f64) -> Analysis {
    let mut one = comparison(verdict, change, 0.004);
    one.terms.quantile = Some(0.99);
    one.aspects.settling = settled_by(7).filter(|_| verdict == Some(Verdict::Inconclusive));
    Analysis {
        processes: Processes::Workers,
        ..analysis(vec![one])
    }
}

/// A suite with controls, of which one separated: every verdict is
/// provisional.
pub fn with_controls() -> Analysis {
    let controlled = |name: &str, verdict, change, control, separated| Comparison {
        benchmark: name.to_owned(),
        aspects: Aspects {
            control: Some(Control {
                estimate: estimate(control, 0.0021),
                separated,
            }),
            ..comparison(verdict, change, 0.0041).aspects
        },
        evidence: Evidence {
            provisional: true,
            ..comparison(verdict, change, 0.0041).evidence
        },
        warnings: vec![Warning::ControlSeparated {
            benchmark: "parse".to_owned(),
            change: 0.0312,
            separated: 1,
            of: 2,
        }],
        ..comparison(verdict, change, 0.0041)
    };
    let sort = controlled("sort", Some(Verdict::Faster), -0.0213, -0.0003, false);
    let mut newest = controlled("sort", Some(Verdict::Equivalent), 0.0012, -0.0003, false);
    if let Some(candidate) = &mut newest.candidate {
        candidate.name = "./newest input".to_owned();
    }
    let parse = controlled("parse", Some(Verdict::Slower), 0.0471, 0.0312, true);
    analysis(vec![sort, newest, parse])
}

/// A race with a control that found nothing.
pub fn with_a_quiet_control() -> Analysis {
    let mut race = race();
    race.comparisons[0].aspects.control = Some(Control {
        estimate: estimate(-0.0003, 0.0012),
        separated: false,
    });
    race
}

/// A note about races of commands on a machine that is calibrated.
pub fn note() -> CalibrationNote {
    CalibrationNote {
        tool_version: "0.1.0".to_owned(),
        started_at: Some(1_795_312_800),
        kind: RaceKind::Commands,
        false_calls: Share {
            hits: 2,
            of: 120,
            low: 0.00202,
            high: 0.05891,
        },
        alpha: 0.05,
        noise_floor: Some(LogRatio::from_change(0.0112)),
    }
}

/// A race on such a machine.
pub fn calibrated() -> Analysis {
    Analysis {
        calibration: Some(note()),
        ..race()
    }
}

/// A suite on neutral links: a placement that does not show, one that was not
/// told apart, and a race that fell back.
pub fn placed_suite() -> Analysis {
    let named = |name: &str, change, placement| {
        let mut one = placed().comparisons.swap_remove(0);
        one.benchmark = name.to_owned();
        one.aspects.own_link = Some(estimate(change, 0.003));
        one.aspects.spreads = Some(Spreads {
            placement,
            process: None,
            block: 0.0072,
        });
        one.warnings.clear();
        one
    };
    let mut fell_back = named("c", 0.0011, None);
    fell_back.evidence.scope = Scope::Binary;
    fell_back.warnings = vec![Warning::PlacementFixed {
        reason: Some("three links in a row came to nothing".to_owned()),
    }];
    let mut without = named("d", 0.0, None);
    without.aspects.own_link = None;
    without.aspects.spreads = None;
    analysis(vec![
        named("a", 0.0004, Some(0.0)),
        named("b", 0.0009, None),
        fell_back,
        without,
    ])
}

/// Two benchmarks of functions, which know what an iteration gets done.
pub fn functions() -> Analysis {
    let mut bytes = comparison(Some(Verdict::Faster), -0.0213, 0.0041);
    bytes.benchmark = "utf8/5000".to_owned();
    bytes.details.throughput = Some(Throughput::Bytes(5000));
    bytes.metrics = vec![
        metric(Metric::Wall, 685_900.0, -0.0213, 0.0041),
        metric(Metric::Migrations, 0.0, 0.0, 0.0),
        metric(Metric::Allocations, 12.0, 0.5, 0.0),
        metric(Metric::AllocatedBytes, 4096.0, 0.5, 0.0),
    ];
    let mut items = comparison(Some(Verdict::Slower), 0.352, 0.022);
    items.benchmark = "sort/1000".to_owned();
    items.details.throughput = Some(Throughput::Items(1_000_000));
    items.terms.metric = Metric::Instructions;
    items.warnings.push(Warning::EarlyStop {
        replicates: 8,
        planned: 40,
    });
    Analysis {
        of_builds: false,
        processes: Processes::Workers,
        ..analysis(vec![bytes, items])
    }
}

/// A suite that breaks a rule twice, once excused.
pub fn gated() -> Analysis {
    let mut analysis = suite();
    let broken = |rule: &str, excuse| GateHit {
        rule: rule.to_owned(),
        excuse,
        unproven: None,
    };
    analysis.comparisons[2].suite.gate = Some(broken("slower", None));
    let excuse = Excuse {
        reason: "the input grew; see issue 12".to_owned(),
        until: Some("2026-12-31".to_owned()),
    };
    analysis.comparisons[1].suite.gate = Some(broken("not-equivalent", Some(excuse)));
    analysis
}

/// A suite of functions of which two benchmarks failed.
pub fn with_failures() -> Analysis {
    let failed = |benchmark: &str, size: &str, message: &str| FailedBenchmark {
        benchmark: benchmark.to_owned(),
        parameters: vec![("size".to_owned(), size.to_owned())],
        message: message.to_owned(),
    };
    let failures = vec![
        failed(
            "parse",
            "10",
            "benchmark 'parse', replicate 3: 'new' panicked: out of\ncheese.",
        ),
        failed("parse size=100", "100", "the worker crashed with SIGSEGV"),
    ];
    let mut one = functions();
    one.comparisons.truncate(1);
    Analysis { failures, ..one }
}

fn left_out(benchmark: &str, reason: LeftOutReason) -> LeftOut {
    LeftOut {
        benchmark: benchmark.to_owned(),
        reason,
    }
}

/// Two builds, raced: benchmarks that only one of them has, and one that is
/// other work in each.
pub fn builds() -> Analysis {
    let mut races = functions().comparisons;
    for one in &mut races {
        one.baseline.name = "old/sums".to_owned();
        one.candidate.as_mut().unwrap().name = "new/sums".to_owned();
        one.warnings = vec![
            Warning::OptimisedAway {
                contender: "new/sums".to_owned(),
                ns: 0.1,
            },
            Warning::PlacementFixed { reason: None },
        ];
    }
    let only = |side: &str| LeftOutReason::OnlyIn(side.to_owned());
    let unlike = "on 1 thread in 'old/sums', but on 4 threads in 'new/sums'";
    Analysis {
        processes: Processes::ProgramWorkers,
        left_out: vec![
            left_out("hash", only("new/sums")),
            left_out("sort/10", LeftOutReason::NotAlike(unlike.to_owned())),
            left_out("hash/10", only("new/sums")),
            left_out("gone", only("old/sums")),
        ],
        ..analysis(races)
    }
}

/// Two Google Benchmark executables, whose benchmark counts for itself and of
/// which another one does not run.
pub fn google() -> Analysis {
    let mut one = builds().comparisons.swap_remove(0);
    one.benchmark = "BM_Sum/4096".to_owned();
    one.metrics = vec![
        metric(Metric::Wall, 685.9, -0.0213, 0.0041),
        metric(Metric::Cpu, 684.1, -0.0214, 0.0043),
        metric(Metric::Custom("cells".to_owned()), 4096.0, 0.0, 0.0),
    ];
    let skipped = "no such device |\u{1b}[2J".to_owned();
    Analysis {
        processes: Processes::HarnessLaunches,
        left_out: vec![left_out("BM_Gpu", LeftOutReason::Skipped(skipped))],
        ..analysis(vec![one])
    }
}

/// Two builds that have nothing in common.
pub fn nothing_in_common() -> Analysis {
    Analysis {
        comparisons: vec![],
        ..builds()
    }
}

/// A run of which nothing but a failure came.
pub fn only_a_failure() -> Analysis {
    let mut one = with_failures();
    one.comparisons.clear();
    one.failures.truncate(1);
    one
}

/// One of every warning there is.
pub fn every_warning() -> Vec<Warning> {
    vec![
        Warning::FewReplicates { have: 3, need: 6 },
        Warning::LeftBehind {
            by: vec!["old".to_owned(), "new".to_owned()],
            process: "sleep".to_owned(),
        },
        Warning::ProcessesDiffer {
            differences: vec![
                ProcessDifference::Addresses {
                    fixed: "old".to_owned(),
                    random: "new".to_owned(),
                },
                ProcessDifference::FixesAddresses {
                    by: "new".to_owned(),
                    not_by: "old".to_owned(),
                },
                ProcessDifference::Cores {
                    leaves: "new".to_owned(),
                },
                ProcessDifference::Padding {
                    without: "new".to_owned(),
                },
            ],
        },
        Warning::SingleBlocks { replicates: 9 },
        Warning::ControlSeparated {
            benchmark: "parse".to_owned(),
            change: 0.0312,
            separated: 2,
            of: 12,
        },
        Warning::Provisional,
        Warning::ZeroTimes { share: 0.004 },
        Warning::TooManyZeros { share: 0.12 },
        Warning::CoarseClock { ticks: 40.2 },
        Warning::Ties { share: 0.153 },
        Warning::TimerLimited,
        Warning::Bimodal,
        Warning::TailDiffers {
            baseline: 0.001,
            candidate: 0.0312,
            mean_change: 0.0423,
        },
        Warning::BlocksDropped {
            count: 1,
            change_with_all: -0.0251,
            verdict_with_all: None,
        },
        Warning::StillWarming { change: 0.0312 },
        Warning::WorkerNote {
            note: "'new' changes its input\u{1b}[2J, so every call gets one of its own.".to_owned(),
        },
        Warning::BenchmarkDiffers {
            files: vec!["bench/test_a.py".to_owned(), "bench/words.txt".to_owned()],
            benches_from: Some("v2".to_owned()),
        },
        Warning::DisturbedUnevenly { p: 0.0031 },
        Warning::DisturbedTooOften { share: 0.342 },
        Warning::CutShort {
            count: 3,
            of: 640,
            blocks: 2,
            kept: None,
        },
        Warning::CutShort {
            count: 16,
            of: 320,
            blocks: 0,
            kept: Some(CutShortKept::OneSided { p: 0.0078 }),
        },
        Warning::CutShort {
            count: 8,
            of: 64,
            blocks: 0,
            kept: Some(CutShortKept::TooMany { share: 0.25 }),
        },
        Warning::GpuClock {
            count: 2,
            of: 960,
            blocks: 2,
            kept: None,
        },
        Warning::GpuClock {
            count: 400,
            of: 960,
            blocks: 0,
            kept: Some(CutShortKept::TooMany { share: 0.71 }),
        },
        Warning::PlacementFixed { reason: None },
        Warning::PlacementFixed {
            reason: Some("./old: it was not linked by deadheat\u{1b}[2J.".to_owned()),
        },
        Warning::LinksRefused {
            seeds: vec![17],
            reason: "the link of seed 17 crashed with SIGSEGV: ./k-17\u{1b}[2J --all".to_owned(),
        },
        Warning::LinksRefused {
            seeds: vec![3, 4, 5, 60, 61],
            reason: "ld.lld: error: no space".to_owned(),
        },
        Warning::OwnLinkApart { apart: -0.1293 },
        Warning::TurnsApart { apart: -0.0312 },
        Warning::WaitingOfItsOwn {
            contenders: vec!["./new\u{1b}[2J".to_owned()],
            share: 0.312,
        },
        Warning::WaitingUnread { share: 1.0 },
        Warning::BuildsUnmatched {
            reason: Some("mold 1.10.1 cannot be told where each section is to lie".to_owned()),
        },
        Warning::Unsectioned {
            objects: ["a", "b\u{1b}[2J", "c", "d", "e"]
                .map(|name| format!("{name}.o"))
                .to_vec(),
        },
        Warning::ClocksDisagree {
            wall: 0.0501,
            cpu: -0.0021,
            cause: ClockCause::Unknown,
        },
        Warning::ClocksDisagree {
            wall: 0.0501,
            cpu: -0.0021,
            cause: ClockCause::Preempted,
        },
        Warning::ClocksDisagree {
            wall: 0.0501,
            cpu: -0.0021,
            cause: ClockCause::Waited,
        },
        Warning::EarlyStop {
            replicates: 8,
            planned: 40,
        },
        Warning::BudgetSpent {
            replicates: 12,
            planned: 40,
        },
        Warning::JudgedAnytime,
        Warning::Unpaired {
            each: Observation::Process,
        },
        Warning::Unpaired {
            each: Observation::Sample,
        },
        Warning::Unpaired {
            each: Observation::File,
        },
        Warning::FewObservations {
            baseline: 5,
            candidate: 12,
            need: 6,
            each: Observation::Process,
        },
        Warning::FewObservations {
            baseline: 1,
            candidate: 1,
            need: 6,
            each: Observation::Process,
        },
        Warning::FewObservations {
            baseline: 1,
            candidate: 3,
            need: 6,
            each: Observation::File,
        },
        Warning::FewObservations {
            baseline: 1,
            candidate: 1,
            need: 6,
            each: Observation::File,
        },
        Warning::InTurns,
        Warning::StandsOut { z: 9.41 },
        Warning::StandsApart {
            file: "old3\u{1b}[2J.json".to_owned(),
            rows: 3,
            of: 4,
            distance: LogRatio(-0.7),
            without: [0, 1, 3, 0],
        },
        Warning::RecordedInOrder {
            first: "old\u{1b}[2J".to_owned(),
            last: "new".to_owned(),
        },
        Warning::SameRecordings { by_criterion: true },
        Warning::SameRecordings {
            by_criterion: false,
        },
        Warning::SharedRecordings {
            files: vec!["a\u{1b}[2J.json".to_owned()],
        },
        Warning::CopiedRecordings {
            side: "old\u{1b}[2J".to_owned(),
            files: (2..=8).map(|number| format!("{number}.json")).collect(),
        },
        Warning::RepeatedNames {
            names: vec!["sort #2".to_owned(), "sort #3\u{1b}[2J".to_owned()],
        },
        Warning::NoCounters {
            reason: "perf_event_open: permission\u{1b}[2J denied".to_owned(),
        },
        Warning::ClockFallback {
            reason: "it does not tick evenly\u{1b}[2J".to_owned(),
        },
        Warning::DebugBuild,
        Warning::OptimisedAway {
            contender: "empty\u{1b}[2J".to_owned(),
            ns: 0.081,
        },
        Warning::DirectionUnknown {
            metric: "widgets\u{1b}[2J".to_owned(),
        },
        Warning::ExitCodesDiffer {
            baseline: 0.0,
            candidate: 0.75,
        },
        Warning::ShortCommand {
            median_ns: 823_400.0,
        },
    ]
}

pub fn every_ending() -> Vec<Ending> {
    vec![
        Ending::Recorded(EndReason::Finished),
        Ending::Recorded(EndReason::Budget),
        Ending::Recorded(EndReason::Interrupted(2)),
        Ending::Recorded(EndReason::Interrupted(64)),
        Ending::Recorded(EndReason::Failed(
            "'./new input' exited with 3\nin block 4".to_owned(),
        )),
        Ending::Cut,
        Ending::Recording,
    ]
}

/// A race with every verdict, every doubt and every ending somewhere.
pub fn everything() -> Vec<Analysis> {
    let mut all = vec![
        crate::gates::gated(),
        race(),
        alone(),
        three_contenders(),
        suite(),
        recording(),
        functions(),
        placed(),
        placed_suite(),
        over_hosts(),
        over_two_hosts(),
        over_controlled_hosts(false),
        over_controlled_hosts(true),
        without_waiting(),
        side_by_side(),
        of_a_quantile(Some(Verdict::Slower), 0.032),
        with_controls(),
        with_a_quiet_control(),
        calibrated(),
        with_failures(),
        only_a_failure(),
        builds(),
        google(),
        nothing_in_common(),
        analysis(vec![]),
    ];
    let verdicts = [
        None,
        Some(Verdict::Faster),
        Some(Verdict::Slower),
        Some(Verdict::Equivalent),
        Some(Verdict::Inconclusive),
    ];
    let judged = [
        Metric::Wall,
        Metric::Cpu,
        Metric::PeakRss,
        Metric::Custom("allocs".to_owned()),
    ];
    for verdict in verdicts {
        for judged in &judged {
            let mut one = comparison(verdict, -0.0043, 0.0021);
            one.terms.metric = judged.clone();
            one.evidence.provisional = verdict == Some(Verdict::Faster);
            one.warnings = every_warning();
            let mut blurred = one.clone();
            blurred.estimate = None;
            blurred.verdict = None;
            blurred.warnings = vec![];
            if *judged == Metric::Wall {
                all.push(Analysis {
                    processes: Processes::Workers,
                    ..analysis(vec![one.clone()])
                });
            }
            all.push(analysis(vec![one]));
            all.push(analysis(vec![blurred]));
        }
    }
    all.extend(crate::saved::everything());
    for ending in every_ending() {
        all.push(Analysis {
            ending: ending.clone(),
            ..functions()
        });
        all.push(Analysis {
            second_race: Some(ending.clone()),
            ..race()
        });
        all.push(Analysis { ending, ..race() });
    }
    all
}

/// The header of a run on a machine that everybody has.
pub fn header() -> RunHeader {
    let command = [
        "deadheat",
        "run",
        "-n",
        "it's `old`",
        "./old input",
        "./new input",
    ];
    let design = Design {
        pinning: Pinning::Auto,
        ..design(one_look(40))
    };
    RunHeader {
        tool_version: "0.1.0".to_owned(),
        started_at: Some(1_790_000_000),
        command: command.map(str::to_owned).to_vec(),
        environment: Environment {
            system: "linux x86_64".to_owned(),
            kernel: Some("6.1.0".to_owned()),
            cpu: Some("A Processor @ 3.0 GHz".to_owned()),
            cores: Some(8),
            governor: Some("performance".to_owned()),
            load: Some(0.25),
            pinned: vec![3],
            ..Environment::default()
        },
        ..runs::header(design, 7, vec![])
    }
}
