//! The page of a search for the commit that changed the time.

use std::fmt::Write as _;

use deadheat_model::bisect::Bisection;

use super::html::{self, Attribute, GLYPHS, Text};
use super::write::STYLE;
use crate::bisect::{answer, title};

/// The answer of a search as one HTML file that needs nothing from any network, and no script.
pub fn to_bisect_page(bisection: &Bisection) -> String {
    let mut page = String::new();
    let title = title(bisection, GLYPHS);
    let version = &bisection.log.request.tool_version;
    write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"deadheat {}\">\n\
         <title>{} · deadheat</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <header><div class=\"bar\"><span class=\"mark\">deadheat</span></div><h1>{}</h1></header>\n\
         <main><section class=\"benchmark\">",
        Attribute(version),
        Attribute(&title),
        Text(&title)
    )
    .and_then(|()| html::blocks(&mut page, &answer(bisection, GLYPHS)))
    .and_then(|()| page.write_str("</section></main>\n</body>\n</html>\n"))
    .expect("a String takes every write");
    page
}
