//! Warnings about saved results as a whole, from the facts in their files: machines, tools, builds,
//! and the order of recording.

use std::collections::HashSet;

use deadheat_model::{ResultFacts, ResultSide, ResultSource, Warning};

/// Returns warnings from the facts of the sides, of which the baseline is the first.
pub(crate) fn about_the_recordings(sides: &[ResultSide]) -> Vec<Warning> {
    let Some((baseline, candidates)) = sides.split_first() else {
        return Vec::new();
    };
    let mut warnings = Vec::new();
    let mut differ = |tell: fn(&ResultSource) -> Option<String>,
                      doubt: fn(String, String) -> Warning| {
        let first = told(baseline, tell);
        for candidate in candidates {
            let other = told(candidate, tell);
            // A fact cannot differ if a side lacks it.
            if !first.is_empty() && !other.is_empty() && first != other {
                let doubt = doubt(first.join(", "), other.join(", "));
                if !warnings.contains(&doubt) {
                    warnings.push(doubt);
                }
            }
        }
    };
    differ(machine, |baseline, candidate| Warning::DifferentMachines {
        baseline,
        candidate,
    });
    differ(tool, |baseline, candidate| Warning::DifferentTools {
        baseline,
        candidate,
    });
    let those = |holds: fn(&ResultFacts) -> Option<bool>| -> Vec<String> {
        let any = |side: &&ResultSide| {
            let mut files = side.files.iter();
            files.any(|file| holds(&file.facts) == Some(true))
        };
        sides
            .iter()
            .filter(any)
            .map(|side| side.name.clone())
            .collect()
    };
    let scaling = those(|facts| facts.cpu_scaling);
    if !scaling.is_empty() {
        warnings.push(Warning::CpuScaling { sides: scaling });
    }
    let debug = those(|facts| facts.debug_build);
    if !debug.is_empty() {
        warnings.push(Warning::DebugRecording { sides: debug });
    }
    for candidate in candidates {
        warnings.extend(shared(baseline, candidate).or_else(|| in_order(baseline, candidate)));
    }
    for side in sides {
        warnings.extend(copied(side));
    }
    // Without candidates rows are not paired, so repeated names do not matter.
    if !candidates.is_empty() {
        warnings.extend(repeated(sides));
    }
    warnings
}

/// Warns about recordings that are on both sides, unless both sides consist of the same recordings.
fn shared(baseline: &ResultSide, candidate: &ResultSide) -> Option<Warning> {
    let digests = |side: &ResultSide| -> HashSet<u64> {
        side.files
            .iter()
            .filter_map(|file| file.facts.digest)
            .collect()
    };
    let (old, new) = (digests(baseline), digests(candidate));
    let is_shared = |file: &&ResultSource| file.facts.digest.is_some_and(|it| old.contains(&it));
    let files = candidate.files.iter().filter(is_shared);
    let files = listed(files.map(|file| &file.source));
    (old != new && !files.is_empty()).then_some(Warning::SharedRecordings { files })
}

/// Warns about files of a side that were left out because they are copies of others.
fn copied(side: &ResultSide) -> Option<Warning> {
    let files = listed(side.files.iter().flat_map(|file| &file.facts.copies));
    (!files.is_empty()).then(|| Warning::CopiedRecordings {
        side: side.name.clone(),
        files,
    })
}

/// Warns about names that several benchmarks of a file share.
fn repeated(sides: &[ResultSide]) -> Option<Warning> {
    let files = sides.iter().flat_map(|side| &side.files);
    let names = listed(files.flat_map(|file| &file.facts.repeated));
    (!names.is_empty()).then_some(Warning::RepeatedNames { names })
}

/// Returns each name once, in the order of first appearance.
fn listed<'s>(names: impl Iterator<Item = &'s String>) -> Vec<String> {
    let mut seen = HashSet::new();
    names.filter(|name| seen.insert(*name)).cloned().collect()
}

/// Warns if all files of one side are older than those of the other. Every file must have a date,
/// and each side several files: of two single files one is always older, and they get no verdict
/// anyway. Two files with the same date have no known order.
fn in_order(baseline: &ResultSide, candidate: &ResultSide) -> Option<Warning> {
    let span = |side: &ResultSide| {
        let moments = side.files.iter().map(|file| file.facts.moment);
        let seconds = moments.collect::<Option<Vec<f64>>>()?;
        let ends = (
            seconds.iter().copied().reduce(f64::min)?,
            seconds.iter().copied().reduce(f64::max)?,
        );
        (seconds.len() > 1).then_some(ends)
    };
    let (old, new) = (span(baseline)?, span(candidate)?);
    let told = |first: &ResultSide, last: &ResultSide| Warning::RecordedInOrder {
        first: first.name.clone(),
        last: last.name.clone(),
    };
    match () {
        () if old.1 < new.0 => Some(told(baseline, candidate)),
        () if new.1 < old.0 => Some(told(candidate, baseline)),
        () => None,
    }
}

/// Returns pairs of files that are neighbours in time, as the indices of the baseline's and the
/// candidate's file. `None` unless the files were recorded in turns: in the order of their dates,
/// the first two files are one of each side, and so are the next two. Also `None` if two files have
/// the same date, or if there are fewer than four.
///
/// Neighbours were recorded under similar conditions, so their differences scatter less than the
/// files do. With a scatter of 7 % from file to file, a change of 5 % was found in 16 of 30 cases
/// by Welch's test and in 28 by pairs of neighbours.
///
/// Pairing is valid whenever it ignores the values, so wrong dates only cost power. The dates in
/// the files are used. If no file has one, their modification times are used, although copying a
/// file changes them.
pub(crate) fn turns(baseline: &ResultSide, candidate: &ResultSide) -> Option<Vec<(u32, u32)>> {
    let sides = [baseline, candidate];
    let mut files = sides.iter().flat_map(|side| &side.files);
    match files.any(|file| file.facts.moment.is_some()) {
        true => in_turns(sides, |file| file.facts.moment),
        false => in_turns(sides, |file| file.facts.modified),
    }
}

fn in_turns(
    sides: [&ResultSide; 2],
    moment: impl Fn(&ResultSource) -> Option<f64>,
) -> Option<Vec<(u32, u32)>> {
    let mut files = Vec::new();
    for (which, side) in sides.iter().enumerate() {
        for (place, file) in side.files.iter().enumerate() {
            files.push((moment(file)?, which, place as u32));
        }
    }
    files.sort_by(|a, b| a.0.total_cmp(&b.0));
    if files.len() < 4 || files.windows(2).any(|two| two[0].0 == two[1].0) {
        return None;
    }
    let couple = |two: &[(f64, usize, u32)]| match *two {
        [(_, 0, old), (_, 1, new)] | [(_, 1, new), (_, 0, old)] => Some((old, new)),
        _ => None,
    };
    files.chunks(2).map(couple).collect()
}

/// Returns the facts that the files of a side state, each once.
fn told(side: &ResultSide, tell: fn(&ResultSource) -> Option<String>) -> Vec<String> {
    let mut all: Vec<String> = side.files.iter().filter_map(tell).collect();
    all.sort();
    all.dedup();
    all
}

fn machine(file: &ResultSource) -> Option<String> {
    let facts = &file.facts;
    let cores = facts.cores.map(|cores| format!("{cores} cores"));
    together([&facts.host, &facts.system, &facts.cpu, &cores])
}

fn tool(file: &ResultSource) -> Option<String> {
    let named = Some(file.tool.clone()).filter(|tool| !tool.is_empty());
    together([&named, &file.facts.runtime])
}

fn together<const N: usize>(parts: [&Option<String>; N]) -> Option<String> {
    let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(name: &str, host: Option<&str>, tool: &str, scaling: Option<bool>) -> ResultSide {
        ResultSide {
            name: name.to_owned(),
            files: vec![ResultSource {
                source: format!("{name}.json"),
                tool: tool.to_owned(),
                facts: ResultFacts {
                    host: host.map(str::to_owned),
                    cpu_scaling: scaling,
                    ..ResultFacts::default()
                },
            }],
        }
    }

    fn codes(sides: &[ResultSide]) -> Vec<&'static str> {
        about_the_recordings(sides)
            .iter()
            .map(Warning::code)
            .collect()
    }

    #[test]
    fn sides_that_agree_or_keep_silent_raise_no_doubt() {
        let (a, b) = (
            side("a", Some("h"), "x 1", None),
            side("b", Some("h"), "x 1", Some(false)),
        );
        assert!(codes(&[a.clone(), b]).is_empty());
        assert!(codes(&[a, side("c", None, "", None)]).is_empty());
        assert!(codes(&[]).is_empty());
    }

    #[test]
    fn files_of_one_side_that_are_all_older_are_told() {
        let of = |name: &str, moments: &[Option<f64>]| {
            let mut made = side(name, None, "", None);
            let file = made.files.remove(0);
            let told = |moment: &Option<f64>| {
                let mut file = file.clone();
                file.facts.moment = *moment;
                file
            };
            made.files = moments.iter().map(told).collect();
            made
        };
        let told =
            |old: &[Option<f64>], new: &[Option<f64>]| codes(&[of("old", old), of("new", new)]);
        let early = [Some(0.0), Some(1.0)];
        let late = [Some(2.0), Some(3.5)];
        assert_eq!(told(&early, &late), ["recorded-in-order"]);
        assert_eq!(told(&late, &early), ["recorded-in-order"]);
        let in_turns = [early[0], late[1]];
        assert!(told(&in_turns, &[early[1], late[0]]).is_empty());
        assert!(told(&early[..1], &late[..1]).is_empty(), "single files");
        assert!(told(&early, &[late[0], None]).is_empty());
        let since = [early[1], late[1]];
        assert!(told(&early, &since).is_empty(), "in one moment");
        assert!(told(&since, &early).is_empty(), "in one moment");
    }

    #[test]
    fn files_recorded_in_turns_are_neighbours_whichever_came_first() {
        let of = |name: &str, moments: &[f64]| {
            let mut made = side(name, None, "", None);
            let file = made.files.remove(0);
            let dated = |moment: &f64| {
                let mut file = file.clone();
                file.facts.modified = Some(*moment);
                file
            };
            made.files = moments.iter().map(dated).collect();
            made
        };
        let found = |old: &[f64], new: &[f64]| turns(&of("old", old), &of("new", new));
        let couples = Some(vec![(0, 1), (1, 0), (2, 2)]);
        assert_eq!(found(&[1.0, 4.0, 5.0], &[3.0, 2.0, 6.0]), couples);
        assert_eq!(found(&[1.0, 2.0], &[3.0, 4.0]), None, "one after the other");
        assert_eq!(
            found(&[1.0, 4.0, 5.0], &[3.0, 2.0]),
            None,
            "one is left over"
        );
        assert_eq!(found(&[1.0, 3.0], &[1.0, 4.0]), None, "in one moment");
        assert_eq!(found(&[1.0], &[2.0]), None, "single files");
        let mut dated = [of("old", &[1.0, 2.0]), of("new", &[3.0, 4.0])];
        for (side, moments) in dated.iter_mut().zip([[1.0, 4.0], [2.0, 3.0]]) {
            for (file, moment) in side.files.iter_mut().zip(moments) {
                file.facts.moment = Some(moment);
            }
        }
        let told = turns(&dated[0], &dated[1]);
        assert_eq!(
            told,
            Some(vec![(0, 0), (1, 1)]),
            "what files tell comes first"
        );
        let of_writing = |dates: [Option<f64>; 2]| {
            let mut in_turns = [of("old", &[1.0, 3.0]), of("new", &[2.0, 4.0])];
            for (side, date) in in_turns.iter_mut().zip(dates) {
                let files = side.files.iter_mut();
                files.for_each(|file| file.facts.moment = date);
            }
            turns(&in_turns[0], &in_turns[1])
        };
        assert!(of_writing([None, None]).is_some());
        assert_eq!(of_writing([Some(5.0), Some(5.0)]), None, "in one moment");
        assert_eq!(of_writing([Some(5.0), None]), None, "not all are dated");
    }

    #[test]
    fn recordings_that_are_there_twice_are_told() {
        let of = |name: &str, digests: &[u64]| {
            let mut made = side(name, None, "", None);
            let file = made.files.remove(0);
            let known = |digest: &u64| {
                let mut file = file.clone();
                file.facts.digest = Some(*digest);
                file.source = format!("{name}{digest}");
                file
            };
            made.files = digests.iter().map(known).collect();
            made
        };
        let told = |old: &[u64], new: &[u64]| about_the_recordings(&[of("o", old), of("n", new)]);
        let files = vec!["n2".to_owned()];
        assert_eq!(
            told(&[1, 2], &[2, 3]),
            [Warning::SharedRecordings { files }]
        );
        assert!(told(&[1, 2], &[2, 1]).is_empty(), "each row tells that");
        assert!(told(&[1, 2], &[3, 4]).is_empty());
        let mut copied = [of("o", &[1]), of("n", &[2])];
        copied[1].files[0].facts.copies = ["a", "b", "a"].map(str::to_owned).to_vec();
        copied[0].files[0].facts.repeated = vec!["sort #2".to_owned()];
        copied[1].files[0].facts.repeated = vec!["sort #2".to_owned()];
        let expected = [
            Warning::CopiedRecordings {
                side: "n".to_owned(),
                files: ["a", "b"].map(str::to_owned).to_vec(),
            },
            Warning::RepeatedNames {
                names: vec!["sort #2".to_owned()],
            },
        ];
        assert_eq!(about_the_recordings(&copied), expected);
        // Without candidates names are not paired.
        assert!(about_the_recordings(&copied[..1]).is_empty());
    }

    #[test]
    fn other_hosts_tools_and_frequencies_are_told() {
        let sides = [
            side("a", Some("h"), "x 1", Some(true)),
            side("b", Some("i"), "x 2", None),
        ];
        assert_eq!(
            codes(&sides),
            ["different-machines", "different-tools", "cpu-scaling"]
        );
        let Warning::DifferentMachines {
            baseline,
            candidate,
        } = &about_the_recordings(&sides)[0]
        else {
            panic!("{sides:?}")
        };
        assert_eq!((baseline.as_str(), candidate.as_str()), ("h", "i"));
    }
}
