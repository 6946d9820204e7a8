//! Expressions of Python in the words of the engine that searches for them.

use std::collections::HashMap;

use super::class::class;
use super::escape::{Escape, category, escape, literal};
use super::flags::Flags;
use super::width::{Width, quantity, repeated};

/// Groups within groups; more than this and Python has long run out of stack.
const DEEPEST: usize = 150;

/// An expression in the words of the engine.
#[derive(Debug)]
pub(super) struct Translated {
    pub(super) pattern: String,
    shifted: String,
    /// The groups that have a name, by their number.
    pub(super) names: HashMap<String, usize>,
    /// How many groups there are.
    pub(super) groups: usize,
}

impl Translated {
    /// The same expression, but it matches nothing empty. All its groups have numbers that are larger by 1.
    pub(super) fn nonempty(&self) -> String {
        // The first group holds all that is left; when the match is over, less must be left.
        format!(
            r"(?=([\x{{0}}-\x{{10ffff}}]*)\z)(?:{})(?!\1\z)",
            self.shifted
        )
    }
}

/// Translates an expression.
pub(super) fn translate(source: &str) -> Result<Translated, String> {
    let (pattern, names, groups) = Reader::all(source, 0)?;
    let (shifted, ..) = Reader::all(source, 1)?;
    Ok(Translated {
        pattern,
        shifted,
        names,
        groups,
    })
}

/// What may stand before a quantifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    Repeated,
    Item,
}

struct Reader {
    source: Vec<char>,
    at: usize,
    /// Added to the number of every group.
    shift: usize,
    names: HashMap<String, usize>,
    /// The widths of the groups; `None` while a group is open.
    groups: Vec<Option<Width>>,
    depth: usize,
}

impl Reader {
    fn all(source: &str, shift: usize) -> Result<(String, HashMap<String, usize>, usize), String> {
        let mut reader = Self {
            source: source.chars().collect(),
            at: 0,
            shift,
            names: HashMap::new(),
            groups: Vec::new(),
            depth: 0,
        };
        let flags = reader.global_flags()?;
        let (mut pattern, _) = reader.alternatives(flags)?;
        if reader.at < reader.source.len() {
            return Err("unbalanced parenthesis".to_owned());
        }
        if flags.ignore_case {
            pattern = format!("(?i:{pattern})");
        }
        Ok((pattern, reader.names, reader.groups.len()))
    }

    fn peek(&self) -> Option<char> {
        self.source.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += usize::from(c.is_some());
        c
    }

    fn take(&mut self, c: char) -> bool {
        let there = self.peek() == Some(c);
        self.at += usize::from(there);
        there
    }

    fn rest(&self) -> &[char] {
        &self.source[self.at.min(self.source.len())..]
    }

    /// `(?i)` and the like, which may stand at the very beginning only, behind comments at most.
    fn global_flags(&mut self) -> Result<Flags, String> {
        let mut flags = Flags::default();
        while let ['(', '?', letters @ ..] = self.rest() {
            if let Some(end) = letters.iter().position(|c| *c == ')')
                && letters[0] == '#'
            {
                self.at += end + 3;
                continue;
            }
            let long = letters
                .iter()
                .take_while(|c| c.is_ascii_alphabetic())
                .count();
            if long == 0 || letters.get(long) != Some(&')') || letters[0] == 'P' {
                break;
            }
            let letters = letters[..long].to_vec();
            for letter in letters {
                flags.set(letter, true)?;
            }
            self.at += long + 3;
        }
        Ok(flags)
    }

    fn alternatives(&mut self, flags: Flags) -> Result<(String, Width), String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("too many groups within groups".to_owned());
        }
        let (mut pattern, mut width) = self.sequence(flags)?;
        while self.take('|') {
            let (other, other_width) = self.sequence(flags)?;
            pattern = format!("{pattern}|{other}");
            width = width.or(other_width);
        }
        self.depth -= 1;
        Ok((pattern, width))
    }

    fn sequence(&mut self, flags: Flags) -> Result<(String, Width), String> {
        let mut pattern = String::new();
        let mut width = Width::NONE;
        let mut before = Before::Nothing;
        // Where the last item begins, and how wide it is.
        let (mut last, mut last_width) = (0, Width::NONE);
        while let Some(c) = self.peek() {
            if c == '|' || c == ')' {
                break;
            }
            self.at += 1;
            if flags.verbose && self.skips(c) {
                continue;
            }
            if let Some(((least, most), long)) = quantity(c, self.rest())? {
                self.at += long;
                match before {
                    Before::Nothing => return Err("nothing to repeat".to_owned()),
                    Before::Repeated => return Err("multiple repeat".to_owned()),
                    Before::Item => {}
                }
                let kind = ['?', '+'].into_iter().find(|k| self.take(*k));
                let item = pattern.split_off(last);
                pattern += &repeated(&item, last_width, (least, most), kind);
                width = width.then(last_width.times(least, most));
                last_width = Width::NONE;
                before = Before::Repeated;
                continue;
            }
            let Some((item, item_width, repeatable)) = self.item(c, flags)? else {
                continue;
            };
            width = width.then(last_width);
            last = pattern.len();
            pattern += &item;
            last_width = item_width;
            before = if repeatable {
                Before::Item
            } else {
                Before::Nothing
            };
        }
        Ok((pattern, width.then(last_width)))
    }

    /// White space and comments, where they mean nothing.
    fn skips(&mut self, c: char) -> bool {
        if c == '#' {
            while self.next().is_some_and(|c| c != '\n') {}
        }
        c == '#' || matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}')
    }

    /// What begins with a character that is no quantifier: its translation, its width, and whether it can be repeated.
    /// `None` for a comment.
    fn item(&mut self, c: char, flags: Flags) -> Result<Option<(String, Width, bool)>, String> {
        let one = |pattern: String| Ok(Some((pattern, Width::fixed(1), true)));
        let place = |pattern: &str| Ok(Some((pattern.to_owned(), Width::NONE, false)));
        match c {
            '.' if flags.dot_all => one(r"[\x{0}-\x{10ffff}]".to_owned()),
            '.' => one(r"[^\n]".to_owned()),
            '^' if flags.multi_line => place("(?m:^)"),
            '^' => place(r"\A"),
            '$' if flags.multi_line => place("(?m:$)"),
            '$' => place(r"(?=\n?\z)"),
            '[' => {
                let (pattern, long) = class(self.rest(), flags)?;
                self.at += long;
                one(pattern)
            }
            '(' => self.group(flags),
            '\\' => {
                let (meaning, long) = escape(self.rest(), false)?;
                self.at += long;
                match meaning {
                    Escape::Character(c) => one(literal(c)),
                    Escape::Category(letter) => one(format!("[{}]", category(letter, flags))),
                    Escape::Place('A') => place(r"\A"),
                    Escape::Place('Z') => place(r"\z"),
                    Escape::Place('b') => place(r"\b"),
                    // Before Python 3.14 nothing is not even no edge of a word.
                    Escape::Place(_) => place(r"(?!\A\z)\B"),
                    Escape::Group(number) => self.found_before(number).map(Some),
                }
            }
            c => one(literal(c)),
        }
    }

    /// A reference to a group, which must be closed.
    fn found_before(&self, number: usize) -> Result<(String, Width, bool), String> {
        match number.checked_sub(1).and_then(|n| self.groups.get(n)) {
            None => Err(format!("invalid group reference {number}")),
            Some(None) => Err("cannot refer to an open group".to_owned()),
            Some(Some(width)) => Ok((format!("(?:\\{})", number + self.shift), *width, true)),
        }
    }

    fn group(&mut self, flags: Flags) -> Result<Option<(String, Width, bool)>, String> {
        if !self.take('?') {
            return self.capturing(None, flags).map(Some);
        }
        match self.next() {
            Some(':') => self.closed("(?:", flags).map(Some),
            Some('>') => self.closed("(?>", flags).map(Some),
            Some('#') => {
                while let Some(c) = self.next() {
                    if c == ')' {
                        return Ok(None);
                    }
                }
                Err("missing ), unterminated comment".to_owned())
            }
            Some(c @ ('=' | '!')) => {
                let (pattern, ..) = self.closed(&format!("(?{c}"), flags)?;
                Ok(Some((pattern, Width::NONE, true)))
            }
            Some('<') => {
                let Some(c @ ('=' | '!')) = self.next() else {
                    return Err("unknown extension ?<".to_owned());
                };
                let (pattern, width, _) = self.closed(&format!("(?<{c}"), flags)?;
                if width.most != Some(width.least) {
                    return Err("look-behind requires fixed-width pattern".to_owned());
                }
                Ok(Some((pattern, Width::NONE, true)))
            }
            Some('P') => match self.next() {
                Some('<') => {
                    let name = self.name('>')?;
                    self.capturing(Some(name), flags).map(Some)
                }
                Some('=') => {
                    let name = self.name(')')?;
                    let number = self.names.get(&name).copied();
                    let number = number.ok_or_else(|| format!("unknown group name {name:?}"))?;
                    self.found_before(number).map(Some)
                }
                _ => Err("unknown extension ?P".to_owned()),
            },
            Some('(') => self.conditional(flags).map(Some),
            Some(c) if c == '-' || c.is_ascii_alphabetic() => {
                self.at -= 1;
                self.with_flags(flags).map(Some)
            }
            _ => Err("unknown extension".to_owned()),
        }
    }

    fn name(&mut self, end: char) -> Result<String, String> {
        let mut name = String::new();
        loop {
            match self.next() {
                Some(c) if c == end => break,
                Some(c) => name.push(c),
                None => return Err(format!("missing {end}, unterminated name")),
            }
        }
        let starts = name
            .chars()
            .next()
            .is_some_and(|c| c.is_alphabetic() || c == '_');
        if !starts || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
            return Err(format!("bad character in group name {name:?}"));
        }
        Ok(name)
    }

    fn capturing(
        &mut self,
        name: Option<String>,
        flags: Flags,
    ) -> Result<(String, Width, bool), String> {
        self.groups.push(None);
        let number = self.groups.len();
        if let Some(name) = name
            && self.names.insert(name.clone(), number).is_some()
        {
            return Err(format!("redefinition of group name {name:?}"));
        }
        let (pattern, width, _) = self.closed("(", flags)?;
        self.groups[number - 1] = Some(width);
        Ok((pattern, width, true))
    }

    /// Alternatives up to the closing parenthesis.
    fn closed(&mut self, head: &str, flags: Flags) -> Result<(String, Width, bool), String> {
        let (pattern, width) = self.alternatives(flags)?;
        if !self.take(')') {
            return Err("missing ), unterminated subpattern".to_owned());
        }
        Ok((format!("{head}{pattern})"), width, true))
    }

    /// `(?(group)yes|no)`.
    fn conditional(&mut self, flags: Flags) -> Result<(String, Width, bool), String> {
        let written: String = self.rest().iter().take_while(|c| **c != ')').collect();
        let number = if !written.is_empty() && written.chars().all(|c| c.is_ascii_digit()) {
            self.at += written.chars().count() + 1;
            written.parse().unwrap_or(0)
        } else {
            let name = self.name(')')?;
            let number = self.names.get(&name).copied();
            number.ok_or_else(|| format!("unknown group name {name:?}"))?
        };
        // Python lets one ask for a group that comes later; here it must have begun.
        if number == 0 || number > self.groups.len() {
            return Err(format!("invalid group reference {number}"));
        }
        let (yes, yes_width) = self.sequence(flags)?;
        let (no, no_width) = if self.take('|') {
            self.sequence(flags)?
        } else {
            (String::new(), Width::NONE)
        };
        if self.peek() == Some('|') {
            return Err("conditional backref with more than two branches".to_owned());
        }
        if !self.take(')') {
            return Err("missing ), unterminated subpattern".to_owned());
        }
        let number = number + self.shift;
        // A branch of its own, so that it may hold anything.
        let pattern = format!("(?:(?({number})(?:{yes})|(?:{no})))");
        Ok((pattern, yes_width.or(no_width), true))
    }

    /// `(?i-s:…)`.
    fn with_flags(&mut self, outer: Flags) -> Result<(String, Width, bool), String> {
        let mut flags = outer;
        let mut on = true;
        let mut changed = false;
        loop {
            match self.next() {
                Some('-') if on => on = false,
                Some(':') if changed => break,
                Some(')') if changed && on => {
                    return Err("global flags not at the start of the expression".to_owned());
                }
                Some(letter @ ('a' | 'u')) if !on => {
                    return Err(format!("bad inline flags: cannot turn off flag {letter:?}"));
                }
                Some(letter) => {
                    flags.set(letter, on)?;
                    changed = true;
                }
                None => return Err("missing -, : or )".to_owned()),
            }
        }
        let head = match (outer.ignore_case, flags.ignore_case) {
            (false, true) => "(?i:",
            (true, false) => "(?-i:",
            _ => "(?:",
        };
        self.closed(head, flags)
    }
}
