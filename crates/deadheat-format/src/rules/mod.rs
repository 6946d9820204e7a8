//! `deadheat.toml`: where it is found, and what it says.

mod document;
mod error;
mod find;
mod read;
mod value;

pub use error::RulesError;
pub use find::{RULES_FILE, find_rules};
pub use read::{read_rules, read_rules_from};
