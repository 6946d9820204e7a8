//! The traditional way: all calls of one function, then all of the other.

use std::hint::black_box;
use std::time::Instant;

use deadheat_validation::duo::Work;
use serde_json::{Value, json};

/// Median and mean of both, in ns.
pub fn answer(f1: &mut Work, f2: &mut Work, count: usize) -> Value {
    let slower = times(f1, count);
    let quicker = times(f2, count);
    json!({"slower": middle_and_mean(slower), "quicker": middle_and_mean(quicker)})
}

fn times(work: &mut Work, count: usize) -> Vec<f64> {
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let start = Instant::now();
        black_box(work.call());
        times.push(start.elapsed().as_nanos() as f64);
    }
    times
}

fn middle_and_mean(mut times: Vec<f64>) -> [f64; 2] {
    times.sort_by(f64::total_cmp);
    let count = times.len();
    let median = (times[(count - 1) / 2] + times[count / 2]) / 2.0;
    [median, times.iter().sum::<f64>() / count as f64]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between_two() {
        assert_eq!(middle_and_mean(vec![4.0, 1.0, 9.0, 2.0]), [3.0, 4.0]);
        assert_eq!(middle_and_mean(vec![7.0, 1.0, 2.5]), [2.5, 3.5]);
    }
}
