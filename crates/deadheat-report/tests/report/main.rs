//! What readers and programs see, from analyses made by hand.

mod comment;
mod comparison;
#[cfg(feature = "pictures")]
mod drawn;
mod fixtures;
mod hostile;
mod json;
mod junit;
mod markdown;
mod paired;
#[cfg(feature = "pictures")]
mod pictures;
mod saved;
mod text;
mod words;
