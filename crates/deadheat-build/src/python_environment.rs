//! Reads the properties of a Python environment that can affect measured times: its interpreter and
//! its installed packages.

use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::error::BuildError;
use crate::packages::Packages;
use crate::subprocess::Interruption;

/// A Python script that prints the interpreter and the installed packages of an environment.
/// Packages installed from a folder are left out, because they are under test.
const FACTS: &str = r#"
import json, platform, sys, sysconfig
from importlib.metadata import distributions
implementation, version = platform.python_implementation(), platform.python_version()
if hasattr(sys, "pypy_version_info"):
    version += " (PyPy %d.%d.%d)" % sys.pypy_version_info[:3]
if sys.version_info.releaselevel == "final" and version.endswith("+"):
    version = version[:-1]
build = []
if hasattr(sys, "gettotalrefcount"):
    build.append("debug")
if sysconfig.get_config_var("Py_GIL_DISABLED"):
    is_locked = getattr(sys, "_is_gil_enabled", lambda: False)()
    build.append("free-threaded, with the GIL" if is_locked else "free-threaded")
jit = getattr(sys, "_jit", None)
if jit is not None and jit.is_enabled():
    build.append("JIT")
options = sysconfig.get_config_var("CONFIG_ARGS")
if options is not None and implementation == "CPython":
    is_optimised = "--enable-optimizations" in options or "PROFILE_TASK" in options
    build.append("optimised" if is_optimised else "not optimised")
    if "--with-lto" in options:
        build.append("LTO")
build.append(platform.python_compiler())
packages = {}
for each in distributions():
    name = each.metadata["Name"]
    if name and "dir_info" not in (each.read_text("direct_url.json") or ""):
        packages.setdefault(name.lower().replace("_", "-"), each.version)
print(json.dumps({
    "interpreter": "%s %s (%s)" % (implementation, version, ", ".join(build)),
    "packages": packages,
}))
"#;

/// Installers, whose versions do not affect benchmarks.
const INSTALLERS: [&str; 3] = ["pip", "wheel", "uv"];

/// A Python environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct PythonEnvironment {
    /// The interpreter: implementation, version and build.
    pub interpreter: String,
    /// The versions of the installed packages by name, without those installed from a folder.
    pub packages: Packages,
}

impl PythonEnvironment {
    /// Runs `python`, a path or a name in `PATH`, and reads its environment.
    ///
    /// # Errors
    ///
    /// The Python cannot be started or gives no valid answer.
    pub fn of(python: &Path, interruption: &Interruption<'_>) -> Result<Self, BuildError> {
        let no_answer = |said: String| BuildError::NoPython {
            python: python.display().to_string(),
            said,
        };
        let mut command = Command::new(python);
        // `-I` keeps Python from importing modules of the current folder.
        command.args(["-I", "-c", FACTS]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let done = interruption.run(&mut command, None)?;
        if !done.status.success() {
            return Err(no_answer(done.said()));
        }
        let read = serde_json::from_slice(&done.stdout);
        let mut this: Self = read.map_err(|problem| no_answer(problem.to_string()))?;
        this.packages
            .retain(|name, _| !INSTALLERS.contains(&&**name));
        Ok(this)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_version_and_packages_of_a_python() {
        deadheat_testing::needs!("python3");
        let stop = Interruption(&|| false);
        let found = PythonEnvironment::of(Path::new("python3"), &stop).unwrap();
        assert!(found.interpreter.contains(" 3."), "{}", found.interpreter);
        assert!(!found.packages.contains_key("pip"));
        assert!(PythonEnvironment::of(Path::new("/nowhere/python3"), &stop).is_err());
    }
}
