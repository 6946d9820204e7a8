//! Finds and reads the JSON that load generators print.

use deadheat::parts::model::{Json, Object};

use super::text;

/// Maximum number of lines at which an object is tried, so that reading takes linear time.
const MOST_TRIES: usize = 8;

/// Returns the first object that begins at the start of a line and is `wanted`. Other text may
/// precede and follow it.
pub(super) fn find_object(text: &str, wanted: impl Fn(&Json) -> bool) -> Option<Json> {
    let mut at = 0;
    let starts = text.split_inclusive('\n').filter_map(|line| {
        at += line.len();
        line.starts_with('{').then_some(at - line.len())
    });
    let objects = starts
        .take(MOST_TRIES)
        .filter_map(|start| Json::parse_first(&text[start..]));
    let mut wanted = objects.filter(|(object, _)| wanted(object));
    wanted.next().map(|(object, _)| object)
}

pub(super) fn field<'a>(value: &'a Json, name: &str) -> Option<&'a Json> {
    value.as_object()?.get(name)
}

/// Returns the fields of an object, and none for other values.
pub(super) fn fields(value: Option<&Json>) -> impl Iterator<Item = (&str, &Json)> {
    let object = value.and_then(Json::as_object);
    object.into_iter().flat_map(Object::fields)
}

/// Returns a number that is not negative.
pub(super) fn number(value: &Json) -> Option<f64> {
    scaled(value, 0)
}

/// Returns a number that is not negative, multiplied by a power of ten. The number is scaled as
/// text, because a multiplication would round a second time.
pub(super) fn scaled(value: &Json, exponent: i32) -> Option<f64> {
    text::scaled(&value.as_number()?.to_string(), exponent)
}
