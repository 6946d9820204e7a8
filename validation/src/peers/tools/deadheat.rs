//! deadheat: of functions as `cargo bench` and as `cargo deadheat` run it, and of commands.

use deadheat_validation::answer;
use deadheat_validation::prelude::*;

use crate::programs::{PLACEMENTS, Place, Programs};
use crate::race::Race;

pub fn functions(race: &Race, programs: &Programs, place: &Place) -> Result<Told, String> {
    let mut command = programs.function("deadheat", race, place);
    raced(&mut command, race, "binary")
}

/// Each replicate on a link of its own, the making of which is part of the
/// time.
pub fn on_neutral_links(race: &Race, programs: &Programs, place: &Place) -> Result<Told, String> {
    let mut command = programs.relinked(race, place);
    command.env(PLACEMENTS, programs.cargo_deadheat());
    raced(&mut command, race, "source")
}

fn raced(command: &mut Command, race: &Race, scope: &str) -> Result<Told, String> {
    let seed = race.seed.to_string();
    command.args(["--bench", "-q", "--json", "--seed", &seed]);
    read(&text_of(command, &[0])?, scope)
}

pub fn commands(race: &Race, programs: &Programs, place: &Place) -> Result<Told, String> {
    let mut command = place.command(programs.deadheat());
    let seed = race.seed.to_string();
    command.args(["run", "-q", "--json", "--seed", &seed, "--"]);
    command.args(programs.busy(race));
    read(&text_of(&mut command, &[0])?, "binary")
}

fn read(said: &str, scope: &str) -> Result<Told, String> {
    let answer: Value = serde_json::from_str(said).map_err(|error| format!("no JSON: {error}"))?;
    let races = answer::Race::all(&answer)?;
    let race = races.first().ok_or("an answer without a race")?;
    if race.scope != scope {
        return Err(format!("it speaks of the {}, not of the {scope}", race.scope));
    }
    Told::of_race(race)
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_validation::told::Call;

    #[test]
    fn a_verdict_is_read_with_what_it_speaks_of() {
        let answer = |verdict: &str| {
            serde_json::json!({"benchmarks": [{"benchmark": "work", "verdict": verdict,
                "scope": "binary", "baseline": {"median": 1.0}, "change": 0.01,
                "ci": [0.009, 0.011], "replicates": 6}]})
            .to_string()
        };
        let told = read(&answer("slower"), "binary").unwrap();
        assert_eq!(told.called, Some(Call::Slower));
        assert_eq!(told.percent, Some(1.0));
        let even = read(&answer("equivalent"), "binary").unwrap();
        assert_eq!(even.called, Some(Call::Neither));
        let other = read(&answer("slower"), "source").unwrap_err();
        assert_eq!(other, "it speaks of the binary, not of the source");
    }
}
