//! Rejects deadheat's own files if git tracks them or another user owns them.
//!
//! deadheat trusts files below `.deadheat`, because it wrote them. But a commit, for example of a
//! pull request, can contain files that look the same, and so can a folder that all users can
//! write.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

use deadheat_format::{belongs_to_another, canonicalize, is_open_to_others};
use deadheat_model::path_of_bytes;

const OURS: &str = ".deadheat";

/// The folder in a `.deadheat` that contains link records. deadheat trusts the records next to a
/// program, whatever folder the program is in, so a commit must not contain any.
const LINKS: &str = "links";

/// Environment variables that select a git repository, as they do in a git hook, or change the
/// meaning of paths. deadheat removes them before it runs git, so that git finds the repository by
/// its working folder.
pub const REPOSITORY_VARIABLES: [&str; 13] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_NAMESPACE",
    "GIT_SHALLOW_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
];

/// The reason why a file or folder below `.deadheat` is not trusted.
#[derive(Debug, thiserror::Error)]
pub enum TrackedError {
    /// Git tracks this file, so it came with a commit.
    #[error(
        "git tracks {}, so it comes from a commit, but deadheat uses only files there that it \
         stored itself\nhelp: remove it with `git rm -r`; below .deadheat, commit only \
         accepted.toml and run files",
        .0.display()
    )]
    Tracked(PathBuf),
    /// Git tracks this journal of a database.
    #[error(
        "git tracks {}, so it comes from a commit, but SQLite would write it into the database next to \
         it\nhelp: remove it with `git rm`",
        .0.display()
    )]
    Journal(PathBuf),
    /// This file or folder belongs to another user.
    #[error(
        "{} belongs to another user, but deadheat uses only files below .deadheat that this user \
         stored\nhelp: remove it, or work in a folder of your own",
        .0.display()
    )]
    Foreign(PathBuf),
    /// Git cannot list the files that it tracks.
    #[error("cannot find out whether git tracks {}: {said}", path.display())]
    Unanswered {
        /// The file or folder that git was asked about.
        path: PathBuf,
        /// Git's message.
        said: String,
    },
}

/// Returns an error if git tracks `state`, something in it, or a file whose name begins with that
/// of `state`, such as a journal of SQLite. `state` is a file or folder directly below a
/// `.deadheat`.
///
/// Also returns an error if another user owns `state`, or a parent folder of `state` up to the
/// `.deadheat`: another user can create such files in a folder that all users can write. Outside of
/// git's working trees, only the owner matters. A `state` outside of any `.deadheat` is the user's
/// own and is accepted.
///
/// # Errors
///
/// [`TrackedError`], which names the file.
pub fn refuse_tracked(state: &Path) -> Result<(), TrackedError> {
    // Absolute, because the working directory may itself be below a `.deadheat`.
    let state = &std::path::absolute(state).unwrap_or_else(|_| state.to_owned());
    let Some((base, name)) = parted(state) else {
        return Ok(());
    };
    let inner = state.ancestors().take_while(|place| *place != base);
    let mut foreign = inner.filter(|place| belongs_to_another(place, base));
    if let Some(place) = foreign.next() {
        return Err(TrackedError::Foreign(place.to_owned()));
    }
    // A submodule of another commit, which git leaves behind as an untracked folder.
    let mut inner = state.ancestors().take_while(|place| *place != base);
    if let Some(place) = inner.find(|place| holds_repository(place)) {
        return Err(TrackedError::Tracked(place.join(".git")));
    }
    let ours = resolved(base).join(OURS);
    let wanted = ours.join(name);
    let [link, wanted] = [&ours, &wanted].map(|path| path.as_os_str().as_encoded_bytes());
    let found = tracked_files(&ours)?.into_iter().find(|path| {
        let path = path.as_os_str().as_encoded_bytes();
        // Git lists the folder itself if it is a symbolic link or a submodule, and otherwise files
        // in it.
        path.eq_ignore_ascii_case(link)
            || path
                .get(..wanted.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(wanted))
    });
    found.map_or(Ok(()), |path| Err(TrackedError::Tracked(path)))
}

/// The endings of the files that SQLite reads next to a database.
const JOURNALS: [&str; 3] = ["-journal", "-wal", "-shm"];

/// Returns an error if git tracks a journal next to the database `file`, wherever the database is:
/// SQLite writes the content of the journal into the database, so a commit could replace the
/// content of a user's database.
///
/// # Errors
///
/// [`TrackedError`], which names the journal.
pub fn refuse_tracked_journals(file: &Path) -> Result<(), TrackedError> {
    // SQLite resolves links before it looks for journals.
    let file = resolved(file);
    for ending in JOURNALS {
        let mut journal = file.clone().into_os_string();
        journal.push(ending);
        if let Some(journal) = tracked_files(Path::new(&journal))?.into_iter().next() {
            return Err(TrackedError::Journal(journal));
        }
    }
    Ok(())
}

/// Returns true if a folder is the top of a working tree or a submodule.
fn holds_repository(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join(".git")).is_ok()
}

/// Returns the files that git tracks at and below `path`, and those parents of `path` that are
/// symbolic links and that git tracks. If `path` is a repository or submodule itself, returns its
/// `.git`. Empty if `path` does not exist or is outside of git's working trees.
///
/// # Errors
///
/// [`TrackedError::Unanswered`] if git fails.
pub fn tracked_files(path: &Path) -> Result<Vec<PathBuf>, TrackedError> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if holds_repository(&path) {
        return Ok(vec![path.join(".git")]);
    }
    let mut found = tracked_at(&path)?;
    for link in path.ancestors().skip(1).filter(|place| place.is_symlink()) {
        found.extend(tracked_at(link)?);
    }
    Ok(found)
}

fn tracked_at(path: &Path) -> Result<Vec<PathBuf>, TrackedError> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Ok(Vec::new());
    };
    if fs::symlink_metadata(path).is_err() {
        return Ok(Vec::new());
    }
    let folder = resolved(folder);
    for top in folder.ancestors() {
        let git = top.join(".git");
        // If another user made a repository around the folder, such as `/tmp/.git`, it tracks none
        // of this user's files.
        let is_stray = || belongs_to_another(&git, &folder) && is_open_to_others(top);
        if !git.exists() || is_stray() {
            continue;
        }
        let inner = folder.strip_prefix(top).unwrap_or(Path::new("")).join(name);
        let said = match listed(top, &inner) {
            Ok(Ok(listed)) => {
                let names = listed.split(|byte| *byte == 0);
                let names = names.filter(|name| !name.is_empty());
                // Git separates the parts of a path by slashes on every system.
                let paths = names.map(|name| top.join(path_of_bytes(name)).components().collect());
                return Ok(paths.collect());
            }
            // Not every folder named `.git` is a repository.
            Ok(Err(said)) if git.is_dir() && said.contains("not a git repository") => continue,
            Ok(Err(said)) => said,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                "git is not in PATH\nhelp: install git".to_owned()
            }
            Err(error) => error.to_string(),
        };
        let path = path.to_owned();
        return Err(TrackedError::Unanswered { path, said });
    }
    Ok(Vec::new())
}

fn resolved(path: &Path) -> PathBuf {
    canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns the folder that contains the innermost `.deadheat` of a path, and the name after
/// `.deadheat`.
fn parted(state: &Path) -> Option<(&Path, &str)> {
    let mut below = state;
    while let Some(folder) = below.parent() {
        if folder.file_name() == Some(OsStr::new(OURS)) {
            return Some((folder.parent()?, below.file_name()?.to_str()?));
        }
        below = folder;
    }
    None
}

/// Lists the files that git tracks at and below `inner`, a path from `top`. Git runs at the top of
/// the working tree: a commit can contain a folder that looks like a bare repository, and git would
/// use that repository if git ran in that folder. The inner `Err` is git's message.
fn listed(top: &Path, inner: &Path) -> io::Result<Result<Vec<u8>, String>> {
    let mut command = Command::new("git");
    for variable in REPOSITORY_VARIABLES {
        command.env_remove(variable);
    }
    command
        .current_dir(top)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        // The repository's own configuration may name programs: a file system monitor, or those of
        // a remote, from which git would fetch missing objects.
        .env("GIT_ALLOW_PROTOCOL", "none")
        .env("GIT_NO_LAZY_FETCH", "1")
        .args(["-c", "core.fsmonitor=false", "--no-optional-locks"])
        // Git refuses to find the repository of another user by itself, such as a checkout that is
        // mounted into a container.
        .args(["--git-dir=.git", "--work-tree=."])
        .args(["ls-files", "-z", "--"]);
    // On a file system that ignores case, other spellings name the same folder.
    let mut paths = OsString::from(":(icase,literal)");
    paths.push(inner);
    command.arg(paths);
    let done = command.output()?;
    if done.status.success() {
        return Ok(Ok(done.stdout));
    }
    let said = String::from_utf8_lossy(&done.stderr);
    Ok(Err(said.trim().replace('\n', "; ")))
}

/// Returns an error if `sources`, a folder that contains only files of a commit, has link records
/// anywhere below it.
///
/// # Errors
///
/// [`TrackedError`], which names the file.
pub fn refuse_committed(sources: &Path) -> Result<(), TrackedError> {
    let mut waiting = vec![sources.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name.eq_ignore_ascii_case(OURS) {
                without_links(&entry.path())?;
            } else if name != ".git" && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                waiting.push(entry.path());
            }
        }
    }
    Ok(())
}

fn without_links(ours: &Path) -> Result<(), TrackedError> {
    // The symbolic link may lead to a folder with records.
    if ours.is_symlink() {
        return Err(TrackedError::Tracked(ours.to_owned()));
    }
    let mut entries = fs::read_dir(ours).into_iter().flatten().flatten();
    let found = entries.find(|entry| entry.file_name().eq_ignore_ascii_case(LINKS));
    found.map_or(Ok(()), |links| Err(TrackedError::Tracked(links.path())))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn git(folder: &Path, args: &[&str]) {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=n", "-c", "user.email=e@x"]);
        command.args(["-c", "protocol.file.allow=always"]);
        let done = command.args(args).current_dir(folder).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "git {args:?}: {said}");
    }

    fn has_git() -> bool {
        Command::new("git").arg("--version").output().is_ok()
    }

    fn write(path: PathBuf) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }

    fn repository() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        git(folder.path(), &["init", "--quiet"]);
        folder
    }

    #[track_caller]
    fn refuses(state: &Path) {
        let refused = refuse_tracked(state);
        assert!(
            matches!(refused, Err(TrackedError::Tracked(_))),
            "{refused:?}"
        );
    }

    #[test]
    fn state_is_believed_until_git_tracks_a_part_of_it() {
        if !has_git() {
            return;
        }
        for (file, state) in [
            ("builds/1-2/index.json", "builds"),
            ("builds/1-2.lock", "builds"),
            ("history.sqlite", "history.sqlite"),
            ("history.sqlite-journal", "history.sqlite"),
            ("bisect/a.jsonl", "bisect"),
            ("links/app.json", "links"),
            ("LINKS/placements/a/b/1", "links"),
        ] {
            let folder = repository();
            // In a folder of its own, as next to a program.
            let base = folder.path().join("out");
            let state = base.join(".deadheat").join(state);
            write(base.join(".deadheat").join(file));
            assert!(refuse_tracked(&state).is_ok(), "{file}");
            git(folder.path(), &["add", "--force", "."]);
            refuses(&state);
        }
    }

    #[test]
    fn state_of_another_user_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let ours = folder.path().join(".deadheat");
        write(ours.join("links/app.json"));
        let links = ours.join("links");
        assert!(refuse_tracked(&links).is_ok());
        for place in [&links, &ours] {
            // Only root can change the owner of a file.
            if std::os::unix::fs::chown(place, Some(65_534), None).is_err() {
                return;
            }
            let refused = refuse_tracked(&links);
            assert!(matches!(&refused, Err(TrackedError::Foreign(found)) if found == place));
            std::os::unix::fs::chown(place, Some(0), None).unwrap();
        }
        // The owner of the folder around it can replace everything in it anyway.
        for place in [folder.path(), &ours, &links] {
            std::os::unix::fs::chown(place, Some(65_534), None).unwrap();
        }
        assert!(refuse_tracked(&links).is_ok());
    }

    #[test]
    fn data_that_projects_commit_are_no_state() {
        if !has_git() {
            return;
        }
        let folder = repository();
        let ours = folder.path().join(".deadheat");
        for file in ["accepted.toml", ".gitignore", "runs/a.jsonl"] {
            write(ours.join(file));
        }
        git(folder.path(), &["add", "--force", "."]);
        for state in ["builds", "bisect", "history.sqlite", "links"] {
            assert!(refuse_tracked(&ours.join(state)).is_ok(), "{state}");
        }
        assert!(refuse_committed(folder.path()).is_ok());
        assert!(refuse_tracked(&folder.path().join("perf/history.sqlite")).is_ok());
    }

    #[test]
    fn a_tracked_link_or_submodule_in_the_place_of_the_folder_is_refused() {
        if !has_git() {
            return;
        }
        let folder = repository();
        write(folder.path().join("other/builds/1-2/index.json"));
        symlink("other", folder.path().join(".deadheat")).unwrap();
        git(folder.path(), &["add", "."]);
        refuses(&folder.path().join(".deadheat/builds"));
        let inner = repository();
        write(inner.path().join("builds/1-2/index.json"));
        git(inner.path(), &["add", "."]);
        git(inner.path(), &["commit", "--quiet", "-m", "x"]);
        let source = inner.path().display().to_string();
        let outer = repository();
        git(
            outer.path(),
            &["submodule", "--quiet", "add", &source, ".deadheat"],
        );
        refuses(&outer.path().join(".deadheat/builds"));
    }

    #[test]
    fn a_submodule_that_another_commit_left_behind_is_refused() {
        if !has_git() {
            return;
        }
        let folder = repository();
        let inner = folder.path().join(".deadheat");
        write(inner.join("links/app.json"));
        git(folder.path(), &["init", "--quiet", ".deadheat"]);
        refuses(&inner.join("links"));
        assert!(!tracked_files(&inner).unwrap().is_empty());
    }

    #[test]
    fn a_checkout_of_another_user_is_asked_and_a_repository_around_it_is_not() {
        if !has_git() {
            return;
        }
        let around = tempfile::tempdir().unwrap();
        let given = |place: &Path, user: u32| {
            let mut places = vec![place.to_owned()];
            while let Some(place) = places.pop() {
                std::os::unix::fs::lchown(&place, Some(user), None)?;
                if !place.is_symlink() && place.is_dir() {
                    places.extend(fs::read_dir(place)?.flatten().map(|entry| entry.path()));
                }
            }
            io::Result::Ok(())
        };
        let folder = around.path().join("checkout");
        fs::create_dir(&folder).unwrap();
        git(&folder, &["init", "--quiet"]);
        write(folder.join("target/x"));
        git(&folder, &["add", "target"]);
        let git_of = around.path().join(".git");
        git(around.path(), &["init", "--quiet"]);
        write(around.path().join("other/x"));
        git(around.path(), &["add", "other"]);
        assert_eq!(
            tracked_files(&around.path().join("other")).unwrap().len(),
            1
        );
        // Only root can change the owner of a file.
        if given(&folder, 65_534)
            .and_then(|()| given(&git_of, 65_533))
            .is_err()
        {
            return;
        }
        assert_eq!(tracked_files(&folder.join("target")).unwrap().len(), 1);
        let tracked = || tracked_files(&around.path().join("other")).unwrap().len();
        // No other user can create a repository in a folder that is closed to them.
        assert_eq!(tracked(), 1);
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o1777);
        fs::set_permissions(around.path(), open).unwrap();
        assert_eq!(tracked(), 0);
    }

    #[test]
    fn a_repository_that_is_not_there_answers_nothing() {
        if !has_git() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        write(folder.path().join("target/x"));
        // As in a working tree that is mounted into a container without its repository.
        fs::write(folder.path().join(".git"), "gitdir: /no/such/repository\n").unwrap();
        let answer = tracked_files(&folder.path().join("target"));
        assert!(
            matches!(answer, Err(TrackedError::Unanswered { .. })),
            "{answer:?}"
        );
        // Git ignores an empty folder `.git`.
        fs::remove_file(folder.path().join(".git")).unwrap();
        fs::create_dir(folder.path().join(".git")).unwrap();
        assert!(
            tracked_files(&folder.path().join("target"))
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn a_tracked_link_on_the_way_counts() {
        if !has_git() {
            return;
        }
        let folder = repository();
        let elsewhere = tempfile::tempdir().unwrap();
        write(elsewhere.path().join("deadheat/x"));
        let link = folder.path().join("cache");
        symlink(elsewhere.path(), &link).unwrap();
        let below = link.join("deadheat");
        assert!(tracked_files(&below).unwrap().is_empty());
        git(folder.path(), &["add", "cache"]);
        assert_eq!(tracked_files(&below).unwrap(), [link]);
    }

    #[test]
    fn a_committed_bare_repository_around_the_state_does_not_answer_for_git() {
        if !has_git() {
            return;
        }
        let folder = repository();
        let base = folder.path().join("[out]*");
        fs::create_dir_all(&base).unwrap();
        git(&base, &["init", "--quiet", "--bare", "."]);
        let ran = folder.path().join("ran");
        let program = format!("touch '{}'; false", ran.display());
        git(&base, &["config", "core.bare", "false"]);
        git(&base, &["config", "core.worktree", "."]);
        git(&base, &["config", "core.fsmonitor", &program]);
        write(base.join(".deadheat/links/app.json"));
        let state = base.join(".deadheat/links");
        assert!(refuse_tracked(&state).is_ok());
        git(folder.path(), &["add", "--force", "."]);
        refuses(&state);
        assert!(!ran.exists());
    }

    #[test]
    fn a_folder_outside_of_git_has_no_tracked_state() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path().join(".deadheat/links/app.json"));
        assert!(refuse_tracked(&folder.path().join(".deadheat/links")).is_ok());
    }

    #[test]
    fn a_commit_that_holds_records_of_links_is_refused_wherever_they_lie() {
        for file in [
            "a/.deadheat/links/app.json",
            ".deadheat/links/inputs/x",
            "a/b/.Deadheat/Links/placements/x",
        ] {
            let folder = tempfile::tempdir().unwrap();
            write(folder.path().join(file));
            let refused = refuse_committed(folder.path()).unwrap_err().to_string();
            assert!(refused.contains("it comes from a commit"), "{refused}");
        }
        let folder = tempfile::tempdir().unwrap();
        symlink("elsewhere", folder.path().join(".deadheat")).unwrap();
        assert!(refuse_committed(folder.path()).is_err());
    }
}
