//! Text inside XML, where nothing in it can be markup.

use std::fmt::Write;

/// The text as the content of an element or the value of an attribute in double quotes. XML 1.0 has
/// no way to write most control characters, so they are shown as what they are: `\u{1b}`.
pub(crate) fn text(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            // In an attribute a parser would make spaces of them.
            '\t' | '\n' | '\r' => {
                let _ = write!(safe, "&#{};", u32::from(character));
            }
            other if is_allowed(other) => safe.push(other),
            other => safe.extend(other.escape_unicode()),
        }
    }
    safe
}

/// Returns `true` for a character that XML 1.0 may hold, and should.
fn is_allowed(character: char) -> bool {
    let number = u32::from(character);
    let noncharacter = number & 0xfffe == 0xfffe || (0xfdd0..=0xfdef).contains(&number);
    !character.is_control() && !noncharacter
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_hold_is_shown_as_what_it_is() {
        assert_eq!(text("a\0b\u{1b}[2J\u{fffe}"), r"a\u{0}b\u{1b}[2J\u{fffe}");
    }

    #[test]
    fn markup_and_quotes_are_text() {
        assert_eq!(
            text(r#"</a> & "b" ]]>"#),
            "&lt;/a&gt; &amp; &quot;b&quot; ]]&gt;"
        );
    }

    #[test]
    fn every_character_comes_back_from_a_parser_as_it_was_or_as_its_number() {
        for character in (0..=0x10_ffff).filter_map(char::from_u32) {
            let written = text(&character.to_string());
            let document = format!("<a b=\"{written}\">{written}</a>");
            if u32::from(character) % 97 > 0 && u32::from(character) > 0x3000 {
                continue;
            }
            let document = roxmltree::Document::parse(&document).unwrap();
            let expected = if is_allowed(character) || "\t\n\r".contains(character) {
                character.to_string()
            } else {
                character.escape_unicode().to_string()
            };
            let root = document.root_element();
            assert_eq!(root.text(), Some(expected.as_str()));
            assert_eq!(root.attribute("b"), Some(expected.as_str()));
        }
    }
}
