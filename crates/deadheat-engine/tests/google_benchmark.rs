//! Races executables of Google Benchmark that shell scripts simulate, and tests how failures are
//! reported.
#![cfg(feature = "commands")]

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use deadheat_engine::{
    Contenders, EngineError, FunctionError, HarnessContenders, HarnessError, HarnessOptions,
    HarnessPilot, HarnessSide, Interrupts, LinkProgram, Placements, RequestedRepetitions, Schedule,
};
use deadheat_model::{
    Benchmark, BlockRecord, Contender, ContenderId, Design, Harness, Metric, Pinning, Placed,
    Placing, Plan, Program, RepetitionLength, SideBySide, Workload,
};
use deadheat_testing::kill;
use deadheat_testing::runs::{design, one_look};

/// The beginning of every script: it logs how it was launched and parses its arguments. `n` is the
/// number of the launch, counted from 1.
const HEAD: &str = r#"
echo "$0 $@" >> "$folder/launches"
n=$(wc -l < "$folder/launches")
for argument; do case "$argument" in
  --benchmark_out=*) out=${argument#*=};;
  --benchmark_repetitions=*) repetitions=${argument#*=};;
  --benchmark_min_time=*) time=${argument#*=};;
esac; done
case "$time" in *x) count=${time%x};; *) count=1000;; esac
real=3000; more=''
rows() {
  k=0
  while [ $k -lt $repetitions ]; do
    [ $k = 0 ] || echo ,
    echo '{"name":"a/8","run_name":"a/8","run_type":"iteration","threads":1,"iterations":'$count','
    echo '"real_time":'$real.$k',"cpu_time":2,"time_unit":"ns"'"$more"'}'
    k=$((k+1))
  done
}
report() { echo '{"context":{},"benchmarks":['; rows; echo ']}'; }
"#;

/// A time limit of a launch that no test reaches.
const LONG: Duration = Duration::from_secs(60);

struct Track {
    folder: tempfile::TempDir,
    interrupts: Interrupts,
}

impl Track {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            interrupts: Interrupts::install().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Creates an executable with this script. Another process writes the file, because `execve`
    /// fails while a child of this process has it open for writing.
    fn executable(&self, name: &str, script: &str) -> Program {
        let folder = self.folder.path().display();
        let text = format!("#!/bin/sh\nfolder={folder}\n{script}\n");
        self.install(name, &text);
        Program {
            executable: self.path(name),
            ..Program::default()
        }
    }

    fn install(&self, name: &str, text: &str) {
        let (draft, file) = (self.path("draft"), self.path(name));
        fs::write(&draft, text).unwrap();
        let installed = Command::new("install").arg(draft).arg(file).status();
        assert!(installed.unwrap().success());
    }

    fn launches(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("launches")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn contenders(&self, timeout: Duration) -> HarnessContenders<'_> {
        let options = HarnessOptions {
            timeout: Some(timeout),
            pinning: Pinning::Auto,
            seed: 7,
            shown: false,
            harnesses: vec![Harness::GoogleBenchmark],
            wanted: RequestedRepetitions::default(),
        };
        HarnessContenders::new(options, &self.interrupts).unwrap()
    }
}

fn sides<'a>(programs: &'a [Program; 2]) -> [HarnessSide<'a>; 2] {
    let side = |contender, program| HarnessSide {
        contender,
        harness: Harness::GoogleBenchmark,
        program,
        benchmark: "a/8",
    };
    [side("OLD", &programs[0]), side("NEW", &programs[1])]
}

/// Returns the result of the calibration run of two executables with this script.
fn piloted(script: &str, timeout: Duration) -> Result<HarnessPilot, EngineError> {
    let track = Track::new();
    let script = format!("{HEAD}\n{script}");
    let programs = ["old", "new"].map(|name| track.executable(name, &script));
    let mut contenders = track.contenders(timeout);
    contenders.pilot(0, "a/8", &sides(&programs))
}

fn plan(piloted: HarnessPilot) -> Plan {
    let names = ["OLD", "NEW"].into_iter();
    let contenders = names.zip(piloted.calls).map(|(name, calls)| Contender {
        name: name.to_owned(),
        workload: Workload::Harness(Box::new(calls)),
    });
    let contenders: Vec<Contender> = contenders.collect();
    let Workload::Harness(calls) = &contenders[0].workload else {
        panic!("{contenders:?}")
    };
    Plan {
        design: Design {
            pinning: Pinning::Auto,
            ..design(one_look(6))
        },
        seed: 7,
        benchmarks: vec![Benchmark {
            name: "a/8".to_owned(),
            blocks_per_replicate: Some(calls.repetitions),
            contenders,
            counters: piloted.counters,
            ..Benchmark::default()
        }],
    }
}

/// Calibrates, plans, and runs all blocks of `replicates` replicates.
fn raced(
    track: &Track,
    programs: &[Program; 2],
    helper: Option<LinkProgram>,
    replicates: u32,
) -> Result<(Plan, Vec<BlockRecord>, Vec<Placed>), EngineError> {
    raced_as(track, programs, helper, (replicates, LONG, None))
}

/// Like [`raced`], in turns or side by side. The file `raced` exists once the calibration run is
/// over.
fn raced_as(
    track: &Track,
    programs: &[Program; 2],
    helper: Option<LinkProgram>,
    (replicates, timeout, how): (u32, Duration, Option<SideBySide>),
) -> Result<(Plan, Vec<BlockRecord>, Vec<Placed>), EngineError> {
    let mut contenders = track.contenders(timeout);
    let piloted = contenders.pilot(0, "a/8", &sides(programs))?;
    fs::write(track.path("raced"), "").unwrap();
    let mut plan = plan(piloted);
    plan.benchmarks[0].side_by_side = how;
    let placements = Placements::find(helper, &plan, None, &track.interrupts)?;
    contenders.enter(&plan, placements)?;
    let schedule = Schedule::new(&plan);
    let (mut records, mut placed, mut previous) = (Vec::new(), Vec::new(), None);
    for replicate in 0..replicates {
        for index in 0..plan.blocks_per_replicate(0) {
            let block = schedule.block(0, replicate, index, previous);
            let mut record = BlockRecord {
                replicate,
                index,
                ..BlockRecord::default()
            };
            contenders.run(&block, &mut record)?;
            placed.extend(contenders.placed());
            previous = block.slots.last().map(|slot| slot.contender);
            records.push(record);
        }
    }
    Ok((plan, records, placed))
}

fn problem(error: EngineError) -> (HarnessError, String) {
    let text = error.to_string();
    let EngineError::Function(failure) = error else {
        panic!("{text}")
    };
    let FunctionError::Harness(cause) = failure.cause else {
        panic!("{text}")
    };
    (cause.what, text)
}

#[test]
fn a_replicate_is_a_launch_for_every_slot_and_a_block_one_repetition_of_each() {
    let track = Track::new();
    // The time encodes the launch, and its first decimal the repetition.
    let script = format!("{HEAD}\nreal=$((n * 100)); report > $out");
    let programs = ["old", "new"].map(|name| track.executable(name, &script));
    let (plan, records, placed) = raced(&track, &programs, None, 3).unwrap();
    assert!(placed.is_empty());
    assert_eq!(plan.blocks_per_replicate(0), 4);
    assert_eq!(records.len(), 12);
    let launches = track.launches();
    let filters = launches
        .iter()
        .filter(|l| l.contains("--benchmark_filter=^a/8$"));
    assert_eq!(filters.count(), launches.len());
    for replicate in records.chunks(4) {
        let order: Vec<ContenderId> = replicate[0].samples.iter().map(|s| s.contender).collect();
        assert_eq!((order[0], order[1]), (order[3], order[2]));
        assert_ne!(order[0], order[1]);
        let first = replicate[0].values[0] / 1000.0;
        for (k, record) in replicate.iter().enumerate() {
            let of: Vec<ContenderId> = record.samples.iter().map(|s| s.contender).collect();
            assert_eq!(of, order, "the order of the first block is kept");
            for (slot, sample) in record.samples.iter().enumerate() {
                assert_eq!(sample.iterations, 1000);
                let wall_ns = record.values[2 * slot] / 1000.0;
                let expected = first + 100.0 * slot as f64 + k as f64 / 10.0;
                assert!((wall_ns - expected).abs() < 1e-6, "{wall_ns} {expected}");
                assert_eq!(record.values[2 * slot + 1], 2000.0);
            }
            // The log shows which side each launch ran.
            let launch = |slot: usize| &launches[(first / 100.0) as usize + slot - 1];
            let name = |id: ContenderId| ["/old ", "/new "][id.index()];
            assert!((0..4).all(|slot| launch(slot).contains(name(order[slot]))));
        }
    }
}

#[test]
fn counters_are_recorded_as_they_are_reported() {
    let track = Track::new();
    let script = format!(
        r#"{HEAD}
more=',"rows":'$n',"odd":NaN,"debt":-1,"label":"x"'; report > $out"#
    );
    let programs = ["old", "new"].map(|name| track.executable(name, &script));
    let (plan, records, _) = raced(&track, &programs, None, 1).unwrap();
    let rows = Metric::Custom("rows".to_owned());
    assert_eq!(plan.benchmarks[0].counters, [rows]);
    let first = records[0].values[2];
    let of_slots: Vec<f64> = records[0]
        .values
        .iter()
        .skip(2)
        .step_by(3)
        .copied()
        .collect();
    assert_eq!(of_slots, [first, first + 1.0, first + 2.0, first + 3.0]);
}

#[test]
fn iterations_are_fixed_where_the_executable_understands_that() {
    let length = |script: &str| {
        let piloted = piloted(script, LONG).unwrap();
        (piloted.calls[0].length, piloted.calls[1].length)
    };
    let counted = RepetitionLength::Iterations(1000);
    assert_eq!(length("report > $out"), (counted, counted));
    let seconds = RepetitionLength::Seconds(0.001);
    // Simulates Google Benchmark 1.7, and a `main` that ignores unknown options.
    for old in [
        r#"case "$time" in *x) echo "unknown flag" >&2; exit 1;; esac; report > $out"#,
        "count=170000; report > $out",
    ] {
        assert_eq!(length(old), (seconds, seconds), "{old}");
    }
    // If one side does not support a fixed number of iterations, neither side gets one.
    let mixed = r#"case "$0$time" in *new*x) exit 1;; esac; report > $out"#;
    assert_eq!(length(mixed), (seconds, seconds));
}

#[test]
fn a_slow_benchmark_has_one_repetition_and_one_of_aggregates_too() {
    let slow = piloted("count=1; real=700000000; report > $out", LONG).unwrap();
    assert_eq!(slow.calls[0].repetitions, 1);
    let aggregates = r#"
if [ $repetitions = 1 ]; then report > $out; else
  echo '{"benchmarks":[{"name":"a/8_mean","run_name":"a/8","run_type":"aggregate"}]}' > $out
fi"#;
    assert_eq!(piloted(aggregates, LONG).unwrap().calls[1].repetitions, 1);
    let always = piloted("repetitions=5; report > $out", LONG).unwrap();
    assert_eq!(always.calls[0].repetitions, 5, "as the source says");
}

#[test]
fn whatever_goes_wrong_in_the_pilot_names_benchmark_and_side_and_says_what_to_do() {
    let flagged = |flag: &str, text: &str| {
        format!(r#"more=',"{flag}":true,"{text}":"too old"'; report > $out"#)
    };
    for (script, told) in [
        ("echo no disk >&2; exit 3", "exit code 3, saying: no disk"),
        ("kill -9 $$", "killed by signal 9 (SIGKILL)"),
        ("exit 0", "wrote no report"),
        (
            "echo 'Failed to match any benchmarks against regex: x' >&2",
            "ran no benchmark of this name",
        ),
        (
            "echo hello > $out",
            "not the JSON of Google Benchmark: 'hello'",
        ),
        (r#"echo '{"benchmarks":[' > $out"#, "not the JSON"),
        (r#"echo '{"benchmarks":[]}' > $out"#, "ran no benchmark"),
        ("yes > $out", "wrote more than any benchmark report"),
        (
            "count=0; report > $out",
            "no usable iterations in repetition 0",
        ),
        (
            &flagged("error_occurred", "error_message"),
            "an error: too old",
        ),
        (&flagged("skipped", "skip_message"), "skips itself: too old"),
        (
            "case $0 in */new) repetitions=3;; *) repetitions=2;; esac; report > $out",
            "sets 3 repetitions in its source, but the baseline sets 2",
        ),
    ] {
        let (_, text) = problem(piloted(script, LONG).unwrap_err());
        assert!(text.contains(told), "{script}: {text}");
        assert!(
            text.contains("benchmark 'a/8', calibration run: '"),
            "{text}"
        );
        assert!(text.contains("to reproduce it: /"), "{text}");
    }
}

#[test]
fn a_launch_that_hangs_is_killed_with_all_it_started() {
    let hangs = "sleep 1000 & echo $! > $folder/child; wait";
    let track = Track::new();
    let script = format!("{HEAD}\n{hangs}");
    let programs = ["old", "new"].map(|name| track.executable(name, &script));
    let mut contenders = track.contenders(Duration::from_millis(400));
    let error = contenders.pilot(0, "a/8", &sides(&programs)).unwrap_err();
    let (_, text) = problem(error);
    assert!(
        text.contains("400ms") && text.contains("--timeout"),
        "{text}"
    );
    let child = fs::read_to_string(track.path("child")).unwrap();
    assert!(!kill(&["-0", child.trim()]), "{child}");
}

#[test]
fn an_executable_that_is_not_there_says_so() {
    let track = Track::new();
    let programs = ["old", "new"].map(|name| Program {
        executable: track.path(name),
        ..Program::default()
    });
    let mut contenders = track.contenders(LONG);
    let error = contenders.pilot(0, "a/8", &sides(&programs)).unwrap_err();
    let (what, text) = problem(error);
    assert!(
        matches!(what, HarnessError::Process { .. }) && text.contains(" cannot be started: "),
        "{text}"
    );
}

#[test]
fn whatever_goes_wrong_in_the_race_names_the_replicate_too() {
    // The calibration run takes four launches, and the discarded launch and a replicate take five.
    for (script, told) in [
        ("[ $n -lt 12 ] || exit 3; report > $out", "exit code 3"),
        (
            "[ $n -lt 12 ] || repetitions=2; report > $out",
            "reports 2 repetitions instead of the planned 4",
        ),
        (
            r#"rows=$n; [ $n -lt 12 ] || rows=NaN; more=',"rows":'$rows; report > $out"#,
            "counter 'rows' in repetition 0: no finite number",
        ),
        (
            r#"[ $n -lt 12 ] || more=',"skipped":true,"skip_message":"tired"'; report > $out"#,
            "skips itself: tired",
        ),
    ] {
        let track = Track::new();
        let script = format!("{HEAD}\n{script}");
        let programs = ["old", "new"].map(|name| track.executable(name, &script));
        let error = raced(&track, &programs, None, 3).unwrap_err();
        assert!(error.is_of_a_contender());
        let (_, text) = problem(error);
        assert!(text.contains(told), "{script}: {text}");
        assert!(
            text.contains("benchmark 'a/8', replicate 1, block 0: '"),
            "{text}"
        );
    }
}

/// A simulated linker that copies the executable with the shell script `copy`.
fn helper(track: &Track, copy: &str) -> LinkProgram {
    let records = track.path(".deadheat/links");
    fs::create_dir_all(&records).unwrap();
    for name in ["old.json", "new.json"] {
        fs::write(records.join(name), "{}").unwrap();
    }
    let program = track.executable(
        "helper",
        &format!(
            r#"exe=$2
shift 2
for word; do [ "$word" = --beside ] && break; seeds="$seeds $word"; done
set -- $seeds
echo '{{"links":{{"executable":"x","linker":"COPIED 1","record":"00","unsectioned":[]}}}}'
for seed; do
  {copy}
  echo '{{"placed":{{"seed":'$seed',"executable":"'$folder/$seed'","hash":"0"}}}}'
done"#
        ),
    );
    LinkProgram::new(program.executable)
}

#[test]
fn each_side_draws_links_of_its_own_also_when_both_are_the_same_file() {
    let track = Track::new();
    let helper = LinkProgram {
        matching: false,
        ..helper(&track, "cp $exe $folder/$seed")
    };
    let program = track.executable("old", &format!("{HEAD}\nreport > $out"));
    let programs = [program.clone(), program];
    let (_, _, placed) = raced(&track, &programs, Some(helper), 2).unwrap();
    assert_eq!(placed.len(), 2);
    let seeds: Vec<u32> = placed
        .iter()
        .flat_map(|placed| &placed.contenders)
        .map(|placing| match placing {
            Placing::Neutral(link) => link.seed,
            placing => panic!("{placing:?}"),
        })
        .collect();
    let distinct: std::collections::BTreeSet<&u32> = seeds.iter().collect();
    assert_eq!(distinct.len(), 4, "{seeds:?}");
    let launches = track.launches();
    for seed in seeds {
        // One trial launch and two launches of the race; the first contender also has the launch
        // that primes the block.
        let of_it = launches
            .iter()
            .filter(|l| l.contains(&format!("/{seed} ")))
            .count();
        assert!((3..=4).contains(&of_it), "{of_it} launches of {seed}");
    }
}

#[test]
fn a_link_that_does_not_run_is_refused_and_another_one_drawn() {
    let track = Track::new();
    let copy = r#"if [ -e $folder/made ]; then cp $exe $folder/$seed; else
  printf '#!/bin/sh\nexit 9\n' > $folder/$seed; chmod +x $folder/$seed; touch $folder/made
fi"#;
    let helper = helper(&track, copy);
    let programs =
        ["old", "new"].map(|name| track.executable(name, &format!("{HEAD}\nreport > $out")));
    let (_, _, placed) = raced(&track, &programs, Some(helper), 1).unwrap();
    let refused = &placed[0].refused;
    assert_eq!(refused.len(), 1);
    let reason = &refused[0].reason;
    assert!(
        reason.contains("exit code 9") && reason.contains("with your own link"),
        "{reason}"
    );
    let neutral = |placing: &Placing| matches!(placing, Placing::Neutral(_));
    assert!(placed[0].contenders.iter().all(neutral));
}

const SIDE_BY_SIDE: Option<SideBySide> = Some(SideBySide { slice: None });

#[test]
fn side_by_side_both_sides_run_at_the_same_time() {
    let track = Track::new();
    // Opening a named pipe blocks until another process opens its other end.
    let script = format!(
        r#"{HEAD}
[ -e $folder/raced ] && case $0 in */old) echo > $folder/meet;; *) read line < $folder/meet;; esac
case $0 in */old) real=1000;; *) real=2000;; esac; report > $out"#
    );
    let programs = ["old", "new"].map(|name| track.executable(name, &script));
    let meet = Command::new("mkfifo").arg(track.path("meet")).status();
    assert!(meet.unwrap().success());
    let how = (3, LONG, SIDE_BY_SIDE);
    let (plan, records, _) = raced_as(&track, &programs, None, how).unwrap();
    assert_eq!(records.len() as u32, 3 * plan.blocks_per_replicate(0));
    for record in &records {
        for (slot, sample) in record.samples.iter().enumerate() {
            let wall_ns = record.values[2 * slot] / sample.iterations as f64;
            assert_eq!(wall_ns as u32 / 1000, 1 + u32::from(sample.contender.0));
        }
    }
    // The calibration run launches each side twice, and no launch primes a block.
    assert_eq!(track.launches().len(), 4 + 3 * 4);
}

#[test]
fn side_by_side_both_sides_start_from_their_links() {
    let track = Track::new();
    let helper = LinkProgram {
        matching: false,
        ..helper(&track, "cp $exe $folder/$seed")
    };
    let script = format!("{HEAD}\nreport > $out");
    let programs = ["old", "new"].map(|name| track.executable(name, &script));
    let how = (1, LONG, SIDE_BY_SIDE);
    let (_, _, placed) = raced_as(&track, &programs, Some(helper), how).unwrap();
    let launches = track.launches();
    for placing in &placed[0].contenders {
        let Placing::Neutral(link) = placing else {
            panic!("{placing:?}")
        };
        let seed = format!("/{} ", link.seed);
        let of_it = launches.iter().filter(|l| l.contains(&seed)).count();
        assert_eq!(of_it, 3, "tried once, then raced twice");
    }
}

#[test]
fn a_side_that_fails_only_next_to_the_other_is_named_and_the_other_killed() {
    let track = Track::new();
    let script = format!(
        r#"{HEAD}
if [ -e $folder/raced ]; then
  mkdir $folder/lock 2> $folder/null || {{ echo is locked >&2; exit 3; }}
  sleep 1000 & echo $! > $folder/child; wait
fi
report > $out"#
    );
    let programs = ["old", "new"].map(|name| track.executable(name, &script));
    let how = (1, LONG, SIDE_BY_SIDE);
    let (what, text) = problem(raced_as(&track, &programs, None, how).unwrap_err());
    assert!(matches!(what, HarnessError::Process { .. }), "{text}");
    for told in ["exit code 3", "is locked", "at the same time"] {
        assert!(text.contains(told), "{text}");
    }
    let child = fs::read_to_string(track.path("child")).unwrap_or_default();
    assert!(child.is_empty() || !kill(&["-0", child.trim()]), "{child}");
}

#[test]
fn side_by_side_each_launch_has_the_time_of_both() {
    let track = Track::new();
    let script = format!(
        r#"{HEAD}
[ -e $folder/raced ] && {{ echo $$ >> $folder/hung; exec sleep 1000; }}
report > $out"#
    );
    let programs = ["old", "new"].map(|name| track.executable(name, &script));
    let how = (1, Duration::from_secs(2), SIDE_BY_SIDE);
    let (_, text) = problem(raced_as(&track, &programs, None, how).unwrap_err());
    assert!(text.contains("did not end within 4s"), "{text}");
    let hung = fs::read_to_string(track.path("hung")).unwrap();
    assert_eq!(hung.lines().count(), 2);
    assert!(!hung.lines().any(|pid| kill(&["-0", pid])), "{hung}");
}

#[test]
fn a_side_that_is_not_there_is_named_when_both_should_start() {
    let track = Track::new();
    let script = format!("{HEAD}\n[ $n = 4 ] && rm $folder/new; report > $out");
    let programs = ["old", "new"].map(|name| track.executable(name, &script));
    let how = (1, LONG, SIDE_BY_SIDE);
    let (_, text) = problem(raced_as(&track, &programs, None, how).unwrap_err());
    assert!(text.contains("'NEW' cannot be started"), "{text}");
}
