//! The functions of the operating system that deadheat needs to read results and to print answers.
//! On Linux, the engine has most of them. On other systems, where deadheat does not measure, they
//! are in `elsewhere`.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
pub use elsewhere::*;
#[cfg(target_os = "linux")]
pub use linux::*;
