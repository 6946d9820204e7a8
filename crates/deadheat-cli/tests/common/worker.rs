//! A worker in any language, spoken to by hand: the test is the coordinator,
//! and holds the other ends of the baton as well.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Moves the pipes to the numbers that the worker is told. Those that are no
/// standard streams are opened anew, as the test has them. A worker that hangs
/// is killed, so that the test sees an end of file.
const START: &str = "\
exec 3<&0 4>&1 5>/proc/$PPID/fd/$NOTES 6</proc/$PPID/fd/$BATON_IN 7>/proc/$PPID/fd/$BATON_OUT
exec </dev/null >&2
unset NOTES BATON_IN BATON_OUT
exec timeout -s KILL 60 \"$0\" \"$@\"";

/// A worker that has been started.
pub struct Worker {
    child: Child,
    requests: Option<ChildStdin>,
    replies: BufReader<ChildStdout>,
    notes: PipeReader,
    baton: Option<(PipeWriter, PipeReader)>,
    /// The worker's ends, kept until it has surely opened its own.
    theirs: Option<(PipeWriter, PipeReader, PipeWriter)>,
    folder: TempDir,
}

impl Worker {
    /// A worker that races alone.
    pub fn start(program: &Path, args: &[&str]) -> Self {
        Self::started(program, args, false)
    }

    /// A worker that races against another process, which is the test.
    pub fn start_in_turns(program: &Path) -> Self {
        Self::started(program, &[], true)
    }

    fn started(program: &Path, args: &[&str], in_turns: bool) -> Self {
        let folder = TempDir::new().unwrap();
        let (notes, their_notes) = std::io::pipe().unwrap();
        let (their_in, baton_in) = std::io::pipe().unwrap();
        let (baton_out, their_out) = std::io::pipe().unwrap();
        let number = |fd: RawFd| fd.to_string();
        let mut log = File::options();
        let log = log.create(true).append(true);
        let log = log.open(folder.path().join("log")).unwrap();
        let mut command = Command::new("sh");
        command
            .args(["-c", START])
            .arg(program)
            .args(args)
            .env("NOTES", number(their_notes.as_raw_fd()))
            .env("BATON_IN", number(their_in.as_raw_fd()))
            .env("BATON_OUT", number(their_out.as_raw_fd()))
            .env("DEADHEAT_WORKER", "3,4,5")
            .env_remove("DEADHEAT_BATON")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log);
        if in_turns {
            command.env("DEADHEAT_BATON", "6,7");
        }
        let mut child = command.spawn().unwrap();
        Self {
            requests: child.stdin.take(),
            replies: BufReader::new(child.stdout.take().unwrap()),
            child,
            notes,
            baton: Some((baton_in, baton_out)),
            theirs: Some((their_notes, their_in, their_out)),
            folder,
        }
    }

    /// The next reply; `None` at the end of them.
    pub fn hear(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.replies.read_line(&mut line).unwrap();
        // Whoever has said something has its own ends of all pipes.
        self.theirs = None;
        match line.strip_suffix('\n') {
            None => {
                assert_eq!(line, "", "half a line");
                None
            }
            Some(line) => Some(serde_json::from_str(line).unwrap_or_else(|error| {
                panic!("{error}: {line}");
            })),
        }
    }

    /// Sends a line as it is.
    pub fn say(&mut self, line: &str) {
        let requests = self.requests.as_mut().unwrap();
        requests.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// A request and its reply, which must be of this kind.
    #[track_caller]
    pub fn ask(&mut self, request: Value, kind: &str) -> Value {
        self.say(&request.to_string());
        let reply = self.hear().unwrap_or_else(|| {
            panic!("no reply to {request}: {}", self.log());
        });
        let value = reply.get(kind);
        value
            .unwrap_or_else(|| panic!("{request} → {reply}"))
            .clone()
    }

    /// The greeting of the worker, its first reply.
    #[track_caller]
    pub fn hello(&mut self) -> Value {
        let reply = self.hear().expect("a greeting");
        reply["hello"].clone()
    }

    /// Gets a benchmark ready, with all of its contenders or one.
    #[track_caller]
    pub fn prepare(&mut self, benchmark: &str, contender: Option<&str>) -> Value {
        self.hello();
        self.ask(prepare(benchmark, contender), "prepared")
    }

    /// The values of a block that is not raced against the test.
    #[track_caller]
    pub fn block(&mut self, seed: u64, turns: &[usize], iterations: u64) -> Vec<f64> {
        let reply = self.ask(block(seed, &json!(turns), iterations, 0, 1), "block");
        let values = reply["values"].as_array().expect("values");
        values.iter().map(|value| value.as_f64().unwrap()).collect()
    }

    /// Asserts that the next reply is this failure, and the last.
    #[track_caller]
    pub fn fails(&mut self, contender: Value, problem: Value) {
        let reply = self.hear().expect("a failure");
        let failed = json!({"failed": {"contender": contender, "problem": problem}});
        assert_eq!(reply, failed);
        assert_eq!(self.hear(), None);
    }

    /// Hands the baton to the worker.
    pub fn hand_over(&mut self) {
        let (baton, _) = self.baton.as_mut().unwrap();
        baton.write_all(&[1]).unwrap();
    }

    /// Waits for the worker to hand over the baton.
    #[track_caller]
    pub fn take_baton(&mut self) {
        let (_, baton) = self.baton.as_mut().unwrap();
        let mut byte = [0];
        let end = baton.read_exact(&mut byte);
        assert!(end.is_ok(), "no baton: {}", self.log());
    }

    /// The test, which is the other process, is gone.
    pub fn leave(&mut self) {
        self.baton = None;
    }

    /// The text that the worker wrote to standard error so far.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    /// A line of the test's own among those.
    pub fn write_log(&self, line: &str) {
        let log = self.folder.path().join("log");
        let mut log = File::options().append(true).open(log).unwrap();
        writeln!(log, "{line}").unwrap();
    }

    /// Closes the requests and waits for the end: the exit code, and what was
    /// written to the baton without anybody taking it.
    pub fn ended(mut self) -> Ended {
        self.requests = None;
        self.theirs = None;
        let code = self.child.wait().unwrap().code();
        let mut unread = Vec::new();
        self.replies.read_to_end(&mut unread).unwrap();
        let mut batons = Vec::new();
        if let Some((_, baton)) = &mut self.baton {
            baton.read_to_end(&mut batons).unwrap();
        }
        let mut notes = Vec::new();
        self.notes.read_to_end(&mut notes).unwrap();
        notes.dedup();
        Ended {
            code,
            replies: unread.len(),
            batons: batons.len(),
            notes,
            log: self.log(),
        }
    }
}

/// The exit code of a worker, and all that nobody had read until it ended.
pub struct Ended {
    pub code: Option<i32>,
    pub replies: usize,
    pub batons: usize,
    /// The contenders that were called, the same one only once in a row.
    pub notes: Vec<u8>,
    pub log: String,
}

pub fn prepare(benchmark: &str, contender: Option<&str>) -> Value {
    json!({"prepare": {"benchmark": benchmark, "contender": contender, "clock": "tsc 1f 2e",
        "cpu_overhead_ns": 310.5, "heap_bytes": 12_345, "stack_bytes": 456}})
}

pub fn block(
    seed: u64,
    turns: &Value,
    iterations: u64,
    unrecorded: usize,
    unrecorded_iterations: u64,
) -> Value {
    json!({"block": {"seed": seed, "iterations": iterations, "turns": turns,
        "unrecorded": unrecorded, "unrecorded_iterations": unrecorded_iterations}})
}

/// The folder of this repository.
pub fn repository() -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    path.canonicalize().unwrap()
}

/// The flags that every compiler is given in these tests.
pub const STRICT: [&str; 6] = [
    "-Wall",
    "-Wextra",
    "-Werror",
    "-pedantic",
    "-Wshadow",
    "-Wconversion",
];

/// Compiles and links sources against the header, without a warning.
#[track_caller]
pub fn compiled(compiler: &str, flags: &[&str], sources: &[&Path], program: &Path) {
    let done = Command::new(compiler)
        .args(flags)
        .args(STRICT)
        .arg("-I")
        .arg(repository().join("include"))
        .arg("-pthread")
        .args(sources)
        .arg("-o")
        .arg(program)
        .output()
        .unwrap_or_else(|error| panic!("{compiler}: {error}"));
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{compiler} {flags:?}: {said}");
    assert_eq!(said, "", "{compiler} {flags:?}");
}

/// A program of this source in a folder that stays with what cargo builds.
/// Each test file builds its programs once.
#[track_caller]
pub fn program(name: &str, compiler: &str, flags: &[&str], source: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("workers");
    fs::create_dir_all(&folder).unwrap();
    let language = if compiler.ends_with("++") { "cpp" } else { "c" };
    let unique = format!("{name}-{}", std::process::id());
    let source_file = folder.join(format!("{unique}.{language}"));
    fs::write(&source_file, source).unwrap();
    let built = folder.join(&unique);
    compiled(compiler, flags, &[&source_file], &built);
    // Several test processes may build the same one.
    let program = folder.join(name);
    fs::rename(&built, &program).unwrap();
    fs::rename(&source_file, folder.join(format!("{name}.{language}"))).unwrap();
    program
}
