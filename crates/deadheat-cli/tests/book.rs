//! The manuals as a book: every page is in its list, every link arrives, at a file and at a heading,
//! and the reference of the command line says what the program says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

fn repository() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

/// Files below a folder whose name ends so, as paths from the root.
fn files(folder: &str, end: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![repository().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_str().unwrap().ends_with(end) {
                let path = path.strip_prefix(repository()).unwrap();
                found.insert(path.to_str().unwrap().to_owned());
            }
        }
    }
    found
}

fn text(path: &str) -> String {
    let whole = repository().join(path);
    fs::read_to_string(&whole).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The lines of a page that are outside its code blocks.
fn prose(page: &str) -> Vec<&str> {
    let mut in_code = false;
    let is_prose = |line: &&str| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        !in_code && !fence
    };
    page.lines().filter(is_prose).collect()
}

/// The text without its spans of code.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("code")
}

/// The targets of all links of a page.
fn links(page: &str) -> Vec<String> {
    let text = without_code(&prose(page).join("\n"));
    let targets = text.split("](").skip(1);
    let targets = targets.map(|rest| rest.split(')').next().unwrap());
    targets.map(str::to_owned).collect()
}

/// The anchor that forges and mdBook give a heading.
fn anchor(heading: &str) -> String {
    let mut shown = String::new();
    let mut rest = heading;
    // Of a link only its words are shown.
    while let Some((before, link)) = rest.split_once('[') {
        let (words, after) = link.split_once("](").unwrap_or((link, ")"));
        shown += before;
        shown += words;
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    shown += rest;
    let lower = shown.trim().to_lowercase();
    let kept = lower.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        c if c.is_alphanumeric() => Some(c),
        _ => None,
    });
    kept.collect()
}

/// The anchors of a page; the second heading with the same words gets `-1`.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut all = BTreeSet::new();
    for line in prose(page) {
        let heading = line.trim_start_matches('#');
        if heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let anchor = anchor(heading);
        let before = seen.entry(anchor.clone()).or_default();
        all.insert(match *before {
            0 => anchor,
            n => format!("{anchor}-{n}"),
        });
        *before += 1;
    }
    all
}

/// The path of a link from the root, without `..`.
fn resolved(page: &str, target: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    let folder = Path::new(page).parent().unwrap();
    for component in folder.join(target).components() {
        match component {
            Component::ParentDir => drop(parts.pop()),
            Component::Normal(part) => parts.push(part.to_str().unwrap().to_owned()),
            _ => {}
        }
    }
    parts.join("/")
}

/// What is wrong with the links of a page.
fn dead_links(page: &str, content: &str, read: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut dead = Vec::new();
    for link in links(content) {
        if link.contains("://") || link.starts_with("mailto:") {
            continue;
        }
        let (path, heading) = link.split_once('#').unwrap_or((&link, ""));
        let target = if path.is_empty() {
            page.to_owned()
        } else {
            resolved(page, path)
        };
        let Some(there) = read(&target) else {
            dead.push(format!("{page} → {link}: no such file"));
            continue;
        };
        if !heading.is_empty() && target.ends_with(".md") && !anchors(&there).contains(heading) {
            dead.push(format!("{page} → {link}: no such heading"));
        }
    }
    dead
}

/// The text of a file, nothing of a folder, and `None` of what is missing.
fn read(path: &str) -> Option<String> {
    let whole = repository().join(path);
    let text = || fs::read(&whole).unwrap();
    let content = |whole: &Path| match whole.is_file() {
        true => String::from_utf8_lossy(&text()).into_owned(),
        false => String::new(),
    };
    whole.exists().then(|| content(&whole))
}

#[test]
fn every_link_arrives_at_a_file_and_at_a_heading() {
    let mut pages = files("docs", ".md");
    pages.extend(files("examples", ".md"));
    let roots = ["README", "CONTRIBUTING", "SECURITY", "CHANGELOG"];
    pages.extend(roots.map(|name| format!("{name}.md")));
    pages.insert("python/README.md".to_owned());
    let dead: Vec<String> = pages
        .iter()
        .flat_map(|page| dead_links(page, &text(page), read))
        .collect();
    assert!(dead.is_empty(), "dead links:\n{}", dead.join("\n"));
}

#[test]
fn dead_links_are_found() {
    let read = |path: &str| match path {
        "docs/a.md" => Some("# A `b` [c](d.md), 1 % more\n## Twice\n## Twice\n".to_owned()),
        "README.md" => Some("# Title\n".to_owned()),
        _ => None,
    };
    let check = |link: &str| {
        let page = format!("see [it]({link})\n");
        dead_links("docs/b.md", &page, read).len()
    };
    for good in [
        "a.md",
        "a.md#a-b-c-1--more",
        "a.md#twice-1",
        "../README.md#title",
        "https://example.org/x.md",
    ] {
        assert_eq!(check(good), 0, "{good}");
    }
    for dead in [
        "c.md",
        "../a.md",
        "a.md#b",
        "a.md#twice-2",
        "../README.md#a",
    ] {
        assert_eq!(check(dead), 1, "{dead}");
    }
    let code = "```cpp\n[](x)\n```\nand `[](y)`\n";
    assert!(dead_links("docs/b.md", code, read).is_empty());
}

#[test]
fn every_page_is_in_the_list_of_the_book_once() {
    let listed = links(&text("docs/SUMMARY.md"));
    let mut pages: Vec<String> = listed
        .iter()
        .map(|page| resolved("docs/SUMMARY.md", page))
        .collect();
    pages.sort();
    let mut there = files("docs", ".md");
    there.remove("docs/SUMMARY.md");
    let there: Vec<String> = there.into_iter().collect();
    let missing: Vec<_> = there.iter().filter(|page| !pages.contains(page)).collect();
    assert!(missing.is_empty(), "docs/SUMMARY.md lacks {missing:?}");
    assert_eq!(pages, there, "listed twice, or listed and missing");
}

#[test]
fn messages_lead_to_pages_that_exist() {
    let mut lost = Vec::new();
    for file in files("crates", ".rs") {
        for rest in text(&file).split("docs/").skip(1) {
            let ends = |c: char| !(c.is_ascii_alphanumeric() || "_-./#".contains(c));
            let word = rest.split(ends).next().unwrap().trim_end_matches('.');
            let (path, heading) = word.split_once('#').unwrap_or((word, ""));
            if !path.ends_with(".md") {
                continue;
            }
            let path = format!("docs/{path}");
            let there = read(&path);
            let found = |there: &String| heading.is_empty() || anchors(there).contains(heading);
            if !there.as_ref().is_some_and(found) {
                lost.push(format!("{file}: docs/{word}"));
            }
        }
    }
    // Tests make up pages of repositories of their own.
    lost.retain(|place| !place.contains("/tests/"));
    assert!(lost.is_empty(), "{lost:#?}");
}

/// `DEADHEAT_BLESS=1 cargo test -p deadheat-cli --test book` writes the page.
#[test]
fn the_reference_of_the_command_line_is_what_the_program_says() {
    let done = Command::new(env!("CARGO_BIN_EXE_deadheat"))
        .args(["man", "--markdown"])
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    let said = String::from_utf8(done.stdout).unwrap();
    assert!(said.contains("`--fail-on <"), "{said}");
    let page = "docs/command_line.md";
    if std::env::var_os("DEADHEAT_BLESS").is_some() {
        fs::write(repository().join(page), &said).unwrap();
    }
    let shown = text(page);
    let differ = shown.lines().zip(said.lines()).find(|(a, b)| a != b);
    assert!(
        shown == said,
        "{page} is out of date, first at {differ:?}; \
         run `DEADHEAT_BLESS=1 cargo test -p deadheat-cli --test book`"
    );
}
