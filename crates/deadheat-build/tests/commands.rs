//! Commits and working trees built by a command, in real repositories.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::thread;

use common::{Repo, SCRIPT, run, says};
use deadheat_build::{BuildError, Fault, Note, homes_of_builds};
use deadheat_testing::needs;

#[test]
fn builds_a_commit_in_its_own_folder_and_the_working_tree_in_place() {
    needs!("git");
    let repo = Repo::new();
    repo.write("value", "three\n");
    repo.write("new", "not known to git\n");
    let status = repo.git(&["status", "--porcelain"]);
    let (sides, notes) = repo.build("HEAD~1");
    let sides = sides.unwrap();
    assert_eq!(says(&sides.baseline), "one");
    assert_eq!(says(&sides.candidate), "three");
    assert_eq!(sides.baseline.name, "HEAD~1");
    assert_eq!(sides.candidate.name, "working tree");
    assert_eq!(sides.baseline.executables[0].name, "program");
    assert_eq!(
        sides.candidate.executables[0].path,
        repo.path("out/program")
    );
    assert!(matches!(&notes[..], [Note::Building { revision, .. }] if revision == "HEAD~1"));
    assert_eq!(repo.git(&["status", "--porcelain"]), status);
    assert_eq!(fs::read(repo.path("value")).unwrap(), b"three\n");
    assert_eq!(repo.worktrees(), 1);
    assert!(!repo.path(".deadheat").exists());
    let built = &sides.baseline.executables[0].path;
    assert!(built.starts_with(repo.cache()), "{}", built.display());
}

#[test]
fn finds_a_build_again_under_any_name_of_its_commit() {
    needs!("git");
    let repo = Repo::new();
    let (first, _) = repo.build("first..main");
    let first = first.unwrap();
    assert_eq!(
        (says(&first.baseline), says(&first.candidate)),
        ("one".into(), "two".into())
    );
    assert_eq!(repo.count(), 2);
    drop(first);
    let (again, notes) = repo.build("HEAD~1..HEAD");
    let again = again.unwrap();
    assert!(again.baseline.was_kept && again.candidate.was_kept);
    assert_eq!(
        (says(&again.baseline), says(&again.candidate)),
        ("one".into(), "two".into())
    );
    assert_eq!(repo.count(), 2, "nothing was built");
    assert!(notes.is_empty(), "{notes:?}");
    // The same commit on both sides.
    let (twins, _) = repo.build("first..first");
    assert_eq!(says(&twins.unwrap().candidate), "one");
    // Another command is another build.
    let (other, _) = repo.build_by("first..main", &format!("{SCRIPT}\n:"), &["out/program"]);
    assert!(!other.unwrap().baseline.was_kept);
    assert_eq!(repo.count(), 4);
}

#[test]
fn rejects_a_name_of_both_a_tag_and_a_branch() {
    needs!("git");
    let repo = Repo::new();
    repo.git(&["tag", "same", "HEAD~1"]);
    repo.git(&["branch", "same"]);
    repo.git(&["config", "core.warnAmbiguousRefs", "false"]);
    for name in ["same", "same~0"] {
        let (refused, _) = repo.build(name);
        let told = refused.unwrap_err().to_string();
        assert!(
            told.contains("is ambiguous") && told.contains("refs/tags/same"),
            "{told}"
        );
    }
    let (sides, _) = repo.build("refs/tags/same..refs/heads/same");
    let sides = sides.unwrap();
    let said = [says(&sides.baseline), says(&sides.candidate)];
    assert_eq!(said, ["one", "two"]);
}

#[test]
fn a_changed_filter_of_git_builds_again() {
    needs!("git");
    let repo = Repo::new();
    repo.write(".gitattributes", "value filter=shout\n");
    repo.commit("filtered");
    let says_now = || {
        let (sides, _) = repo.build("HEAD..HEAD");
        says(&sides.unwrap().candidate)
    };
    let before = says_now();
    repo.git(&["config", "filter.shout.smudge", "tr a-z A-Z"]);
    assert_eq!(says_now(), before.to_uppercase());
    repo.write(".git/info/attributes", "value -filter\n");
    assert_eq!(says_now(), before);
}

#[test]
fn changed_attributes_of_the_user_build_again() {
    needs!("git");
    let repo = Repo::new();
    let says_now = || {
        let (sides, _) = repo.build("HEAD..HEAD");
        says(&sides.unwrap().candidate)
    };
    repo.git(&["config", "filter.shout.smudge", "tr a-z A-Z"]);
    let file = repo.path("attributes of the user");
    repo.git(&["config", "core.attributesFile", file.to_str().unwrap()]);
    let before = says_now();
    fs::write(&file, "value filter=shout\n").unwrap();
    assert_eq!(says_now(), before.to_uppercase());
    fs::write(&file, "").unwrap();
    assert_eq!(says_now(), before);
}

#[test]
fn an_executable_that_is_gone_is_built_again() {
    needs!("git");
    let repo = Repo::new();
    let (sides, _) = repo.build("first");
    fs::remove_file(&sides.unwrap().baseline.executables[0].path).unwrap();
    let (sides, _) = repo.build("first");
    let sides = sides.unwrap();
    assert!(!sides.baseline.was_kept);
    assert_eq!(says(&sides.baseline), "one");
}

#[test]
fn a_build_that_fails_names_its_side_and_leaves_nothing() {
    needs!("git");
    let repo = Repo::new();
    let fails = format!("{SCRIPT}\ngrep -q two value");
    let (sides, _) = repo.build_by("first", &fails, &["out/program"]);
    let error = sides.unwrap_err();
    assert_eq!(error.fault(), Fault::Side);
    let said = error.to_string();
    assert!(said.starts_with("first does not build"), "{said}");
    assert!(said.contains("exit status: 1"), "{said}");
    repo.is_clean();
    let (sides, _) = repo.build_by(
        "first",
        "mkdir -p out; grep -q two value && exit 1; :",
        &["out/x"],
    );
    let said = sides.unwrap_err().to_string();
    assert!(said.starts_with("working tree does not build"), "{said}");
    repo.is_clean();
}

#[test]
fn rejects_a_build_without_its_executable() {
    needs!("git");
    let repo = Repo::new();
    for (command, exe, words) in [
        ("true", "out/program", "does not exist"),
        ("mkdir -p out/program", "out/program", "is not a file"),
        ("true", "value", "is not executable"),
    ] {
        let (sides, _) = repo.build_by("first..main", command, &[exe]);
        let error = sides.unwrap_err();
        assert_eq!(error.fault(), Fault::Side);
        let said = error.to_string();
        assert!(
            said.starts_with("first: ") && said.contains(words),
            "{said}"
        );
        repo.is_clean();
    }
}

#[test]
fn rejects_senseless_requests_before_building() {
    needs!("git");
    let repo = Repo::new();
    let fault = |revisions: &str, exe: &[&str], words: &[&str]| {
        let (sides, _) = repo.build_by(revisions, SCRIPT, exe);
        let error = sides.unwrap_err();
        assert_eq!(error.fault(), Fault::Request, "{error}");
        for word in words {
            assert!(error.to_string().contains(word), "'{word}': {error}");
        }
    };
    let exe = &["out/program"][..];
    fault("nowhere", exe, &["'nowhere'", "git log"]);
    fault("first..nowhere", exe, &["'nowhere'"]);
    fault("first:value", exe, &["'first:value'"]);
    fault("first", &["../program"], &["--exe ../program"]);
    fault("first", &["/bin/true"], &["--exe /bin/true"]);
    fault("first", &[], &["--exe"]);
    assert_eq!(repo.count(), 0);
    repo.is_clean();
}

#[test]
fn rejects_revisions_outside_of_a_repository() {
    needs!("git");
    let folder = tempfile::tempdir().unwrap();
    let repo = Repo { folder };
    let (sides, _) = repo.build("main");
    let error = sides.unwrap_err();
    assert_eq!(error.fault(), Fault::Request);
    assert!(error.to_string().contains("git working tree"), "{error}");
}

#[test]
fn builds_in_a_subfolder_of_the_repository() {
    needs!("git");
    let repo = Repo::new();
    repo.write("deep/er/value", "deep\n");
    repo.commit("a folder");
    let exes = ["out/program", "../../out/program"];
    let script = format!("{SCRIPT}\n(cd ../..; {SCRIPT})");
    let (sides, _) = repo.build_at("deep/er", "HEAD..HEAD", &script, &exes, &|| false);
    let baseline = sides.unwrap().baseline;
    assert_eq!(run(&baseline.executables[0].path), "deep");
    assert_eq!(run(&baseline.executables[1].path), "two");
    assert_eq!(baseline.executables[1].name, "../../out/program");
    let (sides, _) = repo.build_at("deep/er", "first", &script, &exes, &|| false);
    let error = sides.unwrap_err();
    assert_eq!(error.fault(), Fault::Request);
    assert!(
        error.to_string().contains("first has no folder `deep/er`"),
        "{error}"
    );
    assert_eq!(repo.worktrees(), 1);
    assert_eq!(repo.builds().len(), 1, "that of HEAD");
}

#[test]
fn parallel_requests_build_the_same_commit_once() {
    needs!("git");
    let repo = Repo::new();
    let slow = format!("sleep 0.3\n{SCRIPT}");
    let together = Barrier::new(2);
    let waited = thread::scope(|scope| {
        let build = || {
            together.wait();
            let (sides, notes) = repo.build_by("first..first", &slow, &["out/program"]);
            assert_eq!(says(&sides.unwrap().baseline), "one");
            notes.contains(&Note::Waiting {
                revision: "first".to_owned(),
            })
        };
        let both = [scope.spawn(build), scope.spawn(build)];
        both.map(|one| one.join().unwrap())
    });
    assert_eq!(repo.count(), 1);
    assert_eq!(waited.iter().filter(|waited| **waited).count(), 1);
    assert_eq!(repo.worktrees(), 1);
}

#[test]
fn parallel_builds_of_different_commits_do_not_interfere() {
    needs!("git");
    let repo = Repo::new();
    let slow = format!("sleep 0.2\n{SCRIPT}");
    thread::scope(|scope| {
        for (revision, value) in [("first", "one"), ("main", "two"), ("first", "one")] {
            let (repo, slow) = (&repo, &slow);
            scope.spawn(move || {
                let revisions = format!("{revision}..{revision}");
                let (sides, _) = repo.build_by(&revisions, slow, &["out/program"]);
                assert_eq!(says(&sides.unwrap().candidate), value);
            });
        }
    });
    assert_eq!(repo.count(), 2);
    assert_eq!(repo.worktrees(), 1);
}

#[test]
fn an_interrupted_build_leaves_nothing() {
    needs!("git");
    let repo = Repo::new();
    let started = repo.path(".git/started");
    let slow = format!("touch {}; sleep 100", started.display());
    let stop = || started.exists();
    let (sides, _) = repo.build_at("", "first..main", &slow, &["out/program"], &stop);
    let error = sides.unwrap_err();
    assert!(matches!(error, BuildError::Interrupted), "{error}");
    assert_eq!(error.fault(), Fault::Interruption);
    repo.is_clean();
}

#[test]
fn the_next_run_removes_leftovers_of_a_killed_one() {
    needs!("git");
    let repo = Repo::new();
    repo.build("main..main").0.unwrap();
    let home = repo.cache();
    let left = |key: &str| home.join(key).join("tree");
    // An unfinished build, a worktree whose creation was interrupted, and one without files.
    for key in ["a-building", "b-initializing", "c-vanished"] {
        fs::create_dir(home.join(key)).unwrap();
        let path = left(key).display().to_string();
        repo.git(&["worktree", "add", "--quiet", "--detach", &path, "first"]);
    }
    let path = left("b-initializing").display().to_string();
    repo.git(&["worktree", "lock", "--reason", "initializing", &path]);
    fs::remove_dir_all(home.join("c-vanished")).unwrap();
    assert_eq!(repo.worktrees(), 4);
    let (sides, _) = repo.build("main..main");
    assert!(sides.unwrap().baseline.was_kept, "what is finished stays");
    assert_eq!(repo.worktrees(), 1);
    assert_eq!(repo.builds().len(), 1);
    assert!(!repo.path(".git/worktrees").exists());
}

#[test]
fn keeps_worktrees_of_the_user_even_if_their_folders_are_missing() {
    needs!("git");
    let repo = Repo::new();
    let away = tempfile::tempdir().unwrap();
    let path = away.path().join("own").display().to_string();
    repo.git(&["worktree", "add", "--quiet", &path, "-b", "topic", "first"]);
    fs::remove_dir_all(&path).unwrap();
    repo.build("first..main").0.unwrap();
    assert_eq!(repo.worktrees(), 2);
}

#[test]
fn a_linked_worktree_is_a_working_tree_like_any_other() {
    needs!("git");
    let repo = Repo::new();
    let away = tempfile::tempdir().unwrap();
    let path = away.path().join("own").display().to_string();
    repo.git(&["worktree", "add", "--quiet", &path, "-b", "topic", "first"]);
    fs::write(Path::new(&path).join("value"), "own\n").unwrap();
    let (sides, _) = repo.build_at(&path, "main", SCRIPT, &["out/program"], &|| false);
    let sides = sides.unwrap();
    assert_eq!(
        (says(&sides.baseline), says(&sides.candidate)),
        ("two".into(), "own".into())
    );
    let homes = homes_of_builds(Path::new(&path));
    let built = &sides.baseline.executables[0].path;
    assert!(homes.iter().any(|home| built.starts_with(home)));
    assert!(!built.starts_with(repo.cache()));
    fs::remove_dir_all(homes.last().unwrap()).unwrap();
    assert_eq!(repo.worktrees(), 2);
}

#[test]
fn runs_no_hooks_in_the_tree_of_a_build() {
    needs!("git");
    let repo = Repo::new();
    repo.write(
        ".git/hooks/post-checkout",
        "#!/bin/sh\ntouch \"$(git rev-parse --git-common-dir)/hooked\"\n",
    );
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(repo.path(".git/hooks/post-checkout"), mode).unwrap();
    repo.build("first..main").0.unwrap();
    assert!(!repo.path(".git/hooked").exists());
}

#[test]
fn a_build_without_a_written_index_is_unfinished() {
    needs!("git");
    let repo = Repo::new();
    // A folder at the path of the index prevents writing it.
    let blocks = format!("{SCRIPT}\nmkdir -p ../index.json/x");
    let (sides, _) = repo.build_by("first..main", &blocks, &["out/program"]);
    let error = sides.unwrap_err();
    assert_eq!(error.fault(), Fault::Internal);
    let home = repo.cache().display().to_string();
    assert!(error.to_string().contains(&home), "{error}");
    repo.is_clean();
}

#[test]
fn keeps_the_sources_of_a_build_without_git() {
    needs!("git");
    let repo = Repo::new();
    let (sides, _) = repo.build("first..main");
    let exe = sides.unwrap().baseline.executables[0].path.clone();
    let tree: PathBuf = exe.ancestors().nth(2).unwrap().to_owned();
    assert_eq!(fs::read(tree.join("value")).unwrap(), b"one\n");
    assert!(!tree.join(".git").exists());
}
