//! Races two builds on neutral links. A script replaces the linker, and copies the executable
//! or refuses to.
#![cfg(target_os = "linux")]

mod track;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use deadheat::parts::model::{NeutralLink, Placed, Placing, Run};

use track::{Finished, Track, example};

/// Shell code of a script that makes matched links if deadheat names the other build.
const MATCHED: &str = r#"[ -n "$beside" ] && matched=',"matched":true'"#;

/// Shell code that makes the link of one seed. `$exe`, `$name` and `$links` are set.
const COPY: &str = r#"cp "$exe" "$links/$name-$seed"; placed"#;

/// Returns a track with two builds, the records of their links, and a script that makes links. The
/// script runs `before` once per call, and `for_each` for every seed.
fn linked(before: &str, for_each: &str) -> Track {
    let track = Track::new();
    let folder = track.path("");
    let folder = folder.display();
    let script = format!(
        r#"#!/bin/sh
[ "$1" = placements ] || exit 64
exe=$2
name=$(basename "$exe")
shift 2
seeds= beside= matched=
while [ $# -gt 0 ]; do
  case $1 in --beside) beside=$2; shift;; *) seeds="$seeds $1";; esac
  shift
done
set -- $seeds
links={folder}/links
mkdir -p "$links"
echo "$name $@" >> {folder}/asked
placed() {{ echo '{{"placed":{{"seed":'$seed',"executable":"'$links/$name-$seed'","hash":"00'$seed'"}}}}'; }}
refused() {{ echo '{{"refused":{{"seed":'$seed',"reason":"the jump is too far"}}}}'; }}
{before}
echo '{{"links":{{"executable":"x","linker":"COPIED 1","record":"00","unsectioned":[]'$matched'}}}}'
for seed; do
{for_each}
done
"#
    );
    fs::write(track.path("draft"), script).unwrap();
    install(&track.path("draft"), &track.path("helper"));
    for name in ["old", "new"] {
        install(&example("misbehaving"), &track.path(name));
        record(&track, name);
    }
    track
}

/// Copies by another process, because a child of another test could have the file open, and then it
/// could not be started.
fn install(draft: &Path, file: &Path) {
    let installed = Command::new("install").arg(draft).arg(file).status();
    assert!(installed.unwrap().success());
}

/// Writes a record of the link, so that neutral links can be made.
fn record(track: &Track, name: &str) {
    fs::create_dir_all(track.path(".deadheat/links")).unwrap();
    fs::write(track.path(&format!(".deadheat/links/{name}.json")), "{}").unwrap();
}

fn race(track: &Track, old: &str, new: &str) -> Finished {
    raced(track, "--placements", old, new)
}

/// Races with the script; `helped` is the option that names it.
fn raced(track: &Track, helped: &str, old: &str, new: &str) -> Finished {
    let helper = track.path("helper");
    let options = ["--max-replicates", "8", "--blocks", "2", "--alpha", "1e-60"];
    let made_by = ["--save", "run.jsonl", helped, helper.to_str().unwrap()];
    let sides = ["+", "fine/work@once", old, "vs", new];
    track.run(&[&["race"], &options[..], &made_by, &sides].concat())
}

fn link(placing: &Placing) -> Option<&NeutralLink> {
    match placing {
        Placing::Neutral(link) => Some(link),
        Placing::Own => None,
    }
}

/// The seeds of the links of one side; 0 for the own link.
fn seeds(run: &Run, side: usize) -> Vec<u32> {
    let of_side = |placed: &Placed| link(&placed.contenders[side]).map_or(0, |link| link.seed);
    run.placed.iter().map(of_side).collect()
}

#[test]
fn each_build_draws_links_of_its_own_and_the_own_links_stand_beside() {
    let track = linked("", COPY);
    let told = race(&track, "./old", "./new").ends_with(0);
    let run = told.run.as_ref().unwrap();
    assert_eq!(run.placed.len(), 8, "{told:?}");
    let (old, new) = (seeds(run, 0), seeds(run, 1));
    let distinct: BTreeSet<u32> = old.iter().chain(&new).copied().collect();
    assert_eq!(distinct.len(), 16, "{old:?} {new:?}");
    assert!(!distinct.contains(&0));
    assert_eq!(run.header.environment.neutral_links.len(), 2);
    let own = run.header.plan.benchmarks[1].rerun.unwrap();
    assert_eq!((own.of, own.replicates), (0, 6));
    let replicates = |at: usize| run.benchmarks[at].blocks().last().unwrap().replicate + 1;
    assert_eq!((replicates(0), replicates(1)), (8, 6));
    // Before each look, deadheat asks for the links of both builds, one after the other.
    let asked = fs::read_to_string(track.path("asked")).unwrap();
    let asked: Vec<(&str, usize)> = asked
        .lines()
        .map(|line| (&line[..3], line.split_whitespace().count() - 1))
        .collect();
    let calls = [
        ("old", 0),
        ("new", 0),
        ("old", 6),
        ("new", 6),
        ("old", 2),
        ("new", 2),
        // At the end, it asks for the last link again, so that the script can delete the others.
        ("old", 1),
        ("new", 1),
    ];
    assert_eq!(asked, calls);
}

/// Returns true if the builds of every replicate ran on matched links of the same seed, and false
/// if those of no replicate did.
fn are_matched(run: &Run) -> bool {
    let matched: Vec<bool> = run.placed.iter().map(|one| one.is_matched(0, 1)).collect();
    assert!(matched.iter().all(|one| *one == matched[0]), "{matched:?}");
    assert_eq!(seeds(run, 0) == seeds(run, 1), matched[0]);
    matched[0]
}

#[test]
fn builds_that_can_be_matched_share_the_seed_of_every_replicate() {
    let track = linked(MATCHED, COPY);
    let told = race(&track, "./old", "./new").ends_with(0);
    let run = told.run.as_ref().unwrap();
    assert!(are_matched(run), "{told:?}");
    let distinct: BTreeSet<u32> = seeds(run, 0).into_iter().collect();
    assert_eq!(distinct.len(), 8);
    let facts = &run.header.environment.neutral_links;
    assert!(facts.iter().all(|links| links.is_matched()), "{facts:?}");
    // After a resume, they still share the seed.
    let helper = track.path("helper");
    let told = track.run(&["resume", "run.jsonl", "3", helper.to_str().unwrap()]);
    let run = told.ends_with(0).run.unwrap();
    assert_eq!(run.placed.len(), 11);
    assert!(are_matched(&run));
}

#[test]
fn workers_of_matched_builds_are_loaded_at_fixed_addresses_and_no_others() {
    // The link is a script that records its personality, then starts the build.
    let noting = r#"printf '#!/bin/sh\ncat /proc/self/personality >>%s/../noted\nexec %s "$@"\n' "$links" "$exe" >"$links/$name-$seed"
chmod +x "$links/$name-$seed"
placed"#;
    // The personality of this test's processes, and the one with fixed addresses if it may be set.
    let plain = fs::read_to_string("/proc/self/personality").unwrap();
    let mut setarch = Command::new("setarch");
    let fixed = setarch.args(["-R", "cat", "/proc/self/personality"]);
    let fixed = match fixed.output().unwrap() {
        allowed if allowed.status.success() => String::from_utf8(allowed.stdout).unwrap(),
        _ => plain.clone(),
    };
    for (before, expected) in [(MATCHED, &fixed), ("", &plain)] {
        let track = linked(before, noting);
        let told = race(&track, "./old", "./new").ends_with(0);
        let run = told.run.as_ref().unwrap();
        assert_eq!(are_matched(run), before == MATCHED, "{told:?}");
        let noted = fs::read_to_string(track.path("noted")).unwrap();
        assert_eq!(noted.lines().count(), 16, "{noted}");
        assert!(noted.lines().all(|one| one == expected.trim()), "{noted}");
        let facts = &run.header.environment.neutral_links;
        let random = before == MATCHED && fixed == plain;
        assert!(facts.iter().all(|links| links.random_addresses == random));
    }
}

#[test]
fn builds_draw_each_for_itself_when_asked_to() {
    let track = linked(MATCHED, COPY);
    let told = raced(&track, "--independently", "./old", "./new").ends_with(0);
    let run = told.run.as_ref().unwrap();
    assert!(!are_matched(run), "{told:?}");
    let facts = &run.header.environment.neutral_links;
    assert!(facts.iter().all(|links| links.matched.is_none()));
}

#[test]
fn where_one_build_cannot_be_matched_none_is_and_the_reason_is_kept() {
    let before =
        format!(r#"{MATCHED}; [ $name = new ] && matched=',"unmatched":"mold takes no order"'"#);
    let track = linked(&before, COPY);
    let told = race(&track, "./old", "./new").ends_with(0);
    let run = told.run.as_ref().unwrap();
    assert!(!are_matched(run), "{told:?}");
    assert!(!seeds(run, 0).contains(&0), "still neutral");
    let no = Some(Err("mold takes no order".to_owned()));
    let facts = &run.header.environment.neutral_links;
    assert!(facts.iter().all(|links| links.matched == no), "{facts:?}");
    told.tells("could not be placed at the same addresses (mold takes no order)");
}

#[test]
fn a_link_refused_on_one_side_is_replaced_on_both_where_they_are_matched() {
    let refuse = format!(
        "if [ $name = new ] && [ $# = 6 ] && [ $seed = $1 ]; then refused; else {COPY}; fi"
    );
    let track = linked(MATCHED, &refuse);
    let told = race(&track, "./old", "./new").ends_with(0);
    let run = told.run.as_ref().unwrap();
    assert!(are_matched(run), "{told:?}");
    let [refused] = &run.placed[0].refused[..] else {
        panic!("{told:?}");
    };
    assert_eq!(refused.reason, "'new': the jump is too far");
    assert_ne!(refused.seed, seeds(run, 0)[0]);
}

#[test]
fn a_matched_link_that_breaks_the_build_loaded_last_takes_the_other_along() {
    let crash = format!(
        r#"if [ $# = 6 ] && [ $seed = $1 ] && [ $name = old ]
then
    echo '#!/bin/sh' > "$links/draft"; echo 'exit 9' >> "$links/draft"
    install "$links/draft" "$links/$name-$seed"; placed
else {COPY}; fi"#
    );
    // The result must not depend on which build is loaded first.
    for name in ["old", "new"] {
        let track = linked(MATCHED, &crash.replace("= old", &format!("= {name}")));
        let told = race(&track, "./old", "./new").ends_with(0);
        let run = told.run.as_ref().unwrap();
        assert!(are_matched(run), "{told:?}");
        assert_eq!(run.placed[0].refused.len(), 1, "{told:?}");
    }
}

#[test]
fn matched_links_that_are_refused_again_and_again_give_way_to_plain_ones() {
    let refuse = format!("if [ -n \"$matched\" ]; then refused; else {COPY}; fi");
    let track = linked(MATCHED, &refuse);
    let told = race(&track, "./old", "./new").ends_with(0);
    let run = told.run.as_ref().unwrap();
    assert!(
        run.placed
            .iter()
            .all(|one| one.is_drawn(0, 1) && !one.is_matched(0, 1))
    );
    told.tells("could not be placed at the same addresses ('old': the jump is too far)");
}

#[test]
fn a_race_that_is_taken_up_again_keeps_its_links_and_draws_new_ones_for_what_follows() {
    let track = linked("", COPY);
    let before = race(&track, "./old", "./new").ends_with(0).run.unwrap();
    let helper = track.path("helper");
    let helper = helper.to_str().unwrap();
    let resumed = || {
        let told = track
            .run(&["resume", "run.jsonl", "3", helper])
            .ends_with(0);
        told.run.unwrap()
    };
    let run = resumed();
    let blocks = |run: &Run, at: usize| run.benchmarks[at].blocks().to_vec();
    assert_eq!(blocks(&run, 0)[..16], blocks(&before, 0));
    assert_eq!(blocks(&run, 0).last().unwrap().replicate, 10);
    assert_eq!(blocks(&run, 1), blocks(&before, 1), "nothing more beside");
    for side in 0..2 {
        let all = seeds(&run, side);
        assert_eq!(all[..8], seeds(&before, side));
        let distinct: BTreeSet<u32> = all.iter().copied().collect();
        assert_eq!((all.len(), distinct.len()), (11, 11), "{all:?}");
        assert!(!distinct.contains(&0));
    }
    // Without the records, the remaining replicates have no links, and the run records the reason.
    fs::remove_dir_all(track.path(".deadheat")).unwrap();
    let run = resumed();
    assert_eq!(seeds(&run, 0)[11..], [0, 0, 0]);
    let reason = run.placed[11].fallen_back.as_deref().unwrap();
    assert!(reason.contains("can no longer be made"), "{reason}");
    // A rebuilt program must not continue the run.
    let mut other = fs::read(track.path("new")).unwrap();
    other.push(0);
    fs::write(track.path("new"), other).unwrap();
    let told = track
        .run(&["resume", "run.jsonl", "3", helper])
        .ends_with(4);
    told.tells("run.jsonl was made with other files: 'new' has different bytes here");
}

#[test]
fn a_race_of_builds_as_they_were_linked_gets_no_links_when_it_is_taken_up() {
    let track = linked("", COPY);
    fs::remove_dir_all(track.path(".deadheat")).unwrap();
    race(&track, "./old", "./new").ends_with(0);
    ["old", "new"].iter().for_each(|name| record(&track, name));
    let helper = track.path("helper");
    let told = track.run(&["resume", "run.jsonl", "3", helper.to_str().unwrap()]);
    let run = told.ends_with(0).run.unwrap();
    assert_eq!(run.benchmarks[0].blocks().last().unwrap().replicate, 10);
    assert!(run.placed.is_empty(), "{:?}", run.placed);
}

#[test]
fn a_control_has_a_process_of_its_own_and_is_matched_like_a_build() {
    let track = linked(MATCHED, COPY);
    let helper = track.path("helper");
    let options = ["--max-replicates", "6", "--blocks", "2", "--control", "yes"];
    let made_by = [
        "--save",
        "run.jsonl",
        "--placements",
        helper.to_str().unwrap(),
    ];
    let sides = ["+", "fine/work@once", "./old", "vs", "./new"];
    let told = track.run(&[&["race"], &options[..], &made_by, &sides].concat());
    let told = told.ends_with(0);
    let run = told.run.as_ref().unwrap();
    let drawn = [0, 1, 2].map(|side| seeds(run, side));
    assert!(drawn.iter().all(|side| *side == drawn[0]), "{drawn:?}");
    let contenders = run.placed[0].contenders.len();
    assert_eq!((contenders, run.placed.len()), (3, 6));
    assert!(
        run.header.plan.benchmarks[1].control,
        "on the own link, too"
    );
    // The facts are of two files, although one of them is raced twice.
    assert_eq!(run.header.environment.neutral_links.len(), 2);
}

#[test]
fn one_file_on_both_sides_is_matched_with_itself_or_placed_twice() {
    for (option, matched) in [("--placements", true), ("--independently", false)] {
        let track = linked("", COPY);
        let told = raced(&track, option, "./old", "./old").ends_with(0);
        let run = told.run.as_ref().unwrap();
        assert_eq!(are_matched(run), matched, "{told:?}");
        assert_eq!(run.header.environment.neutral_links.len(), 1, "{told:?}");
    }
}

#[test]
fn a_link_refused_on_one_side_is_replaced_there_and_told_with_the_side() {
    let refuse = format!(
        "if [ $name = new ] && [ $# = 6 ] && [ $seed = $1 ]; then refused; else {COPY}; fi"
    );
    let track = linked("", &refuse);
    let told = race(&track, "./old", "./new").ends_with(0);
    let run = told.run.as_ref().unwrap();
    assert!(
        !seeds(run, 0).contains(&0) && !seeds(run, 1).contains(&0),
        "{told:?}"
    );
    let [refused] = &run.placed[0].refused[..] else {
        panic!("{told:?}");
    };
    assert_eq!(refused.reason, "'new': the jump is too far");
    assert_ne!(refused.seed, seeds(run, 1)[0]);
    assert!(
        run.placed[1..]
            .iter()
            .all(|placed| placed.refused.is_empty())
    );
}

#[test]
fn a_link_that_breaks_one_side_is_refused_there() {
    let crash = format!(
        r#"if [ $name = old ] && [ $# = 6 ] && [ $seed = $1 ]
then
    echo '#!/bin/sh' > "$links/draft"; echo 'exit 9' >> "$links/draft"
    install "$links/draft" "$links/$name-$seed"; placed
else {COPY}; fi"#
    );
    let track = linked("", &crash);
    let told = race(&track, "./old", "./new").ends_with(0);
    let run = told.run.as_ref().unwrap();
    let [refused] = &run.placed[0].refused[..] else {
        panic!("{told:?}");
    };
    let reason = &refused.reason;
    assert!(
        reason.contains("'old' ended its process with exit code 9"),
        "{reason}"
    );
    assert!(
        reason.contains("this does not happen with your own link"),
        "{reason}"
    );
    assert!(!seeds(run, 0).contains(&0), "{told:?}");
}

#[test]
fn where_one_build_has_no_links_a_verdict_speaks_of_the_binaries() {
    let track = linked("", COPY);
    fs::remove_file(track.path(".deadheat/links/old.json")).unwrap();
    let told = race(&track, "./old", "./new").ends_with(0);
    let run = told.run.as_ref().unwrap();
    assert!(seeds(run, 0).iter().all(|seed| *seed == 0), "{told:?}");
    assert!(!seeds(run, 1).contains(&0), "{told:?}");
    assert_eq!(run.header.environment.neutral_links.len(), 2);
    told.tells("Not every replicate ran on neutral links")
        .tells("it has no link record next to it");
}

#[test]
fn builds_without_a_record_are_raced_as_they_are() {
    let track = linked("", COPY);
    fs::remove_dir_all(track.path(".deadheat")).unwrap();
    let told = race(&track, "./old", "./new").ends_with(0);
    let run = told.run.as_ref().unwrap();
    assert!(run.placed.is_empty() && run.header.environment.neutral_links.is_empty());
    assert_eq!(run.header.plan.benchmarks.len(), 1);
    assert!(!track.path("asked").exists());
}

#[test]
fn a_helper_that_fails_for_one_build_costs_links_and_not_the_race() {
    let track = linked("[ $name = new ] && [ $# != 0 ] && exit 1", COPY);
    let told = race(&track, "./old", "./new").ends_with(0);
    let run = told.run.as_ref().unwrap();
    assert!(!seeds(run, 0).contains(&0), "{told:?}");
    assert!(seeds(run, 1).iter().all(|seed| *seed == 0), "{told:?}");
    let why = run.placed[0].fallen_back.as_deref().unwrap_or_default();
    assert!(why.starts_with("'new': "), "{why}");
}
