//! Formats commits, changes and probabilities of a search as text.

use deadheat::parts::model::{FailedBenchmark, Interval, LeftOut, Metric};
use deadheat::parts::report::units::{counted, effect, interval, share};
use deadheat::parts::report::{Glyphs, first_of, sentences, shown};

use crate::culprit::LIKELIER;
use crate::log::{
    BenchmarkChosen, BisectLog, BisectRequest, BisectStanding, CommitShare, OpenReason,
    StepEstimate, UnmeasuredBenchmark, UnmeasuredReason, is_worse,
};

/// The largest width of the subject of a commit, in columns.
const SUBJECT: usize = 60;

/// The largest number of groups of commits that a sentence lists.
const GROUPS: usize = 5;

/// The largest width of the name of a benchmark, in columns.
const NAME: usize = 70;

/// The largest number of benchmarks that a sentence lists.
const NAMED: usize = 6;

#[derive(Clone, Copy)]
pub(crate) struct Words<'a> {
    pub(crate) request: &'a BisectRequest,
    judged: &'a Metric,
    pub(crate) glyphs: Glyphs,
}

impl<'a> Words<'a> {
    pub(crate) fn of(log: &'a BisectLog, glyphs: Glyphs) -> Self {
        Self {
            judged: log.judged(),
            ..Self::before_races(&log.request, glyphs)
        }
    }

    /// Words for texts that name no metric but that of the question.
    pub(crate) fn before_races(request: &'a BisectRequest, glyphs: Glyphs) -> Self {
        Self {
            request,
            judged: &request.judged,
            glyphs,
        }
    }
    /// Formats the short id of a commit: `1a2b3c4d`.
    pub(crate) fn short(&self, commit: usize) -> &str {
        self.request.short(commit)
    }

    /// Formats the short id and the subject of a commit: `1a2b3c4d 'Hash names once more'`.
    pub(crate) fn commit(&self, commit: usize) -> String {
        let subject = self
            .request
            .commits
            .get(commit)
            .map_or("", |one| &one.subject);
        let subject = shown(subject, SUBJECT, self.glyphs);
        format!("{} '{subject}'", self.short(commit))
    }

    /// Formats a commit by its short id. GOOD and BAD are preceded by the name that the user gave,
    /// unless it is a prefix of the id.
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

    pub(crate) fn between(&self, (from, to): (usize, usize)) -> String {
        format!("between {} and {}", self.end(from), self.end(to))
    }

    pub(crate) fn is_worse(&self, step: &StepEstimate) -> bool {
        is_worse(self.judged, step.effect)
    }

    /// Formats a change with its interval: "+2.1% time [+1.6%, +2.6%], slower".
    pub(crate) fn change(&self, step: &StepEstimate) -> String {
        let word = match (self.judged, self.is_worse(step)) {
            (Metric::Wall | Metric::Cpu, false) => "faster",
            (Metric::Wall | Metric::Cpu, true) => "slower",
            (_, false) => "better",
            (_, true) => "worse",
        };
        let (noun, ends) = (self.noun(self.judged), self.ends(step));
        format!("{} {noun} {ends}, {word}", self.signed(step))
    }

    fn noun(&self, metric: &Metric) -> String {
        match metric {
            Metric::Wall => "time".to_owned(),
            other => sentences::metric(other, self.glyphs),
        }
    }

    /// Formats the other benchmarks that changed, each with its change: `'print' (+2.1% time)`.
    pub(crate) fn called(&self, chosen: &BenchmarkChosen) -> Vec<String> {
        let mut changes = chosen.changes.iter();
        let metrics = chosen.metrics_of_called(&self.request.judged);
        let called = chosen.called.iter().zip(metrics).map(|(name, metric)| {
            let change = changes.next().map_or_else(String::new, |change| {
                let signed = effect(*change, None, self.glyphs);
                format!(" ({signed} {})", self.noun(metric))
            });
            format!("{}{change}", self.benchmark(name))
        });
        called.collect()
    }

    fn benchmark(&self, name: &str) -> String {
        format!("'{}'", shown(name, NAME, self.glyphs))
    }

    /// Returns a sentence for each benchmark that failed.
    pub(crate) fn failed(&self, unmeasured: &[UnmeasuredBenchmark]) -> Vec<String> {
        let failed = unmeasured.iter().filter_map(|one| match &one.reason {
            UnmeasuredReason::Failed(message) => Some(FailedBenchmark {
                benchmark: one.benchmark.clone(),
                parameters: Vec::new(),
                message: message.clone(),
            }),
            _ => None,
        });
        let failed: Vec<FailedBenchmark> = failed.collect();
        let sentence = |one: &FailedBenchmark| {
            let title = shown(&one.benchmark, NAME, self.glyphs);
            sentences::failed(&title, one, self.glyphs)
        };
        let mut said: Vec<String> = failed.iter().take(NAMED).map(sentence).collect();
        let more = failed.len() - said.len();
        if more > 0 {
            let more = counted(more as u64, "more benchmark", "more benchmarks");
            said.push(format!("{more} failed."));
        }
        said
    }

    /// Returns sentences that name the benchmarks without a result that did not fail.
    pub(crate) fn left_out(&self, unmeasured: &[UnmeasuredBenchmark]) -> Vec<String> {
        let left_out = unmeasured.iter().filter_map(|one| match &one.reason {
            UnmeasuredReason::LeftOut(reason) => Some(LeftOut {
                benchmark: one.benchmark.clone(),
                reason: reason.clone(),
            }),
            _ => None,
        });
        let left_out: Vec<LeftOut> = left_out.collect();
        let mut said = sentences::left_out(&left_out, self.glyphs);
        let short = unmeasured
            .iter()
            .filter(|one| one.reason == UnmeasuredReason::TooFewReplicates);
        let short: Vec<String> = short.map(|one| self.benchmark(&one.benchmark)).collect();
        if !short.is_empty() {
            said.push(format!(
                "The race of GOOD and BAD had too few replicates of {}.",
                first_of(short, NAMED)
            ));
        }
        said
    }

    /// Returns the sentences about all benchmarks without a result.
    pub(crate) fn without_result(&self, unmeasured: &[UnmeasuredBenchmark]) -> Vec<String> {
        let mut said = self.failed(unmeasured);
        said.extend(self.left_out(unmeasured));
        said
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

    /// Returns the words for the answer *no step*: "no step of 0.5% or more". A search looks for
    /// steps from half the margin on.
    pub(crate) fn no_step(&self) -> String {
        let half = share(self.request.margin.change() / 2.0);
        format!("no step of {half} or more")
    }

    /// Formats one commit, or a range of commits that no race can tell apart.
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

    /// Formats groups of commits with their probabilities: `1a2b3c4d (60%) and 5e6f7a8b (35%)`.
    pub(crate) fn groups(&self, groups: &[CommitShare]) -> String {
        let group =
            |one: &CommitShare| format!("{} ({})", self.group(one), percent(one.probability));
        first_of(groups.iter().map(group).collect(), GROUPS)
    }

    pub(crate) fn pair(&self, (from, to): (usize, usize)) -> String {
        format!("{}..{}", self.short(from), self.short(to))
    }

    /// Returns the words for the hypothesis that is likelier than a single step; `None` if a single
    /// step is likeliest.
    fn doubt(&self, standing: &BisectStanding) -> Option<String> {
        if standing.several >= 0.5 {
            let sure = percent(standing.several);
            return Some(format!("several steps, or creep ({sure})"));
        }
        let no_step = standing.no_step;
        (no_step >= LIKELIER || standing.commits.is_empty())
            .then(|| format!("{} ({})", self.no_step(), percent(no_step)))
    }

    /// Returns the words for the commits that may be the culprit, with their probability.
    pub(crate) fn standing(&self, standing: &BisectStanding) -> String {
        if let Some(doubt) = self.doubt(standing) {
            return doubt;
        }
        match &standing.commits[..] {
            [only] => {
                let sure = percent(only.probability);
                format!("the step is at {} ({sure})", self.group(only))
            }
            commits => format!(
                "the step is at one of {} commits {} ({})",
                count(commits),
                self.between(standing.between),
                percent(standing.held)
            ),
        }
    }

    /// Returns the words for how many commits may be the culprit, without their names: `one of 12
    /// commits (95%)`.
    pub(crate) fn held(&self, standing: &BisectStanding) -> String {
        if let Some(doubt) = self.doubt(standing) {
            return doubt;
        }
        let sure = percent(standing.held);
        match count(&standing.commits) {
            1 => format!("one commit ({sure})"),
            commits => format!("one of {commits} commits ({sure})"),
        }
    }
}

fn count(groups: &[CommitShare]) -> usize {
    groups.iter().map(|one| one.last - one.first + 1).sum()
}

pub(crate) fn bounds(step: &StepEstimate) -> Interval {
    Interval {
        low: step.low,
        high: step.high,
        confidence: 0.95,
    }
}

/// Formats a probability in percent, never rounded up to certainty.
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
