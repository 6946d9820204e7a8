//! Runs that were merged of the parts of several hosts: whom a verdict speaks of, and how often it
//! is wrong.

use deadheat_analysis::{Options, analyse};
use deadheat_model::{
    AcrossHosts, BlockRecord, Comparison, EndReason, Environment, Host, Merged, Run, RunEnd,
    RunHeader, ShardBy, Verdict, Workload,
};
use deadheat_testing::random::Stream;
use deadheat_testing::runs::{benchmark, contenders, design, header, one_look, sample};

const REPLICATES: u32 = 10;

/// A host: its boot, its processor and the true effect it shows.
struct Shown<'a>(&'a str, &'a str, f64);

/// A run of these hosts, of `count` parts; the effects of replicates scatter by .5 %.
fn merged(hosts: &[(u32, Shown<'_>)], count: u32, seed: u64) -> Run {
    let mut stream = Stream(seed);
    let told = hosts.iter().map(|(shard, Shown(boot, cpu, _))| Host {
        shard: *shard,
        boot: Some((*boot).to_owned()),
        cpu: Some((*cpu).to_owned()),
        ..Host::default()
    });
    let old_and_new = contenders(["old", "new"], &Workload::Recording);
    let known = header(
        design(one_look(REPLICATES * count)),
        1,
        vec![benchmark("b", old_and_new)],
    );
    let mut run = Run::new(RunHeader {
        environment: Environment {
            merged: Some(Merged {
                count,
                by: ShardBy::Host,
                replicates: REPLICATES,
                hosts: told.collect(),
            }),
            ..Environment::default()
        },
        tick_ns: None,
        ..known
    });
    for (shard, Shown(_, _, truth)) in hosts {
        for replicate in 0..REPLICATES {
            let new = 1e6 * (truth + 0.005 * stream.normal()).exp();
            let record = BlockRecord {
                replicate: (shard - 1) * REPLICATES + replicate,
                samples: [0, 1, 1, 0].map(sample).to_vec(),
                values: vec![1e6, new, new, 1e6],
                ..BlockRecord::default()
            };
            run.benchmarks[0].push(&record).unwrap();
        }
    }
    run.end = Some(RunEnd {
        reason: EndReason::Finished,
        launches: 0,
        elapsed_ns: 1,
    });
    run
}

fn judged(run: &Run) -> Comparison {
    let options = Options {
        without_figures: true,
        ..Options::default()
    };
    analyse(run, options).comparisons.remove(0)
}

/// So many hosts of one kind with these effects.
fn alike(effects: &[f64], seed: u64) -> Comparison {
    let boots: Vec<String> = (1..=effects.len()).map(|boot| boot.to_string()).collect();
    let hosts: Vec<(u32, Shown<'_>)> = (1..)
        .zip(boots.iter().zip(effects))
        .map(|(shard, (boot, effect))| (shard, Shown(boot, "cpu", *effect)))
        .collect();
    judged(&merged(&hosts, effects.len() as u32, seed))
}

fn across(comparison: &Comparison) -> &AcrossHosts {
    comparison.hosts.as_ref().expect("hosts")
}

#[test]
fn of_six_hosts_the_verdict_speaks_of_hosts_like_these_and_says_where_the_next_one_lies() {
    let six = alike(&[0.03, 0.05, 0.04, 0.06, 0.02, 0.04], 1);
    let hosts = across(&six);
    assert!(hosts.like_these && hosts.hosts.len() == 6);
    assert_eq!(six.verdict, Some(Verdict::Slower));
    let (interval, next) = (
        six.estimate.unwrap().interval.unwrap(),
        hosts.next_host.unwrap(),
    );
    assert!(next.low.0 < interval.low.0 && interval.high.0 < next.high.0);
    // √(1 + H) times as far: the mean of six is known better than the next one.
    let ratio = (next.high.0 - next.low.0) / (interval.high.0 - interval.low.0);
    assert!((ratio - 7f64.sqrt()).abs() < 1e-9, "{ratio}");
    assert!(hosts.p_differ.unwrap() < 1e-6);
    assert_eq!(six.p_sign_flip, None);
    assert_eq!(six.replicates_to_settle, None);
}

#[test]
fn of_fewer_it_speaks_of_these_however_they_differ() {
    let five = alike(&[0.1, -0.02, 0.03, 0.02, 0.04], 2);
    let hosts = across(&five);
    assert!(!hosts.like_these && hosts.next_host.is_none());
    // Precisely known of these, and nothing of a sixth.
    assert_eq!(five.verdict, Some(Verdict::Slower));
    let six = alike(&[0.1, -0.02, 0.03, 0.02, 0.04, 0.0], 2);
    assert_eq!(six.verdict, Some(Verdict::Inconclusive));
    assert!(across(&six).hosts_to_settle.unwrap() > 0);
}

#[test]
fn parts_of_one_boot_are_one_host_and_missing_ones_widen_the_interval() {
    let host = |shard, boot, effect| (shard, Shown(boot, "cpu", effect));
    let boots = ["a", "b", "c", "d", "e", "f", "g"];
    let hosts = |boots: [&'static str; 7]| -> Vec<(u32, Shown<'static>)> {
        let effects = [0.01, 0.03, 0.02, 0.04, 0.02, 0.03, 0.01];
        let each = (1..).zip(boots).zip(effects);
        each.map(|((shard, boot), effect)| host(shard, boot, effect))
            .collect()
    };
    let seven = judged(&merged(&hosts(boots), 7, 3));
    let shared = judged(&merged(&hosts(["a", "b", "c", "d", "e", "f", "a"]), 7, 3));
    assert_eq!(across(&seven).hosts.len(), 7);
    assert_eq!(across(&shared).hosts[0].parts, [1, 7]);
    assert_eq!(across(&shared).hosts[0].estimate.replicates, 20);
    let lacking = judged(&merged(&hosts(boots), 9, 3));
    assert_eq!(across(&lacking).missing, [8, 9]);
    let width = |one: &Comparison| {
        let interval = one.estimate.unwrap().interval.unwrap();
        interval.high.0 - interval.low.0
    };
    assert!(width(&lacking) > 1.2 * width(&seven));
    assert_eq!(
        lacking.estimate.unwrap().effect,
        seven.estimate.unwrap().effect
    );
}

#[test]
fn models_of_processors_that_disagree_are_told_apart() {
    let hosts: Vec<(u32, Shown<'_>)> = [
        ("a", "EPYC", 0.030),
        ("b", "EPYC", 0.031),
        ("c", "EPYC", 0.029),
        ("d", "Xeon", -0.010),
        ("e", "Xeon", -0.011),
        ("f", "Xeon", -0.009),
        ("g", "M1", 0.5),
    ]
    .into_iter()
    .zip(1..)
    .map(|((boot, cpu, effect), shard)| (shard, Shown(boot, cpu, effect)))
    .collect();
    let found = judged(&merged(&hosts, 7, 4));
    let kinds = &across(&found).kinds;
    let named: Vec<(&str, usize)> = kinds.iter().map(|kind| (&*kind.cpu, kind.hosts)).collect();
    assert_eq!(named, [("EPYC", 3), ("Xeon", 3)]);
    let (epyc, xeon) = (kinds[0].interval.unwrap(), kinds[1].interval.unwrap());
    assert!(xeon.high.0 < 0.0 && 0.0 < epyc.low.0);
}

#[test]
fn hosts_that_differ_make_at_most_five_percent_of_verdicts_false() {
    const RUNS: usize = 400;
    for (count, host_sd) in [(6, 0.0), (6, 0.05), (12, 0.02)] {
        let (mut called, mut missed) = (0, 0);
        for seed in 0..RUNS {
            let mut stream = Stream(seed as u64 ^ 0xf1ee7);
            let effects: Vec<f64> = (0..count).map(|_| host_sd * stream.normal()).collect();
            let found = alike(&effects, seed as u64 + 10_000);
            let moved = matches!(found.verdict, Some(Verdict::Faster | Verdict::Slower));
            called += usize::from(moved);
            let interval = found.estimate.unwrap().interval.unwrap();
            missed += usize::from(interval.low.0 > 0.0 || interval.high.0 < 0.0);
        }
        // 5 % of 400 and three binomial standard errors.
        assert!(
            called <= 33 && missed <= 33,
            "{count} {host_sd}: {called} {missed}"
        );
        assert!(missed >= 7, "{count} {host_sd}: too wide, {missed}");
    }
}
