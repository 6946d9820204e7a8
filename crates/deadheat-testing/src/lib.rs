//! Helpers that the tests of several crates share: runs made by hand, random
//! numbers, and tools.
//!
//! A test that misses a tool beside Rust and a C compiler says so, by name, and passes; with
//! `DEADHEAT_REQUIRE_TOOLS=1`, as under `./test`, it fails.

pub mod runs;
mod tools;

pub use tools::{Tool, is_missing, kill, missing, record, recorded, tools};

/// Random numbers for simulations.
pub mod random {
    /// A stream of random numbers (SplitMix64) that is decided by its seed and lies open here, so that
    /// no other version of a library changes what a test has seen.
    pub struct Stream(pub u64);

    impl Stream {
        /// A number above 0 and below 1.
        pub fn uniform(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^= z >> 31;
            ((z >> 11) as f64 + 0.5) / (1u64 << 53) as f64
        }

        /// A number from the standard normal distribution (Box & Muller 1958).
        pub fn normal(&mut self) -> f64 {
            let radius = (-2.0 * self.uniform().ln()).sqrt();
            radius * (std::f64::consts::TAU * self.uniform()).cos()
        }
    }
}
