//! By how much the rows of two recordings scatter beyond their own noise.
//!
//! Within one recording the repetitions of a benchmark agree better than two
//! recordings of it do: layout, temperature and neighbours were drawn once for
//! all of them. One benchmark cannot show that, many together can: where most
//! of them did not change, the spread of their effects is that of the
//! recordings. An executable recorded twice was called different in 38 % of
//! its rows with the allowance for one ordinary layout alone.

use std::collections::HashMap;

use deadheat_model::{ContenderId, Run, Samples, Warning};
use deadheat_stats::LAYOUT_ALLOWANCE;
use deadheat_stats::summary::{median, scaled_mad};

/// Fewer rows say nothing of each other.
const LEAST_ROWS: usize = 10;

/// (π/2): what the variance of a median is beside that of a mean.
const OF_A_MEDIAN: f64 = std::f64::consts::FRAC_PI_2;

/// The scatter of each candidate's rows, in log-ratio units.
#[derive(Default)]
pub(crate) struct Scatter {
    of: HashMap<String, f64>,
}

impl Scatter {
    /// That of saved results; other recordings have too few benchmarks, and
    /// nobody knows how they came about.
    pub(crate) fn of(run: &Run) -> Scatter {
        let candidates = run.sides.iter().skip(1).map(|side| &side.name);
        let found = candidates.filter_map(|name| Some((name.clone(), between(run, name)?)));
        Scatter {
            of: found.collect(),
        }
    }

    /// The standard deviation that an effect of this candidate is allowed
    /// beyond what its samples show.
    pub(crate) fn allowance(&self, candidate: &str) -> f64 {
        let own = self.of.get(candidate).copied();
        own.unwrap_or(0.0).max(LAYOUT_ALLOWANCE)
    }

    /// What is to be said of rows that scatter more than one layout explains,
    /// in the order of the sides.
    pub(crate) fn doubts(&self, run: &Run) -> Vec<Warning> {
        let candidates = run.sides.iter().skip(1).map(|side| &side.name);
        let told = |candidate: &String| {
            let sd = self.of.get(candidate).copied();
            Some(Warning::RowsScatter {
                candidate: candidate.clone(),
                sd: sd.filter(|sd| *sd > LAYOUT_ALLOWANCE)?,
            })
        };
        candidates.filter_map(told).collect()
    }
}

/// The spread of the effects of a candidate's rows, less what their noise
/// explains: s² = MAD²(θᵢ) − median of the noise² of θᵢ.
fn between(run: &Run, candidate: &str) -> Option<f64> {
    let plan = &run.header.plan;
    let mut effects = Vec::new();
    let mut noises = Vec::new();
    for (index, (benchmark, samples)) in plan.benchmarks.iter().zip(&run.benchmarks).enumerate() {
        let mut contenders = benchmark.contenders.iter();
        let Some(place) = contenders.position(|contender| contender.name == candidate) else {
            continue;
        };
        let Some(column) = samples.column(plan.judged(index)) else {
            continue;
        };
        let centre = |id: ContenderId| centre(samples, column, id);
        let sides = centre(ContenderId::BASELINE).zip(centre(ContenderId(place as u8)));
        let Some(((first, its_noise), (second, other_noise))) = sides else {
            continue;
        };
        effects.push(second - first);
        noises.push(its_noise + other_noise);
    }
    if effects.len() < LEAST_ROWS {
        return None;
    }
    let beyond = scaled_mad(&effects)?.powi(2) - median(&noises)?;
    (beyond > 0.0 && beyond.is_finite()).then(|| beyond.sqrt())
}

/// The median of ln of one side's values and its variance; `None` where they
/// come from several processes, which speak for themselves, or are too few.
fn centre(samples: &Samples, column: &[f64], id: ContenderId) -> Option<(f64, f64)> {
    let mut logs = Vec::new();
    let mut process = None;
    for block in samples.blocks() {
        for at in block.range() {
            if samples.samples()[at].contender != id {
                continue;
            }
            if *process.get_or_insert(block.replicate) != block.replicate || column[at] <= 0.0 {
                return None;
            }
            logs.push(column[at].ln());
        }
    }
    let variance = scaled_mad(&logs).filter(|_| logs.len() > 2)?.powi(2);
    Some((median(&logs)?, OF_A_MEDIAN * variance / logs.len() as f64))
}
