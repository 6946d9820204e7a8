//! Covariates of a sample that a machine tells, and what they are worth: whether one lowers the
//! standard error of a race at equal time.
//!
//! ```text
//! cargo run --release --manifest-path validation/Cargo.toml --bin covariates
//! ```
//!
//! Writes `docs/validation/covariates.md`. Takes some eight minutes, on a
//! machine that does nothing else. `--races N` changes the number of races for
//! 0.01 %. With `--only PART` (`explained`, `spectrum` or `hundredth`) one part
//! is measured and printed, with `--quick` all is tried in small numbers; neither
//! writes anything.

mod explained;
mod hundredth;
mod readings;
mod spectrum;
mod stream;
mod table;

use std::fs;
use std::path::{Path, PathBuf};

use deadheat_validation::machine::machine;
use deadheat_validation::page::{Page, Question};
use deadheat_validation::programs;
use deadheat_validation::suite_run::SuiteProgram;

/// The parts of the page, by the words of `--only`.
const PARTS: [(&str, Question<Setting>); 3] = [
    (
        "explained",
        ("what each covariate explains", table::section),
    ),
    ("spectrum", ("the noise of 20 ms", spectrum::section)),
    ("hundredth", ("a difference of 0.01 %", hundredth::section)),
];

/// The options on the command line.
#[derive(Debug, Default, PartialEq)]
struct Wanted {
    quick: bool,
    only: Option<String>,
    races: Option<usize>,
}

impl Wanted {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut wanted = Self::default();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--quick" => wanted.quick = true,
                "--only" => {
                    let part = words
                        .next()
                        .filter(|word| PARTS.iter().any(|it| it.0 == word));
                    let names = PARTS.map(|part| part.0).join(", ");
                    wanted.only = Some(part.ok_or(format!("--only takes one of {names}"))?);
                }
                "--races" => {
                    let races = words.next().and_then(|word| word.parse().ok());
                    let races = races.filter(|races| *races > 0);
                    wanted.races = Some(races.ok_or("--races takes a number of races")?);
                }
                other => {
                    return Err(format!(
                        "there is no option {other}; there are --quick, --only PART and --races N"
                    ));
                }
            }
        }
        Ok(wanted)
    }
}

/// Where things are, and how much of everything is wanted.
struct Setting {
    suite: SuiteProgram,
    wanted: Wanted,
}

impl Setting {
    /// The full number, or the one of a quick trial.
    fn count(&self, full: usize, quick: usize) -> usize {
        if self.wanted.quick { quick } else { full }
    }

    /// Races for 0.01 %.
    fn races(&self) -> usize {
        self.wanted.races.unwrap_or_else(|| self.count(20, 2))
    }
}

fn main() {
    let wanted = Wanted::read(std::env::args().skip(1)).unwrap_or_else(|problem| {
        eprintln!("{problem}");
        std::process::exit(2);
    });
    let machine = machine();
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the repository")
        .to_owned();
    let scratch = std::env::temp_dir().join(format!("deadheat-covariates-{}", std::process::id()));
    fs::create_dir_all(&scratch).expect("a scratch folder");
    let words = ["build", "--release", "--bin", "suite"];
    let suite = programs::built(&root.join("validation"), &words);
    let page = Page {
        title: "Covariates: what else a machine tells, and what it is worth",
        program: "covariates",
        facts: &machine,
        // A page of one part would take the place of the whole one.
        quick: wanted.quick || wanted.only.is_some(),
    };
    let chosen =
        |part: &&(&str, Question<Setting>)| wanted.only.as_ref().is_none_or(|only| only == part.0);
    let questions: Vec<Question<Setting>> = PARTS.iter().filter(chosen).map(|it| it.1).collect();
    let setting = Setting {
        suite: SuiteProgram::new(suite, scratch.clone()),
        wanted,
    };
    page.write(&root, &setting, &questions);
    let _ = fs::remove_dir_all(&scratch);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_understood_is_told_with_what_there_is() {
        let read = |words: &str| Wanted::read(words.split_whitespace().map(str::to_owned));
        let wanted = read("--only spectrum --races 40").unwrap();
        assert_eq!(
            (wanted.only.as_deref(), wanted.races),
            (Some("spectrum"), Some(40))
        );
        assert_eq!(read("").unwrap(), Wanted::default());
        assert!(
            read("--only noise")
                .unwrap_err()
                .contains("explained, spectrum, hundredth")
        );
        for bad in ["--races", "--races 0", "--minutes 3"] {
            assert!(
                read(bad).unwrap_err().starts_with("--races") || bad == "--minutes 3",
                "{bad}"
            );
        }
    }
}
