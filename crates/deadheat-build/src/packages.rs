//! Compares the packages that are installed on the two sides of a race.

use std::collections::BTreeMap;

/// Installed packages: names and versions.
pub type Packages = BTreeMap<String, String>;

/// Returns the packages whose versions differ between two sides, each with the version on both
/// sides; `None` if a side lacks the package.
pub fn differing_packages<'a>(
    baseline: &'a Packages,
    candidate: &'a Packages,
) -> Vec<(&'a str, Option<&'a String>, Option<&'a String>)> {
    let mut names: Vec<&String> = baseline.keys().chain(candidate.keys()).collect();
    names.sort();
    names.dedup();
    let both = names.into_iter().map(|name| {
        let versions = [baseline, candidate].map(|one| one.get(name));
        (&**name, versions[0], versions[1])
    });
    both.filter(|(_, old, new)| old != new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packages(packages: &[(&str, &str)]) -> Packages {
        let owned = |(name, version): &(&str, &str)| ((*name).to_owned(), (*version).to_owned());
        packages.iter().map(owned).collect()
    }

    #[test]
    fn packages_that_differ_are_named_with_both_versions() {
        let old = packages(&[("numpy", "1.26.4"), ("pytest", "8.0"), ("gone", "1")]);
        let new = packages(&[("numpy", "2.0.1"), ("pytest", "8.0"), ("added", "2")]);
        let words: Vec<String> = differing_packages(&old, &new)
            .into_iter()
            .map(|(name, old, new)| format!("{name} {old:?} {new:?}"))
            .collect();
        let expected = [
            "added None Some(\"2\")",
            "gone Some(\"1\") None",
            "numpy Some(\"1.26.4\") Some(\"2.0.1\")",
        ];
        assert_eq!(words, expected);
        assert!(differing_packages(&old, &old).is_empty());
    }
}
