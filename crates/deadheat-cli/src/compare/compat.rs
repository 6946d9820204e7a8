//! `deadheat compare --compat`, also under the name `compare.py`: what Google Benchmark's compare.py does, with its
//! output and its exit codes.

use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use deadheat::engine::{Ended, run_in_foreground};
use deadheat::format::{
    FileKind, TemporaryFile, ensure_readable, file_kind, read_bytes, write_text,
};
use deadheat_compat::{
    Arguments, Document, JsonError, Layout, Problem, Refusal, Report, Results, Stop, flag,
    refused_format, warning_about_output, warnings_about_json,
};

use super::held_output::{HeldOutput, complain};

/// The name under which the program is the original's successor.
const ORIGINAL: &str = "compare.py";

/// What the original leaves with whenever it ends in a traceback, and on inputs that are none.
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
    let arguments: Vec<Vec<u8>> = arguments.into_iter().map(OsString::into_vec).collect();
    let mut output = HeldOutput::new();
    let opened = |file: &[u8]| ensure_readable(path(file)).map_err(|error| error.to_string());
    let code = match Arguments::read(program, &arguments, &mut { opened }) {
        Ok(arguments) => {
            let mut run = Run {
                program,
                arguments,
                output: &mut output,
            };
            run.compare().err().unwrap_or(0)
        }
        Err(Stop::Help { text, code }) => {
            output.text(text.as_bytes());
            code
        }
        Err(Stop::Usage { usage, what }) => {
            complain(program, &format!("{what}\n{usage}"));
            2
        }
        Err(Stop::Unknown(option)) => {
            let option = String::from_utf8_lossy(&option);
            let what = "there is no such option; what is for executables stands behind the last file or filter";
            complain(program, &format!("{option}: {what}"));
            FAILED
        }
    };
    output.finish(program, code)
}

fn path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
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
    Text(Vec<u8>),
    Unreadable(String),
}

/// What became of a JSON text: no JSON, no results, or results.
type Loaded<'a> = Result<Result<Results<'a>, Refusal>, JsonError>;

impl Run<'_> {
    fn compare(&mut self) -> Result<(), u8> {
        let files = self.arguments.mode.files().map(<[u8]>::to_vec);
        let options = self.options();
        let inputs = [Input::look(&files[0]), Input::look(&files[1])];
        let mut loaded = std::thread::scope(|scope| {
            let first = scope.spawn(|| load(&inputs[0], &options[0]));
            let second = load(&inputs[1], &options[1]);
            [first.join().unwrap_or_default(), second]
        });
        self.check(&inputs, &loaded)?;

        // The first executable may write what the second side reads.
        let stale = matches!(inputs[0], Input::Executable);
        let texts = [OnceCell::new(), OnceCell::new()];
        let old = self.side(
            &files[0],
            &options[0],
            &inputs[0],
            loaded[0].take(),
            &texts[0],
        )?;
        let again = stale.then(|| Input::look(&files[1]));
        let new = match &again {
            Some(input) => {
                let loaded = load(input, &options[1]);
                self.side(&files[1], &options[1], input, loaded, &texts[1])?
            }
            None => self.side(
                &files[1],
                &options[1],
                &inputs[1],
                loaded[1].take(),
                &texts[1],
            )?,
        };
        let (old, new) = self.families(old, new.of_second_side())?;
        let report = Report::of(&old, &new, self.arguments.test)
            .map_err(|problem| self.failed(&files[usize::from(problem.second)], &problem))?;
        self.print(&report)
    }

    /// What is passed to the executable of each side, or applied to its results.
    fn options(&self) -> [Vec<Vec<u8>>; 2] {
        let mut shared = self.arguments.options.clone();
        if self.arguments.aggregates_only {
            shared.push(b"--benchmark_display_aggregates_only=true".to_vec());
        }
        let mut options = [shared.clone(), shared];
        if let Some(filters) = self.arguments.mode.filters() {
            for (options, filter) in options.iter_mut().zip(filters) {
                options.push([b"--benchmark_filter=", filter].concat());
            }
        }
        options
    }

    fn check(&mut self, inputs: &[Input; 2], loaded: &[Option<Loaded<'_>>; 2]) -> Result<(), u8> {
        let options = &self.arguments.options;
        if inputs
            .iter()
            .all(|input| matches!(input, Input::Executable))
            && let Some(file) = flag("--benchmark_out=", options).filter(|file| !file.is_empty())
        {
            self.output.line(&warning_about_output(file));
        }
        if loaded.iter().all(|loaded| matches!(loaded, Some(Ok(_)))) {
            for line in warnings_about_json(options) {
                self.output.line(&line);
            }
        }
        match refused_format(options) {
            None => Ok(()),
            Some(line) => {
                self.output.line(&line);
                Err(FAILED)
            }
        }
    }

    /// The results of a side: those of its JSON, or those its executable writes.
    fn side<'t>(
        &mut self,
        file: &[u8],
        options: &[Vec<u8>],
        input: &Input,
        loaded: Option<Loaded<'t>>,
        text: &'t OnceCell<Vec<u8>>,
    ) -> Result<Results<'t>, u8> {
        let invalid = match (input, loaded) {
            (Input::Executable, _) => return self.run(file, options, text),
            (_, Some(Ok(results))) => {
                return results.map_err(|refusal| self.refused(file, &refusal));
            }
            (Input::Missing, _) => "does not exist",
            (Input::NotAFile, _) => "does not name a file",
            (input, loaded) => {
                let why = match (input, loaded) {
                    (Input::Unreadable(why), _) => why.clone(),
                    (_, Some(Err(error))) => error.to_string(),
                    _ => "it could not be read".to_owned(),
                };
                self.complain(file, &why);
                "does not name a valid benchmark executable or JSON file"
            }
        };
        let line = [b"Invalid input file: '", file, b"' ", invalid.as_bytes()].concat();
        self.output.line(&line);
        Err(FAILED)
    }

    fn run<'t>(
        &mut self,
        file: &[u8],
        options: &[Vec<u8>],
        text: &'t OnceCell<Vec<u8>>,
    ) -> Result<Results<'t>, u8> {
        let mut options = options.to_vec();
        let mut temporary = None;
        let written = match flag("--benchmark_out=", &options) {
            Some(written) => written.to_vec(),
            None => {
                let created = self.temporary(file)?;
                let written = created.path().as_os_str().as_bytes().to_vec();
                temporary = Some(created);
                options.push([b"--benchmark_out=", written.as_slice()].concat());
                written
            }
        };
        let mut line = b"RUNNING: ".to_vec();
        line.extend_from_slice(file);
        for option in &options {
            line.push(b' ');
            line.extend_from_slice(option);
        }
        self.output.line(&line);
        let arguments: Vec<OsString> = options.into_iter().map(OsString::from_vec).collect();
        match run_in_foreground(OsStr::from_bytes(file), &arguments) {
            Ok(Ended::Exited(0)) => {}
            Ok(ended) => {
                self.output.line(b"TEST FAILED...");
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
        let read = read_bytes(path(&written));
        drop(temporary);
        let read = read.map_err(|error| {
            self.complain(file, &format!("what it should have written: {error}"));
            FAILED
        })?;
        match Document::read(text.get_or_init(|| read)) {
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

    fn temporary(&self, file: &[u8]) -> Result<TemporaryFile, u8> {
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
    fn families<'t>(
        &mut self,
        old: Results<'t>,
        new: Results<'t>,
    ) -> Result<(Results<'t>, Results<'t>), u8> {
        let Some(filters) = self.arguments.mode.filters() else {
            return Ok((old, new));
        };
        let files = self.arguments.mode.files();
        let [first, second] = filters.map(String::from_utf8_lossy);
        let replacement = format!("[{first} vs. {second}]");
        let old = old.family(&first, &replacement);
        let old = old.map_err(|problem| self.failed(files[0], &problem))?;
        let new = new.family(&second, &replacement);
        let new = new.map_err(|problem| self.failed(files[1], &problem))?;
        Ok((old, new))
    }

    fn print(&mut self, report: &Report<'_>) -> Result<(), u8> {
        let arguments = &self.arguments;
        let (table, problem) = report.table(&Layout {
            aggregates_only: arguments.aggregates_only,
            test: arguments.test,
            alpha: arguments.alpha,
            colour: arguments.colour,
        });
        self.output.line(&arguments.mode.description());
        self.output.text(table.as_bytes());
        if let Some(problem) = problem {
            complain(self.program, &problem.to_string());
            return Err(FAILED);
        }
        match &arguments.dump {
            None => Ok(()),
            Some(file) => write_text(path(file), &report.dump()).map_err(|error| {
                complain(self.program, &format!("-d: {error}"));
                FAILED
            }),
        }
    }

    fn refused(&mut self, file: &[u8], refusal: &Refusal) -> u8 {
        if let Some(line) = refusal.printed(file) {
            self.output.line(&line);
        }
        match refusal {
            Refusal::Problem(problem) => self.failed(file, problem),
            Refusal::Schema(_) => FAILED,
        }
    }

    /// Where the original ends in a traceback.
    fn failed(&self, file: &[u8], problem: &Problem) -> u8 {
        let more = "compare.py stops at this too, deadheat compare without --compat may not";
        self.complain(file, &format!("{problem}; {more}"));
        FAILED
    }

    fn complain(&self, file: &[u8], what: &str) {
        let file = String::from_utf8_lossy(file);
        complain(self.program, &format!("{file}: {what}"));
    }
}

impl Input {
    fn look(file: &[u8]) -> Self {
        let unreadable = |error: &dyn std::fmt::Display| Self::Unreadable(error.to_string());
        match file_kind(path(file)) {
            Ok(FileKind::Missing) => Self::Missing,
            Ok(FileKind::NotAFile) => Self::NotAFile,
            Ok(FileKind::Executable) => Self::Executable,
            Ok(FileKind::Plain) => match read_bytes(path(file)) {
                Ok(text) => Self::Text(text),
                Err(error) => unreadable(&error),
            },
            Err(error) => unreadable(&error),
        }
    }
}

/// `None` for what is no text.
fn load<'t>(input: &'t Input, options: &[Vec<u8>]) -> Option<Loaded<'t>> {
    let Input::Text(text) = input else {
        return None;
    };
    let filter = flag("--benchmark_filter=", options).map(String::from_utf8_lossy);
    Some(Document::read(text).map(|document| document.results(filter.as_deref())))
}
