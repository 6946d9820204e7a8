//! A line as JSON, and what stands in it.

use deadheat_model::{Json, Object};

/// A message: its kind and what it says.
pub(super) struct Message(Json);

impl Message {
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        Json::parse(std::str::from_utf8(line).ok()?).map(Message)
    }

    pub(super) fn tag(&self) -> Option<&str> {
        let (tag, _) = self.0.as_object()?.only()?;
        Some(tag)
    }

    pub(super) fn said(&self) -> Option<Said<'_>> {
        let (_, said) = self.0.as_object()?.only()?;
        said.as_object().map(Said)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Json> {
        let (_, said) = self.0.as_object()?.only()?;
        said.as_object()?.get(name)
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.as_u64()
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        text(self.get(name)?)
    }

    pub(super) fn optional<T>(
        &self,
        name: &str,
        item: impl Fn(&Json) -> Option<T>,
    ) -> Option<Option<T>> {
        self.said()?.optional(name, item)
    }
}

/// What stands in an object.
pub(super) struct Said<'a>(pub(super) &'a Object);

impl Said<'_> {
    pub(super) fn text(&self, name: &str) -> Option<String> {
        text(self.0.get(name)?)
    }

    /// `None` when it is there and neither null nor what `item` reads.
    pub(super) fn optional<T>(
        &self,
        name: &str,
        item: impl Fn(&Json) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.0.get(name) {
            None => Some(None),
            Some(value) => optional(value, item),
        }
    }
}

pub(super) fn line(kind: &'static str, said: Object) -> String {
    format!("{}\n", Json::tagged(kind, said))
}

pub(super) fn text(value: &Json) -> Option<String> {
    value.as_text().map(str::to_owned)
}

pub(super) fn numbers(numbers: &[f64]) -> Json {
    numbers.iter().copied().collect()
}

pub(super) fn place(value: &Json) -> Option<usize> {
    value.as_u64()?.try_into().ok()
}

pub(super) fn list<T>(value: &Json, item: impl Fn(&Json) -> Option<T>) -> Option<Vec<T>> {
    value.as_list()?.iter().map(item).collect()
}

/// `None` when it is neither null nor what `item` reads.
pub(super) fn optional<T>(value: &Json, item: impl Fn(&Json) -> Option<T>) -> Option<Option<T>> {
    match value {
        Json::Null => Some(None),
        value => item(value).map(Some),
    }
}
