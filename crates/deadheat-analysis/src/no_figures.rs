//! A build without secondary figures: there are none.

use deadheat_model::{ContenderId, Figures, Plots, RunHeader, Samples};

use crate::effects::Effects;
use crate::raced::Members;

/// The figures of a benchmark, which no value of this type can hold.
pub(crate) enum Figured {}

impl Figured {
    pub(crate) fn of(_: &RunHeader, _: usize, _: &Samples, _: &Members) -> Option<Self> {
        None
    }

    pub(crate) fn alone(self, _: Option<usize>) -> (Figures, Option<Box<Plots>>) {
        match self {}
    }

    pub(crate) fn against(
        &self,
        _: ContenderId,
        _: Option<(&Effects, usize)>,
        _: Option<usize>,
    ) -> (Figures, Option<Box<Plots>>) {
        match *self {}
    }
}
