//! The loop of a search: it builds and races commits, and records each event before the next step.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deadheat::parts::exit::Failure;
use deadheat::parts::model::{LogRatio, Metric, Until};

use crate::judge::{BisectSearch, NextStep};
use crate::log::{
    BenchmarkChosen, BisectEnd, BisectEvent, BisectLimits, BisectLog, BisectRequest,
    BisectStanding, CommitBuilt, CommitUnbuildable, CommitsBegun, CommitsRaced, OpenReason,
    UnmeasuredBenchmark, UnmeasuredReason, is_worse,
};

/// Builds and races the commits of a range, by their numbers.
pub trait BisectSides {
    /// Builds a commit, or finds its build in the store.
    ///
    /// # Errors
    ///
    /// The build failed for a reason outside the commit.
    fn build(&mut self, commit: usize) -> Result<SideBuilt, Failure>;

    /// Returns the path of the run file of the next race, which does not exist yet.
    ///
    /// # Errors
    ///
    /// The folder cannot be created.
    fn run_file(&mut self) -> Result<PathBuf, Failure>;

    /// Races two commits that were built.
    ///
    /// # Errors
    ///
    /// The race failed for a reason outside the two commits.
    fn race(&mut self, race: RaceOfCommits<'_>) -> Result<RaceEnd, Failure>;

    /// Returns the results of a race that was cut off; `None` if its run file is unreadable.
    fn measured(&mut self, file: &Path) -> Option<RaceResults>;

    /// Returns the time since a fixed moment, in seconds.
    fn seconds(&mut self) -> f64;

    /// Reports progress to the user.
    fn tell(&mut self, request: &BisectRequest, news: BisectNews<'_>);
}

/// A build of a commit.
#[derive(Clone, Debug, PartialEq)]
pub enum SideBuilt {
    /// The build can be raced.
    Ready {
        /// True if the store already had the build.
        was_kept: bool,
        /// A digest of all executables that are raced; `None` if the race also depends on other
        /// files.
        digest: Option<String>,
    },
    /// The commit does not build, for this reason.
    Unbuildable(String),
}

/// A race of two commits.
pub struct RaceOfCommits<'a> {
    /// The numbers of the older commit and of the newer one.
    pub sides: (usize, usize),
    /// The benchmark of the search; `None` in the first race, which measures all benchmarks.
    pub benchmark: Option<&'a str>,
    /// The path of the run file.
    pub file: &'a Path,
    /// The number of the race, from 0, which changes its random draws.
    pub number: usize,
    /// The rest of the time budget; `None` if the search has no budget.
    pub limit: Option<Duration>,
    /// The condition that ends a benchmark, instead of its verdict.
    pub until: Until,
}

/// The end of a race.
#[derive(Clone, Debug, PartialEq)]
pub enum RaceEnd {
    /// The race has results.
    Raced(RaceResults),
    /// One of the two commits cannot be raced, for this reason: it crashes, or lacks the benchmark.
    CannotRace(String),
}

/// The results of a race.
#[derive(Clone, Debug, PartialEq)]
pub struct RaceResults {
    /// The benchmarks with a result.
    pub benchmarks: Vec<RacedBenchmark>,
    /// The other benchmarks that were selected.
    pub unmeasured: Vec<UnmeasuredBenchmark>,
    /// True if the time budget, a signal or a kill ended the race.
    pub was_cut: bool,
}

impl RaceResults {
    /// Returns the benchmarks that the search needs, but of which a race that was cut off has fewer
    /// than [`FEWEST_REPLICATES`]. A search that has not chosen its benchmark needs all of them: a
    /// search once chose among those that had raced before the budget ended, and found no step,
    /// although the time of another benchmark had doubled.
    fn too_short(&self, chosen: Option<&str>) -> Vec<UnmeasuredBenchmark> {
        if !self.was_cut {
            return Vec::new();
        }
        let is_needed = |name: &str| chosen.is_none_or(|chosen| chosen == name);
        let begun = self.benchmarks.iter();
        let short = begun.filter(|one| one.replicates < FEWEST_REPLICATES);
        let short = short.map(|one| UnmeasuredBenchmark {
            benchmark: one.name.clone(),
            reason: UnmeasuredReason::TooFewReplicates,
        });
        let without = self.unmeasured.iter();
        let without = without.filter(|one| one.reason == UnmeasuredReason::TooFewReplicates);
        short
            .chain(without.cloned())
            .filter(|one| is_needed(&one.benchmark))
            .collect()
    }
}

/// A benchmark of a race.
#[derive(Clone, Debug, PartialEq)]
pub struct RacedBenchmark {
    /// The name of the benchmark.
    pub name: String,
    /// The metric that was compared.
    pub judged: Metric,
    /// The estimated change from the older commit to the newer one.
    pub effect: LogRatio,
    /// The standard error of `effect`, on the log scale.
    pub se: f64,
    /// The degrees of freedom of `se`.
    pub df: f64,
    /// The number of replicates that the estimate uses.
    pub replicates: usize,
    /// True if the verdict is faster or slower.
    pub is_called: bool,
    /// True if the result holds for the source: every replicate had another code layout, or
    /// instructions were counted.
    pub is_placed: bool,
}

/// Progress of a search, for the user.
#[derive(Clone, Copy, Debug)]
pub enum BisectNews<'a> {
    /// A build begins. The fields are the number of the commit to build, and the number of the
    /// commit that it will race against.
    Builds(usize, usize),
    /// A race begins. The fields are the numbers of the older and the newer commit, and the state
    /// of the search so far, which is `None` for the first race.
    Races(usize, usize, Option<&'a BisectStanding>),
    /// A race that was cut off was found when the search continued. The fields are the race, and
    /// its number of replicates if they suffice to count.
    WasCut(&'a CommitsBegun, Option<usize>),
    /// An event, and the state of the search after it.
    Happened(&'a BisectEvent, &'a BisectStanding),
}

/// The number of replicates that a race that was cut off needs to count: the first look of every
/// race.
pub(crate) const FEWEST_REPLICATES: usize = 6;

/// Continues the search of a record until there is an answer or a limit is reached. `record` stores
/// every event before the next step. `now` is the Unix time in seconds.
///
/// # Errors
///
/// GOOD or BAD cannot be built or raced, or a build or race failed for a reason outside the
/// commits. The record then has all events, and the search can be continued.
pub fn search_commits(
    log: BisectLog,
    limits: BisectLimits,
    now: Option<u64>,
    sides: &mut dyn BisectSides,
    record: &mut dyn FnMut(&BisectEvent) -> Result<(), Failure>,
) -> Result<BisectLog, Failure> {
    let (search, _) = BisectSearch::replayed(&log)
        .map_err(|error| Failure::Data(format!("the record of the search is invalid: {error}")))?;
    let began = sides.seconds();
    let mut session = SearchSession {
        ready: Vec::new(),
        search,
        log,
        limits,
        began,
        sides,
        record,
    };
    session.take_up(now)?;
    loop {
        let end = match session.search.next_step() {
            NextStep::End(end) => Some(end),
            NextStep::Race { from, to } => session.step(from, to)?,
        };
        if let Some(end) = end {
            session.note(BisectEvent::Ended(end))?;
            return Ok(session.log);
        }
    }
}

struct SearchSession<'a> {
    /// Commits that were built in this session.
    ready: Vec<usize>,
    search: BisectSearch,
    log: BisectLog,
    limits: BisectLimits,
    /// The time at the beginning, by `BisectSides::seconds`.
    began: f64,
    sides: &'a mut dyn BisectSides,
    record: &'a mut dyn FnMut(&BisectEvent) -> Result<(), Failure>,
}

impl SearchSession<'_> {
    /// Records an event, updates the search, and reports the event.
    fn note(&mut self, event: BisectEvent) -> Result<(), Failure> {
        (self.record)(&event)?;
        self.search
            .take(&event)
            .map_err(|error| Failure::Contender(format!("the search cannot continue: {error}")))?;
        let standing = self.search.standing();
        let news = BisectNews::Happened(&event, &standing);
        self.sides.tell(&self.log.request, news);
        self.log.events.push(event);
        Ok(())
    }

    /// Continues a search that stopped. A race that was cut off counts if it has at least
    /// [`FEWEST_REPLICATES`] replicates; if not, its commits may race again.
    fn take_up(&mut self, now: Option<u64>) -> Result<(), Failure> {
        if self.log.events.is_empty() {
            return Ok(());
        }
        let mut events = self.log.events.iter().rev();
        // deadheat may have been killed between these events and the result of the race.
        let last = events
            .find(|event| !matches!(event, BisectEvent::Resumed(_) | BisectEvent::Chosen(_)))
            .cloned();
        self.note(BisectEvent::Resumed(now))?;
        let Some(BisectEvent::Begun(begun)) = last else {
            return Ok(());
        };
        let results = self.sides.measured(&begun.file);
        let results =
            results.filter(|results| results.too_short(self.search.benchmark()).is_empty());
        let found = results.and_then(|results| Some((self.searched_for(&results)?, results)));
        let found = found.filter(|(one, _)| self.other_metric(one).is_none());
        let replicates = found.as_ref().map(|(one, _)| one.replicates);
        let news = BisectNews::WasCut(&begun, replicates);
        self.sides.tell(&self.log.request, news);
        match found {
            // The record does not have the time of a race that was cut off.
            Some((one, results)) => self.note_race(&begun, one, results, 0.0),
            None => Ok(()),
        }
    }

    fn searched_for(&self, results: &RaceResults) -> Option<RacedBenchmark> {
        let mut raced = results.benchmarks.iter();
        let found = match self.search.benchmark() {
            Some(name) => raced.find(|one| one.name == name),
            None => raced.max_by(|one, other| self.by_size(one, other)),
        };
        found.cloned()
    }

    /// Orders benchmarks by their changes: those that are faster or slower by the size of the
    /// change, before them the others by the change in units of its standard error. If a slowdown
    /// fails the command, the slower ones come last, so that no larger improvement hides them.
    fn by_size(&self, one: &RacedBenchmark, other: &RacedBenchmark) -> Ordering {
        let size = |one: &RacedBenchmark| match one.is_called {
            true if self.is_slowdown(one) => (2, one.effect.0.abs()),
            true => (1, one.effect.0.abs()),
            false => (0, one.effect.0.abs() / one.se.max(f64::MIN_POSITIVE)),
        };
        let (one, other) = (size(one), size(other));
        one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
    }

    /// Returns true for a slower benchmark, if a slowdown fails the command.
    fn is_slowdown(&self, one: &RacedBenchmark) -> bool {
        self.limits.fails_on_slower && one.is_called && is_worse(&one.judged, one.effect)
    }

    /// Builds and races two commits. Returns the end if a limit is reached.
    fn step(&mut self, from: usize, to: usize) -> Result<Option<BisectEnd>, Failure> {
        if self.search.races() >= self.limits.races as usize {
            return Ok(Some(self.search.open(OpenReason::Races)));
        }
        for (commit, other) in [(to, from), (from, to)] {
            if self.ready.contains(&commit) {
                continue;
            }
            if self.time_left().is_some_and(|left| left.is_zero()) {
                return Ok(Some(self.search.open(OpenReason::Budget)));
            }
            if !self.build(commit, other)? {
                return Ok(None);
            }
        }
        // After the builds, another race may be better, or none is needed because executables are
        // equal.
        if self.search.next_step() != (NextStep::Race { from, to }) {
            return Ok(None);
        }
        let limit = self.time_left();
        if limit.is_some_and(|left| left.is_zero()) {
            return Ok(Some(self.search.open(OpenReason::Budget)));
        }
        self.race(from, to, limit)
    }

    fn time_left(&mut self) -> Option<Duration> {
        let spent = self.sides.seconds() - self.began;
        let spent = Duration::try_from_secs_f64(spent).unwrap_or_default();
        let budget = self.limits.budget?;
        Some(budget.saturating_sub(spent))
    }

    /// Builds a commit. Returns false if it does not build, which is an error for GOOD and BAD.
    fn build(&mut self, commit: usize, other: usize) -> Result<bool, Failure> {
        let news = BisectNews::Builds(commit, other);
        self.sides.tell(&self.log.request, news);
        let started = self.sides.seconds();
        let built = self.sides.build(commit)?;
        let seconds = self.sides.seconds() - started;
        match built {
            SideBuilt::Ready { was_kept, digest } => {
                self.ready.push(commit);
                self.note(BisectEvent::Built(CommitBuilt {
                    commit,
                    was_kept,
                    seconds,
                    digest,
                }))?;
                Ok(true)
            }
            SideBuilt::Unbuildable(reason) => {
                self.cannot(commit, reason, seconds)?;
                Ok(false)
            }
        }
    }

    /// Returns true for GOOD, BAD, and commits that were raced.
    fn is_needed(&self, commit: usize) -> bool {
        let is_end = commit == 0 || commit == self.log.request.last();
        is_end
            || self.log.events.iter().any(|event| match event {
                BisectEvent::Raced(raced) => raced.from == commit || raced.to == commit,
                _ => false,
            })
    }

    /// Records that a commit cannot be raced, so that the search avoids it.
    fn cannot(&mut self, commit: usize, reason: String, seconds: f64) -> Result<(), Failure> {
        let last = self.log.request.last();
        if self.is_needed(commit) {
            let name = match commit {
                0 => "GOOD",
                _ if commit == last => "BAD",
                _ => "a commit that was raced before",
            };
            let short = self.log.request.short(commit);
            return Err(Failure::Contender(format!(
                "{name} ({short}) cannot be raced, and the search needs it: {reason}"
            )));
        }
        self.note(BisectEvent::Unbuildable(CommitUnbuildable {
            commit,
            reason,
            seconds,
        }))
    }

    fn race(
        &mut self,
        from: usize,
        to: usize,
        limit: Option<Duration>,
    ) -> Result<Option<BisectEnd>, Failure> {
        let standing = (self.search.races() > 0).then(|| self.search.standing());
        let news = BisectNews::Races(from, to, standing.as_ref());
        self.sides.tell(&self.log.request, news);
        let begun = CommitsBegun {
            from,
            to,
            file: self.sides.run_file()?,
        };
        self.note(BisectEvent::Begun(begun.clone()))?;
        let search = self.search.clone();
        let wanted = self.search.benchmark().map(str::to_owned);
        let race = RaceOfCommits {
            sides: (from, to),
            benchmark: wanted.as_deref(),
            file: &begun.file,
            number: self.search.races(),
            limit,
            until: Until::new(move |_, found| {
                search.is_decided((from, to), found.effect, found.se, found.df)
            }),
        };
        let started = self.sides.seconds();
        let results = match self.sides.race(race)? {
            RaceEnd::Raced(results) => results,
            RaceEnd::CannotRace(reason) => return self.blame((from, to), reason, started),
        };
        let seconds = self.sides.seconds() - started;
        let short = results.too_short(wanted.as_deref());
        if !short.is_empty() {
            let unmeasured = match wanted {
                Some(_) => Vec::new(),
                None => {
                    let mut all = results.unmeasured;
                    all.retain(|one| !short.contains(one));
                    all.extend(short);
                    all
                }
            };
            let end = self.search.open_without(OpenReason::Budget, unmeasured);
            return Ok(Some(end));
        }
        let found = self.searched_for(&results);
        let reason = match (&found, &wanted) {
            (None, Some(name)) => Some(format!("it has no result of '{name}'")),
            (Some(one), _) => self.other_metric(one),
            (None, None) => None,
        };
        if let Some(reason) = reason {
            return self.blame((from, to), reason, started);
        }
        let Some(one) = found else {
            let request = &self.log.request;
            return Err(Failure::Contender(format!(
                "the race of {} against {} has no estimate with a standard error; its run file is \
                 {}",
                request.short(to),
                request.short(from),
                begun.file.display()
            )));
        };
        self.note_race(&begun, one, results, seconds)?;
        Ok(None)
    }

    /// Returns the reason why a result cannot be combined with those of earlier races: a commit has
    /// changed the metric of the benchmark.
    fn other_metric(&self, one: &RacedBenchmark) -> Option<String> {
        let judged = self.log.judged();
        let is_other = self.search.races() > 0 && one.judged != *judged;
        is_other.then(|| {
            format!(
                "'{}' is judged by {} here, and by {judged} in earlier races",
                one.name, one.judged
            )
        })
    }

    /// Skips one of two commits that cannot race: the one that has never raced, or the newer one if
    /// neither has. It is an error if both have raced before.
    fn blame(
        &mut self,
        (from, to): (usize, usize),
        reason: String,
        started: f64,
    ) -> Result<Option<BisectEnd>, Failure> {
        let seconds = self.sides.seconds() - started;
        let is_new = |side: &&usize| !self.is_needed(**side);
        let Some(blamed) = [to, from].iter().find(is_new).copied() else {
            let request = &self.log.request;
            let [older, newer] = [from, to].map(|side| request.short(side));
            return Err(Failure::Contender(format!(
                "the race of {newer} against {older}: {reason}\nhelp: both commits were \
                 needed by earlier races, or are the ends of the range, so none can be skipped; check \
                 --build, --run and the benchmarks of both"
            )));
        };
        self.cannot(blamed, reason, seconds).map(|()| None)
    }

    /// Records the results of a race, and in the first race the choice of the benchmark.
    fn note_race(
        &mut self,
        begun: &CommitsBegun,
        one: RacedBenchmark,
        results: RaceResults,
        seconds: f64,
    ) -> Result<(), Failure> {
        let measured = results.benchmarks.len();
        let has_others = measured > 1 || !results.unmeasured.is_empty();
        let asked = &self.log.request.judged;
        let judged = Some(one.judged.clone()).filter(|judged| judged != asked);
        if self.search.benchmark().is_none() && has_others {
            let others = results.benchmarks.iter();
            let others = others.filter(|other| other.name != one.name && other.is_called);
            let others: Vec<&RacedBenchmark> = others.collect();
            let has_own = others.iter().any(|other| other.judged != *asked);
            let metrics = others.iter().filter(|_| has_own);
            self.note(BisectEvent::Chosen(BenchmarkChosen {
                benchmark: one.name.clone(),
                called: others.iter().map(|other| other.name.clone()).collect(),
                changes: others.iter().map(|other| other.effect).collect(),
                metrics: metrics.map(|other| other.judged.clone()).collect(),
                is_slowdown: self.is_slowdown(&one),
                measured,
                unmeasured: results.unmeasured,
            }))?;
        }
        self.note(BisectEvent::Raced(CommitsRaced {
            from: begun.from,
            to: begun.to,
            benchmark: one.name,
            judged,
            effect: one.effect,
            se: one.se,
            df: one.df,
            replicates: one.replicates,
            seconds,
            file: begun.file.clone(),
            was_cut: results.was_cut,
            is_placed: one.is_placed,
        }))
    }
}
