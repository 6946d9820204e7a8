//! The programs that compare, each comparison a process of its own.

use deadheat_validation::duo::VARIABLE;
use deadheat_validation::prelude::*;

use crate::comparison::Comparison;
use crate::observation::Observation;
use crate::rows::{Row, Tool};

pub struct Programs {
    duos: PathBuf,
    duo_race: PathBuf,
    run: PathBuf,
}

impl Programs {
    pub fn build(workspace: &Path, scratch: &Path) -> Self {
        let build = |package: &str, name: &str| {
            let words = ["build", "--release", "-p", package, "--bin", name];
            built(workspace, &words)
        };
        Self {
            duos: build("deadheat-validation-duos", "duos"),
            duo_race: build("deadheat-validation", "duo_race"),
            run: scratch.join("run.jsonl"),
        }
    }

    pub fn compare(
        &self,
        row: &Row,
        tool: Tool,
        repeat: usize,
        seed: u64,
        rounds: u32,
    ) -> Observation {
        let mut command = self.command(row, tool, seed);
        command.env(VARIABLE, row.duo(tool, rounds).to_string()).stdin(Stdio::null());
        let start = Instant::now();
        let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let wall = start.elapsed().as_secs_f64();
        let _ = fs::remove_file(&self.run);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}: {complaint}");
        let answer: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{command:?} prints no JSON: {error}"));
        let found = match tool.is_deadheat() {
            true => Comparison::of_deadheat(&answer),
            false => Comparison::of_duos(&answer),
        };
        Observation {
            row: row.name(),
            tool: tool.key().to_owned(),
            repeat,
            seed,
            wall,
            found: found.unwrap_or_else(|| panic!("{command:?} says {answer}")),
        }
    }

    fn command(&self, row: &Row, tool: Tool, seed: u64) -> Command {
        if tool.is_deadheat() {
            let mut command = Command::new(&self.duo_race);
            command.args(["--bench", "-q", "--json", "--no-config", "--seed"]);
            command.arg(seed.to_string()).arg("--save").arg(&self.run);
            if tool == Tool::DeadheatCpu {
                command.args(["--metric", "cpu"]);
            }
            return command;
        }
        let mut command = Command::new(&self.duos);
        command.args([tool.key(), &row.base.executions().to_string(), row.base.unit()]);
        command
    }
}
