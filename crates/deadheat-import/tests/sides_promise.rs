//! The promise of a comparison of saved results, by simulation: how often it is wrong, and that it
//! finds what is there.

use deadheat::parts::analysis::{Options, analyse};
use deadheat_import::{ResultBenchmark, Results, Side, Terms, join};
use deadheat_model::{Analysis, Comparison, Metric, Verdict};
use deadheat_testing::random::Stream;

/// The parameters by which the files of a simulated comparison are drawn; all spreads are of
/// logarithms.
#[derive(Clone, Copy)]
struct World {
    benchmarks: usize,
    repetitions: usize,
    /// Files on each side.
    files: usize,
    /// From value to value.
    noise: f64,
    /// Drawn for each benchmark of a file.
    layout: f64,
    /// Drawn once for a file.
    file: f64,
    /// The share by which the candidate takes longer; 0.05 is 5 %.
    change: f64,
}

const TWO_FILES: World = World {
    benchmarks: 40,
    repetitions: 20,
    files: 1,
    noise: 0.02,
    layout: 0.002,
    file: 0.0,
    change: 0.0,
};

const SIX_FILES: World = World {
    benchmarks: 5,
    repetitions: 10,
    files: 6,
    file: 0.01,
    ..TWO_FILES
};

impl World {
    fn side(&self, name: &str, change: f64, stream: &mut Stream) -> Side {
        let mut files = Vec::new();
        for index in 0..self.files {
            let mut results = Results::new(format!("{name}-{index}.json"), "x");
            let of_file = change.ln_1p() + self.file * stream.normal();
            for benchmark in 0..self.benchmarks {
                let own = of_file + self.layout * stream.normal();
                let time = 100.0 * (benchmark + 1) as f64;
                let value = |_| time * (own + self.noise * stream.normal()).exp();
                results.push(ResultBenchmark {
                    name: format!("b{benchmark}"),
                    metrics: vec![Metric::Wall],
                    processes: vec![0; self.repetitions],
                    values: (0..self.repetitions).map(value).collect(),
                    ..ResultBenchmark::default()
                });
            }
            files.push(results);
        }
        Side {
            name: name.to_owned(),
            files,
        }
    }

    fn sides(&self, seed: u64) -> [Side; 2] {
        let mut stream = Stream(seed);
        [
            self.side("old", 0.0, &mut stream),
            self.side("new", self.change, &mut stream),
        ]
    }

    fn compared(&self, seed: u64) -> Analysis {
        let analysis = compared(&self.sides(seed));
        assert_eq!(analysis.comparisons.len(), self.benchmarks);
        analysis
    }
}

fn compared(sides: &[Side]) -> Analysis {
    let terms = Terms {
        margin: 0.01,
        alpha: 0.05,
        metric: None,
        rules: Vec::new(),
    };
    let run = join(sides, &terms).unwrap();
    let options = Options {
        without_figures: true,
        ..Options::default()
    };
    analyse(&run, options)
}

fn moved(verdict: Option<Verdict>) -> bool {
    matches!(verdict, Some(Verdict::Faster | Verdict::Slower))
}

/// The most that 5 % of so many come to by chance, in 999 cases of 1,000.
fn five_percent_of(count: usize) -> usize {
    let (n, p) = (count as f64, 0.05f64);
    let mut mass = (n * (-p).ln_1p()).exp();
    let (mut at, mut below) = (0, mass);
    while below < 0.999 {
        mass *= (n - f64::from(at)) / f64::from(at + 1) * p / (1.0 - p);
        at += 1;
        below += mass;
    }
    at as usize
}

#[test]
fn the_bound_on_five_percent_is_the_binomial_one() {
    // 0.95^20 = 0.358; from tables: P(X ≤ 5) = 0.99967, P(X ≤ 4) = 0.9974.
    assert_eq!(five_percent_of(20), 5);
    // About 100 + 3.09 √95.
    assert!((130..134).contains(&five_percent_of(2_000)));
}

fn marked(analysis: &Analysis, code: &str) -> Vec<String> {
    let has = |one: &&Comparison| one.warnings.iter().any(|it| it.code() == code);
    let rows = analysis.comparisons.iter().filter(has);
    rows.map(|one| one.benchmark.clone()).collect()
}

#[test]
fn two_files_get_a_change_and_neither_interval_nor_verdict() {
    for change in [0.0, 0.5] {
        let world = World {
            change,
            ..TWO_FILES
        };
        let analysis = world.compared(1_000);
        for one in &analysis.comparisons {
            assert_eq!((one.verdict, one.evidence.provisional), (None, false));
            let estimate = one.estimate.as_ref().unwrap();
            assert!((estimate.effect.change() - change).abs() < 0.05);
            assert!(estimate.interval.is_none() && estimate.p_value.is_none());
        }
        assert_eq!(marked(&analysis, "few-observations").len(), 40);
        assert!(analysis.overall[0].estimate.interval.is_none());
    }
}

#[test]
fn of_two_files_the_rows_that_lie_far_from_the_others_stand_out() {
    let (mut by_chance, mut rows) = (0, 0);
    for layout in [0.002, 0.02] {
        let world = World {
            layout,
            ..TWO_FILES
        };
        for seed in 0..20 {
            let analysis = world.compared(4_000 + seed);
            by_chance += marked(&analysis, "stands-out").len();
            rows += analysis.comparisons.len();
        }
    }
    // Beyond 3.5 standard deviations lie .05 %, and a little more where the
    // scale is that of forty.
    assert!(by_chance * 100 <= rows, "{by_chance} of {rows}");
    let mut moved = TWO_FILES.sides(6_000);
    for value in &mut moved[1].files[0].benchmarks[7].values {
        *value *= 1.1;
    }
    let analysis = compared(&moved);
    assert_eq!(marked(&analysis, "stands-out"), ["b7"]);
    assert!(analysis.comparisons.iter().all(|one| one.verdict.is_none()));
    // A few rows say nothing of each other.
    for side in &mut moved {
        side.files[0].benchmarks.truncate(9);
    }
    assert!(marked(&compared(&moved), "stands-out").is_empty());
}

#[test]
fn pooled_files_are_told_apart_in_at_most_five_percent() {
    let comparisons = 400;
    let wrong = |seed: &u64| moved(SIX_FILES.compared(3_000 + seed).comparisons[0].verdict);
    // All benchmarks of a comparison share what the files had: one counts.
    let wrong = (0..comparisons).filter(wrong).count();
    let bound = five_percent_of(comparisons as usize);
    assert!(wrong <= bound, "{wrong} of {comparisons}");
}

#[test]
fn pooled_files_with_a_change_are_told_apart() {
    let world = World {
        change: 0.05,
        ..SIX_FILES
    };
    let found = |seed: &u64| {
        let verdict = world.compared(4_000 + seed).comparisons[0].verdict;
        verdict == Some(Verdict::Slower)
    };
    let found = (0..40).filter(found).count();
    assert!(found >= 36, "{found} of 40");
}

/// The number of intervals of the mean, of so many, that hold the truth.
fn held(world: World, comparisons: u64) -> usize {
    let truth = world.change.ln_1p();
    let holds = |seed: &u64| {
        let analysis = world.compared(5_000 + seed);
        let interval = analysis.overall[0].estimate.interval.unwrap();
        (interval.low.0..=interval.high.0).contains(&truth)
    };
    (0..comparisons).filter(holds).count()
}

#[test]
fn the_mean_of_pooled_files_holds_the_truth() {
    for world in [
        SIX_FILES,
        World {
            change: 0.05,
            ..SIX_FILES
        },
    ] {
        let held = held(world, 400);
        assert!((372..=396).contains(&held), "{held} of 400");
    }
}
