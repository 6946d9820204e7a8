//! Maps commands to the numbers that the launcher uses, and interprets the result of a launch: its
//! exit code, its output or its failure.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

use deadheat_model::{
    Benchmark, CommandLine, Contender, HELP, Input, Output, Slot, Workload, suggestion,
    without_help,
};

use crate::command_failure::{CommandError, shortened, stopped_by};
use crate::error::EngineError;
use crate::executable::{is_executable, program_paths};
use crate::launcher::image::{Image, MOST_OUTPUT};
use crate::launcher::wire::{HookEnd, Launch, NO_IMAGE, Outcome};
use crate::start_failure::why_not_started;
use crate::subprocess::without_stack_traces;
use crate::valgrind::is_counted;

#[derive(Clone)]
pub(super) struct ContenderImages {
    pub(super) command: u16,
    /// The image of the same command on the user's own link, if outputs are compared.
    pub(super) own: Option<u16>,
    prepare: u16,
    conclude: u16,
}

/// A hook that runs once per benchmark.
#[derive(Clone)]
pub(super) struct Once {
    pub(super) image: u16,
    /// The contender that defines the hook, for messages.
    pub(super) contender: usize,
    pub(super) words: Vec<String>,
}

#[derive(Clone)]
pub(super) struct BenchmarkImages {
    pub(super) name: String,
    pub(super) commands: Vec<CommandLine>,
    pub(super) contenders: Vec<ContenderImages>,
    pub(super) setups: Vec<Once>,
    pub(super) cleanups: Vec<Once>,
}

impl BenchmarkImages {
    pub(super) fn new(
        benchmark: &Benchmark,
        value_file: Option<&Path>,
        images: &mut Vec<Image>,
    ) -> Result<Self, EngineError> {
        let command = |contender: &Contender| match &contender.workload {
            Workload::Command(command) => Ok(CommandLine::clone(command)),
            _ => Err(EngineError::NotRunnable {
                benchmark: benchmark.name.clone(),
                contender: contender.name.clone(),
            }),
        };
        let commands = benchmark.contenders.iter().map(command);
        let commands = commands.collect::<Result<Vec<_>, _>>()?;
        let mut add = |command: &CommandLine, image: Result<Image, _>| {
            images.push(image.map_err(|source| EngineError::Command {
                command: command.text.clone(),
                source,
            })?);
            Ok::<u16, EngineError>((images.len() - 1).min(usize::from(NO_IMAGE)) as u16)
        };
        let mut contenders = Vec::new();
        let (mut setups, mut cleanups) = (Vec::<Once>::new(), Vec::<Once>::new());
        for (contender, command) in commands.iter().enumerate() {
            let mut hook = |words: &Option<Vec<String>>| match words {
                None => Ok(NO_IMAGE),
                Some(words) => {
                    let image = Image::of_words(words);
                    let directory = command.directory.as_deref();
                    let image = image.and_then(|image| image.within(directory));
                    add(command, image.map(|image| image.limited(command.timeout)))
                }
            };
            let prepare = hook(&command.hooks.prepare)?;
            let conclude = hook(&command.hooks.conclude)?;
            // Contenders with the same setup share one run of it, because starting the same server
            // a second time would fail.
            for (list, words) in [
                (&mut setups, &command.hooks.setup),
                (&mut cleanups, &command.hooks.cleanup),
            ] {
                if let Some(text) = words
                    && !list.iter().any(|once| {
                        let other = &commands[once.contender];
                        once.words == *text && other.directory == command.directory
                    })
                {
                    list.push(Once {
                        image: hook(words)?,
                        contender,
                        words: text.clone(),
                    });
                }
            }
            let image = || Image::of_command(command)?.with_value_file(value_file);
            let own = match command.output {
                Output::Compared => Some(add(command, image())?),
                _ => None,
            };
            let command = add(command, image())?;
            contenders.push(ContenderImages {
                command,
                own,
                prepare,
                conclude,
            });
        }
        Ok(Self {
            name: benchmark.name.clone(),
            commands,
            contenders,
            setups,
            cleanups,
        })
    }

    pub(super) fn are_compared(&self) -> bool {
        let is_compared = |command: &CommandLine| command.output == Output::Compared;
        self.commands.iter().any(is_compared)
    }
}

pub(super) fn launch(images: &[ContenderImages], slot: &Slot) -> Launch {
    let images = &images[slot.contender.index()];
    Launch {
        image: images.command,
        prepare: images.prepare,
        conclude: images.conclude,
        padding: slot.padding,
    }
}

/// Returns the error of an unsuccessful launch, or `None` if the user interrupted deadheat.
pub(super) fn cause_of(
    outcome: Outcome,
    command: &CommandLine,
    value_file: Option<&Path>,
    hook_errors: &OwnedFd,
) -> Option<CommandError> {
    let hook = |flag: &'static str, words: &Option<Vec<String>>, end: HookEnd| CommandError::Hook {
        flag,
        hook: words.as_deref().unwrap_or_default().join(" "),
        ended: hook_end(end, words.as_deref().unwrap_or_default(), command),
        errors: tail(hook_errors),
    };
    Some(match outcome {
        Outcome::Cancelled => return None,
        Outcome::Exited(code) => CommandError::Exited(code),
        Outcome::Signalled(libc::SIGILL) if is_counted(&command.words) => {
            CommandError::IllegalInstruction
        }
        Outcome::Signalled(signal) => CommandError::Signalled(signal),
        Outcome::NotStarted(errno) => {
            CommandError::NotStarted(not_started(errno, &command.words, command))
        }
        Outcome::Stopped(signal) => CommandError::Stopped(signal),
        Outcome::TimedOut => CommandError::TimedOut(command.timeout.unwrap_or_default()),
        Outcome::NoInput(errno) => CommandError::NoInput {
            path: match &command.input {
                Input::File(path) => path.clone(),
                Input::Null => "/dev/null".into(),
            },
            error: io::Error::from_raw_os_error(errno),
        },
        Outcome::NoOutput(errno) => CommandError::NoOutput {
            path: match &command.output {
                Output::File(path) => Some(path.clone()),
                _ => None,
            },
            error: io::Error::from_raw_os_error(errno),
        },
        Outcome::NoValueFile(errno) => CommandError::NoValueFile {
            path: value_file.unwrap_or(Path::new("")).to_owned(),
            error: io::Error::from_raw_os_error(errno),
        },
        Outcome::TooMuchOutput => CommandError::TooMuchOutput {
            file: value_file.map(Path::to_owned),
            most: MOST_OUTPUT,
        },
        Outcome::PrepareFailed(end) => hook("--prepare", &command.hooks.prepare, end),
        Outcome::ConcludeFailed(end) => hook("--conclude", &command.hooks.conclude, end),
    })
}

/// Returns the reason why the program in `words`, a command or its hook, could not be started.
///
/// It checks the folder, the shell and the program, because the system only says "No such file".
fn not_started(errno: i32, words: &[String], command: &CommandLine) -> io::Error {
    let error = io::Error::from_raw_os_error(errno);
    let program = words.first().map_or("", String::as_str);
    let directory = command.directory.as_deref();
    if let Some(directory) = directory.filter(|directory| !directory.is_dir()) {
        let message = format!(
            "its working folder '{}' does not exist",
            directory.display()
        );
        return io::Error::new(error.kind(), message);
    }
    let file = match program.contains('/') {
        true => Some(directory.unwrap_or(Path::new("")).join(program)),
        false => program_paths(Path::new(program))
            .into_iter()
            .find(|path| path.exists()),
    };
    let shell = shell_of(command).filter(|shell| words.starts_with(shell));
    let message = match file.filter(|file| errno != libc::ENOENT || file.exists()) {
        Some(file) if shell.is_some() => bad_shell(program, &why_not_started(&error, &file)),
        Some(file) => why_not_started(&error, &file),
        None if errno == libc::ENOENT && shell.is_some() => missing_shell(program),
        None if errno == libc::ENOENT => missing_program(program),
        None => why_not_started(&error, Path::new(program)),
    };
    io::Error::new(error.kind(), message)
}

/// Returns the words of the shell that runs a command, or `None` if deadheat starts the program
/// directly.
fn shell_of(command: &CommandLine) -> Option<&[String]> {
    let (text, shell) = command.words.split_last()?;
    (*text == command.text && !shell.is_empty()).then_some(shell)
}

fn missing_shell(program: &str) -> String {
    let name = shortened(program);
    let place = if program.contains('/') {
        ""
    } else {
        " in PATH"
    };
    format!(
        "there is no shell '{name}'{place}{HELP}-S alone uses sh, --shell=SHELL another one, such as --shell=bash"
    )
}

fn bad_shell(program: &str, why: &str) -> String {
    format!(
        "its shell '{}' cannot be started: {}{HELP}name a shell, such as --shell=bash; -S alone \
         uses sh",
        shortened(program),
        without_help(why)
    )
}

fn missing_program(program: &str) -> String {
    let name = shortened(program);
    match program.split_once('=') {
        Some((variable, _)) if is_variable_name(variable) => format!(
            "there is no program '{name}', because only a shell sets a variable in front of a command\
             {HELP}-S runs commands in a shell; env NAME=VALUE COMMAND needs none"
        ),
        _ if program.contains('/') => {
            let advice = match similar_program(Path::new(program)) {
                Some(similar) => format!("did you mean '{}'?", shortened(&similar)),
                None => "check its path, and whether a build writes it".to_owned(),
            };
            format!("there is no program '{name}'{HELP}{advice}")
        }
        _ if Path::new(program).is_file() => format!(
            "there is no program '{name}' in PATH{HELP}to start the file {name} of this folder, \
             write ./{name}"
        ),
        _ => format!(
            "there is no program '{name}' in PATH{HELP}check its spelling; for a shell builtin, -S runs \
             the commands in a shell"
        ),
    }
}

/// Returns the program in the same folder whose name is most similar to that of a missing one.
fn similar_program(missing: &Path) -> Option<String> {
    const MOST_LOOKED_AT: usize = 5000;
    let folder = missing.parent()?;
    let entries = std::fs::read_dir(folder).ok()?.take(MOST_LOOKED_AT);
    let programs = entries
        .flatten()
        .filter(|entry| is_executable(&entry.path()));
    let names: Vec<String> = programs
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    let wanted = missing.file_name()?.to_str()?;
    let similar = suggestion(wanted, names.iter().map(String::as_str))?;
    Some(folder.join(similar).display().to_string())
}

/// Returns true if `name` is a valid name of a shell variable.
pub fn is_variable_name(name: &str) -> bool {
    let mut letters = name.chars();
    letters
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

pub(super) fn hook_end(end: HookEnd, words: &[String], command: &CommandLine) -> String {
    match end {
        HookEnd::Exited(code) => format!("exited with code {code}"),
        HookEnd::Signalled(signal) => format!("was killed by signal {signal}"),
        HookEnd::Stopped(signal) => stopped_by(signal),
        HookEnd::TimedOut => format!(
            "did not end within {:?} (--timeout) and was killed{HELP}--timeout TIME sets a longer limit \
             for launches and their hooks",
            command.timeout.unwrap_or_default()
        ),
        HookEnd::NotStarted(errno) => {
            format!("cannot be started: {}", not_started(errno, words, command))
        }
    }
}

/// Returns the last lines of a standard error, joined into one line.
pub(super) fn tail(file: &OwnedFd) -> String {
    last_lines(file).join(" | ")
}

/// The maximum number of bytes of a standard error that a message shows.
const MOST_LAST_BYTES: usize = 400;

/// Returns the last lines of a standard error, without stack traces and control characters.
pub(super) fn last_lines(file: &OwnedFd) -> Vec<String> {
    let Ok(file) = file.try_clone().map(File::from) else {
        return Vec::new();
    };
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let start = length.saturating_sub(32 << 10);
    let mut bytes = vec![0; (length - start) as usize];
    let Ok(()) = file.read_exact_at(&mut bytes, start) else {
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let lines = without_stack_traces(&text);
    let mut left = MOST_LAST_BYTES;
    let last = lines.iter().rev().take(3).map_while(|line| {
        let line = line.trim_end();
        let cut = line.len().saturating_sub(left);
        left -= line.len() - cut;
        let from = (cut..line.len()).find(|from| line.is_char_boundary(*from))?;
        Some(line[from..].chars().flat_map(harmless).collect())
    });
    let mut last: Vec<String> = last.collect();
    last.reverse();
    last
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// The number of the line, counted from 1.
    pub(crate) line: usize,
    /// The line of the expected output, quoted and shortened; `None` if the output has ended
    /// before.
    pub(crate) expected: Option<String>,
    pub(crate) found: Option<String>,
}

const CHUNK: usize = 64 * 1024;
/// The maximum number of characters of a line that a message shows.
const SHOWN: usize = 120;

/// Compares two files from their beginnings, regardless of their current positions.
pub(super) fn compare(expected: &File, found: &File) -> io::Result<Option<Difference>> {
    let (mut left, mut right) = (vec![0; CHUNK], vec![0; CHUNK]);
    let mut offset = 0;
    let mut line = 1;
    let mut line_start = 0;
    loop {
        let left_len = read_at(expected, &mut left, offset)?;
        let right_len = read_at(found, &mut right, offset)?;
        let common = left_len.min(right_len);
        let same = left[..common]
            .iter()
            .zip(&right[..common])
            .take_while(|(a, b)| a == b)
            .count();
        for (index, byte) in left[..same].iter().enumerate() {
            if *byte == b'\n' {
                line += 1;
                line_start = offset + index as u64 + 1;
            }
        }
        if same < common || left_len != right_len {
            return Ok(Some(Difference {
                line,
                expected: show_line(expected, line_start)?,
                found: show_line(found, line_start)?,
            }));
        }
        if common == 0 {
            return Ok(None);
        }
        offset += common as u64;
    }
}

/// Fills `buffer` until it is full or the file ends, and returns the number of bytes.
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < buffer.len() {
        match file.read_at(&mut buffer[done..], offset + done as u64)? {
            0 => break,
            count => done += count,
        }
    }
    Ok(done)
}

fn show_line(file: &File, start: u64) -> io::Result<Option<String>> {
    let mut bytes = [0; SHOWN * 4];
    let length = read_at(file, &mut bytes, start)?;
    if length == 0 {
        return Ok(None);
    }
    let bytes = &bytes[..length];
    let end = bytes.iter().position(|byte| *byte == b'\n');
    let text = String::from_utf8_lossy(&bytes[..end.unwrap_or(length)]).into_owned();
    let mut shown: String = text.chars().take(SHOWN).flat_map(harmless).collect();
    if text.chars().count() > SHOWN || (end.is_none() && length == SHOWN * 4) {
        shown.push('…');
    }
    Ok(Some(format!("\"{shown}\"")))
}

/// Returns the first and the last non-empty lines of a text, quoted and shortened.
pub(super) fn outline(text: &str) -> String {
    const EACH: usize = 3;
    let quoted = |line: &str| {
        let line = line.trim_end();
        let mut shown: String = line.chars().take(SHOWN).flat_map(harmless).collect();
        if line.chars().nth(SHOWN).is_some() {
            shown.push('…');
        }
        format!("\"{shown}\"")
    };
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let count = lines().count();
    let mut parts: Vec<String> = lines().take(EACH).map(quoted).collect();
    if count > 2 * EACH {
        parts.push(format!("… {} lines …", count - 2 * EACH));
    }
    parts.extend(
        lines()
            .skip(EACH.max(count.saturating_sub(EACH)))
            .map(quoted),
    );
    parts.join(" ")
}

/// Escapes `c` if it is a control character, so that it is safe to print to a terminal.
fn harmless(c: char) -> impl Iterator<Item = char> {
    let escaped = c.is_control().then(|| c.escape_debug());
    let plain = escaped.is_none().then_some(c);
    escaped.into_iter().flatten().chain(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn quoted(line: &str) -> Option<String> {
        Some(format!("\"{line}\""))
    }

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    fn difference(a: &[u8], b: &[u8]) -> Option<(usize, Option<String>, Option<String>)> {
        compare(&file(a), &file(b))
            .unwrap()
            .map(|d| (d.line, d.expected, d.found))
    }

    #[test]
    fn equal_outputs_do_not_differ_however_long_they_are() {
        let long = vec![b'x'; 3 * CHUNK + 7];
        assert_eq!(difference(b"", b""), None);
        assert_eq!(difference(&long, &long), None);
    }

    #[test]
    fn the_first_differing_line_is_shown_from_both_sides() {
        let found = difference(b"one\ntwo\nthree\n", b"one\ntvo\nthree\n");
        assert_eq!(found, Some((2, quoted("two"), quoted("tvo"))));
    }

    #[test]
    fn an_output_that_stops_early_misses_a_line() {
        let found = difference(b"one\ntwo\n", b"one\n");
        assert_eq!(found, Some((2, quoted("two"), None)));
    }

    #[test]
    fn a_difference_beyond_the_first_chunk_has_the_right_line_number() {
        let mut left = b"line\n".repeat(40_000);
        let right = left.clone();
        left[5 * 39_999] = b'L';
        let (line, expected, _) = difference(&left, &right).unwrap();
        assert_eq!((line, expected), (40_000, quoted("Line")));
    }

    #[test]
    fn the_outline_of_an_output_has_its_first_and_last_lines() {
        assert_eq!(outline(" \n\n"), "");
        assert_eq!(outline("a\n\n b\r\n"), "\"a\" \" b\"");
        let four: String = (1..=4).map(|i| format!("{i}\n")).collect();
        assert_eq!(outline(&four), "\"1\" \"2\" \"3\" \"4\"");
        let many: String = (1..=100).map(|i| format!("{i}\n")).collect();
        let expected = "\"1\" \"2\" \"3\" … 94 lines … \"98\" \"99\" \"100\"";
        assert_eq!(outline(&many), expected);
        let endless = outline(&format!("\u{1b}{}", "y".repeat(5000)));
        assert!(endless.starts_with("\"\\u{1b}yy") && endless.ends_with("…\""));
    }

    #[test]
    fn control_characters_and_endless_lines_are_shown_safely() {
        let (_, expected, found) = difference(b"\x1b[31m\xff", &[b'y'; 5000]).unwrap();
        assert!(expected.unwrap().starts_with("\"\\u{1b}[31m"));
        let found = found.unwrap();
        assert!(found.ends_with("…\"") && found.chars().count() < 130);
    }
}
