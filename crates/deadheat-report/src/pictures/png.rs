//! From SVG to PNG.

use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::scene::Picture;

/// Points to a pixel of the SVG.
const SCALE: f32 = 4.0;

/// The letters, so that every machine draws the same.
static FONT: &[u8] = include_bytes!("../../assets/pictures/DejaVuSans-deadheat.ttf");

/// A picture that cannot be drawn point by point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PictureError {
    picture: String,
    why: String,
}

impl std::fmt::Display for PictureError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "picture '{}' cannot be drawn as PNG: {}; take its SVG instead",
            self.picture, self.why
        )
    }
}

impl std::error::Error for PictureError {}

impl Picture {
    /// The picture as a PNG, four points to a pixel of the SVG: 411 dpi in a column of 3.5 inches.
    /// The font comes along, none of the machine's is used; it has Latin, Greek and Cyrillic
    /// letters, of others there are boxes.
    ///
    /// # Errors
    ///
    /// When the document is broken, or too large to be drawn: names it.
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

/// The document as a PNG, or why there is none.
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
