//! A checkup, from the first reading to the last.

use std::thread;

use deadheat_model::Pinning;
use deadheat_model::doctor::{Checkup, CoreWatch, Facts, NotMeasured};

use super::advice::advice;
use super::aslr::aslr;
use super::control_group::{Controller, Groups};
use super::counters::counters;
use super::findings::findings;
use super::frequency::{governor, turbo};
use super::host::{container, host};
use super::load::{one_minute, waiting};
use super::measured::Measured;
use super::memory::{available, huge_pages, swap, swapped_pages};
use super::random_reads::{fits, page_reads};
use super::rival::slowdown;
use super::root::Root;
use super::stat::stat;
use super::thermal::{hottest, throttled};
use super::topology::{Topology, siblings, speed};
use super::watch::{Watched, watch};
use super::work::Work;
use crate::affinity::{AffinityError, check_allowed, cores_of_this_thread, hold_on};
use crate::clock::{Clock, OsClock, SampleClock, read_ns};
use crate::cores::equals;

/// Cores that are watched at most: more would each be seen for too short.
const MOST_CORES: usize = 8;

/// What each part takes of the whole time. The rest goes to reading files and
/// getting memory.
const WATCHING: f64 = 0.32;
const WORKING: f64 = 0.12;
const COMPETING: f64 = 0.15;
const READING: f64 = 0.06;

/// Readings of the clock of the system whose cost is averaged.
const SYSTEM_READINGS: u32 = 2_000;

/// What is asked of a checkup.
#[derive(Clone, Debug)]
pub struct DoctorOptions {
    /// The cores to look at.
    pub pinning: Pinning,
    /// Where the files of the system begin.
    pub root: Root,
    /// The version of deadheat.
    pub tool_version: String,
    /// Whether the program was built with debug assertions.
    pub debug_assertions: bool,
    /// About how long it may take, in seconds.
    pub seconds: f64,
}

/// Looks at the machine and measures. The only thing that can go wrong is to
/// be asked for cores that deadheat may not use; what cannot be found out is
/// told as unknown. The calling thread stays where it is.
pub fn examine(options: &DoctorOptions) -> Result<Checkup, AffinityError> {
    let whole = OsClock::start();
    let root = &options.root;
    let topology = Topology::of(root);
    let allowed = cores_of_this_thread().unwrap_or_default();
    // Cores set apart are not in the set a process inherits. It may still be
    // allowed to use them.
    let mut reachable = allowed.clone();
    let isolated = topology.isolated.iter();
    reachable.extend(isolated.filter(|core| !allowed.contains(core) && accepts(**core)));
    let candidates = candidates(options, &topology, &reachable)?;
    let seen = thread::scope(|scope| {
        let measuring = scope.spawn(|| measure(options, &topology, &allowed, &candidates));
        measuring.join()
    });
    let Seen {
        measured,
        cores,
        facts,
    } = seen.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    let machine = crate::machine::environment();
    Ok(Checkup {
        tool_version: options.tool_version.clone(),
        system: machine.system,
        kernel: root.line("proc/sys/kernel/osrelease"),
        cpu: cpu_model(root),
        online: topology.online,
        advice: advice(&options.pinning, &cores, &allowed),
        allowed,
        pinning: options.pinning.clone(),
        measured_on: measured.watched.watch.core,
        cores,
        seconds: whole.elapsed_ns() as f64 / 1e9,
        findings: findings(facts, &measured),
    })
}

/// Whether this process may use a core it was not started with. Found out by
/// a thread that ends at once.
fn accepts(core: u32) -> bool {
    let tried = thread::spawn(move || hold_on(core).is_ok());
    tried.join().unwrap_or(false)
}

/// The cores to watch; one that is `None` is wherever the scheduler likes.
fn candidates(
    options: &DoctorOptions,
    topology: &Topology,
    reachable: &[u32],
) -> Result<Vec<Option<u32>>, AffinityError> {
    let cores = match &options.pinning {
        Pinning::Inherit => Vec::new(),
        Pinning::Cores(cores) => {
            check_allowed(cores, reachable)?;
            let mut cores = cores.clone();
            cores.sort_unstable();
            cores.dedup();
            cores
        }
        Pinning::Auto => equals(reachable, |core| speed(&options.root, core)),
    };
    let chosen = spread_out(&cores, &topology.isolated);
    Ok(match chosen.is_empty() {
        true => vec![None],
        false => chosen.into_iter().map(Some).collect(),
    })
}

/// As many as can be watched: those set apart first, then some from all over,
/// the first and the last among them.
fn spread_out(cores: &[u32], isolated: &[u32]) -> Vec<u32> {
    if cores.len() <= MOST_CORES {
        return cores.to_vec();
    }
    let is_isolated = |core: &&u32| isolated.contains(core);
    let mut chosen: Vec<u32> = cores
        .iter()
        .filter(is_isolated)
        .take(MOST_CORES / 2)
        .copied()
        .collect();
    let others: Vec<u32> = cores
        .iter()
        .filter(|core| !is_isolated(core))
        .copied()
        .collect();
    let room = (MOST_CORES - chosen.len()).min(others.len());
    for step in 0..room {
        let place = step * (others.len() - 1) / (room - 1).max(1);
        chosen.push(others[place]);
    }
    chosen.sort_unstable();
    chosen
}

/// What the measuring thread came back with.
struct Seen {
    measured: Measured,
    cores: Vec<CoreWatch>,
    facts: Vec<Facts>,
}

/// Counts that are read before and after.
struct Totals {
    swapped: Option<u64>,
    throttled: Option<u64>,
    held_back: Option<u64>,
}

impl Totals {
    fn now(root: &Root, cores: &[u32], groups: Option<&Groups>) -> Self {
        let held_back = groups.and_then(|groups| groups.held_back(root));
        Self {
            swapped: root
                .text("proc/vmstat")
                .and_then(|text| swapped_pages(&text)),
            throttled: throttled(root, cores),
            held_back: held_back.map(|held| held.nanoseconds),
        }
    }
}

fn grown(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    let (before, after) = before.zip(after)?;
    Some(after.saturating_sub(before))
}

/// Everything that spins, on a thread whose core nobody else cares for.
fn measure(
    options: &DoctorOptions,
    topology: &Topology,
    allowed: &[u32],
    candidates: &[Option<u32>],
) -> Seen {
    let root = &options.root;
    let groups = Groups::of(root, Controller::Cpu);
    // Before anything spins, or it would find itself.
    let load = load(root, topology, allowed);
    let (clock, fallback) = SampleClock::choose();
    let since = OsClock::start();
    let totals = Totals::now(root, &topology.online, groups.as_ref());
    let each = options.seconds * WATCHING / candidates.len() as f64;
    let watched: Vec<Watched> = candidates
        .iter()
        .map(|core| {
            if let Some(core) = core {
                // It was allowed a moment ago; if not, wherever it is.
                let _ = hold_on(*core);
            }
            let isolated = core.is_some_and(|core| topology.isolated.contains(&core));
            watch(&clock, root, *core, isolated, each)
        })
        .collect();
    let best = quietest(&watched);
    let core = best.watch.core;
    if let Some(core) = core {
        let _ = hold_on(core);
    }
    let work = Work::sized(&clock);
    let evenness = work.evenness(options.seconds * WORKING);
    let siblings = core.map_or_else(Vec::new, |core| siblings(root, core));
    let may_use = |core: &u32| allowed.contains(core);
    let compete = |other: u32| {
        let change = slowdown(&work, other, options.seconds * COMPETING);
        change.ok_or(NotMeasured::Hidden)
    };
    let sibling = match siblings.iter().find(|core| may_use(core)) {
        Some(other) => compete(*other),
        None => Err(NotMeasured::SiblingNotAllowed),
    };
    let other_core = allowed
        .iter()
        .find(|one| core.is_some_and(|core| core != **one) && !siblings.contains(one))
        .copied();
    let other = match (other_core, core) {
        (Some(other), _) => compete(other),
        (None, None) if allowed.len() != 1 => Err(NotMeasured::Hidden),
        _ => Err(NotMeasured::OneCore),
    };
    let limit = Groups::of(root, Controller::Memory).and_then(|groups| groups.memory_left(root));
    let pages = match fits(limit) && fits(available(root)) {
        true => page_reads(&clock, root, options.seconds * READING),
        false => Err(NotMeasured::TooLittleMemory),
    };
    let after = Totals::now(root, &topology.online, groups.as_ref());
    let held_back = grown(totals.held_back, after.held_back);
    let measured = Measured {
        clock_resolution_ns: clock.resolution_ns(),
        clock_cost_ns: clock.overhead_ns(),
        system_clock_cost_ns: system_clock_cost_ns(),
        evenness,
        sibling,
        other,
        pages,
        swapped_pages: grown(totals.swapped, after.swapped),
        throttle_events: grown(totals.throttled, after.throttled),
        quota_throttled: held_back.map(|ns| (ns as f64 / since.elapsed_ns() as f64).min(1.0)),
        watched: best.clone(),
    };
    let busy = |core: &u32| {
        let of_core = measured.watched.busy.iter().find(|(one, _)| one == core);
        of_core.map(|(_, share)| *share)
    };
    let turbo = turbo(root, core);
    let facts = vec![
        clock_facts(root, &clock, fallback),
        governor(root, allowed, core),
        Facts::Turbo {
            on: turbo.map(|(on, _)| on),
            switch: turbo.map(|(_, switch)| switch),
            other_core,
        },
        Facts::Smt {
            active: topology.smt,
            siblings_busy: siblings.iter().filter_map(busy).reduce(f64::max),
            siblings,
        },
        Facts::Steal {
            since_start: root
                .text("proc/stat")
                .and_then(|text| stat(&text)?.all.stolen_share()),
        },
        load,
        Facts::Isolation {
            reachable: candidates
                .iter()
                .flatten()
                .any(|core| topology.isolated.contains(core)),
            isolated: topology.isolated.clone(),
            tickless: topology.tickless.clone(),
        },
        Facts::Interrupts {
            busiest: measured.watched.busiest.clone(),
            other_core: other_core.or_else(|| {
                let mut online = topology.online.iter();
                online.find(|one| Some(**one) != core).copied()
            }),
        },
        aslr(root),
        huge_pages(root),
        swap(root),
        Facts::Thermal {
            hottest: hottest(root),
            throttled: totals.throttled,
        },
        Facts::Virtualisation { host: host(root) },
        Facts::Container {
            kind: container(root),
            version: groups.as_ref().map(|groups| groups.version),
            quota: groups.as_ref().and_then(|groups| groups.quota(root)),
        },
        counters(root),
        Facts::Build {
            debug_assertions: options.debug_assertions,
        },
    ];
    Seen {
        cores: watched.into_iter().map(|one| one.watch).collect(),
        measured,
        facts,
    }
}

/// The core to go on with: one set apart, else the one that lost least.
fn quietest(watched: &[Watched]) -> &Watched {
    let order = |one: &&Watched, other: &&Watched| {
        let apart = other.watch.isolated.cmp(&one.watch.isolated);
        apart.then(one.watch.lost.total_cmp(&other.watch.lost))
    };
    let best = watched.iter().min_by(order);
    best.expect("there is at least one candidate")
}

fn load(root: &Root, topology: &Topology, allowed: &[u32]) -> Facts {
    let text = |path: &str| root.text(path);
    let cores = match topology.online.len() {
        0 => allowed.len().max(1),
        online => online,
    };
    Facts::Load {
        one_minute: text("proc/loadavg").and_then(|text| one_minute(&text)),
        running: text("proc/stat").and_then(|text| stat(&text)?.running),
        pressure: text("proc/pressure/cpu").and_then(|text| waiting(&text)),
        cores: cores as u32,
    }
}

fn clock_facts(root: &Root, clock: &SampleClock, fallback: Option<String>) -> Facts {
    let folder = "sys/devices/system/clocksource/clocksource0";
    let available = root.line(&format!("{folder}/available_clocksource"));
    let available = available.unwrap_or_default();
    Facts::Clock {
        source: clock.source().name().to_owned(),
        fallback,
        kernel: root.line(&format!("{folder}/current_clocksource")),
        available: available.split_whitespace().map(str::to_owned).collect(),
    }
}

/// What one reading of the clock of the operating system takes.
fn system_clock_cost_ns() -> f64 {
    let begin = read_ns(libc::CLOCK_MONOTONIC);
    for _ in 1..SYSTEM_READINGS {
        std::hint::black_box(read_ns(libc::CLOCK_MONOTONIC));
    }
    let end = read_ns(libc::CLOCK_MONOTONIC);
    end.saturating_sub(begin) as f64 / f64::from(SYSTEM_READINGS)
}

/// The model of the processor; those of ARM say only who made them.
fn cpu_model(root: &Root) -> Option<String> {
    let text = root.text("proc/cpuinfo")?;
    let mut lines = text.lines();
    let (_, model) = lines
        .find(|line| line.starts_with("model name"))?
        .split_once(':')?;
    Some(model.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use deadheat_model::doctor::{State, Topic};

    use super::super::fake::machine;
    use super::*;

    fn options(root: Root, pinning: Pinning) -> DoctorOptions {
        DoctorOptions {
            pinning,
            root,
            tool_version: "0.1.0".to_owned(),
            debug_assertions: true,
            seconds: 0.2,
        }
    }

    #[test]
    fn this_machine_is_looked_at_as_a_whole() {
        let checkup = examine(&options(Root::real(), Pinning::Auto)).unwrap();
        assert_eq!(checkup.findings.len(), 16);
        let mut topics: Vec<Topic> = checkup.findings.iter().map(|one| one.topic()).collect();
        topics.dedup();
        assert_eq!(topics.len(), 16, "each once");
        assert!(!checkup.cores.is_empty() && checkup.cores.len() <= MOST_CORES);
        assert!(checkup.watch().is_some() && checkup.seconds > 0.0);
        let build = checkup.finding(Topic::Build).unwrap();
        assert_eq!(build.state, State::Minor);
    }

    #[test]
    fn a_machine_that_hides_everything_is_still_looked_at() {
        let (_folder, root) = machine(&[]);
        let checkup = examine(&options(root, Pinning::Auto)).unwrap();
        assert_eq!((checkup.kernel.clone(), checkup.cpu.clone()), (None, None));
        for topic in [
            Topic::Steal,
            Topic::Thermal,
            Topic::Swap,
            Topic::Smt,
            Topic::Aslr,
            Topic::HugePages,
            Topic::Container,
            Topic::Virtualisation,
        ] {
            let finding = checkup.finding(topic).unwrap();
            assert_eq!(finding.state, State::Unknown, "{topic:?}");
        }
    }

    #[test]
    fn a_quota_of_a_machine_of_files_is_found() {
        let mounts = "34 24 0:29 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        let (_folder, root) = machine(&[
            ("proc/self/cgroup", "0::/\n"),
            ("proc/self/mountinfo", mounts),
            ("sys/fs/cgroup/cpu.max", "50000 100000\n"),
            ("sys/fs/cgroup/cpu.stat", "throttled_usec 10\n"),
            ("proc/meminfo", "MemAvailable: 1000 kB\n"),
        ]);
        let checkup = examine(&options(root, Pinning::Inherit)).unwrap();
        let container = checkup.finding(Topic::Container).unwrap();
        assert_eq!(container.state, State::Disturbs);
        assert_eq!(
            checkup.first().map(|one| one.topic()),
            Some(Topic::Container)
        );
        let pages = checkup.finding(Topic::HugePages).unwrap();
        assert_eq!(pages.not_measured, Some(NotMeasured::TooLittleMemory));
        assert_eq!(checkup.measured_on, None, "the scheduler decides");
    }

    #[test]
    fn a_core_that_may_not_be_used_is_an_error() {
        let asked = Pinning::Cores(vec![1000]);
        let error = examine(&options(Root::real(), asked)).unwrap_err();
        assert!(error.to_string().contains("core 1000"), "{error}");
    }

    #[test]
    fn of_many_cores_some_from_all_over_are_watched() {
        let many: Vec<u32> = (0..64).collect();
        let chosen = spread_out(&many, &[]);
        assert_eq!(chosen, [0, 9, 18, 27, 36, 45, 54, 63]);
        let apart = spread_out(&many, &[5, 6]);
        assert_eq!(apart.len(), MOST_CORES);
        assert!(apart.contains(&5) && apart.contains(&6) && apart.contains(&63));
        let all_apart: Vec<u32> = (0..64).collect();
        assert_eq!(spread_out(&many, &all_apart).len(), MOST_CORES / 2);
        assert_eq!(spread_out(&[3, 4], &[]), [3, 4]);
    }
}
