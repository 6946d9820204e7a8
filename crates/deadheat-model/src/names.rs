//! Names from files or repositories, which are not trusted: ids of git objects, and paths that must
//! stay below a folder.

use std::path::{Component, Path, PathBuf};

/// Returns true for the full id of an object of git: 40 or 64 hexadecimal digits. No other text may
/// reach a command line of git as a commit, because git would take `--output=FILE` for an option
/// and `main~3` for another commit.
pub fn is_object_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns true for a relative path that stays below any folder it is joined to: it has a name, no
/// `.`, no `..`, no root and no NUL. Symbolic links on the disk are not checked.
pub fn is_inner_path(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    // The bytes are split here, because `components` would skip `.` and doubled slashes.
    !bytes.is_empty()
        && !bytes.contains(&0)
        && bytes
            .split(|byte| *byte == b'/')
            .all(|part| !matches!(part, b"" | b"." | b".."))
        && path
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
}

/// Returns the path that a program such as git prints as bytes.
#[cfg(unix)]
pub fn path_of_bytes(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    std::ffi::OsStr::from_bytes(bytes).into()
}

/// Returns the path that a program such as git prints as bytes. Outside of Unix, these are UTF-8.
#[cfg(not(unix))]
pub fn path_of_bytes(bytes: &[u8]) -> PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_id_has_40_or_64_hexadecimal_digits_and_nothing_else() {
        for id in [
            "0".repeat(40),
            "c0ffee".repeat(10) + "c0ff",
            "Ab".repeat(20),
        ] {
            assert!(is_object_id(&id), "{id}");
        }
        for text in [
            "",
            "HEAD",
            "--output=/home/u/.bashrc",
            &"0".repeat(39),
            &"0".repeat(41),
            &format!("-{}", "0".repeat(39)),
            &format!("^{}", "0".repeat(39)),
            &format!("{}\n", "0".repeat(39)),
            &format!("{} --all", "0".repeat(34)),
            &"é".repeat(20),
        ] {
            assert!(!is_object_id(text), "{text:?}");
        }
    }

    #[test]
    fn an_inner_path_stays_below_every_folder() {
        for path in ["a", "a/b.c", "..a/b..", "-x", "a b"] {
            assert!(is_inner_path(Path::new(path)), "{path}");
        }
        for path in [
            "",
            "/",
            "/a",
            "..",
            "../a",
            "a/..",
            "a/../../b",
            "a/../b",
            ".",
            "./a",
            "a//b",
            "a/",
            "a\0b",
        ] {
            assert!(!is_inner_path(Path::new(path)), "{path:?}");
        }
    }
}
