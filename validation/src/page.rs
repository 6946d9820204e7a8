//! A page of `docs/validation/`: questions put one after the other, and what came of them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::exit;

use crate::bars::{Section, table};
use crate::options::Wanted;
use crate::workshop::repository;

/// The only option of some programs.
pub fn is_quick() -> bool {
    Wanted::of_options(&["quick"]).quick
}

pub type Question<S> = (&'static str, fn(&S) -> Section);

pub struct Page<'a> {
    pub title: &'a str,
    pub program: &'a str,
    pub facts: &'a str,
    /// True if this is only a trial, which leaves no file.
    pub quick: bool,
}

/// Prints a page; one that is no trial takes the place of the last one.
pub fn publish(program: &str, text: &str, quick: bool) {
    println!("{text}");
    if !quick {
        let target = repository().join(format!("docs/validation/{program}.md"));
        fs::write(&target, text).expect("the page can be written");
    }
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

    pub fn write_asked<S>(
        &self,
        root: &Path,
        setting: &S,
        questions: &[Question<S>],
        asked: &Wanted,
    ) -> bool {
        if asked.only.is_empty() {
            return self.write(root, setting, questions);
        }
        let wanted = questions.iter().filter(|(what, _)| asked.fits(what));
        let wanted: Vec<Question<S>> = wanted.copied().collect();
        if wanted.is_empty() {
            let all: Vec<&str> = questions.iter().map(|(what, _)| *what).collect();
            eprintln!("no question holds these words; there are: {}", all.join("; "));
            exit(2);
        }
        self.answer(setting, &wanted).1
    }

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
        let _ = writeln!(page, "Written by `{command} {}`.\n\n{}\n", self.program, self.facts);
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
        let page = |quick| Page { title: "Title", program: "p", facts: "Machine: m.", quick };
        let text = page(false).text("T\n\n", "## A\n\nx\n\n");
        assert!(
            text.starts_with("# Title\n\nWritten by `cargo run")
                && text.contains("--bin p`.\n\nMachine: m.\n\nT\n")
        );
        assert!(text.ends_with("## A\n\nx\n") && !text.contains("trial"));
        assert!(page(true).text("", "").contains("**A quick trial"));
    }
}
