//! How often which value was seen: both sides laid over each other, and the
//! first half of the run over the whole.

use deadheat_model::{Distribution, Plots};

use super::axis::{Axis, beyond_the_edge};
use super::frame::{BELOW, Frame};
use super::ink::{BASELINE, CANDIDATE, Colour, DASHED, Dash, SHORT, SOLID, stroke};
use super::picture::Picture;
use super::scene::{HEIGHT, Key, SIDE, Scene, WIDTH};

pub(super) fn picture(scene: &Scene<'_>, plots: &Plots) -> Option<Picture> {
    let edges = &plots.edges;
    let (low, high) = (*edges.first()?, *edges.last()?);
    let sides = sides(scene, plots);
    let heights = sides.iter().flat_map(|side| {
        let half = side.of.first_half.iter().copied();
        side.of
            .counts
            .iter()
            .map(|count| f64::from(*count))
            .chain(half)
    });
    let highest = heights.fold(0.0, f64::max);
    if highest <= 0.0 || low >= high {
        return None;
    }
    let x = Axis::quantities((low, high), scene.comparison.metric.unit(), &scene.metric());
    let y = Axis::counts((0.0, highest * 1.06), "samples");
    let halves = sides.iter().any(|side| !side.of.first_half.is_empty());
    let shows = match halves {
        true => "All samples; broken lines: the first half, scaled",
        false => "All samples",
    };
    let outside = sides.iter().map(|side| side.of.below + side.of.above);
    let outside = beyond_the_edge(outside.sum::<u32>() as usize);
    let shows = format!("{shows}{outside}");
    let keys: Vec<(Key, String)> = sides.iter().map(Side::key).collect();
    let picture = scene.picture("histogram", &shows, &keys, HEIGHT, |canvas, top| {
        let corner = (WIDTH - SIDE, HEIGHT - BELOW);
        let frame = Frame::new(canvas, (SIDE, top), corner, x, y);
        for side in &sides {
            let counts = side.of.counts.iter().map(|count| f64::from(*count));
            let whole = steps(edges, counts);
            frame.filled(&whole, side.ink, 0.22);
            frame.line(whole, stroke(side.ink, 1.2, SOLID));
        }
        for side in &sides {
            let half = steps(edges, side.of.first_half.iter().copied());
            frame.line(half, stroke(side.ink, 1.0, side.dash));
        }
        frame.axes();
    });
    Some(picture)
}

/// One side as it is drawn.
pub(super) struct Side<'a> {
    pub(super) of: &'a Distribution,
    pub(super) name: String,
    pub(super) ink: Colour,
    /// What tells its broken lines from the other's.
    pub(super) dash: Dash,
}

impl Side<'_> {
    fn key(&self) -> (Key, String) {
        (Key::Line(stroke(self.ink, 3.0, SOLID)), self.name.clone())
    }
}

/// The baseline, and the candidate where there is one.
pub(super) fn sides<'a>(scene: &Scene<'_>, plots: &'a Plots) -> Vec<Side<'a>> {
    let baseline = Side {
        of: &plots.baseline,
        name: scene.baseline.clone(),
        ink: BASELINE,
        dash: DASHED,
    };
    let candidate = plots.candidate.as_ref().map(|of| Side {
        of,
        name: scene.candidate.clone(),
        ink: CANDIDATE,
        dash: SHORT,
    });
    std::iter::once(baseline).chain(candidate).collect()
}

/// The outline of bars between these edges.
pub(super) fn steps(edges: &[f64], heights: impl Iterator<Item = f64>) -> Vec<(f64, f64)> {
    let bars = edges.windows(2).zip(heights);
    bars.flat_map(|(edge, height)| [(edge[0], height), (edge[1], height)])
        .collect()
}
