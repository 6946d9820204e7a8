//! One hostile case: a folder of its own, random choices, and deadheat in that folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use deadheat_examples::random::SplitMix64;
use deadheat_validation::programs::text;

use crate::Setting;
use crate::victim::{Ended, left_behind, limited, run};

/// What a check found: nothing, or a sentence.
pub type Found = Result<(), String>;

/// A results file that every reader accepts.
pub const RESULTS: &str = r#"{"results":[{"command":"a","mean":1.0,"times":[1.0,1.1,1.2]}]}"#;

/// Hidden in environments and files; no file that deadheat writes may contain it.
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";

/// Exit codes of an answer or a refusal. Not among them: a write error, a panic, a signal.
pub const ORDERLY: [i32; 6] = [0, 1, 2, 3, 4, 6];

/// The folder contains `work`, in which deadheat runs, and `outside`, which nothing may change.
pub struct Case<'a> {
    setting: &'a Setting,
    pub random: SplitMix64,
    folder: PathBuf,
    mark: String,
    /// The commands of this case, for the report of a finding.
    pub commands: Vec<String>,
    /// The class whose defence the program lacks; see `gives_in.sh`.
    weak: Option<usize>,
}

impl<'a> Case<'a> {
    pub fn new(setting: &'a Setting, random: SplitMix64, name: &str, weak: Option<usize>) -> Self {
        let folder = setting.shop.scratched(name);
        for inner in ["work", "outside/inner", "tmp", "cache"] {
            fs::create_dir_all(folder.join(inner)).expect("a folder");
        }
        let folder = folder.canonicalize().expect("a folder");
        fs::write(folder.join("outside/inner/file"), "mine").expect("a file");
        Self {
            setting,
            random,
            mark: format!("{}-{name}", std::process::id()),
            folder,
            commands: Vec::new(),
            weak,
        }
    }

    pub fn work(&self, name: &str) -> PathBuf {
        self.folder.join("work").join(name)
    }

    pub fn outside(&self, name: &str) -> PathBuf {
        self.folder.join("outside").join(name)
    }

    pub fn cache(&self) -> PathBuf {
        self.folder.join("cache")
    }

    pub fn tmp(&self) -> PathBuf {
        self.folder.join("tmp")
    }

    /// Writes a file below `work`.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.work(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, bytes).expect("a file");
    }

    /// Writes an executable script below `work`.
    pub fn script(&self, name: &str, body: &str) {
        use std::os::unix::fs::PermissionsExt;
        self.write(name, format!("#!/bin/sh\n{body}\n"));
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.work(name), executable).expect("permissions");
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.random.index_below(from.len())]
    }

    /// True once in `of` times.
    pub fn once_in(&mut self, of: usize) -> bool {
        self.random.index_below(of) == 0
    }

    /// A number from `low` to `high`, evenly on a logarithmic scale.
    pub fn size(&mut self, low: usize, high: usize) -> usize {
        let share = self.random.below(1 << 20) as f64 / f64::from(1 << 20);
        let ratio = high as f64 / low as f64;
        (low as f64 * ratio.powf(share)) as usize
    }

    /// Random letters.
    pub fn word(&mut self) -> String {
        let len = 4 + self.random.index_below(12);
        let mut letter = |_| LETTERS[self.random.index_below(LETTERS.len())] as char;
        format!("x{}", (0..len).map(&mut letter).collect::<String>())
    }

    /// Up to `most` random pieces, joined.
    pub fn mixed(&mut self, pieces: &[&str], most: usize) -> String {
        let count = 1 + self.random.index_below(most);
        (0..count).map(|_| self.pick(pieces)).collect()
    }

    /// The shell command that shows that something was started.
    pub fn touch(&self) -> String {
        format!("touch {}", text(&self.folder.join("started")))
    }

    /// Forgets that something was started.
    pub fn forget(&self) {
        let _ = fs::remove_file(self.folder.join("started"));
    }

    /// A finding if anything started, or if the folder outside changed.
    pub fn spared(&self) -> Found {
        if self.folder.join("started").exists() {
            return Err("it started a command of a file".to_owned());
        }
        let mine = fs::read(self.outside("inner/file")).is_ok_and(|bytes| bytes == b"mine");
        let entries = |path: &str| fs::read_dir(self.outside(path)).map_or(0, Iterator::count);
        match mine && entries("") == 1 && entries("inner") == 1 {
            true => Ok(()),
            false => Err("files outside of the folder changed".to_owned()),
        }
    }

    /// Runs deadheat; a finding is an exit code that is not allowed, a panic, a control character
    /// on a terminal, more than 30 s or more than 1 GiB.
    pub fn run<S: AsRef<str>>(&mut self, words: &[S], allowed: &[i32]) -> Result<Ended, String> {
        self.run_by(&[], words, allowed)
    }

    /// The same under another program, such as `timeout`.
    pub fn run_by<S: AsRef<str>>(
        &mut self,
        launcher: &[&str],
        words: &[S],
        allowed: &[i32],
    ) -> Result<Ended, String> {
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        self.commands.push(format!("{words:?}"));
        let program = match self.weak {
            Some(_) => self.setting.gives_in.clone(),
            None => self.setting.shop.deadheat.clone(),
        };
        let mut command = limited(&program, &self.work(""), None, launcher, &words);
        self.prepare(&mut command);
        let ended = run(command);
        match ended.finding(allowed) {
            Some(finding) => Err(finding),
            None => Ok(ended),
        }
    }

    fn prepare(&self, command: &mut Command) {
        command
            .env(crate::victim::MARK, &self.mark)
            .env("TMPDIR", self.tmp())
            .env("XDG_CACHE_HOME", self.cache())
            .env("XDG_STATE_HOME", self.state())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("ATTACK_SECRET", self.secret());
        if let Some(class) = self.weak {
            command.env("GIVES_IN", class.to_string()).env("DEADHEAT", &self.setting.shop.deadheat);
        }
    }

    /// From now on, files that deadheat wrote before count as those of another user.
    pub fn become_another_user(&self) {
        let _ = fs::remove_dir_all(self.state());
    }

    fn state(&self) -> PathBuf {
        self.folder.join("state")
    }

    /// A text in the environment that no file may contain.
    pub fn secret(&self) -> String {
        format!("s3cret-{}", self.mark.len() * 7919)
    }

    /// Processes that a command of this case left running.
    pub fn nothing_left(&self) -> Found {
        match left_behind(&self.mark) {
            left if left.is_empty() => Ok(()),
            left => Err(format!("left behind: {}", left.join(", "))),
        }
    }

    /// A race of two commands, saved in `file`, with more options in front.
    pub fn race(&mut self, file: &str, options: &[&str], commands: &[&str]) -> Found {
        let first = ["run", "-q", "--no-config", "--save", file];
        let words = [&first[..], options, &["--"], commands].concat();
        self.run(&words, &[0]).map(drop)
    }

    /// Runs git in `work`, and returns what it prints.
    pub fn git(&self, words: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=n", "-c", "user.email=e@x"]);
        command.args(words).current_dir(self.work(""));
        self.prepare(&mut command);
        let done = command.output().expect("git starts");
        assert!(done.status.success(), "git {words:?}: {done:?}");
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    }

    /// A repository with two commits; the file `value` contains `one`, then `two`.
    pub fn repository(&self) {
        self.git(&["init", "--quiet", "--initial-branch", "main"]);
        for value in ["one", "two"] {
            self.write("value", value);
            self.commit();
        }
    }

    pub fn commit(&self) {
        self.git(&["add", "--all", "--force"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", "change"]);
    }
}

impl Drop for Case<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// All files below a folder, links not followed.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(files_below(&path)),
            Ok(kind) if kind.is_file() => found.push(path),
            _ => {}
        }
    }
    found.sort();
    found
}
