//! The program with all races, as somebody's linker happened to place its code.

use deadheat_validation::prelude::*;
use std::ffi::OsStr;

use deadheat_validation::twins::assert_twins;
use deadheat_validation_kernels::kernels::{COMPILERS, KERNELS};

use crate::Setting;

/// Package and bench target, to any command of cargo.
pub const TARGET: [&str; 4] = ["-p", "deadheat-validation-linked", "--bench", "placement"];

/// The seed by which the user's linker shuffled, for the build script.
const ORDER: &str = "DEADHEAT_LINK_ORDER";

const PLACEMENTS: &str = "DEADHEAT_PLACEMENTS";

/// One link of it, until the next one takes its place.
pub struct Linked<'s> {
    setting: &'s Setting,
    pub executable: PathBuf,
}

impl<'s> Linked<'s> {
    pub fn plainly(setting: &'s Setting) -> Self {
        Self::link(setting, None)
    }

    pub fn in_order(setting: &'s Setting, order: usize) -> Self {
        Self::link(setting, Some(order))
    }

    fn link(setting: &'s Setting, order: Option<usize>) -> Self {
        let mut command = Command::new(&setting.cargo_deadheat);
        command
            .args(["deadheat", "--no-run"])
            .args(TARGET)
            .current_dir(&setting.validation)
            .env_remove(ORDER);
        if let Some(order) = order {
            command.env(ORDER, order.to_string());
        }
        let linked = Self { setting, executable: built_by(&mut command) };
        for compiler in COMPILERS {
            for kernel in KERNELS {
                let [one, two] = ["one", "two"].map(|which| format!("{compiler}_{kernel}_{which}"));
                assert_twins(&linked.executable, [&one, &two]);
            }
        }
        linked
    }

    /// Races as `cargo deadheat` does: each replicate on a neutral link.
    pub fn race(&self, words: &[&str]) -> Vec<Race> {
        let races = self.start(words);
        for race in &races {
            assert_eq!(race.scope, "source", "{}: raced without neutral links", race.name);
        }
        races
    }

    pub fn race_as_linked(&self, words: &[&str]) -> Vec<Race> {
        let words: Vec<&str> = [&["--placement", "own"], words].concat();
        self.start(&words)
    }

    fn start(&self, words: &[&str]) -> Vec<Race> {
        let output = Command::new(&self.executable)
            .args(["--bench", "-q", "--json"])
            .args(words)
            .current_dir(&self.setting.scratch)
            .env(PLACEMENTS, &self.setting.cargo_deadheat)
            .stderr(Stdio::inherit())
            .output()
            .expect("the bench program runs");
        assert!(output.status.success(), "{words:?} failed");
        let answer = serde_json::from_slice(&output.stdout).expect("an answer in JSON");
        Race::all(&answer).unwrap_or_else(|problem| panic!("{words:?}: {problem}"))
    }

    pub fn placements(&self, seeds: impl Iterator<Item = u32>) -> Command {
        let mut command = Command::new(&self.setting.cargo_deadheat);
        let seeds = seeds.map(|seed| seed.to_string());
        command.arg("placements").arg(&self.executable).args(seeds);
        command
    }
}

pub fn cargo(setting: &Setting, subcommand: &str, words: &[&OsStr]) -> Command {
    let mut command = Command::new("cargo");
    command
        .arg(subcommand)
        .args(TARGET)
        .args(words)
        .current_dir(&setting.validation)
        .env_remove(ORDER);
    command
}
