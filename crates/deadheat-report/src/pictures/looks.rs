//! How the interval narrowed, look by look.

use deadheat_model::Plots;

use super::axis::{Axis, padded, view};
use super::frame::{BELOW, Frame};
use super::ink::{BAND, BASELINE, BLACK, Marker, SOLID, stroke};
use super::picture::Picture;
use super::scene::{HEIGHT, Key, SIDE, Scene, WIDTH, ends, percent};

pub(super) fn picture(scene: &Scene<'_>, plots: &Plots) -> Option<Picture> {
    let looks = &plots.looks;
    let (first, last) = (looks.first()?, looks.last()?);
    let margin = scene.margin();
    let mut shown = vec![0.0, margin.0, margin.1];
    shown.extend(looks.iter().map(|look| percent(look.estimate.effect)));
    let spans = looks
        .iter()
        .map(|look| look.estimate.interval.as_ref().map(ends));
    let spans: Vec<Option<(f64, f64)>> = spans.collect();
    let both = spans.iter().flatten().flat_map(|(low, high)| [*low, *high]);
    let y = Axis::changes(view(both, &shown), "change");
    let range = padded(f64::from(first.replicates), f64::from(last.replicates));
    let range = (range.0.min(range.1 - 2.0), range.1);
    let x = Axis::counts(range, "replicates looked at");
    let shows = format!(
        "Look by look, {} against {}",
        scene.candidate, scene.baseline
    );
    let keys = [
        (
            Key::Point(Marker::Dot, BASELINE),
            "estimate with the interval of the look".to_owned(),
        ),
        (Key::Area(BAND), "margin".to_owned()),
    ];
    let picture = scene.picture("looks", &shows, &keys, HEIGHT, |canvas, top| {
        let corner = (WIDTH - SIDE, HEIGHT - BELOW);
        let frame = Frame::new(canvas, (SIDE, top), corner, x, y);
        frame.band(margin.0, margin.1, BAND);
        frame.level(0.0, stroke(BLACK, 0.7, SOLID));
        for (look, span) in looks.iter().zip(&spans) {
            let x = f64::from(look.replicates);
            if let Some((low, high)) = *span {
                frame.line([(x, low), (x, high)], stroke(BASELINE, 1.2, SOLID));
                for end in [low, high] {
                    frame.cap((x, end), BASELINE);
                }
            }
            let at = (x, percent(look.estimate.effect));
            frame.point(at, Marker::Dot, 2.4, BASELINE);
        }
        frame.axes();
    });
    Some(picture)
}
