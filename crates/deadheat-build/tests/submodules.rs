//! Submodules of commits, from the user's local copies.

mod common;

use std::fs;
use std::path::PathBuf;

use common::{Repo, says};
use deadheat_build::{Fault, Note};
use deadheat_testing::needs;

/// Prints the value of the submodule, and of one inside it.
const SCRIPT: &str = "mkdir -p out
printf '#!/bin/sh\\necho %s\\n' \"$(cat */value | tr '\\n' ' ')$(cat */inner/value 2>&1 | tail -1)\" > out/program
chmod +x out/program";

/// A library inside a library inside a repository. In the commit `first`, the library is in its
/// first state and at another path.
struct Nested {
    repo: Repo,
    _others: [Repo; 2],
}

fn nested() -> Nested {
    let inner = Repo::empty();
    inner.write("value", "inner\n");
    inner.commit("inner");
    let library = Repo::empty();
    library.write("value", "old\n");
    let source = inner.path("").display().to_string();
    library.git(&["submodule", "--quiet", "add", &source, "inner"]);
    library.commit("old");
    let repo = Repo::empty();
    repo.write(".gitignore", "out\n");
    let source = library.path("").display().to_string();
    repo.git(&[
        "submodule",
        "--quiet",
        "add",
        "--name",
        "library",
        &source,
        "before",
    ]);
    repo.git(&["submodule", "--quiet", "update", "--init", "--recursive"]);
    repo.commit("first");
    repo.git(&["tag", "first"]);
    repo.git(&["mv", "before", "after"]);
    library.write("value", "new\n");
    library.commit("new");
    repo.git(&["-C", "after", "pull", "--quiet"]);
    repo.commit("second");
    Nested {
        repo,
        _others: [inner, library],
    }
}

/// Clones a repository, without its submodules.
fn clone_of(repo: &Repo) -> Repo {
    let clone = Repo {
        folder: tempfile::tempdir().unwrap(),
    };
    let source = repo.path("").display().to_string();
    clone.git(&["clone", "--quiet", &source, "."]);
    clone
}

#[test]
fn fills_submodules_of_the_commit_without_network() {
    needs!("git");
    let nested = nested();
    let repo = nested.repo;
    // Removes the repositories that the submodules were cloned from.
    drop(nested._others);
    let config = fs::read_to_string(repo.path(".git/config")).unwrap();
    let (sides, notes) = repo.build_by("first", SCRIPT, &["out/program"]);
    let sides = sides.unwrap();
    assert_eq!(says(&sides.baseline), "old inner");
    assert_eq!(says(&sides.candidate), "new inner");
    assert!(matches!(&notes[..], [Note::Building { .. }]), "{notes:?}");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    assert_eq!(
        fs::read_to_string(repo.path(".git/config")).unwrap(),
        config
    );
    assert_eq!(repo.worktrees(), 1);
    let entries = fs::read_dir(&repo.builds()[0]).unwrap().flatten();
    let mut left: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    left.sort();
    assert_eq!(left, ["index.json", "tree"]);
    let tree = repo.builds()[0].join("tree");
    assert!(tree.join("before/.git").exists() && tree.join("before/inner/.git").exists());
}

#[test]
fn notes_uncommitted_changes_inside_a_submodule() {
    needs!("git");
    let Nested { repo, _others } = nested();
    repo.write("after/value", "dirty\n");
    let (sides, notes) = repo.build_by("HEAD", SCRIPT, &["out/program"]);
    let sides = sides.unwrap();
    assert_eq!(says(&sides.baseline), "new inner");
    assert_eq!(says(&sides.candidate), "dirty inner");
    let dirty = |raced| Note::DirtySubmodules {
        paths: vec![PathBuf::from("after")],
        raced,
    };
    assert_eq!(notes[0], dirty(true));
    assert!(
        notes[0]
            .to_string()
            .contains("although no commit contains them")
    );
    let (_, notes) = repo.build_by("first..HEAD", SCRIPT, &["out/program"]);
    assert_eq!(notes[0], dirty(false));
    assert!(notes[0].to_string().contains("not raced"));
}

#[test]
fn leaves_out_uninitialised_submodules_with_a_note_every_time() {
    needs!("git");
    let Nested { repo, _others } = nested();
    let clone = clone_of(&repo);
    for name in ["first", "HEAD~1"] {
        let revisions = format!("{name}..{name}");
        let script = "mkdir -p out; cp /bin/true out/program";
        let (sides, notes) = clone.build_by(&revisions, script, &["out/program"]);
        sides.unwrap();
        let left_out = Note::SubmoduleLeftOut {
            revision: name.to_owned(),
            path: PathBuf::from("before"),
        };
        assert!(notes.contains(&left_out), "{notes:?}");
    }
}

#[test]
fn builds_again_once_a_submodule_is_initialised() {
    needs!("git");
    let Nested { repo, _others } = nested();
    let clone = clone_of(&repo);
    let was_kept = || {
        let (sides, notes) = clone.build_by("HEAD..HEAD", SCRIPT, &["out/program"]);
        let left_out = notes
            .iter()
            .any(|note| matches!(note, Note::SubmoduleLeftOut { .. }));
        let sides = sides.unwrap();
        (sides.baseline.was_kept, says(&sides.candidate), left_out)
    };
    let (_, told, left_out) = was_kept();
    assert!(!told.contains("new") && left_out, "{told}");
    assert_eq!(was_kept(), (true, told, true));
    let update = ["submodule", "--quiet", "update", "--init", "--recursive"];
    clone.git(&update);
    assert_eq!(was_kept(), (false, "new inner".to_owned(), false));
    assert_eq!(was_kept(), (true, "new inner".to_owned(), false));
}

#[test]
fn names_a_missing_submodule_commit_with_advice() {
    needs!("git");
    let Nested { repo, _others } = nested();
    let [_, library] = &_others;
    library.write("value", "newer\n");
    library.commit("newer");
    let newer = library.git(&["rev-parse", "HEAD"]);
    let entry = format!("160000,{},after", newer.trim());
    repo.git(&["update-index", "--cacheinfo", &entry]);
    repo.git(&["commit", "--quiet", "-m", "third"]);
    let (sides, _) = repo.build_by("HEAD..first", SCRIPT, &["out/program"]);
    let error = sides.unwrap_err();
    assert_eq!(error.fault(), Fault::Request);
    let said = error.to_string();
    assert!(said.contains(newer.trim()), "{said}");
    assert!(said.contains("run `git fetch` in the submodule"), "{said}");
    repo.is_clean_of_builds();
}

impl Repo {
    #[track_caller]
    fn is_clean_of_builds(&self) {
        assert_eq!(self.worktrees(), 1);
        assert!(self.builds().is_empty());
    }
}
