//! An attack on the finished program, bounded to some ten minutes: fifteen classes of hostile files,
//! repositories and command lines, kills at random moments, full disks, damaged files, and workers
//! that lie.
//!
//! ```text
//! cargo run --release --manifest-path validation/Cargo.toml --bin attack
//! ```
//!
//! Writes `docs/validation/attack.md`. Every attempt is drawn from a seed, which the page names and
//! `--seed N` sets. `--only TEXT` asks for the parts and classes whose names contain the text, and
//! `--case N` for one case of a class; the line of a finding shows both. Uses python3 for the lying
//! workers, and Google Benchmark if it is installed. With `--quick` all is tried in small numbers, in
//! less than a minute, and nothing is written. `ATTACK_PROGRAM` names a deadheat that was built
//! before, as in CI, which has one without optimisation.

mod case;
mod classes;
mod disks;
mod files;
mod kills;
mod victim;
mod workers;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::exit;
use std::time::{SystemTime, UNIX_EPOCH};

use deadheat_examples::random::SplitMix64;
use deadheat_validation::machine::sitting_facts;
use deadheat_validation::page::{Page, Question};
use deadheat_validation::workshop::Workshop;

/// The programs under attack, and the seed of the attacks.
pub struct Setting {
    pub shop: Workshop,
    pub seed: u64,
    /// Only the parts and classes whose names contain this.
    pub only: Option<String>,
    /// Only this case of each class.
    pub case: Option<usize>,
    /// A deadheat that lacks the defence of one class.
    pub gives_in: PathBuf,
}

impl Setting {
    /// A stream of its own for every part, so that one can be tried alone.
    pub fn random(&self, part: u64) -> SplitMix64 {
        SplitMix64::new(self.seed ^ part.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }
}

/// The words of the command line.
#[derive(Default)]
struct Asked {
    quick: bool,
    only: Option<String>,
    case: Option<usize>,
    seed: Option<u64>,
}

fn asked() -> Option<Asked> {
    let mut asked = Asked::default();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--quick" => asked.quick = true,
            "--only" => asked.only = Some(words.next()?),
            "--case" => asked.case = Some(words.next()?.parse().ok()?),
            "--seed" => asked.seed = Some(words.next()?.parse().ok()?),
            _ => return None,
        }
    }
    Some(asked)
}

fn setting(asked: Asked) -> Setting {
    let quick = asked.quick;
    let shop = match std::env::var_os("ATTACK_PROGRAM") {
        Some(program) => Workshop::with("attack", quick, program.as_ref()),
        None => Workshop::open("attack", quick),
    };
    let gives_in = shop.scratched("gives_in.sh");
    fs::write(&gives_in, include_str!("gives_in.sh")).expect("a script");
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&gives_in, executable).expect("permissions");
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let random = now.expect("a clock after 1970").as_nanos() as u64 % 1_000_000;
    Setting {
        shop,
        seed: asked.seed.unwrap_or(random),
        only: asked.only,
        case: asked.case,
        gives_in,
    }
}

const PARTS: [Question<Setting>; 6] = [
    ("fifteen classes", classes::classes),
    ("programs without a defence", classes::self_test),
    ("kill -9 at random moments", kills::kills),
    ("full disks", disks::disks),
    ("damaged files", files::files),
    ("faulty workers", workers::workers),
];

fn main() {
    let Some(asked) = asked() else {
        eprintln!("the options are --quick, --seed N, --only TEXT and --case N");
        exit(2);
    };
    let setting = setting(asked);
    eprintln!("seed {}", setting.seed);
    let only = setting.only.as_deref();
    let mut parts: Vec<_> = PARTS.into_iter().collect();
    if let Some(only) = only {
        parts.retain(|(what, _)| what.contains(only));
        if parts.is_empty() {
            parts.push(PARTS[0]);
        }
    } else if setting.shop.quick {
        parts.remove(1);
    }
    let page = Page {
        title: "Robustness: hostile files, repositories and commands, kills, full disks, faulty workers",
        program: "attack",
        facts: &format!(
            "Machine: {}. {}. Seed {}.",
            sitting_facts(),
            setting.shop.version(),
            setting.seed
        ),
        quick: setting.shop.quick || only.is_some(),
    };
    let root = setting.shop.root.clone();
    let kept = page.write(&root, &setting, &parts);
    // The folder of the attempts goes first.
    drop(setting);
    if !kept {
        exit(1);
    }
}
