//! Bins, box plots and smooth densities against NumPy and SciPy.

use deadheat_stats::drawing::{count, edges, freedman_diaconis_width};
use deadheat_stats::{bandwidth, density, tukey};

use crate::recipe::{Case, cases};
use crate::{close, relatively_close};

fn all() -> Vec<Case> {
    let mut cases = cases(include_str!("drawings.json"));
    for case in &mut cases {
        case.first.sort_by(f64::total_cmp);
    }
    cases
}

#[test]
fn bins_are_as_wide_as_numpy_makes_them() {
    let mut compared = 0;
    for case in all() {
        let got = freedman_diaconis_width(&case.first);
        match case.get("width") {
            Some(want) => {
                relatively_close(got.unwrap(), want, 1e-11, &case.name);
                compared += 1;
            }
            None => assert_eq!(got, None, "{}", case.name),
        }
    }
    assert!(compared >= 300, "{compared} cases are too few");
}

#[test]
fn bins_hold_as_many_values_as_numpy_counts() {
    let mut compared = 0;
    for case in all().iter().filter(|case| case.value["counts"].is_array()) {
        let quartiles = case.numbers("box");
        let edges = edges(quartiles[0], quartiles[2], None, 7);
        let got = count(&case.first, &edges);
        let want = case.numbers("counts");
        assert_eq!(got.bins.len(), 7, "{}", case.name);
        for (got, want) in got.bins.iter().zip(&want) {
            // A value that equals an edge except for its last digit may be counted on either side.
            let ties = matches!(case.value["family"].as_str(), Some("ties" | "zeros"));
            assert!(ties || *got as f64 == *want, "{}: {got} {want}", case.name);
        }
        let outside = case.first.len() as f64 - want.iter().sum::<f64>();
        assert_eq!((got.below + got.above) as f64, outside, "{}", case.name);
        compared += 1;
    }
    assert!(compared >= 300, "{compared} cases are too few");
}

#[test]
fn box_plots_have_numpys_quartiles_and_the_whiskers_of_the_definition() {
    for case in all() {
        let got = tukey(&case.first).unwrap();
        let want = case.numbers("box");
        for (got, want) in [got.lower, got.median, got.upper].iter().zip(want) {
            relatively_close(*got, want, 1e-12, &case.name);
        }
        let beyond = case.numbers("beyond");
        assert_eq!(got.below as f64, beyond[0], "{}", case.name);
        assert_eq!(got.above as f64, beyond[1], "{}", case.name);
        if case.value["whiskers"].is_array() {
            let want = case.numbers("whiskers");
            relatively_close(got.whisker_low, want[0], 1e-12, &case.name);
            relatively_close(got.whisker_high, want[1], 1e-12, &case.name);
        }
    }
}

#[test]
fn the_smooth_density_is_scipys_to_a_hundredth_of_its_peak() {
    let mut compared = 0;
    for case in all() {
        match case.get("bandwidth") {
            Some(want) => {
                relatively_close(bandwidth(&case.first).unwrap(), want, 1e-9, &case.name);
            }
            None => assert_eq!(bandwidth(&case.first), None, "{}", case.name),
        }
        if !case.value["density"].is_array() {
            continue;
        }
        let quartiles = case.numbers("box");
        let iqr = quartiles[2] - quartiles[0];
        let (low, high) = (quartiles[0] - iqr, quartiles[2] + iqr);
        let bandwidth = case.number("bandwidth");
        let got = density(&case.first, bandwidth, low, high, 65).unwrap();
        // Narrower kernels are widened, so the curve differs on purpose.
        if bandwidth / (high - low) * 64.0 < 0.5 {
            continue;
        }
        let points = [0, 9, 20, 32, 40, 51, 64];
        for (point, want) in points.into_iter().zip(case.numbers("density")) {
            close(got[point].1, want, 0.01, &case.name);
        }
        compared += 1;
    }
    assert!(compared >= 300, "{compared} cases are too few");
}
