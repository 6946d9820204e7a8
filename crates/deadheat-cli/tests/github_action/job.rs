//! A stand-in for GitHub's runner of a composite action: it runs the steps in order, with
//! everything between `${{` and `}}` resolved. An expression of a form that is not known here is an
//! error, so that nothing is silently empty.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::yaml;

/// A job in which the action is the step that matters.
pub struct Job {
    /// The action.
    pub action: PathBuf,
    /// The checkout.
    pub workspace: PathBuf,
    /// The folder of the runner.
    pub temp: PathBuf,
    /// `with`.
    pub inputs: Vec<(String, String)>,
    /// The context `github`.
    pub github: Value,
    /// More environment.
    pub env: Vec<(String, String)>,
}

/// The outcome of a job.
#[derive(Debug)]
pub struct Done {
    /// Exit code of the step that failed, or 0.
    pub code: i32,
    /// The log.
    pub log: String,
    /// Outputs of the action.
    pub outputs: BTreeMap<String, String>,
    /// The summary.
    pub summary: String,
    /// The inputs that other actions were given, by name of the action.
    pub used: Vec<(String, BTreeMap<String, String>)>,
}

/// The values that steps and expressions know of each other.
struct Contexts<'a> {
    inputs: BTreeMap<String, String>,
    steps: BTreeMap<String, BTreeMap<String, String>>,
    github: &'a Value,
}

impl Job {
    /// Runs it.
    pub fn run(&self) -> Done {
        let action = yaml::read(&self.action.join("action.yml"));
        assert_eq!(action["runs"]["using"], "composite");
        let mut contexts = Contexts {
            inputs: BTreeMap::new(),
            steps: BTreeMap::new(),
            github: &self.github,
        };
        for (name, input) in action["inputs"].as_object().unwrap() {
            let given = self.inputs.iter().find(|(given, _)| given == name);
            let default = input["default"]
                .as_str()
                .map(|text| contexts.resolved(text));
            let value = given.map(|(_, value)| value.clone()).or(default);
            assert!(value.is_some() || input["required"] == true, "{name}");
            let value = value.unwrap_or_else(|| panic!("{name} is missing"));
            contexts.inputs.insert(name.clone(), value);
        }
        for (name, _) in &self.inputs {
            assert!(contexts.inputs.contains_key(name), "there is no {name}");
        }
        let mut done = Done {
            code: 0,
            log: String::new(),
            outputs: BTreeMap::new(),
            summary: String::new(),
            used: Vec::new(),
        };
        for step in action["runs"]["steps"].as_array().unwrap() {
            let id = step["id"].as_str().expect("steps have ids").to_owned();
            let mut outputs = BTreeMap::new();
            let condition = step["if"].as_str();
            if done.code == 0 && condition.is_none_or(|text| contexts.holds(text)) {
                match step["uses"].as_str() {
                    Some(name) => {
                        let given = contexts.map(&step["with"]);
                        self.carry_artifacts(&given);
                        let url = "https://github.test/artifact/1".to_owned();
                        outputs.insert("artifact-url".to_owned(), url);
                        done.used.push((name.to_owned(), given));
                    }
                    None => outputs = self.step(step, &contexts, &mut done),
                }
            }
            contexts.steps.insert(id, outputs);
        }
        for (name, output) in action["outputs"].as_object().unwrap() {
            let value = contexts.resolved(output["value"].as_str().unwrap());
            done.outputs.insert(name.clone(), value);
        }
        done
    }

    /// Keeps a folder as an artifact in place of those of its name, or brings those of a pattern.
    fn carry_artifacts(&self, given: &BTreeMap<String, String>) {
        let (kept, path) = (self.temp.join("artifacts"), Path::new(&given["path"]));
        assert!(path.is_dir(), "{given:?}");
        let Some(pattern) = given.get("pattern") else {
            let artifact = kept.join(&given["name"]);
            let _ = fs::remove_dir_all(&artifact);
            fs::create_dir_all(&artifact).unwrap();
            return copy_files(path, &artifact);
        };
        let start = pattern.strip_suffix('*').expect("a pattern that ends in *");
        for artifact in fs::read_dir(&kept).into_iter().flatten() {
            let artifact = artifact.unwrap();
            let name = artifact.file_name().into_string().unwrap();
            if name.starts_with(start) {
                fs::create_dir_all(path.join(&name)).unwrap();
                copy_files(&artifact.path(), &path.join(&name));
            }
        }
    }

    /// Runs a script, and reads what it leaves for others.
    fn step(
        &self,
        step: &Value,
        contexts: &Contexts<'_>,
        done: &mut Done,
    ) -> BTreeMap<String, String> {
        assert_eq!(step["shell"], "bash", "{step}");
        fs::create_dir_all(&self.temp).unwrap();
        let [output, summary, script] =
            ["output", "summary", "script.sh"].map(|name| self.temp.join(name));
        for file in [&output, &summary] {
            fs::write(file, "").unwrap();
        }
        fs::write(&script, contexts.resolved(step["run"].as_str().unwrap())).unwrap();
        let folder = step["working-directory"].as_str();
        let folder = folder.map_or(self.workspace.clone(), |text| {
            self.workspace.join(contexts.resolved(text))
        });
        let mut command = Command::new("bash");
        command
            .args(["--noprofile", "--norc", "-e", "-o", "pipefail"])
            .arg(&script)
            .current_dir(folder)
            .stdin(Stdio::null())
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_ACTION_PATH", &self.action)
            .env("GITHUB_OUTPUT", &output)
            .env("GITHUB_STEP_SUMMARY", &summary)
            .env("GITHUB_ENV", self.temp.join("env"))
            .env("GITHUB_PATH", self.temp.join("path"))
            .env("GITHUB_WORKSPACE", &self.workspace)
            .env("RUNNER_TEMP", &self.temp)
            .env("HOME", &self.temp)
            .env("LC_ALL", "C.UTF-8")
            .envs(self.env.iter().cloned())
            .envs(contexts.map(&step["env"]));
        for name in ["api_url", "server_url", "repository", "sha", "run_id"] {
            let variable = format!("GITHUB_{}", name.to_uppercase());
            command.env(variable, self.github[name].as_str().unwrap());
        }
        let ended = command.output().unwrap();
        done.log += &String::from_utf8_lossy(&ended.stdout);
        done.log += &String::from_utf8_lossy(&ended.stderr);
        if step["continue-on-error"] != true {
            done.code = ended.status.code().unwrap();
        }
        done.summary += &fs::read_to_string(summary).unwrap();
        let lines = fs::read_to_string(output).unwrap();
        let pairs = lines.lines().map(|line| line.split_once('=').unwrap());
        pairs
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }
}

/// Copies the files of a folder, and no folders in it.
fn copy_files(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
}

impl Contexts<'_> {
    fn map(&self, values: &Value) -> BTreeMap<String, String> {
        let Some(values) = values.as_object() else {
            return BTreeMap::new();
        };
        let text = |value: &Value| match value {
            Value::String(text) => self.resolved(text),
            other => other.to_string(),
        };
        let pairs = values.iter();
        pairs
            .map(|(key, value)| (key.clone(), text(value)))
            .collect()
    }

    /// A text with its expressions replaced by what they stand for.
    fn resolved(&self, text: &str) -> String {
        let mut parts = text.split("${{");
        let mut whole = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (expression, rest) = part.split_once("}}").expect("}} after ${{");
            whole += &self.value(expression.trim());
            whole += rest;
        }
        whole
    }

    /// `PLACE == 'text'`, or `!=`.
    fn holds(&self, condition: &str) -> bool {
        let words: Vec<&str> = condition.splitn(3, ' ').collect();
        let [place, sign, text] = words[..] else {
            panic!("a condition of another form: {condition}");
        };
        let text = text
            .strip_prefix('\'')
            .and_then(|text| text.strip_suffix('\''));
        let is_equal = self.value(place) == text.expect("text in quotes");
        match sign {
            "==" => is_equal,
            "!=" => !is_equal,
            _ => panic!("a condition of another form: {condition}"),
        }
    }

    /// Returns the value at a place, such as `inputs.name`.
    fn value(&self, place: &str) -> String {
        let path: Vec<&str> = place.split('.').collect();
        let known = |text: Option<&String>| {
            let text = text.unwrap_or_else(|| panic!("there is no {place}"));
            text.clone()
        };
        match path[..] {
            ["inputs", name] => known(self.inputs.get(name)),
            ["steps", step, "outputs", name] => {
                let outputs = self.steps.get(step);
                let outputs = outputs.unwrap_or_else(|| panic!("no step before: {place}"));
                outputs.get(name).cloned().unwrap_or_default()
            }
            ["github", ref rest @ ..] if !rest.is_empty() => {
                // What an event does not have is empty; the rest must be there.
                let found = rest.iter().fold(self.github, |value, key| &value[*key]);
                match found {
                    Value::Null if rest[0] == "event" => String::new(),
                    Value::Null => panic!("there is no {place}"),
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                }
            }
            _ => panic!("an expression of another form: {place}"),
        }
    }
}

/// The context `github` of a pull request with number 7.
pub fn pull_request(api: &str, base: &str, head: &str, run: u64) -> Value {
    json!({
        "api_url": api,
        "server_url": "https://github.test",
        "action_ref": "main",
        "repository": "me/project",
        "sha": "0".repeat(40),
        "token": "secret-token",
        "run_id": run.to_string(),
        "run_attempt": "1",
        "event": {
            "pull_request": {
                "number": 7,
                "base": { "sha": base },
                "head": { "sha": head },
            },
        },
    })
}
