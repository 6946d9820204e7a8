//! One picture.

/// A picture, and a name for the file it goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// A name for a file, without an extension: letters, digits and hyphens,
    /// and no other picture of the analysis has it.
    pub name: String,
    /// The picture as an SVG document.
    pub svg: String,
}

impl Picture {
    pub(super) fn new(name: String, svg: String) -> Self {
        Picture { name, svg }
    }
}
