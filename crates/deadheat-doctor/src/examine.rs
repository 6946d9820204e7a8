//! Runs the checkup of `deadheat doctor`.

use std::thread;
use std::time::Instant;

use deadheat_engine::{
    AffinityError, Clock, Counters, OsClock, SampleClock, cores_of_this_thread, pin_this_thread,
};
use deadheat_model::Pinning;
use deadheat_model::doctor::{Checkup, CoreWatch, Facts, NotMeasured, Refused};

use crate::cores::{Topology, accepts, advice, candidates, fast, siblings, speeds};
use crate::findings::{Measured, findings};
use crate::frequency::{governor, hottest, throttled, turbo};
use crate::host::{Groups, container, host};
use crate::memory::{aslr, available, fits, huge_pages, page_reads, swap, swapped_pages};
use crate::procfs::{Root, of_cpuinfo, one_minute, stat, waiting};
use crate::scheduler::sharing_facts;
use crate::sharing::share;
use crate::watch::{Watched, Work, slowdown, watch};

/// The share of the total duration in which cores are watched. The constants below are the shares
/// of the other measurements; the rest is for reading files and allocating memory.
const WATCHING: f64 = 0.21;
const WORKING: f64 = 0.08;
const COMPETING: f64 = 0.10;
const READING: f64 = 0.04;
const SHARING: f64 = 0.35;

/// Options of a checkup.
#[derive(Clone, Debug)]
pub struct DoctorOptions {
    /// The cores to examine.
    pub pinning: Pinning,
    /// The root of the system files.
    pub root: Root,
    /// The version of deadheat.
    pub tool_version: String,
    /// True if the program was built with debug assertions.
    pub debug_assertions: bool,
    /// The approximate duration in seconds.
    pub seconds: f64,
}

/// Examines the machine and measures. Values that cannot be determined are reported as unknown. The
/// affinity of the calling thread does not change. Calls `begins` when the cores are known to be
/// usable and the measurements start.
///
/// # Errors
///
/// [`AffinityError`] if deadheat may not use the given cores.
pub fn examine(options: &DoctorOptions, begins: impl FnOnce()) -> Result<Checkup, AffinityError> {
    let whole = OsClock::start();
    let root = &options.root;
    let topology = Topology::of(root);
    let allowed = cores_of_this_thread().unwrap_or_default();
    // Isolated cores are not in the inherited set, but the process may be allowed to use them.
    let mut reachable = allowed.clone();
    let isolated = topology.isolated.iter();
    reachable.extend(isolated.filter(|core| !allowed.contains(core) && accepts(**core)));
    let candidates = candidates(&options.pinning, root, &topology, &reachable)?;
    begins();
    let seen = thread::scope(|scope| {
        let measuring = scope.spawn(|| measure(options, &topology, &allowed, &candidates));
        measuring.join()
    });
    let Seen {
        measured,
        cores,
        facts,
    } = seen.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    let machine = deadheat_engine::environment();
    Ok(Checkup {
        tool_version: options.tool_version.clone(),
        system: machine.system,
        kernel: root.line("proc/sys/kernel/osrelease"),
        // ARM processors report only their maker.
        cpu: root.read("proc/cpuinfo", |text| {
            of_cpuinfo(text, "model name").map(str::to_owned)
        }),
        online: topology.online,
        advice: advice(&options.pinning, &cores, &allowed, &fast(root, &allowed)),
        allowed,
        pinning: options.pinning.clone(),
        measured_on: measured.watched.watch.core,
        cores,
        seconds: whole.elapsed_ns() as f64 / 1e9,
        findings: findings(facts, &measured),
    })
}

struct Seen {
    measured: Measured,
    cores: Vec<CoreWatch>,
    facts: Vec<Facts>,
}

/// Makes all measurements that keep a core busy, in a thread that is pinned to a core.
fn measure(
    options: &DoctorOptions,
    topology: &Topology,
    allowed: &[u32],
    candidates: &[Option<u32>],
) -> Seen {
    let root = &options.root;
    let groups = Groups::of(root, "cpu");
    // The load is read before any loop runs, because it would include the loops.
    let load = load(root, topology, allowed);
    let (clock, fallback) = SampleClock::choose();
    let since = OsClock::start();
    let totals = Totals::now(root, &topology.online, groups.as_ref());
    let each = options.seconds * WATCHING / candidates.len() as f64;
    let watched: Vec<Watched> = candidates
        .iter()
        .map(|core| {
            if let Some(core) = core {
                // Pinning to this core worked before; if it fails now, the thread stays where it
                // is.
                let _ = pin_this_thread(*core);
            }
            let isolated = core.is_some_and(|core| topology.isolated.contains(&core));
            watch(&clock, root, *core, isolated, each)
        })
        .collect();
    let best = quietest(&watched);
    let core = best.watch.core;
    if let Some(core) = core {
        let _ = pin_this_thread(core);
    }
    let work = Work::sized(&clock);
    let evenness = work.evenness(options.seconds * WORKING);
    // The throttled time is read before the two competing loops run, because a race runs only one
    // thread at a time.
    let held_back_ns = groups.as_ref().and_then(|groups| groups.held_back_ns(root));
    let held_back = grown(totals.held_back_ns, held_back_ns);
    let quota_throttled = held_back.map(|ns| (ns as f64 / since.elapsed_ns() as f64).min(1.0));
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
    let limit = Groups::of(root, "memory").and_then(|groups| groups.memory_left(root));
    let pages = if fits(limit) && fits(available(root)) {
        page_reads(&clock, root, options.seconds * READING)
    } else {
        Err(NotMeasured::TooLittleMemory)
    };
    // The two loops must run on one core, because on different cores they would not compete.
    let shared_core = core.or_else(|| allowed.last().copied());
    let shared = shared_core
        .ok_or(NotMeasured::Hidden)
        .and_then(|core| share(&work, core, options.seconds * SHARING));
    let after = Totals::now(root, &topology.online, groups.as_ref());
    let measured = Measured {
        clock_resolution_ns: clock.resolution_ns(),
        clock_cost_ns: clock.overhead_ns(),
        system_clock_cost_ns: system_clock_cost_ns(),
        evenness,
        sibling,
        other,
        pages,
        shared,
        swapped_pages: grown(totals.swapped, after.swapped),
        throttle_events: grown(totals.throttled, after.throttled),
        quota_throttled,
        watched: best.clone(),
    };
    let mut facts = vec![
        load,
        clock_facts(root, &clock, fallback),
        Facts::Thermal {
            hottest: hottest(root),
            throttled: totals.throttled,
        },
        Facts::Build {
            debug_assertions: options.debug_assertions,
        },
        Facts::Container {
            kind: container(root),
            version: groups.as_ref().map(|groups| groups.version),
            quota: groups.as_ref().and_then(|groups| groups.quota(root)),
        },
        Facts::Isolation {
            reachable: candidates
                .iter()
                .flatten()
                .any(|core| topology.isolated.contains(core)),
            isolated: topology.isolated.clone(),
            tickless: topology.tickless.clone(),
        },
        Facts::Smt {
            active: topology.smt,
            siblings_busy: siblings
                .iter()
                .filter_map(|core| best.busy_share(*core))
                .reduce(f64::max),
            siblings,
        },
        Facts::Interrupts {
            busiest: best.busiest.clone(),
            other_core: other_core.or_else(|| {
                let mut online = topology.online.iter();
                online.find(|one| Some(**one) != core).copied()
            }),
        },
        speeds(root, allowed),
        governor(root, allowed, core),
        sharing_facts(root, shared_core, shared.as_ref().ok()),
    ];
    facts.extend(facts_of_files(root, core, other_core));
    Seen {
        cores: watched.into_iter().map(|one| one.watch).collect(),
        measured,
        facts,
    }
}

fn facts_of_files(root: &Root, core: Option<u32>, other_core: Option<u32>) -> [Facts; 7] {
    let turbo = turbo(root, core);
    [
        Facts::Turbo {
            on: turbo.map(|(on, _)| on),
            switch: turbo.map(|(_, switch)| switch),
            other_core,
        },
        Facts::Steal {
            since_start: root
                .read("proc/stat", stat)
                .and_then(|stat| stat.all.stolen_share()),
        },
        aslr(root),
        huge_pages(root),
        swap(root),
        Facts::Virtualisation { host: host(root) },
        counters(root),
    ]
}

/// Returns the core for the remaining measurements: an isolated core, otherwise the core that lost
/// least time to other work.
fn quietest(watched: &[Watched]) -> &Watched {
    let order = |one: &&Watched, other: &&Watched| {
        let apart = other.watch.isolated.cmp(&one.watch.isolated);
        apart.then(one.watch.lost.total_cmp(&other.watch.lost))
    };
    let best = watched.iter().min_by(order);
    best.expect("there is at least one candidate")
}

/// Returns the facts about other running tasks, from the files that count them.
pub(crate) fn load(root: &Root, topology: &Topology, allowed: &[u32]) -> Facts {
    let cores = match topology.online.len() {
        0 => allowed.len().max(1),
        online => online,
    };
    Facts::Load {
        one_minute: root.read("proc/loadavg", one_minute),
        running: root.read("proc/stat", stat).and_then(|stat| stat.running),
        pressure: root.read("proc/pressure/cpu", waiting),
        cores: cores as u32,
    }
}

/// Kernel counters since boot, read before and after all measurements.
struct Totals {
    swapped: Option<u64>,
    throttled: Option<u64>,
    held_back_ns: Option<u64>,
}

impl Totals {
    fn now(root: &Root, cores: &[u32], groups: Option<&Groups>) -> Self {
        Self {
            swapped: root.read("proc/vmstat", swapped_pages),
            throttled: throttled(root, cores),
            held_back_ns: groups.and_then(|groups| groups.held_back_ns(root)),
        }
    }
}

fn grown(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    let (before, after) = before.zip(after)?;
    Some(after.saturating_sub(before))
}

/// The number of readings of the system clock whose cost is averaged.
const SYSTEM_READINGS: u32 = 2_000;

/// Returns the mean cost of one reading of the system clock, in nanoseconds.
pub(crate) fn system_clock_cost_ns() -> f64 {
    let begin = Instant::now();
    for _ in 1..SYSTEM_READINGS {
        std::hint::black_box(Instant::now());
    }
    begin.elapsed().as_nanos() as f64 / f64::from(SYSTEM_READINGS)
}

/// Returns the facts about the clock for samples and the kernel's clock source.
pub(crate) fn clock_facts(root: &Root, clock: &SampleClock, fallback: Option<String>) -> Facts {
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

/// Returns the kernel's setting for performance counters, and the error if they cannot be opened.
/// The setting alone does not reveal a sandbox or a machine without counters.
pub(crate) fn counters(root: &Root) -> Facts {
    Facts::Counters {
        paranoid: root.number("proc/sys/kernel/perf_event_paranoid"),
        refused: Counters::open().err().map(|error| refused(&error)),
    }
}

fn refused(error: &std::io::Error) -> Refused {
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => Refused::NotPermitted,
        Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP) => Refused::NotThere,
        Some(libc::ENOSYS) => Refused::NotBuilt,
        _ => Refused::Other(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::doctor::{State, Topic};

    use super::*;
    use crate::cores::MOST_CORES;
    use crate::procfs::fake::machine;

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
    fn examines_this_machine() {
        let checkup = examine(&options(Root::real(), Pinning::Auto), || ()).unwrap();
        assert_eq!(checkup.findings.len(), 18);
        let mut topics: Vec<Topic> = checkup.findings.iter().map(|one| one.topic()).collect();
        topics.dedup();
        assert_eq!(topics.len(), 18, "each once");
        assert!(!checkup.cores.is_empty() && checkup.cores.len() <= MOST_CORES);
        assert!(checkup.watch().is_some() && checkup.seconds > 0.0);
        let build = checkup.finding(Topic::Build).unwrap();
        assert_eq!(build.state, State::Minor);
    }

    #[test]
    fn examines_a_machine_without_readable_files() {
        let (_folder, root) = machine(&[]);
        let checkup = examine(&options(root, Pinning::Auto), || ()).unwrap();
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
    fn finds_the_quota_of_a_machine_of_files() {
        let mounts = "34 24 0:29 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        let (_folder, root) = machine(&[
            ("proc/self/cgroup", "0::/\n"),
            ("proc/self/mountinfo", mounts),
            ("sys/fs/cgroup/cpu.max", "50000 100000\n"),
            ("sys/fs/cgroup/cpu.stat", "throttled_usec 10\n"),
            ("proc/meminfo", "MemAvailable: 1000 kB\n"),
        ]);
        let checkup = examine(&options(root, Pinning::Inherit), || ()).unwrap();
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
        let error = examine(&options(Root::real(), asked), || ()).unwrap_err();
        assert!(error.to_string().contains("core 1000"), "{error}");
    }

    #[test]
    fn the_growth_of_a_hidden_counter_is_unknown() {
        assert_eq!(grown(Some(3), Some(10)), Some(7));
        assert_eq!(grown(Some(3), Some(1)), Some(0), "it began anew");
        assert_eq!(grown(None, Some(1)), None);
        let (_folder, root) = machine(&[("proc/vmstat", "pswpin 1\npswpout 2\n")]);
        let totals = Totals::now(&root, &[0], None);
        assert_eq!(totals.swapped, Some(3));
        assert_eq!((totals.throttled, totals.held_back_ns), (None, None));
    }

    #[test]
    fn the_clocks_of_the_kernel_are_read() {
        let folder = "sys/devices/system/clocksource/clocksource0";
        let (_folder, root) = machine(&[
            (&*format!("{folder}/current_clocksource"), "hpet\n"),
            (
                &*format!("{folder}/available_clocksource"),
                "hpet acpi_pm \n",
            ),
        ]);
        let (clock, fallback) = SampleClock::choose();
        let facts = clock_facts(&root, &clock, fallback);
        let Facts::Clock {
            kernel, available, ..
        } = facts
        else {
            panic!("it is about the clock");
        };
        assert_eq!(kernel.as_deref(), Some("hpet"));
        assert_eq!(available, ["hpet", "acpi_pm"]);
    }

    #[test]
    fn a_reading_takes_time() {
        assert!(system_clock_cost_ns() > 0.0);
    }

    #[test]
    fn errors_of_opening_counters_are_classified() {
        let of = |errno| refused(&std::io::Error::from_raw_os_error(errno));
        assert_eq!(of(libc::EACCES), Refused::NotPermitted);
        assert_eq!(of(libc::ENOENT), Refused::NotThere);
        assert_eq!(of(libc::ENOSYS), Refused::NotBuilt);
        assert!(matches!(of(libc::EMFILE), Refused::Other(_)));
    }

    #[test]
    fn the_setting_is_read_and_the_counters_are_tried() {
        let (_folder, root) = machine(&[("proc/sys/kernel/perf_event_paranoid", "-1\n")]);
        let Facts::Counters { paranoid, refused } = counters(&root) else {
            panic!("they are about counters");
        };
        assert_eq!(paranoid, Some(-1));
        assert_eq!(refused.is_none(), Counters::open().is_ok());
    }
}
