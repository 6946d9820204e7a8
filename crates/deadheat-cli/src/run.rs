//! `deadheat run`: race whole commands.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::Args;
use deadheat::parts::command_race::{CommandRaceSpec, Parameter, Runs, Shell, output, values};
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::format::similar_file;
use deadheat::parts::model::{
    Arrangement, Conditions, ExitPolicy, HELP, Input, Output, Values, whole_number,
};
use deadheat::parts::rules::{CliOverrides, Rules};
use deadheat::parts::settings::Front;
use deadheat::parts::terminal::to_stderr;
use deadheat::parts::{
    LiveProgress, PlanUse, RaceOptions, Resumable, ResumeOptions, SecondRace, begun_part,
    race_commands, settle_shard,
};
use deadheat_options::answer::{AnswerArgs, ExportArgs, SettingsArgs};
use deadheat_options::races::{
    again, conditions_of_part, go_on_with_part, placements, race_and_tell, resume, tell_of_one,
};
use deadheat_options::saved_plan::{check_plan, tell_of_plan};

use crate::bare_race::exists;
use crate::compare::is_called_a_result;
use crate::plan::Planned;
use crate::usage_error::quote_commands;

pub const EXAMPLES: &str = "Examples:
  deadheat run -- './old input' './new input'
  deadheat run -L size 10,1000 -- './old {size}' './new {size}'
  deadheat run --margin 2% --fail-on slower -p 'sync' -- './old' './new'
  deadheat run --value 'rps=Requests/sec: +([0-9.]+)' --higher-is-better rps -- './old' './new'
  deadheat run --resume .deadheat/runs/20261121-120000-0000002a.jsonl";

/// Options of `deadheat run`. Short flags are hyperfine's.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Commands to race, each one quoted; the first is the baseline
    #[arg(value_name = "COMMAND")]
    pub commands: Vec<String>,

    /// Name of a command in the answer (once per command)
    #[arg(short = 'n', long = "command-name", value_name = "NAME")]
    names: Vec<String>,
    /// Run commands and hooks in a shell: 'default', or one such as 'bash --norc'
    #[arg(
        short = 'S',
        long,
        value_name = "SHELL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "default"
    )]
    shell: Option<String>,
    /// Run commands without a shell, as deadheat does by default
    #[arg(short = 'N', conflicts_with = "shell")]
    no_shell: bool,
    /// Accept non-zero exit codes: all, or only those listed (-i=1,3)
    #[arg(
        short = 'i',
        long,
        value_name = "CODES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "all-non-zero"
    )]
    ignore_failure: Option<String>,
    /// Standard input of commands: 'null' or a file
    #[arg(long, value_name = "WHERE", default_value = "null")]
    input: String,
    /// Standard output of commands: null, pipe, inherit or a file (one for all commands, or one per command)
    #[arg(long, value_name = "WHERE")]
    output: Vec<String>,
    /// Show what the commands print (same as --output inherit)
    #[arg(long, conflicts_with = "output")]
    show_output: bool,
    /// Fail unless all commands print the same bytes and have the same exit code
    #[arg(long)]
    check_output: bool,

    /// Run before all launches (one CMD for all commands, or one per command)
    #[arg(short = 's', long, value_name = "CMD", help_heading = "Hooks")]
    setup: Vec<String>,
    /// Run before each launch, untimed (one CMD for all commands, or one per command)
    #[arg(short = 'p', long, value_name = "CMD", help_heading = "Hooks")]
    prepare: Vec<String>,
    /// Run after each launch, untimed (one CMD for all commands, or one per command)
    #[arg(short = 'C', long, value_name = "CMD", help_heading = "Hooks")]
    conclude: Vec<String>,
    /// Run after all launches (one CMD for all commands, or one per command)
    #[arg(short = 'c', long, value_name = "CMD", help_heading = "Hooks")]
    cleanup: Vec<String>,

    /// Race once for each value of {VAR} from MIN to MAX
    #[arg(
        short = 'P',
        long,
        num_args = 3,
        value_names = ["VAR", "MIN", "MAX"],
        allow_hyphen_values = true,
        help_heading = "Parameters"
    )]
    parameter_scan: Vec<String>,
    /// Step from one value to the next
    #[arg(
        short = 'D',
        long,
        value_name = "STEP",
        requires = "parameter_scan",
        allow_hyphen_values = true,
        help_heading = "Parameters"
    )]
    parameter_step_size: Option<String>,
    /// Race once for each of these comma-separated values of {VAR}
    #[arg(short = 'L', long, num_args = 2, value_names = ["VAR", "VALUES"], allow_hyphen_values = true, help_heading = "Parameters")]
    parameter_list: Vec<String>,

    /// Launch each command N times first, without recording these launches
    #[arg(
        short = 'w',
        long,
        value_name = "N",
        default_value = "1",
        value_parser = whole_number::<u32>,
        help_heading = "Design"
    )]
    warmup: u32,
    /// Launch each command N times and judge once; for two commands, an odd N is rounded up
    #[arg(
        short = 'r',
        long,
        value_name = "N",
        value_parser = whole_number::<u32>,
        conflicts_with = "max-replicates",
        help_heading = "Design"
    )]
    runs: Option<u32>,
    /// Launch each command at least N times before a verdict
    #[arg(short = 'm', long, value_name = "N", value_parser = whole_number::<u32>, help_heading = "Design")]
    min_runs: Option<u32>,
    /// Launch each command at most N times
    #[arg(
        short = 'M',
        long,
        value_name = "N",
        value_parser = whole_number::<u32>,
        conflicts_with = "max-replicates",
        help_heading = "Design"
    )]
    max_runs: Option<u32>,
    /// How the commands are raced and judged.
    #[command(flatten)]
    design: SettingsArgs<{ Front::Run as usize }>,

    /// Read a number from what commands print: NAME=REGEX, or NAME=/JSON/POINTER (repeatable)
    #[arg(long, value_name = "NAME=PATTERN", help_heading = "Values")]
    value: Vec<String>,
    /// Read the values from this file, which every launch writes, instead of standard output
    #[arg(long, value_name = "FILE", help_heading = "Values")]
    value_file: Option<PathBuf>,
    /// A larger value of this name is better (repeatable)
    #[arg(long, value_name = "NAME", help_heading = "Values")]
    higher_is_better: Vec<String>,

    #[command(flatten)]
    answer: AnswerArgs,
    /// Print no progress and no hints on standard error
    #[arg(short = 'q', long, help_heading = "Answer")]
    quiet: bool,

    /// Record the run here [default: .deadheat/runs/TIME-SEED.jsonl]
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    save: Option<PathBuf>,
    /// Continue a recorded run; its interval becomes anytime-valid, which makes it wider
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Files",
        group = "started_file"
    )]
    resume: Option<PathBuf>,
    /// Race this plan or pack, or with --shard a part of it
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Files",
        group = "started_file"
    )]
    plan: Option<PathBuf>,
    /// With --resume or --plan: start the commands of a file that another user or machine wrote
    #[arg(long, help_heading = "Files", requires = "started_file")]
    trust: bool,
    /// The use of the plan: to be raced, or to be saved to a file.
    #[arg(skip)]
    pub use_of_plan: PlanUse,
    #[command(flatten)]
    exports: ExportArgs,
}

pub fn run(mut args: RunArgs) -> Result<Status, Failure> {
    // The user names the commands here, so the filters of a rules file do not apply to them.
    let asked = CliOverrides {
        names: true,
        ..CliOverrides::default()
    };
    if let Some(file) = args.plan.take() {
        let planned = Planned {
            file,
            save: args.save,
            quiet: args.quiet,
            trusted: args.trust,
            settings: args.design.0,
        };
        return planned.race(args.answer, args.exports);
    }
    if args.use_of_plan == PlanUse::Save {
        check_plan(&args.design.0, args.save.as_deref(), &args.exports)?;
    }
    args.design.0 = settle_shard(args.design.0)?;
    let rules = args.answer.read_rules(&args.design.0, asked)?;
    let design = &args.design.0;
    let mut options = RaceOptions {
        command: Vec::new(),
        save: args.save.clone(),
        folder: PathBuf::new(),
        // If the answer is a document, such as JSON, the output of commands goes to standard error.
        shown: if args.answer.answer().is_document() {
            2
        } else {
            1
        },
        arrangement: Arrangement::Turns,
        placements: placements(design.placement),
        open: false,
        in_launches: false,
        commits: Vec::new(),
        until: None,
        use_of_plan: args.use_of_plan,
        conditions: Conditions::default(),
    };
    args.exports.check(args.resume.as_deref())?;
    match &args.resume {
        Some(path) => {
            let how = ResumeOptions {
                budget: design.budget,
                trusted: args.trust,
                shown: options.shown,
                placements: options.placements.clone(),
                ..ResumeOptions::default()
            };
            let commands = [Resumable::Commands];
            let outcome = resume(path, &commands, design.max_replicates, how, args.quiet)?;
            tell_of_one(outcome, &args.answer, &args.exports)
        }
        None => {
            // A plan may be for a machine with other programs.
            if args.use_of_plan == PlanUse::Race {
                args.refuse_stray_word()?;
                args.refuse_equal_names()?;
                args.refuse_unquoted()?;
            }
            let spec = args.spec(&rules)?;
            let plan = spec.plan()?;
            options.command = again(plan.seed);
            options.open = spec.is_open() && args.use_of_plan == PlanUse::Race;
            options.in_launches = spec.is_in_launches();
            options.arrangement = spec.arrangement(&plan, args.use_of_plan == PlanUse::Race)?;
            if !args.quiet {
                for hint in spec.hints().into_iter().chain(spec.hint_about_runs(&plan)) {
                    to_stderr("hint", &hint.to_string());
                }
            }
            if args.use_of_plan == PlanUse::Save {
                let mut progress = LiveProgress::new(&plan.benchmarks, true);
                let planned = race_commands(plan, &options, &mut progress);
                let planned = planned.map_err(|error| error.into_failure(&rules))?;
                return tell_of_plan(&planned.run.header.plan, &planned.path);
            }
            let settings = spec.settings.clone();
            let save = args.save.as_deref();
            if let Some(begun) = begun_part(save, settings.part(), &options.command)? {
                let how = ResumeOptions {
                    shown: options.shown,
                    placements: options.placements.clone(),
                    ..ResumeOptions::default()
                };
                let outcome = go_on_with_part(save, &begun, how, args.quiet)?;
                return tell_of_one(outcome, &args.answer, &args.exports);
            }
            options.conditions = conditions_of_part(&settings);
            let race = |second: Option<&SecondRace>| {
                let (mut plan, mut options) = (plan.clone(), options.clone());
                if let Some(second) = second {
                    let mut spec = spec.clone();
                    spec.settings = second.settings(spec.settings);
                    spec.rules = second.rules(spec.rules);
                    plan = spec.plan()?;
                    plan.benchmarks.retain(|one| second.races(one));
                    options.save = Some(second.save.clone());
                }
                let mut progress = LiveProgress::new(&plan.benchmarks, args.quiet);
                race_commands(plan, &options, &mut progress)
                    .map_err(|error| error.into_failure(&rules))
            };
            let answered = (&args.answer, &args.exports);
            race_and_tell(&settings, args.save.as_deref(), args.quiet, answered, race)
        }
    }
}

fn no_program(word: &str) -> String {
    match Path::new(word).exists() {
        true => format!("'{word}' is not a program to race"),
        false => format!("there is no program '{word}' to race"),
    }
}

/// Returns true for a number with or without a unit, for a list of numbers, and for a unit alone.
fn looks_like_a_value(word: &str) -> bool {
    const UNITS: [&str; 10] = ["", "%", "ns", "us", "µs", "ms", "s", "m", "min", "h"];
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit() || "+-.,".contains(c));
    UNITS.contains(&unit)
}

impl RunArgs {
    /// Refuses several words that look like one command without quotes: the first is a program, and
    /// another is not. The exit code is that of a missing program, because the word may be a
    /// misspelled one.
    fn refuse_unquoted(&self) -> Result<(), Failure> {
        let is_one_word =
            |command: &String| !command.contains(|c: char| c.is_whitespace() || c == '{');
        let [first, others @ ..] = &self.commands[..] else {
            return Ok(());
        };
        if self.shell.is_some() || !self.commands.iter().all(is_one_word) {
            return Ok(());
        }
        let is_result = |word: &String| is_called_a_result(word) && Path::new(word).is_file();
        if self.commands.iter().all(is_result) {
            let files = shell_words::join(&self.commands);
            return Err(Failure::Contender(format!(
                "'{first}' is a file of results, and deadheat run races commands{HELP}to compare \
                 saved results: deadheat compare {files}"
            )));
        }
        if !exists(first) {
            return Ok(());
        }
        match others.iter().find(|other| !exists(other)) {
            Some(word) => Err(Failure::Contender(format!(
                "{}{HELP}{}",
                no_program(word),
                self.in_place_of(word)
            ))),
            None => Ok(()),
        }
    }

    /// Refuses a word that is not a program and looks like a value, such as the `s` of
    /// `--budget 10 s`, or that follows a program of one word, as in a command without quotes.
    fn refuse_stray_word(&self) -> Result<(), Failure> {
        let is_bare = |word: &str| !word.contains(|c: char| c.is_whitespace() || c == '{');
        for (place, word) in self.commands.iter().enumerate() {
            if !is_bare(word) || exists(word) {
                continue;
            }
            let before = place.checked_sub(1).map(|place| &self.commands[place]);
            let advice = match before {
                None if looks_like_a_value(word) => {
                    "write the value of an option as one word, as in 10s or 1,2, or quote it"
                        .to_owned()
                }
                Some(_) if looks_like_a_value(word) => quote_commands(&self.as_typed()),
                Some(before) if self.shell.is_none() && is_bare(before) && exists(before) => {
                    self.in_place_of(word)
                }
                _ => continue,
            };
            return Err(Failure::Contender(format!(
                "{}{HELP}{advice}",
                no_program(word)
            )));
        }
        Ok(())
    }

    /// Refuses a name that is given twice, as by the `-n 5` of two commands without quotes.
    fn refuse_equal_names(&self) -> Result<(), Failure> {
        let mut seen = HashSet::new();
        match self.names.iter().find(|name| !seen.insert(*name)) {
            Some(name) => Err(Failure::Usage(format!(
                "-n: two commands have the name '{name}'{HELP}give each another name; if -n {name} belongs \
                 to the commands, {}",
                quote_commands(&self.as_typed())
            ))),
            None => Ok(()),
        }
    }

    /// Returns the advice about a word that is neither a program nor part of a quoted command.
    fn in_place_of(&self, word: &str) -> String {
        let is_option = |name: &str| {
            let run = Self::augment_args(clap::Command::new("run"));
            run.get_arguments().any(|one| one.get_long() == Some(name))
        };
        let name = word
            .strip_prefix("--")
            .and_then(|name| name.split('=').next());
        if name.is_some_and(is_option) {
            return format!("options of deadheat come before the --: deadheat run {word} … -- …");
        }
        let similar = similar_file(Path::new(word)).filter(|_| word.contains('/'));
        match similar {
            Some(similar) => format!("did you mean '{similar}'?"),
            None => quote_commands(&self.as_typed()),
        }
    }

    /// Returns the words from the first to the last command as the user typed them, including
    /// options between them, which may be options of an unquoted command.
    fn as_typed(&self) -> Vec<String> {
        let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
        let words: Vec<String> = words.filter(|word| word != "--").collect();
        let first = words
            .iter()
            .position(|word| Some(word) == self.commands.first());
        let last = words
            .iter()
            .rposition(|word| Some(word) == self.commands.last());
        match (first, last) {
            (Some(first), Some(last)) if first < last => words[first..=last].to_vec(),
            _ => self.commands.clone(),
        }
    }

    fn spec(&self, rules: &Rules) -> Result<CommandRaceSpec, Failure> {
        let shell = match &self.shell {
            None => Shell::None,
            Some(text) => Shell::parse(text)?,
        };
        let outputs = if self.show_output {
            vec![Output::Inherit]
        } else {
            self.output.iter().map(|text| output(text)).collect()
        };
        Ok(CommandRaceSpec {
            commands: self.commands.clone(),
            names: self.names.clone(),
            directories: Vec::new(),
            parameters: self.parameters()?,
            shell,
            setup: self.setup.clone(),
            prepare: self.prepare.clone(),
            conclude: self.conclude.clone(),
            cleanup: self.cleanup.clone(),
            input: match self.input.as_str() {
                "null" => Input::Null,
                file => Input::File(PathBuf::from(file)),
            },
            outputs,
            check_output: self.check_output,
            values: self.values()?,
            exit_policy: self
                .ignore_failure
                .as_deref()
                .map_or(Ok(ExitPolicy::ZeroOnly), policy)?,
            warmup: self.warmup,
            runs: Runs {
                exactly: self.runs,
                min: self.min_runs,
                max: self.max_runs,
            },
            settings: rules.seeded(),
            rules: rules.some(),
        })
    }

    fn values(&self) -> Result<Values, Failure> {
        let read = values(&self.value, &self.higher_is_better)?;
        let file = self.value_file.clone();
        Ok(Values { read, file })
    }

    /// Returns the parameters in hyperfine's order: the scan first, then the lists.
    fn parameters(&self) -> Result<Vec<Parameter>, Failure> {
        let mut parameters = Vec::new();
        for scan in self.parameter_scan.chunks_exact(3) {
            let step = self.parameter_step_size.as_deref();
            parameters.push(Parameter::scan(&scan[0], &scan[1], &scan[2], step)?);
        }
        for list in self.parameter_list.chunks_exact(2) {
            parameters.push(Parameter::list(&list[0], &list[1])?);
        }
        Ok(parameters)
    }
}

fn policy(text: &str) -> Result<ExitPolicy, Failure> {
    if text == "all-non-zero" {
        return Ok(ExitPolicy::Any);
    }
    // Exit codes have eight bits.
    let codes = text.split(',').map(|code| code.trim().parse::<u8>());
    let codes: Result<Vec<i32>, _> = codes.map(|code| code.map(i32::from)).collect();
    codes.map(ExitPolicy::Also).map_err(|_| {
        Failure::Usage(format!(
            "--ignore-failure: '{text}' is not a list of exit codes\nhelp: write numbers from 0 to \
             255, such as -i=1,3, or -i alone for all"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_all_or_a_list() {
        assert_eq!(policy("all-non-zero").unwrap(), ExitPolicy::Any);
        assert_eq!(policy("1, 3").unwrap(), ExitPolicy::Also(vec![1, 3]));
        for none in ["one", "256", "-1", "1,,3", "+"] {
            assert!(policy(none).is_err(), "{none}");
        }
    }
}
