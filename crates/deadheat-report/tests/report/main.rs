//! What readers and programs see, from analyses made by hand.

mod fixtures;
mod hostile;
mod json;
mod markdown;
mod paired;
mod text;
mod words;
