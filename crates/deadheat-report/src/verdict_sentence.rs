//! The verdict on a candidate in one sentence: the verdict with its size, then the interval.
//!
//! Two rules apply. A change is called faster or slower, with its interval, and never
//! "significant". A sentence never claims the absence of a difference: if none was found, the
//! result is a dead heat within the margin, or too close to call.

use std::fmt::{self, Display};

use deadheat_model::{Better, Comparison, Estimate, Metric, Verdict, Warning};

use crate::cost::cost_of;
use crate::glyphs::Glyphs;
use crate::sentences::{judged, metric, observations, one_a_side};
use crate::suite::{Called, Source};
use crate::units::{
    self, counted, estimated, is_shown_as_factor, leading_factor, quantities, share, waiting,
};

/// A sentence in parts, which an output format may style differently.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sentence {
    /// The verdict and the size of the change.
    pub(crate) strong: String,
    /// The confidence interval, which the sentence shows in parentheses.
    pub(crate) quiet: String,
    /// The rest: a reason, or the number of replicates that would settle the result.
    pub(crate) rest: String,
}

impl Sentence {
    /// Returns the confidence interval in parentheses; empty if there is none.
    pub(crate) fn parenthesis(&self) -> String {
        match self.quiet.as_str() {
            "" => String::new(),
            quiet => format!(" ({quiet})"),
        }
    }
}

impl Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.strong, self.parenthesis(), self.rest)
    }
}

impl From<String> for Sentence {
    fn from(text: String) -> Self {
        Sentence {
            rest: text,
            ..Sentence::default()
        }
    }
}

/// Returns the verdict on one candidate as a sentence.
pub fn verdict(
    comparison: &Comparison,
    called: Called<'_>,
    source: Source,
    glyphs: Glyphs,
) -> Sentence {
    let Some(candidate) = called.candidate else {
        return alone(called.baseline, source).into();
    };
    let words = Words {
        comparison,
        called,
        candidate,
        glyphs,
    };
    let Some(cost) = cost_of(comparison) else {
        return match comparison.verdict {
            Some(verdict) => words.of_zeros(verdict),
            None => format!(
                "no verdict: no change from '{}' to '{candidate}' can be computed; {}",
                called.baseline,
                why_no_verdict(comparison)
            ),
        }
        .into();
    };
    let mut sentence = match comparison.verdict {
        Some(verdict @ (Verdict::Faster | Verdict::Slower)) => words.moved(verdict, &cost),
        Some(Verdict::Equivalent) => words.dead_heat(&cost),
        Some(Verdict::Inconclusive) => Sentence {
            rest: prospects(comparison, source),
            ..words.open("too close to call", &cost)
        },
        None => Sentence {
            rest: format!("; {}", why_no_verdict(comparison)),
            ..words.open("only an estimate", &cost)
        },
    };
    if comparison.evidence.provisional {
        sentence.strong.insert_str(0, "provisional: ");
    }
    sentence
}

/// Returns the sentence about a contender without a candidate, with advice on how to race it.
fn alone(name: &str, source: Source) -> String {
    let advice = match source {
        Source::Commands => "give a second command to race it",
        Source::Functions => "add a candidate to race it",
        Source::Programs => {
            "add a contender to its benchmark, or race two builds: deadheat bench OLD NEW"
        }
        Source::Servers => "to race two servers, give --server twice",
        Source::Harness => "to race two builds: deadheat bench OLD NEW",
        Source::Recording => {
            return format!(
                "'{name}' was recorded alone; deadheat compare compares two recordings"
            );
        }
    };
    format!("'{name}' was measured alone; {advice}")
}

struct Words<'a> {
    comparison: &'a Comparison,
    called: Called<'a>,
    candidate: &'a str,
    glyphs: Glyphs,
}

impl Words<'_> {
    /// Returns the sentence for faster or slower: "'b' is slower: +9.2% time", or "'b' is 2.18× as
    /// fast".
    fn moved(&self, verdict: Verdict, cost: &Estimate) -> Sentence {
        let [change, interval] = estimated(cost, self.comparison.coverage(), self.glyphs);
        let slower = verdict == Verdict::Slower;
        let subject = format!("'{}' is", self.candidate);
        let relation = self.relation(slower);
        let noun = self.noun();
        let Some(factor) = leading_factor(cost.effect, self.glyphs) else {
            return Sentence {
                strong: format!("{subject} {relation}: {change} {noun}"),
                quiet: interval,
                rest: String::new(),
            };
        };
        let is_time = is_time(&self.comparison.terms.metric);
        let strong = if is_time && !slower {
            let than = self.behind("as");
            format!("{subject} {factor} as fast{than}{}", self.on_what())
        } else if slower {
            format!("{subject} {relation}: {factor} the {noun}")
        } else {
            format!("{subject} {relation}: {change} {noun}")
        };
        let is_told = is_shown_as_factor(cost.effect) || (!is_time && !slower);
        let quiet = match (is_told, is_time && !slower) {
            (true, _) => interval,
            (false, true) => format!("{change} {noun}, {interval}"),
            (false, false) => format!("{change}, {interval}"),
        };
        Sentence {
            strong,
            quiet,
            rest: String::new(),
        }
    }

    fn dead_heat(&self, cost: &Estimate) -> Sentence {
        let [change, interval] = estimated(cost, self.comparison.coverage(), self.glyphs);
        let lean = if self.comparison.evidence.excludes_zero {
            let slower = cost.effect.0 > 0.0;
            format!(
                "; '{}' is {}, by less than the margin",
                self.candidate,
                self.word(slower)
            )
        } else {
            String::new()
        };
        Sentence {
            strong: format!(
                "dead heat: '{}' and '{}' differ by less than the margin of {}",
                self.candidate,
                self.called.baseline,
                share(self.comparison.terms.margin)
            ),
            quiet: format!("{change} {}, {interval}", self.noun()),
            rest: lean,
        }
    }

    /// Returns a sentence that only states the change, without "faster" or "slower"; it begins with
    /// `word`.
    fn open(&self, word: &str, cost: &Estimate) -> Sentence {
        let [change, interval] = estimated(cost, self.comparison.coverage(), self.glyphs);
        Sentence {
            strong: format!(
                "{word}: '{}' against '{}', {change} {}",
                self.candidate,
                self.called.baseline,
                self.noun()
            ),
            quiet: interval,
            rest: String::new(),
        }
    }

    /// Returns the sentence for a verdict if all values of a side are zero, so that no ratio
    /// exists.
    fn of_zeros(&self, verdict: Verdict) -> String {
        let comparison = self.comparison;
        let sides = [Some(&comparison.baseline), comparison.candidate.as_ref()];
        let medians: Vec<f64> = sides.iter().flatten().map(|side| side.median).collect();
        let shown =
            |values| quantities(comparison.terms.metric.unit(), values, self.glyphs).concat();
        let judged = self.on_what();
        match verdict {
            Verdict::Faster | Verdict::Slower => format!(
                "'{}' is {}{judged}: from {} to {}",
                self.candidate,
                self.relation(verdict == Verdict::Slower),
                shown(&medians[..1]),
                shown(&medians[1..]),
            ),
            Verdict::Equivalent | Verdict::Inconclusive => format!(
                "dead heat: '{}' and '{}' are both 0{judged}",
                self.candidate, self.called.baseline
            ),
        }
    }

    /// Returns "slower", or "slower than 'x'" if the baseline 'x' is not shown next to the
    /// sentence; or the corresponding words for memory and counts.
    fn relation(&self, slower: bool) -> String {
        let word = self.word(slower);
        match word {
            "cheaper" | "more expensive" => format!("{word} than '{}'", self.called.baseline),
            _ => format!("{word}{}", self.behind("than")),
        }
    }

    /// Returns `word` and the baseline; empty if the baseline is shown next to the sentence.
    fn behind(&self, word: &str) -> String {
        if self.called.baseline_is_shown {
            String::new()
        } else {
            format!(" {word} '{}'", self.called.baseline)
        }
    }

    fn word(&self, slower: bool) -> &'static str {
        let metric = &self.comparison.terms.metric;
        let words = if is_time(metric) {
            ["faster", "slower"]
        } else if metric.better() == Better::More {
            ["better", "worse"]
        } else {
            ["cheaper", "more expensive"]
        };
        words[usize::from(slower)]
    }

    /// Returns the quantity that changed: "time", "CPU time in the 99% quantile", "peak memory".
    fn noun(&self) -> String {
        let comparison = self.comparison;
        let noun = match &comparison.terms.metric {
            Metric::Wall => "time".to_owned(),
            other if other.better() == Better::More => {
                let what = if is_time(other) { "time" } else { "cost" };
                format!("{what} by {}", metric(other, self.glyphs))
            }
            other => metric(other, self.glyphs),
        };
        match comparison.terms.quantile {
            Some(quantile) => format!("{noun} in the {}", units::quantile(quantile)),
            None => noun,
        }
    }

    /// Returns the judged quantity: " in CPU time", " in the 99% quantile"; empty for wall time.
    fn on_what(&self) -> String {
        let comparison = self.comparison;
        match (&comparison.terms.metric, comparison.terms.quantile) {
            (Metric::Wall, None) => String::new(),
            (Metric::Wall, Some(quantile)) => format!(" in the {}", units::quantile(quantile)),
            (other, None) => format!(" in {}", metric(other, self.glyphs)),
            (other, quantile) => format!(" in the {}", judged(other, quantile, self.glyphs)),
        }
    }
}

/// Returns true for times per iteration, and for rates, which are inverse times.
fn is_time(metric: &Metric) -> bool {
    metric.is_pace() || (metric.better() == Better::More && metric.unit().is_rate())
}

/// Returns the number of replicates that would settle the result, with the option that allows them.
fn prospects(comparison: &Comparison, source: Source) -> String {
    let settling = comparison.aspects.settling;
    let Some(settling) = settling.filter(|more| more.replicates > 0) else {
        return String::new();
    };
    let more = settling.replicates;
    let replicates = counted(more as u64, "more replicate", "more replicates");
    let time = match settling.seconds {
        Some(seconds) => format!(" ({})", waiting(seconds)),
        None => String::new(),
    };
    let option = match source {
        Source::Recording => String::new(),
        _ => {
            let used = comparison.estimate.as_ref().map_or(0, |e| e.replicates);
            let limit = settling.in_place_of;
            let instead = limit.map_or_else(String::new, |option| format!(" in place of {option}"));
            format!(": --max-replicates {}{instead}", enough(used + more))
        }
    };
    format!("; about {replicates}{time} would settle it{option}")
}

/// Rounds a number of replicates up to a round number.
fn enough(replicates: usize) -> usize {
    let step = match replicates {
        0..100 => 5,
        100..1_000 => 10,
        1_000..10_000 => 100,
        _ => 1_000,
    };
    replicates.div_ceil(step) * step
}

pub(crate) fn why_no_verdict(comparison: &Comparison) -> String {
    for warning in &comparison.warnings {
        match warning {
            Warning::TooManyZeros { .. } => return "too many values are zero".to_owned(),
            Warning::FewReplicates { have, need } => {
                let have = counted(*have as u64, "replicate is", "replicates are");
                return format!("{have} too few for a verdict, which needs {need}");
            }
            Warning::FewObservations {
                baseline,
                candidate,
                need,
                each,
            } => {
                if warning.is_one_a_side() {
                    let one = one_a_side(*each);
                    return format!("{one} cannot show how much the next would differ");
                }
                let counted = observations(*baseline, *candidate, *each);
                return format!("{counted} are too few for a verdict, which needs {need} per side");
            }
            Warning::TimerLimited => {
                return "the values show no scatter, and the resolution of the clock is unknown"
                    .to_owned();
            }
            _ => {}
        }
    }
    "the data allow no verdict".to_owned()
}
