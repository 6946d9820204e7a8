//! Reads the output of `perf script -F event,period,ip,sym,dso --inline`. Each sample is a line
//! with its event, a line per function on the stack, the innermost first, and an empty line.

use std::collections::BTreeMap;
use std::path::Path;

use deadheat::parts::format::FormatError;

use crate::profile::{Place, Profile, without_depth};
use crate::wire_callgrind::{base, function, shown};

/// perf's name for unknown functions and files.
const UNKNOWN: &str = "[unknown]";

/// Reads the samples that perf printed. Each sample adds 1 to the function in which perf took it,
/// and 1 to each call on the stack. Inlined code is a separate function. An empty text is valid:
/// the program was too short for a sample. `name` is the name of the text in error messages.
pub fn read_perf_script(name: &str, text: &str) -> Result<Profile, FormatError> {
    let mut profile = Profile::default();
    let mut open: Option<Vec<Frame<'_>>> = None;
    let mut number = 0;
    for line in text.lines() {
        number += 1;
        let read = match (&mut open, line.strip_prefix('\t')) {
            (Some(frames), Some(line)) => frame(line).map(|frame| frames.push(frame)),
            (None, Some(_)) => Err("a function outside of a sample".to_owned()),
            (Some(frames), None) if line.is_empty() => {
                add(&mut profile, frames);
                open = None;
                Ok(())
            }
            (Some(_), None) => Err(format!("'{}' within a sample", shown(line))),
            (None, None) => event(line).map(|frames| open = Some(frames)),
        };
        read.map_err(|problem| FormatError::at(Path::new(name), number, problem))?;
    }
    if open.is_some() || !(text.is_empty() || text.ends_with('\n')) {
        let problem = "the file ends within a sample, so it was cut off".to_owned();
        return Err(FormatError::at(Path::new(name), number, problem));
    }
    Ok(profile)
}

struct Frame<'a> {
    symbol: &'a str,
    object: &'a str,
}

impl Frame<'_> {
    fn is_known(&self) -> bool {
        self.symbol != UNKNOWN || self.object != UNKNOWN
    }

    /// Returns the name of the function; for a nameless one, that of its library or `[program]`.
    fn name(&self) -> String {
        let symbol = if self.symbol == UNKNOWN {
            "???"
        } else {
            without_depth(self.symbol)
        };
        let object = base(self.object).trim_matches(['[', ']']);
        let is_file = !self.object.starts_with('[');
        if is_file && !object.ends_with(".so") && !object.contains(".so.") {
            return function(symbol, "program");
        }
        function(symbol, object)
    }
}

/// Reads the line of an event. If perf recorded no stack, the line may contain the function itself.
fn event(line: &str) -> Result<Vec<Frame<'_>>, String> {
    let problem = || format!("'{}' is not a line of perf output", shown(line));
    let (period, rest) = line.trim_start().split_once(' ').ok_or_else(problem)?;
    let is_number = !period.is_empty() && period.bytes().all(|digit| digit.is_ascii_digit());
    let (event, function) = rest.split_once(": ").ok_or_else(problem)?;
    if !is_number || event.is_empty() || event.contains(char::is_whitespace) {
        return Err(problem());
    }
    match function.trim() {
        "" => Ok(Vec::new()),
        function => Ok(vec![frame(function)?]),
    }
}

/// Reads `ADDRESS NAME (FILE)`. C++ names contain spaces and parentheses, and file names may.
fn frame(line: &str) -> Result<Frame<'_>, String> {
    let line = line.trim();
    let problem = || format!("'{}' is not a function of perf output", shown(line));
    let (address, rest) = line.split_once(' ').ok_or_else(problem)?;
    if address.is_empty() || !address.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(problem());
    }
    let named = rest.strip_suffix(')').ok_or_else(problem)?;
    let at = named.find(" (/").or_else(|| named.rfind(" ("));
    let (symbol, object) = at
        .map(|at| (&named[..at], &named[at + 2..]))
        .ok_or_else(problem)?;
    if symbol.is_empty() {
        return Err(problem());
    }
    Ok(Frame { symbol, object })
}

/// Adds a sample. Each recursion depth is a separate function, so that no function gets more counts
/// than there are samples.
fn add(profile: &mut Profile, frames: &[Frame<'_>]) {
    // A stack that exceeds the part that perf copies ends in unknown functions.
    let outermost = frames
        .iter()
        .rposition(Frame::is_known)
        .map_or(0, |at| at + 1);
    let mut depths: BTreeMap<String, u64> = BTreeMap::new();
    let called = frames[..outermost].iter().rev().map(|frame| {
        let name = frame.name();
        let depth = depths.entry(name.clone()).or_default();
        *depth += 1;
        match *depth {
            1 => name,
            depth => format!("{name}'{depth}"),
        }
    });
    let mut path: Vec<String> = called.collect();
    if path.is_empty() {
        path.push(UNKNOWN.to_owned());
    }
    for call in path.windows(2) {
        let call = (call[0].clone(), call[1].clone());
        *profile.calls.entry(call).or_default() += 1;
    }
    if let Some(function) = path.pop() {
        let place = Place {
            function,
            inlined: None,
        };
        *profile.own.entry(place).or_default() += 1;
    }
    profile.total += 1;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Profile, String> {
        read_perf_script("samples", text).map_err(|error| error.to_string())
    }

    /// Returns the functions with their own samples, and the calls with theirs.
    fn counts(profile: &Profile) -> Vec<(String, u64)> {
        let own = profile.own.iter();
        let own = own.map(|(place, count)| (place.function.clone(), *count));
        let calls = profile.calls.iter();
        let calls = calls.map(|((caller, callee), count)| (format!("{caller} > {callee}"), *count));
        own.chain(calls).collect()
    }

    #[track_caller]
    fn has(text: &str, expected: &[(&str, u64)]) {
        let expected: Vec<(String, u64)> = expected
            .iter()
            .map(|(name, count)| ((*name).to_owned(), *count))
            .collect();
        assert_eq!(counts(&read(text).unwrap()), expected, "{text}");
    }

    #[test]
    fn a_sample_counts_for_its_function_and_for_the_calls_that_led_there() {
        has(
            "  100 cpu-clock:u: \n\t  11f7 beta (/tmp/p)\n\t  107b main (/tmp/p)\n\n\
             \x20 100 cpu-clock:u: \n\t  107b main (/tmp/p)\n\n",
            &[("beta", 1), ("main", 1), ("main > beta", 1)],
        );
        has("", &[]);
    }

    #[test]
    fn a_function_that_calls_itself_is_another_at_each_depth() {
        has(
            "9 e: \n\t1 a (/p)\n\t2 b (/p)\n\t1 a (/p)\n\t1 a (/p)\n\n",
            &[("a'3", 1), ("a > a'2", 1), ("a'2 > b", 1), ("b > a'3", 1)],
        );
    }

    #[test]
    fn names_have_spaces_and_parentheses_and_files_too() {
        has(
            "9 e: \n\t1 f(int (*)(int), A<(B)0>) (/a (b)/p)\n\t1 operator() (inlined)\n\
             \t1 a::b::h0123456789abcdef (/p)\n\n",
            &[
                ("f(int (*)(int), A<(B)0>)", 1),
                ("a::b > operator()", 1),
                ("operator() > f(int (*)(int), A<(B)0>)", 1),
            ],
        );
    }

    #[test]
    fn what_has_no_name_is_called_after_its_file() {
        for (line, known) in [
            ("7f [unknown] (/lib/libc.so.6)", "[libc.so.6]"),
            ("7f [unknown] (/lib/libm.so)", "[libm.so]"),
            ("7f [unknown] (/home/me/new)", "[program]"),
            ("7f [unknown] ([vdso])", "[vdso]"),
            ("7f [unknown] ([unknown])", "[unknown]"),
        ] {
            has(&format!("9 e: \n\t{line}\n\n"), &[(known, 1)]);
            // Without a stack, the line of the event contains the function.
            has(&format!("9 e: {line}\n\n"), &[(known, 1)]);
        }
        // The unknown end of a truncated stack is not a caller.
        has(
            "9 e: \n\t1 f (/p)\n\t0 [unknown] ([unknown])\n\n",
            &[("f", 1)],
        );
        has("9 e: \n\n", &[("[unknown]", 1)]);
    }

    #[test]
    fn damage_is_told_with_its_line() {
        for (text, told) in [
            (
                "9 e: \n\t1 f (/p)\n",
                "samples:2: the file ends within a sample, so it was cut off",
            ),
            (
                "9 e: \n\t1 f (/p)\n\n9 e",
                "samples:4: '9 e' is not a line of perf output",
            ),
            (
                "9 e: \n\t1 f (/p",
                "samples:2: '1 f (/p' is not a function of perf output",
            ),
            (
                "9 e: \n\tx f (/p)\n\n",
                "samples:2: 'x f (/p)' is not a function of perf output",
            ),
            (
                "9 e: \n\t1 (/p)\n\n",
                "samples:2: '1 (/p)' is not a function of perf output",
            ),
            ("\t1 f (/p)\n", "samples:1: a function outside of a sample"),
            (
                "nine e: \n\n",
                "samples:1: 'nine e: ' is not a line of perf output",
            ),
            ("9 e: \n9 e: \n", "samples:2: '9 e: ' within a sample"),
        ] {
            assert_eq!(read(text).unwrap_err(), told, "{text}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_printed_is_read_or_refused(text in "([ \t\n0-9a-f:()/\\[\\]]|9 e: \n|\t1 f \\(/p\\)\n){0,30}") {
            let _ = read(&text);
        }

        #[test]
        fn samples_that_are_printed_are_counted(
            stacks in proptest::collection::vec(proptest::collection::vec(0_usize..4, 1..6), 0..30)
        ) {
            let mut text = String::new();
            let mut expected = [0; 4];
            for stack in &stacks {
                text += "  7 cpu-clock:u: \n";
                for function in stack {
                    text += &format!("\t    {function}f f{function} (/bin/p)\n");
                }
                text += "\n";
                expected[stack[0]] += 1;
            }
            let profile = read(&text).unwrap();
            prop_assert_eq!(profile.total, stacks.len() as u64);
            for (function, count) in expected.into_iter().enumerate() {
                let of_it = profile.own.iter();
                let of_it = of_it.filter(|(one, _)| without_depth(&one.function) == format!("f{function}"));
                prop_assert_eq!(of_it.map(|(_, own)| own).sum::<u64>(), count);
            }
            prop_assert!(profile.calls.values().all(|count| *count <= profile.total));
        }
    }
}
