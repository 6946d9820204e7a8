//! A set of characters in brackets.

use super::escape::{Escape, category, escape, literal};
use super::flags::Flags;

/// Translates a class; `rest` begins behind the opening bracket. Gives back how many characters it takes, the closing
/// bracket among them.
pub(super) fn class(rest: &[char], flags: Flags) -> Result<(String, usize), String> {
    let mut at = usize::from(rest.first() == Some(&'^'));
    let mut translated = String::from(if at == 1 { "[^" } else { "[" });
    let first = at;
    loop {
        match rest.get(at) {
            None => return Err("unterminated character set".to_owned()),
            Some(']') if at > first => return Ok((translated + "]", at + 1)),
            Some(_) => {}
        }
        let (low, long) = item(&rest[at..])?;
        at += long;
        // A range, unless the hyphen is the last character of the set.
        if rest.get(at) == Some(&'-') && rest.get(at + 1).is_some_and(|c| *c != ']') {
            let (high, long) = item(&rest[at + 1..])?;
            at += 1 + long;
            match (low, high) {
                (Escape::Character(low), Escape::Character(high)) if low <= high => {
                    translated += &format!("{}-{}", literal(low), literal(high));
                }
                _ => return Err("bad character range".to_owned()),
            }
            continue;
        }
        match low {
            Escape::Category(letter) => translated += category(letter, flags),
            Escape::Character(c) => translated += &literal(c),
            Escape::Group(_) | Escape::Place(_) => return Err("bad escape in a set".to_owned()),
        }
    }
}

fn item(rest: &[char]) -> Result<(Escape, usize), String> {
    match rest.first() {
        None => Err("unterminated character set".to_owned()),
        Some('\\') => escape(&rest[1..], true).map(|(item, long)| (item, long + 1)),
        Some(&c) => Ok((Escape::Character(c), 1)),
    }
}
