//! The needs of every table of builds: a folder, a compiler, and the deadheat that races what they
//! make.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::programs::{built, done, told};

pub struct Workshop {
    pub root: PathBuf,
    pub scratch: Scratch,
    pub deadheat: PathBuf,
    /// True if all is only to be tried.
    pub quick: bool,
    profile: &'static str,
}

impl Workshop {
    pub fn open(table: &str, quick: bool) -> Self {
        Self::of(table, quick, "release", |root| released(root, "deadheat"))
    }

    pub fn with(table: &str, quick: bool, deadheat: &Path) -> Self {
        let found = |_: &Path| deadheat.canonicalize().expect("the program is there");
        Self::of(table, quick, "dev", found)
    }

    fn of(
        table: &str,
        quick: bool,
        profile: &'static str,
        deadheat: impl Fn(&Path) -> PathBuf,
    ) -> Self {
        let root = repository();
        let scratch = Scratch::new(table);
        Self { root: root.to_owned(), scratch, deadheat: deadheat(root), quick, profile }
    }

    pub fn count(&self, full: usize, quick: usize) -> usize {
        if self.quick { quick } else { full }
    }

    pub fn scratched(&self, name: &str) -> PathBuf {
        self.scratch.join(name)
    }

    pub fn version(&self) -> String {
        told(Command::new(&self.deadheat).arg("-V"))
    }

    pub fn released(&self, name: &str) -> PathBuf {
        released(&self.root, name)
    }

    pub fn own(&self, name: &str) -> PathBuf {
        let words = ["build", "--profile", self.profile, "--bin", name];
        built(&self.root.join("validation"), &words)
    }

    pub fn compile(&self, source: &str, name: &str, words: &[&str], linked: bool) -> PathBuf {
        let source = self.root.join("validation/builds").join(source);
        let compiler = match source.extension().and_then(|e| e.to_str()) {
            Some("cpp") => "g++",
            _ => "gcc",
        };
        let program = self.scratched(name);
        let object = self.scratched(&format!("{name}.o"));
        let include = format!("-I{}", self.root.join("include").display());
        let mut compile = Command::new(compiler);
        compile.args(["-O2", "-ffunction-sections", &include, "-c"]);
        compile.args(words.iter().filter(|word| word.starts_with("-D")));
        done(compile.arg(&source).arg("-o").arg(&object));
        let mut link = match linked {
            true => {
                let mut link = Command::new(&self.deadheat);
                link.args(["link", "--", compiler]);
                link
            }
            false => Command::new(compiler),
        };
        link.arg(&object).arg("-o").arg(&program);
        done(link.args(words.iter().filter(|word| !word.starts_with("-D"))));
        program
    }
}

/// The folder of the repository.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository")
}

/// A folder for what is made on the way, removed when it is dropped.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(table: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("deadheat-{table}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a scratch folder");
        Self(folder)
    }
}

impl std::ops::Deref for Scratch {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for Scratch {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn released(root: &Path, name: &str) -> PathBuf {
    let words = ["build", "--profile", "dist", "-p", "deadheat-cli", "--bin", name];
    built(root, &words)
}
