//! Explains why a program cannot be started, and advises what to do.

use std::io;
use std::path::Path;

use deadheat_model::{HELP, words_of_system};

use crate::executable::{begins_like_a_program, interpreter_of, is_executable};

pub(crate) fn why_not_started(error: &io::Error, program: &Path) -> String {
    let (why, advice) = match error.raw_os_error() {
        Some(libc::ENOENT) if program.exists() => return missing_interpreter(program),
        Some(libc::ENOENT) => (
            "there is no such file",
            "build it, or give its path".to_owned(),
        ),
        Some(libc::EACCES) if program.is_dir() => {
            ("it is a folder", "name an executable in it".to_owned())
        }
        Some(libc::EACCES) if is_executable(program) => (
            "permission denied",
            "look at the permissions of the interpreter that its first line names, and whether its \
             file system is mounted with noexec"
                .to_owned(),
        ),
        Some(libc::EACCES) => return not_executable(program),
        Some(libc::ENOEXEC) => (
            "it is neither an executable for this system nor a script that names its interpreter",
            "begin a script with a line such as #!/bin/sh".to_owned(),
        ),
        Some(libc::ETXTBSY) => (
            "another process is writing it",
            "start again when that process is done".to_owned(),
        ),
        Some(libc::E2BIG) => {
            return "its arguments and the environment are longer than the kernel allows".to_owned();
        }
        _ => return words_of_system(error),
    };
    format!("{why}{HELP}{advice}")
}

/// Returns the message for a file that is not executable, with advice that depends on its name and
/// content.
pub fn not_executable(program: &Path) -> String {
    let file = program.display();
    let ending = program.extension().and_then(|ending| ending.to_str());
    let run_by = |interpreter: &str| format!("name what runs it, as in '{interpreter} {file}'");
    let advice = match ending.unwrap_or_default() {
        _ if begins_like_a_program(program) => format!("chmod +x {file}"),
        "py" => run_by("python3"),
        "js" | "mjs" => run_by("node"),
        "rb" => run_by("ruby"),
        "pl" => run_by("perl"),
        "sh" => run_by("sh"),
        "c" | "cc" | "cpp" | "cxx" | "rs" | "go" | "f90" | "zig" | "java" => {
            "it is source code: compile it, and name the program that the compiler writes"
                .to_owned()
        }
        "json" | "jsonl" | "csv" | "txt" | "log" | "gz" | "zst" => {
            "if it holds results, deadheat compare OLD NEW compares them".to_owned()
        }
        _ => format!("if it is a program, chmod +x {file}; else {}", run_by("sh")),
    };
    format!("it is not executable{HELP}{advice}")
}

/// Returns the message for a program whose interpreter or loader is missing, for which the kernel
/// reports ENOENT.
fn missing_interpreter(program: &Path) -> String {
    let file = program.display();
    match interpreter_of(program).as_deref() {
        None => "the interpreter that its first line names does not exist".to_owned(),
        Some(name) if name.ends_with('\r') => format!(
            "its lines end as on Windows, so the name of its interpreter '{}' ends with a carriage \
             return{HELP}sed -i 's/\\r$//' {file}",
            name.trim_end(),
        ),
        Some("") => format!(
            "the dynamic loader that it was linked for does not exist{HELP}ldd {file} names the \
             loader; build it for this system, or install the loader"
        ),
        Some(name) => format!(
            "its interpreter '{name}' does not exist{HELP}install it, or correct the first line \
             of {file}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(code: i32, path: &Path) -> String {
        why_not_started(&io::Error::from_raw_os_error(code), path)
    }

    #[test]
    fn what_cannot_be_started_is_told_with_advice() {
        let why = |code, path: &str| why(code, Path::new(path));
        assert!(why(libc::ENOENT, "/no/such").ends_with("give its path"));
        assert!(why(libc::ENOENT, "/").ends_with("does not exist"));
        assert!(why(libc::EACCES, "/").ends_with("name an executable in it"));
        assert!(why(libc::EACCES, "/dev/null").contains("if it is a program, chmod +x /dev/null"));
        assert!(why(libc::EACCES, "/bin/sh").ends_with("noexec"));
        assert!(why(libc::ENOEXEC, "/").ends_with("#!/bin/sh"));
        assert!(why(libc::E2BIG, "/").contains("longer than the kernel allows"));
        assert_eq!(why(libc::ENOMEM, "/"), "Cannot allocate memory");
    }

    #[test]
    fn a_file_that_is_not_executable_is_answered_by_what_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text, advice) in [
            ("a.py", "print()", "as in 'python3 "),
            ("a.c", "int main;", "compile it"),
            ("b.rs", "fn main() {}", "compile it"),
            ("a.json", "{}", "deadheat compare"),
            ("b.py", "#!/usr/bin/python3\n", "help: chmod +x "),
            ("c", "\x7fELF", "help: chmod +x "),
            ("d", "data", "if it is a program, chmod +x"),
        ] {
            let file = folder.path().join(name);
            std::fs::write(&file, text).unwrap();
            let text = not_executable(&file);
            assert!(text.starts_with("it is not executable\nhelp: "), "{text}");
            assert!(text.contains(advice), "{name}: {text}");
        }
    }

    #[test]
    fn a_missing_interpreter_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("script");
        let why = |text: &[u8]| {
            std::fs::write(&file, text).unwrap();
            why(libc::ENOENT, &file)
        };
        let named = why(b"#! /no/such  -x\necho\n");
        assert!(named.contains("'/no/such'"), "{named}");
        for text in [
            &b"#!/bin/sh\r\necho\r\n"[..],
            b"#!/usr/bin/perl\r\n",
            b"#!/bin/sh\r",
        ] {
            let crlf = why(text);
            assert!(crlf.contains("carriage return"), "{crlf}");
            assert!(!crlf.contains('\r'), "{crlf}");
        }
        // If the interpreter has arguments, the carriage return follows them and is not part of its
        // name.
        let named = why(b"#!/no/such -x\r\n");
        assert!(named.contains("'/no/such'"), "{named}");
        assert!(why(b"\x7fELF").contains("dynamic loader"));
    }
}
