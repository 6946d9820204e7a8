//! The gate: checks the verdicts of an analysis against the rules that fail a run, and against the
//! ignore list, which excuses broken rules.

use std::path::PathBuf;

use deadheat_analysis::{detectable_together, hold_together};
use deadheat_model::{
    Analysis, Comparison, Day, Excuse, FailOn, GateHit, Gates, Idle, IdleIgnore, Ignore, InSuite,
    RulesOfSome, SuiteLevel, Unproven,
};

use crate::settings::Selection;
use crate::system::unix_seconds;

/// The rules against which an analysis is checked. The result depends only on the gate and the
/// analysis.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// The rules for all benchmarks, except those that have separate rules in `some`.
    pub fail_on: Vec<FailOn>,
    /// Rules for benchmarks selected by name, of which the gate uses only `fail_on`.
    pub some: Vec<RulesOfSome>,
    /// The ignore list, whose entries excuse broken rules, for example until a date.
    pub ignores: Vec<Ignore>,
    /// The selection of the benchmarks that the gate judges.
    pub judged: Selection,
    /// The path of the rules file; `None` if there is none.
    pub config: Option<PathBuf>,
    /// True if the analysis contains all benchmarks of the project. An entry of the ignore list
    /// that matches no benchmark is then outdated.
    pub whole: bool,
    /// True if the gate passes even if it can judge no benchmark.
    pub allows_unjudged: bool,
    /// The current date in UTC. An entry of the ignore list is not valid after its last day.
    pub today: Day,
}

impl Default for Gate {
    /// Returns a gate without rules, with today's date. If the clock of the machine is before 1970,
    /// the date is the first day of 1970, so that no excuse expires.
    fn default() -> Self {
        Self {
            fail_on: Vec::new(),
            some: Vec::new(),
            ignores: Vec::new(),
            judged: Selection::default(),
            config: None,
            whole: false,
            allows_unjudged: false,
            today: Day::of_unix_seconds(unix_seconds().unwrap_or(0)),
        }
    }
}

/// The use of an entry of the ignore list in an analysis.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// True if the name in the entry matches a benchmark of the analysis.
    named: bool,
    /// True if the gate checked, for a benchmark that the entry matches, a rule that the entry can
    /// excuse.
    asked: bool,
    /// True if a benchmark that the entry matches broke a rule that the entry can excuse.
    broken: bool,
}

impl Gate {
    /// Checks the analysis, and returns it with the results: the rule that each comparison breaks,
    /// with its excuse, and the entries of the ignore list that excuse no broken rule. Replaces the
    /// results of an earlier gate.
    pub fn judge(&self, analysis: Analysis) -> Analysis {
        let mut seen = vec![Seen::default(); self.ignores.len()];
        let (suite, hold) = self.suite(&analysis.comparisons);
        let judged = analysis.comparisons.into_iter().zip(hold);
        let comparisons: Vec<Comparison> = judged
            .map(|(one, holds)| self.held_against(one, holds, &mut seen))
            .collect();
        let asked: Vec<FailOn> = comparisons
            .iter()
            .filter(|one| one.candidate.is_some())
            .flat_map(|one| self.rules_for(&one.benchmark))
            .collect();
        let judged_any = comparisons.iter().any(|one| {
            let is_judged = one.verdict.is_some() || one.suite.gate.is_some();
            is_judged && !self.rules_for(&one.benchmark).is_empty()
        });
        let failed = analysis.failures.iter().map(|failed| &failed.benchmark);
        let left_out = analysis.left_out.iter().map(|left| &left.benchmark);
        for name in failed.chain(left_out) {
            for (ignore, seen) in self.ignores.iter().zip(&mut seen) {
                seen.named |= ignore.name.fits(name);
            }
        }
        let entries = self.ignores.iter().zip(&seen);
        let all = FailOn::ALL.into_iter().filter(|rule| asked.contains(rule));
        let unjudged = comparisons.iter().any(|one| one.suite.is_unjudged);
        let has_rules = !self.fail_on.is_empty() || unjudged;
        let gates = Gates {
            asked: all.map(|rule| rule.name().to_owned()).collect(),
            config: self.config.as_ref().map(|path| path.display().to_string()),
            suite,
            judged_nothing: has_rules && !judged_any,
            allows_unjudged: self.allows_unjudged,
            idle: entries
                .filter_map(|(ignore, seen)| self.idle(ignore, *seen))
                .collect(),
        };
        Analysis {
            comparisons,
            gates,
            ..analysis
        }
    }

    /// Returns the comparison with the result of its check: the rule that it breaks, or that the
    /// gate could not judge it.
    fn held_against(&self, one: Comparison, holds: bool, seen: &mut [Seen]) -> Comparison {
        let is_judged = self.judged.names(&one.benchmark);
        let gate = is_judged.then(|| self.hit(&one, holds, seen)).flatten();
        let has_rules = !self.rules_of(&one.benchmark).is_empty();
        let is_open = one.verdict.is_none() && gate.is_none();
        let is_left_out = !is_judged && one.candidate.is_some();
        Comparison {
            suite: InSuite {
                is_unjudged: has_rules && (is_left_out || is_judged && is_open),
                gate,
                ..one.suite
            },
            ..one
        }
    }

    /// Returns the rules for a benchmark; empty if this gate does not judge it.
    fn rules_for(&self, benchmark: &str) -> Vec<FailOn> {
        match self.judged.names(benchmark) {
            true => self.rules_of(benchmark),
            false => Vec::new(),
        }
    }

    /// Returns the rules for a benchmark, each once, whether or not the gate judges this benchmark.
    fn rules_of(&self, benchmark: &str) -> Vec<FailOn> {
        let own = RulesOfSome::of(&self.some, benchmark).fail_on;
        let asked = own.as_ref().unwrap_or(&self.fail_on);
        let all = FailOn::ALL.into_iter();
        all.filter(|rule| asked.contains(rule)).collect()
    }

    /// Tests all comparisons with the rule `slower` together. Returns the correction for their
    /// number, and for every comparison, true if its verdict holds after this correction. Rules
    /// that require a dead heat are not tested together, because each benchmark must show its own
    /// dead heat.
    fn suite(&self, comparisons: &[Comparison]) -> (Option<SuiteLevel>, Vec<bool>) {
        let member = |one: &&Comparison| {
            let judged = one.candidate.is_some() && self.judged.names(&one.benchmark);
            judged && self.rules_of(&one.benchmark).contains(&FailOn::Slower)
        };
        let family: Vec<&Comparison> = comparisons.iter().filter(member).collect();
        let mut held = hold_together(&family).into_iter();
        let mut next = |one| !member(&one) || held.next().unwrap_or(true);
        let hold = comparisons.iter().map(&mut next).collect();
        let found = family
            .iter()
            .filter_map(|one| detectable_together(one, family.len()));
        let mut detectable: Vec<f64> = found.collect();
        detectable.sort_unstable_by(f64::total_cmp);
        let suite = (family.len() > 1).then(|| SuiteLevel {
            comparisons: family.len(),
            detectable: detectable.get(detectable.len() / 2).copied(),
        });
        (suite, hold)
    }

    /// Returns the kind of missing evidence if the verdict of a comparison breaks a rule, but the
    /// run must not fail for it; otherwise `None`. After a second race, only that race counts,
    /// because it alone keeps the α of the suite.
    fn unproven(rule: FailOn, comparison: &Comparison, holds: bool) -> Option<Unproven> {
        match &comparison.suite.confirmation {
            Some(second) => (!rule.holds(second.verdict)).then_some(Unproven::SecondRace),
            None => (rule == FailOn::Slower && !holds).then_some(Unproven::SuiteLevel),
        }
    }

    /// Returns true if the verdict of a comparison breaks a rule without an excuse, so that a
    /// second race has to confirm it.
    pub fn asks_for_confirmation(&self, comparison: &Comparison) -> bool {
        let hit = self.hit(
            comparison,
            true,
            &mut vec![Seen::default(); self.ignores.len()],
        );
        self.judged.names(&comparison.benchmark) && hit.is_some_and(|hit| hit.excuse.is_none())
    }

    /// Returns the rule that a comparison breaks; `None` if it breaks none. If it breaks several, a
    /// rule that fails the run takes precedence. Also records the use of each ignore entry in
    /// `seen`.
    fn hit(&self, comparison: &Comparison, holds: bool, seen: &mut [Seen]) -> Option<GateHit> {
        let rules = self.rules_of(&comparison.benchmark);
        let judged = comparison.candidate.is_some();
        let breaks = |rule: FailOn| judged && rule.holds(comparison.verdict);
        let fitting = self.ignores.iter().zip(seen);
        let fitting = fitting.filter(|(ignore, _)| ignore.name.fits(&comparison.benchmark));
        let mut about: Vec<&Ignore> = Vec::new();
        for (ignore, seen) in fitting {
            seen.named = true;
            match ignore.rule {
                Some(rule) => {
                    seen.asked |= judged;
                    seen.broken |= breaks(rule);
                }
                None => {
                    seen.asked |= judged && !rules.is_empty();
                    seen.broken |= rules.iter().any(|rule| breaks(*rule));
                }
            }
            if !self.is_over(ignore) {
                about.push(ignore);
            }
        }
        let broken = rules.into_iter().filter(|rule| breaks(*rule));
        let hits: Vec<GateHit> = broken
            .map(|rule| {
                let mut about = about.iter();
                let excuse = about.find(|ignore| ignore.rule.is_none_or(|only| only == rule));
                GateHit {
                    rule: rule.name().to_owned(),
                    excuse: excuse.map(|ignore| Excuse {
                        reason: ignore.reason.clone(),
                        until: ignore.until.map(|day| day.to_string()),
                    }),
                    unproven: Self::unproven(rule, comparison, holds),
                }
            })
            .collect();
        let failing = hits.iter().find(|hit| hit.fails());
        let unexcused = || hits.iter().find(|hit| hit.excuse.is_none());
        failing.or_else(unexcused).or(hits.first()).cloned()
    }

    fn is_over(&self, ignore: &Ignore) -> bool {
        ignore.until.is_some_and(|until| until < self.today)
    }

    /// Returns the reason why an ignore entry excuses no broken rule. `None` if it excuses one, or
    /// if the analysis does not check the rules that the entry can excuse.
    fn idle(&self, ignore: &Ignore, seen: Seen) -> Option<IdleIgnore> {
        let why = match ignore.until.filter(|_| self.is_over(ignore)) {
            _ if !seen.named => self.whole.then_some(Idle::NoBenchmark)?,
            Some(until) => Idle::Expired {
                until: until.to_string(),
                broken: seen.broken,
            },
            None if seen.asked && !seen.broken => Idle::NothingBroken,
            None => return None,
        };
        Some(IdleIgnore {
            name: ignore.name.pattern().to_owned(),
            rule: ignore.rule.map(|rule| rule.name().to_owned()),
            line: ignore.line,
            why,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use deadheat_analysis::{Options, analyse};
    use deadheat_format::read_run;
    use deadheat_model::{Confirmation, Evidence, Glob, RaceSettings, Verdict};

    use super::*;

    fn analysis(benchmarks: &[(&str, Option<Verdict>)]) -> Analysis {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let path = folder.join("../deadheat-format/tests/golden/run.jsonl");
        let mut analysis = analyse(&read_run(path).unwrap(), Options::default());
        let mut judged = analysis.comparisons.iter();
        let template = judged.find(|one| one.candidate.is_some()).unwrap().clone();
        let comparison = |(name, verdict): &(&str, Option<Verdict>)| Comparison {
            benchmark: (*name).to_owned(),
            verdict: *verdict,
            evidence: Evidence {
                p_looks: Some(1e-9),
                ..template.evidence
            },
            ..template.clone()
        };
        analysis.comparisons = benchmarks.iter().map(comparison).collect();
        analysis.failures.clear();
        analysis
    }

    fn ignore(name: &str, until: Option<&str>, rule: Option<FailOn>) -> Ignore {
        Ignore {
            name: Glob::new(name),
            reason: "rewritten in #123".to_owned(),
            until: until.map(|day| Day::parse(day).unwrap()),
            rule,
            line: 7,
        }
    }

    fn gate(fail_on: &[FailOn], ignores: Vec<Ignore>) -> Gate {
        Gate {
            fail_on: fail_on.to_vec(),
            ignores,
            whole: true,
            today: Day::new(2026, 6, 15).unwrap(),
            ..Gate::default()
        }
    }

    fn hits(gate: &Gate, analysis: &Analysis) -> Vec<Option<(String, bool)>> {
        let analysis = gate.judge(analysis.clone());
        let comparisons = analysis.comparisons.iter();
        let told = |hit: &GateHit| (hit.rule.clone(), hit.excuse.is_some());
        comparisons
            .map(|one| one.suite.gate.as_ref().map(told))
            .collect()
    }

    fn fails(rule: &str) -> Option<(String, bool)> {
        Some((rule.to_owned(), false))
    }

    fn excused(rule: &str) -> Option<(String, bool)> {
        Some((rule.to_owned(), true))
    }

    const SLOWER: Option<Verdict> = Some(Verdict::Slower);
    const OPEN: Option<Verdict> = Some(Verdict::Inconclusive);
    const FASTER: Option<Verdict> = Some(Verdict::Faster);

    #[test]
    fn only_what_breaks_a_rule_is_hit() {
        let analysis = analysis(&[("a", SLOWER), ("b", FASTER), ("c", OPEN), ("d", None)]);
        let slower = gate(&[FailOn::Slower], vec![]);
        assert_eq!(
            hits(&slower, &analysis),
            [fails("slower"), None, None, None]
        );
        let open = gate(&[FailOn::Inconclusive, FailOn::Slower], vec![]);
        let expected = [
            fails("slower"),
            None,
            fails("inconclusive"),
            fails("inconclusive"),
        ];
        assert_eq!(hits(&open, &analysis), expected);
        assert_eq!(
            hits(&gate(&[], vec![]), &analysis),
            [None, None, None, None]
        );
    }

    fn hit_by(p: f64, others: usize, confirmation: Option<bool>) -> GateHit {
        let names: Vec<String> = (0..others).map(|number| format!("b{number}")).collect();
        let mut all = vec![("a", SLOWER)];
        all.extend(names.iter().map(|name| (name.as_str(), OPEN)));
        let mut analysis = analysis(&all);
        let first = &mut analysis.comparisons[0];
        first.evidence.p_looks = Some(p);
        first.suite.confirmation = confirmation.map(|agrees| Confirmation {
            verdict: Some(Verdict::Slower).filter(|_| agrees),
            estimate: first.estimate,
            alpha: 0.05,
            agrees,
        });
        for one in &mut analysis.comparisons[1..] {
            one.evidence.p_looks = Some(0.6);
        }
        let mut analysis = gate(&[FailOn::Slower], vec![]).judge(analysis);
        analysis.comparisons.swap_remove(0).suite.gate.unwrap()
    }

    #[test]
    fn all_that_must_not_be_slower_keep_alpha_together() {
        assert!(hit_by(0.04, 0, None).fails());
        assert_eq!(hit_by(0.04, 9, None).unproven, Some(Unproven::SuiteLevel));
        assert!(hit_by(0.004, 9, None).fails());
        assert!(!hit_by(0.004, 99, None).fails());
    }

    #[test]
    fn where_there_is_a_second_race_it_alone_decides() {
        assert!(hit_by(0.04, 99, Some(true)).fails());
        let not_confirmed = hit_by(1e-9, 0, Some(false));
        assert_eq!(not_confirmed.unproven, Some(Unproven::SecondRace));
    }

    #[test]
    fn a_second_race_that_breaks_the_rule_by_another_verdict_confirms_the_breach() {
        for (second, fails) in [
            (Some(Verdict::Faster), true),
            (Some(Verdict::Inconclusive), true),
            (None, true),
            (Some(Verdict::Equivalent), false),
        ] {
            let mut analysis = analysis(&[("a", SLOWER)]);
            let first = &mut analysis.comparisons[0];
            first.suite.confirmation = Some(Confirmation {
                verdict: second,
                estimate: first.estimate,
                alpha: 0.05,
                agrees: false,
            });
            let strict = gate(&[FailOn::NotEquivalent], vec![]).judge(analysis);
            let hit = strict.comparisons[0].suite.gate.as_ref().unwrap();
            assert_eq!(hit.fails(), fails, "{second:?}");
        }
    }

    #[test]
    fn a_contender_alone_breaks_nothing() {
        let mut analysis = analysis(&[("a", None)]);
        analysis.comparisons[0].candidate = None;
        let strict = gate(&FailOn::ALL, vec![ignore("a", None, None)]);
        assert_eq!(hits(&strict, &analysis), [None]);
        assert_eq!(analysis.gates.idle, []);
    }

    #[test]
    fn rules_of_some_benchmarks_replace_those_of_all() {
        let mut gate = gate(&[FailOn::Slower], vec![]);
        let rules = |name, fail_on: &[FailOn]| RulesOfSome {
            name: Glob::new(name),
            rules: RaceSettings {
                fail_on: Some(fail_on.to_vec()),
                ..RaceSettings::default()
            },
        };
        gate.some = vec![rules("b*", &[FailOn::Inconclusive]), rules("b2", &[])];
        let analysis = analysis(&[("a", SLOWER), ("b1", SLOWER), ("b3", OPEN), ("b2", OPEN)]);
        let expected = [fails("slower"), None, fails("inconclusive"), None];
        assert_eq!(hits(&gate, &analysis), expected);
    }

    #[test]
    fn what_the_filters_leave_out_is_not_judged() {
        let mut gate = gate(&[FailOn::Slower], vec![]);
        gate.judged.include = vec![Glob::new("a*")];
        gate.judged.exclude = vec![Glob::new("*2")];
        let analysis = analysis(&[("a1", SLOWER), ("a2", SLOWER), ("b1", SLOWER)]);
        assert_eq!(hits(&gate, &analysis), [fails("slower"), None, None]);
        let judged = gate.judge(analysis);
        let unjudged = judged.comparisons.iter().map(|one| one.suite.is_unjudged);
        assert_eq!(unjudged.collect::<Vec<_>>(), [false, true, true]);
        gate.judged.exclude = vec![Glob::new("*")];
        assert!(gate.judge(judged).gates.judged_nothing);
    }

    #[test]
    fn an_excuse_holds_up_to_and_on_its_last_day() {
        for (until, expected) in [
            (None, excused("slower")),
            (Some("2026-06-15"), excused("slower")),
            (Some("2026-06-14"), fails("slower")),
        ] {
            let gate = gate(&[FailOn::Slower], vec![ignore("a*", until, None)]);
            let analysis = analysis(&[("a1", SLOWER)]);
            assert_eq!(hits(&gate, &analysis), [expected], "{until:?}");
        }
    }

    #[test]
    fn an_excuse_for_one_rule_excuses_no_other() {
        let only = |rule| gate(&FailOn::ALL, vec![ignore("a", None, Some(rule))]);
        // Slower is not equivalent either, and nothing excuses that.
        let slower = analysis(&[("a", SLOWER)]);
        assert_eq!(
            hits(&only(FailOn::Slower), &slower),
            [fails("not-equivalent")]
        );
        assert_eq!(
            hits(&only(FailOn::NotEquivalent), &slower),
            [fails("slower")]
        );
        let any = gate(&FailOn::ALL, vec![ignore("a", None, None)]);
        assert_eq!(hits(&any, &slower), [excused("slower")]);
    }

    fn idle(gate: &Gate, benchmarks: &[(&str, Option<Verdict>)]) -> Vec<Idle> {
        gate.judge(analysis(benchmarks))
            .gates
            .idle
            .into_iter()
            .map(|idle| idle.why)
            .collect()
    }

    #[test]
    fn entries_that_excuse_nothing_are_told() {
        let slower = |ignores| gate(&[FailOn::Slower], ignores);
        let fresh = slower(vec![ignore("a", None, None)]);
        assert_eq!(idle(&fresh, &[("a", SLOWER)]), []);
        assert_eq!(idle(&fresh, &[("a", FASTER)]), [Idle::NothingBroken]);
        assert_eq!(idle(&fresh, &[("b", SLOWER)]), [Idle::NoBenchmark]);
        let part = Gate {
            whole: false,
            ..fresh
        };
        assert_eq!(idle(&part, &[("b", SLOWER)]), []);
        // One matching benchmark that breaks the rule is enough.
        let several = slower(vec![ignore("*", None, None)]);
        assert_eq!(idle(&several, &[("a", FASTER), ("b", SLOWER)]), []);
    }

    #[test]
    fn an_expired_entry_is_told_whether_its_rule_is_broken_or_not() {
        let over = gate(
            &[FailOn::Slower],
            vec![ignore("a", Some("2026-01-31"), None)],
        );
        for (verdict, broken) in [(SLOWER, true), (FASTER, false)] {
            let until = "2026-01-31".to_owned();
            assert_eq!(
                idle(&over, &[("a", verdict)]),
                [Idle::Expired { until, broken }]
            );
        }
    }

    #[test]
    fn without_rules_nothing_is_known_of_an_entry_that_names_none() {
        let open = gate(&[], vec![ignore("a", None, None)]);
        assert_eq!(idle(&open, &[("a", FASTER)]), []);
        let named = gate(&[], vec![ignore("a", None, Some(FailOn::Slower))]);
        assert_eq!(idle(&named, &[("a", FASTER)]), [Idle::NothingBroken]);
    }

    #[test]
    fn a_benchmark_that_failed_is_there_all_the_same() {
        let mut analysis = analysis(&[]);
        analysis.failures.push(deadheat_model::FailedBenchmark {
            benchmark: "a".to_owned(),
            parameters: Vec::new(),
            message: "it panicked".to_owned(),
        });
        let gate = gate(&[FailOn::Slower], vec![ignore("a", None, None)]);
        let analysis = gate.judge(analysis);
        assert_eq!(analysis.gates.idle, []);
    }
}
