//! Plots made by hand, and the header of a run, for the page.

use std::time::Duration;

use deadheat_model::{
    Analysis, BoxPlot, ClockFacts, CounterAccess, DensityCurve, Design, Difference,
    DifferenceSeries, Distribution, Environment, Family, Flags, FunctionCalls, LogRatio,
    LookEstimate, Looks, NeutralLinks, PairCloud, PairPoint, Pinning, Plots, ReplicateEstimate,
    RunHeader, Workload,
};
use deadheat_testing::runs::{self, benchmark, contenders, design};

use crate::fixtures::estimate;

/// Six replicates of four blocks, one block of them dropped, another disturbed
/// and kept.
pub fn plots(change: f64) -> Plots {
    let theta = |index: u32| LogRatio::from_change(change + 0.001 * f64::from(index % 5) - 0.002);
    let point = |position: u32| Difference {
        position,
        replicate: position / 4,
        block: position % 4,
        effect: theta(position),
        baseline_first: position.is_multiple_of(2),
        baseline_flags: if position == 7 {
            Flags::PREEMPTED
        } else {
            Flags::NONE
        },
        candidate_flags: if position == 11 {
            Flags::MIGRATED
        } else {
            Flags::NONE
        },
        dropped: position == 7,
    };
    let pair = |index: u32| PairPoint {
        baseline: 685_900.0 + f64::from(index * 37 % 901),
        candidate: (685_900.0 + f64::from(index * 53 % 887)) * (1.0 + change),
        baseline_first: index.is_multiple_of(2),
    };
    let replicate = |replicate: u32| ReplicateEstimate {
        replicate,
        effect: theta(replicate),
        low: LogRatio(theta(replicate).0 - 0.001),
        high: LogRatio(theta(replicate).0 + 0.0012),
        blocks: 4,
    };
    let look = |replicates: u32| LookEstimate {
        replicates,
        estimate: estimate(change, 0.03 / f64::from(replicates)),
    };
    Plots {
        differences: Some(DifferenceSeries {
            points: (0..24).map(point).collect(),
            blocks: 24,
            starts: (0..6).map(|replicate| replicate * 4).collect(),
            drift: (2..22).map(|position| (position, theta(2))).collect(),
        }),
        pairs: Some(PairCloud {
            points: (0..48).map(pair).collect(),
            pairs: 48,
        }),
        replicates: (0..6).map(replicate).collect(),
        looks: [3, 4, 6].map(look).to_vec(),
        edges: (0..=10)
            .map(|edge| 680_000.0 + 2000.0 * f64::from(edge))
            .collect(),
        baseline: distribution(685_900.0),
        candidate: Some(distribution(685_900.0 * (1.0 + change))),
    }
}

fn distribution(median: f64) -> Distribution {
    let curve = |family| DensityCurve {
        family,
        points: (0..20)
            .map(|at| (680_000.0 + 1000.0 * f64::from(at), f64::from(at % 7)))
            .collect(),
    };
    Distribution {
        counts: vec![0, 1, 4, 9, 14, 11, 5, 2, 1, 0],
        first_half: vec![0.0, 2.0, 4.0, 8.0, 16.0, 10.0, 4.0, 2.0, 1.9, 0.0],
        below: 0,
        above: 1,
        curves: [Family::LogNormal, Family::Gumbel, Family::Normal]
            .map(curve)
            .to_vec(),
        box_plot: Some(BoxPlot {
            whisker_low: median * 0.98,
            lower: median * 0.995,
            median,
            upper: median * 1.006,
            whisker_high: median * 1.02,
            outliers: vec![median * 1.3],
            beyond: 1,
        }),
        violin: vec![(median * 0.98, 0.1), (median, 1.0), (median * 1.02, 0.1)],
        ecdf: vec![(median * 0.98, 0.02), (median, 0.5), (median * 1.3, 1.0)],
        normal_quantiles: vec![
            (-2.0, median.ln() - 0.02),
            (0.0, median.ln()),
            (2.0, median.ln() + 0.03),
        ],
        normal_line: Some((median.ln(), 0.01)),
    }
}

/// The same analysis with plots for every comparison.
pub fn drawn(mut analysis: Analysis) -> Analysis {
    for comparison in &mut analysis.comparisons {
        let change = comparison
            .estimate
            .map_or(0.0, |found| found.effect.change());
        let mut plots = plots(change);
        if comparison.candidate.is_none() {
            plots.candidate = None;
            plots.differences = None;
            plots.pairs = None;
            plots.replicates.clear();
            plots.looks.clear();
        }
        comparison.plots = Some(Box::new(plots));
    }
    analysis
}

pub fn header() -> RunHeader {
    let design = Design {
        blocks_per_replicate: 25,
        warmup: 1,
        budget: Some(Duration::from_secs(90)),
        pinning: Pinning::Cores(vec![2, 3]),
        ..design(Looks {
            at: vec![6, 12, 40],
            levels: vec![0.01, 0.02, 0.03],
            weights: vec![0.2, 0.3, 0.5],
        })
    };
    let functions = Workload::Function(FunctionCalls::default());
    let sums = benchmark("sums", contenders(["old", "new"], &functions));
    RunHeader {
        tool_version: "0.1.0".to_owned(),
        started_at: Some(1_772_368_496),
        command: [
            "deadheat",
            "run",
            "./old input",
            "./new input",
            "--seed",
            "7",
        ]
        .map(str::to_owned)
        .to_vec(),
        environment: Environment {
            system: "linux x86_64".to_owned(),
            kernel: Some("6.1.0".to_owned()),
            cpu: Some("A processor <of> some kind".to_owned()),
            cores: Some(8),
            governor: Some("performance".to_owned()),
            load: Some(0.25),
            pinned: vec![2, 3],
            counters: Some(CounterAccess::Unavailable("permission denied".to_owned())),
            clock: Some(ClockFacts {
                source: "tsc".to_owned(),
                resolution_ns: 0.5,
                overhead_ns: 12.0,
                fallback: None,
            }),
            debug_build: true,
            neutral_links: vec![NeutralLinks {
                executable: "./new".to_owned(),
                made_by: Ok("LLD 14.0.6".to_owned()),
                unsectioned: vec!["a.o".to_owned()],
                matched: None,
                random_addresses: false,
            }],
            builds: Vec::new(),
            calibration: None,
            ..Environment::default()
        },
        tick_ns: None,
        ..runs::header(design, 7, vec![sums])
    }
}
