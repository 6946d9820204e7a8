//! Histories of 1,000 commits, by seeded simulation: steps, creep and broken runners found by races
//! between commits, beside what finds change points in one run a commit.
//!
//! Writes `docs/validation/history.md`. Nothing is timed, so anything else may run beside it; takes
//! some minutes. With `--quick` all is tried in small numbers and printed, and nothing is written.

mod simulated;
mod unpaired;

use deadheat_validation::prelude::*;
use std::ops::AddAssign;

use deadheat_history::{
    Changes, Edge, Levels, Misclosure, Settled, changes, error_at_end, misclosure, plan_links,
    plateaus, settle,
};
use deadheat_stats::benjamini_hochberg;

use crate::simulated::{
    BROKEN, BROKEN_BY, COMMITS, CREEP, CREEPING, DRIFT, History, NOISE, OF_A_MACHINE,
    OF_ONE_PERCENT, OF_THE_BROKEN, SE, SOUND, STEPS, Step,
};
use crate::unpaired::{e_divisive, t_windows};

const HISTORIES: (usize, usize) = (1_000, 10);
/// Links of a range that steps are looked for in.
const RANGE: usize = 100;
/// Commits that an alert may be away from the step it is for: what is promised, and what the table
/// allows every tool.
const NEAR: usize = 1;
const ALLOWED: usize = 5;
/// How many times larger the errors of a runner may be than it says, beside what is promised.
const LESS_BROKEN: [f64; 3] = [1.5, 2.0, 3.0];

#[derive(Clone, Copy, Default)]
struct Share {
    count: usize,
    of: usize,
}

impl Share {
    fn add(&mut self, is_one: bool) {
        self.count += usize::from(is_one);
        self.of += 1;
    }

    fn percent(&self) -> String {
        match self.of {
            0 => "–".to_owned(),
            of => format!("{:.1}%", 100.0 * self.count as f64 / of as f64),
        }
    }

    fn told(&self) -> String {
        format!("{} of {}", self.count, self.of)
    }
}

impl AddAssign for Share {
    fn add_assign(&mut self, other: Self) {
        self.count += other.count;
        self.of += other.of;
    }
}

/// Sizes of steps that are counted apart, in percent: above one and up to the other.
const CLASSES: [(&str, f64, f64); 4] = [
    ("0.5 to 1%", 0.0, 0.9999),
    ("1%", 0.9999, 1.0001),
    ("1 to 2%", 1.0001, 2.0),
    ("2 to 5%", 2.0, 6.0),
];

fn class(step: &Step) -> usize {
    let percent = 100.0 * step.size.abs().exp_m1();
    let within = |(_, low, high): &(&str, f64, f64)| percent > *low && percent <= *high;
    CLASSES.iter().position(within).expect("a size of the table")
}

#[derive(Clone, Default)]
struct Alerts {
    told: usize,
    in_creep: usize,
    at_machine: usize,
    others: usize,
    with_false: Share,
    found: [Share; CLASSES.len()],
    offsets: Vec<usize>,
}

impl Alerts {
    fn take(&mut self, history: &History, alerts: &[usize]) {
        let mut has_false = false;
        for alert in alerts {
            self.told += 1;
            if history.steps.iter().any(|step| step.at.abs_diff(*alert) <= ALLOWED) {
                continue;
            }
            let machine = (alert + ALLOWED) % OF_A_MACHINE <= 2 * ALLOWED;
            if history.creep.contains(alert) {
                self.in_creep += 1;
            } else if machine {
                (self.at_machine, has_false) = (self.at_machine + 1, true);
            } else {
                (self.others, has_false) = (self.others + 1, true);
            }
        }
        self.with_false.add(has_false);
        for step in &history.steps {
            let offset = alerts.iter().map(|alert| step.at.abs_diff(*alert)).min();
            let offset = offset.filter(|offset| *offset <= ALLOWED);
            self.found[class(step)].add(offset.is_some());
            self.offsets.extend(offset);
        }
    }

    fn add(&mut self, other: Self) {
        self.told += other.told;
        self.in_creep += other.in_creep;
        self.at_machine += other.at_machine;
        self.others += other.others;
        self.with_false += other.with_false;
        for (own, other) in self.found.iter_mut().zip(other.found) {
            *own += other;
        }
        self.offsets.extend(other.offsets);
    }

    fn row(&self, name: &str) -> String {
        let histories = self.with_false.of as f64;
        let each = |count: usize| format!("{:.2}", count as f64 / histories);
        let found: Vec<String> = self.found.iter().map(Share::percent).collect();
        let mut exact = Share::default();
        self.offsets.iter().for_each(|offset| exact.add(*offset == 0));
        let mut near = Share::default();
        self.offsets.iter().for_each(|offset| near.add(*offset <= NEAR));
        format!(
            "| {name} | {} | {} | {} | {} | {} | {} | {} |\n",
            each(self.told),
            each(self.others),
            each(self.at_machine),
            each(self.in_creep),
            found.join(" | "),
            exact.percent(),
            near.percent(),
        )
    }
}

const TOOLS: [&str; 7] = [
    "steps, by races",
    "steps, by races of neighbours alone",
    "boundaries of plateaus, by races",
    "E-divisive, one run per commit",
    "t windows, one run per commit",
    "E-divisive, one machine that never changes",
    "t windows, one machine that never changes",
];

#[derive(Clone, Default)]
struct Outcome {
    /// Histories whose loops do not close: with sound runners, and with the broken one.
    cried: Share,
    found_broken: Share,
    /// The broken runner is the one whose loops close worst; is widened; another one is, too.
    worst: Share,
    widened: Share,
    sound_widened: Share,
    factors: Vec<f64>,
    less_broken: [[Share; 3]; LESS_BROKEN.len()],
    false_ranges: Share,
    false_where_broken: Share,
    false_by_bh: Share,
    false_unsettled: Share,
    /// Steps of 1% found within one commit: raced by sound runners, by the broken one; by
    /// Benjamini and Hochberg.
    found: Share,
    found_where_broken: Share,
    found_by_bh: Share,
    false_creep: Share,
    found_creep: Share,
    at_end: Vec<f64>,
    chain_at_end: Vec<f64>,
    missed_at_end: Share,
    missed: Share,
    tools: [Alerts; TOOLS.len()],
}

impl Outcome {
    fn take(&mut self, history: &History) {
        let (links, chain) = (plan_links(COMMITS), plan_links(COMMITS));
        let chain: Vec<_> = chain.into_iter().filter(|(from, to)| to - from == 1).collect();
        let sound = solve(&history.races(&links, SOUND));
        self.cried.add(does_not_close(&misclosure(&sound)));
        for (broken_by, less) in LESS_BROKEN.into_iter().zip(&mut self.less_broken) {
            let found = misclosure(&solve(&history.races(&links, broken_by)));
            less[0].add(does_not_close(&found));
            less[1].add(names_the_broken(&found));
            less[2].add(widens_the_broken(&found));
        }
        let races = history.races(&links, BROKEN_BY);
        let settled = settle(COMMITS, &races, 0, ALPHA).expect("a graph");
        self.take_misclosure(&settled);
        let levels = &settled.levels;
        let truth = history.truth[COMMITS - 1];
        self.at_end.push(levels.level(COMMITS - 1) - truth);
        let last = levels.difference(0, COMMITS - 1).expect("a connected graph");
        self.missed_at_end.add(is_outside(last.interval(ALPHA), truth));
        let neighbours = history.races(&chain, BROKEN_BY);
        let crept: f64 = neighbours.iter().map(|race| race.effect).sum();
        self.chain_at_end.push(crept - truth);
        let told = self.take_ranges(history, levels);
        let unsettled = solve(&races);
        for first in (0..COMMITS - 1).step_by(RANGE) {
            let steps = steps_of(&in_range(&unsettled, first), first);
            self.false_unsettled.add(steps.iter().any(|at| is_false(history, *at, NEAR)));
        }
        let whole: Vec<usize> = (0..COMMITS).collect();
        let drawn = plateaus(COMMITS, &settled.edges, &whole, &told, ALPHA).expect("a graph");
        let boundaries: Vec<usize> = drawn.iter().skip(1).map(|plateau| plateau.first).collect();
        let alone = settle(COMMITS, &neighbours, 0, ALPHA).expect("a graph").levels;
        let ranges = (0..COMMITS - 1).step_by(RANGE);
        let alone: Vec<usize> =
            ranges.flat_map(|first| steps_of(&in_range(&alone, first), first)).collect();
        let [days, one] = [false, true].map(|one_machine| history.series(one_machine));
        let all = [
            told,
            alone,
            boundaries,
            e_divisive(&days),
            t_windows(&days),
            e_divisive(&one),
            t_windows(&one),
        ];
        for (tool, alerts) in self.tools.iter_mut().zip(all) {
            tool.take(history, &alerts);
        }
    }

    fn take_misclosure(&mut self, settled: &Settled) {
        let found = &settled.misclosure;
        self.found_broken.add(does_not_close(found));
        self.worst.add(names_the_broken(found));
        let of_broken = settled.widened.iter().find(|(host, _)| *host == BROKEN);
        self.widened.add(of_broken.is_some());
        self.factors.extend(of_broken.map(|(_, factor)| *factor));
        self.sound_widened.add(settled.widened.iter().any(|(host, _)| *host != BROKEN));
    }

    fn take_ranges(&mut self, history: &History, levels: &Levels) -> Vec<usize> {
        let (mut all, mut all_by_bh) = (Vec::new(), Vec::new());
        for first in (0..COMMITS - 1).step_by(RANGE) {
            let found = in_range(levels, first);
            let steps = steps_of(&found, first);
            let is_wrong = steps.iter().any(|at| is_false(history, *at, NEAR));
            self.false_ranges.add(is_wrong);
            let of_range = first + 1..first + RANGE + 1;
            if of_range.clone().any(|commit| history.broken.contains(&commit)) {
                self.false_where_broken.add(is_wrong);
            }
            self.take_creep(history, &found, first);
            let differences: Vec<_> = of_range
                .clone()
                .map(|to| levels.difference(to - 1, to).expect("a connected graph"))
                .collect();
            let p_values: Vec<f64> = differences.iter().map(|d| d.p_value()).collect();
            let adjusted = benjamini_hochberg(&p_values).into_iter().zip(of_range.clone());
            let by_bh: Vec<usize> =
                adjusted.filter(|(p, _)| *p <= ALPHA).map(|(_, at)| at).collect();
            self.false_by_bh.add(by_bh.iter().any(|at| is_false(history, *at, NEAR)));
            for (to, difference) in of_range.zip(differences) {
                let truth = history.truth[to] - history.truth[to - 1];
                self.missed.add(is_outside(difference.interval(ALPHA), truth));
            }
            all.extend(steps);
            all_by_bh.extend(by_bh);
        }
        for step in history.steps.iter().filter(|step| CLASSES[class(step)].0 == "1%") {
            let near = |alerts: &[usize]| alerts.iter().any(|at| at.abs_diff(step.at) <= NEAR);
            if history.broken.contains(&step.at) {
                self.found_where_broken.add(near(&all));
            } else {
                self.found.add(near(&all));
                self.found_by_bh.add(near(&all_by_bh));
            }
        }
        all
    }

    fn take_creep(&mut self, history: &History, found: &Changes, first: usize) {
        let windows: Vec<_> =
            found.creep.iter().map(|c| first + c.from + 1..first + c.to + 1).collect();
        let is_true = |window: &std::ops::Range<usize>| {
            let creeps = window.clone().any(|commit| history.creep.contains(&commit));
            creeps || history.steps.iter().any(|step| window.contains(&step.at))
        };
        self.false_creep.add(windows.iter().any(|window| !is_true(window)));
        let creeping = (first + 1..first + RANGE + 1).filter(|at| history.creep.contains(at));
        if creeping.clone().count() == RANGE {
            let told = creeping.clone().any(|at| windows.iter().any(|window| window.contains(&at)));
            self.found_creep.add(told);
        }
    }

    fn add(&mut self, other: Self) {
        self.cried += other.cried;
        self.found_broken += other.found_broken;
        self.worst += other.worst;
        self.widened += other.widened;
        self.sound_widened += other.sound_widened;
        self.factors.extend(other.factors);
        for (own, other) in self.less_broken.iter_mut().zip(other.less_broken) {
            own.iter_mut().zip(other).for_each(|(own, other)| *own += other);
        }
        self.false_ranges += other.false_ranges;
        self.false_where_broken += other.false_where_broken;
        self.false_by_bh += other.false_by_bh;
        self.false_unsettled += other.false_unsettled;
        self.found += other.found;
        self.found_where_broken += other.found_where_broken;
        self.found_by_bh += other.found_by_bh;
        self.false_creep += other.false_creep;
        self.found_creep += other.found_creep;
        self.at_end.extend(other.at_end);
        self.chain_at_end.extend(other.chain_at_end);
        self.missed_at_end += other.missed_at_end;
        self.missed += other.missed;
        for (own, other) in self.tools.iter_mut().zip(other.tools) {
            own.add(other);
        }
    }
}

fn does_not_close(found: &Misclosure) -> bool {
    found.p_value.is_some_and(|p| p < ALPHA)
}

/// True where the broken runner is the one whose loops close worst.
fn names_the_broken(found: &Misclosure) -> bool {
    let worst = found.hosts.iter().min_by(|a, b| a.p_value.total_cmp(&b.p_value));
    worst.is_some_and(|host| host.host == BROKEN)
}

fn widens_the_broken(found: &Misclosure) -> bool {
    let level = ALPHA / found.hosts.len() as f64;
    let mut hosts = found.hosts.iter();
    hosts.any(|host| host.host == BROKEN && host.p_value < level)
}

fn solve(races: &[Edge]) -> Levels {
    Levels::solve(COMMITS, races, 0).expect("a graph")
}

fn in_range(levels: &Levels, first: usize) -> Changes {
    let series: Vec<usize> = (first..=first + RANGE).collect();
    changes(levels, &series, &[], ALPHA)
}

fn steps_of(found: &Changes, first: usize) -> Vec<usize> {
    found.steps.iter().map(|step| first + step.to).collect()
}

fn is_false(history: &History, alert: usize, near: usize) -> bool {
    history.steps.iter().all(|step| step.at.abs_diff(alert) > near)
}

fn is_outside((low, high): (f64, f64), truth: f64) -> bool {
    truth < low || truth > high
}

fn simulate(histories: usize) -> Outcome {
    let mut all = Outcome::default();
    let outcomes = in_parallel(histories, |number| {
        let mut outcome = Outcome::default();
        outcome.take(&History::draw(number as u64 * 7_919 + 17));
        outcome
    });
    outcomes.into_iter().for_each(|one| all.add(one));
    all
}

/// The root of the mean of squares, in percent.
fn root_mean_square(errors: &[f64]) -> f64 {
    let squares: f64 = errors.iter().map(|error| error * error).sum();
    100.0 * (squares / errors.len() as f64).sqrt()
}

/// The size that so many in a hundred do not exceed, in percent.
fn quantile(errors: &[f64], share: f64) -> f64 {
    let mut sizes: Vec<f64> = errors.iter().map(|error| 100.0 * error.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    sizes[((sizes.len() as f64 * share).ceil() as usize).clamp(1, sizes.len()) - 1]
}

fn steps(outcome: &Outcome) -> Section {
    let bars = vec![
        Bar::false_verdicts(
            "ranges of 100 commits with a false step",
            outcome.false_ranges.count,
            outcome.false_ranges.of,
        ),
        Bar::share(
            "steps of 1% found within one commit, on any runner",
            outcome.found.count + outcome.found_where_broken.count,
            outcome.found.of + outcome.found_where_broken.of,
            0.9,
        ),
        Bar::false_verdicts(
            "ranges of 100 commits with false creep",
            outcome.false_creep.count,
            outcome.false_creep.of,
        ),
    ];
    let text = format!(
        "## Steps and creep\n\ndeadheat looks for steps in each range of 100 commits separately, \
         at 5% per range. The levels in a range come from the races of all 1,000 commits. A \
         reported step is false if it is more than one commit away from every true step, even if \
         it lies within the creep. The columns are:\n\n\
         - *by Holm, as it is*: deadheat's own rule, Holm's correction. deadheat widens the errors \
         of a runner whose [loops do not close](#loops-that-do-not-close).\n\
         - *by Benjamini and Hochberg*: the same levels and errors, with the correction by \
         Benjamini and Hochberg.\n\
         - *by Holm, with the broken runner treated as sound*: Holm's correction without widened \
         errors.\n\n\
         | | by Holm, as it is | by Benjamini and Hochberg | by Holm, with the broken runner treated as sound |\n| --- | --- | --- | --- |\n\
         | ranges with a false step | {} | {} | {} |\n\
         | … among those with races by the broken runner | {} | | |\n\
         | steps of 1% found within one commit, raced by sound runners | {} | {} | |\n\
         | … raced by the broken one | {} | | |\n\n\
         Holm's procedure limits the probability of one or more false steps in a range, as \
         promised. The procedure of Benjamini and Hochberg limits the share of false steps among \
         all reported steps. So it allows more false steps in ranges that have true steps.\n\n\
         Some ranges creep from end to end ({}% per commit, {:.0}% in all). deadheat reported \
         creep in {} ranges of this kind. deadheat reported false creep, over a stretch of commits \
         with neither creep nor a step, in {} ranges.\n\n",
        outcome.false_ranges.told(),
        outcome.false_by_bh.told(),
        outcome.false_unsettled.told(),
        outcome.false_where_broken.told(),
        outcome.found.told(),
        outcome.found_by_bh.told(),
        outcome.found_where_broken.told(),
        100.0 * CREEP,
        100.0 * CREEP * RANGE as f64,
        outcome.found_creep.told(),
        outcome.false_creep.told(),
    );
    Section { text, bars }
}

fn levels(outcome: &Outcome) -> Section {
    let links = plan_links(COMMITS);
    let chain: Vec<_> = (1..COMMITS).map(|to| (to - 1, to)).collect();
    let planned = |links: &[_]| {
        let error = error_at_end(COMMITS, links, SE).expect("a plan");
        100.0 * error.expect("a plan that reaches the end")
    };
    let bars = vec![
        Bar::at_most(
            "accumulated error after 1,000 links, root mean square",
            root_mean_square(&outcome.at_end),
            0.5,
            3,
            "%",
        ),
        Bar::false_verdicts(
            "intervals of the last commit that miss the truth",
            outcome.missed_at_end.count,
            outcome.missed_at_end.of,
        ),
        Bar::told(
            "intervals of neighbours that miss the truth",
            "at most alpha = 5%",
            format!("{} = {}", outcome.missed.told(), outcome.missed.percent()),
            outcome.missed.count as f64 <= ALPHA * outcome.missed.of as f64,
        ),
    ];
    let row = |name: &str, links: &[_], errors: &[f64]| {
        format!(
            "| {name} | {} | {:.3}% | {:.3}% | {:.3}% |\n",
            links.len(),
            planned(links),
            root_mean_square(errors),
            quantile(errors, 0.95),
        )
    };
    let text = format!(
        "## Levels\n\nRaces do not measure the level of the last commit relative to the first \
         directly; deadheat computes this level from all races of the history. The table shows the \
         error of the level: the estimate minus the true level, over all histories. The columns \
         are:\n\n\
         - *links*: how far apart the two commits of a race are.\n\
         - *races*: the number of races in a history.\n\
         - *planned*: the standard error that the plan predicts if all runners are sound and every \
         race has a standard error of {}%.\n\
         - *root mean square*: the root of the mean squared error.\n\
         - *95 of 100 below*: in 95% of the histories, the error is at most this large.\n\n\
         | links | races | planned | root mean square | 95 of 100 below |\n| --- | --- | --- | --- | --- |\n{}{}\n",
        100.0 * SE,
        row("1, 2, 4, 8 … commits", &links, &outcome.at_end),
        row("neighbours alone", &chain, &outcome.chain_at_end),
    );
    Section { text, bars }
}

fn loops(outcome: &Outcome) -> Section {
    let bars = vec![
        Bar::share(
            "histories whose loops show that a runner is broken",
            outcome.found_broken.count,
            outcome.found_broken.of,
            0.9,
        ),
        Bar::share(
            "histories whose loops name that runner",
            outcome.worst.count,
            outcome.worst.of,
            0.9,
        ),
        Bar::false_verdicts(
            "histories of sound runners whose loops do not close",
            outcome.cried.count,
            outcome.cried.of,
        ),
    ];
    let mut factors = outcome.factors.clone();
    factors.sort_by(f64::total_cmp);
    let middle = factors.get(factors.len() / 2).copied().unwrap_or(1.0);
    let mut table = "| true errors, relative to those reported | all loops do not close | its own loops do not close | it is named |\n| --- | --- | --- | --- |\n".to_owned();
    let mut row = |broken_by: f64, [found, worst, widened]: [Share; 3]| {
        let shares = [found, widened, worst].map(|share| share.told()).join(" | ");
        let _ = writeln!(table, "| {broken_by} times | {shares} |");
    };
    for (broken_by, shares) in LESS_BROKEN.into_iter().zip(outcome.less_broken) {
        row(broken_by, shares);
    }
    row(BROKEN_BY, [outcome.found_broken, outcome.worst, outcome.widened]);
    let text = format!(
        "## Loops that do not close\n\nRaces of commits can form a loop, such as A–B, B–C and A–C, \
         whose changes should add up to zero. A loop closes if its changes add up to zero within \
         their standard errors. A χ² test at 5% shows whether all loops of a history close. A \
         second test looks at the loops of each runner alone, at 5% divided by the number of \
         runners. The broken runner made one race in twenty. If all runners are sound, the first \
         test still finds loops that do not close in {} histories. The columns are:\n\n\
         - *true errors, relative to those reported*: how many times as large the errors of the \
         broken runner are as it reports.\n\
         - *all loops do not close*: histories in which the first test finds that not all loops \
         close.\n\
         - *its own loops do not close*: histories in which the second test finds this for the \
         loops of the broken runner.\n\
         - *it is named*: histories in which the broken runner has the smallest p-value of all \
         runners, so that the answer names it.\n\n\
         {table}\n\
         If the loops of a runner do not close, deadheat multiplies the standard errors of this \
         runner by a factor. deadheat did so for the broken runner in {} histories. The median \
         factor was {middle:.1}; {BROKEN_BY} would be right. In {} histories, deadheat also \
         widened the standard errors of a sound runner.\n\n",
        outcome.cried.told(),
        outcome.widened.told(),
        outcome.sound_widened.told(),
    );
    Section { text, bars }
}

fn peers(outcome: &Outcome) -> Section {
    let sizes: Vec<String> = CLASSES.iter().map(|(name, ..)| format!("found, {name}")).collect();
    let mut table = format!(
        "| | alerts | false | at a new machine | in creep | {} | at the commit | within one |\n|{}\n",
        sizes.join(" | "),
        " --- |".repeat(7 + CLASSES.len()),
    );
    for (name, alerts) in TOOLS.iter().zip(&outcome.tools) {
        table += &alerts.row(name);
    }
    let mut text = format!(
        "## Compared with change points in one run per commit\n\nOther tools look for change \
         points in one run per commit. This section gives them the same commits. The value of a \
         run is the level of the commit on the machine in use, plus noise. A new machine, every \
         {OF_A_MACHINE} commits, changes the level by −30 to +50%. While a machine is in use, its \
         level drifts by a random amount with a standard deviation of {:.0}%. The noise of a run \
         is {:.1}%. We wrote both methods from their descriptions:\n\n\
         - *E-divisive*, as in Hunter and Apache Otava: windows of 50 commits, and Student's t \
         test in place of permutations. Weak points are merged away until every p-value is at most \
         0.001.\n\
         - *T windows*, the method of Perfherder: compares the 12 runs before a commit with the 12 \
         runs after it, and gives an alert where t has a peak of 7 or more. This page does not use \
         Perfherder's minimum size of a change (2%).\n\n\
         Both methods take one run per commit, while a race of deadheat measures each side six or \
         more times. So two more rows give both methods one machine that never changes.\n\n",
        100.0 * DRIFT,
        100.0 * NOISE,
    );
    let _ = write!(
        text,
        "The columns are:\n\n\
         - *alerts*: alerts in a history, on average.\n\
         - *false*: alerts that are more than {ALLOWED} commits away from every step and fit \
         neither of the next two columns.\n\
         - *at a new machine*: alerts at a change of machine.\n\
         - *in creep*: alerts within a gradual creep.\n\
         - *found*: the share of steps of this size that have an alert at most {ALLOWED} commits \
         away. Such an alert counts as finding the step, for every tool.\n\
         - *at the commit*, *within one*: of the steps found, the share with an alert at the \
         commit of the step, or at most one commit away.\n\n\
         {table}\n\
         Boundaries of plateaus appear in the plot and raise no alert. The search for plateaus \
         assumes that all commits between two boundaries have the same level, so it finds more steps \
         than the test for steps, and it splits a gradual creep into several plateaus, like stairs.\n"
    );
    Section { text, bars: vec![] }
}

const QUESTIONS: [Question<Outcome>; 4] =
    [("steps and creep", steps), ("levels", levels), ("loops", loops), ("peers", peers)];

fn main() {
    let quick = is_quick();
    let root = repository();
    let histories = if quick { HISTORIES.1 } else { HISTORIES.0 };
    let outcome = simulate(histories);
    let facts = format!(
        "This page uses {histories} simulated histories of {COMMITS} commits, with consecutive \
         seeds. Each history has {STEPS} steps up or down: {OF_ONE_PERCENT} steps are exactly 1%, \
         and the others are 0.5 to 5%. In one stretch of each history, the time also creeps up, by \
         {}% per commit over {CREEPING} commits. A new machine comes into use every {OF_A_MACHINE} \
         commits. During {OF_THE_BROKEN} commits, the races run on a broken runner: its errors are \
         {BROKEN_BY} times as large as the standard errors that it reports. The true standard \
         error of a race is about {}% and varies by about a quarter from race to race. Each race \
         estimates its own standard error from 6 to 40 replicates.",
        100.0 * CREEP,
        100.0 * SE,
    );
    let page = Page { title: "Histories of commits", program: "history", facts: &facts, quick };
    if !page.write(root, &outcome, &QUESTIONS) {
        std::process::exit(1);
    }
}
