//! Results of a program.
use deadheat::exit::Failure;
use deadheat::model::{Program, Results};

pub fn program(named: &str, _: &Program, _: Option<&str>, _: bool) -> Result<Results, Failure> {
    Err(Failure::Usage(named.to_owned()))
}
