//! Searches of real repositories in C, by races of what their commits build, beside `git bisect
//! run` with a t test of ten runs each.

use deadheat_validation::prelude::*;
use std::process::ExitCode;

use deadheat_stats::summary::mean;
use deadheat_validation::bars::table;

const COMMITS: usize = 64;
/// Those that do not build, and those that are merges.
const BROKEN: usize = 6;
const MERGES: usize = 4;
/// Repositories of each step, and of a trial.
const REPOSITORIES: (usize, usize) = (20, 1);
/// Rounds of the work that a run does; some milliseconds.
const ROUNDS: u32 = 20_000;
/// Runs of each side in the t test.
const RUNS: usize = 10;

/// The heading of the section on the page, by which it is found again.
pub const HEADING: &str = "\n## On real repositories\n";

/// The option under which this program is the script of `git bisect run`.
pub const JUDGE: &str = "--judge";

fn build_command(deadheat: &Path) -> String {
    let link = format!("'{}' link -- cc -O2 -ffunction-sections", deadheat.display());
    format!(
        "{link} -c -o work.o work.c && {link} -c -o main.o main.c && {link} -o work main.o work.o"
    )
}

struct Repository {
    folder: PathBuf,
    /// The full name of the culprit; `None` where nothing changed.
    culprit: Option<String>,
}

impl Repository {
    fn make(folder: PathBuf, step: f64, seed: u64) -> Self {
        let mut random = SplitMix64::new(seed * 104_729 + 7);
        fs::create_dir_all(&folder).expect("a folder");
        let mut repository = Self { folder, culprit: None };
        repository.git(&["init", "--quiet", "--initial-branch", "main"]);
        repository.write(".gitignore", "*.o\nwork\n.deadheat\n");
        let culprit = 1 + random.index_below(COMMITS);
        let mut draw = |count: usize| -> Vec<usize> {
            let mut drawn = Vec::new();
            while drawn.len() < count {
                let one = 1 + random.index_below(COMMITS - 1);
                if one != culprit && !drawn.contains(&one) {
                    drawn.push(one);
                }
            }
            drawn
        };
        let (broken, merges) = (draw(BROKEN), draw(MERGES));
        for number in 0..=COMMITS {
            let is_slow = step != 0.0 && number >= culprit;
            let rounds = f64::from(ROUNDS) * if is_slow { 1.0 + step } else { 1.0 };
            let is_broken = broken.contains(&number);
            if merges.contains(&number) {
                repository.git(&["checkout", "--quiet", "-b", &format!("topic-{number}")]);
                repository.write("topic", &format!("{number}\n"));
                repository.commit("on a branch");
                repository.git(&["checkout", "--quiet", "main"]);
            }
            repository.write_sources(number, rounds as u32, is_broken, &mut random);
            if merges.contains(&number) {
                // What the merge changes is in the merge itself.
                let branch = format!("topic-{number}");
                repository.git(&["stash", "--quiet"]);
                repository.git(&["merge", "--quiet", "--no-ff", "--no-commit", &branch]);
                repository.git(&["stash", "pop", "--quiet"]);
            }
            repository.commit(&format!("change {number}"));
            if number == 0 {
                repository.git(&["tag", "good"]);
            }
            if step != 0.0 && number == culprit {
                repository.culprit = Some(repository.said(&["rev-parse", "HEAD"]));
            }
        }
        repository.git(&["tag", "bad"]);
        repository
    }

    /// Sources in which every commit moves the code that is measured: functions of other sizes
    /// stand before it.
    fn write_sources(&self, number: usize, rounds: u32, is_broken: bool, random: &mut SplitMix64) {
        let mut work = String::from("#include <stdint.h>\n");
        if is_broken {
            work += "#error this commit does not build\n";
        }
        for function in 0..1 + random.index_below(6) {
            let _ = write!(work, "uint64_t before_{function}(uint64_t x) {{");
            for _ in 0..random.index_below(12) {
                let _ = write!(work, " x = x * {}u + 1;", random.bits() | 1);
            }
            work += " return x; }\n";
        }
        let _ = write!(
            work,
            "static uint64_t step(uint64_t x) {{ x ^= x << 13; x ^= x >> 7; return x ^ (x << 17); }}\n\
             uint64_t work(uint64_t x) {{\n  uint64_t odd = 0;\n  for (uint32_t i = 0; i < {rounds}u; i++)\n    \
             for (int j = 0; j < 100; j++) {{ x = step(x); if (x & 4096) odd += x; }}\n  return odd;\n}}\n"
        );
        let main = format!(
            "#include <stdint.h>\n#include <stdio.h>\nuint64_t work(uint64_t);\n\
             int main(void) {{ printf(\"%d %llu\\n\", {number}, (unsigned long long) work(88172645463325252u)); return 0; }}\n"
        );
        self.write("work.c", &work);
        self.write("main.c", &main);
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.join(name), text).expect("a file of a repository");
    }

    fn command(&self) -> Command {
        let mut command = Command::new("git");
        command.current_dir(&self.folder);
        command.args(["-c", "user.name=n", "-c", "user.email=e@x"]);
        command
    }

    fn git(&self, words: &[&str]) {
        done(self.command().args(words));
    }

    fn said(&self, words: &[&str]) -> String {
        let text = text_of(self.command().args(words), &[0]).expect("git answers");
        text.trim().to_owned()
    }

    fn commit(&self, subject: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", subject]);
    }

    fn search(&self, deadheat: &Path) -> Found {
        let mut command = Command::new(deadheat);
        command.current_dir(&self.folder);
        command.args(["bisect", "good..bad", "--quiet", "--json", "--run", "./work", "--build"]);
        command.arg(build_command(deadheat));
        let started = Instant::now();
        let answer = text_of(&mut command, &[0]).unwrap_or_else(|said| panic!("{said}"));
        let seconds = started.elapsed().as_secs_f64();
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        let named = answer["answer"]["commits"].as_array();
        let named: Vec<&str> = named.into_iter().flatten().filter_map(Value::as_str).collect();
        let outcome = match (answer["answer"]["kind"].as_str(), &self.culprit) {
            (Some("commits"), Some(culprit)) if named.contains(&&**culprit) => Outcome::Right,
            (Some("commits"), _) => Outcome::Wrong,
            (Some("no-step"), None) => Outcome::Right,
            _ => Outcome::Unanswered,
        };
        Found { outcome, seconds, tests: answer["races"].as_array().map_or(0, Vec::len) }
    }

    fn plain_bisect(&self, deadheat: &Path) -> Found {
        let build = build_command(deadheat);
        let started = Instant::now();
        self.git(&["checkout", "--quiet", "good"]);
        done(Command::new("sh").args(["-c", &build]).current_dir(&self.folder));
        fs::rename(self.folder.join("work"), self.folder.join(".git/good-work")).expect("a build");
        self.said(&["bisect", "start", "--first-parent", "bad", "good"]);
        let this = std::env::current_exe().expect("this program");
        let mut run = self.command();
        run.args(["bisect", "run"]).arg(this).args([JUDGE, &build]);
        let text = run.output().expect("git");
        let said = String::from_utf8_lossy(&text.stdout).into_owned();
        let seconds = started.elapsed().as_secs_f64();
        let first = said.lines().find_map(|line| line.strip_suffix(" is the first bad commit"));
        let outcome = match (first, &self.culprit) {
            (Some(named), Some(culprit)) if named == culprit => Outcome::Right,
            (Some(_), _) => Outcome::Wrong,
            (None, _) => Outcome::Unanswered,
        };
        let tests = said.lines().filter(|line| line.starts_with("running ")).count();
        let _ = self.command().args(["bisect", "reset"]).output();
        Found { outcome, seconds, tests }
    }
}

/// The script of `git bisect run`: builds the commit that is checked out, and says whether it is
/// slower than GOOD by Welch's test at 5% of ten runs of GOOD and ten of the commit after them.
pub fn judge(build: &str) -> ExitCode {
    let built = Command::new("sh").args(["-c", build]).status().expect("a shell");
    if !built.success() {
        // As git has it: this commit cannot be tested.
        return ExitCode::from(125);
    }
    let runs = |program: &str| -> Vec<f64> {
        let run = |_| {
            let started = Instant::now();
            let output = Command::new(program).output().expect("a program");
            assert!(output.status.success(), "{program} failed");
            started.elapsed().as_secs_f64().ln()
        };
        (0..RUNS).map(run).collect()
    };
    let (old, new) = (runs(".git/good-work"), runs("./work"));
    let p = welch(&new, &old).map_or(1.0, |test| test.p_value());
    let is_slower = mean(&new) > mean(&old) && p < 0.05;
    ExitCode::from(u8::from(is_slower))
}

#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    Right,
    Wrong,
    Unanswered,
}

struct Found {
    outcome: Outcome,
    seconds: f64,
    tests: usize,
}

/// The section of the page: its bars, and what came of every search. `false` when a bar was missed.
pub fn section(asked: &Wanted) -> (String, bool) {
    let workshop = Workshop::open("bisect", asked.quick);
    let repositories = asked.races(REPOSITORIES.0, REPOSITORIES.1);
    let mut rows = "| step | by | right | wrong | without an answer | seconds, mean (most) | races or tests |\n\
                    | --- | --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    let mut bars = Vec::new();
    for (name, step) in [("+2%", 0.02), ("none", 0.0)] {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for number in 0..repositories {
            let folder = workshop.scratch.join(format!("{}-{number}", name.trim_matches('+')));
            let repository = Repository::make(folder.clone(), step, number as u64);
            ours.push(repository.search(&workshop.deadheat));
            theirs.push(repository.plain_bisect(&workshop.deadheat));
            eprintln!("  {name}, repository {number}");
            let _ = fs::remove_dir_all(folder);
        }
        for (by, found) in [("deadheat", &ours), ("`git bisect run`, Welch, 10 + 10 runs", &theirs)]
        {
            let count = |outcome| found.iter().filter(|one| one.outcome == outcome).count();
            let seconds: Vec<f64> = found.iter().map(|one| one.seconds).collect();
            let tests: Vec<f64> = found.iter().map(|one| one.tests as f64).collect();
            let _ = writeln!(
                rows,
                "| {name} | {by} | {} | {} | {} | {:.1} ({:.1}) | {:.1} |",
                count(Outcome::Right),
                count(Outcome::Wrong),
                count(Outcome::Unanswered),
                mean(&seconds).unwrap_or_default(),
                seconds.iter().copied().fold(0.0, f64::max),
                mean(&tests).unwrap_or_default()
            );
        }
        let right = ours.iter().filter(|one| one.outcome == Outcome::Right).count();
        bars.push(Bar::share(
            format!("real repositories, step {name}: the right answer"),
            right,
            ours.len(),
            0.9,
        ));
    }
    let kept = bars.iter().all(|bar| bar.is_kept());
    let trial = if asked.quick {
        "**A quick trial: counts are too small to mean anything.**\n\n"
    } else {
        ""
    };
    let text = format!(
        "{HEADING}\n\
         The program of this page, with the option `--real`, wrote this section. {}.\n\n\
         {trial}{}deadheat and `git bisect run` search the same generated repositories. For each \
         step of the table below, there are {repositories} repositories of C code, each from its \
         own seed. A repository has {COMMITS} commits along first parents, of which {BROKEN} do \
         not build and {MERGES} are merges. Every commit moves the measured code, because the \
         functions in front of it change size. In a repository without a step, the right answer is \
         *no step*. In a repository with a step, the right answer is the commit of the step, or \
         the group of this commit and the commits that do not build.\n\n\
         deadheat's races (`--run`) compare whole commands that take some milliseconds, on neutral \
         links. The script of `git bisect run` runs GOOD ten times, then the commit ten times. The \
         script reports bad if the commit is slower by Welch's test at 5%. `git bisect run` does \
         not compare the two ends of the range, so it names a commit even if no commit changed the \
         speed. In the searches without an answer, `git bisect run` ended among commits that do \
         not build.\n\n\
         {rows}",
        sitting_facts(),
        table(&bars)
    );
    (text, kept)
}
