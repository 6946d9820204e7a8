//! Reads the text format of callgrind (<https://valgrind.org/docs/manual/cl-format.html>),
//! including files with several parts, compressed names and positions, and the files of inlined
//! code.

use std::collections::HashMap;
use std::path::Path;

use deadheat::parts::format::{FileProblem, FormatError};

use crate::profile::{Place, Profile, without_depth};

/// The event that is read from files with several events.
const INSTRUCTIONS: &str = "Ir";

/// Reads a file of callgrind. `name` is the file's name in error messages.
pub fn read_callgrind(name: &str, text: &str) -> Result<Profile, FormatError> {
    let mut reader = Reader::default();
    let mut number = 0;
    for line in text.lines() {
        number += 1;
        let read = reader.line(line.trim_end());
        read.map_err(|problem| FormatError::at(Path::new(name), number, problem))?;
    }
    reader
        .finish(text.ends_with('\n'))
        .map_err(|problem| match number {
            0 => FileProblem::Empty.of(name),
            _ => FormatError::at(Path::new(name), number, problem),
        })
}

/// Exceeds the depth of any recursion in a file, because callgrind distinguishes only two depths.
const DEEPEST: u128 = 1 << 10;

/// Compressed names. The first use has the number and the whole name, and later uses only the
/// number.
#[derive(Default)]
struct Names(HashMap<u64, String>);

impl Names {
    /// Reads `(number) name`, `(number)`, or a name without a number, and returns the name.
    fn read(&mut self, text: &str) -> Result<String, String> {
        let Some(rest) = text.strip_prefix('(') else {
            return Ok(text.to_owned());
        };
        let numbered = rest
            .split_once(')')
            .and_then(|(number, name)| Some((number.parse().ok()?, name.trim_start())));
        let Some((number, name)) = numbered else {
            // A name in parentheses without a number, for example `(below main)`.
            return Ok(text.to_owned());
        };
        if name.is_empty() {
            let known = self.0.get(&number).cloned();
            return known.ok_or_else(|| {
                format!("the name number ({number}) is used before its definition")
            });
        }
        self.0.insert(number, name.to_owned());
        Ok(name.to_owned())
    }
}

/// A call. Its cost is in the next line.
struct Call {
    caller: String,
    callee: String,
}

#[derive(Default)]
struct Reader {
    files: Names,
    objects: Names,
    functions: Names,
    /// The number of positions, such as addresses and line numbers, before the costs in a line.
    positions: Option<usize>,
    /// The index of instructions among the costs of a line.
    event: Option<usize>,
    object: String,
    /// The file name of the program itself. It may differ between the sides, so names of functions
    /// contain `program` instead.
    program: String,
    /// The file that contains the current function (`fl=`).
    home: String,
    /// The file of the lines that follow, which differs from `home` in inlined code (`fi=`, `fe=`).
    file: String,
    function: Option<String>,
    called_object: Option<String>,
    callee: Option<String>,
    call: Option<Call>,
    /// True if the next line is the source of a jump, which has no cost.
    jumped: bool,
    profile: Profile,
    /// The sum of the totals in the parts.
    stated: Option<u64>,
    /// True between the totals of a part and the beginning of the next part.
    over: bool,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        if line.starts_with(|c: char| c.is_ascii_digit() || "+-*".contains(c)) {
            return self.cost(line);
        }
        let colon = line.split_once(':');
        if let Some((key, value)) = colon.filter(|(key, _)| !key.contains('=')) {
            return self.header(key, value.trim());
        }
        match line.split_once('=') {
            Some((key, value)) => self.specification(key, value.trim()),
            None => Err(format!(
                "'{}' is not a line of callgrind output",
                shown(line)
            )),
        }
    }

    fn header(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "positions" => self.positions = Some(value.split_whitespace().count()),
            "events" => {
                let place = value
                    .split_whitespace()
                    .position(|event| event == INSTRUCTIONS);
                let place = place.ok_or_else(|| {
                    format!(
                        "the file counts '{}' but not instructions (Ir)",
                        shown(value)
                    )
                })?;
                self.event = Some(place);
            }
            "totals" => {
                let total = self.counted(value.split_whitespace())?;
                self.stated = Some(added(self.stated.unwrap_or_default(), total)?);
                self.over = true;
            }
            "part" => self.over = false,
            "cmd" => {
                let word = value.split_whitespace().next().unwrap_or_default();
                self.program = base(word).to_owned();
            }
            _ => {}
        }
        Ok(())
    }

    fn specification(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "ob" => self.object = self.objects.read(value)?,
            "fl" => {
                self.home = self.files.read(value)?;
                self.file.clone_from(&self.home);
            }
            "fi" | "fe" => self.file = self.files.read(value)?,
            "fn" => {
                let name = self.functions.read(value)?;
                self.function = Some(self.named(&name, &self.object));
                self.file.clone_from(&self.home);
            }
            "cob" => self.called_object = Some(self.objects.read(value)?),
            "cfi" | "cfl" | "jfi" => {
                self.files.read(value)?;
            }
            "jfn" => {
                self.functions.read(value)?;
            }
            "cfn" => {
                let name = self.functions.read(value)?;
                let object = self.called_object.take();
                let object = object.as_ref().unwrap_or(&self.object);
                self.callee = Some(self.named(&name, object));
            }
            "calls" => {
                let callee = self
                    .callee
                    .take()
                    .ok_or("calls= without a preceding cfn=")?;
                let caller = self
                    .function
                    .clone()
                    .ok_or("calls= outside of a function")?;
                self.call = Some(Call { caller, callee });
            }
            "jump" | "jcnd" => self.jumped = true,
            _ => {
                return Err(format!(
                    "'{}=' is not a key of callgrind output",
                    shown(key)
                ));
            }
        }
        Ok(())
    }

    /// Returns the stable name of a function in an object, as [`function`] does.
    fn named(&self, name: &str, object: &str) -> String {
        match base(object) {
            file if file == self.program => function(name, "program"),
            file => function(name, file),
        }
    }

    fn cost(&mut self, line: &str) -> Result<(), String> {
        let positions = self.positions.unwrap_or(1);
        let mut words = line.split_whitespace();
        for position in words.by_ref().take(positions) {
            let digits = position.trim_start_matches(['+', '-']);
            let number = digits.strip_prefix("0x").map_or_else(
                || digits.parse().ok(),
                |hexadecimal| u64::from_str_radix(hexadecimal, 16).ok(),
            );
            if position != "*" && number.is_none() {
                return Err(format!("'{}' is not a position", shown(position)));
            }
        }
        if std::mem::take(&mut self.jumped) {
            return Ok(());
        }
        let cost = self.counted(words)?;
        if let Some(Call { caller, callee }) = self.call.take() {
            let calls = self.profile.calls.entry((caller, callee)).or_default();
            *calls = added(*calls, cost)?;
            return Ok(());
        }
        let function = self
            .function
            .clone()
            .ok_or("a cost outside of a function")?;
        let known = |file: &str| file != "???" && !file.is_empty();
        let inlined = self.file != self.home && known(&self.file) && known(&self.home);
        let place = Place {
            function,
            inlined: inlined.then(|| short(&self.file)),
        };
        let own = self.profile.own.entry(place).or_default();
        *own = added(*own, cost)?;
        self.profile.total = added(self.profile.total, cost)?;
        Ok(())
    }

    /// Returns the instructions among the counts of a line. callgrind omits counts of 0 at the end.
    fn counted<'a>(&self, mut counts: impl Iterator<Item = &'a str>) -> Result<u64, String> {
        let event = self.event.ok_or("a cost before the events are named")?;
        match counts.nth(event) {
            None => Ok(0),
            Some(count) => count
                .parse()
                .map_err(|_| format!("'{}' is not a count", shown(count))),
        }
    }

    fn finish(self, whole: bool) -> Result<Profile, String> {
        let Some(stated) = self.stated.filter(|_| self.over && whole) else {
            return Err("the file ends before its totals, so it was cut off".to_owned());
        };
        let total = self.profile.total;
        if stated != total {
            return Err(format!(
                "the totals of the file are {stated} instructions, but its lines sum up to {total}"
            ));
        }
        Ok(self.profile)
    }
}

fn added(sum: u64, count: u64) -> Result<u64, String> {
    sum.checked_add(count)
        .ok_or_else(|| "the counts are too large to be added".to_owned())
}

/// Returns the beginning of a word, for an error message.
pub(crate) fn shown(word: &str) -> String {
    word.chars().take(40).collect()
}

/// Returns the name of a function without the parts that differ from build to build: the hash of a
/// Rust symbol and LLVM's number of a copy. A nameless function gets the name of its object in
/// brackets, and a number that combines its address with the recursion depth, because each such
/// function has its own callers. `(below main)` also gets the name of its object, because callgrind
/// uses that name for several functions.
pub(crate) fn function(name: &str, object: &str) -> String {
    let plain = without_depth(name);
    let depth = &name[plain.len()..];
    let address = plain
        .strip_prefix("0x")
        .and_then(|address| u64::from_str_radix(address, 16).ok());
    if address.is_some() || ["???", "", "(below main)"].contains(&plain) {
        let object = match object {
            "" | "???" => "unknown",
            file => file,
        };
        // Distinguished like recursion depths, because each of these functions has its own callers.
        let depth: u128 = depth.trim_start_matches('\'').parse().unwrap_or_default();
        return match address.map_or(0, u128::from) * DEEPEST + depth % DEEPEST {
            0 => format!("[{object}]"),
            number => format!("[{object}]'{number}"),
        };
    }
    let is_number = |text: &str| text.bytes().all(|c| c.is_ascii_digit());
    let copy = plain
        .rsplit_once(".llvm.")
        .filter(|(_, copy)| is_number(copy));
    let plain = copy.map_or(plain, |(plain, _)| plain);
    let hash = plain
        .rsplit_once("::h")
        .filter(|(_, hash)| hash.len() == 16 && hash.bytes().all(|c| c.is_ascii_hexdigit()));
    let plain = hash.map_or(plain, |(plain, _)| plain);
    format!("{plain}{depth}")
}

pub(crate) fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// Returns the name of a file with its last folder, because the folders above differ between
/// builds.
fn short(file: &str) -> String {
    let mut parts = file.rsplit('/').filter(|part| !part.is_empty());
    match (parts.next(), parts.next()) {
        (Some(name), Some(folder)) => format!("{folder}/{name}"),
        _ => file.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEAD: &str = "# callgrind format\nversion: 1\npositions: line\nevents: Ir\n";

    fn read(body: &str) -> Result<Profile, String> {
        let read = read_callgrind("dump.7", &format!("{HEAD}{body}"));
        read.map_err(|error| error.to_string())
    }

    fn own(profile: &Profile, function: &str) -> u64 {
        let own = profile.own.iter();
        let of_it = own.filter(|(place, _)| place.function == function);
        of_it.map(|(_, cost)| cost).sum()
    }

    #[test]
    fn names_stand_once_and_a_recursion_keeps_its_depth() {
        let profile = read(
            "ob=(1) /bin/a\nfl=(1) a.c\nfn=(1) rec\n1 5\ncfn=(2) rec'2\ncalls=1 1\n+1 9\n\n\
             fn=(2)\n* 4\ncfn=(3) leaf\ncalls=2 7\n* 5\nfn=(3)\n0x7 5\ntotals: 14\n",
        )
        .unwrap();
        assert_eq!(profile.total, 14);
        assert_eq!((own(&profile, "rec"), own(&profile, "leaf")), (5, 5));
        let call = |caller: &str, callee: &str| (caller.to_owned(), callee.to_owned());
        assert_eq!(profile.calls[&call("rec'2", "leaf")], 5);
        assert_eq!(profile.calls[&call("rec", "rec'2")], 9);
    }

    #[test]
    fn inlined_code_is_known_by_its_file_and_not_by_the_folder_of_the_build() {
        let profile = read(
            "fl=(1) /home/me/src/lib.rs\nfn=(1) sum\n1 2\nfi=(2) /rustc/abc/core/src/iter.rs\n9 30\n\
             fe=(1)\n2 1\nfn=(2) other\n3 1\ntotals: 34\n",
        )
        .unwrap();
        let place = |function: &str, inlined: Option<&str>| Place {
            function: function.to_owned(),
            inlined: inlined.map(str::to_owned),
        };
        assert_eq!(profile.own[&place("sum", Some("src/iter.rs"))], 30);
        assert_eq!(profile.own[&place("sum", None)], 3);
        assert_eq!(profile.own[&place("other", None)], 1);
    }

    #[test]
    fn what_differs_from_build_to_build_is_no_part_of_a_name() {
        for (name, known) in [
            ("a::b::h0123456789abcdef", "a::b"),
            ("a::b::h0123", "a::b::h0123"),
            ("a::b.llvm.1234", "a::b"),
            ("a::h0123456789abcdef'3", "a'3"),
            ("fn'a", "fn'a"),
            ("(below main)", "[libc.so.6]"),
            ("0x0000000000000012", "[libc.so.6]'18432"),
            ("0x0000000000000012'2", "[libc.so.6]'18434"),
            ("???", "[libc.so.6]"),
        ] {
            assert_eq!(function(name, "libc.so.6"), known);
        }
        assert_eq!(function("???", "???"), "[unknown]");
    }

    #[test]
    fn unnamed_functions_of_the_program_pair_whatever_its_file_is_called() {
        let profile = read(
            "cmd:  ./old 7\nob=/bin/old\nfn=0x12\n1 3\nob=/lib/libm.so\nfn=???\n1 2\ntotals: 5\n",
        );
        let profile = profile.unwrap();
        assert_eq!(
            (own(&profile, "[program]'18432"), own(&profile, "[libm.so]")),
            (3, 2)
        );
    }

    #[test]
    fn parts_of_one_file_add_up_and_jumps_cost_nothing() {
        let profile = read(
            "part: 1\nfn=(1) f\njcnd=1/2 5\n4\n1 2\ntotals: 2\n\npart: 2\nfn=(1)\n* 3\ntotals: 3\n",
        )
        .unwrap();
        assert_eq!((profile.total, own(&profile, "f")), (5, 5));
    }

    #[test]
    fn several_events_and_positions_are_told_apart() {
        let text = "positions: instr line\nevents: Dr Ir Dw\nfn=(1) f\n0x1f +3 7 8 9\n* * 1\n\
                    totals: 8 8 9\n";
        let profile = read_callgrind("dump", text).unwrap();
        assert_eq!(profile.total, 8);
    }

    #[test]
    fn damage_is_told_with_its_line() {
        for (body, told) in [
            (
                "",
                "dump.7:4: the file ends before its totals, so it was cut off",
            ),
            (
                "fn=(1) f\n1 2\n",
                "dump.7:6: the file ends before its totals, so it was cut off",
            ),
            (
                "fn=(1) f\n1 2\ntotals: 2",
                "dump.7:7: the file ends before its totals, so it was cut off",
            ),
            (
                "fn=(1) f\n1 2\ntotals: 3\n",
                "dump.7:7: the totals of the file are 3 instructions, but its lines sum up to 2",
            ),
            (
                "fn=(9)\n",
                "dump.7:5: the name number (9) is used before its definition",
            ),
            ("1 2\n", "dump.7:5: a cost outside of a function"),
            (
                "fn=f\ncalls=1 2\n",
                "dump.7:6: calls= without a preceding cfn=",
            ),
            (
                "fn=f\nx 2\n",
                "dump.7:6: 'x 2' is not a line of callgrind output",
            ),
            ("fn=f\n1 two\n", "dump.7:6: 'two' is not a count"),
            ("fn=f\n+a 2\n", "dump.7:6: '+a' is not a position"),
            (
                "fn=f\n1 18446744073709551615\n1 1\n",
                "dump.7:7: the counts are too large to be added",
            ),
            ("gn=f\n", "dump.7:5: 'gn=' is not a key of callgrind output"),
            (
                "events: Dr\n",
                "dump.7:5: the file counts 'Dr' but not instructions (Ir)",
            ),
        ] {
            assert_eq!(read(body).unwrap_err(), told, "{body}");
        }
        let empty = read_callgrind("dump.7", "").unwrap_err().to_string();
        assert!(empty.starts_with("dump.7 is empty\nhelp: "), "{empty}");
    }

    proptest! {
        #[test]
        fn whatever_is_written_is_read_or_refused(text in "([a-z]{1,6}[=:]? ?)?[()0-9a-f*+ x\n-]{0,40}\n?") {
            let _ = read(&text);
            let _ = read_callgrind("dump", &text);
        }

        #[test]
        fn counts_that_are_written_are_read(
            costs in proptest::collection::vec((0_usize..5, 0_u64..1000), 0..40)
        ) {
            let mut body = String::new();
            let mut expected = [0; 5];
            let mut seen = [false; 5];
            for (function, cost) in &costs {
                let name = if seen[*function] { String::new() } else { format!(" f{function}") };
                seen[*function] = true;
                body += &format!("fn=({function}){name}\n+1 {cost}\n");
                expected[*function] += cost;
            }
            body += &format!("totals: {}\n", expected.iter().sum::<u64>());
            let profile = read(&body).unwrap();
            for (function, cost) in expected.iter().enumerate() {
                prop_assert_eq!(own(&profile, &format!("f{function}")), *cost);
            }
        }
    }
}
