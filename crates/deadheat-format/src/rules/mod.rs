//! `deadheat.toml`: where it is found, and what it says.

mod document;
mod read;

pub use read::{RULES_FILE, find_rules, read_rules, read_rules_from};
