//! Where the work changed, in words and tables, as JSON, and as a page with flame graphs.

mod answer;
mod flame;
mod json;
mod page;

pub use answer::{ExplanationOptions, to_explanation_markdown, to_explanation_text};
pub use json::to_explanation_json;
pub use page::to_explanation_page;
