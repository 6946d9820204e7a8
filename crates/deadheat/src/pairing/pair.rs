//! Pairs the benchmarks of two builds of worker programs.

use std::collections::{HashMap, HashSet};

use deadheat_engine::{ListedBenchmark, Source, WorkerListing};
use deadheat_model::{
    Benchmark, BenchmarkOverrides, Contender, FunctionCalls, LeftOut, LeftOutReason, Program,
    WorkerCalls, Workload,
};

use super::names::Shown;
use super::{Listed, Pairing, Target, named, unlike};

/// A worker program in the old and the new build, each with the benchmarks that it lists.
pub type Worker = Target<Listed<WorkerListing>>;
use crate::settings::Selection;

/// Pairs the benchmarks of two builds. `sides` are the names of the builds, the old one first.
///
/// Benchmarks are paired by name. If both benchmarks have a single contender, the two contenders
/// race, whatever their names. Otherwise each contender races the contender with the same name, as
/// the benchmark `NAME (CONTENDER)`. A benchmark that only one build has, or whose threads or
/// parameters differ, is left out with a reason. Every replicate of a pair has two processes:
/// number 0 of the old build and number 1 of the new build.
pub fn pair(targets: &[Worker], sides: &[String; 2], selection: &Selection) -> Pairing {
    let mut pairing = Pairing::default();
    for (target, prefix) in named(targets, holds_any) {
        let before = pairing.benchmarks.len();
        let mut of_target = OfTarget {
            target,
            sides,
            selection,
            pairing: &mut pairing,
        };
        of_target.pair(prefix);
        if pairing.benchmarks.len() > before {
            for (place, side) in target.sides.iter().flatten().enumerate() {
                pairing.meet(&side.listing, before + place == 0);
            }
        }
    }
    pairing
}

/// Returns the races within single programs: the contenders of each benchmark race each other, all
/// in one process per replicate.
pub fn race_alone(targets: &[Worker], selection: &Selection) -> Pairing {
    let mut pairing = Pairing::default();
    for (target, prefix) in named(targets, holds_any) {
        let Some(listed) = target.sides.iter().flatten().next() else {
            continue;
        };
        let before = pairing.benchmarks.len();
        for benchmark in &listed.listing.benchmarks {
            let shown = Shown::benchmark(prefix, &benchmark.name, &benchmark.parameters);
            if !shown.is_selected(selection, benchmark.ignored) {
                continue;
            }
            let contenders = benchmark.contenders.iter();
            let contenders = contenders
                .map(|name| contender(name, &listed.program, 0, benchmark, name))
                .collect();
            pairing.benchmarks.push(Benchmark {
                name: shown.whole,
                parameters: benchmark.parameters.clone(),
                contenders,
                throughput: benchmark.throughput,
                overrides: BenchmarkOverrides {
                    judged: benchmark.judged.clone(),
                    ..BenchmarkOverrides::default()
                },
                ..Benchmark::default()
            });
        }
        if pairing.benchmarks.len() > before {
            pairing.meet(&listed.listing, before == 0);
        }
    }
    pairing
}

/// Returns the benchmarks by name. If several have the same name, returns the first.
fn by_name(benchmarks: &[ListedBenchmark]) -> HashMap<&str, &ListedBenchmark> {
    let named = benchmarks.iter().rev().map(|one| (&*one.name, one));
    named.collect()
}

fn holds_any(listing: &WorkerListing) -> bool {
    !listing.benchmarks.is_empty()
}

struct OfTarget<'a> {
    target: &'a Worker,
    sides: &'a [String; 2],
    selection: &'a Selection,
    pairing: &'a mut Pairing,
}

impl OfTarget<'_> {
    fn pair(&mut self, prefix: Option<&str>) {
        let [old, new] = self.target.sides.each_ref().map(|side| {
            let listed = side.as_ref().map(|listed| &listed.listing.benchmarks);
            listed.map_or(&[][..], Vec::as_slice)
        });
        let [old_by_name, new_by_name] = [old, new].map(by_name);
        for benchmark in old {
            let shown = Shown::benchmark(prefix, &benchmark.name, &benchmark.parameters);
            match new_by_name.get(&*benchmark.name) {
                Some(new) => self.both(&shown, benchmark, new),
                None => self.only_in(0, &shown, benchmark.ignored),
            }
        }
        for benchmark in new {
            if !old_by_name.contains_key(&*benchmark.name) {
                let shown = Shown::benchmark(prefix, &benchmark.name, &benchmark.parameters);
                self.only_in(1, &shown, benchmark.ignored);
            }
        }
    }

    fn both(&mut self, shown: &Shown, old: &ListedBenchmark, new: &ListedBenchmark) {
        let ignored = old.ignored || new.ignored;
        if let Some(reason) = unlike(old, new, self.sides) {
            self.leave_out(shown, ignored, LeftOutReason::NotAlike(reason));
            return;
        }
        if let ([one], [other]) = (&old.contenders[..], &new.contenders[..]) {
            self.race(shown, (old, one), (new, other));
            return;
        }
        let [of_old, of_new] =
            [old, new].map(|side| side.contenders.iter().collect::<HashSet<_>>());
        for name in &old.contenders {
            let shown = shown.contender(name);
            if of_new.contains(name) {
                self.race(&shown, (old, name), (new, name))
            } else {
                self.only_in(0, &shown, ignored)
            }
        }
        for name in &new.contenders {
            if !of_old.contains(name) {
                self.only_in(1, &shown.contender(name), ignored);
            }
        }
    }

    fn race(
        &mut self,
        shown: &Shown,
        (old, baseline): (&ListedBenchmark, &str),
        (new, candidate): (&ListedBenchmark, &str),
    ) {
        let ignored = old.ignored || new.ignored;
        if !shown.is_selected(self.selection, ignored) {
            return;
        }
        let listed = self.target.sides.iter().flatten();
        let sides = listed
            .zip([(old, baseline), (new, candidate)])
            .zip(self.sides);
        let contenders = sides
            .enumerate()
            .map(|(process, ((listed, (benchmark, name)), side))| {
                contender(side, &listed.program, process, benchmark, name)
            });
        self.pairing.benchmarks.push(Benchmark {
            name: shown.whole.clone(),
            parameters: old.parameters.clone(),
            contenders: contenders.collect(),
            throughput: old.throughput.filter(|_| old.throughput == new.throughput),
            overrides: BenchmarkOverrides {
                judged: old.judged.clone().filter(|_| old.judged == new.judged),
                ..BenchmarkOverrides::default()
            },
            changed_files: changed_files(&old.sources, &new.sources),
            ..Benchmark::default()
        });
    }

    fn only_in(&mut self, side: usize, shown: &Shown, ignored: bool) {
        let side = self.sides[side].clone();
        self.leave_out(shown, ignored, LeftOutReason::OnlyIn(side));
    }

    fn leave_out(&mut self, shown: &Shown, ignored: bool, reason: LeftOutReason) {
        if shown.is_selected(self.selection, ignored) {
            self.pairing.left_out.push(LeftOut {
                benchmark: shown.whole.clone(),
                reason,
            });
        }
    }
}

/// Returns the source files that differ between two benchmarks, or that only one of them has.
/// Returns an empty list if a worker does not list the source files of its benchmark.
fn changed_files(old: &[Source], new: &[Source]) -> Vec<String> {
    if old.is_empty() || new.is_empty() {
        return Vec::new();
    }
    let [of_old, of_new] =
        [old, new].map(|all| all.iter().flat_map(by_file).collect::<HashSet<_>>());
    let is_among = |source: &Source, others: &HashSet<(&str, &str)>| {
        let mut digests = source.digests.iter();
        digests.any(|one| others.contains(&(&*source.file, &**one)))
    };
    let gone = old.iter().filter(|source| !is_among(source, &of_new));
    let added = new.iter().filter(|source| !is_among(source, &of_old));
    let mut files: Vec<String> = gone
        .chain(added)
        .map(|source| source.file.clone())
        .collect();
    files.sort();
    files.dedup();
    files
}

fn by_file(source: &Source) -> impl Iterator<Item = (&str, &str)> {
    let digests = source.digests.iter();
    digests.map(|digest| (&*source.file, &**digest))
}

/// Returns a contender with the displayed name `shown`; `name` is its name in its program.
fn contender(
    shown: &str,
    program: &Program,
    process: usize,
    benchmark: &ListedBenchmark,
    name: &str,
) -> Contender {
    Contender {
        name: shown.to_owned(),
        workload: Workload::Worker(Box::new(WorkerCalls {
            program: program.clone(),
            process,
            benchmark: benchmark.name.clone(),
            contender: name.to_owned(),
            calls: FunctionCalls {
                iterations: 1,
                threads: benchmark.threads,
            },
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Ignored;
    use deadheat_model::{Metric, Throughput};
    use proptest::prelude::*;

    fn bench(name: &str, contenders: &[&str]) -> ListedBenchmark {
        ListedBenchmark {
            name: name.to_owned(),
            contenders: contenders.iter().map(|name| (*name).to_owned()).collect(),
            parameters: Vec::new(),
            throughput: None,
            judged: None,
            threads: 1,
            ignored: false,
            sources: Vec::new(),
        }
    }

    fn listed(
        program: &str,
        metrics: &[Metric],
        benchmarks: Vec<ListedBenchmark>,
    ) -> Listed<WorkerListing> {
        Listed {
            program: Program {
                executable: program.into(),
                ..Program::default()
            },
            listing: WorkerListing {
                worker: "test".to_owned(),
                metrics: metrics.to_vec(),
                benchmarks,
            },
        }
    }

    fn target(old: Vec<ListedBenchmark>, new: Vec<ListedBenchmark>) -> Worker {
        let wall = [Metric::Wall];
        Target {
            name: None,
            sides: [
                Some(listed("./old", &wall, old)),
                Some(listed("./new", &wall, new)),
            ],
        }
    }

    fn sides() -> [String; 2] {
        ["old", "new"].map(str::to_owned)
    }

    fn paired(targets: &[Worker]) -> Pairing {
        pair(targets, &sides(), &Selection::default())
    }

    fn rows(pairing: &Pairing) -> Vec<String> {
        let side = |contender: &Contender| match &contender.workload {
            Workload::Worker(calls) => format!(
                "{}={}:{}:{}",
                contender.name, calls.process, calls.benchmark, calls.contender
            ),
            other => panic!("{other:?}"),
        };
        let row = |benchmark: &Benchmark| {
            let sides: Vec<String> = benchmark.contenders.iter().map(side).collect();
            format!("{} {}", benchmark.name, sides.join(" "))
        };
        pairing.benchmarks.iter().map(row).collect()
    }

    fn only(benchmark: &str, side: &str) -> LeftOut {
        LeftOut {
            benchmark: benchmark.to_owned(),
            reason: LeftOutReason::OnlyIn(side.to_owned()),
        }
    }

    #[test]
    fn one_contender_on_each_side_race_whatever_they_are_called() {
        let old = vec![bench("sum", &["loop"]), bench("gone", &["gone"])];
        let new = vec![bench("added", &["added"]), bench("sum", &["fold"])];
        let pairing = paired(&[target(old, new)]);
        assert_eq!(rows(&pairing), ["sum old=0:sum:loop new=1:sum:fold"]);
        assert_eq!(
            pairing.left_out,
            [only("gone", "old"), only("added", "new")]
        );
    }

    #[test]
    fn of_several_contenders_each_races_its_namesake() {
        let old = vec![bench("sum", &["loop", "fold"])];
        let new = vec![bench("sum", &["simd", "loop"])];
        let pairing = paired(&[target(old, new)]);
        assert_eq!(rows(&pairing), ["sum (loop) old=0:sum:loop new=1:sum:loop"]);
        let left_out = [only("sum (fold)", "old"), only("sum (simd)", "new")];
        assert_eq!(pairing.left_out, left_out);
    }

    #[test]
    fn other_work_under_the_same_name_is_left_out_and_rates_need_both_sides() {
        let four = ListedBenchmark {
            threads: 4,
            ..bench("threads", &["a"])
        };
        let items = |items| ListedBenchmark {
            throughput: Some(Throughput::Items(items)),
            ..bench("rate", &["a"])
        };
        let old = vec![bench("threads", &["a"]), items(1)];
        let same = paired(&[target(old.clone(), vec![four.clone(), items(1)])]);
        assert_eq!(same.benchmarks[0].throughput, Some(Throughput::Items(1)));
        assert!(matches!(
            &same.left_out[..],
            [LeftOut { benchmark, reason: LeftOutReason::NotAlike(_) }] if benchmark == "threads"
        ));
        let other = paired(&[target(old, vec![four, items(2)])]);
        assert_eq!(other.benchmarks[0].throughput, None);
    }

    #[test]
    fn a_benchmark_is_judged_by_what_both_sides_say() {
        let judged = |metric: Option<Metric>| ListedBenchmark {
            judged: metric,
            ..bench("a", &["a"])
        };
        let manual = || judged(Some(Metric::Manual));
        let of = |old, new| {
            let pairing = paired(&[target(vec![old], vec![new])]);
            pairing.benchmarks[0].overrides.judged.clone()
        };
        assert_eq!(of(manual(), manual()), Some(Metric::Manual));
        assert_eq!(of(manual(), judged(None)), None);
        assert_eq!(of(judged(None), judged(None)), None);
    }

    #[test]
    fn files_of_a_benchmark_that_differ_are_named_as_far_as_both_workers_tell() {
        let made_of = |files: &[(&str, &[&str])]| {
            let source = |(file, digests): &(&str, &[&str])| Source {
                file: (*file).to_owned(),
                digests: digests.iter().map(|one| (*one).to_owned()).collect(),
            };
            vec![ListedBenchmark {
                sources: files.iter().map(source).collect(),
                ..bench("a", &["a"])
            }]
        };
        let changed = |old: &[(&str, &[&str])], new: &[(&str, &[&str])]| {
            let pairing = paired(&[target(made_of(old), made_of(new))]);
            pairing.benchmarks[0].changed_files.clone()
        };
        let old: [(&str, &[&str]); 3] = [("a.py", &["1", "2"]), ("b.py", &["3"]), ("c.py", &["4"])];
        assert_eq!(changed(&old, &old), [""; 0]);
        assert_eq!(changed(&old, &[]), [""; 0], "nothing is known of one side");
        let new: [(&str, &[&str]); 3] = [("a.py", &["9", "2"]), ("b.py", &["5"]), ("d.py", &["4"])];
        assert_eq!(changed(&old, &new), ["b.py", "c.py", "d.py"]);
    }

    #[test]
    fn what_nobody_asked_for_has_no_row() {
        let ignored = |name| ListedBenchmark {
            ignored: true,
            ..bench(name, &["a"])
        };
        let targets = [target(
            vec![bench("sum", &["a"]), bench("sort", &["a"]), ignored("slow")],
            vec![bench("sum", &["a"]), bench("slow", &["a"])],
        )];
        let asked = |selection: Selection| {
            let pairing = pair(&targets, &sides(), &selection);
            let rows = pairing.benchmarks.iter().map(|one| one.name.clone());
            let left_out = pairing.left_out.iter().map(|one| one.benchmark.clone());
            (rows.collect::<Vec<_>>(), left_out.collect::<Vec<_>>())
        };
        let none: Vec<String> = Vec::new();
        let sort = vec!["sort".to_owned()];
        assert_eq!(asked(Selection::default()), (vec!["sum".to_owned()], sort));
        let filtered = Selection {
            filters: vec!["su".to_owned()],
            ..Selection::default()
        };
        assert_eq!(asked(filtered), (vec!["sum".to_owned()], none.clone()));
        let only_ignored = Selection {
            ignored: Ignored::Only,
            ..Selection::default()
        };
        assert_eq!(asked(only_ignored), (vec!["slow".to_owned()], none));
    }

    #[test]
    fn targets_are_named_when_more_than_one_holds_anything() {
        let named = |name: &str, target: Worker| Target {
            name: Some(name.to_owned()),
            ..target
        };
        let one = || vec![bench("sum", &["a"])];
        let text = named("text", target(one(), one()));
        let empty = named("empty", target(Vec::new(), Vec::new()));
        let mut gone = named("gone", target(one(), Vec::new()));
        gone.sides[1] = None;
        let alone = paired(&[text.clone(), empty]);
        assert_eq!(alone.benchmarks[0].name, "sum");
        let both = paired(&[text, gone]);
        assert_eq!(both.benchmarks[0].name, "text::sum");
        assert_eq!(both.left_out, [only("gone::sum", "old")]);
    }

    #[test]
    fn the_metrics_are_those_that_all_have_in_the_order_of_the_old_build() {
        let one = || vec![bench("sum", &["a"])];
        let all = [Metric::Wall, Metric::Cpu, Metric::Allocations];
        let fewer = [Metric::Allocations, Metric::Wall];
        let target = Target {
            name: None,
            sides: [
                Some(listed("./old", &all, one())),
                Some(listed("./new", &fewer, one())),
            ],
        };
        let metrics = paired(&[target]).metrics;
        assert_eq!(metrics, [Metric::Wall, Metric::Allocations]);
    }

    #[test]
    fn a_program_alone_races_its_contenders_in_one_process() {
        let mut target = target(vec![bench("sum", &["loop", "fold"])], Vec::new());
        target.sides[1] = None;
        let pairing = race_alone(&[target], &Selection::default());
        assert_eq!(rows(&pairing), ["sum loop=0:sum:loop fold=0:sum:fold"]);
        assert_eq!(pairing.metrics, [Metric::Wall]);
    }

    fn listing() -> impl Strategy<Value = Vec<ListedBenchmark>> {
        let names = prop::sample::subsequence(vec!["a", "b", "c", "d"], 0..=4);
        let contenders = prop::sample::subsequence(vec!["x", "y", "z"], 1..=3);
        let rest = (1u32..3, any::<bool>(), contenders);
        (names, prop::collection::vec(rest, 4)).prop_map(|(names, rests)| {
            let benchmark =
                |(name, (threads, ignored, contenders)): (&str, (u32, bool, Vec<&str>))| {
                    ListedBenchmark {
                        threads,
                        ignored,
                        ..bench(name, &contenders)
                    }
                };
            names.into_iter().zip(rests).map(benchmark).collect()
        })
    }

    proptest! {
        /// Every contender of every benchmark of the two sides is in exactly one pair, or in the
        /// list of benchmarks left out.
        #[test]
        fn nothing_that_is_listed_gets_lost(old in listing(), new in listing()) {
            let everything = Selection { ignored: Ignored::In, ..Selection::default() };
            let target = target(old.clone(), new.clone());
            let pairing = pair(&[target], &sides(), &everything);
            for (process, (side, listed)) in [("old", &old), ("new", &new)].iter().enumerate() {
                for benchmark in listed.iter() {
                    for contender in &benchmark.contenders {
                        let raced = pairing.benchmarks.iter().filter(|pair| {
                            let calls = match &pair.contenders[process].workload {
                                Workload::Worker(calls) => calls,
                                other => panic!("{other:?}"),
                            };
                            calls.process == process
                                && calls.benchmark == benchmark.name
                                && calls.contender == *contender
                        });
                        let whole = format!("{} ({contender})", benchmark.name);
                        let left_out = pairing.left_out.iter().filter(|one| {
                            let named = one.benchmark == benchmark.name || one.benchmark == whole;
                            named && match &one.reason {
                                LeftOutReason::OnlyIn(name) => name == side,
                                _ => true,
                            }
                        });
                        prop_assert_eq!(raced.count() + left_out.count(), 1, "{} of {}", whole, side);
                    }
                }
            }
        }
    }
}
