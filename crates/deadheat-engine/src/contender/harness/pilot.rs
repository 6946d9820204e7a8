//! The calibration run of a harness benchmark, before the plan is frozen: finds the length of a
//! repetition and the number per launch by launching each side once or twice.

use std::path::PathBuf;
use std::time::Instant;

use deadheat_model::{Harness, HarnessCalls, Metric, Program, RepetitionLength};

use super::adapter::{HarnessAdapter, IterationUsage, Repetition};
use super::adapter_of;
use super::launch::{Launch, Launcher, failure, problem_of, startable};
use crate::command_failure::HarnessError;
use crate::error::EngineError;
use crate::order::Moment;
use crate::page_draws::PageDraws;
use crate::subprocess::Ending;

/// The maximum duration of a single repetition of the slower side, in nanoseconds.
const LONGEST_REPETITION_NS: f64 = 50e6;
/// The maximum number of repetitions in a trial launch: enough to estimate their scatter.
const TRIAL_REPETITIONS: f64 = 4.0;
/// The maximum total duration of the repetitions of a launch, in nanoseconds.
const LAUNCH_NS: f64 = 200e6;

/// Google Benchmark stops its search for a number of iterations once the wall time of a repetition
/// reaches this multiple of the minimum time.
const CUT_SHORT_AFTER: f64 = 5.0;
/// The maximum number of launches that are repeated because Google Benchmark's search for a number
/// of iterations stopped early. While other programs kept both cores busy, a benchmark of 10 ns was
/// raced with 5 iterations.
const MOST_CUT_SHORT: usize = 2;

/// The maximum number of repetitions in the first launch that looks for a warm-up phase.
const FIRST_LOOK: u32 = 20;
/// The maximum total duration of the repetitions in a launch that looks for a warm-up phase, in
/// nanoseconds.
const LONGEST_LOOK_NS: f64 = 8e9;

/// The relative difference from the final time up to which a repetition always counts as settled,
/// even if repetitions scatter less.
const LEAST: f64 = 0.02;
/// The maximum deviation of a settled repetition from the final time, in standard deviations.
const DEVIATIONS: f64 = 3.0;
/// The median distance between two consecutive normal values, in standard deviations.
const DISTANCE: f64 = 0.954;

/// One side of a benchmark.
#[derive(Clone, Copy, Debug)]
pub struct HarnessSide<'a> {
    /// The contender's name.
    pub contender: &'a str,
    /// The harness of the program.
    pub harness: Harness,
    /// The program that is launched.
    pub program: &'a Program,
    /// The name by which the program knows the benchmark.
    pub benchmark: &'a str,
}

impl HarnessSide<'_> {
    fn adapter(&self) -> &'static dyn HarnessAdapter {
        adapter_of(self.harness)
    }
}

/// The results of the calibration run of one benchmark.
#[derive(Clone, Debug, PartialEq)]
pub struct HarnessPilot {
    /// The launch parameters of each side, in the order of the sides.
    pub calls: Vec<HarnessCalls>,
    /// The counters that all sides report.
    pub counters: Vec<Metric>,
    /// The nanoseconds per iteration in each repetition of each side's last launch.
    pub launches_ns: Vec<Vec<f64>>,
    /// The CPU time of each side in its last launch; `None` if a harness reports no CPU time.
    pub usage: Option<Vec<IterationUsage>>,
    /// The duration of a launch without its repetitions, in nanoseconds.
    pub launch_ns: f64,
    /// The nanoseconds of one repetition.
    pub repetition_ns: f64,
    /// The maximum number of repetitions per launch; `None` if the number is already fixed by the
    /// user or the benchmark.
    pub most_repetitions: Option<u32>,
}

/// The executables that have been tried with a fixed number of iterations, each with true if it
/// supports this.
#[derive(Debug, Default)]
pub(super) struct IterationSupport(Vec<(PathBuf, bool)>);

impl IterationSupport {
    /// Returns true if all sides support a fixed number of iterations; `None` if this is not yet
    /// known.
    fn of_all(&self, sides: &[HarnessSide<'_>]) -> Option<bool> {
        let known = sides.iter().map(|side| {
            let by_harness = side.adapter().counts_iterations();
            by_harness.or_else(|| self.of(side.program))
        });
        let known: Vec<Option<bool>> = known.collect();
        if known.contains(&Some(false)) {
            Some(false)
        } else {
            known.into_iter().try_fold(true, |_, one| one)
        }
    }

    fn of(&self, program: &Program) -> Option<bool> {
        let mut known = self.0.iter();
        let known = known.find(|(path, _)| *path == program.executable);
        known.map(|(_, understands)| *understands)
    }

    fn note(&mut self, program: &Program, understands: bool) {
        if self.of(program).is_none() {
            self.0.push((program.executable.clone(), understands));
        }
    }
}

/// A trial launch of one side.
struct Tried {
    repetitions: Vec<Repetition>,
    took_ns: f64,
}

impl Tried {
    fn slowest_ns(&self) -> f64 {
        let took = self.repetitions.iter().map(Repetition::took_ns);
        took.fold(0.0, f64::max)
    }

    /// Returns the nanoseconds per iteration of each repetition.
    fn times_ns(&self) -> Vec<f64> {
        let rows = self.repetitions.iter();
        rows.map(|row| row.wall_ns).collect()
    }

    /// Returns true if a repetition has too few iterations because the launch waited for a core.
    fn is_cut_short(&self, length: RepetitionLength) -> bool {
        let RepetitionLength::Seconds(seconds) = length else {
            return false;
        };
        let ns = seconds * 1e9;
        self.repetitions.iter().any(|row| {
            let cpu_ns = row.cpu_ns.map(|cpu_ns| cpu_ns * row.iterations as f64);
            row.took_ns() >= CUT_SHORT_AFTER * ns && cpu_ns.is_some_and(|cpu_ns| cpu_ns < ns / 2.0)
        })
    }

    /// Returns the number of iterations that a launch must request to run as many iterations as
    /// this launch.
    fn iterations(&self) -> u64 {
        self.repetitions[0].told.max(1)
    }
}

pub(super) struct Piloting<'p, 'a> {
    pub(super) launcher: &'p mut Launcher<'a>,
    pub(super) page_draws: &'p PageDraws,
    pub(super) iteration_support: &'p mut IterationSupport,
    pub(super) benchmark: &'p str,
    pub(super) sides: &'p [HarnessSide<'p>],
    pub(super) hash_seed: u32,
    /// For each side, true if its program restarts itself at fixed addresses; empty before the
    /// first launch.
    pub(super) fixes_addresses: Vec<bool>,
}

impl<'p> Piloting<'p, '_> {
    pub(super) fn pilot(mut self, index: usize) -> Result<HarnessPilot, EngineError> {
        let named = self.sides.iter().map(|side| {
            side.adapter()
                .threads(&side.program.arguments, side.benchmark)
        });
        let named = named.max().unwrap_or(1);
        self.launcher.settle([index as u64, u64::MAX, 0], named)?;
        let wanted = self.launcher.options.wanted.clone();
        let adapters = || self.sides.iter().map(HarnessSide::adapter);
        let seconds = adapters().map(HarnessAdapter::repetition_seconds);
        let seconds = seconds.fold(0.0, f64::max);
        let free = wanted.length.unwrap_or(RepetitionLength::Seconds(seconds));
        let fewest = adapters().map(|adapter| adapter.repetitions_of_a_launch().0);
        let fewest = fewest.max().unwrap_or(1);
        let usual = adapters().find_map(HarnessAdapter::usual_repetitions);
        let mut lengths = self.lengths(free);
        let mut single_calls = false;
        let mut tried = Vec::new();
        let mut fixes_addresses = Vec::new();
        for side in 0..self.sides.len() {
            let mut attempt = self.attempt(side, lengths[side], fewest);
            if side == 0 && attempt.as_ref().is_err_and(is_of_single_calls) {
                single_calls = true;
                lengths.fill(RepetitionLength::Own);
                attempt = self.attempt(side, lengths[side], fewest);
            }
            let mut attempt = attempt?;
            for _ in 0..MOST_CUT_SHORT {
                if !attempt.is_cut_short(lengths[side]) {
                    break;
                }
                let again = self.attempt(side, lengths[side], fewest)?;
                if again.iterations() > attempt.iterations() {
                    attempt = again;
                }
            }
            tried.push(attempt);
            let watched = &mut self.launcher.watched[0];
            fixes_addresses.push(watched.fixes_addresses());
            let mapped = watched.watch.mapped.take().unwrap_or_default();
            self.page_draws.note((index, side), mapped);
        }
        let own = self.own_repetitions(&tried, &lengths, fewest, single_calls)?;
        self.fixes_addresses = fixes_addresses;
        let said = own.or(wanted.repetitions).or(usual);
        let slowest_ns = tried.iter().map(Tried::slowest_ns).fold(0.0, f64::max);
        let mut repetitions = said.unwrap_or_else(|| repetitions_that_fit(slowest_ns));
        let mut counted = false;
        if wanted.length.is_none() && lengths.contains(&free) {
            // With a single repetition, another launch to find this out does not pay.
            let understood = self.iteration_support.of_all(self.sides);
            counted = understood.unwrap_or(repetitions > 1);
        }
        if counted {
            lengths = self.lengths(RepetitionLength::Iterations(iterations(&tried)));
        }
        let mut seen = tried;
        let mut repetition_ns = slowest_ns;
        let mut can_repeat = said.is_none();
        let mut look = self.first_look(slowest_ns, single_calls);
        let mut warm_up = 0;
        while repetitions > 1 || counted || look > 0 {
            match self.rehearsal(&lengths, repetitions.max(look), counted)? {
                Rehearsed::Well(mut rehearsed) => {
                    let cost = cost_of_repetition(&seen, &rehearsed);
                    repetition_ns = repetition_ns.max(cost);
                    if said.is_none() {
                        repetitions = repetitions.min(repetitions_that_fit(cost));
                    }
                    if look > 0 {
                        let longer = 2.0 * f64::from(look) * repetition_ns <= LONGEST_LOOK_NS;
                        match warm_up_of(&rehearsed) {
                            None if longer => {
                                look *= 2;
                                continue;
                            }
                            found => warm_up = found.unwrap_or(look / 2),
                        }
                        for tried in &mut rehearsed {
                            tried.repetitions.drain(..warm_up as usize);
                        }
                    }
                    seen.extend(rehearsed);
                    break;
                }
                Rehearsed::NotCounting => {
                    counted = false;
                    lengths = self.lengths(free);
                }
                // A single repetition has no aggregates.
                Rehearsed::OnlyAggregates => {
                    repetitions = 1;
                    can_repeat = false;
                }
            }
        }
        let counters = counters(&seen);
        let threads = seen.iter().flat_map(|tried| &tried.repetitions);
        let threads = threads.map(|row| row.threads).max().unwrap_or(1).max(named);
        let planned = planned_iterations(&seen, self.sides.len(), counted);
        let sides = self.sides.iter().zip(self.fixes_addresses);
        let calls = sides.zip(lengths).zip(planned);
        let calls =
            calls.map(
                |(((side, fixes_addresses), length), planned_iterations)| HarnessCalls {
                    harness: side.harness,
                    program: Program {
                        // The same path as in the trial launches, so that later launches find the
                        // same file.
                        executable: startable(&side.program.executable),
                        ..side.program.clone()
                    },
                    benchmark: side.benchmark.to_owned(),
                    length,
                    warm_up,
                    planned_iterations,
                    repetitions,
                    threads,
                    fixes_addresses,
                },
            );
        let latest = &seen[seen.len() - self.sides.len()..];
        // Includes the warm-up, because the time of these launches contains it.
        let beside = latest
            .iter()
            .map(|tried| (tried.took_ns - tried.repetitions.len() as f64 * repetition_ns).max(0.0));
        Ok(HarnessPilot {
            calls: calls.collect(),
            counters,
            launch_ns: beside.sum::<f64>() / latest.len().max(1) as f64,
            launches_ns: latest.iter().map(Tried::times_ns).collect(),
            usage: latest
                .iter()
                .map(|tried| IterationUsage::of(&tried.repetitions))
                .collect(),
            repetition_ns,
            most_repetitions: can_repeat
                .then(|| (LAUNCH_NS / repetition_ns.max(1.0)).max(1.0) as u32),
        })
    }

    /// Returns the length of the repetitions of each side: the benchmark's own if its source sets
    /// one, otherwise `free`.
    fn lengths(&self, free: RepetitionLength) -> Vec<RepetitionLength> {
        let lengths = self.sides.iter().map(|side| {
            if side.adapter().has_own_length(side.benchmark) {
                RepetitionLength::Own
            } else {
                free
            }
        });
        lengths.collect()
    }

    /// Returns the number of repetitions in the first launch that looks for a warm-up phase; 0 if
    /// the harness warms up by itself, or if repetitions are too long.
    fn first_look(&self, repetition_ns: f64, single_calls: bool) -> u32 {
        let mut sides = self.sides.iter();
        let shown = sides.all(|side| side.adapter().shows_warm_up(&side.program.arguments));
        let look = (LONGEST_LOOK_NS / repetition_ns.max(1.0)).min(FIRST_LOOK.into()) as u32;
        if shown && !single_calls && look > 1 {
            look
        } else {
            0
        }
    }

    fn attempt(
        &mut self,
        side: usize,
        length: RepetitionLength,
        repetitions: u32,
    ) -> Result<Tried, EngineError> {
        let launch = self.launch_of(side, length, repetitions);
        let began = Instant::now();
        let repetitions = self.launcher.launch(&launch)?;
        Ok(Tried {
            repetitions,
            took_ns: began.elapsed().as_nanos() as f64,
        })
    }

    fn launch_of(&self, side: usize, length: RepetitionLength, repetitions: u32) -> Launch<'p> {
        let of = &self.sides[side];
        Launch {
            position: (self.benchmark, of.contender, Moment::Pilot),
            contender: side,
            adapter: of.adapter(),
            program: of.program,
            benchmark: of.benchmark,
            length,
            warm_up: 0,
            repetitions,
            is_side_by_side: false,
            variant: None,
            path_padding: None,
            padding: 0,
            hash_seed: self.hash_seed,
            fixed_addresses: self.fixes_addresses.contains(&true),
            named_by_link: false,
        }
    }

    /// Returns the number of repetitions that the source of the benchmark sets and that overrides
    /// the requested number.
    fn own_repetitions(
        &self,
        tried: &[Tried],
        lengths: &[RepetitionLength],
        asked: u32,
        single_calls: bool,
    ) -> Result<Option<u32>, EngineError> {
        let mut all: Option<u32> = None;
        for (side, tried) in tried.iter().enumerate() {
            let found = tried.repetitions.len() as u32;
            let of = &self.sides[side];
            let says = of.adapter().own_repetitions(of.benchmark);
            if found == asked && says != Some(asked) && !single_calls {
                continue;
            }
            match all {
                Some(baseline) if baseline != found => {
                    let launch = self.launch_of(side, lengths[side], asked);
                    let problem = HarnessError::NotAlike { found, baseline };
                    return Err(failure(&launch, problem));
                }
                _ => all = Some(found),
            }
        }
        Ok(all)
    }

    /// Launches every side with the parameters of the race.
    fn rehearsal(
        &mut self,
        lengths: &[RepetitionLength],
        repetitions: u32,
        counted: bool,
    ) -> Result<Rehearsed, EngineError> {
        let mut rehearsed = Vec::new();
        for (side, length) in lengths.iter().enumerate() {
            let known = self.iteration_support.of_all(&self.sides[side..=side]);
            let program = self.sides[side].program;
            let tried = match self.attempt(side, *length, repetitions) {
                Ok(tried) => tried,
                Err(error) => match problem_of(&error) {
                    Some(HarnessError::Process {
                        ending: Ending::Exited(_),
                        ..
                    }) if counted && known.is_none() => {
                        self.iteration_support.note(program, false);
                        return Ok(Rehearsed::NotCounting);
                    }
                    Some(HarnessError::OnlyAggregates) if repetitions > 1 => {
                        return Ok(Rehearsed::OnlyAggregates);
                    }
                    _ => return Err(error),
                },
            };
            if let RepetitionLength::Iterations(count) = *length
                && counted
                && known.is_none()
            {
                // A user-defined `main` may ignore unknown flags.
                let understands = tried.iterations() == count
                    || tried.repetitions.iter().all(|row| row.iterations == count);
                self.iteration_support.note(program, understands);
                if !understands {
                    return Ok(Rehearsed::NotCounting);
                }
            }
            let found = tried.repetitions.len();
            if found != repetitions as usize {
                let launch = self.launch_of(side, *length, repetitions);
                let expected = repetitions;
                let problem = HarnessError::Repetitions { found, expected };
                return Err(failure(&launch, problem));
            }
            rehearsed.push(tried);
        }
        Ok(Rehearsed::Well(rehearsed))
    }
}

/// Returns the number of repetitions to discard, after which all sides have settled; `None` if a
/// side has not settled.
fn warm_up_of(rehearsed: &[Tried]) -> Option<u32> {
    let each = rehearsed.iter().map(|tried| settled(&tried.times_ns()));
    let longest = each.collect::<Option<Vec<usize>>>()?.into_iter().max();
    longest.map(with_reserve)
}

fn is_of_single_calls(error: &EngineError) -> bool {
    problem_of(error) == Some(&HarnessError::SingleCalls)
}

enum Rehearsed {
    Well(Vec<Tried>),
    /// A program does not support a fixed number of iterations.
    NotCounting,
    OnlyAggregates,
}

/// Returns the iterations per repetition: as many as the faster side needs, but limited so that the
/// repetitions of the slower side stay below [`LONGEST_REPETITION_NS`], unless the slower side
/// itself needs longer ones.
fn iterations(tried: &[Tried]) -> u64 {
    let most = tried.iter().map(Tried::iterations).max().unwrap_or(1);
    let bearable = tried.iter().map(|tried| {
        let iteration_ns = tried.slowest_ns() / tried.iterations() as f64;
        let most = (LONGEST_REPETITION_NS / iteration_ns.max(f64::MIN_POSITIVE)) as u64;
        most.max(tried.iterations())
    });
    bearable.min().unwrap_or(most).min(most)
}

/// Returns the iterations per repetition of each side, from trial launches as long as those of the
/// race. Takes the last launch of each side if the iterations are `counted`, and all launches
/// otherwise. Uses the largest number, because a trial launch may itself have stopped early.
fn planned_iterations(seen: &[Tried], sides: usize, counted: bool) -> Vec<Option<u64>> {
    let from = if counted { seen.len() - sides } else { 0 };
    let of_side = |side| {
        let launches = seen.iter().skip(from + side).step_by(sides);
        let launches = launches.map(|tried| {
            let mut rows = tried.repetitions.iter().map(|row| row.iterations);
            let first = rows.next();
            first.filter(|first| rows.all(|row| row == *first))
        });
        launches.collect::<Option<Vec<u64>>>()?.into_iter().max()
    };
    (0..sides).map(of_side).collect()
}

fn repetitions_that_fit(repetition_ns: f64) -> u32 {
    let fit = LAUNCH_NS / repetition_ns.max(1.0);
    fit.clamp(1.0, TRIAL_REPETITIONS) as u32
}

/// Returns the time that an additional repetition adds to a launch, in nanoseconds. It is longer
/// than the time that the repetition reports if the repetition makes new input or pauses its timer.
fn cost_of_repetition(single: &[Tried], several: &[Tried]) -> f64 {
    let costs = single.iter().zip(several).map(|(single, several)| {
        match several
            .repetitions
            .len()
            .saturating_sub(single.repetitions.len())
        {
            0 => 0.0,
            more => (several.took_ns - single.took_ns).max(0.0) / more as f64,
        }
    });
    costs.fold(0.0, f64::max)
}

/// Returns the counters that have a number in every repetition.
fn counters(seen: &[Tried]) -> Vec<Metric> {
    let rows = || seen.iter().flat_map(|tried| &tried.repetitions);
    let names = rows().next().map_or(&[][..], |first| &first.counters);
    let names = names.iter().map(|(name, _)| name);
    let usable = names.filter(|name| rows().all(|row| row.counter(name).is_ok()));
    usable.map(|name| Metric::Custom(name.clone())).collect()
}

/// Returns the number of repetitions after which times stay close to those at the end, at most half
/// of all; `None` if no repetition of the first half is close.
///
/// The scatter is estimated from differences between neighbours, because a falling trend does not
/// increase these. Two consecutive repetitions must be close: before it settles, a function may
/// become slower as it uses up fresh memory, and may pass the final value once.
fn settled(times: &[f64]) -> Option<usize> {
    let count = times.len();
    let end = median(&times[count - count.div_ceil(4)..]);
    let late = &times[count / 2..];
    let distances: Vec<f64> = late.windows(2).map(|two| (two[1] - two[0]).abs()).collect();
    let scatter = median(&distances) / DISTANCE;
    let most = (LEAST * end).max(DEVIATIONS * scatter);
    let alike = |time: &f64| (time - end).abs() <= most;
    let mut pairs = times.windows(2).take(count / 2 + 1);
    pairs.position(|two| two.iter().all(alike))
}

/// Returns the repetitions to discard if the trial launches settled after `settled`: half as many
/// again, because launches differ.
fn with_reserve(settled: usize) -> u32 {
    (settled + settled.div_ceil(2)) as u32
}

/// Returns the middle value, or 0 if there is none.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(iterations: u64, wall_ns: f64, repetitions: usize, took_ns: f64) -> Tried {
        let row = Repetition {
            iterations,
            told: iterations,
            wall_ns,
            cpu_ns: Some(wall_ns),
            threads: 1,
            counters: Vec::new(),
        };
        Tried {
            repetitions: vec![row; repetitions],
            took_ns,
        }
    }

    #[test]
    fn the_faster_side_decides_how_many_iterations_there_are() {
        let fast = || tried(100_000, 30.0, 1, 0.0);
        assert_eq!(iterations(&[fast(), tried(50_000, 60.0, 1, 0.0)]), 100_000);
        // 100,000 iterations of 1 ms would take a minute and a half.
        assert_eq!(iterations(&[fast(), tried(3, 1e6, 1, 0.0)]), 50);
        assert_eq!(iterations(&[fast(), tried(1, 1e9, 1, 0.0)]), 1);
    }

    #[test]
    fn the_iterations_of_launches_as_long_as_in_the_race_are_planned() {
        let with = |iterations| tried(iterations, 1.0, 4, 0.0);
        let seen = || [with(1), with(900), with(800), with(850)];
        assert_eq!(
            planned_iterations(&seen(), 2, false),
            [Some(800), Some(900)]
        );
        assert_eq!(planned_iterations(&seen(), 2, true), [Some(800), Some(850)]);
        let mut growing = seen();
        growing[2].repetitions[3].iterations = 1600;
        assert_eq!(planned_iterations(&growing, 2, true), [None, Some(850)]);
    }

    #[test]
    fn a_search_that_waiting_ended_is_repeated() {
        let with = |wall_ns, cpu_ns| {
            let mut tried = tried(5, wall_ns, 1, 6e6);
            tried.repetitions[0].cpu_ns = Some(cpu_ns);
            tried
        };
        let second = RepetitionLength::Seconds(0.001);
        assert!(with(1.1e6, 10.0).is_cut_short(second));
        assert!(!with(1.1e6, 0.9e6).is_cut_short(second), "one busy thread");
        assert!(
            !with(2e5, 10.0).is_cut_short(second),
            "as long as it was told"
        );
        assert!(!with(1.1e6, 10.0).is_cut_short(RepetitionLength::Iterations(5)));
    }

    #[test]
    fn short_repetitions_are_many_and_slow_ones_stand_alone() {
        assert_eq!(repetitions_that_fit(3e6), 4);
        assert_eq!(repetitions_that_fit(90e6), 2);
        assert_eq!(repetitions_that_fit(7e8), 1);
        assert_eq!(repetitions_that_fit(0.0), 4);
    }

    #[test]
    fn what_a_repetition_costs_beside_its_time_is_found_out() {
        let single = [tried(1, 1.0, 1, 10e6), tried(1, 1.0, 1, 10e6)];
        let several = [tried(1, 1.0, 8, 17e6), tried(1, 1.0, 8, 710e6)];
        assert_eq!(cost_of_repetition(&single, &several), 100e6);
    }

    #[test]
    fn only_counters_that_are_numbers_everywhere_are_taken() {
        let with = |counters: &[(&str, Option<f64>)]| {
            let mut tried = tried(1, 1.0, 1, 0.0);
            let named = counters
                .iter()
                .map(|(name, value)| ((*name).to_owned(), *value));
            tried.repetitions[0].counters = named.collect();
            tried
        };
        let seen = [
            with(&[
                ("a", Some(1.0)),
                ("b", Some(1.0)),
                ("c", Some(1.0)),
                ("d", Some(1.0)),
            ]),
            with(&[
                ("a", Some(0.0)),
                ("b", None),
                ("c", Some(-1.0)),
                ("e", Some(1.0)),
            ]),
        ];
        assert_eq!(counters(&seen), [Metric::Custom("a".to_owned())]);
    }

    /// `first`, followed by times around 100 with a scatter of about 1.
    fn behind(first: &[f64], count: usize) -> Vec<f64> {
        let rest = (0..count - first.len()).map(|at| 100.0 + [0.7, -0.9, 0.2, -0.3, 1.0][at % 5]);
        first.iter().copied().chain(rest).collect()
    }

    #[test]
    fn repetitions_that_are_slower_or_faster_than_the_end_are_left_away() {
        for (first, expected) in [
            (&[][..], 0),
            (&[141.0, 243.0, 107.0][..], 3),
            // Fast at first, while the memory is fresh.
            (&[13.0, 6.0, 13.0, 45.0, 130.0][..], 5),
            // Passes the final value before it settles.
            (&[60.0, 100.0, 180.0, 150.0][..], 4),
            // Stays within the scatter.
            (&[103.0][..], 0),
        ] {
            assert_eq!(settled(&behind(first, 20)), Some(expected), "{first:?}");
        }
    }

    #[test]
    fn one_slow_repetition_in_the_middle_is_no_warm_up() {
        let mut times = behind(&[150.0], 20);
        times[7] = 400.0;
        assert_eq!(settled(&times), Some(1));
    }

    #[test]
    fn times_that_fall_to_the_end_have_not_settled() {
        let falling: Vec<f64> = (0..20).map(|at| 200.0 - 5.0 * f64::from(at)).collect();
        assert_eq!(settled(&falling), None);
        assert_eq!(settled(&behind(&[150.0; 11], 20)), None);
    }

    #[test]
    fn few_repetitions_and_equal_ones_have_settled() {
        assert_eq!(settled(&[5.0, 5.0]), Some(0));
        assert_eq!(settled(&[0.0; 20]), Some(0));
        assert_eq!(with_reserve(0), 0);
        assert_eq!((with_reserve(1), with_reserve(3)), (2, 5));
    }
}
