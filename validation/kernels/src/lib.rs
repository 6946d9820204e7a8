//! Functions in C and Rust, each of them twice, and the races between twins.

pub mod kernels;
mod races;
mod random;

pub use races::register;
