//! Builds the executables of given CMake targets. Deadheat runs as the linker launcher and records
//! their links. Its own implementation of Google Benchmark can replace the project's.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::available_parallelism;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::disk::{self, OURS, entries, is_folder, remove_all};
use crate::error::BuildError;
use crate::git::forget_the_repository;
use crate::key::KeyInputs;
use crate::library::{Library, LibraryChoice};
use crate::missing_project::MissingProject;
use crate::slot::Executable;
use crate::subprocess::{Finished, Interruption, Variables};

/// The user's options for CMake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CmakeBuild {
    /// The deadheat program, which CMake runs as linker launcher to record links.
    pub program: PathBuf,
    /// The targets whose executables are raced.
    pub targets: Vec<String>,
    /// Arguments of the configuration, such as `-DBUILD_BENCHMARKS=ON`.
    pub arguments: Vec<String>,
    /// The implementation of Google Benchmark that the executables are compiled with.
    pub google_benchmark: LibraryChoice,
    /// Environment variables to set.
    pub variables: Variables,
}

#[derive(Debug)]
pub(crate) struct CmakeSite<'a> {
    pub(crate) revision: &'a str,
    pub(crate) top: &'a Path,
    /// The folder at or below `top` that contains the project.
    pub(crate) directory: PathBuf,
    /// The folder in which CMake builds.
    pub(crate) made: PathBuf,
    pub(crate) provider: Option<&'a Path>,
    /// The lock of the build, which CMake inherits and so holds until it ends.
    pub(crate) lock: Option<&'a File>,
}

/// The CMake variable that lists files to include after the first `project()`.
const INCLUDES: &str = "CMAKE_PROJECT_TOP_LEVEL_INCLUDES";

/// The file that requests the description of the project from CMake's file API, relative to the
/// build folder.
const QUERY: &str = ".cmake/api/v1/query/codemodel-v2";
/// The folder of the replies of CMake's file API, relative to the build folder.
const REPLY: &str = ".cmake/api/v1/reply";

impl CmakeBuild {
    pub(crate) fn add_to(&self, inputs: &mut KeyInputs) {
        inputs.add("by", "cmake");
        for target in &self.targets {
            inputs.add("target", target);
        }
        for argument in &self.arguments {
            inputs.add("argument", argument);
        }
    }

    /// Configures and builds the project, and returns the executables in the order of the targets.
    pub(crate) fn run(
        &self,
        site: &CmakeSite<'_>,
        interruption: &Interruption<'_>,
    ) -> Result<Vec<Executable>, BuildError> {
        let query = site.made.join(QUERY);
        let folder = query.parent().unwrap_or(&site.made);
        fs::create_dir_all(folder).map_err(BuildError::at(folder))?;
        fs::write(&query, "").map_err(BuildError::at(&query))?;
        let settings = site.write_settings()?;
        site.run(
            &self.configure(site, &settings),
            &self.variables,
            interruption,
        )?;
        let executables = site.executables(&self.build_type(), &self.targets)?;
        site.run(&self.build(site), &self.variables, interruption)?;
        Ok(executables)
    }

    fn configure(&self, site: &CmakeSite<'_>, settings: &Path) -> Vec<String> {
        let launcher = format!("{};link;--", self.program.display());
        let theirs = self.value(INCLUDES).map(|files| format!(";{files}"));
        let mut words = vec![
            "-S".to_owned(),
            site.directory.display().to_string(),
            "-B".to_owned(),
            site.made.display().to_string(),
            format!("-DCMAKE_C_LINKER_LAUNCHER={launcher}"),
            format!("-DCMAKE_CXX_LINKER_LAUNCHER={launcher}"),
            "-DCMAKE_BUILD_RPATH_USE_ORIGIN=ON".to_owned(),
        ];
        // A variable on the command line would override that of a preset.
        let has_preset = self
            .arguments
            .iter()
            .any(|word| word.starts_with("--preset"));
        if self.value("CMAKE_BUILD_TYPE").is_none() && !has_preset {
            words.push("-DCMAKE_BUILD_TYPE=Release".to_owned());
        }
        words.extend(self.arguments.iter().cloned());
        words.push(format!(
            "-D{INCLUDES}={}{}",
            settings.display(),
            theirs.unwrap_or_default()
        ));
        words
    }

    fn build(&self, site: &CmakeSite<'_>) -> Vec<String> {
        let cores = available_parallelism().map_or(1, usize::from);
        let mut words = vec!["--build".to_owned(), site.made.display().to_string()];
        words.extend([
            "--config".to_owned(),
            self.build_type(),
            "--parallel".to_owned(),
        ]);
        words.extend([cores.to_string(), "--target".to_owned()]);
        words.extend(self.targets.iter().cloned());
        words
    }

    /// Returns the configuration that generators with several configurations build.
    fn build_type(&self) -> String {
        let chosen = self.value("CMAKE_BUILD_TYPE");
        let chosen = chosen.filter(|name| !name.is_empty());
        chosen.unwrap_or_else(|| "Release".to_owned())
    }

    /// Returns the value of a CMake variable that the user set by an argument or in the
    /// environment.
    fn value(&self, name: &str) -> Option<String> {
        let given = (0..self.arguments.len()).rev().find_map(|at| {
            let definition = match self.arguments[at].strip_prefix("-D")? {
                "" => self.arguments.get(at + 1)?,
                definition => definition,
            };
            let (key, value) = definition.split_once('=')?;
            let key = key.split(':').next().unwrap_or(key);
            (key == name).then(|| value.to_owned())
        });
        let variable = self.variables.iter().find(|(variable, _)| variable == name);
        given
            .or_else(|| variable.map(|(_, value)| value.clone()))
            .or_else(|| std::env::var(name).ok())
    }
}

impl CmakeSite<'_> {
    fn write_settings(&self) -> Result<PathBuf, BuildError> {
        let file = self.made.join("deadheat.cmake");
        let text = self.settings();
        // An unchanged file is not written again, because a newer file would make CMake configure
        // the project again.
        if fs::read_to_string(&file).is_ok_and(|known| known == text) {
            return Ok(file);
        }
        fs::write(&file, text).map_err(BuildError::at(&file))?;
        Ok(file)
    }

    /// Returns the CMake code with the settings for all targets. Each function gets its own
    /// section, so that neutral links can shuffle the functions. Prefix maps replace the paths of
    /// the side's folders, because the programs would otherwise contain these paths and so differ
    /// between the sides.
    fn settings(&self) -> String {
        let flags = format!(
            "-ffunction-sections;-ffile-prefix-map={}=build;-ffile-prefix-map={}=.",
            self.made.display(),
            self.top.display()
        );
        let mut text = format!("add_compile_options(\"$<$<COMPILE_LANGUAGE:C,CXX>:{flags}>\")\n");
        if let Some(provider) = self.provider {
            text += &format!("include(\"{}\")\n", provider.display());
        }
        text
    }

    fn run(
        &self,
        words: &[String],
        variables: &Variables,
        interruption: &Interruption<'_>,
    ) -> Result<Finished, BuildError> {
        let mut command = Command::new("cmake");
        command.args(words).current_dir(&self.directory);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        forget_the_repository(&mut command);
        let done = interruption.run(&mut command, self.lock)?;
        if done.status.success() {
            return Ok(done);
        }
        let missing = MissingProject::Cmake.above(&self.directory);
        let is_suspect = self.provider.is_some() && missing.is_none();
        if is_suspect && may_blame_library(&done, &self.made) {
            return Err(BuildError::NotWithOurLibrary {
                library: Library::GoogleBenchmark,
                revision: self.revision.to_owned(),
                problem: first_error(&done),
            });
        }
        for text in [&done.stdout, &done.stderr] {
            // Fails if standard error is closed; then the output cannot be shown.
            let _ = std::io::stderr().lock().write_all(text);
        }
        Err(done.failed(
            self.revision,
            &format!("cmake {}", words.join(" ")),
            missing,
        ))
    }

    /// Returns the executables of these targets from CMake's description of the project. The
    /// executables need not exist yet.
    fn executables(
        &self,
        build_type: &str,
        targets: &[String],
    ) -> Result<Vec<Executable>, BuildError> {
        let all = self.all_executables(build_type)?;
        let found = targets.iter().map(|target| {
            let found = all.iter().find(|executable| executable.name == *target);
            found.cloned().ok_or_else(|| BuildError::NoCmakeTarget {
                revision: self.revision.to_owned(),
                target: target.clone(),
                others: all.iter().map(|one| one.name.clone()).collect(),
            })
        });
        found.collect()
    }

    fn all_executables(&self, build_type: &str) -> Result<Vec<Executable>, BuildError> {
        let replies = self.made.join(REPLY);
        // The names of index files sort by their time, so the last one is the newest.
        let is_index = |file: &PathBuf| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("index-")
        };
        let index = entries(&replies).filter(is_index).max();
        let index: ReplyIndex = self.read(&index.unwrap_or_else(|| replies.join("index.json")))?;
        let model: Codemodel = self.read(&replies.join(index.reply.codemodel.json_file))?;
        let configurations = model.configurations;
        let built_one = configurations.iter().find(|one| one.name == build_type);
        let mut found = Vec::new();
        for target in built_one
            .or(configurations.first())
            .iter()
            .flat_map(|one| &one.targets)
        {
            let about: Target = self.read(&replies.join(&target.json_file))?;
            if about.kind == "EXECUTABLE"
                && let Some(artifact) = about.artifacts.first()
            {
                found.push(Executable {
                    name: about.name,
                    path: self.made.join(&artifact.path),
                    directory: None,
                });
            }
        }
        Ok(found)
    }

    fn read<T: DeserializeOwned>(&self, path: &Path) -> Result<T, BuildError> {
        let bad = |problem: String| BuildError::CmakeReply {
            revision: self.revision.to_owned(),
            path: path.to_owned(),
            problem,
        };
        let text = fs::read(path).map_err(|problem| bad(problem.to_string()))?;
        serde_json::from_slice(&text).map_err(|problem| bad(problem.to_string()))
    }
}

/// Returns the first error of the compiler, the linker or CMake, on one line.
fn first_error(done: &Finished) -> String {
    let text = [&*done.stdout, &*done.stderr].map(String::from_utf8_lossy);
    let lines: Vec<&str> = text.iter().flat_map(|text| text.lines()).collect();
    let at = |words: &str| lines.iter().position(|line| line.contains(words));
    if let Some(line) = at(" error: ").or_else(|| at("undefined reference")) {
        return lines[line].trim().to_owned();
    }
    match at("CMake Error") {
        // The first line has the location, and the indented lines below have the message.
        Some(line) => {
            let message = lines[line..].iter().take(3).map(|line| line.trim());
            message.collect::<Vec<_>>().join(" ").trim().to_owned()
        }
        None => done.status.to_string(),
    }
}

/// Returns true if the replaced Google Benchmark can be the reason for a failure: a file with an
/// error mentions benchmarks or cannot be read, or the compiler printed no error, as if CMake or the
/// linker failed. Compilers print relative paths from `made`, where they run.
fn may_blame_library(done: &Finished, made: &Path) -> bool {
    let text = [&*done.stdout, &*done.stderr].map(String::from_utf8_lossy);
    let lines = text.iter().flat_map(|text| text.lines());
    let errors = lines.filter(|line| line.contains(" error: "));
    let mut files: Vec<PathBuf> = errors
        .map(|line| made.join(line.split(':').next().unwrap_or_default()))
        .collect();
    files.dedup();
    let mentions =
        |file: &PathBuf| disk::read_text(file).map_or(true, |text| text.contains("benchmark"));
    files.is_empty() || files.iter().any(mentions)
}

/// Removes objects and archives of a finished build, which take most of its space. Neutral links
/// use the copies in `.deadheat`, which are not removed.
pub(crate) fn prune(made: &Path) {
    for path in entries(made) {
        let end = path.extension().and_then(|end| end.to_str());
        if is_folder(&path) {
            if !path.ends_with(OURS) {
                prune(&path);
            }
        } else if matches!(end, Some("o" | "a" | "gch" | "pch")) {
            // If this fails, the file only takes space.
            let _ = remove_all(&path);
        }
    }
}

#[derive(Debug, Deserialize)]
struct ReplyIndex {
    reply: Replies,
}

#[derive(Debug, Deserialize)]
struct Replies {
    #[serde(rename = "codemodel-v2")]
    codemodel: Reference,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reference {
    json_file: PathBuf,
}

#[derive(Debug, Deserialize)]
struct Codemodel {
    configurations: Vec<Configuration>,
}

#[derive(Debug, Deserialize)]
struct Configuration {
    name: String,
    targets: Vec<Reference>,
}

#[derive(Debug, Deserialize)]
struct Target {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    artifacts: Vec<Artifact>,
}

#[derive(Debug, Deserialize)]
struct Artifact {
    path: PathBuf,
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;

    fn build(arguments: &[&str]) -> CmakeBuild {
        CmakeBuild {
            program: "/p/deadheat".into(),
            targets: vec!["bench".to_owned()],
            arguments: arguments.iter().map(|&word| word.to_owned()).collect(),
            google_benchmark: LibraryChoice::Own,
            variables: Vec::new(),
        }
    }

    fn site(made: &Path) -> CmakeSite<'_> {
        CmakeSite {
            revision: "v1",
            top: Path::new("/top"),
            directory: "/top/inside".into(),
            made: made.to_owned(),
            provider: None,
            lock: None,
        }
    }

    #[test]
    fn the_replaced_library_is_blamed_only_for_files_that_mention_benchmarks() {
        let made = tempfile::tempdir().unwrap();
        fs::write(made.path().join("sum.cc"), "int sum() { return x; }").unwrap();
        fs::write(
            made.path().join("bench.cc"),
            "#include <benchmark/benchmark.h>",
        )
        .unwrap();
        let blames = |text: &str| {
            let done = Finished {
                status: ExitStatus::from_raw(256),
                stdout: text.as_bytes().to_vec(),
                stderr: Vec::new(),
            };
            may_blame_library(&done, made.path())
        };
        let of_sum = "sum.cc:1:20: error: 'x' was not declared in this scope\n";
        assert!(!blames(of_sum));
        assert!(blames(&format!("{of_sum}bench.cc:3:1: error: no member\n")));
        assert!(blames("gone.cc:1:1: error: unknown file\n"));
        assert!(blames("ld: undefined reference to 'x'\n"));
    }

    #[test]
    fn a_configuration_is_a_release_unless_the_user_says_otherwise() {
        let words = |arguments: &[&str]| {
            build(arguments).configure(&site(Path::new("/made")), Path::new("/made/s.cmake"))
        };
        let has = |words: &[String], word: &str| words.iter().any(|one| one == word);
        let plain = words(&["-DX=1"]);
        assert!(has(&plain, "-DCMAKE_BUILD_TYPE=Release") && has(&plain, "-DX=1"));
        assert!(has(
            &plain,
            "-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=/made/s.cmake"
        ));
        let own = words(&[
            "-DCMAKE_BUILD_TYPE:STRING=RelWithDebInfo",
            "-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=conan.cmake",
        ]);
        assert!(!has(&own, "-DCMAKE_BUILD_TYPE=Release"));
        let both = "-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=/made/s.cmake;conan.cmake";
        assert_eq!(own.last().unwrap(), both);
    }

    #[test]
    fn the_build_type_of_the_user_or_of_a_preset_is_built() {
        let configured = |arguments: &[&str]| {
            let site = site(Path::new("/made"));
            let words = build(arguments).configure(&site, Path::new("/made/s.cmake"));
            words.contains(&"-DCMAKE_BUILD_TYPE=Release".to_owned())
        };
        assert!(!configured(&["--preset", "fast"]));
        assert!(!configured(&["-D", "CMAKE_BUILD_TYPE=Debug"]));
        for (arguments, built) in [
            (&["-D", "CMAKE_BUILD_TYPE:STRING=Debug"][..], "Debug"),
            (&["-DCMAKE_BUILD_TYPE=RelWithDebInfo"], "RelWithDebInfo"),
            (&["-DCMAKE_BUILD_TYPE="], "Release"),
            (&[], "Release"),
        ] {
            assert_eq!(build(arguments).build_type(), built, "{arguments:?}");
            let words = build(arguments).build(&site(Path::new("/made")));
            let config = words.iter().position(|word| word == "--config").unwrap();
            assert_eq!(words[config + 1], built);
        }
    }

    #[test]
    fn executables_are_read_from_the_last_reply_of_cmake() {
        let folder = tempfile::tempdir().unwrap();
        let replies = folder.path().join(REPLY);
        fs::create_dir_all(&replies).unwrap();
        let write = |name: &str, text: &str| fs::write(replies.join(name), text).unwrap();
        write("index-2025.json", "old");
        write(
            "index-2026.json",
            r#"{"cmake":{},"reply":{"codemodel-v2":{"jsonFile":"model.json","kind":"codemodel"}}}"#,
        );
        write(
            "model.json",
            r#"{"configurations":[{"name":"Release","targets":[{"jsonFile":"a.json"},{"jsonFile":"b.json"},{"jsonFile":"c.json"}]}]}"#,
        );
        write(
            "a.json",
            r#"{"name":"lib","type":"STATIC_LIBRARY","artifacts":[{"path":"lib.a"}]}"#,
        );
        write("b.json", r#"{"name":"all","type":"UTILITY"}"#);
        write(
            "c.json",
            r#"{"name":"bench","type":"EXECUTABLE","artifacts":[{"path":"b/bench"}]}"#,
        );
        let site = site(folder.path());
        let found = site.executables("Release", &["bench".to_owned()]).unwrap();
        assert_eq!(found[0].path, folder.path().join("b/bench"));
        let error = site
            .executables("Release", &["other".to_owned()])
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "v1: the CMake project has no executable `other`\nhelp: its executables are bench"
        );
        write("c.json", "{");
        let error = site
            .executables("Release", &["bench".to_owned()])
            .unwrap_err();
        assert!(error.to_string().contains("c.json"), "{error}");
    }

    #[test]
    fn the_first_error_is_the_compilers_or_cmakes() {
        let said = |stdout: &str, stderr: &str| {
            first_error(&Finished {
                status: ExitStatus::from_raw(256),
                stdout: stdout.into(),
                stderr: stderr.into(),
            })
        };
        let compiler =
            "[1/2] Building\n/a/b.cc:3:1: error: no member named 'x'\n/a/b.cc:4:1: error: y\n";
        assert_eq!(
            said(compiler, ""),
            "/a/b.cc:3:1: error: no member named 'x'"
        );
        let cmake = "CMake Error at CMakeLists.txt:3 (find_package):\n  Could not find x\n\nmore";
        assert_eq!(
            said("-- Configuring\n", cmake),
            "CMake Error at CMakeLists.txt:3 (find_package): Could not find x"
        );
        assert_eq!(said("", ""), "exit status: 1");
    }

    #[test]
    fn pruning_keeps_programs_shared_libraries_and_records() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("CMakeFiles");
        fs::create_dir(&inner).unwrap();
        for name in ["bench", "libx.so", "libx.a"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        fs::write(inner.join("x.cc.o"), "").unwrap();
        let record = folder.path().join(OURS);
        fs::create_dir(&record).unwrap();
        fs::write(record.join("y.o"), "").unwrap();
        prune(folder.path());
        let left: Vec<_> = entries(folder.path()).collect();
        assert_eq!(left.len(), 4, "{left:?}");
        assert_eq!(entries(&record).count(), 1);
        assert_eq!(entries(&inner).count(), 0);
    }
}
