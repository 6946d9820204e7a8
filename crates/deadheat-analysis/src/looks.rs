//! When a race may be called, fixed before it starts.

use deadheat_model::Looks;
use deadheat_stats::Spending;

/// Why looks cannot be planned.
#[derive(Clone, Debug, PartialEq)]
pub enum LooksError {
    /// Fewer replicates at most than at least, or none at all.
    Range {
        /// At least.
        min: u32,
        /// At most.
        max: u32,
    },
    /// α is outside (0, 1).
    Alpha(f64),
}

/// Looks for a race of at most `max` replicates, the first at `min` or later.
///
/// Leaving out early looks keeps the levels of the others valid: they were
/// made to share α with looks that now spend nothing. The weights of the
/// adjusted p-value are spread anew over the looks that remain.
pub fn planned_looks(min: u32, max: u32, alpha: f64) -> Result<Looks, LooksError> {
    if max == 0 || min > max {
        return Err(LooksError::Range { min, max });
    }
    let spending = Spending::plan(max as usize, alpha).map_err(|_| LooksError::Alpha(alpha))?;
    let kept: Vec<usize> = (0..spending.looks.len())
        .filter(|look| spending.looks[*look] >= min as usize)
        .collect();
    let at: Vec<u32> = kept
        .iter()
        .map(|look| spending.looks[*look] as u32)
        .collect();
    let levels = kept.iter().map(|look| spending.levels[*look]).collect();
    let spent = |replicates: u32| (f64::from(replicates) / f64::from(max)).powf(1.5);
    let mut before = 0.0;
    let weights = at
        .iter()
        .map(|replicates| {
            let weight = spent(*replicates) - before;
            before = spent(*replicates);
            weight
        })
        .collect();
    Ok(Looks {
        at,
        levels,
        weights,
    })
}

/// One look at the end of a fixed number of replicates.
pub fn fixed_look(replicates: u32, alpha: f64) -> Result<Looks, LooksError> {
    if replicates == 0 {
        return Err(LooksError::Range { min: 0, max: 0 });
    }
    if !(alpha > 0.0 && alpha < 1.0) {
        return Err(LooksError::Alpha(alpha));
    }
    Ok(Looks {
        at: vec![replicates],
        levels: vec![alpha],
        weights: vec![1.0],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_race_looks_seven_times_at_the_tabled_levels() {
        let looks = planned_looks(0, 40, 0.05).unwrap();
        assert_eq!(looks.at, [6, 8, 11, 16, 22, 31, 40]);
        assert_eq!(looks.levels[..2], [0.00290, 0.00226]);
        assert!((looks.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_minimum_takes_out_early_looks_and_keeps_the_levels_of_the_others() {
        let looks = planned_looks(12, 40, 0.05).unwrap();
        assert_eq!(looks.at, [16, 22, 31, 40]);
        assert_eq!(looks.levels[0], 0.00701);
        assert!((looks.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn impossible_ranges_and_levels_are_refused() {
        assert!(planned_looks(9, 8, 0.05).is_err());
        assert!(planned_looks(0, 0, 0.05).is_err());
        assert!(planned_looks(0, 40, 1.5).is_err());
        assert!(fixed_look(0, 0.05).is_err());
        assert!(fixed_look(10, f64::NAN).is_err());
    }
}
