//! Parameter sweeps: `{name}` in commands, hooks and names.

/// A parameter and the values it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name that stands between braces.
    pub name: String,
    /// The values, in order.
    pub values: Vec<String>,
}

/// Reasons why parameters do not work out.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterError {
    /// A list without values.
    NoValues {
        /// The flag.
        flag: &'static str,
        /// The parameter.
        name: String,
    },
    /// A name that cannot stand between braces.
    BadName {
        /// The flag.
        flag: &'static str,
        /// The name.
        name: String,
    },
    /// The same name twice.
    Twice {
        /// The name.
        name: String,
    },
    /// A bound or step that is no number.
    NotANumber {
        /// The flag.
        flag: &'static str,
        /// The parameter.
        name: String,
        /// The text that was given.
        text: String,
    },
    /// A bound or step beyond what can be counted exactly.
    TooLarge {
        /// The flag.
        flag: &'static str,
        /// The parameter.
        name: String,
        /// The text that was given.
        text: String,
    },
    /// A range that runs the wrong way or never arrives.
    EmptyRange {
        /// The flag.
        flag: &'static str,
        /// The parameter.
        name: String,
        /// From.
        min: String,
        /// To.
        max: String,
        /// Step.
        step: String,
    },
    /// More values than anyone can wait for.
    TooMany {
        /// The flag.
        flag: &'static str,
        /// The parameter.
        name: String,
        /// The number of values or combinations.
        count: u64,
        /// The most that are possible.
        most: u64,
    },
    /// A placeholder that no parameter fills.
    Unknown {
        /// The flag, or `command`.
        place: &'static str,
        /// The text it stands in.
        text: String,
        /// The unknown name.
        name: String,
        /// A defined name that looks like it.
        near: Option<String>,
    },
}

impl std::fmt::Display for ParameterError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoValues { flag, name } => {
                write!(f, "{flag} {name}: the parameter has no values")
            }
            Self::BadName { flag, name } => write!(
                f,
                "{flag}: '{name}' is no parameter name; use letters, digits and _, not starting with a digit"
            ),
            Self::Twice { name } => write!(f, "the parameter '{name}' is given twice"),
            Self::NotANumber { flag, name, text } => {
                write!(f, "{flag} {name}: '{text}' is not a number")
            }
            Self::TooLarge { flag, name, text } => {
                write!(f, "{flag} {name}: '{text}' is too large to count in steps")
            }
            Self::EmptyRange {
                flag,
                name,
                min,
                max,
                step,
            } => write!(
                f,
                "{flag} {name}: from {min} to {max} in steps of {step} there is no value"
            ),
            Self::TooMany {
                flag,
                name,
                count,
                most,
            } => write!(
                f,
                "{flag} {name}: {count} values are more than the {most} a sweep may have"
            ),
            Self::Unknown {
                place,
                text,
                name,
                near,
            } => write!(
                f,
                "{place} '{text}': no -L or -P defines {{{name}}}{}; write {{{{{name}}}}} for plain braces",
                nearest(near)
            ),
        }
    }
}

impl std::error::Error for ParameterError {}

fn nearest(near: &Option<String>) -> String {
    near.as_ref()
        .map(|name| format!(" (did you mean {{{name}}}?)"))
        .unwrap_or_default()
}

/// Most values one parameter can take.
const MOST_VALUES: u64 = 10_000;

impl Parameter {
    /// `-L NAME a,b,c`. A comma in a value is written `\,`.
    pub fn list(name: &str, values: &str) -> Result<Self, ParameterError> {
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
            return Err(ParameterError::NoValues { flag: FLAG, name });
        }
        Ok(Self {
            name,
            values: split,
        })
    }

    /// `-P NAME MIN MAX` with an optional step, 1 when not given. Values keep
    /// as many decimals as the most precise of the three numbers.
    pub fn scan(
        name: &str,
        min: &str,
        max: &str,
        step: Option<&str>,
    ) -> Result<Self, ParameterError> {
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
        // Counted in whole units of the last decimal: 0.1 + 0.1 + 0.1 must
        // be 0.3.
        let units = |text: &str| {
            in_units(text, decimals).ok_or_else(|| {
                let (name, text) = (name.clone(), text.to_owned());
                match text.parse::<f64>() {
                    Ok(number) if !number.is_nan() => ParameterError::TooLarge {
                        flag: FLAG,
                        name,
                        text,
                    },
                    _ => ParameterError::NotANumber {
                        flag: FLAG,
                        name,
                        text,
                    },
                }
            })
        };
        let (from, to, by) = (units(min)?, units(max)?, units(step)?);
        if by <= 0 || from > to {
            return Err(ParameterError::EmptyRange {
                flag: FLAG,
                name,
                min: min.to_owned(),
                max: max.to_owned(),
                step: step.to_owned(),
            });
        }
        let count =
            u64::try_from((to - from) / by).map_or(u64::MAX, |steps| steps.saturating_add(1));
        if count > MOST_VALUES {
            return Err(ParameterError::TooMany {
                flag: FLAG,
                name,
                count,
                most: MOST_VALUES,
            });
        }
        let scale = 10_i128.pow(decimals as u32);
        let values = (0..count)
            .map(|index| {
                let value = from + i128::from(index) * by;
                if decimals == 0 {
                    return value.to_string();
                }
                let sign = if value < 0 { "-" } else { "" };
                let (whole, rest) = (value.abs() / scale, value.abs() % scale);
                format!("{sign}{whole}.{rest:0decimals$}")
            })
            .collect();
        Ok(Self { name, values })
    }
}

/// A number in units of so many decimals, rounded to whole ones; `None` where
/// it is none, or beyond what can be counted.
fn in_units(text: &str, decimals: usize) -> Option<i128> {
    /// Of a number as it is written, its decimals and its sign included.
    const LONGEST: usize = 31;
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let digits = whole.strip_prefix(['+', '-']).unwrap_or(whole);
    let are_digits = |part: &str| part.bytes().all(|c| c.is_ascii_digit());
    if !digits.is_empty() && are_digits(digits) && are_digits(rest) && rest.len() <= decimals {
        let padded = format!("{whole}{rest:0<decimals$}");
        let units = padded.parse().ok();
        return units.filter(|_| padded.len() <= LONGEST);
    }
    // An exponent, or more decimals than there are units for.
    let number: f64 = text.parse().ok()?;
    let units = (number * 10f64.powi(decimals as i32)).round();
    (units.abs() < 1e15).then_some(units as i128)
}

pub(super) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

fn checked_name(flag: &'static str, name: &str) -> Result<String, ParameterError> {
    if is_name(name) {
        Ok(name.to_owned())
    } else {
        Err(ParameterError::BadName {
            flag,
            name: name.to_owned(),
        })
    }
}

/// Every combination of the parameters' values; the last one changes
/// fastest. A single empty combination when there are none.
pub(super) fn combinations(
    parameters: &[Parameter],
) -> Result<Vec<Vec<(String, String)>>, ParameterError> {
    let mut all = vec![Vec::new()];
    for (index, parameter) in parameters.iter().enumerate() {
        if parameters[..index]
            .iter()
            .any(|earlier| earlier.name == parameter.name)
        {
            return Err(ParameterError::Twice {
                name: parameter.name.clone(),
            });
        }
        let count = all.len() as u64 * parameter.values.len() as u64;
        if count > MOST_VALUES {
            return Err(ParameterError::TooMany {
                flag: "--parameter-list",
                name: parameter.name.clone(),
                count,
                most: MOST_VALUES,
            });
        }
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
    fn a_scan_that_goes_nowhere_is_told() {
        for (min, max, step) in [
            ("3", "1", None),
            ("1", "3", Some("0")),
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
}
