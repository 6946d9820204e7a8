//! Sides of saved results, joined into one run.

use std::collections::{HashMap, HashSet};

use deadheat_model::{
    Benchmark, BenchmarkFailure, BlockRecord, Contender, ContenderId, Design, Environment, Flags,
    LeftOut, LeftOutReason, Looks, Metric, Origin, OwnRules, Plan, PlanError, Run, RunHeader,
    Sample, Saved, Workload,
};

use super::matched::{Held, Match, matched, place_of};
use super::side::Side;
use super::terms::{SavedError, Terms};
use crate::rules::recorded_rules;

/// Joins the sides by the names of their benchmarks, the baseline first. What
/// cannot be compared is in the run all the same: as a failure, or left out
/// with its reason.
///
/// The benchmarks come in the order of the baseline, then those that only
/// others have.
pub fn join(sides: &[Side], terms: &Terms) -> Result<Run, SavedError> {
    let held: Vec<HashMap<&str, Vec<Held<'_>>>> = sides.iter().map(by_name).collect();
    let mut joined = Joined::default();
    for name in names(sides) {
        let with: Vec<usize> = (0..sides.len())
            .filter(|side| held[*side].contains_key(name))
            .collect();
        let called = |side: &usize| sides[*side].name.as_str();
        if with.first() != Some(&0) || (with.len() == 1 && sides.len() > 1) {
            let only: Vec<&str> = with.iter().map(called).collect();
            joined.leave_out(name, LeftOutReason::OnlyIn(only.join("', '")));
            continue;
        }
        let of: Vec<(&str, &[Held<'_>])> = with
            .iter()
            .map(|side| (called(side), held[*side][name].as_slice()))
            .collect();
        for side in (0..sides.len()).filter(|side| !with.contains(side)) {
            let why = format!("'{}' does not have it", called(&side));
            joined.leave_out(name, LeftOutReason::NotAlike(why));
        }
        let asked = terms.metric_of(name);
        joined.take(name, &of, matched(&of, asked.as_deref()));
    }
    if let Some(metric) = &terms.metric {
        check_measured(metric, sides)?;
    }
    let run = joined.into_run(sides, terms);
    match run.header.plan.validate() {
        // Nothing in common is an answer too: all of it is left out.
        Ok(()) | Err(PlanError::Empty) => Ok(run),
        Err(error) => Err(error.into()),
    }
}

/// All benchmarks of a side by name, file by file.
fn by_name(side: &Side) -> HashMap<&str, Vec<Held<'_>>> {
    let mut held: HashMap<&str, Vec<Held<'_>>> = HashMap::new();
    for (file, results) in side.files.iter().enumerate() {
        for benchmark in &results.benchmarks {
            let of_name = held.entry(&benchmark.name).or_default();
            of_name.push(Held { file, benchmark });
        }
    }
    held
}

/// Every name once, in the order in which they come up.
fn names(sides: &[Side]) -> Vec<&str> {
    let files = sides.iter().flat_map(|side| &side.files);
    let benchmarks = files.flat_map(|results| &results.benchmarks);
    let mut seen = HashSet::new();
    benchmarks
        .map(|benchmark| benchmark.name.as_str())
        .filter(|name| seen.insert(*name))
        .collect()
}

/// A metric that nobody records was misspelled.
fn check_measured(metric: &str, sides: &[Side]) -> Result<(), SavedError> {
    let files = sides.iter().flat_map(|side| &side.files);
    let benchmarks = files.flat_map(|results| &results.benchmarks);
    let mut known: Vec<&str> = Vec::new();
    for name in benchmarks.flat_map(|b| &b.metrics).map(Metric::name) {
        if name == metric {
            return Ok(());
        }
        if !known.contains(&name) {
            known.push(name);
        }
    }
    Err(SavedError::NotMeasured {
        metric: metric.to_owned(),
        known: match known.is_empty() {
            true => "nothing".to_owned(),
            false => known.join(", "),
        },
    })
}

/// What was joined so far.
#[derive(Default)]
struct Joined<'a> {
    benchmarks: Vec<Benchmark>,
    /// For each benchmark its sides, where it is compared.
    held: Vec<Vec<&'a [Held<'a>]>>,
    failures: Vec<BenchmarkFailure>,
    left_out: Vec<LeftOut>,
}

impl<'a> Joined<'a> {
    fn leave_out(&mut self, name: &str, reason: LeftOutReason) {
        self.left_out.push(LeftOut {
            benchmark: name.to_owned(),
            reason,
        });
    }

    fn take(&mut self, name: &str, sides: &[(&str, &'a [Held<'a>])], found: Match) {
        let first = sides[0].1[0].benchmark;
        let all = || sides.iter().flat_map(|(_, held)| held.iter());
        let mut benchmark = Benchmark {
            name: name.to_owned(),
            parameters: first.parameters.clone(),
            contenders: sides
                .iter()
                .map(|(side, _)| Contender {
                    name: (*side).to_owned(),
                    workload: Workload::Recording,
                })
                .collect(),
            ..Benchmark::default()
        };
        let mut saved = Saved {
            label: all().find_map(|held| held.benchmark.label.clone()),
            threads: all().find_map(|held| held.benchmark.threads),
            ..Saved::default()
        };
        let mut held = Vec::new();
        match found {
            Match::LeftOut(reason) => return self.leave_out(name, reason),
            Match::Failed(message) => self.failures.push(BenchmarkFailure {
                benchmark: self.benchmarks.len(),
                message,
            }),
            Match::Compared {
                judged,
                metrics,
                summary,
            } => {
                saved.judged = Some(judged);
                saved.summary = summary;
                benchmark.counters = metrics;
                held.extend(sides.iter().map(|(_, held)| *held));
            }
        }
        benchmark.saved = Some(saved);
        self.benchmarks.push(benchmark);
        self.held.push(held);
    }

    /// What all compared benchmarks measure first, in the same order; the rest
    /// each has for itself.
    fn metrics_in_common(&self) -> Vec<Metric> {
        let compared = self.benchmarks.iter().zip(&self.held);
        let mut compared = compared
            .filter(|(_, held)| !held.is_empty())
            .map(|(benchmark, _)| &benchmark.counters);
        let Some(mut common) = compared.next().cloned() else {
            return Vec::new();
        };
        for metrics in compared {
            let pairs = common.iter().zip(metrics);
            let same = pairs.take_while(|(one, other)| one == other).count();
            common.truncate(same);
        }
        common
    }

    fn into_run(mut self, sides: &[Side], terms: &Terms) -> Run {
        let common = self.metrics_in_common();
        for benchmark in &mut self.benchmarks {
            benchmark.rules = OwnRules {
                // What it is judged by was found in the files.
                judged: None,
                ..recorded_rules(&terms.rules, &benchmark.name, 1)
            };
        }
        for benchmark in &mut self.benchmarks {
            let own = common.len().min(benchmark.counters.len());
            benchmark.counters.drain(..own);
        }
        let header = RunHeader {
            command: Vec::new(),
            tool_version: String::new(),
            started_at: None,
            origin: Origin::UnpairedRecording,
            plan: Plan {
                design: Design {
                    margin: terms.margin,
                    alpha: terms.alpha,
                    looks: Looks {
                        at: vec![1],
                        levels: vec![terms.alpha],
                        weights: vec![1.0],
                    },
                    judged: terms
                        .metric
                        .as_deref()
                        .map_or(Metric::Wall, Metric::from_name),
                    ..Design::default()
                },
                seed: 0,
                benchmarks: self.benchmarks,
            },
            environment: Environment::default(),
            metrics: common,
            tick_ns: None,
            left_out: self.left_out,
        };
        // By file on both sides or on neither.
        let pooled = sides.iter().any(|side| side.files.len() > 1);
        let mut run = Run::new(header);
        run.failures = self.failures;
        run.sides = sides.iter().map(Side::told).collect();
        for (index, held) in self.held.iter().enumerate() {
            let metrics = run.header.metrics_of(index);
            for (contender, files) in held.iter().enumerate() {
                for held in *files {
                    push(
                        &mut run,
                        index,
                        ContenderId(contender as u8),
                        held,
                        &metrics,
                        pooled,
                    );
                }
            }
        }
        run
    }
}

/// Adds the rows of one file, each a block of its own.
fn push(
    run: &mut Run,
    index: usize,
    contender: ContenderId,
    held: &Held<'_>,
    metrics: &[Metric],
    pooled: bool,
) {
    let benchmark = held.benchmark;
    let places: Vec<usize> = metrics
        .iter()
        .filter_map(|metric| place_of(benchmark, metric))
        .collect();
    let mut record = BlockRecord {
        benchmark: index,
        samples: vec![Sample {
            contender,
            flags: Flags::NONE,
            exit_code: None,
            iterations: 1,
        }],
        ..BlockRecord::default()
    };
    let rows = benchmark
        .values
        .chunks_exact(benchmark.metrics.len().max(1));
    for (row, process) in rows.zip(&benchmark.processes) {
        record.replicate = match pooled {
            true => held.file as u32,
            false => *process,
        };
        record.values.clear();
        record.values.extend(places.iter().map(|place| row[*place]));
        run.benchmarks[index]
            .push(&record)
            .expect("importers let nothing pass that is no measurement");
        record.index += 1;
    }
}
