//! Pairs benchmarks by two filters, within one program or between two. The names of a pair differ
//! only in the parts that the filters match, such as the names of two implementations.

use deadheat_model::{LeftOut, LeftOutReason};
use regex_lite::{NoExpand, Regex};

use crate::exit::Failure;

/// Pairs of benchmarks that race each other, and the benchmarks without a partner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Families {
    /// The pairs: the displayed name, and the names of the baseline and the candidate.
    pub pairs: Vec<(String, [String; 2])>,
    /// Benchmarks that match a filter but cannot race, each with its reason.
    pub left_out: Vec<LeftOut>,
}

/// Pairs each name that matches the filter `baseline` with the name that matches the filter
/// `candidate`, if the rest of the two names is equal. Pairs are in the order of the baselines.
/// Displayed names have `[BASELINE vs. CANDIDATE]` in place of the matching parts.
pub fn families(names: &[String], baseline: &str, candidate: &str) -> Result<Families, Failure> {
    let mut found = families_between([names, names], baseline, candidate)?;
    // A name that matches both filters may lack a partner under one filter, but have one under the
    // other. Then it races, so it is not left out.
    let pairs = &found.pairs;
    let races = |name: &String| pairs.iter().any(|(_, pair)| pair.contains(name));
    found
        .left_out
        .retain(|left_out| !races(&left_out.benchmark));
    Ok(found)
}

/// Pairs the names of two programs like [`families`]: the filter `baseline` selects names of the
/// first program, and `candidate` selects names of the second.
pub fn families_between(
    names: [&[String]; 2],
    baseline: &str,
    candidate: &str,
) -> Result<Families, Failure> {
    let place = format!("[{baseline} vs. {candidate}]");
    let [ours, theirs] = [
        selected(names[0], baseline, &place)?,
        selected(names[1], candidate, &place)?,
    ];
    let mut found = Families::default();
    for (shown, name) in &ours {
        let twins = [&ours, &theirs].map(|side| side.iter().filter(|(other, _)| other == shown));
        let [alike, against] = twins.map(|twins| twins.map(|(_, name)| name).collect::<Vec<_>>());
        let several = [(baseline, &alike), (candidate, &against)];
        let several = several.iter().find(|(_, names)| names.len() > 1);
        match (several, against.as_slice()) {
            (Some((filter, names)), _) => {
                let reason = format!(
                    "'{filter}' gives {} benchmarks the same name '{shown}'; use a narrower \
                     filter",
                    names.len()
                );
                found.leave_out(name, LeftOutReason::NotAlike(reason));
            }
            (None, [other]) => {
                let pair = [name.clone(), (*other).clone()];
                found.pairs.push((shown.clone(), pair));
            }
            (None, _) => found.leave_out(name, LeftOutReason::OnlyIn(baseline.to_owned())),
        }
    }
    for (shown, name) in &theirs {
        if !ours.iter().any(|(other, _)| other == shown) {
            found.leave_out(name, LeftOutReason::OnlyIn(candidate.to_owned()));
        }
    }
    Ok(found)
}

impl Families {
    fn leave_out(&mut self, benchmark: &str, reason: LeftOutReason) {
        if !self.left_out.iter().any(|left| left.benchmark == benchmark) {
            self.left_out.push(LeftOut {
                benchmark: benchmark.to_owned(),
                reason,
            });
        }
    }
}

/// Compiles the regular expression of a filter.
///
/// # Errors
///
/// Returns a usage error if the filter is not a regular expression.
pub fn pattern(filter: &str) -> Result<Regex, Failure> {
    Regex::new(filter).map_err(|problem| {
        Failure::Usage(format!(
            "filter '{filter}' is not a regular expression: {problem}\nhelp: a backslash makes a \
             character plain: \\[ \\( \\* \\+ \\?"
        ))
    })
}

/// Returns the names that match a filter. Each entry is the name with all matches replaced by
/// `place`, then the original name.
fn selected(names: &[String], filter: &str, place: &str) -> Result<Vec<(String, String)>, Failure> {
    let pattern = pattern(filter)?;
    let fitting = names.iter().filter(|name| pattern.is_match(name));
    let shown = |name: &String| pattern.replace_all(name, NoExpand(place)).into_owned();
    Ok(fitting.map(|name| (shown(name), name.clone())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(names: &[&str], baseline: &str, candidate: &str) -> Families {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        families(&names, baseline, candidate).unwrap()
    }

    fn shown(families: &Families) -> Vec<String> {
        let pairs = families.pairs.iter();
        pairs
            .map(|(shown, [a, b])| format!("{shown}: {a} {b}"))
            .collect()
    }

    #[test]
    fn names_that_are_alike_but_for_the_filters_race_each_other() {
        let names = [
            "copy/8", "move/16", "copy/16", "copy/32", "move/64", "other",
        ];
        let found = found(&names, "copy", "move");
        assert_eq!(shown(&found), ["[copy vs. move]/16: copy/16 move/16"]);
        let left: Vec<(&str, &LeftOutReason)> = found
            .left_out
            .iter()
            .map(|left| (left.benchmark.as_str(), &left.reason))
            .collect();
        let only = |filter: &str| LeftOutReason::OnlyIn(filter.to_owned());
        assert_eq!(
            left,
            [
                ("copy/8", &only("copy")),
                ("copy/32", &only("copy")),
                ("move/64", &only("move"))
            ]
        );
    }

    #[test]
    fn a_filter_that_fits_the_other_family_too_leaves_nobody_out() {
        let found = found(&["copy/8", "copy_fast/8"], "copy", "copy_fast");
        assert_eq!(
            shown(&found),
            ["[copy vs. copy_fast]/8: copy/8 copy_fast/8"]
        );
        assert_eq!(found.left_out, []);
    }

    #[test]
    fn a_family_can_race_itself() {
        let found = found(&["a/1", "a/2"], "^a", "^a");
        assert_eq!(found.pairs.len(), 2);
        assert_eq!(found.pairs[0].1, ["a/1", "a/1"]);
    }

    #[test]
    fn dollars_in_a_filter_are_shown_and_not_filled_in() {
        let found = found(&["x/1", "y/1"], "^(x)", "^(y)$|^(y)/1$");
        assert_eq!(found.pairs.len(), 0);
        assert_eq!(found.left_out.len(), 2);
        let found = self::found(&["run/x", "run/y"], "x$", "y$");
        assert_eq!(found.pairs[0].0, "run/[x$ vs. y$]");
    }

    #[test]
    fn names_that_a_filter_makes_the_same_are_left_out_with_the_reason() {
        let found = found(&["a1/8", "a2/8", "b/8"], "a.", "b");
        assert_eq!(found.pairs, []);
        let reasons: Vec<String> = found
            .left_out
            .iter()
            .map(|left| format!("{:?}", left.reason))
            .collect();
        assert_eq!(reasons.len(), 2);
        assert!(
            reasons[0].contains("'a.' gives 2 benchmarks"),
            "{reasons:?}"
        );
    }

    #[test]
    fn a_filter_that_is_no_pattern_is_named() {
        let problem = families(&[], "(", "b").unwrap_err().to_string();
        assert!(problem.starts_with("filter '('"), "{problem}");
    }
}
