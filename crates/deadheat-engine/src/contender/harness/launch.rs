//! Launches an executable of a harness once and parses its repetitions.

use std::io::{Write, pipe};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use deadheat_model::{AddressSpace, Harness, Pinning, Program, RepetitionLength, words_of_system};
use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;
use rand_core::Rng;

use super::adapter::{
    HarnessAdapter, LaunchOutput, LaunchRequest, Repetition, RequestedRepetitions, ResultsBy,
};
use crate::affinity::{AffinityError, Cores};
use crate::command_failure::{HarnessCause, HarnessError};
use crate::contender::witness::Noticed;
use crate::error::EngineError;
use crate::executable::{PLACEMENTS_VARIABLE, Variant, run_in};
use crate::function_failure::{FunctionError, FunctionFailure};
use crate::interrupt::Interrupts;
use crate::launch_folder::LaunchFolder;
use crate::memory_layout::{PathPadding, at_fixed_addresses};
use crate::observed::{PADDING_VARIABLE, ProcessState, Started, Watch, is_within};
use crate::order::Moment;
use crate::random::{Purpose, stream};
use crate::subprocess::{Answer, Captured, Ending, Job, run_together};
use crate::worker::seed_hashes;

/// Options for races of harness executables.
#[derive(Clone, Debug)]
pub struct HarnessOptions {
    /// The time limit of one launch; `None` for no limit.
    pub timeout: Option<Duration>,
    /// The cores that replicates are drawn from.
    pub pinning: Pinning,
    /// The seed of the run.
    pub seed: u64,
    /// True if the output of the executables is shown on standard error.
    pub shown: bool,
    /// The harnesses of the race. CPU time is recorded if all of them report it.
    pub harnesses: Vec<Harness>,
    /// The user's own requests, which override the results of the calibration run.
    pub wanted: RequestedRepetitions,
}

#[derive(Clone, Copy)]
pub(super) struct Launch<'a> {
    /// The benchmark, the contender and the moment, for error messages.
    pub(super) position: (&'a str, &'a str, Moment),
    pub(super) contender: usize,
    pub(super) adapter: &'static dyn HarnessAdapter,
    pub(super) program: &'a Program,
    /// The name by which the program knows the benchmark.
    pub(super) benchmark: &'a str,
    pub(super) length: RepetitionLength,
    /// The number of repetitions at the start of a launch that are discarded as a warm-up.
    pub(super) warm_up: u32,
    pub(super) repetitions: u32,
    pub(super) is_side_by_side: bool,
    /// A neutral link of the program, which is started under the program's name.
    pub(super) variant: Option<&'a Variant>,
    pub(super) path_padding: Option<PathPadding>,
    /// Bytes of padding in the environment.
    pub(super) padding: usize,
    /// The seed of Python's hashes, unless the user sets one.
    pub(super) hash_seed: u32,
    pub(super) fixed_addresses: bool,
    /// True if `argv[0]` of a neutral link is the path of the link and not that of the program.
    pub(super) named_by_link: bool,
}

pub(super) struct Watched {
    pub(super) watch: Watch,
    pub(super) started: Option<Started>,
    pub(super) given: Option<CpuSet>,
}

impl Watched {
    /// Returns true if the process had fixed addresses at its end although deadheat started it at
    /// random ones: the program turned off address randomisation and started itself again.
    pub(super) fn fixes_addresses(&self) -> bool {
        let at = |state: Option<ProcessState>, addresses| {
            state.is_some_and(|state| state.addresses == addresses)
        };
        at(self.watch.ended_as, AddressSpace::Fixed)
            && at(ProcessState::of(Pid::this()), AddressSpace::Random)
    }

    /// Returns the file that the process was last seen executing, if this is not the file that was
    /// started.
    pub(super) fn left_for(&self) -> Option<PathBuf> {
        let seen = self.watch.seen.as_ref()?;
        let stays = self.started.is_some_and(|started| seen.executes(started));
        (!stays).then(|| seen.path.clone())
    }

    pub(super) fn noticed(&self) -> Noticed<'_> {
        Noticed {
            started: self.started,
            given: self.given.as_ref(),
            seen: self.watch.seen.as_ref(),
            ended_as: self.watch.ended_as.as_ref(),
            ended_there: self.given.as_ref().and_then(|given| {
                let ended_on = self.watch.ended_on.as_ref()?;
                Some(is_within(ended_on, given))
            }),
            left_behind: None,
        }
    }
}

pub(super) struct Launcher<'a> {
    pub(super) options: HarnessOptions,
    pub(super) interrupts: &'a Interrupts,
    pub(super) cores: Cores,
    /// The number of processes started since the last query.
    pub(super) launched: u64,
    pub(super) watched: Vec<Watched>,
    /// True if deadheat records the files that launches map.
    pub(super) notes_files: bool,
}

impl<'a> Launcher<'a> {
    pub(super) fn new(
        options: HarnessOptions,
        interrupts: &'a Interrupts,
    ) -> Result<Self, EngineError> {
        Ok(Self {
            cores: Cores::new(&options.pinning)?,
            options,
            interrupts,
            launched: 0,
            watched: Vec::new(),
            notes_files: false,
        })
    }

    pub(super) fn stream(&self, purpose: Purpose, place: [u64; 3]) -> impl Rng + use<> {
        stream(self.options.seed, purpose, place)
    }

    /// Returns the seed of Python's hashes at `place`; all launches of a replicate share it.
    pub(super) fn hash_seed(&self, place: [u64; 3]) -> u32 {
        self.stream(Purpose::HashSeed, place).next_u64() as u32
    }

    /// Pins the calling thread to the core drawn for `place`, or unpins it if the benchmark has
    /// several threads.
    pub(super) fn settle(&self, place: [u64; 3], threads: u32) -> Result<(), EngineError> {
        let draw = self.stream(Purpose::Core, place).next_u64();
        Ok(self.cores.settle(draw, threads)?)
    }

    /// Pins the calling thread to the core drawn for `place`, which several single-threaded
    /// processes then share.
    pub(super) fn settle_to_share(&self, place: [u64; 3]) -> Result<(), EngineError> {
        match self.cores.choices() {
            [] => Err(AffinityError::Hidden.into()),
            _ => self.settle(place, 1),
        }
    }

    /// Launches the executable and returns all repetitions of the benchmark, at least one. Removes
    /// the launch's temporary folder before it returns.
    pub(super) fn launch(&mut self, launch: &Launch<'_>) -> Result<Vec<Repetition>, EngineError> {
        let mut all = self.launch_together(std::slice::from_ref(launch))?;
        Ok(all.remove(0))
    }

    /// Like [`launch`](Self::launch), for several launches that start at the same moment.
    pub(super) fn launch_together(
        &mut self,
        launches: &[Launch<'_>],
    ) -> Result<Vec<Vec<Repetition>>, EngineError> {
        self.watched.clear();
        let (mut jobs, mut folders) = (Vec::new(), Vec::new());
        for launch in launches {
            let (command, answer, folder) = self
                .command(launch)
                .map_err(|error| failure(launch, not_started(&error)))?;
            jobs.push((command, answer));
            folders.push(folder);
        }
        let jobs = jobs.into_iter().zip(&mut self.watched);
        let jobs = jobs.map(|((command, answer), watched)| Job {
            input: Stdio::null(),
            command,
            answer,
            watch: Some(&mut watched.watch),
        });
        // The launches share a core, so each gets only a part of the time.
        let sharing = u32::try_from(launches.len()).unwrap_or(u32::MAX);
        let patience = self.options.timeout;
        let patience = patience.map(|patience| patience.saturating_mul(sharing));
        let fixed = launches.iter().any(|launch| launch.fixed_addresses);
        let captured = at_fixed_addresses(fixed, || {
            run_together(jobs.collect(), patience, self.interrupts)
        })?;
        self.launched += launches.len() as u64;
        let ended = launches.iter().zip(captured).zip(folders);
        let ended =
            ended.filter_map(|((launch, captured), folder)| Some((launch, captured?, folder)));
        let (failed, well): (Vec<_>, Vec<_>) =
            ended.partition(|(_, captured, _)| captured.ending.is_some());
        // If one launch failed, the others may not have ended.
        let ended = if failed.is_empty() { well } else { failed };
        let read = ended.into_iter();
        let read = read.map(|(launch, captured, folder)| self.yielded(launch, captured, folder));
        read.collect()
    }

    /// Returns the command of a launch, the source of its results, and its temporary folder.
    fn command(
        &mut self,
        launch: &Launch<'_>,
    ) -> std::io::Result<(Command, Answer, Option<LaunchFolder>)> {
        let adapter = launch.adapter;
        let results = adapter.results();
        let (here, there) = pipe()?;
        let folder = match results {
            ResultsBy::Folder(_) => Some(LaunchFolder::new()?),
            ResultsBy::Pipe | ResultsBy::StandardOutput => None,
        };
        let own = startable(&launch.program.executable);
        let image = launch.variant.map_or(&own, |v| &v.executable);
        let (started, named) = match &launch.path_padding {
            None => (image.clone(), own.clone()),
            Some(path_padding) => (path_padding.started(image), path_padding.named(&own)),
        };
        let named = match launch.variant {
            Some(_) if launch.named_by_link => started.clone(),
            _ => named,
        };
        self.watched.push(Watched {
            watch: Watch::new(self.notes_files),
            started: Started::by(image),
            given: sched_getaffinity(Pid::from_raw(0)).ok(),
        });
        let mut command = starting(adapter, started, named);
        command.args(arguments(launch));
        if let Some(directory) = &launch.program.directory {
            run_in(&mut command, directory);
        }
        if results == ResultsBy::Pipe {
            let path = format!("/proc/self/fd/{}", there.as_raw_fd());
            command.args(adapter.arguments_for_results(&path));
        }
        command
            .env_remove(PLACEMENTS_VARIABLE)
            .env(PADDING_VARIABLE, "x".repeat(launch.padding));
        seed_hashes(&mut command, launch.hash_seed);
        let path = folder
            .as_ref()
            .map(|folder| folder.path().to_string_lossy());
        for (variable, value) in adapter.environment(&path.unwrap_or_default()) {
            match value {
                Some(value) => command.env(variable, value),
                None => command.env_remove(variable),
            };
        }
        let shown = self.options.shown;
        let answer = match results {
            ResultsBy::StandardOutput => Answer::Printed,
            ResultsBy::Pipe | ResultsBy::Folder(_) => Answer::Piped { here, there, shown },
        };
        Ok((command, answer, folder))
    }

    fn yielded(
        &self,
        launch: &Launch<'_>,
        captured: Captured,
        folder: Option<LaunchFolder>,
    ) -> Result<Vec<Repetition>, EngineError> {
        let failure = |problem| failure(launch, problem);
        let (adapter, results) = (launch.adapter, launch.adapter.results());
        let text = String::from_utf8_lossy(&captured.output).into_owned();
        let stderr_tail = captured.stderr_tail;
        if self.options.shown && results == ResultsBy::StandardOutput {
            // Ignores a closed standard error: the user does not want the output.
            let _ = writeln!(std::io::stderr(), "{text}{stderr_tail}");
        }
        if let Some(ending) = captured.ending {
            let printed = match ending {
                Ending::Exited(_) => adapter.printed_error(&text),
                _ => None,
            };
            return Err(failure(printed.unwrap_or(HarnessError::Process {
                ending,
                stderr_tail,
            })));
        }
        let files = match (results, &folder) {
            (ResultsBy::Folder(names), Some(folder)) => {
                let files = folder.files(names);
                files.map_err(|error| failure(not_started(&error)))?
            }
            _ => Vec::new(),
        };
        let yielded = LaunchOutput {
            text,
            stderr_tail,
            files,
        };
        let repetitions = adapter.repetitions(&launch.ask(), &yielded);
        let mut repetitions = repetitions.map_err(failure)?;
        repetitions.drain(..repetitions.len().min(launch.warm_up as usize));
        Ok(repetitions)
    }
}

fn not_started(error: &std::io::Error) -> HarnessError {
    HarnessError::Process {
        ending: Ending::NotStarted(words_of_system(error)),
        stderr_tail: String::new(),
    }
}

impl Launch<'_> {
    fn ask(&self) -> LaunchRequest<'_> {
        LaunchRequest {
            own: &self.program.arguments,
            benchmark: self.benchmark,
            length: self.length,
            repetitions: self.warm_up + self.repetitions,
        }
    }
}

/// Returns a command that starts the file `image` with `named` as its `argv[0]`. A starter such as
/// `java` gets only the path `named`.
pub(super) fn starting(adapter: &dyn HarnessAdapter, image: PathBuf, named: PathBuf) -> Command {
    let starter = adapter.starter(&named);
    let mut words = starter.iter();
    match words.next() {
        None => {
            let mut command = Command::new(image);
            command.arg0(named);
            command
        }
        Some(starter) => {
            let mut command = Command::new(starter);
            command.args(words).arg(named);
            command
        }
    }
}

/// Returns the user's arguments followed by the adapter's.
fn arguments(launch: &Launch<'_>) -> Vec<String> {
    let own = launch.program.arguments.iter().cloned();
    own.chain(launch.adapter.arguments(&launch.ask())).collect()
}

pub(super) fn failure(launch: &Launch<'_>, problem: HarnessError) -> EngineError {
    let (benchmark, contender, moment) = launch.position;
    let cause = HarnessCause {
        what: problem,
        launch: again(launch),
        is_side_by_side: launch.is_side_by_side,
    };
    EngineError::Function(Box::new(FunctionFailure {
        benchmark: benchmark.to_owned(),
        contender: Some(contender.to_owned()),
        moment,
        cause: FunctionError::Harness(Box::new(cause)),
        link: launch.variant.cloned(),
        stderr_tail: None,
    }))
}

/// Returns the error of a failed launch; `None` for any other error.
pub(super) fn problem_of(error: &EngineError) -> Option<&HarnessError> {
    if let EngineError::Function(failure) = error
        && let FunctionError::Harness(cause) = &failure.cause
    {
        Some(&cause.what)
    } else {
        None
    }
}

/// Returns a path that starts the executable without a search in `PATH`.
pub(super) fn startable(executable: &Path) -> PathBuf {
    match executable.components().count() {
        1 => Path::new(".").join(executable),
        _ => executable.to_owned(),
    }
}

/// Returns the launch as a shell command line.
fn again(launch: &Launch<'_>) -> String {
    let executable = startable(&launch.program.executable);
    let words = launch.adapter.starter(&executable).into_iter();
    let words = words.chain([executable.display().to_string()]);
    let words = words.chain(arguments(launch)).map(|word| quoted(&word));
    let words = words.collect::<Vec<_>>().join(" ");
    match &launch.program.directory {
        None => words,
        Some(directory) => format!("cd {} && {words}", quoted(&directory.to_string_lossy())),
    }
}

fn quoted(word: &str) -> String {
    let plain = |sign: char| sign.is_ascii_alphanumeric() || "_-./=:,+@%".contains(sign);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_again_is_quoted_for_a_shell() {
        assert_eq!(
            quoted("--benchmark_min_time=0.003"),
            "--benchmark_min_time=0.003"
        );
        assert_eq!(
            quoted("--benchmark_filter=^a's$"),
            r"'--benchmark_filter=^a'\''s$'"
        );
        assert_eq!(quoted(""), "''");
        assert_eq!(startable(Path::new("bench")), Path::new("./bench"));
        assert_eq!(startable(Path::new("b/bench")), Path::new("b/bench"));
    }
}
