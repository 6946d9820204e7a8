//! Every sentence of a checkup.

mod does;
mod is;
mod matters;
mod page;
mod told;

pub(in crate::doctor) use page::{advice, example, headline, measured, option};
pub(in crate::doctor) use told::{title, told};
