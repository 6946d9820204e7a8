//! Text fit to stand in HTML, whatever it holds.

use std::fmt::{self, Display, Write};

use crate::glyphs::Glyphs;
use crate::names::escape;

/// What the page can show.
pub(super) const GLYPHS: Glyphs = Glyphs::Unicode;

/// The signs between which a text has a reading direction of its own.
const ISOLATE: char = '\u{2068}';
const END_OF_ISOLATE: char = '\u{2069}';

/// A label that keeps its reading direction to itself, for use in a sentence.
/// It must have been escaped, so that it holds no such sign already.
pub(super) fn isolated(label: &str) -> String {
    format!("{ISOLATE}{label}{END_OF_ISOLATE}")
}

/// A text as content of an element. Isolated labels become `<bdi>`.
pub(super) struct Text<T>(pub(super) T);

impl<T: AsRef<str>> Display for Text<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        harmless(f, self.0.as_ref(), ["<bdi>", "</bdi>"])
    }
}

/// A text as the value of an attribute, between double quotes.
pub(super) struct Attribute<T>(pub(super) T);

impl<T: AsRef<str>> Display for Attribute<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        harmless(f, self.0.as_ref(), ["", ""])
    }
}

/// Writes the text so that nothing in it is markup, and these in place of the
/// two signs.
fn harmless(f: &mut fmt::Formatter<'_>, text: &str, isolate: [&str; 2]) -> fmt::Result {
    let mut rest = text;
    let special = |c: char| matches!(c, '&' | '<' | '>' | '"' | '\'' | ISOLATE | END_OF_ISOLATE);
    while let Some(at) = rest.find(special) {
        f.write_str(&rest[..at])?;
        let character = rest[at..].chars().next().unwrap_or_default();
        f.write_str(match character {
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            '"' => "&quot;",
            '\'' => "&#39;",
            ISOLATE => isolate[0],
            _ => isolate[1],
        })?;
        rest = &rest[at + character.len_utf8()..];
    }
    f.write_str(rest)
}

/// A text from outside as content of an element: what would hide or reverse is
/// shown as its escape.
pub(super) fn foreign(text: &str) -> Text<String> {
    Text(isolated(&escape(text, GLYPHS)))
}

/// A writer through which data pass into a script element: nothing in them
/// can end it, and every reader takes the text for what it is.
pub(super) struct InScript<'a, W: ?Sized>(pub(super) &'a mut W);

impl<W: Write + ?Sized> Write for InScript<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        let hurts = |c: char| matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
        while let Some(at) = rest.find(hurts) {
            self.0.write_str(&rest[..at])?;
            let character = rest[at..].chars().next().unwrap_or_default();
            write!(self.0, "\\u{:04x}", u32::from(character))?;
            rest = &rest[at + character.len_utf8()..];
        }
        self.0.write_str(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        let text = Text("<script>alert('a' & \"b\")</script>").to_string();
        assert_eq!(
            text,
            "&lt;script&gt;alert(&#39;a&#39; &amp; &quot;b&quot;)&lt;/script&gt;"
        );
    }

    #[test]
    fn a_label_has_a_direction_of_its_own_and_cannot_fake_its_end() {
        let hostile = "\u{2069}x\u{202e}";
        assert_eq!(
            foreign(hostile).to_string(),
            r"<bdi>\u{2069}x\u{202e}</bdi>"
        );
        let label = isolated("מהיר");
        assert_eq!(Attribute(label).to_string(), "מהיר");
    }

    #[test]
    fn data_cannot_end_their_script() {
        let mut text = String::new();
        write!(InScript(&mut text), "a</script><!--\u{2028}&").unwrap();
        assert_eq!(text, "a\\u003c/script\\u003e\\u003c!--\\u2028\\u0026");
    }
}
