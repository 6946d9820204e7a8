//! A page of `docs/validation/`: questions put one after the other, and what
//! came of them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::exit;

use crate::bars::{Section, table};

/// Returns true if this is only to be tried, by the command line; ends the process when that says
/// anything else.
pub fn is_quick() -> bool {
    let mut quick = false;
    for word in std::env::args().skip(1) {
        match word.as_str() {
            "--quick" => quick = true,
            other => {
                eprintln!("there is no option {other}; there is --quick");
                exit(2);
            }
        }
    }
    quick
}

/// The options on the command line of a table that can be had in parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Only to be tried, in small numbers.
    pub quick: bool,
    /// Only the questions that hold this text.
    pub only: Option<String>,
    /// Races of a row, instead of its own number.
    pub races: Option<usize>,
}

impl Asked {
    /// From the words of a command line.
    ///
    /// # Errors
    ///
    /// The word that is not understood, in a sentence.
    pub fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut asked = Self::default();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--quick" => asked.quick = true,
                "--only" => asked.only = Some(words.next().ok_or("--only takes a text")?),
                "--races" => asked.races = Some(races(words.next())?),
                other => {
                    return Err(format!(
                        "there is no option {other}; there are --quick, --only TEXT and --races N"
                    ));
                }
            }
        }
        Ok(asked)
    }

    /// From the command line of this process; ends it when that says anything else.
    pub fn from_command_line() -> Self {
        Self::read(std::env::args().skip(1)).unwrap_or_else(|problem| {
            eprintln!("{problem}");
            exit(2);
        })
    }

    /// The number of races that was asked for, else the full one or that of a quick trial.
    pub fn races(&self, full: usize, quick: usize) -> usize {
        self.races.unwrap_or(if self.quick { quick } else { full })
    }
}

/// A number of races.
///
/// # Errors
///
/// That it is none, in a sentence.
pub fn races(word: Option<String>) -> Result<usize, String> {
    let number = word.and_then(|word| word.parse().ok());
    let number = number.filter(|number| (1..=1_000_000).contains(number));
    number.ok_or_else(|| "--races takes a number of races".to_owned())
}

/// A question in words, and the function that answers it.
pub type Question<S> = (&'static str, fn(&S) -> Section);

/// A page to be written.
pub struct Page<'a> {
    /// The title above it.
    pub title: &'a str,
    /// The program that writes it, and the name of its file.
    pub program: &'a str,
    /// Machine and tools.
    pub facts: &'a str,
    /// True if this is only a trial, which leaves no file.
    pub quick: bool,
}

impl Page<'_> {
    /// Puts the questions and prints the page; one that is no trial takes the
    /// place of the last one below `root`, the repository.
    /// `false` when a bar was missed.
    pub fn write<S>(&self, root: &Path, setting: &S, questions: &[Question<S>]) -> bool {
        let (text, kept) = self.answer(setting, questions);
        if !self.quick {
            let target = root.join(format!("docs/validation/{}.md", self.program));
            fs::write(&target, &text).expect("the page can be written");
        }
        kept
    }

    /// The same for what was asked: a part of the page is printed and not written.
    pub fn write_asked<S>(
        &self,
        root: &Path,
        setting: &S,
        questions: &[Question<S>],
        asked: &Asked,
    ) -> bool {
        let Some(only) = &asked.only else {
            return self.write(root, setting, questions);
        };
        let wanted = questions.iter().filter(|(what, _)| what.contains(only));
        let wanted: Vec<Question<S>> = wanted.copied().collect();
        if wanted.is_empty() {
            let all: Vec<&str> = questions.iter().map(|(what, _)| *what).collect();
            eprintln!("no question holds '{only}'; there are: {}", all.join("; "));
            exit(2);
        }
        self.answer(setting, &wanted).1
    }

    /// Puts the questions and prints the page. `false` when a bar was missed.
    fn answer<S>(&self, setting: &S, questions: &[Question<S>]) -> (String, bool) {
        let mut bars = Vec::new();
        let mut texts = String::new();
        for (what, question) in questions {
            eprintln!("{what} ...");
            let section = question(setting);
            for bar in &section.bars {
                eprintln!("  {bar}");
            }
            bars.extend(section.bars);
            texts += &section.text;
        }
        // A page that promises nothing has no table of promises.
        let promises = match bars.is_empty() {
            true => String::new(),
            false => table(&bars),
        };
        let text = self.text(&promises, &texts);
        println!("{text}");
        let kept = bars.iter().all(|bar| bar.is_kept());
        (text, kept)
    }

    fn text(&self, table: &str, texts: &str) -> String {
        let mut page = format!("# {}\n\n", self.title);
        let command = "cargo run --release --manifest-path validation/Cargo.toml --bin";
        let _ = writeln!(
            page,
            "Written by `{command} {}`.\n\n{}\n",
            self.program, self.facts
        );
        if self.quick {
            page += "**A quick trial: counts are too small to mean anything.**\n\n";
        }
        page + table + texts.trim_end() + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_and_a_number_may_be_asked_for() {
        let read = |words: &[&str]| Asked::read(words.iter().map(|word| (*word).to_owned()));
        let asked = read(&["--only", "20 ms", "--races", "7"]).unwrap();
        assert_eq!((asked.only.as_deref(), asked.quick), (Some("20 ms"), false));
        assert_eq!(asked.races(30, 3), 7);
        let quick = read(&["--quick"]).unwrap();
        assert_eq!(
            (quick.races(30, 3), read(&[]).unwrap().races(30, 3)),
            (3, 30)
        );
        for wrong in [&["--races", "0"][..], &["--races"], &["--only"], &["--all"]] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_trial_says_that_it_is_one() {
        let page = |quick| Page {
            title: "Title",
            program: "p",
            facts: "Machine: m.",
            quick,
        };
        let text = page(false).text("T\n\n", "## A\n\nx\n\n");
        assert!(
            text.starts_with("# Title\n\nWritten by `cargo run")
                && text.contains("--bin p`.\n\nMachine: m.\n\nT\n")
        );
        assert!(text.ends_with("## A\n\nx\n") && !text.contains("trial"));
        assert!(page(true).text("", "").contains("**A quick trial"));
    }
}
