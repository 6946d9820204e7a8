//! Tidy CSV whose rows stand in their order, held in little room.

mod held;
mod reading;
mod rows;

pub use held::RecordedTable;
