//! The part of a race that a scheduler assigns to this process.

use deadheat_model::{RaceSettings, ShardNumber, fnv1a};

use crate::exit::Failure;

/// The environment variables by which a scheduler numbers the tasks of a job.
struct Scheduler {
    name: &'static str,
    /// The variable with the number of the task.
    index: &'static str,
    /// The variable with the number of the first task (`Ok`), or this number if it is always the
    /// same (`Err`).
    first: Result<&'static str, i64>,
    /// The variable with the difference between consecutive task numbers; `None` if it is always 1.
    step: Option<&'static str>,
    /// The variable with the number of tasks; `None` if the scheduler sets none.
    count: Option<&'static str>,
    /// The variable with the identifier of the job, which is the same in all its tasks; `None` if
    /// the scheduler sets none.
    job: Option<&'static str>,
}

/// The environment variable with the number of parts, for schedulers that set no such variable.
const COUNT_VARIABLE: &str = "DEADHEAT_SHARDS";

/// The known schedulers in order of precedence. A scheduler that may run inside another comes
/// first.
const SCHEDULERS: [Scheduler; 7] = [
    Scheduler {
        name: "HyperQueue",
        index: "HQ_TASK_ID",
        first: Err(1),
        step: None,
        count: None,
        job: Some("HQ_JOB_ID"),
    },
    Scheduler {
        name: "Slurm (array)",
        index: "SLURM_ARRAY_TASK_ID",
        first: Ok("SLURM_ARRAY_TASK_MIN"),
        step: Some("SLURM_ARRAY_TASK_STEP"),
        count: Some("SLURM_ARRAY_TASK_COUNT"),
        job: Some("SLURM_ARRAY_JOB_ID"),
    },
    Scheduler {
        name: "Slurm (srun)",
        index: "SLURM_PROCID",
        first: Err(0),
        step: None,
        count: Some("SLURM_NTASKS"),
        job: Some("SLURM_JOB_ID"),
    },
    Scheduler {
        name: "Kubernetes",
        index: "JOB_COMPLETION_INDEX",
        first: Err(0),
        step: None,
        count: None,
        job: None,
    },
    Scheduler {
        name: "Buildkite",
        index: "BUILDKITE_PARALLEL_JOB",
        first: Err(0),
        step: None,
        count: Some("BUILDKITE_PARALLEL_JOB_COUNT"),
        job: Some("BUILDKITE_BUILD_ID"),
    },
    Scheduler {
        name: "GitLab",
        index: "CI_NODE_INDEX",
        first: Err(1),
        step: None,
        count: Some("CI_NODE_TOTAL"),
        job: Some("CI_PIPELINE_ID"),
    },
    Scheduler {
        name: "Nomad",
        index: "NOMAD_ALLOC_INDEX",
        first: Err(0),
        step: None,
        count: None,
        job: Some("NOMAD_JOB_ID"),
    },
];

/// Returns the settings with the number of the part, and with the seed that all parts share;
/// without `--shard`, unchanged settings. With `--shard auto`, the scheduler's variables choose the
/// part. If the user sets no seed, it is derived from the identifier of the job, or is 0 without
/// one.
pub fn settle_shard(mut settings: RaceSettings) -> Result<RaceSettings, Failure> {
    let variable = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    let Some(asked) = settings.shard else {
        if settings.shard_by.is_some() {
            let text = "--shard-by needs --shard, which says which part of the race this is";
            return Err(Failure::Usage(text.to_owned()));
        }
        return Ok(settings);
    };
    let mut job = None;
    if asked == ShardNumber::Auto {
        let (number, of_job) = part_of_job(&variable).map_err(Failure::Usage)?;
        (settings.shard, job) = (Some(number), of_job);
    }
    settings.seed.get_or_insert(job.unwrap_or(0));
    Ok(settings)
}

/// Returns the part that the scheduler's variables choose, and the seed for this job.
fn part_of_job(
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(ShardNumber, Option<u64>), String> {
    let found = SCHEDULERS
        .iter()
        .find_map(|scheduler| Some((scheduler, variable(scheduler.index)?)));
    let Some((scheduler, index)) = found else {
        let known: Vec<String> = (SCHEDULERS.iter())
            .map(|one| format!("{} ({})", one.index, one.name))
            .collect();
        return Err(format!(
            "--shard auto: no variable of a scheduler says which part this is\nhelp: write --shard \
             2/4, or set one of {}",
            known.join(", ")
        ));
    };
    let number = |name: &str, text: String| {
        text.trim()
            .parse::<i64>()
            .map_err(|_| format!("--shard auto: {name} is '{text}', which is not a whole number"))
    };
    let of_variable = |name: &str| variable(name).map(|text| number(name, text)).transpose();
    let index = number(scheduler.index, index)?;
    let first = match scheduler.first {
        Err(always) => always,
        Ok(name) => of_variable(name)?.unwrap_or(0),
    };
    let step = match scheduler.step {
        Some(name) => of_variable(name)?.filter(|step| *step > 0).unwrap_or(1),
        None => 1,
    };
    let count = match scheduler.count {
        Some(name) => of_variable(name)?,
        None => None,
    };
    let count = match count {
        Some(count) => count,
        None => of_variable(COUNT_VARIABLE)?.ok_or_else(|| {
            let name = scheduler.name;
            format!(
                "--shard auto: {name} does not say how many parts there are\nhelp: set \
                 {COUNT_VARIABLE} to their number"
            )
        })?,
    };
    let index = index.saturating_sub(first) / step + 1;
    let part = ShardNumber::parse(&format!("{index}/{count}"));
    let part = part.map_err(|problem| format!("--shard auto ({}): {problem}", scheduler.name))?;
    let job = scheduler.job.and_then(variable);
    Ok((part, job.map(|job| seed_of(&job))))
}

fn seed_of(job: &str) -> u64 {
    let hash = fnv1a(job.bytes());
    // 32 bits are short enough to read and to type.
    (hash ^ (hash >> 32)) & 0xffff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auto(variables: &[(&str, &str)]) -> Result<(ShardNumber, Option<u64>), String> {
        part_of_job(&|name| {
            let mut all = variables.iter();
            let found = all.find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn every_scheduler_says_which_part_it_asks_for() {
        for (variables, expected) in [
            (
                &[
                    ("SLURM_ARRAY_TASK_ID", "7"),
                    ("SLURM_ARRAY_TASK_MIN", "3"),
                    ("SLURM_ARRAY_TASK_STEP", "2"),
                    ("SLURM_ARRAY_TASK_COUNT", "4"),
                    ("SLURM_ARRAY_JOB_ID", "11"),
                ][..],
                (3, 4),
            ),
            (&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "2")], (1, 2)),
            (
                &[("JOB_COMPLETION_INDEX", "3"), ("DEADHEAT_SHARDS", "4")],
                (4, 4),
            ),
            (
                &[
                    ("BUILDKITE_PARALLEL_JOB", "1"),
                    ("BUILDKITE_PARALLEL_JOB_COUNT", "3"),
                ],
                (2, 3),
            ),
            (&[("CI_NODE_INDEX", "2"), ("CI_NODE_TOTAL", "2")], (2, 2)),
            (&[("HQ_TASK_ID", "2"), ("DEADHEAT_SHARDS", "5")], (2, 5)),
            (
                &[("NOMAD_ALLOC_INDEX", "0"), ("DEADHEAT_SHARDS", "5")],
                (1, 5),
            ),
        ] {
            let (part, _) = auto(variables).unwrap();
            assert_eq!(
                part,
                ShardNumber::Of(expected.0, expected.1),
                "{variables:?}"
            );
        }
    }

    #[test]
    fn tasks_of_one_job_have_one_seed_and_those_of_another_another() {
        let seed = |task, job| {
            let (_, seed) = auto(&[
                ("CI_NODE_INDEX", task),
                ("CI_NODE_TOTAL", "4"),
                ("CI_PIPELINE_ID", job),
            ])
            .unwrap();
            seed.unwrap()
        };
        assert_eq!(seed("1", "900"), seed("4", "900"));
        assert_ne!(seed("1", "900"), seed("1", "901"));
    }

    #[test]
    fn what_a_scheduler_does_not_say_is_asked_for_by_name() {
        assert!(auto(&[]).unwrap_err().contains("SLURM_ARRAY_TASK_ID"));
        let silent = auto(&[("JOB_COMPLETION_INDEX", "3")]).unwrap_err();
        assert!(
            silent.contains("Kubernetes") && silent.contains("DEADHEAT_SHARDS"),
            "{silent}"
        );
        let odd = auto(&[("CI_NODE_INDEX", "one"), ("CI_NODE_TOTAL", "2")]).unwrap_err();
        assert!(odd.contains("CI_NODE_INDEX is 'one'"), "{odd}");
        let beyond = auto(&[("CI_NODE_INDEX", "3"), ("CI_NODE_TOTAL", "2")]).unwrap_err();
        assert!(
            beyond.contains("GitLab") && beyond.contains("'3/2'"),
            "{beyond}"
        );
    }
}
