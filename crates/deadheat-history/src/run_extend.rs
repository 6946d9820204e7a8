//! `deadheat history extend`, which races the commits of a range until each race is precise enough
//! for the levels.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use deadheat::parts::analysis::measured_effects;
use deadheat::parts::answer::to_stdout;
use deadheat::parts::engine::{Clock as _, Interrupts, OsClock};
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::model::{MeasuredEffect, Until, fnv1a, in_one_line, without_help};
use deadheat::parts::report::units::{counted, waiting};
use deadheat::parts::report::{escape_message, first_of};
use deadheat::parts::terminal::{self, to_stderr};
use deadheat::parts::{PlanUse, RaceOutcome, overrun};
use deadheat_build::{BuildError, CommitBuilder, CommitInfo, Interruption, Recipe, Side};
use deadheat_options::bench_options::BenchOptions;
use deadheat_options::build_race::FailedTarget;
use deadheat_options::commit_race::race_sides;
use deadheat_options::repository::{ends, failure, here, interrupts};

use crate::command::ExtendArgs;
use crate::files_store::StoredRun;
use crate::links::Links;
use crate::row::unmeasured;
use crate::run_index::Adding;

/// The target for the standard error of a race, as a share of the margin. A difference as large as
/// the margin is then four standard errors from 0.
const OF_MARGIN: f64 = 0.25;

/// The largest number of builds that are protected at once against removal by later builds.
const MOST_BUILT: usize = 64;

impl ExtendArgs {
    /// Reads the rules file, and refuses options that do not apply to a series of races.
    fn settle(&mut self) -> Result<(), Failure> {
        let refused = |flag: &str, why: &str| Err(Failure::Usage(format!("{flag}: {why}")));
        self.race.select();
        let many =
            "not possible here: deadheat history extend runs many races, each with its own file";
        if self.race.options.save.is_some() {
            return refused("--save", many);
        }
        self.race.options.exports.refuse(many)?;
        if self.race.options.list {
            return refused("--list", "deadheat rev lists the benchmarks of two commits");
        }
        let design = &self.race.options.design.0;
        if design.shard.is_some() {
            return refused(
                "--shard",
                "each host extends its own history; add the runs of all hosts to one index",
            );
        }
        if design.confirm.is_some_and(|confirm| confirm) {
            return refused(
                "--confirm",
                "not needed: deadheat history tests whether the races between commits agree, such as \
                 the races A-B, B-C and A-C of three commits",
            );
        }
        if let Some(flag) = self.race.options.answer.gate_flag() {
            return refused(
                flag,
                "deadheat history check fails on steps, which more than one race shows",
            );
        }
        if self.spans.contains(&0) || self.max_span == Some(0) {
            return refused("--spans", "the distance of two commits is at least 1");
        }
        self.race.options.use_of_plan = PlanUse::Race;
        self.race.options.read_rules()
    }

    /// Returns a hash of the options that decide what is raced: the builds, the benchmarks, and the
    /// judged metric. Options that only change the precision do not count.
    /// `arguments` are those of the programs that race.
    fn selection(&self, recipe: &Recipe, arguments: &[String]) -> String {
        let settings = self.race.options.rules.settings();
        let judged = (
            settings.metric,
            settings.callgrind,
            settings.quantile,
            settings.placement,
            settings.waiting,
        );
        let options = &self.race.options;
        let raced = (
            recipe,
            arguments,
            &self.race.cargo,
            options.selection(),
            &options.harness,
            judged,
        );
        format!("{:016x}", fnv1a(format!("{raced:?}").bytes()))
    }

    /// Returns the allowed spans of links, in commits; empty for all.
    fn spans(&self, commits: usize) -> Vec<usize> {
        let doubled = std::iter::successors(Some(1_usize), |span| span.checked_mul(2));
        match self.max_span {
            Some(most) => doubled
                .take_while(|span| *span <= most.min(commits))
                .collect(),
            None => self.spans.clone(),
        }
    }
}

/// Races links until all are done, the time budget is spent, or the user interrupts.
pub fn extend(mut args: ExtendArgs) -> Result<Status, Failure> {
    args.settle()?;
    let (old, new) = ends(&args.range, "OLD..NEW")?;
    let recipe = args.race.recipe()?;
    let interrupts = interrupts()?;
    let is_interrupted = || interrupts.requested().is_some();
    let commit_builder = CommitBuilder::open(&here()?, &recipe, Interruption(&is_interrupted));
    let commit_builder = commit_builder.map_err(failure)?;
    let range = commit_builder
        .range(old, new, args.parents.of_each())
        .map_err(failure)?;
    let mut commits = vec![range.good];
    commits.extend(range.commits);
    if commit_builder.clean_head().map_err(failure)?.is_none() {
        let text = "uncommitted changes are ignored: each commit is built from its own files";
        to_stderr("deadheat", text);
    }
    let links = Links::new(commits.len(), &args.spans(commits.len()));
    let arguments = args.race.arguments();
    let selection = args.selection(&recipe, &arguments);
    args.race.options.surroundings.selection = Some(selection.clone());
    let mut extension = Extension {
        target: OF_MARGIN * margin(&args.race.options),
        adding: Adding::new(&args.index)?,
        clock: OsClock::start(),
        commit_builder,
        recipe: &recipe,
        commits,
        links,
        arguments,
        selection,
        built: BTreeMap::new(),
        broken: BTreeMap::new(),
        unraced: Vec::new(),
        raced: 0,
        failed: 0,
        unmeasured: BTreeSet::new(),
        known: 0,
        noted: BTreeSet::new(),
        args: &args,
        interrupts: &interrupts,
    };
    extension.note_known()?;
    extension.run()
}

/// The largest number of benchmarks that a message names.
const MOST_NAMED: usize = 5;

/// Returns the margin as a logarithm.
fn margin(options: &BenchOptions) -> f64 {
    options.rules.settings().margin().ln_1p()
}

struct Extension<'a> {
    args: &'a ExtendArgs,
    interrupts: &'a Interrupts,
    commit_builder: CommitBuilder<'a>,
    recipe: &'a Recipe,
    /// The commits of the range, oldest first.
    commits: Vec<CommitInfo>,
    links: Links,
    arguments: Vec<String>,
    /// A hash of the options that decide what is raced.
    selection: String,
    adding: Adding,
    /// The standard error at which a race ends, as a logarithm of a ratio.
    target: f64,
    clock: OsClock,
    /// Builds of commits with remaining links. Builds in this map are protected against removal.
    built: BTreeMap<usize, Side>,
    /// Commits that do not build, by their number in the range, with the reason.
    broken: BTreeMap<usize, String>,
    /// Pairs of commits that could not be raced, as `OLD..NEW`.
    unraced: Vec<String>,
    raced: usize,
    /// The number of races in which a benchmark failed.
    failed: usize,
    /// The benchmarks that a race did not measure.
    unmeasured: BTreeSet<String>,
    known: usize,
    /// Pairs of commits that were looked up in the index.
    noted: BTreeSet<(usize, usize)>,
}

impl Extension<'_> {
    /// Skips the pairs of commits whose races in the index are precise enough: the largest standard
    /// error of a benchmark, over all races of the pair with the same selection, is at most the
    /// target, and the latest of these races measured all its benchmarks.
    fn note_known(&mut self) -> Result<(), Failure> {
        for link in self.links.all() {
            if !self.noted.insert(link) {
                continue;
            }
            let [old, new] = [link.0, link.1].map(|number| &*self.commits[number].id);
            let Some(worst) = self.adding.error_between(old, new, &self.selection)? else {
                continue;
            };
            let is_enough = worst <= self.target;
            self.known += usize::from(is_enough);
            self.links.raced(link, worst, is_enough);
        }
        Ok(())
    }

    fn run(mut self) -> Result<Status, Failure> {
        let rules = &self.args.race.options.rules;
        if let Some(origin) = rules.origin() {
            to_stderr("deadheat: history", &origin);
        }
        let budget = rules.settings().budget;
        self.say(&format!(
            "{} of {} planned, {} already precise enough; each race ends at a standard error of \
             {:.2}%",
            counted(self.links.left() as u64, "race", "races"),
            counted(self.commits.len() as u64, "commit", "commits"),
            self.known,
            100.0 * self.target.exp_m1(),
        ));
        let (mut stopped, mut slowest_build) = (None, Duration::ZERO);
        while let Some(link) = self.links.most_telling() {
            let is_spent = || budget.is_some_and(|budget| self.spent() >= budget);
            if is_spent() {
                break;
            }
            let began = self.spent();
            let built = self.build_both(link);
            slowest_build = slowest_build.max(self.spent().saturating_sub(began));
            match built {
                Ok(true) => {}
                Ok(false) => {
                    self.note_known()?;
                    continue;
                }
                Err(BuildError::Interrupted) => {
                    stopped = self.interrupts.requested();
                    break;
                }
                Err(error) => return Err(failure(error)),
            }
            let left = budget.map(|budget| budget.saturating_sub(self.spent()));
            if left.is_some_and(|left| left.is_zero()) {
                break;
            }
            let mut options = self.args.race.options.clone();
            options.design.0.budget = left;
            options.read_rules()?;
            // A race ends by its error and not by its verdict. If it ended at the first significant
            // difference, that difference would be overestimated, and the levels would add up these
            // overestimates.
            let target = self.target;
            options.until = Some(Until::new(move |_, found: MeasuredEffect| {
                found.se <= target
            }));
            let both = [&self.built[&link.0], &self.built[&link.1]];
            match race_sides(both, Vec::new(), &self.arguments, options) {
                Ok((outcome, failed_targets)) => {
                    stopped = outcome.interrupted();
                    self.keep(link, &outcome, &failed_targets)?;
                }
                Err(Failure::Interrupted { signal, .. }) => stopped = Some(signal),
                Err(error @ Failure::Usage(_)) if self.raced == 0 && self.unraced.is_empty() => {
                    return Err(error);
                }
                Err(Failure::Contender(text) | Failure::Usage(text)) => {
                    let [old, new] = self.names(link);
                    self.say(&format!(
                        "{old}..{new} cannot be raced: {}",
                        without_help(&text)
                    ));
                    self.unraced.push(format!("{old}..{new}"));
                    self.links.give_up(link);
                }
                Err(error) => return Err(error),
            }
            if stopped.is_some() {
                break;
            }
        }
        if let Some(budget) = budget.filter(|_| stopped.is_none()) {
            let part = (slowest_build, "the slowest build of two commits");
            if let Some(text) = overrun("extension", self.spent(), budget, part) {
                to_stderr("note", &text);
            }
        }
        self.end(stopped)
    }

    fn spent(&self) -> Duration {
        Duration::from_nanos(self.clock.elapsed_ns())
    }

    fn say(&self, text: &str) {
        if !self.args.race.options.quiet {
            to_stderr("deadheat: history", text);
        }
    }

    fn names(&self, (old, new): (usize, usize)) -> [&str; 2] {
        [old, new].map(|number| self.commits[number].short())
    }

    /// Builds both commits of a pair. Returns false if one of them does not build; no later pair
    /// then contains that commit.
    fn build_both(&mut self, (old, new): (usize, usize)) -> Result<bool, BuildError> {
        // All commits that lack a bench target get it from the last commit, so that all race the
        // same one.
        let last = self.commits.len() - 1;
        let is_first = self.built.is_empty() && self.broken.is_empty();
        if is_first && matches!(self.recipe, Recipe::Cargo(_)) {
            if !self.build(last)? {
                return Ok(false);
            }
            self.commit_builder.take_benches_of(&self.built[&last]);
        }
        if !self.build(old)? || !self.build(new)? {
            return Ok(false);
        }
        self.let_go((old, new));
        Ok(true)
    }

    fn build(&mut self, number: usize) -> Result<bool, BuildError> {
        if self.built.contains_key(&number) {
            return Ok(true);
        }
        let tell = &mut |note: deadheat_build::Note| to_stderr("deadheat", &note.to_string());
        match self.commit_builder.build(&self.commits[number], tell) {
            Ok(side) => {
                self.built.insert(number, side);
                Ok(true)
            }
            Err(error) if error.is_of_one_commit() => {
                let text = in_one_line(&error.to_string());
                self.say(&format!("{text}; deadheat skips this commit"));
                self.broken.insert(number, text);
                self.links.step_around(number);
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Releases builds that no link needs, and then those with the fewest remaining links if there
    /// are too many. Never releases the two commits of the current link, and never the last commit
    /// if cargo builds: all other commits get bench targets from its sources.
    fn let_go(&mut self, (old, new): (usize, usize)) {
        let is_cargo = matches!(self.recipe, Recipe::Cargo(_));
        let gives_benches = is_cargo.then(|| self.commits.len() - 1);
        let kept = [Some(old), Some(new), gives_benches];
        let kept: Vec<usize> = kept.into_iter().flatten().collect();
        release(&mut self.built, &self.links.needed(), &kept, MOST_BUILT);
    }

    fn keep(
        &mut self,
        link: (usize, usize),
        outcome: &RaceOutcome,
        failed_targets: &[FailedTarget],
    ) -> Result<(), Failure> {
        let file = StoredRun::read(&outcome.path).map_err(Failure::reading)?;
        self.adding.add(&file, true, None)?;
        let failed = failed_targets.iter().map(|target| target.name.as_str());
        self.adding.add_unmeasured(&file, failed.clone().count())?;
        self.unmeasured.extend(failed.map(str::to_owned));
        self.raced += 1;
        if !outcome.run.failures.is_empty() || !failed_targets.is_empty() {
            self.failed += 1;
        }
        let effects = measured_effects(&outcome.run);
        let unmeasured = unmeasured(&outcome.run, &effects).into_iter();
        self.unmeasured.extend(unmeasured.map(str::to_owned));
        let [old, new] = [link.0, link.1].map(|number| &*self.commits[number].id);
        let worst = self.adding.error_between(old, new, &self.selection)?;
        let worst = worst.filter(|worst| worst.is_finite());
        // One race of a link is enough per call, even if the plan ended before the target error: a
        // race of another link reduces the uncertainty more.
        self.links.raced(link, worst.unwrap_or(1.0), true);
        let [old, new] = self.names(link);
        let error = worst.map_or_else(String::new, |worst| {
            format!(", error {:.2}%", 100.0 * worst.exp_m1())
        });
        self.say(&format!(
            "{old}..{new} raced{error}; {} left to race, {} elapsed",
            self.links.left(),
            waiting(self.spent().as_secs_f64())
        ));
        Ok(())
    }

    fn end(self, stopped: Option<i32>) -> Result<Status, Failure> {
        let left = self.links.left();
        let mut text = format!(
            "{} raced, {} already precise enough, {left} left\n",
            counted(self.raced as u64, "pair of commits", "pairs of commits"),
            self.known
        );
        for (number, reason) in &self.broken {
            text += &format!(
                "skipped {}: {}\n",
                self.commits[*number].short(),
                escape_message(reason, terminal::glyphs_of_stdout())
            );
        }
        if !self.unraced.is_empty() {
            text += &format!("not raced: {}\n", self.unraced.join(", "));
        }
        if self.failed > 0 {
            text += &format!(
                "{} benchmarks that failed; deadheat report shows them\n",
                counted(self.failed as u64, "race has", "races have")
            );
        }
        if !self.unmeasured.is_empty() {
            let names = self.unmeasured.iter().map(|name| format!("'{name}'"));
            text += &format!(
                "not measured in every race: {}\n",
                escape_message(
                    &first_of(names.collect(), MOST_NAMED),
                    terminal::glyphs_of_stdout()
                )
            );
        }
        if left > 0 || !self.unmeasured.is_empty() {
            text += "run the same command again to continue\n";
        }
        let ends = [0, self.commits.len() - 1];
        let [first, last] = ends.map(|number| self.commits[number].short());
        text += &format!("$ deadheat history show --range {first}..{last}\n");
        to_stdout(&text)?;
        Ok(match stopped {
            Some(signal) => Status::Interrupted(signal),
            None if !self.unraced.is_empty() || self.failed > 0 => Status::ContenderFailed,
            // No pair of commits could be built.
            None if self.raced + self.known == 0 && !self.broken.is_empty() => {
                Status::ContenderFailed
            }
            None => Status::Done,
        })
    }
}

/// Removes the builds that no link needs (`needed`: the number of links of each commit), and then
/// those with the fewest links if more than `most` are left. Builds in `kept` stay.
fn release<T>(
    built: &mut BTreeMap<usize, T>,
    needed: &BTreeMap<usize, usize>,
    kept: &[usize],
    most: usize,
) {
    let count = |number: &usize| needed.get(number).copied().unwrap_or(0);
    built.retain(|number, _| count(number) > 0 || kept.contains(number));
    while built.len() > most {
        let others = built.keys().filter(|number| !kept.contains(number));
        let Some(least) = others.copied().min_by_key(count) else {
            return;
        };
        built.remove(&least);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_builds_without_links_but_not_the_kept_ones() {
        let mut built: BTreeMap<usize, ()> = (0..6).map(|number| (number, ())).collect();
        let needed = BTreeMap::from([(0, 3), (1, 1), (2, 2)]);
        release(&mut built, &needed, &[4, 5], 4);
        assert_eq!(built.into_keys().collect::<Vec<_>>(), [0, 2, 4, 5]);
    }
}
