//! In the place of a compiler driver: what it was asked for, and doing that.

mod invocation;
mod link;
mod options;
mod piece;
pub(crate) mod response;

pub(crate) use invocation::Invocation;
pub use link::{LinkError, Linked, link};
pub(crate) use piece::{Piece, Spelling};
