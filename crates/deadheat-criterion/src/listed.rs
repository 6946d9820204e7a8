//! Benchmarks by their names.

use std::collections::BTreeSet;

use deadheat::parts::engine::ListedBenchmark;
use deadheat::parts::model::Throughput;

/// A benchmark that was come to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Listed {
    /// Its whole name: group, function and parameter, as far as it has them.
    pub(crate) name: String,
    pub(crate) group: String,
    pub(crate) function: Option<String>,
    pub(crate) parameter: Option<String>,
    pub(crate) throughput: Option<Throughput>,
}

impl From<Listed> for ListedBenchmark {
    fn from(listed: Listed) -> Self {
        ListedBenchmark {
            contenders: vec![listed.name.clone()],
            name: listed.name,
            parameters: Vec::new(),
            throughput: listed.throughput,
            threads: 1,
            ignored: false,
        }
    }
}

/// A name that none of the others has, numbered as criterion does it.
pub(crate) fn unique(names: &BTreeSet<String>, name: String) -> String {
    if !names.contains(&name) {
        return name;
    }
    let numbered = |number: u32| format!("{name} #{number}");
    let mut names = (2..).map(numbered).filter(|name| !names.contains(name));
    names.next().expect("numbers do not end")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_come_again_are_numbered() {
        let mut names = BTreeSet::new();
        let mut given = Vec::new();
        for name in ["a", "b", "a", "a", "a #2"] {
            let name = unique(&names, name.to_owned());
            names.insert(name.clone());
            given.push(name);
        }
        assert_eq!(given, ["a", "b", "a #2", "a #3", "a #2 #2"]);
    }
}
