//! Regular expressions in the syntax of Python's module `re`, for searching and replacing in names.
//!
//! The crate fancy-regex interprets most expressions as Python does, and also tries alternatives
//! from left to right. This module rewrites the others: sets of characters, because fancy-regex
//! also supports nested sets and set differences, and escapes that only Python or only fancy-regex
//! supports.

use std::iter::Peekable;
use std::str::Chars;

use fancy_regex::{Captures, Regex, RegexBuilder};

use crate::problem::Problem;

/// Maximum number of backtracking steps per name. Python has no limit, and can take hours for one
/// name.
const MOST_STEPS: usize = 10_000_000;

/// A compiled regular expression with Python's semantics.
#[derive(Debug)]
pub(crate) struct Pattern {
    source: String,
    regex: Regex,
}

impl Pattern {
    pub(crate) fn new(source: &str) -> Result<Self, Problem> {
        let pattern = rewritten(source).map_err(|what| about(source, &what))?;
        let regex = RegexBuilder::new(&pattern)
            .backtrack_limit(MOST_STEPS)
            .build()
            .map_err(|error| about(source, &error.to_string()))?;
        let source = source.to_owned();
        Ok(Self { source, regex })
    }

    /// Returns true if the pattern is found in the text, like `re.search`.
    pub(crate) fn is_found_in(&self, text: &str) -> Result<bool, Problem> {
        self.regex.is_match(text).map_err(|e| self.gave_up(&e))
    }

    /// Replaces all matches from left to right, like `re.sub`. As in Python, an empty match may
    /// directly follow another match, so `.*` matches twice in a name; fancy-regex would match
    /// once.
    pub(crate) fn replace(&self, text: &str, replacement: &str) -> Result<String, Problem> {
        let mut replaced = String::with_capacity(text.len());
        let (mut copied, mut from) = (0, 0);
        while from <= text.len() {
            let found = self.regex.captures_from_pos(text, from);
            let Some(captures) = found.map_err(|e| self.gave_up(&e))? else {
                break;
            };
            let Some(all) = captures.get(0) else {
                break;
            };
            replaced.push_str(&text[copied..all.start()]);
            expand(replacement, &captures, &mut replaced).map_err(|what| {
                Problem::at("", format!("the replacement {replacement:?}: {what}"))
            })?;
            (copied, from) = (all.end(), all.end());
            if all.start() == all.end() {
                from += text[from..].chars().next().map_or(1, char::len_utf8);
            }
        }
        replaced.push_str(&text[copied..]);
        Ok(replaced)
    }

    fn gave_up(&self, error: &fancy_regex::Error) -> Problem {
        about(&self.source, &format!("cannot be searched for: {error}"))
    }
}

fn about(source: &str, what: &str) -> Problem {
    Problem::at("", format!("the filter {source:?}: {what}"))
}

/// Converts an expression from Python's syntax to the syntax of fancy-regex.
fn rewritten(source: &str) -> Result<String, String> {
    let mut pattern = String::with_capacity(source.len());
    let mut rest = source.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' => match rest.next() {
                Some('Z') => pattern.push_str(r"\z"),
                Some(c @ ('A' | 'b' | 'B' | '1'..='9')) => pattern.extend(['\\', c]),
                other => escape(other, &mut pattern)?,
            },
            '[' => class(&mut rest, &mut pattern)?,
            c => pattern.push(c),
        }
    }
    Ok(pattern)
}

/// Appends an escaped character, in a set or outside. The error is a sentence about the escape.
fn escape(escaped: Option<char>, pattern: &mut String) -> Result<(), String> {
    match escaped {
        None => return Err("bad escape (end of pattern)".to_owned()),
        Some(c @ ('d' | 'D' | 's' | 'S' | 'w' | 'W' | 'a' | 'f' | 'n' | 'r' | 't' | 'v'))
        | Some(c @ ('x' | 'u' | 'U')) => pattern.extend(['\\', c]),
        Some(c) if c.is_ascii_digit() => {
            return Err(format!("\\{c}: write octal characters as \\x.."));
        }
        Some(c) if c.is_ascii_alphabetic() => return Err(format!("bad escape \\{c}")),
        Some(c) => literal(c, pattern),
    }
    Ok(())
}

/// Appends a character without a special meaning, in a set or outside.
fn literal(c: char, pattern: &mut String) {
    // In fancy-regex, `\<` and `\>` match word boundaries, so `<` and `>` must not be escaped.
    if c.is_ascii() && !c.is_ascii_alphanumeric() && !matches!(c, '<' | '>') {
        pattern.push('\\');
    }
    pattern.push(c);
}

/// Appends a set of characters. `rest` begins after the opening bracket.
fn class(rest: &mut Peekable<Chars<'_>>, pattern: &mut String) -> Result<(), String> {
    pattern.push('[');
    if rest.next_if_eq(&'^').is_some() {
        pattern.push('^');
    }
    // The state after the previous item: a range may begin with that item, or the item has begun a
    // range.
    let (mut is_first, mut may_begin, mut is_range) = (true, false, false);
    loop {
        match rest.next() {
            None => return Err("unterminated character set".to_owned()),
            Some(']') if !is_first => {
                pattern.push(']');
                return Ok(());
            }
            Some('-') if may_begin && rest.peek() != Some(&']') => {
                pattern.push('-');
                (may_begin, is_range) = (false, true);
                continue;
            }
            Some('\\') if rest.next_if_eq(&'b').is_some() => pattern.push_str(r"\x08"),
            Some('\\') => escape(rest.next(), pattern)?,
            Some(c) => literal(c, pattern),
        }
        is_first = false;
        (may_begin, is_range) = (!is_range, false);
    }
}

/// Appends the replacement text, with each group number replaced by the text of that group.
fn expand(
    replacement: &str,
    captures: &Captures<'_, str>,
    replaced: &mut String,
) -> Result<(), String> {
    let mut rest = replacement.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            replaced.push(c);
            continue;
        }
        match rest.next() {
            None => return Err("bad escape (end of pattern)".to_owned()),
            Some(first @ '0'..='9') => {
                let digits = [Some(first), rest.next_if(char::is_ascii_digit)];
                let digits: String = digits.into_iter().flatten().collect();
                let number = digits.parse().unwrap_or(0);
                if first == '0' || number >= captures.len() {
                    return Err(format!("invalid group reference {digits}"));
                }
                replaced.push_str(captures.get(number).map_or("", |group| group.as_str()));
            }
            Some('a') => replaced.push('\u{7}'),
            Some('b') => replaced.push('\u{8}'),
            Some('f') => replaced.push('\u{c}'),
            Some('n') => replaced.push('\n'),
            Some('r') => replaced.push('\r'),
            Some('t') => replaced.push('\t'),
            Some('v') => replaced.push('\u{b}'),
            Some('\\') => replaced.push('\\'),
            Some(c) if c.is_ascii_alphabetic() => return Err(format!("bad escape \\{c}")),
            Some(c) => replaced.extend(['\\', c]),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(pattern: &str, replacement: &str, text: &str) -> Result<String, Problem> {
        Pattern::new(pattern).unwrap().replace(text, replacement)
    }

    #[test]
    fn empty_matches_are_replaced_as_python_replaces_them() {
        for (pattern, text, want) in [
            ("x*", "abxd", "-a-b--d-"),
            ("x*", "", "-"),
            (".*", "ab", "--"),
            ("^", "ab", "-ab"),
            ("$", "ab", "ab-"),
            (r"\b", "ab cd", "-ab- -cd-"),
            ("b|", "äb", "-ä--"),
        ] {
            assert_eq!(replaced(pattern, "-", text).unwrap(), want, "{pattern}");
        }
    }

    #[test]
    fn groups_and_escapes_find_their_way_into_the_replacement() {
        for (pattern, replacement, text, want) in [
            ("(a)(b)?", r"[\1\2]", "ab a", "[ab] [a]"),
            ("(|a)", r"<\1>", "a", "<>a<>"),
            ("b", r"[a\.b vs. c\n]", "b", "[a\\.b vs. c\n]"),
            ("b", r"\\w", "b", r"\w"),
        ] {
            assert_eq!(replaced(pattern, replacement, text).unwrap(), want);
        }
        for bad in [r"\w", r"\d", r"\2", r"\12", r"\0", r"\g<1>", "\\"] {
            assert!(replaced("(a)", bad, "a").is_err(), "{bad}");
            // Python parses the replacement only if the pattern matches.
            assert_eq!(replaced("(a)", bad, "b").unwrap(), "b");
        }
    }

    #[test]
    fn what_python_finds_is_found() {
        for (pattern, text, found) in [
            ("BM_", "a/BM_x", true),
            ("^BM$", "BM", true),
            (r"^BM\Z", "BM\n", false),
            (r"(?<=a|b)c", "bc", true),
            (r"(a)?(?(1)b|c)$", "ab", true),
            (r"(?P<q>['x])(?P=q)", "xx", true),
            (r"(.)\1", "abba", true),
            ("(?i)bm", "BM", true),
            ("a(?i:b)c", "aBc", true),
            ("a(?i:b)c", "aBC", false),
            ("[]a]", "]", true),
            ("[^]a]", "]", false),
            ("[[a]", "[", true),
            ("[a&&b]", "&", true),
            ("[+--b]", "b", true),
            ("[a-]", "-", true),
            ("x{2,3}y", "xxy", true),
            ("x{,2}y", "y", true),
            ("x{y", "x{y", true),
            ("x{}", "x{}", true),
            (r"\d{3}", "123", true),
            (r"\x41[\x42]\u0043", "ABC", true),
            ("(?x) a b # comment", "ab", true),
            ("(?s).", "\n", true),
            (".", "\n", false),
            ("(?m)^b$", "a\nb\nc", true),
            ("(?#comment)a", "a", true),
            (r"[\w-]+$", "a-b", true),
            (r"[\S]", " ", false),
            (r"[\b]", "b", false),
            (r"\<\>\/\_\ä", "<>/_ä", true),
            ("(?>a+)a", "aaa", false),
            ("a++a", "aaa", false),
            ("(?!b)a", "a", true),
            (r"a\Ba", "aa", true),
            ("(?#comment)(?i)a", "A", true),
        ] {
            let expression = Pattern::new(pattern).unwrap_or_else(|e| panic!("{pattern}: {e}"));
            assert_eq!(expression.is_found_in(text).unwrap(), found, "{pattern}");
        }
    }

    #[test]
    fn what_python_refuses_is_refused() {
        for pattern in [
            "(", ")", "*", "a**", "+a", "[", "[a", "[z-a]", r"\1", r"\q", r"\<\g<0>", "(?z)",
            "(?P=x)", "(?", "(?P", "\\", r"[\q]", "(?L)a", r"\x4", r"[\d-z]", "(?:a",
        ] {
            assert!(Pattern::new(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn what_is_rare_and_read_otherwise_is_refused_and_named() {
        for pattern in [r"\101", r"[\0]", "(?a)a", "(?:(?!b))+a"] {
            let what = Pattern::new(pattern).unwrap_err().what;
            assert!(what.contains(&format!("{pattern:?}")), "{what}");
        }
    }
}
