//! The reports that readers and programs see, from analyses made by hand.

#[cfg(feature = "commands")]
mod calibration;
mod comment;
mod comparison;
#[cfg(feature = "commands")]
mod doctor;
mod drawn;
#[cfg(feature = "commands")]
mod fixtures;
mod gates;
#[cfg(feature = "commands")]
mod hostile;
mod json;
mod junit;
mod markdown;
mod page;
mod paired;
#[cfg(feature = "png")]
mod pictures;
mod plots;
#[cfg(feature = "png")]
mod plotted;
mod quoted;
mod row_names;
mod rows;
mod saved;
mod sketched;
mod text;
mod wire;
mod words;
