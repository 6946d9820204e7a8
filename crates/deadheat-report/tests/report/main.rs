//! What readers and programs see, from analyses made by hand.

mod comparison;
mod drawn;
mod fixtures;
mod hostile;
mod json;
mod junit;
mod markdown;
mod page;
mod paired;
mod saved;
mod text;
mod words;
