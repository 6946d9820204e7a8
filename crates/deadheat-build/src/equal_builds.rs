//! Options that make the builds of both sides more alike: one profile of cargo (`--same-profile`),
//! and the lock files of one side (`--lock-from`). Also makes the recipe of the baseline with the
//! candidate's profile.

use crate::error::{BuildError, Note};
use crate::recipe::{CargoBuild, Recipe};
use crate::repository::{Repository, Unbuilt};
use crate::unequal_builds::Settings;

/// The values of `--same-profile` and `--lock-from`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EqualBuilds {
    /// The baseline is built with the candidate's profile.
    pub profile: bool,
    /// The side whose lock files both sides use.
    pub lock_from: Option<OneSide>,
}

/// One of the two sides of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OneSide {
    /// The baseline.
    Baseline,
    /// The candidate.
    Candidate,
}

/// Returns the recipe that builds the baseline with the candidate's profile; `None` if the profiles
/// are equal or the recipes are not cargo's.
pub(crate) fn with_profile_of_candidate(
    repository: &Repository<'_>,
    recipes: [&Recipe; 2],
    [base, head]: &[Unbuilt; 2],
    tell: &mut dyn FnMut(Note),
) -> Result<Option<Recipe>, BuildError> {
    let [Recipe::Cargo(build), Recipe::Cargo(of_head)] = recipes else {
        return Ok(None);
    };
    let ours = settings(base, build, repository)?;
    let theirs = settings(head, of_head, repository)?;
    let settings = ours.changes_to(&theirs);
    if settings.is_empty() {
        return Ok(None);
    }
    let mut build = build.clone();
    for setting in &settings {
        build.arguments.extend(["--config".into(), setting.into()]);
    }
    tell(Note::ProfileOfOther {
        revision: base.name.clone(),
        from: head.name.clone(),
        settings,
    });
    Ok(Some(Recipe::Cargo(build)))
}

fn settings(
    side: &Unbuilt,
    build: &CargoBuild,
    repository: &Repository<'_>,
) -> Result<Settings, BuildError> {
    let mut failed = None;
    let mut settings = Settings::of(&build.lock_folders(repository), |path| {
        let file = side.file(repository, path).unwrap_or_else(|error| {
            failed = Some(error);
            None
        });
        file.and_then(|bytes| String::from_utf8(bytes).ok())
    });
    settings.heed(&build.arguments);
    failed.map_or(Ok(settings), Err)
}
