//! Commits, changes and places of a search in words.

use deadheat_model::bisect::{
    BisectRequest, BisectStanding, CommitShare, OpenReason, StepEstimate,
};
use deadheat_model::{Better, Interval, Metric};

use crate::enumeration::first_of;
use crate::glyphs::Glyphs;
use crate::names::shown;
use crate::sentences;
use crate::units::{Precision, counted, interval, share};

/// Columns that the subject of a commit may take.
const SUBJECT: usize = 60;

/// Commits that a sentence names.
const NAMED: usize = 5;

/// A search whose words are asked for, and what can be shown.
#[derive(Clone, Copy)]
pub(super) struct Words<'a> {
    pub(super) request: &'a BisectRequest,
    pub(super) glyphs: Glyphs,
}

impl Words<'_> {
    /// `1a2b3c4d`.
    pub(super) fn short(&self, commit: usize) -> &str {
        self.request.short(commit)
    }

    /// `1a2b3c4d 'Hash names once more'`.
    pub(super) fn commit(&self, commit: usize) -> String {
        let subject = self
            .request
            .commits
            .get(commit)
            .map_or("", |one| &one.subject);
        let subject = shown(subject, SUBJECT, self.glyphs);
        format!("{} '{subject}'", self.short(commit))
    }

    /// An end by the name it was given, where that is no beginning of its id.
    pub(super) fn end(&self, commit: usize) -> String {
        let last = self.request.last();
        let named = match commit {
            0 => &self.request.good,
            _ if commit == last => &self.request.bad,
            _ => return self.short(commit).to_owned(),
        };
        let id = self.request.commits.get(commit).map_or("", |one| &one.id);
        if id.starts_with(&**named) {
            self.short(commit).to_owned()
        } else {
            format!(
                "{} ({})",
                shown(named, SUBJECT, self.glyphs),
                self.short(commit)
            )
        }
    }

    /// `between 1a2b3c4d and 5e6f7a8b`, the older one of which is not meant.
    pub(super) fn between(&self, (from, to): (usize, usize)) -> String {
        format!("between {} and {}", self.end(from), self.end(to))
    }

    /// A change with its interval: "slower by 2.1 % [+1.6 %, +2.6 %]".
    pub(super) fn change(&self, step: &StepEstimate) -> String {
        let interval = bounds(step);
        let precision = Precision::of(Some(&interval));
        let change = step.effect.change();
        let (size, ends) = (precision.size(change), self.ends(step));
        if let (Metric::Wall | Metric::Cpu, true) = (&self.request.judged, change != 0.0) {
            let word = if change > 0.0 { "slower" } else { "faster" };
            return format!("{word} by {size} {ends}");
        }
        let metric = sentences::metric(&self.request.judged, self.glyphs);
        let word = if change > 0.0 { "more" } else { "less" };
        let is_better = (change > 0.0) == (self.request.judged.better() == Better::More);
        let judged = if is_better { "better" } else { "worse" };
        format!("{size} {word} {metric} {ends}, which is {judged}")
    }

    /// The change alone, as tables show it.
    pub(super) fn signed(&self, step: &StepEstimate) -> String {
        Precision::of(Some(&bounds(step))).signed(step.effect.change(), self.glyphs)
    }

    /// The interval alone.
    pub(super) fn ends(&self, step: &StepEstimate) -> String {
        interval(&bounds(step), self.glyphs)
    }

    /// The margin.
    pub(super) fn margin(&self) -> String {
        share(self.request.margin.change())
    }

    /// A group of commits: one, or some that cannot be told apart.
    pub(super) fn group(&self, share: &CommitShare) -> String {
        if share.first == share.last {
            return self.short(share.last).to_owned();
        }
        format!(
            "{}..{}",
            self.short(share.first - 1),
            self.short(share.last)
        )
    }

    /// The likeliest groups, each with its probability.
    pub(super) fn groups(&self, groups: &[CommitShare]) -> String {
        let group =
            |one: &CommitShare| format!("{} ({})", self.group(one), percent(one.probability));
        first_of(groups.iter().map(group).collect(), NAMED)
    }

    /// `1a2b3c4d..5e6f7a8b`.
    pub(super) fn pair(&self, (from, to): (usize, usize)) -> String {
        format!("{}..{}", self.short(from), self.short(to))
    }

    /// What is likelier than one step; `None` where that is likeliest.
    pub(super) fn doubt(&self, standing: &BisectStanding) -> Option<String> {
        if standing.several >= 0.5 {
            let sure = percent(standing.several);
            return Some(format!("several steps, or creep ({sure})"));
        }
        let no_step = standing.no_step;
        (no_step >= 0.5 || standing.commits.is_empty())
            .then(|| format!("no step of {} ({})", self.margin(), percent(no_step)))
    }

    /// Where the culprit lies, and how sure that is.
    pub(super) fn standing(&self, standing: &BisectStanding) -> String {
        let held = self.held(standing);
        match &standing.commits[..] {
            [only] if self.doubt(standing).is_none() => {
                format!("{} holds {}", self.group(only), percent(only.probability))
            }
            _ if self.doubt(standing).is_some() => held,
            _ => format!("{}: {held}", self.between(standing.between)),
        }
    }

    /// How many commits hold the culprit: "12 commits hold 95 %".
    pub(super) fn held(&self, standing: &BisectStanding) -> String {
        if let Some(doubt) = self.doubt(standing) {
            return doubt;
        }
        let commits = standing.commits.iter().map(|one| one.last - one.first + 1);
        let commits = commits.sum::<usize>() as u64;
        format!(
            "{} {} {}",
            counted(commits, "commit", "commits"),
            if commits == 1 { "holds" } else { "hold" },
            percent(standing.held)
        )
    }
}

/// The ends of a step as an interval.
fn bounds(step: &StepEstimate) -> Interval {
    Interval {
        low: step.low,
        high: step.high,
        confidence: 0.95,
    }
}

/// A probability, never rounded up to certainty.
pub(super) fn percent(probability: f64) -> String {
    if probability >= 1.0 {
        return "certain".to_owned();
    }
    let percent = probability * 100.0;
    if percent > 99.9 {
        "over 99.9 %".to_owned()
    } else if percent > 99.0 {
        format!("{:.1} %", (percent * 10.0).floor() / 10.0)
    } else if percent < 1.0 {
        "under 1 %".to_owned()
    } else {
        format!("{:.0} %", percent.floor())
    }
}

/// The reason why a search was not finished.
pub(super) fn reason(reason: OpenReason) -> &'static str {
    match reason {
        OpenReason::Budget => "the time for it was over",
        OpenReason::Races => "it had as many races as it may",
        OpenReason::Exhausted => "no further race would tell more",
    }
}
