//! The system files: their root folder, and parsers for those in `/proc` about core times (`stat`),
//! load (`loadavg`, `pressure`), and interrupts by core and source (`interrupts`).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The folder that contains `proc` and `sys`. Tests create their own; a file that cannot be read
/// there counts as unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    folder: PathBuf,
}

impl Root {
    /// Returns the root of the real machine.
    pub fn real() -> Self {
        Self::at("/")
    }

    /// Returns the root of a machine whose files are in a folder.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        Self { folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn is_real(&self) -> bool {
        self.folder == Path::new("/")
    }

    fn below(&self, path: &str) -> PathBuf {
        self.folder.join(path.trim_start_matches('/'))
    }

    /// Returns the content of a file; a leading slash of the path is optional.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let bytes = fs::read(self.below(path)).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns the content of a file as parsed by `meaning`, if reading and parsing succeed.
    pub(crate) fn read<T>(&self, path: &str, meaning: fn(&str) -> Option<T>) -> Option<T> {
        meaning(&self.text(path)?)
    }

    /// Returns the first line of a file, unless it is empty.
    pub(crate) fn line(&self, path: &str) -> Option<String> {
        let text = self.text(path)?;
        let line = text.lines().next()?.trim();
        (!line.is_empty()).then(|| line.to_owned())
    }

    pub(crate) fn number<T: FromStr>(&self, path: &str) -> Option<T> {
        self.line(path)?.parse().ok()
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.below(path).exists()
    }

    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let folder = fs::read_dir(self.below(path));
        let entries = folder.into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

/// Returns the value in the first line that begins with this name and separator.
pub(crate) fn value_of<'a>(text: &'a str, name: &str, separator: char) -> Option<&'a str> {
    let mut lines = text.lines();
    let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(separator))?;
    Some(value.trim())
}

/// Returns the entry with this name of the first processor in `/proc/cpuinfo`.
pub(crate) fn of_cpuinfo<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = text.lines();
    let (_, value) = lines.find(|line| line.starts_with(name))?.split_once(':')?;
    Some(value.trim())
}

/// Times of a core, in kernel clock ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CoreTimes {
    pub(crate) total: u64,
    pub(crate) busy: u64,
    pub(crate) stolen: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) all: CoreTimes,
    pub(crate) cores: BTreeMap<u32, CoreTimes>,
    pub(crate) running: Option<u32>,
}

impl CoreTimes {
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            total: self.total.saturating_sub(earlier.total),
            busy: self.busy.saturating_sub(earlier.busy),
            stolen: self.stolen.saturating_sub(earlier.stolen),
        }
    }

    pub(crate) fn stolen_share(self) -> Option<f64> {
        (self.total > 0).then(|| self.stolen as f64 / self.total as f64)
    }

    pub(crate) fn busy_share(self) -> Option<f64> {
        (self.total > 0).then(|| self.busy as f64 / self.total as f64)
    }

    /// Reads `user nice system idle iowait irq softirq steal`. The first two include guests, and
    /// old kernels have fewer columns.
    fn of(numbers: &[u64]) -> Self {
        let at = |index: usize| numbers.get(index).copied().unwrap_or(0);
        Self {
            total: (0..8).map(at).sum(),
            busy: at(0) + at(1) + at(2) + at(5) + at(6),
            stolen: at(7),
        }
    }
}

/// Parses `/proc/stat`. `None` if it contains no times.
pub(crate) fn stat(text: &str) -> Option<Stat> {
    let mut stat = Stat::default();
    let mut found = false;
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let Some(name) = words.next() else { continue };
        let numbers: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
        match name.strip_prefix("cpu") {
            Some("") => {
                stat.all = CoreTimes::of(&numbers);
                found = true;
            }
            Some(core) => {
                if let Ok(core) = core.parse() {
                    stat.cores.insert(core, CoreTimes::of(&numbers));
                }
            }
            None if name == "procs_running" => {
                stat.running = numbers.first().map(|count| *count as u32);
            }
            None => {}
        }
    }
    found.then_some(stat)
}

/// Returns the average number of runnable tasks over the last minute.
pub(crate) fn one_minute(loadavg: &str) -> Option<f64> {
    let number: f64 = loadavg.split_whitespace().next()?.parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

/// Returns the share of the last ten seconds in which some task waited, from 0 to 1, from
/// `/proc/pressure/cpu`.
pub(crate) fn waiting(pressure: &str) -> Option<f64> {
    let some = pressure.lines().find(|line| line.starts_with("some "))?;
    let average = some
        .split(' ')
        .find_map(|word| word.strip_prefix("avg10="))?;
    let percent: f64 = average.parse().ok()?;
    (0.0..=100.0).contains(&percent).then_some(percent / 100.0)
}

/// Returns the nanoseconds that a thread waited for a core: the second number of its `schedstat`,
/// after the time on a core and before the number of turns.
pub(crate) fn waited_ns(schedstat: &str) -> Option<u64> {
    let mut numbers = schedstat.split_whitespace();
    let waited = numbers.nth(1)?.parse().ok()?;
    numbers.next()?.parse::<u64>().ok()?;
    Some(waited)
}

/// Returns the nice value of a process and the number of its scheduling policy, from its `stat`.
pub(crate) fn nice_and_policy(stat: &str) -> Option<(i32, u32)> {
    // The name may contain any character, so fields are counted from its end: the state is the
    // third.
    let (_, fields) = stat.rsplit_once(')')?;
    let field = |number: usize| fields.split_whitespace().nth(number - 3);
    Some((field(19)?.parse().ok()?, field(41)?.parse().ok()?))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Timer,
    Device,
    /// Interrupts from other cores, processor counters, and others.
    Other,
}

/// A line of `/proc/interrupts`: a source of interrupts with its counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) label: String,
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// The number of interrupts on each core in the header line of `/proc/interrupts`.
    counts: Vec<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Interrupts {
    /// The cores with a column, which are the cores that are online.
    cores: Vec<u32>,
    pub(crate) lines: Vec<Line>,
}

/// The numbers of interrupts of one core, or of all cores, between two readings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct InterruptCounts {
    pub(crate) all: u64,
    pub(crate) timer: u64,
    pub(crate) device: u64,
    /// Label, name and count of the device with the most interrupts; the count is above 0.
    pub(crate) busiest: Option<(String, String, u64)>,
}

impl Interrupts {
    /// Returns the interrupts of this core, or of all cores, since an earlier reading; `None` if
    /// the core has no column.
    pub(crate) fn since(&self, earlier: &Self, core: Option<u32>) -> Option<InterruptCounts> {
        let column = match core {
            None => None,
            Some(core) => Some(self.cores.iter().position(|one| *one == core)?),
        };
        if self.cores != earlier.cores || self.cores.is_empty() {
            return None;
        }
        let count = |line: &Line| match column {
            None => line.counts.iter().sum::<u64>(),
            Some(column) => line.counts[column],
        };
        let mut came = InterruptCounts::default();
        for line in &self.lines {
            let before = earlier.lines.iter().find(|one| one.label == line.label);
            let new = count(line).saturating_sub(before.map_or(0, count));
            came.all += new;
            match line.kind {
                Kind::Timer => came.timer += new,
                Kind::Other => {}
                Kind::Device => {
                    came.device += new;
                    let most = came.busiest.as_ref().map_or(0, |(.., most)| *most);
                    if new > most {
                        came.busiest = Some((line.label.clone(), line.name.clone(), new));
                    }
                }
            }
        }
        Some(came)
    }
}

/// Parses `/proc/interrupts`. `None` if it has no header line.
pub(crate) fn interrupts(text: &str) -> Option<Interrupts> {
    let mut lines = text.lines();
    let head = lines.next()?.split_whitespace();
    let cores: Option<Vec<u32>> = head
        .map(|word| word.strip_prefix("CPU")?.parse().ok())
        .collect();
    let cores = cores.filter(|cores| !cores.is_empty())?;
    let lines = lines.filter_map(|text| line(text, cores.len())).collect();
    Some(Interrupts { cores, lines })
}

/// Parses a line with a count for each core. Returns `None` for lines of error counts, which have
/// only one count.
fn line(text: &str, cores: usize) -> Option<Line> {
    let (label, rest) = text.split_once(':')?;
    let label = label.trim();
    let words: Vec<&str> = rest.split_whitespace().collect();
    let counts: Option<Vec<u64>> = words.get(..cores)?.iter().map(|n| n.parse().ok()).collect();
    let name = name(&words[cores..]);
    Some(Line {
        kind: kind(label, &name),
        label: label.to_owned(),
        name,
        counts: counts?,
    })
}

/// Returns the device's name, which follows the trigger type: `ACPI:Ged` in
/// `IO-APIC 5-edge ACPI:Ged`. A description without a trigger type is returned whole.
fn name(words: &[&str]) -> String {
    let is_trigger = |word: &&str| {
        let word = word.to_ascii_lowercase();
        ["edge", "level", "fasteoi"]
            .iter()
            .any(|end| word.ends_with(end))
    };
    match words.iter().position(is_trigger) {
        Some(trigger) => words[trigger + 1..].join(" "),
        None => words.join(" "),
    }
}

fn kind(label: &str, name: &str) -> Kind {
    let numbered = label.parse::<u32>().is_ok();
    let is_timer = name == "timer" || name.contains("arch_timer");
    if label == "LOC" || (numbered && is_timer) {
        Kind::Timer
    } else if numbered {
        Kind::Device
    } else {
        Kind::Other
    }
}

#[cfg(test)]
pub(crate) mod fake {
    use std::fs;

    use tempfile::TempDir;

    use super::Root;

    pub(crate) fn machine(files: &[(&str, &str)]) -> (TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let root = Root::at(folder.path());
        (folder, root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_unknown() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("proc/sys")).unwrap();
        fs::write(folder.path().join("proc/sys/two"), " 2 \nmore\n").unwrap();
        fs::write(folder.path().join("proc/sys/empty"), "\n").unwrap();
        let root = Root::at(folder.path());
        assert_eq!(root.number("proc/sys/two"), Some(2));
        assert_eq!(root.line("/proc/sys/two").as_deref(), Some("2"));
        assert_eq!(root.line("proc/sys/empty"), None);
        assert_eq!(root.text("proc/sys/none"), None);
        assert_eq!(root.names("proc/sys"), ["empty", "two"]);
        assert!(root.names("sys").is_empty() && !root.has("sys") && root.has("proc"));
        assert!(!root.is_real() && Root::real().is_real());
    }

    const VIRTUAL_MACHINE: &str = "\
cpu  7685407 1159033 1013455 5243751 47252 0 7337 1998 0 0
cpu0 3706307 574486 466706 2817241 11922 0 596 984 0 0
cpu1 3979099 584546 546748 2426510 35330 0 6741 1014 0 0
intr 55427979 0 0 0
ctxt 198333842
procs_running 5
procs_blocked 0
";

    #[test]
    fn times_are_read_for_every_core() {
        let stat = stat(VIRTUAL_MACHINE).unwrap();
        assert_eq!(stat.running, Some(5));
        assert_eq!(stat.cores.len(), 2);
        assert_eq!(stat.cores[&1].stolen, 1014);
        assert_eq!(stat.all.total, 15_158_233);
        assert_eq!(stat.all.busy, 7685407 + 1159033 + 1013455 + 7337);
    }

    #[test]
    fn shares_are_those_of_what_passed_in_between() {
        let earlier = CoreTimes::of(&[10, 0, 0, 80, 0, 0, 0, 10]);
        let later = CoreTimes::of(&[60, 0, 0, 80, 0, 0, 0, 60]);
        let passed = later.since(earlier);
        assert_eq!(passed.stolen_share(), Some(0.5));
        assert_eq!(passed.busy_share(), Some(0.5));
        // The counters of a core that was taken offline start again at 0.
        assert_eq!(earlier.since(later).stolen_share(), None);
    }

    #[test]
    fn a_text_without_times_is_none() {
        assert_eq!(stat(""), None);
        assert_eq!(stat("intr 1 2 3\n"), None);
        assert_eq!(stat("cpu  1 2 3 4\n").unwrap().all.total, 10);
    }

    #[test]
    fn the_load_is_that_of_the_last_minute() {
        assert_eq!(one_minute("1.61 0.97 1.23 4/116 16547\n"), Some(1.61));
        assert_eq!(one_minute(""), None);
        assert_eq!(one_minute("high"), None);
        assert_eq!(one_minute("nan 1 1"), None);
    }

    #[test]
    fn pressure_is_that_of_the_last_ten_seconds() {
        let text = "some avg10=9.81 avg60=8.06 avg300=4.85 total=25212976479\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
        assert!((waiting(text).unwrap() - 0.0981).abs() < 1e-12);
        assert_eq!(waiting("full avg10=1.00\n"), None);
        assert_eq!(waiting("some avg10=many\n"), None);
        assert_eq!(waiting(""), None);
    }

    #[test]
    fn a_thread_knows_how_long_it_waited() {
        assert_eq!(waited_ns("5123456 789 42\n"), Some(789));
        assert_eq!(waited_ns("0 0 0\n"), Some(0));
        assert_eq!(waited_ns("5123456\n"), None);
    }

    const X86: &str = "\
           CPU0       CPU1
  0:         30          0  IR-IO-APIC    2-edge      timer
 36:          0    5117134  PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0
 42:          0     118862  PCI-MSIX-0000:00:04.0   2-edge      virtio3-tx, spare
NMI:          0          0   Non-maskable interrupts
LOC:   14992938   16250917   Local timer interrupts
RES:    3137666    2345413   Rescheduling interrupts
ERR:          0
MIS:          0
";

    const ARM: &str = "\
           CPU0       CPU2
 11:    1234567    2345678     GICv3  27 Level     arch_timer
 49:         17          3     GICv3 112 Level     nvme0q1
IPI0:      5000       6000       Rescheduling interrupts
Err:          0
";

    #[test]
    fn timers_devices_and_the_rest_are_told_apart() {
        let read = interrupts(X86).unwrap();
        let kinds: Vec<_> = read
            .lines
            .iter()
            .map(|line| (&*line.label, line.kind))
            .collect();
        assert_eq!(
            kinds,
            [
                ("0", Kind::Timer),
                ("36", Kind::Device),
                ("42", Kind::Device),
                ("NMI", Kind::Other),
                ("LOC", Kind::Timer),
                ("RES", Kind::Other),
            ]
        );
        assert_eq!(read.lines[2].name, "virtio3-tx, spare");
        assert_eq!(read.lines[4].name, "Local timer interrupts");
        let arm = interrupts(ARM).unwrap();
        assert_eq!(arm.lines[0].kind, Kind::Timer);
        assert_eq!(arm.lines[1].name, "nvme0q1");
    }

    #[test]
    fn counts_interrupts_by_the_column_of_the_core() {
        let before = interrupts(ARM).unwrap();
        let after = ARM
            .replace("2345678", "2345778")
            .replace("    3 ", "    8 ")
            .replace("6000", "6001");
        let after = interrupts(&after).unwrap();
        let came = after.since(&before, Some(2)).unwrap();
        assert_eq!((came.all, came.timer, came.device), (106, 100, 5));
        let busiest = ("49".to_owned(), "nvme0q1".to_owned(), 5);
        assert_eq!(came.busiest, Some(busiest));
        assert_eq!(after.since(&before, None).unwrap().all, 106);
        assert_eq!(
            after.since(&before, Some(0)).unwrap(),
            InterruptCounts::default(),
            "none on the other"
        );
        assert_eq!(after.since(&before, Some(1)), None, "no such column");
    }

    #[test]
    fn a_text_without_a_head_is_none() {
        assert_eq!(interrupts(""), None);
        assert_eq!(interrupts("\n 1: 2\n"), None);
        assert_eq!(interrupts("some words\n"), None);
    }
}
