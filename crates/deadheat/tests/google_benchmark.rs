//! Races a real executable of Google Benchmark. Needs the installed library and `c++`.
#![cfg(feature = "commands")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex};

use deadheat::parts::analysis::{Options, analyse};
use deadheat::parts::engine::Unwatched;
use deadheat::parts::format::read_run;
use deadheat::parts::model::{
    Arrangement, Benchmark, Front, Harness, Metric, Program, RaceSettings, RepetitionLength, Run,
    Verdict, Warning, Workload,
};
use deadheat::parts::{
    BenchmarkRace, Entries, RaceError, RaceOutcome, ResumeOptions, harness_benchmark,
    race_benchmarks, resume_race,
};
use deadheat_testing::needs;

/// Signal handlers and pinning affect the whole process, so only one test may race at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

static BUILT: LazyLock<(tempfile::TempDir, PathBuf)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let executable = folder.path().join("benchmarks");
    let source =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/google_benchmark/benchmarks.cpp");
    let built = Command::new("c++")
        .args(["-O2", "-o"])
        .args([&executable, &source])
        .args(["-lbenchmark", "-lpthread"])
        .status();
    assert!(built.unwrap().success());
    (folder, executable)
});

/// Returns a race of the executable against itself. An entry of `benchmarks` is `OLD vs. NEW`, or
/// one name for both sides.
fn race(benchmarks: &[&str], arguments: &[&str], folder: &Path) -> (BenchmarkRace, Entries) {
    let program = Program {
        executable: BUILT.1.clone(),
        arguments: arguments.iter().map(|a| (*a).to_owned()).collect(),
        ..Program::default()
    };
    let benchmark = |name: &&str| {
        let (old, new) = name.split_once(" vs. ").unwrap_or((name, name));
        harness_benchmark(
            name,
            Harness::GoogleBenchmark,
            [("OLD", &program, old), ("NEW", &program, new)],
        )
    };
    let race = BenchmarkRace {
        settings: settings(6),
        folder: folder.to_owned(),
        ..BenchmarkRace::default()
    };
    let entries = Entries {
        benchmarks: benchmarks.iter().map(benchmark).collect(),
        ..Entries::default()
    };
    (race, entries)
}

fn settings(max_replicates: u32) -> RaceSettings {
    RaceSettings {
        max_replicates: Some(max_replicates),
        seed: Some(7),
        // The choice of trial launches would depend on the machine.
        arrangement: Some(Arrangement::Turns),
        ..RaceSettings::default()
    }
}

fn raced((race, entries): &(BenchmarkRace, Entries)) -> Result<RaceOutcome, RaceError> {
    let alone = ONE_AT_A_TIME.lock();
    let _alone = alone.unwrap_or_else(|poison| poison.into_inner());
    race_benchmarks(race, entries.clone(), &mut Unwatched)
}

/// Returns the length and the number of the repetitions of a benchmark, and its threads.
fn calls(run: &Run, benchmark: usize) -> (RepetitionLength, u32, u32) {
    let contenders = &run.header.plan.benchmarks[benchmark].contenders;
    match &contenders[1].workload {
        Workload::Harness(calls) => (calls.length, calls.repetitions, calls.threads),
        other => panic!("{other:?}"),
    }
}

/// The iterations of the candidate in the calibration run.
fn planned_iterations(benchmark: &Benchmark) -> Option<u64> {
    match &benchmark.contenders[1].workload {
        Workload::Harness(calls) => calls.planned_iterations,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_kind_of_benchmark_races_against_itself_and_is_read_back() {
    needs!("benchmark/benchmark.h", "g++");
    let folder = tempfile::tempdir().unwrap();
    let names = [
        "sum/100",
        "own_length/100/iterations:70",
        "own_repetitions/100/repeats:3",
        "aggregates/100",
        "threads/100/real_time/threads:2",
        "odd.name(1|2)/100",
        "by_hand/manual_time",
        "broken",
    ];
    let short = ["--benchmark_min_time=0.005"];
    let outcome = raced(&race(&names, &short, folder.path())).unwrap();
    let run = &outcome.run;
    let read = read_run(&outcome.path).unwrap();
    assert_eq!(read.benchmarks, run.benchmarks);
    assert_eq!(read.header.plan, run.header.plan);
    let planned = run.header.plan.benchmarks.iter().map(planned_iterations);
    let planned: Vec<Option<u64>> = planned.collect();
    assert!(planned[0].is_some_and(|iterations| iterations > 1_000));
    assert_eq!(planned[1], Some(70));
    let failed: Vec<usize> = run
        .failures
        .iter()
        .map(|failure| failure.benchmark)
        .collect();
    assert_eq!(failed, [7], "{:?}", run.failures);
    let message = &run.failures[0].message;
    assert!(message.contains("no \"database\" here"), "{message}");

    let (length, repetitions, threads) = calls(run, 1);
    assert_eq!((length, threads), (RepetitionLength::Own, 1));
    assert!((2..=8).contains(&repetitions), "{repetitions}");
    let (_, repetitions, _) = calls(run, 2);
    assert_eq!(repetitions, 3);
    let (_, repetitions, _) = calls(run, 3);
    assert_eq!(repetitions, 1);
    let (_, _, threads) = calls(run, 4);
    assert_eq!(threads, 2);
    let counters = |names: &[&str]| {
        let names = names.iter().map(|name| Metric::Custom((*name).to_owned()));
        names.collect::<Vec<_>>()
    };
    let plan = &run.header.plan;
    assert_eq!(
        plan.benchmarks[0].counters,
        counters(&["bytes_per_second", "rows"])
    );
    assert_eq!(plan.benchmarks[6].counters, []);
    let rows = run.benchmarks[0].column(&Metric::Custom("rows".to_owned()));
    assert!(rows.unwrap().iter().all(|rows| *rows == 100.0));
    for benchmark in 0..7 {
        let samples = &run.benchmarks[benchmark];
        let blocks = 6 * plan.blocks_per_replicate(benchmark) as usize;
        assert_eq!(samples.blocks().len(), blocks, "benchmark {benchmark}");
        assert!(
            samples
                .column(&Metric::Wall)
                .unwrap()
                .iter()
                .all(|ns| *ns > 0.0)
        );
    }
    assert_eq!(run.benchmarks[1].samples()[0].iterations, 70);

    let analysis = analyse(run, Options::default());
    assert_eq!(analysis.comparisons.len(), 7);
    for comparison in &analysis.comparisons {
        // Under load, the harness may cut repetitions short, and then too few replicates are left.
        let is_cut = |warning: &Warning| matches!(warning, Warning::CutShort { .. });
        assert!(
            comparison.verdict.is_some() || comparison.warnings.iter().any(is_cut),
            "{}: {:?}",
            comparison.benchmark,
            comparison.warnings
        );
    }
    assert_eq!(analysis.failures.len(), 1);
}

#[test]
fn a_benchmark_that_takes_four_times_as_long_is_slower() {
    needs!("benchmark/benchmark.h", "g++");
    let folder = tempfile::tempdir().unwrap();
    let outcome = raced(&race(&["sum/100 vs. sum/400"], &[], folder.path())).unwrap();
    let analysis = analyse(&outcome.run, Options::default());
    let comparison = &analysis.comparisons[0];
    assert!(
        comparison.estimate.unwrap().effect.0 > 0.0,
        "{comparison:?}"
    );
}

#[test]
fn what_the_user_passes_on_decides_about_repetitions() {
    needs!("benchmark/benchmark.h", "g++");
    let folder = tempfile::tempdir().unwrap();
    let passed = ["--benchmark_min_time=0.002", "--benchmark_repetitions=2"];
    let outcome = raced(&race(&["sum/100"], &passed, folder.path())).unwrap();
    let length = RepetitionLength::Seconds(0.002);
    assert_eq!(calls(&outcome.run, 0), (length, 2, 1));
    let refused = race(&["sum/100"], &["--benchmark_out=x.json"], folder.path());
    let message = raced(&refused).unwrap_err().to_string();
    assert!(message.starts_with("--benchmark_out=x.json: "), "{message}");
}

#[test]
fn cpu_time_can_be_judged_and_counters_only_shown() {
    needs!("benchmark/benchmark.h", "g++");
    let folder = tempfile::tempdir().unwrap();
    let mut race = race(&["sum/100"], &[], folder.path());
    race.0.settings.metric = Some(Metric::Cpu);
    let outcome = raced(&race).unwrap();
    let analysis = analyse(&outcome.run, Options::default());
    assert_eq!(analysis.comparisons[0].terms.metric, Metric::Cpu);
    race.0.settings.metric = Some(Metric::Custom("rows".to_owned()));
    let message = raced(&race).unwrap_err().to_string();
    assert!(
        message.contains("--metric rows: ") && message.contains("wall, cpu"),
        "{message}"
    );
}

#[test]
fn what_one_source_says_of_repetitions_holds_for_the_other_side_too() {
    needs!("benchmark/benchmark.h", "g++");
    let folder = tempfile::tempdir().unwrap();
    let names = [
        "sum/100",
        "own_repetitions/100/repeats:3 vs. own_length/100/iterations:70",
    ];
    let outcome = raced(&race(&names, &[], folder.path())).unwrap();
    assert_eq!(outcome.run.header.left_out, []);
    let (length, repetitions, _) = calls(&outcome.run, 1);
    assert_eq!((length, repetitions), (RepetitionLength::Own, 3));
}

#[test]
fn a_side_alone_is_launched_once_a_replicate_and_measured() {
    needs!("benchmark/benchmark.h", "g++");
    let folder = tempfile::tempdir().unwrap();
    let mut race = race(&["sum/100"], &["--benchmark_min_time=0.005"], folder.path());
    race.1.benchmarks[0].contenders.remove(0);
    let outcome = raced(&race).unwrap();
    // One launch for the calibration run, and one for the warm-up.
    assert_eq!(outcome.run.launches, 2 + 6);
    let analysis = analyse(&outcome.run, Options::default());
    assert_eq!(analysis.comparisons[0].baseline.name, "NEW");
}

#[test]
fn a_race_is_taken_up_again_with_the_calls_of_its_plan() {
    needs!("benchmark/benchmark.h", "g++");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    let arguments = ["--benchmark_min_time=0.005"];
    let mut race = race(&["sum/100 vs. sum/400"], &arguments, folder.path());
    race.0.settings = settings(2);
    race.0.save = Some(file.clone());
    let before = raced(&race).unwrap().run;
    let options = ResumeOptions {
        more: 6,
        timeout: race.0.settings.timeout(Front::Bench),
        ..ResumeOptions::default()
    };
    let alone = ONE_AT_A_TIME.lock();
    let _alone = alone.unwrap_or_else(|poison| poison.into_inner());
    let run = resume_race(&file, &options, &mut Unwatched).unwrap().run;
    assert_eq!(run.header.plan, before.header.plan);
    let blocks = before.benchmarks[0].blocks();
    assert_eq!(&run.benchmarks[0].blocks()[..blocks.len()], blocks);
    assert_eq!(read_run(&file).unwrap(), run);
    let analysis = analyse(&run, Options::default());
    assert_eq!(analysis.comparisons[0].verdict, Some(Verdict::Slower));
}

#[test]
fn a_copy_of_the_baseline_is_launched_in_slots_of_its_own() {
    needs!("benchmark/benchmark.h", "g++");
    let folder = tempfile::tempdir().unwrap();
    let short = ["--benchmark_min_time=0.005"];
    let names = ["sum/100 vs. sum/400", "sum/100"];
    let mut controlled = race(&names, &short, folder.path());
    controlled.0.settings.control = Some(true);
    controlled.0.settings.blocks = Some(2);
    let outcome = raced(&controlled).unwrap();
    let run = read_run(&outcome.path).unwrap();
    for (benchmark, samples) in run.header.plan.benchmarks.iter().zip(&run.benchmarks) {
        let [old, _, copy] = &benchmark.contenders[..] else {
            panic!("{:?}", benchmark.contenders);
        };
        assert_eq!(
            (copy.name.as_str(), &copy.workload),
            ("OLD (control)", &old.workload)
        );
        assert_eq!(samples.blocks().len(), 12);
        assert_eq!(samples.samples().len(), 36);
    }
    let analysis = analyse(&run, Options::default());
    assert_eq!(analysis.comparisons.len(), 2);
    for comparison in &analysis.comparisons {
        let control = comparison.aspects.control.unwrap().estimate.replicates;
        assert_eq!(control, 6, "{:?}", comparison.warnings);
    }
}

#[test]
fn a_quantile_of_single_iterations_is_refused() {
    needs!("benchmark/benchmark.h", "g++");
    let folder = tempfile::tempdir().unwrap();
    let (mut race, entries) = race(&["sum/100"], &[], folder.path());
    race.settings.quantile = Some(0.99);
    let told = raced(&(race, entries)).err().unwrap().to_string();
    assert!(
        told.contains("--quantile: the harness of benchmark 'sum/100'"),
        "{told}"
    );
    assert!(told.contains("not single iterations"), "{told}");
}
