//! Git repositories in temporary folders.
#![allow(dead_code, reason = "every test file uses its own part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use deadheat_build::{
    BuildError, CommandBuild, EqualBuilds, Interruption, Note, Racing, Recipe, Request, Revisions,
    Side, Sides, build, homes_of_builds,
};
use tempfile::TempDir;

/// Makes a program that prints the content of the file `value`, and counts its own runs.
pub const SCRIPT: &str =
    "echo x >> \"$(git rev-parse --path-format=absolute --git-common-dir)/count\"
mkdir -p out
printf '#!/bin/sh\\necho %s\\n' \"$(cat value)\" > out/program
chmod +x out/program";

/// A repository. Dropping it removes the repository, and its builds in the user's cache.
pub struct Repo {
    pub folder: TempDir,
}

impl Drop for Repo {
    fn drop(&mut self) {
        for home in homes_of_builds(self.folder.path()) {
            let _ = fs::remove_dir_all(home);
        }
    }
}

impl Repo {
    /// Creates one with a commit `first`, in which the value is `one`, and a second commit on
    /// `main`, in which it is `two`.
    pub fn new() -> Self {
        let repo = Self::empty();
        repo.write(".gitignore", "out\n");
        repo.write("value", "one\n");
        repo.commit("first");
        repo.git(&["tag", "first"]);
        repo.write("value", "two\n");
        repo.commit("second");
        repo
    }

    pub fn empty() -> Self {
        let repo = Self {
            folder: TempDir::new().unwrap(),
        };
        repo.git(&["init", "--quiet", "--initial-branch", "main"]);
        repo
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Runs git and returns its output.
    #[track_caller]
    pub fn git(&self, args: &[&str]) -> String {
        let done = Command::new("git")
            .args(["-c", "user.name=n", "-c", "user.email=e@x"])
            .args(["-c", "protocol.file.allow=always"])
            .args(args)
            .current_dir(self.folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "git {args:?}: {said}");
        String::from_utf8(done.stdout).unwrap()
    }

    #[track_caller]
    pub fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "-m", message]);
    }

    /// The number of times the script ran.
    pub fn count(&self) -> usize {
        fs::read_to_string(self.path(".git/count")).map_or(0, |text| text.lines().count())
    }

    /// Builds with the script.
    pub fn build(&self, revisions: &str) -> (Result<Sides, BuildError>, Vec<Note>) {
        self.build_by(revisions, SCRIPT, &["out/program"])
    }

    pub fn build_by(
        &self,
        revisions: &str,
        command: &str,
        executables: &[&str],
    ) -> (Result<Sides, BuildError>, Vec<Note>) {
        self.build_at("", revisions, command, executables, &|| false)
    }

    pub fn build_at(
        &self,
        folder: &str,
        revisions: &str,
        command: &str,
        executables: &[&str],
        stop: &dyn Fn() -> bool,
    ) -> (Result<Sides, BuildError>, Vec<Note>) {
        let recipe = Recipe::Command(CommandBuild {
            command: command.to_owned(),
            racing: Racing::Executables(executables.iter().map(PathBuf::from).collect()),
            variables: Vec::new(),
        });
        let request = Request {
            directory: &self.path(folder),
            revisions: &Revisions::parse(revisions).unwrap(),
            recipes: [&recipe; 2],
            benches: None,
            equal: EqualBuilds::default(),
        };
        let mut notes = Vec::new();
        let sides = build(&request, Interruption(stop), &mut |note| notes.push(note));
        (sides, notes)
    }

    /// The existing folders of builds.
    pub fn builds(&self) -> Vec<PathBuf> {
        let homes = homes_of_builds(self.folder.path());
        let entries = homes.iter().filter_map(|home| fs::read_dir(home).ok());
        let paths = entries.flatten().map(|entry| entry.unwrap().path());
        paths.filter(|path| path.is_dir()).collect()
    }

    /// The folder in the user's cache with the builds of this repository.
    pub fn cache(&self) -> PathBuf {
        homes_of_builds(self.folder.path()).pop().unwrap()
    }

    /// The number of worktrees that git knows.
    pub fn worktrees(&self) -> usize {
        self.git(&["worktree", "list"]).lines().count()
    }

    /// Asserts that no build left anything behind.
    #[track_caller]
    pub fn is_clean(&self) {
        assert_eq!(self.worktrees(), 1, "{}", self.git(&["worktree", "list"]));
        assert_eq!(self.builds(), [""; 0].map(PathBuf::from));
        assert!(!self.path(".git/worktrees").exists());
    }
}

/// The output of the only executable of a side.
#[track_caller]
pub fn says(side: &Side) -> String {
    assert_eq!(side.executables.len(), 1, "{side:?}");
    run(&side.executables[0].path)
}

#[track_caller]
pub fn run(program: &Path) -> String {
    let done = Command::new(program).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}
