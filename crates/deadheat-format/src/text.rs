//! Files that are written whole, such as the answer in Markdown or a picture.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::error::{FormatError, cannot_write};
use crate::replace::replace;

/// Writes a text file, replacing an older one.
pub fn write_text(path: impl AsRef<Path>, text: &str) -> Result<(), FormatError> {
    write_bytes(path, text.as_bytes())
}

/// Writes a text file as `text` makes it, replacing an older one: a page of
/// many megabytes need not be held.
pub fn write_text_by(
    path: impl AsRef<Path>,
    text: impl FnOnce(&mut dyn fmt::Write) -> fmt::Result,
) -> Result<(), FormatError> {
    let path = path.as_ref();
    replace(path, |out| {
        let mut out = TextWriter { out, problem: None };
        let told = text(&mut out);
        let written = match (told, out.problem) {
            (Err(fmt::Error), Some(problem)) => Err(problem),
            (Err(fmt::Error), None) => Err(io::Error::other("the text could not be made")),
            (Ok(()), _) => Ok(()),
        };
        written.map_err(cannot_write(path))
    })
}

/// Carries text to a file, and keeps what the system said when it could not.
struct TextWriter<'w> {
    out: &'w mut BufWriter<File>,
    problem: Option<io::Error>,
}

impl fmt::Write for TextWriter<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.out.write_all(text.as_bytes()).map_err(|problem| {
            self.problem = Some(problem);
            fmt::Error
        })
    }
}

/// Writes a file of bytes, replacing an older one.
pub fn write_bytes(path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), FormatError> {
    let path = path.as_ref();
    replace(path, |out| out.write_all(bytes).map_err(cannot_write(path)))
}

/// Makes a folder, and those above it, unless it is there.
pub fn ensure_folder(path: impl AsRef<Path>) -> Result<(), FormatError> {
    let path = path.as_ref();
    fs::create_dir_all(path).map_err(cannot_write(path))
}

/// Finds out whether a file can be written, without changing what is in it; one
/// that was missing still is. Better asked before a race than after it.
pub fn ensure_writable(path: impl AsRef<Path>) -> Result<(), FormatError> {
    let path = path.as_ref();
    let missing = fs::symlink_metadata(path).is_err();
    let opened = OpenOptions::new().create(true).append(true).open(path);
    opened.map_err(cannot_write(path))?;
    match missing {
        true => fs::remove_file(path).map_err(cannot_write(path)),
        false => Ok(()),
    }
}

/// Whether two paths lead to one file that is there.
pub fn is_same_file(one: impl AsRef<Path>, other: impl AsRef<Path>) -> bool {
    match (fs::canonicalize(one), fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_again_by_another_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        assert!(!is_same_file(&path, &path), "nothing is there");
        write_text(&path, "").unwrap();
        assert!(is_same_file(&path, folder.path().join(".").join("a")));
        assert!(!is_same_file(&path, folder.path()));
    }

    #[test]
    fn asking_whether_a_file_is_writable_leaves_its_content_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answer.md");
        ensure_writable(&path).unwrap();
        assert!(!path.exists(), "nothing was written yet");
        write_text(&path, "old").unwrap();
        ensure_writable(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    }

    #[test]
    fn a_text_is_written_as_it_is_made_and_a_full_disk_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.html");
        write_text(&path, "an older and longer page").unwrap();
        write_text_by(&path, |out| {
            out.write_str("a")?;
            write!(out, "{}", 7)
        })
        .unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "a7");
        // A device that is always full, which Linux has.
        let error = write_text_by("/dev/full", |out| out.write_str(&"x".repeat(1 << 20)));
        let text = error.unwrap_err().to_string();
        assert!(
            text.contains("/dev/full") && text.contains("space"),
            "{text}"
        );
        let error = write_text_by(&path, |_| Err(fmt::Error)).unwrap_err();
        assert!(error.to_string().contains("page.html"));
    }

    #[test]
    fn a_folder_is_made_once_and_a_file_in_its_place_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let pictures = folder.path().join("a").join("pictures");
        ensure_folder(&pictures).unwrap();
        ensure_folder(&pictures).unwrap();
        write_bytes(pictures.join("x.png"), &[1, 2]).unwrap();
        let error = ensure_folder(pictures.join("x.png")).unwrap_err();
        assert!(error.is_write_error());
        assert!(error.to_string().contains("x.png"), "{error}");
    }

    #[test]
    fn a_file_in_no_folder_cannot_be_written_and_is_named() {
        let error = ensure_writable("/no/such/folder/x.md").unwrap_err();
        assert!(error.is_write_error());
        assert!(error.to_string().contains("/no/such/folder/x.md"));
    }
}
