//! pyperf: two commands, one after the other, and its own comparison of the two files.

use deadheat_validation::prelude::*;
use deadheat_validation::python::compared;

use crate::programs::{Place, Programs};
use crate::race::Race;

pub fn run(race: &Race, programs: &Programs, place: &Place) -> Result<Told, String> {
    let (python, version) = programs.pyperf().ok_or("pyperf is not there")?;
    let files = ["one.json", "two.json"].map(|name| place.file(name));
    for (file, words) in files.iter().zip(programs.busy_words(race)) {
        let mut command = place.command(python);
        command.args(["-m", "pyperf", "command", "-o"]).arg(file);
        command.arg("--").args(words);
        text_of(&mut command, &[0])?;
    }
    let told = compared(python, &files)?;
    Ok(Told { version: Some(version.to_owned()), ..told })
}
