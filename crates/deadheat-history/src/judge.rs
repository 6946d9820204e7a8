//! Computes the histories of commits: their order, their levels, and the changes that their races
//! show.

use std::collections::{HashMap, HashSet};

use deadheat::parts::exit::Failure;
use deadheat::parts::model::{Commit, Interval, LogRatio};
use deadheat::parts::settings::Selection;

use crate::accepted_store::Accepted;
use crate::changes::{Change, Plateau, changes, plateaus};
use crate::graph::Edge;
use crate::index_store::HistoryIndex;
use crate::levels::Difference;
use crate::misclosure::{Settled, settle};
use crate::query_store::{IndexedRace, IndexedSeries};
use crate::timeline::{
    History, HistoryMachine, HistorySeries, LoopClosure, Timeline, TimelineChange, TimelineCommit,
    TimelinePlateau, TimelineRace,
};
use crate::window::{Window, WindowCommit};

/// The probability of any false step in a history, and that of any false creep.
pub const ALPHA: f64 = 0.05;

/// The confidence of each single interval.
pub const CONFIDENCE: f64 = 0.95;

/// The significance level of the test whether the effects around loops of one machine's races add
/// up to 0 within their errors.
const MISCLOSURE: f64 = 0.05;

/// The largest number of commits for which plateaus are computed. Each boundary takes a new
/// solution of the whole graph.
const MOST_IN_PLATEAUS: usize = 2_000;

/// Returns the history of the workloads whose names contain one of `names`, or of all workloads if
/// `names` is empty.
///
/// # Errors
///
/// Fails if the index cannot be read or is inconsistent.
pub fn history(
    index: &HistoryIndex,
    window: &Window,
    names: &[String],
    accepted: &[Accepted],
) -> Result<History, Failure> {
    let numbers: Vec<i64> = window
        .commits
        .iter()
        .map(|one| one.indexed.number)
        .collect();
    let mut all = index.series_of(&numbers).map_err(Failure::reading)?;
    all.retain(|one| is_named(&one.series, names));
    let counts = index.counts().map_err(Failure::reading)?;
    let mut machines = Machines::default();
    let level = ALPHA / all.len().max(1) as f64;
    let mut timelines = Vec::new();
    for one in &all {
        let races = index.races_of(one.number, &numbers);
        let races = races.map_err(Failure::reading)?;
        let raced = Raced::new(window, one, races, &mut machines);
        timelines.extend(raced.timeline(window, accepted, level)?);
    }
    let raced: HashSet<&str> = timelines
        .iter()
        .flat_map(|one| &one.commits)
        .map(|one| &*one.commit.id)
        .collect();
    let mut newest = window.commits.iter().rev();
    let newest = newest.find(|one| raced.contains(&*one.indexed.commit.id));
    Ok(History {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        alpha: ALPHA,
        confidence: CONFIDENCE,
        machines: machines.all,
        timelines,
        runs: counts.runs,
        commits: counts.commits,
        shown: window.commits.len(),
        older: window.older,
        unknown: window.unknown,
        off_line: window.off_line,
        has_git: window.has_git,
        tip: window.line.first().map(|id| Commit {
            id: id.clone(),
            committed_at: None,
            subject: String::new(),
        }),
        newest: newest.map(|one| one.indexed.commit.clone()),
    })
}

fn is_named(series: &HistorySeries, names: &[String]) -> bool {
    let selection = Selection {
        filters: names.to_vec(),
        ..Selection::default()
    };
    selection.names(&series.name())
}

#[derive(Default)]
struct Machines {
    all: Vec<HistoryMachine>,
}

impl Machines {
    fn number(&mut self, machine: &HistoryMachine) -> usize {
        let known = self.all.iter().position(|one| one == machine);
        known.unwrap_or_else(|| {
            self.all.push(machine.clone());
            self.all.len() - 1
        })
    }
}

struct Raced<'a> {
    series: &'a IndexedSeries,
    /// The raced commits of the window. The position of a commit in this list is the number of its
    /// node; the nodes after them are raced commits outside the window.
    commits: Vec<&'a WindowCommit>,
    nodes: usize,
    edges: Vec<Edge>,
    races: Vec<TimelineRace>,
}

impl<'a> Raced<'a> {
    fn new(
        window: &'a Window,
        series: &'a IndexedSeries,
        mut races: Vec<IndexedRace>,
        machines: &mut Machines,
    ) -> Self {
        // A race of two builds of one commit has no information about other commits.
        races.retain(|race| race.commits[0] != race.commits[1]);
        let raced: HashSet<i64> = races.iter().flat_map(|race| race.commits).collect();
        let is_raced = |one: &&WindowCommit| raced.contains(&one.indexed.number);
        let commits: Vec<&WindowCommit> = window.commits.iter().filter(is_raced).collect();
        let places = commits.iter().enumerate();
        let mut nodes: HashMap<i64, usize> = places
            .map(|(place, one)| (one.indexed.number, place))
            .collect();
        let mut of_run: HashMap<i64, usize> = HashMap::new();
        for race in &races {
            *of_run.entry(race.run).or_default() += 1;
            for number in race.commits {
                let next = nodes.len();
                nodes.entry(number).or_insert(next);
            }
        }
        let mut edges = Vec::new();
        let mut told = Vec::new();
        for race in races {
            let [from, to] = race.commits.map(|number| nodes[&number]);
            let machine = machines.number(&race.machine);
            edges.push(Edge {
                from,
                to,
                effect: race.effect.0,
                se: race.se,
                df: race.df,
                host: machine,
                // Several candidates of one run share the error of their baseline.
                run: (of_run[&race.run] > 1).then_some(race.run as usize),
            });
            told.push(TimelineRace {
                places: [from, to].map(|node| (node < commits.len()).then_some(node)),
                machine,
                effect: race.effect,
                se: race.se,
                path: race.path,
            });
        }
        Self {
            series,
            commits,
            nodes: nodes.len(),
            edges,
            races: told,
        }
    }

    /// Returns the timeline; `None` if no commit of the window was raced.
    fn timeline(
        self,
        window: &Window,
        accepted: &[Accepted],
        level: f64,
    ) -> Result<Option<Timeline>, Failure> {
        if self.commits.is_empty() {
            return Ok(None);
        }
        let series = &self.series.series;
        let cannot = |error| {
            let name = series.name();
            Failure::Data(format!(
                "the levels of '{name}' cannot be computed: {error}"
            ))
        };
        let settled = settle(self.nodes, &self.edges, 0, MISCLOSURE).map_err(cannot)?;
        let nodes: Vec<usize> = (0..self.commits.len()).collect();
        let mut reasons = vec![None; self.commits.len()];
        for one in accepted {
            let is_meant = one.benchmark.as_deref();
            let is_meant =
                is_meant.is_none_or(|name| [&series.benchmark, &*series.name()].contains(&name));
            if let Some(place) = self.place_of(&one.commit, window).filter(|_| is_meant) {
                reasons[place] = Some(one.why.clone());
            }
        }
        let known: Vec<usize> = nodes
            .iter()
            .copied()
            .filter(|at| reasons[*at].is_some())
            .collect();
        let found = changes(&settled.levels, &nodes, &known, level);
        let mut boundaries = known;
        boundaries.extend(found.steps.iter().map(|step| step.to));
        let stretches = if nodes.len() <= MOST_IN_PLATEAUS {
            plateaus(self.nodes, &settled.edges, &nodes, &boundaries, level).map_err(cannot)?
        } else {
            Vec::new()
        };
        let told = |change: &Change| TimelineChange {
            from: change.from,
            to: change.to,
            effect: LogRatio(change.difference.effect),
            interval: interval(&change.difference),
            p_value: change.p_value,
            is_worse: series.is_worse(LogRatio(change.difference.effect)),
        };
        let commits = self.commits(&settled, reasons);
        let plateau = |one: &Plateau| TimelinePlateau {
            first: one.first,
            last: one.last,
            level: LogRatio(one.level),
        };
        Ok(Some(Timeline {
            commits,
            steps: found.steps.iter().map(told).collect(),
            creep: found.creep.iter().map(told).collect(),
            plateaus: stretches.iter().map(plateau).collect(),
            closure: LoopClosure {
                chi_squared: settled.misclosure.chi_squared,
                degrees: settled.misclosure.degrees,
                p_value: settled.misclosure.p_value,
                widened: settled.widened,
            },
            unconnected: found.unconnected,
            races: self.races,
            series: series.clone(),
        }))
    }

    /// Returns the position of the commit whose id begins with `start`. If it was not raced,
    /// returns the position of the first raced commit after it, which includes its change; `None`
    /// unless a commit before it was raced, too.
    fn place_of(&self, start: &str, window: &Window) -> Option<usize> {
        let begins = |one: &&WindowCommit| one.indexed.commit.id.starts_with(start);
        if let Some(place) = self.commits.iter().position(begins) {
            return Some(place);
        }
        let position = window.line.iter().position(|id| id.starts_with(start))?;
        let is_later = |one: &&WindowCommit| one.position.is_some_and(|at| at < position);
        let is_before = |one: &&WindowCommit| one.position.is_some_and(|at| at > position);
        let follows = self.commits.iter().any(is_before);
        let later = self.commits.iter().position(is_later);
        later.filter(|_| follows)
    }

    fn commits(&self, settled: &Settled, reasons: Vec<Option<String>>) -> Vec<TimelineCommit> {
        let levels = &settled.levels;
        let mut races = vec![0; self.nodes];
        let mut machines = vec![Vec::new(); self.nodes];
        for edge in &self.edges {
            for node in [edge.from, edge.to] {
                races[node] += 1;
                if !machines[node].contains(&edge.host) {
                    machines[node].push(edge.host);
                }
            }
        }
        // Parts are numbered in the order of their first commits, which are the reference nodes.
        let mut parts: Vec<usize> = Vec::new();
        // The last commit of each part: its node, and its position on the line.
        let mut last: Vec<(usize, Option<usize>)> = Vec::new();
        let mut told = Vec::new();
        for (node, (one, accepted)) in self.commits.iter().zip(reasons).enumerate() {
            let reference = levels.reference(node);
            let part = parts.iter().position(|known| *known == reference);
            let part = part.unwrap_or_else(|| {
                parts.push(reference);
                last.push((node, None));
                parts.len() - 1
            });
            let (before, position) = last[part];
            let between = position.zip(one.position);
            let skipped = between.map_or(0, |(before, at): (usize, usize)| {
                before.saturating_sub(at).saturating_sub(1)
            });
            last[part] = (node, one.position.or(position));
            let from_reference = levels.difference(reference, node);
            let change = (before != node).then(|| levels.difference(before, node));
            let change = change.flatten();
            told.push(TimelineCommit {
                commit: one.indexed.commit.clone(),
                order: one.order,
                skipped,
                part,
                level: LogRatio(levels.level(node)),
                interval: from_reference.as_ref().map(interval),
                change: change.as_ref().map(interval),
                races: races[node],
                machines: std::mem::take(&mut machines[node]),
                accepted,
            });
        }
        told
    }
}

fn interval(difference: &Difference) -> Interval {
    let (low, high) = difference.interval(1.0 - CONFIDENCE);
    Interval {
        low: LogRatio(low),
        high: LogRatio(high),
        confidence: CONFIDENCE,
    }
}
