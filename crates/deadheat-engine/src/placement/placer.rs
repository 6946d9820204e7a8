//! Makes the neutral links of one executable, or of matched builds, before each interim analysis,
//! and draws their seeds.

use deadheat_model::RefusedLink;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::helper::{Answer, Helper};
use crate::error::EngineError;
use crate::executable::{Executable, Hold, Variant};
use crate::interrupt::Interrupts;
use crate::random::{Purpose, below, stream};

/// The number of successive refused links of one replicate after which the race falls back to the
/// user's own link.
const MOST_REFUSALS: u32 = 3;
/// The number of links made at a time after the last planned interim analysis.
const AT_A_TIME: u32 = 8;

/// The links of an executable, or of several matched builds: one per build and replicate. All
/// benchmarks of the run share them.
#[derive(Debug)]
pub(crate) struct Placer {
    helper: Helper,
    /// Builds of one program, which share one seed in each replicate.
    sides: Vec<Side>,
    /// True if the code that all sides share has the same addresses in all their links.
    matched: bool,
    looks: Vec<u32>,
    seeds: Seeds,
    links: ByReplicate<Vec<Variant>>,
    /// The number of successive refused links, by replicate.
    refusals: ByReplicate<u32>,
    /// Refused links that are not recorded yet, with their sides.
    findings: ByReplicate<Vec<(usize, RefusedLink)>>,
    fallen_back: Option<String>,
    /// The seed of the links that were raced last.
    last: Option<u32>,
}

#[derive(Debug)]
struct Side {
    executable: Executable,
    /// The record from which links were made when the race began.
    record: String,
    /// Keeps the links on disk until the race ends.
    hold: Option<Hold>,
}

impl Placer {
    /// Creates a placer for executables, each with its record. `looks` are the ascending numbers of
    /// replicates at which the race may stop. `place` identifies these executables among those of
    /// the run.
    pub(crate) fn new(
        helper: Helper,
        executables: Vec<(Executable, String)>,
        looks: Vec<u32>,
        (seed, place): (u64, [u64; 3]),
        matched: bool,
    ) -> Self {
        let side = |(executable, record): (Executable, String)| Side {
            hold: executable.hold_links(),
            executable,
            record,
        };
        Self {
            helper,
            matched,
            sides: executables.into_iter().map(side).collect(),
            seeds: Seeds::new(seed, place, looks.last().copied().unwrap_or(0)),
            looks,
            links: ByReplicate::new(),
            refusals: ByReplicate::new(),
            findings: ByReplicate::new(),
            fallen_back: None,
            last: None,
        }
    }

    /// Returns the neutral link of a side in a replicate; `None` if the race runs on the link that
    /// the user made. If the neutral link does not exist yet, this makes it and the links of all
    /// replicates up to the next interim analysis, and returns after the linker has ended.
    pub(crate) fn link(
        &mut self,
        replicate: u32,
        side: usize,
        interrupts: &Interrupts,
    ) -> Result<Option<Variant>, EngineError> {
        while self.fallen_back.is_none() && self.links.get(replicate).is_none() {
            self.make(replicate, interrupts)?;
        }
        let links = self.links.get(replicate);
        let link = links.and_then(|links| links.get(side)).cloned();
        self.last = link
            .as_ref()
            .map_or(self.last, |variant| Some(variant.link.seed));
        Ok(link)
    }

    /// Discards the link of a side that failed its trial. All sides of the replicate get another
    /// seed.
    pub(crate) fn refuse(&mut self, replicate: u32, side: usize, reason: String) {
        let links = self.links.remove(replicate);
        if let Some(variant) = links.as_ref().and_then(|links| links.get(side)) {
            let seed = variant.link.seed;
            self.note(replicate, side, RefusedLink { seed, reason });
        }
    }

    /// Falls back to the user's own link from the start, for a resumed race whose executable lost
    /// its links.
    pub(crate) fn without_links(mut self, reason: String) -> Self {
        self.fall_back(0, reason);
        self
    }

    /// Returns the reason why the race runs on the user's own link from some replicate on.
    pub(crate) fn fallen_back(&self) -> Option<&str> {
        self.fallen_back.as_deref()
    }

    /// Removes and returns the refused links of a side in a replicate.
    pub(crate) fn take_refused(&mut self, replicate: u32, side: usize) -> Vec<RefusedLink> {
        let all = self.findings.remove(replicate).unwrap_or_default();
        let (told, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|(of, _)| *of == side);
        if !others.is_empty() {
            self.findings.insert(replicate, others);
        }
        told.into_iter().map(|(_, refused)| refused).collect()
    }

    /// Restores the seed of a replicate of a resumed run.
    #[cfg(feature = "commands")]
    pub(crate) fn remember(&mut self, replicate: u32, seed: u32) {
        self.seeds.give(replicate, seed);
    }

    /// Excludes the seed of a refused link of a resumed run.
    #[cfg(feature = "commands")]
    pub(crate) fn strike(&mut self, seed: u32) {
        self.seeds.use_up(seed);
    }

    /// Makes the race run on the user's own link from this replicate on.
    pub(super) fn fall_back(&mut self, replicate: u32, reason: String) {
        self.fallen_back = Some(reason);
        self.links.forget_from(replicate);
    }

    /// From now on links each side independently, and resets the counts of refusals.
    fn give_up_matching(&mut self) {
        self.matched = false;
        self.refusals = ByReplicate::new();
    }

    /// Makes all missing links from `replicate` up to the next interim analysis.
    fn make(&mut self, replicate: u32, interrupts: &Interrupts) -> Result<(), EngineError> {
        let next_look = self.looks.iter().find(|at| **at > replicate).copied();
        let end = next_look.unwrap_or(replicate.saturating_add(AT_A_TIME));
        let missing: Vec<u32> = (replicate..end)
            .filter(|replicate| self.links.get(*replicate).is_none())
            .collect();
        let seeds: Vec<u32> = missing.iter().map(|r| self.seeds.of(*r)).collect();
        let mut made: Vec<Vec<Result<Variant, RefusedLink>>> = Vec::new();
        let mut broken = None;
        for side in 0..self.sides.len() {
            if let Err(reason) = self.sides[side].executable.check() {
                self.fall_back(replicate, reason);
                return Ok(());
            }
            let answer = self.ask(side, &seeds, interrupts)?;
            match answer.links {
                Err(reason) => {
                    self.fall_back(replicate, reason);
                    return Ok(());
                }
                Ok(links) if links.record != self.sides[side].record => {
                    let file = self.sides[side].executable.path.display();
                    let reason = format!("'{file}' was linked again during the race");
                    self.fall_back(replicate, reason);
                    return Ok(());
                }
                Ok(links)
                    if self.matched && self.sides.len() > 1 && links.matched != Some(Ok(())) =>
                {
                    self.give_up_matching();
                    return Ok(());
                }
                Ok(_) => made.push(answer.made),
            }
            broken = broken.or(answer.broken);
        }
        let matched = self.matched;
        for (index, replicate) in missing.iter().enumerate() {
            if self.fallen_back.is_some() || self.matched != matched {
                return Ok(());
            }
            // Only links that the helper made for every side.
            let of_sides: Option<Vec<_>> = made.iter().map(|made| made.get(index)).collect();
            let Some(of_sides) = of_sides else { break };
            let refused = of_sides.iter().position(|made| made.is_err());
            let variants: Result<Vec<Variant>, &RefusedLink> = of_sides
                .into_iter()
                .map(|made| {
                    let mut variant = made.as_ref()?.clone();
                    variant.link.matched = matched;
                    Ok(variant)
                })
                .collect();
            match variants {
                Ok(variants) => self.links.insert(*replicate, variants),
                Err(link) => {
                    let link = link.clone();
                    self.note(*replicate, refused.unwrap_or_default(), link);
                }
            }
        }
        if let Some(reason) = broken {
            let first = missing.iter().find(|r| self.links.get(**r).is_none());
            self.fall_back(first.copied().unwrap_or(end), reason);
        }
        Ok(())
    }

    fn ask(
        &self,
        side: usize,
        seeds: &[u32],
        interrupts: &Interrupts,
    ) -> Result<Answer, EngineError> {
        let is_beside = |(index, _): &(usize, &Side)| self.matched && *index != side;
        let others = self.sides.iter().enumerate().filter(is_beside);
        let others = others.map(|(_, other)| &other.executable);
        let executable = &self.sides[side].executable;
        self.helper.ask(executable, others, seeds, interrupts)
    }

    fn note(&mut self, replicate: u32, side: usize, refused: RefusedLink) {
        let count = self.refusals.or_default(replicate);
        *count += 1;
        if *count < MOST_REFUSALS {
            self.seeds.replace(replicate);
        } else if self.matched {
            self.give_up_matching();
            self.seeds.replace(replicate);
        } else {
            let reason = format!(
                "{count} neutral links in a row were refused for replicate {replicate}; the last \
                 one, with seed {}: {}",
                refused.seed, refused.reason
            );
            self.fall_back(replicate, reason);
        }
        self.findings.or_default(replicate).push((side, refused));
    }
}

impl Drop for Placer {
    /// Asks the helper once more for the links that were raced last. The helper keeps these,
    /// because an error message may name them, and deletes the other links that no race holds.
    fn drop(&mut self) {
        for side in &mut self.sides {
            drop(side.hold.take());
        }
        if let Some(seed) = self.last
            && let Ok(interrupts) = Interrupts::install()
        {
            for side in 0..self.sides.len() {
                // Links that remain after a failure are deleted by the next race.
                let _ = self.ask(side, &[seed], &interrupts);
            }
        }
    }
}

/// The largest seed of a neutral link; the smallest is 1. Two runs hardly ever draw the same seed,
/// and people can still read the seeds.
///
/// Earlier, all runs drew from the same 64 seeds to reuse the links of earlier runs. Of eleven
/// races of a program against itself, five then found a slowdown: the 64 layouts were 0.33% off the
/// mean of all layouts, and every run saw the same 64.
const LARGEST: u64 = 999_999_999;

#[derive(Clone, Debug)]
struct Seeds {
    rng: Xoshiro256PlusPlus,
    /// The seeds drawn in advance for the planned replicates.
    planned: Vec<u32>,
    /// The current seed of each replicate.
    given: ByReplicate<u32>,
    /// All seeds in use or used before, ascending.
    used: Vec<u32>,
}

impl Seeds {
    /// Draws the seeds of the executable, or matched builds, at `place`. Unmatched builds have
    /// different places and so draw independently.
    fn new(seed: u64, place: [u64; 3], max_replicates: u32) -> Self {
        let mut seeds = Self {
            rng: stream(seed, Purpose::Placement, place),
            planned: Vec::new(),
            given: ByReplicate::new(),
            used: Vec::new(),
        };
        for _ in 0..max_replicates {
            let next = seeds.draw();
            seeds.planned.push(next);
        }
        seeds
    }

    fn of(&mut self, replicate: u32) -> u32 {
        if let Some(seed) = self.given.get(replicate) {
            return *seed;
        }
        let planned = self.planned.get(replicate as usize).copied();
        let seed = planned
            .filter(|seed| !self.is_used(*seed))
            .unwrap_or_else(|| self.draw());
        self.give(replicate, seed);
        seed
    }

    fn replace(&mut self, replicate: u32) {
        let seed = self.draw();
        self.give(replicate, seed);
    }

    /// Assigns a seed to a replicate and excludes it from later draws.
    fn give(&mut self, replicate: u32, seed: u32) {
        self.given.insert(replicate, seed);
        self.use_up(seed);
    }

    fn is_used(&self, seed: u32) -> bool {
        self.used.binary_search(&seed).is_ok()
    }

    fn use_up(&mut self, seed: u32) {
        if let Err(place) = self.used.binary_search(&seed) {
            self.used.insert(place, seed);
        }
    }

    /// Draws a seed that is neither used nor planned.
    fn draw(&mut self) -> u32 {
        loop {
            let seed = 1 + below(&mut self.rng, LARGEST) as u32;
            if !self.is_used(seed) && !self.planned.contains(&seed) {
                return seed;
            }
        }
    }
}

/// A map from replicates to values: a sorted vector with binary search. Each value type of a
/// `BTreeMap` costs eight thousand lines of LLVM IR, an eighth of this crate.
#[derive(Clone, Debug)]
struct ByReplicate<T>(Vec<(u32, T)>);

impl<T> ByReplicate<T> {
    fn new() -> Self {
        Self(Vec::new())
    }

    fn place(&self, replicate: u32) -> Result<usize, usize> {
        self.0.binary_search_by_key(&replicate, |(of, _)| *of)
    }

    fn get(&self, replicate: u32) -> Option<&T> {
        let place = self.place(replicate).ok()?;
        Some(&self.0[place].1)
    }

    fn insert(&mut self, replicate: u32, value: T) {
        match self.place(replicate) {
            Ok(place) => self.0[place].1 = value,
            Err(place) => self.0.insert(place, (replicate, value)),
        }
    }

    /// Returns the value of a replicate, inserting the default if there is none.
    fn or_default(&mut self, replicate: u32) -> &mut T
    where
        T: Default,
    {
        let place = self.place(replicate).unwrap_or_else(|place| {
            self.0.insert(place, (replicate, T::default()));
            place
        });
        &mut self.0[place].1
    }

    fn remove(&mut self, replicate: u32) -> Option<T> {
        let place = self.place(replicate).ok()?;
        Some(self.0.remove(place).1)
    }

    /// Removes the values of this replicate and all later ones.
    fn forget_from(&mut self, replicate: u32) {
        let end = self.0.partition_point(|(of, _)| *of < replicate);
        self.0.truncate(end);
    }
}

#[cfg(test)]
mod tests {
    use super::super::helper::LinkProgram;
    use super::*;
    use std::fs;
    use std::time::Duration;

    /// A helper whose replies a shell script prints. The script receives the seeds in `$@` and logs
    /// them in `asked`.
    struct Scripted {
        folder: tempfile::TempDir,
        interrupts: Interrupts,
        patience: Duration,
    }

    const LINKS: &str = r#"echo '{"links":{"linker":"L","record":"0"}}'"#;
    const PLACE_ALL: &str = r#"for seed; do echo '{"placed":{"seed":'$seed',"executable":"/v/'$seed'","hash":"0"}}'; done"#;
    const REFUSE_ALL: &str =
        r#"for seed; do echo '{"refused":{"seed":'$seed',"reason":"too far"}}'; done"#;

    impl Scripted {
        fn new() -> Self {
            Self {
                folder: tempfile::tempdir().unwrap(),
                interrupts: Interrupts::install().unwrap(),
                patience: Duration::from_secs(60),
            }
        }

        fn placer(&self, script: &str) -> Placer {
            let file = self.folder.path().join("helper");
            let asked = self.folder.path().join("asked");
            let asked = asked.display();
            let text = format!("#!/bin/sh\nshift 2\necho \"$@\" >> {asked}\n{script}\n");
            // Another process makes the file executable: `execve` fails with ETXTBSY while this
            // process, or a child of another test, has it open for writing.
            let draft = self.folder.path().join("draft");
            fs::write(&draft, text).unwrap();
            let mut install = std::process::Command::new("install");
            assert!(install.arg(&draft).arg(&file).status().unwrap().success());
            let program = LinkProgram {
                executable: file.clone(),
                patience: self.patience,
                matching: true,
            };
            let executable = Executable::at(&file).unwrap();
            let sides = vec![(executable, "0".to_owned())];
            Placer::new(
                Helper::new(program),
                sides,
                vec![6, 8, 11],
                (7, [0, 0, 0]),
                false,
            )
        }

        fn asked(&self) -> Vec<Vec<u32>> {
            let text = fs::read_to_string(self.folder.path().join("asked")).unwrap_or_default();
            let seeds = |line: &str| line.split(' ').map(|seed| seed.parse().unwrap()).collect();
            text.lines().map(seeds).collect()
        }

        fn seed(&self, placer: &mut Placer, replicate: u32) -> Option<u32> {
            let link = placer.link(replicate, 0, &self.interrupts).unwrap();
            link.map(|variant| variant.link.seed)
        }
    }

    #[test]
    fn links_are_made_up_to_the_next_look_in_one_go() {
        let scripted = Scripted::new();
        let mut placer = scripted.placer(&format!("{LINKS}; {PLACE_ALL}"));
        let seeds: Vec<u32> = (0..8)
            .map(|replicate| scripted.seed(&mut placer, replicate).unwrap())
            .collect();
        let asked = scripted.asked();
        assert_eq!(asked.len(), 2, "{asked:?}");
        assert_eq!(asked.concat(), seeds);
        assert_eq!(asked[0].len(), 6);
        let after_all_looks = scripted.seed(&mut placer, 11).unwrap();
        assert!(!seeds.contains(&after_all_looks));
        assert_eq!(scripted.seed(&mut placer, 3), Some(seeds[3]), "kept");
        assert_eq!(scripted.asked().len(), 3);
    }

    #[test]
    fn a_refused_link_is_replaced_and_told_once() {
        let scripted = Scripted::new();
        // Refuses the first seed of the first call.
        let refuse_one = format!(
            r#"if [ $# = 6 ]; then echo '{{"refused":{{"seed":'$1',"reason":"too far"}}}}'; shift; fi; {PLACE_ALL}"#
        );
        let mut placer = scripted.placer(&format!("{LINKS}; {refuse_one}"));
        let seed = scripted.seed(&mut placer, 0).unwrap();
        let asked = scripted.asked();
        assert_eq!((asked.len(), &asked[1]), (2, &vec![seed]));
        assert_ne!(asked[0][0], seed);
        let refused = placer.take_refused(0, 0);
        assert_eq!((refused.len(), refused[0].seed), (1, asked[0][0]));
        assert!(placer.take_refused(0, 0).is_empty());
        assert_eq!(placer.fallen_back(), None);
    }

    #[test]
    fn three_refusals_in_a_row_are_enough() {
        let scripted = Scripted::new();
        let mut placer = scripted.placer(&format!("{LINKS}; {REFUSE_ALL}"));
        assert_eq!(scripted.seed(&mut placer, 0), None);
        assert_eq!(scripted.asked().len(), 3);
        let reason = placer.fallen_back().unwrap();
        assert!(
            reason.contains("replicate 0") && reason.contains("too far"),
            "{reason}"
        );
        assert_eq!(placer.take_refused(0, 0).len(), 3);
    }

    #[test]
    fn a_link_that_fails_its_trial_is_refused_like_any_other() {
        let scripted = Scripted::new();
        let mut placer = scripted.placer(&format!("{LINKS}; {PLACE_ALL}"));
        for round in 0..3 {
            assert!(scripted.seed(&mut placer, 2).is_some(), "round {round}");
            placer.refuse(2, 0, format!("crash {round}"));
        }
        assert_eq!(scripted.seed(&mut placer, 2), None);
        assert!(placer.fallen_back().unwrap().contains("crash 2"));
        assert_eq!(placer.take_refused(2, 0).len(), 3);
        assert_eq!(scripted.seed(&mut placer, 3), None, "nobody after it");
        let earlier = scripted.seed(&mut placer, 1);
        assert_eq!(earlier, None, "never made, and none is made any more");
    }

    #[test]
    fn links_that_were_there_before_a_failure_are_kept() {
        let scripted = Scripted::new();
        let dies = r#"if [ $# = 2 ]; then echo 'disk full' >&2; exit 1; fi"#;
        let mut placer = scripted.placer(&format!("{LINKS}; {dies}; {PLACE_ALL}"));
        let seed = scripted.seed(&mut placer, 0);
        assert!(seed.is_some());
        assert_eq!(scripted.seed(&mut placer, 6), None);
        let reason = placer.fallen_back().unwrap();
        assert!(reason.contains("code 1: disk full"), "{reason}");
        assert_eq!(scripted.seed(&mut placer, 0), seed);
        assert_eq!(scripted.seed(&mut placer, 9), None);
        assert_eq!(scripted.asked().len(), 2, "nobody is asked again");
    }

    #[test]
    fn a_helper_that_breaks_in_any_way_leaves_the_own_link() {
        for (script, named) in [
            ("echo bang", "'bang'"),
            ("exit 0", "printed nothing"),
            ("kill -9 $$", "SIGKILL"),
            (r#"echo '{"impossible":{"reason":"no lld"}}'"#, "no lld"),
            (
                r#"echo '{"links":{"linker":"L","record":"1"}}'"#,
                "linked again",
            ),
        ] {
            let scripted = Scripted::new();
            let mut placer = scripted.placer(script);
            assert_eq!(scripted.seed(&mut placer, 0), None);
            let reason = placer.fallen_back().unwrap();
            assert!(reason.contains(named), "{script}: {reason}");
        }
    }

    #[test]
    fn a_helper_that_hangs_or_is_missing_leaves_the_own_link() {
        let scripted = Scripted {
            patience: Duration::from_millis(200),
            ..Scripted::new()
        };
        let mut placer = scripted.placer("sleep 1000");
        assert_eq!(scripted.seed(&mut placer, 0), None);
        assert!(
            placer
                .fallen_back()
                .unwrap()
                .contains("printed nothing for")
        );
        let mut placer = scripted.placer(LINKS);
        placer.helper = Helper::new(LinkProgram::new("/nowhere/deadheat".into()));
        assert_eq!(scripted.seed(&mut placer, 0), None);
        let reason = placer.fallen_back().unwrap();
        assert!(reason.contains("/nowhere/deadheat"), "{reason}");
        assert!(reason.contains("cannot be started"), "{reason}");
    }

    #[test]
    fn an_executable_that_was_replaced_is_not_linked_any_more() {
        let scripted = Scripted::new();
        let mut placer = scripted.placer(&format!("{LINKS}; {PLACE_ALL}"));
        assert!(scripted.seed(&mut placer, 0).is_some());
        let file = scripted.folder.path().join("helper");
        fs::write(&file, "#!/bin/sh\nexit 0").unwrap();
        assert_eq!(scripted.seed(&mut placer, 6), None);
        assert!(placer.fallen_back().unwrap().contains("was replaced"));
    }
    use std::collections::BTreeSet;

    fn first(seeds: &mut Seeds, count: u32) -> Vec<u32> {
        (0..count).map(|replicate| seeds.of(replicate)).collect()
    }

    #[test]
    fn every_replicate_has_a_seed_and_no_two_the_same() {
        for most in [6, 40, 64, 100] {
            let seeds = first(&mut Seeds::new(7, [0, 0, 0], most), most);
            let distinct: BTreeSet<u32> = seeds.iter().copied().collect();
            assert_eq!(distinct.len(), most as usize);
            let largest = LARGEST as u32;
            assert!(distinct.iter().all(|seed| (1..=largest).contains(seed)));
        }
    }

    #[test]
    fn the_seed_of_the_run_decides_and_executables_draw_independently() {
        let draw = |seed, place| first(&mut Seeds::new(seed, place, 40), 40);
        assert_eq!(draw(7, [0, 0, 0]), draw(7, [0, 0, 0]));
        for other in [draw(8, [0, 0, 0]), draw(7, [0, 1, 0])] {
            let ours = draw(7, [0, 0, 0]);
            assert!(ours.iter().all(|seed| !other.contains(seed)));
        }
    }

    #[test]
    fn a_replaced_seed_takes_nobody_elses_place() {
        let untouched = first(&mut Seeds::new(7, [0, 0, 0], 40), 40);
        let mut seeds = Seeds::new(7, [0, 0, 0], 40);
        let refused = seeds.of(3);
        seeds.replace(3);
        let seeds = first(&mut seeds, 40);
        for (replicate, seed) in untouched.iter().enumerate() {
            assert_eq!(seeds[replicate] == *seed, replicate != 3);
        }
        assert!(!seeds.contains(&refused));
    }

    #[test]
    fn seeds_never_run_out() {
        let mut seeds = Seeds::new(7, [0, 0, 0], 64);
        let mut seen: BTreeSet<u32> = first(&mut seeds, 64).into_iter().collect();
        for _ in 0..100 {
            seeds.replace(5);
            assert!(seen.insert(seeds.of(5)));
        }
        assert!(seen.insert(seeds.of(64)), "a replicate nobody planned");
    }

    #[cfg(feature = "commands")]
    #[test]
    fn what_an_earlier_sitting_used_is_not_drawn_again() {
        let mut seeds = Seeds::new(7, [0, 0, 0], 40);
        let theirs = seeds.clone().of(1);
        seeds.give(0, theirs);
        seeds.use_up(seeds.clone().of(2));
        let seeds = first(&mut seeds, 40);
        assert_eq!(seeds[0], theirs);
        let distinct: BTreeSet<u32> = seeds.iter().copied().collect();
        assert_eq!(distinct.len(), 40);
    }

    #[test]
    fn values_are_found_replaced_and_forgotten_whatever_their_order() {
        let mut values = ByReplicate::new();
        for replicate in [7, 2, 9, 4] {
            values.insert(replicate, replicate * 10);
        }
        values.insert(4, 1);
        *values.or_default(5) += 3;
        *values.or_default(9) += 3;
        assert_eq!(values.0, [(2, 20), (4, 1), (5, 3), (7, 70), (9, 93)]);
        assert_eq!((values.get(7), values.get(8)), (Some(&70), None));
        assert_eq!((values.remove(4), values.remove(4)), (Some(1), None));
        values.forget_from(6);
        assert_eq!(values.0, [(2, 20), (5, 3)]);
    }
}
