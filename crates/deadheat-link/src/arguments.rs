//! Interprets the arguments of compiler drivers and linkers, as far as needed to find the files
//! among them. Expands response files, whose arguments replace `@FILE`.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Returns true if `option` makes a compiler driver do something other than link an executable.
pub(crate) fn links_no_executable(option: &str) -> bool {
    const WORDS: [&str; 33] = [
        "-c",
        "-S",
        "-E",
        "-M",
        "-MM",
        "-r",
        "-shared",
        "--shared",
        "-fsyntax-only",
        "-###",
        "--version",
        "--help",
        "--target-help",
        "-cc1",
        "-cc1as",
        "-cc1gen-reproducer",
        "-dumpmachine",
        "-dumpversion",
        "-dumpfullversion",
        "-dumpspecs",
        "--analyze",
        "--compile",
        "--assemble",
        "--preprocess",
        "--precompile",
        "-emit-ast",
        "--emit-static-lib",
        "-extract-api",
        "-verify-pch",
        "-rewrite-objc",
        "-dynamiclib",
        "-bundle",
        "--relocatable",
    ];
    WORDS.contains(&option)
        || ["-print-", "--print-", "--help="]
            .iter()
            .any(|start| option.starts_with(start))
}

/// Returns true if the next argument is the value of this driver option, and neither an input nor
/// an option.
pub(crate) fn driver_takes_value(option: &str) -> bool {
    const WORDS: [&str; 48] = [
        "-A",
        "-B",
        "-D",
        "-F",
        "-G",
        "-I",
        "-U",
        "-V",
        "-Tbss",
        "-Tdata",
        "-Ttext",
        "-Xanalyzer",
        "-Xassembler",
        "-Xclang",
        "-Xopenmp-target",
        "-Xpreprocessor",
        "-arch",
        "-aux-info",
        "-b",
        "-cxx-isystem",
        "-dumpbase",
        "-dumpbase-ext",
        "-dumpdir",
        "-e",
        "-framework",
        "-gcc-toolchain",
        "-idirafter",
        "-iframework",
        "-imacros",
        "-imultilib",
        "-include",
        "-iprefix",
        "-iquote",
        "-isysroot",
        "-isystem",
        "-iwithprefix",
        "-iwithprefixbefore",
        "-mllvm",
        "-stdlib++-isystem",
        "-target",
        "-u",
        "-working-directory",
        "-wrapper",
        "-z",
        "--entry",
        "--param",
        "--prefix",
        "--sysroot",
    ];
    WORDS.contains(&option)
}

/// Returns where a driver option names a file that is written in addition to the executable. A
/// neutral link must not write that file again, because it belongs to the user.
pub(crate) fn driver_writes(option: &str) -> Written {
    match option {
        "-MF"
        | "-MT"
        | "-MQ"
        | "-MJ"
        | "-serialize-diagnostics"
        | "--serialize-diagnostics"
        | "-dependency-file" => Written::InNext,
        "-MD" | "-MMD" | "-MP" | "-MG" | "-save-temps" | "--save-temps" => Written::Here,
        _ if [
            "-MF",
            "-MT",
            "-MQ",
            "-save-temps=",
            "--save-temps=",
            "-ftime-trace",
            "-time=",
        ]
        .iter()
        .any(|start| option.starts_with(start)) =>
        {
            Written::Here
        }
        _ => Written::Nothing,
    }
}

/// The place at which a linker or driver option gives the name of an output file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// The option does not name an output file.
    Nothing,
    /// The option itself contains the name of the output file, or implies a default name.
    Here,
    /// The argument after the option is the name of the output file.
    InNext,
}

/// The kind of file, folder or library that an option of a linker names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// A file that the linker reads.
    File,
    /// Folders in which the executable looks for shared libraries at run time.
    RunPath,
    /// A folder to look for libraries in.
    Folder,
    /// A library to look for in the library folders.
    Library,
}

/// The meaning of a word on the linker's own command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkerOption<'a> {
    /// An input file, not an option.
    Input,
    /// An option that names no file.
    Plain,
    /// An option whose value is the next word and does not name a file that the link record stores.
    Value,
    /// An option that names a file, a folder or a library. The text is the part of the word before
    /// the value; if it is the whole word, the value is the next word.
    Names(Named, &'a str),
    /// An option that names a file written in addition to the executable.
    Writes(Written),
    /// The option `-o` or `--output`: the next word is the path of the executable.
    Output,
    /// An option after which `-l` options may find shared libraries (true) or only archives
    /// (false).
    Dynamic(bool),
    PushState,
    PopState,
}

pub(crate) fn linker_option(word: &str) -> LinkerOption<'_> {
    use LinkerOption::{Dynamic, Input, Names, Output, Plain, PopState, PushState, Value, Writes};
    let Some(single) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) else {
        return Input;
    };
    let long = single.strip_prefix('-').unwrap_or(single);
    // The name of an option, and true if it is written as `--NAME=VALUE`.
    let (name, valued) = match long.split_once('=') {
        Some((name, _)) => (name, true),
        None => (long, false),
    };
    let before = if valued {
        &word[..word.find('=').unwrap_or_default() + 1]
    } else {
        word
    };
    match name {
        "script"
        | "default-script"
        | "dT"
        | "version-script"
        | "dynamic-list"
        | "export-dynamic-symbol-list"
        | "retain-symbols-file"
        | "symbol-ordering-file"
        | "section-ordering-file"
        | "call-graph-ordering-file"
        | "mri-script"
        | "just-symbols"
        | "remap-inputs-file"
        | "lto-sample-profile"
        | "lto-cs-profile-file" => {
            return Names(Named::File, before);
        }
        "rpath" => return Names(Named::RunPath, before),
        "library-path" => return Names(Named::Folder, before),
        "library" => return Names(Named::Library, before),
        "Map" | "dependency-file" | "out-implib" | "reproduce" | "opt-remarks-filename" => {
            return Writes(if valued {
                Written::Here
            } else {
                Written::InNext
            });
        }
        "time-trace"
        | "time-trace-file"
        | "why-extract"
        | "print-symbol-order"
        | "print-archive-stats"
        | "save-temps" => return Writes(Written::Here),
        "output" | "o" if !valued => return Output,
        "Bstatic" | "dn" | "non_shared" | "static" => return Dynamic(false),
        "Bdynamic" | "dy" | "call_shared" => return Dynamic(true),
        "push-state" => return PushState,
        "pop-state" => return PopState,
        _ if !valued && linker_takes_value(name) => return Value,
        _ => {}
    }
    // Short options, whose value may follow without a separator.
    if word.starts_with("--") {
        return Plain;
    }
    match single.as_bytes()[0] {
        b'L' => Names(Named::Folder, "-L"),
        b'l' => Names(Named::Library, "-l"),
        b'T' if !["Ttext", "Tdata", "Tbss", "Trodata", "Tldata"]
            .iter()
            .any(|start| single.starts_with(start)) =>
        {
            Names(Named::File, "-T")
        }
        b'R' => Names(Named::RunPath, "-R"),
        _ => Plain,
    }
}

/// Returns true if the linker option `name`, given without dashes, has the next word as its value,
/// and this value does not name a file that the link record stores.
fn linker_takes_value(name: &str) -> bool {
    const NAMES: [&str; 53] = [
        "A",
        "F",
        "G",
        "I",
        "Tbss",
        "Tdata",
        "Tldata-segment",
        "Trodata-segment",
        "Ttext",
        "Ttext-segment",
        "a",
        "architecture",
        "assert",
        "audit",
        "auxiliary",
        "b",
        "c",
        "defsym",
        "depaudit",
        "dynamic-linker",
        "e",
        "entry",
        "exclude-libs",
        "export-dynamic-symbol",
        "f",
        "filter",
        "fini",
        "format",
        "h",
        "hash-style",
        "image-base",
        "init",
        "m",
        "max-page-size",
        "oformat",
        "P",
        "plugin",
        "plugin-opt",
        "require-defined",
        "rpath-link",
        "section-start",
        "soname",
        "sort-section",
        "spare-dynamic-tags",
        "sysroot",
        "trace-symbol",
        "u",
        "undefined",
        "unresolved-symbols",
        "version-exports-section",
        "wrap",
        "y",
        "z",
    ];
    NAMES.contains(&name)
}

/// Returns true if a driver compiles a file of this name before it links.
pub(crate) fn is_source(name: &str) -> bool {
    const EXTENSIONS: [&str; 36] = [
        "c", "i", "ii", "cc", "cp", "cxx", "cpp", "CPP", "c++", "C", "cppm", "ixx", "cu", "m",
        "mi", "mm", "M", "mii", "h", "hh", "hpp", "H", "s", "S", "sx", "f", "for", "ftn", "F",
        "FOR", "fpp", "f90", "F90", "f95", "d", "go",
    ];
    name.rsplit('/')
        .next()
        .and_then(|file| file.rsplit_once('.'))
        .is_some_and(|(_, extension)| EXTENSIONS.contains(&extension))
}

/// The largest number of response files to expand, so that expansion ends if files include each
/// other.
const MOST_FILES: usize = 2000;

/// The largest total size of response files, in bytes; reading `@/dev/zero` would never end. The
/// largest links have some megabytes of arguments.
const MOST_BYTES: u64 = 16 << 20;

/// Returns all arguments, with every `@FILE` replaced by the arguments in that file, recursively.
/// If the file does not exist, `@FILE` stays an argument.
///
/// # Errors
///
/// A message, if a file is not text, files include each other, or they are too large.
pub(crate) fn expand(arguments: &[String], directory: &Path) -> Result<Vec<String>, String> {
    let mut expanded = Vec::with_capacity(arguments.len());
    let mut files = 0;
    let mut left = MOST_BYTES;
    // The arguments still to be read, in reverse.
    let mut rest: Vec<String> = arguments.iter().rev().cloned().collect();
    while let Some(argument) = rest.pop() {
        let Some(name) = argument.strip_prefix('@') else {
            expanded.push(argument);
            continue;
        };
        let mut bytes = Vec::new();
        let read = File::open(directory.join(name))
            .and_then(|file| file.take(left + 1).read_to_end(&mut bytes));
        if read.is_err() {
            expanded.push(argument);
            continue;
        }
        files += 1;
        left = left.checked_sub(bytes.len() as u64).ok_or_else(|| {
            format!(
                "the response files, up to and including {name}, are larger than 16 MiB in total"
            )
        })?;
        if files > MOST_FILES {
            return Err(format!(
                "more than {MOST_FILES} response files: some may name each other, such as {name}"
            ));
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| format!("the response file {name} is not UTF-8"))?;
        rest.extend(split(&text).into_iter().rev());
    }
    Ok(expanded)
}

/// Splits the text of a response file into arguments: separated by white space, with single or
/// double quotes, and with backslash escapes.
pub(crate) fn split(text: &str) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut current: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => current.get_or_insert_default().extend(characters.next()),
            '"' | '\'' if quote.is_none() => {
                quote = Some(character);
                current.get_or_insert_default();
            }
            _ if quote == Some(character) => quote = None,
            _ if quote.is_none() && is_space(character) => arguments.extend(current.take()),
            _ => current.get_or_insert_default().push(character),
        }
    }
    arguments.extend(current);
    arguments
}

/// Returns the text of a response file with these arguments, one per line; [`split`] reads it back.
pub(crate) fn join(arguments: &[String]) -> String {
    let lines = arguments.iter().map(|argument| escaped(argument) + "\n");
    lines.collect()
}

fn escaped(argument: &str) -> String {
    if argument.is_empty() {
        return "\"\"".to_owned();
    }
    let mut text = String::new();
    for character in argument.chars() {
        if is_space(character) || matches!(character, '\\' | '"' | '\'') {
            text.push('\\');
        }
        text.push(character);
    }
    text
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_value_may_follow_its_option_in_three_ways() {
        for (word, before) in [
            ("--version-script=list", "--version-script="),
            ("-version-script=list", "-version-script="),
            ("--version-script", "--version-script"),
            ("-Tscript.ld", "-T"),
            ("-T", "-T"),
        ] {
            assert_eq!(
                linker_option(word),
                LinkerOption::Names(Named::File, before),
                "{word}"
            );
        }
        assert_eq!(linker_option("-Ttext=0x400000"), LinkerOption::Plain);
        assert_eq!(linker_option("-Ttext"), LinkerOption::Value);
        assert_eq!(
            linker_option("-lfoo=bar"),
            LinkerOption::Names(Named::Library, "-l")
        );
        assert_eq!(
            linker_option("--library=foo"),
            LinkerOption::Names(Named::Library, "--library=")
        );
    }

    #[test]
    fn distinguishes_files_that_the_linker_writes_and_reads() {
        for word in ["-Map=x", "--Map=x", "--dependency-file=x"] {
            assert_eq!(linker_option(word), LinkerOption::Writes(Written::Here));
        }
        assert_eq!(linker_option("-Map"), LinkerOption::Writes(Written::InNext));
        assert_eq!(linker_option("--print-map"), LinkerOption::Plain);
    }

    #[test]
    fn sources_are_known_by_their_names() {
        for name in ["main.c", "dir.o/x.cpp", "./start.S"] {
            assert!(is_source(name), "{name}");
        }
        for name in ["main.o", "x.cpp/y", "libfoo.a", "c", "k.cgu.0.rcgu.o"] {
            assert!(!is_source(name), "{name}");
        }
    }

    fn quoted(argument: &str, quote: char) -> String {
        let inner = argument.replace('\\', "\\\\");
        let inner = inner.replace(quote, &format!("\\{quote}"));
        format!("{quote}{inner}{quote}")
    }

    #[test]
    fn quotes_and_backslashes_are_read_as_compilers_read_them() {
        let text = "a 'b c' \"d 'e' \\\"f\" g\\ h\n\ti\"j\"k '' \\\\";
        let read = ["a", "b c", "d 'e' \"f", "g h", "ijk", "", "\\"];
        assert_eq!(split(text), read);
        assert_eq!(split(" \n"), Vec::<String>::new());
    }

    proptest! {
        #[test]
        fn what_was_quoted_is_read_back(
            arguments in proptest::collection::vec(("\\PC*|[ \\t\\n'\"\\\\a@]*", 0..3), 0..8),
        ) {
            let text: Vec<String> = arguments
                .iter()
                .map(|(argument, way)| match way {
                    0 => escaped(argument),
                    1 => quoted(argument, '"'),
                    _ => quoted(argument, '\''),
                })
                .collect();
            let arguments: Vec<String> = arguments.into_iter().map(|(argument, _)| argument).collect();
            prop_assert_eq!(&split(&text.join("\n")), &arguments);
            prop_assert_eq!(split(&join(&arguments)), arguments);
        }
    }

    #[test]
    fn files_named_in_files_are_expanded_in_their_place() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("outer"), "a @inner 'd e'").unwrap();
        std::fs::write(folder.path().join("inner"), "b\nc").unwrap();
        let arguments = ["-x", "@outer", "@missing", "z"].map(str::to_owned);
        let expanded = expand(&arguments, folder.path()).unwrap();
        assert_eq!(expanded, ["-x", "a", "b", "c", "d e", "@missing", "z"]);
    }

    #[test]
    fn rejects_response_files_that_include_each_other() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), "@b").unwrap();
        std::fs::write(folder.path().join("b"), "@a").unwrap();
        let error = expand(&["@a".to_owned()], folder.path()).unwrap_err();
        assert!(error.contains("name each other"), "{error}");
    }

    #[test]
    fn rejects_response_files_without_end() {
        let error = expand(&["@/dev/zero".to_owned()], Path::new("/")).unwrap_err();
        assert!(error.contains("larger than 16 MiB"), "{error}");
    }
}
