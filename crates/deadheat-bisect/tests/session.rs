//! Whole searches for the commit that changed the time, with fake builds and races that advance a
//! fake clock.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use deadheat::parts::exit::Failure;
use deadheat::parts::model::{Better, LogRatio, MeasuredEffect, Metric, Unit};
use deadheat_bisect::{
    BisectAnswer, BisectCommit, BisectEnd, BisectEvent, BisectLimits, BisectLog, BisectPrior,
    BisectRequest, BisectSearch, CommitShare, OpenReason, UnmeasuredBenchmark, UnmeasuredReason,
    is_worse,
};
use deadheat_bisect::{
    BisectNews, BisectSides, RaceEnd, RaceOfCommits, RaceResults, RacedBenchmark, SideBuilt,
    search_commits,
};

/// A history that is raced without a process: ln of the time of each commit.
struct Fake {
    levels: Vec<f64>,
    unbuildable: Vec<usize>,
    /// Commits that build and crash.
    crashing: Vec<usize>,
    /// Commits whose executables are those of the commit before.
    unchanged: Vec<usize>,
    /// The benchmarks, each with the share of the levels that it shows.
    benchmarks: Vec<(&'static str, f64)>,
    /// Benchmarks that are judged by a rate, of which more is better.
    rates: Vec<&'static str>,
    /// Standard deviation of the effect of a replicate.
    scatter: f64,
    margin: f64,
    clock: f64,
    random: u64,
    builds: Vec<usize>,
    races: Vec<(usize, usize)>,
    /// The race during which the user presses Ctrl-C.
    interrupted_at: Option<usize>,
    /// Complete replicates of each benchmark in a race that was cut off.
    complete: Vec<usize>,
    /// Benchmarks that the first race cannot measure.
    unmeasured: Vec<UnmeasuredBenchmark>,
    /// The race that the time budget ends.
    budget_ends_at: Option<usize>,
    said: Rc<RefCell<Vec<String>>>,
}

impl Fake {
    fn new(commits: usize, step: f64, culprit: usize) -> Self {
        let levels = (0..=commits).map(|commit| if commit >= culprit { step } else { 0.0 });
        Self {
            levels: levels.collect(),
            unbuildable: Vec::new(),
            crashing: Vec::new(),
            unchanged: Vec::new(),
            benchmarks: vec![("parse", 1.0)],
            rates: Vec::new(),
            scatter: 0.006,
            margin: 0.01,
            clock: 0.0,
            random: 17,
            builds: Vec::new(),
            races: Vec::new(),
            interrupted_at: None,
            complete: Vec::new(),
            unmeasured: Vec::new(),
            budget_ends_at: None,
            said: Rc::default(),
        }
    }

    /// Returns the noise of one replicate. A sum of twelve uniform numbers is nearly normal.
    fn noise(&mut self) -> f64 {
        let mut sum = -6.0;
        for _ in 0..12 {
            self.random = self
                .random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            sum += (self.random >> 11) as f64 / (1u64 << 53) as f64;
        }
        self.scatter * sum
    }

    /// Returns the results of a race that has `complete` replicates of each benchmark.
    fn cut_off(&mut self, truth: f64) -> RaceResults {
        let (mut benchmarks, mut unmeasured) = (Vec::new(), self.unmeasured.clone());
        let raced: Vec<(&str, f64)> = self.benchmarks.clone();
        for ((name, share), complete) in raced.into_iter().zip(self.complete.clone()) {
            let effects: Vec<f64> = (0..complete)
                .map(|_| share * truth + self.noise())
                .collect();
            if complete < 2 {
                unmeasured.push(too_few(name));
            } else {
                benchmarks.push(self.measured_after(name, &effects));
            }
        }
        RaceResults {
            benchmarks,
            unmeasured,
            was_cut: true,
        }
    }

    fn measured_after(&self, name: &str, effects: &[f64]) -> RacedBenchmark {
        let count = effects.len() as f64;
        let mean = effects.iter().sum::<f64>() / count;
        let squares: f64 = effects.iter().map(|one| (one - mean).powi(2)).sum();
        let se = (squares / (count - 1.0) / count).sqrt();
        RacedBenchmark {
            name: name.to_owned(),
            judged: match self.rates.contains(&name) {
                true => Metric::foreign("requests/s", Unit::Count, Better::More),
                false => Metric::Wall,
            },
            effect: LogRatio(mean),
            se,
            df: count - 1.0,
            replicates: effects.len(),
            is_called: mean.abs() > 3.0 * se,
            is_placed: true,
        }
    }
}

impl BisectSides for Fake {
    fn build(&mut self, commit: usize) -> Result<SideBuilt, Failure> {
        self.clock += 20.0;
        self.builds.push(commit);
        if self.unbuildable.contains(&commit) {
            return Ok(SideBuilt::Unbuildable("make: *** [all] Error 1".to_owned()));
        }
        let source = (0..=commit).rev().find(|one| !self.unchanged.contains(one));
        Ok(SideBuilt::Ready {
            was_kept: false,
            digest: source.map(|source| format!("{source}")),
        })
    }

    fn run_file(&mut self) -> Result<PathBuf, Failure> {
        Ok(format!("run-{}.jsonl", self.races.len()).into())
    }

    fn race(&mut self, race: RaceOfCommits<'_>) -> Result<RaceEnd, Failure> {
        let (from, to) = race.sides;
        if let Some(crashing) = [from, to].iter().find(|side| self.crashing.contains(side)) {
            self.clock += 1.0;
            return Ok(RaceEnd::CannotRace(format!(
                "{crashing} was killed by SIGSEGV"
            )));
        }
        if self.interrupted_at == Some(self.races.len()) {
            return Err(Failure::Interrupted {
                text: "interrupted".to_owned(),
                signal: 2,
            });
        }
        let truth = self.levels[to] - self.levels[from];
        if self.budget_ends_at == Some(self.races.len()) {
            self.clock += race.limit.expect("a budget").as_secs_f64();
            return Ok(RaceEnd::Raced(self.cut_off(truth)));
        }
        self.races.push((from, to));
        let wanted = self.benchmarks.clone().into_iter();
        let wanted = wanted.filter(|(name, _)| race.benchmark.is_none_or(|one| one == *name));
        let mut measured = Vec::new();
        for (name, share) in wanted {
            let mut effects = Vec::new();
            for look in [6, 8, 11, 16, 22, 30, 40] {
                while effects.len() < look {
                    effects.push(share * truth + self.noise());
                    self.clock += 0.5;
                }
                let one = self.measured_after(name, &effects);
                let found = MeasuredEffect {
                    benchmark: 0,
                    candidate: 0,
                    effect: one.effect,
                    se: one.se,
                    df: one.df,
                    replicates: one.replicates,
                };
                if race.until.is_enough(name, found) {
                    break;
                }
            }
            measured.push(self.measured_after(name, &effects));
        }
        let is_first = race.benchmark.is_none();
        let unmeasured = self.unmeasured.iter().filter(|_| is_first);
        Ok(RaceEnd::Raced(RaceResults {
            benchmarks: measured,
            unmeasured: unmeasured.cloned().collect(),
            was_cut: false,
        }))
    }

    fn measured(&mut self, _file: &Path) -> Option<RaceResults> {
        let truth = self.levels[self.levels.len() - 1] - self.levels[0];
        (!self.complete.is_empty()).then(|| self.cut_off(truth))
    }

    fn seconds(&mut self) -> f64 {
        self.clock
    }

    fn tell(&mut self, _: &BisectRequest, news: BisectNews<'_>) {
        self.said.borrow_mut().push(format!("{news:?}"));
    }
}

const NO_LIMITS: BisectLimits = BisectLimits {
    budget: None,
    races: 40,
    fails_on_slower: false,
};

fn too_few(name: &str) -> UnmeasuredBenchmark {
    UnmeasuredBenchmark {
        benchmark: name.to_owned(),
        reason: UnmeasuredReason::TooFewReplicates,
    }
}

fn begun(fake: &Fake) -> BisectLog {
    let commit = |number: usize| BisectCommit {
        id: format!("{number:040x}"),
        committed_at: None,
        subject: format!("commit {number}"),
        lines: None,
    };
    BisectLog {
        request: BisectRequest {
            tool_version: "0.1.0".to_owned(),
            started_at: None,
            command: Vec::new(),
            good: "good".to_owned(),
            bad: "bad".to_owned(),
            commits: (0..fake.levels.len()).map(commit).collect(),
            aside: 0,
            judged: Metric::Wall,
            margin: LogRatio::from_change(fake.margin),
            alpha: 0.05,
            prior: BisectPrior::Uniform,
        },
        events: Vec::new(),
    }
}

/// Continues a search from its record. Afterwards, `log` has the new events, even on an error.
fn go_on(fake: &mut Fake, log: &mut BisectLog, limits: BisectLimits) -> Result<BisectEnd, Failure> {
    let mut recorded = log.clone();
    let done = search_commits(log.clone(), limits, Some(1), fake, &mut |event| {
        recorded.events.push(event.clone());
        Ok(())
    });
    *log = recorded;
    let done = done?;
    assert_eq!(&done, &*log, "what is returned was recorded");
    Ok(done.end().expect("it ended").clone())
}

fn search(fake: &mut Fake) -> BisectEnd {
    let mut log = begun(fake);
    go_on(fake, &mut log, NO_LIMITS).unwrap()
}

/// The commit that the answer names.
fn named(end: &BisectEnd) -> (usize, usize) {
    match end.answer {
        BisectAnswer::Commits(CommitShare { first, last, .. }) => (first, last),
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn the_commit_of_a_step_is_found_with_few_builds() {
    for culprit in [1, 2, 77, 200, 256] {
        let mut fake = Fake::new(256, 0.02, culprit);
        fake.random += culprit as u64;
        let end = search(&mut fake);
        assert_eq!(named(&end), (culprit, culprit));
        let step = end.step.unwrap();
        assert!((step.effect.0 - 0.02).abs() < 0.004, "{step:?}");
        assert!(
            fake.races.len() <= 20 && fake.builds.len() <= 16,
            "{:?}",
            fake.races
        );
        let mut once = fake.builds.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), fake.builds.len(), "no commit was built twice");
    }
}

#[test]
fn an_improvement_is_found_as_well() {
    let end = search(&mut Fake::new(64, -0.03, 40));
    assert_eq!(named(&end), (40, 40));
    assert!(end.step.unwrap().high.0 < 0.0);
}

#[test]
fn commits_that_do_not_build_or_crash_are_stepped_around() {
    let mut fake = Fake::new(64, 0.03, 40);
    fake.unbuildable = vec![31, 32, 38, 39];
    fake.crashing = vec![16, 48];
    let end = search(&mut fake);
    assert_eq!(named(&end), (38, 40));
    assert!(!fake.races.iter().any(|(from, to)| {
        [*from, *to]
            .iter()
            .any(|side| fake.unbuildable.contains(side))
    }));
}

#[test]
fn an_end_that_does_not_build_is_an_error_that_names_it() {
    let mut fake = Fake::new(8, 0.03, 4);
    fake.unbuildable = vec![8];
    let mut log = begun(&fake);
    let error = go_on(&mut fake, &mut log, NO_LIMITS).unwrap_err();
    assert!(matches!(error, Failure::Contender(_)), "{error:?}");
    assert!(
        error
            .to_string()
            .starts_with("BAD (00000000) cannot be raced, and the search needs it: make"),
        "{error}"
    );
}

#[test]
fn no_step_is_told_after_few_races() {
    let mut fake = Fake::new(64, 0.0, 1);
    let end = search(&mut fake);
    assert!(
        matches!(end.answer, BisectAnswer::NoStep(p) if p >= 0.95),
        "{end:?}"
    );
    assert!(fake.races.len() <= 4);
}

#[test]
fn ends_of_the_same_bytes_are_built_and_not_raced() {
    let mut fake = Fake::new(8, 0.0, 1);
    fake.unchanged = (1..=8).collect();
    assert_eq!(search(&mut fake).answer, BisectAnswer::NoStep(1.0));
    assert_eq!((fake.builds.len(), fake.races.len()), (2, 0));
}

#[test]
fn commits_that_change_no_executable_are_not_raced() {
    let mut fake = Fake::new(64, 0.03, 60);
    fake.unchanged = (1..50).collect();
    let end = search(&mut fake);
    assert_eq!(named(&end), (60, 60));
    let inside = |(from, to): &(usize, usize)| *from > 0 && *to < 50;
    assert!(!fake.races.iter().any(inside), "{:?}", fake.races);
}

#[test]
fn of_two_steps_of_opposite_sign_one_is_named() {
    let mut fake = Fake::new(64, 0.03, 20);
    fake.levels[45..]
        .iter_mut()
        .for_each(|level| *level -= 0.02);
    let end = search(&mut fake);
    assert!([20, 45].contains(&named(&end).0), "{end:?}");
}

#[test]
fn a_search_stops_when_its_time_is_over_and_goes_on_when_asked_again() {
    let mut fake = Fake::new(256, 0.02, 100);
    let mut log = begun(&fake);
    let little = BisectLimits {
        budget: Some(Duration::from_secs(120)),
        ..NO_LIMITS
    };
    let end = go_on(&mut fake, &mut log, little).unwrap();
    let BisectAnswer::Open(open) = &end.answer else {
        panic!("{end:?}");
    };
    assert_eq!(open.reason, OpenReason::Budget);
    assert!(
        open.commits
            .iter()
            .any(|share| (share.first..=share.last).contains(&100))
    );
    assert!(fake.clock < 200.0, "{}", fake.clock);
    let before = fake.races.len();
    let end = go_on(&mut fake, &mut log, NO_LIMITS).unwrap();
    assert_eq!(named(&end), (100, 100));
    assert!(fake.races[before..].iter().all(|race| *race != (0, 256)));
}

#[test]
fn a_search_has_no_more_races_than_it_may() {
    let mut fake = Fake::new(256, 0.02, 100);
    let mut log = begun(&fake);
    let few = BisectLimits {
        races: 3,
        ..NO_LIMITS
    };
    let end = go_on(&mut fake, &mut log, few).unwrap();
    assert!(matches!(&end.answer, BisectAnswer::Open(open) if open.reason == OpenReason::Races));
    assert_eq!(fake.races.len(), 3);
}

#[test]
fn an_interrupted_search_goes_on_as_if_it_had_not_been() {
    let mut whole = Fake::new(256, 0.02, 100);
    let expected = search(&mut whole);
    for at in [0, 1, 5] {
        let mut fake = Fake::new(256, 0.02, 100);
        fake.interrupted_at = Some(at);
        let mut log = begun(&fake);
        let error = go_on(&mut fake, &mut log, NO_LIMITS).unwrap_err();
        assert!(matches!(error, Failure::Interrupted { .. }));
        assert!(matches!(log.events.last(), Some(BisectEvent::Begun(_))));
        fake.interrupted_at = None;
        let end = go_on(&mut fake, &mut log, NO_LIMITS).unwrap();
        assert_eq!(named(&end), named(&expected));
        assert_eq!(fake.races, whole.races, "interrupted at race {at}");
    }
}

#[test]
fn a_race_that_was_cut_off_counts_with_the_replicates_of_a_first_look() {
    for (complete, counts) in [(None, false), (Some(5), false), (Some(9), true)] {
        let mut fake = Fake::new(16, 0.03, 9);
        fake.interrupted_at = Some(0);
        let mut log = begun(&fake);
        go_on(&mut fake, &mut log, NO_LIMITS).unwrap_err();
        fake.interrupted_at = None;
        fake.complete.extend(complete);
        let end = go_on(&mut fake, &mut log, NO_LIMITS).unwrap();
        assert_eq!(named(&end), (9, 9));
        let raced = |event: &BisectEvent| matches!(event, BisectEvent::Raced(one) if one.was_cut);
        assert_eq!(log.events.iter().any(raced), counts, "{complete:?}");
        let first = fake.races.first();
        assert_eq!(first == Some(&(0, 16)), !counts, "{complete:?}");
        assert!(
            fake.said
                .borrow()
                .iter()
                .any(|news| news.starts_with("WasCut"))
        );
    }
}

#[test]
fn of_several_benchmarks_the_one_that_changed_most_is_searched_by() {
    let mut fake = Fake::new(64, 0.02, 30);
    fake.benchmarks = vec![("print", 0.0), ("parse", 1.5), ("sort", -1.0)];
    let mut log = begun(&fake);
    let end = go_on(&mut fake, &mut log, NO_LIMITS).unwrap();
    assert_eq!(named(&end), (30, 30));
    let chosen = log.chosen().unwrap();
    assert_eq!(
        (&*chosen.benchmark, &*chosen.called),
        ("parse", &["sort".to_owned()][..])
    );
    let [change] = chosen.changes[..] else {
        panic!("{chosen:?}");
    };
    assert!((change.0 + 0.02).abs() < 0.01, "{change:?}");
}

#[test]
fn a_larger_improvement_hides_no_slowdown_if_slowdowns_fail_the_command() {
    for (fails_on_slower, benchmark) in [(false, "parse"), (true, "sort")] {
        let mut fake = Fake::new(64, 0.02, 30);
        fake.benchmarks = vec![("print", 0.5), ("parse", -3.0), ("sort", 1.0)];
        fake.scatter = 0.002;
        let mut log = begun(&fake);
        let limits = BisectLimits {
            fails_on_slower,
            ..NO_LIMITS
        };
        let end = go_on(&mut fake, &mut log, limits).unwrap();
        assert_eq!(named(&end), (30, 30));
        assert_eq!(end.step.unwrap().effect.0 > 0.0, fails_on_slower);
        let chosen = log.chosen().unwrap();
        assert_eq!(chosen.benchmark, benchmark);
        assert_eq!(chosen.is_slowdown, fails_on_slower);
    }
}

#[test]
fn a_benchmark_with_a_metric_of_its_own_is_judged_by_it() {
    let mut fake = Fake::new(64, 0.02, 30);
    fake.benchmarks = vec![("parse", -3.0), ("serve", -1.0), ("pull", -2.0)];
    fake.rates = vec!["serve", "pull"];
    fake.scatter = 0.002;
    let mut log = begun(&fake);
    let limits = BisectLimits {
        fails_on_slower: true,
        ..NO_LIMITS
    };
    let end = go_on(&mut fake, &mut log, limits).unwrap();
    assert_eq!(named(&end), (30, 30));
    let chosen = log.chosen().unwrap();
    assert_eq!(chosen.benchmark, "pull", "a lower rate is the slowdown");
    assert_eq!(chosen.called, ["parse", "serve"]);
    let better: Vec<Better> = chosen.metrics.iter().map(Metric::better).collect();
    assert_eq!(better, [Better::Less, Better::More]);
    assert_eq!(log.judged().better(), Better::More);
    assert!(is_worse(log.judged(), end.step.unwrap().effect));
}

#[test]
fn a_first_race_that_the_budget_ends_too_early_leads_to_no_answer() {
    let mut fake = Fake::new(16, 0.03, 9);
    fake.benchmarks = vec![("print", 0.0), ("sort", 0.0), ("parse", 1.0)];
    fake.complete = vec![9, 2, 0];
    fake.budget_ends_at = Some(0);
    let mut log = begun(&fake);
    let limits = BisectLimits {
        budget: Some(Duration::from_secs(60)),
        ..NO_LIMITS
    };
    let end = go_on(&mut fake, &mut log, limits).unwrap();
    let BisectAnswer::Open(open) = &end.answer else {
        panic!("{end:?}");
    };
    assert_eq!(open.reason, OpenReason::Budget);
    assert_eq!(open.unmeasured, [too_few("sort"), too_few("parse")]);
    assert_eq!(log.unmeasured(), open.unmeasured);
    assert_eq!(log.chosen(), None);

    fake.budget_ends_at = None;
    let end = go_on(&mut fake, &mut log, NO_LIMITS).unwrap();
    assert_eq!(named(&end), (9, 9));
    assert_eq!(fake.races[0], (0, 16));
    assert!(log.unmeasured().is_empty());
}

#[test]
fn a_race_that_the_budget_ends_counts_as_cut_with_six_replicates() {
    for (race, complete, counts) in [(0, 9, true), (1, 9, true), (1, 5, false)] {
        let mut fake = Fake::new(256, 0.02, 100);
        fake.complete = vec![complete];
        fake.budget_ends_at = Some(race);
        let mut log = begun(&fake);
        let limits = BisectLimits {
            budget: Some(Duration::from_secs(600)),
            ..NO_LIMITS
        };
        let end = go_on(&mut fake, &mut log, limits).unwrap();
        let BisectAnswer::Open(open) = &end.answer else {
            panic!("{end:?}");
        };
        assert_eq!(open.reason, OpenReason::Budget);
        assert!(open.unmeasured.is_empty(), "{open:?}");
        let cut = log.events.iter().filter_map(|event| match event {
            BisectEvent::Raced(raced) if raced.was_cut => Some(raced.replicates),
            _ => None,
        });
        let expected = if counts { vec![complete] } else { Vec::new() };
        assert_eq!(cut.collect::<Vec<usize>>(), expected, "{race} {complete}");
    }
}

#[test]
fn an_interrupted_first_race_counts_only_with_replicates_of_every_benchmark() {
    for (complete, counts) in [([9, 9], true), ([9, 5], false), ([9, 0], false)] {
        let mut fake = Fake::new(16, 0.03, 9);
        fake.benchmarks = vec![("print", 0.0), ("parse", 1.0)];
        fake.interrupted_at = Some(0);
        let mut log = begun(&fake);
        go_on(&mut fake, &mut log, NO_LIMITS).unwrap_err();
        fake.interrupted_at = None;
        fake.complete = complete.to_vec();
        let end = go_on(&mut fake, &mut log, NO_LIMITS).unwrap();
        assert_eq!(named(&end), (9, 9), "{complete:?}");
        assert_eq!(fake.races[0] == (0, 16), !counts, "{complete:?}");
        assert_eq!(log.chosen().unwrap().benchmark, "parse");
    }
}

#[test]
fn benchmarks_without_a_result_are_recorded_also_if_a_single_one_is_left() {
    let mut fake = Fake::new(16, 0.0, 9);
    fake.unmeasured = vec![UnmeasuredBenchmark {
        benchmark: "print".to_owned(),
        reason: UnmeasuredReason::Failed("it exited with code 9".to_owned()),
    }];
    let mut log = begun(&fake);
    let end = go_on(&mut fake, &mut log, NO_LIMITS).unwrap();
    assert!(matches!(end.answer, BisectAnswer::NoStep(_)), "{end:?}");
    assert_eq!(log.unmeasured(), fake.unmeasured);
    assert_eq!(log.chosen().unwrap().measured, 1);
}

#[test]
fn ends_that_cannot_be_raced_are_an_error_that_names_both() {
    let mut fake = Fake::new(8, 0.03, 4);
    fake.crashing = vec![0];
    let mut log = begun(&fake);
    let error = go_on(&mut fake, &mut log, NO_LIMITS)
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("the race of 00000000 against 00000000: "),
        "{error}"
    );
}

#[test]
fn a_step_that_is_probably_too_small_is_never_named() {
    // Sizes around half the margin, where the first race leaves both answers open.
    for (margin, step, commits) in [
        (0.5, 0.181, 1),
        (0.5, 0.2, 1),
        (0.5, -0.195, 16),
        (0.1, 0.045, 1),
        (0.05, -0.022, 4),
    ] {
        let (mut told, mut denied) = (0, 0);
        for seed in 0..40 {
            let mut fake = Fake::new(commits, step, commits.div_ceil(2));
            fake.margin = margin;
            fake.scatter = f64::abs(step) / 4.0;
            fake.random = 1000 * seed + 1;
            let mut log = begun(&fake);
            let end = go_on(&mut fake, &mut log, NO_LIMITS).unwrap();
            let (_, standings) = BisectSearch::replayed(&log).unwrap();
            let last = standings.into_iter().flatten().next_back().unwrap();
            let case = format!("{margin} {step} {commits} {seed}: {end:?} {last:?}");
            match end.answer {
                BisectAnswer::Commits(share) => {
                    told += 1;
                    assert_eq!(share.last, commits.div_ceil(2), "{case}");
                    assert!(share.probability >= 0.95 && last.no_step < 0.5, "{case}");
                }
                BisectAnswer::NoStep(probability) => {
                    denied += 1;
                    assert!(probability >= 0.95 && last.no_step >= 0.95, "{case}");
                }
                _ => panic!("{case}"),
            }
        }
        assert!(told + denied == 40 && denied > 0, "{margin} {step}: {told}");
    }
}
