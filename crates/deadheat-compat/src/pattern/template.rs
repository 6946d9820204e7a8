//! What is put in place of a match: text, and groups of the match.

use std::collections::HashMap;

/// A replacement.
#[derive(Debug)]
pub(crate) struct Template {
    pub(super) parts: Vec<Part>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    Literal(String),
    /// What a group holds, by its number; 0 is the whole match.
    Group(usize),
}

impl Template {
    /// Reads a replacement for an expression with so many groups, of which some have names.
    pub(super) fn new(
        text: &str,
        names: &HashMap<String, usize>,
        groups: usize,
    ) -> Result<Self, String> {
        let characters: Vec<char> = text.chars().collect();
        let mut literal = String::new();
        let mut parts = Vec::new();
        let mut at = 0;
        while let Some(&c) = characters.get(at) {
            at += 1;
            if c != '\\' {
                literal.push(c);
                continue;
            }
            let (piece, long) = piece(&characters[at..], names)?;
            at += long;
            match piece {
                Part::Literal(text) => literal.push_str(&text),
                Part::Group(number) if number <= groups => {
                    parts.push(Part::Literal(std::mem::take(&mut literal)));
                    parts.push(Part::Group(number));
                }
                Part::Group(number) => return Err(format!("invalid group reference {number}")),
            }
        }
        parts.push(Part::Literal(literal));
        Ok(Self { parts })
    }
}

/// What stands behind a backslash, and how long it is.
fn piece(rest: &[char], names: &HashMap<String, usize>) -> Result<(Part, usize), String> {
    let Some(&first) = rest.first() else {
        return Err("bad escape (end of pattern)".to_owned());
    };
    let literal = |c: char| Ok((Part::Literal(c.to_string()), 1));
    match first {
        'g' => group_by_name(rest, names),
        '0'..='9' => digits(rest),
        'a' => literal('\u{7}'),
        'b' => literal('\u{8}'),
        'f' => literal('\u{c}'),
        'n' => literal('\n'),
        'r' => literal('\r'),
        't' => literal('\t'),
        'v' => literal('\u{b}'),
        '\\' => literal('\\'),
        letter if letter.is_ascii_alphabetic() => Err(format!("bad escape \\{letter}")),
        other => Ok((Part::Literal(format!("\\{other}")), 1)),
    }
}

/// An octal character (a zero and up to two digits, or three digits), or a group of one digit or two.
fn digits(rest: &[char]) -> Result<(Part, usize), String> {
    let octal = rest
        .iter()
        .take(3)
        .take_while(|c| ('0'..'8').contains(*c))
        .count();
    if rest[0] == '0' || octal == 3 {
        let digits: String = rest[..octal].iter().collect();
        let value = u32::from_str_radix(&digits, 8).unwrap_or(u32::MAX);
        // Behind a zero Python takes what fits; three digits it refuses.
        if rest[0] != '0' && value > 0o377 {
            return Err(format!(
                "octal escape value \\{digits} outside of range 0-0o377"
            ));
        }
        let character = char::from_u32(value & 0xff).map(String::from);
        return Ok((Part::Literal(character.unwrap_or_default()), octal));
    }
    let long = rest
        .iter()
        .take(2)
        .take_while(|c| c.is_ascii_digit())
        .count();
    let number = rest[..long].iter().filter_map(|c| c.to_digit(10));
    Ok((
        Part::Group(number.fold(0, |sum, digit| 10 * sum + digit as usize)),
        long,
    ))
}

/// `g<name>` or `g<number>`.
fn group_by_name(rest: &[char], names: &HashMap<String, usize>) -> Result<(Part, usize), String> {
    if rest.get(1) != Some(&'<') {
        return Err("missing <".to_owned());
    }
    let name: String = rest[2..].iter().take_while(|c| **c != '>').collect();
    let long = 3 + name.chars().count();
    if rest.len() < long {
        return Err("missing >, unterminated name".to_owned());
    }
    if name.is_empty() {
        return Err("missing group name".to_owned());
    }
    if name.chars().all(|c| c.is_ascii_digit()) {
        let number = name.parse().unwrap_or(usize::MAX);
        return Ok((Part::Group(number), long));
    }
    names
        .get(&name)
        .map(|number| (Part::Group(*number), long))
        .ok_or_else(|| format!("unknown group name {name:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Result<Vec<Part>, String> {
        let names = HashMap::from([("n".to_owned(), 2)]);
        Template::new(text, &names, 11).map(|t| t.parts)
    }

    fn text(text: &str) -> Part {
        Part::Literal(text.to_owned())
    }

    #[test]
    fn escapes_are_read_as_python_reads_them() {
        assert_eq!(parts(r"[a\.b vs. c\n]"), Ok(vec![text("[a\\.b vs. c\n]")]));
        assert_eq!(
            parts(r"\1\11\n\g<n>x"),
            Ok(vec![
                text(""),
                Part::Group(1),
                text(""),
                Part::Group(11),
                text("\n"),
                Part::Group(2),
                text("x")
            ])
        );
        assert_eq!(parts(r"\101\0\08"), Ok(vec![text("A\0\u{0}8")]));
    }

    #[test]
    fn what_python_refuses_is_refused() {
        for bad in [
            r"\w", r"\d", r"\12", r"\99", r"\g", r"\g<", r"\g<x>", r"\g<>", r"\g<12>", "\\",
            r"\777",
        ] {
            assert!(parts(bad).is_err(), "{bad}");
        }
    }
}
