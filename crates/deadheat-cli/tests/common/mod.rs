//! Running the real program in a folder of its own.
#![allow(dead_code, reason = "every test file uses its own part")]

pub mod compiled;
pub mod worker;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// A folder to race in, gone when dropped.
pub struct Track {
    pub folder: TempDir,
}

impl Track {
    pub fn new() -> Self {
        Self {
            folder: TempDir::new().unwrap(),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The program, ready to be given arguments.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_deadheat"));
        command
            .current_dir(self.folder.path())
            .env("LC_ALL", "C.UTF-8")
            // The machine of whoever runs this may be calibrated.
            .env("DEADHEAT_CALIBRATION", "")
            // Nothing is added to the files of the user who runs this.
            .env(
                "XDG_STATE_HOME",
                concat!(env!("CARGO_TARGET_TMPDIR"), "/state"),
            )
            .env(
                "XDG_CACHE_HOME",
                concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"),
            )
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR_FORCE");
        command
    }

    /// Runs it to its end.
    pub fn run(&self, args: &[&str]) -> Finished {
        Finished::from(self.command().args(args).output().unwrap())
    }

    /// Runs it to its end, with a folder of its own for temporary files, in which nothing is left.
    #[track_caller]
    pub fn leaves_nothing(&self, command: &mut Command) -> Finished {
        let temporary = self.path("temporary");
        std::fs::create_dir_all(&temporary).unwrap();
        let done = Finished::from(command.env("TMPDIR", &temporary).output().unwrap());
        assert_eq!(temporary.read_dir().unwrap().count(), 0, "{done:?}");
        done
    }

    /// Runs a tool in the folder to its end.
    #[track_caller]
    pub fn tool(&self, program: &str, args: &[&str]) -> String {
        let done = Command::new(program)
            .args(args)
            .current_dir(self.folder.path())
            .output()
            .unwrap_or_else(|error| panic!("{program}: {error}"));
        Finished::from(done).succeeds().stdout.clone()
    }

    /// Runs git in the folder, as a user with a name.
    #[track_caller]
    pub fn git(&self, words: &[&str]) -> String {
        let named = ["-c", "user.name=Ada", "-c", "user.email=a@x"];
        self.tool("git", &[&named[..], words].concat())
    }

    /// Writes a file below the folder.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Commits all files.
    #[track_caller]
    pub fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
    }

    /// Makes the folder a repository with commits `1` to `count`, each of which changes `file`.
    #[track_caller]
    pub fn commits(&self, count: u32) {
        self.git(&["init", "--quiet"]);
        for number in 1..=count {
            let number = number.to_string();
            std::fs::write(self.path("file"), &number).unwrap();
            self.git(&["add", "file"]);
            self.git(&["commit", "--quiet", "-m", &number]);
        }
    }

    /// Starts it and lets it go on.
    pub fn start(&self, args: &[&str]) -> Child {
        self.command()
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// The run files recorded without `--save`.
    pub fn recorded(&self) -> Vec<PathBuf> {
        let Ok(list) = std::fs::read_dir(self.path(".deadheat/runs")) else {
            return Vec::new();
        };
        list.map(|entry| entry.unwrap().path()).collect()
    }
}

/// The suite of `examples/suite.rs`.
pub fn suite() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).unwrap();
    let example = profile.join("examples/suite");
    assert!(
        example.exists(),
        "there is no {}; cargo test --test builds no examples, cargo test does",
        example.display()
    );
    example
}

/// The exit code and the output of a run of the program.
#[derive(Debug)]
pub struct Finished {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Finished {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Finished {
    /// Asserts the exit code and that standard error holds all of these.
    #[track_caller]
    pub fn fails_with(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        for word in words {
            assert!(
                self.stderr.contains(word),
                "'{word}' is missing: {}",
                self.stderr
            );
        }
    }

    #[track_caller]
    pub fn succeeds(&self) -> &Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Standard output without line breaks, which depend on lengths.
pub fn said(done: &Finished) -> String {
    done.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Asserts the exit code and that standard output holds all of these.
#[track_caller]
pub fn says(done: &Finished, code: i32, words: &[&str]) {
    assert_eq!(done.code, Some(code), "{done:?}");
    let said = said(done);
    for word in words {
        assert!(said.contains(word), "'{word}' is missing: {said}");
    }
}

/// Waits until something is true, at most 20 seconds.
#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(20), "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Returns true if a process lives (a zombie does not).
pub fn lives(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()))
        .is_ok_and(|stat| !stat.contains(") Z "))
}

pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
