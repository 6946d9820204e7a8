//! What a finished link was made from, kept so that it can be made again.

mod finished;
mod index;
mod libraries;
mod store;
mod thin;

pub(crate) use finished::Finished;
pub(crate) use index::Stamp;
pub use store::drop_unneeded;
pub(crate) use store::{StoreError, write_whole};
