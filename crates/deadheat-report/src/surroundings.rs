//! Sentences about differences between the sides other than the code under test.

use deadheat_model::{PackageVersions, SharedSuite, Surroundings};

use crate::document::{Note, Severity};
use crate::glyphs::Glyphs;
use crate::names::{first_of, shown, texts};

/// A sentence lists at most this many files or packages; `-v` lists all packages.
const NAMED: usize = 4;

const NAME: usize = 120;

pub(crate) fn benchmark_differs(
    files: &[String],
    benches_from: Option<&str>,
    glyphs: Glyphs,
) -> String {
    let advice = match benches_from {
        Some(side) => format!(
            "Race both sides with one suite: --benches-from '{}'.",
            shown(side, NAME, glyphs)
        ),
        None => "Give both sides the same benchmark to compare the code alone.".to_owned(),
    };
    format!(
        "The benchmark itself changed: {} between the sides, which may explain the difference. \
         {advice}",
        differ(files, glyphs)
    )
}

fn differ(files: &[String], glyphs: Glyphs) -> String {
    let verb = if files.len() == 1 {
        "differs"
    } else {
        "differ"
    };
    let names = texts(files, &|file| shown(file, NAME, glyphs));
    format!("{} {verb}", first_of(names, NAMED))
}

/// Returns the remarks on the whole run. If the user chose the environments, differences in
/// packages are shown only in `full` answers, because the user may want to compare exactly these.
pub(crate) fn notes(surroundings: &Surroundings, full: bool, glyphs: Glyphs) -> Vec<Note> {
    let mut notes = Vec::new();
    // A difference that the user did not choose is a warning, because brief answers may omit notes.
    let severity = match surroundings.chosen {
        true => Severity::Note,
        false => Severity::Warning,
    };
    if let Some(suite) = &surroundings.suite {
        notes.push(Note::of(Severity::Note, shared_suite(suite, glyphs)));
    }
    if let [baseline, candidate] = &surroundings.interpreters[..] {
        let [baseline, candidate] = [baseline, candidate].map(|one| shown(one, NAME, glyphs));
        let text = format!(
            "the interpreters differ, which may explain a difference: {baseline} on the baseline's \
             side, {candidate} on the candidate's."
        );
        notes.push(Note::of(severity, text));
    }
    if !surroundings.packages.is_empty() && (full || !surroundings.chosen) {
        let may_be = match surroundings.chosen {
            true => "",
            false => ", which may explain a difference",
        };
        let named = if full { usize::MAX } else { NAMED };
        let versions = versions(&surroundings.packages, named, glyphs);
        let text = format!("packages differ between the sides{may_be}: {versions}.");
        notes.push(Note::of(severity, text));
    }
    notes
}

fn shared_suite(suite: &SharedSuite, glyphs: Glyphs) -> String {
    format!(
        "both sides raced with the suite of '{}' ({} between the sides); with --benches-from own, \
         each side races with its own suite.",
        shown(&suite.side, NAME, glyphs),
        differ(&suite.files, glyphs)
    )
}

/// Lists packages with their versions: "numpy 1.26.4 and 2.0.1, attrs 23.1 in the baseline only".
fn versions(packages: &[PackageVersions], named: usize, glyphs: Glyphs) -> String {
    let one = |package: &PackageVersions| {
        let name = shown(&package.name, NAME, glyphs);
        let version = |version: &String| shown(version, NAME, glyphs);
        match (&package.baseline, &package.candidate) {
            (Some(old), Some(new)) => format!("{name} {} and {}", version(old), version(new)),
            (Some(old), None) => format!("{name} {} in the baseline only", version(old)),
            (None, Some(new)) => format!("{name} {} in the candidate only", version(new)),
            (None, None) => name,
        }
    };
    let told: Vec<String> = packages.iter().take(named).map(one).collect();
    match packages.len().saturating_sub(named) {
        0 => told.join(", "),
        more => format!("{} and {more} more", told.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, baseline: Option<&str>, candidate: Option<&str>) -> PackageVersions {
        PackageVersions {
            name: name.to_owned(),
            baseline: baseline.map(str::to_owned),
            candidate: candidate.map(str::to_owned),
        }
    }

    fn told(surroundings: &Surroundings, full: bool) -> Vec<String> {
        let notes = notes(surroundings, full, Glyphs::Ascii);
        notes.into_iter().map(|note| note.text).collect()
    }

    #[test]
    fn names_the_files_and_the_way_to_race_one_suite() {
        let files = ["bench/test_a.py", "bench/words.txt"].map(str::to_owned);
        let both = benchmark_differs(&files, Some("v2"), Glyphs::Ascii);
        assert_eq!(
            both,
            "The benchmark itself changed: bench/test_a.py and bench/words.txt differ between the \
             sides, which may explain the difference. Race both sides with one suite: \
             --benches-from 'v2'."
        );
        let one = benchmark_differs(&files[..1], None, Glyphs::Ascii);
        assert!(one.contains("bench/test_a.py differs between"), "{one}");
        assert!(!one.contains("--benches-from"), "{one}");
    }

    #[test]
    fn equal_surroundings_need_no_word() {
        assert!(told(&Surroundings::default(), true).is_empty());
    }

    #[test]
    fn names_some_packages_and_counts_the_rest() {
        let mut surroundings = Surroundings {
            packages: vec![
                package("numpy", Some("1.26.4"), Some("2.0.1")),
                package("only-old", Some("1"), None),
                package("only-new", None, Some("2")),
                package("d", Some("1"), Some("2")),
                package("e", Some("1"), Some("2")),
            ],
            ..Surroundings::default()
        };
        assert_eq!(
            told(&surroundings, false),
            [
                "packages differ between the sides, which may explain a difference: numpy 1.26.4 \
                 and 2.0.1, only-old 1 in the baseline only, only-new 2 in the candidate only, d \
                 1 and 2 and 1 more."
            ]
        );
        assert!(told(&surroundings, true)[0].contains("e 1 and 2."));
        surroundings.chosen = true;
        assert!(told(&surroundings, false).is_empty());
        assert!(told(&surroundings, true)[0].starts_with("packages differ between the sides: "));
    }

    #[test]
    fn names_interpreters_whoever_chose_them() {
        let surroundings = Surroundings {
            interpreters: ["CPython 3.12.1", "CPython 3.13.0 (free-threaded)"]
                .map(str::to_owned)
                .into(),
            chosen: true,
            ..Surroundings::default()
        };
        let text = told(&surroundings, false).remove(0);
        assert!(
            text.contains("CPython 3.13.0 (free-threaded) on the candidate's"),
            "{text}"
        );
    }
}
