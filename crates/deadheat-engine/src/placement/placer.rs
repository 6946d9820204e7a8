//! The neutral links of one executable, ready ahead of each look.

use deadheat_model::RefusedLink;

use super::by_replicate::ByReplicate;
use super::executable::{Executable, Hold};
use super::helper::Helper;
use super::seeds::Seeds;
use super::variant::Variant;
use crate::error::EngineError;
use crate::interrupt::Interrupts;

/// Refusals in a row after which a replicate, and with it the race, falls back
/// to the user's own link.
const MOST_REFUSALS: u32 = 3;
/// Links made at a time when there is no planned look ahead.
const AT_A_TIME: u32 = 8;

/// One link per replicate of an executable. All benchmarks of the run share
/// them.
#[derive(Debug)]
pub(crate) struct Placer {
    helper: Helper,
    executable: Executable,
    /// What the links were made from when the race began.
    record: String,
    looks: Vec<u32>,
    seeds: Seeds,
    links: ByReplicate<Variant>,
    /// How often in a row a replicate's link was refused.
    refusals: ByReplicate<u32>,
    /// Refused links that nobody has been told of.
    findings: ByReplicate<Vec<RefusedLink>>,
    fallen_back: Option<String>,
    /// The seed of the link that was raced last.
    last: Option<u32>,
    /// Keeps the links where they are until the race is over.
    hold: Option<Hold>,
}

impl Placer {
    /// `looks` are the numbers of replicates at which a race may be called,
    /// rising; `place` tells this executable from the others of the run.
    pub(crate) fn new(
        helper: Helper,
        executable: Executable,
        record: &str,
        looks: Vec<u32>,
        seed: u64,
        place: [u64; 3],
    ) -> Self {
        Self {
            helper,
            hold: executable.hold_links(),
            executable,
            record: record.to_owned(),
            seeds: Seeds::new(seed, place, looks.last().copied().unwrap_or(0)),
            looks,
            links: ByReplicate::new(),
            refusals: ByReplicate::new(),
            findings: ByReplicate::new(),
            fallen_back: None,
            last: None,
        }
    }

    /// The link of a replicate; `None` when the race runs on the user's own.
    /// One that is not there yet is made together with all others up to the
    /// next look, and no linker runs any more when this returns.
    pub(crate) fn link(
        &mut self,
        replicate: u32,
        interrupts: &Interrupts,
    ) -> Result<Option<Variant>, EngineError> {
        while self.fallen_back.is_none() && self.links.get(replicate).is_none() {
            self.make(replicate, interrupts)?;
        }
        let link = self.links.get(replicate).cloned();
        self.last = link
            .as_ref()
            .map_or(self.last, |variant| Some(variant.link.seed));
        Ok(link)
    }

    /// The link of a replicate came to nothing when it was tried; the next one
    /// asked for has another seed.
    pub(crate) fn refuse(&mut self, replicate: u32, reason: String) {
        if let Some(variant) = self.links.remove(replicate) {
            let seed = variant.link.seed;
            self.note(replicate, RefusedLink { seed, reason });
        }
    }

    /// An executable that had links when the race began, and has none now that
    /// it is taken up again.
    #[cfg(feature = "commands")]
    pub(crate) fn without_links(mut self, reason: String) -> Self {
        self.fall_back(0, reason);
        self
    }

    /// Why the race runs on the user's own link from some replicate on.
    pub(crate) fn fallen_back(&self) -> Option<&str> {
        self.fallen_back.as_deref()
    }

    /// Links that were refused for a replicate, told once.
    pub(crate) fn take_refused(&mut self, replicate: u32) -> Vec<RefusedLink> {
        self.findings.remove(replicate).unwrap_or_default()
    }

    /// What is known from before the run was taken up again: a replicate has
    /// this seed.
    #[cfg(feature = "commands")]
    pub(crate) fn remember(&mut self, replicate: u32, seed: u32) {
        self.seeds.give(replicate, seed);
    }

    /// And this seed came to nothing.
    #[cfg(feature = "commands")]
    pub(crate) fn strike(&mut self, seed: u32) {
        self.seeds.strike(seed);
    }

    /// Runs on the user's own link from this replicate on.
    fn fall_back(&mut self, replicate: u32, reason: String) {
        self.fallen_back = Some(reason);
        self.links.forget_from(replicate);
    }

    /// One round: everything that is missing up to the next look.
    fn make(&mut self, replicate: u32, interrupts: &Interrupts) -> Result<(), EngineError> {
        let next_look = self.looks.iter().find(|at| **at > replicate).copied();
        let end = next_look.unwrap_or(replicate.saturating_add(AT_A_TIME));
        let missing: Vec<u32> = (replicate..end)
            .filter(|replicate| self.links.get(*replicate).is_none())
            .collect();
        let seeds: Vec<u32> = missing.iter().map(|r| self.seeds.of(*r)).collect();
        if let Err(reason) = self.executable.check() {
            self.fall_back(replicate, reason);
            return Ok(());
        }
        let answer = self.helper.ask(&self.executable, &seeds, interrupts)?;
        let broken = match answer.links {
            Err(reason) => Some(reason),
            Ok(links) if links.record != self.record => Some(format!(
                "'{}' was linked anew while it was raced",
                self.executable.path.display()
            )),
            Ok(_) => {
                for (replicate, made) in missing.iter().zip(answer.made) {
                    if self.fallen_back.is_some() {
                        return Ok(());
                    }
                    match made {
                        Ok(variant) => {
                            self.links.insert(*replicate, variant);
                        }
                        Err(refused) => self.note(*replicate, refused),
                    }
                }
                answer.broken
            }
        };
        if let Some(reason) = broken {
            let first = missing.iter().find(|r| self.links.get(**r).is_none());
            self.fall_back(first.copied().unwrap_or(end), reason);
        }
        Ok(())
    }

    fn note(&mut self, replicate: u32, refused: RefusedLink) {
        let count = self.refusals.or_default(replicate);
        *count += 1;
        if *count >= MOST_REFUSALS {
            let reason = format!(
                "{count} neutral links in a row were refused for replicate {replicate}; the last, \
                 of seed {}: {}",
                refused.seed, refused.reason
            );
            self.fall_back(replicate, reason);
        } else {
            self.seeds.replace(replicate);
        }
        self.findings.or_default(replicate).push(refused);
    }
}

impl Drop for Placer {
    /// Asks once more for the link that was raced last, which a failure may have named, upon
    /// which the program clears away those that nobody races.
    fn drop(&mut self) {
        drop(self.hold.take());
        if let Some(seed) = self.last
            && let Ok(interrupts) = Interrupts::install()
        {
            // What stays now goes with the next race.
            let _ = self.helper.ask(&self.executable, &[seed], &interrupts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::helper::LinkProgram;
    use super::*;
    use std::fs;
    use std::time::Duration;

    /// A helper that says what a script prints, which is told seeds by `$@`,
    /// and notes them in `asked`.
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
            // Made executable by another process: a file that this one has
            // open, or a child of another test, cannot be started.
            let draft = self.folder.path().join("draft");
            fs::write(&draft, text).unwrap();
            let mut install = std::process::Command::new("install");
            assert!(install.arg(&draft).arg(&file).status().unwrap().success());
            let program = LinkProgram {
                executable: file.clone(),
                patience: self.patience,
            };
            let executable = Executable::at(&file).unwrap();
            Placer::new(
                Helper::new(program),
                executable,
                "0",
                vec![6, 8, 11],
                7,
                [0, 0, 0],
            )
        }

        fn asked(&self) -> Vec<Vec<u32>> {
            let text = fs::read_to_string(self.folder.path().join("asked")).unwrap_or_default();
            let seeds = |line: &str| line.split(' ').map(|seed| seed.parse().unwrap()).collect();
            text.lines().map(seeds).collect()
        }

        fn seed(&self, placer: &mut Placer, replicate: u32) -> Option<u32> {
            let link = placer.link(replicate, &self.interrupts).unwrap();
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
        // The first of the first call is refused.
        let refuse_one = format!(
            r#"if [ $# = 6 ]; then echo '{{"refused":{{"seed":'$1',"reason":"too far"}}}}'; shift; fi; {PLACE_ALL}"#
        );
        let mut placer = scripted.placer(&format!("{LINKS}; {refuse_one}"));
        let seed = scripted.seed(&mut placer, 0).unwrap();
        let asked = scripted.asked();
        assert_eq!((asked.len(), &asked[1]), (2, &vec![seed]));
        assert_ne!(asked[0][0], seed);
        let refused = placer.take_refused(0);
        assert_eq!((refused.len(), refused[0].seed), (1, asked[0][0]));
        assert!(placer.take_refused(0).is_empty());
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
        assert_eq!(placer.take_refused(0).len(), 3);
    }

    #[test]
    fn a_link_that_fails_its_trial_is_refused_like_any_other() {
        let scripted = Scripted::new();
        let mut placer = scripted.placer(&format!("{LINKS}; {PLACE_ALL}"));
        for round in 0..3 {
            assert!(scripted.seed(&mut placer, 2).is_some(), "round {round}");
            placer.refuse(2, format!("crash {round}"));
        }
        assert_eq!(scripted.seed(&mut placer, 2), None);
        assert!(placer.fallen_back().unwrap().contains("crash 2"));
        assert_eq!(placer.take_refused(2).len(), 3);
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
            ("exit 0", "says nothing"),
            ("kill -9 $$", "SIGKILL"),
            (r#"echo '{"impossible":{"reason":"no lld"}}'"#, "no lld"),
            (
                r#"echo '{"links":{"linker":"L","record":"1"}}'"#,
                "linked anew",
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
        assert!(placer.fallen_back().unwrap().contains("said nothing for"));
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
}
