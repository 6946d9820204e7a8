//! Races of two builds in a temporary folder, as a process of `examples/builds.rs`, with
//! `misbehaving_worker.py` and other programs. Every race must leave nothing behind.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::fmt;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use deadheat::parts::format::read_run;
use deadheat::parts::model::Run;
use deadheat_testing::kill;

/// A time limit that no test reaches unless a process hangs.
pub const FAR_TOO_LONG: Duration = Duration::from_secs(120);
/// The environment variable that marks all processes of a track, including grandchildren.
pub const MARK: &str = "PAIRS_TRACK";
/// Options for short races, in which the starts of Python take most of the time.
pub const SHORT: [&str; 6] = [
    "--max-replicates",
    "2",
    "--blocks",
    "6",
    "--save",
    "run.jsonl",
];

/// A folder to race in, with another for temporary files.
pub struct Track {
    folder: tempfile::TempDir,
}

pub struct Finished {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub run: Option<Run>,
}

impl Track {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("tmp")).unwrap();
        Self { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn prepared(&self, mut command: Command) -> Command {
        command
            .current_dir(self.folder.path())
            .env(MARK, self.folder.path())
            .env("DEADHEAT_CALIBRATION", "")
            .env("TMPDIR", self.path("tmp"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(example("builds"));
        command.args(words);
        self.prepared(command)
    }

    pub fn run(&self, words: &[&str]) -> Finished {
        self.finish(self.command(words).spawn().unwrap())
    }

    /// Races a pair whose builds have these faults, and a pair without faults.
    pub fn race(&self, options: &[&str], old: &[&str], new: &[&str]) -> Finished {
        self.run(&beside_a_good_pair(options, old, new))
    }

    pub fn inspect(&self, seconds: &str, program: &[&str]) -> Finished {
        self.run(&[&["inspect", seconds], program].concat())
    }

    /// Waits for the process, and checks that no process and no temporary file is left.
    pub fn finish(&self, mut child: Child) -> Finished {
        let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let stdout = thread::spawn(move || read(stdout));
        let stderr = thread::spawn(move || read(stderr));
        let ended = wait_until(|| child.try_wait().unwrap());
        let Some(status) = ended else {
            child.kill().unwrap();
            panic!("it hangs: {:?}", stderr.join().unwrap());
        };
        let left = self.processes();
        assert!(left.is_empty(), "left behind: {left:?}");
        let files: Vec<_> = fs::read_dir(self.path("tmp")).unwrap().collect();
        assert!(files.is_empty(), "left behind: {files:?}");
        Finished {
            code: status.code(),
            stdout: stdout.join().unwrap(),
            stderr: stderr.join().unwrap(),
            run: read_run(self.path("run.jsonl")).ok(),
        }
    }

    /// Returns the command lines of all running processes of this track.
    pub fn processes(&self) -> Vec<String> {
        let mark = format!("{MARK}={}", self.folder.path().display());
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            // A process that has ended in the meantime has no environment.
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            let mut variables = environment.split(|byte| *byte == 0);
            if variables.any(|variable| variable == mark.as_bytes()) {
                let words = fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
                found.push(format!("{:?}: {words:?}", entry.file_name()));
            }
        }
        found
    }
}

/// Formats the output without the run, which is long.
impl fmt::Debug for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "exit code {:?}\n{}{}",
            self.code, self.stdout, self.stderr
        )
    }
}

impl Finished {
    #[track_caller]
    pub fn ends_with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }

    #[track_caller]
    pub fn tells(self, sentence: &str) -> Self {
        let told = words(&self.stdout) + &words(&self.stderr);
        assert!(told.contains(sentence), "{sentence:?} in {self:?}");
        self
    }

    /// Asserts that the bad pair failed with this sentence, and that the good pair has all its
    /// samples.
    #[track_caller]
    pub fn fails_alone(self, sentence: &str) -> Self {
        let run = self.run.as_ref().unwrap_or_else(|| panic!("{self:?}"));
        let [failure] = &run.failures[..] else {
            panic!("{self:?}");
        };
        assert_eq!(failure.benchmark, 0, "{failure:?}");
        let message = &failure.message;
        assert!(message.contains(sentence), "{sentence:?} in {message:?}");
        let good = run.benchmarks[1].blocks().len();
        assert_eq!(good, 12, "{self:?}");
        self.ends_with(3).tells("benchmark 'bad' failed: ")
    }

    /// Asserts that both pairs have all their samples.
    #[track_caller]
    pub fn has_all_samples(self) -> Self {
        let run = self.run.as_ref().unwrap_or_else(|| panic!("{self:?}"));
        let all = run.benchmarks.iter().map(|samples| samples.blocks().len());
        assert_eq!(all.collect::<Vec<_>>(), [12, 12], "{self:?}");
        self.ends_with(0)
    }
}

pub fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub fn read(mut from: impl Read) -> String {
    let mut text = Vec::new();
    from.read_to_end(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

pub fn wait_until<T>(mut happened: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + FAR_TOO_LONG;
    loop {
        let found = happened();
        if found.is_some() || Instant::now() > end {
            return found;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Returns the path of an example, which cargo builds with the tests.
pub fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).unwrap();
    let example = profile.join("examples").join(name);
    assert!(
        example.exists(),
        "there is no {}; cargo test --test builds no examples, cargo test does",
        example.display()
    );
    example
}

/// The Python worker, as a program and its first arguments.
pub fn python() -> [&'static str; 3] {
    static PYTHON: OnceLock<String> = OnceLock::new();
    // The command in PATH may be a wrapper script that starts slowly.
    let python = PYTHON.get_or_init(|| {
        let told = Command::new("python3")
            .args(["-c", "import sys; print(sys.executable)"])
            .output()
            .expect("the tests of pairs need python3");
        String::from_utf8(told.stdout).unwrap().trim().to_owned()
    });
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/misbehaving_worker.py");
    [python, "-S", script]
}

pub fn pair<'a>(name: &'a str, old: &[&'a str], new: &[&'a str]) -> Vec<&'a str> {
    let python = python();
    [&["+", name], &python[..], old, &["vs"], &python, new].concat()
}

pub fn beside_a_good_pair<'a>(
    options: &[&'a str],
    old: &[&'a str],
    new: &[&'a str],
) -> Vec<&'a str> {
    let good = pair("good", &[], &[]);
    [
        &["race"][..],
        &SHORT,
        options,
        &pair("bad", old, new),
        &good[..],
    ]
    .concat()
}

pub fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    assert!(kill(&[name, &pid]));
}

/// Runs the test for all cases at the same time, because they spend most of their time waiting.
pub fn at_once<T: Sync>(cases: &[T], test: impl Fn(&T) + Sync) {
    thread::scope(|scope| {
        for case in cases {
            scope.spawn(|| test(case));
        }
    });
}
