//! Reads what the kernel reports about a process: its executable, its name, its addresses, its
//! environment and the cores it may run on.
//!
//! A program may start itself again, by its name, through `/proc/self/exe` or from a script.
//! deadheat then measures a file that it did not start. For that reason earlier versions never
//! measured a neutral link with Google Benchmark 1.9.3 or later, although the reports claimed so.
//!
//! The kernel reports the file of a process only while the process lives. It reports the name, the
//! addresses and the cores of the process until the process is reaped. The name changes when the
//! process executes a file of another name.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use deadheat_model::AddressSpace;
use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::{Pid, read};

use crate::executable::{FileId, file_id, has_interpreter, program_paths};
use crate::mapped_files::{MappedFile, mapped_files};
use crate::procfs::{children_of, cpu_ns, open_file_of, threads};

/// Size of a process name in the kernel, including the final zero.
const NAME_BYTES: usize = 16;
/// `PF_RANDOMIZE`: the kernel drew the addresses of the program that is executed.
const RANDOMISED: u64 = 0x0040_0000;
/// Index of the process flags among the words after the name in `/proc/PID/stat`.
const FLAGS_AT: usize = 6;
/// Index of the end address of the environment among the words after the name in `/proc/PID/stat`.
const ENVIRONMENT_END_AT: usize = 48;

/// The environment variable whose value is padding. If a process lacks this variable, deadheat
/// assumes that none of the variables that it set reached the program.
pub(crate) const PADDING_VARIABLE: &str = "DEADHEAT_PADDING";
/// Prefixes of environment entries that change the memory layout, the libraries or the number of
/// threads.
const TELLING_VARIABLES: [&str; 17] = [
    "GLIBC_TUNABLES=",
    "GODEBUG=",
    "GOGC=",
    "GOMAXPROCS=",
    "GOMEMLIMIT=",
    "JAVA_TOOL_OPTIONS=",
    "KMP_",
    "LD_",
    "MALLOC_",
    "MIMALLOC_",
    "NODE_OPTIONS=",
    "OMP_",
    "PYTHONMALLOC=",
    "RAYON_NUM_THREADS=",
    "TCMALLOC_",
    "TOKIO_WORKER_THREADS=",
    "_RJEM_MALLOC_CONF=",
];

/// The file that a launch starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Started {
    pub(crate) file: FileId,
    /// True if an interpreter executes the file.
    pub(crate) is_script: bool,
}

impl Started {
    /// Finds the file that `program` starts; a name without a slash is looked up in `PATH`.
    pub(crate) fn by(program: &Path) -> Option<Self> {
        let paths = program_paths(program);
        let mut found = paths.iter().filter_map(|path| Some((path, file_id(path)?)));
        found.next().map(|(path, file)| Self {
            file,
            is_script: has_interpreter(path),
        })
    }
}

/// The name of a process, and whether the kernel drew its addresses at random. The kernel keeps both
/// until the process is reaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessState {
    /// The name of the file that the process executed last, cut to 15 bytes, or the name that the
    /// process gave itself.
    pub(crate) name: [u8; NAME_BYTES],
    pub(crate) addresses: AddressSpace,
}

impl ProcessState {
    /// Reads the state of a process without allocating; `None` if `/proc` cannot be read.
    pub(crate) fn of(pid: Pid) -> Option<Self> {
        let file = open_file_of(pid, c"/stat")?;
        let mut text = [0; 1024];
        let length = read(&file, &mut text).ok()?;
        parse(&text[..length])
    }
}

/// Parses the text of `/proc/PID/stat`. The name is in parentheses and may contain any characters,
/// even parentheses.
fn parse(text: &[u8]) -> Option<ProcessState> {
    let open = text.iter().position(|byte| *byte == b'(')?;
    let close = text.iter().rposition(|byte| *byte == b')')?;
    let mut name = [0; NAME_BYTES];
    let bytes = text.get(open + 1..close)?;
    let length = bytes.len().min(NAME_BYTES - 1);
    name[..length].copy_from_slice(&bytes[..length]);
    let flags = number_behind_name(text, FLAGS_AT)?;
    let addresses = match flags & RANDOMISED {
        0 => AddressSpace::Fixed,
        _ => AddressSpace::Random,
    };
    Some(ProcessState { name, addresses })
}

/// Returns the number at index `words` after the name in the text of `/proc/PID/stat`.
fn number_behind_name(text: &[u8], words: usize) -> Option<u64> {
    let close = text.iter().rposition(|byte| *byte == b')')?;
    let all = text[close + 1..].split(|byte| byte.is_ascii_whitespace());
    let word = all.filter(|word| !word.is_empty()).nth(words)?;
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// Returns true if the kernel has handed over arguments and environment to the program. While the
/// kernel still loads the program, the file is known already, but arguments and environment read as
/// empty: a script looks as if its interpreter had been started instead.
fn has_begun(pid: Pid) -> bool {
    let text = fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
    number_behind_name(&text, ENVIRONMENT_END_AT).is_some_and(|end| end > 0)
}

pub(crate) fn is_within(cores: &CpuSet, given: &CpuSet) -> bool {
    let mut all = 0..CpuSet::count();
    all.all(|core| cores.is_set(core) != Ok(true) || given.is_set(core) == Ok(true))
}

/// An observation of a live process. `state` belongs to the process that was started; the other
/// fields belong to the descendant that does its work, if there is one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sighting {
    pub(crate) file: FileId,
    pub(crate) path: PathBuf,
    pub(crate) state: ProcessState,
    /// The cores that each thread of the process may run on.
    pub(crate) cores: Vec<CpuSet>,
    pub(crate) environment: Option<Environment>,
    /// The files among the first arguments of the process. If the process is an interpreter, they
    /// include its script.
    pub(crate) scripts: Vec<FileId>,
    /// The files from which the process executed code; empty unless the process was traced to its
    /// end.
    pub(crate) mapped: Vec<MappedFile>,
}

/// The variables of an environment that affect the layout of memory, libraries or threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Environment {
    pub(crate) is_padded: bool,
    pub(crate) variables: Vec<String>,
}

impl Environment {
    /// Parses the environment of a process: entries that each end in a NUL byte.
    pub(crate) fn parse(entries: &[u8]) -> Self {
        let entries = entries.split(|byte| *byte == 0);
        let mut found = Self::default();
        for entry in entries {
            let entry = String::from_utf8_lossy(entry);
            let rest = entry.strip_prefix(PADDING_VARIABLE);
            found.is_padded |= rest.is_some_and(|rest| rest.starts_with('='));
            let mut telling = TELLING_VARIABLES.iter();
            if telling.any(|beginning| entry.starts_with(beginning)) {
                found.variables.push(entry.into_owned());
            }
        }
        found.variables.sort();
        found
    }
}

impl Sighting {
    /// Observes a process; `None` if `/proc` cannot be read, or if the process has not begun its
    /// program or has ended.
    pub(crate) fn of(pid: Pid) -> Option<Self> {
        let state = ProcessState::of(pid)?;
        let worker = worker_of(pid);
        if !has_begun(worker) {
            return None;
        }
        let executable = format!("/proc/{worker}/exe");
        let environment = fs::read(format!("/proc/{worker}/environ")).ok();
        let cores = threads(worker).into_iter();
        Some(Self {
            file: file_id(&executable)?,
            path: fs::read_link(&executable).ok()?,
            state,
            cores: cores
                .filter_map(|thread| sched_getaffinity(thread).ok())
                .collect(),
            environment: environment.map(|entries| Environment::parse(&entries)),
            scripts: scripts_of(worker),
            mapped: Vec::new(),
        })
    }

    /// Returns true if the process executes this file, directly or through an interpreter.
    pub(crate) fn executes(&self, started: Started) -> bool {
        let by_interpreter = started.is_script && self.scripts.contains(&started.file);
        self.file == started.file || by_interpreter
    }
}

/// Returns the files among the first two arguments of a process. The kernel puts a script after its
/// interpreter and at most one argument.
pub(crate) fn scripts_of(pid: Pid) -> Vec<FileId> {
    let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let folder = PathBuf::from(format!("/proc/{pid}/cwd"));
    let arguments = arguments.split(|byte| *byte == 0).skip(1).take(2);
    let paths = arguments.map(|path| folder.join(OsStr::from_bytes(path)));
    paths.filter_map(file_id).collect()
}

/// Nanoseconds of CPU time that a child needs before it can count as the process that does the
/// work. Scripts also start short-lived children such as `sed`.
const LEAST_WORK_NS: u64 = 3_000_000;

/// Returns the process that does the work of `pid`: follows an only child as long as the child has
/// used more CPU time than its parent, as when a script waits for a program.
fn worker_of(pid: Pid) -> Pid {
    let mut worker = pid;
    while let [child] = children_of(worker)[..]
        && let (Some(own), Some(of_child)) = (cpu_ns(worker), cpu_ns(child))
        && of_child > own.max(LEAST_WORK_NS)
    {
        worker = child;
    }
    worker
}

/// The time from the start of a process to its first observation, if the process writes nothing
/// earlier. Each later pause is four times as long as the pause before, up to `LONGEST_PAUSE`,
/// because an observation delays the process by some microseconds.
const FIRST_LOOK: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(512);
/// The shortest pause between two observations, however often the process writes.
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);

/// Observes a process at intervals while it lives.
#[derive(Default)]
pub(crate) struct Watch {
    /// The process, the time of the last observation, and the pause after it.
    looking: Option<(Pid, Instant, Duration)>,
    pub(crate) seen: Option<Sighting>,
    /// The files from which the process executes code; `None` if they are not recorded. Recording
    /// them makes an observation take much longer.
    pub(crate) mapped: Option<Vec<MappedFile>>,
    pub(crate) ended_as: Option<ProcessState>,
    /// The cores that the main thread of the process might run on when the process ended.
    pub(crate) ended_on: Option<CpuSet>,
}

impl Watch {
    #[cfg(feature = "commands")]
    pub(crate) fn new(notes_files: bool) -> Self {
        Self {
            mapped: notes_files.then(Vec::new),
            ..Self::default()
        }
    }

    pub(crate) fn begin(&mut self, pid: Pid) {
        self.looking = Some((pid, Instant::now(), FIRST_LOOK));
    }

    pub(crate) fn pause(&self) -> Duration {
        self.looking.map_or(LONGEST_PAUSE, |(_, last, pause)| {
            pause.saturating_sub(last.elapsed())
        })
    }

    /// Observes the process if the pause is over, or if `has_spoken`: a process that has just
    /// written something is not in a timed section.
    pub(crate) fn look(&mut self, has_spoken: bool) {
        let Some((pid, last, pause)) = self.looking else {
            return;
        };
        let passed = last.elapsed();
        let is_time = passed >= pause;
        if is_time || (has_spoken && passed >= SHORTEST_PAUSE) {
            let pause = if is_time { pause * 4 } else { pause };
            self.looking = Some((pid, Instant::now(), pause.min(LONGEST_PAUSE)));
            self.seen = Sighting::of(pid).or(self.seen.take());
            if let Some(mapped) = &mut self.mapped {
                mapped.extend(mapped_files(worker_of(pid)).unwrap_or_default());
            }
        }
    }

    /// Notes how the process ended, before it is reaped.
    pub(crate) fn end(&mut self) {
        let pid = self.looking.take().map(|(pid, ..)| pid);
        self.ended_as = pid.and_then(ProcessState::of);
        self.ended_on = pid.and_then(|pid| sched_getaffinity(pid).ok());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn reads_name_and_addresses_whatever_the_name_holds() {
        let text = b"17 (a) b (c) S 1 17 17 0 -1 4194560 96 0";
        let state = parse(text).unwrap();
        assert_eq!(&state.name[..7], b"a) b (c");
        assert_eq!(state.addresses, AddressSpace::Random);
        let state = parse(b"17 (x) Z 1 17 17 0 -1 32836 96 0").unwrap();
        assert_eq!(state.addresses, AddressSpace::Fixed);
        assert_eq!(parse(b"17 (x) Z 1"), None);
        assert_eq!(parse(b"nonsense"), None);
        assert_eq!(number_behind_name(b"17 (a) b (c) S 1 23\n", 2), Some(23));
    }

    #[test]
    fn a_process_has_begun_once_it_has_arguments_and_environment() {
        assert!(has_begun(Pid::this()));
        let mut ended = Command::new("true").spawn().unwrap();
        let pid = Pid::from_raw(ended.id() as i32);
        let stat = format!("/proc/{pid}/stat");
        while !fs::read_to_string(&stat).unwrap().contains(") Z ") {}
        assert!(!has_begun(pid) && Sighting::of(pid).is_none());
        ended.wait().unwrap();
        assert!(!has_begun(Pid::from_raw(i32::MAX)));
    }

    #[test]
    fn an_environment_is_padded_only_by_the_variable_of_that_name() {
        let found = Environment::parse(b"A=1\0LD_PRELOAD=x.so\0DEADHEAT_PADDING=\0HOME=/\0");
        assert!(found.is_padded);
        assert_eq!(found.variables, ["LD_PRELOAD=x.so"]);
        assert!(!Environment::parse(b"DEADHEAT_PADDINGS=x\0XDEADHEAT_PADDING=x").is_padded);
    }

    #[test]
    fn a_living_process_is_seen_with_its_file_and_after_its_end_with_its_name() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let pid = Pid::from_raw(child.id() as i32);
        // `spawn` returns before the kernel has handed over the environment.
        let seen = loop {
            if let Some(seen) = Sighting::of(pid) {
                break seen;
            }
        };
        assert!(seen.path.is_absolute());
        assert_eq!(file_id(&seen.path), Some(seen.file));
        assert_eq!(&seen.state.name[..6], b"sleep\0");
        let environment = seen.environment.unwrap();
        assert!(!environment.is_padded);
        child.kill().unwrap();
        let ended = loop {
            let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
            if text.contains(") Z ") {
                break ProcessState::of(pid).unwrap();
            }
        };
        assert_eq!(Sighting::of(pid), None);
        assert_eq!(ended, seen.state);
        child.wait().unwrap();
    }

    #[test]
    fn the_child_that_works_behind_a_script_is_the_one_that_is_seen() {
        let script = "while :; do :; done & wait";
        let mut child = Command::new("sh").args(["-c", script]).spawn().unwrap();
        let pid = Pid::from_raw(child.id() as i32);
        while worker_of(pid) == pid {
            std::thread::sleep(Duration::from_millis(1));
        }
        let worker = worker_of(pid);
        nix::sys::signal::kill(worker, nix::sys::signal::Signal::SIGKILL).unwrap();
        child.wait().unwrap();
        assert_ne!(worker, pid);
    }
}
