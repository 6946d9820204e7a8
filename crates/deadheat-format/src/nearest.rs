//! The name that somebody may have meant.

/// The name present that needs the fewest edits to become `wanted`, and how
/// many; `None` where nothing is present. Case does not count.
pub(crate) fn nearest<'a>(wanted: &str, present: &[&'a str]) -> Option<(&'a str, usize)> {
    let wanted = wanted.to_lowercase();
    let edits = |name: &&'a str| (*name, edit_distance(&wanted, &name.to_lowercase()));
    present.iter().map(edits).min_by_key(|(_, edits)| *edits)
}

/// Insertions, deletions and substitutions between two words.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_the_one_with_the_fewest_edits() {
        let present = ["benchmark", "contender", "wall", "cpu_ns"];
        assert_eq!(nearest("wall_ns", &present), Some(("wall", 3)));
        assert_eq!(
            nearest("wall_ns", &["Wall_NS", "wall_s"]),
            Some(("Wall_NS", 0))
        );
        assert_eq!(nearest("x", &[]), None);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }
}
