//! Lists of cores as the kernel writes them.

/// The cores of `0-3,5`. What is no list is empty: kernels write `(null)`, or
/// nothing, for one that was never set.
pub(super) fn cpu_list(text: &str) -> Vec<u32> {
    let mut cores = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        match (from.trim().parse::<u32>(), to.trim().parse::<u32>()) {
            (Ok(from), Ok(to)) if from <= to && to < 65_536 => cores.extend(from..=to),
            _ => return Vec::new(),
        }
    }
    cores
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_stand_alone_or_in_ranges() {
        assert_eq!(cpu_list("0-3,8,10-11\n"), [0, 1, 2, 3, 8, 10, 11]);
        assert_eq!(cpu_list("0"), [0]);
    }

    #[test]
    fn what_is_no_list_is_empty() {
        for text in ["", "\n", "(null)", " (null)\n", "3-1", "0-99999999"] {
            assert!(cpu_list(text).is_empty(), "{text}");
        }
    }
}
