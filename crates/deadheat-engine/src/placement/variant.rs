//! A neutral link as a file that can be started.

use std::fmt;
use std::path::PathBuf;

use deadheat_model::NeutralLink;

/// The variable that names the program which makes neutral links for a bench
/// target.
pub const PLACEMENTS_VARIABLE: &str = "DEADHEAT_PLACEMENTS";

/// A neutral link that is there to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Which one it is.
    pub link: NeutralLink,
    /// Its executable.
    pub executable: PathBuf,
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seed, file) = (self.link.seed, self.executable.display());
        write!(f, "the neutral link of seed {seed}, {file}")
    }
}

/// What a failure adds about the link it happened on.
pub(crate) fn on_link(link: &Option<Variant>) -> String {
    link.as_ref().map_or_else(String::new, |variant| {
        format!(" (on {variant}; --placement own races what was linked before)")
    })
}
