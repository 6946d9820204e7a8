//! Where the code lay: what a verdict may speak of, what placement alone does to a benchmark, and
//! what else its blocks vary by.

use deadheat_model::{
    Aspects, Benchmark, Contender, ContenderId, Estimate, LogRatio, ObservedProcess, Placed,
    Placing, RerunKind, Run, Samples, Scope, Spreads, Warning,
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

/// All that is known of where the code of one benchmark lay.
pub(crate) struct Placement<'a> {
    run: &'a Run,
    /// In the order of replicates. A run that was taken up again may have placed one twice.
    placed: Vec<&'a Placed>,
    own_link: Option<RerunEffects<'a>>,
    observations: Observations<'a>,
    benchmark: &'a Benchmark,
    /// True where no linker places the code that is raced.
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

    /// The scope of a verdict on the first `replicates` replicates: the source if the placement of
    /// both sides was drawn for each of them, and their processes were seen to execute the links.
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
    /// `replicates`.
    fn is_drawn(&self, samples: &Samples, candidate: ContenderId, replicates: usize) -> bool {
        self.always(Placed::is_drawn, samples, candidate, replicates)
    }

    /// What was observed of the processes of both sides in the first `replicates`; empty where
    /// nothing was.
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

    /// Returns true if the links of both sides were matched in each of the first `replicates`.
    pub(crate) fn is_matched(
        &self,
        samples: &Samples,
        candidate: ContenderId,
        replicates: usize,
    ) -> bool {
        self.always(Placed::is_matched, samples, candidate, replicates)
    }

    /// Returns true if the first `replicates` were all placed, and always so.
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

    /// The effect as the user's own link placed the code: of all its complete replicates at one
    /// look, since their number was fixed.
    pub(crate) fn own_link(&self, candidate: usize) -> Option<Estimate> {
        self.own_link.as_ref()?.estimate(candidate)
    }

    /// The scatter of the blocks of the own link.
    pub(crate) fn scatter_of_own_link(&self, candidate: usize) -> Option<Scatter<'_>> {
        let own_link = self.own_link.as_ref()?;
        let (effects, samples) = own_link.judged();
        Scatter::of(effects.get(candidate)?, samples, own_link.replicates)
    }

    /// Returns true if any contender ran where a neutral link put it.
    pub(crate) fn is_drawn_at_all(&self) -> bool {
        let mut everyone = self.placed.iter().flat_map(|one| &one.contenders);
        everyone.any(|placing| matches!(placing, Placing::Neutral(_)))
    }

    /// Warnings about the placement behind a comparison.
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
                let mut objects: Vec<String> = Vec::new();
                for object in links.flat_map(|links| &links.unsectioned) {
                    if !objects.contains(object) {
                        objects.push(object.clone());
                    }
                }
                if !objects.is_empty() {
                    warnings.push(Warning::Unsectioned { objects });
                }
            }
        }
        let mut refused: Vec<_> = Vec::new();
        for link in self.placed.iter().flat_map(|one| &one.refused) {
            // A replicate placed anew may have drawn it again.
            if !refused.contains(&link) {
                refused.push(link);
            }
        }
        if let Some(first) = refused.first() {
            warnings.push(Warning::LinksRefused {
                seeds: refused.iter().map(|link| link.seed).collect(),
                reason: first.reason.clone(),
            });
        }
        warnings
    }

    /// That the builds are not matched, although that was asked for.
    fn unmatched(&self, aspects: &Aspects) -> Option<Warning> {
        let links = &self.run.header.environment.neutral_links;
        let asked = links.iter().any(|links| links.matched.is_some());
        let reason = links.iter().find_map(|links| links.matched.clone()?.err());
        // Those that came to nothing, where the first were.
        let mut refused = self.placed.iter().flat_map(|one| &one.refused);
        let reason = reason.or_else(|| refused.next_back().map(|link| link.reason.clone()));
        (asked && !aspects.matched).then_some(Warning::BuildsUnmatched { reason })
    }

    /// Returns why the verdict cannot be about the source although neutral links were started.
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

    /// Returns the reason why placement was not drawn although somebody asked for it. What happened
    /// to this benchmark tells more than what was known before.
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

/// The replicates in the order they were run.
fn in_order(samples: &Samples) -> impl Iterator<Item = u32> {
    let mut last = None;
    let replicates = samples.blocks().iter().map(|block| block.replicate);
    replicates.filter(move |replicate| last.replace(*replicate) != Some(*replicate))
}

/// The own link and the neutral ones, when their intervals lie further apart than the margin.
fn apart(measurement: &Measurement, aspects: &Aspects) -> Option<Warning> {
    let (neutral, own) = (measurement.estimate.as_ref()?, aspects.own_link.as_ref()?);
    let margin = measurement.terms.margin;
    let (of_neutral, of_own) = (neutral.interval?, own.interval?);
    let gap = (of_own.low.0 - of_neutral.high.0).max(of_neutral.low.0 - of_own.high.0);
    let apart = own.effect.change() - neutral.effect.change();
    let found = gap > LogRatio::from_change(margin).0 && apart.is_finite();
    found.then_some(Warning::OwnLinkApart { apart })
}

/// Where every replicate is a single block, placement is told from the block when blocks on neutral
/// links scatter so much more than those on the own link that an F test at this level finds it.
/// Twenty-two blocks against eleven that scatter alike would else show more than half of their
/// scatter as placement in a third of all races.
const TOLD_APART: f64 = 0.05;

/// The scatter of the effects of one series: variances, in squared log-ratio units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scatter<'a> {
    clusters: Clusters<'a>,
    pooled: PooledEstimate,
    /// Of blocks about their replicate, or of all blocks about their mean where there is nothing
    /// between.
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

    /// Returns true if single blocks scatter by more than those of `less` do, and not by chance.
    fn exceeds(&self, less: &Scatter<'_>) -> bool {
        // Both clamped alike: the scale of a handful of blocks is itself a matter of chance, and
        // with one each the test found a growth in 13 % of races without any, instead of 2 %.
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

/// The spreads that the blocks of a race vary by, as far as it can be told apart. `candidate`
/// counts from 0, and its effects were judged over so many replicates.
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
        // On neutral links replicates differ by process and placement; without any, by the process
        // alone.
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
