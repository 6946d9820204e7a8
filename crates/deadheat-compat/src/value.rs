//! A value of Python, as its JSON reader makes it, and when two are equal.

use crate::text::Text;

/// What Python's `json` reads.
#[derive(Debug, Clone)]
pub enum Value<'a> {
    /// `None`.
    Null,
    /// `True` or `False`, which are the numbers 1 and 0.
    Bool(bool),
    /// A whole number of 64 bits.
    Int(i64),
    /// A larger whole number: its digits, with a minus sign or not.
    Big(Box<str>),
    /// Anything with a fraction or an exponent, and NaN and the infinities.
    Float(f64),
    /// A string.
    Text(Text<'a>),
    /// A list.
    List(Vec<Value<'a>>),
    /// A dictionary in the order of its keys; a key that came twice has its last value in its first place.
    Dict(Vec<(Text<'a>, Value<'a>)>),
}

impl<'a> Value<'a> {
    /// What Python calls the type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "NoneType",
            Self::Bool(_) => "bool",
            Self::Int(_) | Self::Big(_) => "int",
            Self::Float(_) => "float",
            Self::Text(_) => "str",
            Self::List(_) => "list",
            Self::Dict(_) => "dict",
        }
    }

    /// The string that it is.
    pub fn text(&self) -> Option<&Text<'a>> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Whether it is this string.
    pub fn is_text(&self, text: &str) -> bool {
        self.text().is_some_and(|t| t.as_bytes() == text.as_bytes())
    }

    /// Whether Python takes it for true.
    pub fn truth(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(yes) => *yes,
            Self::Int(number) => *number != 0,
            Self::Big(_) => true,
            Self::Float(number) => *number != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::List(items) => !items.is_empty(),
            Self::Dict(entries) => !entries.is_empty(),
        }
    }

    /// `==`: numbers are equal whatever their type, dictionaries whatever their order.
    pub fn equals(&self, other: &Value<'_>) -> bool {
        match (self, other) {
            (Self::Null, Value::Null) => true,
            (Self::Text(a), Value::Text(b)) => a.as_bytes() == b.as_bytes(),
            (Self::List(a), Value::List(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equals(b))
            }
            (Self::Dict(a), Value::Dict(b)) => {
                a.len() == b.len()
                    && a.iter().all(|(key, value)| {
                        b.iter()
                            .any(|(k, v)| k.as_bytes() == key.as_bytes() && value.equals(v))
                    })
            }
            _ => match (self.digits(), other.digits()) {
                (Some(a), Some(b)) => a == b,
                _ => false,
            },
        }
    }

    /// Numbers only: a spelling that equal numbers share. NaN equals nothing and has none.
    pub(crate) fn digits(&self) -> Option<String> {
        match self {
            Self::Bool(yes) => Some(u8::from(*yes).to_string()),
            Self::Int(number) => Some(number.to_string()),
            Self::Big(digits) => Some(digits.to_string()),
            Self::Float(number) if *number == 0.0 => Some("0".to_owned()),
            // A whole number is written with all its digits and no point, like a whole number that was read.
            Self::Float(number) if !number.is_nan() => Some(number.to_string()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_equal_across_their_types() {
        assert!(Value::Bool(true).equals(&Value::Float(1.0)));
        assert!(Value::Int(0).equals(&Value::Float(-0.0)));
        assert!(Value::Big("100000000000000000000".into()).equals(&Value::Float(1e20)));
        assert!(!Value::Float(f64::NAN).equals(&Value::Float(f64::NAN)));
        assert!(!Value::Int(1).equals(&Value::Text("1".into())));
        assert!(!Value::Float(1.5).equals(&Value::Int(1)));
    }

    #[test]
    fn dictionaries_are_equal_in_any_order() {
        let dict = |keys: [&'static str; 2]| {
            Value::Dict(keys.map(|k| (k.into(), Value::Text(k.into()))).into())
        };
        assert!(dict(["a", "b"]).equals(&dict(["b", "a"])));
        assert!(!dict(["a", "b"]).equals(&dict(["a", "c"])));
    }

    #[test]
    fn what_is_empty_is_not_true() {
        assert!(!Value::Text("".into()).truth());
        assert!(!Value::List(Vec::new()).truth());
        assert!(Value::Text("0".into()).truth());
        assert!(Value::Float(f64::NAN).truth());
    }
}
