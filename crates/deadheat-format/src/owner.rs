//! The owner of a file that deadheat finds by itself in a folder above.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Returns true if a file belongs neither to root, nor to this user, nor to the owner of the folder
/// in which the search for the file began; an empty path is the current folder. Anybody can put files into `/tmp`, and they would count
/// for every race below.
pub fn belongs_to_another(file: &Path, start: &Path) -> bool {
    let start = match start.as_os_str().is_empty() {
        true => Path::new("."),
        false => start,
    };
    let owner = |place: &Path| fs::metadata(place).map(|about| about.uid()).ok();
    let known = [Some(0), owner(start), owner(Path::new("/proc/self"))];
    // A link is as good as the user who made it, wherever it leads.
    let found = fs::symlink_metadata(file).map(|about| about.uid());
    found.is_ok_and(|owner| !known.contains(&Some(owner)))
}
