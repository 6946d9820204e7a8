//! Bodies of functions, in the common ground of C and Rust.

use std::fmt::Write as _;

use crate::random::Random;

/// A hash in the manner of FNV that multiplies, or stirs, when a word asks for
/// it: three branches on the data for every word.
pub const HASH: &str = "
    h = N(14695981039346656037);
    while (i < n) {
        j = W(i);
        if ((j & N(63)) == N(0)) { h = (h ^ j) * N(1099511628211); }
        if ((j & N(4032)) == N(64)) { k = (k ^ h) * N(1099511628211); }
        h = h + j;
        if ((j & N(258048)) == N(4096)) { k = k + (h >> 7); }
        i = i + N(1);
    }
    h = h ^ k;
";

/// A sum that reads every seventh word, and adds or takes away as the word has
/// it.
pub const SUM: &str = "
    h = N(0);
    while (i < n) {
        j = W(i * N(7));
        if ((j & N(3)) == N(0)) { h = h + j; }
        else { if ((j & N(24)) == N(8)) { h = h - (j >> 3); k = k + h; } else { h = (h ^ j) + N(3); } }
        i = i + N(1);
    }
    h = h + k;
";

struct Shape {
    /// The time that one of its steps takes, roughly, in nanoseconds.
    step_ns: f64,
    write: fn(&mut Random, &mut String),
}

const SHAPES: [Shape; 7] = [
    Shape { step_ns: 1.7, write: mixing },
    Shape { step_ns: 5.0, write: branching },
    Shape { step_ns: 2.4, write: looking_up },
    Shape { step_ns: 1.2, write: striding },
    Shape { step_ns: 9.0, write: dividing },
    Shape { step_ns: 6.0, write: nesting },
    Shape { step_ns: 7.0, write: choosing },
];

pub fn body(random: &mut Random, about_ns: f64) -> (String, u64) {
    let mut text = String::new();
    let mut step_ns = 0.0;
    for _ in 0..below(random, 3) + 1 {
        let shape = &SHAPES[below(random, SHAPES.len() as u64) as usize];
        (shape.write)(random, &mut text);
        step_ns += shape.step_ns;
    }
    (text, ((about_ns / step_ns).round() as u64).max(2))
}

pub fn small(random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..below(random, 9) + 1 {
        let (odd, shift, bit) = (odd(random), below(random, 40) + 1, below(random, 60));
        let _ = match below(random, 3) {
            0 => writeln!(text, "    h = (h ^ (h >> {shift})) * N({odd});"),
            1 => writeln!(
                text,
                "    if ((h & N({})) != N(0)) {{ h = h + W(h) * N({odd}); }} else {{ j = j + h; }}",
                1_u64 << bit
            ),
            _ => writeln!(text, "    h = h + (W(h >> {shift}) ^ N({odd}));"),
        };
    }
    text + "    h = h ^ j;\n"
}

fn below(random: &mut Random, bound: u64) -> u64 {
    random.word() % bound
}

fn odd(random: &mut Random) -> u64 {
    random.word() >> 8 | 1
}

fn each(text: &mut String, steps: &str) {
    let _ =
        write!(text, "    i = N(0);\n    while (i < n) {{\n{steps}        i = i + N(1);\n    }}\n");
}

fn mixing(random: &mut Random, text: &mut String) {
    let shift = 20 + below(random, 20);
    let steps =
        format!("        h = (h ^ W(i)) * N({});\n        h = h ^ (h >> {shift});\n", odd(random));
    each(text, &steps);
}

fn branching(random: &mut Random, text: &mut String) {
    let (bit, other, factor) = (below(random, 60), below(random, 60), odd(random));
    let steps = format!(
        "        if ((W(i) & N({})) != N(0)) {{ h = h * N({factor}) + W(i); j = j ^ (h >> 9); }}\n\
         \x20       else {{ if ((h & N({})) != N(0)) {{ h = h - (W(i) >> 3); }} else {{ j = j * N(9) + h; }} }}\n",
        1_u64 << bit,
        1_u64 << other
    );
    each(text, &steps);
    *text += "    h = h ^ j;\n";
}

fn looking_up(random: &mut Random, text: &mut String) {
    let steps = format!("        h = T((h ^ W(i)) >> {}) ^ (h >> 8);\n", below(random, 8));
    each(text, &steps);
}

fn striding(random: &mut Random, text: &mut String) {
    let stride = 2 * below(random, 60) + 3;
    let steps =
        format!("        h = h + (W(i * N({stride})) ^ (h << {}));\n", below(random, 5) + 1);
    each(text, &steps);
}

fn dividing(random: &mut Random, text: &mut String) {
    let steps = format!(
        "        h = (W(i) / ((h & N({})) | N(1))) + (h >> 1);\n",
        (1_u64 << (below(random, 30) + 4)) - 1
    );
    each(text, &steps);
}

fn nesting(random: &mut Random, text: &mut String) {
    let steps = format!(
        "        j = W(i) & N({});\n\
         \x20       while (j != N(0)) {{ h = (h * N({})) ^ W(i + j); j = j - N(1); }}\n",
        [1, 3, 7][below(random, 3) as usize],
        odd(random)
    );
    each(text, &steps);
}

fn choosing(random: &mut Random, text: &mut String) {
    let shift = below(random, 50);
    let mut steps = format!("        k = (W(i) >> {shift}) & N(7);\n");
    for choice in 0..6 {
        let odd = odd(random);
        let what = match below(random, 4) {
            0 => format!("h = h * N({odd});"),
            1 => format!("h = h + (W(i) ^ N({odd}));"),
            2 => format!("h = h ^ (h >> {}); j = j + h;", below(random, 40) + 3),
            _ => format!("h = h - W(i + N({}));", below(random, 1000)),
        };
        let _ = writeln!(steps, "        if (k == N({choice})) {{ {what} }} else");
    }
    steps += "        { h = h + j; }\n";
    each(text, &steps);
}
