//! Secondary figures for programs.

use deadheat_model::{
    BetweenFigures, Change, Figures, FirstHalf, Fit, LogRatio, OppositePeaks, PairSigns, RankSums,
    SideFigures, SignedRanks, Spread, StabilityFigures, TTested, Tested,
};
use serde::Serialize;

use super::analysis::ends;
use super::number::{Line, Number};

#[derive(Serialize)]
pub(super) struct FiguresWire<'a> {
    baseline: SideWire<'a>,
    candidate: Option<SideWire<'a>>,
    between: Option<BetweenWire>,
    stability: Option<StabilityWire>,
}

#[derive(Serialize)]
struct SideWire<'a> {
    percentiles: Line<'a>,
    log_skewness: Option<Number>,
    log_excess_kurtosis: Option<Number>,
    shapiro_wilk: Option<TestedWire>,
    fits: Vec<FitWire>,
    mean_over_min: Option<Number>,
    min_sigmas: Option<Number>,
    max_sigmas: Option<Number>,
    first_half: Option<FirstHalfWire<'a>>,
}

#[derive(Serialize)]
struct FirstHalfWire<'a> {
    median: Number,
    percentiles: Line<'a>,
    against_second: Option<TestedWire>,
}

#[derive(Serialize)]
struct TestedWire {
    statistic: Number,
    p_value: Number,
}

#[derive(Serialize)]
struct FitWire {
    family: &'static str,
    location: Number,
    scale: Number,
    log_likelihood: Number,
}

#[derive(Serialize)]
struct BetweenWire {
    min_change: Option<Number>,
    median_change: Option<Number>,
    mean_change: Option<Number>,
    shift: Option<ChangeWire>,
    pairs: Option<PairsWire>,
    welch: Option<TWire>,
    student: Option<TWire>,
    student_paired: Option<TWire>,
    z_paired: Option<TestedWire>,
    signed_rank: Option<SignedRankWire>,
    mann_whitney: Option<RankSumsWire>,
    rank_sum_p: Option<Number>,
    kolmogorov_smirnov: Option<TestedWire>,
    wasserstein: Option<Number>,
    opposite_peaks: Option<PeaksWire>,
}

#[derive(Serialize)]
struct ChangeWire {
    change: Number,
    ci: Option<[Number; 2]>,
}

#[derive(Serialize)]
struct TWire {
    change: Number,
    ci: Option<[Number; 2]>,
    log_difference: Number,
    log_ci: Option<[Number; 2]>,
    t: Number,
    df: Number,
    p_value: Number,
}

#[derive(Serialize)]
struct PairsWire {
    less: usize,
    equal: usize,
    greater: usize,
    p_value: Number,
}

#[derive(Serialize)]
struct SignedRankWire {
    less: Number,
    greater: Number,
    p_value: Number,
}

#[derive(Serialize)]
struct RankSumsWire {
    u_baseline: Number,
    u_candidate: Number,
    p_value: Number,
}

#[derive(Serialize)]
struct PeaksWire {
    below: usize,
    above: usize,
    p_value: Option<Number>,
}

#[derive(Serialize)]
struct StabilityWire {
    first_half_change: Option<Number>,
    second_half_change: Option<Number>,
    spread: Option<SpreadWire>,
}

#[derive(Serialize)]
struct SpreadWire {
    within: Number,
    between: Number,
}

impl<'a> FiguresWire<'a> {
    pub(super) fn new(figures: &'a Figures) -> Self {
        Self {
            baseline: SideWire::new(&figures.baseline),
            candidate: figures.candidate.as_ref().map(SideWire::new),
            between: figures.between.as_ref().map(BetweenWire::new),
            stability: figures.stability.as_ref().map(StabilityWire::new),
        }
    }
}

impl<'a> SideWire<'a> {
    fn new(side: &'a SideFigures) -> Self {
        Self {
            percentiles: Line(&side.percentiles),
            log_skewness: side.log_skewness.map(Number),
            log_excess_kurtosis: side.log_excess_kurtosis.map(Number),
            shapiro_wilk: side.shapiro_wilk.map(TestedWire::new),
            fits: side.fits.iter().map(FitWire::new).collect(),
            mean_over_min: side.mean_over_min.map(Number),
            min_sigmas: side.min_sigmas.map(Number),
            max_sigmas: side.max_sigmas.map(Number),
            first_half: side.first_half.as_ref().map(FirstHalfWire::new),
        }
    }
}

impl<'a> FirstHalfWire<'a> {
    fn new(half: &'a FirstHalf) -> Self {
        Self {
            median: Number(half.median),
            percentiles: Line(&half.percentiles),
            against_second: half.against_second.map(TestedWire::new),
        }
    }
}

impl TestedWire {
    fn new(tested: Tested) -> Self {
        Self {
            statistic: Number(tested.statistic),
            p_value: Number(tested.p),
        }
    }
}

impl FitWire {
    fn new(fit: &Fit) -> Self {
        Self {
            family: fit.family.name(),
            location: Number(fit.location),
            scale: Number(fit.scale),
            log_likelihood: Number(fit.log_likelihood),
        }
    }
}

impl BetweenWire {
    fn new(between: &BetweenFigures) -> Self {
        let relative = |effect: LogRatio| Number(effect.change());
        Self {
            min_change: between.min.map(relative),
            median_change: between.median.map(relative),
            mean_change: between.mean.map(relative),
            shift: between.shift.map(ChangeWire::new),
            pairs: between.pairs.map(PairsWire::new),
            welch: between.welch.map(TWire::new),
            student: between.student.map(TWire::new),
            student_paired: between.student_paired.map(TWire::new),
            z_paired: between.z_paired.map(TestedWire::new),
            signed_rank: between.signed_rank.map(SignedRankWire::new),
            mann_whitney: between.mann_whitney.map(RankSumsWire::new),
            rank_sum_p: between.rank_sum_p.map(Number),
            kolmogorov_smirnov: between.kolmogorov_smirnov.map(TestedWire::new),
            wasserstein: between.wasserstein.map(Number),
            opposite_peaks: between.opposite_peaks.map(PeaksWire::new),
        }
    }
}

impl ChangeWire {
    fn new(change: Change) -> Self {
        Self {
            change: Number(change.effect.change()),
            ci: change.interval.as_ref().map(ends),
        }
    }
}

impl TWire {
    fn new(tested: TTested) -> Self {
        let Change { effect, interval } = tested.change;
        Self {
            change: Number(effect.change()),
            ci: interval.as_ref().map(ends),
            log_difference: Number(effect.0),
            log_ci: interval.map(|interval| [Number(interval.low.0), Number(interval.high.0)]),
            t: Number(tested.t),
            df: Number(tested.df),
            p_value: Number(tested.p),
        }
    }
}

impl PairsWire {
    fn new(pairs: PairSigns) -> Self {
        Self {
            less: pairs.less,
            equal: pairs.equal,
            greater: pairs.greater,
            p_value: Number(pairs.p),
        }
    }
}

impl SignedRankWire {
    fn new(ranks: SignedRanks) -> Self {
        Self {
            less: Number(ranks.less),
            greater: Number(ranks.greater),
            p_value: Number(ranks.p),
        }
    }
}

impl RankSumsWire {
    fn new(ranks: RankSums) -> Self {
        Self {
            u_baseline: Number(ranks.u_baseline),
            u_candidate: Number(ranks.u_candidate),
            p_value: Number(ranks.p),
        }
    }
}

impl PeaksWire {
    fn new(peaks: OppositePeaks) -> Self {
        Self {
            below: peaks.below,
            above: peaks.above,
            p_value: peaks.p.map(Number),
        }
    }
}

impl StabilityWire {
    fn new(stability: &StabilityFigures) -> Self {
        let relative = |effect: LogRatio| Number(effect.change());
        Self {
            first_half_change: stability.first_half.map(relative),
            second_half_change: stability.second_half.map(relative),
            spread: stability.spread.map(SpreadWire::new),
        }
    }
}

impl SpreadWire {
    fn new(spread: Spread) -> Self {
        let relative = |deviation: f64| Number(LogRatio(deviation).change());
        Self {
            within: relative(spread.within),
            between: relative(spread.between),
        }
    }
}
