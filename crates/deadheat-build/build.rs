//! Embeds the sources of deadheat-criterion, with the crates that it needs, and of deadheat's own
//! Google Benchmark. A crate from a registry embeds nothing, because the other crates are not next
//! to it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The crate that replaces criterion.
const FIRST: &str = "deadheat-criterion";

/// The tables of the workspace's manifest that its crates inherit from.
const INHERITED: [&str; 3] = [
    "[workspace.package",
    "[workspace.dependencies",
    "[workspace.lints",
];

fn main() {
    let folder = |name: &str| PathBuf::from(env::var_os(name).expect("cargo sets it"));
    let (here, out) = (folder("CARGO_MANIFEST_DIR"), folder("OUT_DIR"));
    let empty = || Packed {
        crates: here.join(".."),
        out: out.clone(),
        files: Vec::new(),
    };
    println!("cargo::rerun-if-changed=build.rs");
    let mut criterion = empty();
    if criterion.crates.join(FIRST).is_dir() {
        criterion.workspace();
        criterion.crates_below(FIRST);
    }
    criterion.write("sources.rs");
    let mut google_benchmark = empty();
    let include = here.join("../../include");
    google_benchmark.below(&include.join("google_benchmark"), "google_benchmark");
    let header = include.join("deadheat.h");
    if header.is_file() {
        println!("cargo::rerun-if-changed={}", header.display());
        google_benchmark
            .files
            .push(("deadheat.h".to_owned(), header));
    }
    google_benchmark.write("google_benchmark.rs");
}

/// The files to carry.
struct Packed {
    crates: PathBuf,
    out: PathBuf,
    /// The path among the carried files, and the file to read.
    files: Vec<(String, PathBuf)>,
}

impl Packed {
    /// Packs the workspace's lock file and its manifest without profiles and members.
    fn workspace(&mut self) {
        let top = self.crates.join("..");
        let lock = top.join("Cargo.lock");
        if lock.is_file() {
            println!("cargo::rerun-if-changed={}", lock.display());
            self.files.push(("Cargo.lock".to_owned(), lock));
        }
        let inherited = |header: &str| INHERITED.iter().any(|table| header.starts_with(table));
        let kept = tables(&read(&top.join("Cargo.toml")), inherited);
        let text = format!(
            "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\n\n{kept}\n[profile.release]\nopt-level = 3\n"
        );
        self.rewritten("Cargo.toml", &text);
    }

    /// Packs a crate and all crates that its manifest names, even optional ones: cargo needs them.
    fn crates_below(&mut self, first: &str) {
        let mut waiting = vec![first.to_owned()];
        let mut met = BTreeSet::new();
        while let Some(name) = waiting.pop() {
            if !met.insert(name.clone()) {
                continue;
            }
            let folder = self.crates.join(&name);
            let is_built = |header: &str| {
                !header.starts_with("[[") && !header.starts_with("[dev-dependencies")
            };
            let manifest = tables(&read(&folder.join("Cargo.toml")), is_built);
            for line in manifest.lines() {
                let dependency = line.split(['.', ' ', '=']).next().unwrap_or_default();
                if dependency.starts_with("deadheat") {
                    waiting.push(dependency.to_owned());
                }
            }
            self.rewritten(&format!("crates/{name}/Cargo.toml"), &manifest);
            for part in ["src", "assets"] {
                self.below(&folder.join(part), &format!("crates/{name}/{part}"));
            }
        }
    }

    fn below(&mut self, folder: &Path, name: &str) {
        if !folder.is_dir() {
            return;
        }
        println!("cargo::rerun-if-changed={}", folder.display());
        let entries = fs::read_dir(folder).expect("a folder of sources");
        let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        entries.sort();
        for path in entries {
            let own = path
                .file_name()
                .expect("an entry has a name")
                .to_string_lossy();
            let name = format!("{name}/{own}");
            if path.is_dir() {
                self.below(&path, &name);
            } else {
                self.files.push((name, path));
            }
        }
    }

    fn rewritten(&mut self, name: &str, text: &str) {
        let path = self.out.join(name.replace('/', "_"));
        fs::write(&path, text).expect("OUT_DIR can be written");
        self.files.push((name.to_owned(), path));
    }

    fn write(&self, name: &str) {
        let mut text = "&[\n".to_owned();
        for (name, path) in &self.files {
            let path = path.canonicalize().expect("it was just found");
            text += &format!("({name:?}, include_bytes!({path:?})),\n");
        }
        text += "]\n";
        fs::write(self.out.join(name), text).expect("OUT_DIR can be written");
    }
}

fn read(path: &Path) -> String {
    println!("cargo::rerun-if-changed={}", path.display());
    fs::read_to_string(path).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()))
}

/// The tables of a manifest whose headers are wanted.
fn tables(manifest: &str, is_wanted: impl Fn(&str) -> bool) -> String {
    let mut wanted = false;
    let mut kept = String::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            wanted = is_wanted(line);
        }
        if wanted {
            kept += line;
            kept.push('\n');
        }
    }
    kept
}
