//! The functions that are raced, by name: the same in the program that races and in the one that
//! reads its answers.

pub const COMPILERS: [&str; 3] = ["gcc", "clang", "rustc"];

pub const KERNELS: [&str; 2] = ["hash", "sum"];

pub const WORDS: usize = 1024;

/// Iterations of both sides of a race with itself.
pub const SAME: u64 = 1024;

/// Iterations of the baseline of a race for 2 %.
pub const FEWER: u64 = 1000;

/// Iterations of its candidate: exactly 2 % more.
pub const MORE: u64 = 1020;

/// Functions that are raced against a twin of theirs.
pub const PAIRS: usize = 200;

pub const AROUND: usize = 300;

pub fn same(compiler: &str, kernel: &str) -> String {
    format!("{compiler}/{kernel}/same")
}

pub fn more(compiler: &str, kernel: &str) -> String {
    format!("{compiler}/{kernel}/more")
}

pub fn compiler_of(pair: usize) -> &'static str {
    COMPILERS[pair % COMPILERS.len()]
}

pub fn pair(number: usize) -> String {
    format!("pair/{number:03}/{}", compiler_of(number))
}

/// The time that a call of the functions of a pair should take, in nanoseconds: from some 20 ns to
/// some 50 µs.
pub fn about_ns(number: usize) -> f64 {
    // Even steps of a logarithm, in an order that the compilers do not share.
    let place = (number * 67) % PAIRS;
    20.0 * 2500f64.powf(place as f64 / (PAIRS - 1) as f64)
}
