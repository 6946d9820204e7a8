//! Differences between the sides of a race outside of the code under test.

/// The suite, the interpreters and the packages of the two sides, except for the code under test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The suite that both sides run; `None` if each side runs its own.
    pub suite: Option<SharedSuite>,
    /// The side whose suite both sides can run (`--benches-from`); `None` if neither suite fits
    /// both.
    pub benches_from: Option<String>,
    /// The interpreter of each side, the baseline's first; empty if they are the same.
    pub interpreters: Vec<String>,
    /// The packages whose versions differ between the sides, without those under test.
    pub packages: Vec<PackageVersions>,
    /// True if the user named two different Python interpreters, one for each side. The race may
    /// then be meant to compare their packages.
    pub chosen: bool,
    /// In races of `deadheat history extend`: a hash of the options that decide what is raced.
    pub selection: Option<String>,
}

/// The suite of one side, which both sides run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedSuite {
    /// The name of the side whose suite both sides run.
    pub side: String,
    /// The files in which the two sides' suites differ.
    pub files: Vec<String>,
}

/// A package that the sides have in different versions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackageVersions {
    /// The name of the package.
    pub name: String,
    /// The version of the baseline; `None` if the baseline lacks the package.
    pub baseline: Option<String>,
    /// The version of the candidate; `None` if the candidate lacks the package.
    pub candidate: Option<String>,
}
