//! The owner of a file that deadheat finds by itself in a folder above.

use std::fs;
use std::path::Path;

use crate::platform;

/// Returns true if users other than the owner can create files in a folder.
pub fn is_open_to_others(folder: &Path) -> bool {
    fs::metadata(folder).is_ok_and(|about| platform::is_open_to_others(&about))
}

/// Returns true if a file belongs neither to root, nor to this user, nor to the owner of the folder
/// in which the search for the file began (an empty path is the current folder). Anybody can put
/// files into `/tmp`, and they would affect every race below it.
pub fn belongs_to_another(file: &Path, start: &Path) -> bool {
    let start = match start.as_os_str().is_empty() {
        true => Path::new("."),
        false => start,
    };
    let owner = |place: &Path| {
        fs::metadata(place)
            .map(|about| platform::owner(&about))
            .ok()
    };
    let known = [Some(0), owner(start), owner(Path::new("/proc/self"))];
    // The owner of a link counts, not the owner of its target.
    let found = fs::symlink_metadata(file).map(|about| platform::owner(&about));
    found.is_ok_and(|owner| !known.contains(&Some(owner)))
}
