//! The result of one observation, and how it is kept.

use deadheat_validation::prelude::*;

words! {
    pub enum Call {
        Faster = "faster",
        Slower = "slower",
        /// Neither.
        None = "none",
    }
}

impl Call {
    pub fn of_intervals(baseline: [f64; 3], candidate: [f64; 3]) -> Self {
        if candidate[2] < baseline[0] {
            Self::Faster
        } else if candidate[0] > baseline[2] {
            Self::Slower
        } else {
            Self::None
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub call: Call,
    pub said: String,
    /// The estimate, in percent.
    pub change: f64,
    /// Its interval in percent, if the tool gives one.
    pub interval: Option<(f64, f64)>,
    pub more: Value,
}

impl Answer {
    pub fn row(&self) -> Value {
        let mut row = json!({});
        row["call"] = json!(self.call.key());
        row["said"] = json!(self.said);
        row["change"] = json!(rounded(self.change));
        if let Some((low, high)) = self.interval {
            row["interval"] = json!([rounded(low), rounded(high)]);
        }
        if !self.more.is_null() {
            row["more"] = self.more.clone();
        }
        row
    }
}

/// Four digits behind the point, which is more than anybody's estimate holds.
pub fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

#[derive(Debug)]
pub struct Ran {
    pub seconds: f64,
    pub stdout: String,
}

/// Seconds that any tool may take for one process: many times what the slowest
/// needs, so whatever takes longer hangs.
const PATIENCE: &str = "180";

pub fn ran(command: &mut Command, fine: &[i32]) -> Result<Ran, String> {
    let program = command.get_program().to_owned();
    let mut patient = Command::new("timeout");
    patient.args(["--signal=KILL", PATIENCE]).arg(&program);
    patient.args(command.get_args());
    for (key, value) in command.get_envs() {
        match value {
            Some(value) => patient.env(key, value),
            None => patient.env_remove(key),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        patient.current_dir(folder);
    }
    let name = program.to_string_lossy().into_owned();
    let start = Instant::now();
    let output =
        patient.stdin(Stdio::null()).output().map_err(|error| format!("{name}: {error}"))?;
    let seconds = start.elapsed().as_secs_f64();
    match output.status.code() {
        Some(code) if fine.contains(&code) => {
            Ok(Ran { seconds, stdout: String::from_utf8_lossy(&output.stdout).into_owned() })
        }
        // Killed along with `timeout` itself, as its manual says.
        Some(137) | None => Err(format!("no answer within {PATIENCE} s")),
        Some(code) => {
            let text = String::from_utf8_lossy(&output.stderr);
            let last = text.lines().last().unwrap_or("").to_owned();
            Err(format!("ended with {code}: {last}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_that_overlap_call_nothing() {
        let baseline = [10.0, 11.0, 12.0];
        let call = |low, high| Call::of_intervals(baseline, [low, 0.0, high]);
        assert_eq!(call(8.0, 9.9), Call::Faster);
        assert_eq!(call(12.1, 13.0), Call::Slower);
        assert_eq!(call(8.0, 10.0), Call::None);
        assert_eq!(call(11.5, 14.0), Call::None);
    }

    #[test]
    fn a_process_is_told_by_its_exit_code() {
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]).env("WORD", "hello");
            ran(&mut command, &[0, 1])
        };
        assert_eq!(shell("echo $WORD; exit 1").unwrap().stdout, "hello\n");
        let problem = shell("echo why >&2; exit 4").unwrap_err();
        assert_eq!(problem, "ended with 4: why");
    }
}
