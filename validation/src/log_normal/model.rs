//! The article's model itself: runs drawn from a log-normal distribution, and
//! how well their minimum, median and mean repeat.

use std::f64::consts::TAU;
use std::fmt::Write as _;

use deadheat_examples::random::SplitMix64;
use deadheat_validation::bars::Section;

use crate::table::relative_spread;

/// Standard deviations of the logarithm.
const SIGMAS: [f64; 5] = [0.01, 0.1, 0.5, 1.0, 2.0];

/// Runs in an experiment, as in the article.
const RUNS: usize = 30;

const EXPERIMENTS: usize = 20_000;

/// Relative spreads of minimum, median and mean of such runs.
fn spreads(sigma: f64) -> [f64; 3] {
    let mut random = SplitMix64::new(30);
    let mut uniform = move || (random.bits() >> 11) as f64 / (1_u64 << 53) as f64;
    let mut normal = move || (-2.0 * (1.0 - uniform()).ln()).sqrt() * (TAU * uniform()).cos();
    let mut figures: [Vec<f64>; 3] = Default::default();
    for _ in 0..EXPERIMENTS {
        let mut runs: Vec<f64> = (0..RUNS).map(|_| (sigma * normal()).exp()).collect();
        runs.sort_unstable_by(f64::total_cmp);
        let middle = (runs[RUNS / 2 - 1] + runs[RUNS / 2]) / 2.0;
        let mean = runs.iter().sum::<f64>() / RUNS as f64;
        for (all, figure) in figures.iter_mut().zip([runs[0], middle, mean]) {
            all.push(figure);
        }
    }
    figures.map(|all| relative_spread(&all).unwrap_or(0.0))
}

pub fn section() -> Section {
    let mut text = format!(
        "## The article's model\n\n\
         The article also says that of runs drawn from a log-normal distribution the minimum has the smallest relative error. \
         {EXPERIMENTS} experiments of {RUNS} runs drawn from one, no machine involved: standard deviation from experiment to experiment, relative to \
         the average.\n\n\
         | σ of the logarithms | min | median | mean |\n| --- | --- | --- | --- |\n"
    );
    let all = SIGMAS.map(|sigma| (sigma, spreads(sigma)));
    for (sigma, [min, median, mean]) in all {
        let _ = writeln!(
            text,
            "| {sigma} | {:.2} % | {:.2} % | {:.2} % |",
            min * 100.0,
            median * 100.0,
            mean * 100.0
        );
    }
    let _ = write!(text, "\n{}\n\n", in_words(&all));
    Section {
        text,
        bars: Vec::new(),
    }
}

fn in_words(all: &[(f64, [f64; 3])]) -> String {
    let best = |(_, [min, median, mean]): &&(f64, [f64; 3])| min < median && min < mean;
    let sigmas: Vec<String> = all
        .iter()
        .filter(best)
        .map(|(sigma, _)| sigma.to_string())
        .collect();
    match sigmas.len() {
        0 => "In this model the minimum is never the most precise of the three: that it is so on a machine, where it is, comes from \
              what the model leaves out, a floor that no run can go below."
            .to_owned(),
        count if count == all.len() => {
            "In this model the minimum is always the most precise of the three.".to_owned()
        }
        _ => format!(
            "In this model the minimum is the most precise of the three only where the logarithms spread widely (σ = {}): that it is so \
             for runs that are close together, where it is, comes from what the model leaves out, a floor that no run can go below.",
            sigmas.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_log_normals_repeat_as_normals_do() {
        let [min, median, mean] = spreads(0.01);
        // Known of 30 normal values: 1/√30, and 0.488 of a standard deviation
        // for the least of them.
        assert!((mean / 0.01 - 0.1826).abs() < 0.005, "{mean}");
        assert!((median / 0.01 - 0.225).abs() < 0.01, "{median}");
        assert!((min / 0.01 - 0.488).abs() < 0.02, "{min}");
    }

    #[test]
    fn words_follow_the_numbers() {
        let (worst, best) = ([3.0, 2.0, 1.0], [1.0, 2.0, 3.0]);
        assert!(in_words(&[(0.1, worst)]).contains("never the most precise"));
        assert!(in_words(&[(0.1, best)]).contains("always the most precise"));
        assert!(in_words(&[(0.1, worst), (2.0, best)]).contains("(σ = 2)"));
    }
}
