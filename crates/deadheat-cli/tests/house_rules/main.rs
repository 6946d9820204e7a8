//! The house rules that a compiler does not enforce: which room may know
//! which, and who may touch the world.

mod products;
mod wording;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every arrow there may be. A room may use the rooms listed behind it and no
/// other room of deadheat.
const ARROWS: [(&str, &[&str]); 20] = [
    ("deadheat-model", &[]),
    ("deadheat-stats", &[]),
    ("deadheat-compat", &["deadheat-model", "deadheat-stats"]),
    ("deadheat-engine", &["deadheat-model"]),
    ("deadheat-doctor", &["deadheat-model", "deadheat-engine"]),
    ("deadheat-link", &["deadheat-format", "deadheat-model"]),
    ("deadheat-build", &["deadheat-link", "deadheat-model"]),
    ("deadheat-format", &["deadheat-model"]),
    ("deadheat-analysis", &["deadheat-model", "deadheat-stats"]),
    ("deadheat-report", &["deadheat-model"]),
    (
        "deadheat",
        &[
            "deadheat-engine",
            "deadheat-format",
            "deadheat-analysis",
            "deadheat-report",
            "deadheat-link",
            "deadheat-model",
        ],
    ),
    (
        "deadheat-cli",
        &[
            "deadheat",
            "deadheat-bisect",
            "deadheat-build",
            "deadheat-compat",
            "deadheat-doctor",
            "deadheat-explain",
            "deadheat-history",
            "deadheat-import",
            "deadheat-link",
            "deadheat-load",
            "deadheat-options",
        ],
    ),
    (
        "deadheat-import",
        &["deadheat", "deadheat-format", "deadheat-model"],
    ),
    // Subcommands share it.
    (
        "deadheat-options",
        &[
            "deadheat",
            "deadheat-build",
            "deadheat-doctor",
            "deadheat-import",
            "deadheat-load",
        ],
    ),
    // Races of commits have servers, too.
    ("deadheat-load", &["deadheat"]),
    (
        "deadheat-bisect",
        &[
            "deadheat",
            "deadheat-build",
            "deadheat-options",
            "deadheat-stats",
        ],
    ),
    (
        "deadheat-explain",
        &["deadheat", "deadheat-import", "deadheat-options"],
    ),
    (
        "deadheat-history",
        &[
            "deadheat",
            "deadheat-build",
            "deadheat-options",
            "deadheat-stats",
        ],
    ),
    // Benchmarks of criterion's depend on it.
    ("deadheat-criterion", &["deadheat"]),
    // No arrow leads to it: only tests use it.
    ("deadheat-testing", &["deadheat-model"]),
];

/// Crates at most, ours included, that come with the library: who adds
/// a benchmark should not have to think about what it drags in. Five of them
/// read the rules file, which `cargo bench` must honour as all others do.
const MOST_CRATES: usize = 20;

/// Crates of others at most that the program is made of: a first build should not wait for what it
/// does not need. Packs brought two, `tar` and `filetime`. Histories brought
/// 20: five for SQLite (`rusqlite`, `libsqlite3-sys` and three small ones), and fifteen for the
/// levels, `nalgebra-sparse` with what that brings. `rev --node` brought `glob`.
const MOST_FOREIGN_CRATES: usize = 105;

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// Names of every crate in the house.
fn rooms() -> Vec<String> {
    let mut rooms: Vec<String> = fs::read_dir(crates())
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().join("Cargo.toml").exists())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    rooms.sort();
    rooms
}

/// Rooms that a crate's `[dependencies]` name, target-specific ones included.
fn arrows_from(room: &str) -> Vec<String> {
    let manifest = fs::read_to_string(crates().join(room).join("Cargo.toml")).unwrap();
    let mut section = String::new();
    let mut arrows = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']').to_owned();
            // `[dependencies.deadheat-x]` is an arrow as well.
            if let Some(name) = section.strip_prefix("dependencies.") {
                arrows.push(name.to_owned());
            }
        } else if section == "dependencies" || section.ends_with(".dependencies") {
            let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
            if name.starts_with("deadheat") {
                arrows.push(name.to_owned());
            }
        }
    }
    arrows
}

/// All Rust sources of a room, tests at the foot of a file left out.
fn sources(room: &str) -> BTreeMap<PathBuf, String> {
    fn walk(folder: &Path, found: &mut BTreeMap<PathBuf, String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]").next().unwrap_or_default();
                found.insert(path, code.to_owned());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(&crates().join(room).join("src"), &mut found);
    assert!(!found.is_empty(), "{room} has no sources");
    found
}

#[test]
fn no_room_knows_another_that_the_plan_of_the_house_does_not_show() {
    for room in rooms() {
        let (_, allowed) = ARROWS
            .iter()
            .find(|(name, _)| *name == room)
            .unwrap_or_else(|| panic!("{room} is not in the plan of the house"));
        for arrow in arrows_from(&room) {
            assert!(
                allowed.contains(&arrow.as_str()),
                "{room} → {arrow} is no arrow of the house"
            );
        }
    }
}

#[test]
fn the_arrows_are_read_from_the_manifests_and_not_from_thin_air() {
    assert!(arrows_from("deadheat").contains(&"deadheat-engine".to_owned()));
    assert_eq!(
        arrows_from("deadheat-cli"),
        [
            "deadheat",
            "deadheat-build",
            "deadheat-compat",
            "deadheat-history",
            "deadheat-import",
            "deadheat-options",
            "deadheat-bisect",
            "deadheat-doctor",
            "deadheat-explain",
            "deadheat-link",
            "deadheat-load"
        ]
    );
}

/// Names and versions of all crates that this one is built of.
fn tree(package: &str, edges: &str) -> BTreeSet<String> {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--package", package])
        .args(["--edges", edges, "--prefix", "none"])
        .current_dir(crates())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&tree.stderr);
    assert!(tree.status.success(), "{errors}");
    let tree = String::from_utf8(tree.stdout).unwrap();
    // `name version (where it lies, or that it was listed before)`.
    let names = tree.lines().map(|line| line.split(" (").next().unwrap());
    let names = names.filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

#[test]
fn who_depends_on_deadheat_gets_few_crates() {
    let names = tree("deadheat", "normal,build");
    assert!(names.iter().any(|name| name.starts_with("deadheat-stats ")));
    let count = names.len();
    assert!(
        count <= MOST_CRATES,
        "{count} crates, {MOST_CRATES} at most: {names:?}"
    );
}

#[test]
fn the_program_is_made_of_few_crates_and_none_of_them_draws_letters() {
    let names = tree("deadheat-cli", "normal");
    assert!(names.iter().any(|name| name.starts_with("clap ")));
    let foreign = names.iter().filter(|name| !name.starts_with("deadheat"));
    let count = foreign.count();
    assert!(
        count <= MOST_FOREIGN_CRATES,
        "{count} crates of others, {MOST_FOREIGN_CRATES} at most: {names:?}"
    );
    for absent in ["resvg ", "usvg ", "skrifa ", "plotters "] {
        assert!(!names.iter().any(|name| name.starts_with(absent)));
    }
}

#[test]
fn pure_rooms_touch_no_clock_no_file_no_process_and_no_environment() {
    for room in [
        "deadheat-stats",
        "deadheat-compat",
        "deadheat-model",
        "deadheat-analysis",
        "deadheat-report",
    ] {
        for (path, code) in sources(room) {
            for word in [
                "std::fs",
                "std::process",
                "std::net",
                "Instant::",
                "SystemTime",
                "std::env",
            ] {
                assert!(!code.contains(word), "{} uses {word}", path.display());
            }
        }
    }
}

#[test]
fn only_the_format_room_and_the_engines_facts_read_or_write_files() {
    // The engine looks at what the kernel publishes and at the outputs it
    // captured; it opens no file of the user's by name. Of an executable that
    // has neutral links it asks whether that is still the same file, of a jar
    // whether it holds benchmarks. The pages of programs it drops from the
    // system's cache, and reads them back. It opens the input of a tool. What workers print goes to a file in memory,
    // which has no name; what harnesses write goes into a folder that is made
    // for the launch. Of measured processes it reads what `/proc` shows. It removes the folder
    // of a script that was killed in the middle of its race.
    let allowed = [
        "machine.rs",
        "command.rs",
        "command_launch.rs",
        "executable.rs",
        "launch_folder.rs",
        "mapped_files.rs",
        "page_draws.rs",
        "observed.rs",
        "owner.rs",
        "procfs.rs",
        "stderr_tail.rs",
        "tool.rs",
        "trace.rs",
    ];
    for room in [
        "deadheat-engine",
        "deadheat-doctor",
        "deadheat",
        "deadheat-import",
        "deadheat-options",
        "deadheat-cli",
    ] {
        for (path, code) in sources(room) {
            let name = path.file_name().unwrap().to_str().unwrap();
            // A module may be called procfs.
            let begins = |before: &str| !before.ends_with(|c: char| c.is_alphanumeric());
            let mut uses = code.match_indices("fs::");
            let touches = code.contains("std::fs") || uses.any(|(at, _)| begins(&code[..at]));
            let may = match room {
                "deadheat-engine" => allowed.contains(&name),
                // They look for the files of a folder, and read some files without holding all of them.
                "deadheat-import" => {
                    ["readers.rs", "criterion.rs", "nvbench.rs", "table.rs"].contains(&name)
                }
                // The folder in which `proc` and `sys` are found.
                "deadheat-doctor" => name == "procfs.rs",
                _ => false,
            };
            assert!(!touches || may, "{} touches files", path.display());
        }
    }
}

/// A name that another user or a checkout can know may be taken by a link. `under_new_name` makes the
/// random names; those who call it create exclusively.
#[test]
fn temporary_files_and_folders_get_their_names_from_one_function() {
    let makers = [
        "deadheat-model/src/new_name.rs",
        "deadheat-format/src/temporary.rs",
        "deadheat-format/src/output.rs",
        "deadheat-engine/src/launch_folder.rs",
        "deadheat-link/src/cache.rs",
        "deadheat-link/src/roles.rs",
        "deadheat-build/src/shared_suite.rs",
    ];
    // Which process is whose, and what belongs to whom.
    let processes = [
        "deadheat-engine/src/subprocess.rs",
        "deadheat-engine/src/subprocess/group.rs",
        "deadheat-engine/src/worker/pipes.rs",
    ];
    let temporary = ["deadheat-cli/src/compare/sides.rs"];
    let is_one_of = |path: &Path, files: &[&str]| files.iter().any(|file| path.ends_with(file));
    for room in rooms().iter().filter(|room| *room != "deadheat-testing") {
        for (path, code) in sources(room) {
            let shown = path.display();
            let makes = code.contains("under_new_name");
            assert!(
                !makes || is_one_of(&path, &makers) || path.ends_with("deadheat-model/src/lib.rs"),
                "{shown} makes temporary files: call what deadheat-format has"
            );
            let numbered = code.contains("process::id()");
            assert!(
                !numbered || is_one_of(&path, &processes),
                "{shown} knows its process number, which others know too"
            );
            let temporarily = code.contains("temp_dir()");
            assert!(
                !temporarily || is_one_of(&path, &makers) || is_one_of(&path, &temporary),
                "{shown} looks for the temporary files of the system"
            );
            let follows = code.contains(".create(true).truncate(true)")
                || code.contains(".create(true)\n            .truncate(true)");
            assert!(!follows, "{shown} opens a file through a link");
        }
    }
}

#[test]
fn unsafe_code_stays_in_the_engine_and_the_doctor_and_every_block_says_why_it_is_sound() {
    for room in rooms() {
        for (path, code) in sources(&room) {
            let blocks = code.matches("unsafe {").count();
            if blocks == 0 {
                continue;
            }
            // The doctor maps memory to read from, and asks the processor for its hypervisor.
            let may = ["deadheat-engine", "deadheat-doctor"].contains(&&*room);
            assert!(may, "{} is unsafe", path.display());
            let reasons = code.matches("SAFETY:").count();
            assert!(
                reasons >= blocks,
                "{}: {blocks} blocks, {reasons} reasons",
                path.display()
            );
        }
    }
}

#[test]
fn lib_and_mod_files_only_declare_and_re_export() {
    for room in rooms() {
        for (path, code) in sources(&room) {
            let name = path.file_name().unwrap().to_str().unwrap();
            if name != "lib.rs" && name != "mod.rs" {
                continue;
            }
            for line in code.lines() {
                let defines = [
                    "pub fn ",
                    "fn ",
                    "impl ",
                    "pub struct ",
                    "pub enum ",
                    "pub trait ",
                ];
                assert!(
                    !defines.iter().any(|word| line.starts_with(word)),
                    "{}: {line}",
                    path.display()
                );
            }
        }
    }
}

/// A branch name, a benchmark or a line of deadheat.toml may hold orders to the
/// terminal or to a runner of workflows. `terminal::to_stderr` and
/// `answer::to_stdout` are the only ways out; the former escapes.
#[test]
fn nothing_is_said_but_through_the_two_functions_that_say_it() {
    for room in rooms() {
        for (path, code) in sources(&room) {
            let says = |line: &&str| {
                let code = line.split("//").next().unwrap_or_default();
                ["print!(", "println!(", "dbg!("]
                    .iter()
                    .any(|way| code.contains(way))
            };
            let allowed = [
                // Says it.
                "deadheat/src/terminal.rs",
                // Speaks as compare.py does.
                "deadheat-cli/src/compare/held_output.rs",
            ];
            if allowed.iter().any(|file| path.ends_with(file)) {
                continue;
            }
            let found: Vec<&str> = code.lines().filter(says).collect();
            assert!(found.is_empty(), "{}: {found:?}", path.display());
        }
    }
}

/// The files of the repository, as git lists them.
fn committed_files() -> Vec<String> {
    let listed = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(crates().parent().unwrap())
        .output()
        .unwrap();
    assert!(listed.status.success());
    let listed = String::from_utf8(listed.stdout).unwrap();
    listed.split_terminator('\0').map(str::to_owned).collect()
}

/// Returns what keeps Windows from checking out a file of this path.
fn unfit_for_windows(path: &str) -> Option<&'static str> {
    const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];
    path.split('/').find_map(|part| {
        let stem = part.split('.').next().unwrap_or_default().to_lowercase();
        let numbered = |device: &str| {
            let number = stem.strip_prefix(device);
            number.is_some_and(|number| number.len() == 1 && number.parse::<u8>().is_ok())
        };
        if part.contains(|c: char| c < ' ' || "<>:\"|?*\\".contains(c)) {
            Some("has a character that no file of Windows has")
        } else if part.ends_with(['.', ' ']) {
            Some("ends with a dot or a space, which Windows drops")
        } else if DEVICES.contains(&&*stem) || numbered("com") || numbered("lpt") {
            Some("is a device of Windows")
        } else {
            None
        }
    })
}

#[test]
fn windows_can_check_out_every_file() {
    let files = committed_files();
    assert!(files.len() > 500, "{files:?}");
    for file in &files {
        assert_eq!(unfit_for_windows(file), None, "{file}");
        // The longest path of Windows has 259 characters, and the checkout is in some folder.
        assert!(file.chars().count() <= 180, "{file}");
    }
    // Windows and macOS ignore the case of names.
    let mut seen = BTreeMap::new();
    for file in &files {
        let other = seen.insert(file.to_lowercase(), file);
        assert_eq!(other, None, "{file}");
    }
    for name in ["a/b:c", "a./b", "b ", "x/NUL.txt", "com1", "a\\b", "what?"] {
        assert!(unfit_for_windows(name).is_some(), "{name}");
    }
    for name in ["comma", "a/.gitignore", "com10", "lpt/x", "größe ∑"] {
        assert_eq!(unfit_for_windows(name), None, "{name}");
    }
}
