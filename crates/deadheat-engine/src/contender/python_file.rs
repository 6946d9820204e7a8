//! Explains why a Python file lists no benchmarks, from its standard error.

use std::path::Path;

use super::harness::LIST_TESTS;
use crate::function_failure::FunctionError;
use crate::worker::WorkerProgram;

/// The maximum number of lines of an error that a message shows.
const LINES: usize = 3;
/// The maximum number of characters that a message shows of each line of an error.
const WIDTH: usize = 300;

/// Returns the Python file that a program runs, as the user names it: the program itself, or an
/// argument of an interpreter.
pub(super) fn python_file(program: &WorkerProgram) -> Option<String> {
    let is_file = |word: &str| word.ends_with(".py");
    let executable = program.executable.to_string_lossy();
    if is_file(&executable) {
        return Some(executable.into_owned());
    }
    let name = Path::new(&program.executable)
        .file_name()?
        .to_string_lossy();
    if !["python", "pypy"].iter().any(|word| name.starts_with(word)) {
        return None;
    }
    let mut arguments = program.arguments.iter().map(|word| word.to_string_lossy());
    arguments
        .find(|word| is_file(word))
        .map(|word| word.into_owned())
}

/// Returns the error of a Python file that lists no benchmarks: it ended normally, or it raised the
/// error at the end of `stderr`. `None` if neither is the case.
pub(super) fn what_python_did(stderr: &str, ended_well: bool) -> Option<FunctionError> {
    if ended_well {
        return Some(FunctionError::WithoutSuite);
    }
    let error = raised(stderr)?;
    Some(FunctionError::NoBenchmarks {
        ended: format!("raised {error},"),
        wrote: format!("deadheat asked for its benchmarks with the argument {LIST_TESTS}"),
        instead: None,
    })
}

/// Returns the error of the last traceback in a text on one line, with the place where it was
/// raised.
fn raised(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.iter().rposition(|line| place(line).is_some())?;
    let at = place(lines[last])?;
    let error = lines[last + 1..].iter();
    let error = error.skip_while(|line| line.is_empty() || line.starts_with(char::is_whitespace));
    let said: Vec<String> = error
        .map(|line| line.trim())
        .take_while(|line| !line.is_empty())
        .take(LINES)
        .map(|line| {
            line.chars()
                .filter(|c| !c.is_control())
                .take(WIDTH)
                .collect()
        })
        .collect();
    (!said.is_empty()).then(|| format!("{}, at {at}", said.join(" ")))
}

/// Returns the place that a line of a traceback names, such as `bench.py:3`.
fn place(line: &str) -> Option<String> {
    let (file, rest) = line
        .trim_start()
        .strip_prefix("File \"")?
        .split_once("\", line ")?;
    let number = rest.split(',').next()?;
    Some(format!("{file}:{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Option<String> {
        let cause = what_python_did(text, false)?.to_string();
        let (error, rest) = cause.split_once(", and lists no benchmarks; ").unwrap();
        let asked = "deadheat asked for its benchmarks with the argument --benchmark_list_tests=true\nhelp: \
                     deadheat run OLD NEW races whole executions";
        assert!(rest.starts_with(asked), "{cause}");
        Some(error.to_owned())
    }

    #[test]
    fn an_error_is_named_with_its_place() {
        let import = "a warning\nTraceback (most recent call last):\n  File \"bench.py\", line 3, in \
                      <module>\n    import nothing\nModuleNotFoundError: No module named 'nothing'\n";
        assert_eq!(
            told(import).as_deref(),
            Some("raised ModuleNotFoundError: No module named 'nothing', at bench.py:3")
        );
        let syntax = "  File \"/a b/bench.py\", line 7\n    def f(:\n          ^\nSyntaxError: invalid \
                      syntax\n";
        assert_eq!(
            told(syntax).as_deref(),
            Some("raised SyntaxError: invalid syntax, at /a b/bench.py:7")
        );
        let chained = "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    x\nKeyError: \
                       1\n\nDuring handling of the above exception, another exception occurred:\n\n\
                       Traceback (most recent call last):\n  File \"b.py\", line 2, in g\n    y\n\
                       m.Error: two\nlines\u{1b}[0m\n\nafterwords\n";
        assert_eq!(
            told(chained).as_deref(),
            Some("raised m.Error: two lines[0m, at b.py:2")
        );
    }

    #[test]
    fn other_words_are_no_error_of_python() {
        for text in [
            "",
            "usage: x",
            "File \"a.py\"",
            "  File \"a.py\", line 3, in f\n    x\n",
        ] {
            assert_eq!(told(text), None, "{text}");
        }
    }

    #[test]
    fn a_file_is_named_by_its_interpreter_or_alone() {
        let named = |executable: &str, arguments: &[&str]| {
            python_file(&WorkerProgram {
                executable: executable.into(),
                arguments: arguments.iter().map(|word| word.into()).collect(),
                directory: None,
                shown: false,
            })
        };
        assert_eq!(
            named("/usr/bin/python3", &["-O", "a.py", "b.py"]).as_deref(),
            Some("a.py")
        );
        assert_eq!(named("./bench.py", &[]).as_deref(), Some("./bench.py"));
        assert_eq!(named("pypy3", &["-m", "suite"]), None);
        assert_eq!(named("./native", &["a.py"]), None);
    }
}
