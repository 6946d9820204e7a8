//! `/proc/interrupts`: how often every core was interrupted, and by whom.

/// Whose interrupt it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Timer,
    Device,
    /// Other cores, counters of the processor, and the like.
    Other,
}

/// A line: one source of interrupts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) label: String,
    pub(super) name: String,
    pub(super) kind: Kind,
    /// As many as there are cores in the head of the file.
    counts: Vec<u64>,
}

/// The whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Interrupts {
    /// The cores that are running; those that are not have no column.
    cores: Vec<u32>,
    pub(super) lines: Vec<Line>,
}

/// What came on one core between two readings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Came {
    pub(super) all: u64,
    pub(super) timer: u64,
    pub(super) device: u64,
    /// Label, name and count of the device that came most; a count above 0.
    pub(super) busiest: Option<(String, String, u64)>,
}

impl Interrupts {
    /// What came on this core, or on all of them, since an earlier reading;
    /// `None` when the core has no column.
    pub(super) fn since(&self, earlier: &Self, core: Option<u32>) -> Option<Came> {
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
        let mut came = Came::default();
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

/// The text of the file. `None` when it has no head.
pub(super) fn interrupts(text: &str) -> Option<Interrupts> {
    let mut lines = text.lines();
    let head = lines.next()?.split_whitespace();
    let cores: Option<Vec<u32>> = head
        .map(|word| word.strip_prefix("CPU")?.parse().ok())
        .collect();
    let cores = cores.filter(|cores| !cores.is_empty())?;
    let lines = lines.filter_map(|text| line(text, cores.len())).collect();
    Some(Interrupts { cores, lines })
}

/// A line with a count for each core; the counts of errors have only one.
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

/// Of `IO-APIC 5-edge ACPI:Ged` and `GICv3 27 Level arch_timer` what comes
/// last; a description in words is left whole.
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
    match numbered {
        _ if label == "LOC" => Kind::Timer,
        true if name == "timer" || name.contains("arch_timer") => Kind::Timer,
        true => Kind::Device,
        false => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn what_came_on_a_core_is_counted_by_its_column() {
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
            Came::default(),
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
