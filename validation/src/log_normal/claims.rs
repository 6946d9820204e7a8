//! The claims of the article, held against what was measured here.

use std::fmt::Write as _;

use deadheat_validation::bars::Section;
use deadheat_validation::binomial::{binomial_bound, share_bounds};
use deadheat_validation::process::median;
use deadheat_validation::routines::chase::{self, LANES};

use crate::experiment::Experiment;
use crate::table::{Rows, Spreads};

/// The confidence of every answer below.
const CONFIDENCE: f64 = 0.95;

/// The chance that the largest of 30 normal values lies more than three of
/// their own standard deviations above their mean: by Grubbs's statistic at
/// most 30 P(t > 3.639) with 28 degrees of freedom.
const TOP_OF_NORMAL: f64 = 0.0166;

/// The finding on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Confirmed,
    Refuted,
    /// Too little, or too even, to say.
    Open,
}

impl Found {
    fn word(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed here",
            Self::Refuted => "refuted here",
            Self::Open => "neither confirmed nor refuted",
        }
    }

    /// Of so many cases that speak for a claim: whether they are more, or
    /// fewer, than coins would give.
    fn by_sign(count: usize, of: usize) -> Self {
        match share_bounds(count as u64, of as u64, CONFIDENCE) {
            (low, _) if low > 0.5 => Self::Confirmed,
            (_, high) if high < 0.5 => Self::Refuted,
            _ => Self::Open,
        }
    }
}

/// A claim, and what speaks for it.
struct Claim {
    says: &'static str,
    measured: String,
    found: Found,
}

pub fn section(rows: &Rows) -> Section {
    let claims = [
        more_precise(rows, "mean", |spreads| spreads.mean),
        more_precise(rows, "median", |spreads| spreads.median),
        within_one_percent(rows),
        more_lanes(rows),
        top_sigma(rows),
        long_tail(rows),
        close_to_minimum(rows),
        log_normal(rows),
    ];
    let mut text = "\
## The article's claims\n\n\
A claim is confirmed or refuted where what was counted is more than chance explains at 95 %, taking experiments, or routines, for independent.\n\n\
| claim | measured | |\n| --- | --- | --- |\n"
        .to_owned();
    for claim in claims {
        let _ = writeln!(
            text,
            "| {} | {} | {} |",
            claim.says,
            claim.measured,
            claim.found.word()
        );
    }
    text.push('\n');
    Section {
        text,
        bars: Vec::new(),
    }
}

fn spreads(rows: &Rows) -> Vec<Spreads> {
    let of = |(_, all): &(String, Vec<Experiment>)| Spreads::of(all);
    rows.iter().filter_map(of).collect()
}

fn more_precise(rows: &Rows, other: &str, spread: fn(&Spreads) -> f64) -> Claim {
    let all = spreads(rows);
    let count = all.iter().filter(|one| one.min < spread(one)).count();
    Claim {
        says: match other {
            "mean" => "the minimum is measured more precisely than the mean",
            _ => "the minimum is measured more precisely than the median",
        },
        measured: format!(
            "it repeats better from experiment to experiment than the {other} for {count} of {} routines",
            all.len()
        ),
        found: Found::by_sign(count, all.len()),
    }
}

fn within_one_percent(rows: &Rows) -> Claim {
    let all = spreads(rows);
    let count = all.iter().filter(|one| one.min <= 0.01).count();
    Claim {
        says: "the minimum repeats within 1 %",
        measured: format!(
            "its standard deviation from experiment to experiment is at most 1 % for {count} of {} routines",
            all.len()
        ),
        found: Found::by_sign(count, all.len()),
    }
}

fn more_lanes(rows: &Rows) -> Claim {
    let over = |lanes: usize| {
        let name = chase::name(lanes);
        let (_, all) = rows.iter().find(|(own, _)| *own == name)?;
        let values: Vec<f64> = all.iter().filter_map(|one| one.over).collect();
        (!values.is_empty()).then(|| median(values))
    };
    // In the order of the lanes.
    let values: Vec<f64> = LANES.into_iter().filter_map(over).collect();
    let (falling, of) = falling_pairs(&values);
    let chance = chance_of_falling(falling, values.len());
    let found = match chance {
        (at_least, _) if at_least < (1.0 - CONFIDENCE) / 2.0 => Found::Confirmed,
        (_, at_most) if at_most < (1.0 - CONFIDENCE) / 2.0 => Found::Refuted,
        _ => Found::Open,
    };
    Claim {
        says: "the more lanes a chase has, the closer is its mean to its minimum",
        measured: format!(
            "(mean − min)/mean is smaller with more lanes in {falling} of {of} pairs of numbers of lanes (Kendall)"
        ),
        found,
    }
}

/// The number of pairs of values that fall, and the number of all pairs.
fn falling_pairs(values: &[f64]) -> (usize, usize) {
    let mut falling = 0;
    for (index, first) in values.iter().enumerate() {
        falling += values[index + 1..]
            .iter()
            .filter(|last| *last < first)
            .count();
    }
    (falling, values.len() * values.len().saturating_sub(1) / 2)
}

/// The chances that of n values in random order at least, and at most, so many
/// pairs fall: from the number of permutations with so many inversions.
fn chance_of_falling(pairs: usize, n: usize) -> (f64, f64) {
    let mut chances = vec![1.0];
    for size in 2..=n {
        // The new value comes before 0 to size − 1 others, each as likely.
        let mut next = vec![0.0; chances.len() + size - 1];
        for (inversions, chance) in chances.iter().enumerate() {
            for more in &mut next[inversions..inversions + size] {
                *more += chance / size as f64;
            }
        }
        chances = next;
    }
    let pairs = pairs.min(chances.len() - 1);
    (
        chances[pairs..].iter().sum(),
        chances[..=pairs].iter().sum(),
    )
}

fn experiments(rows: &Rows) -> impl Iterator<Item = &Experiment> {
    rows.iter().flat_map(|(_, all)| all)
}

fn top_sigma(rows: &Rows) -> Claim {
    let tops: Vec<f64> = experiments(rows).filter_map(|one| one.top).collect();
    let count = tops.iter().filter(|top| **top > 3.0).count();
    let allowed = binomial_bound(tops.len() as u64, TOP_OF_NORMAL, 0.99);
    Claim {
        says: "the largest run is more than three standard deviations above the mean, so runs are not normal",
        measured: format!(
            "in {count} of {} experiments, where normal runs would do so in {:.1} % of experiments (chance allows {allowed})",
            tops.len(),
            TOP_OF_NORMAL * 100.0
        ),
        found: match count as u64 > allowed {
            true => Found::Confirmed,
            false => Found::Open,
        },
    }
}

fn long_tail(rows: &Rows) -> Claim {
    let both: Vec<(f64, f64)> = experiments(rows)
        .filter_map(|one| one.bottom.zip(one.top))
        .collect();
    let count = both.iter().filter(|(bottom, top)| top > bottom).count();
    Claim {
        says: "runs are not symmetrical: the tail is on the slow side",
        measured: format!(
            "the top is further from the mean than the bottom in {count} of {} experiments",
            both.len()
        ),
        found: Found::by_sign(count, both.len()),
    }
}

fn close_to_minimum(rows: &Rows) -> Claim {
    let over: Vec<f64> = experiments(rows).filter_map(|one| one.over).collect();
    let count = over.iter().filter(|share| **share < 0.01).count();
    Claim {
        says: "the mean is often less than 1 % above the minimum",
        measured: format!(
            "(mean − min)/mean is below 1 % in {count} of {} experiments",
            over.len()
        ),
        found: Found::by_sign(count, over.len()),
    }
}

fn log_normal(rows: &Rows) -> Claim {
    let gains: Vec<f64> = experiments(rows)
        .filter_map(Experiment::log_normal_over_normal)
        .collect();
    let count = gains.iter().filter(|gain| **gain > 0.0).count();
    let likeliest = |family: &str| {
        experiments(rows)
            .filter(|one| one.best() == Some(family))
            .count()
    };
    let gain = match gains.is_empty() {
        true => String::new(),
        false => format!(
            " (by a median of {:.2} in log-likelihood)",
            median(gains.iter().copied())
        ),
    };
    Claim {
        says: "a log-normal is a better model than a normal",
        measured: format!(
            "it is likelier in {count} of {} experiments{gain}; with Gumbel as a third, the likeliest is \
             normal in {}, log-normal in {}, Gumbel in {}",
            gains.len(),
            likeliest("normal"),
            likeliest("log-normal"),
            likeliest("gumbel")
        ),
        found: Found::by_sign(count, gains.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::tests::experiment;

    #[test]
    fn a_claim_needs_more_cases_than_coins_would_give() {
        assert_eq!(Found::by_sign(13, 13), Found::Confirmed);
        assert_eq!(Found::by_sign(1, 13), Found::Refuted);
        assert_eq!(Found::by_sign(8, 13), Found::Open);
        assert_eq!(Found::by_sign(0, 0), Found::Open);
    }

    #[test]
    fn falling_pairs_are_as_likely_as_permutations_have_them() {
        assert_eq!(falling_pairs(&[3.0, 1.0, 2.0]), (2, 3));
        // Of six orders of three values: 1 has no falling pair, 2 have one,
        // 2 have two, 1 has three.
        let (at_least, at_most) = chance_of_falling(2, 3);
        assert!((at_least - 0.5).abs() < 1e-12 && (at_most - 5.0 / 6.0).abs() < 1e-12);
        // The table of Kendall: 34 of 45 pairs of ten are beyond 2.5 %.
        assert!(chance_of_falling(34, 10).0 < 0.025 && chance_of_falling(33, 10).0 > 0.025);
    }

    fn rows(steps: impl Fn(usize) -> f64) -> Rows {
        let of = |lanes: usize| {
            let mean = 100.0 + steps(lanes);
            let all = [0.0, 1.0, 2.0].map(|k| {
                let mut one = experiment(100.0 + 0.01 * k, 101.0 + k, mean + 5.0 * k);
                one.over = Some(steps(lanes));
                one
            });
            (chase::name(lanes), all.to_vec())
        };
        LANES.into_iter().map(of).collect()
    }

    #[test]
    fn claims_are_told_by_what_was_measured() {
        let text = section(&rows(|lanes| 1.0 / lanes as f64)).text;
        assert!(text.contains("than the mean for 10 of 10 routines | confirmed here |"));
        assert!(text.contains("at most 1 % for 10 of 10 routines | confirmed here |"));
        assert!(
            text.contains("in 45 of 45 pairs of numbers of lanes (Kendall) | confirmed here |")
        );
        assert!(text.contains("in 30 of 30 experiments, where normal runs"));
        assert!(text.contains("below 1 % in 0 of 30 experiments | refuted here |"));
        assert!(text.contains("normal in 0, log-normal in 0, Gumbel in 30 | confirmed here |"));
    }

    #[test]
    fn the_same_claim_can_be_refuted() {
        let text = section(&rows(|lanes| lanes as f64)).text;
        assert!(text.contains("in 0 of 45 pairs of numbers of lanes (Kendall) | refuted here |"));
        let nothing = section(&Vec::new()).text;
        assert!(nothing.contains("0 of 0 routines | neither confirmed nor refuted |"));
        assert!(!nothing.contains("| confirmed here |"));
    }
}
