//! Combines the effects of several hosts, one from each, into a mean for these hosts or for similar
//! hosts.
//!
//! Blocks and replicates of one host share its processor, its memory and its neighbours, so more of
//! them still show only one host. If H hosts can be taken as a sample of many, the effects θ̂_h of
//! the hosts are the observations: the t interval of their unweighted mean, with H − 1 degrees of
//! freedom, keeps its level however different the precision of the hosts is (Ibragimov & Müller
//! 2010, after Bakirov & Székely 2005, for levels up to 8%). Nothing is assumed about the precision
//! of each host. The prediction interval for the next host is θ̄ ± t·s·√(1 + 1/H).
//!
//! A few hosts do not support a statement about other hosts. For these hosts alone, the estimate is
//! their mean with the error of their measurements, √Σ SE_h²/H, by t with Satterthwaite's (1946)
//! degrees of freedom. Weights by estimated precision would estimate a different quantity, closer
//! to the calmest host, with an interval that is too narrow if each precision comes from only six
//! replicates.

use crate::dist::{f_upper_tail, t_critical, t_two_sided_p};
use crate::summary::{finite, std_dev};

/// The effect measured on one host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostEffect {
    /// θ̂, the effect on the host, as a log-ratio.
    pub theta: f64,
    /// The standard error of the effect, between the replicates of the host; 0 if they show no
    /// spread.
    pub se: f64,
    /// Degrees of freedom of the standard error; 0 for a single replicate.
    pub df: f64,
}

/// The mean effect of several hosts, and the spread that its error comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanOfHosts {
    /// The unweighted mean of the hosts' effects.
    pub theta: f64,
    /// The standard error of the mean.
    pub se: f64,
    /// Degrees of freedom of the standard error.
    pub df: f64,
    /// The number of hosts.
    pub hosts: usize,
    /// The standard deviation of the hosts' effects, including measurement error; `None` for one
    /// host.
    pub spread: Option<f64>,
}

impl MeanOfHosts {
    /// Returns the mean of the hosts as a sample of similar hosts, so that its error is computed
    /// from their spread. `None` for fewer than two hosts, or if an effect is not finite.
    pub fn like_these(hosts: &[HostEffect]) -> Option<Self> {
        let spread = spread(hosts)?;
        let count = hosts.len() as f64;
        Some(Self {
            theta: mean(hosts)?,
            se: spread / count.sqrt(),
            df: count - 1.0,
            hosts: hosts.len(),
            spread: Some(spread),
        })
    }

    /// Returns the mean of these hosts alone, so that its error is computed from the errors on each
    /// host. `None` without a host, if an effect or error is not finite, or if a host has no
    /// degrees of freedom.
    pub fn of_these(hosts: &[HostEffect]) -> Option<Self> {
        let count = hosts.len() as f64;
        let theta = mean(hosts)?;
        let squares: f64 = hosts.iter().map(|host| host.se.powi(2)).sum();
        let known = hosts
            .iter()
            .all(|host| host.df > 0.0 && host.se.is_finite());
        let fourths: f64 = hosts.iter().map(|host| host.se.powi(4) / host.df).sum();
        let all: f64 = hosts.iter().map(|host| host.df).sum();
        let df = if fourths > 0.0 {
            squares * squares / fourths
        } else {
            all
        };
        known.then_some(Self {
            theta,
            se: squares.sqrt() / count,
            df: finite(df)?,
            hosts: hosts.len(),
            spread: spread(hosts),
        })
    }

    /// θ̄ ± half-width at a two-sided level. `None` if the standard error is 0.
    pub fn interval(&self, two_sided_level: f64) -> Option<(f64, f64)> {
        self.around(two_sided_level, self.se)
    }

    /// The prediction interval for the next host, at a two-sided level. `None` if the hosts show no
    /// spread.
    pub fn next_host(&self, two_sided_level: f64) -> Option<(f64, f64)> {
        let error = self.spread? * (1.0 + 1.0 / self.hosts as f64).sqrt();
        self.around(two_sided_level, error)
    }

    fn around(&self, level: f64, error: f64) -> Option<(f64, f64)> {
        if !(level > 0.0 && level < 1.0) || error <= 0.0 || self.df <= 0.0 {
            return None;
        }
        let half = t_critical(level, self.df) * error;
        finite(self.theta - half).zip(finite(self.theta + half))
    }

    /// θ̄ over its standard error; `None` if that is 0.
    pub fn t_statistic(&self) -> Option<f64> {
        finite(self.theta / self.se).filter(|_| self.se > 0.0)
    }

    /// The two-sided p-value of [`t_statistic`](Self::t_statistic).
    pub fn p_value(&self) -> Option<f64> {
        Some(t_two_sided_p(self.t_statistic()?, self.df))
    }
}

/// How much hosts differ beyond their measurement errors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Heterogeneity {
    /// Cochran's Q: the sum of squared deviations from the mean, weighted by precision.
    pub q: f64,
    /// The share of Q beyond the value expected from errors alone, I² = (Q − (H − 1))/Q, at least 0
    /// (Higgins & Thompson 2002).
    pub i_squared: f64,
    /// The p-value of equal effects, by Welch's (1951) test, which allows for estimated errors. Q
    /// compared with χ² would call hosts of six replicates different far too often.
    pub p_value: f64,
    /// The standard deviation of the hosts' true effects: their spread after subtracting the
    /// errors, at least 0.
    pub host_sd: f64,
}

/// Compares the effects of hosts. `None` for fewer than two, or if one lacks an error or degrees of
/// freedom.
pub fn heterogeneity(hosts: &[HostEffect]) -> Option<Heterogeneity> {
    let known = |host: &HostEffect| host.se > 0.0 && host.df > 0.0;
    if hosts.len() < 2 || !hosts.iter().all(known) {
        return None;
    }
    let count = hosts.len() as f64;
    let weights: Vec<f64> = hosts.iter().map(|host| host.se.powi(-2)).collect();
    let total: f64 = weights.iter().sum();
    let weighted = hosts.iter().zip(&weights).map(|(host, w)| w * host.theta);
    let centre = weighted.sum::<f64>() / total;
    let q: f64 = hosts
        .iter()
        .zip(&weights)
        .map(|(host, w)| w * (host.theta - centre).powi(2))
        .sum();
    let lambda: f64 = hosts
        .iter()
        .zip(&weights)
        .map(|(host, w)| (1.0 - w / total).powi(2) / host.df)
        .sum();
    let free = count - 1.0;
    let f = q / free / (1.0 + 2.0 * (count - 2.0) / (count * count - 1.0) * lambda);
    let p_value = f_upper_tail(f, free, (count * count - 1.0) / (3.0 * lambda));
    let errors = hosts.iter().map(|host| host.se.powi(2)).sum::<f64>() / count;
    let between = spread(hosts)?.powi(2) - errors;
    Some(Heterogeneity {
        q: finite(q)?,
        i_squared: if q > free { (q - free) / q } else { 0.0 },
        p_value: finite(p_value)?,
        host_sd: between.max(0.0).sqrt(),
    })
}

fn mean(hosts: &[HostEffect]) -> Option<f64> {
    let sum: f64 = hosts.iter().map(|host| host.theta).sum();
    finite(sum / hosts.len() as f64)
}

fn spread(hosts: &[HostEffect]) -> Option<f64> {
    let thetas: Vec<f64> = hosts.iter().map(|host| host.theta).collect();
    std_dev(&thetas).filter(|spread| spread.is_finite())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hosts(effects: &[(f64, f64)]) -> Vec<HostEffect> {
        let host = |(theta, se): &(f64, f64)| HostEffect {
            theta: *theta,
            se: *se,
            df: 5.0,
        };
        effects.iter().map(host).collect()
    }

    fn close(got: f64, want: f64) {
        assert!((got - want).abs() < 1e-6, "{got} is not {want}");
    }

    #[test]
    fn hosts_like_these_are_judged_by_how_far_the_hosts_lie_apart() {
        let six = hosts(&[0.01, 0.02, 0.03, 0.04, 0.05, 0.06].map(|theta| (theta, 9.0)));
        let mean = MeanOfHosts::like_these(&six).unwrap();
        close(mean.theta, 0.035);
        close(mean.se, 0.018708287 / 6f64.sqrt());
        assert_eq!((mean.df, mean.hosts), (5.0, 6));
        // t of 5 degrees of freedom at 5%: 2.570582.
        let (low, high) = mean.interval(0.05).unwrap();
        close(high - low, 2.0 * 2.570582 * mean.se);
        let (low, high) = mean.next_host(0.05).unwrap();
        close(
            high - low,
            2.0 * 2.570582 * 0.018708287 * (7f64 / 6.0).sqrt(),
        );
    }

    #[test]
    fn of_these_hosts_the_errors_of_measurement_count() {
        let two = hosts(&[(0.02, 0.003), (0.06, 0.004)]);
        let mean = MeanOfHosts::of_these(&two).unwrap();
        close(mean.theta, 0.04);
        close(mean.se, 0.0025);
        // (9 + 16)²/(81/5 + 256/5)
        close(mean.df, 625.0 / (337.0 / 5.0));
    }

    #[test]
    fn welchs_test_comes_out_as_by_hand() {
        // Three hosts of ten replicates with effects of 0, 1, 2 and errors of 1: Σ(1 − 1/3)²/9 is
        // 0.148148, F = 1/(1 + 2·(1/8)·0.148148), with 2 and 8/(3·0.148148) = 18 degrees of
        // freedom.
        let host = |theta| HostEffect {
            theta,
            se: 1.0,
            df: 9.0,
        };
        let found = heterogeneity(&[0.0, 1.0, 2.0].map(host)).unwrap();
        close(found.q, 2.0);
        close(found.i_squared, 0.0);
        close(found.p_value, f_upper_tail(1.0 / 1.037037037, 2.0, 18.0));
        close(found.host_sd, 0.0);
    }

    #[test]
    fn hosts_far_apart_are_told_from_their_errors() {
        let found = heterogeneity(&hosts(&[(0.0, 0.001), (0.05, 0.001), (0.1, 0.001)])).unwrap();
        assert!(found.p_value < 1e-4 && found.i_squared > 0.99, "{found:?}");
        close(found.host_sd, (0.05f64.powi(2) - 1e-6).sqrt());
    }

    #[test]
    fn one_host_is_no_sample_of_hosts_and_equal_ones_show_no_spread() {
        let one = hosts(&[(0.02, 0.003)]);
        assert_eq!(MeanOfHosts::like_these(&one), None);
        assert_eq!(heterogeneity(&one), None);
        assert_eq!(MeanOfHosts::of_these(&one).unwrap().hosts, 1);
        assert_eq!(MeanOfHosts::of_these(&[]), None);
        let equal = MeanOfHosts::like_these(&hosts(&[(0.02, 0.0); 6])).unwrap();
        assert_eq!((equal.interval(0.05), equal.p_value()), (None, None));
    }

    proptest! {
        #[test]
        fn everything_that_is_told_is_finite_and_the_order_of_hosts_does_not_matter(
            effects in prop::collection::vec((-1e3..1e3f64, 0.0..1e3f64), 0..12)
        ) {
            let some = hosts(&effects);
            let mut turned = some.clone();
            turned.reverse();
            for (mean, other) in [
                (MeanOfHosts::like_these(&some), MeanOfHosts::like_these(&turned)),
                (MeanOfHosts::of_these(&some), MeanOfHosts::of_these(&turned)),
            ] {
                prop_assert_eq!(mean.is_some(), other.is_some());
                let Some((mean, other)) = mean.zip(other) else { continue };
                prop_assert!((mean.theta - other.theta).abs() <= 1e-9);
                prop_assert!(mean.theta.is_finite() && mean.se.is_finite() && mean.df.is_finite());
                for (low, high) in mean.interval(0.05).into_iter().chain(mean.next_host(0.05)) {
                    prop_assert!(low.is_finite() && high.is_finite() && low <= high);
                }
                prop_assert!(mean.p_value().is_none_or(|p| (0.0..=1.0).contains(&p)));
            }
            if let Some(found) = heterogeneity(&some) {
                prop_assert!((0.0..=1.0).contains(&found.i_squared));
                prop_assert!((0.0..=1.0).contains(&found.p_value));
                prop_assert!(found.host_sd.is_finite() && found.host_sd >= 0.0);
            }
        }
    }
}
