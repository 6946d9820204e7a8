//! Why a program cannot be started, and what to do about it.

use std::io;
use std::path::Path;

use deadheat_model::{HELP, words_of_system};

use crate::executable::{interpreter_of, is_executable};

/// The error of the system and the advice for it.
pub(crate) fn why_not_started(error: &io::Error, program: &Path) -> String {
    let file = program.display();
    let (why, advice) = match error.raw_os_error() {
        Some(libc::ENOENT) if program.exists() => return missing_interpreter(program),
        Some(libc::ENOENT) => (
            "there is no such file",
            "build it, or name the file where it lies".to_owned(),
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
        Some(libc::EACCES) => ("it is not executable", format!("chmod +x {file}")),
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

/// The kernel says "no such file" of a script whose interpreter is missing.
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
            "its interpreter '{name}' does not exist{HELP}install it, or mend the first line of {file}"
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
        assert!(why(libc::ENOENT, "/no/such").ends_with("name the file where it lies"));
        assert!(why(libc::ENOENT, "/").ends_with("does not exist"));
        assert!(why(libc::EACCES, "/").ends_with("name an executable in it"));
        assert!(why(libc::EACCES, "/dev/null").ends_with("chmod +x /dev/null"));
        assert!(why(libc::EACCES, "/bin/sh").ends_with("noexec"));
        assert!(why(libc::ENOEXEC, "/").ends_with("#!/bin/sh"));
        assert!(why(libc::E2BIG, "/").contains("longer than the kernel allows"));
        assert_eq!(why(libc::ENOMEM, "/"), "Cannot allocate memory");
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
        // One with arguments keeps its name free of the carriage return.
        let named = why(b"#!/no/such -x\r\n");
        assert!(named.contains("'/no/such'"), "{named}");
        assert!(why(b"\x7fELF").contains("dynamic loader"));
    }
}
