//! The races that the options of builds describe.

use std::path::{Path, PathBuf};

use deadheat::parts::exit::Failure;
use deadheat::parts::model::Arrangement;
use deadheat::parts::settings::Front;
use deadheat::parts::{BenchmarkRace, RaceOutcome, Resumable, ResumeOptions, begun_part};

use crate::bench_options::BenchOptions;
use crate::races::{again, conditions_of_part, go_on_with_part, placements, resume};

impl BenchOptions {
    /// Continues a recorded race of programs. `trusted` allows a file of another user or machine.
    pub fn resume(&self, path: &Path, trusted: bool) -> Result<RaceOutcome, Failure> {
        let how = ResumeOptions {
            budget: self.design.0.budget,
            timeout: self.design.0.timeout(Front::Bench),
            programs_shown: self.nocapture,
            trusted,
            placements: placements(self.rules.settings().placement),
            ..ResumeOptions::default()
        };
        let programs = [Resumable::Workers, Resumable::Harness];
        resume(
            path,
            &programs,
            self.design.0.max_replicates,
            how,
            self.quiet,
        )
    }

    /// Finishes a part of a race that was begun earlier, and returns its outcome. Returns `None` if
    /// the part was not begun.
    pub fn begun_part(&self, race: &BenchmarkRace) -> Result<Option<RaceOutcome>, Failure> {
        let save = self.save.as_deref();
        let Some(begun) = begun_part(save, race.settings.part(), &race.command)? else {
            return Ok(None);
        };
        let how = ResumeOptions {
            timeout: race.settings.timeout(Front::Bench),
            programs_shown: self.nocapture,
            placements: race.placements.clone(),
            ..ResumeOptions::default()
        };
        go_on_with_part(save, &begun, how, self.quiet).map(Some)
    }

    /// Returns the race of benchmarks that these options describe.
    pub fn race(&self) -> BenchmarkRace {
        let mut settings = self.rules.seeded();
        // Side by side, benchmarks are judged by CPU time instead of wall time. Races of a history
        // or a search are compared with each other, so all of them take turns.
        if self.history || self.until.is_some() {
            settings.arrangement.get_or_insert(Arrangement::Turns);
        }
        BenchmarkRace {
            command: self.again.clone().unwrap_or_else(|| again(settings.seed())),
            program: None,
            shown: self.nocapture,
            placements: placements(settings.placement),
            builds: self.builds.clone(),
            surroundings: self.surroundings.clone(),
            commits: self.commits.clone(),
            until: self.until.clone(),
            use_of_plan: self.use_of_plan,
            conditions: conditions_of_part(&settings),
            settings,
            save: self.save.clone(),
            folder: PathBuf::new(),
        }
    }
}
