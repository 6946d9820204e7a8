//! Makes the plan of a race of commands. All checks and all decisions come before the first launch.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use deadheat_analysis::{
    LooksError, MIN_REPLICATES_FOR_VERDICT, blocks_for_quantile, fixed_look, planned_looks,
};
use deadheat_engine::{
    COUNTED_PATTERN, ValgrindError, ValueReader, counted_words, find_executable,
};
use deadheat_model::{
    Arrangement, Benchmark, CommandLine, Contender, Design, Front, HELP, Hooks, Looks, Metric,
    Output, Plan, ShareRange, UNNAMED, Value, Values, Workload,
};
use deadheat_report::units::counted;

use super::parameters::{combinations, substitute, usage};
use super::{CommandRaceSpec, Shell};
use crate::exit::Failure;
use crate::rules::{benchmark_overrides, blocks_of_quantile, hold_together};
use crate::settings::distinct;

impl CommandRaceSpec {
    /// Returns the frozen plan of this race, or a usage error if the request is invalid.
    pub fn plan(&self) -> Result<Plan, Failure> {
        if self.commands.is_empty() {
            return usage(
                "no command to run\nhelp: for example: deadheat run -- './old input' './new input'"
                    .to_owned(),
            );
        }
        self.check_values()?;
        let counting = self.counting()?;
        let mut benchmarks = self.benchmarks()?;
        if let Some(valgrind) = &counting {
            benchmarks.iter_mut().for_each(|one| count(one, valgrind));
        }
        if self.settings.control() {
            benchmarks.iter_mut().for_each(Benchmark::add_control);
        }
        // Controls count as contenders, because the number of contenders decides how many launches
        // a block has.
        let contenders = benchmarks
            .iter()
            .map(|b| b.contenders.len())
            .max()
            .unwrap_or(0);
        for benchmark in &mut benchmarks {
            let looks = |alpha| self.looks(contenders, alpha);
            benchmark.overrides = benchmark_overrides(&self.rules, &benchmark.name, looks)?;
            benchmark.blocks_per_replicate =
                blocks_of_quantile(benchmark, &self.settings).map_err(Failure::Usage)?;
        }
        hold_together(&mut benchmarks, &self.settings, &self.rules);
        let looks = self.looks(contenders, self.settings.alpha())?;
        let mut plan = Plan {
            design: Design {
                warmup: self.warmup,
                values: counting.map_or(self.values.clone(), |_| counted_value()),
                ..self.settings.design(Front::Run, looks)
            },
            seed: self.settings.seed(),
            benchmarks,
        };
        self.judge_values(&mut plan);
        let valid = plan.validate();
        valid.map_err(|error| Failure::Usage(error.to_string()))?;
        Ok(plan)
    }

    /// Sets the judged metric to a value that the commands print, if the user or a rule names this
    /// value. If the user names no metric, the race judges the value if there is only one.
    fn judge_values(&self, plan: &mut Plan) {
        let values: Vec<Metric> = self
            .values
            .read
            .iter()
            .map(|one| one.metric.clone())
            .collect();
        let design = &mut plan.design;
        if design.callgrind {
            return;
        }
        design.judged = match (values.as_slice(), &self.settings.metric) {
            ([one], None) => one.clone(),
            _ => self.settings.judged().as_in(&values),
        };
        for benchmark in &mut plan.benchmarks {
            let asked = benchmark.overrides.judged.take();
            benchmark.overrides.judged = asked.map(|metric| metric.as_in(&values));
        }
    }

    fn check_values(&self) -> Result<(), Failure> {
        let Values { read, file } = &self.values;
        for (index, value) in read.iter().enumerate() {
            let name = value.metric.name();
            if name.trim().is_empty() || name.chars().any(char::is_control) {
                return usage(format!("--value: {name:?} is not a metric name"));
            }
            if Metric::BUILT_IN.iter().any(|known| known.name() == name) {
                return usage(format!(
                    "--value: deadheat measures '{name}' itself\nhelp: give the value another name"
                ));
            }
            if read[..index].iter().any(|one| one.metric.name() == name) {
                return usage(format!("--value: there are two values '{name}'"));
            }
            ValueReader::new(value, true)
                .map_err(|problem| Failure::Usage(format!("--value '{name}': {problem}")))?;
        }
        if read.is_empty() {
            return match file {
                Some(_) => usage("--value-file needs a --value to read from it".to_owned()),
                None => Ok(()),
            };
        }
        if self.check_output {
            return usage(
                "--value and --check-output cannot be combined: a measured number differs from \
                 launch to launch"
                    .to_owned(),
            );
        }
        if file.is_none() && !self.outputs.is_empty() {
            return usage(
                "--value and --output (or --show-output) cannot be combined: values are read from \
                 standard output, unless --value-file names a file"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// Returns the path of Valgrind if the user requests `--callgrind`, otherwise `None`. Returns
    /// an error for options that cannot be combined with `--callgrind`.
    fn counting(&self) -> Result<Option<PathBuf>, Failure> {
        if !self.settings.callgrind() {
            return Ok(None);
        }
        let beside = [
            ("--value", !self.values.read.is_empty()),
            ("--check-output", self.check_output),
            ("--output (or --show-output)", !self.outputs.is_empty()),
        ];
        if let Some((flag, _)) = beside.into_iter().find(|(_, given)| *given) {
            return usage(format!(
                "--callgrind and {flag} cannot be combined: Valgrind prints its counts on standard \
                 output"
            ));
        }
        if self.shell != Shell::None {
            return usage(
                "--callgrind and --shell cannot be combined: callgrind counts one process, which \
                 would be the shell\nhelp: deadheat explain -S counts all processes"
                    .to_owned(),
            );
        }
        let missing = || Failure::Internal(ValgrindError::Missing.to_string());
        find_executable("valgrind").map(Some).ok_or_else(missing)
    }

    /// Returns true if the user sets no maximum number of replicates.
    pub fn is_open(&self) -> bool {
        let told = [
            self.runs.exactly,
            self.runs.max,
            self.settings.max_replicates,
            self.settings.replicates_of_part(),
        ];
        told.iter().all(Option::is_none)
    }

    /// Returns true if the user limits the number of launches of each command.
    pub fn is_in_launches(&self) -> bool {
        let told = [self.runs.exactly, self.runs.min, self.runs.max];
        told.iter().any(Option::is_some)
    }

    /// Returns how the commands of this plan share the machine: in turns, side by side, or as trial
    /// launches decide. If `may_pilot` is false, trial launches are not possible, so the commands
    /// take turns unless the user requests otherwise.
    pub fn arrangement(&self, plan: &Plan, may_pilot: bool) -> Result<Arrangement, Failure> {
        let asked = self.settings.arrangement.unwrap_or_default();
        if asked == Arrangement::Turns {
            return Ok(asked);
        }
        match self.why_in_turns(plan) {
            Some(why) if asked == Arrangement::SideBySide => {
                usage(format!("--arrangement side-by-side is not possible: {why}"))
            }
            None if asked == Arrangement::SideBySide || self.may_choose(may_pilot) => Ok(asked),
            _ => Ok(Arrangement::Turns),
        }
    }

    /// Returns true if trial launches may choose between turns and side by side. They may not for a
    /// part of a race, because all parts must use the same arrangement, but each part would make
    /// its own trial.
    fn may_choose(&self, may_pilot: bool) -> bool {
        may_pilot && self.settings.part().is_none()
    }

    /// Returns the reason why the commands of this plan must take turns; `None` if they may run
    /// side by side.
    fn why_in_turns(&self, plan: &Plan) -> Option<String> {
        let asked = |benchmark: usize| {
            let of_rules = plan.benchmarks[benchmark].overrides.judged.as_ref();
            let of_line = self.settings.metric.as_ref().map(|_| &plan.design.judged);
            let of_values = Some(&plan.design.judged).filter(|judged| **judged != Metric::Wall);
            of_rules.or(of_line).or(of_values)
        };
        let mut judged = (0..plan.benchmarks.len()).filter_map(asked);
        if let Some(metric) = judged.find(|metric| !metric.is_used_by_itself()) {
            return Some(format!(
                "{metric} of a command would also depend on the command that shares its core"
            ));
        }
        if plan.design.callgrind {
            return Some(
                "callgrind's counts do not depend on other processes, so side by side gains nothing"
                    .to_owned(),
            );
        }
        let quantile = |benchmark: usize| plan.quantile(benchmark).is_some();
        if (0..plan.benchmarks.len()).any(quantile) {
            return Some("--quantile judges the times of launches that run alone".to_owned());
        }
        if self.values.file.is_some() {
            return Some("both commands would write the same --value-file".to_owned());
        }
        let outputs = self.outputs.iter();
        let file = outputs.filter_map(|output| match output {
            Output::File(path) => Some(path),
            _ => None,
        });
        let same_file =
            |path: &PathBuf| format!("several commands would write '{}' at once", path.display());
        let (mut files, shared) = (file.clone(), self.outputs.len() == 1);
        let mut known = HashSet::new();
        let written_twice = files.find(|path| shared || !known.insert(*path));
        written_twice.map(same_file)
    }

    /// Plans the looks. Converts limits in launches per command to replicates: a block of two
    /// contenders has two launches of each, and any other block has one.
    pub(super) fn looks(&self, contenders: usize, alpha: f64) -> Result<Looks, Failure> {
        let per_replicate = self.launches_per_replicate(contenders);
        let at_least = |runs: u32| runs.div_ceil(per_replicate);
        for (flag, value) in [
            ("--runs", self.runs.exactly),
            ("--max-runs", self.runs.max),
            ("--max-replicates", self.settings.max_replicates),
        ] {
            if value == Some(0) {
                return usage(format!(
                    "{flag} must be at least 1{HELP}without {flag}, the race ends at its verdict"
                ));
            }
            if let (Some(runs), Some(quantile)) = (value, self.settings.quantile)
                && flag != "--max-replicates"
                && runs < per_replicate
            {
                let enough = per_replicate * MIN_REPLICATES_FOR_VERDICT as u32;
                return usage(format!(
                    "{flag} {runs}: the quantile {quantile} needs {per_replicate} launches of each \
                     command per replicate{HELP}a verdict needs {MIN_REPLICATES_FOR_VERDICT} \
                     replicates: {flag} {enough}, or leave {flag} out"
                ));
            }
        }
        if let Some(replicates) = self.settings.replicates_of_part() {
            let runs = [self.runs.exactly, self.runs.min, self.runs.max];
            if runs.into_iter().any(|given| given.is_some()) {
                return usage(
                    "--shard and --runs, --min-runs and --max-runs cannot be combined: the parts \
                     of a race share its replicates\nhelp: set their number by --max-replicates"
                        .to_owned(),
                );
            }
            return fixed_look(replicates, alpha).map_err(unplannable);
        }
        if let Some(runs) = self.runs.exactly {
            if self.runs.min.is_some() || self.runs.max.is_some() {
                return usage(
                    "--runs and --min-runs and --max-runs cannot be combined: an exact number has \
                     no bounds\nhelp: leave --runs out, or the other two"
                        .to_owned(),
                );
            }
            return fixed_look(at_least(runs), alpha).map_err(unplannable);
        }
        let min = self.runs.min.map_or(0, at_least);
        let max = match self.runs.max {
            Some(runs) => (runs / per_replicate).max(1),
            None => self.settings.max_replicates().max(min),
        };
        if min > max {
            let [min, max] = [self.runs.min, self.runs.max].map(Option::unwrap_or_default);
            return Err(unplannable(LooksError::Range { min, max }));
        }
        planned_looks(min, max, alpha).map_err(unplannable)
    }

    fn launches_per_replicate(&self, contenders: usize) -> u32 {
        let launches_per_block = if contenders == 2 { 2 } else { 1 };
        let of_quantile = |quantile| blocks_for_quantile(quantile, contenders);
        let least = self.settings.quantile.map_or(1, of_quantile);
        launches_per_block * self.settings.blocks.unwrap_or(1).max(least)
    }

    /// Returns a hint if each command has more launches in this plan than the user requested,
    /// because the number was rounded up to whole replicates.
    pub fn hint_about_runs(&self, plan: &Plan) -> Option<String> {
        let contenders = plan.benchmarks.iter().map(|one| one.contenders.len());
        let in_replicate = self.launches_per_replicate(contenders.max()?);
        let (flag, asked) = match (self.runs.exactly, self.runs.max) {
            (Some(runs), _) => ("-r", runs),
            (None, Some(runs)) => ("-M", runs),
            (None, None) => return None,
        };
        let launches = plan.design.looks.max_replicates() * in_replicate;
        (launches > asked).then(|| {
            format!(
                "{flag} {asked}: a replicate has {in_replicate} launches of each command, so each \
                 command is launched {launches} times"
            )
        })
    }

    fn benchmarks(&self) -> Result<Vec<Benchmark>, Failure> {
        let combinations = combinations(&self.parameters)?;
        self.check_lists(combinations.len())?;
        // A single command with several values races the values against each other. Several
        // commands have a race at every value.
        if self.commands.len() == 1 && combinations.len() > 1 {
            let named = self.names.len() == combinations.len();
            let contenders = combinations.iter().enumerate().map(|(index, values)| {
                let name = self.names.get(if named { index } else { 0 });
                self.contender(0, name, values)
            });
            let contenders = contenders.collect::<Result<Vec<Contender>, Failure>>()?;
            return Ok(vec![benchmark(UNNAMED.to_owned(), Vec::new(), contenders)]);
        }
        let benchmark = |values: Vec<(String, String)>| {
            let commands = 0..self.commands.len();
            let contenders =
                commands.map(|index| self.contender(index, self.names.get(index), &values));
            let contenders = contenders.collect::<Result<Vec<Contender>, Failure>>()?;
            Ok(benchmark(benchmark_name(&values), values, contenders))
        };
        combinations.into_iter().map(benchmark).collect()
    }

    /// Returns an error for an option that was given several times, but not once per command.
    /// `--command-name` may be given fewer times, or once per combination if there is a single
    /// command.
    fn check_lists(&self, combinations: usize) -> Result<(), Failure> {
        let commands = self.commands.len();
        let names = self.names.len();
        let names_of_values = commands == 1 && names == combinations;
        let refused = |flag: &str, given: usize| {
            let commands = counted(commands as u64, "command", "commands");
            usage(format!(
                "{flag} was given {given} times for {commands}\nhelp: give it once for all or once \
                 for each"
            ))
        };
        if !names_of_values && names > commands {
            return refused("--command-name", names);
        }
        for (flag, given) in [
            ("--setup", self.setup.len()),
            ("--prepare", self.prepare.len()),
            ("--conclude", self.conclude.len()),
            ("--cleanup", self.cleanup.len()),
            ("--output", self.outputs.len()),
        ] {
            if given > 1 && given != commands {
                return refused(flag, given);
            }
        }
        if self.check_output && !self.outputs.is_empty() {
            return usage(
                "--check-output and --output cannot be combined: deadheat keeps the output to \
                 compare it"
                    .to_owned(),
            );
        }
        Ok(())
    }

    fn contender(
        &self,
        index: usize,
        name: Option<&String>,
        values: &[(String, String)],
    ) -> Result<Contender, Failure> {
        let text = substitute("command", &self.commands[index], values)?;
        let hook = |flag, hooks: &[String]| {
            let words = |text: &String| self.shell.words(flag, &substitute(flag, text, values)?);
            of_command(hooks, index).map(words).transpose()
        };
        let name = match name {
            Some(name) => substitute("--command-name", name, values)?,
            None => text.clone(),
        };
        let command = CommandLine {
            words: self.shell.words("command", &text)?,
            text,
            directory: of_command(&self.directories, index).cloned(),
            input: self.input.clone(),
            output: match of_command(&self.outputs, index) {
                _ if self.check_output => Output::Compared,
                Some(output) => output.clone(),
                None if !self.values.read.is_empty() && self.values.file.is_none() => Output::Read,
                None => Output::Null,
            },
            timeout: self.settings.timeout(Front::Run),
            exit_policy: self.exit_policy.clone(),
            hooks: Hooks {
                setup: hook("--setup", &self.setup)?,
                prepare: hook("--prepare", &self.prepare)?,
                conclude: hook("--conclude", &self.conclude)?,
                cleanup: hook("--cleanup", &self.cleanup)?,
            },
        };
        Ok(Contender {
            name,
            workload: Workload::Command(Box::new(command)),
        })
    }
}

/// Changes the commands so that Valgrind starts them and prints the number of instructions to the
/// output that deadheat reads.
fn count(benchmark: &mut Benchmark, valgrind: &Path) {
    for contender in &mut benchmark.contenders {
        if let Workload::Command(command) = &mut contender.workload {
            command.words = counted_words(valgrind, &command.words);
            command.output = Output::Read;
        }
    }
}

fn counted_value() -> Values {
    Values {
        read: vec![Value {
            metric: Metric::Instructions,
            pattern: COUNTED_PATTERN.to_owned(),
        }],
        file: None,
    }
}

/// Returns the entry for a command from a list that has one entry for all commands or one per
/// command.
fn of_command<T>(list: &[T], index: usize) -> Option<&T> {
    list.get(if list.len() == 1 { 0 } else { index })
}

fn unplannable(error: LooksError) -> Failure {
    Failure::Usage(match error {
        LooksError::Range { min, max } => format!(
            "--min-runs, --max-runs: at least {min} and at most {max} runs leave nothing to choose \
             from{HELP}set --max-runs to at least --min-runs, or leave one of them out"
        ),
        LooksError::Alpha(value) => {
            format!("--alpha must be {}, not {value}", ShareRange::ALPHA.words)
        }
    })
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
        return UNNAMED.to_owned();
    }
    let pairs: Vec<String> = values
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    pairs.join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::output;
    use super::super::parameters::Parameter;
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
    fn a_control_is_the_baseline_reruns_in_every_benchmark() {
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
    fn a_quantile_has_enough_launches_in_a_replicate_or_is_refused() {
        let mut spec = spec(&["a", "b"]);
        spec.settings.quantile = Some(0.9);
        assert_eq!(spec.plan().unwrap().blocks_per_replicate(0), 25);
        spec.settings.blocks = Some(40);
        assert_eq!(spec.plan().unwrap().blocks_per_replicate(0), 40);
        let told = |spec: &CommandRaceSpec| match spec.plan() {
            Err(Failure::Usage(told)) => told,
            other => panic!("{other:?}"),
        };
        spec.settings.blocks = Some(24);
        assert!(told(&spec).contains("--blocks 24: the quantile 0.9"));
        spec.settings.blocks = None;
        spec.runs.exactly = Some(49);
        assert!(told(&spec).contains("--runs 49: the quantile 0.9 needs 50 launches"));
        spec.runs.exactly = Some(300);
        assert_eq!(spec.plan().unwrap().design.looks.at, [6]);
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
        let none = spec(&[]).plan().unwrap_err();
        assert!(matches!(none, Failure::Usage(_)));
        assert!(none.to_string().starts_with("no command to run\nhelp: "));
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
        checked.outputs = vec![output("pipe")];
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
