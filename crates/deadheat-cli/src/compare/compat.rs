//! `deadheat compare --compat`, also under the name `compare.py`: what Google Benchmark's compare.py does, with its
//! output and its exit codes.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use deadheat::parts::engine::{Ended, run_in_foreground};
use deadheat::parts::format::{
    FileKind, FormatError, TemporaryFile, ensure_readable, file_kind, open_pieces, read_bytes,
    write_text_by,
};
use deadheat_compat::{Document, JsonError, Layout, Problem, Refusal, Report, Results};

use super::compat_arguments::{Arguments, flag};
use super::held_output::{HeldOutput, complain};

/// The name under which the program is the original's successor.
const ORIGINAL: &str = "compare.py";

/// The exit code of the original whenever it ends in a traceback, and on inputs that are none.
const FAILED: u8 = 1;

/// Runs as the successor of compare.py if the command line says so: by the name of the program, or by `compare --compat`.
pub fn role(mut command_line: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let name = PathBuf::from(command_line.next()?);
    let (program, arguments) = if name.file_name() == Some(OsStr::new(ORIGINAL)) {
        (ORIGINAL, command_line.collect())
    } else {
        if command_line.next()? != "compare" || command_line.next()? != "--compat" {
            return None;
        }
        ("deadheat compare --compat", command_line.collect())
    };
    Some(compat(program, arguments).into())
}

fn compat(program: &str, arguments: Vec<OsString>) -> u8 {
    let mut output = HeldOutput::new();
    let open = |file: &OsStr| ensure_readable(Path::new(file)).map_err(|error| error.to_string());
    let code = match Arguments::read(program, arguments, open) {
        Ok(arguments) => {
            let mut run = Run {
                program,
                arguments,
                output: &mut output,
            };
            run.compare().err().unwrap_or(0)
        }
        Err(stop) => {
            if stop.is_help {
                output.line(&[stop.text.trim_end().as_bytes()]);
            } else {
                complain(program, stop.text.trim_end());
            }
            stop.code
        }
    };
    output.finish(program, code)
}

/// One comparison. Every step that ends it gives back the exit code.
struct Run<'p> {
    program: &'p str,
    arguments: Arguments,
    output: &'p mut HeldOutput,
}

/// A side before it is read.
enum Input {
    Missing,
    NotAFile,
    Executable,
    Loaded(Box<Loaded>),
    Unreadable(String),
}

/// The outcome of reading a JSON text: no JSON, no results, or results.
type Loaded = Result<Result<Results, Refusal>, JsonError>;

impl Run<'_> {
    fn compare(&mut self) -> Result<(), u8> {
        let files = self.arguments.files.clone();
        let options = self.options();
        let [old, new] = std::thread::scope(|scope| {
            let first = scope.spawn(|| Input::look(&files[0], &options[0]));
            let second = Input::look(&files[1], &options[1]);
            [first.join().unwrap_or(Input::Missing), second]
        });
        self.check([&old, &new])?;

        // The first executable may have written what the second side reads.
        let again = matches!(old, Input::Executable);
        let old = self.side(&files[0], &options[0], old)?;
        let new = if again {
            Input::look(&files[1], &options[1])
        } else {
            new
        };
        let new = self.side(&files[1], &options[1], new)?;
        let (old, new) = self.families(old, new.of_second_side())?;
        let report = Report::of(&old, &new, !self.arguments.options.no_utest)
            .map_err(|problem| self.failed(&files[usize::from(problem.second)], &problem))?;
        self.print(&report)
    }

    /// The options passed to the executable of each side, or applied to its results.
    fn options(&self) -> [Vec<OsString>; 2] {
        let mut shared = self.arguments.passed_on.clone();
        if self.arguments.options.aggregates_only {
            shared.push("--benchmark_display_aggregates_only=true".into());
        }
        let mut options = [shared.clone(), shared];
        if let Some(filters) = &self.arguments.filters {
            for (options, filter) in options.iter_mut().zip(filters) {
                options.push(joined("--benchmark_filter=", filter));
            }
        }
        options
    }

    /// Warns of options that change nothing, and refuses a format that is not JSON.
    fn check(&mut self, inputs: [&Input; 2]) -> Result<(), u8> {
        let options = &self.arguments.passed_on;
        let are_executables = inputs
            .iter()
            .all(|input| matches!(input, Input::Executable));
        if are_executables
            && let Some(file) = flag("--benchmark_out=", options).filter(|file| !file.is_empty())
        {
            self.output.line(&[
                b"WARNING: '--benchmark_out=",
                file.as_bytes(),
                b"' will be passed to both benchmarks causing it to be overwritten",
            ]);
        }
        if inputs
            .iter()
            .all(|input| matches!(input, Input::Loaded(loaded) if loaded.is_ok()))
        {
            let filter = b"--benchmark_filter=";
            let options = options.iter().map(|option| option.as_bytes());
            for option in options.filter(|option| !option.starts_with(filter)) {
                let effect = b" has no effect since both inputs are JSON";
                self.output.line(&[b"WARNING: passing ", option, effect]);
            }
        }
        let format = flag("--benchmark_out_format=", options);
        let Some(format) = format.filter(|format| *format != "json") else {
            return Ok(());
        };
        let refused = b"ERROR: passing '--benchmark_out_format=";
        let end = b"' to 'compare.py` is not supported.";
        self.output.line(&[refused, format.as_bytes(), end]);
        Err(FAILED)
    }

    /// The results of a side: those of its JSON, or those its executable writes.
    fn side(&mut self, file: &OsStr, options: &[OsString], input: Input) -> Result<Results, u8> {
        let invalid = match input {
            Input::Executable => return self.run(file, options),
            Input::Loaded(loaded) => match *loaded {
                Ok(results) => return results.map_err(|refusal| self.refused(file, &refusal)),
                Err(error) => self.invalid(file, &error.to_string()),
            },
            Input::Missing => "does not exist",
            Input::NotAFile => "does not name a file",
            Input::Unreadable(why) => self.invalid(file, &why),
        };
        let words = [
            b"Invalid input file: '",
            file.as_bytes(),
            b"' ",
            invalid.as_bytes(),
        ];
        self.output.line(&words);
        Err(FAILED)
    }

    /// Says why a file is none that can be read.
    fn invalid(&self, file: &OsStr, why: &str) -> &'static str {
        self.complain(file, why);
        "does not name a valid benchmark executable or JSON file"
    }

    fn run(&mut self, file: &OsStr, options: &[OsString]) -> Result<Results, u8> {
        let mut options = options.to_vec();
        let mut temporary = None;
        let written = match flag("--benchmark_out=", &options) {
            Some(written) => written.to_owned(),
            None => {
                let created = self.temporary(file)?;
                let written = created.path().as_os_str().to_owned();
                temporary = Some(created);
                options.push(joined("--benchmark_out=", &written));
                written
            }
        };
        let words = [OsStr::new("RUNNING:"), file].into_iter();
        let words: Vec<&OsStr> = words
            .chain(options.iter().map(OsString::as_os_str))
            .collect();
        self.output.line(&[words.join(OsStr::new(" ")).as_bytes()]);
        match run_in_foreground(file, &options) {
            Ok(Ended::Exited(0)) => {}
            Ok(ended) => {
                self.output.line(&[b"TEST FAILED..."]);
                return Err(match ended {
                    Ended::Exited(code) => code as u8,
                    // Python leaves with the negative number of the signal.
                    Ended::Killed(signal) => (-signal) as u8,
                });
            }
            Err(error) => {
                self.complain(file, &format!("it cannot be started: {error}"));
                return Err(FAILED);
            }
        }
        let read = document(Path::new(&written));
        drop(temporary);
        let read = read.map_err(|error| {
            self.complain(file, &format!("what it should have written: {error}"));
            FAILED
        })?;
        match read {
            // The executable has filtered already.
            Ok(document) => document
                .results(None)
                .map_err(|refusal| self.refused(&written, &refusal)),
            Err(error) => {
                self.complain(file, &format!("what it wrote is no JSON: {error}"));
                Err(FAILED)
            }
        }
    }

    fn temporary(&self, file: &OsStr) -> Result<TemporaryFile, u8> {
        let variables = ["TMPDIR", "TEMP", "TMP"]
            .into_iter()
            .filter_map(std::env::var_os);
        let folders = ["/tmp", "/var/tmp", "/usr/tmp", "."].map(OsString::from);
        let mut why = String::new();
        for folder in variables.filter(|folder| !folder.is_empty()).chain(folders) {
            match TemporaryFile::create_in(&folder) {
                Ok(created) => return Ok(created),
                Err(error) => why = error.to_string(),
            }
        }
        self.complain(
            file,
            &format!("there is no place for what it writes: {why}"),
        );
        Err(FAILED)
    }

    /// The families that the filters find, both under one name.
    fn families(&mut self, old: Results, new: Results) -> Result<(Results, Results), u8> {
        let Arguments { files, filters, .. } = &self.arguments;
        let Some([first, second]) = filters else {
            return Ok((old, new));
        };
        let (first, second) = (first.to_string_lossy(), second.to_string_lossy());
        let replacement = format!("[{first} vs. {second}]");
        let old = old.family(&first, &replacement);
        let old = old.map_err(|problem| self.failed(&files[0], &problem))?;
        let new = new.family(&second, &replacement);
        let new = new.map_err(|problem| self.failed(&files[1], &problem))?;
        Ok((old, new))
    }

    fn print(&mut self, report: &Report<'_>) -> Result<(), u8> {
        let options = &self.arguments.options;
        let layout = Layout {
            aggregates_only: options.aggregates_only,
            test: !options.no_utest,
            alpha: options.alpha,
            colour: !options.no_color,
        };
        self.output.line(&[self.arguments.description.as_bytes()]);
        if let Ok(Some(problem)) = report.table(&layout, self.output) {
            complain(self.program, &problem.to_string());
            return Err(FAILED);
        }
        match &options.dump {
            None => Ok(()),
            Some(file) => write_text_by(file, |out| report.dump(out)).map_err(|error| {
                complain(self.program, &format!("-d: {error}"));
                FAILED
            }),
        }
    }

    fn refused(&mut self, file: &OsStr, refusal: &Refusal) -> u8 {
        match refusal {
            Refusal::Problem(problem) => self.failed(file, problem),
            Refusal::Schema(version) => {
                let schema = b", got unsupported JSON schema version: ";
                let words = [b"In ", file.as_bytes(), schema, version.as_bytes()];
                self.output.line(&[&words.concat(), b", expected 1"]);
                FAILED
            }
        }
    }

    /// Where the original ends in a traceback.
    fn failed(&self, file: &OsStr, problem: &Problem) -> u8 {
        let more = "compare.py stops at this too, deadheat compare without --compat may not";
        self.complain(file, &format!("{problem}; {more}"));
        FAILED
    }

    fn complain(&self, file: &OsStr, what: &str) {
        let file = file.to_string_lossy();
        complain(self.program, &format!("{file}: {what}"));
    }
}

impl Input {
    /// Finds out what stands under a name, and reads it where it is a text.
    fn look(file: &OsStr, options: &[OsString]) -> Self {
        let file = Path::new(file);
        let unreadable = |error: &dyn std::fmt::Display| Self::Unreadable(error.to_string());
        match file_kind(file) {
            Ok(FileKind::Missing) => Self::Missing,
            Ok(FileKind::NotAFile) => Self::NotAFile,
            Ok(FileKind::Executable) => Self::Executable,
            Ok(FileKind::Plain) => match document(file) {
                Ok(document) => {
                    let filter = flag("--benchmark_filter=", options).map(OsStr::to_string_lossy);
                    let results = document.map(|document| document.results(filter.as_deref()));
                    Self::Loaded(Box::new(results))
                }
                Err(error) => unreadable(&error),
            },
            Err(error) => unreadable(&error),
        }
    }
}

/// Reads a plain file: piece by piece, and as a whole where that finds something wrong.
fn document(file: &Path) -> Result<Result<Document, JsonError>, FormatError> {
    match Document::read_pieces(open_pieces(file)?) {
        Some(document) => Ok(Ok(document)),
        None => Ok(Document::read(&read_bytes(file)?)),
    }
}

fn joined(option: &str, value: &OsStr) -> OsString {
    [OsStr::new(option), value].into_iter().collect()
}
