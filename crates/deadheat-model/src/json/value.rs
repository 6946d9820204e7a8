//! The tree.
//!
//! Run files, answers and messages of workers are a few dozen fields each.
//! Derived for every type, the code for them was a third of what everybody who
//! races functions waited for; a tree is one type, built, written and read once.

use std::borrow::Cow;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i128),
    /// Any other number. One that is not finite is written as null.
    Number(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// A list that stays in one line where others are indented: a hundred
    /// lines of percentiles help nobody.
    Row(Vec<Json>),
    /// Named values, in the order they are written.
    Object(Object),
}

/// Named values in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object {
    pub(super) fields: Vec<(Cow<'static, str>, Json)>,
}

impl Object {
    /// No values yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// One more at the end.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Json>) -> Self {
        self.push(name.into(), value.into());
        self
    }

    /// One more at the end, or nothing where there is none.
    #[must_use]
    pub fn with_some(self, name: &'static str, value: Option<impl Into<Json>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// One more at the end, of any name.
    pub fn push(&mut self, name: Cow<'static, str>, value: Json) {
        self.fields.push((name, value));
    }

    /// The value of that name.
    pub fn get(&self, name: &str) -> Option<&Json> {
        let mut fields = self.fields.iter();
        let named = fields.find(|(known, _)| known == name);
        named.map(|(_, value)| value)
    }

    /// All names and values, in order.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.fields.iter().map(|(name, value)| (&**name, value))
    }

    /// The name and value of an object that has just one.
    pub fn only(&self) -> Option<(&str, &Json)> {
        match self.fields.as_slice() {
            [(name, value)] => Some((name, value)),
            _ => None,
        }
    }
}

impl Json {
    /// An object of one value: how a kind is told with what belongs to it.
    pub fn tagged(tag: &'static str, value: impl Into<Json>) -> Self {
        Object::new().with(tag, value).into()
    }

    /// Its values, when it is an object.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Json::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The values of a list.
    pub fn as_list(&self) -> Option<&[Json]> {
        match self {
            Json::List(values) | Json::Row(values) => Some(values),
            _ => None,
        }
    }

    /// The text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    /// True or false.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Json::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The number, whole or not.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Json::Number(number) => Some(*number),
            Json::Integer(integer) => Some(*integer as f64),
            _ => None,
        }
    }

    /// The number, when it is whole, not negative and fits.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Json::Integer(integer) => u64::try_from(*integer).ok(),
            _ => None,
        }
    }
}

impl From<Object> for Json {
    fn from(object: Object) -> Self {
        Json::Object(object)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Json::Bool(value)
    }
}

impl From<i32> for Json {
    fn from(value: i32) -> Self {
        Json::Integer(value.into())
    }
}

impl From<u32> for Json {
    fn from(value: u32) -> Self {
        Json::Integer(value.into())
    }
}

impl From<u64> for Json {
    fn from(value: u64) -> Self {
        Json::Integer(value.into())
    }
}

impl From<usize> for Json {
    fn from(value: usize) -> Self {
        Json::Integer(value as i128)
    }
}

impl From<f64> for Json {
    fn from(value: f64) -> Self {
        debug_assert!(value.is_finite(), "{value} is no number of JSON");
        Json::Number(value)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Json::Text(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Json::Text(text)
    }
}

impl From<&String> for Json {
    fn from(text: &String) -> Self {
        Json::Text(text.clone())
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Json::Null, Into::into)
    }
}

impl From<Vec<Json>> for Json {
    fn from(values: Vec<Json>) -> Self {
        Json::List(values)
    }
}

impl<T: Into<Json>> FromIterator<T> for Json {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Json::List(values.into_iter().map(Into::into).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_only_what_it_is() {
        let object = Object::new().with("a", 1u64).with_some("b", None::<u64>);
        assert_eq!(object.only(), Some(("a", &Json::Integer(1))));
        assert_eq!(object.get("b"), None);
        assert_eq!(Json::from(-1).as_u64(), None);
        assert_eq!(Json::from(-1).as_number(), Some(-1.0));
        assert_eq!(Json::from(1.5).as_u64(), None);
        assert_eq!(Json::Null.as_object(), None);
        assert_eq!(Json::from("a").as_list(), None);
        assert_eq!(Json::from("a").as_text(), Some("a"));
        assert_eq!(Json::from(None::<bool>), Json::Null);
    }
}
