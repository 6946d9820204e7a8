//! The sources of a suite: fetched, with one line changed or none, and committed one version after
//! the other.

use deadheat_validation::prelude::*;

pub struct Suite {
    pub name: &'static str,
    pub versions: [&'static str; 2],
    pub criterion: &'static str,
    pub origin: Origin,
}

pub enum Origin {
    /// It is part of the crate that is published.
    Registry,
    /// It lies in a folder of a repository, whose tags are the versions.
    Git { url: &'static str, folder: &'static str },
}

#[derive(Clone, Copy)]
pub enum Way<'a> {
    /// The line of `Cargo.toml` that names criterion: the crate here takes its place.
    OneLine(&'a Path),
    /// Nothing.
    AsItIs,
}

impl Suite {
    pub const fn published(
        name: &'static str,
        versions: [&'static str; 2],
        criterion: &'static str,
    ) -> Self {
        Self { name, versions, criterion, origin: Origin::Registry }
    }

    pub fn races_as_it_is(&self) -> bool {
        self.criterion >= "0.5"
    }

    /// The folders of both versions, below `scratch`. `Err` says why they could not be fetched.
    pub fn fetched(&self, scratch: &Path) -> Result<[PathBuf; 2], String> {
        let [old, new] = self.versions.map(|version| -> Result<PathBuf, String> {
            let folder = scratch.join(format!("{}-{version}", self.name));
            match self.origin {
                Origin::Registry => self.vendor(version, scratch, &folder)?,
                Origin::Git { url, .. } => fetch(
                    Command::new("git")
                        .args(["clone", "-q", "-c", "advice.detachedHead=false", "--depth", "1"])
                        .args(["--branch", version, url, text(&folder)]),
                )?,
            }
            Ok(folder)
        });
        Ok([old?, new?])
    }

    fn vendor(&self, version: &str, scratch: &Path, folder: &Path) -> Result<(), String> {
        let package = scratch.join(format!("{}-{version}-fetch", self.name));
        fs::create_dir_all(package.join("src")).expect("a folder");
        fs::write(package.join("src/lib.rs"), "").expect("a file");
        let manifest = format!(
            "[package]\nname = \"fetch\"\nedition = \"2021\"\n[workspace]\n[dependencies]\n{} = \
             \"={version}\"\n",
            self.name
        );
        fs::write(package.join("Cargo.toml"), manifest).expect("a file");
        let mut vendor = Command::new("cargo");
        fetch(vendor.args(["vendor", "--quiet", "--versioned-dirs", "all"]).current_dir(&package))?;
        let fetched = package.join(format!("all/{}-{version}", self.name));
        fs::rename(fetched, folder).expect("cargo vendor names folders so");
        Ok(())
    }

    /// The folder of the benchmarks in a repository whose last two commits are the versions.
    pub fn committed(
        &self,
        scratch: &Path,
        sides: &[PathBuf; 2],
        way: Way<'_>,
    ) -> Result<PathBuf, String> {
        let kind = match way {
            Way::OneLine(_) => "one-line",
            Way::AsItIs => "as-it-is",
        };
        let repository = scratch.join(format!("{}-{kind}", self.name));
        let git = |words: &[&str]| {
            let who = ["-c", "user.name=suites", "-c", "user.email=suites@localhost"];
            done(Command::new("git").args(who).args(words).current_dir(&repository));
        };
        fs::create_dir_all(&repository).expect("a folder");
        git(&["init", "-q"]);
        let package = match self.origin {
            Origin::Registry => repository.clone(),
            Origin::Git { folder, .. } => repository.join(folder),
        };
        for (side, version) in sides.iter().zip(self.versions) {
            let clear = "find . -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} + && cp -r \"$0\"/. . && \
                         rm -rf .cargo-checksum.json Cargo.lock";
            // The history of a clone is left where it is.
            let copy = side.with_extension("plain");
            done(Command::new("cp").args(["-r", text(side), text(&copy)]));
            let _ = fs::remove_dir_all(copy.join(".git"));
            done(Command::new("sh").args(["-c", clear, text(&copy)]).current_dir(&repository));
            fs::remove_dir_all(&copy).expect("it was just made");
            let _ = fs::remove_file(package.join("Cargo.lock"));
            if let Way::OneLine(stand_in) = way {
                change_the_line(&package.join("Cargo.toml"), stand_in)?;
            }
            git(&["add", "-A", "-f"]);
            git(&["commit", "-q", "-m", version]);
        }
        Ok(package)
    }
}

/// Runs a command that fetches something. `Err` is the last line of what it says when it fails.
fn fetch(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(said.trim_end().lines().last().unwrap_or("no word").to_owned())
}

fn change_the_line(manifest: &Path, stand_in: &Path) -> Result<(), String> {
    let old = fs::read_to_string(manifest).expect("a manifest");
    let place = format!("package = \"deadheat-criterion\"\npath = \"{}\"\n", stand_in.display());
    let mut new = String::new();
    let (mut in_table, mut changed) = (false, 0);
    for line in old.lines() {
        if line.starts_with('[') {
            in_table = line.ends_with("dependencies.criterion]");
        }
        if in_table && line.starts_with("version = ") {
            changed += 1;
            new += &place;
        } else if line.starts_with("criterion = \"") {
            changed += 1;
            new += &format!("criterion = {{ {} }}\n", place.trim_end().replace('\n', ", "));
        } else {
            new += line;
            new.push('\n');
        }
    }
    fs::write(manifest, new).expect("a manifest");
    if changed == 1 { Ok(()) } else { Err(format!("{changed} lines name criterion")) }
}
