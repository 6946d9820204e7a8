//! A run file is analysed alike whether its samples are held all at once or
//! read benchmark by benchmark.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use deadheat::parts::analysis::{Options, analyse};
use deadheat::parts::exit::Failure;
use deadheat::parts::rules::{CliOverrides, Rules};
use deadheat_format::{RunFileWriter, read_run};
use deadheat_import::Recorded;
use deadheat_model::{
    BlockRecord, ContenderId, EndReason, Flags, Origin, RecordSink, Run, RunEnd, Sample,
};

const WITH_FIGURES: Options = Options {
    replay_looks: false,
    without_figures: false,
    plots: Some(50),
};

fn no_rules() -> &'static Rules {
    static RULES: LazyLock<Rules> = LazyLock::new(|| Rules::new(CliOverrides::default(), None));
    &RULES
}

fn golden(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Run files are written by the tests of deadheat-format.
    let of_tests = match name.ends_with(".jsonl") {
        true => "../deadheat-format/tests/golden",
        false => "tests/golden",
    };
    folder.join(of_tests).join(name)
}

/// Records a race of so many benchmarks of functions, taking turns replicate by
/// replicate.
fn record(path: &Path, benchmarks: usize) {
    let mut header = read_run(golden("functions.jsonl")).unwrap().header;
    let benchmark = header.plan.benchmarks[0].clone();
    let width = header.metrics.len();
    header.plan.benchmarks = (0..benchmarks)
        .map(|index| {
            let mut benchmark = benchmark.clone();
            benchmark.name = format!("b{index}");
            benchmark
        })
        .collect();
    let mut writer = RunFileWriter::create(path, &header).unwrap();
    let mut random = 7_u64;
    let mut next = || {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 40) as f64 / (1 << 24) as f64
    };
    for replicate in 0..12 {
        for benchmark in 0..benchmarks {
            for index in 0..4 {
                let mut block = BlockRecord {
                    benchmark,
                    replicate,
                    index,
                    elapsed_ns: u64::from(replicate) * 1_000 + u64::from(index),
                    ..BlockRecord::default()
                };
                for contender in [0, 1, 1, 0] {
                    block.samples.push(Sample {
                        contender: ContenderId(contender),
                        flags: Flags::NONE,
                        exit_code: None,
                        iterations: 10,
                    });
                    let effect = 1.0 + 0.01 * f64::from(contender) * benchmark as f64;
                    let value = (1e6 + 1e4 * next()) * effect;
                    let values = (0..width).map(|column| value / (column + 1) as f64);
                    block.values.extend(values);
                }
                writer.block(&block).unwrap();
            }
        }
    }
    let end = RunEnd {
        reason: EndReason::Finished,
        launches: 12 * benchmarks as u64,
        elapsed_ns: 99_000,
    };
    writer.end(&end).unwrap();
}

fn without_samples(run: &Run) -> bool {
    run.benchmarks.iter().all(|one| one.blocks().is_empty())
}

#[test]
fn golden_runs_are_analysed_alike_benchmark_by_benchmark() {
    for name in [
        "run.jsonl",
        "functions.jsonl",
        "placements.jsonl",
        "programs.jsonl",
    ] {
        for options in [Options::default(), WITH_FIGURES] {
            let recorded = Recorded::open(golden(name), no_rules()).unwrap();
            let (run, analysis) = recorded.analyse(options).unwrap();
            assert!(without_samples(&run), "{name}");
            let whole = read_run(golden(name)).unwrap();
            assert_eq!(analysis, analyse(&whole, options), "{name}");
            assert_eq!(run.header, whole.header);
            assert_eq!((run.end, run.launches), (whole.end, whole.launches));
        }
    }
}

#[test]
fn a_race_whose_benchmarks_take_turns_is_analysed_alike() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    record(&path, 17);
    let recorded = Recorded::open(&path, no_rules()).unwrap();
    let (run, analysis) = recorded.analyse(WITH_FIGURES).unwrap();
    assert!(without_samples(&run));
    assert_eq!(analysis.comparisons.len(), 17);
    assert_eq!(analysis, analyse(&read_run(&path).unwrap(), WITH_FIGURES));
}

#[test]
fn who_wants_the_samples_gets_them_and_the_same_answer() {
    let path = golden("functions.jsonl");
    let open = Recorded::open(&path, no_rules()).unwrap();
    let read = Recorded::read(&path, no_rules()).unwrap();
    let (run, analysis) = read.analyse(WITH_FIGURES).unwrap();
    assert_eq!(run, read_run(&path).unwrap());
    assert_eq!(analysis, open.analyse(WITH_FIGURES).unwrap().1);
}

#[test]
fn a_fault_in_the_middle_of_a_run_is_told_as_by_the_reader() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    record(&path, 3);
    let content = fs::read_to_string(&path).unwrap();
    let mut lines: Vec<String> = content.lines().map(str::to_owned).collect();
    lines[40] = lines[40].replacen("[0,0,null,10,", "[9,0,null,10,", 1);
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    let expected = read_run(&path).unwrap_err().to_string();
    assert!(expected.contains("run.jsonl:41: "), "{expected}");
    let recorded = Recorded::open(&path, no_rules()).unwrap();
    match recorded.analyse(Options::default()) {
        Err(Failure::Data(told)) => assert_eq!(told, expected),
        other => panic!("{:?}", other.map(|_| ())),
    }
}

#[test]
fn tables_and_results_of_other_tools_are_read_whole() {
    let recorded = Recorded::open(golden("run.csv"), no_rules()).unwrap();
    assert_ne!(recorded.run().header.origin, Origin::Race);
    let (run, analysis) = recorded.analyse(Options::default()).unwrap();
    assert!(!without_samples(&run));
    assert_eq!(analysis, analyse(&run, Options::default()));
    let results = golden("hyperfine.json");
    let (run, _) = Recorded::open(results, no_rules())
        .unwrap()
        .analyse(Options::default())
        .unwrap();
    assert!(!run.sides.is_empty());
}
