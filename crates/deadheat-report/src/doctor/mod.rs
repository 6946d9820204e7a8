//! A checkup in words: a page of text, or JSON for programs.

mod effects;
mod facts;
mod findings;
mod json;
mod mends;
mod numbers;
mod text;

pub use json::to_doctor_json;
pub use text::{DoctorTextOptions, to_doctor_text};
