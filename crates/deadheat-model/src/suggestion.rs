//! The name that a misspelled word was probably meant to be.

/// Returns the name with the smallest edit distance from `typed`, if it is small for the length: at
/// most one edit for every three characters. Case and leading dashes do not count, and swapping two
/// letters is one edit.
pub fn suggestion<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |word: &str| word.trim_start_matches('-').to_lowercase();
    let typed = plain(typed);
    let near = |name: &'a str| {
        let name_plain = plain(name);
        let (one, other) = (typed.chars().count(), name_plain.chars().count());
        let most = one.max(other) / 3;
        // Words of very different lengths are not compared letter by letter.
        let edits = (one.abs_diff(other) <= most).then(|| edits(&typed, &name_plain))?;
        (edits <= most).then_some((name, edits))
    };
    let near = names.into_iter().filter_map(near);
    near.min_by_key(|(_, edits)| *edits).map(|(name, _)| name)
}

/// Returns the number of insertions, deletions, substitutions and swaps of neighbours between two
/// words.
fn edits(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=to.len()).collect()];
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let substituted = rows[i - 1][j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let mut fewest = substituted.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            let swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
            if swapped {
                fewest = fewest.min(rows[i - 2][j - 2] + 1);
            }
            row.push(fewest);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_edits_lead_to_a_name() {
        let names = ["margin", "markdown", "--max-replicates", "run", "wall_ns"];
        for (typed, meant) in [
            ("margn", "margin"),
            ("--mragin", "margin"),
            ("--markdwon", "markdown"),
            ("rnu", "run"),
            ("Wall_NS", "wall_ns"),
            ("--max-replicate", "--max-replicates"),
        ] {
            assert_eq!(suggestion(typed, names), Some(meant), "{typed}");
        }
    }

    #[test]
    fn a_word_of_other_letters_leads_to_no_name() {
        let names = ["bench", "go", "config", "resume", "history", "bisect"];
        for typed in [
            "nosuch",
            "--good",
            "--confidence",
            "--measurement-time",
            "list",
            "x",
            "",
        ] {
            assert_eq!(suggestion(typed, names), None, "{typed}");
        }
    }

    #[test]
    fn each_kind_of_edit_counts_once() {
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("ab", "ba"), 1);
        assert_eq!(edits("", "abc"), 3);
    }
}
