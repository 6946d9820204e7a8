//! Two profiles side by side: functions paired by name, trees of calls, and what the difference means
//! beside that of time.

use std::collections::{BTreeMap, BTreeSet};

use deadheat_model::{
    Finding, FunctionChange, Place, Profile, ProfileUnit, StackChange, Verdict, WallChange,
    without_depth,
};

/// A change of time is one of work where that changed by this part of it or more, on the scale of
/// logarithms; and is none where it changed by less than the second.
const WORK: f64 = 0.5;
const NOT_WORK: f64 = 0.25;

/// A change of work, on the same scale, that could not be seen in any time: the name of a program
/// takes some instructions.
const HARDLY: f64 = 0.000_1;

/// A branch of a tree of calls with less than this part of its side is not followed: nobody could see
/// it in a drawing.
const THINNEST: f64 = 1.0 / 4_000.0;
/// Calls below each other at most.
const DEEPEST: usize = 200;

/// The functions of both sides: the greatest difference of their own instructions first, then
/// by name.
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
            // What a recursion executes is a part of what its first call does.
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

/// Both sides as trees of calls, without the calls that all of them have in common at the root.
///
/// callgrind keeps who calls whom and not whole paths: where a function has several callers, its cost
/// is divided among them as their calls cost. The counts of a side add up to its total, but for what rounding takes.
pub fn paired_stacks(sides: [&Profile; 2]) -> Vec<StackChange> {
    let mut found: BTreeMap<Vec<&str>, [f64; 2]> = BTreeMap::new();
    for (side, profile) in sides.into_iter().enumerate() {
        let graph = Graph::of(profile);
        let mut path = Vec::new();
        let roots = graph.roots();
        // Where functions call each other in a ring, more than what was executed comes together.
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

/// The number of frames with which all paths begin; the last frame of a path is never one of them.
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

/// The meaning of what both sides executed beside a change of time.
pub fn finding(totals: [u64; 2], unit: ProfileUnit, wall: Option<&WallChange>) -> Finding {
    let differ = unit.differ(totals);
    let Some(wall) = wall else {
        return if differ {
            Finding::OtherWork
        } else {
            Finding::SameWork
        };
    };
    let work = match totals {
        _ if !differ => 0.0,
        [0, 0] => 0.0,
        [0, _] => f64::INFINITY,
        [_, 0] => f64::NEG_INFINITY,
        [old, new] => (new as f64 / old as f64).ln(),
    };
    if !matches!(wall.verdict, Verdict::Faster | Verdict::Slower) {
        return if work.abs() < HARDLY {
            Finding::Nothing
        } else {
            Finding::NotSeenInTime
        };
    }
    // Of the time that changed, the part by which the work did.
    let time = wall.change.ln_1p();
    if unit.is_sampled() && !differ {
        // As much of a change as three standard deviations of these counts, on the same scale.
        let [old, new] = totals.map(|total| 1.0 / total as f64);
        if 3.0 * (old + new).sqrt() >= NOT_WORK * time.abs() {
            return Finding::Unclear;
        }
    }
    match work / time {
        share if share >= WORK => Finding::Work,
        share if share >= NOT_WORK => Finding::PartlyWork,
        share if share > -NOT_WORK => Finding::NotWork,
        _ => Finding::AgainstWork,
    }
}

/// The calls of a profile, function by function; those of a function by itself are no calls.
struct Graph<'a> {
    own: BTreeMap<&'a str, u64>,
    /// The files that code was inlined from, and its part of what the function executes itself.
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

    /// Its own instructions and those of all it calls.
    fn inclusive(&self, function: &str) -> u64 {
        let callees = self.callees(function).iter();
        callees.fold(self.own(function), |sum, (_, cost)| {
            sum.saturating_add(*cost)
        })
    }

    /// Functions that cost more than their callers account for, and how much more; all of them for
    /// themselves where there is none such, as in a ring.
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

    /// Hands on the paths below a function whose calls have cost so much, with what the last function
    /// of each executed by itself, and the files of inlined code in place of functions. Calls back into
    /// the path are left out, and their share falls to the others.
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

    #[test]
    fn the_meaning_depends_on_how_much_of_the_time_the_work_accounts_for() {
        let wall = |change, verdict| WallChange {
            change,
            interval: None,
            verdict,
        };
        let slower = wall(0.041, Verdict::Slower);
        for (totals, wall, expected) in [
            ([100, 100], None, Finding::SameWork),
            ([100, 101], None, Finding::OtherWork),
            ([10_000, 10_002], Some(slower), Finding::NotWork),
            ([10_000, 10_400], Some(slower), Finding::Work),
            ([10_000, 20_000], Some(slower), Finding::Work),
            ([10_000, 10_150], Some(slower), Finding::PartlyWork),
            ([10_000, 9_000], Some(slower), Finding::AgainstWork),
            ([0, 5], Some(slower), Finding::Work),
            ([5, 0], Some(slower), Finding::AgainstWork),
            ([0, 0], Some(slower), Finding::NotWork),
            ([100, 90], Some(wall(-0.1, Verdict::Faster)), Finding::Work),
            (
                [100, 120],
                Some(wall(-0.1, Verdict::Faster)),
                Finding::AgainstWork,
            ),
            (
                [100, 120],
                Some(wall(0.0, Verdict::Equivalent)),
                Finding::NotSeenInTime,
            ),
            (
                [1_000_000, 1_000_014],
                Some(wall(0.0, Verdict::Inconclusive)),
                Finding::Nothing,
            ),
        ] {
            assert_eq!(
                finding(totals, ProfileUnit::Instructions, wall.as_ref()),
                expected,
                "{totals:?} {wall:?}"
            );
        }
    }

    #[test]
    fn samples_tell_a_cause_only_where_they_are_enough_for_it() {
        let wall = |change, verdict| WallChange {
            change,
            interval: None,
            verdict,
        };
        let slower = wall(0.2, Verdict::Slower);
        for (totals, wall, expected) in [
            ([1000, 1100], None, Finding::SameWork),
            ([1000, 1200], None, Finding::OtherWork),
            ([1000, 1100], Some(slower), Finding::Unclear),
            ([0, 0], Some(slower), Finding::Unclear),
            ([100_000, 100_100], Some(slower), Finding::NotWork),
            ([1000, 1200], Some(slower), Finding::Work),
            ([1000, 800], Some(slower), Finding::AgainstWork),
            (
                [1000, 1100],
                Some(wall(0.0, Verdict::Equivalent)),
                Finding::Nothing,
            ),
        ] {
            let found = finding(totals, ProfileUnit::InstructionSamples, wall.as_ref());
            assert_eq!(found, expected, "{totals:?} {wall:?}");
        }
    }

    proptest! {
        #[test]
        fn a_tree_adds_up_to_what_was_executed(
            own in proptest::collection::vec(1_u64..100_000, 6),
            below in proptest::collection::vec(0.0_f64..1.0, 6),
        ) {
            // A tree in which each function but the first is called by one before it.
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
