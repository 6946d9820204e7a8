//! What the blocks of a benchmark vary by: placement, process, block.

use deadheat_model::{Benchmark, Samples, Scope, Spreads};
use deadheat_stats::dist::f_upper_tail;
use deadheat_stats::{
    Clusters, PooledEstimate, clamped_components, clamped_variance, pooled_huber,
};

use crate::effects::Effects;
use crate::placement::Placement;

/// Where every replicate is a single block, placement is told from the block
/// when blocks on neutral links scatter so much more than those on the own link
/// that an F test at this level finds it. Twenty-two blocks against eleven that
/// scatter alike would else show more than half of their scatter as placement
/// in a third of all races.
const TOLD_APART: f64 = 0.05;

/// How the effects of one series scatter: variances, in squared log-ratio
/// units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scatter<'a> {
    clusters: Clusters<'a>,
    pooled: PooledEstimate,
    /// Of blocks about their replicate, or of all blocks about their mean
    /// where there is nothing between.
    within: f64,
    /// Of replicates; `None` where there is one only, or each is one block.
    between: Option<f64>,
}

impl<'a> Scatter<'a> {
    /// `None` when no ratio can be formed, or none differs from the others.
    pub(crate) fn of(effects: &'a Effects, samples: &Samples, replicates: usize) -> Option<Self> {
        if effects.too_many_zeros(replicates) {
            return None;
        }
        let clusters = effects.clusters(replicates);
        let pooled = pooled_huber(&clusters, effects.floor(samples, replicates)).ok()?;
        let replicates = clusters.replicates();
        let (within, between) = match replicates > 1 && clusters.effects().len() > replicates {
            true => {
                let components = clamped_components(&clusters, &pooled)?;
                (components.within, Some(components.between))
            }
            false => (clamped_variance(&clusters, &pooled)?, None),
        };
        Some(Self {
            clusters,
            pooled,
            within,
            between,
        })
    }

    /// Whether single blocks scatter by more than those of `less` do, and not
    /// by chance.
    fn exceeds(&self, less: &Scatter<'_>) -> bool {
        // Both clamped alike: the scale of a handful of blocks is itself a
        // matter of chance, and with one each the test found a growth in 13 %
        // of races without any, instead of 2 %.
        let alike = PooledEstimate {
            scale: self.pooled.scale,
            ..less.pooled
        };
        let Some(clamped) = clamped_variance(&less.clusters, &alike) else {
            return false;
        };
        let f = self.within / clamped;
        let df = |scatter: &Scatter<'_>| (scatter.clusters.effects().len() - 1) as f64;
        f.is_finite() && f_upper_tail(f, df(self), df(less)) < TOLD_APART
    }
}

/// What the blocks of a race vary by, as far as it can be told apart.
/// `candidate` counts from 0, and its effects were judged over so many
/// replicates.
pub(crate) fn spreads(
    placement: &Placement<'_>,
    benchmark: &Benchmark,
    samples: &Samples,
    (candidate, effects): (usize, &Effects),
    replicates: usize,
    scope: Scope,
) -> Option<Spreads> {
    let seen = Scatter::of(effects, samples, replicates)?;
    let own = placement.scatter_of_own_link(candidate);
    let functions = benchmark.calls_functions();
    let drawn = scope == Scope::Source;
    let grown = |all: f64, without: f64| (all - without).max(0.0).sqrt();
    if let Some(between) = seen.between {
        let own_between = own.and_then(|own| own.between);
        // On neutral links replicates differ by process and placement; without
        // any, by the process alone.
        let process = own_between.or_else(|| (!placement.is_drawn_at_all()).then_some(between));
        return Some(Spreads {
            placement: own_between.filter(|_| drawn).map(|own| grown(between, own)),
            // Every launch of a command is a process of its own.
            process: process.filter(|_| functions).map(f64::sqrt),
            block: seen.within.sqrt(),
        });
    }
    let own = own.filter(|own| drawn && own.between.is_none() && seen.exceeds(own));
    Some(Spreads {
        placement: own.map(|own| grown(seen.within, own.within)),
        process: None,
        block: own.unwrap_or(seen).within.sqrt(),
    })
}
