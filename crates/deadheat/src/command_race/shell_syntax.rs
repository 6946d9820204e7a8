//! Detects shell syntax in the text of a command that deadheat starts without a shell.

use std::iter::Peekable;
use std::str::CharIndices;

use deadheat_engine::is_variable_name;

/// A part of a command that a shell would interpret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShellSyntax<'a> {
    Assignment(&'a str),
    Comment,
    /// An operator at the beginning or end of a word, or between commands. Without a shell, the
    /// operator and all that follows become arguments of the program.
    Operator(&'a str),
    /// Any other shell syntax: an expansion, a pattern of file names, or an operator within a word.
    Other(&'a str),
}

impl ShellSyntax<'_> {
    pub(super) fn hint(self) -> String {
        match self {
            Self::Assignment(word) => format!(
                "only a shell sets a variable in front of a command, so '{word}' would be the \
                 program\nhelp: -S runs commands in a shell, and env {word} sets the variable \
                 without a shell"
            ),
            Self::Comment => {
                "deadheat drops the words from '#' on, as a shell drops a comment; quote the \
                              '#' to pass them on"
                    .to_owned()
            }
            Self::Operator(piece) | Self::Other(piece) => format!(
                "no shell reads the '{piece}', so the program gets it as an argument\nhelp: -S \
                 runs commands in a shell"
            ),
        }
    }
}

/// Returns the first piece of shell syntax outside quotes. In double quotes, only expansions count.
pub(super) fn shell_syntax(text: &str) -> Option<ShellSyntax<'_>> {
    Scan::new(text).next()
}

/// Returns an error with advice for a command with operators of a shell. Without a shell, they would
/// become arguments of the program: `rm -rf build; ./a` would remove `./a`. Also returns an error for a command that begins
/// with an assignment, because its first word cannot be a program.
pub(super) fn refuse_operators(text: &str) -> Result<(), String> {
    let mut all = Scan::new(text);
    let harmful = |syntax: &ShellSyntax<'_>| {
        matches!(
            syntax,
            ShellSyntax::Operator(_) | ShellSyntax::Assignment(_)
        )
    };
    let piece = match all.find(harmful) {
        Some(ShellSyntax::Operator(piece)) => piece,
        Some(assignment) => return Err(assignment.hint()),
        None => return Ok(()),
    };
    Err(format!(
        "no shell reads the '{piece}', so the program would get it as an argument\nhelp: -S runs \
         commands in a shell; a program that expects such an argument gets it in quotes: \
         \"{piece}\""
    ))
}

struct Scan<'a> {
    text: &'a str,
    chars: Peekable<CharIndices<'a>>,
    /// The index at which the current word begins; `None` between words.
    word_at: Option<usize>,
    is_first_word: bool,
    /// True if a quote or a backslash has occurred in the current word.
    has_quotes: bool,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            chars: text.char_indices().peekable(),
            word_at: None,
            is_first_word: true,
            has_quotes: false,
        }
    }

    fn operator(&self, word_at: usize, at: usize) -> ShellSyntax<'a> {
        let piece = operator(self.text, word_at, at);
        let [before, behind] = [&self.text[word_at..at], &self.text[at..]];
        let begins_word = before.chars().all(|c| c.is_ascii_digit());
        let rest = behind.trim_start_matches(|c| "|&;<>".contains(c));
        let ends_word = rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_whitespace());
        let separates = behind.starts_with(';') || ["&&", "||"].contains(&piece);
        // Values of options and addresses may contain operators, such as `&` in a URL.
        let is_value = (before.starts_with('-') && before.contains('=')) || before.contains("://");
        if begins_word || ends_word || (separates && !is_value) {
            ShellSyntax::Operator(piece)
        } else {
            ShellSyntax::Other(piece)
        }
    }
}

impl<'a> Iterator for Scan<'a> {
    type Item = ShellSyntax<'a>;

    fn next(&mut self) -> Option<ShellSyntax<'a>> {
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
                '|' | '&' | ';' | '<' | '>' => return Some(self.operator(word_at, at)),
                // Parentheses after the first word are arguments, as in commands with `find`.
                '(' if begins_word && self.is_first_word => Some("("),
                '#' if begins_word => {
                    let in_comment = |c: &(usize, char)| c.1 != '\n';
                    while self.chars.next_if(in_comment).is_some() {}
                    return Some(ShellSyntax::Comment);
                }
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
}

impl<'a> Scan<'a> {
    /// Reads up to the closing double quote, and returns the first expansion before it.
    fn expansion_in_quotes(&mut self) -> Option<&'a str> {
        let mut first = None;
        while let Some((at, c)) = self.chars.next() {
            let found = match c {
                '"' => break,
                '\\' => {
                    self.chars.next();
                    None
                }
                '`' => Some("`"),
                '$' => expansion(&self.text[at..]),
                _ => None,
            };
            first = first.or(found);
        }
        first
    }
}

/// Returns the word at the beginning of a text, up to white space, an operator or a quote.
fn word(text: &str) -> &str {
    let ends = |c: char| c.is_ascii_whitespace() || "|&;<>()\"'`".contains(c);
    &text[..text.find(ends).unwrap_or(text.len())]
}

/// Returns the expansion at the beginning of a text that starts with `$`, such as `$HOME` or `$(`.
/// `None` if the dollar sign is plain text.
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

/// Returns the operator at the index `at`, including the digits of a redirection, as in `2>&1`.
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

/// Returns true for `~`, `~/some/file` or `~user`.
fn is_home(word: &str) -> bool {
    let user = word[1..].split('/').next().unwrap_or_default();
    user.chars()
        .all(|c| c.is_ascii_alphanumeric() || "_-.+".contains(c))
}

/// Returns true if a word with a `*` or `?` may be a pattern of file names. Addresses and values of
/// options cannot be patterns.
fn is_of_files(word: &str) -> bool {
    let is_value = word.starts_with('-') && word.contains('=');
    !is_value && !word.contains("://")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn other(text: &str) -> Option<&str> {
        match shell_syntax(text)? {
            ShellSyntax::Operator(piece) | ShellSyntax::Other(piece) => Some(piece),
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
    #[test]
    fn operators_that_would_become_arguments_are_refused() {
        for (text, piece) in [
            ("rm -rf build; ./old", ";"),
            ("rm -rf build;./old", ";"),
            ("make && ./old", "&&"),
            ("make&&./old", "&&"),
            ("./a || true", "||"),
            ("cat f | sort", "|"),
            ("cat f |sort", "|"),
            ("./a > out", ">"),
            ("./a >out", ">"),
            ("./a < in", "<"),
            ("./a 2>/dev/null", "2>"),
            ("./a 2>&1", "2>&1"),
            ("./server &", "&"),
            ("find . -exec touch {} ;", ";"),
            ("rm $HOME/x; ./a", ";"),
            ("rm \"$HOME/x\" && ./a", "&&"),
            ("rm *.o; ./a", ";"),
        ] {
            let refused = refuse_operators(text).unwrap_err();
            assert!(
                refused.contains(&format!("the '{piece}',")),
                "{text}: {refused}"
            );
        }
        let refused = refuse_operators("A=1 ./a | b").unwrap_err();
        assert!(refused.contains("env A=1 sets the variable"), "{refused}");
        for text in [
            "find . -exec touch {} \\;",
            "find . -exec touch {} ';'",
            "test 1 \\> 2",
            "expr 3 '|' 4",
            "awk '{a; b > \"f\"}' x",
            "sh -c \"$HOME/a; b\"",
            "curl http://host/?a=1&b=2;c",
            "./bench --filter=a|b",
            "cmake -DLIST=a;b .",
            "grep a|b f",
            "echo $HOME ~ *",
            "echo a # b; c",
        ] {
            assert_eq!(refuse_operators(text), Ok(()), "{text}");
        }
    }
}
