//! Searches for the commit that changed the time, by seeded simulation: how often the right one is
//! named and for how many races, beside a plain bisect and `git bisect run` with the tests that
//! scripts use.
//!
//! Writes `docs/validation/bisect.md`. Nothing is timed, so anything else may run beside it; takes
//! some minutes. With `--real` the last section of the page is measured again, by searches of real
//! repositories, which take some minutes of a quiet machine.

mod real;

use deadheat_validation::prelude::*;
use std::process::ExitCode;

use deadheat_bisect::culprit::{Answer, CommitRace, CulpritSearch};
use deadheat_stats::dist::{t_critical, t_two_sided_p};
use deadheat_stats::looks::Spending;
use deadheat_stats::summary::{mean, quantile, std_dev};
use deadheat_validation::made_run::normal;

/// Searches of each row, and of a trial.
const SEARCHES: (usize, usize) = (1_000, 40);
const COMMITS: usize = 1_024;
/// Races of a bisect that is never misled, that of the ends aside.
const NOISELESS: usize = 10;
/// Replicates of a race at most; the looks of a race begin at six.
const REPLICATES: usize = 40;
/// A search that has no answer after so many races is left open.
const MOST_RACES: usize = 40;
/// Standard deviation of the effect of a replicate: layout and machine.
const SCATTER: f64 = 0.006;
/// The same on a quiet machine, for a benchmark that runs in registers.
const PRECISE_SCATTER: f64 = 0.0006;
/// The distance of a disturbed race from the truth, to either side.
const OFF: f64 = 0.005;
/// Seconds of a build, and of a race of what is built.
const SECONDS: (f64, f64) = (60.0, 15.0);

words! {
    enum Noise {
        Normal = "normal",
        /// Student's t of three degrees of freedom, with the same standard deviation.
        HeavyTails = "t, 3 degrees",
        /// Normal with a tenth of the standard deviation.
        Precise = "precise",
        /// Normal, and one race in ten is off.
        Disturbed = "one race in ten off",
    }
}

impl Noise {
    fn draw(self, random: &mut SplitMix64) -> f64 {
        match self {
            Self::Normal | Self::Disturbed => SCATTER * normal(random),
            Self::Precise => PRECISE_SCATTER * normal(random),
            Self::HeavyTails => {
                // t of 3 degrees has a variance of 3.
                let square: f64 = (0..3).map(|_| normal(random).powi(2)).sum();
                SCATTER * normal(random) / square.sqrt()
            }
        }
    }

    fn shift(self, random: &mut SplitMix64) -> f64 {
        match (self, random.index_below(20)) {
            (Self::Disturbed, 0) => OFF,
            (Self::Disturbed, 1) => -OFF,
            _ => 0.0,
        }
    }
}

#[derive(Clone, Copy)]
enum History {
    /// A step at a uniform place.
    Step(f64),
    /// The same, and one commit in ten does not build.
    StepAmongUnbuildable(f64),
    /// Steps of these sizes at two uniform places.
    TwoSteps(f64, f64),
    /// As much in all, evenly.
    Creep(f64),
    /// As much in all, in so many steps at uniform places.
    Steps(usize, f64),
    /// A step, and each commit adds N(0, this) of its own.
    StepAndWalk(f64, f64),
    /// The code of each commit lies elsewhere: a level N(0, this) of its own.
    Placed(f64),
}

struct Drawn {
    /// ln of the time of each commit.
    levels: Vec<f64>,
    culprits: Vec<usize>,
    unbuildable: Vec<usize>,
}

impl History {
    fn draw(self, random: &mut SplitMix64) -> Drawn {
        let mut own = vec![0.0; COMMITS + 1];
        let mut culprits = Vec::new();
        let mut step = |size: f64, own: &mut [f64], random: &mut SplitMix64| {
            let place = 1 + random.index_below(COMMITS);
            own[place] += size;
            if size != 0.0 {
                culprits.push(place);
            }
        };
        let mut unbuildable = Vec::new();
        match self {
            Self::Step(size) => step(size, &mut own, random),
            Self::StepAmongUnbuildable(size) => {
                step(size, &mut own, random);
                let inner = 1..COMMITS;
                unbuildable.extend(inner.filter(|_| random.index_below(10) == 0));
            }
            Self::TwoSteps(one, other) => {
                step(one, &mut own, random);
                step(other, &mut own, random);
            }
            Self::Creep(all) => own[1..].fill(all / COMMITS as f64),
            Self::Steps(count, all) => {
                for _ in 0..count {
                    step(all / count as f64, &mut own, random);
                }
            }
            Self::StepAndWalk(size, each) => {
                step(size, &mut own, random);
                for of_commit in &mut own[1..] {
                    *of_commit += each * normal(random);
                }
            }
            Self::Placed(each) => {
                let levels = own.iter().map(|_| each * normal(random)).collect();
                return Drawn { levels, culprits, unbuildable };
            }
        }
        let mut level = 0.0;
        let levels = own.iter().map(|own| {
            level += own;
            level
        });
        Drawn { levels: levels.collect(), culprits, unbuildable }
    }
}

#[derive(Clone, Copy)]
struct Found {
    outcome: Outcome,
    /// True if it was told on the way that no single step explains the races.
    told_several: bool,
    races: usize,
    replicates: usize,
    builds: usize,
}

impl Found {
    fn open() -> Self {
        Self { outcome: Outcome::Open, told_several: false, races: 0, replicates: 0, builds: 2 }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    Right,
    Wrong,
    NoStep,
    NoSingleStep,
    Open,
}

#[derive(Clone, Copy)]
struct World {
    history: History,
    noise: Noise,
    margin: f64,
}

impl World {
    fn of(history: History, noise: Noise) -> Self {
        Self { history, noise, margin: 0.01 }
    }

    fn drawn(&self, seed: u64) -> (Drawn, SplitMix64) {
        let mut random = SplitMix64::new(seed * 7_919 + 17);
        (self.history.draw(&mut random), random)
    }

    /// Replicates of a race that goes on until `is_enough`, asked at the looks of every race.
    fn race(
        &self,
        levels: &[f64],
        (from, to): (usize, usize),
        random: &mut SplitMix64,
        mut is_enough: impl FnMut(&CommitRace) -> bool,
    ) -> (CommitRace, usize) {
        let looks = Spending::plan(REPLICATES, ALPHA).expect("looks").looks;
        let truth = levels[to] - levels[from] + self.noise.shift(random);
        let mut effects = Vec::new();
        let mut race = None;
        for look in looks {
            effects.resize_with(look, || truth + self.noise.draw(random));
            let estimate = CommitRace {
                from,
                to,
                theta: mean(&effects).expect("effects"),
                se: std_dev(&effects).expect("effects") / (look as f64).sqrt(),
                df: (look - 1) as f64,
            };
            race = Some((estimate, look));
            if is_enough(&estimate) {
                break;
            }
        }
        race.expect("a look")
    }

    fn search(&self, seed: u64) -> Found {
        let (drawn, mut random) = self.drawn(seed);
        let mut search = CulpritSearch::uniform(COMMITS, self.margin, ALPHA).expect("a search");
        // GOOD of the search, and what is built, by the numbers of the whole range.
        let (mut good, mut built) = (0, vec![0, COMMITS]);
        let mut found = Found::open();
        loop {
            let posterior = search.posterior();
            match posterior.answer() {
                None => {}
                Some(Answer::NoSingleStep { from, to, .. }) => {
                    found.told_several = true;
                    if to - from == search.last() {
                        found.outcome = Outcome::NoSingleStep;
                        return found;
                    }
                    search = search.between(from, to).expect("raced commits");
                    good += from;
                    continue;
                }
                Some(Answer::NoStep { .. }) => {
                    found.outcome = match found.told_several {
                        true => Outcome::NoSingleStep,
                        false => Outcome::NoStep,
                    };
                    return found;
                }
                Some(Answer::Commits(group)) => {
                    let named = good + group.first..=good + group.last;
                    let is_right = drawn.culprits.iter().any(|culprit| named.contains(culprit));
                    found.outcome = if is_right { Outcome::Right } else { Outcome::Wrong };
                    return found;
                }
            }
            let within = built.iter().filter(|commit| **commit >= good);
            let here: Vec<usize> = within.map(|commit| commit - good).collect();
            let cost = |from: usize, to: usize| {
                let sides = [from, to];
                let new = sides.iter().filter(|side| !here.contains(side));
                SECONDS.0 * new.count() as f64 + SECONDS.1
            };
            let next = search.next_race(&posterior, &here, cost);
            let Some(next) = next.filter(|_| found.races < MOST_RACES) else {
                return found;
            };
            let mut all_built = true;
            for side in [next.from, next.to] {
                if here.contains(&side) {
                    continue;
                }
                found.builds += 1;
                if drawn.unbuildable.contains(&(good + side)) {
                    search.mark_unbuildable(side).expect("an inner commit");
                    all_built = false;
                } else {
                    built.push(good + side);
                }
            }
            if !all_built {
                continue;
            }
            let levels = &drawn.levels[good..];
            let sides = (next.from, next.to);
            let (race, replicates) = self.race(levels, sides, &mut random, |running| {
                search.is_decided(*running).expect("an estimate")
            });
            search.add(race).expect("an estimate");
            found.races += 1;
            found.replicates += replicates;
        }
    }

    fn plain_bisect(
        &self,
        seed: u64,
        mut is_slower: impl FnMut(&Self, &[f64], usize, &mut SplitMix64) -> (bool, usize),
    ) -> Found {
        let (drawn, mut random) = self.drawn(seed);
        let (mut good, mut bad) = (0, COMMITS);
        let mut found = Found { outcome: Outcome::Wrong, ..Found::open() };
        while bad - good > 1 {
            let middle = good.midpoint(bad);
            let (slower, replicates) = is_slower(self, &drawn.levels, middle, &mut random);
            if slower {
                bad = middle
            } else {
                good = middle
            }
            found.races += 1;
            found.builds += 1;
            found.replicates += replicates;
        }
        if drawn.culprits.contains(&bad) {
            found.outcome = Outcome::Right;
        }
        found
    }
}

fn full_race(
    world: &World,
    levels: &[f64],
    commit: usize,
    random: &mut SplitMix64,
) -> (bool, usize) {
    let (race, replicates) = world.race(levels, (0, commit), random, |_| false);
    let far = race.theta / race.se > t_critical(ALPHA, race.df);
    (far, replicates)
}

/// Ten runs of GOOD and ten of the commit after them, and Welch's test at 5%. A run scatters so
/// that a difference of two has the scatter of a replicate, and the machine drifts by a walk of
/// .1% a run.
fn ten_and_ten(
    world: &World,
    levels: &[f64],
    commit: usize,
    random: &mut SplitMix64,
) -> (bool, usize) {
    let shift = world.noise.shift(random);
    let mut drift = 0.0;
    let mut runs = |level: f64| -> Vec<f64> {
        let run = |_| {
            drift += 0.001 * normal(random);
            level + drift + world.noise.draw(random) / 2f64.sqrt()
        };
        (0..10).map(run).collect()
    };
    let (old, new) = (runs(levels[0]), runs(levels[commit] + shift));
    let test = welch(&new, &old).expect("runs that scatter");
    let is_slower = mean(&new) > mean(&old);
    (is_slower && test.p_value() < 0.05, 10)
}

/// A hundred samples of each side by one process each, whose layouts differ as replicates do, with
/// a scatter of 1% from sample to sample: slower if p < .05 and the interval of the change lies
/// beyond the noise threshold of 1%.
fn one_process_each(
    world: &World,
    levels: &[f64],
    commit: usize,
    random: &mut SplitMix64,
) -> (bool, usize) {
    let change = levels[commit] - levels[0] + world.noise.shift(random) + world.noise.draw(random);
    let mut samples = |level: f64| -> Vec<f64> {
        let one = |_| level + 0.01 * normal(random);
        (0..100).map(one).collect()
    };
    let (old, new) = (samples(0.0), samples(change));
    let error = |samples: &[f64]| std_dev(samples).expect("samples").powi(2) / 100.0;
    let error = (error(&old) + error(&new)).sqrt();
    let seen = mean(&new).expect("samples") - mean(&old).expect("samples");
    let p = t_two_sided_p(seen / error, 198.0);
    let low = seen - t_critical(0.05, 198.0) * error;
    (p < 0.05 && low > 0.01f64.ln_1p(), 1)
}

struct Row {
    found: Vec<Found>,
}

impl Row {
    fn of(searches: usize, search: impl Fn(u64) -> Found + Sync) -> Self {
        Self { found: in_parallel(searches, |number| search(number as u64)) }
    }

    fn count(&self, outcome: Outcome) -> usize {
        self.found.iter().filter(|found| found.outcome == outcome).count()
    }

    fn mean(&self, value: impl Fn(&Found) -> usize) -> f64 {
        let sum: usize = self.found.iter().map(value).sum();
        sum as f64 / self.found.len() as f64
    }

    /// Mean, 95th percentile and maximum.
    fn spread(&self, value: impl Fn(&Found) -> usize) -> String {
        let mut values: Vec<f64> = self.found.iter().map(|found| value(found) as f64).collect();
        values.sort_by(f64::total_cmp);
        let at = |share: f64| quantile(&values, share).expect("some searches");
        format!("{:.1} ({:.0}, {:.0})", self.mean(value), at(0.95), at(1.0))
    }

    fn counts(&self) -> String {
        use Outcome::{NoSingleStep, NoStep, Open, Right, Wrong};
        let counts = [Right, Wrong, NoStep, NoSingleStep, Open].map(|outcome| self.count(outcome));
        let told = self.found.iter().filter(|found| found.told_several);
        let counts = counts.map(|count| count.to_string()).join(" | ");
        format!("{counts} | {}", told.count())
    }

    fn costs(&self) -> String {
        format!(
            "{} | {} | {:.1}",
            self.spread(|found| found.races),
            self.spread(|found| found.replicates),
            self.mean(|found| found.builds)
        )
    }

    /// The promise that no more than α of the searches name a wrong commit.
    fn seldom_wrong(&self, what: &str) -> Bar {
        let of = self.found.len();
        let (wrong, allowed) = (self.count(Outcome::Wrong), binomial_bound(of as u64, ALPHA, 0.99));
        Bar::told(
            format!("{what}: a wrong commit named"),
            format!("at most 5% (chance allows {allowed} of {of})"),
            format!("{wrong} of {of}"),
            wrong as u64 <= allowed,
        )
    }
}

const HEAD: &str = "| history | noise | margin | right | wrong | no step | no single step | undecided | several reported | races | replicates | builds |\n\
                    | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";

struct Setting {
    searches: usize,
}

impl Setting {
    fn row(&self, name: &str, world: World, table: &mut String) -> Row {
        eprintln!("  {name}, {}", world.noise.key());
        let row = Row::of(self.searches, |seed| world.search(seed));
        let _ = writeln!(
            table,
            "| {name} | {} | {:.1}% | {} | {} |",
            world.noise.key(),
            world.margin * 100.0,
            row.counts(),
            row.costs()
        );
        row
    }
}

const NOISES: [Noise; 3] = [Noise::Normal, Noise::HeavyTails, Noise::Disturbed];

fn one_step(setting: &Setting) -> Section {
    let mut table = HEAD.to_owned();
    let mut bars = Vec::new();
    let small =
        |step: f64| World { margin: 0.005, ..World::of(History::Step(step), Noise::Normal) };
    let unbuildable = History::StepAmongUnbuildable(0.01f64.ln_1p());
    let mut worlds: Vec<(&str, World)> = Vec::new();
    for noise in NOISES {
        worlds.push(("+1%", World::of(History::Step(0.01f64.ln_1p()), noise)));
    }
    worlds.push(("−1%", World::of(History::Step(-0.01f64.ln_1p()), Noise::Normal)));
    worlds.push(("+1%", small(0.01f64.ln_1p())));
    worlds.push(("+1%, one commit in ten does not build", World::of(unbuildable, Noise::Normal)));
    for (name, step) in [("+2%", 0.02), ("+5%", 0.05)] {
        for noise in [Noise::Normal, Noise::Disturbed] {
            worlds.push((name, World::of(History::Step(f64::ln_1p(step)), noise)));
        }
    }
    for (name, world) in worlds {
        let row = setting.row(name, world, &mut table);
        let what = format!("{name}, {}, margin {:.1}%", world.noise.key(), world.margin * 100.0);
        bars.push(Bar::share(
            format!("{what}: the right commit of {COMMITS} named"),
            row.count(Outcome::Right),
            row.found.len(),
            0.95,
        ));
        bars.push(Bar::at_most(
            format!("{what}: races, mean"),
            row.mean(|found| found.races),
            (2 * NOISELESS) as f64,
            1,
            "",
        ));
    }
    Section {
        text: format!(
            "## One step\n\n\
             Each simulated history has one step, at a uniformly drawn place among {COMMITS} \
             commits. A bisect without noise takes {NOISELESS} races.\n\n\
             Races and replicates are numbers per search, given as mean (95th percentile, \
             maximum). The races include the race of the two ends and the race that confirms the \
             culprit. A race takes 6 to {REPLICATES} replicates. The number of builds includes the \
             builds of the two ends of the history, and the builds that fail.\n\n\
             deadheat cannot race a commit that does not build. If the step is at such a commit, or at \
             the first commit after it that builds, deadheat names a group: the commits that do \
             not build, and the first commit after them that builds. Such an answer is *right* if \
             the group contains the culprit. The section *Other histories* \
             explains the columns *no single step* and *several reported*.\n\n\
             {table}\n"
        ),
        bars,
    }
}

fn no_step(setting: &Setting) -> Section {
    let mut table = HEAD.to_owned();
    let mut bars = Vec::new();
    for noise in NOISES {
        let row = setting.row("no change", World::of(History::Step(0.0), noise), &mut table);
        bars.push(row.seldom_wrong(&format!("no change, {}", noise.key())));
    }
    for (name, step) in [("+0.3%", 0.003), ("+0.5%", 0.005), ("+0.7%", 0.007)] {
        let world = World::of(History::Step(f64::ln_1p(step)), Noise::Normal);
        let row = setting.row(name, world, &mut table);
        bars.push(row.seldom_wrong(name));
    }
    for (margin, noise) in [(0.01, Noise::Normal), (0.01, Noise::Precise), (0.05, Noise::Precise)] {
        let world = World { margin, ..World::of(History::Placed(0.0005), noise) };
        let name = ".05% by the place of the code";
        let row = setting.row(name, world, &mut table);
        bars.push(Bar::share(
            format!(
                "{name}, {}, margin {:.0}%: no step is the answer",
                noise.key(),
                margin * 100.0
            ),
            row.count(Outcome::NoStep),
            row.found.len(),
            0.95,
        ));
    }
    Section {
        text: format!(
            "## No step of that size\n\n\
             If nothing changed, naming any commit is wrong. For a step below the margin, two \
             answers are right: its commit, and \"no step of that size\". An answer that names any \
             other commit is wrong.\n\n\
             In the last three rows, the code of each commit lies at a different place, which \
             changes its time by N(0, .05%). *Precise* noise has a tenth of the scatter of normal \
             noise. With precise noise, the races measure even these differences of about .05%. \
             They are far below the margin, so the right answer is \"no step of that size\".\n\n\
             {table}\n"
        ),
        bars,
    }
}

fn other_histories(setting: &Setting) -> Section {
    let mut table = HEAD.to_owned();
    let mut bars = Vec::new();
    let histories = [
        ("+2% and −1%", History::TwoSteps(0.02, -0.01)),
        ("+1% and −1%", History::TwoSteps(0.01, -0.01)),
        ("+1% and +1%", History::TwoSteps(0.01, 0.01)),
        ("+2% and +0.5%", History::TwoSteps(0.02, 0.005)),
        ("creep, +1% in all", History::Creep(0.01)),
        ("creep, +2% in all", History::Creep(0.02)),
        ("creep, +5% in all", History::Creep(0.05)),
        ("10 steps, +3% in all", History::Steps(10, 0.03)),
        ("+2%, and .01% by each commit", History::StepAndWalk(0.02, 0.0001)),
    ];
    for (name, history) in histories {
        for noise in [Noise::Normal, Noise::Disturbed] {
            let row = setting.row(name, World::of(history, noise), &mut table);
            bars.push(row.seldom_wrong(&format!("{name}, {}", noise.key())));
        }
    }
    Section {
        text: format!(
            "## Other histories\n\n\
             This section has four kinds of histories:\n\n\
             - two steps at two uniformly drawn places\n\
             - creep: every commit adds the same amount\n\
             - ten equal steps\n\
             - one step, and each commit also adds N(0, .01%)\n\n\
             If a history has steps, the commit of any step is a right answer, and any other \
             commit is wrong. If a history has creep, every commit is a wrong answer.\n\n\
             If no single step explains the races, deadheat reports this and continues the search \
             between the two raced neighbours that differ most. *Several reported* counts the \
             searches with this report. *No single step* counts the searches with this report that \
             then found no step between these neighbours.\n\n\
             {table}\n"
        ),
        bars,
    }
}

type Test = fn(&World, &[f64], usize, &mut SplitMix64) -> (bool, usize);

fn peers(setting: &Setting) -> Section {
    let mut table = "| history | noise | by | right | wrong | without an answer | races | replicates or runs of a commit |\n\
                     | --- | --- | --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    let tests: [(&str, Test); 3] = [
        ("plain bisect, 40 replicates of each commit", full_race),
        ("`git bisect run`, Welch, 10 + 10 runs", ten_and_ten),
        ("`git bisect run`, criterion's rule", one_process_each),
    ];
    for (name, step) in [("+1%", 0.01), ("+2%", 0.02), ("+5%", 0.05), ("no change", 0.0)] {
        for noise in NOISES {
            eprintln!("  {name}, {}", noise.key());
            let world = World::of(History::Step(f64::ln_1p(step)), noise);
            let ours = Row::of(setting.searches, |seed| world.search(seed));
            let theirs = tests.map(|(by, test)| {
                let row = Row::of(setting.searches, |seed| world.plain_bisect(seed, test));
                (by, row)
            });
            for (by, row) in [("deadheat", ours)].into_iter().chain(theirs) {
                let (right, wrong) = (row.count(Outcome::Right), row.count(Outcome::Wrong));
                let _ = writeln!(
                    table,
                    "| {name} | {} | {by} | {right} | {wrong} | {} | {:.1} | {:.0} |",
                    noise.key(),
                    row.found.len() - right - wrong,
                    row.mean(|found| found.races),
                    row.mean(|found| found.replicates)
                );
            }
        }
    }
    Section {
        text: format!(
            "## Compared with a plain bisect\n\n\
             The searches in the next table use the same histories and the same noise as the \
             searches of deadheat above. A plain bisect halves the range by one test of the middle \
             commit against GOOD, and always names a commit. The table has three variants of the \
             plain bisect:\n\n\
             - *40 replicates of each commit*: all {REPLICATES} replicates of each race, in pairs \
             like those of deadheat, and a t test at 5%.\n\
             - *Welch, 10 + 10 runs*, as in scripts for `git bisect run`: ten runs of GOOD, then \
             ten runs of the commit, and Welch's test at 5%. A run scatters by .42%, so the \
             difference of two runs scatters like a replicate. The machine drifts by a random walk \
             of .1% a run.\n\
             - *criterion's rule*: a hundred samples of each side from one process per side, whose \
             code layouts differ by .6%. The commit is slower if p < .05 and the interval of the \
             change lies beyond the noise threshold of 1%.\n\n\
             None of the three variants races GOOD against BAD first, so all three name a commit \
             even if no commit changed the speed.\n\n\
             {table}\n"
        ),
        bars: Vec::new(),
    }
}

const QUESTIONS: [Question<Setting>; 4] = [
    ("one step", one_step),
    ("no step", no_step),
    ("other histories", other_histories),
    ("beside a plain bisect", peers),
];

fn write_real_section(page: &Path, asked: &Wanted) -> ExitCode {
    let (section, kept) = real::section(asked);
    println!("{section}");
    if !asked.quick && asked.races.is_none() {
        let text = fs::read_to_string(page).unwrap_or_default();
        let before = text.split(real::HEADING).next().unwrap_or_default();
        fs::write(page, format!("{before}{section}")).expect("the page can be written");
    }
    ExitCode::from(u8::from(!kept))
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [option, build] = &words[..]
        && option == real::JUDGE
    {
        return real::judge(build);
    }
    let page_file = repository().join("docs/validation/bisect.md");
    let asked = Wanted::of_options(&["quick", "only", "races", "real"]);
    if asked.real {
        return write_real_section(&page_file, &asked);
    }
    // The simulations leave the section of real repositories as it is.
    let before = fs::read_to_string(&page_file).unwrap_or_default();
    let real_section = before.split_once(real::HEADING).map(|(_, section)| section.to_owned());
    let root = repository();
    let setting = Setting { searches: asked.races(SEARCHES.0, SEARCHES.1) };
    let facts = format!(
        "Each row has {} simulated searches, with consecutive seeds, at α = 5%. The effects of \
         replicates scatter by .6% (standard deviation). The scatter is normal, or has a t \
         distribution with three degrees of freedom. In rows with *one race in ten off*, a tenth \
         of the races measure a change that is off by .5%, in either direction. deadheat chooses \
         the next race as if a build took {:.0} s and a race {:.0} s. A search without an answer \
         after {MOST_RACES} races counts as undecided.",
        setting.searches, SECONDS.0, SECONDS.1
    );
    let page = Page {
        title: "Which commit changed the time",
        program: "bisect",
        facts: &facts,
        quick: asked.quick,
    };
    let kept = page.write_asked(root, &setting, &QUESTIONS, &asked);
    if let Some(section) = real_section.filter(|_| !asked.quick && asked.only.is_empty()) {
        let text = fs::read_to_string(&page_file).unwrap_or_default();
        let whole = format!("{text}{}{section}", real::HEADING);
        fs::write(&page_file, whole).expect("the page can be written");
    }
    ExitCode::from(u8::from(!kept))
}
