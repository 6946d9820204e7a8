//! Everything that is asked of the benchmarks, the command line before the file
//! and the file before what deadheat does by itself.

use std::path::Path;
use std::time::Duration;

use deadheat_format::{FormatError, find_rules, read_rules};
use deadheat_model::{Metric, RuleSet, RulesFile, RulesOfSome};
#[cfg(feature = "commands")]
use deadheat_model::{Origin, Results, Run};

use super::cli_overrides::{CliOverrides, RulesSource};
use super::gate::Gate;
#[cfg(feature = "commands")]
use super::own::recorded_rules;
use crate::exit::Failure;
use crate::race::RaceError;
#[cfg(feature = "commands")]
use crate::saved::Terms;
use crate::settings::Selection;

/// The margin where nobody says.
const MARGIN: f64 = 0.01;
/// The accepted chance of a wrong verdict where nobody says.
const ALPHA: f64 = 0.05;

/// What is asked of the benchmarks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    asked: CliOverrides,
    file: Option<RulesFile>,
}

impl Rules {
    /// The rules of a command line and, below them, of a file.
    pub fn new(asked: CliOverrides, file: Option<RulesFile>) -> Self {
        Self { asked, file }
    }

    /// The same, the file found and read. Rules that make no sense are an error
    /// of what was asked for.
    pub fn read(asked: CliOverrides, source: &RulesSource) -> Result<Self, Failure> {
        let file = match source {
            RulesSource::Nowhere => None,
            RulesSource::Named(path) => Some(
                read_rules(path).map_err(|error| Failure::Usage(format!("--config: {error}")))?,
            ),
            RulesSource::Nearest => {
                let found = find_rules(Path::new("")).map_err(Failure::reading)?;
                found
                    .map(read_rules)
                    .transpose()
                    .map_err(|error| match error {
                        FormatError::CannotRead { .. } => Failure::reading(error),
                        error => Failure::Usage(error.to_string()),
                    })?
            }
        };
        Ok(Self::new(asked, file))
    }

    /// What the file says of all benchmarks.
    fn all(&self) -> Option<&RuleSet> {
        self.file.as_ref().map(|file| &file.all)
    }

    /// Smallest relative change worth acting on, where a benchmark has none of
    /// its own.
    pub fn margin(&self) -> f64 {
        let file = self.all().and_then(|all| all.margin);
        self.asked.margin.or(file).unwrap_or(MARGIN)
    }

    /// Accepted chance of a wrong verdict, likewise.
    pub fn alpha(&self) -> f64 {
        let file = self.all().and_then(|all| all.alpha);
        self.asked.alpha.or(file).unwrap_or(ALPHA)
    }

    /// What is judged, where anybody says.
    pub fn metric(&self) -> Option<&Metric> {
        let file = self.all().and_then(|all| all.metric.as_ref());
        self.asked.metric.as_ref().or(file)
    }

    /// What is judged in a race, where a benchmark has no metric of its own.
    pub fn judged(&self) -> Metric {
        self.metric().cloned().unwrap_or(Metric::Wall)
    }

    /// No block starts after this much time.
    pub fn budget(&self) -> Option<Duration> {
        let file = self.all().and_then(|all| all.budget);
        self.asked.budget.or(file)
    }

    /// Replicates at most, where anybody says.
    pub fn max_replicates(&self) -> Option<u32> {
        let file = self.file.as_ref().and_then(|file| file.max_replicates);
        self.asked.max_replicates.or(file)
    }

    /// Rules of some benchmarks, without what the command line says for all.
    pub fn some(&self) -> Vec<RulesOfSome> {
        let Some(file) = &self.file else {
            return Vec::new();
        };
        let mut some = file.some.clone();
        for RulesOfSome { rules, .. } in &mut some {
            rules.margin = rules.margin.filter(|_| self.asked.margin.is_none());
            rules.alpha = rules.alpha.filter(|_| self.asked.alpha.is_none());
            rules.budget = rules.budget.filter(|_| self.asked.budget.is_none());
            if self.asked.metric.is_some() {
                rules.metric = None;
            }
            if !self.asked.fail_on.is_empty() {
                rules.fail_on = None;
            }
        }
        some
    }

    /// Whether a benchmark is raced or judged, as the filters of the file have
    /// it; those who name benchmarks on the command line know better.
    pub fn selects(&self, benchmark: &str) -> bool {
        let file = self.file.as_ref().filter(|_| !self.asked.names);
        file.is_none_or(|file| file.selects(benchmark))
    }

    /// What the command line selects, among what the filters of the file leave.
    pub fn selection(&self, selection: Selection) -> Selection {
        match self.file.as_ref().filter(|_| !self.asked.names) {
            Some(file) => Selection {
                include: file.include.clone(),
                exclude: file.exclude.clone(),
                ..selection
            },
            None => selection,
        }
    }

    /// What saved results are judged by.
    #[cfg(feature = "commands")]
    pub fn terms(&self) -> Terms {
        Terms {
            margin: self.margin(),
            alpha: self.alpha(),
            metric: self.metric().map(|metric| metric.name().to_owned()),
            rules: self.some(),
        }
    }

    /// Takes out of results what the filters of the file leave out.
    #[cfg(feature = "commands")]
    pub fn keep(&self, results: &mut Results) {
        results.benchmarks.retain(|one| self.selects(&one.name));
    }

    /// Gives the benchmarks of a recording their own rules; a race keeps those
    /// it was planned with. `file` is the recording, for messages.
    #[cfg(feature = "commands")]
    pub fn govern(&self, run: &mut Run, file: &Path) -> Result<(), Failure> {
        if run.header.origin == Origin::Race || !run.sides.is_empty() {
            return Ok(());
        }
        let some = self.some();
        let end = run.header.plan.design.looks.max_replicates();
        for index in 0..run.header.plan.benchmarks.len() {
            let recorded = run.header.metrics_of(index);
            let benchmark = &mut run.header.plan.benchmarks[index];
            benchmark.overrides = recorded_rules(&some, &benchmark.name, end);
            if let Some(judged) = &benchmark.overrides.judged
                && !recorded.contains(judged)
            {
                let known: Vec<&str> = recorded.iter().map(Metric::name).collect();
                return Err(Failure::Usage(format!(
                    "metric {judged} of benchmark '{}' in {}: {} records only {}",
                    benchmark.name,
                    self.path().display(),
                    file.display(),
                    known.join(", ")
                )));
            }
        }
        Ok(())
    }

    /// The rules file, or the name it would have.
    #[cfg(feature = "commands")]
    fn path(&self) -> &Path {
        let file = self.file.as_ref().map(|file| file.path.as_path());
        file.unwrap_or(Path::new(deadheat_format::RULES_FILE))
    }

    /// The gate that answers have to pass.
    pub fn gate(&self) -> Gate {
        let in_file = self.all().and_then(|all| all.fail_on.clone());
        let file = self.file.as_ref();
        Gate {
            fail_on: match &self.asked.fail_on[..] {
                [] => in_file.unwrap_or_default(),
                asked => asked.to_vec(),
            },
            some: self.some(),
            ignores: file.map_or_else(Vec::new, |file| file.ignores.clone()),
            include: file.map_or_else(Vec::new, |file| file.include.clone()),
            exclude: file.map_or_else(Vec::new, |file| file.exclude.clone()),
            config: file.map(|file| file.path.clone()),
            ..Gate::default()
        }
        .of(&self.asked)
    }

    /// Whose fault it is that a race did not start.
    pub fn blame(&self, error: RaceError) -> Failure {
        match error {
            RaceError::MetricNotMeasured { .. } => Failure::Usage(self.blamed(error.to_string())),
            error => error.into(),
        }
    }

    /// A message about `--metric`, which names the file where that chose the
    /// metric.
    pub fn blamed(&self, message: String) -> String {
        let file = self.file.as_ref().filter(|_| self.asked.metric.is_none());
        let file = file.filter(|file| file.all.metric.is_some());
        match (file, message.strip_prefix("--metric ")) {
            (Some(file), Some(rest)) => format!("{}: metric {rest}", file.path.display()),
            _ => message,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_model::{FailOn, Glob};

    fn file() -> RulesFile {
        RulesFile {
            path: "deadheat.toml".into(),
            all: RuleSet {
                margin: Some(0.02),
                alpha: Some(0.01),
                metric: Some(Metric::Cpu),
                budget: Some(Duration::from_secs(30)),
                fail_on: Some(vec![FailOn::Slower]),
            },
            max_replicates: Some(22),
            include: vec![Glob::new("parse/*")],
            some: vec![RulesOfSome {
                name: Glob::new("parse/*"),
                rules: RuleSet {
                    margin: Some(0.05),
                    fail_on: Some(vec![FailOn::Inconclusive]),
                    ..RuleSet::default()
                },
            }],
            ..RulesFile::default()
        }
    }

    #[test]
    fn the_command_line_wins_over_the_file_and_the_file_over_the_defaults() {
        let nothing = Rules::default();
        assert_eq!((nothing.margin(), nothing.alpha()), (0.01, 0.05));
        assert_eq!((nothing.judged(), nothing.budget()), (Metric::Wall, None));

        let rules = Rules::new(CliOverrides::default(), Some(file()));
        assert_eq!((rules.margin(), rules.alpha()), (0.02, 0.01));
        assert_eq!(rules.judged(), Metric::Cpu);
        assert_eq!(rules.max_replicates(), Some(22));
        assert_eq!(rules.gate().fail_on, [FailOn::Slower]);
        assert_eq!(rules.some(), file().some);

        let asked = CliOverrides {
            margin: Some(0.03),
            alpha: Some(0.1),
            metric: Some(Metric::User),
            budget: Some(Duration::from_secs(1)),
            max_replicates: Some(6),
            fail_on: vec![FailOn::NotEquivalent],
            ..CliOverrides::default()
        };
        let rules = Rules::new(asked, Some(file()));
        assert_eq!((rules.margin(), rules.alpha()), (0.03, 0.1));
        assert_eq!(rules.judged(), Metric::User);
        assert_eq!(rules.budget(), Some(Duration::from_secs(1)));
        assert_eq!(rules.max_replicates(), Some(6));
        assert_eq!(rules.gate().fail_on, [FailOn::NotEquivalent]);
        assert_eq!(rules.some()[0].rules, RuleSet::default());
    }

    #[test]
    fn filters_of_the_file_hold_until_somebody_names_benchmarks() {
        let names = |names| {
            let asked = CliOverrides {
                names,
                ..CliOverrides::default()
            };
            Rules::new(asked, Some(file()))
        };
        assert!(!names(false).selects("sort") && names(false).selects("parse/json"));
        assert!(names(true).selects("sort"));
        let selection = names(false).selection(Selection::default());
        assert!(!selection.names("sort") && selection.names("parse/json"));
        let selection = names(true).selection(Selection::default());
        assert!(selection.names("sort"));
    }

    #[test]
    fn a_metric_nobody_measures_is_blamed_on_who_asked_for_it() {
        let error = || RaceError::MetricNotMeasured {
            metric: Metric::Cpu,
            reason: "there is only wall".to_owned(),
        };
        let told = Rules::new(CliOverrides::default(), Some(file())).blame(error());
        assert_eq!(
            told.to_string(),
            "deadheat.toml: metric cpu: there is only wall"
        );
        let told = Rules::default().blame(error());
        assert_eq!(told.to_string(), "--metric cpu: there is only wall");
    }
}
