//! How much an item matches, and how often.

/// How many characters something matches, at least and at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Width {
    pub(super) least: usize,
    pub(super) most: Option<usize>,
}

impl Width {
    pub(super) const NONE: Self = Self::fixed(0);

    pub(super) const fn fixed(width: usize) -> Self {
        Self {
            least: width,
            most: Some(width),
        }
    }

    pub(super) fn then(self, next: Self) -> Self {
        Self {
            least: self.least.saturating_add(next.least),
            most: self.most.zip(next.most).and_then(|(a, b)| a.checked_add(b)),
        }
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self {
            least: self.least.min(other.least),
            most: self.most.zip(other.most).map(|(a, b)| a.max(b)),
        }
    }

    pub(super) fn times(self, least: usize, most: Option<usize>) -> Self {
        Self {
            least: self.least.saturating_mul(least),
            most: self.most.zip(most).and_then(|(a, b)| a.checked_mul(b)),
        }
    }
}

/// How often an item is repeated, at least and at most.
pub(super) type Times = (usize, Option<usize>);

/// Reads a quantifier that begins with `c`, `rest` behind it; and how many characters of the rest belong to it. `None` if
/// this is none: braces around anything but numbers mean themselves.
pub(super) fn quantity(c: char, rest: &[char]) -> Result<Option<(Times, usize)>, String> {
    match c {
        '*' => return Ok(Some(((0, None), 0))),
        '+' => return Ok(Some(((1, None), 0))),
        '?' => return Ok(Some(((0, Some(1)), 0))),
        '{' => {}
        _ => return Ok(None),
    }
    let end = rest.iter().position(|c| *c == '}');
    let Some(end) = end.filter(|end| *end > 0) else {
        return Ok(None);
    };
    let inside: String = rest[..end].iter().collect();
    let (least, most) = inside.split_once(',').unwrap_or((&inside, &inside));
    let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    if !is_number(least) || !is_number(most) {
        return Ok(None);
    }
    let number = |text: &str| match text {
        "" => Ok(None),
        _ => text
            .parse::<u32>()
            .map(|n| Some(n as usize))
            .map_err(|_| "the repetition number is too large".to_owned()),
    };
    let (least, most) = (number(least)?.unwrap_or(0), number(most)?);
    if most.is_some_and(|most| most < least) {
        return Err("min repeat greater than max repeat".to_owned());
    }
    Ok(Some(((least, most), end + 1)))
}

/// An item that is so wide, repeated so often, lazily (`?`) or possessively (`+`).
///
/// Once is as good as often where nothing is passed, and often the engine would refuse.
pub(super) fn repeated(
    item: &str,
    width: Width,
    (least, most): Times,
    kind: Option<char>,
) -> String {
    let quantity = match (least, most) {
        (0, _) if width.most == Some(0) && kind == Some('?') => return format!("(?:|{item})"),
        (0, _) if width.most == Some(0) => return format!("(?:{item}|)"),
        _ if width.most == Some(0) => return item.to_owned(),
        (0, None) => "*".to_owned(),
        (1, None) => "+".to_owned(),
        (0, Some(1)) => "?".to_owned(),
        (least, None) => format!("{{{least},}}"),
        (least, Some(most)) => format!("{{{least},{most}}}"),
    };
    match kind {
        Some('?') => format!("(?:{item}){quantity}?"),
        Some(_) => format!("(?>(?:{item}){quantity})"),
        None => format!("(?:{item}){quantity}"),
    }
}
