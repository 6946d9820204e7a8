//! The benchmarks of a bench target, and the races planned from them: each benchmark alone, or the
//! functions of a group with the same parameter against each other.

use std::collections::BTreeSet;
use std::path::Path;

use deadheat::parts::engine::ListedBenchmark;
use deadheat::parts::harness::Planned;
use deadheat::parts::model::{
    Benchmark, Contender, FunctionCalls, Program, Throughput, WorkerCalls, Workload,
};

/// A benchmark that a benchmark function of the user registered.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Listed {
    /// The full name of the benchmark: group, function and parameter, without the missing parts.
    pub(crate) name: String,
    pub(crate) group: String,
    pub(crate) function: Option<String>,
    pub(crate) parameter: Option<String>,
    pub(crate) throughput: Option<Throughput>,
}

impl From<Listed> for ListedBenchmark {
    fn from(listed: Listed) -> Self {
        ListedBenchmark {
            contenders: vec![listed.name.clone()],
            name: listed.name,
            parameters: Vec::new(),
            throughput: listed.throughput,
            judged: None,
            threads: 1,
            ignored: false,
            sources: Vec::new(),
        }
    }
}

/// Returns `name`, with a number appended if `names` already contains it, as criterion does.
pub(crate) fn unique(names: &BTreeSet<String>, name: String) -> String {
    if !names.contains(&name) {
        return name;
    }
    let numbered = |number: u32| format!("{name} #{number}");
    let mut names = (2..).map(numbered).filter(|name| !names.contains(name));
    names.next().expect("numbers do not end")
}

pub(crate) fn one_by_one(listed: &[Listed]) -> Vec<Planned> {
    listed.iter().map(alone).collect()
}

/// Returns the races of each group: its functions with the same parameter race each other, the
/// first as the baseline. A function without a rival races alone.
///
/// Each function of a race runs in a separate process, as in a race of two builds, because the data
/// that a function borrows may be dropped before criterion runs the next function.
pub(crate) fn group_races(listed: &[Listed], program: &Path) -> Vec<Planned> {
    let place = |one: &Listed| (one.group.clone(), one.parameter.clone());
    let mut names = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut planned = Vec::new();
    for one in listed {
        if !seen.insert(place(one)) {
            continue;
        }
        let rivals: Vec<&Listed> = listed
            .iter()
            .filter(|other| place(other) == place(one))
            .collect();
        let mut race = match rivals[..] {
            [one] => alone(one),
            _ => against_each_other(&rivals, program),
        };
        race.benchmark.name = unique(&names, race.benchmark.name);
        names.insert(race.benchmark.name.clone());
        planned.push(race);
    }
    planned
}

fn alone(listed: &Listed) -> Planned {
    let contender = Contender {
        name: listed.name.clone(),
        workload: Workload::Function(FunctionCalls::default()),
    };
    planned(listed.name.clone(), vec![contender], listed)
}

fn against_each_other(rivals: &[&Listed], program: &Path) -> Planned {
    let contender = |(process, rival): (usize, &&Listed)| Contender {
        name: rival
            .function
            .clone()
            .unwrap_or_else(|| rival.group.clone()),
        workload: Workload::Worker(Box::new(WorkerCalls {
            program: Program {
                executable: program.to_owned(),
                ..Program::default()
            },
            process,
            benchmark: rival.name.clone(),
            contender: rival.name.clone(),
            calls: FunctionCalls::default(),
        })),
    };
    let first = rivals[0];
    let name = match &first.parameter {
        Some(parameter) => format!("{}/{parameter}", first.group),
        None => first.group.clone(),
    };
    let contenders = rivals.iter().enumerate().map(contender).collect();
    let mut race = planned(name, contenders, first);
    if rivals
        .iter()
        .any(|rival| rival.throughput != first.throughput)
    {
        race.benchmark.throughput = None;
    }
    race
}

fn planned(name: String, contenders: Vec<Contender>, listed: &Listed) -> Planned {
    Planned {
        benchmark: Benchmark {
            name,
            contenders,
            throughput: listed.throughput,
            ..Benchmark::default()
        },
        ignored: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_come_again_are_numbered() {
        let mut names = BTreeSet::new();
        let mut given = Vec::new();
        for name in ["a", "b", "a", "a", "a #2"] {
            let name = unique(&names, name.to_owned());
            names.insert(name.clone());
            given.push(name);
        }
        assert_eq!(given, ["a", "b", "a #2", "a #3", "a #2 #2"]);
    }

    fn listed(group: &str, function: &str, parameter: &str) -> Listed {
        let part = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Listed {
            name: [group, function, parameter].join("/"),
            group: group.to_owned(),
            function: part(function),
            parameter: part(parameter),
            throughput: None,
        }
    }

    fn rows(planned: &[Planned]) -> Vec<String> {
        let row = |one: &Planned| {
            let contenders = one.benchmark.contenders.iter();
            let names: Vec<&str> = contenders.map(|contender| &*contender.name).collect();
            format!("{}: {}", one.benchmark.name, names.join(" "))
        };
        planned.iter().map(row).collect()
    }

    #[test]
    fn functions_of_a_group_race_where_they_have_a_parameter_in_common() {
        let all = [
            listed("g", "f", "1"),
            listed("g", "f", "2"),
            listed("g", "h", "1"),
            listed("g", "i", "1"),
            listed("other", "f", "1"),
            listed("plain", "a", ""),
            listed("plain", "b", ""),
        ];
        let races = group_races(&all, Path::new("./suite"));
        let expected = [
            "g/1: f h i",
            "g/f/2: g/f/2",
            "other/f/1: other/f/1",
            "plain: a b",
        ];
        assert_eq!(rows(&races), expected);
        let processes: Vec<usize> = races[0]
            .benchmark
            .contenders
            .iter()
            .map(|contender| match &contender.workload {
                Workload::Worker(calls) => calls.process,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(processes, [0, 1, 2]);
        assert_eq!(one_by_one(&all).len(), all.len());
    }

    #[test]
    fn a_race_that_would_have_the_name_of_another_is_numbered() {
        let mut whole = listed("g", "", "");
        whole.name = "g".to_owned();
        let all = [
            whole,
            listed("g", "a", "1"),
            listed("g", "b", "1"),
            listed("g/1", "", ""),
        ];
        let races = group_races(&all, Path::new("./suite"));
        assert_eq!(rows(&races)[1], "g/1: a b");
        let names: BTreeSet<&str> = races.iter().map(|one| &*one.benchmark.name).collect();
        assert_eq!(names.len(), races.len());
    }
}
