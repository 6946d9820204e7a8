//! The rules of a project: combines `deadheat.toml` with the command line, and makes the gate that
//! checks analyses against the rules.

mod gate;

use std::path::{Path, PathBuf};

use deadheat_analysis::blocks_for_quantile;
use deadheat_format::{FileProblem, find_rules, read_rules};
use deadheat_model::{
    Benchmark, BenchmarkOverrides, FailOn, Glob, HELP, LevelOverride, Looks, RaceSettings,
    RulesFile, RulesOfSome,
};

use crate::exit::Failure;
use crate::settings::{Selection, random_seed};

pub use gate::Gate;

/// The options of a command line that a rules file (`deadheat.toml`) may also set. They take
/// precedence over the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CliOverrides {
    /// The settings on the command line.
    pub settings: RaceSettings,
    /// True if the user named benchmarks on the command line, so that the filters of the rules file
    /// do not apply.
    pub names: bool,
    /// True if the run races all benchmarks of the project. An entry of the ignore list that
    /// matches no benchmark is then outdated.
    pub whole: bool,
}

/// The user's choice of the rules file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RulesSource {
    /// The nearest `deadheat.toml`, from the current folder upwards, if there is one.
    #[default]
    Nearest,
    /// The file at this path (`--config`).
    Named(PathBuf),
    /// No rules file (`--no-config`).
    Nowhere,
}

/// The rules of a command line and of a rules file. The command line takes precedence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    asked: CliOverrides,
    file: Option<RulesFile>,
}

impl Rules {
    /// Combines the rules of a command line with those of a rules file.
    pub fn new(asked: CliOverrides, file: Option<RulesFile>) -> Self {
        Self { asked, file }
    }

    /// Finds and reads the rules file, and combines its rules with those of the command line.
    /// Returns a usage error if the rules are invalid.
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

    /// Returns the settings for all benchmarks: those of the command line, and those of the rules
    /// file for settings that the command line does not have.
    pub fn settings(&self) -> RaceSettings {
        let asked = self.asked.settings.clone();
        match &self.file {
            Some(file) => asked.or(&file.all),
            None => asked,
        }
    }

    /// Returns the settings for all benchmarks, with a random seed if the user set none.
    pub fn seeded(&self) -> RaceSettings {
        let mut settings = self.settings();
        settings.seed.get_or_insert_with(random_seed);
        settings
    }

    /// Returns the rules for benchmarks selected by name, without those that the command line
    /// overrides.
    pub fn some(&self) -> Vec<RulesOfSome> {
        let file = self.file.as_ref();
        let mut some = file.map_or_else(Vec::new, |file| file.some.clone());
        for RulesOfSome { rules, .. } in &mut some {
            *rules = std::mem::take(rules).without(&self.asked.settings);
        }
        some
    }

    /// Returns a sentence that names the rules file and the benchmarks that its filters select;
    /// `None` without a file.
    pub fn origin(&self) -> Option<String> {
        let file = self.file.as_ref()?;
        let filters = self.selection(Selection::default());
        let mut text = format!("settings come from {}", file.path.display());
        for (key, globs) in [("include", filters.include), ("exclude", filters.exclude)] {
            if !globs.is_empty() {
                let patterns: Vec<&str> = globs.iter().map(Glob::pattern).collect();
                text += &format!("; {key}: {}", patterns.join(", "));
            }
        }
        Some(text)
    }

    /// Returns `selection`, which is that of the command line, with the filters of the rules file
    /// added. The filters of the file do not apply if the user names benchmarks on the command
    /// line.
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

    /// Returns the gate that checks analyses against the rules. It judges the benchmarks that the
    /// filters of the rules file select. If the user named benchmarks, these filters do not apply,
    /// and the gate judges all benchmarks of the run.
    pub fn gate(&self) -> Gate {
        let file = self.file.as_ref();
        Gate {
            fail_on: self.settings().fail_on.unwrap_or_default(),
            some: self.some(),
            ignores: file.map_or_else(Vec::new, |file| file.ignores.clone()),
            judged: self.selection(Selection::default()),
            config: file.map(|file| file.path.clone()),
            whole: self.asked.whole,
            allows_unjudged: self.settings().allow_unjudged.unwrap_or(false),
            ..Gate::default()
        }
    }

    /// Returns a hint if the command line asks for a second race, but no rule can fail the first
    /// race.
    pub fn hint_about_confirm(&self) -> Option<String> {
        let is_asked = self.asked.settings.confirm == Some(true);
        let fails = |rules: &RaceSettings| rules.fail_on.as_ref().is_some_and(|on| !on.is_empty());
        let has_rule = fails(&self.settings()) || self.some().iter().any(|one| fails(&one.rules));
        (is_asked && !has_rule).then(|| {
            format!(
                "--confirm has no effect, because no rule can fail this race{HELP}set a rule, such \
                 as --fail-on slower"
            )
        })
    }

    /// Returns a message about `--metric`. If the rules file sets the metric, replaces the option
    /// by the name of the file.
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

/// Returns the settings that rules set for this benchmark only. `looks` plans the looks for an α
/// that a rule sets for the benchmark.
pub(crate) fn benchmark_overrides<E>(
    some: &[RulesOfSome],
    benchmark: &str,
    looks: impl FnOnce(f64) -> Result<Looks, E>,
) -> Result<BenchmarkOverrides, E> {
    let rules = RulesOfSome::of(some, benchmark);
    let level = |alpha| {
        Ok(LevelOverride {
            alpha,
            looks: looks(alpha)?,
        })
    };
    Ok(BenchmarkOverrides {
        margin: rules.margin,
        level: rules.alpha.map(level).transpose()?,
        judged: rules.metric,
        quantile: rules.quantile,
        budget: rules.budget,
    })
}

/// Returns the number of blocks in a replicate of a benchmark that is judged by a quantile: the
/// user's choice, or the minimum for this quantile. Returns `None` for any other benchmark, and an
/// error if the user's choice is below the minimum.
pub(crate) fn blocks_of_quantile(
    benchmark: &Benchmark,
    settings: &RaceSettings,
) -> Result<Option<u32>, String> {
    let Some(quantile) = benchmark.overrides.quantile.or(settings.quantile) else {
        return Ok(None);
    };
    let least = blocks_for_quantile(quantile, benchmark.contenders.len());
    match settings.blocks {
        Some(blocks) if blocks < least => Err(format!(
            "--blocks {blocks}: the quantile {quantile} of benchmark '{}' needs at least {least} \
             blocks in a replicate",
            benchmark.name
        )),
        blocks => Ok(Some(blocks.unwrap_or(least))),
    }
}

/// Sets in every benchmark with the rule `slower` the number of comparisons that the gate tests
/// together. With `--confirm`, the number is not set, because the second race keeps the α, and the
/// first race needs no correction.
pub(crate) fn hold_together(
    benchmarks: &mut [Benchmark],
    settings: &RaceSettings,
    some: &[RulesOfSome],
) {
    let is_member = |benchmark: &Benchmark| {
        let own = RulesOfSome::of(some, &benchmark.name).fail_on;
        let asked = own.as_ref().or(settings.fail_on.as_ref());
        asked.is_some_and(|asked| asked.contains(&FailOn::Slower))
    };
    let members = benchmarks.iter().filter(|one| is_member(one));
    let family: usize = members.map(|one| one.candidates().count()).sum();
    if family > 1 && !settings.confirm() {
        let members = benchmarks.iter_mut().filter(|one| is_member(one));
        members.for_each(|one| one.family = family as u32);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use deadheat_analysis::planned_looks;
    use deadheat_model::{Contender, Glob, Metric, Workload};

    use super::*;

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
        let selection = names(false).selection(Selection::default());
        assert!(!selection.names("sort") && selection.names("parse/json"));
        let selection = names(true).selection(Selection::default());
        assert!(selection.names("sort"));
    }

    fn some(metric: &str) -> Vec<RulesOfSome> {
        vec![RulesOfSome {
            name: Glob::new("parse/*"),
            rules: RaceSettings {
                alpha: Some(0.01),
                metric: Some(Metric::from_name(metric)),
                ..RaceSettings::default()
            },
        }]
    }

    #[test]
    fn a_benchmark_gets_the_looks_of_its_own_level() {
        let looks = |alpha| planned_looks(0, 40, alpha);
        let own = benchmark_overrides(&some("cpu"), "parse/json", looks).unwrap();
        let level = own.level.unwrap();
        assert_eq!(level.looks, planned_looks(0, 40, 0.01).unwrap());
        assert_eq!(level.looks.at, planned_looks(0, 40, 0.05).unwrap().at);
        assert_eq!(own.judged, Some(Metric::Cpu));
        assert!(
            benchmark_overrides(&some("cpu"), "sort", looks)
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn all_that_must_not_be_slower_hold_together_unless_a_second_race_confirms() {
        let contender = |name: &str| Contender {
            name: name.to_owned(),
            workload: Workload::Recording,
        };
        let benchmark = |name: &str, contenders: &[&str]| Benchmark {
            name: name.to_owned(),
            contenders: contenders.iter().copied().map(contender).collect(),
            ..Benchmark::default()
        };
        let free = RulesOfSome {
            name: Glob::new("free"),
            rules: RaceSettings {
                fail_on: Some(Vec::new()),
                ..RaceSettings::default()
            },
        };
        let families = |settings: &RaceSettings| {
            let mut all = [
                benchmark("free", &["a", "b"]),
                benchmark("two", &["a", "b"]),
                benchmark("three", &["a", "b", "c"]),
            ];
            hold_together(&mut all, settings, std::slice::from_ref(&free));
            all.map(|one| one.family)
        };
        let mut settings = RaceSettings::default();
        assert_eq!(families(&settings), [0, 0, 0]);
        settings.fail_on = Some(vec![FailOn::Slower]);
        assert_eq!(families(&settings), [0, 3, 3]);
        settings.confirm = Some(true);
        assert_eq!(families(&settings), [0, 0, 0]);
    }
}
