//! Chooses between a race in turns and a race side by side for executables of other harnesses.

use deadheat_engine::{
    Contenders, EngineError, HarnessContenders, HarnessPilot, HarnessSide, HarnessTrial, InTurns,
    IterationUsage, TrialOf, tells_cpu_time, why_in_turns,
};
use deadheat_model::{
    Arrangement, Benchmark, Front, Harness, HarnessCalls, Metric, Pinning, Plan, RaceSettings,
};

use super::arrangement::{ALIKE, MOST_SHARING_COST};
use super::planning::add_rerun_in_turns;

/// The number of repetitions in a launch side by side. With more repetitions, a launch spans more
/// time slices, so both sides meet the same disturbances: on a loaded machine, the effects of
/// replicates of four benchmarks scattered by 0.9% to 3.3% with 4 repetitions of 1 ms, and by 0.3%
/// to 1.9% with 12. With 24 repetitions, the scatter in the same time was as large as with 12.
const REPETITIONS: u32 = 12;
/// Minimum time of the repetitions of a launch side by side, in nanoseconds. A shorter launch spans
/// too few time slices of the kernel.
const LEAST_NS: f64 = 10e6;
/// The ratio of CPU time to wall time that is accepted as one busy thread.
const BUSY: std::ops::RangeInclusive<f64> = 0.95..=1.05;
/// The time for repeated trials, in nanoseconds. A disturbance can only make a trial longer, so the
/// shortest of several trials is judged. With three trials on a loaded machine, 2 of 32 benchmarks
/// were wrongly judged unfit for a race side by side.
const TRIALS_NS: f64 = 500e6;
/// The number of replicates of the rerun in turns, with which the result side by side is compared.
const TURNS: u32 = 4;

pub(super) fn refuse_side_by_side(
    settings: &RaceSettings,
    harnesses: &[Harness],
) -> Result<(), String> {
    if settings.arrangement != Some(Arrangement::SideBySide) {
        return Ok(());
    }
    if let Some(harness) = harnesses.iter().find(|harness| !tells_cpu_time(**harness)) {
        return Err(format!(
            "--arrangement side-by-side: sides that run at the same time are compared by CPU time, \
             and {} reports only wall time\nhelp: with --arrangement auto, the sides take turns",
            harness.name()
        ));
    }
    if settings.pinning(Front::Bench) == Pinning::Inherit {
        return Err(
            "--arrangement side-by-side and --pin none cannot be combined: both sides must share \
             one core"
                .to_owned(),
        );
    }
    match &settings.metric {
        Some(metric) if !metric.is_used_by_itself() => Err(format!(
            "--arrangement side-by-side and --metric {metric} cannot be combined: {metric} of one \
             side would also depend on the side that runs at the same time"
        )),
        _ => Ok(()),
    }
}

/// Returns the arrangement that the user requests for a benchmark, or `Turns` if only a race in
/// turns is possible.
pub(super) fn asked(settings: &RaceSettings, benchmark: &Benchmark) -> Arrangement {
    let judged = benchmark.overrides.judged.as_ref();
    let judged = judged.or(settings.metric.as_ref());
    let asked = settings.arrangement.unwrap_or_default();
    // All parts of a race must use the same arrangement, but each part has its own calibration run.
    let is_part = asked == Arrangement::Auto && settings.part().is_some();
    if is_part || judged.is_some_and(|metric| !metric.is_used_by_itself()) {
        Arrangement::Turns
    } else {
        asked
    }
}

/// Chooses how a benchmark races, from its calibration run in turns and from trial launches. For a
/// race side by side, stores the calls in `piloted`, and returns the time of one launch of all
/// sides together, in nanoseconds. Returns `None` for a race in turns.
pub(super) fn arrange(
    contenders: &mut HarnessContenders<'_>,
    (index, name, sides): (usize, &str, &[HarnessSide<'_>]),
    asked: Arrangement,
    piloted: &mut HarnessPilot,
) -> Result<Option<f64>, EngineError> {
    let is_forced = asked == Arrangement::SideBySide;
    // If the race also includes executables of a harness that does not report CPU time, CPU time
    // cannot be judged.
    let is_judgeable = contenders.metrics().contains(&Metric::Cpu);
    let Some(alone) = piloted.usage.clone().filter(|_| is_judgeable) else {
        return Ok(None);
    };
    if asked == Arrangement::Turns || sides.len() < 2 {
        return Ok(None);
    }
    for (side, calls) in sides.iter().zip(&piloted.calls) {
        match why_in_turns(calls) {
            Some(InTurns::Because(reason)) if is_forced => {
                let side = (name, side.contender);
                return Err(contenders.not_side_by_side(side, calls, reason));
            }
            Some(_) => return Ok(None),
            None => {}
        }
    }
    let repetitions = match piloted.most_repetitions {
        Some(most) => REPETITIONS.min(most),
        None => piloted.calls[0].repetitions,
    };
    let long = f64::from(repetitions) * piloted.repetition_ns >= LEAST_NS;
    let fits_alone = || long && alone.iter().all(|side| BUSY.contains(&side.busy));
    if !is_forced && (contenders.pinned().is_empty() || !fits_alone()) {
        return Ok(None);
    }
    let mut calls = piloted.calls.clone();
    for one in &mut calls {
        one.repetitions = repetitions;
    }
    let to_try = ((index, name), sides, &calls[..]);
    let shared_ns = try_out(contenders, to_try, alone, is_forced)?;
    if shared_ns.is_some() {
        piloted.calls = calls;
        piloted.most_repetitions = None;
    }
    Ok(shared_ns)
}

/// Makes trial launches of all sides side by side. Returns the time of one launch of all sides
/// together, in nanoseconds, or `None` if a race in turns is better.
fn try_out(
    contenders: &mut HarnessContenders<'_>,
    (place, sides, calls): ((usize, &str), &[HarnessSide<'_>], &[HarnessCalls]),
    alone: Vec<IterationUsage>,
    is_forced: bool,
) -> Result<Option<f64>, EngineError> {
    let mut trial = |of: TrialOf| match contenders.try_launches(place, sides, calls, of) {
        Err(error) if error.is_of_a_contender() && !is_forced => Ok(None),
        trial => trial.map(Some),
    };
    let mut alone = HarnessTrial {
        sides: alone,
        took_ns: f64::INFINITY,
    };
    let Some(mut together) = trial(TrialOf::SideBySide)? else {
        return Ok(None);
    };
    let mut spent_ns = together.took_ns;
    while !is_forced && !is_fit(&alone.sides, &together.sides) && spent_ns < TRIALS_NS {
        let again = [trial(TrialOf::Turns)?, trial(TrialOf::SideBySide)?];
        let [Some(turns), Some(side_by_side)] = again else {
            return Ok(None);
        };
        spent_ns += turns.took_ns + side_by_side.took_ns;
        (alone, together) = (alone.least(turns), together.least(side_by_side));
    }
    let is_chosen = is_forced || is_fit(&alone.sides, &together.sides);
    Ok(is_chosen.then_some(together.took_ns))
}

/// Returns true if the sides have similar CPU times, and sharing a core increases these times only
/// a little. The verdict side by side is then the same as in turns.
fn is_fit(alone: &[IterationUsage], together: &[IterationUsage]) -> bool {
    let cpu_ns = || together.iter().map(|side| side.cpu_ns);
    let least = cpu_ns().fold(f64::INFINITY, f64::min);
    let alone_ns: f64 = alone.iter().map(|side| side.cpu_ns).sum();
    alone.len() == together.len()
        && least > 0.0
        && cpu_ns().all(|ns| ns <= ALIKE * least)
        && cpu_ns().sum::<f64>() <= MOST_SHARING_COST * alone_ns
}

pub(super) fn add_turns(plan: &mut Plan) {
    for of in 0..plan.benchmarks.len() {
        if plan.benchmarks[of].side_by_side.is_some() {
            add_rerun_in_turns(plan, of, TURNS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(cpu_ns: f64) -> IterationUsage {
        IterationUsage { cpu_ns, busy: 1.0 }
    }

    #[test]
    fn sides_that_are_alike_and_share_cheaply_run_side_by_side() {
        let alone = [usage(100.0), usage(104.0)];
        let fits = |one, other| is_fit(&alone, &[usage(one), usage(other)]);
        assert!(fits(101.0, 106.0) && fits(108.0, 100.0));
        assert!(!fits(100.0, 111.0), "not alike");
        assert!(!fits(118.0, 118.0), "caches");
        assert!(!fits(0.0, 0.0), "nothing measured");
        assert!(!is_fit(&alone, &[]));
    }

    #[test]
    fn what_cannot_be_judged_by_cpu_time_is_refused() {
        let with = |metric: Option<Metric>, pin: Option<Pinning>| {
            let settings = RaceSettings {
                arrangement: Some(Arrangement::SideBySide),
                metric,
                pin,
                ..RaceSettings::default()
            };
            let refused = refuse_side_by_side(&settings, &[Harness::GoogleBenchmark]);
            (refused, settings)
        };
        assert_eq!(with(None, None).0, Ok(()));
        assert_eq!(with(Some(Metric::Cpu), None).0, Ok(()));
        let wall = with(Some(Metric::Wall), None).0.unwrap_err();
        assert!(wall.contains("--metric wall"), "{wall}");
        let pin = with(None, Some(Pinning::Inherit)).0.unwrap_err();
        assert!(pin.contains("--pin none"), "{pin}");
        let (_, settings) = with(None, None);
        let refused = refuse_side_by_side(&settings, &[Harness::GoogleBenchmark, Harness::Go]);
        assert!(refused.unwrap_err().contains(Harness::Go.name()));
    }
}
