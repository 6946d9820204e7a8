//! The GitHub Action: its steps as `action.yml` has them, run in a repository
//! of their own, with a server that keeps comments as GitHub does.

mod api;
#[path = "../common/mod.rs"]
mod common;
mod job;
mod yaml;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use api::{Api, LONGEST};
use common::Finished;
use deadheat_testing::needs;
use job::{Done, Job, pull_request};
use serde_json::{Value, json};
use tempfile::TempDir;

const BOT: &str = "github-actions[bot]";
const MARKER: &str = "<!-- deadheat:race -->\n";

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

/// The suite of `examples/suite.rs`.
fn suite() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let example = test.ancestors().nth(2).unwrap().join("examples/suite");
    assert!(example.exists(), "cargo test builds {}", example.display());
    example
}

fn executable(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A project whose one benchmark gets slower, and GitHub.
struct Project {
    folder: TempDir,
    api: Api,
    /// Base, a change that changes nothing, and a slower one.
    base: String,
    equal: String,
    slow: String,
    broken: String,
}

impl Project {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let mut project = Self {
            folder,
            api: Api::start(),
            base: String::new(),
            equal: String::new(),
            slow: String::new(),
            broken: String::new(),
        };
        fs::create_dir(project.path("origin")).unwrap();
        project.git("origin", &["init", "--quiet", "--initial-branch", "main"]);
        project.commit("first", "exec \"$SUITE\" \"$@\"");
        project.base = project.commit("base", "exec \"$SUITE\" \"$@\" # base");
        project.git("origin", &["checkout", "--quiet", "-b", "topic"]);
        project.equal = project.commit("equal", "exec \"$SUITE\" \"$@\" # equal");
        project.slow = project.commit("slow", "exec \"$SUITE\" --slow \"$@\"");
        project.broken = project.commit("broken", "exit 9");
        // The base moves on, which is nothing the pull request did.
        project.git("origin", &["checkout", "--quiet", "main"]);
        project.commit("meanwhile", "exec \"$SUITE\" --slow \"$@\" # meanwhile");
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    #[track_caller]
    fn git(&self, folder: &str, args: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=n", "-c", "user.email=e@x"]);
        let done = command.args(args).current_dir(self.path(folder)).output();
        let done = Finished::from(done.unwrap());
        done.succeeds().stdout.trim().to_owned()
    }

    /// Commits a program with benchmarks.
    fn commit(&self, message: &str, body: &str) -> String {
        executable(&self.path("origin/bench"), &format!("#!/bin/sh\n{body}\n"));
        self.git("origin", &["add", "--all"]);
        self.git("origin", &["commit", "--quiet", "--message", message]);
        self.git("origin", &["rev-parse", "HEAD"])
    }

    /// Leaves the folder as actions/checkout does: one commit, on no branch.
    fn checkout(&self, commit: &str) {
        let _ = fs::remove_dir_all(self.path("checkout"));
        fs::create_dir(self.path("checkout")).unwrap();
        let origin = format!("file://{}", self.path("origin").display());
        self.git("checkout", &["init", "--quiet"]);
        self.git("checkout", &["remote", "add", "origin", &origin]);
        self.git(
            "origin",
            &["config", "uploadpack.allowAnySHA1InWant", "true"],
        );
        self.git(
            "checkout",
            &["fetch", "--quiet", "--depth", "1", "origin", commit],
        );
        self.git("checkout", &["checkout", "--quiet", "FETCH_HEAD"]);
    }

    /// The job of a push of `head`.
    fn job(&self, head: &str, run: u64) -> Job {
        self.checkout(head);
        let main = self.git("origin", &["rev-parse", "main"]);
        let input = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        Job {
            action: root(),
            workspace: self.path("checkout"),
            temp: self.path("runner"),
            inputs: vec![
                input("deadheat", env!("CARGO_BIN_EXE_deadheat")),
                input(
                    "command",
                    "rev \"$BASE..$HEAD\" work --build true --exe bench",
                ),
                input("args", "--max-replicates 6 --seed 7 --quiet"),
                // Wide, so that equal programs are no alarm on any machine.
                input("margin", "40%"),
            ],
            github: pull_request(&self.api.url, &main, head, run),
            env: vec![
                input("SUITE", suite().to_str().unwrap()),
                input("XDG_CACHE_HOME", self.path("cache").to_str().unwrap()),
            ],
        }
    }
}

impl Done {
    fn output(&self, name: &str) -> &str {
        &self.outputs[name]
    }

    #[track_caller]
    fn says(&self, words: &[&str]) {
        for word in words {
            assert!(self.log.contains(word), "'{word}' is missing: {}", self.log);
        }
    }
}

#[test]
fn the_first_push_is_green_and_makes_a_comment_and_a_slower_one_is_red_and_changes_it() {
    needs!("curl", "git", "jq");
    let project = Project::new();
    // More comments than fit into one answer, one of them by an impostor.
    project.api.with(|state| {
        for number in 0..130 {
            let comment = state.comment("somebody", &format!("number {number}"));
            state.comments.push(comment);
        }
        let comment = state.comment("somebody", MARKER);
        state.comments.push(comment);
    });

    let green = project.job(&project.equal, 100).run();
    assert_eq!(green.code, 0, "{green:?}");
    assert_eq!(green.output("exit-code"), "0");
    let counts = ["faster", "slower", "equivalent", "inconclusive", "failed"];
    let counts = counts.map(|name| green.output(name).parse::<u32>().unwrap());
    assert_eq!(counts.iter().sum::<u32>(), 1, "{counts:?}");
    assert_eq!(green.output("slower"), "0");
    for (name, words) in [
        ("page", "<html"),
        ("markdown", "| Verdict |"),
        ("json", "\"benchmarks\""),
        ("junit", "<testsuite"),
        ("run", "{"),
    ] {
        let text = fs::read_to_string(green.output(name)).unwrap();
        assert!(text.contains(words), "{name}: {text:.500}");
    }
    assert_eq!(
        project.api.methods(),
        ["GET", "GET", "POST", "GET", "GET"],
        "two pages before, two after"
    );
    let bodies = project.api.bodies();
    assert_eq!(bodies.len(), 132);
    let body = bodies.last().unwrap();
    assert!(body.starts_with(MARKER), "{body}");
    // The merge base, not what the base is by now.
    let revisions = format!("`{}` → `{}`", &project.base[..10], &project.equal[..10]);
    let words = [
        "✔ deadheat: race",
        "https://github.test/artifact/1",
        "/actions/runs/100",
    ];
    for word in words.into_iter().chain([&*revisions]) {
        assert!(body.contains(word), "{word}: {body}");
        assert!(green.summary.contains(word), "{word}: {}", green.summary);
    }
    let (uses, given) = &green.used[0];
    assert!(uses.starts_with("actions/upload-artifact@v"), "{uses}");
    assert_eq!(given["name"], "deadheat-race");
    assert!(Path::new(&given["path"]).join("index.html").exists());

    let red = project.job(&project.slow, 101).run();
    // Twice, before anybody is told.
    red.says(&["(confirmed: +"]);
    let second = Path::new(red.output("run")).with_extension("confirm.jsonl");
    assert!(second.exists(), "{red:?}");
    assert_eq!(red.code, 1, "{red:?}");
    red.says(&["::error title=deadheat::the gate is red"]);
    assert_eq!(red.output("exit-code"), "1");
    assert_eq!(red.output("slower"), "1");
    assert_eq!(project.api.methods(), ["GET", "GET", "PATCH"]);
    let bodies = project.api.bodies();
    assert_eq!(bodies.len(), 132, "one comment, changed");
    let body = bodies.last().unwrap();
    assert!(body.contains("✘ deadheat: race"), "{body}");
    assert!(body.contains("slower"), "{body}");
    assert_eq!(bodies[130], MARKER, "somebody else's is left alone");
    assert_eq!(red.output("comment-url"), "https://github.test/comment/132");

    // The first run again, after the second: it is not the news any more.
    let late = project.job(&project.equal, 100).run();
    assert_eq!(late.code, 0, "{late:?}");
    late.says(&["::notice", "newer run"]);
    assert_eq!(project.api.bodies(), bodies);
}

#[test]
fn a_fork_s_token_that_only_reads_makes_a_notice_and_the_race_decides() {
    needs!("curl", "git", "jq");
    let project = Project::new();
    project.api.with(|state| state.read_only = true);
    let done = project.job(&project.slow, 1).run();
    assert_eq!(done.code, 1, "{done:?}");
    done.says(&[
        "::notice",
        "no comment",
        "forks",
        "docs/github_action.md",
        "gate is red",
    ]);
    assert_eq!(done.output("comment-url"), "");
    assert!(done.summary.contains("✘ deadheat: race"));
    assert!(project.api.bodies().is_empty());

    // The workflow that follows has a token that may, and what was uploaded.
    project.api.with(|state| {
        state.read_only = false;
        state.pulls = vec![
            json!({ "number": 6, "head": { "sha": project.equal } }),
            json!({ "number": 7, "head": { "sha": project.slow } }),
        ];
    });
    let mut job = project.job(&project.slow, 2);
    let folder = done.used[0].1["path"].clone();
    job.action = root().join("action/comment");
    job.inputs = vec![("folder".to_owned(), folder)];
    let run = |sha: &str| {
        json!({
            "id": 1,
            "run_attempt": 1,
            "head_sha": sha,
            "head_branch": "topic&x",
            "head_repository": { "owner": { "login": "stranger" } },
        })
    };
    job.github["event"] = json!({ "workflow_run": run(&project.slow) });
    let done = job.run();
    assert_eq!(done.code, 0, "{done:?}");
    let asked = project.api.with(|state| state.requests.clone());
    assert!(
        asked
            .iter()
            .any(|line| line.contains("head=stranger%3Atopic%26x")),
        "{asked:?}"
    );
    let bodies = project.api.bodies();
    assert_eq!(bodies.len(), 1);
    assert!(bodies[0].starts_with(MARKER) && bodies[0].contains("/actions/runs/1)"));
    assert_eq!(done.output("comment-url"), "https://github.test/comment/1");

    // A push came in between.
    job.github["event"] = json!({ "workflow_run": run(&project.base) });
    let done = job.run();
    assert_eq!(done.code, 0, "{done:?}");
    done.says(&["::notice", "no open pull request"]);
    assert_eq!(project.api.bodies(), bodies);
}

#[test]
fn a_contender_that_fails_is_told_from_a_red_gate_and_from_a_tool_that_fails() {
    needs!("curl", "git", "jq");
    let project = Project::new();
    let done = project.job(&project.broken, 1).run();
    assert_eq!(done.code, 3, "{done:?}");
    done.says(&["::error title=deadheat::a contender failed"]);
    let body = project.api.bodies().pop().unwrap();
    assert!(body.contains("a contender failed"), "{body}");

    let mut job = project.job(&project.equal, 2);
    job.inputs[1].1 =
        "rev \"$BASE..$HEAD\" --build 'echo \"<b>@all</b> *x*\" >&2; false' --exe bench".to_owned();
    let done = job.run();
    assert_eq!(done.code, 3, "{done:?}");
    assert_eq!(done.output("page"), "");
    let body = project.api.bodies().pop().unwrap();
    assert!(body.contains("<pre>\n"), "{body}");
    assert!(
        !body.contains("plots") && body.contains("[Output of deadheat]"),
        "{body}"
    );
    assert!(body.contains("&lt;b&gt;@all&lt;/b&gt; *x*\n"), "{body}");
    assert!(!body.contains("<b>"), "{body}");

    let mut job = project.job(&project.equal, 3);
    job.inputs[2].1 = "--no-such-option".to_owned();
    let done = job.run();
    assert_eq!(done.code, 2, "{done:?}");
    done.says(&[
        "::error title=deadheat::deadheat could not race",
        "--no-such-option",
    ]);
    assert_eq!(done.output("exit-code"), "2");
}

#[test]
fn a_gate_that_could_judge_nothing_is_red_and_keeps_page_and_json() {
    needs!("curl", "git", "jq");
    let project = Project::new();
    for (args, fail_on) in [
        ("--max-replicates 2 --seed 7 --quiet", "slower"),
        ("--max-replicates 3 --seed 8 --quiet", ""),
        ("--max-replicates 2 --quiet --fail-on slower", ""),
    ] {
        let mut job = project.job(&project.equal, 1);
        job.inputs[1].1 = "run -- 'sleep 0.01' 'sleep 0.02'".to_owned();
        job.inputs[2].1 = args.to_owned();
        job.inputs.push(("fail-on".to_owned(), fail_on.to_owned()));
        let done = job.run();
        let is_red = !fail_on.is_empty() || args.contains("--fail-on");
        assert_eq!(done.code, if is_red { 2 } else { 0 }, "{done:?}");
        for name in ["page", "markdown", "json", "junit"] {
            let path = Path::new(done.output(name));
            assert!(path.is_file(), "{name}: {done:?}");
        }
        assert_eq!(done.output("slower"), "0");
        let body = project.api.bodies().pop().unwrap();
        assert!(
            body.contains("with all plots") && body.contains("sleep 0.02"),
            "{body}"
        );
        assert_eq!(
            body.contains("the gate could judge no benchmark"),
            is_red,
            "{body}"
        );
        if is_red {
            done.says(&[
                "::error title=deadheat::the gate is red: fail-on could judge no benchmark",
            ]);
        }
    }
}

#[test]
fn whole_commands_race_with_names_of_several_words_and_a_comment_of_their_own() {
    needs!("curl", "git", "jq");
    let project = Project::new();
    let mut job = project.job(&project.equal, 1);
    job.inputs[1].1 = "run -n 'the old' -n new -- 'sleep 0.03' 'sleep 0.01'".to_owned();
    job.inputs[2].1 = "--max-replicates 6\n--seed 7 --quiet".to_owned();
    let input = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    job.inputs.push(input("name", "a sleep"));
    job.inputs.push(input("artifact", ""));
    job.inputs.push(input("fail-on", "slower,inconclusive"));
    let done = job.run();
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(done.output("faster"), "1");
    assert!(done.used.is_empty(), "nothing is uploaded: {done:?}");
    let body = project.api.bodies().pop().unwrap();
    assert!(body.starts_with("<!-- deadheat:a sleep -->\n"), "{body}");
    assert!(
        body.contains("the old") && !body.contains("with all plots"),
        "{body}"
    );
    assert!(Path::new(done.output("run")).ends_with("deadheat-a-sleep/run.jsonl"));
}

#[test]
fn what_is_asked_in_vain_is_refused_before_anything_is_raced() {
    needs!("curl", "git", "jq");
    let project = Project::new();
    for (input, value, words) in [
        ("name", "a --> b", &["name", "letters"][..]),
        (
            "deadheat",
            "./no-such-program",
            &["deadheat", "was not found"],
        ),
        (
            "base",
            "no-such-branch",
            &["base", "no-such-branch", "origin"],
        ),
        ("command", "analyze x", &["command", "analyze", "rev"]),
        ("command", "rev 'x", &["command", "bash cannot read"]),
        ("confirm", "perhaps", &["confirm", "true", "false"]),
        ("shard", "5/4", &["shard", "'5/4'", "2/4"]),
        ("shard", "auto", &["shard", "'auto'", "2/4"]),
        ("shards", "2/4", &["shards", "'2/4'", "number"]),
    ] {
        let mut job = project.job(&project.equal, 1);
        job.inputs.retain(|(name, _)| name != input);
        job.inputs.push((input.to_owned(), value.to_owned()));
        let done = job.run();
        assert_eq!(done.code, 1, "{done:?}");
        done.says(&["::error title=deadheat::"]);
        done.says(words);
        assert_eq!(done.output("exit-code"), "");
    }
    assert!(project.api.bodies().is_empty());
}

#[test]
fn parts_are_raced_quietly_and_the_job_that_merges_them_has_gate_and_comment() {
    needs!("curl", "git", "jq");
    let project = Project::new();
    let input = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let job = |head: &str, more: &[(&str, &str)]| {
        let mut job = project.job(head, 9);
        job.inputs.retain(|(name, _)| name != "args");
        let more = more.iter().map(|(name, value)| input(name, value));
        job.inputs.extend(more);
        job
    };
    let part = |head: &str, shard: &str| {
        let args = ("args", "--max-replicates 12 --quiet");
        job(head, &[args, ("shard", shard)]).run()
    };
    // Nothing has been raced yet.
    let none = job(&project.slow, &[("shards", "2")]).run();
    assert_eq!(none.code, 4, "{none:?}");
    none.says(&["part 1 of 2 is missing", "part 2 of 2 is missing", "0 of 2"]);
    none.says(&["::error title=deadheat::the parts do not form a whole race"]);
    let comments = project.api.bodies();
    assert!(comments[0].contains("exit code 4") && comments[0].contains("part 2 of 2 is missing"));

    for shard in ["1/2", "2/2"] {
        let done = part(&project.slow, shard);
        assert_eq!(done.code, 0, "a part has no gate: {done:?}");
        done.says(&[&format!("part {shard} is raced")]);
        assert!(done.summary.is_empty(), "{}", done.summary);
        assert_eq!(done.output("page"), "");
        let run = fs::read_to_string(done.output("run")).unwrap();
        assert!(
            run.contains("\"seed\":9,"),
            "the run of the workflow: {run:.2000}"
        );
        let name = format!("deadheat-race-part-{}", &shard[..1]);
        assert_eq!(done.used[0].1["name"], name);
    }
    assert_eq!(project.api.bodies(), comments, "parts say nothing");

    let whole = job(&project.slow, &[("shards", "2")]).run();
    assert_eq!(whole.code, 1, "{whole:?}");
    whole.says(&["::error title=deadheat::the gate is red"]);
    assert_eq!(whole.output("slower"), "1");
    assert!(whole.summary.contains("✘ deadheat: race"));
    assert_eq!(whole.used[0].1["pattern"], "deadheat-race-part-*");
    assert_eq!(whole.used[1].1["name"], "deadheat-race");
    let comments = project.api.bodies();
    assert_eq!(comments.len(), 1, "one comment for all of it");
    assert!(comments[0].contains("✘ deadheat: race"));

    // More parts than were raced, and then gone on without the third.
    let more = job(&project.slow, &[("shards", "3")]).run();
    assert_eq!(more.code, 4, "{more:?}");
    more.says(&["part 3 of 3 is missing", "2 of 3 parts exist"]);
    let args = ("args", "--allow-missing");
    let less = job(&project.slow, &[("shards", "3"), args]).run();
    assert_eq!(less.code, 1, "{less:?}");

    // A part whose contender fails is red itself, and the merge says what became of it.
    let failed = part(&project.broken, "2/2");
    assert_eq!(failed.code, 3, "{failed:?}");
    let whole = job(&project.slow, &[("shards", "2")]).run();
    assert_eq!(whole.code, 4, "{whole:?}");
    whole.says(&["part 2 of 2 ended with exit code 3:\n"]);
}

#[test]
fn runs_are_kept_on_a_branch_and_levels_over_commits_stand_in_the_comment() {
    needs!("curl", "git", "jq");
    let project = Project::new();
    let job = |head: &str, run: u64| {
        let mut job = project.job(head, run);
        let history = ("history".to_owned(), "runs".to_owned());
        job.inputs.push(history);
        job
    };
    let first = job(&project.equal, 1).run();
    assert_eq!(first.code, 0, "{first:?}");
    let kept = || project.git("origin", &["ls-tree", "-r", "--name-only", "runs"]);
    assert_eq!(kept().lines().count(), 1, "{}", kept());
    let page = fs::read_to_string(first.output("history")).unwrap();
    assert!(page.contains("work"), "{page:.300}");

    // It is raced from the base again; the commits of both runs make the history.
    let second = job(&project.slow, 2).run();
    assert_eq!(second.code, 1, "{second:?}");
    assert_eq!(kept().lines().count(), 2, "{}", kept());
    let body = project.api.bodies().pop().unwrap();
    assert!(body.contains("Over commits"), "{body}");
    assert!(body.contains(&project.slow[..8]), "{body}");
    assert!(second.summary.contains("Over commits"));
    // Nothing of it is left in the checkout.
    let branches = project.git("checkout", &["for-each-ref", "refs/heads"]);
    assert_eq!(branches, "");

    // A token that only reads: the race decides as ever.
    let hook = project.path("origin/.git/hooks/pre-receive");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    executable(&hook, "#!/bin/sh\necho no >&2\nexit 1\n");
    let refused = job(&project.equal, 3).run();
    assert_eq!(refused.code, 0, "{refused:?}");
    refused.says(&["::notice title=deadheat::history: the run is not kept on runs"]);
    assert_eq!(kept().lines().count(), 2);
    fs::remove_file(hook).unwrap();

    let mut odd = job(&project.equal, 4);
    odd.inputs.last_mut().unwrap().1 = "--upload-pack=./x".to_owned();
    let odd = odd.run();
    assert_eq!(odd.code, 0, "{odd:?}");
    odd.says(&["is not the name of a branch"]);
}

#[test]
fn no_script_of_an_action_or_a_workflow_has_a_text_of_strangers_pasted_into_it() {
    let mut files = vec![
        root().join("action.yml"),
        root().join("action/comment/action.yml"),
    ];
    let workflows = fs::read_dir(root().join("examples/workflows")).unwrap();
    files.extend(workflows.map(|entry| entry.unwrap().path()));
    let workflows = fs::read_dir(root().join(".github/workflows")).unwrap();
    files.extend(workflows.map(|entry| entry.unwrap().path()));
    assert!(files.len() > 8);
    for file in files {
        let whole = yaml::read(&file);
        let mut scripts = Vec::new();
        collect_scripts(&whole, &mut scripts);
        for script in scripts {
            assert!(!script.contains("${{"), "{}: {script}", file.display());
        }
    }
}

#[test]
fn the_project_s_own_history_is_raced_by_its_own_action() {
    let action = yaml::read(&root().join("action.yml"));
    let workflow = yaml::read(&root().join(".github/workflows/history.yml"));
    assert_eq!(workflow["permissions"]["contents"], "write");
    let steps = workflow["jobs"]["race"]["steps"].as_array().unwrap();
    let race = steps.iter().find(|step| step["uses"] == "./").unwrap();
    let given = race["with"].as_object().unwrap();
    for name in given.keys() {
        assert!(action["inputs"].get(name).is_some(), "{name}");
    }
    assert_eq!(given["history"], "deadheat-history");
    let command = given["command"].as_str().unwrap();
    assert!(command.starts_with("rev \"$BASE..$HEAD\" -- -p deadheat "));
    let bench = command.rsplit_once("--bench ").unwrap().1;
    let bench = format!("crates/deadheat/benches/{bench}.rs");
    assert!(root().join(&bench).is_file(), "{bench}");
}

/// The values of all keys `run`, wherever they stand.
fn collect_scripts(value: &Value, scripts: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match (key.as_str(), value) {
                    ("run", Value::String(script)) => scripts.push(script.clone()),
                    _ => collect_scripts(value, scripts),
                }
            }
        }
        Value::Array(values) => values
            .iter()
            .for_each(|value| collect_scripts(value, scripts)),
        _ => {}
    }
}

#[test]
fn a_branch_that_is_named_like_an_option_is_refused_and_not_obeyed() {
    needs!("curl", "git", "jq");
    let project = Project::new();
    let witness = project.path("witness");
    let pack = format!("--upload-pack=touch${{IFS}}{};false", witness.display());
    for (input, name) in [
        ("head", pack.as_str()),
        ("base", "--output=x"),
        ("base", "+main:refs/heads/topic"),
        ("head", "main\n::error::x"),
    ] {
        let mut job = project.job(&project.equal, 1);
        job.inputs.push((input.to_owned(), name.to_owned()));
        let done = job.run();
        assert_eq!(done.code, 1, "{done:?}");
        done.says(&["::error title=deadheat::", "is not the name of a commit"]);
        assert!(!done.log.contains("\n::error::x"), "{}", done.log);
    }
    assert!(!witness.exists());
    assert!(
        project
            .git("checkout", &["branch", "--list", "topic"])
            .is_empty()
    );
}

#[test]
fn what_builds_and_benchmarks_print_is_no_command_and_they_reach_no_file_of_later_steps() {
    needs!("curl", "git", "jq");
    let project = Project::new();
    let mut job = project.job(&project.equal, 1);
    let hostile = "echo ::error::hostile; echo ::add-mask::deadheat; env | grep ^GITHUB_ >&2; \
                   echo \"exit-code=0\" >>\"${GITHUB_OUTPUT:-nowhere.txt}\"";
    job.inputs[1].1 =
        format!("run -S sh --output inherit --max-replicates 2 -- '{hostile}' 'sleep 0.01'");
    job.inputs[2].1 = "--quiet --fail-on inconclusive".to_owned();
    let done = job.run();
    assert_eq!(done.code, 1, "{done:?}");
    let lines: Vec<&str> = done.log.lines().collect();
    let stopped = "::stop-commands::";
    let at = |word: &str| {
        lines
            .iter()
            .position(|line| line.starts_with(word))
            .unwrap()
    };
    let token = lines[at(stopped)].strip_prefix(stopped).unwrap();
    assert_eq!(token.len(), 32);
    let heard = at(&format!("::{token}::"));
    let last = lines
        .iter()
        .rposition(|line| *line == "::error::hostile")
        .unwrap();
    assert!(
        at(stopped) < at("::error::hostile") && last < heard,
        "{}",
        done.log
    );
    for name in [
        "GITHUB_OUTPUT",
        "GITHUB_STEP_SUMMARY",
        "GITHUB_ENV",
        "GITHUB_PATH",
    ] {
        assert!(
            !lines.iter().any(|line| line.starts_with(name)),
            "{name}: {}",
            done.log
        );
    }
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("GITHUB_REPOSITORY="))
    );
    assert!(project.path("checkout/nowhere.txt").exists());
}

#[test]
fn deadheat_is_built_from_the_action_or_from_a_version_and_only_once() {
    needs!("curl", "git", "jq");
    let project = Project::new();
    // In place of cargo: notes what it is asked, and leaves a program. In the checkout, it would be the
    // cargo that the project chose.
    let tools = project.path("tools");
    fs::create_dir(&tools).unwrap();
    let cargo = "#!/bin/sh\necho \"cargo $*\"\n[ \"$PWD\" = \"$RUNNER_TEMP\" ] || exit 9\nwhile [ \"$1\" != --root ]; do shift; done\n\
                 mkdir -p \"$2/bin\" && cp \"$PROGRAM\" \"$2/bin/deadheat\"\n";
    executable(&tools.join("cargo"), cargo);
    let mut path = vec![tools];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
    let path = std::env::join_paths(path).unwrap().into_string().unwrap();
    let origin = project.path("origin").to_str().unwrap().to_owned();
    project.git(
        "origin",
        &["tag", "--annotate", "--message", "v", "v1", &project.base],
    );
    let sources = root().join("crates/deadheat-cli");
    let own = format!("--path {}", sources.display());
    let tagged = format!("--git {origin} --rev {} deadheat-cli", project.base);
    let commit = format!("--git {origin} --rev {} deadheat-cli", project.slow);
    for (version, words) in [("", &own), ("v1", &tagged), (&project.slow, &commit)] {
        let mut job = project.job(&project.equal, 1);
        job.inputs.retain(|(name, _)| name != "deadheat");
        let input = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        job.inputs.push(input("version", version));
        job.inputs.push(input("repository", &origin));
        // Everything else is asked of other tests.
        job.inputs.push(input("base", "no-such-branch"));
        job.env.push(input("PATH", &path));
        job.env
            .push(input("PROGRAM", env!("CARGO_BIN_EXE_deadheat")));
        let first = job.run();
        first.says(&["cargo install --locked --root", words, "deadheat 0.1.0"]);
        let second = job.run();
        second.says(&["deadheat 0.1.0"]);
        assert!(!second.log.contains("cargo install"), "{second:?}");
    }
}

/// A job that asks for a version of a repository on the server, and nothing
/// else; no cargo can be called.
fn job_of_version(project: &Project, version: &str) -> Job {
    let tools = project.path("tools");
    if !tools.exists() {
        fs::create_dir(&tools).unwrap();
        executable(
            &tools.join("cargo"),
            "#!/bin/sh\necho \"cargo $*\"\nexit 1\n",
        );
    }
    let mut path = vec![tools];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
    let path = std::env::join_paths(path).unwrap().into_string().unwrap();
    let mut job = project.job(&project.equal, 1);
    job.inputs.retain(|(name, _)| name != "deadheat");
    let input = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    job.inputs.push(input("version", version));
    let repository = format!("{}/me/deadheat", project.api.url);
    job.inputs.push(input("repository", &repository));
    // Everything else is asked of other tests.
    job.inputs.push(input("base", "no-such-branch"));
    job.env.push(input("PATH", &path));
    job
}

/// An archive with this program, as `.ci/dist` makes one, and its checksum.
fn archive(project: &Project, version: &str) -> [(String, Vec<u8>); 2] {
    let kind = format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS);
    let name = format!("deadheat-{version}-{kind}");
    let folder = project.path("archive");
    fs::create_dir_all(folder.join(&name).join("bin")).unwrap();
    let program = folder.join(&name).join("bin/deadheat");
    fs::copy(env!("CARGO_BIN_EXE_deadheat"), program).unwrap();
    let script =
        format!("tar -czf {name}.tar.gz {name} && sha256sum {name}.tar.gz > {name}.tar.gz.sha256");
    let mut packed = Command::new("sh");
    packed.args(["-c", &script]).current_dir(&folder);
    assert!(packed.status().unwrap().success());
    ["", ".sha256"].map(|end| {
        let file = format!("{name}.tar.gz{end}");
        let bytes = fs::read(folder.join(&file)).unwrap();
        (
            format!("/me/deadheat/releases/download/v{version}/{file}"),
            bytes,
        )
    })
}

#[test]
fn the_archive_of_a_release_is_fetched_once_and_nothing_is_built() {
    let project = Project::new();
    let files = archive(&project, "0.1.0");
    project.api.with(|state| state.files = files.to_vec());
    let job = job_of_version(&project, "v0.1.0");
    let first = job.run();
    first.says(&["deadheat 0.1.0 was fetched from http://127.0.0.1:"]);
    assert!(!first.log.contains("cargo "), "{first:?}");
    let asked = project.api.methods().len();
    assert_eq!(asked, 2, "the archive and its checksum");
    job.run().says(&["deadheat 0.1.0 ("]);
    assert_eq!(project.api.methods().len(), 1, "the checksum");
    // The tag of the action itself will do where no version is given.
    let mut job = job_of_version(&project, "");
    job.github["action_ref"] = "v0.1.0".into();
    job.run().says(&["deadheat 0.1.0 ("]);
}

#[test]
fn an_archive_that_cannot_be_trusted_is_refused_and_without_one_deadheat_is_built() {
    let project = Project::new();
    let [archive, (sum, text)] = archive(&project, "0.1.0");
    let other = text.iter().map(|byte| match byte {
        b'0'..=b'8' => byte + 1,
        b'9' => b'0',
        other => *other,
    });
    let other: Vec<u8> = other.take(64).chain(text[64..].iter().copied()).collect();
    project
        .api
        .with(|state| state.files = vec![archive.clone(), (sum, other)]);
    let job = job_of_version(&project, "v0.1.0");
    let done = job.run();
    done.says(&["::error title=deadheat::", "does not match its checksum"]);
    assert!(done.code != 0 && !done.log.contains("cargo "), "{done:?}");
    project.api.with(|state| state.files = vec![archive]);
    let done = job.run();
    done.says(&["has no checksum file"]);
    assert!(done.code != 0 && !done.log.contains("cargo "), "{done:?}");
    // Of this action, which has no release, deadheat is built.
    project.api.with(|state| state.files = Vec::new());
    let mut job = job_of_version(&project, "");
    job.github["action_ref"] = "v0.1.0".into();
    job.run().says(&["cargo install --locked --root"]);
}

/// A folder of results in which everything is made up.
fn results(project: &Project, report: &str) -> Job {
    let folder = project.path("results");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("report.md"), report).unwrap();
    fs::write(folder.join("outcome.json"), "{\"exit_code\": 0}").unwrap();
    project.api.with(|state| {
        state.pulls = vec![json!({ "number": 7, "head": { "sha": project.equal } })];
    });
    let mut job = project.job(&project.equal, 1);
    job.action = root().join("action/comment");
    job.inputs = vec![("folder".to_owned(), folder.to_str().unwrap().to_owned())];
    job.github["event"] = json!({
        "workflow_run": {
            "id": 5,
            "run_attempt": 2,
            "head_sha": project.equal,
            "head_branch": "topic",
            "head_repository": { "owner": { "login": "me" } },
        },
    });
    job
}

#[test]
fn a_comment_longer_than_github_takes_is_cut_where_it_may_be() {
    needs!("curl", "git", "jq");
    let project = Project::new();
    let line =
        "<details>\n<summary>🏁 a</summary>\n\n```text\n| é | ≈ dead heat |\n```\n\n</details>\n";
    // Just short enough, and longer in every way of counting.
    for (times, is_cut) in [(3, false), (2_000, true)] {
        let done = results(&project, &line.repeat(times)).run();
        assert_eq!(done.code, 0, "{done:?}");
        let body = project.api.bodies().pop().unwrap();
        assert!(body.encode_utf16().count() <= LONGEST);
        assert_eq!(body.contains("Cut here"), is_cut);
        let count = |what: &str| body.matches(what).count();
        assert_eq!(count("<details>"), count("</details>"));
        assert_eq!(count("```") % 2, 0);
        assert!(!is_cut || body.encode_utf16().count() > LONGEST - 1_000);
        assert!(body.contains("[workflow run](https://github.test/me/project/actions/runs/5)"));
    }
    // Cut in the middle of what is folded and fenced: both are ended.
    let open = format!(
        "<details>\n\n```text\n{}```\n</details>\n",
        "x\n".repeat(40_000)
    );
    results(&project, &open).run();
    let body = project.api.bodies().pop().unwrap();
    let (_, end) = body.rsplit_once("x\n").unwrap();
    assert!(end.starts_with("```\n\n</details>\n\n**Cut here"), "{end}");
    // The ends of what is folded count as well.
    results(&project, &"<details>\n".repeat(40_000)).run();
    let body = project.api.bodies().pop().unwrap();
    assert!(body.encode_utf16().count() <= LONGEST);
}

#[test]
fn a_link_among_the_results_of_strangers_leads_nowhere() {
    needs!("curl", "git", "jq");
    let project = Project::new();
    let job = results(&project, "");
    let report = project.path("results/report.md");
    fs::write(project.path("secret"), "the token").unwrap();
    fs::remove_file(&report).unwrap();
    std::os::unix::fs::symlink(project.path("secret"), &report).unwrap();
    let done = job.run();
    assert_eq!(done.code, 0, "{done:?}");
    let body = project.api.bodies().pop().unwrap();
    assert!(
        body.starts_with(MARKER) && !body.contains("token"),
        "{body}"
    );
}

#[test]
fn of_two_runs_that_both_find_no_comment_only_one_comment_stays() {
    needs!("curl", "git", "jq");
    let project = Project::new();
    let rival = format!("{MARKER}<!-- run 4 1 -->\nold");
    project.api.with(|state| {
        let rival = state.comment(BOT, &rival);
        state.rival = Some(rival);
    });
    let done = results(&project, "new").run();
    assert_eq!(done.code, 0, "{done:?}");
    let bodies = project.api.bodies();
    assert_eq!(bodies.len(), 1, "{bodies:?}");
    assert!(bodies[0].contains("<!-- run 5 2 -->") && bodies[0].contains("new"));
    let methods = project.api.methods();
    assert_eq!(methods, ["GET", "GET", "POST", "GET", "DELETE", "PATCH"]);
}

#[test]
fn a_wrong_token_and_a_server_that_is_not_there_are_warnings() {
    needs!("curl", "git", "jq");
    let project = Project::new();
    let mut job = results(&project, "text");
    job.github["token"] = "wrong".into();
    let done = job.run();
    assert_eq!(done.code, 0, "{done:?}");
    done.says(&["::warning", "HTTP 401", "Bad credentials"]);
    job.github["token"] = "".into();
    let done = job.run();
    done.says(&["::notice", "no token", "github-token"]);
    job.github["token"] = "secret-token".into();
    job.github["api_url"] = "http://127.0.0.1:1".into();
    let done = job.run();
    assert_eq!(done.code, 0, "{done:?}");
    done.says(&["::warning", "does not answer"]);
}

#[test]
fn base_and_head_are_those_of_the_event_or_as_given() {
    needs!("curl", "git", "jq");
    let project = Project::new();
    let found = |job: &Job| -> (String, String) {
        // The steps after it need not run.
        let done = job.run();
        let word = |name: &str| {
            let mut lines = done.log.lines().filter_map(|line| line.split_once(' '));
            let line = lines.find(|(word, _)| *word == name);
            line.unwrap_or_else(|| panic!("{name}: {done:?}"))
                .1
                .to_owned()
        };
        (word("base"), word("head"))
    };
    let with = |event: Value, inputs: &[(&str, &str)]| {
        let mut job = project.job(&project.slow, 1);
        job.github["event"] = event;
        job.github["sha"] = project.slow.clone().into();
        // No race: that is what other tests are about.
        job.inputs[1].1 = "rev \"$BASE..$HEAD\" --list --build true --exe none".to_owned();
        let inputs = inputs.iter();
        let inputs = inputs.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        job.inputs.extend(inputs);
        job
    };
    let main = project.git("origin", &["rev-parse", "main"]);
    let pair = |base: &String, head: &String| (base.clone(), head.clone());
    let push = json!({ "before": project.equal });
    assert_eq!(found(&with(push, &[])), pair(&project.equal, &project.slow));
    let queue = json!({ "merge_group": { "base_sha": project.base } });
    assert_eq!(found(&with(queue, &[])), pair(&project.base, &project.slow));
    let named = with(json!({}), &[("base", "main"), ("head", "topic")]);
    assert_eq!(found(&named), pair(&main, &project.broken));
    // The first push of a branch, and a schedule: nobody knows against what.
    for event in [json!({ "before": "0".repeat(40) }), json!({})] {
        let done = with(event, &[]).run();
        assert_eq!(done.code, 1, "{done:?}");
        done.says(&["::error", "input base"]);
    }
    let whole = project.git("checkout", &["rev-parse", "--is-shallow-repository"]);
    assert_eq!(whole, "true", "no more is fetched than is needed");
}

/// The scripts of the action, those that run the tests, and those that make releases.
fn scripts() -> BTreeSet<PathBuf> {
    let folders = ["action", ".ci", "packaging"].map(|folder| root().join(folder));
    let entries = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut scripts: BTreeSet<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| match path.extension() {
            Some(extension) => extension == "sh",
            None => path.is_file(),
        })
        .collect();
    assert!(scripts.len() > 14, "{scripts:?}");
    scripts.insert(root().join("test"));
    scripts
}

#[test]
fn bash_reads_the_scripts() {
    for script in scripts() {
        let read = Command::new("bash").arg("-n").arg(script).output().unwrap();
        assert!(read.status.success(), "{read:?}");
    }
}

#[test]
fn shellcheck_has_nothing_to_say_of_the_scripts() {
    needs!("shellcheck");
    let mut command = Command::new("shellcheck");
    command.arg("--external-sources").args(scripts());
    let done = command.current_dir(root()).output().unwrap();
    Finished::from(done).succeeds();
}

#[test]
fn the_manual_tells_every_input_and_output_and_the_examples_use_only_those() {
    let manual = fs::read_to_string(root().join("docs/github_action.md")).unwrap();
    let action = yaml::read(&root().join("action.yml"));
    let comment = yaml::read(&root().join("action/comment/action.yml"));
    for kind in ["inputs", "outputs"] {
        for name in action[kind].as_object().unwrap().keys() {
            assert!(manual.contains(&format!("| `{name}` |")), "{kind}: {name}");
        }
    }
    let mut used = 0;
    for file in [
        "deadheat.yml",
        "deadheat-forks.yml",
        "deadheat-comment.yml",
        "deadheat-fleet.yml",
    ] {
        let path = root().join("examples/workflows").join(file);
        let workflow = yaml::read(&path);
        let text = fs::read_to_string(path).unwrap();
        assert!(
            manual.contains(&format!("```yaml\n{text}```")),
            "{file} as it is"
        );
        for job in workflow["jobs"].as_object().unwrap().values() {
            for step in job["steps"].as_array().unwrap() {
                let inputs = match step["uses"].as_str().unwrap_or_default() {
                    name if name.starts_with("deadheat/deadheat@") => &action["inputs"],
                    name if name.starts_with("deadheat/deadheat/action/comment@") => {
                        &comment["inputs"]
                    }
                    _ => continue,
                };
                used += 1;
                let given = step["with"].as_object();
                for name in given.into_iter().flat_map(|given| given.keys()) {
                    assert!(inputs.get(name).is_some(), "{file}: {name}");
                }
            }
        }
    }
    assert_eq!(used, 5);
}
