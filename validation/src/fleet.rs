//! Verdicts over hosts, by seeded simulation: what hosts that differ do to them, and to the ways of
//! tools that pool what every host measured.
//!
//! Writes `docs/validation/fleet.md`. Nothing is timed, so anything else may run beside it; takes
//! some minutes. With `--quick` all is tried in small numbers and printed, and nothing is written.

use deadheat_validation::prelude::*;

use deadheat::parts::analysis::{Options, analyse};
use deadheat::parts::model::{
    BlockRecord, Comparison, EndReason, Environment, Host, Merged, Run, RunEnd, RunHeader, ShardBy,
    Verdict, Workload,
};
use deadheat_stats::dist::t_critical;
use deadheat_stats::summary::{mean, std_dev};
use deadheat_testing::runs::{benchmark, contenders, design, header, one_look, sample};
use deadheat_validation::made_run::normal;

/// Merged runs of each row, and of a trial.
const RUNS: (usize, usize) = (4_000, 40);
const REPLICATES: u32 = 40;

words! {
    enum Kind {
        /// Each has ten replicates, whose effects scatter by .5%.
        Alike = "alike",
        /// From 6 to 40 replicates, whose effects scatter by .4% on one half of the hosts and by
        /// 2% on the other.
        Unequal = "unequal",
        /// As alike ones, but one of them shows 20% more.
        OneBroken = "one broken",
        /// The same, but it shows 2% more.
        OneUneven = "one uneven",
        /// As alike ones, but every second shows 2% more.
        HalfUneven = "half uneven",
        /// Of two kinds that differ by 4% in the effect they show, in equal numbers.
        TwoKinds = "two kinds",
    }
}

impl Kind {
    fn distortion(self, place: u32) -> f64 {
        match self {
            Self::OneBroken if place == 0 => 0.2,
            Self::OneUneven if place == 0 => 0.02,
            Self::HalfUneven if place.is_multiple_of(2) => 0.02,
            _ => 0.0,
        }
    }
}

#[derive(Clone, Copy)]
struct World {
    hosts: u32,
    kind: Kind,
    host_sd: f64,
    effect: f64,
    /// Raced with a copy of the baseline in every block.
    control: bool,
}

struct Drawn {
    run: Run,
    truths: Vec<f64>,
    /// What the next host would show.
    next: f64,
    /// The effects of the replicates of each host.
    effects: Vec<Vec<f64>>,
}

impl World {
    fn host(&self, place: u32, random: &mut SplitMix64) -> (f64, f64, u32) {
        let own = self.effect + self.host_sd * normal(random);
        match self.kind {
            Kind::Alike | Kind::OneBroken | Kind::OneUneven | Kind::HalfUneven => (own, 0.005, 10),
            Kind::TwoKinds => (own + if place.is_multiple_of(2) { 0.02 } else { -0.02 }, 0.005, 10),
            Kind::Unequal => {
                let scatter = if place.is_multiple_of(2) { 0.004 } else { 0.02 };
                (own, scatter, 6 + random.index_below(35) as u32)
            }
        }
    }

    fn draw(&self, seed: u64) -> Drawn {
        let mut random = SplitMix64::new(seed);
        let hosts = (1..=self.hosts).map(|shard| Host {
            shard,
            boot: Some(shard.to_string()),
            ..Host::default()
        });
        let names = ["old", "new"];
        let mut raced = benchmark("b", contenders(names, &Workload::Recording));
        if self.control {
            raced.add_control();
        }
        let known = header(design(one_look(REPLICATES * self.hosts)), 1, vec![raced]);
        let mut run = Run::new(RunHeader {
            environment: Environment {
                merged: Some(Merged {
                    count: self.hosts,
                    by: ShardBy::Host,
                    replicates: REPLICATES,
                    hosts: hosts.collect(),
                }),
                ..Environment::default()
            },
            tick_ns: None,
            ..known
        });
        let (mut truths, mut effects) = (Vec::new(), Vec::new());
        for place in 0..self.hosts {
            let (truth, scatter, count) = self.host(place, &mut random);
            truths.push(truth);
            let mut of_host = Vec::new();
            for replicate in 0..count {
                let distorted = self.kind.distortion(place);
                let mut record = BlockRecord {
                    replicate: place * REPLICATES + replicate,
                    ..BlockRecord::default()
                };
                let effect = if self.control {
                    // One sample of each, and that of the baseline is in both effects.
                    let mut one = || scatter * normal(&mut random) / 2f64.sqrt();
                    let (a, b, copy) = (one(), truth + distorted + one(), distorted + one());
                    record.samples = [0, 1, 2].map(sample).to_vec();
                    record.values = [a, b, copy].map(|log| 1e6 * log.exp()).to_vec();
                    b - a
                } else {
                    let effect = truth + distorted + scatter * normal(&mut random);
                    let (a, b) = (1e6, 1e6 * effect.exp());
                    record.samples = [0, 1, 1, 0].map(sample).to_vec();
                    record.values = vec![a, b, b, a];
                    effect
                };
                run.benchmarks[0].push(&record).expect("a sound block");
                of_host.push(effect);
            }
            effects.push(of_host);
        }
        run.end = Some(RunEnd { reason: EndReason::Finished, launches: 0, elapsed_ns: 1 });
        // The next host is like a random one of these, and no broken one.
        let place = if random.bits() >> 63 == 0 { 2 } else { 3 };
        let (truth, scatter, count) = self.host(place, &mut random);
        let errors = (0..count).map(|_| scatter * normal(&mut random));
        let next = truth + errors.sum::<f64>() / f64::from(count);
        Drawn { run, truths, next, effects }
    }
}

#[derive(Clone, Copy, Default)]
struct Counts {
    runs: usize,
    called: usize,
    slower: usize,
    /// Intervals that hold the mean of all hosts that there might be, and those that hold the mean
    /// of these.
    holds_all: usize,
    holds_these: usize,
    predictions: usize,
    holds_next: usize,
    pooled: usize,
    by_precision: usize,
    even_left_out: usize,
    uneven_left_out: usize,
    provisional: usize,
}

impl Counts {
    fn take(&mut self, drawn: &Drawn, world: &World) {
        let options = Options { without_figures: true, ..Options::default() };
        let analysis = analyse(&drawn.run, options);
        let Some(comparison) = analysis.comparisons.first() else { panic!("no answer") };
        self.runs += 1;
        self.slower += usize::from(comparison.verdict == Some(Verdict::Slower));
        let moved = matches!(comparison.verdict, Some(Verdict::Slower | Verdict::Faster));
        self.called += usize::from(moved);
        let holds =
            |truth: f64| interval(comparison).is_some_and(|(l, h)| l <= truth && truth <= h);
        self.holds_all += usize::from(holds(world.effect));
        let rows = comparison.aspects.hosts.iter().flat_map(|across| &across.hosts);
        let left_out: Vec<bool> = rows.map(|host| host.left_out).collect();
        let all = drawn.truths.iter().zip(&left_out);
        let these: Vec<f64> = all.filter(|(_, out)| !**out).map(|(of, _)| *of).collect();
        self.holds_these += usize::from(holds(mean(&these).expect("some hosts")));
        let gone = |even: bool| {
            let mut hosts = (0..).zip(&left_out);
            hosts.any(|(place, out)| *out && (world.kind.distortion(place) == 0.0) == even)
        };
        self.even_left_out += usize::from(gone(true));
        self.uneven_left_out += usize::from(gone(false));
        self.provisional += usize::from(comparison.evidence.provisional);
        let next = comparison.aspects.hosts.as_ref().and_then(|hosts| hosts.next_host);
        if let Some(next) = next {
            self.predictions += 1;
            let held = next.low.0 <= drawn.next && drawn.next <= next.high.0;
            self.holds_next += usize::from(held);
        }
        let all: Vec<f64> = drawn.effects.concat();
        self.pooled += usize::from(called_by_t(&all));
        self.by_precision += usize::from(called_by_precision(&drawn.effects));
    }

    fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.called += other.called;
        self.slower += other.slower;
        self.holds_all += other.holds_all;
        self.holds_these += other.holds_these;
        self.predictions += other.predictions;
        self.holds_next += other.holds_next;
        self.pooled += other.pooled;
        self.by_precision += other.by_precision;
        self.even_left_out += other.even_left_out;
        self.uneven_left_out += other.uneven_left_out;
        self.provisional += other.provisional;
    }
}

fn interval(comparison: &Comparison) -> Option<(f64, f64)> {
    let interval = comparison.estimate.as_ref()?.interval?;
    Some((interval.low.0, interval.high.0))
}

fn called_by_t(effects: &[f64]) -> bool {
    let count = effects.len() as f64;
    let error = std_dev(effects).unwrap_or(0.0) / count.sqrt();
    mean(effects).unwrap_or(0.0).abs() > t_critical(ALPHA, count - 1.0) * error
}

fn called_by_precision(effects: &[Vec<f64>]) -> bool {
    let (mut weights, mut weighted) = (0.0, 0.0);
    for of_host in effects {
        let variance = std_dev(of_host).unwrap_or(1.0).powi(2) / of_host.len() as f64;
        weights += variance.recip();
        weighted += mean(of_host).unwrap_or(0.0) / variance;
    }
    (weighted / weights).abs() > 1.959_964 / weights.sqrt()
}

fn counted(world: &World, runs: usize) -> Counts {
    let mut all = Counts::default();
    let counts = in_parallel(runs, |number| {
        let mut counts = Counts::default();
        counts.take(&world.draw(number as u64 * 7_919 + 17), world);
        counts
    });
    counts.iter().for_each(|one| all.add(one));
    all
}

fn percent(count: usize, of: usize) -> String {
    match of {
        0 => "–".to_owned(),
        _ => format!("{:.1}", 100.0 * count as f64 / of as f64),
    }
}

const HEAD: &str = "| hosts | kind | host to host, sd | false verdicts, % | interval contains the truth, % | contains the next host, % | all pairs pooled: false, % | by precision: false, % | +1% found, % |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";

fn raced(world: &World, runs: usize) -> (Counts, Counts, bool, usize) {
    let equal = counted(world, runs);
    let effect = 0.01f64.ln_1p();
    let slower = counted(&World { effect, ..*world }, runs);
    let like_these = world.hosts >= 6;
    let holds = if like_these { equal.holds_all } else { equal.holds_these };
    (equal, slower, like_these, holds)
}

fn rows(worlds: &[World], runs: usize, bars: &mut Vec<Bar>) -> String {
    let mut text = HEAD.to_owned();
    for world in worlds {
        let (equal, slower, like_these, holds) = raced(world, runs);
        let wrong = equal.runs - holds;
        // Of a few hosts only these are spoken of, and these may differ.
        let (false_verdicts, told) = match like_these {
            true => (equal.called, percent(equal.called, equal.runs)),
            false => (wrong, "–".to_owned()),
        };
        let what = format!(
            "{} hosts, {}, {:.1}% apart",
            world.hosts,
            world.kind.key(),
            world.host_sd * 100.0
        );
        if world.kind != Kind::OneBroken {
            let allowed = binomial_bound(equal.runs as u64, ALPHA, 0.999);
            let worst = wrong.max(false_verdicts);
            bars.push(Bar::told(
                format!("{what}: wrong"),
                format!("at most alpha = 5% (chance allows {allowed})"),
                format!("{worst} of {}", equal.runs),
                worst as u64 <= allowed,
            ));
        }
        let plain = matches!(world.kind, Kind::Alike);
        if equal.predictions > 0 && plain {
            let missed = equal.predictions - equal.holds_next;
            let allowed = binomial_bound(equal.predictions as u64, ALPHA, 0.999);
            bars.push(Bar::told(
                format!("{what}: the next host missed"),
                format!("at most 5% (chance allows {allowed})"),
                format!("{missed} of {}", equal.predictions),
                missed as u64 <= allowed,
            ));
        }
        let _ = writeln!(
            text,
            "| {} | {} | {:.1}% | {told} | {} | {} | {} | {} | {} |",
            world.hosts,
            world.kind.key(),
            world.host_sd * 100.0,
            percent(holds, equal.runs),
            percent(equal.holds_next, equal.predictions),
            percent(equal.pooled, equal.runs),
            percent(equal.by_precision, equal.runs),
            percent(slower.slower, slower.runs),
        );
    }
    text
}

struct Setting {
    runs: usize,
}

/// So many hosts of each kind, at each distance of hosts.
fn grid(hosts: u32, kinds: &[Kind], host_sds: &[f64]) -> Vec<World> {
    let mut worlds = Vec::new();
    for host_sd in host_sds.iter().copied() {
        worlds.extend(kinds.iter().map(|kind| World {
            hosts,
            kind: *kind,
            host_sd,
            effect: 0.0,
            control: false,
        }));
    }
    worlds
}

const HOST_SDS: [f64; 4] = [0.0, 0.003, 0.01, 0.05];

fn many(setting: &Setting) -> Section {
    let mut worlds = Vec::new();
    for hosts in [6, 10, 20, 40] {
        worlds.extend(grid(hosts, &[Kind::Alike, Kind::Unequal], &HOST_SDS));
        worlds.extend(grid(hosts, &[Kind::TwoKinds, Kind::OneBroken], &[0.003]));
    }
    let mut bars = Vec::new();
    let table = rows(&worlds, setting.runs, &mut bars);
    let text = format!(
        "## Hosts like these\n\n\
         deadheat treats six hosts or more as a sample from a population of hosts. The true change \
         is the mean over the population. This mean is zero here, so a verdict of faster or slower \
         is false.\n\n\
         The kinds of hosts:\n\n\
         - *alike*: each host has ten replicates, whose effects scatter by .5%.\n\
         - *unequal*: each host has 6 to 40 replicates. The effects scatter by .4% on one half of \
         the hosts and by 2% on the other half.\n\
         - *two kinds*: the change is +2% on one half of the hosts and −2% on the other half.\n\
         - *one broken*: the change is +20% on one host and zero on the other hosts. deadheat \
         promises nothing for this case.\n\n\
         The columns:\n\n\
         - *host to host, sd*: the standard deviation of the change from host to host.\n\
         - *contains the next host*: how often deadheat's interval for one more host contains the \
         result of this host. The next host is drawn from the same distribution as the raced hosts \
         and has the same precision. For hosts of unequal precision, deadheat promises nothing \
         about the next host.\n\
         - *all pairs pooled*: false verdicts of one t test at 5% over the pairs of all hosts. \
         Tools that treat several hosts as one machine use a test of this kind.\n\
         - *by precision*: false verdicts of a test at 5% of the mean of the hosts, weighted by \
         their estimated precision.\n\
         - *+1% found*: verdicts of slower in the same simulation with a true change of +1%.\n\n\
         {table}\n"
    );
    Section { text, bars }
}

fn few(setting: &Setting) -> Section {
    let kinds = [Kind::Alike, Kind::Unequal];
    let worlds: Vec<World> =
        [2, 3, 5].into_iter().flat_map(|hosts| grid(hosts, &kinds, &HOST_SDS)).collect();
    let mut bars = Vec::new();
    let table = rows(&worlds, setting.runs, &mut bars);
    let text = format!(
        "## These hosts, and no others\n\n\
         With fewer than six hosts, the verdict is about these hosts alone. The truth is the mean \
         of the effects on these hosts, which is not 0 if the hosts differ. So a verdict of faster \
         or slower can be right, and the column of false verdicts is empty. The criterion is that \
         the interval contains the mean of these hosts. The columns *all pairs pooled* and *by \
         precision* still count every verdict of faster or slower as false.\n\n\
         {table}\n"
    );
    Section { text, bars }
}

const HEAD_OF_CONTROLS: &str = "| hosts | kind | host to host, sd | control | false verdicts, % | interval contains the truth, % | an undistorted host left out, % | the distorted one left out, % | provisional, % | +1% found, % |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";

/// The chance that a host is left out where all measure evenly.
const LEFT_OUT: f64 = 0.01;

fn controls(setting: &Setting) -> Section {
    let mut worlds = Vec::new();
    for hosts in [3, 5, 6, 10, 20, 40] {
        let spread = grid(hosts, &[Kind::Alike, Kind::Unequal], &[0.0, 0.01]);
        let broken = grid(hosts, &[Kind::OneBroken, Kind::OneUneven], &[0.003]);
        let controlled = spread.iter().chain(&broken);
        worlds.extend(broken.iter().copied());
        worlds.extend(controlled.map(|world| World { control: true, ..*world }));
    }
    worlds.extend([3, 10].map(|hosts| World {
        hosts,
        kind: Kind::HalfUneven,
        host_sd: 0.003,
        effect: 0.0,
        control: true,
    }));
    let mut bars = Vec::new();
    let mut table = HEAD_OF_CONTROLS.to_owned();
    for world in &worlds {
        row_of_controls(world, setting.runs, &mut table, &mut bars);
    }
    let text = format!(
        "## Hosts left out by their controls\n\n\
         With `--control`, the baseline races a copy of itself on every host, in the same blocks \
         as the candidate. deadheat leaves out a host on which the copy differs too much from the \
         baseline. The distorted hosts:\n\n\
         - *one broken*: one host adds 20% to anything raced against its baseline, to the copy and \
         the candidate alike.\n\
         - *one uneven*: one host adds 2% in the same way.\n\
         - *half uneven*: every second host adds 2% in the same way. deadheat then leaves out no \
         host, because it would have to leave out more than a third of the hosts.\n\n\
         The hosts without a fault have the same noise as the hosts of the sections above.\n\n\
         With six hosts or more, the true change is the mean over the population of undistorted \
         hosts. With fewer hosts, the true change is the mean of the hosts that are not left \
         out.\n\n\
         deadheat promises nothing for *half uneven*, nor for a distorted host without a control. \
         With *half uneven*, the control over all hosts makes the verdict provisional. In other \
         runs with a control, at most 5% of the verdicts should become provisional.\n\n\
         {table}\n"
    );
    Section { text, bars }
}

fn row_of_controls(world: &World, runs: usize, table: &mut String, bars: &mut Vec<Bar>) {
    let (equal, slower, like_these, holds) = raced(world, runs);
    let what = format!(
        "{} hosts, {}, {:.1}% apart, {} control",
        world.hosts,
        world.kind.key(),
        world.host_sd * 100.0,
        if world.control { "with" } else { "without" }
    );
    if world.control && world.kind != Kind::HalfUneven {
        let wrong = equal.runs - holds;
        let worst = if like_these { wrong.max(equal.called) } else { wrong };
        let allowed = binomial_bound(equal.runs as u64, ALPHA, 0.999);
        bars.push(Bar::told(
            format!("{what}: wrong"),
            format!("at most alpha = 5% (chance allows {allowed})"),
            format!("{worst} of {}", equal.runs),
            worst as u64 <= allowed,
        ));
    }
    if world.control && world.kind != Kind::HalfUneven {
        let allowed = binomial_bound(equal.runs as u64, ALPHA, 0.999);
        bars.push(Bar::told(
            format!("{what}: provisional"),
            format!("at most alpha = 5% (chance allows {allowed})"),
            format!("{} of {}", equal.provisional, equal.runs),
            equal.provisional as u64 <= allowed,
        ));
        let allowed = binomial_bound(equal.runs as u64, LEFT_OUT, 0.999);
        bars.push(Bar::told(
            format!("{what}: an undistorted host left out"),
            format!("at most 1% (chance allows {allowed})"),
            format!("{} of {}", equal.even_left_out, equal.runs),
            equal.even_left_out as u64 <= allowed,
        ));
    }
    let uneven = (0..world.hosts).any(|place| world.kind.distortion(place) > 0.0);
    let _ = writeln!(
        table,
        "| {} | {} | {:.1}% | {} | {} | {} | {} | {} | {} | {} |",
        world.hosts,
        world.kind.key(),
        world.host_sd * 100.0,
        if world.control { "yes" } else { "no" },
        if like_these { percent(equal.called, equal.runs) } else { "–".to_owned() },
        percent(holds, equal.runs),
        if world.control { percent(equal.even_left_out, equal.runs) } else { "–".to_owned() },
        if world.control && uneven {
            percent(equal.uneven_left_out, equal.runs)
        } else {
            "–".to_owned()
        },
        percent(equal.provisional, equal.runs),
        percent(slower.slower, slower.runs),
    );
}

const QUESTIONS: [Question<Setting>; 3] =
    [("hosts like these", many), ("a few hosts", few), ("controls", controls)];

fn main() {
    let quick = is_quick();
    let root = repository();
    let setting = Setting { runs: if quick { RUNS.1 } else { RUNS.0 } };
    let facts = format!(
        "Simulated: {} merged runs in each row, with consecutive seeds, analysed as `deadheat merge` does.",
        setting.runs
    );
    let page = Page { title: "Verdicts over hosts", program: "fleet", facts: &facts, quick };
    if !page.write(root, &setting, &QUESTIONS) {
        std::process::exit(1);
    }
}
