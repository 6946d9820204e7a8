//! Code placement: the scope that a verdict may have, the change that placement alone causes, and
//! the other sources of variation between blocks.

use std::collections::HashSet;
use std::hash::Hash;

use deadheat_model::{
    Aspects, Benchmark, Contender, ContenderId, Estimate, LogRatio, ObservedProcess, Placed,
    Placing, RefusedLink, RerunKind, Run, Samples, Scope, Spreads, Warning,
};
use deadheat_stats::dist::f_upper_tail;
use deadheat_stats::{
    Clusters, PooledEstimate, clamped_components, clamped_variance, pooled_huber,
};

use crate::effects::Effects;
use crate::measurement::Measurement;
use crate::observed::{Observations, differences, why_not_on_links};
use crate::raced::Raced;
use crate::rerun::RerunEffects;

pub(crate) struct Placement<'a> {
    run: &'a Run,
    /// The placements in the order of replicates. A resumed run may have placed a replicate twice.
    placed: Vec<&'a Placed>,
    own_link: Option<RerunEffects<'a>>,
    observations: Observations<'a>,
    benchmark: &'a Benchmark,
    /// True if no linker places the raced code, as for interpreters and code that each process
    /// compiles.
    is_unlinked: bool,
}

impl<'a> Placement<'a> {
    pub(crate) fn of(raced: &Raced<'a>) -> Self {
        let Raced { run, index, .. } = *raced;
        let here = run.placed.iter().filter(|one| one.benchmark == index);
        let mut placed: Vec<&Placed> = here.collect();
        placed.sort_by_key(|one| one.replicate);
        let benchmark = &run.header.plan.benchmarks[index];
        Self {
            run,
            placed,
            observations: Observations::of(run, index),
            benchmark,
            own_link: RerunEffects::of(raced, RerunKind::OwnLink),
            is_unlinked: benchmark.is_compiled_in_each_process() || benchmark.is_interpreted(),
        }
    }

    /// Returns the scope of a verdict on the first `replicates` replicates. It is the source if
    /// both sides ran from a neutral link in each of them, and their processes were observed to
    /// execute these links.
    pub(crate) fn scope(
        &self,
        samples: &Samples,
        candidate: ContenderId,
        replicates: usize,
    ) -> Scope {
        let mut judged = in_order(samples).take(replicates);
        let are_on_links = judged.all(|replicate| {
            [ContenderId::BASELINE, candidate]
                .iter()
                .all(|id| self.observations.ran_as_started(*id, replicate))
        });
        if are_on_links && self.is_drawn(samples, candidate, replicates) {
            Scope::Source
        } else {
            Scope::Binary
        }
    }

    /// Returns true if processes of both sides were started from neutral links in each of the first
    /// `replicates` replicates.
    fn is_drawn(&self, samples: &Samples, candidate: ContenderId, replicates: usize) -> bool {
        self.always(Placed::is_drawn, samples, candidate, replicates)
    }

    /// Returns the observations of the processes of both sides that hold in all of the first
    /// `replicates` replicates; empty unless all of these were observed.
    pub(crate) fn processes(
        &self,
        samples: &Samples,
        candidate: ContenderId,
        replicates: usize,
    ) -> Vec<ObservedProcess> {
        let of = |id| {
            let judged = in_order(samples).take(replicates);
            self.observations.common(id, judged)
        };
        match (of(ContenderId::BASELINE), of(candidate)) {
            (Some(baseline), Some(candidate)) => vec![baseline, candidate],
            _ => Vec::new(),
        }
    }

    /// Returns true if the links of both sides were matched in each of the first `replicates`
    /// replicates.
    pub(crate) fn is_matched(
        &self,
        samples: &Samples,
        candidate: ContenderId,
        replicates: usize,
    ) -> bool {
        self.always(Placed::is_matched, samples, candidate, replicates)
    }

    /// Returns true if each of the first `replicates` replicates has placements, and `so` returns
    /// true for all these placements.
    fn always(
        &self,
        so: impl Fn(&Placed, usize, usize) -> bool,
        samples: &Samples,
        candidate: ContenderId,
        replicates: usize,
    ) -> bool {
        let was_so = |replicate| {
            let begin = self.placed.partition_point(|one| one.replicate < replicate);
            let all = self.placed[begin..].iter();
            let mut all = all.take_while(|one| one.replicate == replicate).peekable();
            let (baseline, candidate) = (ContenderId::BASELINE.index(), candidate.index());
            all.peek().is_some() && all.all(|one| so(one, baseline, candidate))
        };
        let mut judged = in_order(samples).take(replicates).peekable();
        judged.peek().is_some() && judged.all(was_so)
    }

    pub(crate) fn own_link(&self, candidate: usize) -> Option<Estimate> {
        self.own_link.as_ref()?.estimate(candidate)
    }

    pub(crate) fn scatter_of_own_link(&self, candidate: usize) -> Option<Scatter<'_>> {
        let own_link = self.own_link.as_ref()?;
        let (effects, samples) = own_link.judged();
        Scatter::of(effects.get(candidate)?, samples, own_link.replicates)
    }

    /// Returns true if any contender ran from a neutral link.
    pub(crate) fn is_drawn_at_all(&self) -> bool {
        let mut everyone = self.placed.iter().flat_map(|one| &one.contenders);
        everyone.any(|placing| matches!(placing, Placing::Neutral(_)))
    }

    pub(crate) fn doubts(
        &self,
        (measurement, aspects, scope): (&Measurement, &Aspects, Scope),
        candidate: ContenderId,
    ) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let sides = [ContenderId::BASELINE, candidate];
        let sides = sides.map(|id| &self.benchmark.contenders[id.index()]);
        let differences = differences(sides, &aspects.processes);
        if !differences.is_empty() {
            warnings.push(Warning::ProcessesDiffer { differences });
        }
        let contenders = &self.benchmark.contenders;
        let left = self
            .observations
            .left_behind(&[ContenderId::BASELINE, candidate], contenders);
        warnings.extend(left);
        match scope {
            Scope::Binary if self.is_unlinked => {}
            Scope::Binary => warnings.push(Warning::PlacementFixed {
                reason: self
                    .why_fixed()
                    .or_else(|| self.why_unobserved(sides, &aspects.processes)),
            }),
            Scope::Source => {
                warnings.extend(apart(measurement, aspects));
                warnings.extend(self.unmatched(aspects));
                let links = self.run.header.environment.neutral_links.iter();
                let objects = once_each(links.flat_map(|links| &links.unsectioned));
                let objects: Vec<String> = objects.cloned().collect();
                if !objects.is_empty() {
                    warnings.push(Warning::Unsectioned { objects });
                }
            }
        }
        // A replicate that was placed again may have drawn the same link.
        let refused = once_each(self.placed.iter().flat_map(|one| &one.refused));
        let refused: Vec<&RefusedLink> = refused.collect();
        if let Some(first) = refused.first() {
            warnings.push(Warning::LinksRefused {
                seeds: refused.iter().map(|link| link.seed).collect(),
                reason: first.reason.clone(),
            });
        }
        warnings
    }

    /// Returns the warning that the links of the builds are not matched, if matched links were
    /// requested.
    fn unmatched(&self, aspects: &Aspects) -> Option<Warning> {
        let links = &self.run.header.environment.neutral_links;
        let asked = links.iter().any(|links| links.matched.is_some());
        let reason = links.iter().find_map(|links| links.matched.clone()?.err());
        // If matching worked before the race, a link that was refused during the race gives the
        // reason.
        let mut refused = self.placed.iter().flat_map(|one| &one.refused);
        let reason = reason.or_else(|| refused.next_back().map(|link| link.reason.clone()));
        (asked && !aspects.matched).then_some(Warning::BuildsUnmatched { reason })
    }

    /// Returns the reason why the verdict cannot be about the source although neutral links were
    /// started.
    fn why_unobserved(
        &self,
        sides: [&Contender; 2],
        processes: &[ObservedProcess],
    ) -> Option<String> {
        if !self.is_drawn_at_all() {
            return None;
        }
        let mut sides = sides.iter().enumerate();
        sides.find_map(|(place, side)| why_not_on_links(&side.name, processes.get(place)))
    }

    /// Returns the reason why the race had to use fixed placements. A failure in this benchmark
    /// takes precedence over one that was known before the race.
    fn why_fixed(&self) -> Option<String> {
        let placed = self.placed.iter();
        let fallen_back = placed.filter_map(|one| one.fallen_back.clone()).next();
        let impossible = || {
            let links = self.run.header.environment.neutral_links.iter();
            let reasons: Vec<String> = links
                .filter_map(|links| {
                    let reason = links.made_by.as_ref().err()?;
                    Some(format!("{}: {reason}", links.executable))
                })
                .collect();
            (!reasons.is_empty()).then(|| reasons.join("; "))
        };
        fallen_back.or_else(impossible)
    }
}

fn once_each<T: Copy + Eq + Hash>(items: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
    let mut seen = HashSet::new();
    items.filter(move |item| seen.insert(*item))
}

/// Returns the numbers of the replicates in the order run.
fn in_order(samples: &Samples) -> impl Iterator<Item = u32> {
    let mut last = None;
    let replicates = samples.blocks().iter().map(|block| block.replicate);
    replicates.filter(move |replicate| last.replace(*replicate) != Some(*replicate))
}

/// Returns a warning if the intervals on the user's own link and on the neutral links are further
/// apart than the margin.
fn apart(measurement: &Measurement, aspects: &Aspects) -> Option<Warning> {
    let (neutral, own) = (measurement.estimate.as_ref()?, aspects.own_link.as_ref()?);
    let margin = measurement.terms.margin;
    let (of_neutral, of_own) = (neutral.interval?, own.interval?);
    let gap = (of_own.low.0 - of_neutral.high.0).max(of_neutral.low.0 - of_own.high.0);
    let apart = own.effect.change() - neutral.effect.change();
    let found = gap > LogRatio::from_change(margin).0 && apart.is_finite();
    found.then_some(Warning::OwnLinkApart { apart })
}

/// The level of an F test that is used if every replicate is a single block. Scatter counts as
/// placement only if blocks scatter significantly more on neutral links than on the own link.
/// Without the test, more than half of the scatter would be attributed to placement in a third of
/// all races with 22 blocks on neutral links and 11 on the own link, even if both scatter alike.
const TOLD_APART: f64 = 0.05;

/// The scatter of the effects of one series: variances, in squared log-ratio units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scatter<'a> {
    clusters: Clusters<'a>,
    pooled: PooledEstimate,
    /// The variance of blocks within their replicate, or of all blocks if `between` is `None`.
    within: f64,
    /// The variance between replicates; `None` for a single replicate, or if each replicate is one
    /// block.
    between: Option<f64>,
}

impl<'a> Scatter<'a> {
    /// Returns the scatter of the effects of the first `replicates` replicates. `None` if there are
    /// too many zeros, or all effects are equal.
    pub(crate) fn of(effects: &'a Effects, samples: &Samples, replicates: usize) -> Option<Self> {
        if effects.too_many_zeros(replicates) {
            return None;
        }
        let clusters = effects.clusters(replicates);
        let pooled = pooled_huber(&clusters, effects.floor(samples, replicates)).ok()?;
        let replicates = clusters.replicates();
        let (within, between) = if replicates > 1 && clusters.effects().len() > replicates {
            let components = clamped_components(&clusters, &pooled)?;
            (components.within, Some(components.between))
        } else {
            (clamped_variance(&clusters, &pooled)?, None)
        };
        Some(Self {
            clusters,
            pooled,
            within,
            between,
        })
    }

    /// Returns true if single blocks scatter significantly more in this series than in `less`.
    fn exceeds(&self, less: &Scatter<'_>) -> bool {
        // Both variances use the same scale to clamp effects. The scale of a few blocks is itself
        // uncertain: separate scales gave 13 % of false positives instead of 2 %.
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

/// Returns the standard deviations that placement, process and block contribute to the variation of
/// a race, as far as the data separate them. `candidate` counts from 0, and its effects were judged
/// over the first `replicates` replicates.
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
        // On neutral links replicates differ by process and placement; without neutral links, by
        // process alone.
        let process = own_between.or_else(|| (!placement.is_drawn_at_all()).then_some(between));
        return Some(Spreads {
            placement: own_between.filter(|_| drawn).map(|own| grown(between, own)),
            // Every launch of a command is a new process, so its spread is part of the blocks.
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
