//! What a backslash means in an expression.

use super::flags::Flags;

/// What an escape stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escape {
    Character(char),
    /// `d`, `s`, `w`, or the letter in upper case for all others.
    Category(char),
    /// What was found here before, by the number of its group.
    Group(usize),
    /// `A`, `Z`, `b` or `B`: a place.
    Place(char),
}

/// Reads an escape; `rest` begins behind the backslash. Gives back how many characters it takes.
pub(super) fn escape(rest: &[char], in_class: bool) -> Result<(Escape, usize), String> {
    let Some(&first) = rest.first() else {
        return Err("bad escape (end of pattern)".to_owned());
    };
    let control = match first {
        'a' => Some('\u{7}'),
        'f' => Some('\u{c}'),
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'v' => Some('\u{b}'),
        'b' if in_class => Some('\u{8}'),
        _ => None,
    };
    if let Some(control) = control {
        return Ok((Escape::Character(control), 1));
    }
    match first {
        'd' | 'D' | 's' | 'S' | 'w' | 'W' => Ok((Escape::Category(first), 1)),
        'A' | 'Z' | 'b' | 'B' if !in_class => Ok((Escape::Place(first), 1)),
        'x' => hexadecimal(rest, 2),
        'u' => hexadecimal(rest, 4),
        'U' => hexadecimal(rest, 8),
        '0'..='9' => digits(rest, in_class),
        letter if letter.is_ascii_alphabetic() => Err(format!("bad escape \\{letter}")),
        other => Ok((Escape::Character(other), 1)),
    }
}

fn hexadecimal(rest: &[char], long: usize) -> Result<(Escape, usize), String> {
    let digits: String = rest.iter().skip(1).take(long).collect();
    let complete = digits.len() == long && digits.chars().all(|c| c.is_ascii_hexdigit());
    u32::from_str_radix(&digits, 16)
        .ok()
        .filter(|_| complete)
        .and_then(char::from_u32)
        .map(|c| (Escape::Character(c), 1 + long))
        .ok_or_else(|| format!("incomplete escape \\{}{digits}", rest[0]))
}

/// An octal number or a group.
fn digits(rest: &[char], in_class: bool) -> Result<(Escape, usize), String> {
    let octal = |n: usize| {
        rest.iter()
            .take(n)
            .take_while(|c| ('0'..'8').contains(*c))
            .count()
    };
    let long = octal(3);
    let is_octal = rest[0] == '0' || long == 3 || in_class && long > 0;
    if is_octal {
        let digits: String = rest[..long].iter().collect();
        let value = u32::from_str_radix(&digits, 8).unwrap_or(u32::MAX);
        return char::from_u32(value)
            .filter(|_| value <= 0o377)
            .map(|c| (Escape::Character(c), long))
            .ok_or_else(|| format!("octal escape value \\{digits} outside of range 0-0o377"));
    }
    if in_class {
        return Err(format!("bad escape \\{}", rest[0]));
    }
    let long = rest
        .iter()
        .take(2)
        .take_while(|c| c.is_ascii_digit())
        .count();
    let number = rest[..long].iter().filter_map(|c| c.to_digit(10));
    Ok((
        Escape::Group(number.fold(0, |sum, digit| 10 * sum + digit as usize)),
        long,
    ))
}

/// The characters of a category, as the inside of a class.
pub(super) fn category(letter: char, flags: Flags) -> &'static str {
    match (letter, flags.ascii) {
        ('d', false) => r"\p{Nd}",
        ('D', false) => r"\P{Nd}",
        ('s', false) => r"\s\x1c-\x1f",
        ('S', false) => r"[^\s\x1c-\x1f]",
        ('w', false) => r"\p{L}\p{N}_",
        ('W', false) => r"[^\p{L}\p{N}_]",
        ('d', true) => "0-9",
        ('D', true) => "[^0-9]",
        ('s', true) => r"\t-\r ",
        ('S', true) => r"[^\t-\r ]",
        ('w', true) => "a-zA-Z0-9_",
        _ => "[^a-zA-Z0-9_]",
    }
}

/// A character that means nothing but itself, in a class or outside.
pub(super) fn literal(c: char) -> String {
    if c.is_ascii_alphanumeric() || c == '_' || c == '/' {
        c.to_string()
    } else {
        format!("\\x{{{:x}}}", u32::from(c))
    }
}
