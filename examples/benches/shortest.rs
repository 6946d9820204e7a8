//! The shortest race: what the README shows.

fn main() {
    deadheat::main(|suite| {
        suite
            .benchmark("number to text")
            .input(|seed| seed)
            .baseline("format", |number| format!("{number}"))
            .candidate("to_string", |number| number.to_string())
            .check_outputs();
    });
}
