//! Symbolic links in the places of deadheat's folders.

use std::path::Path;

use deadheat::parts::exit::Failure;
use deadheat_build::refuse_tracked;

/// Refuses a symbolic link that git tracks in place of a folder that deadheat writes to: a commit
/// could use it to redirect deadheat's files to any folder.
pub(crate) fn refuse() -> Result<(), Failure> {
    let home = Path::new(".deadheat");
    for folder in ["runs", "bisect"].map(|name| home.join(name)) {
        if home.is_symlink() || folder.is_symlink() {
            refuse_tracked(&folder).map_err(|error| Failure::Usage(error.to_string()))?;
        }
    }
    Ok(())
}
