//! Races of two builds: what taking turns costs, how often a build is told
//! apart from its copy, and whether 1 % is found.
//!
//! ```text
//! cargo run --release --manifest-path validation/Cargo.toml --bin builds
//! ```
//!
//! Writes `docs/validation/builds.md`. Takes some ten minutes, on a machine
//! that does nothing else, and needs gcc, g++, lld, git and Google Benchmark.
//! With `--quick` all is tried in small numbers and printed, and nothing is
//! written. `--only TEXT` asks only the questions that hold this text, prints what
//! came of them and writes nothing; `--races N` sets the races of each row for 1 %.

mod against_itself;
mod google;
mod hand_over;
mod matched;
mod one_percent;
mod overhead;
mod revisions;

use std::path::PathBuf;

use deadheat_validation::machine::machine;
use deadheat_validation::page::{Asked, Page, Question};
use deadheat_validation::programs::text;
use deadheat_validation::workshop::Workshop;

/// The programs that the questions are put to.
struct Setting {
    shop: Workshop,
    cargo_deadheat: PathBuf,
    /// Functions in Rust.
    copies: PathBuf,
    asked: Asked,
}

fn main() {
    let asked = Asked::from_command_line();
    let quick = asked.quick;
    let machine = machine();
    let shop = Workshop::open("builds", quick);
    let setting = Setting {
        cargo_deadheat: shop.released("cargo-deadheat"),
        copies: shop.own("copies"),
        shop,
        asked,
    };
    let page = Page {
        title: "Races of two builds: cost, errors and power",
        program: "builds",
        facts: &machine,
        quick,
    };
    let questions: &[Question<Setting>] = &[
        ("handing over", hand_over::section),
        ("time outside the samples", overhead::section),
        ("builds against their copies", against_itself::section),
        ("a difference of 1 %", one_percent::section),
        ("20 ms and every core taken", one_percent::loaded),
        ("matched links", matched::section),
        ("Google Benchmark executables", google::section),
        ("the same revisions once more", revisions::section),
    ];
    page.write_asked(&setting.shop.root, &setting, questions, &setting.asked);
}
