//! The needs of every table of builds: a folder, a compiler, and the deadheat that races what they
//! make.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::programs::{built, done, told};

/// Where things are, and how much of everything is wanted. Its folder is
/// removed when it is dropped.
pub struct Workshop {
    /// The repository.
    pub root: PathBuf,
    /// For whatever is made on the way.
    pub scratch: PathBuf,
    /// The finished program.
    pub deadheat: PathBuf,
    /// True if all is only to be tried.
    pub quick: bool,
    /// The profile that this workspace's own programs are built with.
    profile: &'static str,
}

impl Workshop {
    /// For the table of this name; builds deadheat as it is released.
    pub fn open(table: &str, quick: bool) -> Self {
        Self::of(table, quick, "release", |root| released(root, "deadheat"))
    }

    /// For the table of this name, with a deadheat that was built before, and
    /// programs that build fast.
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
        let validation = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = validation.parent().expect("the repository");
        let scratch = std::env::temp_dir().join(format!("deadheat-{table}-{}", std::process::id()));
        fs::create_dir_all(&scratch).expect("a scratch folder");
        Self {
            root: root.to_owned(),
            scratch,
            deadheat: deadheat(root),
            quick,
            profile,
        }
    }

    /// The full number, or the one of a quick trial.
    pub fn count(&self, full: usize, quick: usize) -> usize {
        if self.quick { quick } else { full }
    }

    /// A file of the scratch folder.
    pub fn scratched(&self, name: &str) -> PathBuf {
        self.scratch.join(name)
    }

    /// The version that deadheat states.
    pub fn version(&self) -> String {
        told(Command::new(&self.deadheat).arg("--version"))
    }

    /// Another program of deadheat's, as it is released.
    pub fn released(&self, name: &str) -> PathBuf {
        released(&self.root, name)
    }

    /// A program of this workspace.
    pub fn own(&self, name: &str) -> PathBuf {
        let words = ["build", "--profile", self.profile, "--bin", name];
        built(&self.root.join("validation"), &words)
    }

    /// Compiles a source of this workspace into the scratch folder, by
    /// `deadheat link` when neutral links are wanted of it.
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

impl Drop for Workshop {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.scratch);
    }
}

fn released(root: &Path, name: &str) -> PathBuf {
    let words = [
        "build",
        "--profile",
        "dist",
        "-p",
        "deadheat-cli",
        "--bin",
        name,
    ];
    built(root, &words)
}
