//! One benchmark, read once for the figures of all its candidates.

use deadheat_model::{ContenderId, Figures, Plots, RunHeader, Samples};

use super::between::between;
use super::measured::Measured;
use super::side::SideData;
use super::stability::stability;
use crate::effects::Effects;
use crate::plots::{Material, Paired, Rival, Sorted, plots};
use crate::side::Members;

/// The judged metric of a benchmark.
pub(crate) struct Figured<'a> {
    /// The level of one candidate: each figure speaks for itself.
    level: f64,
    samples: &'a Samples,
    members: &'a Members,
    measured: Measured,
    baseline: SideData,
}

impl<'a> Figured<'a> {
    /// `None` when the judged metric was not recorded.
    pub(crate) fn of(
        header: &RunHeader,
        benchmark: usize,
        samples: &'a Samples,
        members: &'a Members,
    ) -> Option<Self> {
        let judged = header.plan.judged(benchmark);
        let measured = Measured::of(header, samples, judged)?;
        let baseline = SideData::of(&measured, members.indices(ContenderId::BASELINE));
        Some(Self {
            level: header.plan.alpha(benchmark),
            samples,
            members,
            measured,
            baseline,
        })
    }

    /// The figures of a contender without a rival, and its plots with at most
    /// so many points.
    pub(crate) fn alone(self, points: Option<usize>) -> (Figures, Option<Box<Plots>>) {
        let plots = points.map(|points| Box::new(plots(&self.material(None), points)));
        let figures = Figures {
            baseline: self.baseline.figures,
            candidate: None,
            between: None,
            stability: None,
        };
        (figures, plots)
    }

    /// The figures of one candidate, and its plots with at most so many
    /// points. `judged` are its effects and the number of replicates that were
    /// judged; `None` where nothing is paired.
    pub(crate) fn against(
        &self,
        candidate: ContenderId,
        judged: Option<(&Effects, usize)>,
        points: Option<usize>,
    ) -> (Figures, Option<Box<Plots>>) {
        let data = SideData::of(&self.measured, self.members.indices(candidate));
        let plots = points.map(|points| {
            let paired = judged.map(|(effects, judged)| Paired {
                effects,
                judged,
                pairs: Measured::pairs(self.samples, candidate),
            });
            let rival = Rival {
                side: (sorted(&data), self.members.indices(candidate)),
                paired,
            };
            Box::new(plots(&self.material(Some(rival)), points))
        });
        let clusters = judged.map(|(effects, replicates)| effects.clusters(replicates));
        let between = between(
            &self.measured,
            self.samples,
            &self.baseline,
            (candidate, &data),
            clusters.map(|clusters| clusters.effects()),
            self.level,
        );
        let figures = Figures {
            baseline: self.baseline.figures.clone(),
            candidate: Some(data.figures),
            between: Some(between),
            stability: judged
                .map(|(effects, replicates)| stability(effects, self.samples, replicates)),
        };
        (figures, plots)
    }

    fn material<'b>(&'b self, candidate: Option<Rival<'b>>) -> Material<'b> {
        Material {
            samples: self.samples,
            values: &self.measured.values,
            logs: &self.measured.logs,
            baseline: (
                sorted(&self.baseline),
                self.members.indices(ContenderId::BASELINE),
            ),
            candidate,
        }
    }
}

fn sorted(side: &SideData) -> Sorted<'_> {
    Sorted {
        values: &side.values,
        logs: &side.logs,
        fits: &side.figures.fits,
    }
}
