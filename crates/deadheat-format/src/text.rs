//! Plain text files, such as the answer in Markdown.

use std::fs::{self, OpenOptions};
use std::path::Path;

use crate::error::{FormatError, cannot_write};

/// Writes a text file, replacing an older one.
pub fn write_text(path: impl AsRef<Path>, text: &str) -> Result<(), FormatError> {
    let path = path.as_ref();
    fs::write(path, text).map_err(cannot_write(path))
}

/// Writes text files into a folder, which is made where it is missing.
pub fn write_texts<'a>(
    folder: impl AsRef<Path>,
    files: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<(), FormatError> {
    let folder = folder.as_ref();
    fs::create_dir_all(folder).map_err(cannot_write(folder))?;
    for (name, text) in files {
        write_text(folder.join(name), text)?;
    }
    Ok(())
}

/// Finds out whether a file can be written, without changing what is in it; a
/// missing one is created empty. Better asked before a race than after it.
pub fn ensure_writable(path: impl AsRef<Path>) -> Result<(), FormatError> {
    let path = path.as_ref();
    let opened = OpenOptions::new().create(true).append(true).open(path);
    opened.map(drop).map_err(cannot_write(path))
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
    fn a_folder_for_several_files_is_made_and_what_is_in_its_way_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let man = folder.path().join("share/man");
        for text in ["old", "new"] {
            write_texts(&man, [("a.1", text), ("b.1", "b")]).unwrap();
            assert_eq!(fs::read_to_string(man.join("a.1")).unwrap(), text);
        }
        let error = write_texts(man.join("a.1"), [("c.1", "")]).unwrap_err();
        assert!(error.is_write_error());
        assert!(error.to_string().contains("a.1"));
    }

    #[test]
    fn asking_whether_a_file_is_writable_leaves_its_content_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answer.md");
        ensure_writable(&path).unwrap();
        write_text(&path, "old").unwrap();
        ensure_writable(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    }

    #[test]
    fn a_file_in_no_folder_cannot_be_written_and_is_named() {
        let error = ensure_writable("/no/such/folder/x.md").unwrap_err();
        assert!(error.is_write_error());
        assert!(error.to_string().contains("/no/such/folder/x.md"));
    }
}
