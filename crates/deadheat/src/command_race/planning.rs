//! Spec → Plan: everything is checked and fixed before the first launch.

use deadheat_analysis::{fixed_look, planned_looks};
use deadheat_model::{
    Benchmark, CommandLine, Contender, Design, Front, Hooks, Looks, Output, Plan, Workload,
};

use super::parameters::combinations;
use super::spec::{CommandRaceSpec, SpecError};
use super::words::substitute;
use super::words::words;
use crate::names::distinct;
use crate::rules::{benchmark_overrides, hold_together};

/// One contender before its parameters are filled in.
struct Template<'a> {
    command: &'a str,
    name: Option<&'a str>,
    setup: Option<&'a str>,
    prepare: Option<&'a str>,
    conclude: Option<&'a str>,
    cleanup: Option<&'a str>,
    output: Output,
}

impl CommandRaceSpec {
    /// The frozen plan of this race, or what is wrong with it.
    pub fn plan(&self) -> Result<Plan, SpecError> {
        if self.commands.is_empty() {
            return Err(SpecError::NoCommand);
        }
        let mut benchmarks = self.benchmarks()?;
        if self.settings.control() {
            benchmarks.iter_mut().for_each(Benchmark::add_control);
        }
        // Copies too: they decide how many launches a block has.
        let contenders = benchmarks
            .iter()
            .map(|b| b.contenders.len())
            .max()
            .unwrap_or(0);
        for benchmark in &mut benchmarks {
            let looks = |alpha| self.looks(contenders, alpha);
            benchmark.overrides = benchmark_overrides(&self.rules, &benchmark.name, looks)?;
        }
        hold_together(&mut benchmarks, &self.settings, &self.rules);
        let looks = self.looks(contenders, self.settings.alpha())?;
        let plan = Plan {
            design: Design {
                warmup: self.warmup,
                ..self.settings.design(Front::Run, looks)
            },
            seed: self.settings.seed(),
            benchmarks,
        };
        plan.validate()?;
        Ok(plan)
    }

    /// hyperfine counts runs of each command, deadheat replicates: a block of
    /// two contenders holds two launches of each, any other holds one.
    pub(super) fn looks(&self, contenders: usize, alpha: f64) -> Result<Looks, SpecError> {
        let launches_per_block = if contenders == 2 { 2 } else { 1 };
        let per_replicate = launches_per_block * self.settings.blocks.unwrap_or(1).max(1);
        let at_least = |runs: u32| runs.div_ceil(per_replicate);
        for (flag, value) in [
            ("--runs", self.runs.exactly),
            ("--max-runs", self.runs.max),
            ("--max-replicates", self.settings.max_replicates),
        ] {
            if value == Some(0) {
                return Err(SpecError::Zero { flag });
            }
        }
        if let Some(runs) = self.runs.exactly {
            if self.runs.min.is_some() || self.runs.max.is_some() {
                return Err(SpecError::Conflict {
                    one: "--runs",
                    other: "--min-runs and --max-runs",
                    why: "an exact number has no bounds",
                });
            }
            return Ok(fixed_look(at_least(runs), alpha)?);
        }
        let min = self.runs.min.map_or(0, at_least);
        let max = match self.runs.max {
            Some(runs) => (runs / per_replicate).max(1),
            None => self.settings.max_replicates().max(min),
        };
        if min > max {
            return Err(SpecError::Runs {
                flags: "--min-runs, --max-runs",
                min: self.runs.min.unwrap_or(0),
                max: self.runs.max.unwrap_or(0),
            });
        }
        Ok(planned_looks(min, max, alpha)?)
    }

    fn benchmarks(&self) -> Result<Vec<Benchmark>, SpecError> {
        let combinations = combinations(&self.parameters)?;
        let templates = self.templates(combinations.len())?;
        // One command over several values races the values; several commands
        // race anew at every value.
        if self.commands.len() == 1 && combinations.len() > 1 {
            let contenders = templates
                .iter()
                .cycle()
                .take(combinations.len())
                .zip(&combinations)
                .enumerate()
                .map(|(index, (template, values))| {
                    let named = self.names.len() == combinations.len();
                    let name = if named {
                        Some(self.names[index].as_str())
                    } else {
                        template.name
                    };
                    self.contender(
                        &Template {
                            name,
                            ..template.clone()
                        },
                        values,
                    )
                })
                .collect::<Result<Vec<Contender>, SpecError>>()?;
            return Ok(vec![benchmark("run".to_owned(), Vec::new(), contenders)]);
        }
        combinations
            .into_iter()
            .map(|values| {
                let contenders = templates
                    .iter()
                    .map(|template| self.contender(template, &values))
                    .collect::<Result<Vec<Contender>, SpecError>>()?;
                Ok(benchmark(benchmark_name(&values), values, contenders))
            })
            .collect()
    }

    fn templates(&self, combinations: usize) -> Result<Vec<Template<'_>>, SpecError> {
        let commands = self.commands.len();
        let names_of_values = commands == 1 && self.names.len() == combinations;
        if !names_of_values && self.names.len() > commands {
            return Err(SpecError::Count {
                flag: "--command-name",
                given: self.names.len(),
                commands,
            });
        }
        let check = |flag, given| match given {
            0 | 1 => Ok(()),
            given if given == commands => Ok(()),
            given => Err(SpecError::Count {
                flag,
                given,
                commands,
            }),
        };
        check("--setup", self.setup.len())?;
        check("--prepare", self.prepare.len())?;
        check("--conclude", self.conclude.len())?;
        check("--cleanup", self.cleanup.len())?;
        check("--output", self.outputs.len())?;
        if self.check_output && !self.outputs.is_empty() {
            return Err(SpecError::Conflict {
                one: "--check-output",
                other: "--output",
                why: "the output is kept to be compared",
            });
        }
        fn pick(list: &[String], index: usize) -> Option<&str> {
            if list.len() == 1 {
                list.first()
            } else {
                list.get(index)
            }
            .map(String::as_str)
        }
        let output = |index: usize| match self.outputs.as_slice() {
            _ if self.check_output => Output::Compared,
            [] => Output::Null,
            [one] => one.0.clone(),
            each => each[index].0.clone(),
        };
        Ok(self
            .commands
            .iter()
            .enumerate()
            .map(|(index, command)| Template {
                command,
                name: self.names.get(index).map(String::as_str),
                setup: pick(&self.setup, index),
                prepare: pick(&self.prepare, index),
                conclude: pick(&self.conclude, index),
                cleanup: pick(&self.cleanup, index),
                output: output(index),
            })
            .collect())
    }

    fn contender(
        &self,
        template: &Template<'_>,
        values: &[(String, String)],
    ) -> Result<Contender, SpecError> {
        let text = substitute("command", template.command, values)?;
        let hook = |flag, text: Option<&str>| -> Result<Option<Vec<String>>, SpecError> {
            text.map(|text| words(flag, &substitute(flag, text, values)?, &self.shell))
                .transpose()
        };
        let name = match template.name {
            Some(name) => substitute("--command-name", name, values)?,
            None => text.clone(),
        };
        let command = CommandLine {
            words: words("command", &text, &self.shell)?,
            text,
            input: self.input.clone(),
            output: template.output.clone(),
            timeout: self.settings.timeout(Front::Run),
            exit_policy: self.exit_policy.clone(),
            hooks: Hooks {
                setup: hook("--setup", template.setup)?,
                prepare: hook("--prepare", template.prepare)?,
                conclude: hook("--conclude", template.conclude)?,
                cleanup: hook("--cleanup", template.cleanup)?,
            },
        };
        Ok(Contender {
            name,
            workload: Workload::Command(Box::new(command)),
        })
    }
}

impl Clone for Template<'_> {
    fn clone(&self) -> Self {
        Self {
            output: self.output.clone(),
            ..*self
        }
    }
}

fn benchmark(
    name: String,
    parameters: Vec<(String, String)>,
    mut contenders: Vec<Contender>,
) -> Benchmark {
    let names = contenders
        .iter()
        .map(|contender| contender.name.clone())
        .collect();
    for (contender, name) in contenders.iter_mut().zip(distinct(names)) {
        contender.name = name;
    }
    Benchmark {
        name,
        parameters,
        contenders,
        ..Benchmark::default()
    }
}

fn benchmark_name(values: &[(String, String)]) -> String {
    if values.is_empty() {
        return "run".to_owned();
    }
    let pairs: Vec<String> = values
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    pairs.join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::parameters::Parameter;
    use super::super::spec::OutputChoice;
    use super::*;
    use crate::command_race::Runs;
    use deadheat_model::RaceSettings;

    fn spec(commands: &[&str]) -> CommandRaceSpec {
        CommandRaceSpec {
            commands: commands.iter().map(|text| text.to_string()).collect(),
            ..CommandRaceSpec::default()
        }
    }

    fn names(plan: &Plan) -> Vec<Vec<String>> {
        plan.benchmarks
            .iter()
            .map(|b| b.contenders.iter().map(|c| c.name.clone()).collect())
            .collect()
    }

    fn command(plan: &Plan, benchmark: usize, contender: usize) -> &CommandLine {
        match &plan.benchmarks[benchmark].contenders[contender].workload {
            Workload::Command(command) => command,
            _ => panic!("a command was planned"),
        }
    }

    #[test]
    fn two_commands_are_one_benchmark_with_the_documented_defaults() {
        let plan = spec(&["./old in", "./new in"]).plan().unwrap();
        assert_eq!(names(&plan), [["./old in", "./new in"]]);
        assert_eq!(plan.design.looks.at, [6, 8, 11, 16, 22, 31, 40]);
        assert_eq!(command(&plan, 0, 1).words, ["./new", "in"]);
    }

    #[test]
    fn an_a_a_race_gets_names_that_differ() {
        let plan = spec(&["true", "true"]).plan().unwrap();
        assert_eq!(names(&plan), [["true", "true (2)"]]);
    }

    #[test]
    fn a_control_is_the_baseline_once_more_in_every_benchmark() {
        let mut spec = spec(&["a {n}", "b {n}"]);
        spec.parameters = vec![Parameter::list("n", "1,2").unwrap()];
        spec.settings.control = Some(true);
        let plan = spec.plan().unwrap();
        let expected = [
            ["a 1", "b 1", "a 1 (control)"],
            ["a 2", "b 2", "a 2 (control)"],
        ];
        assert_eq!(names(&plan), expected);
        assert_eq!(command(&plan, 1, 2), command(&plan, 1, 0));
        assert!(plan.benchmarks.iter().all(|benchmark| benchmark.control));
        spec.commands.pop();
        spec.parameters.clear();
        spec.commands = vec!["a".to_owned()];
        assert_eq!(names(&spec.plan().unwrap()), [["a", "a (control)"]]);
    }

    #[test]
    fn several_commands_race_anew_at_every_value() {
        let mut spec = spec(&["a {n}", "b {n}"]);
        spec.parameters = vec![Parameter::list("n", "1,2").unwrap()];
        spec.prepare = vec!["p {n}".to_owned()];
        let plan = spec.plan().unwrap();
        assert_eq!(names(&plan), [["a 1", "b 1"], ["a 2", "b 2"]]);
        assert_eq!(plan.benchmarks[1].name, "n=2");
        assert_eq!(
            command(&plan, 1, 0).hooks.prepare,
            Some(vec!["p".to_owned(), "2".to_owned()])
        );
    }

    #[test]
    fn one_command_races_its_values_against_each_other() {
        let mut spec = spec(&["{cc} -O2"]);
        spec.parameters = vec![Parameter::list("cc", "gcc,clang").unwrap()];
        assert_eq!(names(&spec.plan().unwrap()), [["gcc -O2", "clang -O2"]]);
        spec.names = vec!["old".to_owned(), "new".to_owned()];
        assert_eq!(names(&spec.plan().unwrap()), [["old", "new"]]);
        spec.names = vec!["with {cc}".to_owned()];
        assert_eq!(names(&spec.plan().unwrap()), [["with gcc", "with clang"]]);
    }

    #[test]
    fn hooks_are_given_once_for_all_or_once_for_each() {
        let mut two = spec(&["a", "b"]);
        two.prepare = vec!["x".to_owned(), "y".to_owned()];
        two.setup = vec!["s".to_owned()];
        let plan = two.plan().unwrap();
        assert_eq!(
            command(&plan, 0, 1).hooks.prepare,
            Some(vec!["y".to_owned()])
        );
        assert_eq!(command(&plan, 0, 1).hooks.setup, Some(vec!["s".to_owned()]));
        let mut three = spec(&["a", "b", "c"]);
        three.prepare = vec!["x".to_owned(), "y".to_owned()];
        let text = three.plan().unwrap_err().to_string();
        assert!(
            text.contains("--prepare was given 2 times for 3 commands"),
            "{text}"
        );
    }

    #[test]
    fn numbers_out_of_range_name_their_flag() {
        let bad_margin = CommandRaceSpec {
            settings: RaceSettings {
                margin: Some(-1.0),
                ..RaceSettings::default()
            },
            ..spec(&["a", "b"])
        };
        assert!(
            bad_margin
                .plan()
                .unwrap_err()
                .to_string()
                .contains("--margin")
        );
        let bad_alpha = CommandRaceSpec {
            settings: RaceSettings {
                alpha: Some(2.0),
                ..RaceSettings::default()
            },
            ..spec(&["a", "b"])
        };
        assert!(
            bad_alpha
                .plan()
                .unwrap_err()
                .to_string()
                .contains("--alpha")
        );
        let no_blocks = CommandRaceSpec {
            settings: RaceSettings {
                blocks: Some(0),
                ..RaceSettings::default()
            },
            ..spec(&["a", "b"])
        };
        assert!(
            no_blocks
                .plan()
                .unwrap_err()
                .to_string()
                .contains("--blocks")
        );
        assert_eq!(spec(&[]).plan(), Err(SpecError::NoCommand));
    }

    #[test]
    fn the_output_check_takes_the_output_for_itself() {
        let mut checked = CommandRaceSpec {
            check_output: true,
            ..spec(&["a", "b"])
        };
        assert_eq!(
            command(&checked.plan().unwrap(), 0, 0).output,
            Output::Compared
        );
        checked.outputs = vec![OutputChoice::parse("pipe")];
        assert!(
            checked
                .plan()
                .unwrap_err()
                .to_string()
                .contains("--check-output")
        );
    }

    #[test]
    fn runs_are_translated_into_replicates() {
        let looks = |commands: &[&str], runs| {
            CommandRaceSpec {
                runs,
                commands: commands.iter().map(|text| text.to_string()).collect(),
                ..CommandRaceSpec::default()
            }
            .plan()
            .map(|plan| plan.design.looks.at)
        };
        let exactly = |runs| Runs {
            exactly: Some(runs),
            ..Runs::default()
        };
        assert_eq!(looks(&["a", "b"], exactly(200)).unwrap(), [100]);
        assert_eq!(looks(&["a", "b"], exactly(5)).unwrap(), [3]);
        assert_eq!(looks(&["a", "b", "c"], exactly(5)).unwrap(), [5]);
        let min = Runs {
            min: Some(30),
            ..Runs::default()
        };
        assert_eq!(looks(&["a", "b"], min).unwrap(), [16, 22, 31, 40]);
        let max = Runs {
            max: Some(22),
            ..Runs::default()
        };
        assert_eq!(looks(&["a", "b"], max).unwrap(), [6, 8, 11]);
        let min_alone = Runs {
            min: Some(500),
            ..Runs::default()
        };
        assert_eq!(looks(&["a", "b"], min_alone).unwrap(), [250]);
        let nothing = Runs {
            min: Some(30),
            max: Some(20),
            ..Runs::default()
        };
        assert!(looks(&["a", "b"], nothing).is_err());
        assert!(
            looks(&["a", "b"], exactly(0))
                .unwrap_err()
                .to_string()
                .contains("--runs")
        );
    }
}
