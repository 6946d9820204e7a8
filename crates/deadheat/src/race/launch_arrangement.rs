//! The choice between turns and side by side for executables of harnesses.

use deadheat_engine::{
    Contenders, EngineError, HarnessContenders, HarnessPilot, HarnessSide, HarnessTrial, InTurns,
    IterationUsage, TrialOf, tells_cpu_time, why_in_turns,
};
use deadheat_model::{
    Arrangement, Benchmark, Front, Harness, HarnessCalls, Metric, Pinning, Plan, RaceSettings,
};

use super::arrangement::{ALIKE, MOST_SHARING_COST};
use super::planning::add_rerun_in_turns;

/// Repetitions of a launch side by side. Both sides meet more of the same slices with more of them:
/// with 4 of 1 ms, effects of replicates of four benchmarks scattered by .9 to 3.3 % on a loaded
/// machine, with 12 by .3 to 1.9 %, and with 24 by as much for the time they take.
const REPETITIONS: u32 = 12;
/// Launches whose repetitions take less see too few slices of the kernel.
const LEAST_NS: f64 = 10e6;
/// CPU time of one busy thread as a share of wall time.
const BUSY: std::ops::RangeInclusive<f64> = 0.95..=1.05;
/// Trials are repeated for this time. What disturbs a trial makes it longer, so the least of several
/// is the one to judge: of three trials on a loaded machine, 2 of 32 benchmarks seemed unfit.
const TRIALS_NS: f64 = 500e6;
/// Replicates in turns that a result is held against.
const TURNS: u32 = 4;

/// Returns why a race that is asked to run side by side cannot.
pub(super) fn refuse_side_by_side(
    settings: &RaceSettings,
    harnesses: &[Harness],
) -> Result<(), String> {
    if settings.arrangement != Some(Arrangement::SideBySide) {
        return Ok(());
    }
    if let Some(harness) = harnesses.iter().find(|harness| !tells_cpu_time(**harness)) {
        return Err(format!(
            "--arrangement side-by-side: sides that run at the same time are compared by CPU time, and {} \
             reports only wall time\nhelp: --arrangement auto races it in turns",
            harness.name()
        ));
    }
    if settings.pinning(Front::Bench) == Pinning::Inherit {
        return Err(
            "--arrangement side-by-side and --pin none cannot be combined: both sides need one core \
             to share"
                .to_owned(),
        );
    }
    match &settings.metric {
        Some(metric) if !metric.is_used_by_itself() => Err(format!(
            "--arrangement side-by-side and --metric {metric} cannot be combined: {metric} of one \
             side would also depend on the other one that runs at the same time"
        )),
        _ => Ok(()),
    }
}

/// The arrangements that a benchmark may have.
pub(super) fn asked(settings: &RaceSettings, benchmark: &Benchmark) -> Arrangement {
    let judged = benchmark.overrides.judged.as_ref();
    let judged = judged.or(settings.metric.as_ref());
    let asked = settings.arrangement.unwrap_or_default();
    // Parts of a race must all race alike, and each has a pilot of its own.
    let is_part = asked == Arrangement::Auto && settings.part().is_some();
    if is_part || judged.is_some_and(|metric| !metric.is_used_by_itself()) {
        Arrangement::Turns
    } else {
        asked
    }
}

/// Chooses how a benchmark of these sides races, from its pilot in turns and from trial launches.
/// Returns what a replicate side by side costs in nanoseconds, and notes the rest in `piloted` and in
/// the benchmark; `None` if it races in turns.
pub(super) fn arrange(
    contenders: &mut HarnessContenders<'_>,
    (index, name, sides): (usize, &str, &[HarnessSide<'_>]),
    asked: Arrangement,
    piloted: &mut HarnessPilot,
) -> Result<Option<f64>, EngineError> {
    let is_forced = asked == Arrangement::SideBySide;
    // Of a race with another harness there may be no CPU time.
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

/// Launches all sides side by side. Returns how long that takes, or `None` if they had better take
/// turns.
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

/// Returns true if sides may share a core without being judged otherwise than in turns.
fn is_fit(alone: &[IterationUsage], together: &[IterationUsage]) -> bool {
    let cpu_ns = || together.iter().map(|side| side.cpu_ns);
    let least = cpu_ns().fold(f64::INFINITY, f64::min);
    let alone_ns: f64 = alone.iter().map(|side| side.cpu_ns).sum();
    alone.len() == together.len()
        && least > 0.0
        && cpu_ns().all(|ns| ns <= ALIKE * least)
        && cpu_ns().sum::<f64>() <= MOST_SHARING_COST * alone_ns
}

/// Adds a rerun in turns of each benchmark that races side by side.
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
