//! What the name of a benchmark says of how it runs.

/// Signs that mean something in a regular expression, whichever of its dialects
/// the executable was built with.
const SPECIAL: &str = r".[\()*+?{}|^$]";

/// A pattern for `--benchmark_filter` that fits this name and no other.
pub(super) fn filter(name: &str) -> String {
    let mut pattern = String::from("^");
    for sign in name.chars() {
        if SPECIAL.contains(sign) {
            pattern.push('\\');
        }
        pattern.push(sign);
    }
    pattern.push('$');
    pattern
}

/// Whether the source of the benchmark says how long a repetition is.
pub(super) fn has_own_length(name: &str) -> bool {
    number(name, "iterations:").is_some() || part(name, "min_time:").is_some()
}

/// How often the source of the benchmark says that it is repeated.
pub(super) fn own_repetitions(name: &str) -> Option<u32> {
    number(name, "repeats:")
}

/// How many threads the benchmark runs on, as far as its name says.
pub(super) fn threads(name: &str) -> u32 {
    number(name, "threads:").unwrap_or(1)
}

fn number(name: &str, key: &str) -> Option<u32> {
    part(name, key)?.parse().ok().filter(|number| *number > 0)
}

/// What stands behind a key in the part of the name that begins with it.
fn part<'a>(name: &'a str, key: &str) -> Option<&'a str> {
    let mut parts = name.split('/').skip(1);
    parts.find_map(|part| part.strip_prefix(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_fits_one_name_only() {
        assert_eq!(filter("sum/100"), "^sum/100$");
        assert_eq!(
            filter("BM<std::vector<int>, a.b>/{1}|x*y+(z)?[0]^$\\"),
            r"^BM<std::vector<int>, a\.b>/\{1\}\|x\*y\+\(z\)\?\[0\]\^\$\\$"
        );
    }

    #[test]
    fn names_tell_length_repetitions_and_threads() {
        assert!(has_own_length("a/8/iterations:7"));
        assert!(has_own_length("a/min_time:0.500/threads:2"));
        assert!(!has_own_length("a/8"));
        assert!(!has_own_length("iterations:7"));
        assert_eq!(own_repetitions("a/repeats:3/manual_time"), Some(3));
        assert_eq!(own_repetitions("a/repeats:x"), None);
        assert_eq!(threads("a/real_time/threads:4"), 4);
        assert_eq!(threads("a"), 1);
    }
}
