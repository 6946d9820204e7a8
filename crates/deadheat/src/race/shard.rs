//! Continues parts of a race that is spread over several machines, after they were stopped.

use std::path::Path;

use deadheat_engine::boot;
use deadheat_format::{
    FileDigest, belongs_to_another, read_header, read_run, refuse_file_in_use, set_aside,
};
use deadheat_link::tracked_files;
use deadheat_model::{RunHeader, Shard};

use super::trust::is_made_here;
use crate::exit::Failure;
use crate::terminal::to_stderr;

/// Returns the header of an unfinished or finished part in the file `save`, if this process can
/// continue it. `None` if the file does not exist, or if its measurements cannot be continued; the
/// file is then renamed. Returns an error if the file contains another race or another part.
pub fn begun_part(
    save: Option<&Path>,
    part: Option<Shard>,
    command: &[String],
) -> Result<Option<RunHeader>, Failure> {
    let (Some(part), Some(path)) = (part, save.filter(|path| path.exists())) else {
        return Ok(None);
    };
    refuse_file_in_use(path).map_err(|error| Failure::unwritable("--save", &error))?;
    let header = read_header(path).map_err(Failure::reading)?;
    let held = header.plan.design.shard;
    let why = match held {
        None => "holds a whole race, not a part of one".to_owned(),
        Some(held) if held != part => format!(
            "holds part {} of {}, but this command line races part {} of {}",
            held.index, held.count, part.index, part.count
        ),
        Some(_) if header.command != command => format!(
            "holds a part of another race, '{}'",
            header.command.join(" ")
        ),
        Some(_) if may_go_on(path, &header)? => return Ok(Some(header)),
        Some(_) => {
            let kept = set_aside(path).map_err(|error| Failure::unwritable("--save", &error))?;
            let (path, kept) = (path.display(), kept.display());
            let text = format!(
                "{path} comes from a commit or from another user or machine, or was begun before \
                 this machine last booted, so the part starts again; the old measurements are in {kept}"
            );
            to_stderr("deadheat", &text);
            return Ok(None);
        }
    };
    let path = path.display();
    Err(Failure::Usage(format!(
        "--save {path}: it {why}\nhelp: choose another name"
    )))
}

/// Returns true if the part in this file can be continued: this user's deadheat wrote the file, and
/// the part is finished, or was begun on this machine since its last boot. deadheat recognises a
/// file that it wrote by the first line only, and a file in a commit could have the same first
/// line, because all parts without `--seed` have the same seed. So the function also returns false
/// for a file that git tracks.
fn may_go_on(path: &Path, header: &RunHeader) -> Result<bool, Failure> {
    let tracked = tracked_files(path).map_err(|error| Failure::Usage(error.to_string()))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let is_own = tracked.is_empty() && !belongs_to_another(path, folder);
    let is_made_here = is_own && is_made_here(&FileDigest::of_run(header));
    Ok(is_made_here && (is_of_this_boot(header) || is_finished(path)?))
}

/// Returns false if the part was begun on another machine or before the last boot. The analysis
/// treats a part as one host, so a part must not mix two hosts.
fn is_of_this_boot(header: &RunHeader) -> bool {
    match (&header.environment.boot, boot()) {
        (Some(theirs), Some(ours)) => *theirs == ours,
        _ => true,
    }
}

fn is_finished(path: &Path) -> Result<bool, Failure> {
    let run = read_run(path).map_err(Failure::reading)?;
    Ok(run.has_come_to_its_end())
}
