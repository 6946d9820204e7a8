//! The sides of a comparison, by the words of the command line: those of compare.py, and a few
//! more.

use deadheat::parts::exit::Failure;

/// One side as it was named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entrant {
    /// Files, folders or programs; several files are pooled.
    pub named: Vec<String>,
    /// Which of its benchmarks are meant, a regular expression.
    pub filter: Option<String>,
}

impl Entrant {
    /// The text that stands for its name: that of a single file, and of several what their paths
    /// begin with, so `old` of `old/1.json` and `old/2.json`.
    pub fn called(&self) -> &str {
        let first = self.named.first().map_or("", String::as_str);
        let shared = |name: &String| {
            let pairs = first.char_indices().zip(name.chars());
            let same = pairs.take_while(|((_, a), b)| a == b).last();
            same.map_or(0, |((at, last), _)| at + last.len_utf8())
        };
        let shared = self.named.iter().map(shared).min().unwrap_or_default();
        let ends = |c: char| c.is_ascii_digit() || matches!(c, '/' | '-' | '_' | '.');
        match first[..shared].trim_end_matches(ends) {
            common if !common.is_empty() && self.named.len() > 1 => common,
            _ => first,
        }
    }

    fn new(named: &[String], filter: Option<&String>) -> Self {
        Self {
            named: named.to_vec(),
            filter: filter.cloned(),
        }
    }

    /// Reads the words: `[benchmarks] OLD NEW…`, `filters FILE OLD NEW` or
    /// `benchmarksfiltered OLD FILTER NEW FILTER`. One word alone is enough
    /// where a folder holds several recordings. The baseline comes first.
    pub fn of_words(words: &[String]) -> Result<Vec<Self>, Failure> {
        let usage = |told: &str| Err(Failure::Usage(told.to_owned()));
        let (mode, rest) = match words.split_first() {
            Some((mode, rest)) if MODES.contains(&mode.as_str()) => (mode.as_str(), rest),
            _ => ("benchmarks", words),
        };
        let filtered = |file: &String, filter| Self::new(std::slice::from_ref(file), Some(filter));
        match (mode, rest) {
            ("filters", [file, old, new]) => Ok(vec![filtered(file, old), filtered(file, new)]),
            ("filters", _) => {
                usage("filters takes a file or program and two filters: FILE OLD NEW")
            }
            ("benchmarksfiltered", [old, ours, new, theirs]) => {
                Ok(vec![filtered(old, ours), filtered(new, theirs)])
            }
            ("benchmarksfiltered", _) => usage(
                "benchmarksfiltered takes two files or programs, each with its filter: OLD FILTER \
                 NEW FILTER",
            ),
            (_, []) => {
                usage("there is nothing to compare; name the files or programs, the baseline first")
            }
            (_, files) => Ok(files.chunks(1).map(|file| Self::new(file, None)).collect()),
        }
    }

    /// Two sides of several files each, called so where one has none.
    pub fn pooled(called: [&str; 2], old: &[String], new: &[String]) -> Result<Vec<Self>, Failure> {
        let sides = called.into_iter().zip([old, new]);
        let side = |(called, files): (&str, &[String])| match files {
            [] => Err(Failure::Usage(format!(
                "{called} names no file: deadheat compare OLD… --against NEW…"
            ))),
            files => Ok(Self::new(files, None)),
        };
        sides.map(side).collect()
    }
}

/// The words of compare.py.
const MODES: [&str; 3] = ["benchmarks", "filters", "benchmarksfiltered"];

#[cfg(test)]
mod tests {
    use super::*;

    fn request(line: &str) -> Result<Vec<Entrant>, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Entrant::of_words(&words).map_err(|error| error.to_string())
    }

    #[test]
    fn the_modes_of_compare_py_mean_the_same_here() {
        let entrant = |name: &str, filter: Option<&str>| Entrant {
            named: vec![name.to_owned()],
            filter: filter.map(str::to_owned),
        };
        let plain = |names: &[&str]| -> Vec<Entrant> {
            names.iter().map(|name| entrant(name, None)).collect()
        };
        let (f, g) = (entrant("a", Some("x")), entrant("a", Some("y")));
        assert_eq!(request("benchmarks a b").unwrap(), plain(&["a", "b"]));
        assert_eq!(request("a b c").unwrap(), plain(&["a", "b", "c"]));
        assert_eq!(
            request("target/criterion").unwrap(),
            plain(&["target/criterion"])
        );
        assert_eq!(request("filters a x y").unwrap(), [f.clone(), g.clone()]);
        let filtered = [f, entrant("b", Some("y"))];
        assert_eq!(request("benchmarksfiltered a x b y").unwrap(), filtered);
    }

    #[test]
    fn several_files_are_called_by_what_their_paths_share() {
        let called = |names: &[&str]| {
            let entrant = Entrant {
                named: names.iter().map(|name| (*name).to_owned()).collect(),
                filter: None,
            };
            entrant.called().to_owned()
        };
        assert_eq!(called(&["old/1.json", "old/2.json"]), "old");
        assert_eq!(called(&["é-01.json", "é-02.json"]), "é");
        assert_eq!(called(&["1.json", "2.json"]), "1.json");
        assert_eq!(called(&["old-1.json"]), "old-1.json");
        assert_eq!(called(&[]), "");
    }

    #[test]
    fn a_mode_without_its_words_says_which_it_takes() {
        for line in [
            "",
            "benchmarks",
            "filters a b",
            "filters a b c d",
            "benchmarksfiltered a",
        ] {
            assert!(request(line).is_err(), "{line}");
        }
        let files = ["a".to_owned()];
        assert!(Entrant::pooled(["the baseline", "--against"], &[], &files).is_err());
    }
}
