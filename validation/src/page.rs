//! A page of `docs/validation/`: questions put one after the other, and what
//! came of them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::exit;

use crate::bars::{Section, table};

/// Whether this is only to be tried, by the command line; ends the process
/// when that says anything else.
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

/// What is asked, in words, and who answers it.
pub type Question<S> = (&'static str, fn(&S) -> Section);

/// A page to be written.
pub struct Page<'a> {
    /// What stands above it.
    pub title: &'a str,
    /// The program that writes it, and the name of its file.
    pub program: &'a str,
    /// Machine and tools.
    pub facts: &'a str,
    /// Whether this is only a trial, which leaves no file.
    pub quick: bool,
}

impl Page<'_> {
    /// Puts the questions and prints the page; one that is no trial takes the
    /// place of the last one below `root`, the repository.
    /// `false` when a bar was missed.
    pub fn write<S>(&self, root: &Path, setting: &S, questions: &[Question<S>]) -> bool {
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
        if !self.quick {
            let target = root.join(format!("docs/validation/{}.md", self.program));
            fs::write(&target, &text).expect("the page can be written");
        }
        bars.iter().all(|bar| bar.is_kept())
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
