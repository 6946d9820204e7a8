//! One file of saved results by itself.

use deadheat_model::{ResultBenchmark, Results, Run};

use super::join::join;
use super::side::Side;
use super::terms::{SavedError, Terms};

/// What a single file says. The commands of one race of hyperfine are compared
/// with the first of them; every other benchmark stands alone.
pub fn alone(results: Results, terms: &Terms) -> Result<Run, SavedError> {
    let commands = results.tool.starts_with("hyperfine") && results.benchmarks.len() > 1;
    if !commands {
        let name = results.source.clone();
        let side = Side {
            name,
            files: vec![results],
        };
        return join(&[side], terms);
    }
    let side = |benchmark: &ResultBenchmark| {
        let mut file = Results::new(&results.source, &results.tool);
        file.facts = results.facts.clone();
        file.push(ResultBenchmark {
            name: "commands".to_owned(),
            parameters: Vec::new(),
            ..benchmark.clone()
        });
        Side {
            name: benchmark.name.clone(),
            files: vec![file],
        }
    };
    let sides: Vec<Side> = results.benchmarks.iter().map(side).collect();
    join(&sides, terms)
}
