//! The figures of one side.

use deadheat_model::{Family, FirstHalf, Fit, SideFigures, Tested};
use deadheat_stats::summary::median_in_place;
use deadheat_stats::{
    best_fits, excess_kurtosis, kolmogorov_smirnov, mean_over_min, shapiro_wilk, sigma_distances,
    skewness,
};

use super::measured::Measured;
use super::percentiles::percentiles;
use crate::effects::MOST_ZEROS;

/// One side's samples, sorted once for all figures.
pub(super) struct SideData {
    /// Ascending.
    pub(super) values: Vec<f64>,
    /// Ascending; empty where zeros forbid logarithms.
    pub(super) logs: Vec<f64>,
    /// What is shown.
    pub(super) figures: SideFigures,
}

impl SideData {
    /// The samples at these places, which are in the order taken.
    pub(super) fn of(measured: &Measured, members: &[u32]) -> SideData {
        let at = |column: &[f64]| -> Vec<f64> {
            let value = |index: &u32| column[*index as usize];
            members.iter().map(value).collect()
        };
        let mut values = at(&measured.values);
        let halves = first_half(&values);
        let zeros = values.iter().filter(|value| **value <= 0.0).count();
        let mut logs = match zeros as f64 <= MOST_ZEROS * values.len() as f64 {
            true => at(&measured.logs),
            false => Vec::new(),
        };
        // Sorted input makes the sorting inside the tests below nearly free.
        values.sort_unstable_by(f64::total_cmp);
        if zeros == 0 {
            // The order of the logarithms is that of the values.
            logs.clone_from(&values);
            logs.iter_mut().for_each(|log| *log = log.ln());
        } else {
            logs.sort_unstable_by(f64::total_cmp);
        }
        let sigmas = sigma_distances(&values);
        let figures = SideFigures {
            percentiles: percentiles(&values),
            log_skewness: skewness(&logs),
            log_excess_kurtosis: excess_kurtosis(&logs),
            shapiro_wilk: shapiro_wilk(&logs).map(|found| Tested {
                statistic: found.w,
                p: found.p,
            }),
            fits: best_fits(&values).into_iter().map(fit).collect(),
            mean_over_min: mean_over_min(&values),
            min_sigmas: sigmas.map(|sigmas| sigmas.0),
            max_sigmas: sigmas.map(|sigmas| sigmas.1),
            first_half: halves,
        };
        SideData {
            values,
            logs,
            figures,
        }
    }
}

fn fit(fit: deadheat_stats::Fit) -> Fit {
    Fit {
        family: match fit.family {
            deadheat_stats::Family::Normal => Family::Normal,
            deadheat_stats::Family::LogNormal => Family::LogNormal,
            deadheat_stats::Family::Gumbel => Family::Gumbel,
        },
        location: fit.location,
        scale: fit.scale,
        log_likelihood: fit.log_likelihood,
    }
}

/// The first half of values in the order taken; of an odd number the smaller
/// half.
fn first_half(values: &[f64]) -> Option<FirstHalf> {
    let (first, second) = values.split_at(values.len() / 2);
    Some(FirstHalf {
        percentiles: percentiles(first),
        against_second: kolmogorov_smirnov(first, second).map(|found| Tested {
            statistic: found.statistic,
            p: found.p,
        }),
        median: median_in_place(&mut first.to_vec())?,
    })
}
