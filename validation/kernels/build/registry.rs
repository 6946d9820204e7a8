//! The races, as somebody would write them by hand: a closure for every side.

use std::fmt::Write as _;

use crate::compilers::C_COMPILERS;
use crate::functions::{of_compiler, pair, twins};
use crate::kernels::{self, COMPILERS, FEWER, KERNELS, MORE, PAIRS, SAME};

pub fn text() -> String {
    let mut text = "unsafe extern \"C\" {\n".to_owned();
    for compiler in C_COMPILERS {
        let functions = of_compiler(compiler).into_iter().map(|one| one.name);
        let small = format!("{compiler}_around");
        let called = functions.filter(|name| !name.starts_with(&small));
        for name in called.chain([small.clone()]) {
            let _ = writeln!(text, "    safe fn {name}(words: &Words, n: u64) -> u64;");
        }
    }
    let mut races = String::new();
    let mut addresses = String::new();
    let mut twice = |names: &[String; 2]| {
        let [one, two] = names;
        let _ = writeln!(addresses, "    ({one}, {two}),");
    };
    let mut race = |name: String, [one, two]: &[String; 2], counts: [u64; 2]| {
        let second = if counts[0] == counts[1] { "the same" } else { "2 % more" };
        let _ = writeln!(
            races,
            "    suite\n        .benchmark(\"{name}\")\n        .input(words)\n\
             \x20       .baseline(\"one\", |words| {one}(words, {}))\n\
             \x20       .candidate(\"{second}\", |words| {two}(words, {}));",
            counts[0], counts[1]
        );
    };
    for compiler in COMPILERS {
        for kernel in KERNELS {
            let names = twins(compiler, kernel);
            twice(&names);
            race(kernels::same(compiler, kernel), &names, [SAME; 2]);
            race(kernels::more(compiler, kernel), &names, [FEWER, MORE]);
        }
    }
    for number in 0..PAIRS {
        let pair = pair(number);
        twice(&pair.names);
        race(kernels::pair(number), &pair.names, [pair.count; 2]);
    }
    let count = COMPILERS.len() * KERNELS.len() + PAIRS;
    let _ = write!(
        text,
        "}}\n\nstatic TWINS: [(Function, Function); {count}] = [\n{addresses}];\n\n\
         fn races(suite: &mut Suite) {{\n{races}}}\n"
    );
    text
}
