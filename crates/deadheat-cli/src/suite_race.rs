//! The choice of the pytest suite that both sides of a race of revisions run.

use deadheat::parts::engine::Inspected;
use deadheat::parts::exit::Failure;
use deadheat::parts::inspect_program;
use deadheat::parts::model::{Program, SharedSuite};
use deadheat::parts::settings::{Front, Selection};
use deadheat_build::{
    BenchesFrom, BorrowedSuite, Executable, Recipe, Revisions, Side, Sides, changed_suite,
};
use deadheat_options::bench_options::BenchOptions;
use deadheat_options::repository::{asking, failure, here};

use crate::build_options::word_for_head;

/// A race of the pytest suites of two revisions.
pub struct SuiteRace<'a> {
    pub recipe: &'a Recipe,
    /// The paths of the tests.
    pub tests: &'a [String],
    /// The arguments of the workers.
    pub arguments: &'a [String],
    pub revisions: &'a Revisions,
}

impl SuiteRace<'_> {
    /// Gives both sides the suite of the side that `benches` names. Without a choice, both get the
    /// candidate's suite if pytest then still collects on the baseline every benchmark that both
    /// sides have; otherwise each side keeps its own suite. Suites that do not differ are left
    /// alone.
    pub fn settle(
        &self,
        sides: &mut Sides,
        benches: Option<BenchesFrom>,
        options: &mut BenchOptions,
    ) -> Result<(), Failure> {
        let files = self.differing_files(sides)?;
        if files.is_empty() {
            return Ok(());
        }
        options.surroundings.benches_from = Some(word_for_head(self.revisions).to_owned());
        let (giver, taker) = match benches {
            Some(BenchesFrom::Own) => return Ok(()),
            Some(BenchesFrom::Baseline) => (&sides.baseline, &sides.candidate),
            Some(BenchesFrom::Candidate) | None => (&sides.candidate, &sides.baseline),
        };
        let directory = here()?;
        let borrowed = asking(|stop| {
            let borrowed = taker.borrow_suite(giver, self.tests, &directory, stop);
            borrowed.map_err(failure)
        })?;
        if benches.is_none() && !self.fits(sides, &borrowed, options)? {
            return Ok(());
        }
        options.surroundings.suite = Some(SharedSuite {
            side: giver.name.clone(),
            files,
        });
        match benches {
            Some(BenchesFrom::Baseline) => sides.candidate.adopt(borrowed),
            _ => sides.baseline.adopt(borrowed),
        }
        Ok(())
    }

    fn differing_files(&self, sides: &Sides) -> Result<Vec<String>, Failure> {
        let both = [&sides.baseline, &sides.candidate];
        let directory = here()?;
        let changed =
            asking(|stop| changed_suite(&directory, both, self.recipe, stop).map_err(failure))?;
        let shown = changed.iter().map(|file| file.path.display().to_string());
        Ok(shown.collect())
    }

    /// Returns true if the baseline, with the candidate's suite, has every benchmark that both
    /// sides have with their own suites.
    fn fits(
        &self,
        sides: &Sides,
        borrowed: &BorrowedSuite,
        options: &BenchOptions,
    ) -> Result<bool, Failure> {
        let own = |side: &Side| side.executables.first().cloned();
        let (Some(old), Some(new)) = (own(&sides.baseline), own(&sides.candidate)) else {
            return Ok(false);
        };
        let selection = options.selection();
        let names = |executable: &Executable| self.names(executable, &selection, options);
        let Some(in_new) = names(&new)? else {
            return Ok(false);
        };
        let Some(with_new) = names(&borrowed.executable)? else {
            return Ok(false);
        };
        if in_new.iter().all(|name| with_new.contains(name)) {
            return Ok(true);
        }
        // A new benchmark may need new code of the library, so only benchmarks of both sides count.
        let Some(in_old) = names(&old)? else {
            return Ok(false);
        };
        let mut in_both = in_new.iter().filter(|name| in_old.contains(name));
        Ok(in_both.clone().next().is_some() && in_both.all(|name| with_new.contains(name)))
    }

    /// Returns the names of a worker's selected benchmarks, or `None` if the worker cannot list its
    /// benchmarks.
    fn names(
        &self,
        worker: &Executable,
        selection: &Selection,
        options: &BenchOptions,
    ) -> Result<Option<Vec<String>>, Failure> {
        let program = Program {
            executable: worker.path.clone(),
            arguments: self.arguments.to_vec(),
            directory: worker.directory.clone(),
        };
        let patience = options.rules.settings().timeout(Front::Bench);
        match inspect_program(&program, None, options.nocapture, patience) {
            Ok(Inspected::Worker(listing)) => {
                let names = listing.benchmarks.into_iter().map(|one| one.name);
                Ok(Some(names.filter(|name| selection.names(name)).collect()))
            }
            Err(error @ deadheat::parts::RaceError::Interrupted { .. }) => Err(error.into()),
            Ok(Inspected::Harness(_)) | Err(_) => Ok(None),
        }
    }
}
