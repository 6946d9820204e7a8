//! Options that say whose library of benchmarks a suite is compiled with.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use deadheat::parts::exit::Failure;
use deadheat_build::LibraryChoice;

/// The words of such an option, and the choices.
const CHOICES: [(&str, LibraryChoice); 2] = [
    ("swapped", LibraryChoice::Swapped),
    ("own", LibraryChoice::Own),
];

/// Reads the word of such an option.
pub(crate) fn choices() -> impl TypedValueParser<Value = LibraryChoice> {
    PossibleValuesParser::new(CHOICES.map(|(word, _)| word)).map(|word| {
        let found = CHOICES.iter().find(|(known, _)| *known == word);
        found.map_or_else(LibraryChoice::default, |(_, choice)| *choice)
    })
}

/// Whose criterion the bench targets are compiled with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct CriterionArgs {
    /// Race suites of criterion sample by sample, compiled with deadheat's criterion (swapped), or
    /// launch by launch with the one that they name (own) [default: swapped if the suite compiles]
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
    /// The choice of the user, or the default.
    pub fn choice(&self) -> LibraryChoice {
        self.criterion.unwrap_or_default()
    }

    /// Refuses a choice where cargo builds nothing.
    pub fn refuse_without_cargo(&self) -> Result<(), Failure> {
        match self.criterion {
            None => Ok(()),
            Some(_) => Err(Failure::Usage(
                "--criterion is for `cargo bench`, which builds nothing here\nhelp: leave it out"
                    .to_owned(),
            )),
        }
    }
}
