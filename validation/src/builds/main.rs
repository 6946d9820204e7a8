//! Races of two builds: what taking turns costs, how often a build is told apart from its copy, and
//! whether 1% is found.
//!
//! Writes `docs/validation/builds.md`. Takes some ten minutes, on a machine that does nothing else,
//! and needs gcc, lld and git.

mod against_itself;
mod matched;
mod one_percent;
mod overhead;
mod revisions;

use deadheat_validation::prelude::*;

struct Setting {
    shop: Workshop,
    cargo_deadheat: PathBuf,
    copies: PathBuf,
    asked: Wanted,
}

fn main() {
    let asked = Wanted::questions_from_command_line();
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
        ("time outside the samples", overhead::section),
        ("builds against their copies", against_itself::section),
        ("a difference of 1%", one_percent::section),
        ("20 ms and every core taken", one_percent::loaded),
        ("matched links", matched::section),
        ("the same revisions once more", revisions::section),
    ];
    page.write_asked(&setting.shop.root, &setting, questions, &setting.asked);
}
