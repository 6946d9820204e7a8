//! Arithmetic of Python: whole numbers are exact, and become floats when they meet one.

use crate::problem::Problem;
use crate::row::{Row, Which};
use crate::value::Value;

/// A number of Python.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Whole(i128),
    /// A whole number of more than 128 bits, rounded; infinite where a float cannot hold it.
    Vast(f64),
    Float(f64),
}

/// What goes wrong in arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    TooLarge,
    DivisionByZero,
}

impl Wrong {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::TooLarge => "is too large a number for a float",
            Self::DivisionByZero => "is so small a number that the change is a division by zero",
        }
    }
}

impl Number {
    /// The number that a value is.
    pub(crate) fn of(value: &Value<'_>) -> Option<Self> {
        match value {
            Value::Bool(yes) => Some(Self::Whole(i128::from(*yes))),
            Value::Int(number) => Some(Self::Whole(i128::from(*number))),
            Value::Big(digits) => Some(match digits.parse() {
                Ok(number) => Self::Whole(number),
                Err(_) => Self::Vast(digits.parse().unwrap_or(f64::INFINITY)),
            }),
            Value::Float(number) => Some(Self::Float(*number)),
            _ => None,
        }
    }

    /// A time of a row, which should be a number.
    pub(crate) fn of_row(row: &Row<'_>, which: Which) -> Result<Self, Problem> {
        let value = row.time(which)?;
        Self::of(value).ok_or_else(|| {
            let what = format!("should be a number and is a {}", value.type_name());
            Problem::of_field(row, which.field(), what)
        })
    }

    /// `float(number)`.
    pub(crate) fn float(self) -> Result<f64, Wrong> {
        match self {
            Self::Whole(number) => Ok(number as f64),
            Self::Vast(number) if number.is_infinite() => Err(Wrong::TooLarge),
            Self::Vast(number) | Self::Float(number) => Ok(number),
        }
    }

    fn is_zero(self) -> bool {
        matches!(self, Self::Whole(0)) || self == Self::Float(0.0)
    }

    /// The sum or, with the other one negated, the difference, as a float.
    fn plus(self, other: Self) -> Result<f64, Wrong> {
        if let (Self::Whole(a), Self::Whole(b)) = (self, other)
            && let Some(sum) = a.checked_add(b)
        {
            return Ok(sum as f64);
        }
        Ok(self.float()? + other.float()?)
    }

    fn negative(self) -> Self {
        match self {
            Self::Whole(number) => number
                .checked_neg()
                .map_or(Self::Vast(-(number as f64)), Self::Whole),
            Self::Vast(number) => Self::Vast(-number),
            Self::Float(number) => Self::Float(-number),
        }
    }

    /// The relative change from `self` to another number: their difference over the size of the first, or over their
    /// mean where the first is 0; 0 where both are.
    pub(crate) fn change_to(self, new: Self) -> Result<f64, Wrong> {
        match (self.is_zero(), new.is_zero()) {
            (true, true) => Ok(0.0),
            (true, false) => {
                let mean = self.plus(new)? / 2.0;
                if mean == 0.0 {
                    return Err(Wrong::DivisionByZero);
                }
                Ok(new.plus(self.negative())? / mean)
            }
            (false, _) => Ok(new.plus(self.negative())? / self.float()?.abs()),
        }
    }
}

/// A number as `{:14.0f}` and the like write it, with a plus sign where asked for, at the right of a column.
pub(crate) fn padded(number: f64, width: usize, places: usize, plus: bool) -> String {
    let sign = if plus && !number.is_sign_negative() {
        "+"
    } else {
        ""
    };
    let spelled = if number.is_nan() {
        format!("{}nan", if plus { "+" } else { "" })
    } else {
        format!("{sign}{number:.places$}")
    };
    format!("{spelled:>width$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(old: Value<'_>, new: Value<'_>) -> Result<f64, Wrong> {
        Number::of(&old)
            .unwrap()
            .change_to(Number::of(&new).unwrap())
    }

    #[test]
    fn a_change_is_relative_to_the_size_of_the_old_number() {
        assert_eq!(change(Value::Int(10), Value::Int(9)), Ok(-0.1));
        assert_eq!(change(Value::Float(-2.0), Value::Int(1)), Ok(1.5));
        assert_eq!(change(Value::Int(0), Value::Float(5.0)), Ok(2.0));
        assert_eq!(change(Value::Float(-0.0), Value::Bool(false)), Ok(0.0));
        let tiny = Value::Float(5e-324);
        assert_eq!(change(Value::Int(0), tiny), Err(Wrong::DivisionByZero));
        assert!(
            change(Value::Float(f64::NAN), Value::Int(1))
                .unwrap()
                .is_nan()
        );
    }

    #[test]
    fn whole_numbers_are_subtracted_before_they_are_rounded() {
        let big = Value::Int(9_007_199_254_740_993);
        let bigger = Value::Big("9007199254740994000".into());
        assert_eq!(
            change(big.clone(), Value::Int(9_007_199_254_740_994)),
            Ok(1.0 / 9_007_199_254_740_992.0)
        );
        assert!(change(big, bigger).is_ok());
        let vast = Value::Big(format!("1{}", "0".repeat(400)).into());
        assert_eq!(change(vast, Value::Int(1)), Err(Wrong::TooLarge));
    }

    #[test]
    fn numbers_are_padded_and_rounded_as_python_rounds() {
        for (number, spelled) in [
            (0.5, "   0"),
            (1.5, "   2"),
            (2.5, "   2"),
            (-0.4, "  -0"),
            (12345.0, "12345"),
            (f64::NAN, " nan"),
            (f64::INFINITY, " inf"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(padded(number, 4, 0, false), spelled);
        }
        assert_eq!(padded(0.00005, 9, 4, true), "  +0.0001");
        assert_eq!(padded(-0.0, 9, 4, true), "  -0.0000");
        assert_eq!(padded(f64::NAN, 9, 4, true), "     +nan");
        assert_eq!(padded(f64::INFINITY, 9, 4, true), "     +inf");
    }
}
