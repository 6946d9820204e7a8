//! Finds the tests that use a data file of their suite.

use std::fs;
use std::path::{Path, PathBuf};

use crate::disk;

/// Returns the indices in `names` of the tests that the data file `file` affects.
///
/// These are the tests whose source mentions the file's name. If a helper module mentions this
/// name, or no test does, the result is all tests in and below the nearest folder with tests,
/// starting at the file's own folder. For a Python file the list is empty, because the worker
/// itself reports the modules that tests import.
pub fn concerned_tests(folder: &Path, file: &Path, names: &[String]) -> Vec<usize> {
    if file.extension().is_some_and(|end| end == "py") {
        return Vec::new();
    }
    let file_of = |name: &String| PathBuf::from(name.split("::").next().unwrap_or(name));
    let word = file.file_name().unwrap_or_default().to_string_lossy();
    let names_it =
        |test: &Path| disk::read_text(folder.join(test)).is_ok_and(|text| text.contains(&*word));
    let around = file.ancestors().skip(1).find_map(|above| {
        let rows = (0..names.len()).filter(|row| file_of(&names[*row]).starts_with(above));
        let rows: Vec<usize> = rows.collect();
        (!rows.is_empty()).then_some(rows)
    });
    let around = around.unwrap_or_default();
    let mut helpers = file.ancestors().skip(1).flat_map(|above| {
        let modules = fs::read_dir(folder.join(above))
            .into_iter()
            .flatten()
            .flatten();
        let modules = modules.map(move |module| above.join(module.file_name()));
        modules.filter(|module| module.extension().is_some_and(|end| end == "py"))
    });
    let is_test = |module: &Path| names.iter().any(|name| file_of(name) == module);
    if helpers.any(|module| !is_test(&module) && names_it(&module)) {
        return around;
    }
    let mut naming = Vec::new();
    let mut known: Vec<(PathBuf, bool)> = Vec::new();
    for (row, name) in names.iter().enumerate() {
        let test = file_of(name);
        let said = known
            .iter()
            .find(|(other, _)| *other == test)
            .map(|(_, said)| *said);
        let said = said.unwrap_or_else(|| {
            let said = names_it(&test);
            known.push((test, said));
            said
        });
        naming.extend(said.then_some(row));
    }
    if naming.is_empty() { around } else { naming }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_file_concerns_tests_that_mention_it_or_are_near_it() {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("bench/test_a.py", "open('words.txt')"),
            ("bench/test_b.py", ""),
            ("bench/inner/test_c.py", ""),
        ] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let names = [
            "bench/test_a.py::a",
            "bench/test_b.py::b",
            "bench/inner/test_c.py::c",
        ];
        let names = names.map(str::to_owned);
        let of = |path: &str| concerned_tests(folder.path(), Path::new(path), &names);
        assert_eq!(of("bench/data/words.txt"), [0]);
        assert_eq!(of("bench/inner/data/x.bin"), [2]);
        assert_eq!(of("bench/data/x.bin"), [0, 1, 2]);
        assert!(of("bench/test_a.py").is_empty());
        fs::write(folder.path().join("bench/conftest.py"), "'words.txt'").unwrap();
        assert_eq!(of("bench/data/words.txt"), [0, 1, 2]);
    }
}
