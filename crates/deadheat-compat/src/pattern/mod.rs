//! Expressions of Python's `re`: searched for in names, and replaced there.
//!
//! They are translated for another engine of the same kind, one that tries alternatives from left to right. Who reads a
//! filter here reads it as Python does: what Python refuses is refused.

mod class;
mod escape;
mod expression;
mod flags;
mod template;
mod translate;
mod width;

pub(crate) use expression::Pattern;
