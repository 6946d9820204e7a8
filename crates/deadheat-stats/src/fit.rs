//! Which textbook distribution is closest to the times: normal, log-normal or Gumbel, each fitted
//! by maximum likelihood.

use std::f64::consts::PI;

use crate::dist::normal_quantile;
use crate::summary::{Centred, finite, max, min};

/// A distribution with a location and a scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// Normal: location is the mean, scale the standard deviation.
    Normal,
    /// Log-normal: location and scale are mean and standard deviation of the natural logarithms.
    /// Positive values only.
    LogNormal,
    /// Gumbel, the limiting distribution of maxima, with its long tail on the right: location is
    /// the mode, scale is β; sd = βπ/√6.
    Gumbel,
}

impl Family {
    /// All families.
    pub const ALL: [Self; 3] = [Self::Normal, Self::LogNormal, Self::Gumbel];
}

/// A family with the parameters that maximise the likelihood of a sample. Every figure is finite
/// and the scale is positive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// The fitted family.
    pub family: Family,
    /// Location, in the unit of the values; of the log-normal, in that of their logarithms.
    pub location: f64,
    /// Scale, in the unit of the values; of the log-normal, in that of their logarithms.
    pub scale: f64,
    /// Σ ln density(x) over the sample. It depends on the unit, equally for all families, so only
    /// differences are meaningful.
    pub log_likelihood: f64,
}

impl Fit {
    /// The density at `x`, per unit of the values; 0 outside the support and for an `x` that is not
    /// finite. At most `f64::MAX`.
    pub fn density(&self, x: f64) -> f64 {
        let positive_needed = self.family == Family::LogNormal;
        if !x.is_finite() || (positive_needed && x <= 0.0) {
            return 0.0;
        }
        // All densities are 0 far before a thousand scales from the location.
        let scaled = |x: f64| ((x - self.location) / self.scale).clamp(-1e3, 1e3);
        let normal = |z: f64| (-0.5 * z * z).exp() / (2.0 * PI).sqrt() / self.scale;
        let density = match self.family {
            Family::Normal => normal(scaled(x)),
            Family::LogNormal => normal(scaled(x.ln())) / x,
            Family::Gumbel => {
                let z = scaled(x);
                (-z - (-z).exp()).exp() / self.scale
            }
        };
        density.min(f64::MAX)
    }

    /// The `p`-quantile of the distribution, in the unit of the values.
    ///
    /// `p` is clamped to [2.3e-308, 1 − 1.2e-16], and a result too large to represent becomes
    /// ±`f64::MAX`.
    pub fn quantile(&self, p: f64) -> f64 {
        let at = |z: f64| (self.location + self.scale * z).clamp(-f64::MAX, f64::MAX);
        match self.family {
            Family::Normal => at(normal_quantile(p)),
            Family::LogNormal => at(normal_quantile(p)).exp().min(f64::MAX),
            Family::Gumbel => {
                let p = if p.is_nan() { 0.5 } else { p };
                let p = p.clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON / 2.0);
                at(-(-p.ln()).ln())
            }
        }
    }
}

/// The maximum-likelihood fit of one family, as `scipy.stats.norm`, `lognorm` (with `floc=0`) and
/// `gumbel_r` fit it.
///
/// - normal: mean and √(Σ(x − x̄)²/n);
/// - log-normal: the same of ln x;
/// - Gumbel: the β with β = x̄ − Σx·e^(−x/β)/Σe^(−x/β), and μ = −β·ln(Σe^(−x/β)/n)
///   (Johnson, Kotz & Balakrishnan 1995).
///
/// `None` for fewer than two values, values that are not finite or all equal, a log-normal fit of
/// values that are not all positive, a result too large, or a scale too small to represent.
pub fn fit(family: Family, values: &[f64]) -> Option<Fit> {
    match family {
        Family::Normal => normal(&Centred::new(values)?),
        Family::LogNormal => log_normal(&centred_logs(values)?),
        Family::Gumbel => gumbel(values),
    }
}

/// The fits of all families that can be fitted, most likely first.
///
/// Each has two parameters, so Akaike's criterion, 4 − 2·log-likelihood, gives the same order. This
/// only tells which of three distributions is closest, and none of them need be close
/// ([`shapiro_wilk`](mod@crate::shapiro_wilk) tests that).
pub fn best_fits(values: &[f64]) -> Vec<Fit> {
    let (centred, logs) = (Centred::new(values), centred_logs(values));
    best_fits_of(values, centred.as_ref(), logs.as_ref())
}

/// [`best_fits`] for values that the caller has already centred, and their logarithms if they have
/// any.
pub fn best_fits_of(values: &[f64], centred: Option<&Centred>, logs: Option<&Centred>) -> Vec<Fit> {
    let fits = [
        centred.and_then(normal),
        logs.and_then(log_normal),
        gumbel(values),
    ];
    let mut fits: Vec<Fit> = fits.into_iter().flatten().collect();
    fits.sort_by(|a, b| b.log_likelihood.total_cmp(&a.log_likelihood));
    fits
}

impl Fit {
    /// Returns `None` if a figure is not finite. For example, the likelihood of a scale of 0 is
    /// infinite.
    fn of(family: Family, location: f64, scale: f64, log_likelihood: f64) -> Option<Self> {
        Some(Self {
            family,
            location: finite(location)?,
            scale: finite(scale)?,
            log_likelihood: finite(log_likelihood)?,
        })
    }
}

fn ln_root_two_pi() -> f64 {
    0.5 * (2.0 * PI).ln()
}

/// Centres the logarithms. `None` if a value is not positive: its logarithm is not finite, and
/// [`Centred::new`] rejects it.
fn centred_logs(values: &[f64]) -> Option<Centred> {
    let logs: Vec<f64> = values.iter().map(|x| x.ln()).collect();
    Centred::new(&logs)
}

fn mean_and_sd(centred: &Centred) -> Option<(f64, f64)> {
    let sd = centred.root_mean_square(centred.count())?;
    centred.has_spread().then_some((centred.mean, sd))
}

fn normal(values: &Centred) -> Option<Fit> {
    let (mean, sd) = mean_and_sd(values)?;
    let likelihood = -values.count() * (sd.ln() + ln_root_two_pi() + 0.5);
    Fit::of(Family::Normal, mean, sd, likelihood)
}

fn log_normal(logs: &Centred) -> Option<Fit> {
    let (mean, sd) = mean_and_sd(logs)?;
    // The density of x is that of ln x divided by x.
    let likelihood = -logs.count() * (sd.ln() + ln_root_two_pi() + 0.5 + mean);
    Fit::of(Family::LogNormal, mean, sd, likelihood)
}

/// Fits a Gumbel distribution. The values are shifted by their minimum and divided by their range,
/// so that every e^(−x/β) is in (0, 1] and that of the minimum is 1.
fn gumbel(values: &[f64]) -> Option<Fit> {
    let n = values.len() as f64;
    let (low, high) = (min(values)?, max(values)?);
    // Halved, because the range of the largest numbers overflows.
    let half_range = 0.5 * high - 0.5 * low;
    if half_range == 0.0 {
        return None;
    }
    let places: Vec<f64> = values
        .iter()
        .map(|x| (0.5 * x - 0.5 * low) / half_range)
        .collect();
    let mean = places.iter().sum::<f64>() / n;
    let (beta, weights) = gumbel_scale(&places, mean);
    let weight = weights / n;
    let location = low - 2.0 * (half_range * (beta * weight.ln()));
    let scale = 2.0 * (half_range * beta);
    // Σe^(−(x − μ)/β) = n at the maximum.
    let log_likelihood = -n * (scale.ln() + mean / beta + weight.ln() + 1.0);
    Fit::of(Family::Gumbel, location, scale, log_likelihood)
}

/// Returns the root of β + W(β) − `mean`, and the sum of the weights e^(−z/β). W is the mean of the
/// values z in `places` with these weights.
///
/// The slope is 1 + Var_W(z)/β² ≥ 1, so there is one root, between 0 and the mean: as β approaches
/// 0, W approaches the smallest place, 0, so the function approaches −mean; at β = mean, the
/// function equals W, which is never negative. The method of false position finds the root in about
/// ten steps. If the same end of the bracket stays for two steps, the value of the function at that
/// end is halved (the Illinois rule, Dowell & Jarratt 1971). Bisection finds the last digit.
///
/// The sum of the weights is returned too, because computing it again would cost as much as a step.
fn gumbel_scale(places: &[f64], mean: f64) -> (f64, f64) {
    let height = |beta: f64| {
        let (mut weights, mut weighted) = (0.0, 0.0);
        for z in places {
            let weight = (-z / beta).exp();
            weights += weight;
            weighted += weight * z;
        }
        (beta + weighted / weights - mean, weights)
    };
    let (mut low, mut high) = (0.0, mean);
    let (mut below, (mut above, mut weights)) = (-mean, height(mean));
    let mut moved_high = None;
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if above == 0.0 || middle <= low || middle >= high {
            break;
        }
        let straight = low - below * ((high - low) / (above - below));
        // One digit away from the ends, where the bracket would not shrink further.
        let digit = 4.0 * f64::EPSILON * high;
        let beta = if high - low > 4.0 * digit {
            straight.clamp(low + digit, high - digit)
        } else {
            middle
        };
        let (found, weights_there) = height(beta);
        let again = moved_high == Some(found > 0.0);
        moved_high = Some(found > 0.0);
        if found > 0.0 {
            (high, above, weights) = (beta, found, weights_there);
            below *= if again { 0.5 } else { 1.0 };
        } else {
            (low, below) = (beta, found);
            above *= if again { 0.5 } else { 1.0 };
        }
    }
    (high, weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, want: f64, tolerance: f64) {
        assert!(
            (got - want).abs() <= tolerance * want.abs().max(1e-300),
            "{got:e} is not {want:e}"
        );
    }

    const VALUES: [f64; 8] = [10.0, 10.5, 11.0, 10.2, 13.0, 10.1, 12.0, 17.0];

    #[test]
    fn the_normal_fit_is_mean_and_standard_deviation_over_n() {
        let found = fit(Family::Normal, &[1.0, 3.0]).unwrap();
        assert_eq!((found.location, found.scale), (2.0, 1.0));
        close(found.log_likelihood, -(2.0 * PI).ln() - 1.0, 1e-15);
    }

    #[test]
    fn the_log_normal_fit_is_the_normal_one_of_logarithms() {
        let found = fit(Family::LogNormal, &[1.0_f64.exp(), 3.0_f64.exp()]).unwrap();
        close(found.location, 2.0, 1e-15);
        close(found.scale, 1.0, 1e-15);
        close(found.log_likelihood, -(2.0 * PI).ln() - 1.0 - 4.0, 1e-15);
    }

    #[test]
    fn the_likelihood_is_the_product_of_the_densities() {
        for family in Family::ALL {
            let found = fit(family, &VALUES).unwrap();
            let sum: f64 = VALUES.iter().map(|&x| found.density(x).ln()).sum();
            close(found.log_likelihood, sum, 1e-13);
        }
    }

    #[test]
    fn no_neighbour_is_likelier_than_the_fit() {
        for family in Family::ALL {
            let found = fit(family, &VALUES).unwrap();
            for (location, scale) in [(1e-3, 0.0), (-1e-3, 0.0), (0.0, 1e-3), (0.0, -1e-3)] {
                let other = Fit {
                    location: found.location + location,
                    scale: found.scale + scale,
                    ..found
                };
                let sum: f64 = VALUES.iter().map(|&x| other.density(x).ln()).sum();
                assert!(sum < found.log_likelihood, "{other:?}");
            }
        }
    }

    #[test]
    fn the_gumbel_scale_solves_its_equation() {
        for values in [
            &VALUES[..],
            &[0.0, 1.0],
            &[0.0, 1e-9, 1.0],
            &[0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
        ] {
            let found = fit(Family::Gumbel, values).unwrap();
            let weights: Vec<f64> = values.iter().map(|x| (-x / found.scale).exp()).collect();
            let total: f64 = weights.iter().sum();
            let weighted: f64 = weights.iter().zip(values).map(|(w, x)| w * x).sum::<f64>() / total;
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            close(found.scale, mean - weighted, 1e-13);
            close(
                found.location,
                -found.scale * (total / values.len() as f64).ln(),
                1e-13,
            );
        }
    }

    #[test]
    fn quantiles_are_where_the_density_has_gathered_that_much() {
        for family in Family::ALL {
            let found = fit(family, &VALUES).unwrap();
            let (low, high) = (found.quantile(0.3), found.quantile(0.8));
            let step = (high - low) / 2_000.0;
            let middles = (0..2_000).map(|i| low + (f64::from(i) + 0.5) * step);
            let gathered: f64 = middles.map(|x| found.density(x) * step).sum();
            close(gathered, 0.5, 1e-6);
        }
        let gumbel = Fit {
            family: Family::Gumbel,
            location: 2.0,
            scale: 3.0,
            log_likelihood: 0.0,
        };
        close(gumbel.quantile((-1.0_f64).exp()), 2.0, 1e-15);
        close(
            gumbel.quantile(0.0),
            2.0 - 3.0 * 708.3964185322641_f64.ln(),
            1e-14,
        );
        close(gumbel.quantile(1.0), 2.0 + 3.0 * 53.0 * 2.0_f64.ln(), 1e-14);
        close(gumbel.quantile(f64::NAN), gumbel.quantile(0.5), 1e-15);
        close(gumbel.density(2.0), (-1.0_f64).exp() / 3.0, 1e-15);
    }

    #[test]
    fn the_likeliest_shape_comes_first() {
        for family in Family::ALL {
            let template = Fit {
                family,
                location: 3.0,
                scale: 0.5,
                log_likelihood: 0.0,
            };
            let values: Vec<f64> = (0..400)
                .map(|i| template.quantile((f64::from(i) + 0.5) / 400.0))
                .collect();
            let fits = best_fits(&values);
            assert_eq!((fits.len(), fits[0].family), (3, family));
            assert!((fits[0].location - 3.0).abs() < 0.02 && (fits[0].scale - 0.5).abs() < 0.02);
            assert!(
                fits.windows(2)
                    .all(|pair| pair[0].log_likelihood >= pair[1].log_likelihood)
            );
        }
    }

    #[test]
    fn what_cannot_be_fitted_is_left_out() {
        for bad in [
            &[][..],
            &[1.0][..],
            &[0.1; 10][..],
            &[1.0, f64::NAN][..],
            &[1.0, f64::INFINITY][..],
        ] {
            assert_eq!(best_fits(bad), []);
        }
        // The scale of these is below the smallest representable number.
        let close_to_nothing = [1e-323, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(best_fits(&close_to_nothing), []);
        for not_positive in [[0.0, 1.0], [-1.0, 1.0], [-2.0, -1.0]] {
            assert_eq!(fit(Family::LogNormal, &not_positive), None);
            assert_eq!(best_fits(&not_positive).len(), 2);
        }
    }

    #[test]
    fn the_largest_and_the_closest_numbers_are_fitted_too() {
        let huge = fit(Family::Gumbel, &[0.5 * f64::MAX, -0.5 * f64::MAX, 0.0]).unwrap();
        let small = fit(Family::Gumbel, &[0.5, -0.5, 0.0]).unwrap();
        close(huge.scale / f64::MAX, small.scale, 1e-14);
        close(huge.location / f64::MAX, small.location, 1e-14);
        let near = fit(Family::Gumbel, &[1.0, 1.0 + f64::EPSILON]).unwrap();
        assert!(near.location >= 1.0 && near.scale > 0.0);
    }

    #[test]
    fn below_zero_the_gumbel_fit_is_the_same_further_left() {
        let before = fit(Family::Gumbel, &VALUES).unwrap();
        for by in [64.0, 1024.0] {
            let after = fit(Family::Gumbel, &VALUES.map(|x| x - by)).unwrap();
            close(after.location, before.location - by, 1e-13);
            close(after.scale, before.scale, 1e-12);
            close(after.log_likelihood, before.log_likelihood, 1e-12);
        }
    }

    #[test]
    fn densities_and_quantiles_stay_finite() {
        for family in Family::ALL {
            for (location, scale) in [
                (0.0, 5e-324),
                (f64::MAX, f64::MAX),
                (-f64::MAX, 1e-10),
                (1.0, 1.0),
            ] {
                let fit = Fit {
                    family,
                    location,
                    scale,
                    log_likelihood: 0.0,
                };
                for x in [
                    0.0,
                    -1.0,
                    1.0,
                    5e-324,
                    f64::MAX,
                    -f64::MAX,
                    f64::NAN,
                    f64::INFINITY,
                ] {
                    let density = fit.density(x);
                    assert!(density.is_finite() && density >= 0.0, "{fit:?} {x}");
                    assert!(fit.quantile(x).is_finite(), "{fit:?} {x}");
                }
            }
        }
        let log_normal = Fit {
            family: Family::LogNormal,
            location: 0.0,
            scale: 1.0,
            log_likelihood: 0.0,
        };
        assert_eq!(
            (log_normal.density(0.0), log_normal.density(-1.0)),
            (0.0, 0.0)
        );
        assert_eq!(log_normal.density(f64::NAN), 0.0);
    }
}
