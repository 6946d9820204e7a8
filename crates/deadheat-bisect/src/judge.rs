//! The state of a search after the events of its record: the probabilities, the next race, and the
//! answer.
//!
//! The state depends on the events alone. So a search that was interrupted continues as if it had
//! not been, and a story written later agrees with the messages during the search.

use deadheat::parts::model::LogRatio;
use deadheat_stats::dist::t_critical;

use crate::culprit::{
    Answer, CommitGroup, CommitRace, CulpritError, CulpritSearch, Posterior, StepSize,
};
use crate::log::{
    BisectAnswer, BisectEnd, BisectEvent, BisectLog, BisectPrior, BisectRequest, BisectStanding,
    CommitShare, OpenReason, OpenSearch, SeveralSteps, StepEstimate, UnmeasuredBenchmark,
    same_builds,
};

/// The assumed time of a build in seconds, until a commit was built.
const FIRST_BUILD: f64 = 60.0;
/// The assumed time of a race in seconds, until a race has ended.
const FIRST_RACE: f64 = 15.0;

/// The standard error that is assumed for estimates without scatter, such as instruction counts:
/// below any change that a search looks for, and above 0.
const LEAST_ERROR: f64 = 1e-6;

/// The number of degrees of freedom below which a race does not stop, because its standard error is
/// too uncertain. Six undisturbed replicates have five.
const LEAST_DF: f64 = 4.5;

/// The two-sided level of the interval of a single race. Its confidence is 95%, as for the interval
/// of the step.
const INTERVAL_LEVEL: f64 = 0.05;

/// The average information of a race about the culprit in bits, by the simulations of
/// `docs/validation/bisect.md`.
const BITS_PER_RACE: f64 = 0.85;

/// The next step of a search.
#[derive(Clone, Debug, PartialEq)]
pub enum NextStep {
    /// Race the newer commit against the older one.
    Race {
        /// The number of the older commit.
        from: usize,
        /// The number of the newer commit.
        to: usize,
    },
    /// End the search with this answer.
    End(BisectEnd),
}

/// The state of a search after its events so far.
#[derive(Clone, Debug)]
pub struct BisectSearch {
    weights: Vec<f64>,
    margin: f64,
    alpha: f64,
    events: Vec<BisectEvent>,
    /// The first and the last commit of the range that is searched. It is narrowed if no single
    /// step explains all races.
    window: (usize, usize),
    /// `None` if no commit of the window can be the culprit, because all executables are equal.
    inner: Option<(CulpritSearch, Posterior)>,
}

impl BisectSearch {
    /// Creates a search without events.
    ///
    /// # Errors
    ///
    /// The range is empty, or the margin or α is out of range.
    pub fn new(request: &BisectRequest) -> Result<Self, CulpritError> {
        let weight = |lines: Option<u64>| match request.prior {
            BisectPrior::Uniform => 1.0,
            BisectPrior::Diff => lines.unwrap_or(0) as f64 + 1.0,
        };
        let commits = request.commits.iter().skip(1);
        let mut search = Self {
            weights: commits.map(|commit| weight(commit.lines)).collect(),
            margin: request.margin.change(),
            alpha: request.alpha,
            events: Vec::new(),
            window: (0, request.last()),
            inner: None,
        };
        let inner = CulpritSearch::weighted(&search.weights, search.margin, search.alpha)?;
        let posterior = inner.posterior();
        search.inner = Some((inner, posterior));
        Ok(search)
    }

    /// Repeats the search of a record. Returns the search, and its state after each race.
    ///
    /// # Errors
    ///
    /// The record has an impossible event.
    pub fn replayed(log: &BisectLog) -> Result<(Self, Vec<Option<BisectStanding>>), CulpritError> {
        let mut search = Self::new(&log.request)?;
        let mut standings = Vec::with_capacity(log.events.len());
        for event in &log.events {
            search.take(event)?;
            let tells = matches!(event, BisectEvent::Raced(_));
            standings.push(tells.then(|| search.standing()));
        }
        Ok((search, standings))
    }

    /// Updates the search by an event.
    ///
    /// # Errors
    ///
    /// The event is impossible, such as a race of a commit that does not build.
    pub fn take(&mut self, event: &BisectEvent) -> Result<(), CulpritError> {
        self.events.push(event.clone());
        if let BisectEvent::Built(_) | BisectEvent::Unbuildable(_) | BisectEvent::Raced(_) = event {
            self.weigh()?;
        }
        Ok(())
    }

    /// Computes the posterior of the commits in the window. As long as the answer is that no single
    /// step explains the races, narrows the window to the part of the range that this answer names,
    /// if that part is smaller, and computes again.
    fn weigh(&mut self) -> Result<(), CulpritError> {
        let mut weights = self.weights.clone();
        for (older, newer) in same_builds(&self.events) {
            if newer <= weights.len() {
                weights[older..newer].fill(0.0);
            }
        }
        let whole = match CulpritSearch::weighted(&weights, self.margin, self.alpha) {
            Ok(whole) => whole,
            // All neighbours have equal executables.
            Err(CulpritError::Weights) => {
                self.inner = None;
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let whole = self.with_events(whole)?;
        loop {
            let (good, bad) = self.window;
            let inner = match whole.between(good, bad) {
                Ok(inner) => inner,
                Err(CulpritError::Weights) => {
                    self.inner = None;
                    return Ok(());
                }
                Err(error) => return Err(error),
            };
            let posterior = inner.posterior();
            match posterior.answer() {
                Some(Answer::NoSingleStep { from, to, .. }) if to - from < inner.last() => {
                    self.window = (good + from, good + to);
                }
                _ => {
                    self.inner = Some((inner, posterior));
                    return Ok(());
                }
            }
        }
    }

    fn with_events(&self, mut whole: CulpritSearch) -> Result<CulpritSearch, CulpritError> {
        for event in &self.events {
            if let BisectEvent::Unbuildable(failed) = event {
                whole.mark_unbuildable(failed.commit)?;
            }
        }
        for event in &self.events {
            if let BisectEvent::Raced(raced) = event {
                whole.add(CommitRace {
                    from: raced.from,
                    to: raced.to,
                    theta: raced.effect.0,
                    se: raced.se.max(LEAST_ERROR),
                    df: raced.df,
                })?;
            }
        }
        Ok(whole)
    }

    /// Returns the commits that were built, in ascending order.
    pub fn built(&self) -> Vec<usize> {
        let built = self.events.iter().filter_map(|event| match event {
            BisectEvent::Built(built) => Some(built.commit),
            _ => None,
        });
        let mut built: Vec<usize> = built.collect();
        built.sort_unstable();
        built.dedup();
        built
    }

    /// Returns the number of races that ended.
    pub fn races(&self) -> usize {
        let raced = |event: &&BisectEvent| matches!(event, BisectEvent::Raced(_));
        self.events.iter().filter(raced).count()
    }

    /// Returns the benchmark of the search, once it is known.
    pub fn benchmark(&self) -> Option<&str> {
        self.events.iter().find_map(|event| match event {
            BisectEvent::Chosen(chosen) => Some(&*chosen.benchmark),
            BisectEvent::Raced(raced) => Some(&*raced.benchmark),
            _ => None,
        })
    }

    /// Returns the expected time of a build, and of a race without builds, in seconds.
    pub fn costs(&self) -> (f64, f64) {
        let (mut builds, mut races, mut was_kept) = (Vec::new(), Vec::new(), false);
        for event in &self.events {
            match event {
                BisectEvent::Built(built) if built.was_kept => was_kept = true,
                BisectEvent::Built(built) => builds.push(built.seconds),
                BisectEvent::Unbuildable(failed) => builds.push(failed.seconds),
                // The time of a race that was cut off is unknown.
                BisectEvent::Raced(raced) if !raced.was_cut => races.push(raced.seconds),
                _ => {}
            }
        }
        let mean = |seconds: &[f64], first: f64| match seconds.len() {
            0 => first,
            count => (seconds.iter().sum::<f64>() / count as f64).max(1e-3),
        };
        let race = mean(&races, FIRST_RACE);
        // If the store had builds of GOOD and BAD, it probably has builds of other commits.
        let first_build = if was_kept { race } else { FIRST_BUILD };
        (mean(&builds, first_build), race)
    }

    /// Returns the race with the most information per second, or the answer.
    pub fn next_step(&self) -> NextStep {
        let Some((inner, posterior)) = &self.inner else {
            return NextStep::End(self.end(self.nothing_left()));
        };
        let (good, bad) = self.window;
        let answer = match posterior.answer() {
            None => None,
            Some(Answer::Commits(group)) => Some(BisectAnswer::Commits(self.share(&group))),
            Some(Answer::NoStep { .. }) if self.is_narrowed() => Some(self.nothing_left()),
            Some(Answer::NoStep { probability }) => Some(BisectAnswer::NoStep(probability)),
            Some(Answer::NoSingleStep { probability, .. }) => {
                Some(BisectAnswer::NoSingleStep(SeveralSteps {
                    from: good,
                    to: bad,
                    probability,
                }))
            }
        };
        if let Some(answer) = answer {
            return NextStep::End(self.end(answer));
        }
        let built = self.built();
        let here = built.iter().filter(|commit| (good..=bad).contains(*commit));
        let here: Vec<usize> = here.map(|commit| commit - good).collect();
        let (build, race) = self.costs();
        let next = inner.next_race(posterior, &here, |from, to| {
            let new = [from, to]
                .iter()
                .filter(|side| !here.contains(side))
                .count();
            build * new as f64 + race
        });
        match next {
            Some(next) => NextStep::Race {
                from: good + next.from,
                to: good + next.to,
            },
            None => NextStep::End(self.open(OpenReason::Exhausted)),
        }
    }

    fn is_narrowed(&self) -> bool {
        self.window != (0, self.weights.len())
    }

    /// Returns the answer if no commit of the window can be the culprit.
    fn nothing_left(&self) -> BisectAnswer {
        let (from, to) = self.window;
        if self.is_narrowed() {
            BisectAnswer::NoSingleStep(SeveralSteps {
                from,
                to,
                probability: 1.0 - self.alpha,
            })
        } else {
            BisectAnswer::NoStep(1.0)
        }
    }

    /// Returns the end of a search without an answer.
    pub fn open(&self, reason: OpenReason) -> BisectEnd {
        self.open_without(reason, Vec::new())
    }

    /// Returns the end of a search whose first race ended without results of some benchmarks.
    pub fn open_without(
        &self,
        reason: OpenReason,
        unmeasured: Vec<UnmeasuredBenchmark>,
    ) -> BisectEnd {
        let standing = self.standing();
        self.end(BisectAnswer::Open(OpenSearch {
            reason,
            commits: standing.commits,
            no_step: standing.no_step,
            unmeasured,
        }))
    }

    fn end(&self, answer: BisectAnswer) -> BisectEnd {
        let step = match &answer {
            BisectAnswer::NoStep(_) | BisectAnswer::NoSingleStep(_) => None,
            BisectAnswer::Commits(_) | BisectAnswer::Open(_) => self.step(),
        };
        BisectEnd {
            answer,
            step,
            within: self.is_narrowed().then_some(self.window),
        }
    }

    fn step(&self) -> Option<StepEstimate> {
        let (_, posterior) = self.inner.as_ref()?;
        posterior
            .step
            .map(|StepSize { theta, low, high }| StepEstimate {
                effect: LogRatio(theta),
                low: LogRatio(low),
                high: LogRatio(high),
            })
    }

    /// Converts the numbers of a group's commits, which count from the start of the window, to
    /// numbers in the whole range.
    fn share(&self, group: &CommitGroup) -> CommitShare {
        CommitShare {
            first: self.window.0 + group.first,
            last: self.window.0 + group.last,
            probability: group.probability,
        }
    }

    /// Returns the current state of the search, for messages and the record.
    pub fn standing(&self) -> BisectStanding {
        let Some((_, posterior)) = &self.inner else {
            return BisectStanding {
                commits: Vec::new(),
                between: self.window,
                held: 0.0,
                no_step: if self.is_narrowed() { 0.0 } else { 1.0 },
                several: if self.is_narrowed() { 1.0 } else { 0.0 },
                step: None,
                race: self.last_race(),
                races_left: 0,
                seconds_left: 0.0,
            };
        };
        let groups = posterior.credible_groups(1.0 - self.alpha);
        let commits: Vec<CommitShare> = groups.iter().map(|group| self.share(group)).collect();
        let first = commits.iter().map(|share| share.first).min();
        let last = commits.iter().map(|share| share.last).max();
        let races_left = self.races_left(posterior);
        let (build, race) = self.costs();
        BisectStanding {
            between: match (first, last) {
                (Some(first), Some(last)) => (first - 1, last),
                _ => self.window,
            },
            held: commits
                .iter()
                .map(|share| share.probability)
                .sum::<f64>()
                .min(1.0),
            no_step: posterior.no_step(),
            several: posterior.no_single_step,
            step: self.step(),
            race: self.last_race(),
            races_left,
            // The last race confirms the culprit, and both commits are built by then.
            seconds_left: f64::from(races_left) * race
                + f64::from(races_left.saturating_sub(1)) * build,
            commits,
        }
    }

    fn last_race(&self) -> Option<StepEstimate> {
        let BisectEvent::Raced(raced) = self.events.last()? else {
            return None;
        };
        let half = t_critical(INTERVAL_LEVEL, raced.df) * raced.se;
        Some(StepEstimate {
            effect: raced.effect,
            low: LogRatio(raced.effect.0 - half),
            high: LogRatio(raced.effect.0 + half),
        })
    }

    /// Returns the expected number of further races: those for the missing information in bits, and
    /// one to confirm the culprit.
    fn races_left(&self, posterior: &Posterior) -> u32 {
        if posterior.answer().is_some() {
            return 0;
        }
        let all = posterior.step_probability().max(f64::MIN_POSITIVE);
        let bits = posterior.groups.iter().map(|group| {
            let share = group.probability / all;
            if share > 0.0 {
                -share * share.log2()
            } else {
                0.0
            }
        });
        let confirmed = |group: &CommitGroup| group.is_confirmed && group.probability > 0.5;
        let last = u32::from(!posterior.groups.iter().any(confirmed));
        ((bits.sum::<f64>() / BITS_PER_RACE).ceil() as u32 + last).max(1)
    }

    /// Returns true if the running race of these two commits may stop, given its estimate, standard
    /// error and degrees of freedom so far.
    pub fn is_decided(
        &self,
        (from, to): (usize, usize),
        effect: LogRatio,
        se: f64,
        df: f64,
    ) -> bool {
        let Some((inner, _)) = &self.inner else {
            return true;
        };
        let inside = |commit: usize| commit.checked_sub(self.window.0);
        let (Some(from), Some(to)) = (inside(from), inside(to)) else {
            return false;
        };
        // After few or disturbed replicates, further replicates of this race help more than another
        // race, which would start without any.
        let tells = f64::max(self.margin.ln_1p(), effect.0.abs() / 4.0);
        if df < LEAST_DF || se > tells {
            return false;
        }
        let running = CommitRace {
            from,
            to,
            theta: effect.0,
            se: se.max(LEAST_ERROR),
            df,
        };
        // A race with an impossible estimate runs to its end.
        inner.is_decided(running).unwrap_or(false)
    }

    /// Returns the numbers of the commits that an answer names.
    pub fn named(end: &BisectEnd) -> Vec<usize> {
        match &end.answer {
            BisectAnswer::Commits(share) => (share.first..=share.last).collect(),
            BisectAnswer::Open(open) => {
                let likeliest = open.commits.iter().take(3);
                likeliest
                    .flat_map(|share| share.first..=share.last)
                    .collect()
            }
            BisectAnswer::NoStep(_) | BisectAnswer::NoSingleStep(_) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use deadheat::parts::model::Metric;

    use crate::log::{BisectCommit, CommitBuilt, CommitUnbuildable, CommitsRaced};

    use super::*;

    fn request(commits: usize) -> BisectRequest {
        BisectRequest {
            tool_version: "0.1.0".to_owned(),
            started_at: None,
            command: Vec::new(),
            good: "v1".to_owned(),
            bad: "v2".to_owned(),
            commits: vec![BisectCommit::default(); commits + 1],
            aside: 0,
            judged: Metric::Wall,
            margin: LogRatio::from_change(0.01),
            alpha: 0.05,
            prior: BisectPrior::Uniform,
        }
    }

    fn raced(from: usize, to: usize, theta: f64) -> BisectEvent {
        BisectEvent::Raced(CommitsRaced {
            from,
            to,
            benchmark: "b".to_owned(),
            judged: None,
            effect: LogRatio(theta),
            se: 0.001,
            df: 10.0,
            replicates: 11,
            seconds: 4.0,
            file: "run.jsonl".into(),
            was_cut: false,
            is_placed: true,
        })
    }

    fn built(commit: usize, digest: &str) -> BisectEvent {
        BisectEvent::Built(CommitBuilt {
            commit,
            was_kept: false,
            seconds: 20.0,
            digest: Some(digest.to_owned()),
        })
    }

    #[test]
    fn commits_between_equal_builds_cannot_be_the_culprit() {
        let mut search = BisectSearch::new(&request(16)).unwrap();
        for event in [
            built(0, "a"),
            built(16, "b"),
            raced(0, 16, 0.03),
            built(8, "a"),
        ] {
            search.take(&event).unwrap();
        }
        let standing = search.standing();
        assert_eq!(standing.between, (8, 16));
        assert!(
            standing.commits.iter().all(|share| share.first > 8),
            "{standing:?}"
        );
        let NextStep::Race { from, to } = search.next_step() else {
            panic!("it is open");
        };
        assert!(from >= 8 || from == 0 && to > 8, "{from} {to}");
    }

    #[test]
    fn ends_of_the_same_bytes_need_no_race() {
        let mut search = BisectSearch::new(&request(4)).unwrap();
        search.take(&built(0, "a")).unwrap();
        search.take(&built(4, "a")).unwrap();
        let NextStep::End(end) = search.next_step() else {
            panic!("there is nothing to race");
        };
        assert_eq!(end.answer, BisectAnswer::NoStep(1.0));
    }

    #[test]
    fn costs_are_learnt_from_what_was_built_and_raced() {
        let mut search = BisectSearch::new(&request(4)).unwrap();
        assert_eq!(search.costs(), (FIRST_BUILD, FIRST_RACE));
        search.take(&built(0, "a")).unwrap();
        search.take(&raced(0, 4, 0.03)).unwrap();
        assert_eq!(search.costs(), (20.0, 4.0));
    }

    #[test]
    fn an_impossible_race_is_refused() {
        let mut search = BisectSearch::new(&request(4)).unwrap();
        let failed = CommitUnbuildable {
            commit: 2,
            reason: "no".to_owned(),
            seconds: 1.0,
        };
        search.take(&BisectEvent::Unbuildable(failed)).unwrap();
        assert!(search.take(&raced(0, 2, 0.0)).is_err());
        let mut search = BisectSearch::new(&request(4)).unwrap();
        assert!(search.take(&raced(0, 9, 0.0)).is_err());
    }

    #[test]
    fn a_race_whose_error_is_hardly_known_goes_on() {
        let search = BisectSearch::new(&request(16)).unwrap();
        let decided = |df| search.is_decided((0, 16), LogRatio(0.2), 0.001, df);
        assert!(decided(5.0) && !decided(1.5));
        assert!(!search.is_decided((0, 16), LogRatio(-0.014), 0.029, 5.0));
    }

    #[test]
    fn estimates_without_scatter_count() {
        let mut search = BisectSearch::new(&request(1)).unwrap();
        let BisectEvent::Raced(exact) = raced(0, 1, 0.02) else {
            unreachable!()
        };
        let exact = CommitsRaced { se: 0.0, ..exact };
        search.take(&BisectEvent::Raced(exact)).unwrap();
        let NextStep::End(end) = search.next_step() else {
            panic!("one commit, one race");
        };
        assert!(matches!(end.answer, BisectAnswer::Commits(share) if share.last == 1));
    }
}
