//! Races executables of other harnesses, such as Google Benchmark, which do not implement
//! deadheat's worker protocol.

use deadheat_analysis::planned_repetitions;
use deadheat_engine::{
    EngineError, FunctionError, HarnessContenders, HarnessError, HarnessOptions, HarnessPilot,
    HarnessSide, Interrupts, OsClock, RequestedRepetitions, may_be_pinned, repetitions_of_a_launch,
    requested_repetitions,
};
use deadheat_model::{
    Benchmark, Contender, Environment, Front, Harness, HarnessCalls, LeftOutReason, Metric,
    NeutralLinks, Pinning, Plan, Program, RaceSettings, SideBySide, Workload,
};

use super::RaceError;
use super::commands::placements;
use super::entries::{BenchmarkRace, OWN_LINK_REPLICATES, PilotedContenders};
use super::launch_arrangement::{add_turns, arrange, asked, refuse_side_by_side};
use super::planning::add_own_links;

/// Returns a benchmark of another harness, as it is before its calibration run. Each entry of
/// `sides` has the name of the contender, the executable with the user's arguments, and the name of
/// the benchmark in that executable.
pub fn harness_benchmark<'a>(
    name: &str,
    harness: Harness,
    sides: impl IntoIterator<Item = (&'a str, &'a Program, &'a str)>,
) -> Benchmark {
    let contender = |(name, program, benchmark): (&str, &Program, &str)| Contender {
        name: name.to_owned(),
        workload: Workload::Harness(Box::new(HarnessCalls {
            harness,
            program: program.clone(),
            benchmark: benchmark.to_owned(),
            repetitions: 1,
            threads: 1,
            ..HarnessCalls::default()
        })),
    };
    Benchmark {
        name: name.to_owned(),
        contenders: sides.into_iter().map(contender).collect(),
        ..Benchmark::default()
    }
}

fn calls(contender: &Contender) -> Option<&HarnessCalls> {
    match &contender.workload {
        Workload::Harness(calls) => Some(calls),
        _ => None,
    }
}

/// Returns true if any contender of the benchmarks is an executable of another harness.
pub(super) fn holds(benchmarks: &[Benchmark]) -> bool {
    let mut contenders = benchmarks.iter().flat_map(|one| &one.contenders);
    contenders.any(|contender| calls(contender).is_some())
}

pub(super) fn contenders<'a>(
    race: &BenchmarkRace,
    benchmarks: &[Benchmark],
    interrupts: &'a Interrupts,
) -> Result<HarnessContenders<'a>, RaceError> {
    refuse_pins(race, benchmarks)?;
    refuse_side_by_side(&race.settings, &harnesses(benchmarks)).map_err(RaceError::Design)?;
    if race.settings.callgrind() {
        return Err(RaceError::Design(
            "--callgrind: callgrind counts a whole launch, and the samples in one launch of a \
             harness \
             cannot be separated\nhelp: deadheat explain counts single benchmarks of Google \
             Benchmark"
                .to_owned(),
        ));
    }
    let options = HarnessOptions {
        timeout: race.settings.timeout(Front::Bench),
        pinning: race.settings.pinning(Front::Bench),
        seed: race.settings.seed(),
        shown: race.shown,
        harnesses: harnesses(benchmarks),
        wanted: wanted(benchmarks, race.settings.blocks)?,
    };
    HarnessContenders::new(options, interrupts).map_err(RaceError::NotStarted)
}

/// Returns an error if the user chooses cores, but launches of a harness cannot be pinned.
fn refuse_pins(race: &BenchmarkRace, benchmarks: &[Benchmark]) -> Result<(), RaceError> {
    let mut harnesses = harnesses(benchmarks).into_iter();
    match (
        &race.settings.pin,
        harnesses.find(|harness| !may_be_pinned(*harness)),
    ) {
        (Some(Pinning::Cores(_)), Some(harness)) => Err(RaceError::Design(format!(
            "--pin: launches of {} have other threads, which would wait for the benchmark on one \
             core\nhelp: leave out --pin",
            harness.name()
        ))),
        _ => Ok(()),
    }
}

fn harnesses(benchmarks: &[Benchmark]) -> Vec<Harness> {
    let contenders = benchmarks.iter().flat_map(|one| &one.contenders);
    let mut found = Vec::new();
    for calls in contenders.filter_map(calls) {
        if !found.contains(&calls.harness) {
            found.push(calls.harness);
        }
    }
    found
}

/// Returns the number and the length of repetitions that the user requests: by `--blocks`, or by
/// the arguments of any executable. All sides use the same values, because repetitions of different
/// lengths are not comparable.
fn wanted(
    benchmarks: &[Benchmark],
    blocks: Option<u32>,
) -> Result<RequestedRepetitions, RaceError> {
    if let Some(blocks) = blocks {
        for harness in harnesses(benchmarks) {
            let (fewest, most) = repetitions_of_a_launch(harness);
            if !(fewest..=most).contains(&blocks) {
                let bound = if blocks < fewest {
                    format!("at least {fewest}")
                } else {
                    format!("at most {most}")
                };
                return Err(RaceError::Design(format!(
                    "--blocks {blocks}: for executables of {}, N is the number of repetitions in a \
                     launch, {bound}",
                    harness.name()
                )));
            }
        }
    }
    let mut wanted = RequestedRepetitions::default();
    let contenders = benchmarks.iter().flat_map(|one| &one.contenders);
    for calls in contenders.filter_map(calls) {
        let read = requested_repetitions(calls.harness, &calls.program.arguments)
            .map_err(|problem| RaceError::Design(problem.to_string()))?;
        wanted.length = wanted.length.or(read.length);
        wanted.repetitions = wanted.repetitions.or(read.repetitions);
    }
    wanted.repetitions = blocks.or(wanted.repetitions);
    Ok(wanted)
}

/// Sets the number of repetitions in a launch, unless the user did, and returns the time of a
/// replicate with `launches` launches, in nanoseconds.
fn complete(piloted: &mut HarnessPilot, launches: usize) -> f64 {
    let (launch_ns, repetition_ns) = (piloted.launch_ns, piloted.repetition_ns);
    if let Some(most) = piloted.most_repetitions {
        let planned = planned_repetitions(launch_ns, repetition_ns, &piloted.launches_ns);
        for calls in &mut piloted.calls {
            calls.repetitions = planned.min(most);
        }
    }
    let repetitions = piloted.calls.first().map_or(1, |calls| calls.repetitions);
    // Every other replicate begins with a launch of one repetition that primes it.
    let priming_ns = (launch_ns + repetition_ns) / 2.0;
    launches as f64 * (launch_ns + f64::from(repetitions) * repetition_ns) + priming_ns
}

impl PilotedContenders for HarnessContenders<'_> {
    fn called(&self) -> &'static str {
        "these executables, whose counters appear next to the verdict,"
    }

    fn blocks(&self, _settings: &RaceSettings) -> u32 {
        1
    }

    fn pilot(
        &mut self,
        index: usize,
        benchmark: &mut Benchmark,
        settings: &RaceSettings,
        _more: usize,
    ) -> Result<Option<f64>, EngineError> {
        // A control is launched like its baseline, so it needs no calibration run.
        let rivals = &benchmark.contenders[..benchmark.rivals()];
        let sides: Vec<HarnessSide<'_>> = rivals
            .iter()
            .filter_map(|contender| {
                let calls = calls(contender)?;
                Some(HarnessSide {
                    contender: &contender.name,
                    harness: calls.harness,
                    program: &calls.program,
                    benchmark: &calls.benchmark,
                })
            })
            .collect();
        let asked = asked(settings, benchmark);
        let piloted = HarnessContenders::pilot(self, index, &benchmark.name, &sides);
        // A valid value in case the calibration run fails.
        benchmark.blocks_per_replicate = Some(1);
        let mut piloted = piloted?;
        let shared_ns = arrange(self, (index, &benchmark.name, &sides), asked, &mut piloted)?;
        let slots = benchmark.slots_per_block();
        let cost_ns = match shared_ns {
            Some(shared_ns) => {
                benchmark.side_by_side = Some(SideBySide::default());
                benchmark.overrides.judged.get_or_insert(Metric::Cpu);
                shared_ns * slots as f64 / sides.len() as f64
            }
            None => complete(&mut piloted, slots),
        };
        let first = piloted.calls.first().cloned();
        benchmark.blocks_per_replicate = first.as_ref().map(|calls| calls.repetitions);
        benchmark.counters = piloted.counters;
        let found = piloted.calls.into_iter().chain(first);
        for (contender, calls) in benchmark.contenders.iter_mut().zip(found) {
            contender.workload = Workload::Harness(Box::new(calls));
        }
        Ok(Some(cost_ns))
    }

    fn reason_to_leave_out(&self, error: &EngineError) -> Option<LeftOutReason> {
        let EngineError::Function(failure) = error else {
            return None;
        };
        let FunctionError::Harness(cause) = &failure.cause else {
            return None;
        };
        match &cause.what {
            HarnessError::Skipped(message) => Some(LeftOutReason::Skipped(message.clone())),
            HarnessError::NotAlike { .. }
            | HarnessError::SingleCalls
            | HarnessError::Several(_) => {
                let contender = failure.contender.as_deref().unwrap_or_default();
                let reason = format!("'{contender}' {}", cause.what);
                Some(LeftOutReason::NotAlike(reason))
            }
            _ => None,
        }
    }

    fn enter(
        &mut self,
        plan: &mut Plan,
        failed: &dyn Fn(usize) -> bool,
        race: &BenchmarkRace,
        interrupts: &Interrupts,
    ) -> Result<Vec<NeutralLinks>, RaceError> {
        // A race with `until` is one of many in a search, which needs only its effect.
        if race.until.is_none() {
            add_turns(plan);
        }
        let placements = placements(plan, race.placements.clone(), None, interrupts)?;
        if race.until.is_none() {
            add_own_links(plan, OWN_LINK_REPLICATES, |of| {
                placements.possible(of) && !failed(of)
            });
        }
        HarnessContenders::enter(self, plan, placements).map_err(RaceError::NotStarted)?;
        Ok(self.neutral_links().to_vec())
    }

    fn enter_frozen(
        &mut self,
        plan: &Plan,
        race: &BenchmarkRace,
        interrupts: &Interrupts,
    ) -> Result<Vec<NeutralLinks>, RaceError> {
        let placements = placements(plan, race.placements.clone(), None, interrupts)?;
        HarnessContenders::enter(self, plan, placements).map_err(RaceError::NotStarted)?;
        Ok(self.neutral_links().to_vec())
    }

    fn known_of(&self, environment: Environment) -> Environment {
        Environment {
            pinned: self.pinned().to_vec(),
            ..environment
        }
    }

    fn tick_ns(&self) -> f64 {
        OsClock::measured_tick_ns()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_model::RepetitionLength;

    fn piloted(spread: f64, most_repetitions: Option<u32>) -> HarnessPilot {
        let calls = || HarnessCalls {
            fixes_addresses: false,
            harness: Harness::GoogleBenchmark,
            program: Program {
                executable: "bench".into(),
                ..Program::default()
            },
            benchmark: "sum".to_owned(),
            length: RepetitionLength::Iterations(9),
            warm_up: 0,
            planned_iterations: None,
            repetitions: 4,
            threads: 1,
        };
        let times = [1.0, -1.0, 1.0, -1.0].map(|sign| 1e3 * (1.0 + sign * spread));
        HarnessPilot {
            calls: vec![calls(), calls()],
            counters: Vec::new(),
            launches_ns: vec![times.to_vec(); 2],
            launch_ns: 2e6,
            repetition_ns: 3e6,
            most_repetitions,
            usage: None,
        }
    }

    #[test]
    fn both_sides_have_as_many_repetitions_as_their_scatter_asks_for() {
        for (spread, most, expected) in [
            (0.1, Some(60), 8),
            (0.1, Some(3), 3),
            (0.0001, Some(60), 2),
            (0.1, None, 4),
        ] {
            let mut piloted = piloted(spread, most);
            let cost_ns = complete(&mut piloted, 4);
            let repetitions = piloted.calls.iter().map(|calls| calls.repetitions);
            assert_eq!(repetitions.collect::<Vec<_>>(), [expected; 2]);
            // Four launches, plus the priming launch with one repetition of every other replicate.
            assert_eq!(cost_ns, 4.0 * (2e6 + f64::from(expected) * 3e6) + 2.5e6);
        }
    }
}
