//! The plan in the header of a run file.

use deadheat_model::{
    Benchmark, BenchmarkOverrides, CommandLine, Contender, Design, ExitPolicy, FunctionCalls,
    HarnessCalls, Hooks, Input, LevelOverride, Looks, Object, Output, Pinning, Plan, Program,
    RepetitionLength, Rerun, RerunKind, Shard, ShardBy, SideBySide, Throughput, TurnsReason, Value,
    Values, Waiting, WorkerCalls, Workload,
};

use crate::wire::{Fields, Wire, choice, object};
#[cfg(feature = "decode")]
use deadheat_model::{Harness, Json};

#[cfg(feature = "decode")]
use crate::wire::{WireError, inside, object_of, or_missing, required};

/// The seed is stored next to the object of the plan, not in it.
impl Fields for Plan {
    fn put(&self, object: Object) -> Object {
        let plan = Object::new()
            .with("design", self.design.to_json())
            .with("benchmarks", self.benchmarks.to_json());
        object.with("seed", self.seed).with("plan", plan)
    }

    #[cfg(feature = "decode")]
    fn take(object: &Object) -> Result<Self, WireError> {
        let seed = required(object, "seed")?;
        or_missing(object, "plan", |plan| {
            let plan = object_of(plan)?;
            Ok(Plan {
                design: required(plan, "design")?,
                seed,
                benchmarks: required(plan, "benchmarks")?,
            })
        })
    }
}

object! { Design {
    margin,
    alpha,
    looks,
    blocks_per_replicate,
    warmup: or(0),
    budget = "budget_ns",
    values: omit,
    judged,
    callgrind: omit,
    quantile: omit,
    pinning: or(Pinning::Inherit),
    waiting: omit,
    shard: omit,
    rounds: omit,
} }

object! { Shard { index, count, by, replicates: or(0), } ensure is_a_part }

#[cfg(feature = "decode")]
fn is_a_part(shard: &Shard) -> Result<(), WireError> {
    let last = shard.count.checked_mul(shard.replicates);
    let few = shard.count <= Shard::MOST;
    if (1..=shard.count).contains(&shard.index) && last.is_some() && few {
        Ok(())
    } else {
        Err(WireError::odd("a part of a race"))
    }
}

choice! { ShardBy {
    "host" => Host,
    "benchmark" => Benchmark,
} }

object! { Values { read, file: omit, } }

object! { Value { metric = "column", pattern, } }

object! { Looks { at, levels, weights, } }

choice! { Waiting {
    "auto" => Auto,
    "keep" => Keep,
} }

choice! { Pinning {
    "inherit" => Inherit,
    "auto" => Auto,
    "cores" => Cores(cores),
} }

object! { Benchmark {
    name,
    parameters: or(Vec::new()),
    contenders,
    control: omit,
    blocks_per_replicate: omit,
    without_warm_up: omit,
    input_per_call: omit,
    notes: omit,
    in_pairs: omit,
    one_input: omit,
    throughput: omit,
    rerun: inline,
    side_by_side: omit,
    turns_because: omit,
    counters: omit,
    family: omit,
    overrides = "rules": omit,
    changed_files: omit,
    ..Benchmark::default()
} }

choice! { Throughput {
    "bytes" => Bytes(bytes),
    "items" => Items(items),
} }

choice! { TurnsReason {
    "fails" => Fails,
    "writes-files" => WritesFiles,
    "short" => Short,
    "not-busy" => NotBusy,
    "different-times" => DifferentTimes,
    "different-memory" => DifferentMemory,
    "uneven" => Uneven,
    "sharing-costs" => SharingCosts,
} }

object! { SideBySide { slice = "slice_ns": omit, } }

/// The kind of the rerun is stored as the name of the field.
impl Fields for Option<Rerun> {
    fn put(&self, object: Object) -> Object {
        let Some(rerun) = self else {
            return object;
        };
        let fields = Object::new()
            .with("of", rerun.of)
            .with("replicates", rerun.replicates);
        object.with(field_of(rerun.kind), fields)
    }

    #[cfg(feature = "decode")]
    fn take(object: &Object) -> Result<Self, WireError> {
        for kind in [RerunKind::OwnLink, RerunKind::Turns] {
            let read = |json: &Json| {
                let object = object_of(json)?;
                let of = required(object, "of")?;
                let replicates = required(object, "replicates")?;
                Ok(Rerun {
                    of,
                    replicates,
                    kind,
                })
            };
            if let Some(rerun) = inside(object, field_of(kind), read).transpose()? {
                return Ok(Some(rerun));
            }
        }
        Ok(None)
    }
}

fn field_of(kind: RerunKind) -> &'static str {
    match kind {
        RerunKind::OwnLink => "own_link",
        RerunKind::Turns => "in_turns",
    }
}

object! { BenchmarkOverrides {
    margin: omit,
    level: inline,
    judged: omit,
    quantile: omit,
    budget = "budget_ns": omit,
} }

/// The significance level and its interim analyses are stored together.
impl Fields for Option<LevelOverride> {
    fn put(&self, object: Object) -> Object {
        let Some(level) = self else {
            return object;
        };
        object
            .with("alpha", level.alpha)
            .with("looks", level.looks.to_json())
    }

    #[cfg(feature = "decode")]
    fn take(object: &Object) -> Result<Self, WireError> {
        match (required(object, "alpha")?, required(object, "looks")?) {
            (None, None) => Ok(None),
            (Some(alpha), Some(looks)) => Ok(Some(LevelOverride { alpha, looks })),
            _ => Err(WireError::wrong("alpha and looks must be given together")),
        }
    }
}

/// Stored as the name and the workload that is launched or called; a recording has no workload.
impl Fields for Contender {
    fn put(&self, object: Object) -> Object {
        let object = object.with("name", &self.name);
        match &self.workload {
            Workload::Command(command) => object.with("command", command.to_json()),
            Workload::Function(calls) => object.with("function", calls.to_json()),
            Workload::Worker(calls) => object.with("worker", calls.to_json()),
            Workload::Harness(calls) => object.with(calls.harness.key(), calls.to_json()),
            Workload::Recording => object,
        }
    }

    #[cfg(feature = "decode")]
    fn take(object: &Object) -> Result<Self, WireError> {
        fn read<T: Wire>(
            object: &Object,
            name: &str,
            workload: fn(T) -> Workload,
        ) -> Result<Option<Workload>, WireError> {
            let value = inside(object, name, Option::from_json).transpose()?;
            Ok(value.flatten().map(workload))
        }
        let name: String = required(object, "name")?;
        let mut all = vec![
            read(object, "command", Workload::Command)?,
            read(object, "function", Workload::Function)?,
            read(object, "worker", Workload::Worker)?,
        ];
        for harness in Harness::ALL {
            let calls = read(object, harness.key(), Workload::Harness)?;
            all.push(calls.map(|workload| of_harness(workload, harness)));
        }
        let mut all = all.into_iter().flatten();
        let workload = all.next().unwrap_or(Workload::Recording);
        if all.next().is_some() {
            return Err(WireError::sentence(format!(
                "contender '{name}' is more than one of command, function, worker, {}",
                Harness::ALL.map(Harness::key).join(", ")
            )));
        }
        Ok(Contender { name, workload })
    }
}

crate::wire::whole!(Contender);

object! { FunctionCalls { iterations, threads: or(1), } }

object! { Program { executable, arguments: or(Vec::new()), directory: omit, } }

object! { WorkerCalls {
    program,
    process: or(0),
    benchmark,
    contender,
    calls: inline,
} }

/// Returns the workload with its harness, which the file gives as the name of the field.
#[cfg(feature = "decode")]
fn of_harness(workload: Workload, harness: Harness) -> Workload {
    match workload {
        Workload::Harness(calls) => Workload::Harness(Box::new(HarnessCalls { harness, ..*calls })),
        other => other,
    }
}

object! { HarnessCalls {
    program,
    benchmark,
    length,
    warm_up: omit,
    planned_iterations: omit,
    repetitions,
    threads: or(1),
    fixes_addresses: omit,
    // The name of the field around this object determines the harness.
    ..HarnessCalls::default()
} }

choice! { RepetitionLength {
    "iterations" => Iterations(iterations),
    "seconds" => Seconds(seconds),
    "own" => Own,
} }

object! { CommandLine {
    text,
    words,
    directory: omit,
    input: or(Input::Null),
    output: or(Output::Null),
    timeout = "timeout_ns",
    exit_policy: or(ExitPolicy::ZeroOnly),
    hooks: or(Hooks::default()),
} }

choice! { Input {
    "null" => Null,
    "file" => File(file),
} }

choice! { Output {
    "null" => Null,
    "pipe" => Pipe,
    "inherit" => Inherit,
    "file" => File(file),
    "compared" => Compared,
    "read" => Read,
} }

choice! { ExitPolicy {
    "zero-only" => ZeroOnly,
    "any" => Any,
    "also" => Also(codes),
} }

object! { Hooks { setup, prepare, conclude, cleanup, } }
