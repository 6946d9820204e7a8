//! A headless Chromium that opens pages, presses keys and looks at what comes
//! of it.
//!
//! It is spoken to by hand, in the DevTools protocol, because the crates that
//! do this cost more than all other dependencies of the tests together: one
//! fetches the protocol from the network while it is built, the other compiles
//! code for every message there is.
#![allow(
    dead_code,
    unused_imports,
    reason = "every program that opens pages uses its own part"
)]

mod charts;
mod chromium;
mod looks;
mod messages;
mod tab;

pub use charts::Chart;
pub use looks::Looks;
pub use tab::Tab;
