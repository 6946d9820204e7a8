//! Analyses of saved results, made by hand.

use deadheat_model::{
    Analysis, Aspects, BenchmarkDetails, Better, Comparison, Ending, Estimate, Evidence,
    FailedBenchmark, InSuite, Interval, LeftOut, LeftOutReason, LogRatio, Metric, MetricComparison,
    Observation, Overall, Population, ResultFacts, ResultSide, ResultSource, Side, Terms, Unit,
    Verdict, Warning,
};

use crate::fixtures;

pub fn side(name: &str, median: f64) -> Side {
    fixtures::side(name, median, 12)
}

/// A change with an interval, as twelve repetitions of each side give it.
pub fn estimate(change: f64, half_width: f64) -> Estimate {
    Estimate {
        effect: LogRatio::from_change(change),
        interval: Some(Interval {
            low: LogRatio::from_change(change - half_width),
            high: LogRatio::from_change(change + half_width),
            confidence: 0.95,
        }),
        p_value: Some(0.0011),
        replicates: 24,
        blocks: 0,
    }
}

/// A metric beside the judged one.
pub fn metric(
    metric: Metric,
    median: f64,
    change: f64,
    verdict: Option<Verdict>,
) -> MetricComparison {
    MetricComparison {
        metric,
        baseline: side("old", median),
        candidate: Some(side("new", median * (1.0 + change))),
        estimate: Some(estimate(change, 0.004)),
        verdict,
    }
}

pub fn items() -> Metric {
    Metric::foreign("items_per_second", Unit::PerSecond, Better::More)
}

pub fn bytes() -> Metric {
    Metric::foreign("bytes_per_second", Unit::BytesPerSecond, Better::More)
}

pub fn collisions() -> Metric {
    Metric::foreign("collisions", Unit::Count, Better::Unknown)
}

/// 'new' against 'old' in wall time, twelve samples each, not paired.
pub fn one(name: &str, median: f64, change: f64, verdict: Option<Verdict>) -> Comparison {
    let half_width = match verdict {
        Some(Verdict::Inconclusive) => change.abs() * 1.4,
        Some(Verdict::Equivalent) => 0.004,
        _ => (change.abs() * 0.21).max(0.001),
    };
    Comparison {
        benchmark: name.to_owned(),
        details: BenchmarkDetails {
            threads: Some(1),
            ..BenchmarkDetails::default()
        },
        terms: Terms {
            metric: Metric::Wall,
            quantile: None,
            margin: 0.01,
            alpha: 0.05,
        },
        baseline: side("old", median),
        candidate: Some(side("new", median * (1.0 + change))),
        verdict,
        estimate: Some(estimate(change, half_width)),
        evidence: Evidence {
            excludes_zero: matches!(verdict, Some(Verdict::Faster | Verdict::Slower)),
            provisional: verdict.is_some(),
            p_looks: match verdict {
                Some(Verdict::Faster) => Some(1.2e-8),
                Some(Verdict::Slower) => Some(0.00016),
                _ => Some(0.37),
            },
            ..Evidence::default()
        },
        aspects: Aspects::default(),
        suite: InSuite {
            p_adjusted: Some(match verdict {
                Some(Verdict::Faster) => 2.4e-8,
                Some(Verdict::Slower) => 0.00031,
                _ => 0.41,
            }),
            ..InSuite::default()
        },
        plots: None,
        figures: None,
        metrics: vec![
            metric(Metric::Wall, median, change, verdict),
            metric(Metric::Cpu, median * 0.99, change, verdict),
        ],
        warnings: vec![Warning::Unpaired {
            each: Observation::File,
        }],
    }
}

pub fn source(name: &str, tool: &str, date: &str) -> ResultSource {
    ResultSource {
        source: name.to_owned(),
        tool: tool.to_owned(),
        facts: ResultFacts {
            host: Some("host".to_owned()),
            date: Some(date.to_owned()),
            cpu_scaling: Some(false),
            ..ResultFacts::default()
        },
    }
}

pub fn file(name: &str, source_name: &str, date: &str) -> ResultSide {
    ResultSide {
        name: name.to_owned(),
        files: vec![source(source_name, "Google Benchmark 1.8.3", date)],
    }
}

pub fn left_out(benchmark: &str, reason: LeftOutReason) -> LeftOut {
    LeftOut {
        benchmark: benchmark.to_owned(),
        reason,
    }
}

pub fn failed(benchmark: &str, message: &str) -> FailedBenchmark {
    FailedBenchmark {
        benchmark: benchmark.to_owned(),
        parameters: vec![],
        message: message.to_owned(),
    }
}

pub fn overall(candidate: &str, benchmarks: usize, change: f64) -> Overall {
    Overall {
        candidate: candidate.to_owned(),
        benchmarks,
        estimate: Estimate {
            p_value: None,
            ..estimate(change, 0.006)
        },
        population: Population::These,
    }
}

pub fn analysis(comparisons: Vec<Comparison>) -> Analysis {
    Analysis {
        seed: None,
        launches: 0,
        elapsed_seconds: 0.0,
        ending: Ending::Recording,
        sides: vec![
            file("old", "old.json", "2026-01-01T10:00:00+00:00"),
            file("new", "new.json", "2026-01-02T11:00:00+00:00"),
        ],
        ..fixtures::analysis(comparisons)
    }
}

/// Two files of one tool with every verdict.
pub fn two_files() -> Analysis {
    let mut few = one("BM_Hash/10", 31.0, 0.0301, None);
    few.suite.p_adjusted = Some(0.1);
    few.evidence.p_looks = Some(0.08);
    if let Some(estimate) = &mut few.estimate {
        estimate.interval = None;
    }
    few.warnings.push(Warning::FewObservations {
        baseline: 3,
        candidate: 3,
        need: 6,
        each: Observation::File,
    });
    let mut threaded = one("BM_Lock", 81_230.0, 0.0012, Some(Verdict::Equivalent));
    threaded.details.threads = Some(4);
    threaded.details.label = Some("spin".to_owned());
    let mut tailed = one("BM_Sort/1024", 9_120.0, 0.0172, Some(Verdict::Inconclusive));
    tailed.warnings.push(Warning::TailDiffers {
        baseline: 0.001,
        candidate: 0.0312,
        mean_change: 0.0423,
    });
    Analysis {
        overall: vec![overall("new", 5, 0.0212)],
        ..analysis(vec![
            one("BM_Sort/8", 40.2, -0.0513, Some(Verdict::Faster)),
            one("BM_Sort/64", 402.0, 0.1012, Some(Verdict::Slower)),
            tailed,
            threaded,
            few,
        ])
    }
}

/// An analysis with benchmarks that failed or are left out, beside some that are compared.
pub fn with_the_unanswered() -> Analysis {
    let only = |side: &str| LeftOutReason::OnlyIn(side.to_owned());
    let unit = "'old' measures it in ns, 'new' in bytes";
    Analysis {
        failures: vec![
            failed("BM_Open", "'new': no such file: data/words.txt"),
            failed("BM_Read", "'new': no such file: data/words.txt"),
            failed("BM_Crash", "'old': out of cheese."),
        ],
        left_out: vec![
            left_out("BM_Added/1", only("new")),
            left_out("BM_Gone", only("old")),
            left_out("BM_Gpu", LeftOutReason::Skipped("no device".to_owned())),
            left_out("BM_Size", LeftOutReason::NotAlike(unit.to_owned())),
            left_out("BM_Added/2", only("new")),
        ],
        ..two_files()
    }
}

/// A baseline and two candidates, one of them from three files.
pub fn three_sides() -> Analysis {
    let newest = |mut one: Comparison| {
        if let Some(side) = &mut one.candidate {
            side.name = "newest".to_owned();
        }
        for row in &mut one.metrics {
            if let Some(side) = &mut row.candidate {
                side.name = "newest".to_owned();
            }
        }
        one
    };
    let mut last = newest(one("BM_B", 5_100.0, 0.21, Some(Verdict::Slower)));
    last.warnings.push(Warning::Bimodal);
    let mut all = analysis(vec![
        one("BM_A", 402.0, -0.0513, Some(Verdict::Faster)),
        newest(one("BM_A", 402.0, 0.0011, Some(Verdict::Equivalent))),
        one("BM_B", 5_100.0, 0.1012, Some(Verdict::Slower)),
        last,
    ]);
    let mut third = file("newest", "n1.json", "2026-01-03");
    third
        .files
        .push(source("n2.json", "Google Benchmark 1.9.0", "2026-01-04"));
    third
        .files
        .push(source("n3.json", "Google Benchmark 1.8.3", "2026-01-05"));
    all.sides.push(third);
    all.overall = vec![overall("new", 2, 0.0213), overall("newest", 2, 0.1007)];
    all.warnings = vec![Warning::DifferentTools {
        baseline: "Google Benchmark 1.8.3".to_owned(),
        candidate: "Google Benchmark 1.8.3, Google Benchmark 1.9.0".to_owned(),
    }];
    all
}

/// Throughputs, judged and beside, counters and memory.
pub fn many_metrics() -> Analysis {
    let mut all = two_files();
    let verdicts = [
        Some(Verdict::Faster),
        Some(Verdict::Slower),
        Some(Verdict::Equivalent),
    ];
    let exact = |metric: Metric, from: f64, to: f64| {
        let flat = |name: &str, value: f64| Side {
            mean: value,
            min: value,
            max: value,
            std_dev: Some(0.0),
            ..side(name, value)
        };
        let ratio = (from > 0.0 && to > 0.0).then(|| Estimate {
            interval: None,
            p_value: None,
            ..estimate(to / from - 1.0, 0.1)
        });
        MetricComparison {
            metric,
            baseline: flat("old", from),
            candidate: Some(flat("new", to)),
            estimate: ratio,
            verdict: None,
        }
    };
    for (comparison, verdict) in all.comparisons.iter_mut().zip(verdicts) {
        let change = match verdict {
            Some(Verdict::Faster) => 0.0541,
            Some(Verdict::Slower) => -0.0919,
            _ => -0.0011,
        };
        comparison.metrics.extend([
            metric(items(), 24_800_000.0, change, verdict),
            metric(collisions(), 17.0, change * 3.0, None),
            exact(Metric::Allocations, 12.0, 12.0),
            exact(Metric::MajorFaults, 0.0, 0.0),
        ]);
    }
    let first = &mut all.comparisons[0].metrics;
    first.push(exact(Metric::AllocatedBytes, 4096.0, 2048.0));
    first.push(metric(
        Metric::PeakRss,
        2_150_400.0,
        -0.31,
        Some(Verdict::Faster),
    ));
    all.comparisons[1]
        .metrics
        .push(exact(Metric::AllocatedBytes, 0.0, 64.0));
    all
}

/// A file whose benchmarks are judged by what they get done in a second.
pub fn throughputs() -> Analysis {
    let judged = |name: &str, change, verdict| {
        let mut one = one(name, 1.312e9, change, verdict);
        one.terms.metric = bytes();
        one.metrics = vec![metric(bytes(), 1.312e9, change, verdict)];
        one
    };
    Analysis {
        overall: vec![overall("new", 3, 0.0107)],
        ..analysis(vec![
            judged("copy", 0.0812, Some(Verdict::Faster)),
            judged("scan", -0.0913, Some(Verdict::Slower)),
            judged("seek", 0.0004, Some(Verdict::Equivalent)),
        ])
    }
}

/// Files that can answer nothing, for every reason there is.
pub fn cannot_answer() -> Analysis {
    let bare = |name: &str, warnings: Vec<Warning>| {
        let mut one = one(name, 512.0, 0.031, None);
        one.suite.p_adjusted = None;
        one.evidence.p_looks = None;
        one.estimate.as_mut().unwrap().interval = None;
        one.warnings.extend(warnings);
        one
    };
    let few = |count| Warning::FewObservations {
        baseline: count,
        candidate: count,
        need: 6,
        each: Observation::Process,
    };
    let summary = Warning::OnlySummaries {
        statistic: "median".to_owned(),
    };
    Analysis {
        warnings: vec![
            Warning::DifferentMachines {
                baseline: "host Linux 8 cores".to_owned(),
                candidate: "other\u{1b}[2J Linux 16 cores".to_owned(),
            },
            Warning::CpuScaling {
                sides: vec!["old".to_owned(), "new".to_owned()],
            },
            Warning::DebugRecording {
                sides: vec!["old".to_owned()],
            },
            Warning::RecordedInOrder {
                first: "old".to_owned(),
                last: "new".to_owned(),
            },
        ],
        ..analysis(vec![
            bare("BM_A", vec![few(3)]),
            bare("BM_B", vec![few(5)]),
            bare("BM_C", vec![summary.clone()]),
            bare("BM_D", vec![summary]),
        ])
    }
}

/// One process a side, of which one row lies far from the others.
pub fn one_process_a_side() -> Analysis {
    let row = |name: &str, change| {
        let mut row = one(name, 512.0, change, None);
        row.suite.p_adjusted = None;
        row.evidence.p_looks = None;
        let estimates = row.metrics.iter_mut().map(|metric| &mut metric.estimate);
        for estimate in estimates.chain([&mut row.estimate]).flatten() {
            estimate.interval = None;
            estimate.p_value = None;
            estimate.replicates = 2;
        }
        row.warnings = vec![
            Warning::Unpaired {
                each: Observation::Process,
            },
            Warning::FewObservations {
                baseline: 1,
                candidate: 1,
                need: 6,
                each: Observation::Process,
            },
        ];
        row
    };
    let mut rows = vec![row("BM_Copy", 0.012), row("BM_Find", -0.021)];
    let mut far = row("BM_Sort", 0.31);
    far.warnings.push(Warning::StandsOut { z: 9.4 });
    rows.push(far);
    let mut all = analysis(rows);
    let mut mean = overall("new", 3, 0.09);
    mean.estimate.interval = None;
    all.overall = vec![mean];
    all
}

/// One file by itself.
pub fn alone() -> Analysis {
    let alone = |name: &str, median| {
        let mut one = one(name, median, 0.0, None);
        one.candidate = None;
        one.estimate = None;
        one.suite.p_adjusted = None;
        one.evidence.p_looks = None;
        one.evidence.provisional = false;
        one.warnings.clear();
        for row in &mut one.metrics {
            row.candidate = None;
            row.estimate = None;
        }
        one
    };
    let mut all = analysis(vec![alone("BM_A", 402.0), alone("BM_B", 5_100.0)]);
    all.sides.truncate(1);
    all.failures = vec![failed("BM_Crash", "out of cheese")];
    all
}

/// So many benchmarks, of which a few moved.
pub fn large(benchmarks: usize) -> Analysis {
    let numbered = |number: usize| {
        let name = format!("BM_Family{}/{}", number % 7, number);
        let median = 10.0 + number as f64 * 13.7;
        let verdict = match number % 20 {
            3 => Verdict::Faster,
            11 => Verdict::Slower,
            _ => Verdict::Equivalent,
        };
        let change = match verdict {
            Verdict::Faster => -0.04,
            Verdict::Slower => 0.06,
            _ => 0.0004,
        };
        let mut one = one(&name, median, change, Some(verdict));
        if number.is_multiple_of(3) {
            one.warnings.push(Warning::TailDiffers {
                baseline: 0.01,
                candidate: 0.02,
                mean_change: 0.03 + number as f64 * 1e-3,
            });
        }
        one
    };
    Analysis {
        overall: vec![overall("new", benchmarks, 0.0012)],
        ..analysis((0..benchmarks).map(numbered).collect())
    }
}

pub fn everything() -> Vec<Analysis> {
    vec![
        two_files(),
        with_the_unanswered(),
        three_sides(),
        many_metrics(),
        throughputs(),
        cannot_answer(),
        one_process_a_side(),
        alone(),
    ]
}
