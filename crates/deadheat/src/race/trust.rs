//! Checks of files whose commands deadheat starts: run files, plans, packs and records of `deadheat
//! bisect`. deadheat keeps a list of the files that it wrote, and starts the commands of any other
//! file only if the user agrees.

use std::collections::BTreeSet;
use std::io::{IsTerminal as _, stderr, stdin};
use std::path::Path;

use deadheat_engine::{discard_typed_input, user};
use deadheat_format::{FileDigest, MadeFiles};
use deadheat_link::{LinkRecord, tracked_files};
use deadheat_model::{CommandLine, HELP, Input, Output, Plan, Program, Workload};

use super::known_calibration::made_files_folder;
use crate::exit::Failure;
use crate::terminal::to_stderr_in_full;

/// A file whose commands deadheat is about to start.
#[derive(Clone, Debug)]
pub struct StartedFile<'a> {
    /// The option or command that names the file, for messages.
    pub by: &'a str,
    /// The path of the file.
    pub file: &'a Path,
    /// The digest of the file.
    pub digest: FileDigest,
    /// The commands that the file starts, and the files that deadheat would replace.
    pub starts: Vec<String>,
}

/// Adds a file to the user's list of files that deadheat wrote. If the list cannot be written,
/// deadheat will treat the file like one of another user.
pub fn note_made_file(digest: &FileDigest) {
    if let Ok(list) = made_files() {
        let _ = list.add(digest);
    }
}

/// Returns true if deadheat wrote a file with this digest for this user on this machine.
pub fn is_made_here(digest: &FileDigest) -> bool {
    is_in_list(digest).unwrap_or(false)
}

/// Returns true if the user's list of files that deadheat wrote contains this digest. The error
/// says why deadheat cannot use the list.
fn is_in_list(digest: &FileDigest) -> Result<bool, String> {
    let found = made_files()?.has(digest);
    found.map_err(|error| error.to_string())
}

/// Returns the user's list of files that deadheat wrote. The error says why deadheat cannot use the
/// list: its folder is unknown, or git tracks a file in this folder. If the home folder is a
/// checkout, as in some CI containers, a commit could contain a list.
fn made_files() -> Result<MadeFiles, String> {
    let no_folder = "neither HOME nor XDG_STATE_HOME is set";
    let folder = made_files_folder().ok_or(no_folder)?;
    let tracked = tracked_files(&folder).map_err(|error| error.to_string())?;
    match tracked.first() {
        Some(file) => Err(format!("git tracks {}", file.display())),
        None => Ok(MadeFiles::new(folder, user())),
    }
}

impl StartedFile<'_> {
    /// Succeeds if deadheat may start the commands of this file: deadheat wrote it for this user on
    /// this machine, `--trust` is given, or the user has seen the commands in the terminal and
    /// agrees.
    ///
    /// # Errors
    ///
    /// Returns an error if the user does not agree, or cannot be asked without a terminal. Without
    /// a terminal, the message lists the commands.
    pub fn ensure_trusted(&self, is_trusted: bool) -> Result<(), Failure> {
        if is_trusted {
            return Ok(());
        }
        let why = match is_in_list(&self.digest) {
            Ok(true) => return Ok(()),
            Ok(false) => "your deadheat did not write this file on this machine".to_owned(),
            Err(problem) => format!(
                "deadheat cannot use its list of the files that it wrote on this machine ({problem})"
            ),
        };
        let mut text = format!(
            "{} {}: {why}. The race would start these commands:",
            self.by,
            self.file.display()
        );
        for line in &self.starts {
            // Each command takes one line, because a line break in a command could hide the rest of
            // it.
            text += "\n  ";
            text += &line.replace('\n', "\\n");
        }
        let asks = stdin().is_terminal() && stderr().is_terminal();
        if asks {
            text += &format!("{HELP}type y to start them, anything else to stop");
            // What was typed before the question does not answer it.
            discard_typed_input();
        }
        to_stderr_in_full("deadheat", &text);
        if asks && agrees() {
            return Ok(());
        }
        Err(Failure::Usage(format!(
            "{} {}: not started{HELP}--trust starts the commands of a file that you trust",
            self.by,
            self.file.display()
        )))
    }
}

/// Reads a line from the terminal, and returns true for `y` and `yes`.
fn agrees() -> bool {
    let mut answer = String::new();
    let read = stdin().read_line(&mut answer);
    read.is_ok() && ["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str())
}

/// Returns the commands that a race of this plan starts, each once, and the files that the race
/// replaces.
pub fn starts(plan: &Plan) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut lines = Vec::new();
    let contenders = plan.benchmarks.iter().flat_map(|one| &one.contenders);
    for contender in contenders {
        let of_one = match &contender.workload {
            Workload::Command(line) => of_command(line),
            Workload::Worker(calls) => of_program(&calls.program),
            Workload::Harness(calls) => of_program(&calls.program),
            Workload::Function(_) | Workload::Recording => Vec::new(),
        };
        for line in of_one {
            if seen.insert(line.clone()) {
                lines.push(line);
            }
        }
    }
    if let Some(file) = &plan.design.values.file {
        lines.push(format!("(removes {} before each launch)", file.display()));
    }
    lines
}

/// Returns a command and its hooks as lines, with redirections for its input and output files.
fn of_command(line: &CommandLine) -> Vec<String> {
    let hooks = &line.hooks;
    let around = [
        ("setup", &hooks.setup),
        ("prepare", &hooks.prepare),
        ("conclude", &hooks.conclude),
        ("cleanup", &hooks.cleanup),
    ];
    let hooks = around.into_iter().filter_map(|(name, words)| {
        let words = shell_words::join(words.as_ref()?);
        Some(format!("{name}: {words}"))
    });
    let mut command = shell_words::join(&line.words);
    if let Input::File(file) = &line.input {
        command += &format!(" < {}", shell_words::quote(&file.to_string_lossy()));
    }
    if let Output::File(file) = &line.output {
        command += &format!(" > {}", shell_words::quote(&file.to_string_lossy()));
    }
    let command = within(line.directory.as_deref(), command);
    let linker = line.program().and_then(|program| linker(&program));
    let lines = std::iter::once(command).chain(hooks);
    lines.chain(linker).collect()
}

fn of_program(program: &Program) -> Vec<String> {
    let executable = program.executable.to_string_lossy();
    let words = std::iter::once(&*executable).chain(program.arguments.iter().map(String::as_str));
    let command = shell_words::join(words);
    let command = within(program.directory.as_deref(), command);
    std::iter::once(command)
        .chain(linker(&program.executable))
        .collect()
}

/// Returns the linker that deadheat would start to link a program again, as the link record of the
/// program names it; `None` without a record. A pack contains the records of its programs.
fn linker(program: &Path) -> Option<String> {
    let record = LinkRecord::beside(program).ok()?;
    let differs = |(name, value): &&(String, String)| std::env::var(name).as_ref() != Ok(value);
    let set = record.environment.iter().filter(differs);
    let set = set.map(|(name, value)| format!("{name}={}", shell_words::quote(value)));
    let driver = shell_words::quote(&record.driver).into_owned();
    let words: Vec<String> = set.chain([driver]).collect();
    Some(format!(
        "links {} again: {} …",
        program.display(),
        words.join(" ")
    ))
}

/// Appends the working directory to a command: `make (in /src)`.
fn within(directory: Option<&Path>, command: String) -> String {
    match directory {
        None => command,
        Some(directory) => format!("{command} (in {})", directory.display()),
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::{Benchmark, Contender, Design, HarnessCalls, Hooks, Values, WorkerCalls};

    use super::*;
    use crate::command_race::CommandRaceSpec;

    #[test]
    fn all_that_a_plan_starts_or_replaces_is_listed_once() {
        let spec = CommandRaceSpec {
            commands: vec!["sort 'a b'".to_owned(), "uniq c".to_owned()],
            ..CommandRaceSpec::default()
        };
        let mut plan = spec.plan().unwrap();
        let benchmark = &mut plan.benchmarks[0];
        for contender in &mut benchmark.contenders {
            let Workload::Command(line) = &mut contender.workload else {
                panic!("a command");
            };
            // `text` is only for display; deadheat starts `words`.
            line.text = "true".to_owned();
            line.hooks = Hooks {
                prepare: Some(vec!["rm".to_owned(), "-r".to_owned(), "x".to_owned()]),
                cleanup: Some(vec!["sync".to_owned()]),
                ..Hooks::default()
            };
            line.input = Input::File("in".into());
            line.output = Output::File("out put".into());
            line.directory = Some("/old".into());
        }
        plan.design = Design {
            values: Values {
                read: Vec::new(),
                file: Some("values.txt".into()),
            },
            ..plan.design
        };
        let expected = [
            "sort 'a b' < in > 'out put' (in /old)",
            "prepare: rm -r x",
            "cleanup: sync",
            "uniq c < in > 'out put' (in /old)",
            "(removes values.txt before each launch)",
        ];
        assert_eq!(starts(&plan), expected);
    }

    #[test]
    fn programs_with_benchmarks_are_listed_with_their_arguments() {
        let program = Program {
            executable: "./suite".into(),
            arguments: vec!["--seed=1 2".to_owned()],
            directory: None,
        };
        let contender = |workload| Contender {
            name: "old".to_owned(),
            workload,
        };
        let worker = WorkerCalls {
            program: program.clone(),
            ..WorkerCalls::default()
        };
        let harness = HarnessCalls {
            program: Program {
                directory: Some("/new".into()),
                ..program
            },
            ..HarnessCalls::default()
        };
        let mut plan = CommandRaceSpec {
            commands: vec!["true".to_owned()],
            ..CommandRaceSpec::default()
        }
        .plan()
        .unwrap();
        plan.benchmarks = vec![Benchmark {
            contenders: vec![
                contender(Workload::Worker(Box::new(worker))),
                contender(Workload::Harness(Box::new(harness))),
                contender(Workload::Recording),
            ],
            ..Benchmark::default()
        }];
        let expected = ["./suite '--seed=1 2'", "./suite '--seed=1 2' (in /new)"];
        assert_eq!(starts(&plan), expected);
    }
}
