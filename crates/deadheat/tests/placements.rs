//! Races functions on neutral links. A script replaces the linker; it copies the executable,
//! or misbehaves.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use deadheat::parts::format::read_run;
use deadheat::parts::model::{NeutralLink, Placed, Placing, Run};
use deadheat_testing::kill;

/// A folder to race in, with the script that makes links.
struct Track(tempfile::TempDir);

/// Shell code that makes the link of one seed. `$exe` and `$links` are set.
const COPY: &str = r#"cp "$exe" "$links/$seed"; placed"#;

impl Track {
    /// Returns a track whose script runs `before` once per call, and `for_each` for every seed.
    fn new(before: &str, for_each: &str) -> Self {
        let track = Self(tempfile::tempdir().unwrap());
        let folder = track.0.path().display();
        let script = format!(
            r#"#!/bin/sh
[ "$1" = placements ] || exit 64
exe=$2
shift 2
links={folder}/links
mkdir -p "$links"
echo "$# $(cat /proc/$PPID/task/$PPID/children)" >> {folder}/processes
grep Cpus_allowed_list /proc/self/status >> {folder}/cores
echo "$@" >> {folder}/asked
placed() {{ echo '{{"placed":{{"seed":'$seed',"executable":"'$links/$seed'","hash":"00'$seed'"}}}}'; }}
refused() {{ echo '{{"refused":{{"seed":'$seed',"reason":"the jump is too far"}}}}'; }}
{before}
echo '{{"links":{{"executable":"x","linker":"COPIED 1","record":"00","unsectioned":["k.o"]}}}}'
for seed; do
{for_each}
done
"#
        );
        let (draft, helper) = (track.path("draft"), track.path("helper"));
        fs::write(&draft, script).unwrap();
        // Another process writes the file, because a child of another test could have it open.
        let installed = Command::new("install").arg(draft).arg(helper).status();
        assert!(installed.unwrap().success());
        track
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn lines(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.path(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The seeds in every call of the script.
    fn asked(&self) -> Vec<Vec<u32>> {
        let seeds = |line: &String| {
            let seeds = line.split_whitespace();
            seeds.map(|seed| seed.parse().unwrap()).collect()
        };
        self.lines("asked").iter().map(seeds).collect()
    }

    fn processes(&self) -> usize {
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let here = entries.filter(|entry| {
            fs::read_link(entry.path().join("cwd")).is_ok_and(|folder| folder == self.0.path())
        });
        here.count()
    }

    /// Returns the command of a race with this number of replicates of two blocks. α is so small
    /// that no look ends the race.
    fn command(&self, replicates: u32, more: &[&str]) -> Command {
        let run = self.path("run.jsonl");
        let _ = fs::remove_file(&run);
        let mut command = Command::new(example());
        command
            .args(["--bench", "--blocks", "2", "--alpha", "1e-60", "--quiet"])
            .args(["--max-replicates", &replicates.to_string()])
            .arg("--save")
            .arg(&run)
            .args(more)
            .current_dir(self.0.path())
            .env("DEADHEAT_PLACEMENTS", self.path("helper"))
            .stdin(Stdio::null());
        command
    }

    fn race(&self, replicates: u32, more: &[&str]) -> (Run, i32, String) {
        let finished = self.command(replicates, more).output().unwrap();
        let printed = String::from_utf8_lossy(&finished.stderr).into_owned()
            + &String::from_utf8_lossy(&finished.stdout);
        let run =
            read_run(self.path("run.jsonl")).unwrap_or_else(|error| panic!("{error}\n{printed}"));
        (run, finished.status.code().unwrap(), printed)
    }
}

fn example() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let profile = tests.ancestors().nth(2).unwrap();
    let example = profile.join("examples/misbehaving");
    assert!(Path::new(&example).exists(), "{}", example.display());
    example
}

fn link(placed: &Placed) -> Option<&NeutralLink> {
    match &placed.contenders[0] {
        Placing::Neutral(link) => Some(link),
        Placing::Own => None,
    }
}

/// The seeds of the links of one benchmark; 0 for the own link.
fn seeds(run: &Run, benchmark: usize) -> Vec<u32> {
    let placed = run.placed.iter().filter(|p| p.benchmark == benchmark);
    placed
        .map(|p| link(p).map_or(0, |link| link.seed))
        .collect()
}

fn replicates(run: &Run, benchmark: usize) -> u32 {
    let last = run.benchmarks[benchmark].blocks().last();
    last.map_or(0, |block| block.replicate + 1)
}

#[test]
fn every_replicate_runs_on_a_link_of_its_own_and_the_own_link_stands_beside() {
    let track = Track::new("", COPY);
    let (run, code, printed) = track.race(8, &["fine/work", "--seed", "7"]);
    assert_eq!(code, 0, "{printed}");
    let facts = &run.header.environment.neutral_links;
    assert_eq!(facts[0].made_by, Ok("COPIED 1".to_owned()));
    assert_eq!(facts[0].unsectioned, ["k.o"]);
    let own = run.header.plan.benchmarks[1].rerun.unwrap();
    assert_eq!((own.of, own.replicates), (0, 6));
    assert_eq!((replicates(&run, 0), replicates(&run, 1)), (8, 6));
    assert_eq!(run.placed.len(), 8, "nothing is drawn beside");
    assert!(run.placed.iter().all(|placed| placed.is_drawn(0, 1)));
    let distinct: BTreeSet<u32> = seeds(&run, 0).into_iter().collect();
    assert_eq!(distinct.len(), 8);
    // deadheat asks once if there are links, then before each look for new links, and at the end
    // for the last link again, so that the script can delete the others.
    let asked = track.asked();
    let calls: Vec<usize> = asked.iter().map(Vec::len).collect();
    assert_eq!(calls, [0, 6, 2, 1]);
    assert_eq!(asked[..3].concat(), seeds(&run, 0));
    assert_eq!(asked[3].last(), seeds(&run, 0).last());
}

#[test]
fn the_links_follow_from_the_seed_of_the_run() {
    let track = Track::new("", COPY);
    let draw = |seed| seeds(&track.race(6, &["fine/work", "--seed", seed]).0, 0);
    let first = draw("7");
    assert_eq!(first, draw("7"));
    assert_ne!(first, draw("8"));
}

#[test]
fn all_benchmarks_of_the_program_share_its_links() {
    let track = Track::new("", COPY);
    let (run, ..) = track.race(6, &["--exact", "fine/work", "fine/empty"]);
    assert_eq!(run.header.plan.benchmarks.len(), 4);
    assert_eq!(seeds(&run, 0), seeds(&run, 1));
    assert_eq!(track.asked().len(), 3, "{:?}", track.asked());
}

#[test]
fn nothing_is_linked_while_functions_run_and_all_cores_are_there_for_it() {
    let track = Track::new("sleep 1000 & sleep 1000 >/dev/null &", COPY);
    let (run, code, printed) = track.race(8, &["fine/work"]);
    assert_eq!(code, 0, "{printed}");
    assert_eq!(run.placed.len(), 8);
    let calls = track.lines("processes");
    assert_eq!(calls.len(), 4);
    for call in calls {
        // The number of arguments of the script, and the script itself as the only child.
        assert_eq!(call.split_whitespace().count(), 2, "{call}");
    }
    let here = fs::read_to_string("/proc/self/status").unwrap();
    let here = here
        .lines()
        .find(|line| line.starts_with("Cpus_allowed_list"));
    assert!(
        track
            .lines("cores")
            .iter()
            .all(|line| Some(line.as_str()) == here)
    );
    assert_eq!(track.processes(), 0, "what the helper left is gone");
}

#[test]
fn an_interrupt_does_not_wait_for_a_linker() {
    let track = Track::new("[ $# = 0 ] || sleep 1000", COPY);
    let mut racing = track.command(6, &["fine/work"]).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while track.asked().len() < 2 {
        assert!(Instant::now() < until, "nobody is asked for links");
        thread::sleep(Duration::from_millis(5));
    }
    let id = racing.id().to_string();
    assert!(kill(&["-INT", &id]));
    assert_eq!(racing.wait().unwrap().code(), Some(130));
    assert_eq!(track.processes(), 0);
}

#[test]
fn a_seed_the_linker_refuses_is_replaced_and_told() {
    let track = Track::new(
        "",
        &format!("if [ $# = 6 ] && [ $seed = $1 ]; then refused; else {COPY}; fi"),
    );
    let (run, code, printed) = track.race(6, &["fine/work"]);
    assert_eq!(code, 0, "{printed}");
    assert!(run.placed.iter().all(|placed| placed.is_drawn(0, 1)));
    let refused = &run.placed[0].refused;
    assert_eq!((refused.len(), refused[0].seed), (1, track.asked()[1][0]));
    assert!(
        run.placed[1..]
            .iter()
            .all(|placed| placed.refused.is_empty())
    );
}

#[test]
fn a_link_that_crashes_at_its_start_is_refused_and_can_be_run_by_hand() {
    let crash = r#"printf '#!/bin/sh\nexit 7\n' > "$links/$seed"; chmod +x "$links/$seed"; placed"#;
    let track = Track::new(
        "",
        &format!("if [ $# = 6 ] && [ $seed = $1 ]; then {crash}; else {COPY}; fi"),
    );
    let (run, code, printed) = track.race(6, &["fine/work"]);
    assert_eq!(code, 0, "{printed}");
    assert!(run.placed.iter().all(|placed| placed.is_drawn(0, 1)));
    let refused = &run.placed[0].refused[0];
    assert!(refused.reason.contains("exit code 7"), "{}", refused.reason);
    let by_hand = track.path("links").join(refused.seed.to_string());
    assert!(
        refused.reason.contains(by_hand.to_str().unwrap()),
        "{}",
        refused.reason
    );
}

#[test]
fn three_links_that_crash_leave_the_own_one() {
    let crash = r#"printf '#!/bin/sh\nexit 7\n' > "$links/$seed"; chmod +x "$links/$seed"; placed"#;
    let track = Track::new("", crash);
    let (run, code, printed) = track.race(6, &["fine/work"]);
    assert_eq!(code, 0, "{printed}");
    assert_eq!(run.placed[0].refused.len(), 3);
    assert_eq!(seeds(&run, 0), [0; 6]);
    for placed in &run.placed {
        let reason = placed.fallen_back.as_ref().unwrap();
        assert!(reason.contains("exit code 7"), "{reason}");
    }
}

#[test]
fn a_helper_that_fails_in_the_middle_costs_the_rest_of_the_links() {
    let track = Track::new("if [ $# = 2 ]; then echo 'disk full' >&2; exit 1; fi", COPY);
    let (run, code, printed) = track.race(8, &["fine/work", "fine/empty"]);
    assert_eq!(code, 0, "{printed}");
    for benchmark in [0, 1] {
        let seeds = seeds(&run, benchmark);
        assert!(!seeds[..6].contains(&0), "{seeds:?}");
        assert_eq!(seeds[6..], [0, 0]);
    }
    let reason = run.placed[7].fallen_back.as_ref().unwrap();
    assert!(reason.contains("disk full"), "{reason}");
    assert_eq!(run.placed[5].fallen_back, None);
}

#[test]
fn where_there_are_no_links_the_race_is_the_one_it_was() {
    for (before, named) in [
        ("echo bang; exit 0", "'bang'"),
        ("kill -9 $$", "SIGKILL"),
        (
            r#"echo '{"impossible":{"reason":"there is no lld"}}'; exit 0"#,
            "there is no lld",
        ),
    ] {
        let track = Track::new(before, COPY);
        let (run, code, printed) = track.race(6, &["fine/work"]);
        assert_eq!(code, 0, "{printed}");
        let reason = run.header.environment.neutral_links[0].made_by.clone();
        assert!(reason.as_ref().unwrap_err().contains(named), "{reason:?}");
        assert_eq!((run.header.plan.benchmarks.len(), run.placed.len()), (1, 0));
    }
}

#[test]
fn who_wants_the_own_link_gets_it_and_nobody_is_asked() {
    let track = Track::new("", COPY);
    let (run, code, _) = track.race(6, &["fine/work", "--placement", "own"]);
    assert_eq!(code, 0);
    assert!(track.asked().is_empty() && run.header.environment.neutral_links.is_empty());
    assert_eq!(run.header.plan.benchmarks.len(), 1);
}

#[test]
fn a_failure_in_a_block_names_its_link_and_a_failed_benchmark_has_none_beside() {
    let track = Track::new("", COPY);
    let (run, code, printed) = track.race(6, &["panic/"]);
    assert_eq!(code, 3, "{printed}");
    let named = |name: &str| {
        let names = run.header.plan.benchmarks.iter();
        let place = names.enumerate().find(|(_, b)| b.name == name).unwrap().0;
        let failure = run.failures.iter().find(|f| f.benchmark == place);
        (place, failure.unwrap().message.clone())
    };
    let (in_a_block, message) = named("panic/in-a-block");
    let seed = track.asked()[1][0];
    let file = track.path("links").join(seed.to_string());
    let link = format!("the neutral link of seed {seed}, {}", file.display());
    assert!(message.contains(&link), "{message}");
    assert!(!named("panic/at-once").1.contains("neutral link"));
    // Only the benchmark that passed its calibration run has a rerun, which has no blocks because
    // the benchmark failed.
    let beside: Vec<usize> = run
        .header
        .plan
        .benchmarks
        .iter()
        .filter_map(|benchmark| Some(benchmark.rerun?.of))
        .collect();
    assert_eq!(beside, [in_a_block]);
    assert!(run.benchmarks.last().unwrap().blocks().is_empty());
}
