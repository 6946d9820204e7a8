//! Readings that this machine offers beside the time: taken around a sample by the thread that
//! takes it, each source with the reason where there is none.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Instant;

use deadheat::parts::engine::ThreadUsage;
use deadheat_validation::process::median;
use perf_event::events::{Event, Hardware};
use perf_event::{Builder, Counter};

/// Model-specific registers that count at the nominal and at the actual clock.
const MPERF: u64 = 0xE7;
const APERF: u64 = 0xE8;

/// Readings of which the median is what one costs.
const TRIALS: usize = 300;

/// A place where something is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// `getrusage` and the CPU clock, which every race reads anyway.
    Account,
    /// `/proc/thread-self/schedstat`, which every race reads after a switch.
    Delay,
    /// `/proc/stat`.
    Stat,
    /// `aperf` and `mperf` in `/dev/cpu/N/msr`.
    Registers,
    /// `scaling_cur_freq`.
    Governor,
    /// Cycles, reference cycles and instructions by `perf_event_open`.
    Counters,
}

impl Source {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Account,
        Self::Delay,
        Self::Stat,
        Self::Registers,
        Self::Governor,
        Self::Counters,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Account => "`getrusage` and the CPU clock",
            Self::Delay => "`/proc/thread-self/schedstat`",
            Self::Stat => "`/proc/stat`",
            Self::Registers => "`aperf`, `mperf` of `/dev/cpu/N/msr`",
            Self::Governor => "`scaling_cur_freq`",
            Self::Counters => "hardware counters",
        }
    }

    /// True if a race reads it around every sample as it is, so that it costs
    /// nothing more.
    pub fn is_read_anyway(self) -> bool {
        matches!(self, Self::Account | Self::Delay)
    }
}

/// The sources of one thread, opened on it, for the core it runs on.
pub struct Sources {
    core: usize,
    tick_ns: f64,
    delay: io::Result<File>,
    stat: io::Result<File>,
    registers: io::Result<File>,
    governor: io::Result<File>,
    counters: io::Result<Vec<Counter>>,
}

/// Readings of the thread alone.
#[derive(Clone, Copy)]
pub struct Thread {
    usage: ThreadUsage,
    delay_ns: Option<u64>,
}

/// Readings of the core and of the machine. Times in nanoseconds.
#[derive(Clone, Default)]
pub struct Surroundings {
    stat: Option<Stat>,
    registers: Option<[u64; 2]>,
    khz: Option<f64>,
    counted: Option<Vec<u64>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Stat {
    /// Ticks that the hypervisor took from the core.
    steal: f64,
    /// Ticks that the other cores were busy.
    neighbours: f64,
}

/// The growth of what is told of the thread, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Used {
    /// Time on a core.
    pub cpu: f64,
    /// Time it waited for one.
    pub delay: f64,
    /// Times that the core was taken away.
    pub involuntary: f64,
    /// Times that it gave up the core.
    pub voluntary: f64,
}

/// The growth of what is told of the surroundings; nothing where it cannot be
/// read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Told {
    /// Nanoseconds that the hypervisor took from the core.
    pub steal: Option<f64>,
    /// Nanoseconds that the other cores were busy.
    pub neighbours: Option<f64>,
    /// Actual over nominal clock.
    pub speed: Option<f64>,
    /// Frequency that the governor tells, in kHz.
    pub khz: Option<f64>,
    /// Cycles over reference cycles.
    pub cycles: Option<f64>,
    /// Instructions.
    pub instructions: Option<f64>,
}

impl Sources {
    /// Opens all for the calling thread, which runs on this core.
    pub fn open(core: u32) -> Self {
        // SAFETY: asks for a constant of the system.
        let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
        let sources = Self {
            core: core as usize,
            tick_ns: 1e9 / ticks.max(1) as f64,
            delay: File::open("/proc/thread-self/schedstat"),
            stat: File::open("/proc/stat"),
            registers: File::open(format!("/dev/cpu/{core}/msr")),
            governor: File::open(format!(
                "/sys/devices/system/cpu/cpu{core}/cpufreq/scaling_cur_freq"
            )),
            counters: counters(),
        };
        // A register that the hypervisor does not have is told by its reading.
        let registers = match &sources.registers {
            Ok(file) => registers(file).map(|_| ()),
            Err(_) => Ok(()),
        };
        match registers {
            Ok(()) => sources,
            Err(error) => Self {
                registers: Err(error),
                ..sources
            },
        }
    }

    /// Why a source cannot be read, if so.
    pub fn why_not(&self, source: Source) -> Option<&io::Error> {
        match source {
            Source::Account => None,
            Source::Delay => self.delay.as_ref().err(),
            Source::Stat => self.stat.as_ref().err(),
            Source::Registers => self.registers.as_ref().err(),
            Source::Governor => self.governor.as_ref().err(),
            Source::Counters => self.counters.as_ref().err(),
        }
    }

    /// Nanoseconds of two readings of a source, as a sample needs them; none
    /// where it cannot be read.
    pub fn cost_ns(&mut self, source: Source) -> Option<f64> {
        if self.why_not(source).is_some() {
            return None;
        }
        let mut once = || {
            let start = Instant::now();
            for _ in 0..2 {
                match source {
                    Source::Account => drop(std::hint::black_box(ThreadUsage::after())),
                    Source::Delay => drop(std::hint::black_box(self.delay_ns())),
                    Source::Stat => drop(std::hint::black_box(self.stat())),
                    Source::Registers => {
                        let read = self.registers.as_ref().ok().map(registers);
                        drop(std::hint::black_box(read));
                    }
                    Source::Governor => drop(std::hint::black_box(self.khz())),
                    Source::Counters => drop(std::hint::black_box(self.counted())),
                }
            }
            start.elapsed().as_nanos() as f64
        };
        Some(median((0..TRIALS).map(|_| once())))
    }

    /// The thread's own account, its CPU clock first or last as `after` says.
    pub fn thread(&self, after: bool) -> Thread {
        if after {
            let usage = ThreadUsage::after();
            let delay_ns = self.delay_ns();
            return Thread { usage, delay_ns };
        }
        let delay_ns = self.delay_ns();
        let usage = ThreadUsage::before();
        Thread { usage, delay_ns }
    }

    /// All that lies around the thread.
    pub fn surroundings(&mut self) -> Surroundings {
        Surroundings {
            stat: self.stat(),
            registers: self
                .registers
                .as_ref()
                .ok()
                .and_then(|file| registers(file).ok()),
            khz: self.khz(),
            counted: self.counted(),
        }
    }

    /// The growth between two readings of the surroundings.
    pub fn told(&self, from: &Surroundings, to: &Surroundings) -> Told {
        let stat = from.stat.zip(to.stat);
        let ratio = |over: f64, under: f64| (under > 0.0).then_some(over / under);
        let counted = from.counted.as_ref().zip(to.counted.as_ref());
        let grown =
            |index: usize| counted.map(|(from, to)| to[index].saturating_sub(from[index]) as f64);
        Told {
            steal: stat.map(|(from, to)| (to.steal - from.steal) * self.tick_ns),
            neighbours: stat.map(|(from, to)| (to.neighbours - from.neighbours) * self.tick_ns),
            speed: from.registers.zip(to.registers).and_then(|(from, to)| {
                let grown = |index: usize| to[index].wrapping_sub(from[index]) as f64;
                ratio(grown(1), grown(0))
            }),
            khz: to.khz,
            cycles: grown(0)
                .zip(grown(1))
                .and_then(|(all, nominal)| ratio(all, nominal)),
            instructions: grown(2),
        }
    }

    fn delay_ns(&self) -> Option<u64> {
        let mut room = [0; 96];
        let text = text(self.delay.as_ref().ok()?, &mut room)?;
        text.split_ascii_whitespace().nth(1)?.parse().ok()
    }

    fn stat(&self) -> Option<Stat> {
        // What stands in front of the interrupts, which take most of the file.
        let mut room = [0; 4096];
        stat(text(self.stat.as_ref().ok()?, &mut room)?, self.core)
    }

    fn khz(&self) -> Option<f64> {
        let mut room = [0; 32];
        text(self.governor.as_ref().ok()?, &mut room)?
            .trim()
            .parse()
            .ok()
    }

    fn counted(&mut self) -> Option<Vec<u64>> {
        let counters = self.counters.as_mut().ok()?;
        counters
            .iter_mut()
            .map(|counter| counter.read().ok())
            .collect()
    }
}

impl Thread {
    /// The growth since an earlier reading.
    pub fn since(&self, earlier: &Self) -> Used {
        let usage = self.usage.since(&earlier.usage);
        let delay = self.delay_ns.zip(earlier.delay_ns);
        Used {
            cpu: usage.cpu_ns as f64,
            delay: delay.map_or(0.0, |(now, then)| now.saturating_sub(then) as f64),
            involuntary: usage.involuntary_switches as f64,
            voluntary: usage.voluntary_switches as f64,
        }
    }
}

fn text<'a>(file: &File, room: &'a mut [u8]) -> Option<&'a str> {
    let length = file.read_at(room, 0).ok()?;
    let read = &room[..length];
    // A file that does not fit is cut after the last whole line.
    let whole = match length == room.len() {
        true => &read[..read.iter().rposition(|byte| *byte == b'\n')?],
        false => read,
    };
    std::str::from_utf8(whole).ok()
}

fn registers(file: &File) -> io::Result<[u64; 2]> {
    let mut read = [0; 2];
    for (value, register) in read.iter_mut().zip([MPERF, APERF]) {
        let mut bytes = [0; 8];
        file.read_exact_at(&mut bytes, register)?;
        *value = u64::from_le_bytes(bytes);
    }
    Ok(read)
}

fn counters() -> io::Result<Vec<Counter>> {
    let opened = |event: Hardware| counter(event);
    [
        Hardware::CPU_CYCLES,
        Hardware::REF_CPU_CYCLES,
        Hardware::INSTRUCTIONS,
    ]
    .into_iter()
    .map(opened)
    .collect()
}

fn counter(event: impl Event) -> io::Result<Counter> {
    let mut counter = Builder::new(event)
        .observe_self()
        .exclude_kernel(true)
        .build()?;
    counter.enable()?;
    Ok(counter)
}

/// Steal of a core and the busy time of all others, in ticks.
fn stat(text: &str, own: usize) -> Option<Stat> {
    let mut told = Stat::default();
    let mut found = false;
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let core = words.next().and_then(|word| word.strip_prefix("cpu"));
        let Some(core) = core.and_then(|number| number.parse::<usize>().ok()) else {
            continue;
        };
        let ticks: Vec<f64> = words.map_while(|word| word.parse().ok()).collect();
        // User, nice, system, idle, waiting for a disk, two kinds of
        // interrupts, steal.
        if core == own {
            told.steal = *ticks.get(7)?;
            found = true;
        } else {
            let busy = [0, 1, 2, 5, 6].map(|index| ticks.get(index).copied());
            told.neighbours += busy.into_iter().flatten().sum::<f64>();
        }
    }
    found.then_some(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_is_that_of_the_core_and_busy_are_the_others() {
        let text = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1 2 3 40 5 6 7 8 0 0\ncpu1 10 0 0 0 0 0 1 5 0 0\nintr 5 6\n";
        let told = |steal, neighbours| Some(Stat { steal, neighbours });
        assert_eq!(stat(text, 0), told(8.0, 11.0));
        assert_eq!(stat(text, 1), told(5.0, 19.0));
        assert_eq!(stat(text, 2), None);
        assert_eq!(stat("cpu0 1 2", 0), None);
    }

    #[test]
    fn what_cannot_be_read_says_why_and_is_not_told() {
        let mut sources = Sources::open(u32::MAX);
        assert!(sources.why_not(Source::Registers).is_some());
        assert_eq!(sources.cost_ns(Source::Governor), None);
        let read = sources.surroundings();
        assert_eq!(sources.told(&read, &read).steal, None);
    }

    #[test]
    fn a_file_that_does_not_fit_ends_with_a_whole_line() {
        let path = std::env::temp_dir().join(format!("covariates-{}", std::process::id()));
        std::fs::write(&path, "one\ntwo\nthree\n").unwrap();
        let file = File::open(&path).unwrap();
        assert_eq!(text(&file, &mut [0; 10]), Some("one\ntwo"));
        assert_eq!(text(&file, &mut [0; 20]), Some("one\ntwo\nthree\n"));
        std::fs::remove_file(&path).unwrap();
    }
}
