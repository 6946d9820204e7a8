//! Static plots for papers: all plots of an analysis, as SVG and PNG.

mod axis;
mod canvas;
mod differences;
mod distributions;
mod forest;
mod scene;

pub use axis::Axis;
#[cfg(feature = "png")]
pub use png::PictureError;
pub use scene::Picture;

use deadheat_model::{Analysis, Comparison, Plots};

use crate::glyphs::Glyphs;
use crate::names::{labels, shorten};
use crate::sentences::Source;
use crate::suite;
use scene::Scene;

/// Maximum number of characters of a benchmark's name that a file name contains.
const STEM: usize = 40;

/// Maximum width, in columns, of the name of a contender.
const LABEL: usize = 60;
/// Maximum width, in columns, of the name of a benchmark in a title.
const TITLE: usize = 1_000;

/// A function that draws a plot of a comparison. It returns `None` if there is nothing to draw.
type Draw = fn(&Scene<'_>, &Plots) -> Option<String>;

/// The plots of a comparison, each with the suffix of its file name.
const PLOTS: [(&str, Draw); 9] = [
    ("differences", differences::blocks),
    ("pairs", differences::pairs),
    ("replicates", differences::replicates),
    ("looks", differences::looks),
    ("histogram", distributions::histogram),
    ("densities", distributions::densities),
    ("violins", distributions::violins),
    ("ecdf", distributions::ecdf),
    ("quantiles", distributions::quantiles),
];

/// Returns the plots of an analysis: the suite, then the plots of each comparison. The iterator
/// draws one comparison at a time, which limits memory. Comparisons without data have no plots.
///
/// A file name begins with the number of the comparison, or with zeros for the suite: `00-suite`,
/// `03-sort-random-histogram`.
pub fn to_pictures(analysis: &Analysis) -> impl Iterator<Item = Picture> + '_ {
    let digits = analysis.comparisons.len().to_string().len().max(2);
    let suite = forest::pictures(analysis, &format!("{:0digits$}-suite", 0));
    let groups = suite::groups(&analysis.comparisons).into_iter();
    let source = Source::of(analysis);
    let scenes = groups
        .flat_map(move |group| scenes(group, source))
        .enumerate();
    let drawn = scenes.flat_map(move |(index, mut scene)| {
        scene.stem = format!("{:0digits$}{}", index + 1, scene.stem);
        of_one(&scene)
    });
    suite.into_iter().chain(drawn)
}

fn of_one(scene: &Scene<'_>) -> Vec<Picture> {
    let Some(plots) = &scene.comparison.plots else {
        return Vec::new();
    };
    let drawn = PLOTS.iter().filter_map(|(kind, draw)| {
        let name = format!("{}-{kind}", scene.stem);
        draw(scene, plots).map(|svg| Picture { name, svg })
    });
    drawn.collect()
}

fn scenes(group: &[Comparison], source: Source) -> impl Iterator<Item = Scene<'_>> {
    let labels = labels(&suite::names(group), LABEL, Glyphs::Unicode);
    let several = group.len() > 1;
    group.iter().enumerate().map(move |(index, comparison)| {
        let name = suite::title(comparison, Glyphs::Unicode);
        let candidate = labels.get(index + 1).cloned().unwrap_or_default();
        let stem = if several {
            stem(&format!("{name} {candidate}"))
        } else {
            stem(&name)
        };
        let title = match (suite::is_any_run(group, source), candidate.is_empty()) {
            (true, false) => format!("{candidate} against {}", labels[0]),
            (true, true) => labels[0].clone(),
            (false, _) => shorten(&name, TITLE, Glyphs::Unicode),
        };
        Scene {
            comparison,
            title,
            baseline: labels[0].clone(),
            candidate,
            stem,
            source,
        }
    })
}

/// Returns a hyphen and the characters of a name that every file system accepts; empty if there are
/// none.
fn stem(name: &str) -> String {
    let mut stem = String::new();
    for character in name.chars() {
        match character {
            'a'..='z' | '0'..='9' => stem.push(character),
            'A'..='Z' => stem.push(character.to_ascii_lowercase()),
            _ if !stem.is_empty() && !stem.ends_with('-') => stem.push('-'),
            _ => {}
        }
        if stem.len() == STEM {
            break;
        }
    }
    match stem.trim_end_matches('-') {
        "" => String::new(),
        stem => format!("-{stem}"),
    }
}

#[cfg(feature = "png")]
mod png {
    use std::sync::{Arc, OnceLock};

    use resvg::tiny_skia::{Pixmap, Transform};
    use resvg::usvg::{Options, Tree, fontdb};

    use super::Picture;

    /// PNG pixels per SVG pixel, in each direction.
    const SCALE: f32 = 4.0;

    /// The embedded font, so that all machines draw the same picture.
    static FONT: &[u8] = include_bytes!("../assets/pictures/DejaVuSans-deadheat.ttf");

    /// The error for a picture that cannot be converted to PNG.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct PictureError {
        picture: String,
        why: String,
    }

    impl std::fmt::Display for PictureError {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(
                f,
                "picture '{}' cannot be drawn as PNG: {}; use its SVG instead",
                self.picture, self.why
            )
        }
    }

    impl std::error::Error for PictureError {}

    impl Picture {
        /// Converts the picture to PNG, with four PNG pixels per SVG pixel: 411 dpi in a column of
        /// 3.5 inches. The conversion uses an embedded font instead of the machine's fonts. This
        /// font has Latin, Greek and Cyrillic letters; other letters appear as boxes.
        ///
        /// # Errors
        ///
        /// Returns an error with the name of the picture if its SVG is invalid or too large to
        /// draw.
        pub fn png(&self) -> Result<Vec<u8>, PictureError> {
            drawn(&self.svg).map_err(|why| PictureError {
                picture: self.name.clone(),
                why,
            })
        }
    }

    fn fonts() -> Arc<fontdb::Database> {
        static FONTS: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
        let fonts = FONTS.get_or_init(|| {
            let mut fonts = fontdb::Database::new();
            fonts.load_font_data(FONT.to_vec());
            Arc::new(fonts)
        });
        Arc::clone(fonts)
    }

    fn drawn(svg: &str) -> Result<Vec<u8>, String> {
        let options = Options {
            fontdb: fonts(),
            font_family: "DejaVu Sans".to_owned(),
            ..Options::default()
        };
        let tree = Tree::from_str(svg, &options).map_err(|error| error.to_string())?;
        let [width, height] = [tree.size().width(), tree.size().height()];
        let [across, down] = [width, height].map(|pixels| (pixels * SCALE).ceil() as u32);
        let mut points = Pixmap::new(across, down)
            .ok_or_else(|| format!("{across} × {down} points are too many"))?;
        let scale = Transform::from_scale(SCALE, SCALE);
        resvg::render(&tree, scale, &mut points.as_mut());
        points.encode_png().map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_hold_nothing_that_a_file_system_minds() {
        assert_eq!(stem("Sort/Random (size=10)"), "-sort-random-size-10");
        assert_eq!(stem("../../etc/passwd\0"), "-etc-passwd");
        assert_eq!(stem("速い"), "");
        assert_eq!(stem("größer"), "-gr-er");
        assert_eq!(stem(&"x".repeat(500)).len(), STEM + 1);
    }
}
