//! Extracts numbers from the output of commands, and checks if they can be raced.

use deadheat_model::{Json, Value};
use regex_lite::{Regex, RegexBuilder};

use crate::valgrind::COUNTED_PATTERN;

/// Finds one value in a text.
#[derive(Clone, Debug)]
pub struct ValueReader {
    name: String,
    place: Place,
    /// True if zero is accepted. Judged values must be above zero, because the race compares
    /// ratios.
    zero: bool,
}

#[derive(Clone, Debug)]
enum Place {
    Pattern {
        /// The pattern directly after `NAME=`.
        behind_name: Regex,
        anywhere: Regex,
    },
    /// callgrind's counts, one for each process of a launch, which are added up.
    Counts(Regex),
    /// A JSON pointer, as the steps from the root.
    Pointer { text: String, steps: Vec<String> },
}

impl ValueReader {
    /// Creates the reader of a value. Returns an error message if the pattern is invalid.
    pub fn new(value: &Value, is_judged: bool) -> Result<Self, String> {
        let (name, pattern) = (value.metric.name(), &value.pattern);
        let place = match pattern.strip_prefix('/') {
            Some(steps) => Place::Pointer {
                text: pattern.clone(),
                // In "~01", the digit 1 is not part of an escape (RFC 6901).
                steps: steps
                    .split('/')
                    .map(|step| step.replace("~1", "/").replace("~0", "~"))
                    .collect(),
            },
            None if pattern == COUNTED_PATTERN => {
                Place::Counts(Regex::new(pattern).expect("a pattern of ours"))
            }
            None => {
                let regex = |text: &str| {
                    RegexBuilder::new(text)
                        .multi_line(true)
                        .crlf(true)
                        .build()
                        .map_err(|error| {
                            format!("'{pattern}' is not a regular expression: {error}")
                        })
                };
                Place::Pattern {
                    anywhere: regex(pattern)?,
                    behind_name: regex(&format!("{}=(?:{pattern})", regex_lite::escape(name)))?,
                }
            }
        };
        Ok(Self {
            name: name.to_owned(),
            place,
            zero: !is_judged,
        })
    }

    /// Returns the name of the value.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns true if the value is found by a JSON pointer.
    pub fn is_pointer(&self) -> bool {
        matches!(self.place, Place::Pointer { .. })
    }

    /// Finds the value in a text. The error message says why it is missing or cannot be raced.
    ///
    /// The pattern must match exactly once. A value must be a finite number that Rust can parse and
    /// not negative; if it is judged, it must be above zero.
    pub fn read(&self, printed: &str) -> Result<f64, String> {
        let number = match &self.place {
            Place::Pattern {
                behind_name,
                anywhere,
            } => {
                // Searching for a text is faster than for a pattern.
                let found = if printed.contains(&format!("{}=", self.name)) {
                    only_match(behind_name, printed)?
                } else {
                    None
                };
                let found = match found {
                    Some(text) => Some(text),
                    None => only_match(anywhere, printed)?,
                };
                number(found.ok_or_else(|| format!("nothing matches '{anywhere}'"))?)?
            }
            Place::Counts(pattern) => {
                let counts = pattern.captures_iter(printed);
                let counts = counts.map(|one| number(one.get(1).map_or("", |text| text.as_str())));
                counts.sum::<Result<f64, String>>()?
            }
            Place::Pointer { text, steps } => pointed_at(printed, text, steps)?,
        };
        // Turns a negative zero into zero.
        let number = number + 0.0;
        if number > 0.0 || self.zero && number == 0.0 {
            return Ok(number);
        }
        Err(format!(
            "{number} is not {}",
            if self.zero {
                "a value that deadheat can race, because it is negative"
            } else {
                "above zero, so deadheat cannot compute a change, which is a ratio"
            }
        ))
    }
}

/// Returns the first group of the only match, or the whole match if the pattern has no group;
/// `None` without a match.
fn only_match<'t>(pattern: &Regex, text: &'t str) -> Result<Option<&'t str>, String> {
    let group = usize::from(pattern.captures_len() > 1);
    // A pattern that can match an empty text, such as `.*`, also matches at the end of the previous
    // match.
    let is_empty = |found: &regex_lite::Match<'_>| found.is_empty();
    let matches = pattern.captures_iter(text);
    let mut matches = matches.filter(|one| !one.get(group).as_ref().is_some_and(is_empty));
    let Some(first) = matches.next() else {
        return Ok(None);
    };
    let Some(found) = first.get(group) else {
        return Err(format!(
            "the first group of '{pattern}' is not in the match"
        ));
    };
    let others = matches.count();
    if others > 0 {
        return Err(format!(
            "'{pattern}' matches {} times, first {}, but it must match exactly once",
            others + 1,
            quoted(found.as_str()),
        ));
    }
    Ok(Some(found.as_str()))
}

fn number(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>();
    number
        .ok()
        .filter(|number| number.is_finite())
        .ok_or_else(|| format!("{} is not a finite number", quoted(text)))
}

/// Returns the number in a JSON document to which the steps of a JSON pointer lead.
fn pointed_at(printed: &str, pointer: &str, steps: &[String]) -> Result<f64, String> {
    let all = Json::read(printed).map_err(|error| format!("the text is not JSON: {error}"))?;
    let mut found = &all;
    for step in steps {
        let next = match found {
            Json::Object(object) => object.get(step),
            Json::List(values) | Json::Row(values) => index(step).and_then(|at| values.get(at)),
            _ => None,
        };
        found = next.ok_or_else(|| format!("there is no {pointer}: '{step}' is missing"))?;
    }
    match found {
        Json::Text(text) => number(text),
        _ => match found.as_number() {
            Some(found) if found.is_finite() => Ok(found),
            _ => Err(format!(
                "{} at {pointer} is not a finite number",
                quoted(&found.to_string())
            )),
        },
    }
}

/// Parses a step of a JSON pointer as an index: digits without leading zeros.
fn index(step: &str) -> Option<usize> {
    let plain = step.bytes().all(|byte| byte.is_ascii_digit());
    let leading = step.len() > 1 && step.starts_with('0');
    step.parse().ok().filter(|_| plain && !leading)
}

fn quoted(text: &str) -> String {
    let text = super::command_launch::outline(text.trim());
    if text.is_empty() {
        "\"\"".to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_model::{Better, Metric};
    use proptest::prelude::*;

    fn reader(name: &str, pattern: &str) -> ValueReader {
        let value = Value {
            metric: Metric::named(name, Better::More),
            pattern: pattern.to_owned(),
        };
        ValueReader::new(&value, true).unwrap()
    }

    fn read(name: &str, pattern: &str, printed: &str) -> Result<f64, String> {
        reader(name, pattern).read(printed)
    }

    #[test]
    fn a_number_stands_in_the_first_group_or_is_the_whole_match() {
        assert_eq!(
            read(
                "rps",
                r"Requests/sec: +([0-9.]+)",
                "x 3\nRequests/sec:  12.5\n"
            ),
            Ok(12.5)
        );
        assert_eq!(read("rps", r"[0-9]+", "all 17 of them"), Ok(17.0));
        assert_eq!(read("t", r"took (\S+) s", "took 1.5e-3 s"), Ok(0.0015));
    }

    #[test]
    fn what_stands_behind_the_name_goes_before_what_matches_elsewhere() {
        let printed = "8 threads, 10 s\nrequests/s=1234.5\n";
        assert_eq!(read("requests/s", "([0-9.]+)", printed), Ok(1234.5));
        assert_eq!(
            read("requests/s", "([0-9.]+)", "1234.5 requests/s"),
            Ok(1234.5)
        );
    }

    #[test]
    fn several_matches_are_none() {
        let told = read("n", "n ([0-9]+)", "n 1\nn 2\n").unwrap_err();
        assert!(told.contains("matches 2 times, first \"1\""), "{told}");
        assert!(
            read("n", "[0-9]+", "n=1 n=2 3")
                .unwrap_err()
                .contains("2 times")
        );
        assert_eq!(read("n", "(?s).*n ([0-9]+)", "n 1\nn 2\n"), Ok(2.0));
    }

    #[test]
    fn empty_matches_do_not_count_and_anchors_are_those_of_lines() {
        for (pattern, printed) in [
            ("(.*)", "5\n"),
            ("(.*)", "\n5\n\n"),
            ("([0-9]*)", "5 ms\n"),
            ("[0-9]*", "took 5 ms"),
            ("^(.*)$", "5\n"),
            ("^([0-9]+)$", "took\n5\nms\n"),
            ("^([0-9]+)$", "took\r\n5\r\nms\r\n"),
            ("(?:n ([0-9]*))", "n \nn 5"),
            ("^took ([0-9]+) ms$", "a took 4 ms\ntook 5 ms\n"),
        ] {
            assert_eq!(
                read("n", pattern, printed),
                Ok(5.0),
                "{pattern} in {printed:?}"
            );
        }
        assert_eq!(
            read("n", "^([0-9]+)$", "n=5"),
            Err("nothing matches '^([0-9]+)$'".to_owned())
        );
        let told = read("n", "^([0-9]+)$", "5\n6\n").unwrap_err();
        assert!(told.contains("matches 2 times"), "{told}");
        let told = read("n", "x*", "yyy").unwrap_err();
        assert!(told.contains("nothing matches"), "{told}");
    }

    #[test]
    fn what_is_no_number_or_none_to_race_by_is_refused_and_shown() {
        for (printed, expected) in [
            ("", "nothing matches"),
            ("v: 1,5", "\"1,5\" is not a finite number"),
            ("v: 1.2.3", "\"1.2.3\" is not a finite number"),
            ("v: nan", "\"nan\" is not a finite number"),
            ("v: inf", "not a finite number"),
            ("v: 1e999", "not a finite number"),
            ("v: 0", "0 is not above zero"),
            ("v: -0.0", "0 is not above zero"),
            ("v: -3", "-3 is not above zero"),
        ] {
            let told = read("v", r"v: (\S+)", printed).unwrap_err();
            assert!(told.contains(expected), "{printed}: {told}");
        }
        assert!(read("v", "a|(b)", "a").unwrap_err().contains("first group"));
    }

    #[test]
    fn zero_is_a_value_where_it_is_not_judged() {
        let value = Value {
            metric: Metric::Custom("errors".to_owned()),
            pattern: "[-0-9]+".to_owned(),
        };
        let reader = ValueReader::new(&value, false).unwrap();
        assert_eq!(reader.read("0"), Ok(0.0));
        assert!(reader.read("-1").unwrap_err().contains("negative"));
    }

    #[test]
    fn a_json_pointer_leads_to_a_number() {
        let printed = r#"{"a/b": [1, {"~": "2.5"}], "": 3, "no": null}"#;
        assert_eq!(read("v", "/a~1b/0", printed), Ok(1.0));
        assert_eq!(read("v", "/a~1b/1/~0", printed), Ok(2.5));
        assert_eq!(read("v", "/", printed), Ok(3.0));
        for (pointer, expected) in [
            ("/a~1b/2", "'2' is missing"),
            ("/a~1b/00", "'00' is missing"),
            ("/a~1b/-", "'-' is missing"),
            ("/no", "\"null\" at /no is not a finite number"),
            ("/no/x", "'x' is missing"),
        ] {
            let told = read("v", pointer, printed).unwrap_err();
            assert!(told.contains(expected), "{pointer}: {told}");
        }
        assert!(read("v", "/huge", r#"{"huge": 1e999}"#).is_err());
        assert!(
            read("v", "/x", "all is well {}")
                .unwrap_err()
                .contains("not JSON")
        );
    }

    #[test]
    fn a_pattern_that_cannot_be_searched_for_is_refused() {
        let value = Value {
            metric: Metric::Custom("v".to_owned()),
            pattern: "([0-9]".to_owned(),
        };
        let told = ValueReader::new(&value, true).unwrap_err();
        assert!(
            told.contains("'([0-9]' is not a regular expression"),
            "{told}"
        );
    }

    proptest! {
        #[test]
        fn every_positive_number_is_read_to_the_last_bit(bits: u64, before in "[^=]*", after in "\n.*") {
            let number = f64::from_bits(bits).abs();
            prop_assume!(number.is_finite() && number > 0.0);
            let printed = format!("{before}\nv={number:?}{after}");
            prop_assume!(printed.matches("v=").count() == 1);
            prop_assert_eq!(read("v", r"(\S+)", &printed), Ok(number));
            prop_assert_eq!(read("v", "/v", &format!("{{\"v\": {number:?}}}")), Ok(number));
        }

        #[test]
        fn whatever_is_printed_gives_a_number_above_zero_or_an_error(
            printed: String,
            pattern in prop::sample::select(vec![r"(\S*)", "/", "(.*)", "[0-9]+", "(a)?", "/a/0"]),
        ) {
            if let Ok(number) = read("v", pattern, &printed) {
                prop_assert!(number > 0.0 && number.is_finite());
            }
        }
    }
}
