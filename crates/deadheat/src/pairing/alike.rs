//! Whether two benchmarks of one name do the same work.

use deadheat_engine::ListedBenchmark;

/// Why the two cannot race although they share a name; `sides` are how the
/// builds are called. `None` when they can.
pub(super) fn unlike(
    old: &ListedBenchmark,
    new: &ListedBenchmark,
    sides: &[String; 2],
) -> Option<String> {
    let [baseline, candidate] = sides;
    if old.threads != new.threads {
        let threads = |count: u32| match count {
            1 => "1 thread".to_owned(),
            count => format!("{count} threads"),
        };
        return Some(format!(
            "'{baseline}' calls it on {}, '{candidate}' on {}",
            threads(old.threads),
            threads(new.threads)
        ));
    }
    if old.parameters != new.parameters {
        return Some(format!(
            "in '{baseline}' it has {}, in '{candidate}' {}",
            parameters(old),
            parameters(new)
        ));
    }
    None
}

fn parameters(benchmark: &ListedBenchmark) -> String {
    let pair = |(key, value): &(String, String)| format!("{key}={value}");
    let pairs: Vec<String> = benchmark.parameters.iter().map(pair).collect();
    match pairs.is_empty() {
        true => "no parameters".to_owned(),
        false => pairs.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(threads: u32, parameters: &[(&str, &str)]) -> ListedBenchmark {
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        ListedBenchmark {
            name: "sum".to_owned(),
            contenders: vec!["sum".to_owned()],
            parameters: parameters.iter().map(owned).collect(),
            throughput: None,
            threads,
            ignored: false,
        }
    }

    #[test]
    fn other_threads_and_other_parameters_are_other_work_and_nothing_else_is() {
        let sides = ["old", "new"].map(str::to_owned);
        let why = |a: &ListedBenchmark, b: &ListedBenchmark| unlike(a, b, &sides);
        let plain = listed(1, &[]);
        let long = listed(1, &[("length", "100")]);
        let other_contender = ListedBenchmark {
            contenders: vec!["fast".to_owned()],
            ignored: true,
            ..plain.clone()
        };
        assert_eq!(why(&plain, &other_contender), None);
        assert_eq!(
            why(&plain, &listed(4, &[])).unwrap(),
            "'old' calls it on 1 thread, 'new' on 4 threads"
        );
        assert_eq!(
            why(&long, &plain).unwrap(),
            "in 'old' it has length=100, in 'new' no parameters"
        );
    }
}
