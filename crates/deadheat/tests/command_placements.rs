//! Races commands on neutral links. A script replaces the linker and only copies executables.
#![cfg(all(target_os = "linux", feature = "commands"))]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, MutexGuard};

use deadheat::parts::command_race::CommandRaceSpec;
use deadheat::parts::engine::{LinkProgram, Unwatched};
use deadheat::parts::model::{Arrangement, Conditions, Placing, RaceSettings, Run};
use deadheat::parts::{
    PlanUse, RaceError, RaceOptions, RaceOutcome, ResumeOptions, race_commands, resume_race,
};

/// Signal handlers and pinning affect the whole process, so only one test may race at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A folder with copies of the shell under other names, and the script that makes links.
struct Track {
    folder: tempfile::TempDir,
    _alone: MutexGuard<'static, ()>,
}

const COPY: &str = r#"cp "$exe" "$links/$seed"; placed"#;
/// A shell command that records two paths: the executable that runs, and the name it was called by.
const NOTE: &str = r#"echo $(readlink /proc/$$/exe) $0 >> ran"#;

impl Track {
    fn new(for_each: &str) -> Self {
        let alone = ONE_AT_A_TIME
            .lock()
            .unwrap_or_else(|poison| poison.into_inner());
        let track = Self {
            folder: tempfile::tempdir().unwrap(),
            _alone: alone,
        };
        let folder = track.folder.path().display();
        let helper = format!(
            r#"#!/bin/sh
exe=$2
shift 2
seeds= beside= matched=
while [ $# -gt 0 ]; do
  case $1 in --beside) beside=$2; shift;; *) seeds="$seeds $1";; esac
  shift
done
set -- $seeds
links={folder}/links/$(basename "$exe")
mkdir -p "$links"
echo "$(basename "$exe") $@" >> {folder}/asked
for child in $(cat /proc/$PPID/task/*/children); do
  [ $child = $$ ] || echo "child $(cat /proc/$child/task/*/children)" >> {folder}/processes
done
placed() {{ echo '{{"placed":{{"seed":'$seed',"executable":"'$links/$seed'","hash":"0"}}}}'; }}
echo '{{"links":{{"executable":"x","linker":"COPIED 1","record":"00","unsectioned":[]'$matched'}}}}'
for seed; do
{for_each}
done
"#
        );
        track.install("helper", &helper);
        track
    }

    /// Creates an executable file. Another process writes it, because a child of this process could
    /// have the file open, and then the file could not be started.
    fn install(&self, name: &str, text: &str) {
        let (draft, file) = (self.path("draft"), self.path(name));
        fs::write(&draft, text).unwrap();
        let installed = Command::new("install").arg(draft).arg(file).status();
        assert!(installed.unwrap().success());
    }

    /// Copies the shell to a file with this name. With `recorded`, also writes a record of its
    /// link.
    fn tool(&self, name: &str, recorded: bool) -> String {
        let file = self.path(name);
        let copied = Command::new("cp").arg("/bin/sh").arg(&file).status();
        assert!(copied.unwrap().success());
        if recorded {
            let records = self.path(".deadheat/links");
            fs::create_dir_all(&records).unwrap();
            fs::write(records.join(format!("{name}.json")), "{}").unwrap();
        }
        file.display().to_string()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn lines(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.path(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn options(&self) -> RaceOptions {
        RaceOptions {
            arrangement: Arrangement::Turns,
            command: Vec::new(),
            save: Some(self.path("run.jsonl")),
            folder: PathBuf::new(),
            shown: 2,
            placements: Some(LinkProgram::new(self.path("helper"))),
            open: false,
            in_launches: false,
            commits: Vec::new(),
            until: None,
            use_of_plan: PlanUse::Race,
            conditions: Conditions::default(),
        }
    }

    /// Races this number of replicates: α is so small that no look ends the race.
    fn race(&self, replicates: u32, commands: &[String]) -> Result<Run, RaceError> {
        self.raced(replicates, commands, false)
    }

    fn raced(&self, replicates: u32, commands: &[String], control: bool) -> Result<Run, RaceError> {
        let spec = CommandRaceSpec {
            commands: commands.to_vec(),
            settings: RaceSettings {
                control: Some(control),
                max_replicates: Some(replicates),
                alpha: Some(1e-60),
                seed: Some(7),
                ..RaceSettings::default()
            },
            ..CommandRaceSpec::default()
        };
        let _ = fs::remove_file(self.path("run.jsonl"));
        let raced = race_commands(spec.plan().unwrap(), &self.options(), &mut Unwatched);
        raced.map(|RaceOutcome { run, .. }| run)
    }

    /// Returns a command of this tool that runs [`NOTE`].
    fn noting(&self, tool: &str) -> String {
        format!("{tool} -c 'cd {} && {NOTE}'", self.folder.path().display())
    }
}

/// The seeds of the links of one contender; 0 for the own link.
fn seeds(run: &Run, contender: usize) -> Vec<u32> {
    let seed = |placing: &Placing| match placing {
        Placing::Neutral(link) => link.seed,
        Placing::Own => 0,
    };
    run.placed
        .iter()
        .map(|placed| seed(&placed.contenders[contender]))
        .collect()
}

#[test]
fn each_replicate_starts_another_link_under_the_name_that_was_typed() {
    let track = Track::new(COPY);
    let [old, new] = ["old", "new"].map(|name| track.tool(name, true));
    let run = track
        .race(8, &[track.noting(&old), track.noting(&new)])
        .unwrap();
    assert!(run.placed.iter().all(|placed| placed.is_drawn(0, 1)));
    assert_eq!(run.placed.len(), 8);
    let links = &run.header.environment.neutral_links;
    let named: Vec<&str> = links
        .iter()
        .map(|links| links.executable.as_str())
        .collect();
    assert_eq!(named, [&old, &new]);
    assert_ne!(
        seeds(&run, 0),
        seeds(&run, 1),
        "two builds draw independently"
    );
    let own = run.header.plan.benchmarks[1].rerun.unwrap();
    assert_eq!((own.of, own.replicates), (0, 8));
    assert_eq!(run.benchmarks[1].blocks().len(), 8);

    // The warm-up and the rerun ran on the own link, and every block on the link of its replicate.
    let ran = track.lines("ran");
    for (contender, name) in [(0, "old"), (1, "new")] {
        let called = track.path(name).display().to_string();
        let mine = ran
            .iter()
            .filter(|line| line.ends_with(&format!(" {called}")));
        let files: Vec<&str> = mine.map(|line| line.split(' ').next().unwrap()).collect();
        let first = &files[0];
        assert_eq!(*first, called);
        let mut distinct: Vec<&str> = files.clone();
        distinct.dedup();
        let expected = seeds(&run, contender).into_iter();
        let expected =
            expected.map(|seed| format!("{}/links/{name}/{seed}", track.folder.path().display()));
        let expected: Vec<String> = [called.clone()]
            .into_iter()
            .chain(expected)
            .chain([called.clone()])
            .collect();
        assert_eq!(distinct, expected);
    }
    // deadheat asks once if there are links, then before each look for new links, and at the end
    // for the last link again, so that the script can delete the others.
    let asked = track.lines("asked");
    let words: Vec<usize> = asked
        .iter()
        .map(|line| line.split_whitespace().count() - 1)
        .collect();
    assert_eq!(words, [0, 0, 6, 6, 2, 2, 1, 1]);
    // The launcher already runs at this time, but has no children.
    let processes = track.lines("processes");
    assert!(processes.len() >= 4, "{processes:?}");
    assert!(
        processes.iter().all(|line| line.trim() == "child"),
        "{processes:?}"
    );
}

#[test]
fn a_control_draws_for_itself_unless_all_share_a_link() {
    let track = Track::new(COPY);
    let [old, new] = ["old", "new"].map(|name| track.tool(name, true));
    let builds = [track.noting(&old), track.noting(&new)];
    let run = track.raced(6, &builds, true).unwrap();
    let drawn = [0, 1, 2].map(|contender| seeds(&run, contender));
    assert!(drawn[0] != drawn[2] && drawn[1] != drawn[2], "{drawn:?}");
    // All contenders ran, each from its own link.
    let ran = track.lines("ran").join("\n");
    for seed in drawn[0].iter().chain(&drawn[2]) {
        assert!(
            ran.contains(&format!("/links/old/{seed} ")),
            "{seed}: {ran}"
        );
    }
    assert!(run.placed.iter().all(|placed| placed.is_drawn(0, 2)));
    assert!(
        run.header.plan.benchmarks[1].control,
        "on the own link, too"
    );

    let commands = [format!("{old} -c :"), format!("{old} -c 'true'")];
    let run = track.raced(6, &commands, true).unwrap();
    assert_eq!(seeds(&run, 0), seeds(&run, 2));
    let run = track.raced(6, &commands[..1], true).unwrap();
    assert_eq!(seeds(&run, 0), seeds(&run, 1), "a command against itself");
    assert_eq!(run.header.plan.own_link_of(0), None, "nothing to compare");
}

#[test]
fn builds_that_can_be_matched_share_the_seed_and_so_does_their_control() {
    let track = Track::new(COPY);
    let helper = fs::read_to_string(track.path("helper")).unwrap();
    let matched = r#"[ -n "$beside" ] && matched=',"matched":true'
set -- $seeds"#;
    track.install("helper", &helper.replace("set -- $seeds", matched));
    let [old, new] = ["old", "new"].map(|name| track.tool(name, true));
    let builds = [track.noting(&old), track.noting(&new)];
    let run = track.raced(6, &builds, true).unwrap();
    let drawn = [0, 1, 2].map(|contender| seeds(&run, contender));
    assert!(drawn.iter().all(|side| *side == drawn[0]), "{drawn:?}");
    assert!(run.placed.iter().all(|placed| placed.is_matched(0, 1)));
    // Each build ran from a link of its own file.
    let ran = track.lines("ran").join("\n");
    for (name, seed) in [("old", drawn[0][0]), ("new", drawn[1][0])] {
        assert!(ran.contains(&format!("/links/{name}/{seed} ")), "{ran}");
    }
}

#[test]
fn contenders_of_one_executable_share_its_link() {
    let track = Track::new(COPY);
    let tool = track.tool("tool", true);
    let commands = [format!("{tool} -c :"), format!("{tool} -c 'true'")];
    let run = track.race(6, &commands).unwrap();
    assert_eq!(seeds(&run, 0), seeds(&run, 1));
    let distinct: BTreeSet<u32> = seeds(&run, 0).into_iter().collect();
    assert_eq!(distinct.len(), 6);
    assert_eq!(track.lines("asked").len(), 3);
}

#[test]
fn where_no_record_lies_nobody_is_asked() {
    let track = Track::new(COPY);
    let tool = track.tool("tool", false);
    let shell = format!("sh -c '{tool} -c :'");
    let run = track.race(6, &[format!("{tool} -c :"), shell]).unwrap();
    assert!(track.lines("asked").is_empty() && run.placed.is_empty());
    assert!(run.header.environment.neutral_links.is_empty());
    assert_eq!(run.header.plan.benchmarks.len(), 1);
}

#[test]
fn a_contender_without_links_runs_beside_one_that_has_them() {
    let track = Track::new(COPY);
    let (old, new) = (track.tool("old", false), track.tool("new", true));
    let run = track
        .race(6, &[format!("{old} -c :"), format!("{new} -c :")])
        .unwrap();
    assert_eq!(seeds(&run, 0), [0; 6]);
    assert!(!seeds(&run, 1).contains(&0));
    assert_eq!(
        run.header.plan.benchmarks.len(),
        1,
        "nothing to set it beside"
    );
    assert!(run.placed.iter().all(|placed| placed.fallen_back.is_none()));
}

#[test]
fn a_link_that_crashes_when_it_is_tried_is_refused() {
    let crash =
        r#"printf '#!/bin/sh\nkill -SEGV $$\n' > "$links/$seed"; chmod +x "$links/$seed"; placed"#;
    let track = Track::new(&format!(
        "if [ $# = 6 ] && [ $seed = $1 ]; then {crash}; else {COPY}; fi"
    ));
    let tool = track.tool("tool", true);
    let command = format!("{tool} -c :");
    let run = track.race(6, &[command.clone(), command]).unwrap();
    assert!(run.placed.iter().all(|placed| placed.is_drawn(0, 1)));
    let refused = &run.placed[0].refused;
    assert_eq!(refused.len(), 1);
    assert!(refused[0].reason.contains("SIGSEGV"), "{refused:?}");
    let file = track.path("links/tool").join(refused[0].seed.to_string());
    assert!(
        refused[0].reason.contains(file.to_str().unwrap()),
        "{refused:?}"
    );
    assert_eq!(
        seeds(&run, 0),
        seeds(&run, 1),
        "both moved on to the next seed"
    );
}

#[test]
fn a_link_that_answers_otherwise_is_refused_where_outputs_are_compared() {
    let lie =
        r#"printf '#!/bin/sh\necho false\n' > "$links/$seed"; chmod +x "$links/$seed"; placed"#;
    let track = Track::new(&format!(
        "if [ $# = 6 ] && [ $seed = $1 ]; then {lie}; else {COPY}; fi"
    ));
    let tool = track.tool("tool", true);
    let command = format!("{tool} -c 'echo true'");
    let compared = CommandRaceSpec {
        commands: vec![command.clone(), command],
        settings: RaceSettings {
            max_replicates: Some(6),
            ..RaceSettings::default()
        },
        check_output: true,
        ..CommandRaceSpec::default()
    };
    let raced = race_commands(compared.plan().unwrap(), &track.options(), &mut Unwatched);
    let run = raced.unwrap().run;
    assert!(run.placed.iter().all(|placed| placed.is_drawn(0, 1)));
    let refused = &run.placed[0].refused;
    assert_eq!(refused.len(), 1, "{refused:?}");
    let reason = &refused[0].reason;
    for told in [
        "does not print the same output",
        "line 1",
        "\"false\"",
        "\"true\"",
        "/links/tool/",
    ] {
        assert!(reason.contains(told), "{told}: {reason}");
    }
}

#[test]
fn a_link_that_crashes_in_a_block_ends_the_race_and_is_named() {
    // The first launch of a link is its trial. The third launch of every link fails.
    let crash = r#"printf '#!/bin/sh\necho x >> %s; [ $(wc -l < %s) -lt 3 ]\n' "$links/$seed.n" "$links/$seed.n" > "$links/$seed"; chmod +x "$links/$seed"; placed"#;
    let track = Track::new(crash);
    let tool = track.tool("tool", true);
    let error = track
        .race(6, &[format!("{tool} -c :"), "true".to_owned()])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("slot") && error.contains("the neutral link of seed"),
        "{error}"
    );
    assert!(error.contains("--placement own"), "{error}");
}

#[test]
fn a_command_that_fails_on_every_link_is_not_blamed_on_them() {
    let track = Track::new(COPY);
    let tool = track.tool("tool", true);
    // The command fails after the warm-up.
    let count = track.path("count");
    let command = format!(
        "{tool} -c 'echo x >> {0}; [ $(wc -l < {0}) -lt 2 ]'",
        count.display()
    );
    let error = track
        .race(6, &[command, "true".to_owned()])
        .unwrap_err()
        .to_string();
    assert!(error.contains("exited with code 1"), "{error}");
    assert!(!error.contains("neutral link"), "{error}");
}

#[test]
fn what_stands_beside_may_fail_alone() {
    let track = Track::new(COPY);
    let tool = track.tool("tool", true);
    // On the own link, the command works in the warm-up of the race, and fails later.
    let count = track.path("count");
    let command = format!(
        r#"{tool} -c 'case $(readlink /proc/$$/exe) in *links*) exit 0; esac; echo x >> {0}; [ $(wc -l < {0}) -lt 3 ]'"#,
        count.display()
    );
    let run = track.race(6, &[command.clone(), command]).unwrap();
    assert_eq!(run.benchmarks[0].blocks().len(), 6);
    let failed: Vec<usize> = run
        .failures
        .iter()
        .map(|failure| failure.benchmark)
        .collect();
    assert_eq!(failed, [1]);
}

#[test]
fn a_run_taken_up_again_goes_on_with_links_nobody_had() {
    let track = Track::new(COPY);
    let tool = track.tool("tool", true);
    let command = format!("{tool} -c :");
    let before = track.race(6, &[command.clone(), command]).unwrap();
    let resume = |track: &Track| {
        let options = ResumeOptions {
            more: 3,
            shown: 2,
            placements: track.options().placements,
            ..ResumeOptions::default()
        };
        let path = track.path("run.jsonl");
        resume_race(&path, &options, &mut Unwatched).unwrap().run
    };
    let run = resume(&track);
    let all = seeds(&run, 0);
    assert_eq!(all.len(), 9);
    assert_eq!(all[..6], seeds(&before, 0));
    let distinct: BTreeSet<u32> = all.iter().copied().collect();
    assert_eq!(distinct.len(), 9);
    assert!(!distinct.contains(&0));
    assert_eq!(run.benchmarks[1].blocks().len(), 6, "nothing more beside");
    // If the record of the link is missing, the remaining replicates run on the own link, and the
    // run records the reason.
    fs::remove_dir_all(track.path(".deadheat")).unwrap();
    let run = resume(&track);
    assert_eq!(seeds(&run, 0)[9..], [0, 0, 0]);
    assert!(run.placed[9].fallen_back.is_some());
}
