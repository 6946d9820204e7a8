//! The pairs to explain: commands, benchmarks of programs, or benchmarks of a recorded race.

use std::path::{Path, PathBuf};

use deadheat::parts::analysis::Options;
use deadheat::parts::command_race::{CommandRaceSpec, Shell};
use deadheat::parts::engine::Inspected;
use deadheat::parts::exit::Failure;
use deadheat::parts::format::FileDigest;
use deadheat::parts::model::{
    Analysis, Benchmark, Comparison, Input, LeftOut, Metric, Origin, Program,
};
use deadheat::parts::pairing::{Listed, Pairing, Target, pair, pair_names, race_alone, side_names};
use deadheat::parts::rules::Rules;
use deadheat::parts::settings::{Ignored, Selection, is_program, nothing_selected, program};
use deadheat::parts::{StartedFile, inspect_program, starts};
use deadheat_import::Recorded;

use crate::command::ExplainArgs;
use crate::explanation::WallChange;

#[derive(Debug, Default)]
pub(crate) struct Pairs {
    /// The benchmarks, each with its baseline first.
    pub(crate) benchmarks: Vec<Benchmark>,
    pub(crate) left_out: Vec<LeftOut>,
    /// The changes of wall time that a recorded race measured.
    walls: Vec<Wall>,
    /// The run file of the race that measured `walls`; `None` if no race is explained.
    pub(crate) run: Option<String>,
}

#[derive(Debug)]
struct Wall {
    benchmark: String,
    parameters: Vec<(String, String)>,
    candidate: String,
    change: WallChange,
}

impl Pairs {
    pub(crate) fn selected_by(args: &ExplainArgs) -> Result<Self, Failure> {
        let Some((first, others)) = args.words.split_first() else {
            return Self::of_commands(args);
        };
        let selection = |filters: &[String]| Selection {
            filters: filters.to_vec(),
            exact: args.exact,
            ..Selection::default()
        };
        let run = Path::new(first);
        let is_run = run.extension().is_some_and(|name| name == "jsonl") || run.is_file();
        if is_run && !is_program(first) {
            return Self::of_run(run, &selection(others), args.trust);
        }
        if args.trust {
            let text = format!("--trust applies only to run files, and '{first}' is a program");
            return Err(Failure::Usage(text));
        }
        let old = program(first)?;
        match others
            .split_first()
            .filter(|(second, _)| is_program(second))
        {
            Some((second, filters)) => {
                let sides = [Some(old), Some(program(second)?)];
                let names = side_names([first, second]);
                Self::of_programs(sides, &names, &selection(filters))
            }
            None => {
                let names = side_names([first, first]);
                Self::of_programs([Some(old), None], &names, &selection(others))
            }
        }
    }

    fn of_commands(args: &ExplainArgs) -> Result<Self, Failure> {
        let shell = args.shell.as_deref();
        let commands = CommandRaceSpec {
            commands: args.commands.clone(),
            shell: shell.map_or(Ok(Shell::None), Shell::parse)?,
            input: match args.input.as_str() {
                "null" => Input::Null,
                file => Input::File(PathBuf::from(file)),
            },
            ..CommandRaceSpec::default()
        };
        if commands.commands.len() < 2 {
            return Err(Failure::Usage(
                "explain compares two commands\nhelp: give two, each one quoted".to_owned(),
            ));
        }
        Ok(Self {
            benchmarks: commands.plan()?.benchmarks,
            ..Self::default()
        })
    }

    /// Pairs the benchmarks of two programs by name, or the contenders of one program.
    fn of_programs(
        [old, new]: [Option<Program>; 2],
        names: &[String; 2],
        selection: &Selection,
    ) -> Result<Self, Failure> {
        let ask = |program: &Program| inspect_program(program, None, false, None);
        let everything = Selection {
            ignored: Ignored::In,
            ..Selection::default()
        };
        let mut workers = Target::default();
        let mut launched = Target::default();
        for (side, program) in [old, new].into_iter().enumerate() {
            let Some(program) = program else { continue };
            match ask(&program)? {
                Inspected::Worker(listing) => {
                    workers.sides[side] = Some(Listed { program, listing });
                }
                Inspected::Harness(listing) => {
                    launched.sides[side] = Some(Listed { program, listing });
                }
            }
        }
        let found = |selection: &Selection| match (&workers.sides, &launched.sides) {
            ([Some(_), None], [None, None]) => {
                Ok(race_alone(std::slice::from_ref(&workers), selection))
            }
            ([Some(_), Some(_)], _) => Ok(pair(std::slice::from_ref(&workers), names, selection)),
            (_, [Some(old), Some(new)]) if old.listing.harness == new.listing.harness => Ok(
                pair_names(std::slice::from_ref(&launched), names, selection),
            ),
            (_, [Some(_), None] | [None, Some(_)]) if workers.sides == [None, None] => {
                Err(Failure::Usage(
                    "one program cannot be compared without a second one\nhelp: give a second \
                     program"
                        .to_owned(),
                ))
            }
            _ => Err(Failure::Usage(format!(
                "'{}' and '{}' are programs of different kinds, which cannot be compared",
                names[0], names[1]
            ))),
        };
        let Pairing {
            benchmarks,
            left_out,
            ..
        } = found(selection)?;
        if benchmarks.is_empty() {
            let all = found(&everything)?;
            let shown = all.benchmarks.iter().map(|one| one.name.as_str());
            let left_out = all.left_out.iter().map(|one| one.benchmark.as_str());
            let names: Vec<&str> = shown.chain(left_out).collect();
            return Err(Failure::NothingSelected(nothing_selected(
                &names,
                &selection.filters,
            )));
        }
        Ok(Self {
            benchmarks,
            left_out,
            ..Self::default()
        })
    }

    /// Returns the selected benchmarks of a recorded race, with the changes of time that it
    /// measured. `trusted` allows a run file of another user or machine.
    fn of_run(path: &Path, selection: &Selection, trusted: bool) -> Result<Self, Failure> {
        let rules = Rules::default();
        let recorded = Recorded::open(path, &rules)?;
        if recorded.run().header.origin != Origin::Race {
            return Err(Failure::Usage(format!(
                "{} holds results, but no programs to run\nhelp: give two programs, or the run \
                 file of a race; deadheat compare OLD NEW compares results",
                path.display()
            )));
        }
        let options = Options {
            without_figures: true,
            ..Options::default()
        };
        let (run, analysis) = recorded.analyse(options)?;
        let started = StartedFile {
            by: "explain",
            file: path,
            digest: FileDigest::of_run(&run.header),
            starts: starts(&run.header.plan),
        };
        started.ensure_trusted(trusted)?;
        let plan = run.header.plan.benchmarks;
        let names: Vec<String> = plan.iter().map(|one| one.name.clone()).collect();
        let raced = plan.into_iter().filter(|one| one.rerun.is_none());
        let selected = raced.filter(|one| selection.names_with(&one.name, &one.parameters));
        let benchmarks: Vec<Benchmark> = selected.collect();
        if benchmarks.is_empty() {
            return Err(Failure::NothingSelected(nothing_selected(
                &names,
                &selection.filters,
            )));
        }
        Ok(Self {
            benchmarks,
            left_out: Vec::new(),
            walls: walls(&analysis),
            run: Some(path.display().to_string()),
        })
    }

    pub(crate) fn wall(&self, benchmark: &Benchmark, candidate: &str) -> Option<WallChange> {
        let mut walls = self.walls.iter();
        let found = walls.find(|wall| {
            wall.benchmark == benchmark.name
                && wall.parameters == benchmark.parameters
                && wall.candidate == candidate
        });
        found.map(|wall| wall.change)
    }
}

/// Returns the changes of wall time in an analysis; empty if the race judged another metric.
fn walls(analysis: &Analysis) -> Vec<Wall> {
    let wall = |one: &Comparison| {
        let estimate = one.estimate.as_ref()?;
        Some(Wall {
            benchmark: one.benchmark.clone(),
            parameters: one.details.parameters.clone(),
            candidate: one.candidate.as_ref()?.name.clone(),
            change: WallChange {
                change: estimate.effect.change(),
                interval: estimate.interval,
                verdict: one.verdict?,
            },
        })
    };
    let of_time = analysis.comparisons.iter();
    let of_time =
        of_time.filter(|one| one.terms.metric == Metric::Wall && one.terms.quantile.is_none());
    of_time.filter_map(wall).collect()
}
