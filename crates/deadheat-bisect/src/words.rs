//! The words for commits, changes and probabilities of a search.

use deadheat::parts::model::{Better, Interval, Metric};
use deadheat::parts::report::units::{counted, effect, interval, share};
use deadheat::parts::report::{Glyphs, first_of, sentences, shown};

use crate::culprit::LIKELIER;
use crate::log::{BisectRequest, BisectStanding, CommitShare, OpenReason, StepEstimate};

/// The most columns for the subject of a commit.
const SUBJECT: usize = 60;

/// The most groups of commits that a sentence lists.
const GROUPS: usize = 5;

/// The words for one search, in the signs that the reader's terminal shows.
#[derive(Clone, Copy)]
pub(crate) struct Words<'a> {
    pub(crate) request: &'a BisectRequest,
    pub(crate) glyphs: Glyphs,
}

impl Words<'_> {
    /// `1a2b3c4d`.
    pub(crate) fn short(&self, commit: usize) -> &str {
        self.request.short(commit)
    }

    /// `1a2b3c4d 'Hash names once more'`.
    pub(crate) fn commit(&self, commit: usize) -> String {
        let subject = self
            .request
            .commits
            .get(commit)
            .map_or("", |one| &one.subject);
        let subject = shown(subject, SUBJECT, self.glyphs);
        format!("{} '{subject}'", self.short(commit))
    }

    /// GOOD and BAD with the name that the user gave, unless that is a prefix of the id.
    fn end(&self, commit: usize) -> String {
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

    /// `between 1a2b3c4d and 5e6f7a8b`.
    pub(crate) fn between(&self, (from, to): (usize, usize)) -> String {
        format!("between {} and {}", self.end(from), self.end(to))
    }

    /// A change with its interval: "+2.1% time [+1.6%, +2.6%], slower".
    pub(crate) fn change(&self, step: &StepEstimate) -> String {
        let judged = &self.request.judged;
        let more = step.effect.0 > 0.0;
        let noun = match judged {
            Metric::Wall => "time".to_owned(),
            other => sentences::metric(other, self.glyphs),
        };
        let word = match (judged, more == (judged.better() == Better::More)) {
            (Metric::Wall | Metric::Cpu, true) => "faster",
            (Metric::Wall | Metric::Cpu, false) => "slower",
            (_, true) => "better",
            (_, false) => "worse",
        };
        format!("{} {noun} {}, {word}", self.signed(step), self.ends(step))
    }

    pub(crate) fn signed(&self, step: &StepEstimate) -> String {
        effect(step.effect, Some(&bounds(step)), self.glyphs)
    }

    pub(crate) fn ends(&self, step: &StepEstimate) -> String {
        interval(&bounds(step), self.glyphs)
    }

    pub(crate) fn margin(&self) -> String {
        share(self.request.margin.change())
    }

    /// One commit, or the range of commits that no race can tell apart.
    pub(crate) fn group(&self, share: &CommitShare) -> String {
        if share.first == share.last {
            return self.short(share.last).to_owned();
        }
        format!(
            "{}..{}",
            self.short(share.first - 1),
            self.short(share.last)
        )
    }

    /// `1a2b3c4d (60%) and 5e6f7a8b (35%)`.
    pub(crate) fn groups(&self, groups: &[CommitShare]) -> String {
        let group =
            |one: &CommitShare| format!("{} ({})", self.group(one), percent(one.probability));
        first_of(groups.iter().map(group).collect(), GROUPS)
    }

    /// `1a2b3c4d..5e6f7a8b`.
    pub(crate) fn pair(&self, (from, to): (usize, usize)) -> String {
        format!("{}..{}", self.short(from), self.short(to))
    }

    /// The answer that is likelier than a single step; `None` if a single step is likeliest.
    fn doubt(&self, standing: &BisectStanding) -> Option<String> {
        if standing.several >= 0.5 {
            let sure = percent(standing.several);
            return Some(format!("several steps, or creep ({sure})"));
        }
        let no_step = standing.no_step;
        (no_step >= LIKELIER || standing.commits.is_empty())
            .then(|| format!("no step of {} ({})", self.margin(), percent(no_step)))
    }

    /// The commits that may be the culprit, and their probability.
    pub(crate) fn standing(&self, standing: &BisectStanding) -> String {
        let held = self.held(standing);
        match &standing.commits[..] {
            [only] if self.doubt(standing).is_none() => {
                format!("{} holds {}", self.group(only), percent(only.probability))
            }
            _ if self.doubt(standing).is_some() => held,
            _ => format!("{}: {held}", self.between(standing.between)),
        }
    }

    /// `12 commits hold 95%`.
    pub(crate) fn held(&self, standing: &BisectStanding) -> String {
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

pub(crate) fn bounds(step: &StepEstimate) -> Interval {
    Interval {
        low: step.low,
        high: step.high,
        confidence: 0.95,
    }
}

/// A probability in percent, never rounded up to certainty.
pub(crate) fn percent(probability: f64) -> String {
    if probability >= 1.0 {
        return "certain".to_owned();
    }
    let percent = probability * 100.0;
    if percent > 99.9 {
        "over 99.9%".to_owned()
    } else if percent > 99.0 {
        format!("{:.1}%", (percent * 10.0).floor() / 10.0)
    } else if percent < 1.0 {
        "under 1%".to_owned()
    } else {
        format!("{:.0}%", percent.floor())
    }
}

pub(crate) fn reason(reason: OpenReason) -> &'static str {
    match reason {
        OpenReason::Budget => "the time budget was used up",
        OpenReason::Races => "the limit on races was reached",
        OpenReason::Exhausted => "no further race would add information",
    }
}
