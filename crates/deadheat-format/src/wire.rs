//! Describes each type in deadheat's own files once, for writing and for reading.
//!
//! [`object!`] lists the fields of a struct, [`choice!`] the variants of an enum; the writer and
//! the reader are generated from the list. Both use the JSON tree of the model, because separate
//! code for every type took a third of the build time of a race of functions. Unlisted fields are
//! ignored, because later versions may add some.
//!
//! Without the feature `decode`, only the writers are compiled.

use std::path::PathBuf;
use std::time::Duration;

pub use deadheat_model::{Json, Object};
use deadheat_model::{LogRatio, Metric, Promise, RaceKind, column_name};

#[cfg(feature = "decode")]
pub use reading::{WireError, inside, names, object_of, or_else, or_missing, required};

/// A value that can be written to JSON and read from it.
pub trait Wire: Sized {
    /// Returns the JSON of the value.
    fn to_json(&self) -> Json;

    /// Reads a value from its JSON.
    #[cfg(feature = "decode")]
    fn from_json(json: &Json) -> Result<Self, WireError>;

    /// Returns the value of a missing field; `None` if the field is required.
    #[cfg(feature = "decode")]
    fn missing() -> Option<Self> {
        None
    }
}

/// Returns the major version of a schema, such as 1 for `deadheat.run/1.4`, if the schema begins
/// with `family`, such as `deadheat.run/`.
#[cfg(feature = "read")]
pub fn major_version(schema: &str, family: &str) -> Option<u64> {
    let version = schema.strip_prefix(family)?;
    version.split('.').next()?.parse().ok()
}

/// A value that consists of named fields. Its fields can also be stored among those of another
/// value.
pub trait Fields: Sized {
    /// Adds the fields of the value to `object`.
    fn put(&self, object: Object) -> Object;

    /// Reads the fields of the value from `object`.
    #[cfg(feature = "decode")]
    fn take(object: &Object) -> Result<Self, WireError>;
}

/// Expands to its items if this crate is compiled with the feature `decode`. A `cfg(feature)`
/// inside the other macros would refer to the features of the crate that uses them.
#[cfg(feature = "decode")]
#[doc(hidden)]
#[macro_export]
macro_rules! decoded {
    ($($item:item)*) => { $($item)* };
}

#[cfg(not(feature = "decode"))]
#[doc(hidden)]
#[macro_export]
macro_rules! decoded {
    ($($item:item)*) => {};
}

/// Describes a struct by its fields. Each is written as `field`, or as `field = "name"` if the file
/// uses another name, followed by
///
/// - nothing: the field is required, unless it is an `Option`, whose `None` is written as null;
/// - `: or(value)`: the field is always written, and a missing field is read as `value`;
/// - `: omit`: the field is left out if it has its default;
/// - `: inline`: the fields of this field are stored directly in the object;
/// - `: within("name")`: the field is an object whose only field, `name`, holds the value.
///
/// `..value` at the end sets the fields that are not in the file. The function in `ensure check`,
/// after the braces, refuses impossible values.
#[macro_export]
macro_rules! object {
    ($type:ty {
        $($field:ident $(= $name:literal)? $(: $mode:ident $(($($with:tt)*))?)?,)*
        $(..$rest:expr)?
    } $(ensure $check:path)?) => {
        impl $crate::wire::Fields for $type {
            fn put(&self, object: $crate::wire::Object) -> $crate::wire::Object {
                $(let object = $crate::wire::put!(
                    object, &self.$field, [$field $($name)?] $($mode $($($with)*)?)?
                );)*
                object
            }

            $crate::wire::decoded! {
                fn take(object: &$crate::wire::Object) -> Result<Self, $crate::wire::WireError> {
                    let read = Self {
                        $($field: $crate::wire::take!(
                            object, [$field $($name)?] $($mode $($($with)*)?)?
                        )?,)*
                        $(..$rest)?
                    };
                    $($check(&read)?;)?
                    Ok(read)
                }
            }
        }

        $crate::wire::whole!($type);
    };
}

/// Implements `Wire` for a type with [`Fields`]: its JSON is an object.
#[doc(hidden)]
#[macro_export]
macro_rules! whole {
    ($type:ty) => {
        impl $crate::wire::Wire for $type {
            fn to_json(&self) -> $crate::wire::Json {
                $crate::wire::Fields::put(self, $crate::wire::Object::new()).into()
            }

            $crate::wire::decoded! {
                fn from_json(json: &$crate::wire::Json) -> Result<Self, $crate::wire::WireError> {
                    $crate::wire::Fields::take($crate::wire::object_of(json)?)
                }
            }
        }
    };
}

/// Describes an enum. A variant is stored as its name, or as an object with its name and its value.
#[macro_export]
macro_rules! choice {
    ($type:ty { $($name:literal => $variant:ident $(($value:ident))?,)* }) => {
        impl $crate::wire::Wire for $type {
            fn to_json(&self) -> $crate::wire::Json {
                match self {
                    $(Self::$variant $(($value))? => $crate::wire::variant!($name $($value)?),)*
                }
            }

            $crate::wire::decoded! {
                fn from_json(json: &$crate::wire::Json) -> Result<Self, $crate::wire::WireError> {
                    $($crate::wire::variant!(json, $name, $variant $($value)?);)*
                    Err($crate::wire::names(&[$($name),*]))
                }
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! variant {
    ($name:literal) => {
        $crate::wire::Json::from($name)
    };
    ($name:literal $value:ident) => {
        $crate::wire::Json::tagged($name, $crate::wire::Wire::to_json($value))
    };
    ($json:expr, $name:literal, $variant:ident) => {
        if $json.as_text() == Some($name) {
            return Ok(Self::$variant);
        }
    };
    ($json:expr, $name:literal, $variant:ident $value:ident) => {
        if let Some(($name, $value)) = $json.as_object().and_then($crate::wire::Object::only) {
            let read = $crate::wire::Wire::from_json($value);
            return read
                .map(Self::$variant)
                .map_err(|error| error.inside($name));
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $name:literal) => {
        $name
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! put {
    ($object:ident, $value:expr, [$($name:tt)*] within $inner:literal) => {
        $object.with(
            $crate::wire::name!($($name)*),
            $crate::wire::Json::tagged($inner, $crate::wire::Wire::to_json($value)),
        )
    };
    ($object:ident, $value:expr, [$($name:tt)*] inline) => {
        $crate::wire::Fields::put($value, $object)
    };
    ($object:ident, $value:expr, [$($name:tt)*] omit) => {
        $object.with_some(
            $crate::wire::name!($($name)*),
            $crate::wire::unless_default($value).map($crate::wire::Wire::to_json),
        )
    };
    ($object:ident, $value:expr, [$($name:tt)*] $($or:tt)*) => {
        $object.with($crate::wire::name!($($name)*), $crate::wire::Wire::to_json($value))
    };
}

#[cfg(feature = "decode")]
#[doc(hidden)]
#[macro_export]
macro_rules! take {
    ($object:ident, [$($name:tt)*]) => {
        $crate::wire::required($object, $crate::wire::name!($($name)*))
    };
    ($object:ident, [$($name:tt)*] within $inner:literal) => {
        $crate::wire::or_missing($object, $crate::wire::name!($($name)*), |json| {
            $crate::wire::required($crate::wire::object_of(json)?, $inner)
        })
    };
    ($object:ident, [$($name:tt)*] inline) => {
        $crate::wire::Fields::take($object)
    };
    ($object:ident, [$($name:tt)*] omit) => {
        $crate::wire::or_else($object, $crate::wire::name!($($name)*), Default::default)
    };
    ($object:ident, [$($name:tt)*] or $default:expr) => {
        $crate::wire::or_else($object, $crate::wire::name!($($name)*), || $default)
    };
}

#[cfg(feature = "decode")]
pub use take;
pub use {choice, decoded, name, object, put, variant, whole};

/// Returns the value, or `None` if it is the default of its type.
pub fn unless_default<T: Default + PartialEq>(value: &T) -> Option<&T> {
    (*value != T::default()).then_some(value)
}

/// Implements [`Wire`] for simple types: one expression writes the value, another reads it.
macro_rules! scalar {
    ($($type:ty: $what:literal, $to:expr, $from:expr;)*) => {$(
        impl Wire for $type {
            fn to_json(&self) -> Json {
                let to: fn(&Self) -> Json = $to;
                to(self)
            }

            #[cfg(feature = "decode")]
            fn from_json(json: &Json) -> Result<Self, WireError> {
                let from: fn(&Json) -> Option<Self> = $from;
                from(json).ok_or_else(|| WireError::odd($what))
            }
        }
    )*};
}

scalar! {
    bool: "true or false", |value| (*value).into(), Json::as_bool;
    i32: "a whole number", |value| (*value).into(), reading::integer;
    u8: "a whole number within range", |value| u32::from(*value).into(), reading::integer;
    u32: "a whole number within range", |value| (*value).into(), reading::integer;
    u64: "a whole number within range", |value| (*value).into(), reading::integer;
    usize: "a whole number within range", |value| (*value).into(), reading::integer;
    f64: "a number", |value| (*value).into(), Json::as_number;
    String: "a text", |text| text.into(), |json| Some(json.as_text()?.to_owned());
    // Times longer than 584 years do not fit and are written as 584 years.
    Duration: "nanoseconds",
        |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).into(),
        |json| json.as_u64().map(Duration::from_nanos);
    // Stored as the name of its column.
    Metric: "the name of a column",
        |metric| column_name(metric).into_owned().into(),
        |json| json.as_text().map(deadheat_model::metric_of_column);
    RaceKind: "a kind of race",
        |kind| kind.name().into(),
        |json| RaceKind::from_name(json.as_text()?);
    Promise: "the state of a promise",
        |promise| promise.name().into(),
        |json| Promise::from_name(json.as_text()?);
    // Stored as a relative change.
    LogRatio: "a change above -1",
        |effect| effect.change().into(),
        |json| json.as_number().filter(|change| *change > -1.0).map(LogRatio::from_change);
    // Stored as text if the path is Unicode, otherwise as its bytes in hexadecimal.
    PathBuf: "a path, as text or as an object of hex",
        |path| match path.to_str() {
            Some(text) => text.into(),
            None => {
                let bytes = path.as_os_str().as_encoded_bytes().iter();
                Json::tagged("hex", bytes.map(|byte| format!("{byte:02x}")).collect::<String>())
            }
        },
        |json| match json {
            Json::Text(text) => Some(text.into()),
            _ => reading::path_of_hex(json.as_object()?.get("hex")?.as_text()?),
        };
    (usize, usize): "two whole numbers",
        |pair| Json::from_iter([pair.0, pair.1]),
        |json| match json.as_list()? {
            [one, other] => Some((reading::integer(one)?, reading::integer(other)?)),
            _ => None,
        };
    // Pairs keep their order, unlike the fields of an object.
    (String, String): "a pair of texts",
        |(name, value)| Json::from_iter([name, value]),
        |json| match json.as_list()? {
            [name, value] => Some((name.as_text()?.to_owned(), value.as_text()?.to_owned())),
            _ => None,
        };
}

impl<T: Wire> Wire for Option<T> {
    fn to_json(&self) -> Json {
        self.as_ref().map(T::to_json).into()
    }

    #[cfg(feature = "decode")]
    fn from_json(json: &Json) -> Result<Self, WireError> {
        match json {
            Json::Null => Ok(None),
            json => T::from_json(json).map(Some),
        }
    }

    #[cfg(feature = "decode")]
    fn missing() -> Option<Self> {
        Some(None)
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn to_json(&self) -> Json {
        self.iter().map(T::to_json).collect()
    }

    #[cfg(feature = "decode")]
    fn from_json(json: &Json) -> Result<Self, WireError> {
        let items = json.as_list().ok_or_else(|| WireError::odd("a list"))?;
        let read = |(at, item)| {
            T::from_json(item).map_err(|error: WireError| error.inside(&format!("[{at}]")))
        };
        items.iter().enumerate().map(read).collect()
    }
}

impl<T: Wire> Wire for Box<T> {
    fn to_json(&self) -> Json {
        T::to_json(self)
    }

    #[cfg(feature = "decode")]
    fn from_json(json: &Json) -> Result<Self, WireError> {
        T::from_json(json).map(Box::new)
    }
}

#[cfg(feature = "decode")]
mod reading {
    use std::fmt;

    use super::*;

    /// JSON that cannot be read, and the place of the problem.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct WireError {
        /// Path from the outermost object, such as `plan.benchmarks[3].name`. Empty if the text of
        /// the problem needs no place.
        path: String,
        problem: Problem,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    enum Problem {
        Missing,
        Wrong(String),
        Sentence(String),
    }

    impl WireError {
        /// Returns the error for an unexpected value. `expected` describes the right value.
        pub fn odd(expected: impl fmt::Display) -> Self {
            Self::wrong(format!("expected {expected}"))
        }

        /// Returns an error with this description of the problem.
        pub fn wrong(problem: impl Into<String>) -> Self {
            Self {
                path: String::new(),
                problem: Problem::Wrong(problem.into()),
            }
        }

        /// Returns the error for a missing field.
        pub fn missing(name: &str) -> Self {
            Self {
                path: name.to_owned(),
                problem: Problem::Missing,
            }
        }

        /// Returns an error whose text is a complete sentence, to which no path is added.
        pub fn sentence(problem: String) -> Self {
            Self {
                path: String::new(),
                problem: Problem::Sentence(problem),
            }
        }

        /// Returns the error with the name of the enclosing field or list item added to its path.
        pub fn inside(mut self, name: &str) -> Self {
            let dot = !self.path.is_empty() && !self.path.starts_with('[');
            self.path = format!("{name}{}{}", if dot { "." } else { "" }, self.path);
            self
        }

        /// Returns the name of the innermost field.
        #[cfg(feature = "reports")]
        pub fn field(&self) -> &str {
            let last = self.path.rsplit('.').next().unwrap_or_default();
            last.split('[').next().unwrap_or_default()
        }

        /// Returns true if the error's text is a complete sentence, to which no path is added.
        #[cfg(feature = "read")]
        pub fn is_sentence(&self) -> bool {
            matches!(self.problem, Problem::Sentence(_))
        }
    }

    impl fmt::Display for WireError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let place = match &self.problem {
                Problem::Sentence(problem) => return f.write_str(problem),
                Problem::Wrong(problem) => {
                    f.write_str(problem)?;
                    &self.path
                }
                Problem::Missing => {
                    let (place, field) = self.path.rsplit_once('.').unwrap_or(("", &self.path));
                    write!(f, "missing field `{field}`")?;
                    place
                }
            };
            if place.is_empty() {
                Ok(())
            } else {
                write!(f, ", at {place}")
            }
        }
    }

    /// Returns the error for a text that is not one of the known names.
    pub fn names(known: &[&str]) -> WireError {
        WireError::odd(format!("one of {}", known.join(", ")))
    }

    /// Returns the fields of an object; fails for other JSON.
    pub fn object_of(json: &Json) -> Result<&Object, WireError> {
        json.as_object().ok_or_else(|| WireError::odd("an object"))
    }

    /// Reads a field with `read`; returns `None` if the field is missing.
    pub fn inside<T>(
        object: &Object,
        name: &str,
        read: impl FnOnce(&Json) -> Result<T, WireError>,
    ) -> Option<Result<T, WireError>> {
        let json = object.get(name)?;
        Some(read(json).map_err(|error| error.inside(name)))
    }

    /// Reads a field with `read`; fails if the field is missing.
    pub fn or_missing<T>(
        object: &Object,
        name: &str,
        read: impl FnOnce(&Json) -> Result<T, WireError>,
    ) -> Result<T, WireError> {
        inside(object, name, read).unwrap_or_else(|| Err(WireError::missing(name)))
    }

    /// Reads a field. A missing field is an error unless [`Wire::missing`] gives its value.
    pub fn required<T: Wire>(object: &Object, name: &str) -> Result<T, WireError> {
        let missing = || T::missing().ok_or_else(|| WireError::missing(name));
        inside(object, name, T::from_json).unwrap_or_else(missing)
    }

    /// Reads a field, or returns the default if the field is missing.
    pub fn or_else<T: Wire>(
        object: &Object,
        name: &str,
        default: impl FnOnce() -> T,
    ) -> Result<T, WireError> {
        inside(object, name, T::from_json).unwrap_or_else(|| Ok(default()))
    }

    pub(super) fn integer<T: TryFrom<i128>>(json: &Json) -> Option<T> {
        match json {
            Json::Integer(integer) => T::try_from(*integer).ok(),
            _ => None,
        }
    }

    pub(super) fn path_of_hex(hex: &str) -> Option<PathBuf> {
        let digit = |byte: &u8| char::from(*byte).to_digit(16);
        let pairs = hex.as_bytes().chunks(2).map(|pair| match pair {
            [high, low] => Some((digit(high)? * 16 + digit(low)?) as u8),
            _ => None,
        });
        let bytes: Vec<u8> = pairs.collect::<Option<_>>()?;
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStringExt;
            Some(std::ffi::OsString::from_vec(bytes).into())
        }
        #[cfg(not(unix))]
        String::from_utf8(bytes).ok().map(PathBuf::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_not_unicode_survives() {
        use std::os::unix::ffi::OsStringExt;
        let path = PathBuf::from(std::ffi::OsString::from_vec(vec![b'/', 0xff, 0x0a]));
        assert_eq!(path.to_json().to_string(), r#"{"hex":"2fff0a"}"#);
        assert_eq!(PathBuf::from_json(&path.to_json()), Ok(path));
    }

    #[test]
    fn a_path_of_broken_hex_is_refused() {
        for hex in ["2", "zz", "é"] {
            let path = PathBuf::from_json(&Json::tagged("hex", hex));
            assert!(path.is_err(), "{hex}");
        }
    }

    #[test]
    fn a_very_long_duration_is_cut_and_not_wrapped() {
        assert_eq!(Duration::MAX.to_json(), u64::MAX.into());
        assert_eq!(Duration::from_secs(2).to_json(), 2_000_000_000u64.into());
    }
}
