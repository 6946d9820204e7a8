//! Runs that were merged of the parts of several hosts: whom a verdict speaks of, and how often it
//! is wrong.

use deadheat_analysis::{Options, analyse};
use deadheat_model::{
    AcrossHosts, Benchmark, BlockRecord, Comparison, EndReason, Environment, Flags, Host, Merged,
    Run, RunEnd, RunHeader, ShardBy, Verdict, Workload,
};
use deadheat_testing::random::Stream;
use deadheat_testing::runs::{benchmark, contenders, design, header, one_look, sample};

const REPLICATES: u32 = 10;

/// A host: its boot, its processor and the true effect it shows.
struct Shown<'a>(&'a str, &'a str, f64);

/// A run of these hosts, of `count` parts; the effects of replicates scatter by .5 %.
fn merged(hosts: &[(u32, Shown<'_>)], count: u32, seed: u64) -> Run {
    merged_of(hosts, count, seed, |_| {})
}

/// The same, of blocks that something happens to.
fn merged_of(
    hosts: &[(u32, Shown<'_>)],
    count: u32,
    seed: u64,
    happens: impl Fn(&mut BlockRecord),
) -> Run {
    let mut stream = Stream(seed);
    let told = hosts.iter().map(|(shard, Shown(boot, cpu, _))| Host {
        shard: *shard,
        boot: Some((*boot).to_owned()),
        cpu: Some((*cpu).to_owned()),
        ..Host::default()
    });
    let old_and_new = contenders(["old", "new"], &Workload::Recording);
    let mut run = run_of(told.collect(), count, benchmark("b", old_and_new));
    for (shard, Shown(_, _, truth)) in hosts {
        for replicate in 0..REPLICATES {
            let new = 1e6 * (truth + 0.005 * stream.normal()).exp();
            let mut record = BlockRecord {
                replicate: (shard - 1) * REPLICATES + replicate,
                samples: [0, 1, 1, 0].map(sample).to_vec(),
                values: vec![1e6, new, new, 1e6],
                ..BlockRecord::default()
            };
            happens(&mut record);
            run.benchmarks[0].push(&record).unwrap();
        }
    }
    run
}

/// A run without blocks that came to its end: of `count` parts, of which these hosts raced some.
fn run_of(hosts: Vec<Host>, count: u32, raced: Benchmark) -> Run {
    let known = header(design(one_look(REPLICATES * count)), 1, vec![raced]);
    let mut run = Run::new(RunHeader {
        environment: Environment {
            merged: Some(Merged {
                count,
                by: ShardBy::Host,
                replicates: REPLICATES,
                hosts,
            }),
            ..Environment::default()
        },
        tick_ns: None,
        ..known
    });
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
    comparison.aspects.hosts.as_ref().expect("hosts")
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
    assert_eq!(six.evidence.p_sign_flip, None);
    assert_eq!(six.aspects.settling, None);
}

#[test]
fn each_host_drops_its_own_blocks_with_evidence_of_disturbance() {
    let boots = ["1", "2", "3", "4", "5", "6"];
    let hosts = || -> Vec<(u32, Shown<'_>)> {
        let all = (1..).zip(boots);
        all.map(|(shard, boot)| (shard, Shown(boot, "cpu", 0.0)))
            .collect()
    };
    // One of the ten blocks of the second host, and half of those of the fifth: so many are kept.
    let disturbed = |replicate: u32| replicate == 13 || (40..45).contains(&replicate);
    let flagged = |record: &mut BlockRecord| {
        if disturbed(record.replicate) {
            record.values[1] *= 2.0;
            record.samples[1].flags = Flags::PREEMPTED;
        }
    };
    let run = merged_of(&hosts(), 6, 9, flagged);
    let found = judged(&run);
    assert_eq!(found.aspects.dropped_blocks(), 1);
    let rows = &across(&found).hosts;
    let blocks: Vec<usize> = rows.iter().map(|row| row.estimate.blocks).collect();
    assert_eq!(blocks, [10, 9, 10, 10, 10, 10]);
    assert!(
        found
            .aspects
            .dropped
            .and_then(|one| one.effect_with_them)
            .is_some()
    );
    // The points of the plot are those of the estimate.
    let options = Options {
        plots: Some(100),
        ..Options::default()
    };
    let drawn = analyse(&run, options).comparisons.remove(0);
    let drawn = drawn.plots.unwrap().differences.unwrap();
    let dropped = drawn.points.iter().filter(|point| point.dropped);
    assert_eq!(
        dropped.map(|point| point.replicate).collect::<Vec<_>>(),
        [13]
    );
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

/// A host of a race with a control: the effect it shows, and what it adds to whatever is raced
/// against its baseline.
#[derive(Clone, Copy)]
struct Controlled {
    effect: f64,
    distortion: f64,
    replicates: u32,
}

/// So many hosts that measure evenly and show no effect.
fn even(count: usize) -> Vec<Controlled> {
    let host = Controlled {
        effect: 0.0,
        distortion: 0.0,
        replicates: REPLICATES,
    };
    vec![host; count]
}

/// A race of these hosts with a copy of the baseline in every block, of which `missing` parts are
/// not there.
fn with_controls(hosts: &[Controlled], missing: u32, seed: u64) -> Comparison {
    let mut stream = Stream(seed);
    let mut raced = benchmark("b", contenders(["old", "new"], &Workload::Recording));
    raced.add_control();
    let count = hosts.len() as u32 + missing;
    let told = (1..=hosts.len() as u32).map(|shard| Host {
        shard,
        boot: Some(shard.to_string()),
        ..Host::default()
    });
    let mut run = run_of(told.collect(), count, raced);
    for (part, host) in (0..).zip(hosts) {
        for replicate in 0..host.replicates {
            let mut value = |log: f64| 1e6 * (log + 0.0035 * stream.normal()).exp();
            let (old, copy) = (value(0.0), value(host.distortion));
            let new = value(host.distortion + host.effect);
            let record = BlockRecord {
                replicate: part * REPLICATES + replicate,
                samples: [0, 1, 2].map(sample).to_vec(),
                values: vec![old, new, copy],
                ..BlockRecord::default()
            };
            run.benchmarks[0].push(&record).unwrap();
        }
    }
    judged(&run)
}

fn left_out(comparison: &Comparison) -> Vec<usize> {
    let rows = across(comparison).hosts.iter().enumerate();
    let gone = rows.filter(|(_, host)| host.left_out);
    gone.map(|(place, _)| place).collect()
}

#[test]
fn a_host_whose_control_is_told_apart_is_left_out_and_stays_in_its_row() {
    let mut hosts = even(7);
    hosts.iter_mut().for_each(|host| host.effect = 0.02);
    hosts[2].distortion = 0.2;
    let found = with_controls(&hosts, 0, 5);
    assert_eq!(left_out(&found), [2]);
    assert_eq!(found.verdict, Some(Verdict::Slower));
    let estimate = found.estimate.unwrap();
    assert!((estimate.effect.0 - 0.02).abs() < 0.003, "{estimate:?}");
    assert_eq!(estimate.replicates, 60);
    let rows = &across(&found).hosts;
    let control = rows[2].control.unwrap();
    assert!(control.separated && (control.estimate.effect.0 - 0.2).abs() < 0.01);
    let sure = control.estimate.interval.unwrap().confidence;
    assert!((sure - (1.0 - 0.01 / 7.0)).abs() < 1e-12, "{sure}");
    assert!(rows.iter().all(|row| row.control.is_some()));
    assert_eq!(across(&found).kept().count(), 6);
    // The control over the hosts that are kept is even, so the verdict stands.
    assert!(!found.evidence.provisional && !found.aspects.control.unwrap().separated);
}

#[test]
fn a_host_with_another_effect_is_never_left_out_by_it() {
    let mut hosts = even(6);
    hosts[2].effect = 0.2;
    let found = with_controls(&hosts, 0, 6);
    assert_eq!(left_out(&found), []);
    assert_eq!(found.verdict, Some(Verdict::Inconclusive));
    assert!(across(&found).next_host.unwrap().high.0 > 0.2);
}

#[test]
fn where_too_few_would_be_left_or_more_than_a_third_would_go_none_is_left_out() {
    for (count, uneven) in [(2, 1), (3, 2), (5, 2), (6, 3), (10, 4)] {
        let mut hosts = even(count);
        hosts[..uneven]
            .iter_mut()
            .for_each(|one| one.distortion = 0.2);
        let found = with_controls(&hosts, 0, count as u64);
        assert_eq!(left_out(&found), [], "{count}");
        assert_eq!(across(&found).told_apart().count(), uneven, "{count}");
    }
    for (count, uneven) in [(3, 1), (6, 2), (10, 3)] {
        let mut hosts = even(count);
        hosts[..uneven]
            .iter_mut()
            .for_each(|one| one.distortion = 0.2);
        let found = with_controls(&hosts, 0, count as u64);
        assert_eq!(left_out(&found).len(), uneven, "{count}");
    }
    // Of two hosts that both distort the verdict is one to doubt.
    let mut both = even(2);
    both.iter_mut().for_each(|one| one.distortion = 0.2);
    let found = with_controls(&both, 0, 7);
    assert!(found.evidence.provisional && left_out(&found).is_empty());
}

#[test]
fn a_control_of_fewer_than_six_replicates_judges_nobody() {
    let mut hosts = even(7);
    hosts[1].distortion = 0.2;
    hosts[1].replicates = 5;
    let found = with_controls(&hosts, 0, 8);
    assert_eq!(left_out(&found), []);
    assert_eq!(across(&found).hosts[1].control, None);
    hosts[1].replicates = 6;
    assert_eq!(left_out(&with_controls(&hosts, 0, 8)), [1]);
}

#[test]
fn what_is_asked_does_not_hang_on_how_many_hosts_are_kept() {
    let mut hosts = even(6);
    hosts[4].distortion = -0.1;
    for missing in [0, 3] {
        let found = with_controls(&hosts, missing, 9);
        assert_eq!(left_out(&found), [4]);
        assert!(across(&found).like_these && across(&found).next_host.is_some());
        assert!(found.estimate.unwrap().interval.is_some(), "{missing}");
        assert!(found.verdict.is_some(), "{missing}");
    }
    let five = with_controls(&hosts[..5], 0, 9);
    assert!(!across(&five).like_these && left_out(&five) == [4]);
}

#[test]
fn hosts_without_a_control_are_all_kept() {
    let found = alike(&[0.0, 0.0, 0.4, 0.0, 0.0, 0.0], 10);
    assert_eq!(left_out(&found), []);
    assert!(
        across(&found)
            .hosts
            .iter()
            .all(|host| host.control.is_none())
    );
}

#[test]
fn leaving_out_by_controls_makes_at_most_five_percent_of_verdicts_false() {
    const RUNS: usize = 400;
    for (count, distortion) in [(6, 0.0), (6, 0.2), (12, 0.02)] {
        let (mut missed, mut evenly) = (0, 0);
        for seed in 0..RUNS {
            let mut hosts = even(count);
            hosts[0].distortion = distortion;
            let mut stream = Stream(seed as u64 ^ 0xc0de);
            for host in &mut hosts {
                host.effect = 0.01 * stream.normal();
            }
            let found = with_controls(&hosts, 0, seed as u64 + 50_000);
            let interval = found.estimate.unwrap().interval.unwrap();
            missed += usize::from(interval.low.0 > 0.0 || interval.high.0 < 0.0);
            let mut gone = left_out(&found).into_iter();
            evenly += usize::from(gone.any(|place| place > 0 || distortion == 0.0));
        }
        // 5 % and 1 % of 400, and three binomial standard errors.
        assert!((7..=33).contains(&missed), "{count} {distortion}: {missed}");
        assert!(evenly <= 10, "{count} {distortion}: {evenly}");
    }
}
