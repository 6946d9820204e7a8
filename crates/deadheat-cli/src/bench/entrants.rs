//! Who races: the programs of two builds, or one program.

use deadheat::model::Program;

/// The programs of two builds, the old one first.
#[derive(Clone, Debug)]
pub struct Entrants {
    /// What either build made.
    pub targets: Vec<Target>,
    /// How the builds are called.
    pub names: [String; 2],
}

/// One program as either build made it.
#[derive(Clone, Debug, Default)]
pub struct Target {
    /// Its name, where a build makes several.
    pub name: Option<String>,
    /// That of the old build, if it made one.
    pub baseline: Option<Program>,
    /// That of the new build, if it made one.
    pub candidate: Option<Program>,
}
