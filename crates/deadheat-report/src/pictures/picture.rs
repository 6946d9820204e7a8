//! One picture.

use super::png;

/// A picture, and a name for the file it goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// A name for a file, without an extension: letters, digits and hyphens,
    /// and no other picture of the analysis has it.
    pub name: String,
    /// The picture as an SVG document.
    pub svg: String,
}

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
    pub(super) fn new(name: String, svg: String) -> Self {
        Picture { name, svg }
    }

    /// The picture as a PNG, four points to a pixel of the SVG: 411 dpi in a
    /// column of 3.5 inches. The font comes along, none of the machine's is
    /// used; it has Latin, Greek and Cyrillic letters, of others there are
    /// boxes.
    ///
    /// # Errors
    ///
    /// When the document is broken, or too large to be drawn: names it.
    pub fn png(&self) -> Result<Vec<u8>, PictureError> {
        png::drawn(&self.svg).map_err(|why| PictureError {
            picture: self.name.clone(),
            why,
        })
    }
}
