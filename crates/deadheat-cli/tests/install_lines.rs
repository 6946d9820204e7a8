//! The dependency lines of the documents work as printed: in a package outside the checkout, which
//! lies where the lines expect it, in the folder `deadheat` next to the package.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn repository() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

/// README and all pages below docs/.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![repository().join("README.md")];
    let mut folders = vec![repository().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

/// The blocks of a page that name dependencies.
fn dependency_blocks(page: &str) -> Vec<String> {
    let blocks = page.split("```toml\n").skip(1);
    let blocks = blocks.map(|rest| rest.split("```").next().unwrap());
    blocks
        .filter(|block| block.contains("dependencies]\n"))
        .map(str::to_owned)
        .collect()
}

/// Whether a line of a manifest depends on a crate of this repository.
fn is_ours(line: &str) -> bool {
    let line = line.split('#').next().unwrap();
    let name = line.split(['=', ' ', '.']).next().unwrap();
    name == "deadheat" || line.contains("package = \"deadheat")
}

/// Whether a line takes a crate from a registry, which needs a network.
fn is_fetched(line: &str) -> bool {
    line.contains("version = ") && !line.contains("path = ")
}

const BENCH_OF_CRITERION: &str = "\
use criterion::{criterion_group, criterion_main, Criterion};

fn sum(c: &mut Criterion) {
    c.bench_function(\"sum\", |b| b.iter(|| (0..criterion::black_box(9_u64)).sum::<u64>()));
}

criterion_group!(benches, sum);
criterion_main!(benches);
";

/// The shortest race, which README shows.
fn bench_of_deadheat() -> String {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let block = readme.split("```rust\n").nth(1).expect("a race");
    block.split("```").next().unwrap().to_owned()
}

/// Writes a package with a block of a page and builds its bench.
fn build(block: &str, folder: &Path) -> Result<(), String> {
    let package = folder.join("package");
    fs::create_dir_all(package.join("benches")).unwrap();
    fs::create_dir_all(package.join("src")).unwrap();
    fs::write(package.join("src/lib.rs"), "").unwrap();
    let kept = block.lines().filter(|line| !is_fetched(line));
    let mut manifest = "[package]\nname = \"package\"\nedition = \"2021\"\n\n".to_owned();
    manifest.extend(kept.flat_map(|line| [line, "\n"]));
    if !manifest.contains("[[bench]]") {
        manifest += "\n[[bench]]\nname = \"text\"\nharness = false\n";
    }
    let bench = manifest
        .split("[[bench]]\nname = \"")
        .nth(1)
        .expect("a name");
    let bench = bench.split('"').next().unwrap();
    let code = match manifest.contains("\ncriterion = ") {
        true => BENCH_OF_CRITERION.to_owned(),
        false => bench_of_deadheat(),
    };
    fs::write(package.join(format!("benches/{bench}.rs")), code).unwrap();
    fs::write(package.join("Cargo.toml"), &manifest).unwrap();
    // With the versions that are here already, nothing is fetched.
    fs::copy(repository().join("Cargo.lock"), package.join("Cargo.lock")).unwrap();
    let done = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--quiet", "--bench", bench])
        .current_dir(&package)
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("install_lines"),
        )
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    match done.status.success() {
        true => Ok(()),
        false => Err(format!("{manifest}\n{said}")),
    }
}

#[test]
fn the_dependency_lines_of_the_documents_build_in_a_package_outside_the_checkout() {
    // Several pages print the same line.
    let mut blocks: BTreeMap<Vec<String>, String> = BTreeMap::new();
    for page in pages() {
        for block in dependency_blocks(&fs::read_to_string(&page).unwrap()) {
            let ours = block.lines().filter(|line| is_ours(line));
            let ours: Vec<String> = ours
                .map(|line| line.split('#').next().unwrap().trim().to_owned())
                .collect();
            for line in &ours {
                // Nothing is published yet.
                assert!(!is_fetched(line), "{}: {line}", page.display());
            }
            blocks.insert(ours, block);
        }
    }
    assert!(blocks.len() >= 3, "{blocks:#?}");
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(repository(), folder.path().join("deadheat")).unwrap();
    for block in blocks.values() {
        if let Err(why) = build(block, folder.path()) {
            panic!("{why}");
        }
        fs::remove_dir_all(folder.path().join("package")).unwrap();
    }
}

#[test]
fn lines_that_need_a_registry_are_told_from_lines_with_a_path() {
    for (line, ours, fetched) in [
        ("deadheat = { version = \"0.1\" }", true, true),
        (
            "deadheat = { path = \"../deadheat/crates/deadheat\" } # here",
            true,
            false,
        ),
        (
            "criterion = { package = \"deadheat-criterion\", version = \"0.1\" }",
            true,
            true,
        ),
        (
            "itoa = { version = \"=1.0.9\" } # as deadheat has it",
            false,
            true,
        ),
        ("deadheat-report = { opt-level = 0 }", false, false),
    ] {
        assert_eq!((is_ours(line), is_fetched(line)), (ours, fetched), "{line}");
    }
}

#[test]
fn the_programs_that_readme_installs_are_in_the_package_that_it_names() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let path = readme
        .split("cargo install --path ")
        .nth(1)
        .expect("a path");
    let path = path.split(['`', '\n', ' ']).next().unwrap();
    let package = repository().join(path);
    let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap();
    assert!(manifest.contains("name = \"deadheat\""), "{manifest}");
    assert!(package.join("src/bin/cargo-deadheat.rs").exists());
    let python = readme.split("pip install ").nth(1).expect("a folder");
    let python = python.split(['`', '\n', ' ']).next().unwrap();
    assert!(repository().join(python).join("pyproject.toml").exists());
}
