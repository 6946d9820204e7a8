//! One side of a comparison: a file, or several that are pooled.

use std::collections::HashSet;
use std::path::Path;

use deadheat_model::{ResultSide, ResultSource, Results};

/// One side of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Side {
    /// How it is called.
    pub name: String,
    /// Where its values come from. Where a side has several files each counts
    /// as one observation, whatever it held: they were recorded at different
    /// times.
    pub files: Vec<Results>,
}

impl Side {
    /// The same without the values.
    pub(super) fn told(&self) -> ResultSide {
        let source = |results: &Results| ResultSource {
            source: results.source.clone(),
            tool: results.tool.clone(),
            facts: results.facts.clone(),
        };
        ResultSide {
            name: self.name.clone(),
            files: self.files.iter().map(source).collect(),
        }
    }
}

/// Names for sides by the paths of their first files: as much of the end of
/// each path as tells them apart, and a number where nothing does.
pub fn side_names_of(paths: &[&str]) -> Vec<String> {
    let most = paths.iter().map(|path| parts(path).len()).max();
    let ends = |depth: usize| paths.iter().map(move |path| end(path, depth));
    let differ = |depth: &usize| {
        let mut seen = HashSet::new();
        ends(*depth).all(|name| seen.insert(name))
    };
    if let Some(depth) = (1..=most.unwrap_or(1)).find(differ) {
        return ends(depth).collect();
    }
    let mut seen = HashSet::new();
    let name = |path: &&str| {
        let name = end(path, 1);
        let mut numbered = (2..).map(|number| format!("{name} #{number}"));
        let name = match seen.contains(&name) {
            false => name,
            true => numbered.find(|name| !seen.contains(name)).expect("endless"),
        };
        seen.insert(name.clone());
        name
    };
    paths.iter().map(name).collect()
}

fn parts(path: &str) -> Vec<String> {
    let parts = Path::new(path).components();
    parts
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .filter(|part| part != ".")
        .collect()
}

/// So many components from the end of a path.
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

    #[test]
    fn sides_are_called_by_what_tells_their_paths_apart() {
        assert_eq!(side_names_of(&["a.json", "x/b.json"]), ["a.json", "b.json"]);
        assert_eq!(
            side_names_of(&["old/a.json", "./new/a.json"]),
            ["old/a.json", "new/a.json"]
        );
        assert_eq!(
            side_names_of(&["a", "a", "-", "a"]),
            ["a", "a #2", "-", "a #3"]
        );
        assert_eq!(side_names_of(&["."]), ["."]);
    }
}
