//! Repositories that mean harm, as a pull request may bring them along: names of submodules that lead
//! elsewhere, committed builds, links, indexes and records, and commit ids that are options of git.

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use common::{Finished, said, says, wait_until};
use deadheat_testing::{kill, needs};
use rusqlite::Connection;
use tempfile::TempDir;

/// A repository, a folder next to it that nothing may touch, and a place for caches.
struct Repo {
    folder: TempDir,
}

impl Repo {
    fn new() -> Self {
        let repo = Self {
            folder: TempDir::new().unwrap(),
        };
        for folder in ["repo", "precious/inner", "cache"] {
            fs::create_dir_all(repo.outside(folder)).unwrap();
        }
        fs::write(repo.outside("precious/inner/file"), "mine").unwrap();
        repo.git(&["init", "--quiet", "--initial-branch", "main"]);
        repo.write("value", "one\n");
        repo.commit();
        repo
    }

    fn outside(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    fn path(&self, path: &str) -> PathBuf {
        self.outside("repo").join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn commit(&self) {
        self.git(&["add", "--all", "--force"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", "change"]);
    }

    fn git(&self, args: &[&str]) -> String {
        let mut command = self.command("git");
        command.args(["-c", "user.name=n", "-c", "user.email=e@x"]);
        command.args(["-c", "protocol.file.allow=always"]);
        let done = Finished::from(command.args(args).output().unwrap());
        done.succeeds().stdout.trim().to_owned()
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.path(""))
            .env("LC_ALL", "C.UTF-8")
            .env("DEADHEAT_CALIBRATION", "")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("XDG_CACHE_HOME", self.outside("cache"));
        command
    }

    fn deadheat(&self, args: &[&str]) -> Finished {
        let mut command = self.command(env!("CARGO_BIN_EXE_deadheat"));
        Finished::from(command.args(args).output().unwrap())
    }

    /// The text that the executables of both sides print, each built from the file `value`.
    fn builds(&self, range: &str) -> (Finished, Vec<String>) {
        let script = "mkdir -p out; printf '#!/bin/sh\necho %s\n' \"$(cat value)\" > out/program; \
                      chmod +x out/program";
        let args = [
            "rev",
            range,
            "--build",
            script,
            "--exe",
            "out/program",
            "--no-run",
        ];
        let done = self.deadheat(&args);
        let paths = done
            .succeeds()
            .stdout
            .lines()
            .map(|line| line.split('\t').nth(2).unwrap());
        let say = |path| Command::new(path).output().unwrap().stdout;
        let said = paths.map(|path| String::from_utf8(say(path)).unwrap().trim().to_owned());
        let said = said.collect();
        (done, said)
    }

    /// Asserts that nothing outside of the repository changed.
    #[track_caller]
    fn spares_the_rest(&self) {
        let text = fs::read_to_string(self.outside("precious/inner/file"));
        assert_eq!(text.unwrap(), "mine");
        let entries = fs::read_dir(self.outside("precious")).unwrap();
        assert_eq!(entries.count(), 1);
    }

    /// A run file of a race of two commits.
    fn run_file(&self) -> String {
        let path = self.path("r.jsonl");
        let args = [
            "run",
            "-q",
            "-r",
            "12",
            "--no-config",
            "--save",
            "r.jsonl",
            "--",
            "true",
            "true",
        ];
        self.deadheat(&args).succeeds();
        fs::read_to_string(path).unwrap()
    }
}

#[test]
fn a_committed_link_in_the_place_of_the_runs_is_refused_and_one_of_the_user_is_followed() {
    needs!("git");
    let race = ["run", "-q", "-r", "2", "--no-config", "--", "true"];
    for (link, target) in [
        (".deadheat", "../precious"),
        (".deadheat/runs", "../../precious"),
        (".deadheat/bisect", "../../precious"),
    ] {
        let repo = Repo::new();
        let at = repo.path(link);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        symlink(target, at).unwrap();
        repo.commit();
        repo.deadheat(&race).fails_with(2, &["git tracks", link]);
        repo.spares_the_rest();
    }
    let repo = Repo::new();
    symlink("../precious", repo.path(".deadheat")).unwrap();
    repo.deadheat(&race).succeeds();
    assert!(repo.outside("precious/runs").is_dir());
}

/// Writes a repository without a working tree of its own into the folder `name`, whose filters
/// touch a file, and returns its commit.
fn with_filter(repo: &Repo, name: &str, touched: &Path) -> String {
    let source = repo.outside("source");
    fs::create_dir_all(&source).unwrap();
    fs::write(source.join(".gitattributes"), "* filter=x\n").unwrap();
    fs::write(source.join("file"), "hi\n").unwrap();
    let at = source.display().to_string();
    let git = |args: &[&str]| repo.git(&[&["-C", &*at], args].concat());
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "--message", "x"]);
    let folder = repo.path(name);
    fs::create_dir_all(&folder).unwrap();
    let mut copy = Command::new("cp");
    copy.args(["-r", "objects", "refs", "HEAD"]).arg(&folder);
    assert!(
        copy.current_dir(source.join(".git"))
            .status()
            .unwrap()
            .success()
    );
    let config = format!(
        "[core]\nrepositoryformatversion = 0\nbare = false\n[filter \"x\"]\nsmudge = touch '{}'; cat\n",
        touched.display()
    );
    fs::write(folder.join("config"), config).unwrap();
    git(&["rev-parse", "HEAD"])
}

#[test]
fn a_name_of_a_submodule_leads_to_no_repository_in_the_tree() {
    needs!("git");
    for name in ["../../evil", "a/../../../evil", "lib/../../../evil"] {
        let repo = Repo::new();
        let touched = repo.outside("touched");
        let id = with_filter(&repo, "evil", &touched);
        repo.git(&[
            "config",
            "--file",
            ".gitmodules",
            &format!("submodule.{name}.path"),
            "sub",
        ]);
        repo.git(&["add", "--all", "--force"]);
        let entry = format!("160000,{id},sub");
        repo.git(&["update-index", "--add", "--cacheinfo", &entry]);
        repo.git(&["commit", "--quiet", "--message", "evil"]);
        fs::create_dir_all(repo.path(".git/modules/lib")).unwrap();
        let (done, said) = repo.builds("HEAD..HEAD");
        assert_eq!(said, ["one", "one"]);
        assert!(
            done.stderr.contains("without the submodule sub"),
            "{name}: {done:?}"
        );
        assert!(!touched.exists(), "{name}");
    }
}

#[test]
fn committed_records_of_links_are_refused_in_a_commit_and_next_to_a_program() {
    needs!("git");
    let repo = Repo::new();
    repo.write("out/.deadheat/links/program.json", "{}");
    repo.commit();
    let script = "mkdir -p out; cp /bin/true out/program";
    let mut args = [
        "rev",
        "HEAD~1..HEAD",
        "--build",
        script,
        "--exe",
        "out/program",
        "--no-run",
    ];
    let words = ["git tracks", ".deadheat/links"];
    repo.deadheat(&args).fails_with(3, &words);
    // The other commit has none.
    args[1] = "HEAD~1..HEAD~1";
    repo.deadheat(&args).succeeds();
    fs::copy("/bin/true", repo.path("out/program")).unwrap();
    let place = ["placements", "out/program", "1"];
    let done = repo.deadheat(&place);
    assert!(said(&done).contains("git tracks"), "{done:?}");
}

#[test]
fn ids_of_commits_that_are_options_are_refused_in_run_files_and_records() {
    needs!("git");
    let repo = Repo::new();
    repo.commit();
    let text = repo.run_file();
    let head = repo.git(&["rev-parse", "HEAD"]);
    let victim = repo.outside("precious/inner/file");
    for id in [
        format!("--output={}", victim.display()),
        "--all".to_owned(),
        "HEAD~1".to_owned(),
        format!("^{}", &head[1..]),
        head[..39].to_owned(),
    ] {
        let commits = format!(
            "\"environment\":{{\"commits\":[{{\"id\":\"{id}\",\"committed_at\":1}},\
             {{\"id\":\"{head}\",\"committed_at\":2}}],"
        );
        let hostile = text.replacen("\"environment\":{", &commits, 1);
        assert_ne!(hostile, text);
        repo.write("hostile.jsonl", &hostile);
        let words = ["hostile.jsonl:1:", "full id of a commit"];
        repo.deadheat(&["history", "add", "hostile.jsonl"])
            .fails_with(4, &words);
        repo.deadheat(&["analyze", "hostile.jsonl"])
            .fails_with(4, &words);
        repo.deadheat(&["history", "push", "--branch", "runs", "hostile.jsonl"])
            .fails_with(4, &words);
        repo.write(
            "record.jsonl",
            &format!(
                "{{\"schema\":\"deadheat.bisect/1\",\"tool\":{{\"version\":\"0.1.0\"}},\"started_at\":1,\
                 \"good\":\"a\",\"bad\":\"b\",\"commits\":[{{\"id\":\"{id}\",\"committed_at\":1,\"subject\":\"\"}},\
                 {{\"id\":\"{head}\",\"committed_at\":2,\"subject\":\"\"}}],\"judged\":\"wall_ns\",\
                 \"margin\":0.01,\"alpha\":0.05,\"prior\":\"uniform\"}}\n"
            ),
        );
        let done = repo.deadheat(&["bisect", "--log", "record.jsonl"]);
        done.fails_with(4, &["record.jsonl", "full id of a commit"]);
        repo.spares_the_rest();
    }
}

#[test]
fn revisions_that_are_no_single_commit_are_refused() {
    needs!("git");
    let repo = Repo::new();
    for range in ["^HEAD..HEAD", "--output=x..HEAD", "HEAD..-x"] {
        let args = [
            "rev", range, "--build", "true", "--exe", "value", "--no-run",
        ];
        let done = repo.deadheat(&args);
        assert_eq!(done.code, Some(2), "{range}: {done:?}");
        assert!(!repo.path("x").exists());
    }
}

#[test]
fn a_committed_index_or_record_is_refused_by_name_and_an_accepted_step_is_not() {
    needs!("git");
    let repo = Repo::new();
    repo.write(".deadheat/accepted.toml", "");
    repo.write(".deadheat/history.sqlite-journal", "x");
    repo.write(".deadheat/bisect/a.jsonl", "{}");
    repo.commit();
    for args in [
        &["history", "show"][..],
        &["history", "check"],
        &["history", "add", "value"],
        &["history", "show", "--index", ".deadheat/history.sqlite"],
        &["bisect", "--log"],
        &["bisect", "--resume"],
        &["bisect", "--resume", ".deadheat/bisect/a.jsonl"],
    ] {
        let done = repo.deadheat(args);
        done.fails_with(2, &["git tracks", ".deadheat", "it comes from a commit"]);
    }
    repo.git(&[
        "rm",
        "-r",
        "--quiet",
        ".deadheat/bisect",
        ".deadheat/history.sqlite-journal",
    ]);
    repo.deadheat(&["history", "show"])
        .fails_with(2, &["there is no index"]);
    repo.deadheat(&["history", "accept", "--list"]).succeeds();
}

#[test]
fn a_committed_journal_is_refused_wherever_the_index_is() {
    needs!("git");
    let repo = Repo::new();
    let index = indexed(&repo);
    fs::create_dir(repo.path("ci")).unwrap();
    fs::copy(&index, repo.path("ci/index.db")).unwrap();
    symlink("ci/index.db", repo.path("link.db")).unwrap();
    let before = fs::read(&index).unwrap();
    for ending in ["-journal", "-wal", "-shm"] {
        let journal = format!("ci/index.db{ending}");
        repo.write(&journal, "x");
        repo.git(&["add", "--force", &journal]);
        for index in ["ci/index.db", "link.db"] {
            for args in [&["show"][..], &["check"], &["add", "r.jsonl"]] {
                let words = [&["history"], args, &["--index", index]].concat();
                let done = repo.deadheat(&words);
                done.fails_with(2, &["git tracks", &journal, "it comes from a commit"]);
            }
        }
        repo.git(&["rm", "--force", "--quiet", &journal]);
        assert_eq!(fs::read(repo.path("ci/index.db")).unwrap(), before);
    }
    let show = ["history", "show", "--index", "link.db"];
    repo.deadheat(&show).succeeds();
}

#[test]
fn a_committed_link_leads_no_accepted_step_out_of_the_checkout() {
    needs!("git");
    let repo = Repo::new();
    indexed(&repo);
    for name in ["accepted.toml", ".gitignore"] {
        let link = repo.path(&format!(".deadheat/{name}"));
        let _ = fs::remove_file(&link);
        let elsewhere = repo.path("elsewhere.toml");
        symlink(&elsewhere, &link).unwrap();
        repo.deadheat(&["history", "accept", "HEAD", "why"])
            .fails_with(5, &[name, "it is a symbolic link"]);
        assert!(!elsewhere.exists());
        fs::remove_file(&link).unwrap();
    }
}

#[test]
fn a_commit_with_a_link_in_place_of_the_current_folder_is_not_built_where_it_leads() {
    needs!("git");
    let repo = Repo::new();
    let elsewhere = repo.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    repo.write("sub/file", "x");
    repo.commit();
    repo.git(&["branch", "old"]);
    fs::remove_dir_all(repo.path("sub")).unwrap();
    symlink(&elsewhere, repo.path("sub")).unwrap();
    repo.commit();
    repo.git(&["branch", "new"]);
    repo.git(&["checkout", "--quiet", "old"]);
    let build = ["--build", "touch written", "--run", "true"];
    let mut rev = repo.command(env!("CARGO_BIN_EXE_deadheat"));
    rev.current_dir(repo.path("sub")).args(["rev", "old..new"]);
    Finished::from(rev.args(build).output().unwrap()).fails_with(2, &["has no folder `sub`"]);
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

/// An index of a race of two commits.
fn indexed(repo: &Repo) -> PathBuf {
    repo.commit();
    repo.run_file();
    let args = ["history", "add", "r.jsonl", "--commits", "HEAD~1..HEAD"];
    repo.deadheat(&args).succeeds();
    repo.path(".deadheat/history.sqlite")
}

#[test]
fn an_index_with_a_view_or_a_trigger_is_refused_at_once_by_every_command() {
    needs!("git");
    for change in [
        "PRAGMA legacy_alter_table = ON; ALTER TABLE commits RENAME TO hidden; \
         CREATE VIEW commits AS WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) \
         SELECT n AS number, printf('%040x', n) AS id, n AS committed_at, 'x' AS subject FROM x",
        "CREATE TRIGGER t AFTER INSERT ON commits BEGIN INSERT INTO machines (name, cpu) \
         VALUES (hex(randomblob(100000000)), ''); END",
        "CREATE TABLE more (a)",
    ] {
        let repo = Repo::new();
        let index = indexed(&repo);
        Connection::open(&index)
            .unwrap()
            .execute_batch(change)
            .unwrap();
        let before = fs::metadata(&index).unwrap().len();
        for args in [
            &["history", "show"][..],
            &["history", "check"],
            &["history", "page", "--html", "page.html"],
            &["history", "add", "r.jsonl", "--commits", "HEAD~1..HEAD"],
        ] {
            repo.deadheat(args)
                .fails_with(4, &["history.sqlite", "broken index"]);
        }
        assert_eq!(fs::metadata(&index).unwrap().len(), before);
    }
}

#[test]
fn a_signal_ends_the_wait_for_an_index_that_others_use() {
    needs!("git");
    let repo = Repo::new();
    let index = indexed(&repo);
    let other = Connection::open(&index).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    for signal in ["INT", "TERM"] {
        let mut command = repo.command(env!("CARGO_BIN_EXE_deadheat"));
        let mut child = command.args(["history", "show"]).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(500));
        assert!(child.try_wait().unwrap().is_none());
        assert!(kill(&["-s", signal, &child.id().to_string()]));
        wait_until("the end of the wait", || {
            child.try_wait().unwrap().is_some()
        });
    }
}

#[test]
fn a_branch_is_never_a_tag_and_never_one_that_is_checked_out() {
    needs!("git");
    let repo = Repo::new();
    let text = repo.run_file();
    repo.commit();
    let push = |branch: &str| repo.deadheat(&["history", "push", "--branch", branch, "r.jsonl"]);
    push("runs").succeeds();
    let first = repo.git(&["rev-parse", "refs/heads/runs"]);
    repo.git(&["tag", "runs", "HEAD~1"]);
    repo.git(&["update-ref", "refs/remotes/origin/runs", "HEAD~1"]);
    let name = format!("\"command\":[\"other\"],{}", &text[1..]);
    let other = format!(
        "{{{}",
        name.replacen("\"command\":[\"deadheat\"", "\"was\":[\"deadheat\"", 1)
    );
    assert_ne!(other, text);
    repo.write("r.jsonl", &other);
    push("refs/heads/runs").succeeds();
    let second = repo.git(&["rev-parse", "refs/heads/runs"]);
    assert_eq!(repo.git(&["rev-parse", &format!("{second}~1")]), first);
    assert!(!repo.path(".git/refs/heads/refs").exists());
    let added = repo.deadheat(&["history", "add", "--branch", "runs"]);
    says(&added, 0, &["skipped"]);

    // No working tree may lack a commit of its branch.
    repo.git(&["reset", "--hard", "--quiet"]);
    repo.git(&["worktree", "add", "--quiet", "-b", "topic", "../topic"]);
    repo.git(&["symbolic-ref", "refs/heads/alias", "refs/heads/main"]);
    for branch in ["main", "refs/heads/main", "topic", "alias"] {
        push(branch).fails_with(2, &["checked out"]);
    }
    repo.git(&["branch", "sources", "main"]);
    push("sources").fails_with(2, &["none in runs/"]);
    for branch in [
        "-x",
        "HEAD",
        "@",
        "@{-1}",
        "a..b",
        "refs/tags/x",
        "refs/heads/",
        "a b",
        "",
    ] {
        let done = repo.deadheat(&["history", "push", &format!("--branch={branch}"), "r.jsonl"]);
        assert_eq!(done.code, Some(2), "{branch}: {done:?}");
    }
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    assert_eq!(repo.git(&["rev-parse", "refs/heads/runs"]), second);
}

#[test]
fn git_starts_no_hook_and_no_monitor_of_files() {
    needs!("git");
    let repo = Repo::new();
    repo.run_file();
    repo.commit();
    let touched = repo.outside("touched");
    let script = format!("#!/bin/sh\necho \"$0\" >>'{}'\n", touched.display());
    let hooks = [
        "reference-transaction",
        "post-checkout",
        "post-index-change",
        "monitor",
    ];
    for hook in hooks {
        let path = format!(".git/hooks/{hook}");
        repo.write(&path, &script);
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(repo.path(&path), mode).unwrap();
    }
    repo.git(&["config", "core.fsmonitor", ".git/hooks/monitor"]);
    repo.git(&["status", "--porcelain"]);
    assert!(touched.exists(), "git itself starts them");
    std::fs::remove_file(&touched).unwrap();
    repo.deadheat(&["history", "push", "--branch", "runs", "r.jsonl"])
        .succeeds();
    repo.deadheat(&["history", "add", "--branch", "runs"])
        .succeeds();
    let build = ["--build", "cp /bin/true program", "--exe", "program"];
    repo.deadheat(&[&["rev", "HEAD", "--no-run"][..], &build].concat())
        .succeeds();
    assert!(
        !touched.exists(),
        "{}",
        std::fs::read_to_string(&touched).unwrap()
    );
}

#[test]
fn a_folder_that_looks_like_a_bare_repository_is_not_asked() {
    needs!("git");
    let repo = Repo::new();
    let touched = repo.outside("touched");
    with_filter(&repo, "inner", &touched);
    let config = format!(
        "[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = touch '{}'; false\n",
        touched.display()
    );
    repo.write("inner/config", &config);
    repo.write("inner/value", "inner\n");
    repo.commit();
    let script = "cp /bin/true program";
    let mut command = repo.command(env!("CARGO_BIN_EXE_deadheat"));
    command.current_dir(repo.path("inner"));
    command.args([
        "rev",
        "HEAD..HEAD",
        "--build",
        script,
        "--exe",
        "program",
        "--no-run",
    ]);
    let done = Finished::from(command.output().unwrap());
    done.succeeds();
    assert!(done.stdout.contains("/tree/inner/program"), "{done:?}");
    assert!(!touched.exists());
}
