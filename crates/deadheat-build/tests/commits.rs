//! Commits of a range, built one at a time.

mod common;

use std::path::PathBuf;

use common::{Repo, SCRIPT, says};
use deadheat_build::{
    BuildError, CommandBuild, CommitBuilder, CommitRange, Fault, Interruption, Parents, Racing,
    Recipe, Side,
};
use deadheat_testing::needs;

fn recipe() -> Recipe {
    Recipe::Command(CommandBuild {
        command: format!("test ! -e broken || exit 3\n{SCRIPT}"),
        racing: Racing::Executables(vec![PathBuf::from("out/program")]),
        variables: Vec::new(),
    })
}

fn with_builder<T>(repo: &Repo, work: impl FnOnce(&mut CommitBuilder<'_>) -> T) -> T {
    let recipe = recipe();
    let mut commit_builder =
        CommitBuilder::open(&repo.path(""), &recipe, Interruption(&|| false)).unwrap();
    work(&mut commit_builder)
}

fn range(
    repo: &Repo,
    (good, bad): (&str, &str),
    parents: Parents,
) -> Result<CommitRange, BuildError> {
    with_builder(repo, |commit_builder| {
        commit_builder.range(good, bad, parents)
    })
}

fn subjects(range: &CommitRange) -> Vec<&str> {
    let commits = std::iter::once(&range.good).chain(&range.commits);
    commits.map(|commit| commit.subject.as_str()).collect()
}

/// Five commits, the fourth of which merges a branch of two.
fn merged() -> Repo {
    let repo = Repo::new();
    repo.git(&["checkout", "--quiet", "-b", "topic"]);
    repo.write("other", "1\n");
    repo.commit("topic 1");
    repo.write("other", "2\n");
    repo.commit("topic 2");
    repo.git(&["checkout", "--quiet", "main"]);
    repo.write("value", "three\n");
    repo.commit("third");
    repo.git(&["merge", "--quiet", "--no-ff", "-m", "merge", "topic"]);
    repo.write("value", "five\n");
    repo.commit("fifth");
    repo
}

#[test]
fn each_commit_of_a_range_is_built_once_and_found_again() {
    needs!("git");
    let repo = merged();
    let found = range(&repo, ("first", "main"), Parents::First).unwrap();
    assert_eq!(
        subjects(&found),
        ["first", "second", "third", "merge", "fifth"]
    );
    let build = |commit_builder: &mut CommitBuilder<'_>| -> Vec<Side> {
        let built = found
            .commits
            .iter()
            .map(|commit| commit_builder.build(commit, &mut |_| {}));
        built.collect::<Result<_, _>>().unwrap()
    };
    let sides = with_builder(&repo, build);
    let said: Vec<String> = sides.iter().map(says).collect();
    assert_eq!(said, ["two", "three", "three", "five"]);
    assert_eq!(sides[0].commit.as_ref(), Some(&found.commits[0]));
    assert!(sides[0].directory.join("value").is_file());
    assert_eq!(repo.count(), 4);
    let again = with_builder(&repo, build);
    assert!(again.iter().all(|side| side.was_kept));
    assert_eq!((repo.count(), repo.worktrees()), (4, 1));
}

#[test]
fn with_all_parents_a_range_lists_merged_commits_before_the_merge() {
    needs!("git");
    let repo = merged();
    let all = range(&repo, ("first", "main"), Parents::All).unwrap();
    let subjects = subjects(&all);
    assert_eq!(subjects.len(), 7);
    let place = |subject| subjects.iter().position(|one| *one == subject).unwrap();
    assert!(place("topic 1") < place("topic 2") && place("topic 2") < place("merge"));
    let refused = range(&repo, ("topic", "main"), Parents::First).unwrap_err();
    let left = repo.git(&["rev-parse", "--short=8", "main~3"]);
    assert_eq!(refused.fault(), Fault::Request);
    assert!(refused.to_string().contains(left.trim()), "{refused}");
}

#[test]
fn a_commit_that_does_not_build_does_not_affect_others() {
    needs!("git");
    let repo = Repo::new();
    repo.write("broken", "");
    repo.commit("broken");
    repo.git(&["rm", "--quiet", "broken"]);
    repo.git(&["commit", "--quiet", "-m", "mended"]);
    let commits = range(&repo, ("first", "main"), Parents::First)
        .unwrap()
        .commits;
    with_builder(&repo, |commit_builder| {
        let broken = commit_builder.build(&commits[1], &mut |_| {}).unwrap_err();
        assert!(broken.is_of_one_commit(), "{broken}");
        assert_eq!(
            says(&commit_builder.build(&commits[2], &mut |_| {}).unwrap()),
            "two"
        );
    });
}

#[test]
fn rejects_ranges_without_an_ancestor_or_in_a_shallow_clone_with_advice() {
    needs!("git");
    let repo = merged();
    let message = |repo: &Repo, good: &str, bad: &str| {
        let refused = range(repo, (good, bad), Parents::First).unwrap_err();
        assert_eq!(refused.fault(), Fault::Request);
        refused.to_string()
    };
    assert!(message(&repo, "main", "first").contains("write 'first..main'"));
    let clone = Repo::empty();
    let from = format!("file://{}", repo.path("").display());
    clone.git(&["fetch", "--quiet", "--depth", "2", &from, "main:there"]);
    clone.git(&["fetch", "--quiet", "--depth", "1", &from, "first:start"]);
    clone.git(&["checkout", "--quiet", "there"]);
    assert!(message(&clone, "start", "there").contains("git fetch --unshallow"));
}

#[test]
fn clean_head_requires_a_working_tree_without_changes() {
    needs!("git");
    let repo = Repo::new();
    let (sides, _) = repo.build("first");
    let sides = sides.unwrap();
    let head = repo.git(&["rev-parse", "HEAD"]);
    let of = |side: &Side| side.commit.as_ref().map(|commit| commit.id.clone());
    assert_eq!(of(&sides.candidate).as_deref(), Some(head.trim()));
    assert_ne!(of(&sides.baseline), of(&sides.candidate));
    repo.write("value", "three\n");
    let (sides, _) = repo.build("first");
    assert_eq!(of(&sides.unwrap().candidate), None);
    repo.git(&["checkout", "--quiet", "value"]);
    repo.write("new", "");
    let (sides, _) = repo.build("first");
    assert_eq!(of(&sides.unwrap().candidate), None);
}
