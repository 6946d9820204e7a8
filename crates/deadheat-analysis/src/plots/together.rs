//! All plots of one comparison.

use deadheat_model::{Plots, Samples};

use super::blocks::judged_blocks;
use super::differences::differences;
use super::distribution::{Sorted, common_edges, distribution};
use super::pairs::pair_cloud;
use super::replicates::replicates;
use crate::effects::Effects;

/// What plots are made of.
pub(crate) struct Material<'a> {
    /// The samples of the benchmark.
    pub(crate) samples: &'a Samples,
    /// Their values per iteration, in the order taken.
    pub(crate) values: &'a [f64],
    /// ln of the values, zeros counted as half a tick.
    pub(crate) logs: &'a [f64],
    /// The baseline sorted, and which samples are its own.
    pub(crate) baseline: (Sorted<'a>, &'a [u32]),
    /// `None` for a contender alone.
    pub(crate) candidate: Option<Rival<'a>>,
}

/// The candidate of a comparison.
pub(crate) struct Rival<'a> {
    /// Sorted, and which samples are its own.
    pub(crate) side: (Sorted<'a>, &'a [u32]),
    /// `None` where nothing is paired.
    pub(crate) paired: Option<Paired<'a>>,
}

/// What a candidate and the baseline have together.
pub(crate) struct Paired<'a> {
    /// Effects per block.
    pub(crate) effects: &'a Effects,
    /// How many replicates of them were judged.
    pub(crate) judged: usize,
    /// Indices of neighbouring samples, the baseline's first.
    pub(crate) pairs: Vec<(usize, usize)>,
}

/// Everything there is to draw but the looks, at most so many points in each
/// series.
pub(crate) fn plots(material: &Material, points: usize) -> Plots {
    let rival = material.candidate.as_ref();
    let paired = rival.and_then(|rival| rival.paired.as_ref());
    let blocks = paired.map_or_else(Vec::new, |paired| {
        judged_blocks(paired.effects, material.samples, paired.judged)
    });
    let sides: Vec<Sorted> = [Some(material.baseline.0), rival.map(|rival| rival.side.0)]
        .into_iter()
        .flatten()
        .collect();
    let edges = common_edges(&sides, points);
    let of_side = |(sorted, members): (Sorted, &[u32])| {
        let value = |index: &u32| material.values[*index as usize];
        let first_half = members[..members.len() / 2].iter().map(value).collect();
        distribution(sorted, first_half, &edges, points)
    };
    Plots {
        differences: differences(&blocks, points),
        pairs: paired
            .and_then(|paired| pair_cloud(&paired.pairs, material.values, material.logs, points)),
        replicates: replicates(&blocks, points),
        looks: Vec::new(),
        baseline: of_side(material.baseline),
        candidate: rival.map(|rival| of_side(rival.side)),
        edges,
    }
}
