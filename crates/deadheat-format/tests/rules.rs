//! `deadheat.toml`: what it says, and what is wrong with it.

use std::path::Path;
use std::time::Duration;

use deadheat_format::{FileProblem, read_rules, read_rules_from};
use deadheat_model::{Day, FailOn, Metric, RaceSettings, RulesFile};

fn read(text: &str) -> Result<RulesFile, String> {
    read_bytes(text.as_bytes())
}

fn read_bytes(bytes: &[u8]) -> Result<RulesFile, String> {
    read_rules_from(bytes, Path::new("deadheat.toml")).map_err(|error| error.to_string())
}

fn problem(text: &str) -> String {
    read(text).expect_err(text)
}

const FULL: &str = r##"
margin = "2%"
alpha = 0.05
metric = "wall"
budget = "30s"
max-replicates = 40
fail-on = ["slower"]
confirm = true
include = ["parse/*", "hash/*"]
exclude = ["slow/*"]

[[benchmark]]
name = "parse/*"
margin = "5%"
alpha = 0.01
metric = "cpu"
budget = "10s"
fail-on = ["slower", "inconclusive"]

[[benchmark]]
name = "parse/json"
margin = 0.5

[[ignore]]
name = "hash/md5"
reason = "rewritten in #123"
until = 2026-12-31
rule = "slower"

[[ignore]]
name = "hash/*"
reason = "known"
until = "2027-01-01"
"##;

#[test]
fn every_key_is_read() {
    let rules = read(FULL).unwrap();
    assert_eq!(rules.path, Path::new("deadheat.toml"));
    let all = RaceSettings {
        margin: Some(0.02),
        alpha: Some(0.05),
        metric: Some(Metric::Wall),
        budget: Some(Duration::from_secs(30)),
        max_replicates: Some(40),
        fail_on: Some(vec![FailOn::Slower]),
        confirm: Some(true),
        ..RaceSettings::default()
    };
    assert_eq!(rules.all, all);
    let patterns: Vec<&str> = rules.include.iter().map(|glob| glob.pattern()).collect();
    assert_eq!(patterns, ["parse/*", "hash/*"]);
    assert_eq!(rules.exclude.len(), 1);
    let [parse, json] = &rules.some[..] else {
        panic!("{:?}", rules.some)
    };
    assert_eq!(parse.name.pattern(), "parse/*");
    assert_eq!(parse.rules.metric, Some(Metric::Cpu));
    let asked = Some(vec![FailOn::Slower, FailOn::Inconclusive]);
    assert_eq!(parse.rules.fail_on, asked);
    assert_eq!(json.rules.margin, Some(0.5));
    let [md5, hash] = &rules.ignores[..] else {
        panic!("{:?}", rules.ignores)
    };
    assert_eq!(md5.reason, "rewritten in #123");
    assert_eq!(md5.until, Day::new(2026, 12, 31));
    assert_eq!(md5.rule, Some(FailOn::Slower));
    assert_eq!(md5.line, 24);
    assert_eq!((hash.until, hash.rule), (Day::new(2027, 1, 1), None));
}

#[test]
fn a_file_without_anything_says_nothing() {
    for text in ["", "\n\n", "# only this\n"] {
        let nothing = RulesFile {
            path: "deadheat.toml".into(),
            ..RulesFile::default()
        };
        assert_eq!(read(text), Ok(nothing));
    }
}

#[test]
fn values_are_spelled_as_the_flags_or_as_numbers() {
    let margin = |text: &str| read(&format!("margin = {text}")).unwrap().all.margin;
    for text in ["\"2%\"", "0.02", "\"0.02\"", "2e-2", "\" 2 %\""] {
        assert_eq!(margin(text), Some(0.02), "{text}");
    }
    let budget = |text: &str| read(&format!("budget = {text}")).unwrap().all.budget;
    for text in ["\"90s\"", "90", "90.0", "\"1.5 min\"", "9e1"] {
        assert_eq!(budget(text), Some(Duration::from_secs(90)), "{text}");
    }
    let fail_on = |text: &str| read(&format!("fail-on = {text}")).unwrap().all.fail_on;
    let both = Some(vec![FailOn::Slower, FailOn::NotEquivalent]);
    for text in [
        "[\"slower\", \"not-equivalent\"]",
        "\"slower,not-equivalent\"",
    ] {
        assert_eq!(fail_on(text), both, "{text}");
    }
    assert_eq!(fail_on("[]"), Some(Vec::new()));
    assert_eq!(read("include = \"a*\"").unwrap().include.len(), 1);
    assert_eq!(
        read("max-replicates = 0x10").unwrap().all.max_replicates,
        Some(16)
    );
}

#[test]
fn unknown_keys_are_refused_with_the_nearest_right_one() {
    for (text, told) in [
        (
            "alpha = 0.05\n\nmargn = \"2%\"",
            "deadheat.toml, line 3, column 1: unknown key 'margn'\nhelp: did you mean 'margin'?",
        ),
        ("max_replicates = 4", "did you mean 'max-replicates'?"),
        ("Margin = 1", "did you mean 'margin'?"),
        (
            "[[benchmarks]]\nname = \"a\"",
            "did you mean 'benchmark'? write [[benchmark]], and below it name = \"NAME\"",
        ),
        (
            "[benchmarks.sort]\nmargin = \"5%\"",
            "did you mean 'benchmark'? write [[benchmark]], and below it name = \"sort\"",
        ),
        (
            "[[benchmark]]\nname = \"a\"\n  failon = [\"slower\"]",
            "deadheat.toml, line 3, column 3: unknown key 'failon'\nhelp: did you mean 'fail-on'?",
        ),
        (
            "[[ignore]]\nname = \"a\"\nreason = \"b\"\nuntill = 2026-01-01",
            "deadheat.toml, line 4, column 1: unknown key 'untill'\nhelp: did you mean 'until'?",
        ),
        (
            "[[benchmark]]\nname = \"a\"\nmax-replicates = 3",
            "the keys of [[benchmark]] are name, margin, alpha, metric, quantile, budget, fail-on",
        ),
        (
            "[[benchmark]]\nname = \"a\"\nconfirm = true",
            "deadheat.toml, line 3, column 1: unknown key 'confirm'\nhelp: the keys of [[benchmark]] are",
        ),
        (
            "colour = \"red\"",
            "the keys of the file (all else is set on the command line) are margin, alpha,",
        ),
        (
            "[[ignore]]\nwhatever.else = 1",
            "the keys of [[ignore]] are name, reason, until, rule",
        ),
    ] {
        let told_was = problem(text);
        assert!(told_was.contains(told), "{text}: {told_was}");
    }
}

#[test]
fn values_that_make_no_sense_name_their_key_and_place() {
    for (text, told) in [
        (
            "margin = true",
            "deadheat.toml, line 1, column 10: margin is true or false\nhelp: write",
        ),
        (
            "margin = 2",
            "margin must be above 0 and below 1 (100%), not 2\nhelp: did you mean \"2%\"?",
        ),
        ("margin = 0", "margin must be above 0"),
        ("margin = nan", "margin must be above 0"),
        ("margin = -inf", "margin must be above 0"),
        (
            "margin = \"much\"",
            "margin: 'much' is not a share\nhelp: write a share of the baseline's value, such as \
             \"1%\" or 0.01",
        ),
        (
            "fail-on = [\"slower\"]\nmargin = \"5 percent\"",
            "deadheat.toml, line 2, column 10: margin: '5 percent' is not a share\nhelp: did you \
             mean \"5%\"?",
        ),
        ("alpha = \"0,1\"", "help: did you mean \"0.1\"?"),
        ("quantile = 99", "help: did you mean \"99%\"?"),
        ("quantile = \"p99\"", "help: did you mean \"99%\"?"),
        (
            "margin = 2% # of the time",
            "deadheat.toml, line 1, column 10: not valid TOML: a text without quotes\nhelp: write \
             \"2%\"",
        ),
        ("margin = 5 percent", "help: write \"5%\""),
        (
            "waiting = \"kept\"",
            "'kept' is not one of auto, keep\nhelp: write \"auto\" or \"keep\"",
        ),
        (
            "alpha = 0.6",
            "alpha must be above 0 and at most 0.5 (50%), not 0.6",
        ),
        (
            "\nbudget = \"3 parsecs\"",
            "deadheat.toml, line 2, column 10: budget: 'parsecs' is not a unit of time\nhelp: write \
             a time, such as \"30s\"",
        ),
        ("budget = -1", "budget:"),
        ("budget = [1]", "budget is a list"),
        ("metric = 3", "metric is a whole number"),
        (
            "confirm = \"yes\"",
            "deadheat.toml, line 1, column 11: confirm is a text\nhelp: write true or false",
        ),
        ("metric = \" \"", "metric is empty"),
        ("max-replicates = 0", "max-replicates is 0"),
        ("max-replicates = -4", "max-replicates is -4"),
        (
            "max-replicates = 99999999999",
            "max-replicates is 99999999999",
        ),
        ("max-replicates = 4.5", "max-replicates is a number"),
        (
            "fail-on = [\"slow\"]",
            "deadheat.toml, line 1, column 12: fail-on: 'slow' is not one of slower, inconclusive, not-equivalent",
        ),
        (
            "fail-on = [\n  \"slower\",\n  3,\n]",
            "deadheat.toml, line 3, column 3: fail-on is a whole number",
        ),
        ("fail-on = true", "fail-on is true or false"),
        ("include = [\"\"]", "include is empty"),
        ("exclude = 1", "exclude is a whole number"),
        (
            "[benchmark]\nname = \"a\"",
            "write [[benchmark]], in two brackets",
        ),
        (
            "[benchmark.sort]\nmargin = \"5%\"",
            "help: write [[benchmark]], and below it name = \"sort\"",
        ),
        (
            "[[benchmark.sort]]\nmargin = \"5%\"",
            "help: write [[benchmark]], and below it name = \"sort\"",
        ),
        ("ignore = [1]", "write [[ignore]], in two brackets"),
        (
            "[[benchmark]]\nmargin = 0.1",
            "deadheat.toml, line 1, column 1: [[benchmark]] without a name",
        ),
        ("[[benchmark]]\nname = 4", "name is a whole number"),
        (
            "\n[[ignore]]\nreason = \"x\"",
            "deadheat.toml, line 2, column 1: [[ignore]] without a name",
        ),
        ("[[ignore]]\nname = \"x\"", "[[ignore]] without a reason"),
        (
            "[[ignore]]\nname = \"x\"\nreason = \"\"",
            "deadheat.toml, line 3, column 10: reason is empty\nhelp: give a reason",
        ),
        (
            "[[ignore]]\nname = \"x\"\nreason = \"y\"\nuntil = \"soon\"",
            "until: 'soon' is not a date",
        ),
        (
            "[[ignore]]\nname = \"x\"\nreason = \"y\"\nuntil = \"2026-02-30\"",
            "does not exist in the calendar",
        ),
        (
            "[[ignore]]\nname = \"x\"\nreason = \"y\"\nuntil = 2026-02-30",
            "line 4",
        ),
        (
            "[[ignore]]\nname = \"x\"\nreason = \"y\"\nuntil = 2026-02-01T10:00:00Z",
            "which is not a date",
        ),
        (
            "[[ignore]]\nname = \"x\"\nreason = \"y\"\nuntil = 10:00:00",
            "which is not a date",
        ),
        (
            "[[ignore]]\nname = \"x\"\nreason = \"y\"\nuntil = 2026",
            "until is a whole number",
        ),
        (
            "[[ignore]]\nname = \"x\"\nreason = \"y\"\nrule = \"slow\"",
            "rule: 'slow' is not one of",
        ),
        (
            "[[ignore]]\nname = \"x\"\nreason = \"y\"\nrule = 1",
            "help: write \"slower\", \"inconclusive\" or \"not-equivalent\"",
        ),
        ("margin = 0.1\nmargin = 0.2", "not valid TOML:"),
        ("margin = ", "not valid TOML:"),
        ("margin", "not valid TOML:"),
        ("[[ignore", "not valid TOML:"),
    ] {
        let told_was = problem(text);
        assert!(told_was.contains(told), "{text}: {told_was}");
        assert!(
            told_was.contains("deadheat.toml, line "),
            "{text}: {told_was}"
        );
    }
}

#[test]
fn the_line_to_blame_can_be_asked_for() {
    let error = read_rules_from(b"\n\nmargn = 1", Path::new("x/deadheat.toml")).unwrap_err();
    assert_eq!(
        (error.line(), &*error.file),
        (Some(3), Path::new("x/deadheat.toml"))
    );
    assert!(!error.is_write_error());
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_are_fine() {
    let rules =
        read("\u{feff}margin = \"2%\"\r\n\r\n[[ignore]]\r\nname = \"a\"\r\nreason = \"b\"\r\n");
    let rules = rules.unwrap();
    assert_eq!((rules.all.margin, rules.ignores[0].line), (Some(0.02), 3));
    let told = problem("\u{feff}alpha = 0.05\r\n  margn = 1\r\n");
    assert!(told.contains("line 2, column 3"), "{told}");
}

#[test]
fn columns_are_counted_in_characters() {
    let told = problem("[[ignore]]\nname = \"ü\"\nreason = \"übermorgen\" \nuntil = \"äö\"");
    assert!(told.contains("line 4, column 9"), "{told}");
    let told = problem("include = [\"äöü\", 3]");
    assert!(told.contains("line 1, column 19"), "{told}");
}

#[test]
fn what_is_no_text_is_told_with_its_place() {
    let told = read_bytes(b"margin = 0.1\n# caf\xe9\n").unwrap_err();
    assert_eq!(
        told,
        "deadheat.toml, line 2, column 6: text that is not UTF-8\nhelp: save it as UTF-8"
    );
    for bytes in [&b"\xff\xfem\0a\0"[..], b"\0", b"\x7fELF"] {
        assert!(read_bytes(bytes).is_err());
    }
}

#[test]
fn nothing_is_too_deep_too_long_or_too_large_for_an_answer() {
    let deep = format!("include = {}{}", "[".repeat(100_000), "]".repeat(100_000));
    let told = problem(&deep);
    assert!(told.contains("deadheat.toml, line 1"), "{told}");
    let tables = format!("a = {}1{}", "{a = ".repeat(100_000), "}".repeat(100_000));
    assert!(read(&tables).is_err());
    let dotted = format!("{} = 1", vec!["a"; 100_000].join("."));
    assert!(read(&dotted).is_err());
    let long = "k".repeat(500_000);
    let told = problem(&format!("{long} = 1"));
    assert!(told.len() < 500, "{} characters", told.len());
    let many: String = (0..4_000)
        .map(|i| format!("[[ignore]]\nname = \"b{i}\"\nreason = \"r\"\n"))
        .collect();
    assert_eq!(read(&many).unwrap().ignores.len(), 4_000);
}

#[test]
fn a_pattern_that_takes_long_to_compare_is_refused() {
    let pattern = "?a".repeat(64);
    let file = |pattern: &str| format!("exclude = [\"{pattern}\"]\n");
    assert!(read(&file(&pattern)).is_ok());
    let told = problem(&file(&format!("*{pattern}a*")));
    assert!(told.contains("longer than 128 characters"), "{told}");
    let some = format!("[[benchmark]]\nname = \"{pattern}?*\"\nmargin = \"1%\"\n");
    let told = problem(&some);
    assert!(told.contains("longer than 128 characters"), "{told}");
    let long = |length: usize| file(&("a".repeat(length) + "*"));
    assert!(read(&long(4095)).is_ok());
    let told = problem(&long(4096));
    assert!(told.contains("longer than 4096 bytes"), "{told}");
    // A name without wildcards may be longer, and there may be more of them.
    assert!(read(&file(&"a".repeat(5000))).is_ok());
    let list = |count: usize, end: &str| {
        let patterns: Vec<String> = (0..count).map(|at| format!("\"{at}{end}\"")).collect();
        format!("include = [{}]\n", patterns.join(","))
    };
    assert!(read(&list(250, "*")).is_ok() && read(&list(2000, "")).is_ok());
    let told = problem(&list(251, "*"));
    assert!(told.contains("more than 250 patterns"), "{told}");
    assert!(read(&list(50, "?")).is_ok());
    let told = problem(&list(51, "?"));
    assert!(told.contains("more than 50 patterns with ?"), "{told}");
    assert!(read(&list(4000, "")).is_ok());
    let told = problem(&list(4001, ""));
    assert!(told.contains("more than 4000 names"), "{told}");
}

#[test]
fn a_file_that_cannot_be_one_is_not_read_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deadheat.toml");
    std::fs::write(&path, "#".repeat((256 << 10) + 1)).unwrap();
    let told = read_rules(&path).unwrap_err().to_string();
    assert!(
        told.contains("larger than 256 KiB") && told.contains("--no-config"),
        "{told}"
    );
    std::fs::write(&path, "#".repeat(256 << 10)).unwrap();
    assert!(read_rules(&path).is_ok());
    if Path::new("/dev/zero").exists() {
        assert!(
            read_rules("/dev/zero")
                .unwrap_err()
                .to_string()
                .contains("larger")
        );
    }
    let missing = read_rules(folder.path().join("none.toml")).unwrap_err();
    assert!(
        matches!(missing.problem, FileProblem::CannotRead(_)),
        "{missing}"
    );
}
