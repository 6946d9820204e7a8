//! Huge pages, swap, and how much memory there is to try with.

use deadheat_model::doctor::Facts;

use super::root::Root;

/// What transparent huge pages are set to.
pub(super) fn huge_pages(root: &Root) -> Facts {
    let folder = "sys/kernel/mm/transparent_hugepage";
    let set = |file: &str| chosen(&root.text(&format!("{folder}/{file}"))?);
    Facts::HugePages {
        enabled: set("enabled"),
        defrag: set("defrag"),
    }
}

/// The word in brackets: `always [madvise] never`.
fn chosen(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    let (word, _) = rest.split_once(']')?;
    Some(word.to_owned())
}

/// How much swap there is, and how much of it is in use.
pub(super) fn swap(root: &Root) -> Facts {
    let text = root.text("proc/meminfo").unwrap_or_default();
    let total = kibibytes(&text, "SwapTotal");
    let free = kibibytes(&text, "SwapFree");
    Facts::Swap {
        total: total.map(|total| total * 1024),
        used: total
            .zip(free)
            .map(|(total, free)| total.saturating_sub(free) * 1024),
    }
}

/// Bytes that can be had without moving others out.
pub(super) fn available(root: &Root) -> Option<u64> {
    kibibytes(&root.text("proc/meminfo")?, "MemAvailable").map(|available| available * 1024)
}

/// Bytes of this process that lie in huge pages, of its `smaps_rollup`.
pub(super) fn in_huge_pages(smaps: &str) -> Option<u64> {
    kibibytes(smaps, "AnonHugePages").map(|huge| huge * 1024)
}

/// Pages moved to and from swap since the system started, of `/proc/vmstat`.
pub(super) fn swapped_pages(vmstat: &str) -> Option<u64> {
    let count = |name: &str| {
        let mut lines = vmstat.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        value.trim().parse::<u64>().ok()
    };
    Some(count("pswpin")? + count("pswpout")?)
}

fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines();
    let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    value.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::root::fake::machine;
    use super::*;

    const MEMINFO: &str = "\
MemTotal:       24684084 kB
MemAvailable:   23711304 kB
SwapCached:            0 kB
SwapTotal:       2097148 kB
SwapFree:        1048572 kB
";

    #[test]
    fn the_choice_is_the_word_in_brackets() {
        assert_eq!(
            chosen("always [madvise] never\n").as_deref(),
            Some("madvise")
        );
        assert_eq!(
            chosen("[always] madvise never\n").as_deref(),
            Some("always")
        );
        assert_eq!(chosen("always madvise never\n"), None);
        let (_folder, root) = machine(&[("sys/kernel/mm/transparent_hugepage/enabled", "[never]")]);
        let facts = Facts::HugePages {
            enabled: Some("never".to_owned()),
            defrag: None,
        };
        assert_eq!(huge_pages(&root), facts);
    }

    #[test]
    fn swap_is_told_in_bytes() {
        let (_folder, root) = machine(&[("proc/meminfo", MEMINFO)]);
        let facts = Facts::Swap {
            total: Some(2_097_148 * 1024),
            used: Some(1_048_576 * 1024),
        };
        assert_eq!(swap(&root), facts);
        assert_eq!(available(&root), Some(23_711_304 * 1024));
        let (_folder, nothing) = machine(&[]);
        let unknown = Facts::Swap {
            total: None,
            used: None,
        };
        assert_eq!(swap(&nothing), unknown);
        assert_eq!(available(&nothing), None);
    }

    #[test]
    fn pages_are_counted_in_both_directions() {
        assert_eq!(swapped_pages("pgpgin 9\npswpin 3\npswpout 4\n"), Some(7));
        assert_eq!(swapped_pages("pgpgin 9\npswpin 3\n"), None);
        let smaps = "7f00-7fff ---p 0 0 0 [rollup]\nRss: 4 kB\nAnonHugePages:      2048 kB\n";
        assert_eq!(in_huge_pages(smaps), Some(2 << 20));
    }
}
