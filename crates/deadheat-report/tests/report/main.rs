//! What readers and programs see, from analyses made by hand.

mod fixtures;
mod hostile;
mod json;
mod markdown;
mod text;
mod words;
