//! Names the sides of a comparison after their files and folders.

use std::collections::HashSet;
use std::path::Path;

/// Returns a name for each side, from its paths as the user named them. A side with one path is
/// named after the last component of the path. A side with several paths is named after their
/// folder or, if that does not distinguish the sides, after the common part of the file names. If
/// names are still equal, more of the path is shown, then a number.
pub fn side_names_of(sides: &[&[String]]) -> Vec<String> {
    let kinds: [Called; 4] = [folder, beginning, whole_beginning, ending];
    let called = kinds.iter().filter_map(|kind| {
        let names = sides.iter().map(|paths| match paths {
            [] => Some(String::new()),
            [alone] => Some(alone.clone()),
            several => kind(several),
        });
        names.collect::<Option<Vec<String>>>()
    });
    let called: Vec<Vec<String>> = called.collect();
    let apart = |names: &&Vec<String>| are_distinct(names.iter().map(|name| end(name, 1)));
    let first = || {
        sides
            .iter()
            .map(|paths| paths.first().cloned().unwrap_or_default())
    };
    let names = called.iter().find(apart).or(called.first()).cloned();
    shortest(&names.unwrap_or_else(|| first().collect()))
}

/// A function that names a side by a common part of its paths; returns `None` if the paths have no
/// such part.
type Called = fn(&[String]) -> Option<String>;

/// Returns the folder that contains all paths.
fn folder(paths: &[String]) -> Option<String> {
    let folder = folder_of(&paths[0]);
    let same = paths.iter().all(|path| folder_of(path) == folder);
    Some(folder).filter(|folder| same && !folder.is_empty())
}

/// Returns the common beginning of the file names, without its trailing digits if a file name
/// continues with digits.
fn beginning(paths: &[String]) -> Option<String> {
    let shared = shared(paths.iter().map(|path| stem(path)));
    let goes_on =
        |path: &String| stem(path)[shared.len()..].starts_with(|c: char| c.is_ascii_digit());
    let cut = match paths.iter().any(goes_on) {
        true => shared.trim_end_matches(|c: char| c.is_ascii_digit()),
        false => &shared,
    };
    in_folder(paths, cut.trim_end_matches(SEPARATORS))
}

/// Returns the common beginning of the file names, including digits at its end.
fn whole_beginning(paths: &[String]) -> Option<String> {
    let shared = shared(paths.iter().map(|path| stem(path)));
    in_folder(paths, shared.trim_end_matches(SEPARATORS))
}

/// Returns the common ending of the file names without their extensions.
fn ending(paths: &[String]) -> Option<String> {
    let backwards = |path: &String| stem(path).chars().rev().collect::<String>();
    let shared = shared(paths.iter().map(backwards));
    let ending: String = shared.chars().rev().collect();
    in_folder(paths, ending.trim_start_matches(SEPARATORS))
}

/// Characters between a name and the number of a recording.
const SEPARATORS: [char; 4] = ['-', '_', '.', ' '];

/// Prefixes the name with the common folder, if there is one, because it may be needed to
/// distinguish sides.
fn in_folder(paths: &[String], name: &str) -> Option<String> {
    let name = Some(name).filter(|name| !name.is_empty())?;
    Some(match folder(paths) {
        Some(folder) => format!("{folder}/{name}"),
        None => name.to_owned(),
    })
}

/// Returns the longest common beginning of all texts.
fn shared(mut texts: impl Iterator<Item = String>) -> String {
    let first = texts.next().unwrap_or_default();
    texts.fold(first, |shared, text| {
        let pairs = shared.chars().zip(text.chars());
        pairs
            .take_while(|(a, b)| a == b)
            .map(|(same, _)| same)
            .collect()
    })
}

fn folder_of(path: &str) -> String {
    let mut parts = parts(path);
    parts.pop();
    parts.join("/")
}

/// Returns the name of a file without its extensions.
fn stem(path: &str) -> String {
    let name = end(path, 1);
    let stem = name.strip_suffix(".gz").or(name.strip_suffix(".zst"));
    let stem = stem.unwrap_or(&name);
    let extension = stem
        .rsplit_once('.')
        .filter(|(before, _)| !before.is_empty());
    extension.map_or(stem, |(before, _)| before).to_owned()
}

/// Returns the shortest ends of the paths that are distinct; adds numbers if the whole paths are
/// equal.
fn shortest(paths: &[String]) -> Vec<String> {
    let most = paths.iter().map(|path| parts(path).len()).max();
    let ends = |depth: usize| paths.iter().map(move |path| end(path, depth));
    if let Some(depth) = (1..=most.unwrap_or(1)).find(|depth| are_distinct(ends(*depth))) {
        return ends(depth).collect();
    }
    let mut seen = HashSet::new();
    let name = |path: &String| {
        let name = end(path, 1);
        let mut numbered = (2..).map(|number| format!("{name} #{number}"));
        let name = if seen.contains(&name) {
            numbered.find(|name| !seen.contains(name)).expect("endless")
        } else {
            name
        };
        seen.insert(name.clone());
        name
    };
    paths.iter().map(name).collect()
}

fn are_distinct(mut names: impl Iterator<Item = String>) -> bool {
    let mut seen = HashSet::new();
    names.all(|name| seen.insert(name))
}

fn parts(path: &str) -> Vec<String> {
    let parts = Path::new(path).components();
    parts
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .filter(|part| part != ".")
        .collect()
}

/// Returns the last `depth` components of a path.
fn end(path: &str, depth: usize) -> String {
    let parts = parts(path);
    match parts.len() {
        0 => path.to_owned(),
        len => parts[len.saturating_sub(depth)..].join("/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(sides: &[&str]) -> Vec<String> {
        let words = |line: &&str| line.split_whitespace().map(str::to_owned).collect();
        let sides: Vec<Vec<String>> = sides.iter().map(words).collect();
        let sides: Vec<&[String]> = sides.iter().map(Vec::as_slice).collect();
        side_names_of(&sides)
    }

    #[test]
    fn a_path_alone_is_called_by_what_tells_it_apart() {
        assert_eq!(named(&["a.json", "x/b.json"]), ["a.json", "b.json"]);
        assert_eq!(
            named(&["old/a.json", "./new/a.json"]),
            ["old/a.json", "new/a.json"]
        );
        assert_eq!(named(&["a", "a", "-", "a"]), ["a", "a #2", "-", "a #3"]);
        assert_eq!(named(&["."]), ["."]);
        assert_eq!(named(&[""]), [""]);
        assert_eq!(named(&["v17/", "v18"]), ["v17", "v18"]);
        assert_eq!(named(&["in/06", "in/07/"]), ["06", "07"]);
        assert_eq!(named(&["2026-03-01", "2026-03-02"])[1], "2026-03-02");
    }

    #[test]
    fn several_files_are_called_by_their_folder() {
        assert_eq!(
            named(&["v17/1.json v17/2.json", "v18/1.json v18/2.json"]),
            ["v17", "v18"]
        );
        assert_eq!(
            named(&[
                "old/run_1.json old/run_2.json",
                "new/run_1.json new/run_2.json"
            ]),
            ["old", "new"]
        );
        assert_eq!(
            named(&["results/old/1 results/old/2", "results/new/1 results/new/2"]),
            ["old", "new"]
        );
        assert_eq!(
            named(&["a/out/1.txt a/out/2.txt", "b/out/1.txt b/out/2.txt"]),
            ["a/out", "b/out"]
        );
        assert_eq!(
            named(&["base.json", "new/1.json new/2.json"]),
            ["base.json", "new"]
        );
    }

    #[test]
    fn several_files_of_one_folder_are_called_by_what_differs_in_their_names() {
        for (sides, names) in [
            (
                ["rf311_1.json rf311_2.json", "rf320_1.json rf320_2.json"],
                ["rf311", "rf320"],
            ),
            (
                [
                    "x/rf311_1.json x/rf311_2.json",
                    "x/rf320_1.json x/rf320_2.json",
                ],
                ["rf311", "rf320"],
            ),
            (["é-01.json é-02.json", "ü-01.json ü-02.json"], ["é", "ü"]),
            (["o1.txt o2.txt", "n1.txt n2.txt"], ["o", "n"]),
            (
                ["v171.json v172.json", "v181.json v182.json"],
                ["v17", "v18"],
            ),
            (
                [
                    "run-2026-03-01-1.json run-2026-03-01-2.json",
                    "run-2026-03-02-1.json run-2026-03-02-2.json",
                ],
                ["run-2026-03-01", "run-2026-03-02"],
            ),
            (
                ["1_old.json 2_old.json", "1_new.json 2_new.json"],
                ["old", "new"],
            ),
            (
                ["r1/old.json r2/old.json", "r1/new.json r2/new.json"],
                ["old", "new"],
            ),
            (
                ["r1/v17.json.gz r2/v17.json.gz", "r1/v18.json r2/v18.json"],
                ["v17", "v18"],
            ),
            (["1.json 2.json", "3.json 4.json"], ["1.json", "3.json"]),
            (["s1.json s2.json", "s1.json s2.json"], ["s", "s #2"]),
        ] {
            assert_eq!(named(&sides), names);
        }
    }
}
