//! One description of each type in deadheat's own files, for both directions.
//!
//! [`object!`] lists the fields of a type once, [`choice!`] the variants of an enum; from that list
//! both the writer and the reader are made. Both work on the tree of the model, since code derived
//! for every type was a third of what everybody who races functions waited for. Fields that are not
//! listed are passed over, as later versions may add some.
//!
//! A build without the feature `decode` has the writing half alone.

use std::path::PathBuf;
use std::time::Duration;

pub use deadheat_model::{Json, Object};
use deadheat_model::{LogRatio, Metric, Promise, RaceKind, column_name};

#[cfg(feature = "decode")]
pub use reading::{WireError, inside, names, object_of, or_else, or_missing, required};

/// A value that is written to JSON and read from it.
pub trait Wire: Sized {
    /// The JSON of the value.
    fn to_json(&self) -> Json;

    /// The value of such JSON.
    #[cfg(feature = "decode")]
    fn from_json(json: &Json) -> Result<Self, WireError>;

    /// The value of a field that is not there, where that means something.
    #[cfg(feature = "decode")]
    fn missing() -> Option<Self> {
        None
    }
}

/// The major version of a schema such as `deadheat.run/1` or `deadheat.run/1.4`, of which the family
/// is `deadheat.run/`; `None` of any other.
#[cfg(feature = "read")]
pub fn major_version(schema: &str, family: &str) -> Option<u64> {
    let version = schema.strip_prefix(family)?;
    version.split('.').next()?.parse().ok()
}

/// A value of named fields, which may stand among the fields of another.
pub trait Fields: Sized {
    /// Adds its fields.
    fn put(&self, object: Object) -> Object;

    /// Reads its fields.
    #[cfg(feature = "decode")]
    fn take(object: &Object) -> Result<Self, WireError>;
}

/// The items of the reading half, in a build that has it. Here and not at their place, a
/// `cfg(feature)` asks for the feature of this crate in whichever crate the type lives.
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

/// Describes a struct by its fields, each as `field`, or as `field = "name"` where the file has
/// another name for it, followed by
///
/// - nothing: it must be there, unless it is an `Option`, whose `None` is written as null;
/// - `: or(value)`: it is always written, and this value where it is missing;
/// - `: omit`: it is left out where it has its default;
/// - `: inline`: its fields stand among the others;
/// - `: within("name")`: it is the only field, of that name, of an object.
///
/// `..value` at the end gives the fields that are not in the file; `ensure check` behind the braces
/// refuses what cannot be.
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

/// Makes an object of its own of a type with [`Fields`].
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

/// Describes an enum: a variant is its name alone, or an object of its name and its value.
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

/// The value, unless it is the default of its type.
pub fn unless_default<T: Default + PartialEq>(value: &T) -> Option<&T> {
    (*value != T::default()).then_some(value)
}

/// Implements [`Wire`] for a type that one expression writes and one reads.
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
    u8: "a whole number that fits", |value| u32::from(*value).into(), reading::integer;
    u32: "a whole number that fits", |value| (*value).into(), reading::integer;
    u64: "a whole number that fits", |value| (*value).into(), reading::integer;
    usize: "a whole number that fits", |value| (*value).into(), reading::integer;
    f64: "a number", |value| (*value).into(), Json::as_number;
    String: "a text", |text| text.into(), |json| Some(json.as_text()?.to_owned());
    // What exceeds 584 years is written as 584 years.
    Duration: "nanoseconds",
        |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).into(),
        |json| json.as_u64().map(Duration::from_nanos);
    // By the name of its column.
    Metric: "the name of a column",
        |metric| column_name(metric).into_owned().into(),
        |json| json.as_text().map(deadheat_model::metric_of_column);
    RaceKind: "a kind of race",
        |kind| kind.name().into(),
        |json| RaceKind::from_name(json.as_text()?);
    Promise: "the state of a promise",
        |promise| promise.name().into(),
        |json| Promise::from_name(json.as_text()?);
    // As a relative change.
    LogRatio: "a change above -1",
        |effect| effect.change().into(),
        |json| json.as_number().filter(|change| *change > -1.0).map(LogRatio::from_change);
    // Text where the path is Unicode, else its bytes in hexadecimal.
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
    // Pairs, not an object, keep the order declared.
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

    /// JSON that is not what it should be, and where.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct WireError {
        /// From the outermost object, as `plan.benchmarks[3].name`. Empty where the problem says
        /// what is wrong where.
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
        /// A value that is not what is expected, in words.
        pub fn odd(expected: impl fmt::Display) -> Self {
            Self::wrong(format!("expected {expected}"))
        }

        /// A value of which this is wrong, in words.
        pub fn wrong(problem: impl Into<String>) -> Self {
            Self {
                path: String::new(),
                problem: Problem::Wrong(problem.into()),
            }
        }

        /// A field that must be there.
        pub fn missing(name: &str) -> Self {
            Self {
                path: name.to_owned(),
                problem: Problem::Missing,
            }
        }

        /// A sentence that needs no place.
        pub fn sentence(problem: String) -> Self {
            Self {
                path: String::new(),
                problem: Problem::Sentence(problem),
            }
        }

        /// The same error, seen from the object or list around it.
        pub fn inside(mut self, name: &str) -> Self {
            let dot = !self.path.is_empty() && !self.path.starts_with('[');
            self.path = format!("{name}{}{}", if dot { "." } else { "" }, self.path);
            self
        }

        /// The name of the innermost field.
        #[cfg(feature = "reports")]
        pub fn field(&self) -> &str {
            let last = self.path.rsplit('.').next().unwrap_or_default();
            last.split('[').next().unwrap_or_default()
        }

        /// Returns true where the text says all there is to say.
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

    /// The error of a text that is none of these.
    pub fn names(known: &[&str]) -> WireError {
        WireError::odd(format!("one of {}", known.join(", ")))
    }

    /// The fields of an object.
    pub fn object_of(json: &Json) -> Result<&Object, WireError> {
        json.as_object().ok_or_else(|| WireError::odd("an object"))
    }

    /// Reads a field by `read`, when it is there.
    pub fn inside<T>(
        object: &Object,
        name: &str,
        read: impl FnOnce(&Json) -> Result<T, WireError>,
    ) -> Option<Result<T, WireError>> {
        let json = object.get(name)?;
        Some(read(json).map_err(|error| error.inside(name)))
    }

    /// Reads a field by `read`; an error when it is not there.
    pub fn or_missing<T>(
        object: &Object,
        name: &str,
        read: impl FnOnce(&Json) -> Result<T, WireError>,
    ) -> Result<T, WireError> {
        inside(object, name, read).unwrap_or_else(|| Err(WireError::missing(name)))
    }

    /// Reads a field that must be there, unless its type says what it is otherwise.
    pub fn required<T: Wire>(object: &Object, name: &str) -> Result<T, WireError> {
        let missing = || T::missing().ok_or_else(|| WireError::missing(name));
        inside(object, name, T::from_json).unwrap_or_else(missing)
    }

    /// Reads a field, or makes its value where it is not there.
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
