//! What the files of a product may do, by their names. A product is a crate with all of a
//! subcommand, so its name cannot say which part of it is pure.

use std::path::Path;

use crate::{arrows_from, rooms, sources};

/// The crates that hold all of a subcommand. Only the program may depend on them.
const PRODUCTS: [&str; 3] = ["deadheat-bisect", "deadheat-explain", "deadheat-history"];

/// Words that only some files may use, each with the beginnings or ends of the names of these.
const ONLY_IN: [(&str, &[&str]); 13] = [
    ("std::fs", &["*_store"]),
    ("std::process", &[]),
    ("std::net", &[]),
    ("std::env", &[]),
    ("Instant::", &[]),
    ("SystemTime", &[]),
    ("parts::engine", &["run*"]),
    ("parts::system", &["run*"]),
    ("parts::terminal", &["run*"]),
    ("deadheat_build", &["run*", "command"]),
    ("deadheat_options", &["run*", "command"]),
    ("clap", &["command"]),
    ("report::document", &["page"]),
];

/// The files that may reach the files of users through `deadheat-format`; `wire` describes types.
const MAY_USE_FILES: [&str; 4] = ["*_store", "run*", "command", "wire*"];

fn fits(name: &str, pattern: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end),
        (_, Some(start)) => name == start || name.starts_with(&format!("{start}_")),
        _ => name == pattern,
    }
}

/// What a file of this name uses and may not.
fn forbidden<'w>(path: &Path, code: &str) -> Vec<&'w str> {
    let name = path.file_stem().unwrap().to_str().unwrap();
    let code = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let code = code.collect::<Vec<_>>().join("\n");
    let may = |patterns: &[&str]| patterns.iter().any(|pattern| fits(name, pattern));
    let rules = ONLY_IN
        .into_iter()
        .chain([("parts::format", &MAY_USE_FILES[..])]);
    rules
        .filter(|(word, patterns)| code.contains(word) && !may(patterns))
        .map(|(word, _)| word)
        .collect()
}

#[test]
fn a_file_of_a_product_does_only_what_its_name_says() {
    for product in PRODUCTS {
        for (path, code) in sources(product) {
            let found = forbidden(&path, &code);
            assert!(found.is_empty(), "{} uses {found:?}", path.display());
        }
    }
}

#[test]
fn only_the_files_of_the_load_worker_that_run_touch_processes_files_and_clocks() {
    let world = [
        "std::fs",
        "std::process",
        "std::net",
        "std::env",
        "Instant::",
        "nix::",
        "thread",
    ];
    for (path, code) in sources("deadheat-load") {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let code: Vec<&str> = code
            .lines()
            .filter(|line| !line.trim_start().starts_with("//") && line.contains("use "))
            .collect();
        let code = code.join("\n");
        let mut touched = world.iter().filter(|word| code.contains(**word));
        assert!(
            fits(name, "run*") || touched.next().is_none(),
            "{} touches the world",
            path.display()
        );
        assert!(!code.contains("clap") || name == "command");
    }
}

#[test]
fn no_crate_but_the_program_depends_on_a_product() {
    for room in rooms() {
        let arrows = arrows_from(&room);
        let product = arrows
            .iter()
            .find(|arrow| PRODUCTS.contains(&arrow.as_str()));
        assert!(
            product.is_none() || room == "deadheat-cli",
            "{room} → {product:?}: products may use the core, and not the other way"
        );
    }
}

#[test]
fn only_the_files_that_are_named_for_it_touch_the_disk_or_the_command_line() {
    let uses = |name: &str, code: &str| forbidden(Path::new(&format!("src/{name}.rs")), code);
    assert_eq!(uses("judge", "use std::fs;"), ["std::fs"]);
    assert!(uses("log_store", "use std::fs;").is_empty());
    assert!(uses("judge", "    // What std::fs reads.").is_empty());
    assert_eq!(uses("run", "use std::fs;"), ["std::fs"]);
    assert_eq!(uses("words", "use clap::Args;"), ["clap"]);
    assert!(uses("command", "use clap::Args;").is_empty());
    assert_eq!(
        uses("runes", "use deadheat::parts::engine::OsClock;"),
        ["parts::engine"]
    );
    assert!(uses("run_commits", "use deadheat::parts::engine::OsClock;").is_empty());
    assert_eq!(
        uses("page", "use deadheat::parts::format::write_text;"),
        ["parts::format"]
    );
}
