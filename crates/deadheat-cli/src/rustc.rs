//! Standing in for rustc, and for the linker that it calls: how cargo compiles is read from the
//! arguments of the compiler.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use deadheat::parts::exit::Failure;
use deadheat_build::WRAPPED;
use deadheat_link::Roles;

use crate::link::link_by;

/// The variable that names the linker driver that the user had.
const DRIVER: &str = "DEADHEAT_DRIVER";

/// Becomes the compiler, which is the first argument, and returns only when it
/// cannot. `name` is what this program was called.
pub fn compile(name: &Path, args: &[OsString]) -> Failure {
    let Some((compiler, args)) = args.split_first() else {
        return Failure::Usage(format!(
            "{} stands in for rustc and is started by cargo: it needs a compiler to call",
            Roles::COMPILER
        ));
    };
    let theirs = std::env::var_os(WRAPPED).filter(|wrapper| !wrapper.is_empty());
    let mut command = Command::new(theirs.as_ref().unwrap_or(compiler));
    command
        .args(theirs.is_some().then_some(compiler))
        .args(args);
    let compilation = Compilation::of(args);
    if let (Some(driver), Some(roles)) = (compilation.recordable(), Roles::of(name)) {
        // Not to know of an executable later on does no harm to this one.
        let output = compilation.output();
        if let Some(output) = output.and_then(|output| std::path::absolute(output).ok()) {
            let _ = roles.note(&output);
        }
        let mut linker = OsString::from("linker=");
        linker.push(roles.linker());
        command.arg("-C").arg(linker).env(DRIVER, driver);
    }
    let problem = command.exec();
    let program = command.get_program().display();
    Failure::Internal(format!("{program}: {problem}"))
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
    link_by(&driver, args, "deadheat", "deadheat: error")
}

/// The arguments of one call of rustc that matter to us.
#[derive(Debug, Default)]
pub struct Compilation {
    name: Option<String>,
    /// `--test`, or `--cfg test`, which is what a bench target with a harness
    /// of its own gets.
    is_test: bool,
    crate_types: Vec<String>,
    /// Kinds of output; nothing when rustc is left to decide.
    emit: Vec<String>,
    /// It only answers a question, or reads from standard input.
    is_query: bool,
    target: Option<String>,
    linker: Option<String>,
    flavor: Option<String>,
    plugin_lto: bool,
    folder: Option<PathBuf>,
    suffix: String,
}

/// Options whose value may stand as the next word.
const HEEDED: [&str; 8] = [
    "--crate-name",
    "--crate-type",
    "--emit",
    "--target",
    "--codegen",
    "--out-dir",
    "--cfg",
    "-C",
];

impl Compilation {
    /// Reads the arguments that follow the compiler.
    pub fn of(args: &[OsString]) -> Self {
        let mut this = Self::default();
        let mut args = args.iter().map(|arg| arg.to_string_lossy());
        while let Some(arg) = args.next() {
            if HEEDED.contains(&&*arg) {
                let value = args.next().unwrap_or_default();
                this.heed(&arg, &value);
            } else if let Some((name, value)) =
                arg.split_once('=').filter(|_| arg.starts_with("--"))
            {
                this.heed(name, value);
            } else if let Some(value) = arg.strip_prefix("-C") {
                this.heed("-C", value);
            } else {
                this.is_test |= arg == "--test";
                // Arguments in a file are as good as unknown.
                this.is_query |= matches!(&*arg, "-" | "-vV" | "-V" | "--version" | "--print")
                    || arg.starts_with('@');
            }
        }
        this
    }

    fn heed(&mut self, name: &str, value: &str) {
        match name {
            "--crate-name" => self.name = Some(value.to_owned()),
            "--crate-type" => self.crate_types.extend(value.split(',').map(str::to_owned)),
            // `link=FILE` names the file.
            "--emit" => self.emit.extend(
                value
                    .split(',')
                    .map(|kind| kind.split('=').next().unwrap_or_default().to_owned()),
            ),
            "--target" => self.target = Some(value.to_owned()),
            "--out-dir" => self.folder = Some(value.into()),
            "--cfg" => self.is_test |= value == "test",
            "--print" => self.is_query = true,
            "-C" | "--codegen" => self.generate(value),
            _ => {}
        }
    }

    /// Heeds an option of code generation: the last one counts.
    fn generate(&mut self, option: &str) {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        match name {
            "linker" => self.linker = Some(value.to_owned()),
            "linker-flavor" => self.flavor = Some(value.to_owned()),
            "linker-plugin-lto" => {
                self.plugin_lto = !matches!(value, "n" | "no" | "off" | "false");
            }
            "extra-filename" => self.suffix = value.to_owned(),
            _ => {}
        }
    }

    /// The linker driver to stand in for; `None` when this call is none of
    /// our business: it links nothing, or nothing that `cargo bench` runs, or
    /// by something we could not call again.
    pub fn recordable(&self) -> Option<&str> {
        let links = self.emit.is_empty() || self.emit.iter().any(|kind| kind == "link");
        let is_program =
            self.crate_types.is_empty() || self.crate_types.iter().any(|kind| kind == "bin");
        let is_build_script = self
            .name
            .as_ref()
            .is_some_and(|name| name.starts_with("build_script_"));
        let runs = self.is_test && is_program && !is_build_script;
        // Cargo is silent about the target when it is the machine itself.
        let for_linux = match &self.target {
            Some(target) => target.contains("-linux-"),
            None => cfg!(target_os = "linux"),
        };
        let flavor = self.flavor.as_deref().unwrap_or("gcc");
        let by_driver = flavor == "gcc" || flavor.ends_with("-cc");
        let linker = self.linker.as_deref().unwrap_or("cc");
        let wanted = links
            && runs
            && for_linux
            && by_driver
            && !self.is_query
            && !self.plugin_lto
            && is_driver(linker);
        wanted.then_some(linker)
    }

    /// The executable it makes, when cargo calls.
    pub fn output(&self) -> Option<PathBuf> {
        let name = format!("{}{}", self.name.as_ref()?, self.suffix);
        Some(self.folder.as_ref()?.join(name))
    }
}

/// Returns true if this is a compiler driver, by its name.
fn is_driver(linker: &str) -> bool {
    let name = linker.rsplit('/').next().unwrap_or(linker);
    // `clang-14`, `aarch64-linux-gnu-gcc-12.2`
    let stem = match name.rsplit_once('-') {
        Some((stem, version))
            if version.starts_with(|c: char| c.is_ascii_digit())
                && version.chars().all(|c| c.is_ascii_digit() || c == '.') =>
        {
            stem
        }
        _ => name,
    };
    let last = stem.rsplit('-').next().unwrap_or(stem);
    matches!(last, "cc" | "gcc" | "clang" | "c++" | "g++" | "clang++")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The driver that links a bench target with the words of cargo for it, and more.
    fn driver(more: &str) -> Option<String> {
        let line = format!(
            "--crate-name text --edition=2024 benches/text.rs --error-format=json \
             --crate-type bin --emit=dep-info,link -C opt-level=3 -C embed-bitcode=no --cfg test \
             -C metadata=12 -C extra-filename=-34 --out-dir /t/release/deps -L dependency=/t {more}"
        );
        of(&line).recordable().map(str::to_owned)
    }

    fn of(line: &str) -> Compilation {
        let args: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        Compilation::of(&args)
    }

    #[test]
    fn a_bench_program_is_linked_by_cc_unless_somebody_says_otherwise() {
        assert_eq!(driver("").as_deref(), Some("cc"));
        for (option, linker) in [
            ("-C linker=clang", "clang"),
            ("-Clinker=/usr/bin/gcc-12", "/usr/bin/gcc-12"),
            (
                "--codegen linker=x86_64-linux-gnu-gcc",
                "x86_64-linux-gnu-gcc",
            ),
            ("--codegen=linker=g++", "g++"),
            ("-C linker=ld -Clinker=clang-14", "clang-14"),
            (
                "--target aarch64-unknown-linux-gnu -Clinker=aarch64-linux-gnu-gcc-12.2",
                "aarch64-linux-gnu-gcc-12.2",
            ),
            ("-C linker-flavor=gcc", "cc"),
            ("-C linker-flavor=gnu-lld-cc -C linker-plugin-lto=no", "cc"),
        ] {
            assert_eq!(driver(option).as_deref(), Some(linker), "{option}");
        }
    }

    #[test]
    fn linkers_that_are_no_drivers_are_left_alone() {
        for option in [
            "-C linker=ld",
            "-C linker=rust-lld",
            "-C linker=./link.sh",
            "-C linker=mycc",
            "-C linker=clang -C linker=ld.lld",
            "-C linker-flavor=ld",
            "-C linker-plugin-lto",
            "-Clinker-plugin-lto=/usr/lib/LLVMgold.so",
            "--target wasm32-wasip1",
            "--target=x86_64-pc-windows-gnu -C linker=x86_64-w64-mingw32-gcc",
        ] {
            assert_eq!(driver(option), None, "{option}");
        }
    }

    #[test]
    fn what_cargo_bench_does_not_run_is_left_alone() {
        for line in [
            "-vV",
            "- --crate-name ___ --print=file-names --test",
            "@/tmp/cargo-argfile.1",
            // A library, a program beside the benchmarks, a build script, a
            // macro.
            "--crate-name one src/lib.rs --crate-type lib --emit=dep-info,metadata,link",
            "--crate-name one src/main.rs --crate-type bin --emit=dep-info,link",
            "--crate-name build_script_build build.rs --crate-type bin --emit=dep-info,link --cfg test",
            "--crate-name macros src/lib.rs --crate-type proc-macro --emit=dep-info,link",
            // Nothing is linked.
            "--crate-name one src/lib.rs --emit=dep-info,metadata --test",
        ] {
            assert_eq!(of(line).recordable(), None, "{line}");
        }
        for line in [
            "--crate-name one src/lib.rs --emit=dep-info,link --test",
            "--crate-name one src/lib.rs --emit=link=/t/one --test",
            "--crate-name one src/lib.rs --test",
        ] {
            assert_eq!(of(line).recordable(), Some("cc"), "{line}");
        }
    }

    #[test]
    fn the_executable_is_where_cargo_wants_it() {
        let line = "--crate-name text --test -C extra-filename=-34 --out-dir /t/release/deps";
        assert_eq!(
            of(line).output(),
            Some(PathBuf::from("/t/release/deps/text-34"))
        );
        assert_eq!(of("--crate-name text --test").output(), None);
    }
}
