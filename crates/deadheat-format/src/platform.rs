//! File operations that differ between operating systems: kinds, identities, owners and
//! permissions. The submodules have the same functions.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;
