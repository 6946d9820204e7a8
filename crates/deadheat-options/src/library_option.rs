//! Options that choose the benchmark library a suite is compiled with.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use deadheat::parts::exit::Failure;
use deadheat_build::LibraryChoice;

/// The values of an option that chooses the implementation of a benchmark library.
const CHOICES: [(&str, LibraryChoice); 2] = [
    ("swapped", LibraryChoice::Swapped),
    ("own", LibraryChoice::Own),
];

pub(crate) fn choices() -> impl TypedValueParser<Value = LibraryChoice> {
    PossibleValuesParser::new(CHOICES.map(|(word, _)| word)).map(|word| {
        let found = CHOICES.iter().find(|(known, _)| *known == word);
        found.map_or_else(LibraryChoice::default, |(_, choice)| *choice)
    })
}

/// The criterion library that the bench targets are compiled with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct CriterionArgs {
    /// Race criterion suites sample by sample, compiled with deadheat's criterion (swapped), or
    /// launch by launch with their own (own) [default: swapped if the suite compiles]
    #[arg(
        long,
        value_name = "WHICH",
        help_heading = "Build",
        hide_possible_values = true,
        value_parser = choices()
    )]
    criterion: Option<LibraryChoice>,
}

impl CriterionArgs {
    /// Returns the user's choice, or the default.
    pub fn choice(&self) -> LibraryChoice {
        self.criterion.unwrap_or_default()
    }

    /// Refuses the option if cargo builds nothing.
    pub fn refuse_without_cargo(&self) -> Result<(), Failure> {
        match self.criterion {
            None => Ok(()),
            Some(_) => Err(Failure::Usage(
                "--criterion applies only to builds by `cargo bench`, and this command line builds in \
                 another way\nhelp: leave it out"
                    .to_owned(),
            )),
        }
    }
}
