//! Everything that is asked of the benchmarks, the command line before the file
//! and the file before what deadheat does by itself.

use std::path::{Path, PathBuf};

use deadheat_format::{FileProblem, find_rules, read_rules};
use deadheat_model::{Glob, RaceSettings, RulesFile, RulesOfSome};
#[cfg(feature = "commands")]
use deadheat_model::{Metric, Origin, Results, Run};

use super::gate::Gate;
#[cfg(feature = "commands")]
use super::own::recorded_rules;
use crate::exit::Failure;
use crate::settings::Selection;

/// What a command line says of what a rules file may say, too. It always wins over a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CliOverrides {
    /// Its options.
    pub settings: RaceSettings,
    /// True if benchmarks were named one by one, so that the filters of a file do not count.
    pub names: bool,
    /// True if all benchmarks of a project are at hand, so that an entry of a file that fits none
    /// of them has outlived its benchmark.
    pub whole: bool,
}

/// Which rules file is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RulesSource {
    /// The nearest `deadheat.toml`, from the current folder upwards; none where
    /// there is none.
    #[default]
    Nearest,
    /// This one.
    Named(PathBuf),
    /// None.
    Nowhere,
}

/// The terms that saved results, which carry no plan, are judged by.
#[cfg(feature = "commands")]
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// Smallest relative change worth acting on; 0.01 is 1 %.
    pub margin: f64,
    /// Chance of any wrong verdict that the user accepts.
    pub alpha: f64,
    /// The metric the verdict speaks of, by name; without one the first of
    /// each benchmark.
    pub metric: Option<String>,
    /// Rules of some benchmarks; the last that fits wins, key by key.
    pub rules: Vec<RulesOfSome>,
}

#[cfg(feature = "commands")]
impl Terms {
    /// Returns the metric that a benchmark is judged by, where anybody says.
    pub(crate) fn metric_of(&self, benchmark: &str) -> Option<String> {
        let own = RulesOfSome::of(&self.rules, benchmark).metric;
        own.map(|metric| metric.name().to_owned())
            .or_else(|| self.metric.clone())
    }
}

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
                    .map_err(|error| match error.problem {
                        FileProblem::CannotRead(_) => Failure::reading(error),
                        _ => Failure::Usage(error.to_string()),
                    })?
            }
        };
        Ok(Self::new(asked, file))
    }

    /// What is asked of every benchmark: by the command line, then by the file.
    pub fn settings(&self) -> RaceSettings {
        let asked = self.asked.settings.clone();
        match &self.file {
            Some(file) => asked.or(&file.all),
            None => asked,
        }
    }

    /// Rules of some benchmarks, without what the command line says for all.
    pub fn some(&self) -> Vec<RulesOfSome> {
        let mut some = self
            .file
            .as_ref()
            .map_or_else(Vec::new, |file| file.some.clone());
        for RulesOfSome { rules, .. } in &mut some {
            *rules = std::mem::take(rules).without(&self.asked.settings);
        }
        some
    }

    /// Returns true if a benchmark is raced or judged, as the filters of the file have it; those
    /// who name benchmarks on the command line know better.
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
        let settings = self.settings();
        Terms {
            margin: settings.margin(),
            alpha: settings.alpha(),
            metric: settings.metric.map(|metric| metric.name().to_owned()),
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

    /// The gate that answers have to pass. Its filters are those of the file, unless benchmarks
    /// were named.
    pub fn gate(&self) -> Gate {
        let Some(file) = &self.file else {
            return Gate {
                fail_on: self.settings().fail_on.unwrap_or_default(),
                whole: self.asked.whole,
                ..Gate::default()
            };
        };
        let filters = |globs: &Vec<Glob>| {
            if self.asked.names {
                Vec::new()
            } else {
                globs.clone()
            }
        };
        Gate {
            fail_on: self.settings().fail_on.unwrap_or_default(),
            some: self.some(),
            ignores: file.ignores.clone(),
            include: filters(&file.include),
            exclude: filters(&file.exclude),
            config: Some(file.path.clone()),
            whole: self.asked.whole,
            ..Gate::default()
        }
    }

    /// A message about `--metric`, which names the file where that chose the
    /// metric.
    pub fn blamed(&self, message: String) -> String {
        let file = self.file.as_ref();
        let file = file.filter(|_| self.asked.settings.metric.is_none());
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
    use deadheat_model::{FailOn, Metric};
    use std::time::Duration;

    fn file() -> RulesFile {
        RulesFile {
            path: "deadheat.toml".into(),
            all: RaceSettings {
                margin: Some(0.02),
                alpha: Some(0.01),
                metric: Some(Metric::Cpu),
                budget: Some(Duration::from_secs(30)),
                fail_on: Some(vec![FailOn::Slower]),
                max_replicates: Some(22),
                ..RaceSettings::default()
            },
            include: vec![Glob::new("parse/*")],
            some: vec![RulesOfSome {
                name: Glob::new("parse/*"),
                rules: RaceSettings {
                    margin: Some(0.05),
                    fail_on: Some(vec![FailOn::Inconclusive]),
                    ..RaceSettings::default()
                },
            }],
            ..RulesFile::default()
        }
    }

    #[test]
    fn the_command_line_wins_over_the_file_and_the_file_over_the_defaults() {
        let nothing = Rules::default().settings();
        assert_eq!((nothing.margin(), nothing.alpha()), (0.01, 0.05));
        assert_eq!((nothing.judged(), nothing.budget), (Metric::Wall, None));

        let rules = Rules::new(CliOverrides::default(), Some(file()));
        let settings = rules.settings();
        assert_eq!((settings.margin(), settings.alpha()), (0.02, 0.01));
        assert_eq!(settings.judged(), Metric::Cpu);
        assert_eq!(settings.max_replicates, Some(22));
        assert_eq!(rules.gate().fail_on, [FailOn::Slower]);
        assert_eq!(rules.some(), file().some);

        let asked = CliOverrides {
            settings: RaceSettings {
                margin: Some(0.03),
                alpha: Some(0.1),
                metric: Some(Metric::User),
                budget: Some(Duration::from_secs(1)),
                max_replicates: Some(6),
                fail_on: Some(vec![FailOn::NotEquivalent]),
                ..RaceSettings::default()
            },
            ..CliOverrides::default()
        };
        let rules = Rules::new(asked, Some(file()));
        let settings = rules.settings();
        assert_eq!((settings.margin(), settings.alpha()), (0.03, 0.1));
        assert_eq!(settings.judged(), Metric::User);
        assert_eq!(settings.budget, Some(Duration::from_secs(1)));
        assert_eq!(settings.max_replicates, Some(6));
        assert_eq!(rules.gate().fail_on, [FailOn::NotEquivalent]);
        assert_eq!(rules.some()[0].rules, RaceSettings::default());
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
}
