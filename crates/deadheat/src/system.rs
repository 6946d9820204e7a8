//! What deadheat needs of the operating system to read results and to print answers. The engine,
//! which measures, has it for Linux; `elsewhere` has it for systems on which deadheat only reads.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
pub use elsewhere::*;
#[cfg(target_os = "linux")]
pub use linux::*;
