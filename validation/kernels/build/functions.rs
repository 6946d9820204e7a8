//! All functions of one compiler, and the files that hold them.

use std::fmt::Write as _;

use crate::kernels::{AROUND, COMPILERS, KERNELS, PAIRS, WORDS, about_ns, compiler_of};
use crate::random::Random;
use crate::shapes::{HASH, SUM, body, small};

pub struct Function {
    pub name: String,
    pub body: String,
}

pub struct Pair {
    pub names: [String; 2],
    pub count: u64,
    body: String,
}

pub fn twins(compiler: &str, kernel: &str) -> [String; 2] {
    ["one", "two"].map(|which| format!("{compiler}_{kernel}_{which}"))
}

pub fn pair(number: usize) -> Pair {
    let mut random = Random::new(number as u64);
    let (body, count) = body(&mut random, about_ns(number));
    let compiler = compiler_of(number);
    Pair {
        names: ["one", "two"].map(|which| format!("{compiler}_pair_{number:03}_{which}")),
        count,
        body,
    }
}

/// All of them, twins far from each other, with small ones between.
pub fn of_compiler(compiler: &str) -> Vec<Function> {
    let mut twice = Vec::new();
    for (kernel, body) in KERNELS.iter().zip([HASH, SUM]) {
        twice.push((twins(compiler, kernel), body.to_owned()));
    }
    for pair in (0..PAIRS).filter(|number| compiler_of(*number) == compiler) {
        let Pair { names, body, .. } = self::pair(pair);
        twice.push((names, body));
    }
    let seed = COMPILERS.iter().position(|one| *one == compiler);
    let mut random = Random::new(1_000_000 + seed.expect("one of the compilers") as u64);
    let mut around = (0..AROUND)
        .map(|number| Function { name: around(compiler, number), body: small(&mut random) });
    let mut all = Vec::new();
    for which in 0..2 {
        for (names, body) in &twice {
            all.push(Function { name: names[which].clone(), body: body.clone() });
            all.extend(around.by_ref().take(1));
        }
    }
    all.extend(around);
    all
}

pub fn c_file(compiler: &str) -> String {
    let mut text = format!(
        "typedef unsigned long long u64;\n\
         #define N(number) ((u64)number##ull)\n\
         #define W(at) (words[(at) & {}])\n\
         #define T(at) (table[(at) & 255])\n\n\
         static const u64 table[256] = {{\n{}}};\n",
        WORDS - 1,
        table()
    );
    for Function { name, body } in of_compiler(compiler) {
        let _ = writeln!(
            text,
            "\n__attribute__((noinline)) u64 {name}(const u64 *words, u64 n) {{\n\
             \x20   u64 h = n, i = 0, j = 0, k = 0;\n    (void)i, (void)j, (void)k;\n{body}    return h;\n}}"
        );
    }
    let _ = writeln!(text, "\nu64 {compiler}_around(const u64 *words, u64 n) {{\n    u64 h = 0;");
    for number in 0..AROUND {
        let _ = writeln!(text, "    h ^= {}(words, n);", around(compiler, number));
    }
    text + "    return h;\n}\n"
}

pub fn rust_file(functions: &[Function]) -> String {
    let mut text = format!(
        "const fn N(number: u64) -> Wrapping<u64> {{\n    Wrapping(number)\n}}\n\n\
         static TABLE: [u64; 256] = [\n{}];\n",
        table()
    );
    for Function { name, body } in functions {
        let _ = writeln!(
            text,
            "\n#[unsafe(no_mangle)]\n#[unsafe(link_section = \".text.{name}\")]\n#[inline(never)]\n\
             pub extern \"C\" fn {name}(words: &Words, n: u64) -> u64 {{\n\
             \x20   let W = |at: Wrapping<u64>| Wrapping(words[at.0 as usize % WORDS]);\n\
             \x20   let T = |at: Wrapping<u64>| Wrapping(TABLE[at.0 as usize % 256]);\n\
             \x20   let n = N(n);\n\
             \x20   let (mut h, mut i, mut j, mut k) = (n, N(0), N(0), N(0));\n{body}    h.0\n}}"
        );
    }
    text +=
        "\npub extern \"C\" fn rustc_around(words: &Words, n: u64) -> u64 {\n    let mut h = 0;\n";
    for number in 0..AROUND {
        let _ = writeln!(text, "    h ^= {}(words, n);", around("rustc", number));
    }
    text + "    h\n}\n"
}

fn around(compiler: &str, number: usize) -> String {
    format!("{compiler}_around_{number:03}")
}

fn table() -> String {
    let mut random = Random::new(256);
    let mut text = String::new();
    for _ in 0..256 {
        let _ = writeln!(text, "    {},", random.word() >> 1);
    }
    text
}
