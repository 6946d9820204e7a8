//! Programs that are raced and tools that race them: built, linked in several orders, found.

use deadheat_validation::prelude::*;
use deadheat_validation::programs::all_built_by;
use deadheat_validation::python::environment;
use deadheat_validation::twins::assert_twins;

use crate::race::{Case, Race};
use crate::tools::Tool;

/// The seed by which a link is shuffled, for the build script.
const ORDER: &str = "DEADHEAT_LINK_ORDER";

pub const PLACEMENTS: &str = "DEADHEAT_PLACEMENTS";

/// The programs that race functions, each by its tool.
const RACING: [&str; 6] = ["criterion", "divan", "tango", "bench_diff", "zenbench", "deadheat"];

const TWINS: [&str; 2] = ["peers_twin_one", "peers_twin_two"];

const PYPERF: &str = "2.10.0";

pub struct Programs {
    folder: PathBuf,
    deadheat: PathBuf,
    cargo_deadheat: PathBuf,
    busy: [PathBuf; 2],
    /// The program that `cargo deadheat` linked last, and in which order.
    relinked: Option<(usize, PathBuf)>,
    hyperfine: Option<String>,
    pyperf: Option<(PathBuf, String)>,
}

pub struct Place(PathBuf);

impl Programs {
    pub fn make(root: &Path, scratch: &Path, orders: usize) -> Self {
        let folder = root.join("validation/peers");
        let of_cli = |bin: &str| {
            let words = ["build", "--profile", "dist", "-p", "deadheat-cli", "--bin", bin];
            built(root, &words)
        };
        eprintln!("building deadheat ...");
        let [deadheat, cargo_deadheat] = ["deadheat", "cargo-deadheat"].map(of_cli);
        for order in 0..=orders {
            eprintln!("linking the functions, order {order} of {orders} ...");
            link(&folder, order);
        }
        let busy = built(&folder, &["build", "--release", "--bin", "busy"]);
        let busy = ["one", "two"].map(|name| {
            // Both are copies, in names of one length.
            let copy = scratch.join(name);
            fs::copy(&busy, &copy).expect("a copy of the command");
            copy
        });
        Self {
            deadheat,
            cargo_deadheat,
            busy,
            relinked: None,
            hyperfine: hyperfine(),
            pyperf: pyperf(&folder.join("target/pyperf")),
            folder,
        }
    }

    pub fn have(&self, tool: Tool) -> bool {
        match tool {
            Tool::Hyperfine => self.hyperfine.is_some(),
            Tool::Pyperf => self.pyperf.is_some(),
            _ => true,
        }
    }

    pub fn prepare(&mut self, race: &Race) {
        let order = race.order();
        let is_there = self.relinked.as_ref().is_some_and(|(last, _)| *last == order);
        if race.tool != Tool::Neutral || is_there {
            return;
        }
        let mut command = Command::new(&self.cargo_deadheat);
        command.args(["deadheat", "--no-run", "--bench", "deadheat"]);
        let program = built_by(in_order(&mut command, &self.folder, order));
        assert_twins(&program, TWINS);
        self.relinked = Some((order, program));
    }

    pub fn function(&self, tool: &str, race: &Race, place: &Place) -> Command {
        let program = linked(&self.folder, race.order()).join(tool);
        told(place.command(&program), race)
    }

    pub fn relinked(&self, race: &Race, place: &Place) -> Command {
        let (_, program) = self.relinked.as_ref().expect("prepared");
        told(place.command(program), race)
    }

    /// Both commands, as words.
    pub fn busy_words(&self, race: &Race) -> [[String; 2]; 2] {
        let second = usize::from(race.case == Case::Copies);
        let path = |at: usize| self.busy[at].display().to_string();
        [[path(0), "0".to_owned()], [path(second), race.case.more().to_owned()]]
    }

    /// Both commands, each as one text.
    pub fn busy(&self, race: &Race) -> [String; 2] {
        self.busy_words(race).map(|words| words.join(" "))
    }

    pub fn deadheat(&self) -> &Path {
        &self.deadheat
    }

    pub fn cargo_deadheat(&self) -> &Path {
        &self.cargo_deadheat
    }

    pub fn hyperfine(&self) -> Option<&str> {
        self.hyperfine.as_deref()
    }

    pub fn pyperf(&self) -> Option<(&Path, &str)> {
        let (python, version) = self.pyperf.as_ref()?;
        Some((python, version))
    }
}

impl Place {
    pub fn fresh(scratch: &Path) -> Self {
        let folder = scratch.join("race");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder for a race");
        Self(folder)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.0);
        command
    }
}

fn told(mut command: Command, race: &Race) -> Command {
    command.env("PEERS_CASE", race.case.key());
    command
}

fn linked(folder: &Path, order: usize) -> PathBuf {
    folder.join(format!("target/orders/{order}"))
}

fn in_order<'c>(command: &'c mut Command, folder: &Path, order: usize) -> &'c mut Command {
    command.current_dir(folder).env_remove(ORDER);
    if order > 0 {
        command.env(ORDER, order.to_string());
    }
    command
}

fn link(folder: &Path, order: usize) {
    let target = linked(folder, order);
    fs::create_dir_all(&target).expect("a folder for linked programs");
    let mut command = Command::new("cargo");
    command.args(["bench", "--no-run", "--benches", "--locked"]);
    let built = all_built_by(in_order(&mut command, folder, order));
    for name in RACING {
        // The command is built along with them.
        let found = built.iter().find(|(of, _)| of == name);
        let (_, program) = found.unwrap_or_else(|| panic!("cargo built no {name}"));
        assert_twins(program, TWINS);
        // Not written over: an older copy may be running somewhere.
        let copy = target.join(name);
        let _ = fs::remove_file(&copy);
        fs::copy(program, &copy).expect("a copy of a linked program");
    }
}

fn hyperfine() -> Option<String> {
    let said = text_of(Command::new("hyperfine").arg("--version"), &[0]).unwrap_or_default();
    let version = said.split_whitespace().nth(1).map(str::to_owned);
    if version.is_none() {
        eprintln!("hyperfine is not there: apt install hyperfine, or cargo install hyperfine");
    }
    version
}

fn pyperf(folder: &Path) -> Option<(PathBuf, String)> {
    let made = environment("python3", folder, &[format!("pyperf=={PYPERF}")]);
    let python = made.map_err(|problem| {
        eprintln!(
            "pyperf is not there ({problem}): python3 with venv and pip would install it in {}",
            folder.display()
        );
    });
    python.ok().map(|python| (python, PYPERF.to_owned()))
}
