//! The benchmarks whose own source files differ between two revisions.

use std::path::PathBuf;

use deadheat::parts::exit::Failure;
use deadheat::parts::model::Benchmark;
use deadheat_build::{ChangedFile, Recipe, Sides, changed_suite, concerned_tests, mentions};

use crate::repository::{asking, failure, here};

/// The source files of benchmarks that differ between two sides.
#[derive(Clone, Debug, Default)]
pub struct ChangedSuite {
    files: Vec<ChangedFile>,
    /// The names of the executables that hold benchmarks.
    executables: Vec<String>,
    /// The folder in which pytest runs; `None` for other suites.
    pytest: Option<PathBuf>,
    /// True for a suite that cargo builds. A changed file of such a suite concerns all benchmarks
    /// of its executable, because macros and loops can generate names that the file does not
    /// contain.
    is_of_cargo: bool,
}

impl ChangedSuite {
    /// Returns the changed files of two sides that `recipe` has built.
    pub fn between(sides: &Sides, recipe: &Recipe) -> Result<Self, Failure> {
        let both = [&sides.baseline, &sides.candidate];
        let directory = here()?;
        let files = asking(|stop| changed_suite(&directory, both, recipe, stop).map_err(failure))?;
        let all = both.iter().flat_map(|side| &side.executables);
        let mut executables: Vec<String> = all.map(|one| one.name.clone()).collect();
        executables.sort();
        executables.dedup();
        let pytest = matches!(recipe, Recipe::Pytest(_));
        Ok(Self {
            files,
            executables,
            pytest: pytest.then(|| sides.candidate.directory.clone()),
            is_of_cargo: matches!(recipe, Recipe::Cargo(_)),
        })
    }

    /// Adds to each benchmark the changed files that concern it.
    pub fn note_in(&self, benchmarks: &mut [Benchmark]) {
        let names: Vec<String> = benchmarks.iter().map(|one| one.name.clone()).collect();
        for file in &self.files {
            let of_file = match &self.pytest {
                Some(folder) => concerned_tests(folder, &file.path, &names),
                None => self.concerned(file, &names),
            };
            let shown = file.path.display().to_string();
            for row in of_file {
                if !benchmarks[row].changed_files.contains(&shown) {
                    benchmarks[row].changed_files.push(shown.clone());
                }
            }
        }
    }

    /// Returns the indexes of the benchmarks that a changed file concerns: those of the file's
    /// executable whose names the file contains. If the file contains none of these names, or cargo
    /// builds the suite, returns all benchmarks of the executable.
    fn concerned(&self, file: &ChangedFile, names: &[String]) -> Vec<usize> {
        let own = |name: &'_ str| -> Option<(String, String)> {
            let mut all = self.executables.iter();
            let executable = all.find(|one| name.starts_with(&format!("{one}::")))?;
            Some((executable.clone(), name[executable.len() + 2..].to_owned()))
        };
        let rows: Vec<(usize, String)> = names
            .iter()
            .enumerate()
            .filter_map(|(row, name)| match (own(name), &file.executable) {
                (Some((executable, _)), Some(of)) if executable != *of => None,
                (Some((_, rest)), _) => Some((row, rest)),
                (None, _) => Some((row, name.clone())),
            })
            .collect();
        let is_named = |name: &str| {
            let parts = parts_of(name);
            let mut texts = file.texts.iter();
            !parts.is_empty() && texts.any(|text| parts.iter().all(|part| mentions(text, part)))
        };
        let named: Vec<usize> = rows
            .iter()
            .filter(|(_, name)| is_named(name))
            .map(|(row, _)| *row)
            .collect();
        match named.is_empty() || self.is_of_cargo {
            true => rows.into_iter().map(|(row, _)| row).collect(),
            false => named,
        }
    }
}

/// Returns the parts of a name that its source contains: `BM_Sort` of `BM_Sort/100`, or the class
/// and method of a Java benchmark.
fn parts_of(name: &str) -> Vec<&str> {
    let first = name.split(['/', ':', '<', '(', '{', ' ']).next();
    let parts = first.unwrap_or_default().split('.');
    parts.filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(path: &str, executable: Option<&str>, text: &str) -> ChangedFile {
        ChangedFile {
            path: path.into(),
            executable: executable.map(str::to_owned),
            texts: [String::new(), text.to_owned()],
        }
    }

    fn noted(suite: &ChangedSuite, names: &[&str]) -> Vec<String> {
        let of = |name: &&str| Benchmark {
            name: (*name).to_owned(),
            ..Benchmark::default()
        };
        let mut benchmarks: Vec<Benchmark> = names.iter().map(of).collect();
        suite.note_in(&mut benchmarks);
        let with_files = benchmarks
            .into_iter()
            .filter(|one| !one.changed_files.is_empty());
        let with_files =
            with_files.map(|one| format!("{}: {}", one.name, one.changed_files.join(" ")));
        with_files.collect()
    }

    fn suite(files: Vec<ChangedFile>, executables: &[&str]) -> ChangedSuite {
        ChangedSuite {
            files,
            executables: executables.iter().map(|one| (*one).to_owned()).collect(),
            ..ChangedSuite::default()
        }
    }

    #[test]
    fn a_file_concerns_the_rows_that_it_names() {
        let file = changed("bench/sort.cc", None, "BENCHMARK(BM_Sort)->Arg(100);");
        let found = noted(
            &suite(vec![file], &["bench"]),
            &["BM_Sort/100", "BM_Find/100"],
        );
        assert_eq!(found, ["BM_Sort/100: bench/sort.cc"]);
        let file = changed(
            "p/a_test.go",
            Some("m/p"),
            "func BenchmarkSum(b *testing.B)",
        );
        let names = [
            "m/p::BenchmarkSum/a",
            "m/p::BenchmarkSumAll",
            "m/q::BenchmarkSum",
        ];
        let found = noted(&suite(vec![file], &["m/p", "m/q"]), &names);
        assert_eq!(found, ["m/p::BenchmarkSum/a: p/a_test.go"]);
        let java = "package suites; class Sums { @Benchmark int plain() {";
        let file = changed("src/jmh/Sums.java", None, java);
        let names = ["suites.Sums.plain:size=1", "suites.Other.plain"];
        let found = noted(&suite(vec![file], &["b.jar"]), &names);
        assert_eq!(found, ["suites.Sums.plain:size=1: src/jmh/Sums.java"]);
    }

    #[test]
    fn a_file_that_names_no_row_concerns_all_of_its_executable() {
        let file = changed("benches/text.rs", Some("text"), "fn words() {}");
        let names = ["text::a", "text::b", "other::a"];
        let found = noted(&suite(vec![file.clone()], &["other", "text"]), &names);
        assert_eq!(
            found,
            ["text::a: benches/text.rs", "text::b: benches/text.rs"]
        );
        let found = noted(&suite(vec![file], &["text"]), &["with_divan::a"]);
        assert_eq!(found, ["with_divan::a: benches/text.rs"]);
        assert!(noted(&suite(vec![], &["text"]), &["a"]).is_empty());
    }
}
