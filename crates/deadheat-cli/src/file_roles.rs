//! The files that a command reads and writes, checked before any of them is opened: an output must
//! not replace an input, another output or a raced program.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
#[cfg(target_os = "linux")]
use deadheat::parts::calibration::calibration_file;
use deadheat::parts::exit::Failure;
use deadheat::parts::format::{FileIdentity, find_rules, path_without_links, read_header};
use deadheat::parts::model::{HELP, Input, Output, RunHeader, Workload};
use deadheat::parts::{refuse_another_kind, second_race_path};
use deadheat_history::IndexArgs;
use deadheat_import::files_in;

/// How a command uses the files that an option names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Reads,
    /// The command reads the file; if it is a folder, all files in the folder.
    ReadsFolders,
    /// The command reads the file, a plan or a run. The programs and files that the plan or run
    /// names are checked, too.
    ReadsRun,
    /// The value is a command to race. Existing files that its words name are programs or inputs.
    Races,
    /// The command replaces or creates the file.
    Writes,
    /// The command replaces or creates files with this extension in the folder.
    WritesInto(&'static str),
    /// The standard output of each launch is written to the file.
    TakesOutput,
    /// Each launch writes the file; deadheat removes it before each launch.
    TakesValues,
    /// The command does not open this path: it is relative to the sources of a revision, or a
    /// pattern.
    Elsewhere,
}

use Role::{
    Elsewhere, Races, Reads, ReadsFolders, ReadsRun, TakesOutput, TakesValues, Writes, WritesInto,
};

/// The role of every option that names files. A row of a command takes precedence over a row of
/// `*`, which is for all commands.
pub const ROLES: &[(&str, &str, Role)] = &[
    ("*", "config", Reads),
    ("*", "data", ReadsFolders),
    ("*", "index", Writes),
    ("*", "save", Writes),
    ("*", "html", Writes),
    ("*", "markdown", Writes),
    ("*", "junit", Writes),
    ("*", "svg", WritesInto("svg")),
    ("*", "png", WritesInto("png")),
    ("*", "export_json", Writes),
    ("*", "export_csv", Writes),
    ("*", "export_hdr", Writes),
    ("*", "export_markdown", Writes),
    ("*", "export_google_benchmark", Writes),
    ("*", "export_google_baseline", Writes),
    ("*", "export_go", Writes),
    ("*", "export_smaller_is_better", Writes),
    ("*", "export_bmf", Writes),
    ("*", "exe", Elsewhere),
    ("*", "pytest", Elsewhere),
    ("*", "node", Elsewhere),
    ("run", "commands", Races),
    ("run", "input", Reads),
    ("run", "output", TakesOutput),
    ("run", "value_file", TakesValues),
    ("run", "plan", ReadsRun),
    ("run", "resume", ReadsRun),
    ("bench", "old", Races),
    ("bench", "words", Races),
    ("bench", "arguments", Races),
    ("bench", "resume", ReadsRun),
    ("load", "resume", ReadsRun),
    ("bisect", "resume", Reads),
    ("bisect", "log", Reads),
    ("compare", "words", ReadsFolders),
    ("compare", "arguments", Races),
    ("compare", "against", ReadsFolders),
    ("compare", "old", ReadsFolders),
    ("compare", "new", ReadsFolders),
    ("compare", "dump_to_json", Writes),
    ("analyze", "files", ReadsFolders),
    ("report", "file", Reads),
    ("merge", "parts", Reads),
    ("pack", "plan", ReadsRun),
    ("pack", "output", Writes),
    ("pack", "file", Reads),
    ("explain", "words", ReadsRun),
    ("explain", "commands", Races),
    ("explain", "input", Reads),
    ("history add", "files", Reads),
    ("history push", "files", Reads),
    ("history page", "races", WritesInto("html")),
    ("clean", "folders", Elsewhere),
    ("man", "out", WritesInto("1")),
    ("placements", "executable", Reads),
    ("placements", "beside", Reads),
];

/// Returns the role of `option`, by its clap id, in `command`, such as `history add`.
pub fn role(command: &str, option: &str) -> Option<Role> {
    let of = |name: &str| {
        let mut rows = ROLES.iter();
        let found = rows.find(|(command, id, _)| *command == name && *id == option);
        found.map(|(_, _, role)| *role)
    };
    of(command).or_else(|| of("*"))
}

struct Named {
    /// The option that names the file, or a description such as `the default of --config`.
    by: String,
    path: PathBuf,
    role: Role,
    identity: FileIdentity,
}

impl Named {
    fn new(by: &str, path: impl Into<PathBuf>, role: Role) -> Self {
        let path = path.into();
        Self {
            by: by.to_owned(),
            identity: FileIdentity::of(&path),
            path,
            role,
        }
    }

    fn is_output(&self) -> bool {
        matches!(
            self.role,
            Writes | WritesInto(_) | TakesOutput | TakesValues
        )
    }

    /// Returns true if this is an output folder that may get a file of the same name as `other`.
    fn may_contain(&self, other: &Self) -> bool {
        let WritesInto(extension) = self.role else {
            return false;
        };
        let file = path_without_links(&other.path);
        file.extension().is_some_and(|found| found == extension)
            && file.parent() == Some(&path_without_links(&self.path))
    }

    /// Returns true if writing one of the two files would destroy the other.
    fn collides(&self, other: &Self) -> bool {
        let pair = [self.role, other.role];
        let any = |role| pair.contains(&role);
        let collide = if any(Elsewhere) {
            false
        } else if any(Writes) {
            true
        } else if pair.iter().any(|role| matches!(role, WritesInto(_))) {
            false
        } else if any(TakesValues) {
            // A command may name its own value file, and that file may also hold its standard
            // output.
            !any(Races) && pair[0] != pair[1] && !any(TakesOutput)
        } else {
            any(TakesOutput) && pair[0] != pair[1]
        };
        collide && self.identity.is_replaceable() && self.identity == other.identity
    }
}

/// Refuses a command line in which an output is also an input, a program or another output, or
/// would replace a file of another kind.
///
/// # Errors
///
/// The error names both options.
pub fn refuse_collisions(command: &Command, matches: &ArgMatches) -> Result<(), Failure> {
    let (mut name, mut command, mut matches) = (String::new(), command, matches);
    while let Some((inner, below)) = matches.subcommand() {
        name = if name.is_empty() {
            inner.to_owned()
        } else {
            format!("{name} {inner}")
        };
        let Some(found) = command.find_subcommand(inner) else {
            return Ok(());
        };
        (command, matches) = (found, below);
    }
    let named = named(&name, command, matches);
    // Only outputs are compared with all other files, because a folder may hold 100,000 inputs.
    let outputs = named.iter().enumerate().filter(|(_, one)| one.is_output());
    for (at, output) in outputs {
        let others = named.iter().enumerate().filter(|(place, _)| *place != at);
        for (place, other) in others {
            if output.may_contain(other) {
                return Err(refused_in_folder(output, other));
            }
            if output.collides(other) {
                let (first, second) = (at.min(place), at.max(place));
                return Err(refused(&named[first], &named[second]));
            }
        }
    }
    let written = named.iter().filter(|one| one.role == Writes);
    for output in written {
        refuse_another_kind(&output.by, &output.path)?;
    }
    Ok(())
}

fn refused_in_folder(folder: &Named, other: &Named) -> Failure {
    Failure::Usage(format!(
        "{} {} may replace {}, which {} names{HELP}choose another folder",
        folder.by,
        folder.path.display(),
        other.path.display(),
        other.by,
    ))
}

fn refused(one: &Named, other: &Named) -> Failure {
    // The output that would replace the other file comes first.
    let writes = |named: &Named| matches!(named.role, Writes | TakesOutput | TakesValues);
    let (output, other) = match writes(one) && !(one.by == "--save" && writes(other)) {
        true => (one, other),
        false => (other, one),
    };
    Failure::Usage(format!(
        "{} {} is the same file as {} {}{HELP}choose another name for one of them",
        output.by,
        output.path.display(),
        other.by,
        other.path.display(),
    ))
}

/// Returns the files that the command line names, and the files that the command uses by default.
fn named(name: &str, command: &Command, matches: &ArgMatches) -> Vec<Named> {
    let mut named = Vec::new();
    // Also without --confirm, because deadheat.toml may ask for a second race.
    let confirms = command.get_arguments().any(|one| one.get_id() == "confirm");
    for argument in command.get_arguments() {
        let id = argument.get_id().as_str();
        let Some(role) = role(name, id) else { continue };
        let by = match argument.get_long() {
            Some(long) => format!("--{long}"),
            None => "the argument".to_owned(),
        };
        if matches.value_source(id) == Some(ValueSource::CommandLine) {
            for value in matches.get_raw(id).into_iter().flatten() {
                add(&mut named, &by, value, role);
                if id == "save" && confirms {
                    let second = second_race_path(Path::new(value));
                    named.push(Named::new(&by, second, role));
                }
            }
        } else {
            let default = match id {
                "config" if !is_set(matches, "no_config") => {
                    find_rules(Path::new("")).ok().flatten()
                }
                "index" => IndexArgs::default().path().ok(),
                #[cfg(target_os = "linux")]
                "save" if name == "calibrate" => calibration_file(),
                _ => None,
            };
            let what = format!("the default of {by}");
            named.extend(default.map(|path| Named::new(&what, path, role)));
        }
    }
    named
}

fn is_set(matches: &ArgMatches, flag: &str) -> bool {
    matches.try_get_one::<bool>(flag).ok().flatten() == Some(&true)
}

fn add(named: &mut Vec<Named>, by: &str, value: &OsStr, role: Role) {
    // `-` means standard input, which a shell may have redirected from any file.
    let reads_stdin = value == "-" && matches!(role, Reads | ReadsFolders) && by != "--input";
    let value = match reads_stdin {
        true => OsStr::new("/dev/stdin"),
        false => value,
    };
    let path = Path::new(value);
    let is_a_word_of_ours = match by {
        "--input" => value == "null",
        "--output" => ["null", "pipe", "inherit"]
            .iter()
            .any(|word| value == *word),
        _ => value == "-",
    };
    if is_a_word_of_ours || value.is_empty() {
        return;
    }
    match role {
        Elsewhere => {}
        // A filter, a mode, or a missing file, for which the reader has a better error message.
        ReadsFolders | ReadsRun if !path.exists() => {}
        Races => add_words(named, by, value),
        ReadsFolders if path.is_dir() => {
            let files = files_in(path).ok().flatten().unwrap_or_default();
            named.extend(files.into_iter().map(|file| Named::new(by, file, Reads)));
        }
        ReadsRun => {
            named.push(Named::new(by, path, Reads));
            if let Ok(run) = read_header(path) {
                add_files_of(named, by, &run);
            }
        }
        _ => named.push(Named::new(by, path, role)),
    }
}

/// Adds the existing files that the words of a command name. Exact shell parsing is unnecessary,
/// because words that name no file are ignored.
fn add_words(named: &mut Vec<Named>, by: &str, text: &OsStr) {
    let text = text.to_string_lossy();
    let parts = text.split(|c: char| c.is_whitespace() || "'\"=;|&<>()".contains(c));
    for word in parts.chain([&*text]) {
        if Path::new(word).is_file() {
            named.push(Named::new(by, word, Races));
        }
    }
}

/// Adds the files that a plan or a run names: its programs, their arguments, inputs and outputs.
fn add_files_of(named: &mut Vec<Named>, by: &str, run: &RunHeader) {
    let benchmarks = run.plan.benchmarks.iter();
    for contender in benchmarks.flat_map(|benchmark| &benchmark.contenders) {
        let program = match &contender.workload {
            Workload::Command(line) => {
                let words = line.words.iter();
                words.for_each(|word| add_words(named, by, OsStr::new(word)));
                if let Input::File(file) = &line.input {
                    named.push(Named::new(by, file, Reads));
                }
                if let Output::File(file) = &line.output {
                    named.push(Named::new(by, file, TakesOutput));
                }
                continue;
            }
            Workload::Worker(calls) => &calls.program,
            Workload::Harness(calls) => &calls.program,
            Workload::Function(_) | Workload::Recording => continue,
        };
        add_words(named, by, program.executable.as_os_str());
        let words = program.arguments.iter();
        words.for_each(|word| add_words(named, by, OsStr::new(word)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Arg;
    use clap::builder::ValueParser;
    use deadheat::parts::format::OutputKind;

    /// Words that mark the value of an option as a file.
    const FILE_WORDS: [&str; 9] = [
        "FILE", "FILES", "PATH", "DIR", "FOLDER", "RUN", "PLAN", "PART", "WHERE",
    ];

    /// Collects all commands below this one, with their full names.
    fn commands(name: &str, command: &Command, found: &mut Vec<(String, Command)>) {
        for inner in command.get_subcommands() {
            let whole = format!("{name} {}", inner.get_name());
            commands(whole.trim(), inner, found);
            found.push((whole.trim().to_owned(), inner.clone()));
        }
    }

    fn all_commands() -> Vec<(String, Command)> {
        let mut found = Vec::new();
        commands("", &crate::program::whole(), &mut found);
        assert!(found.iter().any(|(name, _)| name == "history add"));
        found
    }

    fn names_a_file(argument: &Arg) -> bool {
        let values = argument.get_value_names().unwrap_or_default();
        let words = |name: &str| {
            let mut words = name.split(|c: char| !c.is_alphanumeric());
            words.any(|word| FILE_WORDS.contains(&word))
        };
        let is_path = ValueParser::path_buf().type_id() == argument.get_value_parser().type_id();
        let is_named = values.iter().any(|name| words(name));
        argument.get_action().takes_values() && (is_path || is_named)
    }

    #[test]
    fn every_option_that_names_files_has_a_role() {
        let mut missing = Vec::new();
        for (name, command) in all_commands() {
            let files = command.get_arguments().filter(|one| names_a_file(one));
            for argument in files {
                let id = argument.get_id().as_str();
                if role(&name, id).is_none() {
                    missing.push(format!("{name}: {id}"));
                }
            }
        }
        assert!(missing.is_empty(), "without a role in ROLES: {missing:#?}");
    }

    #[test]
    fn every_option_that_replaces_a_file_has_a_kind() {
        // A run and a pack never replace a file. An index is opened in place. `calibrate` first
        // checks that the file is a calibration.
        const GUARDED: [&str; 3] = ["save", "output", "index"];
        for (name, command) in all_commands() {
            for argument in command.get_arguments() {
                let id = argument.get_id().as_str();
                let writes = role(&name, id) == Some(Writes) && !GUARDED.contains(&id);
                let option = format!("--{}", argument.get_long().unwrap_or_default());
                let has_kind = OutputKind::of_option(&option).is_some();
                assert!(!writes || has_kind, "{name}: {option}");
            }
        }
    }

    #[test]
    fn every_role_is_of_an_option_that_exists() {
        let commands = all_commands();
        for (name, id, _) in ROLES {
            let mut takers = commands
                .iter()
                .filter(|(own, _)| *name == "*" || own == name);
            let exists = takers.any(|(_, command)| {
                let mut arguments = command.get_arguments();
                arguments.any(|argument| argument.get_id().as_str() == *id)
            });
            assert!(exists, "{name}: {id}");
        }
    }

    #[test]
    fn an_option_of_a_file_is_found_by_the_name_or_the_type_of_its_value() {
        use clap::value_parser;
        let path = Arg::new("x").long("x").value_parser(value_parser!(PathBuf));
        let named = Arg::new("x").long("x").value_name("OLD or FILE");
        let number = Arg::new("x").long("x").value_name("N");
        assert!(names_a_file(&path) && names_a_file(&named) && !names_a_file(&number));
    }

    /// Returns the error message of [`refuse_collisions`] for a command line.
    fn check(words: &[&str]) -> Result<(), String> {
        let mut command = crate::program::whole();
        let words = ["deadheat"].iter().chain(words);
        let matches = command.try_get_matches_from_mut(words).unwrap();
        refuse_collisions(&command, &matches).map_err(|failure| failure.to_string())
    }

    #[test]
    fn two_outputs_of_any_pair_of_options_cannot_be_one_file() {
        let options: Vec<String> = all_commands()
            .iter()
            .find(|(name, _)| name == "run")
            .unwrap()
            .1
            .get_arguments()
            .filter(|one| role("run", one.get_id().as_str()) == Some(Writes))
            .filter_map(|one| one.get_long().map(|long| format!("--{long}")))
            .collect();
        assert!(options.len() > 10, "{options:?}");
        for (at, one) in options.iter().enumerate() {
            for other in &options[at + 1..] {
                let [first, second] = [format!("{one}=no/such/x"), format!("{other}=no/./such/x")];
                let error = check(&["run", &first, &second, "true", "true"]).unwrap_err();
                assert!(error.contains(one) && error.contains(other), "{error}");
                let apart = format!("{other}=no/such/y");
                assert_eq!(check(&["run", &first, &apart, "true", "true"]), Ok(()));
            }
        }
    }

    #[test]
    fn honest_uses_of_one_file_by_two_options_are_accepted() {
        for words in [
            &["run", "--output", "out", "--output", "out", "true", "true"][..],
            &["run", "--output", "v", "--value-file", "v", "true", "true"],
            &[
                "run",
                "--value-file",
                "Cargo.toml",
                "./a Cargo.toml",
                "./b Cargo.toml",
            ],
            &[
                "run",
                "--html",
                "/dev/null",
                "--save",
                "/dev/null",
                "true",
                "true",
            ],
            &[
                "run", "--svg", "pictures", "--png", "pictures", "true", "true",
            ],
            &["run", "--input", "Cargo.toml", "cat Cargo.toml", "cat"],
            &[
                "run",
                "--markdown",
                "--input",
                "null",
                "--output",
                "null",
                "true",
                "true",
            ],
            &["merge", "a.jsonl", "a.jsonl", "--html", "page.html"],
            &[
                "compare", "filters", "old.json", "new.json", "--html", "filters",
            ],
        ] {
            assert_eq!(check(words), Ok(()), "{words:?}");
        }
    }

    #[test]
    fn outputs_do_not_take_the_place_of_inputs() {
        let file = "Cargo.toml";
        for words in [
            &["run", "--input", file, "--html", file, "cat", "cat"][..],
            &["run", "--input", file, "--output", file, "cat", "cat"],
            &["run", "--input", file, "--value-file", file, "cat", "cat"],
            &["run", "--output", file, "cat Cargo.toml", "cat"],
            &["run", "--save", file, "sh -c 'cat Cargo.toml'", "cat"],
            &["bench", "./Cargo.toml", "./other", "--export-go", file],
            &["compare", file, "new.json", "--junit", file],
            &["compare", "src", "new.json", "--html", "src/lib.rs"],
            &["analyze", file, "--export-csv", file],
            &["report", file, "--html", file],
            &["merge", file, "b.jsonl", "--html", file],
            &["explain", file, "--html", file],
            &["history", "page", "--index", file, "--html", file],
            &["history", "add", file, "--index", file],
            &["pack", file, "-o", file],
            &["run", "--plan", file, "--html", file],
            &[
                "run",
                "--config",
                file,
                "--export-json",
                file,
                "true",
                "true",
            ],
        ] {
            let error = check(words).unwrap_err();
            assert!(error.contains(file) || error.contains("lib.rs"), "{error}");
            assert!(error.contains("is the same file as"), "{error}");
        }
    }
}
