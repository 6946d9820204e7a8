//! Standing in for rustc, and for the linker that it calls.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use deadheat::exit::{Failure, Status};
use deadheat::terminal::to_stderr;
use deadheat_build::WRAPPED;
use deadheat_link::Roles;

use super::compilation::Compilation;

/// The variable that names the linker driver that the user had.
const DRIVER: &str = "DEADHEAT_DRIVER";

/// Becomes the compiler, which is the first argument. `name` is what this
/// program was called.
pub fn compile(name: &Path, args: Vec<OsString>) -> Result<Status, Failure> {
    let mut args = args;
    let theirs = std::env::var_os(WRAPPED).filter(|wrapper| !wrapper.is_empty());
    if args.is_empty() {
        return Err(Failure::Usage(format!(
            "{} stands in for rustc and is started by cargo: it needs a compiler to call",
            Roles::COMPILER
        )));
    }
    let compiler = args.remove(0);
    let mut command = match theirs {
        Some(wrapper) => {
            let mut command = Command::new(wrapper);
            command.arg(&compiler);
            command
        }
        None => Command::new(&compiler),
    };
    command.args(&args);
    let compilation = Compilation::of(&args);
    if let (Some(driver), Some(roles)) = (compilation.recordable(), Roles::of(name)) {
        // Not to know of an executable later on does no harm to this one.
        if let Some(output) = compilation
            .output()
            .and_then(|o| std::path::absolute(o).ok())
        {
            let _ = roles.note(&output);
        }
        let mut linker = OsString::from("linker=");
        linker.push(roles.linker());
        command.arg("-C").arg(linker).env(DRIVER, driver);
    }
    Err(not_started(command))
}

/// Links as the user's driver would, and records how. Gives its exit code.
pub fn link(args: &[OsString]) -> u8 {
    let Some(driver) = std::env::var_os(DRIVER) else {
        let linker = Roles::LINKER;
        return Failure::Usage(format!(
            "{linker} stands in for a linker under `cargo deadheat`, which says in {DRIVER} for \
             which"
        ))
        .report();
    };
    // Rustc shows what a linker says when it fails; otherwise on request.
    match deadheat_link::link(&driver, args) {
        Ok(linked) => {
            for note in &linked.notes {
                to_stderr("deadheat", &note.to_string());
            }
            linked.end()
        }
        Err(error) => {
            to_stderr("deadheat: error", &error.to_string());
            error.code()
        }
    }
}

/// Becomes another program; what remains to be said when that fails.
fn not_started(mut command: Command) -> Failure {
    let problem = command.exec();
    let program = command.get_program().display();
    Failure::Internal(format!("{program}: {problem}"))
}
