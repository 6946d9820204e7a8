//! Finds benchmark files that differ between two sides. Files of the code under test are left out,
//! because they are expected to differ.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use deadheat_link::Digest;

use crate::benches::BenchTarget;
use crate::disk;
use crate::error::BuildError;
use crate::git::Git;
use crate::node::NodeSuite;
use crate::recipe::{Racing, Recipe};
use crate::repository::{Commit, Repository};
use crate::sides::Side;
use crate::subprocess::Interruption;
use crate::test_suite::{TestSuite, is_of_benchmarks, is_prose};

/// A benchmark file that differs between two sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// The path, relative to the user's working directory.
    pub path: PathBuf,
    /// The name of the executable whose benchmarks use the file; `None` means all executables.
    pub executable: Option<String>,
    /// The contents on both sides, baseline first. A text is empty if the side lacks the file or
    /// the file is not UTF-8.
    pub texts: [String; 2],
}

/// Lists the benchmark files that differ between two sides built by `recipe`: test and bench files,
/// and data in their folders.
///
/// # Errors
///
/// Git fails.
pub fn changed_suite(
    directory: &Path,
    sides: [&Side; 2],
    recipe: &Recipe,
    interruption: Interruption<'_>,
) -> Result<Vec<ChangedFile>, BuildError> {
    let repository = Repository::around(directory, interruption)?;
    let mut changed = Vec::new();
    for path in changed_paths(&repository, sides)? {
        let mut targets = sides.iter().flat_map(|side| &side.benches);
        if is_prose(&path) && !targets.any(|target| target.source == path) {
            continue;
        }
        let executables = owners(&repository, sides, recipe, &path);
        // `--benches-from` may have copied files of one side to the other.
        let digests = sides.map(|side| Digest::of_file(&side.file(&path)).ok());
        if executables.is_empty() || digests[0] == digests[1] {
            continue;
        }
        let texts = sides.map(|side| disk::read_text(side.file(&path)));
        let texts = texts.map(Result::unwrap_or_default);
        changed.extend(executables.into_iter().map(|executable| ChangedFile {
            path: seen_from(&repository.inside, &path),
            executable,
            texts: texts.clone(),
        }));
    }
    Ok(changed)
}

/// Converts a path relative to the top of the repository to one relative to `folder`.
fn seen_from(folder: &Path, path: &Path) -> PathBuf {
    let mut seen = PathBuf::new();
    for above in folder.ancestors() {
        if let Ok(below) = path.strip_prefix(above) {
            return seen.join(below);
        }
        seen.push("..");
    }
    path.to_owned()
}

/// Returns the paths that differ between the sides according to git, sorted and relative to the top
/// of the repository.
fn changed_paths(
    repository: &Repository<'_>,
    sides: [&Side; 2],
) -> Result<BTreeSet<PathBuf>, BuildError> {
    let ids = sides.map(|side| side.commit.as_ref().map(|commit| &*commit.id));
    let mut paths = BTreeSet::new();
    let (Some(first), Some(name)) = (ids[0].or(ids[1]), ids.iter().flatten().last()) else {
        return Ok(paths);
    };
    let mut git = Git::new(
        &repository.top,
        &["--no-optional-locks"],
        &["diff", "--name-only"],
    )
    .options(&[
        "--no-renames",
        "--no-ext-diff",
        "--ignore-submodules=dirty",
        "-z",
    ])
    .words([first]);
    if ids.iter().all(Option::is_some) {
        git = git.words([name]);
    }
    let listed = repository.output(git.paths([""; 0]), name)?;
    paths.extend(of_lines(&listed));
    if ids.iter().any(Option::is_none) {
        paths.extend(repository.untracked()?);
    }
    Ok(paths)
}

/// Splits the output of a git command with `-z` into paths.
pub(crate) fn of_lines(listed: &[u8]) -> impl Iterator<Item = PathBuf> {
    let paths = listed
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty());
    paths.map(|path| PathBuf::from(OsStr::from_bytes(path)))
}

/// Returns the executables whose benchmarks use a file. `[None]` means all executables; an empty
/// list means that the file belongs to the code under test.
fn owners(
    repository: &Repository<'_>,
    sides: [&Side; 2],
    recipe: &Recipe,
    path: &Path,
) -> Vec<Option<String>> {
    let all_if = |is_theirs: bool| if is_theirs { vec![None] } else { Vec::new() };
    match recipe {
        Recipe::Cargo(_) => of_bench_targets(sides, path),
        Recipe::Go(_) => of_go_packages(sides, path),
        Recipe::Cmake(_) => all_if(is_of_benchmarks(path)),
        Recipe::Pytest(build) => {
            all_if(TestSuite::new(&build.tests, &repository.inside).holds(path))
        }
        Recipe::Node(build) => match &build.suite {
            NodeSuite::Vitest => all_if(is_of_benchmarks(path)),
            NodeSuite::Scripts(_) => {
                let names = sides.iter().flat_map(|side| &side.executables);
                let mut names = names.map(|executable| &executable.name);
                let own = names.find(|name| repository.inside.join(name) == path);
                match own {
                    Some(name) => vec![Some(name.clone())],
                    None => all_if(is_of_benchmarks(path)),
                }
            }
        },
        Recipe::Command(build) => {
            let Racing::Executables(executables) = &build.racing else {
                return all_if(is_of_benchmarks(path));
            };
            let mut executables = executables.iter();
            let is_raced = executables.any(|file| repository.inside.join(file) == path);
            all_if(is_raced || is_of_benchmarks(path))
        }
    }
}

/// Returns the cargo bench targets that use a file: those with this file as their source.
/// Otherwise, those whose folder contains the file and whose sources mention it. Otherwise, all
/// whose folder contains it.
fn of_bench_targets(sides: [&Side; 2], path: &Path) -> Vec<Option<String>> {
    let mut targets: Vec<&BenchTarget> = Vec::new();
    for target in sides.iter().flat_map(|side| &side.benches) {
        if !targets.iter().any(|known| known.source == target.source) {
            targets.push(target);
        }
    }
    let named = |some: &[&BenchTarget]| -> Vec<Option<String>> {
        some.iter().map(|one| Some(one.name.clone())).collect()
    };
    let own: Vec<&BenchTarget> = targets
        .iter()
        .copied()
        .filter(|one| one.source == path)
        .collect();
    if !own.is_empty() {
        return named(&own);
    }
    let around: Vec<&BenchTarget> = targets
        .into_iter()
        .filter(|one| folder_of(one).is_some_and(|folder| path.starts_with(folder)))
        .collect();
    let words = words_for(path);
    let is_mentioned = |target: &&BenchTarget| {
        let mut texts = sides.iter().map(|side| side.file(&target.source));
        texts.any(|file| disk::read_text(file).is_ok_and(|text| mentions(&text, &words)))
    };
    let mentioning: Vec<&BenchTarget> = around.iter().copied().filter(is_mentioned).collect();
    named(if mentioning.is_empty() {
        &around
    } else {
        &mentioning
    })
}

/// Returns the text by which Rust source refers to a file: `mod NAME` for a module, the file name
/// for data.
fn words_for(path: &Path) -> String {
    let text = |name: Option<&OsStr>| name.unwrap_or_default().to_string_lossy().into_owned();
    match path.extension() {
        Some(end) if end == "rs" => match text(path.file_stem()) {
            stem if stem == "mod" => {
                format!("mod {}", text(path.parent().and_then(Path::file_name)))
            }
            stem => format!("mod {stem}"),
        },
        _ => text(path.file_name()),
    }
}

/// Returns the package's folder that contains a bench target, such as `benches`; `None` for a
/// target at the top of the package or in `src`.
fn folder_of(target: &BenchTarget) -> Option<PathBuf> {
    let package = target.manifest.parent()?;
    let below = target.source.strip_prefix(package).ok()?;
    let first = below.iter().next().filter(|_| below.iter().count() > 1)?;
    (first != "src").then(|| package.join(first))
}

/// Returns the Go test executables whose package contains `path`, a test file or a file in
/// `testdata`.
fn of_go_packages(sides: [&Side; 2], path: &Path) -> Vec<Option<String>> {
    let mut owners = Vec::new();
    for side in sides {
        for executable in &side.executables {
            let folder = executable.directory.as_deref();
            let Some(folder) = folder.and_then(|one| one.strip_prefix(&side.sources).ok()) else {
                continue;
            };
            let is_test =
                path.parent() == Some(folder) && path.to_string_lossy().ends_with("_test.go");
            let owner = Some(executable.name.clone());
            if (is_test || path.starts_with(folder.join("testdata"))) && !owners.contains(&owner) {
                owners.push(owner);
            }
        }
    }
    owners
}

/// Returns true if `text` contains `word` as a whole word.
pub fn mentions(text: &str, word: &str) -> bool {
    let is_of_word =
        |other: Option<char>| other.is_some_and(|other| other.is_alphanumeric() || other == '_');
    !word.is_empty()
        && text.match_indices(word).any(|(at, found)| {
            !is_of_word(text[..at].chars().next_back())
                && !is_of_word(text[at + found.len()..].chars().next())
        })
}

impl Repository<'_> {
    /// Lists the untracked files of the working tree that git does not ignore, relative to its top.
    fn untracked(&self) -> Result<Vec<PathBuf>, BuildError> {
        let git = self.git(&["ls-files", "--others", "--exclude-standard", "-z"]);
        let listed = self.output(git, "working tree")?;
        Ok(of_lines(&listed).collect())
    }

    /// Lists the files of a side: those of its commit, or the tracked and untracked files of the
    /// working tree. Paths are relative to the top of the repository.
    pub(crate) fn files_of_side(&self, side: &Side) -> Result<Vec<PathBuf>, BuildError> {
        if side.sources != self.top
            && let Some(commit) = &side.commit
        {
            let commit = Commit {
                name: side.name.clone(),
                id: commit.id.clone(),
            };
            return self.files_of(&commit);
        }
        let listed = self.output(self.git(&["ls-files", "-z"]), "working tree")?;
        let mut files: Vec<PathBuf> = of_lines(&listed).collect();
        files.extend(self.untracked()?);
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_seen_from_the_folder_of_the_user() {
        let seen = |folder: &str, path: &str| seen_from(Path::new(folder), Path::new(path));
        assert_eq!(seen("", "a/b.py"), Path::new("a/b.py"));
        assert_eq!(seen("a", "a/b.py"), Path::new("b.py"));
        assert_eq!(seen("a/c", "a/b.py"), Path::new("../b.py"));
    }

    #[test]
    fn a_word_is_mentioned_as_a_whole() {
        assert!(mentions("func BenchmarkSort(b", "BenchmarkSort"));
        assert!(mentions("x.sort", "sort") && mentions("sort", "sort"));
        assert!(!mentions("func BenchmarkSortAll(b", "BenchmarkSort"));
        assert!(!mentions("resort sorted", "sort") && !mentions("anything", ""));
    }
}
