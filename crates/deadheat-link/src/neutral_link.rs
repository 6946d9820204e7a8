//! Makes one neutral link by repeating the recorded call of the driver, with adapted arguments and
//! shuffled sections. If the driver's own call of the linker is known, the linker is called
//! directly: the driver would only add the same arguments to every link of a record, but start
//! three processes and take a tenth of the time of a link.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, thread};

use serde::{Deserialize, Serialize};

use crate::elf::{FunctionSections, is_executable};
use crate::linker::{
    Family, LinkFailure, Linker, chosen_linker, driver, failure_of, failure_of_driver, run,
};
use crate::matched::{Layout, Way};
use crate::record::{Argument, LinkRecord};
use crate::{arguments, symbols};

/// If the arguments have more than this many bytes, they are passed in a response file. Every
/// system accepts command lines of this length.
const LONG_CALL: usize = 100_000;

/// The disk counts as full if a test file of twice the executable's size plus this many bytes
/// cannot be written.
const ROOM: u64 = 1 << 16;

/// The environment variable that configures memory allocation in glibc, the C library of the
/// linker.
const MALLOC_VARIABLE: &str = "GLIBC_TUNABLES";

/// Makes glibc allocate in large pieces, of large pages if the system has them. lld spends a sixth
/// of a link of 8,000 sections on page faults of its heap; with this setting the link takes 39 ms
/// instead of 45. The output is the same, and other C libraries ignore the variable.
const MALLOC: &str = "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=33554432";

#[derive(Clone, Copy, Debug)]
pub(crate) enum Order<'a> {
    /// The functions keep the order of the inputs; the linker writes a map of the link to this
    /// file.
    AsGiven(&'a Path),
    /// The functions are shuffled with a seed, independently of other builds.
    Shuffled(u32),
    /// The functions are shuffled with a seed, in an order that is shared with other builds by a
    /// layout.
    Matched(&'a Layout, u32),
}

/// All that is needed to repeat a recorded link with one linker, for any seed.
#[derive(Debug)]
pub(crate) struct Recipe<'a> {
    record: &'a LinkRecord,
    home: &'a Path,
    linker: &'a Linker,
    /// The number of threads for linkers that have such an option.
    threads: usize,
    /// The call of the linker that makes the same links as the driver, if known.
    direct: Option<&'a DirectCall>,
    /// The function sections of all inputs, read when a link first needs them.
    sections: OnceLock<FunctionSections>,
    /// The object with the gaps of the layout, built when a link first needs it. All links of a
    /// recipe have the same layout.
    rooms: OnceLock<Vec<u8>>,
}

impl<'a> Recipe<'a> {
    /// Creates the recipe for the link of `record` by `linker`, with the inputs stored in `home`.
    /// `at_once` links will run in parallel.
    pub(crate) fn new(
        record: &'a LinkRecord,
        home: &'a Path,
        linker: &'a Linker,
        at_once: usize,
    ) -> Self {
        Self {
            record,
            home,
            linker,
            threads: (cores() / at_once.max(1)).max(1),
            direct: None,
            sections: OnceLock::new(),
            rooms: OnceLock::new(),
        }
    }

    /// Returns this recipe with `direct` as the call of the linker without the driver.
    pub(crate) fn by(self, direct: Option<&'a DirectCall>) -> Self {
        Self { direct, ..self }
    }

    /// Returns the call of the linker that the driver would make for the links of this recipe, if
    /// it can be determined.
    pub(crate) fn direct_call(&self) -> Option<DirectCall> {
        DirectCall::ask(self.record, self.linker, &self.words())
    }

    /// Links into `output` in this order, and returns the bytes of the executable. All other files
    /// go to `scratch`, a folder for this link only.
    ///
    /// # Errors
    ///
    /// The reason why the link failed. An incomplete `output` may remain.
    pub(crate) fn link(
        &self,
        order: Order<'_>,
        output: &Path,
        scratch: &Path,
    ) -> Result<Vec<u8>, LinkFailure> {
        let broken = |error: io::Error| failure_of(&error, self.home);
        let mut options = self.threads();
        options.extend(self.in_order(order, scratch).map_err(broken)?);
        if let Some(direct) = self.direct {
            let mut command = direct.command(self.record, &options, output);
            let done = run(self.record, with_large_pieces(&mut command));
            if done.is_ok_and(|done| done.status.success())
                && let Ok(bytes) = checked(output, order)
            {
                return Ok(bytes);
            }
            // The direct call failed, so the driver links again: it either succeeds or has a better
            // error message.
            let _ = fs::remove_file(output);
        }
        let mut words = self.words();
        words.extend(options);
        words.push("-o".to_owned());
        words.push(output.display().to_string());
        let mut command = driver(self.record);
        if words.iter().map(|word| word.len() + 1).sum::<usize>() > LONG_CALL {
            let file = scratch.join("arguments");
            fs::write(&file, arguments::join(&words)).map_err(broken)?;
            command.arg(format!("@{}", file.display()));
        } else {
            command.args(&words);
        }
        let done = run(self.record, with_large_pieces(&mut command))?;
        if !done.status.success() {
            let failure = failure_of_driver(&done, self.home);
            let _ = fs::remove_file(output);
            return Err(self.unless_full(failure, scratch));
        }
        checked(output, order).map_err(|said| LinkFailure::Refused { said })
    }

    /// Returns `failure`, or `NoSpace` if the disk is full. Not every linker reports a full disk
    /// (lld says "No such file or directory"), so a test file is written.
    fn unless_full(&self, failure: LinkFailure, scratch: &Path) -> LinkFailure {
        let LinkFailure::Refused { said } = failure else {
            return failure;
        };
        let own = fs::metadata(&self.record.output).map_or(0, |about| about.len());
        let probe = scratch.join("probe");
        let room = File::create(&probe).and_then(|file| {
            // Linkers may need as much space again for temporary files.
            io::copy(&mut io::repeat(0).take(2 * own + ROOM), &mut &file)
        });
        let _ = fs::remove_file(probe);
        match room.map_err(|error| failure_of(&error, self.home)) {
            Err(LinkFailure::NoSpace { folder, .. }) => LinkFailure::NoSpace { folder, said },
            _ => LinkFailure::Refused { said },
        }
    }

    /// Returns the arguments that all neutral links of the record share.
    fn words(&self) -> Vec<String> {
        let words = |argument: &Argument| match argument {
            Argument::Word(word) => vec![word.clone()],
            Argument::Kept { before, input } => {
                let path = self.home.join("inputs").join(&input.name);
                linker_word(before, &path.display().to_string())
            }
        };
        let recorded = self.record.arguments.iter().flat_map(words);
        let mut words = neutral_words(recorded.collect(), !self.linker.selection.is_empty());
        words.extend(self.linker.selection.iter().cloned());
        // Debug information is most of an executable, and users do not debug neutral links.
        words.push("-Wl,--strip-debug".to_owned());
        if self.linker.family == Family::Lld {
            // Call-graph profiles in the objects would override the shuffle.
            words.push("-Wl,--no-call-graph-profile-sort".to_owned());
        }
        words
    }

    fn threads(&self) -> Vec<String> {
        match self.linker.family {
            Family::Lld | Family::Mold => vec![format!("-Wl,--threads={}", self.threads)],
            Family::Gnu => Vec::new(),
        }
    }

    fn in_order(&self, order: Order<'_>, scratch: &Path) -> io::Result<Vec<String>> {
        let by_script = |script: String| {
            let file = scratch.join("order.ld");
            fs::write(&file, script)?;
            Ok(linker_word("-Wl,-T,", &file.display().to_string()))
        };
        let seed = match order {
            Order::AsGiven(map) => {
                let mut words = linker_word("-Wl,-Map,", &map.display().to_string());
                if self.linker.family == Family::Lld {
                    // Symbols are matched by their mangled names.
                    words.push("-Wl,--no-demangle".to_owned());
                }
                return Ok(words);
            }
            Order::Matched(layout, seed) => {
                return match layout.way() {
                    Way::Script => by_script(layout.script(seed)),
                    Way::Symbols => self.by_symbols(layout, seed, scratch),
                };
            }
            Order::Shuffled(seed) => seed,
        };
        match self.linker.family {
            Family::Lld => Ok(vec![format!("-Wl,--shuffle-sections=.text*={seed}")]),
            Family::Mold => Ok(vec![format!("-Wl,--shuffle-sections={seed}")]),
            Family::Gnu => by_script(self.sections()?.script(seed)),
        }
    }

    fn by_symbols(&self, layout: &Layout, seed: u32, scratch: &Path) -> io::Result<Vec<String>> {
        let order = scratch.join("order.symbols");
        fs::write(&order, symbols::order(layout, seed))?;
        let rooms = scratch.join("rooms.o");
        let made = match self.rooms.get() {
            Some(made) => made,
            None => {
                let made = symbols::rooms(layout, &fs::read(&self.record.output)?);
                let made = made.map_err(io::Error::other)?;
                self.rooms.get_or_init(|| made)
            }
        };
        fs::write(&rooms, made)?;
        let mut words = linker_word("-Wl,--symbol-ordering-file,", &order.display().to_string());
        // Sections of the same name in several files stay together, which is intended.
        words.push("-Wl,--no-warn-symbol-ordering".to_owned());
        words.push(rooms.display().to_string());
        Ok(words)
    }

    fn sections(&self) -> io::Result<&FunctionSections> {
        if let Some(sections) = self.sections.get() {
            return Ok(sections);
        }
        let inputs = self.home.join("inputs");
        let files = self.record.inputs().map(|input| inputs.join(&input.name));
        let sections = FunctionSections::of(files)?;
        Ok(self.sections.get_or_init(|| sections))
    }
}

fn with_large_pieces(command: &mut Command) -> &mut Command {
    if env::var_os(MALLOC_VARIABLE).is_none() {
        command.env(MALLOC_VARIABLE, MALLOC);
    }
    command
}

/// Returns the number of links that can run in parallel without competing for cores.
pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Reads the executable that a link wrote. If the order of sections was given by symbols, which lld
/// need not obey, the order is checked.
fn checked(path: &Path, order: Order<'_>) -> Result<Vec<u8>, String> {
    let bytes = fs::read(path)
        .map_err(|error| format!("the driver succeeded, but left no executable: {error}"))?;
    if !is_executable(&bytes) {
        return Err("the driver succeeded, but its output is not an ELF executable".to_owned());
    }
    if let Order::Matched(layout, seed) = order
        && layout.way() == Way::Symbols
    {
        symbols::check(layout, seed, &bytes)?;
    }
    Ok(bytes)
}

/// Linker options that order sections, with a value after `=` or in the next argument.
const ORDERS: [&str; 4] = [
    "symbol-ordering-file",
    "section-ordering-file",
    "call-graph-ordering-file",
    "shuffle-sections",
];

/// Returns the recorded arguments without those that would override the shuffle. If
/// `another_linker` is true, the user's choice of the linker is removed too.
pub(crate) fn neutral_words(words: Vec<String>, another_linker: bool) -> Vec<String> {
    let mut kept = Vec::with_capacity(words.len());
    let mut value_follows = false;
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if word == "-Xlinker" {
            let Some(option) = words.next() else { continue };
            if is_kept(&option, &mut value_follows) {
                kept.extend([word, option]);
            }
        } else if let Some(options) = word.strip_prefix("-Wl,") {
            let options: Vec<&str> = options
                .split(',')
                .filter(|option| is_kept(option, &mut value_follows))
                .collect();
            if !options.is_empty() {
                kept.push(format!("-Wl,{}", options.join(",")));
            }
        } else if !another_linker || chosen_linker(&word).is_none() {
            kept.push(word);
        }
    }
    kept
}

/// Returns true if a linker option is kept. Sets `value_follows` to true if the option is removed
/// and the next one, which may be in another driver argument, is its value.
fn is_kept(option: &str, value_follows: &mut bool) -> bool {
    if std::mem::take(value_follows) {
        return false;
    }
    let Some(bare) = option.strip_prefix('-') else {
        return true;
    };
    let bare = bare.strip_prefix('-').unwrap_or(bare);
    let name = bare.split('=').next().unwrap_or(bare);
    if ORDERS.contains(&name) {
        *value_follows = !bare.contains('=');
        return false;
    }
    // Options of newer versions of lld always have their value after `=`.
    name != "call-graph-profile-sort" && !name.starts_with("bp-")
}

/// Returns the driver's arguments for an option that ends in a path. `-Wl,` would split a path that
/// contains a comma, so the options are then passed one by one with `-Xlinker`.
pub(crate) fn linker_word(before: &str, path: &str) -> Vec<String> {
    let options = before.strip_prefix("-Wl,");
    let Some(options) = options.filter(|_| path.contains(',')) else {
        return vec![format!("{before}{path}")];
    };
    let mut options: Vec<String> = options.split(',').map(str::to_owned).collect();
    if let Some(last) = options.last_mut() {
        last.push_str(path);
    }
    let words = options.into_iter();
    words
        .flat_map(|option| ["-Xlinker".to_owned(), option])
        .collect()
}

/// A placeholder for the options that differ from link to link.
const OPTIONS: &str = "--deadheat-options";

/// A placeholder for the path of the output.
const OUTPUT: &str = "deadheat-output";

/// The name of the program by which gcc starts its linker.
const COLLECTOR: &str = "collect2";

/// The call of a linker that a driver would make for the links of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DirectCall {
    program: PathBuf,
    words: Vec<String>,
}

impl DirectCall {
    /// Asks the driver of a record how it would call `linker` with these arguments and with
    /// placeholders for the arguments that differ from link to link. `None` if the answer is not
    /// understood, or if a plug-in of the driver may take part in the link.
    pub(crate) fn ask(record: &LinkRecord, linker: &Linker, arguments: &[String]) -> Option<Self> {
        let (Family::Lld, [_, program]) = (linker.family, &*linker.programs) else {
            return None;
        };
        let mut command = driver(record);
        command.arg("-###").args(arguments);
        command.args([&format!("-Wl,{OPTIONS}"), "-o", OUTPUT]);
        let said = run(record, &mut command).ok()?;
        let text = String::from_utf8(said.stderr).ok()?;
        Self::understood(&text, program.file())
    }

    /// Reads the call from the driver's output for `-###`. gcc calls a program that starts
    /// `linker`, clang calls `linker` itself.
    fn understood(text: &str, linker: &Path) -> Option<Self> {
        let line = text.lines().rfind(|line| line.starts_with(' '))?;
        let mut words = arguments::split(line);
        let called = PathBuf::from(words.remove(0));
        if called.file_name()? == COLLECTOR {
            words.retain(|word| chosen_linker(word).is_none());
        } else if called != linker {
            return None;
        }
        let once = |place: &str| words.iter().filter(|word| *word == place).count() == 1;
        if !once(OPTIONS) || !once(OUTPUT) {
            return None;
        }
        let mut program = linker.to_owned();
        if let Some(rust_lld) = behind_wrapper(linker) {
            program = rust_lld;
            words.splice(0..0, ["-flavor", "gnu"].map(str::to_owned));
        }
        Some(Self { program, words })
    }

    /// Returns the command that links into `output` with these options, which are in the driver's
    /// syntax.
    pub(crate) fn command(
        &self,
        record: &LinkRecord,
        options: &[String],
        output: &Path,
    ) -> Command {
        let mut command = driver(record);
        let mut direct = Command::new(&self.program);
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => direct.env(name, value),
                None => direct.env_remove(name),
            };
        }
        if let Some(folder) = command.get_current_dir() {
            direct.current_dir(folder);
        }
        command = direct;
        for word in &self.words {
            match word.as_str() {
                OPTIONS => command.args(for_the_linker(options)),
                OUTPUT => command.arg(output),
                word => command.arg(word),
            };
        }
        command
    }
}

/// Returns the path of Rust's lld if `linker` is Rust's wrapper program in the folder `gcc-ld`,
/// which only starts that lld with its flavor.
fn behind_wrapper(linker: &Path) -> Option<PathBuf> {
    let folder = linker.parent()?;
    let lld = folder.parent()?.join("rust-lld");
    (folder.file_name()? == "gcc-ld" && lld.is_file()).then_some(lld)
}

/// Converts driver arguments into the linker's own.
fn for_the_linker(options: &[String]) -> Vec<&str> {
    let mut words = Vec::new();
    let mut options = options.iter().map(String::as_str);
    while let Some(option) = options.next() {
        if option == "-Xlinker" {
            words.extend(options.next());
        } else if let Some(joined) = option.strip_prefix("-Wl,") {
            words.extend(joined.split(','));
        } else {
            words.push(option);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn neutral(words: &str, another_linker: bool) -> String {
        neutral_words(
            words.split(' ').map(str::to_owned).collect(),
            another_linker,
        )
        .join(" ")
    }

    #[test]
    fn drops_only_the_users_section_orders() {
        for order in [
            "-Wl,--symbol-ordering-file=o",
            "-Wl,--symbol-ordering-file,o",
            "-Wl,--symbol-ordering-file -Wl,o",
            "-Xlinker -symbol-ordering-file -Xlinker o",
            "-Wl,--section-ordering-file=o",
            "-Wl,--shuffle-sections=.text*=3",
            "-Wl,--bp-startup-sort=function",
            "-Wl,--call-graph-profile-sort=hfsort",
        ] {
            assert_eq!(
                neutral(&format!("a.o {order} -lm"), false),
                "a.o -lm",
                "{order}"
            );
        }
        let recorded = "-Wl,--as-needed -Wl,-rpath,/lib -Xlinker -z -Xlinker now -L /o";
        assert_eq!(neutral(recorded, true), recorded);
        assert_eq!(
            neutral(
                "-Wl,--gc-sections,--symbol-ordering-file,o,--as-needed",
                true
            ),
            "-Wl,--gc-sections,--as-needed"
        );
    }

    #[test]
    fn the_users_linker_gives_way_only_to_another() {
        let recorded = "-fuse-ld=gold --ld-path=/l/ld a.o";
        assert_eq!(neutral(recorded, false), recorded);
        assert_eq!(neutral(recorded, true), "a.o");
    }

    #[test]
    fn a_path_with_a_comma_reaches_the_linker_in_one_piece() {
        assert_eq!(linker_word("-Wl,--script=", "/a/b"), ["-Wl,--script=/a/b"]);
        assert_eq!(
            linker_word("-Wl,-T,", "/a,b/c"),
            ["-Xlinker", "-T", "-Xlinker", "/a,b/c"]
        );
        assert_eq!(linker_word("", "/a,b.o"), ["/a,b.o"]);
    }

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_call_of_a_linker_is_read_from_what_gcc_and_clang_say() {
        let gcc = "Using built-in specs.\nCOLLECT_GCC=gcc\n /usr/lib/gcc/collect2 -fuse-ld=lld -pie -o \
                   deadheat-output \"/a b/1.o\" \"-x\\$y\" --deadheat-options crtn.o\nCOLLECT_GCC_OPTIONS=-o\n";
        let clang = "clang version 14\nInstalledDir: /usr/bin\n \"/bin/ld.lld\" \"-pie\" \"-o\" \
                     \"deadheat-output\" \"/a b/1.o\" \"-x$y\" \"--deadheat-options\" \"crtn.o\"\n";
        for said in [gcc, clang] {
            let call = DirectCall::understood(said, Path::new("/bin/ld.lld")).unwrap();
            assert_eq!(call.program, Path::new("/bin/ld.lld"));
            let expected = ["-pie", "-o", OUTPUT, "/a b/1.o", "-x$y", OPTIONS, "crtn.o"];
            assert_eq!(call.words, expected, "{said}");
        }
    }

    #[test]
    fn the_lld_of_rust_is_called_without_the_program_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let wrapper = folder.path().join("gcc-ld/ld.lld");
        let said = format!(
            " \"{}\" -o deadheat-output --deadheat-options",
            wrapper.display()
        );
        let call = || DirectCall::understood(&said, &wrapper).unwrap();
        assert_eq!(call().program, wrapper);
        let lld = folder.path().join("rust-lld");
        std::fs::write(&lld, "").unwrap();
        assert_eq!(call().program, lld);
        assert_eq!(
            call().words,
            ["-flavor", "gnu", "-o", OUTPUT, OPTIONS],
            "as the wrapper starts it"
        );
    }

    #[test]
    fn falls_back_to_the_driver_if_its_call_is_not_understood() {
        for said in [
            "",
            "gcc: fatal error: no input files",
            " /bin/ld.bfd -o deadheat-output --deadheat-options",
            " /bin/ld.lld -o deadheat-output",
            " /bin/ld.lld -o elsewhere --deadheat-options",
            " /bin/ld.lld -o deadheat-output --deadheat-options --deadheat-options",
        ] {
            let linker = Path::new("/bin/ld.lld");
            assert_eq!(DirectCall::understood(said, linker), None, "{said}");
        }
    }

    #[test]
    fn options_reach_the_linker_as_the_driver_would_hand_them_on() {
        let options = words("-Wl,--shuffle-sections=.text*=7 -Wl,-T,/a -Xlinker /b,c rooms.o");
        assert_eq!(
            for_the_linker(&options),
            ["--shuffle-sections=.text*=7", "-T", "/a", "/b,c", "rooms.o"]
        );
    }
}
