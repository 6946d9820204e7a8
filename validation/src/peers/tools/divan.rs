//! divan: two times, and nothing about their difference.

use crate::programs::{Place, Programs};
use crate::race::Race;
use deadheat_validation::prelude::*;

pub fn run(race: &Race, programs: &Programs, place: &Place) -> Result<Told, String> {
    let mut command = programs.function("divan", race, place);
    command.args(["--bench", "--color", "never"]);
    read(&text_of(&mut command, &[0])?)
}

fn read(said: &str) -> Result<Told, String> {
    let ns =
        |side: &str| median_of(said, side).ok_or_else(|| format!("no median of {side} in: {said}"));
    Ok(Told { percent: Some(percent(ns("candidate")? / ns("baseline")?)), ..Told::default() })
}

/// The third column of a side's line, in nanoseconds.
fn median_of(said: &str, side: &str) -> Option<f64> {
    let is_of_side = |line: &&str| line.split_whitespace().nth(1) == Some(side);
    let line = said.lines().find(is_of_side)?;
    let mut words = line.split('│').nth(2)?.split_whitespace();
    let number: f64 = words.next()?.parse().ok()?;
    let unit = match words.next()? {
        "ps" => 1e-3,
        "ns" => 1.0,
        "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    Some(number * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_is_the_ratio_of_the_medians() {
        let said = "divan         fastest       │ slowest       │ median        │ mean          │ samples │ iters\n\
                    ├─ baseline   19.07 µs      │ 25.67 µs      │ 20 µs         │ 20.99 µs      │ 100     │ 100\n\
                    ╰─ candidate  20.87 µs      │ 20.11 ms      │ 0.021 ms      │ 221.8 µs      │ 100     │ 100\n";
        let told = read(said).unwrap();
        assert!((told.percent.unwrap() - 5.0).abs() < 1e-9);
        assert_eq!(told.called, None);
        assert!(read("divan  fastest\n").is_err());
    }
}
