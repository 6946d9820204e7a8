//! Why a program cannot be started, and what to do about it.

use std::io;
use std::path::Path;

use crate::executable::{interpreter_of, is_executable};

/// The error of the system and the advice for it.
pub(crate) fn why_not_started(error: &io::Error, program: &Path) -> String {
    let advice = match error.raw_os_error() {
        Some(libc::ENOENT) if program.exists() => return missing_interpreter(error, program),
        Some(libc::ENOENT) => "build it, or name the file where it lies",
        Some(libc::EACCES) if program.is_dir() => "it is a folder: name the executable in it",
        Some(libc::EACCES) if is_executable(program) => {
            "the interpreter that its first line names, or its file system, forbids it"
        }
        Some(libc::EACCES) => "make it executable: chmod +x",
        Some(libc::ENOEXEC) => {
            "it is no executable of this system, and no script whose first line names its \
             interpreter, such as #!/bin/sh"
        }
        Some(libc::ETXTBSY) => "it is being written: start again when that is over",
        Some(libc::E2BIG) => "its arguments and the environment are longer than the kernel allows",
        _ => return error.to_string(),
    };
    format!("{error}; {advice}")
}

/// The kernel says "no such file" of a script whose interpreter is missing.
fn missing_interpreter(error: &io::Error, program: &Path) -> String {
    match interpreter_of(program).as_deref() {
        None => format!("{error}; the interpreter that its first line names is not there"),
        Some(name) if name.ends_with('\r') => format!(
            "{error}; its lines end as on Windows, so the interpreter '{}' is looked for with a \
             carriage return behind its name: remove these with sed -i 's/\\r$//' {}",
            name.trim_end(),
            program.display()
        ),
        Some("") => format!("{error}; the dynamic loader that it was linked for is not there"),
        Some(name) => {
            format!("{error}; the interpreter '{name}' that its first line names is not there")
        }
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
        assert!(why(libc::ENOENT, "/").ends_with("is not there"));
        assert!(why(libc::EACCES, "/").ends_with("name the executable in it"));
        assert!(why(libc::EACCES, "/dev/null").ends_with("chmod +x"));
        assert!(why(libc::EACCES, "/bin/sh").ends_with("forbids it"));
        assert!(why(libc::ENOEXEC, "/").ends_with("#!/bin/sh"));
        assert!(why(libc::E2BIG, "/").contains("longer than the kernel allows"));
        assert!(why(libc::ENOMEM, "/").ends_with("(os error 12)"));
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
