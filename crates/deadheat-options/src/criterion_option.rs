//! The option that says whose criterion a suite of criterion races with.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use deadheat::parts::exit::Failure;
use deadheat_build::CriterionChoice;

/// The words of the option, and the choices.
const CHOICES: [(&str, CriterionChoice); 2] = [
    ("swapped", CriterionChoice::Swapped),
    ("own", CriterionChoice::Own),
];

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
        value_parser = PossibleValuesParser::new(CHOICES.map(|(word, _)| word)).map(|word| choice(&word))
    )]
    criterion: Option<CriterionChoice>,
}

fn choice(word: &str) -> CriterionChoice {
    let found = CHOICES.iter().find(|(known, _)| *known == word);
    found.map_or_else(CriterionChoice::default, |(_, choice)| *choice)
}

impl CriterionArgs {
    /// The choice of the user, or the default.
    pub fn choice(&self) -> CriterionChoice {
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
