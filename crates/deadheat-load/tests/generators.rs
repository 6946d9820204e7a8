//! Reads outputs of load generators, most of which were recorded from real runs.

use std::fs;
use std::path::Path;

use deadheat_load::generators::{Generator, Loop, Report};
use proptest::prelude::*;

fn recorded(file: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/generators");
    let path = folder.join(format!("{file}.txt"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn generator(name: &str) -> &'static Generator {
    Generator::named(name).unwrap_or_else(|| panic!("no generator {name}"))
}

fn read(name: &str, file: &str) -> Report {
    generator(name).read(&recorded(file), "").unwrap()
}

fn read_with_stderr(name: &str, file: &str, stderr: &str) -> Report {
    let (stdout, stderr) = (recorded(file), recorded(stderr));
    generator(name).read(&stdout, &stderr).unwrap()
}

fn report(
    requests: impl Into<Option<f64>>,
    rate: f64,
    errors: &[(f64, &str)],
    latencies: &[(&str, f64)],
) -> Report {
    let errors = errors
        .iter()
        .map(|(count, words)| (*count, (*words).to_owned()));
    let latencies = latencies
        .iter()
        .map(|(name, value)| ((*name).to_owned(), *value));
    Report {
        requests: requests.into(),
        rate: Some(rate),
        errors: errors.collect(),
        latencies: latencies.collect(),
    }
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

#[test]
fn reads_wrk() {
    let latencies = [
        ("mean", 574_820.0),
        ("p50", 34_000.0),
        ("p75", 217_000.0),
        ("p90", 2_290_000.0),
        ("p99", 5_760_000.0),
        ("max", 12_610_000.0),
    ];
    assert_eq!(
        read("wrk", "wrk"),
        report(92160.0, 91947.88, &[], &latencies)
    );
    let latencies = [("mean", 450_210.0), ("max", 14_850_000.0)];
    assert_eq!(
        read("wrk", "wrk_plain"),
        report(89663.0, 81549.63, &[], &latencies)
    );
}

#[test]
fn reads_errors_of_wrk() {
    let all = read("wrk", "wrk_errors");
    assert_eq!(all.requests, Some(61340.0 - 18320.0));
    assert_eq!(all.rate, Some(60870.87 * (43020.0 / 61340.0)));
    let words = "Non-2xx or 3xx responses";
    assert_eq!(all.errors, [(18320.0, words.to_owned())]);
    let all = read("wrk", "wrk_timeouts");
    // wrk counts a late reply as a request too.
    assert_eq!(all.requests, Some(186.0 - 12.0));
    let read_errors = (22.0, "Socket errors: read".to_owned());
    assert_eq!(
        all.errors,
        [read_errors, (12.0, "Socket errors: timeout".to_owned())]
    );
}

#[test]
fn reads_wrk2() {
    let latencies = [
        ("mean", 1_069_000.0),
        ("p50", 860_000.0),
        ("p75", 1_190_000.0),
        ("p90", 1_530_000.0),
        ("p99", 5_510_000.0),
        ("p99.9", 11_960_000.0),
        ("p99.99", 14_110_000.0),
        ("p99.999", 14_110_000.0),
        ("max", 14_104_000.0),
    ];
    assert_eq!(read("wrk2", "wrk2"), report(996.0, 497.76, &[], &latencies));
    // The uncorrected latencies follow the recorded ones.
    let all = read("wrk2", "wrk2_uncorrected");
    assert_eq!(
        all.latencies[..2],
        [("mean".to_owned(), 864e3), ("p50".to_owned(), 713e3)]
    );
    let rate = 496.09 * (698.0 / 994.0);
    let errors = [(296.0, "Non-2xx or 3xx responses")];
    let latencies = [("mean", 1_140_000.0), ("max", 12_120_000.0)];
    assert_eq!(
        read("wrk2", "wrk2_errors"),
        report(698.0, rate, &errors, &latencies)
    );
}

#[test]
fn reads_hey() {
    let latencies = [
        ("mean", 400_000.0),
        ("p50", 100_000.0),
        ("p75", 300_000.0),
        ("p90", 600_000.0),
        ("p95", 1_100_000.0),
        ("p99", 5_200_000.0),
        ("max", 11_300_000.0),
    ];
    assert_eq!(
        read("hey", "hey"),
        report(2000.0, 20345.4296, &[], &latencies)
    );
    let all = read("hey", "hey_errors");
    assert_eq!(all.requests, Some(15457.0));
    assert_eq!(all.rate, Some(22330.2280 * (15457.0 / 22347.0)));
    assert_eq!(all.errors, [(6890.0, "[503] responses".to_owned())]);
    let all = read("hey", "hey_timeouts");
    assert_eq!(all.rate, Some(19.6913 * (33.0 / 40.0)));
    let url = r#"Get "http://127.0.0.1:18081/":"#;
    let timeout = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
    let eof = (1.0, format!("{url} EOF"));
    assert_eq!(all.errors, [eof, (6.0, format!("{url} {timeout}"))]);
    // hey misprints a percentile that it did not compute as `0%`.
    assert!(all.latencies.iter().all(|(name, _)| name != "p99"));
    let refused = "Get \"http://127.0.0.1:18099/\": dial tcp 127.0.0.1:18099: connect: \
                   connection refused";
    assert_eq!(
        read("hey", "hey_refused"),
        report(0.0, 0.0, &[(8.0, refused)], &[])
    );
}

#[test]
fn reads_the_text_of_oha() {
    let latencies = [
        ("min", 169_900.0),
        ("mean", 446_500.0),
        ("p50", 402_000.0),
        ("p75", 461_300.0),
        ("p90", 536_900.0),
        ("p95", 591_100.0),
        ("p99", 1_667_800.0),
        ("p99.9", 4_905_800.0),
        ("p99.99", 5_012_100.0),
        ("max", 5_012_100.0),
    ];
    assert_eq!(
        read("oha", "oha"),
        report(2000.0, 16895.4869, &[], &latencies)
    );
    let all = read("oha", "oha_errors");
    assert_eq!(all.rate, Some(15805.3834 * (340.0 / 500.0)));
    assert_eq!(all.errors, [(160.0, "[503] responses".to_owned())]);
    let all = read("oha", "oha_timeouts");
    assert_eq!(all.requests, Some(23.0));
    let closed = (3.0, "connection closed before message completed".to_owned());
    assert_eq!(all.errors, [(4.0, "timeout".to_owned()), closed]);
    let refused = [(8.0, "Connection refused (os error 111)")];
    assert_eq!(read("oha", "oha_refused"), report(0.0, 0.0, &refused, &[]));
}

#[test]
fn ignores_the_requests_that_oha_drops_at_the_end() {
    let all = read("oha", "oha_deadline");
    assert_eq!((all.requests, all.errors), (Some(7202.0), vec![]));
    assert_eq!(all.rate, Some(7161.3357 * (7202.0 / 7205.0)));
}

#[test]
fn reads_the_json_of_oha() {
    let rate = 14206.402712861607 * (9957.0 / 14239.0);
    let latencies = [
        ("min", 108_441.0),
        ("mean", 262_121.05978222657),
        ("p50", 237_363.0),
        ("p75", 287_438.0),
        ("p90", 360_636.0),
        ("p95", 396_440.0),
        ("p99", 486_284.0),
        ("p99.9", 1_287_175.0),
        ("p99.99", 2_421_923.0),
        ("max", 2_437_507.0),
    ];
    let errors = [(4278.0, "[503] responses")];
    assert_eq!(
        read("oha", "oha_json"),
        report(9957.0, rate, &errors, &latencies)
    );
}

/// The layout before oha 1.5, written by hand and not recorded.
#[test]
fn reads_the_seconds_of_older_oha() {
    let text = "Summary:\n  Success rate:\t1.0000\n  Total:\t3.0217 secs\n  Slowest:\t0.1067 secs\n  \
                Fastest:\t0.0098 secs\n  Average:\t0.0314 secs\n  Requests/sec:\t66.1879\n\n\
                Latency distribution:\n  10% in 0.0204 secs\n  50% in 0.0283 secs\n\n\
                Status code distribution:\n  [200] 200 responses\n";
    let latencies = [
        ("min", 9.8e6),
        ("mean", 31.4e6),
        ("p50", 28.3e6),
        ("max", 106.7e6),
    ];
    let all = generator("oha").read(text, "").unwrap();
    assert_eq!(all, report(200.0, 66.1879, &[], &latencies));
}

#[test]
fn reads_ab() {
    let latencies = [
        ("mean", 767_000.0),
        ("p50", 1e6),
        ("p66", 1e6),
        ("p75", 1e6),
        ("p80", 1e6),
        ("p90", 1e6),
        ("p95", 1e6),
        ("p98", 4e6),
        ("p99", 8e6),
        ("max", 13e6),
    ];
    assert_eq!(read("ab", "ab"), report(2000.0, 10428.72, &[], &latencies));
    // ab compares the length of each reply with that of the first, here of an error.
    let errors = [
        (1380.0, "Failed requests: Length"),
        (620.0, "Non-2xx responses"),
    ];
    let latencies = [("mean", 131_000.0)];
    assert_eq!(
        read("ab", "ab_errors"),
        report(0.0, 0.0, &errors, &latencies)
    );
    let all = read("ab", "ab_exceptions");
    assert_eq!(all.requests, Some(132.0));
    assert_eq!(all.rate, Some(9156.67 * (132.0 / 200.0)));
    assert_eq!(all.errors, [(68.0, "Failed requests: Length".to_owned())]);
}

#[test]
fn reads_the_text_of_k6() {
    let latencies = [
        ("min", 70_970.0),
        ("mean", 907_340.0),
        ("p50", 212_860.0),
        ("p90", 3_390_000.0),
        ("p95", 4_850_000.0),
        ("max", 14_380_000.0),
    ];
    assert_eq!(
        read("k6", "k6"),
        report(500.0, 3706.584599, &[], &latencies)
    );
    let all = read("k6", "k6_errors");
    assert_eq!(all.requests, Some(5689.0));
    assert_eq!(all.rate, Some(8177.460067 * (5689.0 / 8192.0)));
    let failed = (2503.0, "http_req_failed".to_owned());
    assert_eq!(all.errors, [failed, (2503.0, "checks_failed".to_owned())]);
    assert_eq!(
        all.latencies[5..7],
        [("p99".to_owned(), 4.79e6), ("p99.9".to_owned(), 12.09e6)]
    );
    let errors = [(4.0, "http_req_failed"), (4.0, "checks_failed")];
    assert_eq!(read("k6", "k6_refused"), report(0.0, 0.0, &errors, &[]));
    let all = read("k6", "k6_dropped");
    assert_eq!(all.errors, [(799.0, "dropped_iterations".to_owned())]);
    assert_eq!(all.rate, Some(0.795753));
    let all = read("k6", "k6_legacy");
    assert_eq!(
        (all.requests, all.rate),
        (Some(72.0), Some(4392.003725 * (72.0 / 100.0)))
    );
    assert_eq!(all.errors[1], (28.0, "checks_failed".to_owned()));
    assert_eq!(all.latencies[1], ("mean".to_owned(), 368_420.0));
}

/// The layout before k6 1.0, written by hand and not recorded.
#[test]
fn reads_the_marks_of_older_k6() {
    let text = "     checks.........................: 90.00% ✓ 18       ✗ 2\n   \
                ✗ http_req_duration..............: avg=1.5s  min=1ms med=1m2.5s max=1h p(90)=2s\n       \
                { expected_response:true }...: avg=9s min=9s\n     \
                http_req_failed................: 25.00% ✓ 5        ✗ 15\n     \
                http_reqs......................: 20     4.5/s\n     \
                iterations.....................: 10     2.25/s\n";
    let errors = [(5.0, "http_req_failed"), (2.0, "checks_failed")];
    let latencies = [
        ("min", 1e6),
        ("mean", 1.5e9),
        ("p50", 62.5e9),
        ("p90", 2e9),
        ("max", 3600e9),
    ];
    let all = generator("k6").read(text, "").unwrap();
    assert_eq!(all, report(15.0, 4.5 * (15.0 / 20.0), &errors, &latencies));
}

#[test]
fn counts_a_k6_script_without_http_by_iterations() {
    let text = "    iteration_duration.: avg=2ms\n    iterations.........: 20     4.5/s\n";
    let all = generator("k6").read(text, "").unwrap();
    assert_eq!(all, report(20.0, 4.5, &[], &[("mean", 2e6)]));
}

#[test]
fn reads_the_json_of_k6() {
    let errors = [(26.0, "http_req_failed"), (26.0, "checks_failed")];
    let latencies = [
        ("min", 42_513.0),
        ("mean", 399302.84),
        ("p50", 110_469.5),
        ("p90", 829_066.400000001),
        ("p95", 2_471_710.0999999997),
        ("max", 6_873_074.0),
    ];
    let rate = 3170.580060792702 * (74.0 / 100.0);
    assert_eq!(
        read("k6", "k6_export"),
        report(74.0, rate, &errors, &latencies)
    );
    let all = read("k6", "k6_handle_summary");
    assert_eq!(
        (all.requests, all.rate),
        (Some(64.0), Some(6258.449297704982 * (64.0 / 100.0)))
    );
    assert_eq!(all.latencies[2], ("p50".to_owned(), 127_490.0));
    let all = read("k6", "k6_machine_readable");
    assert_eq!(all.requests, Some(69.0));
    assert_eq!(all.rate, Some(100.0 / 0.023586568 * (69.0 / 100.0)));
    assert_eq!(all.errors[1], (31.0, "checks_failed".to_owned()));
    assert_eq!(all.latencies[3], ("p90".to_owned(), 385278.1000000001));
}

#[test]
fn finds_json_after_a_few_other_objects() {
    let json = "{\"metrics\": {\"iterations\": {\"count\": 20, \"rate\": 4.5}}} done\n";
    let others = |count| "{}\n{ not JSON\n".repeat(count) + json;
    let all = generator("k6").read(&others(3), "").unwrap();
    assert_eq!(all, report(20.0, 4.5, &[], &[]));
    assert!(generator("k6").read(&others(4), "").is_err());
}

#[test]
fn reads_redis_benchmark() {
    let latencies = [
        ("min", 24_000.0),
        ("mean", 166_000.0),
        ("p50", 71_000.0),
        ("p95", 151_000.0),
        ("p99", 4_063_000.0),
        ("max", 23_663_000.0),
    ];
    let all = read("redis-benchmark", "redis_benchmark");
    assert_eq!(all, report(20000.0, 33613.45, &[], &latencies));
    let latencies = [
        ("min", 16_000.0),
        ("mean", 156_000.0),
        ("p50", 63_000.0),
        ("p95", 135_000.0),
        ("p99", 3_919_000.0),
        ("max", 8_863_000.0),
    ];
    let all = read("redis-benchmark", "redis_benchmark_csv_one");
    assert_eq!(all, report(None, 38535.64, &[], &latencies));
    let all = read("redis-benchmark", "redis_benchmark_q_one");
    assert_eq!(all, report(None, 42105.27, &[], &[("p50", 103_000.0)]));
}

#[test]
fn adds_up_the_tests_of_redis_benchmark() {
    let rate = 2.0 / (1.0 / 46189.38 + 1.0 / 28288.54);
    let all = read("redis-benchmark", "redis_benchmark_csv");
    assert_eq!(all, report(None, rate, &[], &[]));
    let rate = 2.0 / (1.0 / 44150.11 + 1.0 / 47393.37);
    let all = read("redis-benchmark", "redis_benchmark_q");
    assert_eq!(all, report(None, rate, &[], &[]));
    let rate = 40000.0 / (20000.0 / 38167.94 + 20000.0 / 36101.08);
    let all = read("redis-benchmark", "redis_benchmark_two");
    assert_eq!(all, report(40000.0, rate, &[], &[]));
}

/// The layouts before Redis 6.2, written by hand and not recorded.
#[test]
fn reads_older_redis_benchmark() {
    let redis = generator("redis-benchmark");
    let plain = "====== GET ======\n  100000 requests completed in 1.23 seconds\n  50 parallel \
                 clients\n\n99.50% <= 1 milliseconds\n100.00% <= 2 milliseconds\n81300.81 requests \
                 per second\n\n";
    assert_eq!(
        redis.read(plain, "").unwrap(),
        report(100_000.0, 81300.81, &[], &[])
    );
    let quiet = "GET: 81300.81 requests per second\n";
    assert_eq!(
        redis.read(quiet, "").unwrap(),
        report(None, 81300.81, &[], &[])
    );
    let csv = "\"eval \"\"a\",\"b\"\"\",\"81300.81\"\n";
    assert_eq!(
        redis.read(csv, "").unwrap(),
        report(None, 81300.81, &[], &[])
    );
}

#[test]
fn an_error_names_what_was_expected_and_the_last_line() {
    let stderr = "Error from server: ERR unknown command 'nosuch', with args beginning with: \n\n";
    let stdout = recorded("redis_benchmark_errors");
    let error = generator("redis-benchmark")
        .read(&stdout, stderr)
        .unwrap_err();
    assert_eq!(
        error,
        "expected a row of --csv or `requests per second` of redis-benchmark, but the last line of the \
         output is `Error from server: ERR unknown command 'nosuch', with args beginning with:`"
    );
    let error = generator("hey").read(&recorded("hey_csv"), "").unwrap_err();
    assert_eq!(
        error,
        "expected the summary of hey with `Requests/sec:` and a status code distribution, but the \
         last line of the output is `0.0035,0.0000,0.0000,0.0000,0.0034,0.0001,200,0.0116`"
    );
    let error = generator("wrk").read(" \n", "").unwrap_err();
    assert_eq!(
        error,
        "expected the line `Requests/sec:` of wrk, but it printed nothing"
    );
}

#[test]
fn reads_memtier() {
    let latencies = [
        ("mean", 160_080.0),
        ("p50", 159_000.0),
        ("p99", 375_000.0),
        ("p99.9", 487_000.0),
    ];
    let all = read_with_stderr("memtier", "memtier", "memtier_stderr");
    assert_eq!(all, report(4000.0, 50165.55, &[], &latencies));
    let all = read_with_stderr("memtier", "memtier_runs", "memtier_runs_stderr");
    assert_eq!((all.requests, all.rate), (Some(1600.0), Some(124_336.13)));
    let latencies = [
        ("mean", 303_450.0),
        ("p50", 167_000.0),
        ("p99", 4_991_000.0),
        ("p99.9", 8_159_000.0),
    ];
    let all = read_with_stderr("memtier", "memtier_zero", "memtier_zero_stderr");
    assert_eq!((all.requests, all.rate), (Some(4000.0), Some(73_278.0)));
    assert_eq!(all.latencies[0], ("mean".to_owned(), 109_020.0));
    let all = read("memtier", "memtier_histogram");
    assert_eq!(all, report(None, 26656.0, &[], &latencies));
    let all = read_with_stderr("memtier", "memtier_errors", "memtier_errors_stderr");
    assert_eq!((all.requests, all.rate), (Some(0.0), Some(0.0)));
    let words = "-ERR unknown command 'nosuch', with args beginning with:";
    assert_eq!(all.errors, [(80.0, words.to_owned())]);
}

/// The table before memtier_benchmark 1.3, written by hand and not recorded.
#[test]
fn reads_older_memtier() {
    let text = "ALL STATS\n\
        ==========================================================================\n\
        Type         Ops/sec     Hits/sec   Misses/sec      Latency       KB/sec \n\
        --------------------------------------------------------------------------\n\
        Sets         8000.50          ---          ---      2.00000       616.00 \n\
        Totals      88005.50      1000.00     79005.00      2.25000      3730.00 \n";
    let all = generator("memtier").read(text, "").unwrap();
    assert_eq!(all, report(None, 88005.5, &[], &[("mean", 2.25e6)]));
}

#[test]
fn reads_pgbench() {
    let all = read("pgbench", "pgbench");
    assert_eq!(
        all,
        report(400.0, 929.072298, &[], &[("mean", 4_305_000.0)])
    );
    let all = read_with_stderr("pgbench", "pgbench_progress", "pgbench_progress_stderr");
    assert_eq!(
        all,
        report(38900.0, 19581.46999, &[], &[("mean", 98_000.0)])
    );
    let all = read("pgbench", "pgbench_rate");
    assert_eq!(all, report(209.0, 212.243721, &[], &[("mean", 552_000.0)]));
    let errors = [(132.0, "number of failed transactions")];
    let all = read("pgbench", "pgbench_errors");
    assert_eq!(
        all,
        report(68.0, 782.517635, &errors, &[("mean", 1_738_000.0)])
    );
    let errors = [(26.0, "number of failed transactions")];
    let all = read("pgbench", "pgbench_scripts");
    assert_eq!(
        all,
        report(174.0, 4012.082363, &errors, &[("mean", 867_000.0)])
    );
    assert_eq!(read("pgbench", "pgbench_tries").requests, Some(186.0));
    let words = "client aborted in command 2 query 0: ERROR:  division by zero";
    let all = read_with_stderr("pgbench", "pgbench_aborted", "pgbench_aborted_stderr");
    assert_eq!(
        all,
        report(15.0, 1098.418278, &[(4.0, words)], &[("mean", 3_642_000.0)])
    );
}

/// The report of PostgreSQL 13, written by hand and not recorded.
#[test]
fn reads_older_pgbench_without_connection_time() {
    let text = "number of transactions actually processed: 10000/10000\nlatency average = 11.013 \
                ms\nlatency stddev = 7.351 ms\ntps = 896.967014 (including connections \
                establishing)\ntps = 897.549283 (excluding connections establishing)\n";
    let all = generator("pgbench").read(text, "").unwrap();
    assert_eq!(
        all,
        report(10000.0, 897.549283, &[], &[("mean", 11_013_000.0)])
    );
}

#[test]
fn a_pgbench_whose_clients_all_abort_has_a_rate_of_zero() {
    let stderr = "pgbench: error: client 0 script 0 aborted in command 2 query 0: ERROR:  x\n";
    let text = "number of transactions actually processed: 0/200\n";
    let all = generator("pgbench").read(text, stderr).unwrap();
    let words = "client aborted in command 2 query 0: ERROR:  x";
    assert_eq!(all, report(0.0, 0.0, &[(1.0, words)], &[]));
}

#[test]
fn reads_sysbench() {
    let latencies = [
        ("min", 490e3),
        ("mean", 840e3),
        ("p99", 5770e3),
        ("max", 9910e3),
    ];
    assert_eq!(
        read("sysbench", "sysbench"),
        report(4779.0, 2385.26, &[], &latencies)
    );
    let errors = [(6.0, "ignored errors")];
    let latencies = [
        ("min", 2_420_000.0),
        ("mean", 198_110_000.0),
        ("p95", 1_013_600_000.0),
        ("max", 1_014_600_000.0),
    ];
    let all = read("sysbench", "sysbench_errors");
    assert_eq!(all, report(21.0, 20.12, &errors, &latencies));
    let latencies = [("min", 20e3), ("mean", 50e3), ("max", 6310e3)];
    assert_eq!(
        read("sysbench", "sysbench_p0"),
        report(42385.0, 42235.61, &[], &latencies)
    );
    assert_eq!(read("sysbench", "sysbench_rate").rate, Some(97.35));
}

#[test]
fn reads_the_events_of_other_tests_of_sysbench() {
    let latencies = [
        ("min", 220e3),
        ("mean", 460e3),
        ("p95", 4250e3),
        ("max", 8430e3),
    ];
    assert_eq!(
        read("sysbench", "sysbench_cpu"),
        report(4330.0, 4326.4, &[], &latencies)
    );
    let all = read("sysbench", "sysbench_memory");
    assert_eq!(
        all,
        report(7_167_450.0, 7_162_004.9, &[], &[("max", 120e3)])
    );
    let all = read("sysbench", "sysbench_threads");
    assert_eq!(
        (all.requests, all.rate),
        (Some(1643.0), Some(1643.0 / 1.0006))
    );
}

#[test]
fn adds_up_further_kinds_of_errors() {
    let mut text = "Requests/sec: 5\nError distribution:\n".to_owned();
    text.extend((0..1000).map(|port| format!("  [2]\tread tcp 127.0.0.1:{port}: reset\n")));
    let all = generator("hey").read(&text, "").unwrap();
    assert_eq!(all.errors.len(), 11);
    assert_eq!(all.errors[10], (2.0 * 990.0, "other errors".to_owned()));
}

#[test]
fn recognises_the_generator_of_a_command_line() {
    for (line, name) in [
        ("wrk -t1 -c32 -d1s http://127.0.0.1/", Some("wrk")),
        ("/usr/bin/wrk http://127.0.0.1/", Some("wrk")),
        ("wrk -t1 -R 500 http://127.0.0.1/", Some("wrk2")),
        ("wrk -LR500 http://127.0.0.1/", Some("wrk2")),
        ("wrk2 -R500 http://127.0.0.1/", Some("wrk2")),
        (
            "env -u Y X=1 taskset -c 1 nice -n 5 timeout 5 hey x",
            Some("hey"),
        ),
        ("env -i X=1 oha x", Some("oha")),
        ("nice -5 ab x", Some("ab")),
        ("timeout -k 1 --signal=TERM 5s k6 run x", Some("k6")),
        ("taskset 0x2 memtier_benchmark", Some("memtier")),
        ("numactl -C 1 redis-benchmark", Some("redis-benchmark")),
        ("X=1 pgbench", Some("pgbench")),
        (r"C:\bin\sysbench.exe cpu run", Some("sysbench")),
        ("./load.sh wrk", None),
        ("timeout", None),
        ("taskset -c", None),
        ("env", None),
        ("", None),
    ] {
        let found = Generator::of_command(&words(line)).map(Generator::name);
        assert_eq!(found, name, "{line}");
    }
    assert!(Generator::of_command(&[]).is_none());
    assert!(Generator::named("siege").is_none());
}

#[test]
fn tells_an_open_loop_from_a_closed_one() {
    for (name, line, expected) in [
        ("wrk", "wrk -c8 x", Loop::Closed),
        ("wrk2", "wrk2 -R500 x", Loop::Open),
        ("oha", "oha -q 100 x", Loop::Closed),
        ("oha", "oha -q 100 --latency-correction x", Loop::Open),
        ("oha", "oha --latency-correction x", Loop::Closed),
        ("hey", "hey -q 100 x", Loop::Closed),
        ("ab", "ab -n 1 x", Loop::Closed),
        ("k6", "k6 run x.js", Loop::Closed),
        (
            "k6",
            "k6 run -e EXECUTOR=constant-arrival-rate x.js",
            Loop::Open,
        ),
        ("redis-benchmark", "redis-benchmark", Loop::Closed),
        (
            "memtier",
            "memtier_benchmark --rate-limiting=5",
            Loop::Closed,
        ),
        ("pgbench", "pgbench -nSR100", Loop::Open),
        ("pgbench", "pgbench --rate 100", Loop::Open),
        ("pgbench", "pgbench -r", Loop::Closed),
        (
            "sysbench",
            "sysbench --rate=100 oltp_read_only run",
            Loop::Open,
        ),
        (
            "sysbench",
            "sysbench --rate=0 oltp_read_only run",
            Loop::Closed,
        ),
    ] {
        assert_eq!(generator(name).loop_of(&words(line)), expected, "{line}");
    }
}

#[test]
fn adds_only_missing_options_before_the_url() {
    let k6 = "--summary-trend-stats=avg,min,med,max,p(90),p(95),p(99),p(99.9)";
    for (line, adapted) in [
        ("taskset -c 1 wrk -c8 x", "taskset -c 1 wrk --latency -c8 x"),
        ("wrk -L x", "wrk -L x"),
        ("wrk --latency x", "wrk --latency x"),
        ("wrk -R5 x", "wrk --latency -R5 x"),
        ("oha x", "oha --no-tui x"),
        ("oha --no-tui x", "oha --no-tui x"),
        ("hey x", "hey x"),
        ("ab x", "ab x"),
        ("k6 -q run x.js", &format!("k6 -q run {k6} x.js")),
        (
            "k6 run --summary-trend-stats avg x.js",
            "k6 run --summary-trend-stats avg x.js",
        ),
        ("k6", "k6"),
        ("redis-benchmark -t get", "redis-benchmark -t get"),
        ("redis-benchmark -q", "redis-benchmark -q"),
        ("redis-benchmark --csv", "redis-benchmark --csv"),
        ("memtier_benchmark", "memtier_benchmark"),
        ("pgbench -T1", "pgbench -T1"),
        ("sysbench cpu run", "sysbench cpu run"),
    ] {
        let own = Generator::of_command(&words(line)).unwrap();
        assert_eq!(own.adapted(words(line)), words(adapted), "{line}");
        let twice = own.adapted(own.adapted(words(line)));
        assert_eq!(twice, words(adapted), "{line}");
    }
    let script = words("./load.sh http://127.0.0.1/");
    assert_eq!(generator("wrk").adapted(script.clone()), script);
}

#[test]
fn every_latency_that_is_promised_is_in_the_recorded_output() {
    for (line, file) in [
        ("wrk x", "wrk"),
        ("wrk2 -R5 x", "wrk2"),
        ("oha x", "oha"),
        ("hey x", "hey"),
        ("ab x", "ab"),
        ("k6 run x", "k6_errors"),
        ("redis-benchmark -t get", "redis_benchmark"),
        ("redis-benchmark -t get,set", "redis_benchmark_two"),
        ("redis-benchmark -t get -q", "redis_benchmark_q_one"),
        ("memtier_benchmark", "memtier"),
        ("pgbench", "pgbench"),
        ("sysbench cpu run", "sysbench_cpu"),
        ("sysbench memory run", "sysbench_memory"),
        (
            "sysbench --percentile=0 oltp_point_select run",
            "sysbench_p0",
        ),
    ] {
        let own = Generator::of_command(&words(line)).unwrap();
        let all = own.read(&recorded(file), "").unwrap().latencies;
        for name in own.latencies(&words(line)) {
            assert!(all.iter().any(|(other, _)| other == name), "{line}: {name}");
        }
    }
}

#[test]
fn generators_have_distinct_names_and_one_line_about_them() {
    for (at, one) in Generator::ALL.iter().enumerate() {
        assert_eq!(Generator::named(one.name()).unwrap().name(), one.name());
        assert!(
            Generator::ALL[..at]
                .iter()
                .all(|other| other.name() != one.name())
        );
        assert!(!one.about().contains('\n'), "{}", one.about());
    }
}

fn assert_is_usable(result: &Result<Report, String>) {
    match result {
        Ok(report) => {
            let counts = report.errors.iter().map(|(count, _)| *count);
            let times = report.latencies.iter().map(|(_, value)| *value);
            let positive: Vec<f64> = counts.chain(times).collect();
            assert!(
                positive.iter().all(|it| it.is_finite() && *it > 0.0),
                "{report:?}"
            );
            let rest = report.requests.into_iter().chain(report.rate);
            assert!(
                rest.into_iter().all(|it| it.is_finite() && it >= 0.0),
                "{report:?}"
            );
            assert!(report.rate.is_some());
        }
        Err(text) => assert!(!text.contains('\n'), "{text}"),
    }
}

fn all_recorded() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/generators");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect();
    files.sort();
    let texts = files.iter().map(|file| fs::read_to_string(file).unwrap());
    texts.collect()
}

#[test]
fn truncated_output_never_panics() {
    for text in all_recorded() {
        let ends = (0..=text.len())
            .filter(|end| text.is_char_boundary(*end))
            .step_by(29);
        for part in ends.map(|end| &text[..end]) {
            for one in Generator::ALL {
                assert_is_usable(&one.read(part, ""));
                assert_is_usable(&one.read("", part));
            }
        }
    }
}

const ODD_NUMBERS: [&str; 8] = ["nan", "-inf", "1e999", "-1", "0", "", "9e307", "1e-400"];

proptest! {
    #[test]
    fn arbitrary_text_never_panics(stdout in "(?s).{0,200}", stderr in "(?s).{0,200}") {
        for one in Generator::ALL {
            assert_is_usable(&one.read(&stdout, &stderr));
        }
    }

    #[test]
    fn odd_numbers_never_become_infinite(file in any::<prop::sample::Index>(), odd in 0..8_usize,
        every in 1..9_usize, offset in 0..9_usize) {
        let texts = all_recorded();
        let text = file.get(&texts);
        let is_digit = |c: char| c.is_ascii_digit() || c == '.';
        let mut changed = String::new();
        let mut rest = text.as_str();
        let mut count = offset;
        while let Some(at) = rest.find(is_digit) {
            let (before, tail) = rest.split_at(at);
            let (digits, tail) = tail.split_at(tail.find(|c| !is_digit(c)).unwrap_or(tail.len()));
            count += 1;
            changed.push_str(before);
            changed.push_str(if count % every == 0 { ODD_NUMBERS[odd] } else { digits });
            rest = tail;
        }
        changed.push_str(rest);
        for one in Generator::ALL {
            assert_is_usable(&one.read(&changed, &changed));
        }
    }

    #[test]
    fn arbitrary_command_lines_never_panic(words in prop::collection::vec(
        "wrk|k6|run|env|taskset|timeout|-c|-L|--|X=1|-R|--rate=|é|-é|redis-benchmark|oha", 0..8)) {
        for one in Generator::ALL {
            one.loop_of(&words);
            one.latencies(&words);
            let adapted = one.adapted(words.clone());
            let mut rest = adapted.iter();
            prop_assert!(words.iter().all(|word| rest.any(|other| other == word)));
        }
    }
}
