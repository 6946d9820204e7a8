//! Change points of a series with one run a commit, as tools find them that do not race commits
//! against each other: E-divisive as Hunter and Apache Otava use it, and t windows as Perfherder.

use deadheat_stats::student;
use deadheat_stats::summary::{mean, std_dev};

/// Commits of a window of E-divisive; windows overlap by half.
const WINDOW: usize = 50;
/// The p-value that a change point needs in the end, and ten times that to be looked at (the
/// defaults of Otava).
const MOST_P: f64 = 0.001;
/// Fewest commits on each side.
const LEAST: usize = 3;

/// The commits at which E-divisive finds the level changed (Matteson & James 2014), with Student's t
/// test in place of permutations, in windows, and weak points merged away afterwards (Fleming and
/// others 2023).
pub fn e_divisive(series: &[f64]) -> Vec<usize> {
    let mut points = Vec::new();
    for start in (0..series.len()).step_by(WINDOW / 2) {
        let end = (start + WINDOW).min(series.len());
        divide(series, start..end, &mut points);
        if end == series.len() {
            break;
        }
    }
    points.sort_unstable();
    points.dedup();
    // The weakest point goes as long as one is too weak between its neighbours.
    loop {
        let p_values: Vec<f64> = (0..points.len()).map(|i| p_between(series, &points, i)).collect();
        let weakest = (0..points.len()).max_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
        let Some(weakest) = weakest.filter(|i| p_values[*i] > MOST_P) else {
            return points;
        };
        points.remove(weakest);
    }
}

fn p_between(series: &[f64], points: &[usize], number: usize) -> f64 {
    let before = if number == 0 { 0 } else { points[number - 1] };
    let after = points.get(number + 1).copied().unwrap_or(series.len());
    p_value(&series[before..points[number]], &series[points[number]..after])
}

fn p_value(first: &[f64], second: &[f64]) -> f64 {
    student(first, second).map_or(1.0, |test| test.p_value())
}

/// Finds the point that divides a part best, and goes on in both halves if the halves differ.
fn divide(series: &[f64], part: std::ops::Range<usize>, points: &mut Vec<usize>) {
    if part.len() < 2 * LEAST {
        return;
    }
    let values = &series[part.clone()];
    let at = (LEAST..=values.len() - LEAST)
        .max_by(|a, b| energy(values, *a).total_cmp(&energy(values, *b)));
    let Some(at) = at.filter(|at| p_value(&values[..*at], &values[*at..]) <= 10.0 * MOST_P) else {
        return;
    };
    let at = part.start + at;
    points.push(at);
    divide(series, part.start..at, points);
    divide(series, at..part.end, points);
}

fn energy(values: &[f64], at: usize) -> f64 {
    let (first, second) = values.split_at(at);
    let (n, m) = (first.len() as f64, second.len() as f64);
    let apart = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().map(|x| b.iter().map(|y| (x - y).abs()).sum::<f64>()).sum()
    };
    let within = |side: &[f64], n: f64| apart(side, side) / (n * (n - 1.0));
    n * m / (n + m) * (2.0 * apart(first, second) / (n * m) - within(first, n) - within(second, m))
}

/// Commits before and after, and the t from which on there is an alert.
const BACK: usize = 12;
const ALERT: f64 = 7.0;

/// The commits at which the mean of 12 runs from there on differs from that of the 12 before by a t
/// of 7 and more, and by more than at the commits beside.
pub fn t_windows(series: &[f64]) -> Vec<usize> {
    let t = |at: usize| {
        if at < BACK || at + BACK > series.len() {
            return 0.0;
        }
        let (before, after) = (&series[at - BACK..at], &series[at..at + BACK]);
        let side = |values| (mean(values).unwrap_or(0.0), std_dev(values).unwrap_or(0.0));
        let ((a, s), (b, r)) = (side(before), side(after));
        (b - a).abs() / ((s * s + r * r) / BACK as f64).sqrt()
    };
    let all: Vec<f64> = (0..series.len()).map(t).collect();
    let is_peak = |at: &usize| {
        all[*at] >= ALERT
            && all[*at] > all[at - 1]
            && all.get(at + 1).is_none_or(|t| all[*at] >= *t)
    };
    (BACK..series.len()).filter(is_peak).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(at: usize, step: f64) -> Vec<f64> {
        let saw = |i: usize| 0.1 * ((i * 7 % 5) as f64 - 2.0);
        let level = |i| if i < at { 0.0 } else { step };
        (0..200).map(|i| saw(i) + level(i)).collect()
    }

    #[test]
    fn both_find_a_step_where_it_is_and_none_where_there_is_none() {
        assert_eq!(e_divisive(&series(83, 1.0)), [83]);
        assert_eq!(t_windows(&series(83, 1.0)), [83]);
        assert!(e_divisive(&series(83, 0.0)).is_empty());
        assert!(t_windows(&series(83, 0.0)).is_empty());
    }

    #[test]
    fn the_energy_of_equal_sides_is_that_of_chance_and_of_shifted_ones_twice_the_shift() {
        let values = [0.0, 0.0, 0.0, 3.0, 3.0];
        assert!((energy(&values, 3) - 1.2 * 6.0).abs() < 1e-12);
        assert_eq!(energy(&[1.0; 6], 3), 0.0);
    }
}
