//! Makes the decisions before the first sample: checks the settings before the calibration runs,
//! computes the number of blocks and replicates from these runs, and adds reruns.

use std::path::Path;
use std::time::Duration;

use deadheat_analysis::{
    BETWEEN_COMPILED, BETWEEN_PYTHON, LooksError, fixed_look, looks_within, planned_blocks,
    planned_looks,
};
use deadheat_engine::{Pilot, Piloted, least_warm_up_rounds};
use deadheat_format::{FileProblem, NOWHERE, ensure_folder, ensure_writable};
use deadheat_model::{
    Benchmark, Contender, Design, Front, HELP, LevelOverride, Looks, Metric, Plan, RaceSettings,
    Rerun, RerunKind, ShareRange,
};
use deadheat_report::units::waiting;

use super::RaceError;

pub(super) fn design(settings: &RaceSettings) -> Result<Design, RaceError> {
    if settings.quantile.is_some() && settings.sample_time.is_some() {
        return Err(RaceError::Design(
            "--quantile and --sample-time cannot be combined: a sample is then one iteration"
                .to_owned(),
        ));
    }
    let looks = looks(settings, settings.alpha())?;
    Ok(settings.design(Front::Bench, looks))
}

pub(super) fn looks(settings: &RaceSettings, alpha: f64) -> Result<Looks, RaceError> {
    if let Some(replicates) = settings.replicates_of_part() {
        return Ok(fixed_look(replicates, alpha)?);
    }
    Ok(planned_looks(0, settings.max_replicates(), alpha)?)
}

impl From<LooksError> for RaceError {
    fn from(error: LooksError) -> Self {
        RaceError::Design(unplannable(&error))
    }
}

fn unplannable(error: &LooksError) -> String {
    match error {
        LooksError::Range { max, .. } => {
            format!(
                "--max-replicates must be at least 1, not {max}{HELP}without it, the race ends at \
                 its verdict"
            )
        }
        LooksError::Alpha(alpha) => {
            let range = ShareRange::ALPHA.words;
            format!("--alpha must be {range}, not {alpha}")
        }
    }
}

/// Returns an error if the run file already exists or cannot be written. The file is created after
/// the calibration runs, so without this check the user would wait for these runs before seeing the
/// error.
pub(super) fn refuse_unwritable(save: Option<&Path>) -> Result<(), RaceError> {
    let Some(file) = save.filter(|file| *file != Path::new(NOWHERE)) else {
        return Ok(());
    };
    if file.exists() {
        return Err(RaceError::Save(FileProblem::AlreadyExists.of(file)));
    }
    let folder = file.parent().map_or(Ok(()), ensure_folder);
    folder
        .and_then(|()| ensure_writable(file))
        .map_err(RaceError::Save)
}

pub(super) fn refuse_short_budget(
    settings: &RaceSettings,
    benchmarks: &[Benchmark],
) -> Result<(), RaceError> {
    let (Some(budget), Some(sample)) = (settings.budget, settings.sample_time) else {
        return Ok(());
    };
    let raced = benchmarks.iter().filter(|one| one.rerun.is_none());
    let Some(slots) = raced.map(Benchmark::slots_per_block).min() else {
        return Ok(());
    };
    let block = sample.saturating_mul(slots as u32);
    if block <= budget {
        return Ok(());
    }
    let seconds = |time: Duration| waiting(time.as_secs_f64());
    Err(RaceError::Design(format!(
        "--budget: one block takes {} ({slots} samples of --sample-time {}), and the budget is \
         {}{HELP}raise --budget, or lower --sample-time",
        seconds(block),
        seconds(sample),
        seconds(budget),
    )))
}

/// Returns an error if the race does not measure the judged metric. `called` is the plural noun for
/// the contenders in the message.
pub(super) fn refuse_unmeasured(
    judged: &Metric,
    measured: &[Metric],
    called: &str,
) -> Result<(), RaceError> {
    if measured.contains(judged) {
        return Ok(());
    }
    let known: Vec<&str> = measured.iter().map(Metric::name).collect();
    Err(RaceError::MetricNotMeasured {
        metric: judged.clone(),
        reason: format!("{called} have the metrics {}", known.join(", ")),
    })
}

/// Returns an error if a rule for a single benchmark sets a judged metric that the race does not
/// measure. `called` is the plural noun for the contenders in the message.
pub(super) fn refuse_unmeasured_overrides(
    benchmarks: &[Benchmark],
    measured: &[Metric],
    called: &str,
) -> Result<(), RaceError> {
    for benchmark in benchmarks {
        if let Some(judged) = &benchmark.overrides.judged
            && !measured.contains(judged)
        {
            let known: Vec<&str> = measured.iter().map(Metric::name).collect();
            return Err(RaceError::Design(format!(
                "benchmark '{}': deadheat does not measure the metric {judged} of its rules in \
                 deadheat.toml; {called} have the metrics {}",
                benchmark.name,
                known.join(", ")
            )));
        }
    }
    Ok(())
}

/// The time of a block in addition to its samples, in nanoseconds: passing turns between processes,
/// writing the record, and reading the counters.
const BLOCK_OVERHEAD_NS: f64 = 50_000.0;
/// If processes take turns, the blocks of a replicate take at least this many times the time of
/// starting its processes, as measured in the calibration run. Warming up and ending the processes
/// takes about as long as starting them: with a factor of 9, a fifth of the time of a race was
/// spent between replicates.
const BLOCKS_TO_START: f64 = 18.0;
const MOST_BLOCKS: u32 = 200;

/// The planned time of a benchmark, if the user sets no maximum number of replicates.
const BENCHMARK_TIME: Duration = Duration::from_secs(5);

/// If every call of two functions takes at least this many nanoseconds, the functions race in
/// pairs: a replicate is one call of each. With blocks of four calls, the six replicates that a
/// verdict needs took 12 s for functions of 0.5 s.
const SLOW_CALL_NS: f64 = 1e8;

/// Minimum number of replicates for a verdict.
const VERDICT_REPLICATES: u32 = 6;

/// A benchmark without a budget ends after this multiple of its planned time, because all
/// replicates take longer if the machine becomes busy: with busy loops on every core, races planned
/// for 5 s took up to 52 s.
const OVERDUE: f64 = 2.0;
/// Minimum of the time limit of a benchmark without a budget.
const LEAST_LIMIT: Duration = Duration::from_secs(10);

/// In a race in rounds, the time limit of a benchmark is the time for this multiple of the
/// replicates that a verdict needs, but at least [`LEAST_LIMIT`].
const LIMIT_IN_ROUNDS: u32 = 2;

/// An ABBA block in turns has as many launches as this number of pairs side by side.
const PAIRS_OF_A_BLOCK: u32 = 2;

/// Sets the maximum number of replicates of each benchmark to the number that fits into its time.
/// `costs_ns` has the time of a replicate of each benchmark; benchmarks with an unknown time or
/// without a candidate are not changed. `spent` is the part of the budget that the calibration runs
/// used.
pub(super) fn plan_for_costs(
    plan: &mut Plan,
    costs_ns: &[Option<f64>],
    spent: Duration,
) -> Result<(), RaceError> {
    let share = plan
        .design
        .budget
        .map(|budget| budget.saturating_sub(spent) / costs_ns.len().max(1) as u32);
    for (index, cost_ns) in costs_ns.iter().enumerate() {
        let Some(cost_ns) = cost_ns.filter(|_| plan.benchmarks[index].rivals() > 1) else {
            continue;
        };
        let least_ns = match plan.benchmarks[index].races_in_pairs() {
            true => f64::from(PAIRS_OF_A_BLOCK * RaceSettings::UNSAID_REPLICATES) * cost_ns,
            false => 0.0,
        };
        let wanted = BENCHMARK_TIME.max(Duration::from_nanos(least_ns.ceil() as u64 + 1));
        let limits = [Some(wanted), share, plan.budget(index)];
        let time = limits.into_iter().flatten().min().unwrap_or_default();
        let alpha = plan.alpha(index);
        let first = plan.looks(index).at.first().copied().unwrap_or(0);
        // With k candidates, each candidate is tested at α/k, and the results at several looks are
        // less correlated at a small α. So the levels of the looks are computed for α/k: with the
        // levels for .05, races of ten candidates had a wrong verdict in .055 of cases.
        let candidates = (plan.benchmarks[index].rivals() - 1) as f64;
        if let Some(mut looks) = looks_within(time, cost_ns, first, alpha / candidates)? {
            looks
                .levels
                .iter_mut()
                .for_each(|level| *level *= candidates);
            let level = &mut plan.benchmarks[index].overrides.level;
            *level = Some(LevelOverride { alpha, looks });
        } else if let Some(looks) = looks_of_slow(plan, index, (time, cost_ns))? {
            let level = &mut plan.benchmarks[index].overrides.level;
            *level = Some(LevelOverride { alpha, looks });
        }
        // All parts of a race share one plan, but each part has its own calibration run, so a limit
        // would differ between parts.
        let may_be_limited = plan.design.shard.is_none();
        if may_be_limited && limits[1..].iter().all(Option::is_none) {
            let most = match plan.races_in_rounds(index) {
                true => f64::from(LIMIT_IN_ROUNDS * VERDICT_REPLICATES),
                false => OVERDUE * f64::from(plan.looks(index).max_replicates()),
            };
            let limit = Duration::from_nanos((most * cost_ns) as u64).max(LEAST_LIMIT);
            plan.benchmarks[index].overrides.budget = Some(limit);
        }
    }
    let mut levels = plan.benchmarks.iter().map(|one| &one.overrides.level);
    let first = levels.next().cloned().flatten();
    // If all benchmarks have the same looks, the looks are stored once, in the design.
    if let Some(level) = first
        && level.alpha == plan.design.alpha
        && levels.all(|other| other.as_ref() == Some(&level))
    {
        plan.design.looks = level.looks;
        for benchmark in &mut plan.benchmarks {
            benchmark.overrides.level = None;
        }
    }
    Ok(())
}

/// Typical number of replicates until the verdict on a benchmark.
const USUAL_REPLICATES: u32 = 11;

/// Estimates the duration of a race with a typical number of replicates. `costs_ns` has the time of
/// a replicate of each benchmark, and `spent` is the used part of the budget.
pub(super) fn forecast(plan: &Plan, costs_ns: &[Option<f64>], spent: Duration) -> Duration {
    let usual = |(index, cost_ns): (usize, &Option<f64>)| {
        let replicates = plan.looks(index).max_replicates().min(USUAL_REPLICATES);
        let usual = Duration::from_nanos((cost_ns.as_ref()? * f64::from(replicates)) as u64);
        Some(plan.budget(index).map_or(usual, |limit| limit.min(usual)))
    };
    let all: Duration = costs_ns.iter().enumerate().filter_map(usual).sum();
    let budget = plan
        .design
        .budget
        .map(|budget| budget.saturating_sub(spent));
    budget.map_or(all, |budget| budget.min(all))
}

/// Returns looks for functions that are so slow that the planned replicates do not fit into the
/// time; `None` if they fit. The last look is at the last replicate that fits. Without these looks,
/// the time limit would end the race before its last look, and the race would be judged by an
/// anytime-valid interval, which is wider.
fn looks_of_slow(
    plan: &Plan,
    index: usize,
    (time, cost_ns): (Duration, f64),
) -> Result<Option<Looks>, RaceError> {
    let limited = plan.design.budget.is_some() || plan.budget(index).is_some();
    let most = (time.as_nanos() as f64 / cost_ns) as u32;
    let fits = (VERDICT_REPLICATES..plan.looks(index).max_replicates()).contains(&most);
    if !limited || !fits || !plan.benchmarks[index].in_pairs {
        return Ok(None);
    }
    Ok(Some(planned_looks(0, most, plan.alpha(index))?))
}

/// Doubles the replicates of the looks of a benchmark that races in pairs, so that it has as many
/// launches as the user requested. The looks were planned for blocks in turns, which have twice as
/// many launches as a pair.
#[cfg(feature = "commands")]
pub(super) fn keep_launches(plan: &mut Plan, index: usize) -> Result<(), LooksError> {
    if !plan.benchmarks[index].races_in_pairs() {
        return Ok(());
    }
    let alpha = plan.alpha(index);
    let at: Vec<u32> = (plan.looks(index).at.iter())
        .map(|look| PAIRS_OF_A_BLOCK * look)
        .collect();
    let looks = match *at {
        [only] => fixed_look(only, alpha)?,
        [first, .., last] => planned_looks(first, last, alpha)?,
        [] => return Ok(()),
    };
    plan.benchmarks[index].overrides.level = Some(LevelOverride { alpha, looks });
    Ok(())
}

/// Sets the calls and blocks of a benchmark from its calibration run `piloted`, and returns the
/// time of a replicate in nanoseconds. `piloted` is `None` if the calibration run failed; the
/// benchmark is still valid then, because the run records its failure. For a quantile, a sample is
/// one iteration, and the benchmark already has its minimum number of blocks.
pub(super) fn complete(
    benchmark: &mut Benchmark,
    piloted: Option<&Piloted>,
    (blocks, margin): (Option<u32>, f64),
) -> Option<f64> {
    let of_quantile = benchmark.blocks_per_replicate;
    let blocks = blocks.or(piloted.and_then(|piloted| piloted.pilot.blocks));
    benchmark.blocks_per_replicate = blocks.max(of_quantile);
    let single;
    let piloted = match of_quantile {
        None => piloted?,
        Some(_) => {
            single = one_by_one(piloted?);
            &single
        }
    };
    for contender in &mut benchmark.contenders {
        if let Some(calls) = contender.workload.calls_mut() {
            calls.iterations = piloted.pilot.iterations;
        }
    }
    benchmark.input_per_call = piloted.pilot.input_per_call;
    benchmark.notes = piloted.pilot.notes.clone();
    benchmark.throughput = benchmark.throughput.or(piloted.pilot.throughput);
    benchmark.without_warm_up =
        of_quantile.is_none() && can_start_cold(benchmark, &piloted.pilot, margin);
    benchmark.in_pairs = blocks.is_none() && of_quantile.is_none() && is_slow(benchmark, piloted);
    benchmark.one_input = has_long_input(benchmark, &piloted.pilot);
    if benchmark.one_input {
        benchmark.notes.push(ONE_INPUT.to_owned());
    }
    let turns = benchmark.processes_per_replicate() > Some(1);
    let costs = Costs::of(piloted, benchmark, turns);
    let found = match benchmark.in_pairs {
        true => 1,
        false => blocks.unwrap_or_else(|| costs.blocks_that_fit(piloted, turns)),
    };
    let blocks = found.max(of_quantile.unwrap_or(0));
    benchmark.blocks_per_replicate = Some(blocks);
    // Ending the processes takes as long as starting them, if they take turns.
    let starts = if turns { 2.0 } else { 1.0 };
    let blocks_ns = f64::from(blocks.max(1)) * costs.block_ns - costs.unprimed_ns;
    Some(starts * costs.process_ns + blocks_ns)
}

/// All blocks of a replicate share one input if making it takes at least this many times as long as
/// the samples of a block. [`LONG_INPUT_NS`] must be reached too.
const INPUT_TO_SAMPLES: f64 = 10.0;
/// Minimum time of making an input that all blocks of a replicate share, in nanoseconds. With a new
/// input for each block, a function of 10 µs with inputs that take 0.3 s raced for 173 s, nearly
/// all of it for making inputs.
const LONG_INPUT_NS: f64 = 1e7;
const ONE_INPUT: &str = "Making an input takes much longer than the samples that use it, so all \
                         blocks of a replicate share one input.";

fn has_long_input(benchmark: &Benchmark, pilot: &Pilot) -> bool {
    let round_ns = pilot.call_ns.iter().sum::<f64>() * pilot.iterations as f64;
    let samples_ns = round_ns * benchmark.slots_per_block() as f64 / pilot.call_ns.len() as f64;
    let input_ns = pilot
        .input_ns
        .filter(|_| !pilot.input_per_call)
        .unwrap_or(0.0);
    input_ns >= LONG_INPUT_NS && input_ns >= INPUT_TO_SAMPLES * samples_ns
}

/// Returns true if a benchmark has two functions that are so slow that a replicate should be one
/// call of each.
fn is_slow(benchmark: &Benchmark, piloted: &Piloted) -> bool {
    let pilot = &piloted.pilot;
    let slow = pilot.call_ns.iter().all(|call_ns| *call_ns >= SLOW_CALL_NS);
    slow && pilot.iterations == 1 && benchmark.contenders.len() == 2
}

/// Minimum margin for taking the first call of a process as a sample. The calibration run has found
/// that this call is slower than later calls by less than this share.
const LEAST_COLD_MARGIN: f64 = 0.01;

/// Returns true if processes of this benchmark start with their first block, without a warm-up,
/// because the calibration run found that the first call is hardly slower than later calls.
///
/// Without a warm-up, a first call that is slower by less than 1% is a sample. A cost that occurs
/// once per process, whichever contender comes first, falls into the first slot. The order of
/// contenders is random, so this cost causes no bias. A cost of 1% changes the effect of a block by
/// +0.5% or −0.5%; if blocks of 20 ms scatter by 0.55%, the scatter becomes 1.35 times as large. A
/// cost that occurs once per contender changes the effect of the first block by half its size, in
/// either order. Two equal contenders still show no difference, but a contender that does 0.8% more
/// work in its first call shows a change of 0.4%. So the warm-up is omitted only if the margin is
/// at least as large as the possible cost of a first call. Omitting it saves a third of the calls
/// of a process with one block.
///
/// With a single contender, the cost of the first call does not cancel. With three or more
/// contenders, including controls, each contender runs once per block, so the cost of its first
/// call counts in full.
fn can_start_cold(benchmark: &Benchmark, pilot: &Pilot, margin: f64) -> bool {
    pilot.warm_at_once && margin >= LEAST_COLD_MARGIN && benchmark.contenders.len() == 2
}

/// Returns the calibration run for samples of one iteration, without the times of its trial blocks,
/// because these were measured on batches.
fn one_by_one(batches: &Piloted) -> Piloted {
    Piloted {
        pilot: Pilot {
            iterations: 1,
            blocks_ns: Vec::new(),
            block_cost_ns: None,
            ..batches.pilot.clone()
        },
        ..batches.clone()
    }
}

/// Minimum time of an iteration that is timed separately, in steps of the clock.
const LEAST_TICKS: f64 = 100.0;
/// Minimum time of an iteration that is timed separately, as a multiple of the time of a clock
/// reading. The measured time includes a clock reading, which makes a change seem smaller by at
/// most a twentieth.
const LEAST_READINGS: f64 = 20.0;

/// Returns the name of a contender whose iterations cannot be timed separately, with the reason;
/// `None` if the iterations of all contenders can.
pub(super) fn not_one_by_one(
    benchmark: &Benchmark,
    pilot: &Pilot,
    (tick_ns, overhead_ns): (f64, f64),
) -> Option<(String, String)> {
    let mut contenders = benchmark.contenders.iter();
    let threads =
        |contender: &&Contender| contender.workload.calls().map_or(1, |calls| calls.threads);
    if let Some(concurrent) = contenders.find(|contender| threads(contender) > 1) {
        let why = format!("{} threads call it at the same time", threads(&concurrent));
        return Some((concurrent.name.clone(), why));
    }
    let least_ns = (LEAST_TICKS * tick_ns).max(LEAST_READINGS * overhead_ns);
    let calls = benchmark.contenders.iter().zip(&pilot.call_ns);
    let (contender, call_ns) = calls.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    (*call_ns < least_ns).then(|| {
        let why = format!(
            "a call takes about {call_ns:.1} ns, and this clock cannot time a single call under \
             {least_ns:.0} ns; let a call do more, or judge without a quantile, because the \
             quantile of batches is not that of calls"
        );
        (contender.name.clone(), why)
    })
}

/// The times of the parts of a replicate, in nanoseconds.
struct Costs {
    /// The time before the first block.
    process_ns: f64,
    block_ns: f64,
    /// The time of the priming calls, which the first block skips if the benchmark has no warm-up;
    /// 0 with a warm-up.
    unprimed_ns: f64,
}

impl Costs {
    fn of(piloted: &Piloted, benchmark: &Benchmark, taking_turns: bool) -> Self {
        let contenders = benchmark.contenders.len();
        let pilot = &piloted.pilot;
        // A control in the same process takes as long as the baseline.
        let copy = pilot
            .call_ns
            .first()
            .filter(|_| pilot.call_ns.len() < contenders);
        let call_ns = pilot.call_ns.iter().chain(copy);
        let round_ns: f64 = call_ns.sum::<f64>() * pilot.iterations as f64;
        // A block has one priming call of each contender, then two samples of each in ABBA order,
        // or one sample of each if there are more than two contenders.
        let rounds = if benchmark.has_abba_blocks() {
            3.0
        } else {
            2.0
        };
        let input_ns = pilot.input_ns.unwrap_or(0.0);
        let samples_ns = match pilot.block_cost_ns {
            Some(cost_ns) if benchmark.one_input => (cost_ns - input_ns).max(round_ns * rounds),
            Some(cost_ns) => cost_ns,
            None if benchmark.one_input => round_ns * rounds,
            None => round_ns * rounds + input_ns,
        };
        let once_ns = if benchmark.one_input { input_ns } else { 0.0 };
        // If one round of calls is enough for the warm-up, this round is also the priming of the
        // first block.
        let rounds = match (least_warm_up_rounds(round_ns), taking_turns) {
            _ if benchmark.without_warm_up => 0,
            (1, false) => 0,
            (rounds, _) => rounds,
        };
        // The trial blocks of the calibration run were primed like the first block, so their time
        // needs no correction.
        let unprimed_ns = match pilot.block_cost_ns {
            None if benchmark.without_warm_up => round_ns,
            _ => 0.0,
        };
        Self {
            process_ns: piloted.process_ns + f64::from(rounds) * round_ns + once_ns,
            block_ns: samples_ns + BLOCK_OVERHEAD_NS,
            unprimed_ns,
        }
    }

    /// Returns the number of blocks in a replicate that gives the smallest error of the estimate in
    /// a given time.
    fn blocks_that_fit(&self, piloted: &Piloted, taking_turns: bool) -> u32 {
        let costs = (self.process_ns, self.block_ns);
        let between = match piloted.shares_start {
            true => BETWEEN_PYTHON,
            false => BETWEEN_COMPILED,
        };
        let fitting = planned_blocks(costs, &piloted.pilot.blocks_ns, between);
        let starting = piloted.process_ns / self.block_ns * BLOCKS_TO_START;
        let blocks = match taking_turns && !piloted.shares_start {
            true => fitting.max((starting as u32).min(MOST_BLOCKS)),
            false => fitting,
        };
        // The number is even, so that ABBA and BAAB blocks are equally frequent. With three blocks,
        // one order occurs twice: if the CPU learns the input of a function within a block, .068 of
        // 6,000 simulated A/A races had a false positive, and .042 with two blocks.
        if blocks > 1 { blocks & !1 } else { blocks }
    }
}

/// Appends to the plan a rerun of the benchmark `of` in turns, with at most this many replicates.
#[cfg(feature = "commands")]
pub(super) fn add_rerun_in_turns(plan: &mut Plan, of: usize, replicates: u32) {
    let most = plan.looks(of).max_replicates();
    let rerun = Benchmark {
        rerun: Some(Rerun {
            of,
            replicates: replicates.min(most),
            kind: RerunKind::Turns,
        }),
        side_by_side: None,
        ..plan.benchmarks[of].clone()
    };
    plan.benchmarks.push(rerun);
}

/// Appends to the plan a rerun on the user's own link for each benchmark for which `possible`
/// returns true, with at most this many replicates.
pub(super) fn add_own_links(plan: &mut Plan, replicates: u32, possible: impl Fn(usize) -> bool) {
    let most = |of: usize| replicates.min(plan.looks(of).max_replicates());
    let reruns: Vec<Benchmark> = plan
        .benchmarks
        .iter()
        .enumerate()
        // A benchmark with one contender has no comparison, so it needs no rerun.
        .filter(|(of, benchmark)| {
            benchmark.rerun.is_none() && benchmark.rivals() > 1 && possible(*of)
        })
        .map(|(of, benchmark)| Benchmark {
            rerun: Some(Rerun {
                kind: RerunKind::OwnLink,
                of,
                replicates: most(of),
            }),
            ..benchmark.clone()
        })
        .collect();
    plan.benchmarks.extend(reruns);
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_model::{BenchmarkOverrides, Workload};
    use deadheat_testing::runs::{benchmark, contenders, header};

    fn piloted(call_ns: f64, iterations: u64) -> Piloted {
        Piloted {
            pilot: Pilot {
                iterations,
                most_iterations: None,
                call_ns: vec![call_ns; 2],
                blocks_ns: Vec::new(),
                block_cost_ns: None,
                warm_at_once: false,
                input_per_call: false,
                notes: Vec::new(),
                input_ns: None,
                blocks: None,
                throughput: None,
            },
            process_ns: 3e6,
            shares_start: false,
        }
    }

    fn blocks_that_fit(piloted: &Piloted, contenders: usize, taking_turns: bool) -> u32 {
        let names = &["old", "new", "third"][..contenders];
        let calls = deadheat_testing::runs::function(1);
        let benchmark = benchmark("b", self::contenders(names.iter().copied(), &calls));
        Costs::of(piloted, &benchmark, taking_turns).blocks_that_fit(piloted, taking_turns)
    }

    #[test]
    fn short_functions_get_many_blocks_and_slow_ones_few() {
        let short = blocks_that_fit(&piloted(1.0, 20_000), 2, false);
        let long = blocks_that_fit(&piloted(1e7, 1), 2, false);
        let slow = blocks_that_fit(&piloted(1e9, 1), 2, false);
        assert!(short >= 10, "{short}");
        assert!((2..5).contains(&long), "{long}");
        assert_eq!(slow, 1);
    }

    #[test]
    fn starting_processes_that_take_turns_is_a_small_part_of_a_replicate() {
        let short = piloted(200_000.0, 1);
        let alone = blocks_that_fit(&short, 2, false);
        let turns = blocks_that_fit(&short, 2, true);
        assert!(alone < turns && turns <= MOST_BLOCKS, "{alone} {turns}");
        assert_eq!(blocks_that_fit(&piloted(1e9, 1), 2, true), 1);
    }

    /// Returns a benchmark of two functions judged by a quantile, for which `blocks` is the minimum
    /// number of blocks.
    fn of_quantile(blocks: u32) -> Benchmark {
        let calls = deadheat_testing::runs::function(7);
        Benchmark {
            blocks_per_replicate: Some(blocks),
            ..benchmark("b", contenders(["old", "new"], &calls))
        }
    }

    #[test]
    fn a_quantile_takes_single_calls_and_as_many_blocks_as_it_needs_or_as_are_cheap() {
        let planned = |call_ns, least, asked| {
            let mut benchmark = of_quantile(least);
            complete(&mut benchmark, Some(&piloted(call_ns, 500)), (asked, 0.01));
            let calls = benchmark.contenders[1].workload.calls();
            assert_eq!(calls.unwrap().iterations, 1);
            benchmark.blocks_per_replicate.unwrap()
        };
        assert_eq!(planned(2_000.0, 250, None), 250);
        assert!(planned(2_000.0, 5, None) > 10);
        assert_eq!(planned(2_000.0, 250, Some(400)), 400);
        assert_eq!(planned(1e7, 250, None), 250);
        // A benchmark whose calibration run failed keeps its place in the plan.
        let mut failed = of_quantile(250);
        complete(&mut failed, None, (None, 0.01));
        assert_eq!(failed.blocks_per_replicate, Some(250));
    }

    #[test]
    fn two_functions_that_are_warm_at_once_start_cold_at_the_price_of_a_round_less() {
        let completed = |names: &[&str], warm_at_once, least, margin| {
            let mut piloted = piloted(2e7, 1);
            piloted.pilot.warm_at_once = warm_at_once;
            let calls = deadheat_testing::runs::function(1);
            let mut benchmark = Benchmark {
                blocks_per_replicate: least,
                ..benchmark("b", contenders(names.iter().copied(), &calls))
            };
            let cost_ns = complete(&mut benchmark, Some(&piloted), (None, margin)).unwrap();
            (benchmark, cost_ns)
        };
        let pair = &["old", "new"];
        let (cold, cost_ns) = completed(pair, true, None, 0.01);
        let (warmed, cost_with_ns) = completed(pair, false, None, 0.01);
        assert!(cold.without_warm_up && !warmed.without_warm_up);
        assert_eq!(cold.blocks_per_replicate, Some(1));
        assert_eq!(warmed.blocks_per_replicate, Some(1));
        assert_eq!(cost_with_ns - cost_ns, 4e7);
        // A quantile, a third contender, a single contender, and a margin below the cost of a first
        // call.
        for (names, least, margin) in [
            (&pair[..], Some(250), 0.01),
            (&["old", "new", "third"][..], None, 0.01),
            (&["old"][..], None, 0.01),
            (&pair[..], None, 0.005),
        ] {
            let (warmed, _) = completed(names, true, least, margin);
            assert!(!warmed.without_warm_up, "{names:?}");
        }
    }

    #[test]
    fn calls_too_short_for_the_clock_and_calls_of_several_threads_are_not_timed_one_by_one() {
        let why = |benchmark: &Benchmark, call_ns, clock| {
            let pilot = piloted(call_ns, 500).pilot;
            not_one_by_one(benchmark, &pilot, clock).map(|(_, why)| why)
        };
        let mut benchmark = of_quantile(250);
        assert_eq!(why(&benchmark, 500.0, (1.0, 20.0)), None);
        for (call_ns, clock) in [
            (3.0, (1.0, 20.0)),
            (390.0, (1.0, 20.0)),
            (900.0, (10.0, 20.0)),
        ] {
            let told = why(&benchmark, call_ns, clock).unwrap();
            assert!(told.contains(&format!("about {call_ns:.1} ns")), "{told}");
        }
        for contender in &mut benchmark.contenders {
            contender.workload.calls_mut().unwrap().threads = 4;
        }
        let told = why(&benchmark, 5e6, (1.0, 20.0)).unwrap();
        assert!(told.contains("4 threads"), "{told}");
    }

    #[test]
    fn a_sample_cannot_be_one_call_and_last_a_given_time() {
        let both = RaceSettings {
            quantile: Some(0.99),
            sample_time: Some(std::time::Duration::from_millis(1)),
            ..RaceSettings::default()
        };
        let told = design(&both).unwrap_err().to_string();
        assert!(told.contains("--quantile and --sample-time"), "{told}");
    }

    fn plan_on_neutral_links(max_replicates: u32) -> Plan {
        let benchmark = |name: &str, names: &[&str]| Benchmark {
            blocks_per_replicate: Some(9),
            ..benchmark(
                name,
                contenders(names.iter().copied(), &Workload::Recording),
            )
        };
        let looks = planned_looks(0, max_replicates, 0.05).unwrap();
        let benchmarks = vec![
            benchmark("alone", &["a"]),
            benchmark("failed", &["a", "b"]),
            benchmark("raced", &["a", "b"]),
        ];
        header(deadheat_testing::runs::design(looks), 1, benchmarks).plan
    }

    #[test]
    fn the_same_benchmark_stands_at_the_end_reruns() {
        let mut plan = plan_on_neutral_links(40);
        add_own_links(&mut plan, 6, |of| of != 1);
        assert_eq!(plan.benchmarks.len(), 4);
        let replicates = 6;
        let beside = Benchmark {
            rerun: Some(Rerun {
                kind: RerunKind::OwnLink,
                of: 2,
                replicates,
            }),
            ..plan.benchmarks[2].clone()
        };
        assert_eq!(plan.benchmarks[3], beside);
    }

    #[test]
    fn it_takes_no_more_replicates_than_the_benchmark_may() {
        let mut plan = plan_on_neutral_links(4);
        add_own_links(&mut plan, 11, |_| true);
        let beside: Vec<u32> = plan
            .benchmarks
            .iter()
            .filter_map(|benchmark| Some(benchmark.rerun?.replicates))
            .collect();
        assert_eq!(beside, [4, 4]);
    }

    #[test]
    fn benchmarks_that_cost_little_get_more_replicates_and_slow_ones_keep_forty() {
        let ends = |budget: Option<u64>, costs_ns: &[Option<f64>]| {
            let mut plan = plan_on_neutral_links(40);
            plan.design.budget = budget.map(Duration::from_secs);
            plan.benchmarks[2].overrides.budget = Some(Duration::from_secs(3));
            plan_for_costs(&mut plan, costs_ns, Duration::ZERO).unwrap();
            plan.validate().unwrap();
            [0, 1, 2].map(|index| plan.looks(index).max_replicates())
        };
        let cheap = Some(5e7);
        assert_eq!(ends(None, &[cheap, cheap, cheap]), [40, 100, 56]);
        assert_eq!(ends(Some(9), &[cheap, cheap, cheap]), [40, 56, 56]);
        assert_eq!(ends(Some(1), &[cheap, cheap, cheap]), [40, 40, 40]);
        assert_eq!(ends(None, &[None, Some(1e9), None]), [40, 40, 40]);
    }

    #[test]
    fn a_benchmark_without_a_budget_ends_after_twice_its_planned_time() {
        let limits = |budget: Option<u64>| {
            let mut plan = plan_on_neutral_links(40);
            plan.design.budget = budget.map(Duration::from_secs);
            plan.benchmarks[2].overrides.budget = Some(Duration::from_secs(3));
            plan_for_costs(
                &mut plan,
                &[Some(5e7), Some(1e9), Some(5e7)],
                Duration::ZERO,
            )
            .unwrap();
            [0, 1, 2].map(|index| Some(plan.budget(index)?.as_secs()))
        };
        assert_eq!(limits(None), [None, Some(80), Some(3)]);
        assert_eq!(limits(Some(60)), [None, None, Some(3)]);
        let mut plan = plan_on_neutral_links(40);
        plan_for_costs(&mut plan, &[None, Some(5e7), None], Duration::ZERO).unwrap();
        assert_eq!(plan.budget(1), Some(LEAST_LIMIT));
    }

    #[cfg(feature = "commands")]
    fn plan_of_pairs(looks: Looks) -> Plan {
        let command = deadheat_testing::runs::command(&["true"]);
        let workload = Workload::Command(Box::new(command));
        let pair = Benchmark {
            side_by_side: Some(deadheat_model::SideBySide::default()),
            ..benchmark("pair", contenders(["a", "b"], &workload))
        };
        header(deadheat_testing::runs::design(looks), 1, vec![pair]).plan
    }

    #[test]
    #[cfg(feature = "commands")]
    fn pairs_that_cost_much_get_as_many_launches_as_blocks_within_the_budget() {
        let most = |budget: Option<u64>, cost_ns: f64| {
            let mut plan = plan_of_pairs(planned_looks(0, 40, 0.05).unwrap());
            plan.design.budget = budget.map(Duration::from_secs);
            plan_for_costs(&mut plan, &[Some(cost_ns)], Duration::ZERO).unwrap();
            plan.looks(0).max_replicates()
        };
        assert_eq!(most(None, 1e9), 80);
        assert_eq!(most(None, 4e7), 112);
        assert_eq!(most(Some(60), 1e9), 56);
        assert_eq!(most(Some(20), 1e9), 40);
    }

    #[test]
    #[cfg(feature = "commands")]
    fn pairs_are_as_many_as_the_launches_asked_for() {
        let at = |looks: Looks| {
            let mut plan = plan_of_pairs(looks);
            keep_launches(&mut plan, 0).unwrap();
            plan.validate().unwrap();
            plan.looks(0).at.clone()
        };
        assert_eq!(at(fixed_look(5, 0.05).unwrap()), [10]);
        assert_eq!(at(planned_looks(0, 11, 0.05).unwrap()), [16, 22]);
        assert_eq!(at(planned_looks(20, 40, 0.05).unwrap()), [44, 62, 80]);
    }

    #[test]
    fn the_looks_that_all_benchmarks_have_are_those_of_the_design() {
        let mut plan = plan_on_neutral_links(40);
        plan.benchmarks.remove(0);
        plan_for_costs(&mut plan, &[Some(1e6), Some(2e6)], Duration::ZERO).unwrap();
        assert_eq!(plan.design.looks.max_replicates(), 200);
        let own = |one: &Benchmark| one.overrides.level.is_some();
        assert!(!plan.benchmarks.iter().any(own));
        let mut plan = plan_on_neutral_links(40);
        plan.benchmarks.remove(0);
        plan_for_costs(&mut plan, &[Some(1e6), Some(1e9)], Duration::ZERO).unwrap();
        assert_eq!(plan.max_replicates(), 200);
        assert_eq!(plan.design.looks.max_replicates(), 40);
    }

    #[test]
    fn several_candidates_have_the_levels_of_their_share() {
        let levels = |names: &[&str]| {
            let mut plan = plan_on_neutral_links(40);
            let contenders = contenders(names.iter().copied(), &Workload::Recording);
            plan.benchmarks = vec![benchmark("several", contenders)];
            plan_for_costs(&mut plan, &[Some(1e6)], Duration::ZERO).unwrap();
            plan.design.looks.levels
        };
        let (one, five) = (levels(&["a", "b"]), levels(&["a", "b", "c", "d", "e", "f"]));
        assert_eq!(one.len(), five.len());
        let less = |(one, five): (&f64, &f64)| *five < 1.01 * one && *five > 0.5 * one;
        assert!(one.iter().zip(&five).all(less), "{one:?} {five:?}");
    }

    #[test]
    fn a_metric_that_is_not_measured_names_the_benchmark() {
        let benchmark = |metric| Benchmark {
            name: "parse/json".to_owned(),
            overrides: BenchmarkOverrides {
                judged: Some(Metric::from_name(metric)),
                ..BenchmarkOverrides::default()
            },
            ..Benchmark::default()
        };
        let measured = [Metric::Wall, Metric::Cpu];
        assert!(refuse_unmeasured_overrides(&[benchmark("cpu")], &measured, "functions").is_ok());
        let error = refuse_unmeasured_overrides(&[benchmark("cpus")], &measured, "functions");
        let told = error.unwrap_err().to_string();
        assert!(
            told.contains("'parse/json'") && told.contains("wall, cpu"),
            "{told}"
        );
    }
}
