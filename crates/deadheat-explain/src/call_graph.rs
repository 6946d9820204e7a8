//! Two profiles side by side: functions paired by name, and call trees.

use std::collections::{BTreeMap, BTreeSet};

use crate::explanation::{FunctionChange, StackChange};
use crate::profile::{Place, Profile, without_depth};

/// A branch with less than this share of its side's total is left out of a call tree, because it is
/// too thin to be drawn.
const THINNEST: f64 = 1.0 / 4_000.0;
const DEEPEST: usize = 200;

/// Pairs the functions of both sides by name. Sorts them by the absolute difference of their own
/// counts, the largest first, and then by name.
pub fn paired_functions(sides: [&Profile; 2]) -> Vec<FunctionChange> {
    let mut found: BTreeMap<&str, FunctionChange> = BTreeMap::new();
    for (side, profile) in sides.into_iter().enumerate() {
        let graph = Graph::of(profile);
        for (Place { function, inlined }, cost) in &profile.own {
            let function = without_depth(function);
            let change = found.entry(function).or_insert_with(|| FunctionChange {
                function: function.to_owned(),
                own: [0; 2],
                inclusive: [0; 2],
                inlined: Vec::new(),
            });
            change.own[side] = change.own[side].saturating_add(*cost);
            if let Some(file) = inlined {
                let known = change.inlined.iter().position(|(one, _)| one == file);
                let place = known.unwrap_or_else(|| {
                    change.inlined.push((file.clone(), [0; 2]));
                    change.inlined.len() - 1
                });
                let counts = &mut change.inlined[place].1;
                counts[side] = counts[side].saturating_add(*cost);
            }
        }
        for function in graph.functions() {
            // The outermost call of a recursion includes the inner ones.
            if let Some(change) = found.get_mut(without_depth(function)) {
                let inclusive = graph.inclusive(function).min(profile.total);
                change.inclusive[side] = change.inclusive[side].max(inclusive);
            }
        }
    }
    let mut functions: Vec<FunctionChange> = found.into_values().collect();
    for function in &mut functions {
        function.inlined.sort_by(|(one, a), (other, b)| {
            (b[0].abs_diff(b[1]).cmp(&a[0].abs_diff(a[1]))).then_with(|| one.cmp(other))
        });
    }
    functions.sort_by(|one, other| {
        let [a, b] = [one, other].map(|one| one.difference().unsigned_abs());
        b.cmp(&a).then_with(|| one.function.cmp(&other.function))
    });
    functions
}

/// Returns the call trees of both sides, without the outermost calls that all paths share.
///
/// A profile has the caller and callee of each call but not whole paths. The cost of a function
/// with several callers is divided among them in proportion to the cost of their calls. The counts
/// of a side add up to its total, except for rounding.
pub fn paired_stacks(sides: [&Profile; 2]) -> Vec<StackChange> {
    let mut found: BTreeMap<Vec<&str>, [f64; 2]> = BTreeMap::new();
    for (side, profile) in sides.into_iter().enumerate() {
        let graph = Graph::of(profile);
        let mut path = Vec::new();
        let roots = graph.roots();
        // If functions call each other in a cycle, the roots add up to more than the total.
        let total = profile.total as f64;
        let scale = total / roots.iter().map(|(_, weight)| weight).sum::<f64>();
        for (root, weight) in roots {
            let (weight, thinnest) = (weight * scale, total * THINNEST);
            graph.follow(root, weight, thinnest, &mut path, &mut |path, own| {
                let path = path.iter().map(|frame| without_depth(frame)).collect();
                found.entry(path).or_default()[side] += own;
            });
        }
    }
    let paths: Vec<&Vec<&str>> = found.keys().collect();
    let common = common_beginning(&paths);
    let stacks = found.into_iter().map(|(path, counts)| StackChange {
        frames: path[common..]
            .iter()
            .map(|frame| (*frame).to_owned())
            .collect(),
        counts: counts.map(|count| count.round() as u64),
    });
    stacks.filter(|stack| stack.counts != [0; 2]).collect()
}

/// Returns the number of outermost frames that all paths share. The last frame of a path does not
/// count.
fn common_beginning(paths: &[&Vec<&str>]) -> usize {
    let Some((first, others)) = paths.split_first() else {
        return 0;
    };
    let shared = |path: &&Vec<&str>| {
        let alike = path.iter().zip(*first).take_while(|(a, b)| a == b);
        alike.count().min(path.len() - 1)
    };
    let least = others.iter().map(shared).min();
    least.unwrap_or(first.len() - 1).min(first.len() - 1)
}

/// The calls of a profile by function, without direct calls of a function to itself.
struct Graph<'a> {
    own: BTreeMap<&'a str, u64>,
    /// The files of inlined code, each with its part of the function's own cost.
    inlined: BTreeMap<&'a str, Vec<(&'a str, u64)>>,
    callees: BTreeMap<&'a str, Vec<(&'a str, u64)>>,
    called: BTreeMap<&'a str, u64>,
}

impl<'a> Graph<'a> {
    fn of(profile: &'a Profile) -> Self {
        let mut graph = Self {
            own: BTreeMap::new(),
            inlined: BTreeMap::new(),
            callees: BTreeMap::new(),
            called: BTreeMap::new(),
        };
        for (place, cost) in &profile.own {
            let own = graph.own.entry(&*place.function).or_default();
            *own = own.saturating_add(*cost);
            if let Some(file) = &place.inlined {
                let inlined = graph.inlined.entry(&*place.function).or_default();
                inlined.push((file, *cost));
            }
        }
        let calls = profile.calls.iter();
        for ((caller, callee), cost) in calls.filter(|((one, other), _)| one != other) {
            graph
                .callees
                .entry(caller)
                .or_default()
                .push((callee, *cost));
            let called = graph.called.entry(callee).or_default();
            *called = called.saturating_add(*cost);
        }
        graph
    }

    fn callees(&self, function: &str) -> &[(&'a str, u64)] {
        self.callees.get(function).map_or(&[], Vec::as_slice)
    }

    fn own(&self, function: &str) -> u64 {
        self.own.get(function).copied().unwrap_or_default()
    }

    fn functions(&self) -> BTreeSet<&'a str> {
        self.own
            .keys()
            .chain(self.callees.keys())
            .copied()
            .collect()
    }

    fn inclusive(&self, function: &str) -> u64 {
        let callees = self.callees(function).iter();
        callees.fold(self.own(function), |sum, (_, cost)| {
            sum.saturating_add(*cost)
        })
    }

    /// Returns the functions at which paths begin: those whose inclusive cost exceeds the cost of
    /// all recorded calls to them, each with the excess. If all functions are part of a cycle, so
    /// that none qualifies, returns every function that has a cost of its own, with this cost.
    fn roots(&self) -> Vec<(&'a str, f64)> {
        let beyond = |function: &&'a str| {
            let called = self.called.get(function).copied().unwrap_or_default();
            let rest = self.inclusive(function).saturating_sub(called);
            (rest > 0).then_some((*function, rest as f64))
        };
        let roots: Vec<(&'a str, f64)> = self.functions().iter().filter_map(beyond).collect();
        if !roots.is_empty() {
            return roots;
        }
        let all = self.own.iter().filter(|(_, cost)| **cost > 0);
        all.map(|(function, cost)| (*function, *cost as f64))
            .collect()
    }

    /// Passes each path below `function` to `found`, with the own cost of the last frame, which is
    /// a function or a file of inlined code. `weight` is the cost of the calls to `function` on
    /// this path. Calls to functions that are already on the path are left out, and their cost is
    /// divided among the other calls.
    fn follow(
        &self,
        function: &'a str,
        weight: f64,
        thinnest: f64,
        path: &mut Vec<&'a str>,
        found: &mut dyn FnMut(&[&'a str], f64),
    ) {
        path.push(function);
        let callees: Vec<(&'a str, f64)> = self
            .callees(function)
            .iter()
            .filter(|(callee, _)| !path.contains(callee))
            .map(|(callee, cost)| (*callee, *cost as f64))
            .collect();
        let own = self.own(function) as f64;
        let all = own + callees.iter().map(|(_, cost)| cost).sum::<f64>();
        let scale = if all > 0.0 { weight / all } else { 0.0 };
        let mut rest = weight;
        if path.len() < DEEPEST {
            for (callee, cost) in callees {
                let cost = cost * scale;
                if cost >= thinnest {
                    rest -= cost;
                    self.follow(callee, cost, thinnest, path, found);
                }
            }
        }
        for (file, cost) in self.inlined.get(function).into_iter().flatten() {
            let cost = *cost as f64 * scale;
            if cost >= thinnest {
                rest -= cost;
                path.push(file);
                found(path, cost);
                path.pop();
            }
        }
        if rest > 0.0 {
            found(path, rest);
        }
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn profile(own: &[(&str, u64)], calls: &[(&str, &str, u64)]) -> Profile {
        let place = |function: &str| Place {
            function: function.to_owned(),
            inlined: None,
        };
        Profile {
            total: own.iter().map(|(_, cost)| cost).sum(),
            own: own
                .iter()
                .map(|(name, cost)| (place(name), *cost))
                .collect(),
            calls: calls
                .iter()
                .map(|(caller, callee, cost)| (((*caller).to_owned(), (*callee).to_owned()), *cost))
                .collect(),
        }
    }

    fn old() -> Profile {
        profile(
            &[("main", 10), ("parse", 30), ("hash", 60)],
            &[
                ("main", "parse", 50),
                ("main", "hash", 40),
                ("parse", "hash", 20),
            ],
        )
    }

    fn paths(sides: [&Profile; 2]) -> Vec<(String, [u64; 2])> {
        let stacks = paired_stacks(sides).into_iter();
        stacks
            .map(|stack| (stack.frames.join(";"), stack.counts))
            .collect()
    }

    #[test]
    fn functions_pair_by_name_and_the_greatest_difference_is_the_first() {
        let new = profile(
            &[("main", 10), ("parse", 30), ("hash", 20), ("mix", 45)],
            &[
                ("main", "parse", 70),
                ("main", "hash", 25),
                ("parse", "hash", 40),
                ("hash", "mix", 45),
            ],
        );
        let functions = paired_functions([&old(), &new]);
        let shown: Vec<(&str, [u64; 2], [u64; 2])> = functions
            .iter()
            .map(|one| (&*one.function, one.own, one.inclusive))
            .collect();
        assert_eq!(
            shown,
            [
                ("mix", [0, 45], [0, 45]),
                ("hash", [60, 20], [60, 65]),
                ("main", [10, 10], [100, 105]),
                ("parse", [30, 30], [50, 70]),
            ]
        );
        assert_eq!(functions[1].difference(), -40);
    }

    #[test]
    fn the_cost_of_a_function_is_divided_among_its_callers_as_their_calls_cost() {
        let expected = [
            ("main", [10, 10]),
            ("main;hash", [40, 40]),
            ("main;parse", [30, 30]),
            ("main;parse;hash", [20, 20]),
        ];
        let expected = expected.map(|(path, counts)| (path.to_owned(), counts));
        assert_eq!(paths([&old(), &old()]), expected);
    }

    #[test]
    fn functions_without_a_name_pair_wherever_they_lie_and_are_no_ring() {
        let stripped = |main: &str, cost| {
            let start = "[program]'1024";
            profile(
                &[(start, 5), ("libc", 1), (main, cost)],
                &[(start, "libc", 1 + cost), ("libc", main, cost)],
            )
        };
        let sides = [
            &stripped("[program]'2048", 90),
            &stripped("[program]'3072", 95),
        ];
        let expected = [
            ("[program]", [5, 5]),
            ("[program];libc", [1, 1]),
            ("[program];libc;[program]", [90, 95]),
        ];
        let expected = expected.map(|(path, counts)| (path.to_owned(), counts));
        assert_eq!(paths(sides), expected);
        let functions = paired_functions(sides);
        assert_eq!(
            (functions[0].own, functions[0].inclusive),
            ([95, 100], [96, 101])
        );
    }

    #[test]
    fn inlined_code_lies_in_the_tree_below_its_function() {
        let mut with_inlined = old();
        let place = Place {
            function: "hash".to_owned(),
            inlined: Some("core/num.rs".to_owned()),
        };
        with_inlined.own.insert(place, 60);
        with_inlined.total += 60;
        for cost in with_inlined.calls.values_mut().filter(|cost| **cost < 50) {
            *cost *= 2;
        }
        if let Some(cost) = with_inlined.calls.values_mut().find(|cost| **cost == 50) {
            *cost = 70;
        }
        let paths = paths([&old(), &with_inlined]);
        assert!(
            paths.contains(&("main;hash;core/num.rs".to_owned(), [0, 40])),
            "{paths:?}"
        );
        assert!(
            paths.contains(&("main;hash".to_owned(), [40, 40])),
            "{paths:?}"
        );
        let functions = paired_functions([&old(), &with_inlined]);
        assert_eq!(functions[0].inlined, [("core/num.rs".to_owned(), [0, 60])]);
    }

    #[test]
    fn calls_that_all_paths_begin_with_are_left_out() {
        let deep = profile(
            &[("b", 3), ("c", 4)],
            &[("start", "a", 7), ("a", "b", 7), ("b", "c", 4)],
        );
        let expected = [("b", [3, 3]), ("b;c", [4, 4])];
        let expected = expected.map(|(path, counts)| (path.to_owned(), counts));
        assert_eq!(paths([&deep, &deep]), expected);
    }

    #[test]
    fn functions_that_call_each_other_come_to_an_end() {
        let round = profile(
            &[("main", 1), ("even", 20), ("odd", 10)],
            &[
                ("main", "even", 30),
                ("even", "odd", 25),
                ("odd", "even", 20),
            ],
        );
        let sum: u64 = paths([&round, &round])
            .iter()
            .map(|(_, counts)| counts[0])
            .sum();
        assert!(sum.abs_diff(31) <= 2, "{sum}");
        let inclusive = paired_functions([&round, &round]);
        assert!(inclusive.iter().all(|one| one.inclusive[0] <= 31));
    }

    proptest! {
        #[test]
        fn a_tree_adds_up_to_what_was_executed(
            own in proptest::collection::vec(1_u64..100_000, 6),
            below in proptest::collection::vec(0.0_f64..1.0, 6),
        ) {
            // A tree in which each function but the first is called by an earlier one.
            let names = ["f0", "f1", "f2", "f3", "f4", "f5"];
            let callers: Vec<usize> = (0..6).map(|at| (below[at] * at as f64) as usize).collect();
            let mut whole = own.clone();
            for at in (1..6).rev() {
                whole[callers[at]] += whole[at];
            }
            let calls: Vec<(&str, &str, u64)> =
                (1..6).map(|at| (names[callers[at]], names[at], whole[at])).collect();
            let own: Vec<(&str, u64)> = names.into_iter().zip(own).collect();
            let profile = profile(&own, &calls);
            let sum: u64 = paths([&profile, &profile]).iter().map(|(_, counts)| counts[1]).sum();
            prop_assert!(sum.abs_diff(profile.total) <= 6);
            for function in paired_functions([&profile, &profile]) {
                prop_assert_eq!(function.difference(), 0);
            }
        }
    }
}
