//! Selects a family of benchmarks of a file by a regular expression.

use deadheat::parts::exit::Failure;
use deadheat::parts::families::pattern;
use regex_lite::NoExpand;

use crate::identity::Identity;
use crate::results::Results;

/// Keeps the benchmarks whose names match `filter`. If `shown` is given, it replaces the match in
/// each name, so that the benchmarks of two families get equal names.
pub fn family(results: &mut Results, filter: &str, shown: Option<&str>) -> Result<(), Failure> {
    let pattern = pattern(filter)?;
    let all = std::mem::take(&mut results.benchmarks);
    let mut kept = Results::new(&results.source, &results.tool);
    kept.facts = std::mem::take(&mut results.facts);
    for mut benchmark in all {
        if !pattern.is_match(&benchmark.name) {
            continue;
        }
        if let Some(shown) = shown {
            let name = pattern.replace_all(&benchmark.name, NoExpand(shown));
            benchmark.name = name.into_owned();
            // A user who pairs two families wants them compared, however they differ.
            benchmark.identity = Identity::default();
        }
        kept.push(benchmark);
    }
    *results = kept;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::ResultBenchmark;

    #[test]
    fn families_meet_under_one_name_and_the_rest_is_dropped() {
        let mut results = Results::new("a.json", "x");
        for name in ["copy/8", "move/8", "copy/16", "other"] {
            results.push(ResultBenchmark {
                name: name.to_owned(),
                ..ResultBenchmark::default()
            });
        }
        let names = |results: &Results| -> Vec<String> {
            results.benchmarks.iter().map(|b| b.name.clone()).collect()
        };
        let mut family_of = results.clone();
        family(&mut family_of, "^copy", Some("[$1]")).unwrap();
        assert_eq!(names(&family_of), ["[$1]/8", "[$1]/16"]);
        family(&mut results, "8$", None).unwrap();
        assert_eq!(names(&results), ["copy/8", "move/8"]);
        let error = family(&mut results, "(", None).unwrap_err();
        assert!(error.to_string().starts_with("filter '(' is not a regular"));
    }
}
