//! Observations of the processes of one benchmark, by replicate.

use deadheat_model::{
    Contender, ContenderId, Observed, ObservedImage, ObservedProcess, ProcessDifference, Run,
    Warning, Workload,
};

pub(crate) struct Observations<'a> {
    /// The observations in the order of replicates.
    observed: Vec<&'a Observed>,
}

impl<'a> Observations<'a> {
    pub(crate) fn of(run: &'a Run, benchmark: usize) -> Self {
        let here = run.observed.iter().filter(|one| one.benchmark == benchmark);
        let mut observed: Vec<&Observed> = here.collect();
        // A stable sort: the last observation of a replicate includes the earlier ones.
        observed.sort_by_key(|one| one.replicate);
        Self { observed }
    }

    /// Returns the latest observation of a contender's processes up to `replicate`; `None` if
    /// nothing was observed.
    fn at(&self, contender: ContenderId, replicate: u32) -> Option<&'a ObservedProcess> {
        let until = self
            .observed
            .partition_point(|one| one.replicate <= replicate);
        let mut latest = self.observed[..until].iter().rev();
        let of_it = latest.find(|one| one.contender == contender.index());
        of_it.map(|one| &one.process)
    }

    pub(crate) fn ran_as_started(&self, contender: ContenderId, replicate: u32) -> bool {
        let process = self.at(contender, replicate);
        process.is_some_and(|process| process.image == ObservedImage::AsStarted)
    }

    /// Returns the warning about processes that launches of these contenders left running.
    pub(crate) fn left_behind(
        &self,
        contenders: &[ContenderId],
        names: &[Contender],
    ) -> Option<Warning> {
        let left = |contender: &ContenderId| {
            let mut of_it = self
                .observed
                .iter()
                .filter(|one| one.contender == contender.index());
            let process = of_it.find_map(|one| one.process.left_behind.clone())?;
            Some((names.get(contender.index())?.name.clone(), process))
        };
        let (by, mut processes): (Vec<_>, Vec<_>) = contenders.iter().filter_map(left).unzip();
        let process = processes.pop()?;
        Some(Warning::LeftBehind { by, process })
    }

    /// Returns the observation that holds for a contender's processes in all of these replicates;
    /// `None` unless all were observed.
    pub(crate) fn common(
        &self,
        contender: ContenderId,
        mut replicates: impl Iterator<Item = u32>,
    ) -> Option<ObservedProcess> {
        let first = self.at(contender, replicates.next()?)?.clone();
        replicates.try_fold(first, |common, replicate| {
            Some(common.common(self.at(contender, replicate)?))
        })
    }
}

/// Returns the differences between the processes of two contenders: those that were observed, and a
/// program that restarts itself at fixed addresses on one side only.
pub(crate) fn differences(
    contenders: [&Contender; 2],
    processes: &[ObservedProcess],
) -> Vec<ProcessDifference> {
    let [baseline, candidate] = contenders;
    let fixes_addresses = [0, 1].map(|side| match &contenders[side].workload {
        Workload::Harness(calls) => calls.fixes_addresses,
        _ => processes
            .get(side)
            .is_some_and(|process| process.fixes_addresses),
    });
    let (by, not_by) = match fixes_addresses {
        [true, false] => (baseline, candidate),
        [false, true] => (candidate, baseline),
        _ => {
            return match processes {
                [one, other] => one.differences(&baseline.name, (&candidate.name, other)),
                _ => Vec::new(),
            };
        }
    };
    let mut found = vec![ProcessDifference::FixesAddresses {
        by: by.name.clone(),
        not_by: not_by.name.clone(),
    }];
    if let [one, other] = processes {
        found.extend(one.differences(&baseline.name, (&candidate.name, other)));
    }
    found
}

/// Returns the reason why measurements of a contender cannot be attributed to the neutral links
/// from which its processes were started.
pub(crate) fn why_not_on_links(
    contender: &str,
    process: Option<&ObservedProcess>,
) -> Option<String> {
    match process.map(|process| &process.image) {
        None => Some(
            "the run does not record which files its processes executed; race again".to_owned(),
        ),
        Some(ObservedImage::AsStarted) => None,
        Some(ObservedImage::Other(path)) => Some(format!(
            "'{contender}' was started from neutral links, but its processes executed '{path}'"
        )),
        Some(ObservedImage::Unseen) => Some(format!(
            "'{contender}' was started from neutral links, but not all of its processes could be \
             seen to execute them"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(contender: usize, replicate: u32, image: ObservedImage) -> Observed {
        Observed {
            benchmark: 0,
            contender,
            replicate,
            process: ObservedProcess {
                image,
                ..ObservedProcess::default()
            },
        }
    }

    #[test]
    fn an_observation_holds_until_the_next_of_its_contender() {
        let other = || ObservedImage::Other("/bin/other".to_owned());
        let all = [
            observed(1, 0, ObservedImage::AsStarted),
            observed(0, 0, ObservedImage::AsStarted),
            observed(1, 3, other()),
            observed(1, 5, ObservedImage::AsStarted),
        ];
        let observations = Observations {
            observed: all.iter().collect(),
        };
        let (baseline, candidate) = (ContenderId(0), ContenderId(1));
        let on = |replicate| observations.ran_as_started(candidate, replicate);
        assert_eq!(
            [0, 2, 3, 4, 5, 9].map(on),
            [true, true, false, false, true, true]
        );
        assert!(observations.ran_as_started(baseline, 9));
        let common = |replicates| observations.common(candidate, replicates).unwrap().image;
        assert_eq!(common(0..3), ObservedImage::AsStarted);
        assert_eq!(common(0..9), other());
        assert!(!observations.ran_as_started(ContenderId(2), 0));
        assert_eq!(observations.common(ContenderId(2), 0..3), None);
    }
}
