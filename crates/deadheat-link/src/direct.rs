//! The linker, called without the driver before it. What a driver adds to its arguments is the same
//! for every neutral link of a record, and it takes three processes and a tenth of a link to say so.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::linker::{Family, Linker, chosen_linker, driver, run};
use crate::record::LinkRecord;
use crate::response;

/// The place in a call of options that differ from link to link.
const OPTIONS: &str = "--deadheat-options";

/// The place of the output.
const OUTPUT: &str = "deadheat-output";

/// The end of the name of the program between gcc and its linker.
const COLLECTOR: &str = "collect2";

/// The call of a linker that a driver would make for the links of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DirectCall {
    program: PathBuf,
    words: Vec<String>,
}

impl DirectCall {
    /// Asks the driver of a record how it would call `linker` for these arguments, and others in
    /// place of those that differ. `None` where it cannot be understood, and where a plug-in of the
    /// driver's may have to do with the link.
    pub(crate) fn ask(record: &LinkRecord, linker: &Linker, arguments: &[String]) -> Option<Self> {
        let (Family::Lld, [_, program]) = (linker.family, &*linker.programs) else {
            return None;
        };
        let mut command = driver(record);
        command.arg("-###").args(arguments);
        command.args([&format!("-Wl,{OPTIONS}"), "-o", OUTPUT]);
        let said = run(record, &mut command).ok()?;
        let text = String::from_utf8(said.stderr).ok()?;
        Self::understood(&text, program.file())
    }

    /// The call in what a driver says with `-###`: gcc calls a program that looks for `linker`,
    /// clang calls it.
    fn understood(text: &str, linker: &Path) -> Option<Self> {
        let line = text.lines().rfind(|line| line.starts_with(' '))?;
        let mut words = response::split(line);
        let called = PathBuf::from(words.remove(0));
        if called.file_name()? == COLLECTOR {
            words.retain(|word| chosen_linker(word).is_none());
        } else if called != linker {
            return None;
        }
        let once = |place: &str| words.iter().filter(|word| *word == place).count() == 1;
        if !once(OPTIONS) || !once(OUTPUT) {
            return None;
        }
        let mut program = linker.to_owned();
        if let Some(rust_lld) = behind_wrapper(linker) {
            program = rust_lld;
            words.splice(0..0, ["-flavor", "gnu"].map(str::to_owned));
        }
        Some(Self { program, words })
    }

    /// The command that links into `output` by these options, which are written as for the driver.
    pub(crate) fn command(
        &self,
        record: &LinkRecord,
        options: &[String],
        output: &Path,
    ) -> Command {
        let mut command = driver(record);
        let mut direct = Command::new(&self.program);
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => direct.env(name, value),
                None => direct.env_remove(name),
            };
        }
        if let Some(folder) = command.get_current_dir() {
            direct.current_dir(folder);
        }
        command = direct;
        for word in &self.words {
            match word.as_str() {
                OPTIONS => command.args(for_the_linker(options)),
                OUTPUT => command.arg(output),
                word => command.arg(word),
            };
        }
        command
    }
}

/// The lld of Rust behind the program under whose name drivers find it, which starts it with its
/// flavor.
fn behind_wrapper(linker: &Path) -> Option<PathBuf> {
    let folder = linker.parent()?;
    let lld = folder.parent()?.join("rust-lld");
    (folder.file_name()? == "gcc-ld" && lld.is_file()).then_some(lld)
}

/// Arguments of a driver as it hands them to the linker.
fn for_the_linker(options: &[String]) -> Vec<&str> {
    let mut words = Vec::new();
    let mut options = options.iter().map(String::as_str);
    while let Some(option) = options.next() {
        if option == "-Xlinker" {
            words.extend(options.next());
        } else if let Some(joined) = option.strip_prefix("-Wl,") {
            words.extend(joined.split(','));
        } else {
            words.push(option);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_call_of_a_linker_is_read_from_what_gcc_and_clang_say() {
        let gcc = "Using built-in specs.\nCOLLECT_GCC=gcc\n /usr/lib/gcc/collect2 -fuse-ld=lld -pie -o \
                   deadheat-output \"/a b/1.o\" \"-x\\$y\" --deadheat-options crtn.o\nCOLLECT_GCC_OPTIONS=-o\n";
        let clang = "clang version 14\nInstalledDir: /usr/bin\n \"/bin/ld.lld\" \"-pie\" \"-o\" \
                     \"deadheat-output\" \"/a b/1.o\" \"-x$y\" \"--deadheat-options\" \"crtn.o\"\n";
        for said in [gcc, clang] {
            let call = DirectCall::understood(said, Path::new("/bin/ld.lld")).unwrap();
            assert_eq!(call.program, Path::new("/bin/ld.lld"));
            let expected = ["-pie", "-o", OUTPUT, "/a b/1.o", "-x$y", OPTIONS, "crtn.o"];
            assert_eq!(call.words, expected, "{said}");
        }
    }

    #[test]
    fn the_lld_of_rust_is_called_without_the_program_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let wrapper = folder.path().join("gcc-ld/ld.lld");
        let said = format!(
            " \"{}\" -o deadheat-output --deadheat-options",
            wrapper.display()
        );
        let call = || DirectCall::understood(&said, &wrapper).unwrap();
        assert_eq!(call().program, wrapper);
        let lld = folder.path().join("rust-lld");
        std::fs::write(&lld, "").unwrap();
        assert_eq!(call().program, lld);
        assert_eq!(
            call().words,
            ["-flavor", "gnu", "-o", OUTPUT, OPTIONS],
            "as the wrapper starts it"
        );
    }

    #[test]
    fn what_is_not_understood_is_left_to_the_driver() {
        for said in [
            "",
            "gcc: fatal error: no input files",
            " /bin/ld.bfd -o deadheat-output --deadheat-options",
            " /bin/ld.lld -o deadheat-output",
            " /bin/ld.lld -o elsewhere --deadheat-options",
            " /bin/ld.lld -o deadheat-output --deadheat-options --deadheat-options",
        ] {
            let linker = Path::new("/bin/ld.lld");
            assert_eq!(DirectCall::understood(said, linker), None, "{said}");
        }
    }

    #[test]
    fn options_reach_the_linker_as_the_driver_would_hand_them_on() {
        let options = words("-Wl,--shuffle-sections=.text*=7 -Wl,-T,/a -Xlinker /b,c rooms.o");
        assert_eq!(
            for_the_linker(&options),
            ["--shuffle-sections=.text*=7", "-T", "/a", "/b,c", "rooms.o"]
        );
    }
}
