//! `deadheat doctor` as a process: on this machine, and on one that was made
//! worse. Never which verdict it comes to: that is the machine's affair.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use deadheat_testing::skip;
use serde_json::Value;

const DEADHEAT: &str = env!("CARGO_BIN_EXE_deadheat");

fn run(program: &str, args: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(args).env("LC_ALL", "C.UTF-8");
    command.output().expect("the program is there")
}

fn stdout(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    String::from_utf8(output.stdout.clone()).expect("it is text")
}

fn json(output: &Output) -> Value {
    serde_json::from_str(&stdout(output)).expect("it is JSON")
}

fn finding<'a>(checkup: &'a Value, topic: &str) -> &'a Value {
    let findings = checkup["findings"].as_array().expect("a list");
    let found = findings.iter().find(|one| one["topic"] == topic);
    found.unwrap_or_else(|| panic!("{topic} is missing: {checkup:#}"))
}

#[test]
fn the_page_begins_with_how_good_the_machine_is_and_ends_with_the_cores() {
    let output = run(DEADHEAT, &["doctor", "--color", "never"]);
    let text = stdout(&output);
    assert!(text.starts_with("This machine is "), "{text}");
    assert!(!text.contains('\u{1b}'));
    let last = text.lines().last().unwrap();
    assert!(last.contains("deadheat run --pin "), "{last}");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        told.contains("about 4 s") && told.lines().count() == 1,
        "{told}"
    );
}

#[test]
fn programs_are_told_everything() {
    let checkup = json(&run(DEADHEAT, &["doctor", "--json"]));
    assert_eq!(checkup["schema"], "deadheat.doctor/1");
    assert_eq!(checkup["findings"].as_array().map(Vec::len), Some(18));
    assert!(checkup["cores"][0]["lost"].as_f64().is_some());
    let build = finding(&checkup, "build");
    assert_eq!(build["facts"]["debug_assertions"], cfg!(debug_assertions));
}

#[test]
fn a_core_that_is_not_there_is_an_error_of_usage() {
    for wrong in ["4095", "x"] {
        let output = run(DEADHEAT, &["doctor", "--pin", wrong]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("--pin"), "{told}");
    }
}

#[test]
fn without_pinning_the_scheduler_decides() {
    let checkup = json(&run(DEADHEAT, &["doctor", "--json", "--pin", "none"]));
    assert_eq!(checkup["measured_on"], Value::Null);
    assert_eq!(checkup["advice"]["reason"], "not-compared");
}

#[test]
fn with_one_core_it_says_what_that_leaves_out() {
    let all = json(&run(DEADHEAT, &["doctor", "--json", "--pin", "none"]));
    let core = all["machine"]["allowed"][0].as_u64().expect("a core");
    let core = core.to_string();
    let output = run("taskset", &["-c", &core, DEADHEAT, "doctor", "--json"]);
    let checkup = json(&output);
    assert_eq!(checkup["measured_on"].to_string(), core);
    assert_eq!(checkup["cores"].as_array().map(Vec::len), Some(1));
    let turbo = finding(&checkup, "turbo");
    assert_eq!(turbo["not_measured"], "one-core");
    assert!(turbo["does"].as_str().unwrap().starts_with("Not measured"));
    if checkup["advice"]["reason"] != "isolated" {
        assert_eq!(checkup["advice"]["reason"], "only-one");
    }
}

#[test]
fn a_system_that_hides_its_files_is_looked_at_all_the_same() {
    // A namespace of its own, in which files can be hidden without harm.
    if !run("unshare", &["-rm", "true"]).status.success() {
        return skip!("no namespaces of one's own are permitted here");
    }
    let script = format!(
        "mount -t tmpfs none /sys/devices/system/cpu && \
         mount -t tmpfs none /sys/fs/cgroup && \
         mount --bind /dev/null /proc/interrupts && \
         mount --bind /dev/null /proc/stat && \
         mount --bind /dev/null /proc/meminfo && \
         mount --bind /dev/null /proc/vmstat && \
         exec '{DEADHEAT}' doctor --json"
    );
    let output = run("unshare", &["-rm", "sh", "-c", &script]);
    let told = String::from_utf8_lossy(&output.stderr);
    if !told.contains("deadheat doctor") {
        return skip!("nothing may be hidden here: {told}");
    }
    let checkup = json(&output);
    assert_eq!(checkup["machine"]["online"], serde_json::json!([]));
    for topic in ["steal", "swap", "smt"] {
        assert_eq!(finding(&checkup, topic)["state"], "unknown", "{topic}");
    }
    assert_eq!(
        finding(&checkup, "container")["facts"]["quota"],
        Value::Null
    );
    assert_eq!(checkup["cores"][0]["interrupts_per_s"], Value::Null);
    assert!(checkup["cores"][0]["lost"].as_f64().is_some());
}

#[test]
fn a_process_without_random_addresses_is_told_so() {
    let output = run("setarch", &["-R", DEADHEAT, "doctor", "--json"]);
    if !output.stderr.starts_with(b"deadheat doctor") {
        return skip!("random addresses cannot be switched off here");
    }
    let checkup = json(&output);
    let aslr = finding(&checkup, "aslr");
    assert_eq!(aslr["facts"]["switched_off"], true);
    assert_eq!(aslr["state"], "disturbs");
}

/// A control group with a quota of a fifth of a core, gone when dropped.
struct Group(PathBuf);

impl Group {
    /// `None` where no groups may be made.
    fn with_quota() -> Option<Self> {
        let name = format!("deadheat-test-{}", std::process::id());
        for (parent, file, quota) in [
            ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "20000"),
            ("/sys/fs/cgroup/cpu,cpuacct", "cpu.cfs_quota_us", "20000"),
            ("/sys/fs/cgroup", "cpu.max", "20000 100000"),
        ] {
            let folder = Path::new(parent).join(&name);
            if fs::create_dir(&folder).is_err() {
                continue;
            }
            let group = Self(folder);
            if fs::write(group.0.join(file), quota).is_ok() {
                return Some(group);
            }
        }
        None
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The group of a process that was just waited for may still be busy.
        for _ in 0..50 {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

#[test]
fn a_quota_that_holds_back_is_found_and_measured() {
    let Some(group) = Group::with_quota() else {
        return skip!("no control groups may be made here");
    };
    let members = group.0.join("cgroup.procs");
    let script = format!(
        "echo $$ > '{}' && exec '{DEADHEAT}' doctor --json",
        members.display()
    );
    let output = run("sh", &["-c", &script]);
    if !output.stderr.starts_with(b"deadheat doctor") {
        return skip!("no process may be moved here");
    }
    let checkup = json(&output);
    let container = finding(&checkup, "container");
    assert_eq!(container["facts"]["quota"]["cores"], 0.2);
    assert_eq!(container["state"], "disturbs");
    assert_eq!(container["effects"][0]["name"], "quota-throttled");
    let held_back = container["effects"][0]["value"].as_f64().unwrap();
    assert!(held_back > 0.0, "{container:#}");
    assert_eq!(checkup["first"], "container");
    let command = container["mend"]["command"].as_str().unwrap();
    let file = group.0.to_str().unwrap();
    assert!(
        command.contains("sudo tee ") && command.contains(file),
        "{command}"
    );
}
