//! One line of Go's benchmark format.

use std::borrow::Cow;

/// What a line says.
#[derive(Debug, PartialEq)]
pub(super) enum Line<'a> {
    /// A result: the name without `Benchmark`, and value and unit in turn.
    Result { name: &'a str, values: Values<'a> },
    /// `key: value`; an empty value takes the key back.
    Config { key: &'a str, value: &'a str },
    /// What follows the word `Unit`.
    Unit(&'a str),
    /// The last word of a process.
    End,
    /// A benchmark that failed, or else was skipped.
    Fault { name: &'a str, failed: bool },
    /// Anything else.
    Other,
}

/// Values with their units.
pub(super) type Values<'a> = Vec<(f64, &'a str)>;

/// Understands a line; the error says what is wrong with the numbers of a
/// result.
pub(super) fn parse(line: &str) -> Result<Line<'_>, String> {
    let line = line.trim_end_matches('\r');
    if let Some(rest) = line.strip_prefix("Benchmark") {
        return result(rest).map_err(|problem| problem.into_owned());
    }
    if let Some(rest) = line.strip_prefix("Unit")
        && rest.starts_with([' ', '\t'])
    {
        return Ok(Line::Unit(rest));
    }
    if matches!(line, "PASS" | "FAIL") || line.starts_with("ok  \t") || line.starts_with("FAIL\t") {
        return Ok(Line::End);
    }
    Ok(fault(line).or_else(|| config(line)).unwrap_or(Line::Other))
}

/// The line of a result, after `Benchmark`. With `-v` the name stands alone as
/// well, and whatever a program prints may begin with that word: it is a result
/// when a number follows.
fn result(rest: &str) -> Result<Line<'_>, Cow<'static, str>> {
    let mut fields = rest.split_whitespace();
    let name = match rest.starts_with(char::is_whitespace) {
        true => "",
        false => fields.next().unwrap_or_default(),
    };
    let Some(iterations) = fields.next() else {
        return Ok(Line::Other);
    };
    let numeric = iterations.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    // A word such as `Benchmarking` is prose.
    if name.starts_with(char::is_lowercase) && values(fields.clone()).is_err() || !numeric {
        return Ok(Line::Other);
    }
    if iterations.parse::<u64>().is_err() {
        return Err(format!("'{iterations}' is no number of iterations").into());
    }
    let values = values(fields)?;
    if values.is_empty() {
        return Err(format!("Benchmark{name} has no measurement").into());
    }
    let name = if name.is_empty() { "Benchmark" } else { name };
    Ok(Line::Result { name, values })
}

fn values<'a>(mut fields: impl Iterator<Item = &'a str>) -> Result<Values<'a>, Cow<'static, str>> {
    let mut values = Vec::new();
    while let Some(number) = fields.next() {
        let value: f64 = match number.parse() {
            Ok(value) => value,
            Err(_) => return Err(format!("'{number}' is no number").into()),
        };
        let Some(unit) = fields.next() else {
            return Err(format!("the number {number} has no unit").into());
        };
        let time = super::unit::time(unit);
        if time.is_some_and(|factor| !(value * factor).is_finite() || value < 0.0) {
            return Err(format!("{number} {unit} is no time").into());
        }
        values.push((value, unit));
    }
    Ok(values)
}

/// `--- FAIL: BenchmarkSort`, and the same of `SKIP`.
fn fault(line: &str) -> Option<Line<'_>> {
    let rest = line.trim_start().strip_prefix("--- ")?;
    let (word, rest) = rest.split_once(": Benchmark")?;
    let failed = match word {
        "FAIL" => true,
        "SKIP" => false,
        _ => return None,
    };
    let name = rest.split_whitespace().next()?;
    Some(Line::Fault { name, failed })
}

/// A key begins with a small letter and has neither capitals nor blanks; a
/// value is set off by a blank.
fn config(line: &str) -> Option<Line<'_>> {
    let (key, value) = line.split_once(':')?;
    let sound = key.starts_with(char::is_lowercase)
        && !key.contains(|c: char| c.is_whitespace() || c.is_uppercase());
    let apart = value.is_empty() || value.starts_with([' ', '\t']);
    let value = value.trim_start_matches([' ', '\t']);
    (sound && apart).then_some(Line::Config { key, value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(line: &str) -> String {
        parse(line).unwrap_err()
    }

    #[test]
    fn a_result_is_a_name_iterations_and_values_with_units() {
        let parsed = parse("BenchmarkSort/n=3-8 \t 1000\t  2045 ns/op\t 1e3 B/op\r");
        let expected = Line::Result {
            name: "Sort/n=3-8",
            values: vec![(2045.0, "ns/op"), (1000.0, "B/op")],
        };
        assert_eq!(parsed, Ok(expected));
        let parsed = parse("Benchmark 1 NaN hits/op -2 x");
        let Ok(Line::Result { name, values }) = parsed else {
            panic!("{parsed:?}");
        };
        assert_eq!((name, values.len()), ("Benchmark", 2));
    }

    #[test]
    fn a_result_with_a_broken_number_is_an_error() {
        for (line, told) in [
            ("BenchmarkA 10x 5 ns/op", "'10x' is no number of iterations"),
            ("BenchmarkA -1 5 ns/op", "'-1' is no number of iterations"),
            ("BenchmarkA 10", "BenchmarkA has no measurement"),
            ("BenchmarkA 10 5", "the number 5 has no unit"),
            ("BenchmarkA 10 5,2 ns/op", "'5,2' is no number"),
            ("BenchmarkA 10 5 ns/op x B/op", "'x' is no number"),
            ("BenchmarkA 10 NaN ns/op", "NaN ns/op is no time"),
            ("BenchmarkA 10 -5 ns/op", "-5 ns/op is no time"),
            ("BenchmarkA 10 +Inf ns/op", "+Inf ns/op is no time"),
            ("BenchmarkA 10 1e305 sec/op", "1e305 sec/op is no time"),
        ] {
            assert_eq!(error(line), told, "{line}");
        }
    }

    #[test]
    fn what_only_begins_like_a_result_is_passed_over() {
        for line in [
            "BenchmarkSort",
            "BenchmarkSort-8   \t",
            "BenchmarkSort: starting",
            "Benchmarks 5 done",
            "Benchmarking 3 things took long",
            "Benchmark",
            "Benchmark of sorting",
        ] {
            assert_eq!(parse(line), Ok(Line::Other), "{line}");
        }
    }

    #[test]
    fn other_lines_are_told_apart() {
        let config = |key, value| Ok(Line::Config { key, value });
        assert_eq!(parse("pkg: a/b"), config("pkg", "a/b"));
        assert_eq!(parse("contender:"), config("contender", ""));
        assert_eq!(parse("äh: \t x: y "), config("äh", "x: y "));
        for line in [
            "Pkg: a", "a b: c", "aB: c", "a:b", ": a", "", "x", "http://a",
        ] {
            assert_eq!(parse(line), Ok(Line::Other), "{line}");
        }
        assert_eq!(
            parse("Unit x better=lower"),
            Ok(Line::Unit(" x better=lower"))
        );
        assert_eq!(parse("Units"), Ok(Line::Other));
        for line in ["PASS", "FAIL", "ok  \ta/b\t0.1s", "FAIL\ta/b\t0.1s"] {
            assert_eq!(parse(line), Ok(Line::End), "{line}");
        }
        for (line, failed) in [
            ("--- FAIL: BenchmarkA/b", true),
            ("    --- SKIP: BenchmarkA/b (0.00s)", false),
        ] {
            assert_eq!(
                parse(line),
                Ok(Line::Fault {
                    name: "A/b",
                    failed
                })
            );
        }
        assert_eq!(parse("--- BENCH: BenchmarkA"), Ok(Line::Other));
        assert_eq!(parse("--- FAIL: TestA (0.00s)"), Ok(Line::Other));
    }
}
