//! Names that tell contenders apart.

/// Makes every name the only one of its kind: the second `true` of an A/A
/// race becomes `true (2)`.
pub(crate) fn distinct(names: Vec<String>) -> Vec<String> {
    let mut taken: Vec<String> = Vec::with_capacity(names.len());
    for name in &names {
        let mut unique = name.clone();
        let mut number = 2;
        while taken.contains(&unique) || (unique != *name && names.contains(&unique)) {
            unique = format!("{name} ({number})");
            number += 1;
        }
        taken.push(unique);
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_name_twice_is_numbered_and_others_are_left_alone() {
        let names = ["a", "b", "a", "a (2)", "a"].map(str::to_owned).to_vec();
        assert_eq!(distinct(names), ["a", "b", "a (3)", "a (2)", "a (4)"]);
    }
}
