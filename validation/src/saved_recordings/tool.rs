//! The tools whose files are read, each with a small suite that does exactly
//! so many per cent more when it is told to.

use deadheat_validation::prelude::*;
use deadheat_validation::programs::told;

words! {
    pub enum Tool {
        GoogleBenchmark = "google_benchmark",
        PytestBenchmark = "pytest_benchmark",
        Pyperf = "pyperf",
        Hyperfine = "hyperfine",
        Go = "go",
        Jmh = "jmh",
        Criterion = "criterion",
    }
}

impl Tool {
    pub fn name(self) -> &'static str {
        match self {
            Self::GoogleBenchmark => "Google Benchmark",
            Self::PytestBenchmark => "pytest-benchmark",
            Self::Go => "Go",
            Self::Jmh => "JMH",
            other => other.key(),
        }
    }

    pub fn holds(self) -> &'static str {
        match self {
            Self::GoogleBenchmark => "1 process, 5 repetitions of 50 ms",
            Self::PytestBenchmark => "1 process, rounds for 0.2 s",
            Self::Pyperf => "6 processes of 3 values",
            Self::Hyperfine => "20 launches, one after the other",
            Self::Go => "1 process, `-count 5` of 50 ms",
            Self::Jmh => "2 forks of 4 iterations of 50 ms",
            Self::Criterion => "1 process, 20 samples in 0.3 s",
        }
    }

    /// Its version, or why it cannot be had here.
    pub fn version(self) -> Result<String, String> {
        let mut command = match self {
            Self::GoogleBenchmark => words("dpkg-query -W -f=${Version} libbenchmark-dev"),
            Self::PytestBenchmark => python("import pytest_benchmark as p; print(p.__version__)"),
            Self::Pyperf => python("import pyperf as p; print(p.__version__)"),
            Self::Hyperfine => words("hyperfine --version"),
            Self::Go => words("go version"),
            Self::Jmh => words("mvn --version"),
            Self::Criterion => words("cargo --version"),
        };
        let of_its_own = match self {
            Self::Jmh => Some("1.37"),
            Self::Criterion => Some("0.8.2"),
            _ => None,
        };
        match told(&mut command).as_str() {
            "of an unknown version" => Err("it is not here".to_owned()),
            version => Ok(of_its_own.unwrap_or(version).to_owned()),
        }
    }

    pub fn built(self, shop: &Workshop) -> Recorder {
        let sources = shop.root.join("validation/recorders");
        let program = match self {
            Self::GoogleBenchmark => {
                let libraries = ["-lbenchmark", "-lpthread"];
                for percent in [0, crate::MORE] {
                    let defined = format!("-DPERCENT={percent}");
                    let words = [&[defined.as_str()][..], &libraries].concat();
                    shop.compile("exact.cpp", &format!("google-{percent}"), &words, false);
                }
                shop.scratched("google")
            }
            Self::Hyperfine => {
                let program = shop.scratched("steps");
                let source = sources.join("command.c");
                done(Command::new("cc").arg("-O2").arg(source).arg("-o").arg(&program));
                program
            }
            Self::Go => {
                let program = shop.scratched("steps.test");
                let mut go = words("go test -c -o");
                done(go.arg(&program).current_dir(sources.join("go")));
                program
            }
            Self::Jmh => jmh(shop, &sources.join("jmh")),
            Self::Criterion => {
                let mut cargo = words("cargo bench --quiet --no-run");
                cargo.current_dir(sources.join("criterion"));
                done(cargo.env("CARGO_TARGET_DIR", shop.scratched("recorded")));
                sources.join("criterion")
            }
            Self::PytestBenchmark | Self::Pyperf => sources,
        };
        Recorder { tool: self, program, scratch: shop.scratch.to_path_buf() }
    }
}

fn jmh(shop: &Workshop, sources: &Path) -> PathBuf {
    let (jars, classes) = (shop.scratched("jars"), shop.scratched("classes"));
    fs::create_dir_all(&classes).expect("a folder");
    let mut maven = words("mvn -q dependency:copy-dependencies");
    maven.arg(format!("-DoutputDirectory={}", jars.display()));
    done(maven.arg("-f").arg(sources.join("pom.xml")));
    let mut javac = Command::new("javac");
    javac.arg("-cp").arg(jars.join("*")).arg("-d").arg(&classes);
    done(javac.arg(sources.join("Steps.java")));
    format!("{}:{}/*", classes.display(), jars.display()).into()
}

fn words(line: &str) -> Command {
    let mut words = line.split(' ');
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    command
}

fn python(program: &str) -> Command {
    let mut python = Command::new("python3");
    python.args(["-c", program]);
    python
}

pub struct Recorder {
    pub tool: Tool,
    program: PathBuf,
    scratch: PathBuf,
}

impl Recorder {
    /// Records it once, doing so many per cent more, into a file, or a folder,
    /// of this path.
    pub fn record(&self, percent: u32, into: &Path) {
        let (program, out) = (text(&self.program), text(into));
        let mut command = match self.tool {
            Tool::GoogleBenchmark => words(&format!(
                "{program}-{percent} --benchmark_filter=(Multiplying|Walking)/1000$ --benchmark_repetitions=5 \
                 --benchmark_min_time=0.05 --benchmark_report_aggregates_only=false \
                 --benchmark_out_format=json --benchmark_out={out}"
            )),
            Tool::PytestBenchmark => words(&format!(
                "python3 -m pytest -q -p no:cacheprovider {program}/test_steps.py --benchmark-max-time=0.2 \
                 --benchmark-min-rounds=5 --benchmark-json={out}"
            )),
            Tool::Pyperf => words(&format!(
                "python3 {program}/pyperf_steps.py -q --inherit-environ=PERCENT -p 6 -n 3 -w 1 \
                 --min-time=0.02 -o {out}"
            )),
            Tool::Hyperfine => {
                words(&format!("hyperfine -N -w 1 -r 20 --style none --export-json {out}"))
            }
            Tool::Go => words(&format!(
                "{program} -test.run=^$ -test.bench=. -test.count=5 -test.benchtime=50ms"
            )),
            Tool::Jmh => words(&format!(
                "java -cp {program} org.openjdk.jmh.Main -f 2 -wi 2 -w 50ms -i 4 -r 50ms -rf json -rff {out}"
            )),
            Tool::Criterion => {
                let mut cargo = words(
                    "cargo bench --quiet --bench steps -- --noplot --warm-up-time 0.1 \
                     --measurement-time 0.3 --sample-size 20",
                );
                cargo.current_dir(&self.program);
                cargo.env("CARGO_TARGET_DIR", self.scratch.join("recorded"));
                cargo.env("CRITERION_HOME", into);
                cargo
            }
        };
        if self.tool == Tool::Hyperfine {
            command.args(["multiplying", "shifting"].map(|word| format!("{program} {word}")));
        }
        command.env("PERCENT", percent.to_string());
        command.stdin(Stdio::null()).stderr(Stdio::null());
        match self.tool {
            // Its results are what it prints.
            Tool::Go => {
                let file = fs::File::create(into).expect("a file");
                command.stdout(file);
            }
            _ => {
                command.stdout(Stdio::null());
            }
        }
        done(&mut command);
    }
}
