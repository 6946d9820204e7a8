//! Writes functions in C and in Rust, and has the C compiled by two compilers.

#[path = "../src/kernels.rs"]
#[allow(dead_code)]
mod kernels;
#[path = "../src/random.rs"]
mod random;

mod compilers;
mod functions;
mod registry;
mod shapes;

use std::fs;
use std::path::PathBuf;

use compilers::{C_COMPILERS, archive};
use functions::{c_file, of_compiler, rust_file};

fn main() {
    for source in ["build", "src/kernels.rs", "src/random.rs"] {
        println!("cargo::rerun-if-changed={source}");
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    for compiler in C_COMPILERS {
        archive(compiler, &c_file(compiler), &out);
    }
    let write = |name: &str, text: String| {
        fs::write(out.join(name), text).unwrap_or_else(|error| panic!("{name}: {error}"));
    };
    write("functions.rs", rust_file(&of_compiler("rustc")));
    write("registry.rs", registry::text());
}
