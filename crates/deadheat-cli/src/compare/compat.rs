//! `deadheat compare --compat`, also called `compare.py`: the command line, output and exit codes
//! of Google Benchmark's compare.py.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Arg, Args, Command, FromArgMatches};
use deadheat::parts::format::{
    FileKind, FormatError, TemporaryFile, ensure_readable, file_kind, open_pieces, read_bytes,
    write_text_by,
};
use deadheat::parts::model::{HELP, path_of_bytes};
use deadheat::parts::system::{Ended, run_in_foreground};
use deadheat_compat::{Document, JsonError, Layout, Problem, Refusal, Report, Results};

use super::held_output::{HeldOutput, complain};

/// The exit code for an unknown option. Google Benchmark's compare.py ends in a traceback at such
/// an option.
const UNKNOWN_OPTION: u8 = 1;

/// The parsed arguments of one call of compare.py.
#[derive(Debug, Clone, PartialEq)]
pub struct Arguments {
    /// The options that precede the mode.
    pub options: Options,
    /// The two files, which may be the same.
    pub files: [OsString; 2],
    /// The regular expressions that select two families of benchmarks. `None` if the mode has no
    /// filters or one of them is empty.
    pub filters: Option<[OsString; 2]>,
    /// The line above the table.
    pub description: OsString,
    /// The arguments passed on to executables.
    pub passed_on: Vec<OsString>,
}

/// The options of the original.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Options {
    /// Print aggregates and U tests only
    #[arg(short = 'a', long = "display_aggregates_only")]
    pub aggregates_only: bool,
    /// Print no colours
    #[arg(long)]
    pub no_color: bool,
    /// Also write the comparison to this file as JSON
    #[arg(short, long = "dump_to_json", value_name = "FILE")]
    pub dump: Option<OsString>,
    /// Make no U test
    #[arg(long)]
    pub no_utest: bool,
    /// Print p-values from here on in red
    #[arg(long, default_value_t = 0.05, allow_hyphen_values = true)]
    pub alpha: f64,
}

/// The modes, each with its help and the names of its files and filters.
const MODES: [(&str, &str, &[&str]); 3] = [
    (
        "benchmarks",
        "Compares all benchmarks that two files have in common",
        &["test_baseline", "test_contender"],
    ),
    (
        "filters",
        "Compares two families of benchmarks in one file",
        &["test", "filter_baseline", "filter_contender"],
    ),
    (
        "benchmarksfiltered",
        "Compares a family of benchmarks in one file with a family in another",
        &[
            "test_baseline",
            "filter_baseline",
            "test_contender",
            "filter_contender",
        ],
    ),
];

/// A message that replaces a comparison, with its exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    pub text: String,
    pub code: u8,
    /// True if the text is help, which goes to standard output.
    pub is_help: bool,
}

impl From<clap::Error> for Stop {
    fn from(error: clap::Error) -> Self {
        let code = match error.kind() {
            ErrorKind::DisplayHelp => 0,
            ErrorKind::UnknownArgument => UNKNOWN_OPTION,
            _ => 2,
        };
        Self {
            text: error.to_string(),
            code,
            is_help: code == 0,
        }
    }
}

impl Arguments {
    /// Reads the command line of `program`. `open` checks a file that the user named and returns
    /// what is wrong with it. As in Google Benchmark's compare.py, "-" becomes the file `<stdin>`,
    /// which is then not found.
    ///
    /// # Errors
    ///
    /// Returns help or a usage error as a [`Stop`].
    pub fn read(
        program: &str,
        arguments: impl IntoIterator<Item = OsString>,
        open: impl Fn(&OsStr) -> Result<(), String>,
    ) -> Result<Self, Stop> {
        let mut command = command(program);
        let mut matches = command.try_get_matches_from_mut(arguments)?;
        let Some((mode, mut given)) = matches.remove_subcommand() else {
            return Err(Stop {
                text: command.render_help().to_string(),
                code: 1,
                is_help: true,
            });
        };
        let names = MODES.iter().find(|(name, ..)| *name == mode);
        let (mut files, mut filters) = (Vec::new(), Vec::new());
        for name in names.map_or(&[][..], |(_, _, names)| names) {
            let word = given.remove_one::<OsString>(name).unwrap_or_default();
            if name.starts_with("filter") {
                filters.push(word);
            } else if word == "-" {
                files.push(OsString::from("<stdin>"));
            } else {
                open(&word).map_err(|what| Stop {
                    text: format!("{name}: {what}"),
                    code: 2,
                    is_help: false,
                })?;
                files.push(word);
            }
        }
        let text = |text: &'static str| OsStr::new(text);
        let [to, from, end] = [text(" to "), text(" (from "), text(")")];
        let (pair, description): ([usize; 2], Vec<&OsStr>) = match (&files[..], &filters[..]) {
            ([file], [old, new]) => ([0, 0], vec![old, to, new, from, file, end]),
            ([old_file, new_file], [old, new]) => (
                [0, 1],
                vec![old, from, old_file, end, to, new, from, new_file, end],
            ),
            _ => ([0, 1], vec![&files[0], to, &files[1]]),
        };
        let description = [&[text("Comparing ")], &description[..]].concat();
        Ok(Self {
            options: Options::from_arg_matches(&matches)?,
            description: description.into_iter().collect(),
            files: pair.map(|file| files[file].clone()),
            filters: <[OsString; 2]>::try_from(filters)
                .ok()
                .filter(|filters| filters.iter().all(|filter| !filter.is_empty())),
            passed_on: given
                .remove_many("benchmark_options")
                .map_or_else(Vec::new, Iterator::collect),
        })
    }
}

fn command(program: &str) -> Command {
    let modes = MODES.map(|(name, about, words)| {
        let words = words.iter().map(|word| {
            let is_filter = word.starts_with("filter");
            let help = if is_filter {
                "A regular expression"
            } else {
                "An executable to run, or JSON that an executable wrote"
            };
            let word = argument(word).required(true).help(help);
            word.allow_hyphen_values(is_filter)
        });
        let options = argument("benchmark_options")
            .help("Arguments for the executables")
            .num_args(0..)
            .trailing_var_arg(true)
            .allow_hyphen_values(true);
        Command::new(name).about(about).args(words).arg(options)
    });
    Options::augment_args(Command::new("compare.py"))
        .about("Compares results of Google Benchmark as its compare.py does")
        .bin_name(program)
        .no_binary_name(true)
        .infer_long_args(true)
        .args_override_self(true)
        .disable_help_subcommand(true)
        .subcommands(modes)
}

fn argument(name: &'static str) -> Arg {
    Arg::new(name).value_parser(clap::value_parser!(OsString))
}

/// Returns the value of the last option that begins with `prefix`, which ends in an equals sign.
pub fn flag(prefix: &str, options: &[OsString]) -> Option<OsString> {
    let options = options.iter().rev().map(|option| option.as_encoded_bytes());
    let mut values = options.filter_map(|option| option.strip_prefix(prefix.as_bytes()));
    values
        .next()
        .map(|value| path_of_bytes(value).into_os_string())
}

/// The name under which this program behaves like compare.py.
const ORIGINAL: &str = "compare.py";

/// The exit code for invalid input, and for errors on which Google Benchmark's compare.py ends in a
/// traceback.
const FAILED: u8 = 1;

/// Runs as compare.py if the program has that name or is called as `compare --compat`; otherwise
/// returns `None`.
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
            } else if stop.text.contains("unrecognized subcommand") && program != ORIGINAL {
                let problem = stop.text.lines().next().unwrap_or_default();
                let problem = problem.replace("unrecognized subcommand", "there is no mode");
                let help = "name a mode first: deadheat compare --compat benchmarks OLD NEW";
                complain(program, &format!("{problem}{HELP}{help}"));
            } else {
                complain(program, stop.text.trim_end());
            }
            stop.code
        }
    };
    output.finish(program, code)
}

/// The state of one comparison. A step that ends the comparison returns the exit code as its error.
struct Run<'p> {
    program: &'p str,
    arguments: Arguments,
    output: &'p mut HeldOutput,
}

/// A file of a side. JSON files have been read already.
enum Input {
    Missing,
    NotAFile,
    Executable,
    Loaded(Box<Loaded>),
    Unreadable(String),
}

/// The outcome of reading JSON: malformed JSON, JSON without results, or results.
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

        // The first executable may write the file of the second side, so that file is opened again.
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

    /// Returns the options for the executable of each side, or for filtering its results.
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

    /// Warns about options without effect, and refuses a format that is not JSON.
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
                file.as_encoded_bytes(),
                b"' will be passed to both benchmarks causing it to be overwritten",
            ]);
        }
        if inputs
            .iter()
            .all(|input| matches!(input, Input::Loaded(loaded) if loaded.is_ok()))
        {
            let filter = b"--benchmark_filter=";
            let options = options.iter().map(|option| option.as_encoded_bytes());
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
        self.output.line(&[refused, format.as_encoded_bytes(), end]);
        Err(FAILED)
    }

    /// Returns the results of a side: from its JSON file, or from a run of its executable.
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
            file.as_encoded_bytes(),
            b"' ",
            invalid.as_bytes(),
        ];
        self.output.line(&words);
        Err(FAILED)
    }

    /// Reports why a file cannot be read, and returns the text that Google Benchmark's compare.py
    /// prints about such a file.
    fn invalid(&self, file: &OsStr, why: &str) -> &'static str {
        self.complain(file, why);
        "does not name a valid benchmark executable or JSON file"
    }

    fn run(&mut self, file: &OsStr, options: &[OsString]) -> Result<Results, u8> {
        let mut options = options.to_vec();
        let mut temporary = None;
        let written = match flag("--benchmark_out=", &options) {
            Some(written) => written,
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
        self.output
            .line(&[words.join(OsStr::new(" ")).as_encoded_bytes()]);
        match run_in_foreground(file, &options) {
            Ok(Ended::Exited(0)) => {}
            Ok(ended) => {
                self.output.line(&[b"TEST FAILED..."]);
                return Err(match ended {
                    Ended::Exited(code) => code as u8,
                    // Python exits with the negated number of the signal.
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
            self.complain(file, &format!("its output cannot be read: {error}"));
            FAILED
        })?;
        match read {
            // The executable has already applied the filter.
            Ok(document) => document
                .results(None)
                .map_err(|refusal| self.refused(&written, &refusal)),
            Err(error) => {
                self.complain(file, &format!("its output is not JSON: {error}"));
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
            &format!("no temporary file can be made for its results: {why}"),
        );
        Err(FAILED)
    }

    /// Returns the families that the filters select, with the same name on both sides.
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
        self.output
            .line(&[self.arguments.description.as_encoded_bytes()]);
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
                let words = [b"In ", file.as_encoded_bytes(), schema, version.as_bytes()];
                self.output.line(&[&words.concat(), b", expected 1"]);
                FAILED
            }
        }
    }

    /// Reports an error on which Google Benchmark's compare.py ends in a traceback, and returns the
    /// exit code.
    fn failed(&self, file: &OsStr, problem: &Problem) -> u8 {
        let more = "compare.py stops at this, too; deadheat compare without --compat may not";
        self.complain(file, &format!("{problem}; {more}"));
        FAILED
    }

    fn complain(&self, file: &OsStr, what: &str) {
        let file = file.to_string_lossy();
        complain(self.program, &format!("{file}: {what}"));
    }
}

impl Input {
    /// Determines the kind of a file, and reads it if it is neither a folder nor an executable.
    fn look(file: &OsStr, options: &[OsString]) -> Self {
        let file = Path::new(file);
        let unreadable = |error: &dyn std::fmt::Display| Self::Unreadable(error.to_string());
        match file_kind(file) {
            Ok(FileKind::Missing) => Self::Missing,
            Ok(FileKind::NotAFile) => Self::NotAFile,
            Ok(FileKind::Executable) => Self::Executable,
            Ok(FileKind::Plain) => match document(file) {
                Ok(document) => {
                    let filter = flag("--benchmark_filter=", options);
                    let filter = filter.as_deref().map(OsStr::to_string_lossy);
                    let results = document.map(|document| document.results(filter.as_deref()));
                    Self::Loaded(Box::new(results))
                }
                Err(error) => unreadable(&error),
            },
            Err(error) => unreadable(&error),
        }
    }
}

/// Reads a plain file in pieces. If a piece is invalid, reads the whole file for the error message.
fn document(file: &Path) -> Result<Result<Document, JsonError>, FormatError> {
    match Document::read_pieces(open_pieces(file)?) {
        Some(document) => Ok(Ok(document)),
        None => Ok(Document::read(&read_bytes(file)?)),
    }
}

fn joined(option: &str, value: &OsStr) -> OsString {
    [OsStr::new(option), value].into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Result<Arguments, Stop> {
        Arguments::read("compare.py", arguments.iter().map(OsString::from), |file| {
            if file == "missing" {
                Err("it is not there".to_owned())
            } else {
                Ok(())
            }
        })
    }

    fn code(arguments: &[&str]) -> u8 {
        match read(arguments) {
            Ok(_) => panic!("{arguments:?} were read"),
            Err(stop) => stop.code,
        }
    }

    #[test]
    fn nothing_but_two_files_leaves_everything_as_it_is() {
        assert_eq!(
            read(&["benchmarks", "a", "b"]).unwrap(),
            Arguments {
                options: Options {
                    aggregates_only: false,
                    no_color: false,
                    dump: None,
                    no_utest: false,
                    alpha: 0.05,
                },
                files: ["a".into(), "b".into()],
                filters: None,
                description: "Comparing a to b".into(),
                passed_on: vec![],
            }
        );
    }

    #[test]
    fn options_are_known_by_every_beginning_that_is_theirs_alone() {
        let mode = ["benchmarks", "a", "b"];
        let with = |options: &[&str]| read(&[options, &mode].concat());
        let long = with(&["--disp", "--no-c", "--dump=x", "--no-u", "--al=.3"]).unwrap();
        let short = ["-ad", "x", "--no-color", "--no-utest", "--alpha", "3e-1"];
        assert_eq!(long, with(&short).unwrap());
        let Options {
            aggregates_only,
            no_color,
            no_utest,
            alpha,
            ..
        } = long.options;
        assert!(aggregates_only && no_color && no_utest);
        assert_eq!(alpha, 0.3);
        for ambiguous in ["--d", "--no", "--no-"] {
            assert!(with(&[ambiguous]).is_err());
        }
    }

    #[test]
    fn a_short_option_may_be_joined_with_its_value_and_with_others() {
        for (arguments, file) in [
            (vec!["-dx"], "x"),
            (vec!["-d", "x"], "x"),
            (vec!["-d=x"], "x"),
            (vec!["-adx"], "x"),
            (vec!["-aad", "x"], "x"),
            (vec!["-dx", "-d", "y"], "y"),
            (vec!["-d", "-"], "-"),
            (vec!["-d", ""], ""),
        ] {
            let all = [arguments, vec!["benchmarks", "a", "b"]].concat();
            assert_eq!(read(&all).unwrap().options.dump, Some(file.into()));
        }
    }

    #[test]
    fn what_follows_the_last_file_or_filter_is_passed_on() {
        let read = read(&["filters", "f", "x", "y", "-a", "--help", "--", "z"]).unwrap();
        assert_eq!(read.passed_on, ["-a", "--help", "--", "z"]);
        assert!(!read.options.aggregates_only);
        assert_eq!(read.description, "Comparing x to y (from f)");
    }

    #[test]
    fn two_dashes_behind_the_last_file_are_left_out() {
        for arguments in [
            ["benchmarks", "a", "b", "--", "-e"],
            ["benchmarks", "a", "--", "b", "-e"],
            ["benchmarks", "--", "a", "b", "-e"],
        ] {
            assert_eq!(read(&arguments).unwrap().passed_on, ["-e"]);
        }
    }

    #[test]
    fn every_mode_has_its_files_and_filters() {
        let read = read(&["benchmarksfiltered", "a", "x", "b", "y"]).unwrap();
        assert_eq!(read.files, ["a", "b"]);
        assert_eq!(read.filters, Some(["x".into(), "y".into()]));
        assert_eq!(read.description, "Comparing x (from a) to y (from b)");
        let empty = self::read(&["filters", "a", "", "y"]).unwrap();
        assert_eq!(
            (empty.files, empty.filters),
            (["a".into(), "a".into()], None)
        );
    }

    #[test]
    fn a_mistake_has_the_exit_code_of_the_original() {
        for (arguments, want) in [
            (vec![], 1),
            (vec!["-a"], 1),
            (vec!["--help"], 0),
            (vec!["-ah"], 0),
            (vec!["--he"], 0),
            (vec!["benchmarks", "-h"], 0),
            (vec!["benchmarks", "a", "--help", "b"], 0),
            (vec!["benchmarks", "missing", "-h"], 0),
            (vec!["benchmarks"], 2),
            (vec!["benchmarks", "a"], 2),
            (vec!["bench", "a", "b"], 2),
            (vec!["a", "b"], 2),
            (vec!["benchmarks", "missing", "b"], 2),
            (vec!["--alpha", "x", "benchmarks", "a", "b"], 2),
            (vec!["--alpha"], 2),
            (vec!["--alpha", "--", "1", "benchmarks", "a", "b"], 2),
            (vec!["-d"], 2),
            (vec!["--no-color=x", "benchmarks", "a", "b"], 2),
            (vec!["-ax", "benchmarks", "a", "b"], 1),
            (vec!["--unknown", "benchmarks", "a", "b"], 1),
            (vec!["benchmarks", "a", "-a", "b"], 1),
            (vec!["benchmarks", "-x", "a", "b"], 1),
        ] {
            assert_eq!(code(&arguments), want, "{arguments:?}");
        }
    }

    #[test]
    fn filters_and_alpha_may_begin_with_a_hyphen() {
        let read = read(&["filters", "f", "-1", "-x"]).unwrap();
        assert_eq!(read.filters, Some(["-1".into(), "-x".into()]));
        let alpha = |value: &str| self::read(&["--alpha", value, "benchmarks", "a", "b"]);
        assert_eq!(alpha("-.5").unwrap().options.alpha, -0.5);
        assert_eq!(alpha("inf").unwrap().options.alpha, f64::INFINITY);
        assert!(alpha("1__0").is_err());
    }

    #[test]
    fn standard_input_is_a_file_that_is_not_found_later() {
        assert_eq!(read(&["benchmarks", "-", "b"]).unwrap().files[0], "<stdin>");
    }

    #[test]
    fn the_last_of_several_flags_counts() {
        let flags = ["--a=1", "--b=2", "--a=3", "--a"].map(OsString::from);
        assert_eq!(flag("--a=", &flags), Some(OsString::from("3")));
        assert_eq!(flag("--c=", &flags), None);
    }
}
