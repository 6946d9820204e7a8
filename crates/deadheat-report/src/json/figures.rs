//! Secondary figures for programs.

use deadheat_model::{
    BetweenFigures, Change, Figures, FirstHalf, Fit, Json, LogRatio, Object, OppositePeaks,
    PairSigns, RankSums, SideFigures, SignedRanks, Spread, StabilityFigures, TTested, Tested,
};

use super::analysis::ends;

pub(super) fn figures(figures: &Figures) -> Object {
    Object::new()
        .with("baseline", side(&figures.baseline))
        .with("candidate", figures.candidate.as_ref().map(side))
        .with("between", figures.between.as_ref().map(between))
        .with("stability", figures.stability.as_ref().map(stability))
}

fn side(side: &SideFigures) -> Object {
    Object::new()
        .with("percentiles", row(&side.percentiles))
        .with("log_skewness", side.log_skewness)
        .with("log_excess_kurtosis", side.log_excess_kurtosis)
        .with("shapiro_wilk", side.shapiro_wilk.map(tested))
        .with("fits", side.fits.iter().map(fit).collect::<Json>())
        .with("mean_over_min", side.mean_over_min)
        .with("min_sigmas", side.min_sigmas)
        .with("max_sigmas", side.max_sigmas)
        .with("first_half", side.first_half.as_ref().map(first_half))
}

fn row(values: &[f64]) -> Json {
    Json::Row(values.iter().map(|value| Json::from(*value)).collect())
}

fn first_half(half: &FirstHalf) -> Object {
    Object::new()
        .with("median", half.median)
        .with("percentiles", row(&half.percentiles))
        .with("against_second", half.against_second.map(tested))
}

fn tested(tested: Tested) -> Object {
    Object::new()
        .with("statistic", tested.statistic)
        .with("p_value", tested.p)
}

fn fit(fit: &Fit) -> Object {
    Object::new()
        .with("family", fit.family.name())
        .with("location", fit.location)
        .with("scale", fit.scale)
        .with("log_likelihood", fit.log_likelihood)
}

fn between(between: &BetweenFigures) -> Object {
    Object::new()
        .with("min_change", between.min.map(relative))
        .with("median_change", between.median.map(relative))
        .with("mean_change", between.mean.map(relative))
        .with("shift", between.shift.map(shift))
        .with("pairs", between.pairs.map(pairs))
        .with("welch", between.welch.map(t_tested))
        .with("student", between.student.map(t_tested))
        .with("student_paired", between.student_paired.map(t_tested))
        .with("z_paired", between.z_paired.map(tested))
        .with("signed_rank", between.signed_rank.map(signed_rank))
        .with("mann_whitney", between.mann_whitney.map(rank_sums))
        .with("rank_sum_p", between.rank_sum_p)
        .with("kolmogorov_smirnov", between.kolmogorov_smirnov.map(tested))
        .with("wasserstein", between.wasserstein)
        .with("opposite_peaks", between.opposite_peaks.map(peaks))
}

fn shift(change: Change) -> Object {
    Object::new()
        .with("change", change.effect.change())
        .with("ci", change.interval.as_ref().map(ends))
}

fn t_tested(tested: TTested) -> Object {
    let Change { effect, interval } = tested.change;
    let log_ends = interval.map(|interval| Json::from_iter([interval.low.0, interval.high.0]));
    Object::new()
        .with("change", effect.change())
        .with("ci", interval.as_ref().map(ends))
        .with("log_difference", effect.0)
        .with("log_ci", log_ends)
        .with("t", tested.t)
        .with("df", tested.df)
        .with("p_value", tested.p)
}

fn pairs(pairs: PairSigns) -> Object {
    Object::new()
        .with("less", pairs.less)
        .with("equal", pairs.equal)
        .with("greater", pairs.greater)
        .with("p_value", pairs.p)
}

fn signed_rank(ranks: SignedRanks) -> Object {
    Object::new()
        .with("less", ranks.less)
        .with("greater", ranks.greater)
        .with("p_value", ranks.p)
}

fn rank_sums(ranks: RankSums) -> Object {
    Object::new()
        .with("u_baseline", ranks.u_baseline)
        .with("u_candidate", ranks.u_candidate)
        .with("p_value", ranks.p)
}

fn peaks(peaks: OppositePeaks) -> Object {
    Object::new()
        .with("below", peaks.below)
        .with("above", peaks.above)
        .with("p_value", peaks.p)
}

fn stability(stability: &StabilityFigures) -> Object {
    Object::new()
        .with("first_half_change", stability.first_half.map(relative))
        .with("second_half_change", stability.second_half.map(relative))
        .with("spread", stability.spread.map(spread))
}

fn spread(spread: Spread) -> Object {
    Object::new()
        .with("within", relative(LogRatio(spread.within)))
        .with("between", relative(LogRatio(spread.between)))
}

fn relative(effect: LogRatio) -> f64 {
    effect.change()
}
