//! Readers that take a path get a file in memory.

use std::fs;
use std::path::{Path, PathBuf};

/// A file for this process, which every input replaces.
pub fn on_disk(target: &str, bytes: &[u8], read: impl FnOnce(&Path)) {
    let memory = Path::new("/dev/shm");
    let folder = match memory.is_dir() {
        true => memory.to_owned(),
        false => std::env::temp_dir(),
    };
    let folder: PathBuf = folder.join(format!("deadheat-fuzz-{target}-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("input");
    fs::write(&file, bytes).expect("a file");
    read(&file);
    fs::remove_dir_all(&folder).expect("the folder can be removed");
}
