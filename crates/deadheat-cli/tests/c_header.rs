//! include/deadheat.h: that it compiles everywhere without a warning, and that
//! programs made with it do what docs/c.md promises.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::worker::{Worker, block, compiled, prepare, program, repository};
use common::{Finished, lives, wait_until};
use deadheat_testing::needs;
use serde_json::{Value, json};
use tempfile::TempDir;

const C: [&str; 2] = ["-std=c99", "-O2"];
const CPP: [&str; 2] = ["-std=c++17", "-O2"];

/// A C program whose benchmarks are these.
fn in_c(name: &str, benchmarks: &str) -> PathBuf {
    let source = format!(
        "#define DEADHEAT_IMPLEMENTATION\n#include <deadheat.h>\n#include <stdio.h>\n\
         #include <stdlib.h>\n#include <string.h>\n{benchmarks}\nDEADHEAT_MAIN();\n"
    );
    program(name, "gcc", &C, &source)
}

/// A C++ program whose benchmarks are these.
fn in_cpp(name: &str, benchmarks: &str) -> PathBuf {
    let source = format!(
        "#define DEADHEAT_IMPLEMENTATION\n#include <deadheat.h>\n#include <atomic>\n\
         #include <cstdio>\n#include <stdexcept>\n#include <vector>\n{benchmarks}\n\
         DEADHEAT_MAIN();\n"
    );
    program(name, "g++", &CPP, &source)
}

fn by_hand(program: &Path, args: &[&str]) -> Finished {
    let mut command = Command::new(program);
    let command = command.args(args).env_remove("DEADHEAT_WORKER");
    Finished::from(command.output().unwrap())
}

/// The benchmarks that the worker lists.
fn listed(program: &Path) -> Value {
    let mut worker = Worker::start(program, &[]);
    worker.hello();
    worker.ask(json!({"list": {}}), "listed")["benchmarks"].clone()
}

/// Every way to say what a benchmark is.
const EVERYTHING_IN_C: &str = r##"
static void *made(uint64_t seed)
{
    uint64_t *number = malloc(sizeof *number);
    *number = deadheat_random(&seed);
    return number;
}
static void set_up(void *context) { (void)context; }
static void by_pointer(void *input) { deadheat_keep(*(const uint64_t *)input); }
struct large { double values[100]; };

DEADHEAT_BENCHMARK(empty) {}
DEADHEAT_BENCHMARK(kept)
{
    struct large large = {{0}};
    const char text[] = "text";
    deadheat_keep(large);
    deadheat_keep(text);
    deadheat_keep(deadheat_opaque(2.0) / 3.0);
    deadheat_keep((char)1);
}
DEADHEAT_BENCHMARK(described, .name = "all of it", .input = made, .drop_input = free,
                   .setup = set_up, .threads = 2, .bytes = 8, .ignored = 1,
                   .parameters = {{"length", "1"}, {"kind", "a \"b\""}})
{
    deadheat_keep(*(const uint64_t *)input);
}
DEADHEAT_CANDIDATE(several, second) { by_pointer(input); }
DEADHEAT_BASELINE(several, first, .input = made, .drop_input = free, .items = 1)
{
    by_pointer(input);
}
DEADHEAT_SUITE(more)
{
    deadheat_register(&(deadheat_benchmark){
        .name = "registered", .input = made, .drop_input = free, .call = by_pointer});
    deadheat_register(&(deadheat_benchmark){
        .name = "used up", .input = made, .drop_input = free, .input_per_call = 1,
        .contenders = {{"one", by_pointer}, {"other", by_pointer}}});
}
"##;

const EVERYTHING_IN_CPP: &str = r##"
#include <algorithm>
#include <numeric>

using Words = std::vector<std::uint64_t>;

static Words words(std::uint64_t seed)
{
    Words words(100);
    std::generate(words.begin(), words.end(), deadheat::random(seed));
    return words;
}

DEADHEAT_BENCHMARK(empty) {}
DEADHEAT_BASELINE(several, first) { deadheat_keep(deadheat_opaque(1.5)); }
DEADHEAT_CANDIDATE(several, second) { deadheat_keep(deadheat_opaque(2)); }

static const auto sum = deadheat::benchmark("sum")
    .parameter("length", "100")
    .bytes(800)
    .input(words)
    .baseline("loop", [](const auto &words) {
        std::uint64_t total = 0;
        for (auto word : words)
            total += word;
        return total;
    })
    .candidate("accumulate", [](const Words &words) {
        return std::accumulate(words.begin(), words.end(), std::uint64_t{0});
    })
    .threads(2);

DEADHEAT_SUITE(more)
{
    deadheat::benchmark("sort")
        .items(100)
        .ignored()
        .setup([] {})
        .input_per_call(words)
        .function([](Words &words) { std::sort(words.begin(), words.end()); });
    deadheat::benchmark("strings").function([] { return std::string(100, 'x'); });
    for (int n : {1, 2})
        deadheat::benchmark("loop/" + std::to_string(n)).function([n] {
            for (int i = 0; i < n; i++)
                deadheat::keep(i);
        });
}
"##;

#[test]
fn the_header_compiles_without_a_warning_in_every_mode() {
    needs!("clang", "clang++", "g++");
    let folder = TempDir::new().unwrap();
    let head = "#define DEADHEAT_IMPLEMENTATION\n#include <deadheat.h>\n#include <stdlib.h>\n";
    let foot = "DEADHEAT_MAIN();\n";
    let written = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let c = written("all.c", &format!("{head}{EVERYTHING_IN_C}{foot}"));
    let cpp_head = format!("{head}#include <string>\n#include <vector>\n");
    let cpp = written("all.cpp", &format!("{cpp_head}{EVERYTHING_IN_CPP}{foot}"));
    let program = folder.path().join("all");
    for (source, compilers, modes) in [
        (
            &c,
            ["gcc", "clang"],
            [["-std=c99", "-O3"], ["-std=gnu17", "-O0"]],
        ),
        (
            &cpp,
            ["g++", "clang++"],
            [["-std=c++17", "-O3"], ["-std=c++20", "-O0"]],
        ),
    ] {
        for compiler in compilers {
            for mode in modes {
                compiled(compiler, &mode, &[source], &program);
                let done = by_hand(&program, &[]);
                let names = done.succeeds().stdout.lines().count();
                assert!(names > 4, "{done:?}");
            }
        }
    }
}

#[test]
fn everything_that_is_said_of_a_benchmark_is_listed() {
    needs!("g++");
    let list = listed(&in_c("everything-c", EVERYTHING_IN_C));
    let named = |list: &Value, name: &str| {
        let list = list.as_array().unwrap();
        let found = list.iter().find(|listed| listed["name"] == name);
        found
            .unwrap_or_else(|| panic!("{name} in {list:?}"))
            .clone()
    };
    assert_eq!(
        named(&list, "all of it"),
        json!({"name": "all of it", "contenders": ["all of it"], "threads": 2, "ignored": true,
            "parameters": [["length", "1"], ["kind", "a \"b\""]], "throughput": {"bytes": 8}})
    );
    // The baseline comes first, wherever it stands.
    assert_eq!(
        named(&list, "several")["contenders"],
        json!(["first", "second"])
    );
    assert_eq!(named(&list, "several")["throughput"], json!({"items": 1}));
    assert_eq!(
        named(&list, "used up")["contenders"],
        json!(["one", "other"])
    );
    assert_eq!(list.as_array().unwrap().len(), 6);

    let list = listed(&in_cpp("everything-cpp", EVERYTHING_IN_CPP));
    assert_eq!(
        named(&list, "sum"),
        json!({"name": "sum", "contenders": ["loop", "accumulate"], "threads": 2,
            "ignored": false, "parameters": [["length", "100"]], "throughput": {"bytes": 800}})
    );
    assert_eq!(named(&list, "sort")["ignored"], true);
    assert_eq!(named(&list, "loop/2")["contenders"], json!(["loop/2"]));
    assert_eq!(list.as_array().unwrap().len(), 7);
}

#[test]
fn a_sample_shows_the_eight_metrics_of_the_thread() {
    let program = in_c("metrics", "DEADHEAT_BENCHMARK(empty) {}");
    let mut worker = Worker::start(&program, &[]);
    let metrics = [
        "wall_ns",
        "cpu_ns",
        "minor_faults",
        "major_faults",
        "voluntary_switches",
        "involuntary_switches",
        "migrations",
        "run_delay_ns",
    ];
    assert_eq!(worker.hello()["metrics"], json!(metrics));
}

/// Benchmarks that spin for 100 ms on the first core there is: alone, beside a
/// thread that spins, beside one that sleeps, and with a child.
const SPINNERS: &str = r##"
#include <sys/wait.h>
static void pinned(void *context)
{
    cpu_set_t set;
    size_t core = 0;
    (void)context;
    sched_getaffinity(0, sizeof set, &set);
    while (!CPU_ISSET(core, &set))
        core++;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    sched_setaffinity(0, sizeof set, &set);
}
static void spin(void)
{
    struct timespec begun, now;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begun.tv_sec) * 1000000000L + now.tv_nsec - begun.tv_nsec < 100000000L);
}
static void *spinning(void *nothing)
{
    spin();
    return nothing;
}
static void *sleeping(void *nothing)
{
    sleep(60);
    return nothing;
}
static pthread_t started;
static void asleep(void *context)
{
    pinned(context);
    pthread_create(&started, NULL, sleeping, NULL);
}
static void with_child(void *context)
{
    pinned(context);
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sleep(60);
        _exit(0);
    }
}
DEADHEAT_BENCHMARK(alone, .setup = pinned) { spin(); }
DEADHEAT_BENCHMARK(beside_a_sleeper, .setup = asleep) { spin(); }
DEADHEAT_BENCHMARK(beside_a_child, .setup = with_child) { spin(); }
DEADHEAT_BENCHMARK(beside_a_spinner, .setup = pinned)
{
    pthread_create(&started, NULL, spinning, NULL);
    spin();
    pthread_join(started, NULL);
}
"##;

#[test]
fn waiting_for_a_core_is_told_and_kept_where_it_may_be_its_own_doing() {
    if !Path::new("/proc/thread-self/schedstat").exists() {
        return eprintln!("skipped: no schedstat here");
    }
    let program = in_c("spinners", SPINNERS);
    // Two processes on one core: each waits for the other.
    let raced = |benchmark: &'static str| {
        let program = program.clone();
        std::thread::spawn(move || {
            let mut worker = Worker::start(&program, &[]);
            worker.prepare(benchmark, None);
            worker.ask(block(7, &json!([0, 0]), 1, 0, 1), "block")
        })
    };
    let told = |reply: &Value| {
        let values = reply["values"].as_array().unwrap();
        let of = |index: usize| values[index].as_f64().unwrap();
        // Of both samples wall time, CPU time and delay.
        [0, 1, 7].map(|metric| of(metric) + of(8 + metric))
    };
    let both = [raced("alone"), raced("beside_a_sleeper")];
    for reply in both.map(|one| one.join().unwrap()) {
        assert_eq!(reply.get("keep_waiting"), None, "{reply}");
        let [wall, cpu, delay] = told(&reply);
        assert!(delay > 20e6 && delay < wall, "{wall} {cpu} {delay}");
    }
    for benchmark in ["beside_a_child", "beside_a_spinner"] {
        let reply = raced(benchmark).join().unwrap();
        assert_eq!(reply["keep_waiting"], "concurrent", "{benchmark}");
    }
}

#[test]
fn several_files_share_their_benchmarks_in_c_and_in_cpp() {
    needs!("clang++");
    let folder = TempDir::new().unwrap();
    let written = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let with_main = "#define DEADHEAT_IMPLEMENTATION\n#include <deadheat.h>\nDEADHEAT_MAIN();\n";
    // Whoever does not implement includes it where he likes.
    let candidate = "#include <stdio.h>\n#include <deadheat.h>\n\
        DEADHEAT_CANDIDATE(shared, z) {}\nDEADHEAT_CANDIDATE(shared, y) {}\n";
    let baseline = "#include <deadheat.h>\nDEADHEAT_BASELINE(shared, x) {}\n";
    let a = written("a.c", candidate);
    let b = written("b.c", baseline);
    let program = folder.path().join("program");
    let expected = json!(["x", "z", "y"]);
    let main = written("main.c", with_main);
    for order in [[&main, &a, &b], [&b, &a, &main]] {
        let order = order.map(PathBuf::as_path);
        compiled("gcc", &C, &order, &program);
        // However they are linked, a contender keeps its number.
        assert_eq!(listed(&program)[0]["contenders"], expected);
    }
    let files = [
        ("main.cpp", with_main),
        ("a.cpp", candidate),
        ("b.cpp", baseline),
    ];
    let files = files.map(|(name, text)| written(name, text));
    let files = [&files[1], &files[2], &files[0]].map(PathBuf::as_path);
    compiled("clang++", &CPP, &files, &program);
    assert_eq!(listed(&program)[0]["contenders"], expected);
}

#[test]
fn exceptions_need_an_implementation_that_can_catch_them() {
    needs!("g++");
    let folder = TempDir::new().unwrap();
    let main = folder.path().join("main.c");
    let text = "#define DEADHEAT_IMPLEMENTATION\n#include <deadheat.h>\nDEADHEAT_MAIN();\n";
    fs::write(&main, text).unwrap();
    let object = folder.path().join("main.o");
    compiled("gcc", &["-std=c99", "-c"], &[&main], &object);
    let benchmarks = folder.path().join("benchmarks.cpp");
    fs::write(
        &benchmarks,
        "#include <deadheat.h>\nDEADHEAT_BENCHMARK(one) {}\n",
    )
    .unwrap();
    let linked = Command::new("g++")
        .args(["-std=c++17", "-I"])
        .arg(repository().join("include"))
        .args([&benchmarks, &object, Path::new("-o")])
        .arg(folder.path().join("program"))
        .output()
        .unwrap();
    let done = Finished::from(linked);
    done.fails_with(1, &["deadheat_implementation_must_be_compiled_as_cpp"]);
}

/// A benchmark whose calls are counted, and one that says how many there were.
const COUNTED: &str = r##"
static unsigned long calls;
DEADHEAT_BASELINE(counted, count) { calls++; }
DEADHEAT_CANDIDATE(counted, tell) { dprintf(2, "%lu calls\n", calls); }
"##;

#[test]
fn every_call_that_is_asked_for_is_made_however_little_it_does() {
    needs!("clang");
    for (compiler, standard) in [("gcc", "-std=c99"), ("clang", "-std=c99")] {
        let source = format!(
            "#define DEADHEAT_IMPLEMENTATION\n#include <deadheat.h>\n#include <stdio.h>\n\
             {COUNTED}\nDEADHEAT_MAIN();\n"
        );
        let name = format!("counted-{compiler}");
        let program = program(&name, compiler, &[standard, "-O3"], &source);
        let mut worker = Worker::start(&program, &[]);
        worker.prepare("counted", None);
        worker.block(1, &[0], 1_000_003);
        worker.block(2, &[0], 7);
        worker.block(3, &[1], 1);
        assert_eq!(worker.ended().log, "1000010 calls\n");
    }
}

#[test]
fn the_loop_around_an_empty_function_stays_a_loop() {
    needs!("clang");
    // What one iteration does cannot be seen from outside, so the assembly is
    // read: a backward jump within the function that makes the calls.
    let folder = TempDir::new().unwrap();
    let source = folder.path().join("empty.c");
    fs::write(
        &source,
        "#include <deadheat.h>\nDEADHEAT_BENCHMARK(empty) {}\n",
    )
    .unwrap();
    for compiler in ["gcc", "clang"] {
        let assembly = folder.path().join("empty.s");
        compiled(compiler, &["-std=c99", "-O3", "-S"], &[&source], &assembly);
        let text = fs::read_to_string(&assembly).unwrap();
        let function = text
            .split("\ndeadheat_calls_empty:")
            .nth(1)
            .expect("it is there");
        let function = function.split(".cfi_endproc").next().unwrap();
        let mut labels = Vec::new();
        let mut backward = 0;
        for line in function.lines().map(str::trim) {
            if let Some((label, _)) = line.split_once(':') {
                labels.push(label);
            } else if let Some(target) = line.split_whitespace().last() {
                backward += usize::from(labels.contains(&target));
            }
        }
        assert!(backward >= 1, "{compiler}:\n{function}");
    }
}

#[test]
fn an_input_is_made_once_a_block_and_one_per_call_is_made_for_every_call() {
    let program = in_c(
        "inputs",
        r##"
static void *made(uint64_t seed)
{
    int *fresh = calloc(1, sizeof *fresh);
    dprintf(2, "made %d\n", (int)seed);
    return fresh;
}
static void dropped(void *input)
{
    dprintf(2, "dropped %d\n", *(int *)input);
    free(input);
}
DEADHEAT_BENCHMARK(shared, .input = made, .drop_input = dropped) { ++*(int *)input; }
DEADHEAT_BENCHMARK(used, .input = made, .drop_input = dropped, .input_per_call = 1)
{
    ++*(int *)input;
}
"##,
    );
    let mut worker = Worker::start(&program, &[]);
    assert_eq!(
        worker.prepare("shared", None),
        json!({"renews_input": true})
    );
    worker.block(1, &[0, 0], 2);
    worker.block(2, &[0], 1);
    worker.block(3, &[0], 1);
    let log = worker.ended().log;
    assert_eq!(log, "made 1\ndropped 4\nmade 2\ndropped 1\nmade 3\n");

    let mut worker = Worker::start(&program, &[]);
    worker.prepare("used", None);
    worker.block(1, &[0, 0], 2);
    let log = worker.log();
    let sample = "made 1\nmade 1\ndropped 1\ndropped 1\n";
    assert_eq!(log, sample.repeat(2));
    let calibrate = json!({"calibrate": {"seed": 1, "least_ns": 1e9}});
    let calibrated = worker.ask(calibrate, "calibrated");
    assert_eq!(calibrated["iterations"], 4096);
    assert_eq!(calibrated["most_iterations"], 4096);
}

#[test]
fn threads_call_together_and_their_calls_add_up() {
    needs!("g++");
    let program = in_cpp(
        "threads",
        r##"
static std::atomic<unsigned> calls, at_once, most;
static const auto together = deadheat::benchmark("together")
    .threads(3)
    .baseline("count", [] {
        const unsigned now = ++at_once;
        unsigned before = most;
        while (before < now && !most.compare_exchange_weak(before, now)) {
        }
        // Stays until everyone is here, which only threads can do.
        if (calls < 3)
            while (at_once < 3 && calls < 3) {
            }
        ++calls;
        --at_once;
    })
    .candidate("tell", [] { dprintf(2, "%u calls, %u at once\n", calls.load(), most.load()); });
"##,
    );
    let mut worker = Worker::start(&program, &[]);
    worker.prepare("together", None);
    let values = worker.block(1, &[0], 1000);
    assert_eq!(values.len(), 8);
    assert!(values[0] > 0.0 && values[1] > 0.0, "{values:?}");
    worker.block(2, &[1], 1);
    let log = worker.ended().log;
    assert_eq!(log, "3000 calls, 3 at once\n".repeat(3));
}

#[test]
fn setup_comes_once_and_before_everything_else() {
    let program = in_c(
        "setup",
        r##"
static const int length = 100;
static void set_up(void *context) { dprintf(2, "set up %d\n", *(const int *)context); }
static void *made(uint64_t seed)
{
    (void)seed;
    dprintf(2, "made\n");
    return NULL;
}
static void called(void *input) { dprintf(2, "%s\n", input == NULL ? "input" : "context"); }
DEADHEAT_SUITE(all)
{
    deadheat_benchmark benchmark = {.name = "with input", .call = called, .setup = set_up,
                                    .context = (void *)&length, .input = made};
    deadheat_register(&benchmark);
    benchmark.name = "without";
    benchmark.input = NULL;
    deadheat_register(&benchmark);
}
"##,
    );
    for (name, log) in [
        ("with input", "set up 100\nmade\ninput\nmade\ninput\n"),
        ("without", "set up 100\ncontext\ncontext\n"),
    ] {
        let mut worker = Worker::start(&program, &[]);
        worker.prepare(name, None);
        worker.block(1, &[0], 1);
        worker.block(2, &[0], 1);
        assert_eq!(worker.ended().log, log);
    }
}

#[test]
fn whoever_gives_up_is_named_with_what_he_said() {
    needs!("g++");
    let program = in_cpp(
        "failing",
        r##"
static const auto throwing = deadheat::benchmark("throwing")
    .baseline("sound", [] {})
    .candidate("broken", [] { throw std::runtime_error("no \"luck\"\n\xff today"); });
static const auto odd = deadheat::benchmark("odd").function([] { throw 3; });
static const auto feeding = deadheat::benchmark("input")
    .input([](std::uint64_t) -> int { throw std::out_of_range("no input"); })
    .function([](int) {});
static const auto setup = deadheat::benchmark("setup")
    .setup([] { throw std::logic_error("no setup"); })
    .function([] {});
static const auto in_thread = deadheat::benchmark("in a thread").threads(2).function([] {
    throw std::runtime_error("not here");
});
DEADHEAT_BENCHMARK(given_up) { deadheat_fail("no file"); }
"##,
    );
    let mut worker = Worker::start(&program, &[]);
    worker.prepare("throwing", None);
    worker.block(1, &[0, 0], 1);
    worker.say(&block(2, &json!([0, 1]), 1, 0, 1).to_string());
    worker.fails(json!(1), json!({"panicked": "no \"luck\"\n? today"}));
    for (name, contender, message) in [
        (
            "odd",
            json!(0),
            "threw something that is not a std::exception",
        ),
        ("input", Value::Null, "no input"),
        ("in a thread", json!(0), "not here"),
        ("given_up", json!(0), "no file"),
    ] {
        for request in [
            json!({"smoke": {"seed": 1}}),
            json!({"calibrate": {"seed": 1, "least_ns": 5000}}),
            json!({"warm_up": {"seed": 1, "order": [0], "iterations": 1}}),
            block(1, &json!([0]), 1, 0, 1),
        ] {
            let mut worker = Worker::start(&program, &[]);
            worker.prepare(name, None);
            worker.say(&request.to_string());
            worker.fails(contender.clone(), json!({"panicked": message}));
        }
    }
    let mut worker = Worker::start(&program, &[]);
    worker.hello();
    worker.say(&prepare("setup", None).to_string());
    worker.fails(Value::Null, json!({"panicked": "no setup"}));
}

#[test]
fn a_crash_and_an_exit_end_the_process_and_leave_a_note_of_whom_they_hit() {
    let program = in_c(
        "crashing",
        "DEADHEAT_BASELINE(race, sound) {}\n\
         DEADHEAT_CANDIDATE(race, crash) { abort(); }\n\
         DEADHEAT_CANDIDATE(race, leave) { exit(0); }",
    );
    for contender in [1, 2] {
        let mut worker = Worker::start(&program, &[]);
        worker.prepare("race", None);
        worker.say(&block(1, &json!([0, contender]), 1, 0, 1).to_string());
        assert_eq!(worker.hear(), None);
        assert_eq!(worker.ended().notes, [0, 1, contender + 1]);
    }
    let mut worker = Worker::start(&program, &[]);
    worker.prepare("race", None);
    worker.block(1, &[0], 1);
    assert_eq!(worker.ended().notes, [0, 1, 0]);
}

#[test]
fn heap_and_stack_move_as_told() {
    let program = program(
        "places",
        "gcc",
        &C,
        r##"
#define DEADHEAT_IMPLEMENTATION
#include <deadheat.h>
#include <stdio.h>
#include <stdlib.h>
static const char *start;
DEADHEAT_BENCHMARK(places)
{
    char here = 0;
    char *volatile now = &here;
    dprintf(2, "%ld\n", (long)(start - now));
}
int main(int argc, char **argv)
{
    char here = 0;
    char *volatile now = &here;
    start = now;
    return deadheat_main(argc, argv);
}
"##,
    );
    let depth = |stack_bytes: u64| -> i64 {
        let mut worker = Worker::start(&program, &[]);
        worker.hello();
        let mut request = prepare("places", None);
        request["prepare"]["stack_bytes"] = json!(stack_bytes);
        request["prepare"]["heap_bytes"] = json!(50_000_000);
        worker.ask(request, "prepared");
        worker.block(1, &[0], 1);
        worker.ended().log.trim().parse().unwrap()
    };
    let near = depth(0);
    assert!((depth(4_000) - near - 4_000).abs() < 64, "{near}");
    assert!((depth(100_000) - near - 100_000).abs() < 64, "{near}");
}

#[test]
fn a_worker_hides_its_pipes_from_what_it_starts() {
    let program = in_c(
        "hiding",
        r##"
#include <fcntl.h>
DEADHEAT_BENCHMARK(look)
{
    int kept = 0;
    for (int fd = 3; fd <= 7; fd++)
        kept += (fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0;
    dprintf(2, "%d %d %d\n", kept, getenv("DEADHEAT_WORKER") == NULL,
            getenv("DEADHEAT_BATON") == NULL);
}
"##,
    );
    let mut worker = Worker::start_in_turns(&program);
    worker.prepare("look", None);
    worker.ask(json!({"smoke": {"seed": 1}}), "sound");
    assert_eq!(worker.ended().log, "0 1 1\n");
}

#[test]
fn what_a_function_has_started_ends_with_the_worker() {
    let program = in_c(
        "leaving",
        r##"
#include <unistd.h>
DEADHEAT_BENCHMARK(leave)
{
    setpgid(0, 0);
    pid_t child = fork();
    if (child == 0) {
        // The ends of a baton, which a test that waits for it would wait for.
        close(6);
        close(7);
        execlp("sleep", "sleep", "600", (char *)NULL);
        _exit(1);
    }
    dprintf(2, "%d\n", (int)child);
}
"##,
    );
    for says_goodbye in [true, false] {
        let mut worker = Worker::start(&program, &[]);
        worker.prepare("leave", None);
        worker.ask(json!({"smoke": {"seed": 1}}), "sound");
        let child = worker.log();
        assert!(lives(&child), "it was started: {child:?}");
        if says_goodbye {
            worker.say(&json!({"bye": {}}).to_string());
        }
        assert_eq!(worker.ended().code, Some(0));
        wait_until("it is gone", || !lives(&child));
    }
}

#[test]
fn numbers_have_a_point_whatever_the_locale_says() {
    // As printf would write under a locale with a comma, or one whose point
    // takes two bytes.
    for (name, comma) in [("comma", ","), ("momayyez", "\u{66b}")] {
        let source = format!(
            r##"
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
static __attribute__((format(printf, 3, 4))) int local_snprintf(char *text, size_t room,
                                                                const char *format, ...)
{{
    char plain[2048], *point;
    va_list values;
    va_start(values, format);
    vsnprintf(plain, sizeof plain, format, values);
    va_end(values);
    point = strcmp(format, "%.17g") == 0 ? strchr(plain, '.') : NULL;
    if (point == NULL)
        return snprintf(text, room, "%s", plain);
    *point = '\0';
    return snprintf(text, room, "%s{comma}%s", plain, point + 1);
}}
#define snprintf local_snprintf
#define DEADHEAT_IMPLEMENTATION
#include <deadheat.h>
#undef snprintf
DEADHEAT_BENCHMARK(empty) {{}}
DEADHEAT_MAIN();
"##
        );
        let program = program(name, "gcc", &C, &source);
        let mut worker = Worker::start(&program, &[]);
        worker.prepare("empty", None);
        let calibrate = json!({"calibrate": {"seed": 1, "least_ns": 5000}});
        let calibrated = worker.ask(calibrate, "calibrated");
        let ns = calibrated["call_ns"][0].as_f64().unwrap();
        assert!(ns > 0.0 && ns < 1e6 && ns.fract() != 0.0, "{calibrated}");
    }
}

#[test]
fn any_name_goes_there_and_back() {
    needs!("g++");
    let name = "sum \"\\/\u{fc}\u{1f600}\t";
    let program = in_cpp(
        "names",
        r##"static const auto named =
    deadheat::benchmark("sum \"\\/\u00fc\U0001F600\t").function([] {});"##,
    );
    assert_eq!(listed(&program)[0]["name"], name);
    let mut worker = Worker::start(&program, &[]);
    worker.prepare(name, None);
    let mut worker = Worker::start(&program, &[]);
    worker.hello();
    worker.say(r#"{"prepare":{"benchmark":"sum \"\\\/\u00FC\ud83d\uDE00\t"}}"#);
    assert!(worker.hear().expect("a reply")["prepared"].is_object());
}

#[test]
fn what_is_no_request_is_shown_and_ends_the_worker() {
    let program = in_c("strict", "DEADHEAT_BENCHMARK(empty) {}");
    for line in [
        "hello",
        "{}",
        r#"{"list":{}"#,
        r#"{"block":{"turns":[1,"a"]}}"#,
        r#"{"prepare":{"benchmark":"\ud83d"}}"#,
        r#"{"smoke":{"seed":-1}}"#,
    ] {
        let mut worker = Worker::start(&program, &[]);
        worker.hello();
        worker.say(line);
        // Half a pair of surrogates may be text to somebody.
        let reply = worker.hear();
        let told = reply.is_some_and(|reply| reply["failed"].is_object());
        let ended = worker.ended();
        assert!(told || ended.code == Some(2), "{line}");
        assert!(told || ended.log.contains(line), "{line}: {}", ended.log);
    }
}

#[test]
fn turns_of_nobody_are_unknown() {
    let program = in_c("turns", "DEADHEAT_BENCHMARK(empty) {}");
    // Without a baton there is no other process.
    for turns in [json!([0, 1]), json!([0, null])] {
        let mut worker = Worker::start(&program, &[]);
        worker.prepare("empty", None);
        worker.say(&block(1, &turns, 1, 0, 1).to_string());
        worker.fails(Value::Null, json!({"unknown": {}}));
    }
}

#[test]
fn benchmarks_get_the_arguments_behind_two_dashes() {
    let program = in_c(
        "arguments",
        r##"
DEADHEAT_BENCHMARK(arguments)
{
    for (size_t i = 0; deadheat_argument(i) != NULL; i++)
        dprintf(2, "%s;", deadheat_argument(i));
}
"##,
    );
    let mut worker = Worker::start(&program, &["--odd", "--", "one", "--", "two"]);
    worker.prepare("arguments", None);
    worker.block(1, &[0], 1);
    assert_eq!(worker.ended().log, "one;--;two;");
    // deadheat removes the `--` in front of the arguments of its programs.
    let mut worker = Worker::start(&program, &["one", "--benchmark_list_tests=true"]);
    worker.prepare("arguments", None);
    worker.block(1, &[0], 1);
    assert_eq!(worker.ended().log, "one;");
    let done = by_hand(&program, &["--", "one"]);
    assert!(done.succeeds().stderr.starts_with("one;"), "{done:?}");
}

#[test]
fn by_hand_every_function_is_called_once_and_the_way_to_race_is_told() {
    let program = in_c(
        "by-hand",
        "DEADHEAT_BASELINE(race, one) { puts(\"one!\"); }\n\
         DEADHEAT_CANDIDATE(race, two) { puts(\"two!\"); }\n\
         DEADHEAT_BENCHMARK(quiet, .ignored = 1) { puts(\"quiet!\"); }",
    );
    let done = by_hand(&program, &[]);
    assert_eq!(done.succeeds().stdout, "one!\ntwo!\nrace\n");
    assert!(done.stderr.contains("deadheat bench OLD "), "{done:?}");
    let done = by_hand(&program, &["--list"]);
    assert_eq!(done.succeeds().stdout, "race\nquiet\n");
    let done = by_hand(&program, &["--help"]);
    assert!(done.succeeds().stdout.contains("deadheat bench OLD NEW"));
    by_hand(&program, &["--fast"]).fails_with(2, &["'--fast'", "--help", "deadheat bench"]);
    let failing = in_c(
        "failing-by-hand",
        "DEADHEAT_BENCHMARK(f) { deadheat_fail(\"oh\"); }",
    );
    by_hand(&failing, &[]).fails_with(1, &["'f'", "oh"]);
}

#[test]
fn what_cannot_be_raced_is_refused_before_anything_is_said() {
    let of_c = [
        (
            "twice",
            "DEADHEAT_BENCHMARK(a, .name = \"same\") {}\nDEADHEAT_BENCHMARK(b, .name = \"same\") {}",
            "two benchmarks are named 'same', in ",
        ),
        (
            "no-baseline",
            "DEADHEAT_CANDIDATE(race, a) {}",
            "'race' has candidates but no baseline",
        ),
        (
            "two-baselines",
            "DEADHEAT_BASELINE(race, a) {}\nDEADHEAT_BASELINE(race, b) {}",
            "'race' has more than one baseline",
        ),
        (
            "nothing",
            "DEADHEAT_SUITE(s) { deadheat_register(&(deadheat_benchmark){.name = \"n\"}); }",
            "'n' has no function to call",
        ),
        (
            "both",
            "DEADHEAT_BENCHMARK(a, .bytes = 1, .items = 1) {}",
            "'a' counts bytes and items",
        ),
        (
            "no-name",
            "DEADHEAT_BENCHMARK(a, .name = \"\") {}",
            "an empty name",
        ),
        (
            "no-text",
            "DEADHEAT_BENCHMARK(a, .name = \"\\xff\") {}",
            "is not UTF-8",
        ),
        (
            "no-input",
            "DEADHEAT_BENCHMARK(a, .input_per_call = 1) {}",
            "but no input function",
        ),
    ];
    for (name, benchmarks, message) in of_c {
        let program = in_c(&format!("refused-{name}"), benchmarks);
        by_hand(&program, &[]).fails_with(2, &[message]);
        let mut worker = Worker::start(&program, &[]);
        assert_eq!(worker.hear(), None, "{name}");
        let ended = worker.ended();
        assert_eq!(ended.code, Some(2), "{name}");
        assert!(ended.log.contains(message), "{name}: {}", ended.log);
    }
    let program = in_c("descriptors", "DEADHEAT_BENCHMARK(a) {}");
    for value in ["", "3", "3,4", "a,b,c", "900,901,902"] {
        let mut command = Command::new(&program);
        let done = Finished::from(command.env("DEADHEAT_WORKER", value).output().unwrap());
        done.fails_with(
            2,
            &[&format!("DEADHEAT_WORKER={value}"), "3 open descriptors"],
        );
    }
}

#[test]
fn cmake_finds_the_header_where_it_is_installed_and_in_its_folder() {
    needs!("cmake", "g++", "make");
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let cmake = |args: &[&str]| {
        let done = Finished::from(Command::new("cmake").args(args).output().unwrap());
        done.succeeds();
        assert!(!done.stderr.contains("Warning"), "{done:?}");
    };
    let include = repository().join("include");
    let example = repository().join("examples/cpp");
    let (include, example) = (include.to_str().unwrap(), example.to_str().unwrap());
    let prefix = format!("-DCMAKE_INSTALL_PREFIX={}", at("prefix"));
    cmake(&["-S", include, "-B", &at("header"), &prefix]);
    cmake(&["--install", &at("header")]);
    let found = format!("-DCMAKE_PREFIX_PATH={}", at("prefix"));
    for (build, option) in [
        ("found", found.as_str()),
        ("within", "-DDEADHEAT=DEADHEAT-NOTFOUND"),
    ] {
        cmake(&["-S", example, "-B", &at(build), option]);
        cmake(&[
            "--build",
            &at(build),
            "--target",
            "worker_old",
            "worker_new",
        ]);
        let cache = fs::read_to_string(at(build) + "/CMakeCache.txt").unwrap();
        let installed = format!("deadheat_DIR:PATH={}/share", at("prefix"));
        assert_eq!(cache.contains(&installed), build == "found", "{cache}");
        let of = |program: &str| listed(&Path::new(&at(build)).join(program));
        let names = |list: &Value| -> Vec<String> {
            let list = list.as_array().unwrap().iter();
            list.map(|listed| listed["name"].as_str().unwrap().to_owned())
                .collect()
        };
        let expected = ["count/10", "reverse/10", "count/1000", "reverse/1000"];
        assert_eq!(names(&of("worker_old")), expected);
        assert_eq!(names(&of("worker_new")), expected);
    }
}

#[test]
fn the_examples_in_c_are_workers() {
    needs!("clang");
    let folder = TempDir::new().unwrap();
    let built = |source: &str, compiler: &str| {
        let program = folder.path().join("program");
        let source = repository().join("examples/c").join(source);
        compiled(compiler, &["-std=c99", "-O2"], &[&source], &program);
        let names = listed(&program);
        let names = names.as_array().unwrap().iter();
        let names = names.map(|listed| listed["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    for compiler in ["gcc", "clang"] {
        assert_eq!(built("worker.c", compiler), ["ones"]);
        let old = built("worker_pair/old.c", compiler);
        let new = built("worker_pair/new.c", compiler);
        assert_eq!(old, ["count_letters", "find_end"]);
        assert_eq!(new, ["count_letters", "find_end", "find_letter"]);
    }
}

#[test]
fn the_programs_of_the_manual_compile_and_run() {
    needs!("clang", "clang++", "g++");
    let manual = fs::read_to_string(repository().join("docs/c.md")).unwrap();
    let folder = TempDir::new().unwrap();
    let mut seen = [0, 0];
    for (which, language, compilers, standard, head) in [
        (0, "c", ["gcc", "clang"], "-std=c99", ""),
        (
            1,
            "cpp",
            ["g++", "clang++"],
            "-std=c++17",
            "#include <algorithm>\n#include <map>\n",
        ),
    ] {
        for block in manual.split(&format!("```{language}\n")).skip(1) {
            let code = block.split("```").next().unwrap();
            // What is shown alone stands in a program like the first one.
            let whole = code.contains("DEADHEAT_IMPLEMENTATION");
            let text = match whole {
                true => code.to_owned(),
                false => format!(
                    "#define DEADHEAT_IMPLEMENTATION\n#include <deadheat.h>\n\
                     #include <stdlib.h>\n#include <string.h>\n{head}#line 1 \"manual\"\n{code}\n\
                     DEADHEAT_MAIN();\n"
                ),
            };
            let source = folder.path().join(format!("manual.{language}"));
            fs::write(&source, text).unwrap();
            for compiler in compilers {
                let program = folder.path().join("manual");
                compiled(compiler, &[standard, "-O1"], &[&source], &program);
                by_hand(&program, &[]).succeeds();
            }
            seen[which] += 1;
        }
    }
    assert!(seen[0] >= 5 && seen[1] >= 4, "{seen:?}");
}

#[test]
fn the_header_has_the_version_of_the_crates() {
    let header = fs::read_to_string(repository().join("include/deadheat.h")).unwrap();
    let line = concat!(
        "#define DEADHEAT_VERSION \"",
        env!("CARGO_PKG_VERSION"),
        "\"\n"
    );
    assert!(header.contains(line), "{line}");
}
