//! Parameter sweeps: `{name}` in commands, hooks and names.

use crate::exit::Failure;

/// A parameter of a sweep, with its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name between the braces.
    pub name: String,
    /// The values, in order.
    pub values: Vec<String>,
}

const MOST_VALUES: u64 = 10_000;

impl Parameter {
    /// Parses `-L NAME a,b,c`. A comma within a value is written `\,`.
    pub fn list(name: &str, values: &str) -> Result<Self, Failure> {
        const FLAG: &str = "--parameter-list";
        let name = checked_name(FLAG, name)?;
        let mut split = Vec::new();
        let mut value = String::new();
        let mut chars = values.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\\' if chars.next_if_eq(&',').is_some() => value.push(','),
                ',' => split.push(std::mem::take(&mut value)),
                c => value.push(c),
            }
        }
        split.push(value);
        if values.is_empty() {
            return usage(format!("{FLAG} {name}: the parameter has no values"));
        }
        // The user forgot the values, so the next option was read as values.
        let is_option = values.starts_with('-') && !values.contains(',');
        if is_option && values[1..].starts_with(|c: char| c == '-' || c.is_ascii_alphabetic()) {
            return usage(format!(
                "{FLAG} {name}: '{values}' is an option, not a list of values\nhelp: name the \
                 values: \
                 -L {name} 1,2"
            ));
        }
        // The user forgot the values, so the first command was read as values.
        if values.contains(&format!("{{{name}}}")) {
            return usage(format!(
                "{FLAG} {name}: its values '{values}' contain {{{name}}} itself\nhelp: name the \
                 values before the commands: -L {name} 1,2 '{values}'"
            ));
        }
        Ok(Self {
            name,
            values: split,
        })
    }

    pub(super) fn hints(&self, texts: &[&String]) -> Vec<String> {
        let Self { name, values } = self;
        let mut hints = Vec::new();
        let mut again: Vec<String> = Vec::new();
        for (place, value) in values.iter().enumerate() {
            let value_text = format!("'{value}'");
            if values[..place].contains(value) && !again.contains(&value_text) {
                again.push(value_text);
            }
        }
        if !again.is_empty() {
            let again = again.join(", ");
            hints.push(format!(
                "the parameter '{name}' has the values {again} more than once, so they race more \
                 than once"
            ));
        }
        let place = format!("{{{name}}}");
        if !texts.iter().any(|text| text.contains(&place)) {
            hints.push(format!(
                "no command and no hook contains {place}, so all its values race the same commands"
            ));
        }
        hints
    }

    /// Parses `-P NAME MIN MAX` with an optional step, 1 by default. The values keep leading zeros,
    /// and have as many decimals as the most precise of `min`, `max` and `step`.
    pub fn scan(name: &str, min: &str, max: &str, step: Option<&str>) -> Result<Self, Failure> {
        const FLAG: &str = "--parameter-scan";
        let name = checked_name(FLAG, name)?;
        let step = step.unwrap_or("1");
        let decimals = [min, max, step]
            .iter()
            .map(|text| {
                text.split_once('.')
                    .map_or(0, |(_, decimals)| decimals.len())
            })
            .max()
            .unwrap_or(0)
            .min(9);
        // The scan counts in integer units of the last decimal, because 0.1 + 0.1 + 0.1 must be
        // exactly 0.3.
        let units = |text: &str| {
            in_units(text, decimals).ok_or_else(|| {
                let problem = match text.parse::<f64>() {
                    Ok(number) if !number.is_nan() => "too large to count in steps",
                    _ => "not a number",
                };
                Failure::Usage(format!("{FLAG} {name}: '{text}' is {problem}"))
            })
        };
        let (from, to, by) = (units(min)?, units(max)?, units(step)?);
        if by == 0 || (to - from).signum() * by.signum() < 0 {
            let advice = match (by, to < from) {
                (0, _) => "write a step above zero (-D)",
                (_, true) => "a scan downwards needs a step below zero (-D)",
                (_, false) => "a scan upwards needs a step above zero (-D)",
            };
            return usage(format!(
                "{FLAG} {name}: steps of {step} from {min} to {max} give no values\nhelp: {advice}"
            ));
        }
        let count =
            u64::try_from((to - from) / by).map_or(u64::MAX, |steps| steps.saturating_add(1));
        refuse_too_many(FLAG, &name, count)?;
        let width = padded_width([min, max]);
        let scale = 10_i128.pow(decimals as u32);
        let values = (0..count)
            .map(|index| {
                let value = from + i128::from(index) * by;
                let sign = if value < 0 { "-" } else { "" };
                let (whole, rest) = (value.abs() / scale, value.abs() % scale);
                match decimals {
                    0 => format!("{sign}{whole:0width$}"),
                    _ => format!("{sign}{whole:0width$}.{rest:0decimals$}"),
                }
            })
            .collect();
        Ok(Self { name, values })
    }
}

/// Returns the minimum number of digits before the decimal point. If a bound has leading zeros,
/// this is the number of digits of the longer bound, otherwise 1.
fn padded_width(bounds: [&str; 2]) -> usize {
    let whole = bounds.map(|text| {
        let digits = text.trim_start_matches(['+', '-']);
        &digits[..digits
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(digits.len())]
    });
    let is_padded = whole
        .iter()
        .any(|digits| digits.len() > 1 && digits.starts_with('0'));
    if is_padded {
        whole.iter().map(|digits| digits.len()).max().unwrap_or(1)
    } else {
        1
    }
}

/// Parses a number and returns it as an integer in units of its last decimal, rounded: 1.5 with two
/// decimals is 150. `None` if the text is not a number, or if the number is too large.
fn in_units(text: &str, decimals: usize) -> Option<i128> {
    /// Maximum length of a number in characters, including decimals and sign.
    const LONGEST: usize = 31;
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let digits = whole.strip_prefix(['+', '-']).unwrap_or(whole);
    let are_digits = |part: &str| part.bytes().all(|c| c.is_ascii_digit());
    if !digits.is_empty() && are_digits(digits) && are_digits(rest) && rest.len() <= decimals {
        let padded = format!("{whole}{rest:0<decimals$}");
        let units = padded.parse().ok();
        return units.filter(|_| padded.len() <= LONGEST);
    }
    // The number has an exponent, or more than `decimals` decimals.
    let number: f64 = text.parse().ok()?;
    let units = (number * 10f64.powi(decimals as i32)).round();
    (units.abs() < 1e15).then_some(units as i128)
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

fn checked_name(flag: &'static str, name: &str) -> Result<String, Failure> {
    if is_name(name) {
        Ok(name.to_owned())
    } else {
        usage(format!(
            "{flag}: '{name}' is not a parameter name\nhelp: use letters, digits and _, not \
             starting with a \
             digit"
        ))
    }
}

fn refuse_too_many(flag: &str, name: &str, count: u64) -> Result<(), Failure> {
    if count <= MOST_VALUES {
        return Ok(());
    }
    usage(format!(
        "{flag} {name}: {count} values are more than the {MOST_VALUES} a sweep may have"
    ))
}

pub(super) fn usage<T>(message: String) -> Result<T, Failure> {
    Err(Failure::Usage(message))
}

/// Returns every combination of the parameters' values. The last parameter changes fastest. Without
/// parameters, there is a single empty combination.
pub fn combinations(parameters: &[Parameter]) -> Result<Vec<Vec<(String, String)>>, Failure> {
    let mut all = vec![Vec::new()];
    for (index, parameter) in parameters.iter().enumerate() {
        if parameters[..index]
            .iter()
            .any(|earlier| earlier.name == parameter.name)
        {
            let name = &parameter.name;
            return usage(format!("the parameter '{name}' is given twice"));
        }
        let count = all.len() as u64 * parameter.values.len() as u64;
        refuse_too_many("--parameter-list", &parameter.name, count)?;
        all = all
            .iter()
            .flat_map(|some| {
                parameter.values.iter().map(move |value| {
                    let mut with = some.clone();
                    with.push((parameter.name.clone(), value.clone()));
                    with
                })
            })
            .collect();
    }
    Ok(all)
}

/// Replaces the placeholders `{name}` in `text` by the values of the parameters.
///
/// Without parameters, braces are plain text, so that `jq '{name}'` works. With parameters, an
/// unknown `{name}` is an error, `{{name}}` means the text `{name}`, and `${name}` stays unchanged
/// for the shell.
pub(super) fn substitute(
    place: &'static str,
    text: &str,
    values: &[(String, String)],
) -> Result<String, Failure> {
    if values.is_empty() {
        return Ok(text.to_owned());
    }
    let value_of = |name: &str| {
        values
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, v)| v)
    };
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let (before, from) = rest.split_at(open);
        filled.push_str(before);
        let name = from[1..]
            .split('}')
            .next()
            .filter(|name| name.len() + 1 < from.len() && is_name(name));
        let doubled = from[1..]
            .strip_prefix('{')
            .and_then(|inner| inner.split_once("}}"))
            .filter(|(name, _)| is_name(name) && value_of(name).is_none());
        if let Some((name, after)) = doubled {
            filled.push_str(&format!("{{{name}}}"));
            rest = after;
        } else if let Some(name) = name {
            let after = &from[name.len() + 2..];
            match value_of(name) {
                Some(value) => filled.push_str(value),
                None if before.ends_with('$') => filled.push_str(&from[..name.len() + 2]),
                None => {
                    let near = similar(name, values);
                    let near = near.map(|near| format!(" (did you mean {{{near}}}?)"));
                    return usage(format!(
                        "{place} '{text}': no -L or -P defines {{{name}}}{}\nhelp: write \
                         {{{{{name}}}}} for plain braces",
                        near.unwrap_or_default()
                    ));
                }
            }
            rest = after;
        } else {
            filled.push('{');
            rest = &from[1..];
        }
    }
    filled.push_str(rest);
    Ok(filled)
}

/// Returns the name of a parameter that differs from `name` only in case or in one letter.
fn similar(name: &str, values: &[(String, String)]) -> Option<String> {
    let one_apart = |a: &str, b: &str| {
        let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
        let head = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
        let most = a.len().min(b.len()) - head;
        let tail = a
            .iter()
            .rev()
            .zip(b.iter().rev())
            .take(most)
            .take_while(|(x, y)| x == y)
            .count();
        a.len().max(b.len()) - head - tail <= 1
    };
    values
        .iter()
        .map(|(known, _)| known)
        .find(|known| known.eq_ignore_ascii_case(name) || one_apart(known, name))
        .or_else(|| {
            values
                .first()
                .map(|(known, _)| known)
                .filter(|_| values.len() == 1)
        })
        .cloned()
}

/// Returns the names between braces that look like placeholders, for a hint if no parameter is
/// defined.
pub(super) fn placeholders(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (open, _) in text.match_indices('{') {
        if text[..open].ends_with(['$', '{']) {
            continue;
        }
        if let Some((name, _)) = text[open + 1..].split_once('}')
            && is_name(name)
        {
            found.push(name.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_split_at_commas_that_are_not_escaped() {
        let parameter = Parameter::list("n", r"1,two\,three,").unwrap();
        assert_eq!(parameter.values, ["1", "two,three", ""]);
        assert!(Parameter::list("n", "").is_err());
        assert!(Parameter::list("1n", "x").is_err());
    }

    #[test]
    fn a_scan_reaches_its_end_and_keeps_its_decimals() {
        let scan = |min, max, step| Parameter::scan("d", min, max, step).map(|p| p.values);
        assert_eq!(scan("1", "3", None).unwrap(), ["1", "2", "3"]);
        assert_eq!(
            scan("0.3", "0.7", Some("0.2")).unwrap(),
            ["0.3", "0.5", "0.7"]
        );
        assert_eq!(
            scan("-0.1", "0.1", Some("0.1")).unwrap(),
            ["-0.1", "0.0", "0.1"]
        );
        assert_eq!(scan("0", "1", Some("0.25")).unwrap().len(), 5);
        assert_eq!(
            scan("-1.50", "1.5", Some("1.5")).unwrap(),
            ["-1.50", "0.00", "1.50"]
        );
        let far = "1000000000000000000";
        assert_eq!(scan("0", far, Some(far)).unwrap(), ["0", far]);
        assert_eq!(scan("1e3", "2e3", Some("1e3")).unwrap(), ["1000", "2000"]);
    }

    #[test]
    fn a_scan_may_go_downwards_and_keeps_leading_zeros() {
        let scan = |min, max, step| Parameter::scan("d", min, max, step).unwrap().values;
        assert_eq!(scan("10", "1", Some("-3")), ["10", "7", "4", "1"]);
        assert_eq!(scan("1", "0", Some("-0.5")), ["1.0", "0.5", "0.0"]);
        assert_eq!(scan("1", "-1", Some("-1")), ["1", "0", "-1"]);
        assert_eq!(scan("2", "2", Some("-1")), ["2"]);
        assert_eq!(scan("08", "10", None), ["08", "09", "10"]);
        assert_eq!(scan("1", "010", Some("9")), ["001", "010"]);
        assert_eq!(scan("-01", "1", None), ["-01", "00", "01"]);
        assert_eq!(scan("00.5", "10", Some("9.5")), ["00.5", "10.0"]);
        assert_eq!(scan("0", "10", Some("10")), ["0", "10"]);
        let told = |min, max, step| {
            Parameter::scan("d", min, max, step)
                .unwrap_err()
                .to_string()
        };
        assert!(told("3", "1", None).contains("needs a step below zero"));
        assert!(told("1", "3", Some("-1")).contains("needs a step above zero"));
        assert!(told("1", "3", Some("0")).contains("write a step above zero"));
    }

    #[test]
    fn a_scan_that_goes_nowhere_is_told() {
        for (min, max, step) in [
            ("3", "1", None),
            ("3", "1", Some("0.5")),
            ("1", "3", Some("0")),
            ("1", "1", Some("0")),
            ("1", "3", Some("-1")),
            ("a", "3", None),
        ] {
            assert!(
                Parameter::scan("d", min, max, step).is_err(),
                "{min} {max} {step:?}"
            );
        }
        assert!(Parameter::scan("d", "0", "100000", None).is_err());
        for (far, told) in [
            ("1e300", "too large to count"),
            (
                "1000000000000000000",
                "1000000000000000001 values are more than",
            ),
            ("99999999999999999999999999999999999", "too large to count"),
            ("--1", "is not a number"),
            ("nan", "is not a number"),
        ] {
            let error = Parameter::scan("d", "0", far, None)
                .unwrap_err()
                .to_string();
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn combinations_change_the_last_parameter_fastest() {
        let parameters = [
            Parameter::list("a", "1,2").unwrap(),
            Parameter::list("b", "x,y").unwrap(),
        ];
        let all = combinations(&parameters).unwrap();
        let text: Vec<String> = all
            .iter()
            .map(|some| format!("{}{}", some[0].1, some[1].1))
            .collect();
        assert_eq!(text, ["1x", "1y", "2x", "2y"]);
        let twice = [parameters[0].clone(), parameters[0].clone()];
        assert!(combinations(&twice).is_err());
    }

    fn values(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs
            .iter()
            .map(|(n, v)| (n.to_string(), v.to_string()))
            .collect()
    }

    #[test]
    fn values_are_filled_in_wherever_their_name_stands() {
        let values = values(&[("n", "5"), ("size", "10")]);
        let fill = |text| substitute("command", text, &values).unwrap();
        assert_eq!(fill("a {n} b{size}{n}"), "a 5 b105");
        assert_eq!(
            fill("awk '{print $1}' {} {a,b} ${HOME}"),
            "awk '{print $1}' {} {a,b} ${HOME}"
        );
        assert_eq!(fill("jq '{{user}}' {{n}}"), "jq '{user}' {5}");
        assert_eq!(fill("ünï {n} é{"), "ünï 5 é{");
    }

    #[test]
    fn an_unknown_name_is_an_error_with_the_nearest_known_one() {
        let error = substitute(
            "--prepare",
            "x {sise}",
            &values(&[("n", "1"), ("size", "2")]),
        );
        let text = error.unwrap_err().to_string();
        assert!(text.contains("--prepare 'x {sise}'"), "{text}");
        assert!(
            text.contains("defines {sise} (did you mean {size}?)"),
            "{text}"
        );
        assert!(text.contains("write {{sise}}"), "{text}");
    }

    #[test]
    fn without_parameters_braces_are_plain_text() {
        assert_eq!(
            substitute("command", "jq '{name}'", &[]).unwrap(),
            "jq '{name}'"
        );
        assert_eq!(placeholders("jq '{name}' ${HOME} {a b}"), ["name"]);
    }
}
