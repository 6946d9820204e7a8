//! Races two builds of a program in a process of its own, for the tests of builds that misbehave:
//! `tests/pairs.rs`.
//!
//! ```text
//! builds inspect SECONDS PROGRAM…
//! builds race [OPTION]… + NAME[@CONTENDER] OLD… vs NEW… [+ …]
//! builds resume FILE MORE HELPER
//! ```

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use deadheat::parts::analysis::{Options, analyse};
use deadheat::parts::engine::{LinkProgram, Unwatched};
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::model::{
    Benchmark, Contender, EndReason, FunctionCalls, Metric, Pinning, Program, RaceSettings,
    TimeLimit, WorkerCalls, Workload,
};
use deadheat::parts::report::{TextOptions, to_text};
use deadheat::parts::settings::Placement;
use deadheat::parts::{
    BenchmarkRace, Entries, RaceOutcome, ResumeOptions, inspect_program, race_benchmarks,
    resume_race,
};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let ended = match words.split_first() {
        Some((&"inspect", rest)) => inspect(rest),
        Some((&"race", rest)) => race(rest),
        Some((&"resume", rest)) => resume(rest),
        _ => Err(Failure::Usage("inspect, race or resume".to_owned())),
    };
    ended.map(ExitCode::from).unwrap_or_else(|failure| {
        eprintln!("builds: {failure}");
        ExitCode::from(failure.code())
    })
}

fn inspect(words: &[&str]) -> Result<Status, Failure> {
    let [seconds, program, arguments @ ..] = words else {
        return Err(Failure::Usage("SECONDS PROGRAM…".to_owned()));
    };
    let program = Program {
        executable: PathBuf::from(program),
        arguments: arguments.iter().map(ToString::to_string).collect(),
        ..Program::default()
    };
    let patience = Duration::from_secs(seconds.parse().expect("a number"));
    println!(
        "{:?}",
        inspect_program(&program, None, false, Some(patience))?
    );
    Ok(Status::Done)
}

fn race(words: &[&str]) -> Result<Status, Failure> {
    let mut parts = words.split(|word| *word == "+");
    let race = settings(parts.next().unwrap_or_default());
    let threads = words.contains(&"--threads");
    let waiting: &[Metric] = if words.contains(&"--waiting") {
        &[Metric::Cpu, Metric::RunDelay]
    } else {
        &[]
    };
    let entries = Entries {
        benchmarks: parts.map(|words| benchmark(words, threads)).collect(),
        metrics: [&[Metric::Wall], waiting].concat(),
        left_out: Vec::new(),
        rules: Vec::new(),
    };
    told(&race_benchmarks(&race, entries, &mut Unwatched)?)
}

fn resume(words: &[&str]) -> Result<Status, Failure> {
    let [file, more, helper] = words else {
        return Err(Failure::Usage("FILE MORE HELPER".to_owned()));
    };
    let options = ResumeOptions {
        more: more.parse().expect("a number"),
        timeout: Some(Duration::from_secs(60)),
        placements: Some(LinkProgram::new(helper.into())),
        ..ResumeOptions::default()
    };
    told(&resume_race(file.as_ref(), &options, &mut Unwatched)?)
}

fn told(outcome: &RaceOutcome) -> Result<Status, Failure> {
    let analysis = analyse(&outcome.run, Options::default());
    print!("{}", to_text(&analysis, &TextOptions::default()));
    Ok(match outcome.run.end.as_ref().map(|end| &end.reason) {
        Some(EndReason::Interrupted(signal)) => Status::Interrupted(*signal),
        _ if !outcome.run.failures.is_empty() => Status::ContenderFailed,
        _ => Status::Done,
    })
}

fn settings(words: &[&str]) -> BenchmarkRace {
    let mut race = BenchmarkRace {
        settings: RaceSettings {
            max_replicates: Some(6),
            seed: Some(7),
            ..RaceSettings::default()
        },
        ..BenchmarkRace::default()
    };
    for option in words.chunks(2) {
        let [flag, value] = option else {
            panic!("{option:?}")
        };
        let number = || value.parse().expect("a number");
        match *flag {
            "--alpha" => race.settings.alpha = Some(value.parse().expect("a number")),
            "--blocks" => race.settings.blocks = Some(number()),
            "--control" => race.settings.control = Some(*value == "yes"),
            "--max-replicates" => race.settings.max_replicates = Some(number()),
            "--placements" => race.placements = Some(LinkProgram::new(value.into())),
            "--independently" => {
                let program = LinkProgram::by(Placement::Independent, Some(value.into()));
                race.placements = program;
            }
            "--pin" => race.settings.pin = Some(Pinning::parse(value).expect("cores")),
            "--save" => race.save = Some(value.into()),
            "--threads" | "--waiting" => {}
            "--timeout" => {
                let limit = Duration::from_secs(number().into());
                race.settings.timeout = Some(TimeLimit(Some(limit)));
            }
            _ => panic!("{flag}"),
        }
    }
    race
}

fn benchmark(words: &[&str], threads: bool) -> Benchmark {
    let (name, sides) = words.split_first().expect("a name");
    let (name, called) = name.split_once('@').unwrap_or((name, name));
    let sides: Vec<&[&str]> = sides.split(|word| *word == "vs").collect();
    let contender = |(process, words): (usize, &&[&str])| Contender {
        name: ["old", "new"][process].to_owned(),
        workload: Workload::Worker(Box::new(WorkerCalls {
            program: Program {
                executable: words[0].into(),
                arguments: words[1..].iter().map(|word| (*word).to_owned()).collect(),
                ..Program::default()
            },
            process,
            benchmark: name.to_owned(),
            contender: called.to_owned(),
            calls: FunctionCalls {
                threads: if threads { 2 } else { 1 },
                ..FunctionCalls::default()
            },
        })),
    };
    Benchmark {
        name: name.to_owned(),
        contenders: sides.iter().enumerate().map(contender).collect(),
        ..Benchmark::default()
    }
}
