//! A pattern that names of benchmarks fit or do not fit.

use std::fmt;

/// A pattern on the whole name of a benchmark: `*` stands for any characters,
/// also for none and for slashes, `?` for one. All others stand for themselves,
/// brackets too, since names such as `test[1]` hold them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(String);

impl Glob {
    /// This pattern. Every text is one.
    pub fn new(pattern: impl Into<String>) -> Self {
        Self(pattern.into())
    }

    /// As it was written.
    pub fn pattern(&self) -> &str {
        &self.0
    }

    /// Whether the whole name fits.
    pub fn fits(&self, name: &str) -> bool {
        let pattern: Vec<char> = self.0.chars().collect();
        let name: Vec<char> = name.chars().collect();
        let (mut at, mut read) = (0, 0);
        // The last star, and how much of the name it has taken so far. Giving
        // it one character more is all there is to try: an earlier star can do
        // nothing a later one cannot, so no pattern takes long.
        let mut star: Option<(usize, usize)> = None;
        while read < name.len() {
            match pattern.get(at) {
                Some('*') => {
                    star = Some((at, read));
                    at += 1;
                }
                Some(one) if *one == '?' || *one == name[read] => {
                    at += 1;
                    read += 1;
                }
                _ => match &mut star {
                    Some((place, taken)) => {
                        *taken += 1;
                        (at, read) = (*place + 1, *taken);
                    }
                    None => return false,
                },
            }
        }
        pattern[at..].iter().all(|rest| *rest == '*')
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_takes_anything_and_a_question_mark_one_character() {
        for (pattern, fitting, other) in [
            (
                "parse/*",
                vec!["parse/json", "parse/", "parse/a/b"],
                vec!["parse", "reparse/x"],
            ),
            ("*", vec!["", "anything at all"], vec![]),
            ("sort", vec!["sort"], vec!["sort ", "Sort", "sorted", ""]),
            ("n=?", vec!["n=1", "n=ü"], vec!["n=", "n=10"]),
            ("*a*b", vec!["ab", "xaxaxb", "a*b"], vec!["ba", "abc"]),
            ("test[1]", vec!["test[1]"], vec!["test1"]),
            ("", vec![""], vec!["a"]),
            ("a**", vec!["a", "ab"], vec!["b"]),
        ] {
            let glob = Glob::new(pattern);
            for name in fitting {
                assert!(glob.fits(name), "{pattern} fits '{name}'");
            }
            for name in other {
                assert!(!glob.fits(name), "{pattern} does not fit '{name}'");
            }
        }
    }

    #[test]
    fn a_pattern_of_many_stars_is_answered_before_long() {
        let glob = Glob::new("*a".repeat(200));
        assert!(!glob.fits(&"a".repeat(199)));
        assert!(glob.fits(&"ab".repeat(5_000).replace("ab", "ba")));
    }
}
