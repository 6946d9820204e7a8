//! Syntax of shells in a text that no shell reads.

use std::iter::Peekable;
use std::str::CharIndices;

use deadheat_engine::is_variable_name;

/// A piece of a text that a shell would act upon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShellSyntax<'a> {
    /// A variable that is set in front of a command.
    Assignment(&'a str),
    /// The beginning of a comment.
    Comment,
    /// Anything else: an operator, an expansion, a pattern of file names.
    Other(&'a str),
}

impl ShellSyntax<'_> {
    /// What becomes of it without a shell, and what to do.
    pub(super) fn hint(self) -> String {
        match self {
            Self::Assignment(word) => format!(
                "only a shell sets a variable in front of a command, so '{word}' is taken for the program\nhelp: -S runs commands in a shell, and env {word} sets it without one"
            ),
            Self::Comment => {
                "what follows the '#' is left out, as shells leave out comments; quote \
                              it to pass it on"
                    .to_owned()
            }
            Self::Other(piece) => format!(
                "no shell reads the '{piece}', the program gets it as an argument\nhelp: -S runs commands \
                 in a shell"
            ),
        }
    }
}

/// The first piece of shell syntax in a text, outside quotes. In double quotes only expansions are.
pub(super) fn shell_syntax(text: &str) -> Option<ShellSyntax<'_>> {
    let mut scan = Scan {
        text,
        chars: text.char_indices().peekable(),
        word_at: None,
        is_first_word: true,
        has_quotes: false,
    };
    scan.first()
}

struct Scan<'a> {
    text: &'a str,
    chars: Peekable<CharIndices<'a>>,
    /// The beginning of the word that is read, if one is.
    word_at: Option<usize>,
    is_first_word: bool,
    /// True if a part of the word that was read so far is quoted.
    has_quotes: bool,
}

impl<'a> Scan<'a> {
    fn first(&mut self) -> Option<ShellSyntax<'a>> {
        while let Some((at, c)) = self.chars.next() {
            if c.is_ascii_whitespace() {
                self.is_first_word &= self.word_at.is_none();
                (self.word_at, self.has_quotes) = (None, false);
                continue;
            }
            let begins_word = self.word_at.is_none();
            let word_at = *self.word_at.get_or_insert(at);
            let found = match c {
                '\'' => {
                    self.chars.by_ref().find(|(_, c)| *c == '\'');
                    None
                }
                '"' => self.expansion_in_quotes(),
                '\\' => {
                    self.chars.next();
                    None
                }
                '$' => expansion(&self.text[at..]),
                '`' => Some("`"),
                '|' | '&' | ';' | '<' | '>' => Some(operator(self.text, word_at, at)),
                // Further on, as in find, they are arguments.
                '(' if begins_word && self.is_first_word => Some("("),
                '#' if begins_word => return Some(ShellSyntax::Comment),
                '~' if begins_word => Some(word(&self.text[at..])).filter(|word| is_home(word)),
                '*' | '?' if self.has_quotes => Some(word(&self.text[at..])),
                '*' | '?' => Some(word(&self.text[word_at..])).filter(|word| is_of_files(word)),
                '=' if self.is_first_word && !self.has_quotes => {
                    let name = &self.text[word_at..at];
                    if is_variable_name(name) {
                        return Some(ShellSyntax::Assignment(word(&self.text[word_at..])));
                    }
                    None
                }
                _ => None,
            };
            self.has_quotes |= matches!(c, '\'' | '"' | '\\');
            if found.is_some() {
                return found.map(ShellSyntax::Other);
            }
        }
        None
    }

    /// The first expansion before the end of a double quote.
    fn expansion_in_quotes(&mut self) -> Option<&'a str> {
        while let Some((at, c)) = self.chars.next() {
            match c {
                '"' => return None,
                '\\' => {
                    self.chars.next();
                }
                '`' => return Some("`"),
                '$' => {
                    if let Some(found) = expansion(&self.text[at..]) {
                        return Some(found);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

/// The word at the beginning of a text, up to a space or an operator.
fn word(text: &str) -> &str {
    let ends = |c: char| c.is_ascii_whitespace() || "|&;<>()\"'`".contains(c);
    &text[..text.find(ends).unwrap_or(text.len())]
}

/// Returns the expansion that a text begins with, as `$HOME` or `$(date)`; `None` if the dollar sign at
/// its beginning is plain text.
fn expansion(text: &str) -> Option<&str> {
    let next = text[1..].chars().next()?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match next {
        '(' => Some("$("),
        '{' => Some(text.split_inclusive('}').next().unwrap_or(text)),
        '@' | '*' | '#' | '?' | '$' | '!' => Some(&text[..2]),
        c if c.is_ascii_digit() => Some(&text[..2]),
        c if is_name(c) => {
            let end = text[1..]
                .find(|c| !is_name(c))
                .map_or(text.len(), |end| end + 1);
            Some(&text[..end])
        }
        _ => None,
    }
}

/// The operator around a place: `2>&1` from its digits on.
fn operator(text: &str, word_at: usize, at: usize) -> &str {
    let before = &text[word_at..at];
    let has_number = !before.is_empty() && before.chars().all(|c| c.is_ascii_digit());
    let is_redirection = text[at..].starts_with(['<', '>']);
    let from = if has_number && is_redirection {
        word_at
    } else {
        at
    };
    let rest = &text[at..];
    let signs = rest.find(|c| !"|&;<>".contains(c)).unwrap_or(rest.len());
    let digits = rest[signs..].find(|c: char| !c.is_ascii_digit());
    let digits = digits.unwrap_or(rest.len() - signs);
    let end = at
        + signs
        + if rest[..signs].ends_with('&') && signs > 1 {
            digits
        } else {
            0
        };
    &text[from..end]
}

/// `~`, `~/some/file` or `~user`.
fn is_home(word: &str) -> bool {
    let user = word[1..].split('/').next().unwrap_or_default();
    user.chars()
        .all(|c| c.is_ascii_alphanumeric() || "_-.+".contains(c))
}

/// Returns true if a word with a `*` or `?` may be meant as a pattern of file names: addresses and
/// values of options are not.
fn is_of_files(word: &str) -> bool {
    let is_value = word.starts_with('-') && word.contains('=');
    !is_value && !word.contains("://")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn other(text: &str) -> Option<&str> {
        match shell_syntax(text)? {
            ShellSyntax::Other(piece) => Some(piece),
            syntax => panic!("{text}: {syntax:?}"),
        }
    }

    #[test]
    fn unquoted_syntax_is_found_wherever_it_stands() {
        for (text, piece) in [
            ("a | b", "|"),
            ("a|b", "|"),
            ("a |& b", "|&"),
            ("a || b", "||"),
            ("a && b", "&&"),
            ("a &", "&"),
            ("a;true", ";"),
            ("a >out", ">"),
            ("a x>y", ">"),
            ("a >>out", ">>"),
            ("a <f", "<"),
            ("a <<< x", "<<<"),
            ("a 2>/dev/null", "2>"),
            ("a 2>&1", "2>&1"),
            ("a &>out", "&>"),
            ("(a)", "("),
            ("echo $HOME", "$HOME"),
            ("echo ${HOME}/x", "${HOME}"),
            ("echo a$1", "$1"),
            ("echo $?", "$?"),
            ("echo $(date)", "$("),
            ("echo `date`", "`"),
            ("echo \"in $HOME\"", "$HOME"),
            ("echo \"`date`\"", "`"),
            ("echo ~", "~"),
            ("cat ~/x y", "~/x"),
            ("ls ~user/x", "~user/x"),
            ("ls *.txt", "*.txt"),
            ("ls a/*/b c", "a/*/b"),
            ("ls file?", "file?"),
            ("ls 'a b'*.c d", "*.c"),
            ("a 'b' | c", "|"),
        ] {
            assert_eq!(other(text), Some(piece), "{text}");
        }
        assert_eq!(shell_syntax("echo a # no"), Some(ShellSyntax::Comment));
        assert_eq!(shell_syntax("# no"), Some(ShellSyntax::Comment));
        for (text, word) in [
            ("LC_ALL=C sort x", "LC_ALL=C"),
            (" A=1 b", "A=1"),
            ("_x= b", "_x="),
        ] {
            assert_eq!(
                shell_syntax(text),
                Some(ShellSyntax::Assignment(word)),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_quoted_or_stands_for_itself_is_none() {
        for text in [
            "echo a \"|\" b",
            "echo a '|' b",
            "echo a \\| b",
            "echo '$HOME' '`date`' '*' '~' '#'",
            "awk '{print $1}' f",
            "echo \"\\$HOME\" \"\\`\"",
            "echo \"a > b; c && d & e # f ~ *\"",
            "grep 'a|b'",
            "grep a$",
            "echo a#b $ a~ x~/y \\~ \\#",
            "echo -n NAME=value",
            "env LC_ALL=C sort",
            "./a-b=c d",
            "'A=1' b",
            "A\\=1 b",
            "./bench --filter=BM_* x",
            "curl http://host/?q",
            "jq .x[0] {a,b}",
            "find . ( -name a )",
            " a b \n",
            "",
        ] {
            assert_eq!(shell_syntax(text), None, "{text}");
        }
    }
}
