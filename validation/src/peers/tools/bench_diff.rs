//! bench_diff: a library, whose answers our program prints as four numbers.

use crate::programs::{Place, Programs};
use crate::race::Race;
use crate::tools::ALPHA;
use deadheat_validation::prelude::*;

pub fn run(race: &Race, programs: &Programs, place: &Place) -> Result<Told, String> {
    let mut command = programs.function("bench_diff", race, place);
    read(&text_of(command.arg("--bench"), &[0])?)
}

/// Ratio of medians, interval of Welch's test, its p-value: all of the first
/// function to the second, so the other way round than here.
fn read(said: &str) -> Result<Told, String> {
    let last = said.lines().last().unwrap_or_default();
    let numbers: Vec<f64> = last.split(' ').filter_map(|word| word.parse().ok()).collect();
    let [ratio, low, high, p] = numbers[..] else {
        return Err(format!("no four numbers in: {said}"));
    };
    let interval = (percent(1.0 / high), percent(1.0 / low));
    Ok(Told {
        called: Some(Call::of(p < ALPHA, interval.0 + interval.1)),
        percent: Some(percent(1.0 / ratio)),
        interval: Some(interval),
        p: Some(p),
        ..Told::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_turned_round() {
        let told = read("0.8 0.78125 0.8192 0.001\n").unwrap();
        assert_eq!(told.called, Some(Call::Slower));
        assert_eq!(told.percent, Some(25.0));
        let (low, high) = told.interval.unwrap();
        assert!((low - 22.070_312_5).abs() < 1e-6 && (high - 28.0).abs() < 1e-6);
        let even = read("1 0.98 1.02 0.92").unwrap();
        assert_eq!(even.called, Some(Call::Neither));
        assert!(read("1 2 3").is_err());
    }
}
