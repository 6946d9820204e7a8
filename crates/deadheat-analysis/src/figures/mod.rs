//! Secondary figures of the judged metric: they inform, they never decide.
//!
//! They are worked out once, when the answer is given; the stopping rules
//! never see them.

mod between;
mod figured;
mod measured;
mod percentiles;
mod side;
mod stability;

pub(crate) use figured::Figured;
