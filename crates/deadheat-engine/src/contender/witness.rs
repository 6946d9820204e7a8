//! Collects observations of each contender's processes and reports those that changed.

use std::collections::BTreeMap;
#[cfg(feature = "commands")]
use std::path::PathBuf;

use deadheat_model::{Observed, ObservedImage, ObservedProcess};
use nix::sched::CpuSet;

use crate::observed::{ProcessState, Sighting, Started, is_within};

/// The observations of one process, while it lived and when it ended. A field is `None` if it was
/// not observed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Noticed<'a> {
    pub(super) started: Option<Started>,
    /// The cores that deadheat gave the process; `None` if it gave all.
    pub(super) given: Option<&'a CpuSet>,
    pub(super) seen: Option<&'a Sighting>,
    pub(super) ended_as: Option<&'a ProcessState>,
    /// True if the main thread was allowed only on the given cores when the process ended.
    pub(super) ended_there: Option<bool>,
    pub(super) left_behind: Option<[u8; 16]>,
}

#[derive(Debug, Default)]
pub(super) struct Witness {
    known: BTreeMap<(usize, usize), Known>,
    /// The contenders whose programs restart themselves at fixed addresses.
    fixing: Vec<(usize, usize)>,
    /// By benchmark and contender, the name of a process that the contender left running.
    leaving: BTreeMap<(usize, usize), String>,
    news: Vec<Observed>,
}

#[derive(Debug, Default)]
struct Known {
    /// The last observation of a live process, and the name of the process at that time.
    seen: Option<(ObservedProcess, [u8; 16])>,
    /// The last observation that was reported, and its replicate.
    told: Option<(u32, ObservedProcess)>,
}

impl Witness {
    /// Records an observation of a contender's process, and reports it if it is new.
    pub(super) fn note(
        &mut self,
        (benchmark, contender): (usize, usize),
        replicate: u32,
        noticed: Noticed<'_>,
    ) {
        self.note_left((benchmark, contender), noticed);
        let known = self.known.entry((benchmark, contender)).or_default();
        let mut process = known.observe(noticed);
        process.fixes_addresses = self.fixing.contains(&(benchmark, contender));
        process.left_behind = self.leaving.get(&(benchmark, contender)).cloned();
        let process = match &known.told {
            Some((told_for, told)) if *told_for == replicate => told.common(&process),
            _ => process,
        };
        if known
            .told
            .as_ref()
            .is_some_and(|(_, told)| *told == process)
        {
            return;
        }
        known.told = Some((replicate, process.clone()));
        self.news.push(Observed {
            benchmark,
            contender,
            replicate,
            process,
        });
    }

    fn note_left(&mut self, of: (usize, usize), noticed: Noticed<'_>) {
        if let Some(name) = noticed.left_behind {
            let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
            let left = self.leaving.entry(of);
            left.or_insert_with(|| String::from_utf8_lossy(name).into_owned());
        }
    }

    /// Records a process that was observed before the measurement, without reporting it.
    #[cfg(feature = "commands")]
    pub(super) fn remember(&mut self, of: (usize, usize), noticed: Noticed<'_>) {
        self.note_left(of, noticed);
        self.known.entry(of).or_default().observe(noticed);
    }

    #[cfg(feature = "commands")]
    pub(super) fn fixes_addresses(&mut self, of: (usize, usize)) {
        self.fixing.push(of);
    }

    /// Copies the observations of the contenders of benchmark `other` to `benchmark`.
    #[cfg(feature = "commands")]
    pub(super) fn is_like(&mut self, benchmark: usize, other: usize) {
        let seen = |((_, contender), known): (&(usize, usize), &Known)| {
            let known = Known {
                seen: known.seen.clone(),
                told: None,
            };
            ((benchmark, *contender), known)
        };
        let of_other = self.known.range((other, 0)..(other + 1, 0));
        let like: Vec<_> = of_other.map(seen).collect();
        self.known.extend(like);
        let fixing = self.fixing.iter().filter(|(of, _)| *of == other);
        let fixing: Vec<_> = fixing
            .map(|(_, contender)| (benchmark, *contender))
            .collect();
        self.fixing.extend(fixing);
    }

    /// Returns the file that the processes of a contender execute, if it is not the file that was
    /// started.
    #[cfg(feature = "commands")]
    pub(super) fn other_file(&self, of: (usize, usize)) -> Option<PathBuf> {
        let (process, _) = self.known.get(&of)?.seen.as_ref()?;
        match &process.image {
            ObservedImage::Other(path) => Some(path.into()),
            ObservedImage::AsStarted | ObservedImage::Unseen => None,
        }
    }

    /// Returns the observations since the last call.
    pub(super) fn take(&mut self) -> Vec<Observed> {
        std::mem::take(&mut self.news)
    }
}

impl Known {
    fn observe(&mut self, noticed: Noticed<'_>) -> ObservedProcess {
        let Noticed {
            ended_as,
            ended_there,
            ..
        } = noticed;
        if let Some(seen) = noticed.seen {
            self.seen = Some((process_of(noticed, seen), seen.state.name));
        }
        // If the name at the end is that of the last sighting, the process is taken to have
        // executed the same file. If not, it executed another file after that sighting.
        let seen = self.seen.as_ref();
        let seen = seen.filter(|(_, name)| ended_as.is_none_or(|ended| ended.name == *name));
        let mut process = seen.map_or_else(ObservedProcess::default, |(seen, _)| seen.clone());
        if let Some(ended) = ended_as {
            process.addresses = Some(ended.addresses);
        }
        if process.keeps_cores != Some(false) {
            process.keeps_cores = ended_there.or(process.keeps_cores);
        }
        process
    }
}

fn process_of(noticed: Noticed<'_>, seen: &Sighting) -> ObservedProcess {
    let environment = seen.environment.clone();
    let keeps = |given| seen.cores.iter().all(|cores| is_within(cores, given));
    ObservedProcess {
        image: if noticed
            .started
            .is_some_and(|started| seen.executes(started))
        {
            ObservedImage::AsStarted
        } else {
            ObservedImage::Other(seen.path.to_string_lossy().into_owned())
        },
        addresses: Some(seen.state.addresses),
        fixes_addresses: false,
        left_behind: None,
        keeps_cores: noticed.given.filter(|_| !seen.cores.is_empty()).map(keeps),
        is_padded: environment.as_ref().map(|found| found.is_padded),
        variables: environment.unwrap_or_default().variables,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::executable::FileId;
    use crate::observed::Environment;
    use deadheat_model::AddressSpace;

    const STARTED: FileId = (1, 17);

    fn state(name: &str) -> ProcessState {
        let mut bytes = [0; 16];
        bytes[..name.len()].copy_from_slice(name.as_bytes());
        ProcessState {
            name: bytes,
            addresses: AddressSpace::Random,
        }
    }

    fn cores(numbers: &[usize]) -> CpuSet {
        let mut set = CpuSet::new();
        numbers.iter().for_each(|core| set.set(*core).unwrap());
        set
    }

    fn sighting(file: FileId, name: &str) -> Sighting {
        Sighting {
            file,
            path: "/links/17/tool".into(),
            state: state(name),
            cores: vec![cores(&[1])],
            environment: Some(Environment {
                is_padded: true,
                variables: Vec::new(),
            }),
            scripts: vec![(1, 19)],
            mapped: Vec::new(),
        }
    }

    fn noted(
        witness: &mut Witness,
        replicate: u32,
        seen: Option<&Sighting>,
        end: &str,
    ) -> Vec<Observed> {
        let given = cores(&[1]);
        let ended = state(end);
        let noticed = Noticed {
            started: Some(Started {
                file: STARTED,
                is_script: false,
            }),
            given: Some(&given),
            seen,
            ended_as: Some(&ended),
            ended_there: Some(true),
            left_behind: None,
        };
        witness.note((0, 1), replicate, noticed);
        witness.take()
    }

    #[test]
    fn tells_an_observation_once_until_it_changes() {
        let mut witness = Witness::default();
        let seen = sighting(STARTED, "tool");
        let first = noted(&mut witness, 0, Some(&seen), "tool");
        assert_eq!(first[0].process.image, ObservedImage::AsStarted);
        assert_eq!(first[0].process.keeps_cores, Some(true));
        assert_eq!(first[0].process.is_padded, Some(true));
        assert_eq!(noted(&mut witness, 1, Some(&seen), "tool"), []);
        let other = sighting((1, 18), "tool");
        let second = noted(&mut witness, 2, Some(&other), "tool");
        assert_eq!(second[0].replicate, 2);
        assert!(matches!(second[0].process.image, ObservedImage::Other(_)));
    }

    #[test]
    fn a_process_too_short_to_be_seen_is_known_by_its_name() {
        let mut witness = Witness::default();
        assert_eq!(
            noted(&mut witness, 0, None, "tool")[0].process.image,
            ObservedImage::Unseen
        );
        let seen = sighting(STARTED, "tool");
        noted(&mut witness, 1, Some(&seen), "tool");
        assert_eq!(noted(&mut witness, 2, None, "tool"), []);
        let news = noted(&mut witness, 3, None, "other");
        assert_eq!(news[0].process.image, ObservedImage::Unseen);
    }

    #[test]
    fn one_launch_that_left_its_link_decides_for_its_replicate() {
        let mut witness = Witness::default();
        let (link, own) = (sighting(STARTED, "tool"), sighting((1, 18), "tool"));
        noted(&mut witness, 0, Some(&own), "tool");
        assert_eq!(noted(&mut witness, 0, Some(&link), "tool"), []);
        let news = noted(&mut witness, 1, Some(&link), "tool");
        assert_eq!(news[0].process.image, ObservedImage::AsStarted);
    }

    #[test]
    fn a_script_is_executed_by_its_interpreter() {
        let seen = sighting((1, 18), "sh");
        let script = |file, is_script| Some(Started { file, is_script });
        for (started, expected) in [
            (script((1, 19), true), true),
            (script((1, 19), false), false),
            (script((1, 20), true), false),
        ] {
            let noticed = Noticed {
                started,
                ..Noticed::default()
            };
            let image = process_of(noticed, &seen).image;
            assert_eq!(image == ObservedImage::AsStarted, expected, "{started:?}");
        }
    }

    #[test]
    fn a_thread_on_another_core_is_noticed() {
        let mut witness = Witness::default();
        let mut seen = sighting(STARTED, "tool");
        seen.cores.push(cores(&[0, 1]));
        let news = noted(&mut witness, 0, Some(&seen), "tool");
        assert_eq!(news[0].process.keeps_cores, Some(false));
    }
}
