//! Parses programs with benchmarks from command lines.

use std::path::{Path, PathBuf};

use deadheat_model::Program;

use crate::exit::Failure;
use crate::system::{find_executable, is_executable, is_jar, not_executable};

/// Parses a program: the path of an executable file or a jar, or a command of several words. In a
/// command, the first word is a path or a name that is looked up in `PATH`, and the other words are
/// arguments.
pub fn program(text: &str) -> Result<Program, Failure> {
    if can_be_started(text) {
        return Ok(Program {
            executable: in_this_folder(text),
            ..Program::default()
        });
    }
    if Path::new(text).is_file() {
        return Err(Failure::Contender(format!(
            "'{text}' cannot be started: {}",
            not_executable(Path::new(text))
        )));
    }
    if Path::new(text).is_dir() {
        return Err(Failure::Contender(format!(
            "'{text}' cannot be started: it is a folder\nhelp: name an executable in it; deadheat \
             compare reads folders of saved results"
        )));
    }
    let words = shell_words::split(text).map_err(|_| {
        Failure::Usage(format!("'{text}' cannot be started: a quote is not closed"))
    })?;
    let Some((name, arguments)) = words.split_first().filter(|(name, _)| !name.is_empty()) else {
        return Err(Failure::Usage("the name of a program is empty".to_owned()));
    };
    let executable = if can_be_started(name) {
        in_this_folder(name)
    } else {
        let found = find_executable(name);
        found.ok_or_else(|| {
            let help = match name.split_once(".py::") {
                Some((file, _)) => format!(
                    "deadheat rev BASE --pytest {file}.py races tests of pytest-benchmark, where \
                     BASE \
                     is a git revision"
                ),
                None => "build it, or give its path".to_owned(),
            };
            Failure::Contender(format!("there is no program '{name}'\nhelp: {help}"))
        })?
    };
    Ok(Program {
        executable,
        arguments: arguments.to_vec(),
        ..Program::default()
    })
}

/// Returns true if a command-line argument names a program, and not a part of a benchmark's name:
/// it is an executable file or a jar, begins like a path, or has several words of which the first
/// is a program.
pub fn is_program(text: &str) -> bool {
    let like_a_path = ["/", "./", "../"].iter().any(|sign| text.starts_with(sign));
    // 'sort (quick)' is the name of a benchmark, although a program named `sort` exists.
    let like_a_pair = text.ends_with(')') && text.contains(" (");
    let several_words = text.contains(char::is_whitespace) && !like_a_pair;
    like_a_path || can_be_started(text) || (several_words && program(text).is_ok())
}

/// Returns true for the path of an executable file, or of a jar.
fn can_be_started(path: &str) -> bool {
    let path = Path::new(path);
    is_executable(path) || is_jar(path)
}

/// Returns the path with `./` in front if it has no folder, because a bare name would be looked up
/// in `PATH`.
fn in_this_folder(path: &str) -> PathBuf {
    if path.contains('/') {
        PathBuf::from(path)
    } else {
        Path::new(".").join(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_a_file_or_words_whose_first_is_found() {
        let sh = program("/bin/sh").unwrap();
        assert_eq!(sh.executable, Path::new("/bin/sh"));
        assert_eq!(sh.arguments, [""; 0]);
        let script = program("sh 'my worker.sh' --fast").unwrap();
        assert!(script.executable.is_absolute());
        assert_eq!(script.arguments, ["my worker.sh", "--fast"]);
    }

    #[test]
    fn what_is_no_program_is_told() {
        for (text, told) in [
            ("no-such-program-anywhere", "there is no program"),
            ("./no-such-file x", "'./no-such-file'"),
            ("Cargo.toml", "is not executable"),
            ("sh 'a", "quote"),
            ("  ", "empty"),
        ] {
            let problem = program(text).unwrap_err().to_string();
            assert!(problem.contains(told), "{text}: {problem}");
        }
    }

    #[test]
    fn a_filter_is_told_from_a_program() {
        for text in ["/bin/sh", "./not/there", "../x", "sh worker.sh"] {
            assert!(is_program(text), "{text}");
        }
        for text in ["sum", "sort/1000", "sh (loop)", "sh", "Cargo.toml"] {
            assert!(!is_program(text), "{text}");
        }
    }
}
