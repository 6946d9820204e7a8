//! Beside every benchmark raced on neutral links, the same as the user linked
//! it.

use deadheat_model::{Benchmark, OwnLink, Plan};

/// Adds to the plan what stands beside the benchmarks that `possible` names:
/// the same contenders, a control included, calls and blocks, so many replicates of them. They come
/// last, so that no place changes.
pub(super) fn add(plan: &mut Plan, replicates: u32, possible: impl Fn(usize) -> bool) {
    let replicates = replicates.min(plan.design.looks.max_replicates());
    let beside: Vec<Benchmark> = plan
        .benchmarks
        .iter()
        .enumerate()
        // With one contender there is nothing to compare.
        .filter(|(of, benchmark)| benchmark.rivals() > 1 && possible(*of))
        .map(|(of, benchmark)| Benchmark {
            own_link: Some(OwnLink { of, replicates }),
            ..benchmark.clone()
        })
        .collect();
    plan.benchmarks.extend(beside);
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_analysis::planned_looks;
    use deadheat_model::{Contender, Design, Pinning, Workload};

    fn plan(max_replicates: u32) -> Plan {
        let contender = |name: &str| Contender {
            name: name.to_owned(),
            workload: Workload::Recording,
        };
        let benchmark = |name: &str, contenders: &[&str]| Benchmark {
            name: name.to_owned(),
            contenders: contenders.iter().copied().map(contender).collect(),
            blocks_per_replicate: Some(9),
            ..Benchmark::default()
        };
        Plan {
            design: Design {
                looks: planned_looks(0, max_replicates, 0.05).unwrap(),
                blocks_per_replicate: 25,
                pinning: Pinning::Auto,
                ..Design::default()
            },
            seed: 1,
            benchmarks: vec![
                benchmark("alone", &["a"]),
                benchmark("failed", &["a", "b"]),
                benchmark("raced", &["a", "b"]),
            ],
        }
    }

    #[test]
    fn the_same_benchmark_stands_at_the_end_once_more() {
        let mut plan = plan(40);
        add(&mut plan, 6, |of| of != 1);
        assert_eq!(plan.benchmarks.len(), 4);
        let replicates = 6;
        let beside = Benchmark {
            own_link: Some(OwnLink { of: 2, replicates }),
            ..plan.benchmarks[2].clone()
        };
        assert_eq!(plan.benchmarks[3], beside);
    }

    #[test]
    fn it_takes_no_more_replicates_than_the_benchmark_may() {
        let mut plan = plan(4);
        add(&mut plan, 11, |_| true);
        let beside: Vec<u32> = plan
            .benchmarks
            .iter()
            .filter_map(|benchmark| Some(benchmark.own_link?.replicates))
            .collect();
        assert_eq!(beside, [4, 4]);
    }
}
