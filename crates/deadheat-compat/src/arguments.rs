//! The command line, read as Python's argparse reads it.

use crate::parser::{Action, Classified, Kind, Parser, Positional, Seen};
use crate::usage;

/// What one run of the original is asked to do. Names, filters and options are the bytes of the command line.
#[derive(Debug, Clone, PartialEq)]
pub struct Arguments {
    /// `-a`: print aggregates and tests only.
    pub aggregates_only: bool,
    /// No `--no-color`.
    pub colour: bool,
    /// `-d`: where the report goes as JSON.
    pub dump: Option<Vec<u8>>,
    /// No `--no-utest`.
    pub test: bool,
    /// `--alpha`, 0.05 unless given.
    pub alpha: f64,
    /// What is compared.
    pub mode: Mode,
    /// What is passed on to executables.
    pub options: Vec<Vec<u8>>,
}

/// The three modes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mode {
    /// Two files, all benchmarks.
    Benchmarks {
        /// The first file.
        baseline: Vec<u8>,
        /// The second file.
        contender: Vec<u8>,
    },
    /// Two families of one file.
    Filters {
        /// The file.
        file: Vec<u8>,
        /// The expression of the first family.
        baseline: Vec<u8>,
        /// The expression of the second family.
        contender: Vec<u8>,
    },
    /// A family of one file and a family of another.
    BenchmarksFiltered {
        /// The first file, and the expression of its family.
        baseline: (Vec<u8>, Vec<u8>),
        /// The second file, and the expression of its family.
        contender: (Vec<u8>, Vec<u8>),
    },
}

impl Mode {
    /// The two files, which may be one.
    pub fn files(&self) -> [&[u8]; 2] {
        match self {
            Self::Benchmarks {
                baseline,
                contender,
            } => [baseline, contender],
            Self::Filters { file, .. } => [file, file],
            Self::BenchmarksFiltered {
                baseline,
                contender,
            } => [&baseline.0, &contender.0],
        }
    }

    /// The two expressions. `None` also where one of them is empty, which means that neither counts.
    pub fn filters(&self) -> Option<[&[u8]; 2]> {
        let filters: [&[u8]; 2] = match self {
            Self::Benchmarks { .. } => return None,
            Self::Filters {
                baseline,
                contender,
                ..
            } => [baseline, contender],
            Self::BenchmarksFiltered {
                baseline,
                contender,
            } => [&baseline.1, &contender.1],
        };
        filters.iter().all(|f| !f.is_empty()).then_some(filters)
    }

    /// The line above the table.
    pub fn description(&self) -> Vec<u8> {
        let parts: &[&[u8]] = match self {
            Self::Benchmarks {
                baseline,
                contender,
            } => &[b"Comparing ", baseline, b" to ", contender],
            Self::Filters {
                file,
                baseline,
                contender,
            } => &[
                b"Comparing ",
                baseline,
                b" to ",
                contender,
                b" (from ",
                file,
                b")",
            ],
            Self::BenchmarksFiltered {
                baseline,
                contender,
            } => &[
                b"Comparing ",
                &baseline.1,
                b" (from ",
                &baseline.0,
                b") to ",
                &contender.1,
                b" (from ",
                &contender.0,
                b")",
            ],
        };
        parts.concat()
    }
}

/// Why nothing is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The user asked for help: this text goes to standard output.
    Help {
        /// The text.
        text: String,
        /// 0, or 1 where no mode was given.
        code: u8,
    },
    /// The command line is wrong: exit code 2.
    Usage {
        /// How it should look.
        usage: String,
        /// What is wrong with it.
        what: String,
    },
    /// An option that nobody knows stands before the last file or filter, where it is not passed on: the original ends
    /// in a traceback with exit code 1.
    Unknown(Vec<u8>),
}

const MAIN: Parser = Parser {
    options: &[
        ("-h", Action::Help),
        ("--help", Action::Help),
        ("-a", Action::AggregatesOnly),
        ("--display_aggregates_only", Action::AggregatesOnly),
        ("--no-color", Action::NoColour),
        ("-d", Action::Dump),
        ("--dump_to_json", Action::Dump),
        ("--no-utest", Action::NoTest),
        ("--alpha", Action::Alpha),
    ],
};

const MODE: Parser = Parser {
    options: &[("-h", Action::Help), ("--help", Action::Help)],
};

const BENCHMARKS: &[Positional] = &[
    Positional::file("test_baseline"),
    Positional::file("test_contender"),
];
const FILTERS: &[Positional] = &[
    Positional::file("test"),
    Positional::text("filter_baseline"),
    Positional::text("filter_contender"),
];
const BENCHMARKS_FILTERED: &[Positional] = &[
    Positional::file("test_baseline"),
    Positional::text("filter_baseline"),
    Positional::file("test_contender"),
    Positional::text("filter_contender"),
];

impl Arguments {
    /// Reads the arguments of a program of this name. Every file that is named is tried with `open` at once, which says
    /// what is wrong with it; "-" is standard input, which the original opens and then does not find.
    ///
    /// # Errors
    ///
    /// When nothing is to be compared; see [`Stop`].
    pub fn read(
        program: &str,
        arguments: &[Vec<u8>],
        open: &mut dyn FnMut(&[u8]) -> Result<(), String>,
    ) -> Result<Self, Stop> {
        let wrong = |what: String| Stop::Usage {
            usage: usage::main(program),
            what,
        };
        let mut read = Self {
            aggregates_only: false,
            colour: true,
            dump: None,
            test: true,
            alpha: 0.05,
            mode: Mode::Benchmarks {
                baseline: Vec::new(),
                contender: Vec::new(),
            },
            options: Vec::new(),
        };
        let mut seen = Seen::of(&MAIN, arguments);
        let mut unknown = None;
        // Options come first; from the mode on everything belongs to the mode.
        loop {
            match seen.next_class() {
                None => break,
                Some(Classified::Argument) => {
                    let rest = seen.rest();
                    return read.read_mode(program, rest, open, unknown);
                }
                // Whatever follows is no option.
                Some(Classified::Dashes) => seen.skip(),
                Some(Classified::Unknown) => {
                    unknown.get_or_insert_with(|| seen.skipped());
                }
                Some(Classified::Option) => {
                    for (action, option, value) in seen.option(&MAIN).map_err(wrong)? {
                        read.apply(program, action, &option, value)?;
                    }
                }
            }
        }
        Err(Stop::Help {
            text: usage::main_help(program),
            code: 1,
        })
    }

    fn apply(
        &mut self,
        program: &str,
        action: Action,
        option: &str,
        value: Option<Vec<u8>>,
    ) -> Result<(), Stop> {
        match action {
            Action::Help => {
                return Err(Stop::Help {
                    text: usage::main_help(program),
                    code: 0,
                });
            }
            Action::AggregatesOnly => self.aggregates_only = true,
            Action::NoColour => self.colour = false,
            Action::NoTest => self.test = false,
            Action::Dump => self.dump = value,
            Action::Alpha => {
                let value = value.unwrap_or_default();
                self.alpha = python_float(&value).ok_or_else(|| Stop::Usage {
                    usage: usage::main(program),
                    what: format!(
                        "{option}: \"{}\" is no number",
                        String::from_utf8_lossy(&value)
                    ),
                })?;
            }
        }
        Ok(())
    }

    fn read_mode(
        mut self,
        program: &str,
        rest: &[Vec<u8>],
        open: &mut dyn FnMut(&[u8]) -> Result<(), String>,
        unknown: Option<Vec<u8>>,
    ) -> Result<Self, Stop> {
        let mode = String::from_utf8_lossy(&rest[0]).into_owned();
        let positionals = match mode.as_str() {
            "benchmarks" => BENCHMARKS,
            "filters" => FILTERS,
            "benchmarksfiltered" => BENCHMARKS_FILTERED,
            _ => {
                return Err(Stop::Usage {
                    usage: usage::main(program),
                    what: format!(
                        "there is no mode {mode:?}; choose benchmarks, filters or benchmarksfiltered"
                    ),
                });
            }
        };
        let wrong = |what: String| Stop::Usage {
            usage: usage::mode(program, &mode),
            what,
        };
        let mut take = |positional: &Positional, value: &[u8]| match positional.kind {
            Kind::File if value == b"-" => Ok(b"<stdin>".to_vec()),
            Kind::File => open(value)
                .map(|()| value.to_vec())
                .map_err(|what| format!("{}: {what}", positional.name)),
            Kind::Text => Ok(value.to_vec()),
        };
        let (mut values, mut unknown) = (Vec::new(), unknown);
        let mut seen = Seen::of(&MODE, &rest[1..]);
        while values.len() < positionals.len() {
            match seen.next_class() {
                None => {
                    let missing = positionals[values.len()..].iter().map(|p| p.name);
                    let missing: Vec<&str> = missing.collect();
                    return Err(wrong(format!("{} missing", missing.join(", "))));
                }
                Some(Classified::Argument) => {
                    let value = seen.skipped();
                    values.push(take(&positionals[values.len()], &value).map_err(wrong)?);
                    seen.skip_dashes();
                }
                Some(Classified::Dashes) => seen.skip(),
                Some(Classified::Unknown) => {
                    let option = seen.skipped();
                    unknown.get_or_insert(option);
                }
                Some(Classified::Option) => {
                    seen.option(&MODE).map_err(wrong)?;
                    return Err(Stop::Help {
                        text: usage::mode_help(program, &mode),
                        code: 0,
                    });
                }
            }
        }
        if let Some(option) = unknown {
            return Err(Stop::Unknown(option));
        }
        self.options = seen.rest().to_vec();
        let mut values = values.into_iter();
        let mut next = || values.next().unwrap_or_default();
        self.mode = match mode.as_str() {
            "benchmarks" => Mode::Benchmarks {
                baseline: next(),
                contender: next(),
            },
            "filters" => Mode::Filters {
                file: next(),
                baseline: next(),
                contender: next(),
            },
            _ => Mode::BenchmarksFiltered {
                baseline: (next(), next()),
                contender: (next(), next()),
            },
        };
        Ok(self)
    }
}

/// `float(text)`: white space around it and underscores between digits are let pass.
fn python_float(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    for (at, byte) in bytes.iter().enumerate() {
        if *byte == b'_' && !(at > 0 && digit(at - 1) && digit(at + 1)) {
            return None;
        }
    }
    text.replace('_', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Result<Arguments, Stop> {
        let arguments: Vec<Vec<u8>> = arguments.iter().map(|a| a.as_bytes().to_vec()).collect();
        Arguments::read("compare.py", &arguments, &mut |file| {
            if file.starts_with(b"missing") {
                Err("it is not there".to_owned())
            } else {
                Ok(())
            }
        })
    }

    fn code(arguments: &[&str]) -> u8 {
        match read(arguments) {
            Ok(_) => panic!("{arguments:?} were read"),
            Err(Stop::Help { code, .. }) => code,
            Err(Stop::Usage { .. }) => 2,
            Err(Stop::Unknown(_)) => 1,
        }
    }

    fn texts(values: &[Vec<u8>]) -> Vec<&str> {
        values
            .iter()
            .map(|v| std::str::from_utf8(v).unwrap())
            .collect()
    }

    #[test]
    fn nothing_but_two_files_leaves_everything_as_it_is() {
        let read = read(&["benchmarks", "a", "b"]).unwrap();
        assert_eq!(
            read,
            Arguments {
                aggregates_only: false,
                colour: true,
                dump: None,
                test: true,
                alpha: 0.05,
                mode: Mode::Benchmarks {
                    baseline: b"a".to_vec(),
                    contender: b"b".to_vec()
                },
                options: vec![],
            }
        );
        assert_eq!(read.mode.description(), b"Comparing a to b");
        assert_eq!(read.mode.filters(), None);
    }

    #[test]
    fn options_are_known_by_every_beginning_that_is_theirs_alone() {
        let long = read(&[
            "--disp",
            "--no-c",
            "--dump=x",
            "--no-u",
            "--al=.3",
            "benchmarks",
            "a",
            "b",
        ])
        .unwrap();
        let short = read(&[
            "-ad",
            "x",
            "--no-color",
            "--no-utest",
            "--alpha",
            "3e-1",
            "benchmarks",
            "a",
            "b",
        ])
        .unwrap();
        assert_eq!(long, short);
        assert!(long.aggregates_only && !long.colour && !long.test);
        assert_eq!(long.alpha, 0.3);
        for ambiguous in ["--d", "--no", "--no-", "--"] {
            assert!(read(&[ambiguous, "benchmarks", "a", "b"]).is_err() || ambiguous == "--");
        }
    }

    #[test]
    fn a_short_option_may_be_joined_with_its_value_and_with_others() {
        for (arguments, file) in [
            (vec!["-dx"], "x"),
            (vec!["-d", "x"], "x"),
            (vec!["-d=x"], "x"),
            (vec!["-adx"], "x"),
            (vec!["-ad=x"], "=x"),
            (vec!["-aad", "x"], "x"),
            (vec!["-d", "-"], "-"),
            (vec!["-d", ""], ""),
        ] {
            let all = [arguments, vec!["benchmarks", "a", "b"]].concat();
            assert_eq!(read(&all).unwrap().dump, Some(file.as_bytes().to_vec()));
        }
    }

    #[test]
    fn what_follows_the_last_file_or_filter_is_passed_on() {
        let read = read(&["filters", "f", "x", "y", "-a", "--help", "--", "z"]).unwrap();
        assert_eq!(texts(&read.options), ["-a", "--help", "--", "z"]);
        assert!(!read.aggregates_only);
        assert_eq!(
            read.mode.description(),
            b"Comparing x to y (from f)".to_vec()
        );
    }

    #[test]
    fn two_dashes_behind_the_last_file_are_left_out() {
        for arguments in [
            ["benchmarks", "a", "b", "--", "-e"],
            ["benchmarks", "a", "--", "b", "-e"],
            ["benchmarks", "--", "a", "b", "-e"],
            ["--", "benchmarks", "a", "b", "-e"],
        ] {
            assert_eq!(texts(&read(&arguments).unwrap().options), ["-e"]);
        }
    }

    #[test]
    fn every_mode_has_its_files_and_filters() {
        let read = read(&["benchmarksfiltered", "a", "x", "b", "y"]).unwrap();
        assert_eq!(read.mode.files(), [b"a".as_slice(), b"b"]);
        assert_eq!(read.mode.filters(), Some([b"x".as_slice(), b"y"]));
        assert_eq!(
            read.mode.description(),
            b"Comparing x (from a) to y (from b)".to_vec()
        );
        let empty = self::read(&["filters", "a", "", "y"]).unwrap();
        assert_eq!(empty.mode.filters(), None);
    }

    #[test]
    fn every_mistake_has_the_exit_code_of_the_original() {
        for (arguments, want) in [
            (vec![], 1),
            (vec!["-a"], 1),
            (vec!["--help"], 0),
            (vec!["-ah"], 0),
            (vec!["--he"], 0),
            (vec!["benchmarks", "-h"], 0),
            (vec!["benchmarks", "a", "--help", "b"], 0),
            (vec!["benchmarks", "missing", "-h"], 2),
            (vec!["benchmarks"], 2),
            (vec!["benchmarks", "a"], 2),
            (vec!["filters", "a", "-x", "y"], 2),
            (vec!["bench", "a", "b"], 2),
            (vec!["a", "b"], 2),
            (vec!["benchmarks", "missing", "b"], 2),
            (vec!["--alpha", "x", "benchmarks", "a", "b"], 2),
            (vec!["--alpha"], 2),
            (vec!["--alpha", "--", "1", "benchmarks", "a", "b"], 2),
            (vec!["-d"], 2),
            (vec!["--no-color=x", "benchmarks", "a", "b"], 2),
            (vec!["-ax", "benchmarks", "a", "b"], 2),
            (vec!["benchmarks", "-hx", "a", "b"], 2),
            (vec!["--unknown", "benchmarks", "a", "b"], 1),
            (vec!["benchmarks", "a", "-a", "b"], 1),
            (vec!["benchmarks", "-x", "a", "b"], 1),
        ] {
            assert_eq!(code(&arguments), want, "{arguments:?}");
        }
    }

    #[test]
    fn what_looks_like_a_number_or_has_a_space_is_no_option() {
        let read = read(&["filters", "f", "-1", "-x y"]).unwrap();
        assert_eq!(read.mode.filters(), Some([b"-1".as_slice(), b"-x y"]));
        let alpha = |value: &str| self::read(&["--alpha", value, "benchmarks", "a", "b"]);
        assert_eq!(alpha("-.5").unwrap().alpha, -0.5);
        assert_eq!(alpha(" 1_0e-1 ").unwrap().alpha, 1.0);
        assert_eq!(alpha("inf").unwrap().alpha, f64::INFINITY);
        assert!(alpha("1__0").is_err());
    }

    #[test]
    fn standard_input_is_a_file_that_is_not_found_later() {
        let read = read(&["benchmarks", "-", "b"]).unwrap();
        assert_eq!(read.mode.files()[0], b"<stdin>");
    }
}
