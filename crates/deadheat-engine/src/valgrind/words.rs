//! The words of a command under Valgrind, and those without it.

use std::path::Path;

/// The argument by which Valgrind counts, the first one of a command that is counted.
pub(super) const COUNTS: &str = "--tool=callgrind";

/// A pattern for the number of instructions in what Valgrind says at its end.
pub const COUNTED_PATTERN: &str = r"==\d+== Collected : (\d+)";

/// The words of a command under Valgrind, which says on standard output how many instructions that
/// has executed: by itself, and not by what it starts.
pub fn counted_words(valgrind: &Path, words: &[String]) -> Vec<String> {
    let options = [
        COUNTS,
        "--callgrind-out-file=/dev/null",
        "--log-fd=1",
        "--child-silent-after-fork=yes",
    ];
    let valgrind = valgrind.display().to_string();
    let options = options.iter().map(|option| (*option).to_owned());
    let words = words.iter().cloned();
    [valgrind].into_iter().chain(options).chain(words).collect()
}

/// Returns whether these are such words.
pub(crate) fn is_counted(words: &[String]) -> bool {
    words.get(1).is_some_and(|word| word == COUNTS)
}

/// The words of a command without those of Valgrind, where a race had it counted.
pub(super) fn without_valgrind(words: &[String]) -> &[String] {
    let added = counted_words(Path::new(""), &[]).len();
    if is_counted(words) {
        &words[added.min(words.len())..]
    } else {
        words
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{counted_words, without_valgrind};

    #[test]
    fn a_command_that_was_counted_is_the_same_without_valgrind() {
        let words = ["./a", "7"].map(str::to_owned);
        let counted = counted_words(Path::new("/bin/valgrind"), &words);
        assert_eq!(counted[0], "/bin/valgrind");
        assert_eq!(without_valgrind(&counted), words);
        assert_eq!(without_valgrind(&words), words);
    }
}
