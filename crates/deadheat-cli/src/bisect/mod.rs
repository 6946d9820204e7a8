//! `deadheat bisect`: find the commit that changed the time, by races.

mod arguments;
mod search;
mod sides;

pub use arguments::{BisectArgs, EXAMPLES};
pub use search::bisect;
