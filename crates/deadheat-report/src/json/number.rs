//! Numbers as JSON can hold them.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// A number as JSON can hold it. JSON knows no NaN and no infinity; the
/// analysis should not either, but a reader must never meet one.
pub(super) struct Number(pub(super) f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        debug_assert!(self.0.is_finite(), "{} reached the report", self.0);
        if self.0.is_finite() {
            serializer.serialize_f64(self.0)
        } else {
            serializer.serialize_none()
        }
    }
}

/// Many numbers in one line: a hundred lines of percentiles help nobody.
pub(super) struct Line<'a>(pub(super) &'a [f64]);

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let numbers: Vec<Number> = self.0.iter().map(|value| Number(*value)).collect();
        let raw = serde_json::to_string(&numbers)
            .and_then(RawValue::from_string)
            .map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}
