//! The arguments of `cargo deadheat`, most of which are arguments of `cargo bench`. They are read
//! only as far as needed to know which of them cargo must not see.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// Long options of `cargo bench` whose value is the next word. After some of them the value may be
/// missing, as in `--bench --quiet`.
const WITH_VALUE: [&str; 16] = [
    "package",
    "exclude",
    "jobs",
    "features",
    "bin",
    "example",
    "test",
    "bench",
    "profile",
    "target",
    "target-dir",
    "message-format",
    "manifest-path",
    "lockfile-path",
    "config",
    "color",
];

/// Long options of deadheat about how the sides are built, and whether each has a value.
pub const OF_BUILDS: [(&str, bool); 10] = [
    ("benches-from", true),
    ("same-profile", false),
    ("lock-from", true),
    ("base-args", true),
    ("cand-args", true),
    ("base-env", true),
    ("cand-env", true),
    ("base-toolchain", true),
    ("cand-toolchain", true),
    ("criterion", true),
];

/// Short options with a value: packages, jobs, features, unstable options.
const SHORT_WITH_VALUE: &str = "pjFZ";

/// A request made by the arguments of `cargo deadheat`.
#[derive(Debug, PartialEq, Eq)]
pub enum Arguments {
    /// Print the help.
    Help,
    /// Print the version.
    Version,
    /// Run a race.
    Bench(Bench),
    /// Report an unexpected word. It is neither an option nor a value, and not the first such word,
    /// which names revisions.
    Stray(String),
}

/// The arguments of a race.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bench {
    /// The revisions to race against, `BASE` or `BASE..HEAD`.
    pub base: Option<String>,
    /// The value of `--target-dir`, an option that `cargo metadata` does not accept.
    pub target_dir: Option<PathBuf>,
    /// Options that are passed to `cargo metadata`, too.
    pub metadata: Vec<OsString>,
    /// Options that determine what is built, without those for the output folder and messages.
    pub building: Vec<OsString>,
    /// Options of deadheat about how the sides are built.
    pub ways: Vec<OsString>,
    /// True if `--no-run` is given.
    pub no_run: bool,
    /// True if `--message-format` is given.
    pub message_format: bool,
    /// The arguments after `--`.
    pub race: Vec<OsString>,
}

impl Arguments {
    /// Reads the arguments that follow `cargo deadheat`.
    pub fn read(args: &[OsString]) -> Self {
        let mut bench = Bench::default();
        let mut args = args.iter().peekable();
        while let Some(arg) = args.next() {
            // An argument that is not UTF-8 is not an option; cargo will refuse it.
            let text = arg.to_string_lossy();
            let option = match Word::of(&text) {
                Word::End => break,
                Word::Stray if bench.base.is_none() => {
                    bench.base = Some(text.into_owned());
                    continue;
                }
                Word::Stray => return Self::Stray(text.into_owned()),
                Word::Option(option) => option,
            };
            match option.name {
                "help" | "h" => return Self::Help,
                "version" | "V" => return Self::Version,
                _ => {}
            }
            let mut ours = OF_BUILDS.iter().filter(|_| text.starts_with("--"));
            let ours = ours.find(|(name, _)| *name == option.name);
            let (is_ours, takes_value) = match ours {
                Some((_, takes_value)) => (true, *takes_value),
                None => (false, option.takes_value),
            };
            // The value of an option of deadheat may begin with a dash, because it may consist of
            // options.
            let follows = |next: &&OsString| is_ours || !next.as_encoded_bytes().starts_with(b"-");
            let next = match option.value {
                None if takes_value => args.next_if(follows),
                _ => None,
            };
            if is_ours {
                let words = [Some(arg), next].into_iter().flatten();
                bench.ways.extend(words.cloned());
                continue;
            }
            let value = option.value.map(OsString::from).or_else(|| next.cloned());
            if bench.heed(&option, value.as_deref()) {
                bench
                    .building
                    .extend([Some(arg), next].into_iter().flatten().cloned());
            }
        }
        bench.race = args.cloned().collect();
        Self::Bench(bench)
    }
}

impl Bench {
    /// Records an option. Returns true if the option determines what is built.
    fn heed(&mut self, option: &LongOrShort<'_>, value: Option<&OsStr>) -> bool {
        let name = match option.name {
            name @ ("manifest-path" | "config" | "lockfile-path") => format!("--{name}"),
            "Z" => "-Z".to_owned(),
            "target-dir" => {
                self.target_dir = value.map(PathBuf::from);
                return false;
            }
            "no-run" => {
                self.no_run = true;
                return false;
            }
            "message-format" => {
                self.message_format = true;
                return false;
            }
            _ => return true,
        };
        self.metadata.push(name.into());
        self.metadata.extend(value.map(OsStr::to_owned));
        true
    }
}

/// One argument, up to and including `--`.
enum Word<'a> {
    /// `--` itself.
    End,
    Option(LongOrShort<'a>),
    Stray,
}

/// An option without its dashes. In a group of short options, only the last may have a value.
struct LongOrShort<'a> {
    name: &'a str,
    /// A value in the same word.
    value: Option<&'a str>,
    /// True if a value may follow as the next word.
    takes_value: bool,
}

impl<'a> Word<'a> {
    fn of(text: &'a str) -> Self {
        if text == "--" {
            return Self::End;
        }
        if let Some(long) = text.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            };
            return Self::Option(LongOrShort {
                name,
                value,
                takes_value: WITH_VALUE.contains(&name),
            });
        }
        // rustup removes `+nightly` from `cargo +nightly deadheat`, so it does not get here.
        let Some(shorts) = text.strip_prefix('-').filter(|shorts| !shorts.is_empty()) else {
            return Self::Stray;
        };
        let decides = |c: char| SHORT_WITH_VALUE.contains(c) || "hV".contains(c);
        let Some(start) = shorts.find(decides) else {
            return Self::Option(LongOrShort {
                name: shorts,
                value: None,
                takes_value: false,
            });
        };
        let (name, rest) = shorts[start..].split_at(1);
        Self::Option(LongOrShort {
            name,
            value: match rest.strip_prefix('=').unwrap_or(rest) {
                "" => None,
                value => Some(value),
            },
            takes_value: SHORT_WITH_VALUE.contains(name),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Arguments {
        let args: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        Arguments::read(&args)
    }

    fn bench(line: &str) -> Bench {
        match read(line) {
            Arguments::Bench(bench) => bench,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn values_of_options_are_no_words_of_their_own() {
        for line in [
            "",
            "--bench text -p one --features a,b --target x86_64-unknown-linux-gnu",
            "--profile release-lto -j 4 -j4 -vvj 2 -qp one -pone -F=a -Zfoo -Z foo",
            "--manifest-path a/Cargo.toml --target-dir t --config build.jobs=1",
            "--message-format json --color never --exclude two --example e --bin b",
            "--test t --bench --quiet --bin -v --workspace --no-run --locked --timings=html",
            "--bench=text -- sum --exact -h --version",
        ] {
            bench(line);
        }
    }

    #[test]
    fn the_first_word_that_belongs_to_no_option_names_revisions() {
        for (line, base) in [
            ("main", "main"),
            ("--bench text HEAD~1", "HEAD~1"),
            ("--quiet main..topic --bench text", "main..topic"),
            ("-q v1 -p one", "v1"),
            ("-j4 v1 -- v2", "v1"),
            ("--bench=text v1", "v1"),
            ("-", "-"),
        ] {
            assert_eq!(bench(line).base.as_deref(), Some(base), "{line}");
        }
        assert_eq!(bench("--bench text -- sum").base, None);
        assert_eq!(bench("--bench text -- sum -x").race, ["sum", "-x"]);
        for line in ["main sum", "--bench text main --quiet sum"] {
            assert_eq!(read(line), Arguments::Stray("sum".to_owned()), "{line}");
        }
    }

    #[test]
    fn where_to_build_and_what_to_print_is_not_among_what_is_built() {
        let line = "--bench text main --target-dir t --no-run -p one --message-format=json -j4 \
                    --manifest-path a/Cargo.toml -- sum";
        let bench = bench(line);
        let building = [
            "--bench",
            "text",
            "-p",
            "one",
            "-j4",
            "--manifest-path",
            "a/Cargo.toml",
        ];
        assert_eq!(bench.building, building);
        assert!(bench.no_run && bench.message_format);
    }

    #[test]
    fn how_the_sides_are_built_is_not_told_to_cargo() {
        let args = [
            "--bench",
            "text",
            "--cand-args",
            "--features x",
            "--base-env=A=b",
            "main",
        ];
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        let Arguments::Bench(bench) = Arguments::read(&args) else {
            panic!("no race");
        };
        assert_eq!(bench.building, ["--bench", "text"]);
        assert_eq!(
            bench.ways,
            ["--cand-args", "--features x", "--base-env=A=b"]
        );
        assert_eq!(bench.base.as_deref(), Some("main"));
    }

    #[test]
    fn help_and_version_are_ours_before_the_dashes_and_the_harness_s_after() {
        assert_eq!(read("--bench text --help"), Arguments::Help);
        assert_eq!(read("-qh"), Arguments::Help);
        assert_eq!(read("-V"), Arguments::Version);
        assert_eq!(read("--version"), Arguments::Version);
        bench("-- --help");
        bench("-p help");
    }

    #[test]
    fn where_cargo_builds_depends_on_a_few_options() {
        let line = "--manifest-path a/Cargo.toml -p x --config b --config=c -Zd --target-dir t";
        let bench = bench(line);
        assert_eq!(bench.target_dir, Some(PathBuf::from("t")));
        let passed_on = [
            "--manifest-path",
            "a/Cargo.toml",
            "--config",
            "b",
            "--config",
            "c",
            "-Z",
            "d",
        ];
        assert_eq!(bench.metadata, passed_on);
    }
}
