//! Where the time went: both sides of a pair run once under callgrind or perf, and what they execute
//! set side by side.

mod count;

use std::path::Path;
use std::time::Duration;

use deadheat_analysis::Options;
use deadheat_engine::Inspected;
use deadheat_model::{
    Analysis, Benchmark, Comparison, LeftOut, Metric, Origin, Program, WallChange,
};

use crate::command_race::CommandRaceSpec;
use crate::exit::Failure;
use crate::pairing::{Listed, Pairing, Target, pair, pair_names, race_alone};
use crate::race::inspect_program;
use crate::recorded::Recorded;
use crate::rules::Rules;
use crate::settings::{Ignored, Selection, nothing_selected};

pub use count::explain;

/// Pairs to be explained.
#[derive(Clone, Debug, Default)]
pub struct ExplainSpec {
    /// The benchmarks, each with its baseline first.
    pub benchmarks: Vec<Benchmark>,
    /// Benchmarks that somebody might look for.
    pub left_out: Vec<LeftOut>,
    /// The changes of wall time that a race found.
    pub walls: Vec<Wall>,
    /// The file of that race.
    pub run: Option<String>,
    /// The time that a command, a launch or a sample may take under the profiler; forever when `None`.
    pub timeout: Option<Duration>,
    /// The profiler that both sides run under.
    pub by: Profiler,
}

/// The profiler that is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profiler {
    /// perf where it samples by instructions, else callgrind.
    #[default]
    Auto,
    /// callgrind.
    Callgrind,
    /// perf, by the clock where the machine counts no instructions.
    Perf,
}

/// The change of wall time of one comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Wall {
    benchmark: String,
    parameters: Vec<(String, String)>,
    candidate: String,
    change: WallChange,
}

impl ExplainSpec {
    /// Commands; the first is the baseline.
    pub fn of_commands(commands: &CommandRaceSpec) -> Result<Self, Failure> {
        if commands.commands.len() < 2 {
            return Err(Failure::Usage(
                "explain sets commands side by side\nhelp: give two of them, each one quoted"
                    .to_owned(),
            ));
        }
        Ok(Self {
            benchmarks: commands.plan()?.benchmarks,
            ..Self::default()
        })
    }

    /// The benchmarks that two programs have in common, or of one the contenders of each of its
    /// benchmarks.
    pub fn of_programs(
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
        let found = |selection: &Selection| {
            match (&workers.sides, &launched.sides) {
            ([Some(_), None], [None, None]) => {
                Ok(race_alone(std::slice::from_ref(&workers), selection))
            }
            ([Some(_), Some(_)], _) => Ok(pair(std::slice::from_ref(&workers), names, selection)),
            (_, [Some(old), Some(new)]) if old.listing.harness == new.listing.harness => Ok(
                pair_names(std::slice::from_ref(&launched), names, selection),
            ),
            (_, [Some(_), None] | [None, Some(_)]) if workers.sides == [None, None] => {
                Err(Failure::Usage(
                    "the benchmarks of one program have nothing to be set beside\nhelp: give a second \
                     program"
                        .to_owned(),
                ))
            }
            _ => Err(Failure::Usage(format!(
                "'{}' and '{}' are programs of two kinds; only those of one can be set side by side",
                names[0], names[1]
            ))),
        }
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
            return Err(Failure::NothingSelected(nothing_selected(&names)));
        }
        Ok(Self {
            benchmarks,
            left_out,
            ..Self::default()
        })
    }

    /// The benchmarks of a recorded race that are selected, with what it found of their times.
    pub fn of_run(path: &Path, selection: &Selection) -> Result<Self, Failure> {
        let rules = Rules::default();
        let recorded = Recorded::open(path, &rules)?;
        if recorded.run().header.origin != Origin::Race {
            return Err(Failure::Usage(format!(
                "{} holds results and no programs that could be run\nhelp: give two programs, or the run \
                 file of a race",
                path.display()
            )));
        }
        let options = Options {
            without_figures: true,
            ..Options::default()
        };
        let (run, analysis) = recorded.analyse(options)?;
        let plan = run.header.plan.benchmarks;
        let names: Vec<String> = plan.iter().map(|one| one.name.clone()).collect();
        let raced = plan.into_iter().filter(|one| one.rerun.is_none());
        let selected = raced.filter(|one| selection.names_with(&one.name, &one.parameters));
        let benchmarks: Vec<Benchmark> = selected.collect();
        if benchmarks.is_empty() {
            return Err(Failure::NothingSelected(nothing_selected(&names)));
        }
        Ok(Self {
            benchmarks,
            left_out: Vec::new(),
            walls: walls(&analysis),
            run: Some(path.display().to_string()),
            ..Self::default()
        })
    }

    /// The change of time of a candidate, where a race found one.
    fn wall(&self, benchmark: &Benchmark, candidate: &str) -> Option<WallChange> {
        let mut walls = self.walls.iter();
        let found = walls.find(|wall| {
            wall.benchmark == benchmark.name
                && wall.parameters == benchmark.parameters
                && wall.candidate == candidate
        });
        found.map(|wall| wall.change)
    }
}

/// The changes of wall time in an analysis; a race that judged something else has none.
fn walls(analysis: &Analysis) -> Vec<Wall> {
    let wall = |one: &Comparison| {
        let estimate = one.estimate.as_ref()?;
        Some(Wall {
            benchmark: one.benchmark.clone(),
            parameters: one.parameters.clone(),
            candidate: one.candidate.as_ref()?.name.clone(),
            change: WallChange {
                change: estimate.effect.change(),
                interval: estimate.interval,
                verdict: one.verdict?,
            },
        })
    };
    let of_time = analysis.comparisons.iter();
    let of_time = of_time.filter(|one| one.metric == Metric::Wall && one.quantile.is_none());
    of_time.filter_map(wall).collect()
}
