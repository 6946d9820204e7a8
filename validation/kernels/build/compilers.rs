//! C made into a library that the program is linked with.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

pub const C_COMPILERS: [&str; 2] = ["gcc", "clang"];

/// The flags that both compilers are given. Twins must stay two functions: gcc would fold equal
/// ones into one; clang does so only when asked.
const FLAGS: [&str; 4] = ["-O2", "-fPIC", "-ffunction-sections", "-fno-lto"];

pub fn archive(compiler: &str, text: &str, out: &Path) {
    let source = out.join(format!("{compiler}.c"));
    let object = out.join(format!("{compiler}.o"));
    let library = out.join(format!("lib{compiler}_functions.a"));
    fs::write(&source, text).unwrap_or_else(|error| panic!("{}: {error}", source.display()));
    let mut words: Vec<OsString> = FLAGS.map(OsString::from).to_vec();
    if compiler == "gcc" {
        words.push("-fno-ipa-icf".into());
    }
    words.extend(["-c".into(), source.into(), "-o".into(), object.clone().into()]);
    run(compiler, &words);
    // `ar` adds to what is there.
    let _ = fs::remove_file(&library);
    run("ar", &["crs".into(), library.into(), object.into()]);
    println!("cargo::rustc-link-search=native={}", out.display());
    println!("cargo::rustc-link-lib=static={compiler}_functions");
}

fn run(program: &str, words: &[OsString]) {
    let status = Command::new(program)
        .args(words)
        .status()
        .unwrap_or_else(|error| panic!("{program} is needed here: {error}"));
    assert!(status.success(), "{program} {words:?} failed");
}
