//! What the operating systems do differently with files: kinds, identities, owners and permissions.
//! The submodules have the same functions, and the rest of the crate has no code for one system.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;
