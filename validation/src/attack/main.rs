//! An attack on the finished program, bounded to some ten minutes: kills at random moments, disks
//! that are full, files that were damaged, and workers that lie.
//!
//! ```text
//! cargo run --release --manifest-path validation/Cargo.toml --bin attack
//! ```
//!
//! Writes `docs/validation/attack.md`. Every attempt is drawn from a seed, which the page names and
//! `ATTACK_SEED` sets. Uses python3 for the lying workers, and Google Benchmark where it is there.
//! With `--quick` all is tried in small numbers and nothing is written. `ATTACK_PROGRAM` names a
//! deadheat that is there already, as in CI, which has one without optimisation.

mod disks;
mod files;
mod kills;
mod victim;
mod workers;

use std::time::{SystemTime, UNIX_EPOCH};

use deadheat_examples::random::SplitMix64;
use deadheat_validation::machine::sitting_facts;
use deadheat_validation::page::{Page, Question, is_quick};
use deadheat_validation::workshop::Workshop;

/// The programs under attack, and the seed of the attacks.
pub struct Setting {
    pub shop: Workshop,
    pub seed: u64,
}

impl Setting {
    /// A stream of its own for every part, so that one can be tried alone.
    pub fn random(&self, part: u64) -> SplitMix64 {
        SplitMix64::new(self.seed ^ part.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }
}

fn main() {
    let quick = is_quick();
    let given = std::env::var("ATTACK_SEED").ok();
    let seed = given.and_then(|text| text.parse().ok()).unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.expect("a clock after 1970").as_nanos() as u64 % 1_000_000
    });
    let shop = match std::env::var_os("ATTACK_PROGRAM") {
        Some(program) => Workshop::with("attack", quick, program.as_ref()),
        None => Workshop::open("attack", quick),
    };
    let setting = Setting { shop, seed };
    let page = Page {
        title: "An attack",
        program: "attack",
        facts: &format!(
            "Machine: {}. {}. Seed {seed}.",
            sitting_facts(),
            setting.shop.version()
        ),
        quick,
    };
    let questions: &[Question<Setting>] = &[
        ("kill -9 at random moments", kills::kills),
        ("full disks", disks::disks),
        ("damaged files", files::files),
        ("lying workers", workers::workers),
    ];
    let root = setting.shop.root.clone();
    let kept = page.write(&root, &setting, questions);
    // The folder of the attempts goes first.
    drop(setting);
    if !kept {
        std::process::exit(1);
    }
}
