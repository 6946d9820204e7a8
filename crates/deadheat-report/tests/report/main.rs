//! What readers and programs see, from analyses made by hand.

mod comment;
mod comparison;
mod drawn;
mod fixtures;
mod hostile;
mod json;
mod junit;
mod markdown;
mod page;
mod paired;
#[cfg(feature = "pictures")]
mod pictures;
#[cfg(feature = "pictures")]
mod plotted;
mod plots;
mod saved;
mod sketched;
mod text;
mod words;
