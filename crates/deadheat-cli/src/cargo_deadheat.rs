//! The `cargo-deadheat` command: `cargo bench` with new random placements in every replicate. Cargo
//! and rustc start this program again under other names to compile and link, and bench programs
//! call it for neutral links.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::Parser;
use deadheat::parts::answer::to_stdout;
use deadheat::parts::exit::{Failure, Status, code, on_enough_stack};
use deadheat::parts::settings::{Front, Setting, ValueKind};
use deadheat::parts::terminal::to_stderr;
use deadheat_build::{Revisions, WRAPPED, stand_in, target_dir};
use deadheat_link::Roles;
use deadheat_options::cargo_arguments::{Arguments, Bench};
use deadheat_options::repository::failure;

use crate::link::{PlacementsArgs, link_by, placements};
use crate::{committed_links, rev};

pub const HELP: &str = "\
Races the bench targets of a package, or two revisions of them, with a new
code layout per replicate

Usage: cargo deadheat [BASE[..HEAD]] [OPTIONS OF cargo bench] [-- OPTIONS OF THE RACES]

With BASE, a git revision, each benchmark of BASE races against the same
benchmark of the working tree, or of HEAD. Both sides are built with the same
options, and deadheat keeps the builds of commits.

  cargo deadheat main
  cargo deadheat HEAD~1 --bench text -- sum
  cargo deadheat v1.0..v1.1

The same source can be built in two ways, to see whether a feature, a flag or
a compiler pays off. Without BASE, that source is the working tree.

  cargo deadheat --base-args '--features a' --cand-args '--features b'
  cargo deadheat HEAD..HEAD --cand-env RUSTFLAGS='-C target-cpu=native'

Without BASE, the contenders of each benchmark race against each other.
This is `cargo bench`, except that deadheat records each link and links again
for the races, with function sections aligned and shuffled by a seed. So a
verdict is about the source, and not about where the linker happened to put
the code. Cargo.toml and profiles stay as they are.

  cargo deadheat --bench text
  cargo deadheat --bench text -- sum --margin 0.5%
  cargo deadheat --bench text -- --help

Write the names of benchmarks and all options of the races after `--`.

Options:
      --benches-from REV      Race the bench targets of this side on both
      --same-profile          Build BASE with the cargo profile of the candidate
      --lock-from REV         Build both sides with the Cargo.lock of this side
      --base-args ARGS        Options of cargo bench for the baseline alone
      --base-env NAME=VALUE   An environment variable for the baseline's build
      --base-toolchain NAME   The rustup toolchain that builds the baseline
      --cand-args, --cand-env, --cand-toolchain
                              The same for the candidate
      --criterion WHICH       Compile criterion suites with deadheat's own
                              criterion (swapped), or leave them as they are
                              (own) [default: swapped if they compile]
  -h, --help                  Print this
      --version               Print the version

All other options are those of `cargo bench`, see `cargo bench --help`.";

/// Runs `cargo-deadheat deadheat …`, the form in which cargo starts this program, or
/// `cargo-deadheat …`.
fn bench(mut args: Vec<OsString>) -> Result<Status, Failure> {
    if args.first().is_some_and(|first| first == "deadheat") {
        args.remove(0);
    }
    let read = Arguments::read(&args);
    if !matches!(read, Arguments::Help | Arguments::Version) {
        refuse_options_of_races(&args)?;
    }
    match read {
        Arguments::Help => to_stdout(&format!("{HELP}\n"))?,
        Arguments::Version => {
            to_stdout(&format!("cargo-deadheat {}\n", env!("CARGO_PKG_VERSION")))?;
        }
        Arguments::Stray(word) => {
            return Err(Failure::Usage(format!(
                "cargo deadheat takes one revision or BASE..HEAD, and '{word}' is one word too \
                 many; to race only the benchmarks whose names contain it, put it after `--`: \
                 cargo deadheat -- {word} (if it is the value of an option, write \
                 --option={word})"
            )));
        }
        Arguments::Bench(bench) => match bench.base.clone() {
            Some(base) => {
                return rev::CargoRace::of(bench, cargo(), rev::parsed(&base)?)?.race();
            }
            None if bench.ways.is_empty() => return Err(race(&bench, &args)),
            None => {
                let twice = Revisions::working_tree_twice();
                return rev::CargoRace::of(bench, cargo(), twice)?.race();
            }
        },
    }
    Ok(Status::Done)
}

/// Options of criterion that save times or compare with saved times.
const OF_SAVED_TIMES: [&str; 4] = [
    "save-baseline",
    "baseline",
    "baseline-lenient",
    "load-baseline",
];

/// The advice in the error message about an option of [`OF_SAVED_TIMES`].
const NO_SAVED_TIMES: &str =
    "a race measures both sides at once, so no baseline is saved: cargo deadheat BASE";

/// Other options of criterion that have a value.
const OF_CRITERION: [&str; 10] = [
    "confidence-level",
    "measurement-time",
    "noise-threshold",
    "nresamples",
    "output-format",
    "plotting-backend",
    "profile-time",
    "sample-size",
    "significance-level",
    "warm-up-time",
];

/// Options of criterion without a value.
const FLAGS_OF_CRITERION: [&str; 2] = ["noplot", "quick"];

/// Refuses options of the races and of criterion before `--`, which `cargo bench` would refuse in a build.
fn refuse_options_of_races(args: &[OsString]) -> Result<(), Failure> {
    const FLAGS: [&str; 6] = ["json", "figures", "plot", "exact", "ignored", "no-config"];
    const WITH_VALUE: [&str; 8] = [
        "skip",
        "time-unit",
        "save",
        "html",
        "junit",
        "markdown",
        "export-markdown",
        "export-hdr",
    ];
    let takes_value = |name: &str| {
        let setting = Setting::of(Front::Harness).find(|setting| setting.name == name);
        match setting {
            Some(setting) => Some(!matches!(setting.kind, ValueKind::Flag)),
            None if FLAGS.contains(&name) || FLAGS_OF_CRITERION.contains(&name) => Some(false),
            None => [&WITH_VALUE[..], &OF_CRITERION, &OF_SAVED_TIMES]
                .iter()
                .any(|names| names.contains(&name))
                .then_some(true),
        }
    };
    let words: Vec<String> = args
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let end = words.iter().position(|word| word == "--");
    let (before, after) = words.split_at(end.unwrap_or(words.len()));
    let (mut of_cargo, mut of_races) =
        (vec!["cargo".to_owned(), "deadheat".to_owned()], Vec::new());
    let mut first = None;
    let mut before = before.iter().peekable();
    while let Some(word) = before.next() {
        let option = word.strip_prefix("--").unwrap_or_default();
        let (name, value) = option
            .split_once('=')
            .map_or((option, None), |(n, v)| (n, Some(v)));
        let Some(takes_value) = takes_value(name) else {
            of_cargo.push(word.clone());
            continue;
        };
        if OF_SAVED_TIMES.contains(&name) {
            return Err(Failure::Usage(format!(
                "--{name} is an option of criterion, not of cargo bench\nhelp: {NO_SAVED_TIMES}"
            )));
        }
        let of_criterion = OF_CRITERION.contains(&name) || FLAGS_OF_CRITERION.contains(&name);
        let owner = if of_criterion {
            "criterion"
        } else {
            "the races"
        };
        first.get_or_insert((format!("--{name}"), owner));
        of_races.push(word.clone());
        if takes_value && value.is_none() {
            of_races.extend(before.next_if(|next| !next.starts_with("--")).cloned());
        }
    }
    let Some((first, owner)) = first else {
        return Ok(());
    };
    of_races.extend(after.iter().skip(1).cloned());
    Err(Failure::Usage(format!(
        "{first} is an option of {owner}, not of cargo bench\nhelp: put it after --: {} -- {}",
        as_typed(&of_cargo),
        as_typed(&of_races)
    )))
}

/// Returns words as they are typed in a shell, with quotes only if a word needs them.
fn as_typed(words: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%=:,~".contains(c);
    let words = words.iter().map(|word| {
        match word.chars().all(is_plain) && !word.is_empty() && !word.starts_with('~') {
            true => word.into(),
            false => shell_words::quote(word),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Replaces this process with `cargo bench`; returns only if that fails. If the unit tests of a
/// library may refuse an option of the race, this process stays, to explain the failure.
fn race(bench: &Bench, args: &[OsString]) -> Failure {
    let cargo = cargo();
    let mut command = match prepared(bench, &cargo) {
        Err(failure) => return failure,
        Ok(command) => command,
    };
    command.args(args);
    let ended = match may_reach_unit_tests(bench) {
        true => command.status(),
        false => Err(command.exec()),
    };
    match ended {
        Ok(status) => {
            if status.code() == Some(OF_LIBTEST) && is_built(bench, args, &cargo) {
                to_stderr("deadheat", &on_unit_tests(bench));
            }
            let signal = status.signal().unwrap_or_default();
            std::process::exit(status.code().unwrap_or(128 + signal));
        }
        Err(problem) => Failure::Internal(format!("{}: {problem}", cargo.display())),
    }
}

/// The exit code of unit tests that refuse an option. Races have other codes.
const OF_LIBTEST: i32 = 101;

/// Returns true if options follow `--` and no bench target is named.
fn may_reach_unit_tests(bench: &Bench) -> bool {
    let is_option = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    let names_a_target = |word: &OsString| word.as_encoded_bytes().starts_with(b"--bench");
    let has_options = bench.race.iter().any(is_option);
    has_options && !bench.no_run && !bench.building.iter().any(names_a_target)
}

/// Returns true if `cargo bench` builds all targets, so that it failed when it ran them.
fn is_built(bench: &Bench, args: &[OsString], cargo: &OsStr) -> bool {
    let end = args.len() - bench.race.len();
    let before = args[..end].iter().filter(|word| *word != "--");
    let Ok(mut command) = prepared(bench, cargo) else {
        return false;
    };
    command
        .args(before)
        .arg("--no-run")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Explains that the unit tests of a library may have refused an option of the races.
fn on_unit_tests(bench: &Bench) -> String {
    let race = bench.race.iter().map(|word| word.to_string_lossy());
    let race: Vec<String> = race.map(Into::into).collect();
    let is_of_saved_times = |word: &String| {
        let name = word
            .strip_prefix("--")
            .and_then(|word| word.split('=').next());
        name.is_some_and(|name| OF_SAVED_TIMES.contains(&name))
    };
    let help = match race.iter().any(is_of_saved_times) {
        true => NO_SAVED_TIMES.to_owned(),
        false => format!(
            "name a bench target: cargo deadheat --bench NAME -- {}; or write bench = false below \
             [lib] in Cargo.toml",
            as_typed(&race)
        ),
    };
    format!(
        "cargo bench passes the words after -- also to the unit tests of a library, which accept no \
         options of races\nhelp: {help}"
    )
}

/// Returns the `cargo bench` command without the user's arguments.
fn prepared(bench: &Bench, cargo: &OsStr) -> Result<Command, Failure> {
    let program = std::env::current_exe().map_err(|problem| {
        Failure::Internal(format!("cargo-deadheat cannot find itself: {problem}"))
    })?;
    let named = bench.target_dir.as_deref();
    let target = target_dir(cargo, Path::new("."), named, &bench.metadata)
        .map_err(|error| failure(error.into()))?;
    let mut command = Command::new(cargo);
    command.arg("bench").env("DEADHEAT_PLACEMENTS", &program);
    let notes = stand_in(&mut command, &target, &program)
        .map_err(|error| Failure::Internal(error.to_string()))?;
    for note in notes {
        to_stderr("deadheat", &note.to_string());
    }
    Ok(command)
}

/// Make neutral links of an executable (for other programs to call)
#[derive(Debug, Parser)]
#[command(name = "cargo-deadheat placements")]
struct Placements {
    #[command(flatten)]
    args: PlacementsArgs,
}

/// Runs the whole program on a large enough stack and returns its exit code.
pub fn cargo_deadheat() -> ExitCode {
    on_enough_stack(program)
}

/// Runs the whole program on the stack of the caller and returns its exit code.
pub fn program() -> ExitCode {
    let mut args = std::env::args_os();
    let name = PathBuf::from(args.next().unwrap_or_default());
    let args: Vec<OsString> = args.collect();
    if let Some(code) = role(&name, &args) {
        return code;
    }
    let done = if args.first().is_some_and(|first| first == "placements") {
        placements(&Placements::parse_from(args).args)
    } else {
        committed_links::refuse().and_then(|()| bench(args))
    };
    code(done)
}

/// Acts as the compiler or linker if `name`, under which this program was started, is the name that
/// replaces rustc or the linker driver, and returns the exit code. Returns `None` for any other
/// name.
pub fn role(name: &Path, args: &[OsString]) -> Option<ExitCode> {
    match name.file_name().and_then(OsStr::to_str)? {
        Roles::COMPILER => Some(code(Err(compile(name, args)))),
        Roles::LINKER => Some(link(args).into()),
        _ => None,
    }
}

/// The environment variable that names the user's own linker driver.
const DRIVER: &str = "DEADHEAT_DRIVER";

/// Replaces this process with the compiler, the first argument; returns only if that fails. `name`
/// is the name under which this program was started.
pub fn compile(name: &Path, args: &[OsString]) -> Failure {
    let Some((compiler, args)) = args.split_first() else {
        return Failure::Usage(format!(
            "cargo starts {} in place of rustc: the first argument must be the compiler",
            Roles::COMPILER
        ));
    };
    let theirs = std::env::var_os(WRAPPED).filter(|wrapper| !wrapper.is_empty());
    let mut command = Command::new(theirs.as_ref().unwrap_or(compiler));
    let swapped = Roles::criterion(name).and_then(|library| with_criterion(args, &library));
    command
        .args(theirs.is_some().then_some(compiler))
        .args(swapped.as_deref().unwrap_or(args));
    let compilation = Compilation::of(args);
    if let (Some(driver), Some(roles)) = (compilation.recordable(), Roles::of(name)) {
        // A missing note about the executable does not affect this compilation.
        let output = compilation.output();
        if let Some(output) = output.and_then(|output| std::path::absolute(output).ok()) {
            let _ = roles.note(&output);
        }
        let mut linker = OsString::from("linker=");
        linker.push(roles.linker());
        command.arg("-C").arg(linker).env(DRIVER, driver);
    }
    let problem = command.exec();
    let program = command.get_program().display();
    Failure::Internal(format!("{program}: {problem}"))
}

/// Returns rustc's arguments with deadheat's `library` in place of the crate criterion, or `None`
/// if the arguments do not name that crate.
fn with_criterion(args: &[OsString], library: &Path) -> Option<Vec<OsString>> {
    let is_criterion = |word: &str| {
        let file = word.split_once('=').map(|(_, path)| Path::new(path));
        let name = file.and_then(|path| path.file_name()?.to_str());
        name.is_some_and(|name| name.starts_with("libcriterion-"))
    };
    let mut swapped = args.to_vec();
    let mut is_found = false;
    for index in 1..swapped.len() {
        let word = swapped[index].to_string_lossy().into_owned();
        if swapped[index - 1] == "--extern" && is_criterion(&word) {
            // The crate may be renamed, and options may precede its name: `noprelude:name`.
            let name = word.split('=').next().unwrap_or_default();
            swapped[index] = format!("{name}={}", library.display()).into();
            is_found = true;
        }
    }
    let mut folder = OsString::from("dependency=");
    folder.push(library.with_file_name("deps"));
    swapped.extend(["-L".into(), folder]);
    is_found.then_some(swapped)
}

/// Links with the user's driver, records the link, and returns the driver's exit code.
pub fn link(args: &[OsString]) -> u8 {
    let Some(driver) = std::env::var_os(DRIVER) else {
        let linker = Roles::LINKER;
        return Failure::Usage(format!(
            "{linker} starts the linker that `cargo deadheat` names in {DRIVER}, and that \
             variable is not set"
        ))
        .report();
    };
    // Rustc shows the linker's messages if the link fails, and otherwise only on request.
    link_by(&driver, args, "deadheat", "deadheat: error")
}

/// The arguments of one rustc call that decide whether and how its link is recorded.
#[derive(Debug, Default)]
pub struct Compilation {
    name: Option<String>,
    /// True with `--test`, or with `--cfg test`, which cargo passes for `harness = false`.
    is_test: bool,
    crate_types: Vec<String>,
    /// The requested kinds of output; empty for rustc's default.
    emit: Vec<String>,
    /// True if rustc only answers a query, reads from standard input, or reads arguments from a
    /// file.
    is_query: bool,
    target: Option<String>,
    linker: Option<String>,
    flavor: Option<String>,
    plugin_lto: bool,
    folder: Option<PathBuf>,
    suffix: String,
}

/// Options of rustc that deadheat reads and whose value may be the next word.
const HEEDED: [&str; 8] = [
    "--crate-name",
    "--crate-type",
    "--emit",
    "--target",
    "--codegen",
    "--out-dir",
    "--cfg",
    "-C",
];

impl Compilation {
    pub fn of(args: &[OsString]) -> Self {
        let mut this = Self::default();
        let mut args = args.iter().map(|arg| arg.to_string_lossy());
        while let Some(arg) = args.next() {
            if HEEDED.contains(&&*arg) {
                let value = args.next().unwrap_or_default();
                this.heed(&arg, &value);
            } else if let Some((name, value)) =
                arg.split_once('=').filter(|_| arg.starts_with("--"))
            {
                this.heed(name, value);
            } else if let Some(value) = arg.strip_prefix("-C") {
                this.heed("-C", value);
            } else {
                this.is_test |= arg == "--test";
                // deadheat does not read arguments in a file, so it does not record such a call.
                this.is_query |= matches!(&*arg, "-" | "-vV" | "-V" | "--version" | "--print")
                    || arg.starts_with('@');
            }
        }
        this
    }

    fn heed(&mut self, name: &str, value: &str) {
        match name {
            "--crate-name" => self.name = Some(value.to_owned()),
            "--crate-type" => self.crate_types.extend(value.split(',').map(str::to_owned)),
            // `link=FILE` also names the output file; only the kind matters here.
            "--emit" => self.emit.extend(
                value
                    .split(',')
                    .map(|kind| kind.split('=').next().unwrap_or_default().to_owned()),
            ),
            "--target" => self.target = Some(value.to_owned()),
            "--out-dir" => self.folder = Some(value.into()),
            "--cfg" => self.is_test |= value == "test",
            "--print" => self.is_query = true,
            "-C" | "--codegen" => self.generate(value),
            _ => {}
        }
    }

    /// Reads an option of code generation; the last value wins.
    fn generate(&mut self, option: &str) {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        match name {
            "linker" => self.linker = Some(value.to_owned()),
            "linker-flavor" => self.flavor = Some(value.to_owned()),
            "linker-plugin-lto" => {
                self.plugin_lto = !matches!(value, "n" | "no" | "off" | "false");
            }
            "extra-filename" => self.suffix = value.to_owned(),
            _ => {}
        }
    }

    /// Returns the linker driver that deadheat replaces for this call. Returns `None` if the call
    /// links nothing, if `cargo bench` does not run its output, or if the linker cannot be called
    /// again later.
    pub fn recordable(&self) -> Option<&str> {
        let links = self.emit.is_empty() || self.emit.iter().any(|kind| kind == "link");
        let is_program =
            self.crate_types.is_empty() || self.crate_types.iter().any(|kind| kind == "bin");
        let is_build_script = self
            .name
            .as_ref()
            .is_some_and(|name| name.starts_with("build_script_"));
        let runs = self.is_test && is_program && !is_build_script;
        // Cargo passes no `--target` for the host.
        let for_linux = match &self.target {
            Some(target) => target.contains("-linux-"),
            None => cfg!(target_os = "linux"),
        };
        let flavor = self.flavor.as_deref().unwrap_or("gcc");
        let by_driver = flavor == "gcc" || flavor.ends_with("-cc");
        let linker = self.linker.as_deref().unwrap_or("cc");
        let wanted = links
            && runs
            && for_linux
            && by_driver
            && !self.is_query
            && !self.plugin_lto
            && is_driver(linker);
        wanted.then_some(linker)
    }

    /// Returns the path of the executable; cargo always passes the options for it.
    pub fn output(&self) -> Option<PathBuf> {
        let name = format!("{}{}", self.name.as_ref()?, self.suffix);
        Some(self.folder.as_ref()?.join(name))
    }
}

/// Returns true if the file name of `linker` is that of a compiler driver.
fn is_driver(linker: &str) -> bool {
    let name = linker.rsplit('/').next().unwrap_or(linker);
    // Names with a version: `clang-14`, `aarch64-linux-gnu-gcc-12.2`.
    let stem = match name.rsplit_once('-') {
        Some((stem, version))
            if version.starts_with(|c: char| c.is_ascii_digit())
                && version.chars().all(|c| c.is_ascii_digit() || c == '.') =>
        {
            stem
        }
        _ => name,
    };
    let last = stem.rsplit('-').next().unwrap_or(stem);
    matches!(last, "cc" | "gcc" | "clang" | "c++" | "g++" | "clang++")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the linker driver for cargo's arguments of a bench target, followed by `more`.
    fn driver(more: &str) -> Option<String> {
        let line = format!(
            "--crate-name text --edition=2024 benches/text.rs --error-format=json \
             --crate-type bin --emit=dep-info,link -C opt-level=3 -C embed-bitcode=no --cfg test \
             -C metadata=12 -C extra-filename=-34 --out-dir /t/release/deps -L dependency=/t {more}"
        );
        of(&line).recordable().map(str::to_owned)
    }

    fn of(line: &str) -> Compilation {
        let args: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        Compilation::of(&args)
    }

    #[test]
    fn a_bench_program_is_linked_by_cc_unless_somebody_says_otherwise() {
        assert_eq!(driver("").as_deref(), Some("cc"));
        for (option, linker) in [
            ("-C linker=clang", "clang"),
            ("-Clinker=/usr/bin/gcc-12", "/usr/bin/gcc-12"),
            (
                "--codegen linker=x86_64-linux-gnu-gcc",
                "x86_64-linux-gnu-gcc",
            ),
            ("--codegen=linker=g++", "g++"),
            ("-C linker=ld -Clinker=clang-14", "clang-14"),
            (
                "--target aarch64-unknown-linux-gnu -Clinker=aarch64-linux-gnu-gcc-12.2",
                "aarch64-linux-gnu-gcc-12.2",
            ),
            ("-C linker-flavor=gcc", "cc"),
            ("-C linker-flavor=gnu-lld-cc -C linker-plugin-lto=no", "cc"),
        ] {
            assert_eq!(driver(option).as_deref(), Some(linker), "{option}");
        }
    }

    #[test]
    fn only_the_crate_criterion_is_swapped() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let library = Path::new("/c/release/libdeadheat_criterion.rlib");
        let swapped = with_criterion(
            &words(
                "--extern criterion=/t/libcriterion-1f.rlib --extern rand=/t/librand-2.rlib --test",
            ),
            library,
        );
        let expected = "--extern criterion=/c/release/libdeadheat_criterion.rlib \
                        --extern rand=/t/librand-2.rlib --test -L dependency=/c/release/deps";
        assert_eq!(swapped, Some(words(expected)));
        let renamed = with_criterion(&words("--extern bench=/t/libcriterion-1f.rmeta"), library);
        assert_eq!(
            renamed.unwrap()[1],
            "bench=/c/release/libdeadheat_criterion.rlib"
        );
        for line in [
            "--extern criterion_plot=/t/libcriterion_plot-1.rlib",
            "--crate-name criterion=/t/libcriterion-1f.rlib",
            "--extern criterion",
        ] {
            assert_eq!(with_criterion(&words(line), library), None, "{line}");
        }
    }

    #[test]
    fn linkers_that_are_no_drivers_are_left_alone() {
        for option in [
            "-C linker=ld",
            "-C linker=rust-lld",
            "-C linker=./link.sh",
            "-C linker=mycc",
            "-C linker=clang -C linker=ld.lld",
            "-C linker-flavor=ld",
            "-C linker-plugin-lto",
            "-Clinker-plugin-lto=/usr/lib/LLVMgold.so",
            "--target wasm32-wasip1",
            "--target=x86_64-pc-windows-gnu -C linker=x86_64-w64-mingw32-gcc",
        ] {
            assert_eq!(driver(option), None, "{option}");
        }
    }

    #[test]
    fn what_cargo_bench_does_not_run_is_left_alone() {
        for line in [
            "-vV",
            "- --crate-name ___ --print=file-names --test",
            "@/tmp/cargo-argfile.1",
            // A library, a program without benchmarks, a build script, a macro.
            "--crate-name one src/lib.rs --crate-type lib --emit=dep-info,metadata,link",
            "--crate-name one src/main.rs --crate-type bin --emit=dep-info,link",
            "--crate-name build_script_build build.rs --crate-type bin --emit=dep-info,link --cfg \
             test",
            "--crate-name macros src/lib.rs --crate-type proc-macro --emit=dep-info,link",
            // Nothing is linked.
            "--crate-name one src/lib.rs --emit=dep-info,metadata --test",
        ] {
            assert_eq!(of(line).recordable(), None, "{line}");
        }
        for line in [
            "--crate-name one src/lib.rs --emit=dep-info,link --test",
            "--crate-name one src/lib.rs --emit=link=/t/one --test",
            "--crate-name one src/lib.rs --test",
        ] {
            assert_eq!(of(line).recordable(), Some("cc"), "{line}");
        }
    }

    #[test]
    fn the_executable_is_where_cargo_wants_it() {
        let line = "--crate-name text --test -C extra-filename=-34 --out-dir /t/release/deps";
        assert_eq!(
            of(line).output(),
            Some(PathBuf::from("/t/release/deps/text-34"))
        );
        assert_eq!(of("--crate-name text --test").output(), None);
    }
}
