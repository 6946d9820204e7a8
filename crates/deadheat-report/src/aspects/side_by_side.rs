//! Sentences and JSON about races side by side.

use deadheat_model::{
    Comparison, Metric, MetricComparison, Object, RacedSideBySide, Side, TurnsReason,
};

use super::placement::own_link_json;
use crate::glyphs::Glyphs;
use crate::units::{counted, estimated, two_digits};

/// Minimum share of its time that the longer launch must have run alone, after the other side's
/// end, for a sentence to report this. Even equal launches end a few time slices apart.
const ALONE: f64 = 0.1;

/// Smallest number of replicates in turns whose interval is shown. With fewer, the interval is too
/// wide to be useful.
const ENOUGH: usize = 3;

/// Returns a sentence that the two sides ran side by side, with the estimate of the rerun in turns;
/// `None` for a race in turns.
pub(crate) fn sentence(comparison: &Comparison, glyphs: Glyphs) -> Option<String> {
    let raced = comparison.aspects.side_by_side.as_ref()?;
    let mut parts = vec!["both ran side by side on one core".to_owned()];
    if raced.alone > ALONE {
        let share = two_digits(raced.alone * 100.0);
        parts.push(format!("the longer one ran alone for {share}% of its time"));
    }
    let in_turns = raced.in_turns.as_ref();
    if let Some(turns) = in_turns.filter(|turns| turns.replicates >= ENOUGH) {
        let [change, interval] = estimated(turns, comparison.coverage(), glyphs);
        parts.push(format!(
            "CPU time when raced in turns: {change} ({interval})"
        ));
    }
    Some(format!("{}.", parts.join("; ")))
}

/// Returns a sentence with the reason why the launches took turns; `None` if deadheat made no trial
/// launches side by side.
pub(crate) fn why_turns(comparison: &Comparison) -> Option<String> {
    let why = match comparison.aspects.turns_because? {
        TurnsReason::Fails => "in a trial, a command failed when both ran at the same time",
        TurnsReason::WritesFiles => "a command writes to files",
        TurnsReason::Short => "a command uses less than 5 ms of CPU time",
        TurnsReason::NotBusy => {
            "in a trial, a command slept, waited for I/O, or ran several threads or processes at once"
        }
        TurnsReason::DifferentTimes => "the CPU times differ by more than 10%",
        TurnsReason::DifferentMemory => "the peak memory differs by more than 10%",
        TurnsReason::Uneven => "a command does not share the core evenly",
        TurnsReason::SharingCosts => {
            "a command uses over 15% more CPU time when it shares the core"
        }
    };
    Some(format!("raced in turns: {why}."))
}

/// Returns a line with the number of benchmarks of a suite that ran side by side; `None` if all
/// benchmarks ran in turns.
pub(crate) fn of_suite(comparisons: &[Comparison]) -> Option<String> {
    let raced = comparisons.iter().filter(|one| one.candidate.is_some());
    let (count, all) = raced.fold((0_u64, 0), |(count, all), one| {
        (
            count + u64::from(one.aspects.side_by_side.is_some()),
            all + 1,
        )
    });
    match count {
        0 => None,
        _ if count == all => {
            Some("changes in CPU time; both sides ran side by side on one core.".to_owned())
        }
        _ => Some(format!(
            "{} in CPU time, with both sides side by side on one core; the others took turns.",
            counted(count, "row is", "rows are")
        )),
    }
}

pub(crate) fn turns_apart(apart: f64) -> String {
    let way = if apart < 0.0 { "lower" } else { "higher" };
    let points = (apart * 100.0).abs().min(999_999.0);
    format!(
        "In turns, the change is {points:.1} percentage points {way} than side by side, because \
         the two sides slow each other down by unequal amounts when they share a core. Race \
         with --arrangement turns."
    )
}

/// Returns the contenders of a benchmark with their wall times in turns, the baseline first; `None`
/// if they did not race both side by side and in turns.
pub(crate) fn wall_time_in_turns(group: &[Comparison]) -> Option<Vec<&Side>> {
    group[0].aspects.side_by_side.as_ref()?;
    let mut sides = vec![&wall(&group[0])?.baseline];
    for comparison in group.iter().filter(|one| one.candidate.is_some()) {
        sides.push(wall(comparison)?.candidate.as_ref()?);
    }
    Some(sides)
}

fn wall(comparison: &Comparison) -> Option<&MetricComparison> {
    let mut rows = comparison.metrics.iter();
    rows.find(|row| row.metric == Metric::Wall)
}

pub(super) fn to_json(raced: &RacedSideBySide) -> Object {
    Object::new()
        .with("alone", raced.alone)
        .with_some("in_turns", raced.in_turns.as_ref().map(own_link_json))
}
