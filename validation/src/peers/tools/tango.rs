//! tango: two benchmarks of one program, in two processes that take turns.

use crate::programs::{Place, Programs};
use crate::race::Race;
use deadheat_validation::prelude::*;

pub fn run(race: &Race, programs: &Programs, place: &Place) -> Result<Told, String> {
    let mut command = programs.function("tango", race, place);
    command.args([
        "compare",
        "--bench",
        "--strip-baseline=baseline/**",
        "--strip-candidate=candidate/**",
        &format!("--seed={}", race.seed),
    ]);
    // It ends with 1 when something became slower.
    read(&text_of(&mut command, &[0, 1])?)
}

/// The percentage at the end of the line, and its mark.
fn read(said: &str) -> Result<Told, String> {
    let line = said.lines().find(|line| line.contains("work") && line.contains('%'));
    let word = line.and_then(|line| line.split_whitespace().next_back());
    let (number, mark) = word
        .and_then(|word| word.split_once('%'))
        .ok_or_else(|| format!("no percentage in: {said}"))?;
    let percent: f64 = number.parse().map_err(|_| format!("{number}% is no percentage"))?;
    Ok(Told {
        called: Some(Call::of(mark == "*", percent)),
        percent: Some(percent),
        ..Told::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_asterisk_is_its_call() {
        let line = |end: &str| format!("work      [  21.0 us ...  20.6 us ]      {end}\n");
        let told = |end: &str| read(&line(end)).unwrap();
        assert_eq!(told("-1.58%*").called, Some(Call::Faster));
        assert_eq!(told("+1.01%*").called, Some(Call::Slower));
        assert_eq!(told("+0.99%").called, Some(Call::Neither));
        assert_eq!(told("+0.99%").percent, Some(0.99));
        assert!(read("").is_err());
    }
}
