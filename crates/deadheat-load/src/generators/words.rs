//! The words of a command line.

use super::text::number;

/// A program, such as `env`, that starts the program named in its arguments.
struct Wrapper {
    name: &'static str,
    /// Options whose value is the next word.
    with_value: &'static [&'static str],
    /// Number of words between the options and the program.
    operands: usize,
}

const fn wrapper(
    name: &'static str,
    with_value: &'static [&'static str],
    operands: usize,
) -> Wrapper {
    Wrapper {
        name,
        with_value,
        operands,
    }
}

const WRAPPERS: [Wrapper; 12] = [
    wrapper("chrt", &["-T", "-P", "-D"], 1),
    wrapper("env", &["-u", "--unset", "-C", "--chdir"], 0),
    wrapper("exec", &[], 0),
    wrapper("ionice", &["-c", "--class", "-n", "--classdata"], 0),
    wrapper("nice", &["-n", "--adjustment"], 0),
    wrapper("nohup", &[], 0),
    wrapper(
        "numactl",
        &["-C", "-N", "-m", "-i", "-p", "--physcpubind", "--membind"],
        0,
    ),
    wrapper("setsid", &[], 0),
    wrapper("stdbuf", &["-i", "-o", "-e"], 0),
    // `-c` only changes the meaning of the operand.
    wrapper("taskset", &[], 1),
    wrapper("time", &["-f", "-o", "--format", "--output"], 0),
    wrapper("timeout", &["-k", "--kill-after", "-s", "--signal"], 1),
];

/// Returns the place of the program in a command line, after wrappers such as `taskset -c 1`.
pub(super) fn program(words: &[String]) -> Option<usize> {
    let mut at = 0;
    loop {
        while is_assignment(words.get(at)?) {
            at += 1;
        }
        let name = file_name(&words[at]);
        let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == name) else {
            return Some(at);
        };
        at += 1;
        while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
            at += 1;
            if word == "--" {
                break;
            }
            if wrapper.with_value.contains(&&**word) {
                at += 1;
            }
        }
        at += wrapper.operands;
    }
}

fn is_assignment(word: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    matches!(word.split_once('='), Some((name, _)) if !name.is_empty() && name.chars().all(is_name))
}

/// Returns the file name of a program, without `.exe`.
pub(super) fn file_name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name.strip_suffix(".exe").unwrap_or(name)
}

/// An option of a generator.
pub(super) struct CliOption {
    pub(super) short: Option<char>,
    pub(super) long: &'static str,
    /// Short options without a value, which can precede this one in the same word.
    pub(super) flags: &'static str,
}

impl CliOption {
    /// Returns the value of the option, which is empty if the command line ends with the option.
    pub(super) fn value<'a>(&self, arguments: &'a [String]) -> Option<&'a str> {
        let options = arguments.iter().take_while(|word| *word != "--");
        for (at, word) in options.enumerate() {
            let next = || arguments.get(at + 1).map_or("", String::as_str);
            if let Some(long) = word.strip_prefix("--") {
                match long.split_once('=') {
                    Some((name, value)) if name == self.long => return Some(value),
                    None if long == self.long => return Some(next()),
                    _ => {}
                }
            } else if let Some(letters) = word.strip_prefix('-') {
                let letters = letters.trim_start_matches(|c| self.flags.contains(c));
                match self.short.and_then(|short| letters.strip_prefix(short)) {
                    Some("") => return Some(next()),
                    Some(value) => return Some(value.strip_prefix('=').unwrap_or(value)),
                    None => {}
                }
            }
        }
        None
    }

    pub(super) fn is_in(&self, arguments: &[String]) -> bool {
        self.value(arguments).is_some()
    }

    /// Returns true if the value of the option is a positive number.
    pub(super) fn is_positive(&self, arguments: &[String]) -> bool {
        self.value(arguments)
            .and_then(number)
            .is_some_and(|value| value > 0.0)
    }
}
