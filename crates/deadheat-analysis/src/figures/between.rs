//! The two sides against each other, by the methods of others.

use deadheat_model::{
    BetweenFigures, Change, ContenderId, Interval, LogRatio, OppositePeaks, PairSigns, RankSums,
    Samples, SignedRanks, TTested, Tested,
};
use deadheat_stats::rank::signed_ranks;
use deadheat_stats::summary::{mean, median_in_place, min};
use deadheat_stats::{
    TTest, count_signs, hodges_lehmann_shift, kolmogorov_smirnov, mann_whitney_p, opposite_peaks,
    rank_sum, rank_sum_p, shift_interval, signed_rank_asymptotic_p, signed_rank_exact_p, student,
    student_paired, wasserstein_1, welch, z_test,
};

use super::measured::Measured;
use super::side::SideData;

/// Compares the candidate with the baseline. `effects` are the block effects
/// that were judged; `None` where nothing is paired. Intervals are at the
/// two-sided `level`.
pub(super) fn between(
    measured: &Measured,
    samples: &Samples,
    baseline: &SideData,
    candidate: (ContenderId, &SideData),
    effects: Option<&[f64]>,
    level: f64,
) -> BetweenFigures {
    let (id, candidate) = candidate;
    let mut figures = BetweenFigures::default();
    samples_apart(&mut figures, baseline, candidate, level);
    if let Some(effects) = effects {
        let logs = !(baseline.logs.is_empty() || candidate.logs.is_empty());
        let pairs = Measured::pairs(samples, id);
        pairs_together(&mut figures, measured, &pairs, logs, level);
        figures.signed_rank = signed_rank(effects).filter(|_| logs);
    }
    figures
}

/// What needs no pairs.
fn samples_apart(
    figures: &mut BetweenFigures,
    baseline: &SideData,
    candidate: &SideData,
    level: f64,
) {
    let (first, second) = (&baseline.values, &candidate.values);
    figures.min = log_ratio(min(first), min(second));
    figures.mean = log_ratio(mean(first), mean(second));
    let median = |values: &[f64]| median_in_place(&mut values.to_vec());
    figures.median = log_ratio(median(first), median(second));
    figures.mann_whitney = rank_sum(first, second)
        .zip(mann_whitney_p(first, second))
        .map(|(found, p)| RankSums {
            u_baseline: found.u_first,
            u_candidate: found.u_second,
            p,
        });
    figures.rank_sum_p = rank_sum_p(first, second);
    figures.kolmogorov_smirnov = kolmogorov_smirnov(first, second).map(|found| Tested {
        statistic: found.statistic,
        p: found.p,
    });
    let both = median_in_place(&mut [first.as_slice(), second].concat());
    figures.wasserstein = wasserstein_1(first, second)
        .zip(both.filter(|median| *median > 0.0))
        .map(|(distance, median)| distance / median)
        .filter(|share| share.is_finite());

    let (first, second) = (&baseline.logs, &candidate.logs);
    figures.shift = hodges_lehmann_shift(first, second)
        .map(|shift| change(shift, shift_interval(first, second, level), level));
    figures.welch = welch(first, second).map(|found| t_tested(found, level));
    figures.student = student(first, second).map(|found| t_tested(found, level));
}

/// What is made of pairs: neighbours in time within a block.
fn pairs_together(
    figures: &mut BetweenFigures,
    measured: &Measured,
    pairs: &[(usize, usize)],
    logs: bool,
    level: f64,
) {
    let differences = |column: &[f64]| -> Vec<f64> {
        let difference = |(first, second): &(usize, usize)| column[*second] - column[*first];
        pairs.iter().map(difference).collect()
    };
    if pairs.is_empty() {
        return;
    }
    // The values themselves: two of them may share a logarithm.
    figures.pairs = count_signs(&differences(&measured.values)).map(|signs| PairSigns {
        less: signs.less,
        equal: signs.equal,
        greater: signs.greater,
        p: signs.sign_test_p(),
    });
    if !logs {
        return;
    }
    let differences = differences(&measured.logs);
    figures.student_paired = student_paired(&differences).map(|found| t_tested(found, level));
    figures.z_paired = z_test(&differences).map(|found| Tested {
        statistic: found.z,
        p: found.p,
    });
    figures.opposite_peaks = opposite_peaks(&differences).map(|found| OppositePeaks {
        below: found.below,
        above: found.above,
        p: found.p,
    });
}

fn signed_rank(effects: &[f64]) -> Option<SignedRanks> {
    let ranks = signed_ranks(effects)?;
    Some(SignedRanks {
        less: ranks.negative,
        greater: ranks.positive,
        p: signed_rank_exact_p(effects).or_else(|| signed_rank_asymptotic_p(effects))?,
    })
}

/// As a difference of logarithms, so that changing the roles changes the sign
/// and nothing else; `None` beside a zero.
fn log_ratio(baseline: Option<f64>, candidate: Option<f64>) -> Option<LogRatio> {
    let log = |value: Option<f64>| value.filter(|v| *v > 0.0).map(f64::ln);
    Some(LogRatio(log(candidate)? - log(baseline)?))
}

fn change(effect: f64, interval: Option<(f64, f64)>, level: f64) -> Change {
    Change {
        effect: LogRatio(effect),
        interval: interval.map(|(low, high)| Interval {
            low: LogRatio(low),
            high: LogRatio(high),
            confidence: 1.0 - level,
        }),
    }
}

fn t_tested(found: TTest, level: f64) -> TTested {
    TTested {
        change: change(found.difference, found.interval(level), level),
        t: found.t,
        df: found.df,
        p: found.p_value(),
    }
}
