//! Machines of files, for tests.

use std::fs;

use tempfile::TempDir;

use super::root::Root;

/// A machine that has these files and no others.
pub(super) fn machine(files: &[(&str, &str)]) -> (TempDir, Root) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let root = Root::at(folder.path());
    (folder, root)
}
