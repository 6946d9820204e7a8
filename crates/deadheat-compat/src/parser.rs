//! The part of argparse that tells options from arguments.

/// What an option does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Help,
    AggregatesOnly,
    NoColour,
    NoTest,
    Dump,
    Alpha,
}

impl Action {
    fn takes_value(self) -> bool {
        matches!(self, Self::Dump | Self::Alpha)
    }
}

/// The options of a program or of a mode.
pub(crate) struct Parser {
    pub(crate) options: &'static [(&'static str, Action)],
}

/// An argument that has its place.
pub(crate) struct Positional {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
}

/// What an argument is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Text,
}

impl Positional {
    pub(crate) const fn file(name: &'static str) -> Self {
        let kind = Kind::File;
        Self { name, kind }
    }

    pub(crate) const fn text(name: &'static str) -> Self {
        let kind = Kind::Text;
        Self { name, kind }
    }
}

/// What one argument looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Classified {
    Argument,
    /// The first `--`, behind which everything is an argument.
    Dashes,
    Option,
    /// It looks like an option, and there is none of that name.
    Unknown,
}

/// An option as it was written: what it could be, and the value behind its equals sign or its letter.
enum Written<'v> {
    Known(Vec<(&'static str, Action)>, Option<&'v [u8]>),
    Unknown,
    Argument,
}

/// An option with its name and value.
pub(crate) type Given = (Action, String, Option<Vec<u8>>);

/// Arguments, as far as they were looked at.
pub(crate) struct Seen<'v> {
    arguments: &'v [Vec<u8>],
    classes: Vec<Classified>,
    at: usize,
}

impl<'v> Seen<'v> {
    pub(crate) fn of(parser: &Parser, arguments: &'v [Vec<u8>]) -> Self {
        let mut dashes = false;
        let classes = arguments.iter().map(|argument| {
            if dashes {
                return Classified::Argument;
            }
            if argument == b"--" {
                dashes = true;
                return Classified::Dashes;
            }
            match parser.written(argument) {
                Written::Known(..) => Classified::Option,
                Written::Unknown => Classified::Unknown,
                Written::Argument => Classified::Argument,
            }
        });
        Self {
            arguments,
            classes: classes.collect(),
            at: 0,
        }
    }

    pub(crate) fn next_class(&self) -> Option<Classified> {
        self.classes.get(self.at).copied()
    }

    pub(crate) fn rest(&self) -> &'v [Vec<u8>] {
        &self.arguments[self.at..]
    }

    pub(crate) fn skip(&mut self) {
        self.at += 1;
    }

    /// Goes on, and gives back what was passed.
    pub(crate) fn skipped(&mut self) -> Vec<u8> {
        self.at += 1;
        self.arguments[self.at - 1].clone()
    }

    /// Passes `--` that stands here.
    pub(crate) fn skip_dashes(&mut self) {
        if self.next_class() == Some(Classified::Dashes) {
            self.at += 1;
        }
    }

    /// The option that stands here, and those that are joined with it.
    pub(crate) fn option(&mut self, parser: &Parser) -> Result<Vec<Given>, String> {
        let written = self.skipped();
        let (mut option, mut action, mut value) = match parser.written(&written) {
            Written::Known(options, value) => match options[..] {
                [(option, action)] => (option.to_owned(), action, value),
                _ => {
                    let names: Vec<&str> = options.iter().map(|(name, _)| *name).collect();
                    let written = String::from_utf8_lossy(&written);
                    return Err(format!(
                        "{written}: this could be {}; write it out",
                        names.join(" or ")
                    ));
                }
            },
            Written::Unknown | Written::Argument => return Ok(Vec::new()),
        };
        let mut given = Vec::new();
        loop {
            if action.takes_value() {
                let value = match value {
                    Some(value) => value.to_vec(),
                    None if self.next_class() == Some(Classified::Argument) => self.skipped(),
                    None => return Err(format!("{option}: a value is missing")),
                };
                given.push((action, option, Some(value)));
                return Ok(given);
            }
            let Some(joined) = value else {
                given.push((action, option, None));
                return Ok(given);
            };
            let no_value = format!(
                "{option}: it takes no value, but {:?} follows",
                String::from_utf8_lossy(joined)
            );
            if option.starts_with("--") || joined.is_empty() {
                return Err(no_value);
            }
            // `-ad` is `-a -d`.
            given.push((action, option, None));
            let name = [b'-', joined[0]];
            let next = parser
                .options
                .iter()
                .find(|(known, _)| known.as_bytes() == name);
            let Some((known, next)) = next else {
                return Err(no_value);
            };
            (option, action) = ((*known).to_owned(), *next);
            value = Some(&joined[1..]).filter(|rest| !rest.is_empty());
        }
    }
}

impl Parser {
    fn written<'v>(&self, argument: &'v [u8]) -> Written<'v> {
        if argument.first() != Some(&b'-') || argument == b"-" {
            return Written::Argument;
        }
        let exact = |name: &[u8]| {
            self.options
                .iter()
                .find(|(known, _)| known.as_bytes() == name)
        };
        if let Some(option) = exact(argument) {
            return Written::Known(vec![*option], None);
        }
        let equals = argument.iter().position(|b| *b == b'=');
        let split = equals.map(|at| (&argument[..at], &argument[at + 1..]));
        if let Some((name, value)) = split
            && let Some(option) = exact(name)
        {
            return Written::Known(vec![*option], Some(value));
        }
        let mut value = None;
        let beginning = if argument.starts_with(b"--") {
            value = split.map(|(_, value)| value);
            split.map_or(argument, |(name, _)| name)
        } else {
            // The letters behind a short option are more options or its value.
            let letter = argument.iter().skip(2).position(|b| b & 0xc0 != 0x80);
            let end = letter.map_or(argument.len(), |at| at + 2);
            if let Some(option) = exact(&argument[..end]) {
                return Written::Known(vec![*option], Some(&argument[end..]));
            }
            argument
        };
        let options = self.options.iter().copied();
        let options: Vec<_> = options
            .filter(|(known, _)| known.as_bytes().starts_with(beginning))
            .collect();
        if !options.is_empty() {
            return Written::Known(options, value);
        }
        if is_negative_number(argument) || argument.contains(&b' ') {
            return Written::Argument;
        }
        Written::Unknown
    }
}

/// A minus sign, digits, and perhaps a point among them or before them.
fn is_negative_number(argument: &[u8]) -> bool {
    let digits = |bytes: &[u8]| !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit);
    let number = &argument[1..];
    match number.iter().position(|b| *b == b'.') {
        None => digits(number),
        Some(at) => (at == 0 || digits(&number[..at])) && digits(&number[at + 1..]),
    }
}
