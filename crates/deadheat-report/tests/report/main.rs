//! What readers and programs see, from analyses made by hand.

#[cfg(feature = "calibration")]
mod calibration;
mod comment;
mod comparison;
mod drawn;
mod fixtures;
mod gates;
mod hostile;
mod json;
mod junit;
mod markdown;
mod page;
mod paired;
#[cfg(feature = "pictures")]
mod pictures;
mod plots;
#[cfg(feature = "pictures")]
mod plotted;
mod quoted;
mod saved;
mod sketched;
mod text;
mod wire;
mod words;
