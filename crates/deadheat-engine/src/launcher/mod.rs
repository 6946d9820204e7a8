//! A small process of its own that launches the commands and times them.
//!
//! Why not launch from deadheat itself? The kernel carries the peak resident
//! set of the launching process over to the launched one (measured: `true`
//! launched from a 25 MB process claims 25 MB), so the launcher must stay
//! smaller than anything worth measuring. Being the parent of all commands it
//! is also the one that can clean up: when deadheat dies, however it dies,
//! its pipe closes and the launcher kills whatever is still running.
//!
//! The launcher is forked once, before the first block, and knows every
//! command of the plan as finished system-call arguments ([`image`]). A block
//! is one request and one reply ([`wire`]); between them the launcher
//! allocates nothing.

mod child;
mod client;
pub(crate) mod image;
mod serve;
pub(crate) mod wire;

pub use client::LauncherError;
pub(crate) use client::{Launcher, LauncherOptions};
pub use image::ImageError;
